// One thread's part of a round of exploration: it expands states, stores their successors, and finds out what the
// predicates say of those that are new. It changes nothing but the store that others see. What it found goes into the
// graph when all threads rest (system_graph.cpp).
#pragma once

#include <exception>

#include "reduce/por/chooser.hpp"
#include "reduce/symmetry/canonical.hpp"
#include "search/judge.hpp"
#include "temporal/acts.hpp"
#include "temporal/graph.hpp"
#include "temporal/numbering.hpp"

namespace quorate {

// What all threads share.
struct Exploring {
    Tables& tables;
    Graph& graph;
    Store& store;
    Numbering numbering;
    Acts acts;
    std::vector<Property>& properties;
    const std::vector<std::size_t> predicates;
    Symmetry* const symmetry;
    const bool proviso;  // of partial orders: no cycle may put off steps for ever
    std::uint64_t depth = 0;
    std::atomic<bool> crowded{false};  // the index is to grow before more is stored
};

class Expansion {
public:
    struct Edge {
        Id act;     // Acts::fresh: one of `fresh`, by its number there
        Id target;  // in the store, or a word in place of it
    };
    // The label of a state that is new in this round; not known: the oracle has to be asked.
    struct Label {
        std::uint64_t word;
        bool known;
    };
    struct Failing {
        Id state;
        Witness witness;
    };

    Expansion(Exploring& shared, const Judge& judge, const std::optional<PartialOrders>& partial_orders,
              unsigned number);

    // Expands a state: true if its edges from `begin` on are complete. False if it has to be expanded again: something
    // is not known yet, does not fit the layout, or the index is crowded.
    bool expand(Id state);
    // Stores the successors that wait; false if there is no room for all of them.
    bool flush();
    // What the predicates say of a state.
    Label label(const std::vector<Id>& cells) const;
    // After what was found has been put into the graph.
    void clear();
    // The tables have forgotten their steps.
    void forget_steps();
    void give_up_choosing() { chooser_.reset(); }
    bool chooses() const { return chooser_ != nullptr; }
    Canonical* canonical() { return canonical_ ? &*canonical_ : nullptr; }

    Expander expander;
    const unsigned number;
    std::vector<Edge> edges{};
    std::vector<FreshAct> fresh{};
    std::vector<Label> labels{};  // of the states that it has stored in this round, in order
    std::vector<Failing> failures{};
    std::vector<Id> again{};  // states that have to be expanded again
    std::vector<bool> cut;    // the columns whose bound cut a step
    bool blocked = false;     // a full channel held up a step
    bool misfits = false;     // the layout has to be widened
    std::uint64_t deadlocks = 0;
    double stands_for = 0;  // states, with those that differ in names only
    std::exception_ptr error{};

private:
    // A successor, packed in the buffer, that is to become the target of an edge.
    struct Waiting {
        std::uint64_t hash;
        std::uint32_t edge;
        Id source;
        bool observed;
    };

    bool returns(Id state, std::size_t mark);
    bool note_left_out(const Choice& chosen);
    void note_cuts();
    void note_blocked();
    void note(Id act, Id target) { edges.push_back({act, target}); }
    // The act of the step that led to the successor at hand. Of every cell that was met the acts of its steps are kept.
    [[gnu::always_inline]] Id taken(Id column, const Step& step, Id which) {
        const Expander::Change* change = expander.changes().data();
        const Id cell = change[change->column != column].before;  // a budget is drawn on first
        const std::vector<std::size_t>& places = places_[column];
        if (cell < places.size() && places[cell] != nowhere) [[likely]]
            if (const Id known = known_acts_[places[cell] + which]; known != none) [[likely]]
                return known;
        return remember(column, cell, step, which);
    }
    Id remember(Id column, Id cell, const Step& step, Id which);
    Id act(Id column, const Step& step);

    Exploring& shared_;
    const Judge& judge_;
    Id processes_ = 0;
    std::unique_ptr<Chooser> chooser_{};
    std::optional<Canonical> canonical_{};
    Choice others_{};  // the steps that were not chosen
    std::vector<std::vector<char>> left_out_{};
    std::vector<FlatMap<Id>> fresh_ids_;
    static constexpr std::size_t nowhere = ~std::size_t{0};
    std::vector<std::vector<std::size_t>> places_;  // by column and cell: of its first step among `known_acts_`
    std::vector<Id> known_acts_{};
    std::vector<Waiting> waiting_{};
    std::vector<double> orbits_{};  // with symmetry: how many states each successor stands for, by edge
    std::vector<Word> buffer_{}, here_{};
    std::vector<Id> scratch_{};
};

}  // namespace quorate

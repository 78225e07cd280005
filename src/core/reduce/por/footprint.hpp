// What the steps of a cell depend on, label by label; built once per cell and set of labels.
#pragma once

#include "reduce/por/independence.hpp"
#include "reduce/por/twins.hpp"

namespace quorate {

// A cell, what is left of its budgets, and labels: for these there is a footprint.
struct FootprintOf {
    Id cell = none;
    unsigned spent = 0;
    Labels labels{};
    Id key = none;         // the tag of the step that must stay possible
    Labels represented{};  // tags of steps that the key stands for, or that never come about
};

// What a cell's steps with given labels depend on. More labels than were asked for, if others must come along.
struct Footprint : FootprintOf {
    // Either one of the messages that are missing does not come, or the way there is in the set.
    struct Clause {
        Labels way{};      // empty: there is no such way
        Id number = none;  // of these labels
    };
    // This label may stay out as long as nobody asks for what its steps send: the set makes up for them.
    struct Absorbed {
        Labels label;
        std::vector<Send> unsent;
    };
    std::vector<Absorbed> absorbed{};
    std::uint64_t serial = 0;
    Id column = none;
    Id enabled = 0;             // possible steps with these labels
    Id all = 0;                 // possible steps of the cell
    std::vector<char> steps{};  // which of the cell's steps these are
    bool visible = false;
    unsigned draws = 0;          // budgets, a bit each
    std::vector<Id> consumed{};  // messages that a possible step takes away, where another copy would matter
    std::vector<Send> sends{};   // of possible steps, to processes
    std::vector<Send> events{};  // of possible steps
    // Made when they are first asked for, which is seldom: most footprints only show that a set gets too large.
    mutable std::vector<Clause> clauses{};
    mutable Words missing{};  // messages of the process, a bit each, clause after clause
    mutable std::atomic<bool> listed = false;
    const Future* outside = nullptr;
    bool single = true;  // of one possible step at most, with one outcome
    // The footprint of no label, which alone has the rest: what is the same for all footprints of the cell.
    const Footprint* root = nullptr;
    std::vector<Id> tags{};   // of each step; none where nothing is left of its budget
    std::vector<Id> seeds{};  // tags of possible steps of the protocol
    Labels ready{};           // tags of possible steps
    Words pending{};          // the messages that are there, a bit each
    Words used{};             // the messages that the process may ever use from here on
    bool silent = true;       // it sends nothing from here on
};

class Footprints {
public:
    explicit Footprints(const Instances& instances);

    Futures futures;

    // The footprint of no label, and that of more labels. `spent` has a bit for each budget of which nothing is left.
    const Footprint& root(Id column, Id cell, const StepList& steps, unsigned spent);
    const Footprint& grow(const Footprint& from, const Labels& more);
    // What keeps the steps of the set that are not possible now from becoming so (necessary_enabling.cpp).
    const std::vector<Footprint::Clause>& clauses(const Footprint& footprint);
    // The footprint of a key alone. `sendable` has a bit for each message that may still be sent to the process.
    const Footprint& start(const Footprint& root, Id key, Bits sendable);

private:
    const Footprint& known(Column& column, const FootprintOf& wanted, const Footprint* root, const StepList& steps);
    std::unique_ptr<Footprint> build(Column& column, const FootprintOf& wanted, const Footprint* root,
                                     const StepList& steps);
    void look_at(Column& column, const StepList& steps, Footprint& root);
    bool complete(const Column& column, const Future& found, Footprint& footprint);
    void list_clauses(const Column& column, const Footprint& footprint);

    const Instances& instances_;
    Independence independence_;
    Twins twins_;
    using Roots = Segmented<std::atomic<const Footprint*>>;
    struct Owned {
        std::array<Roots, 8> roots{};  // by the budgets that are spent; by cell
        Interner contents{};
        std::vector<std::unique_ptr<Footprint>> footprints{};
        std::uint64_t serial = 0;
    };
    std::vector<std::unique_ptr<Owned>> owned_{};  // by column
};

}  // namespace quorate

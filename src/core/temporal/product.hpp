// A graph beside an automaton that reads it. Nothing of it is stored: a node is a number, made of a state of either.
#pragma once

#include "temporal/automaton.hpp"
#include "temporal/fairness.hpp"

namespace quorate {

using Node = std::uint64_t;

class Product {
public:
    // `atoms[i]` is the set of states in which predicate i holds.
    Product(const Graph& graph, const Automaton& automaton, const std::vector<StateSet>& atoms);

    struct Move {
        Id target;
        std::uint64_t acceptance;
    };

    const Graph& graph;
    const std::uint64_t all;  // the masks of all acceptance sets
    const Id initial;

    // All states of the graph with the first state of the automaton come first: what is never reached is never touched.
    Node node(Id state, Id place) const { return static_cast<Node>(place) * graph.states() + state; }
    Id state_of(Node node) const { return static_cast<Id>(node % graph.states()); }
    Id place_of(Node node) const { return static_cast<Id>(node / graph.states()); }
    Node size() const { return static_cast<Node>(places_) * graph.states(); }
    // What the automaton can do on any step from this state.
    std::span<const Move> moves(Id state, Id place) const {
        const std::size_t row = static_cast<std::size_t>(place) * labels_ + label_[state];
        return {moves_.data() + first_[row], first_[row + 1] - first_[row]};
    }
    // Does the automaton, from here, accept the label of this state for ever?
    bool stays(Id state, Id place) const {
        return stays_[static_cast<std::size_t>(place) * labels_ + label_[state]] != 0;
    }
    // The same for some place, be it one that is never reached here.
    bool ever_stays(Id state) const { return ever_stays_[label_[state]] != 0; }
    // Can the automaton, from here, still accept some run: if nobody knows how it goes on?
    bool open(Id state, Id place) const {
        const std::span<const Move> ways = moves(state, place);
        return std::any_of(ways.begin(), ways.end(), [&](const Move& move) { return open_[move.target] != 0; });
    }
    // Calls visit(edge of the graph, move) for each way on, until it says true.
    template <typename Visit>
    bool each_way(Id state, Id place, Visit visit) const {
        const std::span<const Move> ways = moves(state, place);
        if (ways.empty()) return false;
        for (std::uint64_t edge = graph.begin(state), end = graph.end(state); edge < end; ++edge) {
            if (!Graph::moves(graph.target(edge))) continue;
            for (const Move& move : ways)
                if (visit(edge, move)) return true;
        }
        return false;
    }

private:
    void find_stays(std::size_t label);
    void find_open(const Automaton& automaton);

    const Id places_;
    std::size_t labels_ = 0;
    std::vector<Id> label_{};           // of each state, numbered
    std::vector<std::size_t> first_{};  // by place and label, into `moves_`
    std::vector<Move> moves_{};
    std::vector<char> stays_{};
    std::vector<char> ever_stays_{};  // by label
    std::vector<char> open_{};        // by place: does it accept anything?
};

}  // namespace quorate

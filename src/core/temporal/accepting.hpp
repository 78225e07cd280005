// The components of a product in which the automaton accepts and the run is fair: Couvreur's algorithm ("On-the-fly
// verification of linear temporal logic", 1999) with a stack of roots, generalised acceptance on the edges.
//
// Weak fairness is acceptance too: a group is marked on an edge if the step is of the group, or the group is disabled
// where the step starts. The marks of a component are kept with its root, and worked out only for components that have
// a cycle. Strong fairness is not a mark: a finished component is refined (refine.hpp).
#pragma once

#include "temporal/breadth.hpp"

namespace quorate {

class Accepting {
public:
    Accepting(const Product& product, const Groups& groups, Pace& pace);

    // Searches what can be reached from this node, as far as it has not been searched: the nodes of a component that a
    // fair accepted run can stay in, as soon as there is one. Afterwards the object is of no use any more.
    std::optional<std::vector<Spot>> search(Spot root);
    // The same for all nodes, without stopping: which can reach such a component, or one of the ends. Ask for each root
    // in turn.
    bool reaches(Spot root, const StateSet& ends);

    std::uint64_t nodes() const { return met_; }

private:
    struct Frame {
        Spot at;
        std::uint32_t edge, move;  // the next way on, the edge counted from the state's first
    };
    struct Root {
        std::uint32_t order;
        std::uint32_t begin;       // its first node on the active stack
        Id act;                    // of the step that led to it
        std::uint64_t by;          // the acceptance sets of that step
        std::uint64_t acceptance;  // of the component
        bool known, cycle, good;   // known: the marks of its groups are worked out
    };
    static constexpr std::uint32_t gone = ~std::uint32_t{0}, gone_good = gone - 1;

    std::uint32_t& order(Spot at) {
        return reinterpret_cast<std::uint32_t*>(order_.data())[product_.node(at.state, at.place)];
    }
    std::span<std::uint64_t> marks(std::size_t root) { return {marks_.data() + root * words_, words_}; }
    void enter(Spot at, Id act, std::uint64_t by);
    void know(std::size_t root);
    void merge(std::uint32_t until, Id act, std::uint64_t acceptance);
    bool complete(std::size_t root);
    void leave();
    // Runs from a root; true if it stopped at an accepting component.
    bool run(Spot root);

    const Product& product_;
    const Groups& groups_;
    Pace& pace_;
    const bool strong_;
    const std::size_t words_;
    bool everything_ = false;
    const StateSet* ends_ = nullptr;
    Block order_;
    std::uint32_t met_ = 0;
    std::vector<Frame> frames_{};
    std::vector<Root> roots_{};
    std::vector<std::uint64_t> marks_{}, gathered_{};
    std::vector<Spot> active_{};
    std::optional<std::vector<Spot>> found_{};
};

}  // namespace quorate

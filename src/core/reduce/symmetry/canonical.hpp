// The canonical form of a state: the same state for all that are renamings of one another.
//
// Names are ordered by colour, the sum of their marks. Mostly all colours of a family differ, or names of the same
// colour are twins: exchanging them leaves the state as it is. Then the order gives the form. Otherwise colours are
// refined by those of the names they occur together with, and where that does not help either, each of the tied names
// in turn is given a colour of its own; of the forms found that way the smallest by content is taken
// (docs/soundness.md, rule 13). So the form never depends on colours alone, only the time to find it does. Branches
// that a symmetry of the state itself maps to one that was followed are left out, as in McKay's "Practical graph
// isomorphism" (1981), and the symmetries so found tell how many states the form stands for.
#pragma once

#include "model/expander.hpp"
#include "reduce/symmetry/symmetry.hpp"

namespace quorate {

// One per thread.
class Canonical {
public:
    explicit Canonical(Symmetry& symmetry);

    // The state whose successors come next.
    void expand(const std::vector<Id>& cells);
    // The canonical form of a successor: `cells` itself, or a state that stays until the next call.
    const std::vector<Id>& of(const std::vector<Id>& cells, std::span<const Expander::Change> changes);
    // The canonical form of any state.
    const std::vector<Id>& of(const std::vector<Id>& cells);

    // How many states the last form stands for.
    double orbit() const { return order_of_group_ / automorphisms_of_form_; }

private:
    using Colours = std::vector<std::uint64_t>;
    struct Leaf {
        std::vector<Id> order{}, image{}, path{};
        std::uint64_t content = 0;
    };

    const std::vector<Id>& form(const std::vector<Id>& cells);
    std::uint64_t mentioned(Id column) const { return rows_[column][names_ + 1]; }
    std::uint64_t bit(Id name) const { return symmetry_.bit(name); }
    void look_for_names();
    bool twins(Id one, Id two, const std::vector<Id>& cells);
    // Sorts the names of each family; false if it was in order already.
    bool sort(const Colours& colours);
    // Renames the name order_[i] to i, for all i.
    void apply(const std::vector<Id>& cells, std::vector<Id>& image);

    const std::vector<Id>& branch(const std::vector<Id>& cells);
    void find_twins(const std::vector<Id>& cells);
    void refine(const std::vector<Id>& cells, Colours& colours);
    // Follows the tied names; returns the length of the path to go back to.
    std::size_t follow(const std::vector<Id>& cells, Colours colours);
    std::size_t reach(const std::vector<Id>& cells, const Colours& colours);
    std::vector<Id> orbits() const;

    Symmetry& symmetry_;
    const Id names_;
    Colours base_, colours_;
    std::vector<Id> order_, now_, at_;
    std::vector<Id> image_;
    struct Exchange {
        Id pair, one, two;
    };
    std::vector<Exchange> exchanges_;
    std::vector<const std::uint64_t*> rows_;  // the marks of every column of the state at hand
    std::uint64_t held_ = ~std::uint64_t{0};  // the bits of names that occur in the state at hand, or more
    std::vector<std::pair<Id, const std::uint64_t*>> undo_;
    const LargeProduct order_of_group_;
    LargeProduct automorphisms_of_form_{};
    std::vector<Id> twin_;  // per name, the first of its twins
    std::vector<Id> path_;
    std::vector<std::vector<Id>> automorphisms_;
    Leaf first_, best_;
};

}  // namespace quorate

// One step back on the way from a state that was found to an initial one.
#pragma once

#include "reduce/symmetry/canonical.hpp"
#include "search/search.hpp"

namespace quorate {

// Of the states of the level before, those with a step to the target, of the protocol if there is one and faults have
// no bound; of these the one whose content is smallest. It depends on the levels alone, so every run and every number
// of threads or workers finds the same.
class StepBack {
public:
    // `asks`: the states may be such as were never expanded here, so the oracle is asked for steps that are not known.
    StepBack(Tables& tables, const Store& store, Oracle& oracle, Symmetry* symmetry, Hubs* hubs, bool asks);

    // Forgets what was found for another target.
    void begin(std::vector<Id> target, std::uint64_t level);
    // Looks at the states from `begin` to `end` of an array of the store.
    void look(unsigned array, std::uint64_t begin, std::uint64_t end);

    const std::vector<Id>& best() const { return best_; }  // no cells: there is none
    // Among several stores, the smallest is the one to go on from.
    std::uint64_t rank() const { return smallest_; }

private:
    enum class Way { none, fault, protocol };
    Way way_of(const Step& step) const;
    Way leads_to();
    Way leads_to_renamed();

    Tables& tables_;
    const Store& store_;
    Oracle& oracle_;
    Hubs* const hubs_;
    const bool asks_;
    Expander expander_;
    std::optional<Canonical> canonical_{};
    std::vector<Id> target_{}, best_{};
    std::uint64_t level_ = 0, smallest_ = 0;
    Clock::time_point next_ = Clock::now();
};

}  // namespace quorate

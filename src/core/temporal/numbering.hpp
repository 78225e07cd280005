// The numbers of a graph's states beside their places in the store. Threads store states in whatever order they meet
// them; numbers are given afterwards, in an order that does not depend on threads. As long as both orders are the same,
// which one thread mostly sees to, nothing has to be kept.
#pragma once

#include "base/pile.hpp"
#include "store/store.hpp"

namespace quorate {

class Numbering {
public:
    explicit Numbering(const Store& store) : store_(store), numbers_(store.threads()), same_(store.threads() == 1) {}

    std::size_t size() const { return size_; }
    std::size_t bytes() const {
        std::size_t sum = places_.bytes();
        for (const Pile<Id>& each : numbers_) sum += each.bytes();
        return sum;
    }
    // The number of a stored state; `none` if it has none yet.
    Id of(std::uint64_t stored) const {
        if (same_) return stored < size_ ? static_cast<Id>(stored) : none;
        const Pile<Id>& mine = numbers_[store_.thread_of(stored)];
        const std::uint64_t position = store_.position_of(stored);
        return position < mine.size() ? mine[position] : none;
    }
    const std::byte* state(Id number) const {
        const std::uint64_t stored = same_ ? number : places_[number];
        return store_.state(store_.thread_of(stored), store_.position_of(stored));
    }
    // Gives the next number to a state that has none.
    void add(std::uint64_t stored) {
        if (same_ && stored == size_) {
            ++size_;
            return;
        }
        if (same_) keep();
        Pile<Id>& mine = numbers_[store_.thread_of(stored)];
        const std::uint64_t position = store_.position_of(stored);
        while (mine.size() <= position) mine.push_back(none);
        mine.set(position, static_cast<Id>(size_++));
        places_.push_back(static_cast<Id>(stored));
    }

private:
    void keep() {
        same_ = false;
        for (Id number = 0; number < size_; ++number) {
            numbers_[0].push_back(number);
            places_.push_back(number);
        }
    }
    const Store& store_;
    std::vector<Pile<Id>> numbers_;  // by thread and position
    Pile<Id> places_{};              // in the store, by number
    std::size_t size_ = 0;
    bool same_;
};

}  // namespace quorate

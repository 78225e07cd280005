// Numbers that are only compared: which of them a local state or a message holds, and its image under a renumbering.
//
// A rank is a small number. 0 is the first one, which every model may name, and stays. All others may be renumbered in
// any way that keeps their order, in the whole state at once: no handler can tell (docs/ranks.md). In the normal form
// of a state they are 2, 4, 6, ..., so that there is an odd one between any two and beyond the last: that is where
// `later` puts a new one. An order-preserving image is determined by the set of its ranks, so sets of ranks are bits of
// a word.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/types.hpp"

namespace quorate {

// The ranks of a set as the normal form of the state numbers them: `all` are those of the whole state.
inline std::uint64_t renumbered(std::uint64_t ranks, std::uint64_t all) {
    std::uint64_t image = 0;
    for (; ranks != 0; ranks &= ranks - 1) {
        const std::uint64_t bit = ranks & (~ranks + 1);
        image |= std::uint64_t{1} << (2 * (std::popcount(all & (bit - 1)) + 1));
    }
    return image;
}

// Local states or messages of one column. Values that differ in their ranks alone have the same shape.
class Ranked {
public:
    void put(Id number, Id shape, std::uint64_t ranks) {
        if (held_.size() <= number) held_.resize(number + 1);
        held_[number] = {ranks, shape};
        placed_[{shape, ranks}] = number;
    }
    // The same for values that differ in their ranks alone, and for no others.
    std::uint64_t likeness(Id number) const {
        return ranks(number) == 0 ? number : std::uint64_t{held_[number].shape} << 32 | none;
    }
    std::uint64_t ranks(Id number) const { return number < held_.size() ? held_[number].ranks : 0; }
    Id image(Id number, std::uint64_t all) const {
        if (ranks(number) == 0) return number;
        const auto found = placed_.find({held_[number].shape, renumbered(held_[number].ranks, all)});
        if (found == placed_.end()) throw std::logic_error("a value was not numbered with all of its renumberings");
        return found->second;
    }

private:
    struct Held {
        std::uint64_t ranks = 0;
        Id shape = none;
    };
    std::vector<Held> held_{};
    std::map<std::pair<Id, std::uint64_t>, Id> placed_{};
};

struct Ranks {
    Ranked locals{}, messages{};
    // By cell: its ranks, and its images by those of the whole state. Forgotten with the cells.
    std::vector<std::uint64_t> of_cell{};
    std::vector<bool> known{};
    std::map<std::pair<Id, std::uint64_t>, Id> images{};

    void forget_cells() {
        of_cell.clear();
        known.clear();
        images.clear();
    }
};

}  // namespace quorate

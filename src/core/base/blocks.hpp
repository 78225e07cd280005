// How a table that grows and never moves is divided: block b holds 64 << b elements, so the position of the top bit of
// index + 64 names the block.
#pragma once

#include <bit>
#include <cstddef>

namespace quorate {

struct Place {
    static constexpr std::size_t first = 64;  // elements of the first block
    static constexpr std::size_t most_blocks = 40;

    std::size_t block, offset;

    static Place of(std::size_t index) {
        const std::size_t shifted = index + first;
        const std::size_t block = static_cast<std::size_t>(std::bit_width(shifted)) - 7;
        return {block, shifted - size(block)};
    }
    static std::size_t size(std::size_t block) { return first << block; }
};

}  // namespace quorate

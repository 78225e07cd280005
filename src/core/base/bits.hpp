// Sets of small numbers, a bit each.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace quorate {

using Words = std::vector<std::uint64_t>;
using Bits = std::span<const std::uint64_t>;

inline void set_bit(std::span<std::uint64_t> bits, std::size_t at) { bits[at / 64] |= std::uint64_t{1} << (at % 64); }

inline bool has_bit(Bits bits, std::size_t at) { return bits[at / 64] >> (at % 64) & 1; }

// Adds one set to another that has room for it.
inline void unite(std::span<std::uint64_t> bits, Bits more) {
    for (std::size_t i = 0; i < more.size(); ++i) bits[i] |= more[i];
}

inline bool within(Bits a, Bits b) {
    std::uint64_t more = 0;
    for (std::size_t i = 0; i < a.size(); ++i) more |= a[i] & ~b[i];
    return more == 0;
}

inline std::size_t size_of(Bits bits) {
    std::size_t size = 0;
    for (const std::uint64_t word : bits) size += static_cast<std::size_t>(std::popcount(word));
    return size;
}

// The number of the lowest bit of a word.
inline std::size_t lowest(std::size_t word, std::uint64_t bits) {
    return word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
}

}  // namespace quorate

// Mixing functions. States are hashed by their cell numbers, never by their packed bits, so that widening a
// field of the packed form leaves every position in the store valid.
#pragma once

#include <cstdint>
#include <span>

#include "base/types.hpp"

namespace quorate {

inline std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    return x;
}

// The share of one column in the hash of a state: shares are added up, each column with an odd factor of its own, so
// that a successor's hash follows from its predecessor's by what changed. `spread` makes the sum fit for a table.
inline std::uint64_t column_factor(std::uint32_t column) {
    return mix((static_cast<std::uint64_t>(column) + 1) * 0x9e3779b97f4a7c15ULL) | 1;
}
inline std::uint64_t spread(std::uint64_t sum) { return mix(sum); }

inline std::uint64_t hash_ids(std::span<const Id> ids) {
    std::uint64_t h = 0x51ed270b7a3f4c15ULL + ids.size();
    for (Id id : ids) h = mix(h ^ (id + 0x9e3779b97f4a7c15ULL));
    return h;
}

}  // namespace quorate

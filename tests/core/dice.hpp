// Numbers that look random and are the same everywhere.
#pragma once

#include "base/hash.hpp"

struct Dice {
    std::uint64_t state = 1;

    std::uint64_t throw_any() { return quorate::mix(state += 0x9e3779b97f4a7c15ULL); }
    // From 0 to sides - 1.
    quorate::Id operator()(std::uint64_t sides) { return static_cast<quorate::Id>(throw_any() % sides); }
};

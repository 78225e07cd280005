// What a transition does, and the questions that only the oracle can answer.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.hpp"

namespace quorate {

enum class Mode : std::uint8_t { spontaneous, single, exact, each, minimal, maximal, any };

struct Send {
    Id column = 0, message = 0;
};

// To read a shared cell is a delivery too: of its value, the number of a cell of its column, with this bit.
inline constexpr Id reading_bit = Id{1} << 30;
// What stands for a field where a property reads which messages are pending.
inline constexpr Id pending_field = none - 1;

// The number of a bundle, standing messages that are delivered together, has this bit; the rest counts bundles.
inline constexpr Id bundle_bit = Id{1} << 31;

enum class Effect : std::uint8_t { moves, cut, fails };

struct Outcome {
    Effect effect = Effect::moves;
    Id local = none;
    Id failure = none;
    std::vector<Send> sends{};
    std::vector<Send> bundled{};  // the same with bundles, if that is shorter
};

struct Behaviour {
    std::vector<Outcome> outcomes{};  // none: the guard is false
};

// What a quorum transition asks for in a local state.
struct Request {
    bool enabled = false;
    Mode mode = Mode::exact;
    Id size = 0;                // exact
    std::vector<Id> senders{};  // each
};

struct Query {
    enum class Kind : std::uint8_t { request, accept, fire, observe, bound, read } kind;
    Id column, transition, local;
    // accept: the message; fire: the consumed set; observe: the event; bound: the local states; read: the value
    Id subject;
};

}  // namespace quorate

// The few words every part of the core shares. The core knows integers, not protocols.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace quorate {

// Numbers of local states, messages, cells and the like, each counted per column (per process, or per monitor).
using Id = std::uint32_t;

inline constexpr Id none = std::numeric_limits<Id>::max();
// What `deliver` answers when a bounded channel has no room: the whole step is then disabled.
inline constexpr Id full = none - 1;
// From here on up to `full`: what a row of deliveries answers for a process that is taken apart (model/hubs.hpp): which
// slot of the state the message goes to.
inline constexpr Id redirected = full - (Id{1} << 12);
// The largest number an interned thing may get; those above are taken.
inline constexpr Id last_id = redirected - 1;

// A limit of the engine itself was met. It is reported, never worked around silently.
struct LimitError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline Id checked_id(std::size_t count, const char* what) {
    if (count > last_id) throw LimitError(std::string("more than 4,294,963,197 ") + what + " in one process");
    return static_cast<Id>(count);
}

}  // namespace quorate

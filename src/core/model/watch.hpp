// Why a search or an analysis ends, and the limits that end it.
#pragma once

#include <chrono>
#include <optional>

#include "base/memory.hpp"
#include "model/oracle.hpp"

namespace quorate {

// `depth` and `cycle`: a stateless search cut runs at a depth, or met a run that has no end. `reached`: nothing but
// goals was asked for, and each of them was reached. `overtaken`: what was done meanwhile has come to an end. `disk`:
// no room for states in files.
enum class Stop : std::uint8_t {
    finished,
    violation,
    states,
    memory,
    time,
    interrupt,
    regrown,
    outgrown,
    depth,
    cycle,
    reached,
    overtaken,
    disk
};

struct Limits {
    std::uint64_t states = ~std::uint64_t{0};
    std::size_t memory = ~std::size_t{0};
    double seconds = 1e18;
};

using Clock = std::chrono::steady_clock;

// Decides when to look at the clock, the memory and the user.
class Watch {
public:
    Watch(const Limits& limits, Oracle& oracle) : limits_(limits), oracle_(oracle) {}

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    // Cheap; asks the oracle about ten times a second, and looks at the memory more often: a search takes up to a
    // hundred megabytes a second.
    template <typename Fill>
    std::optional<Stop> look(Fill fill) {
        const auto now = Clock::now();
        if (now < next_glance_) return std::nullopt;
        next_glance_ = now + std::chrono::milliseconds(10);
        if (resident_bytes() > limits_.memory) return Stop::memory;
        if (now < next_) return std::nullopt;
        next_ = now + std::chrono::milliseconds(100);
        Progress progress = fill();
        progress.memory = resident_bytes();
        if (oracle_.poll(progress)) return Stop::interrupt;
        if (seconds() > limits_.seconds) return Stop::time;
        return std::nullopt;
    }

private:
    const Limits limits_;
    Oracle& oracle_;
    Clock::time_point start_ = Clock::now(), next_ = start_ + std::chrono::milliseconds(100), next_glance_ = start_;
};

}  // namespace quorate

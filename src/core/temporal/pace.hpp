// How the searches of a product keep limits: they look up now and then, and what is to stop them is thrown.
#pragma once

#include "model/watch.hpp"

namespace quorate {

struct Stopped {
    Stop why;
};

class Pace {
public:
    explicit Pace(Watch& watch) : watch_(watch) {}

    // Cheap: call it for every node.
    void tick(std::uint64_t nodes, std::uint64_t waiting) {
        if ((++count_ & 0x3ff) != 0) return;
        const auto stop = watch_.look([&] {
            Progress progress;
            progress.states = nodes;
            progress.frontier = waiting;
            return progress;
        });
        if (stop) throw Stopped{*stop};
    }

private:
    Watch& watch_;
    std::uint32_t count_ = 0;
};

}  // namespace quorate

// Strongly connected components of a small explicit graph (Tarjan 1972), without recursion.
#pragma once

#include <span>
#include <vector>

#include "base/types.hpp"

namespace quorate {

// The nodes are 0 to count - 1. `degree(v)` says how many ways on there are, `child(v, i)` where the i-th leads, or
// `none`. Calls finish(nodes) for every component, those that can be reached from it first.
template <typename Degree, typename Child, typename Finish>
void each_component(std::size_t count, Degree degree, Child child, Finish finish) {
    struct Frame {
        Id node;
        std::uint64_t next;
    };
    constexpr Id gone = none;
    std::vector<Id> order(count, 0), low(count, 0);
    std::vector<Id> active;
    std::vector<Frame> frames;
    Id met = 0;
    const auto enter = [&](Id node) {
        order[node] = low[node] = ++met;
        active.push_back(node);
        frames.push_back({node, 0});
    };
    for (Id root = 0; root < count; ++root) {
        if (order[root] != 0) continue;
        enter(root);
        while (!frames.empty()) {
            Frame& frame = frames.back();
            const Id node = frame.node;
            if (frame.next < degree(node)) {
                const Id next = child(node, frame.next++);
                if (next == none) continue;
                if (order[next] == 0)
                    enter(next);
                else if (order[next] != gone)
                    low[node] = std::min(low[node], order[next]);
                continue;
            }
            frames.pop_back();
            if (!frames.empty()) low[frames.back().node] = std::min(low[frames.back().node], low[node]);
            if (low[node] != order[node]) continue;
            std::size_t begin = active.size();
            while (active[--begin] != node) {
            }
            finish(std::span<const Id>(active).subspan(begin));
            for (std::size_t i = begin; i < active.size(); ++i) order[active[i]] = gone;
            active.resize(begin);
        }
    }
}

}  // namespace quorate

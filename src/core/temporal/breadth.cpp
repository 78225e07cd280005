#include "temporal/breadth.hpp"

#include <algorithm>

namespace quorate {

Way Breadth::way_to(std::size_t number) const {
    Way way;
    way.last = queue_[number];
    Spot target = way.last;
    const auto above = std::upper_bound(levels_.begin(), levels_.end(), number);
    for (std::size_t level = static_cast<std::size_t>(above - levels_.begin()) - 1; level-- > 0;) {
        bool found = false;
        for (std::size_t i = levels_[level]; i < levels_[level + 1] && !found; ++i) {
            const Spot from = queue_[i];
            found = product_.each_way(from.state, from.place, [&](std::uint64_t edge, const Product::Move& move) {
                if (product_.graph.target(edge) != target.state || move.target != target.place) return false;
                way.steps.push_back({from, edge});
                return true;
            });
            if (found) target = from;
        }
        if (!found) throw std::logic_error("a node of the product has no predecessor in the level before it");
    }
    std::reverse(way.steps.begin(), way.steps.end());
    return way;
}

}  // namespace quorate

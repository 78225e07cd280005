// The product level by level: what can be reached, and a shortest way there.
//
// The nodes are kept in the order they were met, a level after the other, without parents: a way is found backwards
// through the levels, as the breadth-first search does.
#pragma once

#include "base/memory.hpp"
#include "temporal/pace.hpp"
#include "temporal/product.hpp"

namespace quorate {

struct Spot {
    Id state, place;

    bool operator==(const Spot&) const = default;
};

// Steps one after another, each given by where it starts and the edge of the graph, and where the last one leads.
struct Way {
    struct Taken {
        Spot from;
        std::uint64_t edge;
    };
    std::vector<Taken> steps{};
    Spot last{0, 0};
};

class Breadth {
public:
    Breadth(const Product& product, Pace& pace)
        : product_(product), pace_(pace), seen_((product.size() / 64 + 1) * sizeof(std::uint64_t), false) {}

    // From the initial states, until wanted(state, place) says yes: the number of that node, in order of discovery.
    template <typename Wanted>
    std::optional<std::size_t> run(Wanted wanted) {
        levels_.push_back(0);
        for (const Id state : product_.graph.initials) enter(state, product_.initial);
        std::size_t end = queue_.size();
        for (std::size_t i = 0; i < queue_.size(); ++i) {
            if (i == end) {
                levels_.push_back(i);
                end = queue_.size();
            }
            const auto [state, place] = queue_[i];
            if (wanted(state, place)) return i;
            product_.each_way(state, place, [&](std::uint64_t edge, const Product::Move& move) {
                enter(product_.graph.target(edge), move.target);
                return false;
            });
            pace_.tick(queue_.size(), queue_.size() - i);
        }
        return std::nullopt;
    }
    // A shortest way from an initial state to the node of that number.
    Way way_to(std::size_t number) const;

    std::size_t size() const { return queue_.size(); }
    Spot operator[](std::size_t number) const { return queue_[number]; }
    bool has(Node node) const { return has_bit({words(), product_.size() / 64 + 1}, node); }

private:
    std::uint64_t* words() const { return reinterpret_cast<std::uint64_t*>(seen_.data()); }
    void enter(Id state, Id place) {
        const Node node = product_.node(state, place);
        std::uint64_t& word = words()[node / 64];
        const std::uint64_t bit = std::uint64_t{1} << (node % 64);
        if ((word & bit) != 0) return;
        word |= bit;
        queue_.push_back({state, place});
    }
    const Product& product_;
    Pace& pace_;
    Block seen_;
    Pile<Spot> queue_{};
    std::vector<std::size_t> levels_{};  // where each begins
};

}  // namespace quorate

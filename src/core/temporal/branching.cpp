#include "temporal/branching.hpp"

#include "temporal/components.hpp"
#include "temporal/refine.hpp"

namespace quorate {

namespace {

// The edges the other way round, by target.
class Reversed {
public:
    explicit Reversed(const Graph& graph) : first_(graph.states() + 1, 0) {
        each(graph, [&](Id, Id target) { ++first_[target + 1]; });
        for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
        sources_.resize(first_.back());
        std::vector<std::uint64_t> next(first_.begin(), first_.end() - 1);
        each(graph, [&](Id source, Id target) { sources_[next[target]++] = source; });
    }
    std::span<const Id> operator[](Id state) const {
        return std::span(sources_).subspan(first_[state], first_[state + 1] - first_[state]);
    }

private:
    template <typename Visit>
    static void each(const Graph& graph, Visit visit) {
        for (Id state = 0; state < graph.states(); ++state)
            for (std::uint64_t edge = graph.begin(state); edge < graph.end(state); ++edge)
                if (Graph::moves(graph.target(edge))) visit(state, graph.target(edge));
    }
    std::vector<std::uint64_t> first_;
    std::vector<Id> sources_{};
};

}  // namespace

StateSet until(const Graph& graph, const StateSet& holds, const StateSet& goal) {
    if (holds.size() != graph.states() || goal.size() != graph.states())
        throw std::invalid_argument("a set of another graph's states");
    const Reversed reversed(graph);
    StateSet found = goal;
    std::vector<Id> open;
    for (Id state = 0; state < graph.states(); ++state)
        if (goal.has(state)) open.push_back(state);
    while (!open.empty()) {
        const Id state = open.back();
        open.pop_back();
        for (const Id source : reversed[state]) {
            if (!holds.has(source) || found.has(source)) continue;
            found.add(source);
            open.push_back(source);
        }
    }
    return found;
}

Beginnings always(const Graph& graph, const StateSet& holds, const Assumption& assumption, Watch& watch) {
    if (holds.size() != graph.states()) throw std::invalid_argument("a set of another graph's states");
    Beginnings found{Stop::finished, StateSet(graph.states())};
    const Groups groups(graph, assumption);
    const Ends ends = find_ends(graph, groups, {}, 0);
    found.bounded = !ends.bounded.empty() || !ends.cut.empty();
    try {
        Pace pace(watch);
        // An automaton of one state, which reads whatever holds: the product is the graph itself.
        const Product product(graph, {1, 0, 0, {{0, 1, 0, 0, 0}}}, {holds});
        StateSet good = ends.real & holds;
        const auto child = [&](Id state, std::uint64_t i) {
            const Id target = graph.target(graph.begin(state) + i);
            return Graph::moves(target) && holds.has(state) && holds.has(target) ? target : none;
        };
        each_component(
            graph.states(), [&](Id state) { return graph.end(state) - graph.begin(state); }, child,
            [&](std::span<const Id> states) {
                std::vector<Spot> nodes;
                if (!holds.has(states.front())) return;
                for (const Id state : states) nodes.push_back({state, 0});
                if (!refine(product, groups, std::move(nodes), pace)) return;
                for (const Id state : states) good.add(state);
            });
        found.states = until(graph, holds, good);
    } catch (const Stopped& stopped) {
        found.stop = stopped.why;
    }
    return found;
}

}  // namespace quorate

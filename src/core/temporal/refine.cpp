#include "temporal/refine.hpp"

#include "temporal/components.hpp"

namespace quorate {

namespace {

class Refiner {
public:
    Refiner(const Product& product, const Groups& groups, Pace& pace)
        : product_(product), graph_(product.graph), groups_(groups), pace_(pace), here_(groups.words()) {}

    std::optional<std::vector<Spot>> run(std::vector<Spot> nodes) {
        std::vector<std::vector<Spot>> open{std::move(nodes)};
        while (!open.empty()) {
            const std::vector<Spot> some = std::move(open.back());
            open.pop_back();
            number(some);
            component_.assign(some.size(), none);
            std::optional<std::vector<Spot>> found;
            std::vector<std::vector<Spot>> parts;
            each_component(
                some.size(), [&](Id node) { return ways(some[node]); },
                [&](Id node, std::uint64_t way) { return child(some[node], way); },
                [&](std::span<const Id> members) {
                    pace_.tick(some.size(), open.size());
                    if (!found) judge(some, members, found, parts);
                });
            if (found) return found;
            for (auto& part : parts) open.push_back(std::move(part));
        }
        return std::nullopt;
    }

private:
    void number(const std::vector<Spot>& nodes) {
        numbers_.clear();
        for (Id i = 0; i < nodes.size(); ++i) numbers_.insert(product_.node(nodes[i].state, nodes[i].place), i);
    }
    std::uint64_t ways(Spot at) const {
        return (graph_.end(at.state) - graph_.begin(at.state)) * product_.moves(at.state, at.place).size();
    }
    std::uint64_t edge(Spot at, std::uint64_t way) const {
        return graph_.begin(at.state) + way / product_.moves(at.state, at.place).size();
    }
    const Product::Move& move(Spot at, std::uint64_t way) const {
        const auto moves = product_.moves(at.state, at.place);
        return moves[way % moves.size()];
    }
    Id child(Spot at, std::uint64_t way) const {
        const std::uint64_t by = edge(at, way);
        if (!Graph::moves(graph_.target(by)) || groups_.allowed[graph_.act(by)] == 0) return none;
        const Id* number = numbers_.find(product_.node(graph_.target(by), move(at, way).target));
        return number == nullptr ? none : *number;
    }

    // Is this component good? If not, what is left of it without the states that strong fairness forbids.
    void judge(const std::vector<Spot>& nodes, std::span<const Id> members, std::optional<std::vector<Spot>>& found,
               std::vector<std::vector<Spot>>& parts) {
        std::vector<std::uint64_t> taken(groups_.words()), somewhere(groups_.words()), everywhere(groups_.weak);
        for (const Id node : members) component_[node] = members.front();
        std::uint64_t acceptance = 0;
        bool cycle = false;
        for (const Id node : members) {
            const Spot at = nodes[node];
            for (std::uint64_t way = 0; way < ways(at); ++way) {
                const Id next = child(at, way);
                if (next == none || component_[next] != members.front()) continue;
                cycle = true;
                acceptance |= move(at, way).acceptance;
                groups_.add(graph_.act(edge(at, way)), taken);
            }
            groups_.enabled(graph_, at.state, here_);
            for (std::size_t i = 0; i < here_.size(); ++i) {
                somewhere[i] |= here_[i];
                everywhere[i] &= here_[i];
            }
        }
        if (!cycle || acceptance != product_.all) return;
        bool avoid = false;
        for (std::size_t i = 0; i < taken.size(); ++i) {
            if ((everywhere[i] & ~taken[i]) != 0) return;  // weakly fair, enabled all the time and never taken
            somewhere[i] &= ~taken[i] & groups_.strong[i];
            avoid |= somewhere[i] != 0;
        }
        std::vector<Spot> rest;
        for (const Id node : members) {
            groups_.enabled(graph_, nodes[node].state, here_);
            bool stays = true;
            for (std::size_t i = 0; i < here_.size() && avoid; ++i) stays &= (here_[i] & somewhere[i]) == 0;
            if (stays) rest.push_back(nodes[node]);
        }
        if (!avoid)
            found = std::move(rest);
        else if (!rest.empty())
            parts.push_back(std::move(rest));
    }

    const Product& product_;
    const Graph& graph_;
    const Groups& groups_;
    Pace& pace_;
    std::vector<std::uint64_t> here_;
    FlatMap<Id> numbers_{};
    std::vector<Id> component_{};
};

}  // namespace

std::optional<std::vector<Spot>> refine(const Product& product, const Groups& groups, std::vector<Spot> nodes,
                                        Pace& pace) {
    return Refiner(product, groups, pace).run(std::move(nodes));
}

}  // namespace quorate

#include "temporal/product.hpp"

#include "temporal/components.hpp"

namespace quorate {

Product::Product(const Graph& graph, const Automaton& automaton, const std::vector<StateSet>& atoms)
    : graph(graph), all(automaton.all()), initial(automaton.initial), places_(automaton.states) {
    automaton.validate();
    if (atoms.size() > 64) throw LimitError("more than 64 predicates in one temporal property");
    for (const StateSet& atom : atoms)
        if (atom.size() != graph.states())
            throw std::invalid_argument("a predicate is a set of another graph's states");
    FlatMap<Id> numbers;
    std::vector<std::uint64_t> words;
    label_.resize(graph.states());
    for (std::size_t begin = 0; begin < graph.states(); begin += 64) {
        const std::size_t end = std::min(begin + 64, graph.states());
        for (std::size_t state = begin; state < end; ++state) {
            std::uint64_t word = 0;
            for (std::size_t i = 0; i < atoms.size(); ++i) word |= std::uint64_t{atoms[i].has(state)} << i;
            const Id* known = numbers.find(word);
            if (known == nullptr) {
                numbers.insert(word, static_cast<Id>(words.size()));
                words.push_back(word);
            }
            label_[state] = known == nullptr ? static_cast<Id>(words.size() - 1) : *known;
        }
    }
    labels_ = words.size();
    std::vector<std::vector<const Automaton::Edge*>> from(places_);
    for (const Automaton::Edge& edge : automaton.edges) from[edge.source].push_back(&edge);
    for (Id place = 0; place < places_; ++place)
        for (const std::uint64_t word : words) {
            first_.push_back(moves_.size());
            for (const Automaton::Edge* edge : from[place])
                if (edge->reads(word)) moves_.push_back({edge->target, edge->acceptance});
        }
    first_.push_back(moves_.size());
    stays_.assign(places_ * labels_, 0);
    ever_stays_.assign(labels_, 0);
    for (std::size_t label = 0; label < labels_; ++label) find_stays(label);
    find_open(automaton);
}

namespace {

// Of an automaton with some of its edges: which places reach a component with all acceptance sets?
template <typename Degree, typename Way>
std::vector<char> accepting_places(Id places, std::uint64_t all, Degree degree, Way way) {
    std::vector<char> good(places, 0);
    std::vector<Id> component(places, none);
    Id count = 0;
    each_component(
        places, degree, [&](Id place, std::uint64_t i) { return way(place, i).target; },
        [&](std::span<const Id> members) {
            bool accepts = false, cycle = false;
            std::uint64_t acceptance = 0;
            for (const Id place : members) component[place] = count;
            for (const Id place : members)
                for (std::uint64_t i = 0; i < degree(place); ++i) {
                    const Product::Move& move = way(place, i);
                    if (component[move.target] == count) {
                        cycle = true;
                        acceptance |= move.acceptance;
                    } else {
                        accepts |= good[move.target] != 0;
                    }
                }
            accepts |= cycle && acceptance == all;
            for (const Id place : members) good[place] = accepts;
            ++count;
        });
    return good;
}

}  // namespace

// On one label for ever the automaton is a graph of its own.
void Product::find_stays(std::size_t label) {
    const auto row = [&](Id place) { return static_cast<std::size_t>(place) * labels_ + label; };
    const std::vector<char> good = accepting_places(
        places_, all, [&](Id place) { return first_[row(place) + 1] - first_[row(place)]; },
        [&](Id place, std::uint64_t i) -> const Move& { return moves_[first_[row(place)] + i]; });
    for (Id place = 0; place < places_; ++place) {
        stays_[row(place)] = good[place];
        ever_stays_[label] |= good[place];
    }
}

// On any labels: all edges that can be taken at all.
void Product::find_open(const Automaton& automaton) {
    std::vector<std::vector<Move>> from(places_);
    for (const Automaton::Edge& edge : automaton.edges)
        if ((edge.must & edge.must_not) == 0) from[edge.source].push_back({edge.target, edge.acceptance});
    open_ = accepting_places(
        places_, all, [&](Id place) { return from[place].size(); },
        [&](Id place, std::uint64_t i) -> const Move& { return from[place][i]; });
}

}  // namespace quorate

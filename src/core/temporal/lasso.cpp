#include "temporal/lasso.hpp"

#include <algorithm>
#include <deque>

namespace quorate {

namespace {

// Ways inside a component, and what is still to be done on the loop.
class Loop {
public:
    Loop(const Product& product, const Groups& groups, const std::vector<Spot>& component)
        : product_(product), graph_(product.graph), groups_(groups), nodes_(component), here_(groups.words()) {
        for (Id i = 0; i < nodes_.size(); ++i) numbers_.insert(product_.node(nodes_[i].state, nodes_[i].place), i);
        acceptance_ = product_.all;
        open_ = groups_.weak;
        // A strongly fair group that is enabled somewhere in the component has a step in it (refine.hpp).
        std::vector<std::uint64_t> somewhere(groups_.words());
        for (const Spot& at : nodes_) {
            groups_.enabled(graph_, at.state, here_);
            unite(somewhere, here_);
        }
        for (std::size_t i = 0; i < open_.size(); ++i) open_[i] |= somewhere[i] & groups_.strong[i];
    }

    bool has(Spot at) const { return find(at) != none; }

    // From a node of the component back to it, with everything done: a shortest way, unless there is too much to do.
    void go(Spot from, std::vector<Way::Taken>& steps) {
        Spot now = from;
        visit(now);
        if (go_shortest(from, steps)) return;
        bool moved = false;
        while (open()) {
            now = follow(now, steps,
                         [&](Spot at, std::uint64_t edge, const Product::Move& move) { return helps(at, edge, move); });
            moved = true;
        }
        if (!moved || !(now == from))
            follow(now, steps, [&](Spot, std::uint64_t edge, const Product::Move& move) {
                return Spot{graph_.target(edge), move.target} == from;
            });
    }

private:
    Id find(Spot at) const {
        const Id* number = numbers_.find(product_.node(at.state, at.place));
        return number == nullptr ? none : *number;
    }
    bool open() const { return acceptance_ != 0 || size_of(open_) > 0; }
    // A weakly fair group that is disabled in a state of the loop is done with.
    void visit(Spot at) {
        groups_.enabled(graph_, at.state, here_);
        for (std::size_t i = 0; i < open_.size(); ++i) open_[i] &= here_[i] | groups_.strong[i];
    }
    void take(std::uint64_t edge, std::uint64_t acceptance) {
        acceptance_ &= ~acceptance;
        std::fill(here_.begin(), here_.end(), 0);
        groups_.add(graph_.act(edge), here_);
        for (std::size_t i = 0; i < open_.size(); ++i) open_[i] &= ~here_[i];
    }
    bool helps(Spot, std::uint64_t edge, const Product::Move& move) {
        if ((acceptance_ & move.acceptance) != 0) return true;
        std::fill(here_.begin(), here_.end(), 0);
        groups_.add(graph_.act(edge), here_);
        for (std::size_t i = 0; i < open_.size(); ++i)
            if ((open_[i] & here_[i]) != 0) return true;
        groups_.enabled(graph_, graph_.target(edge), here_);
        std::uint64_t disabled = 0;
        for (std::size_t i = 0; i < open_.size(); ++i) disabled |= open_[i] & groups_.weak[i] & ~here_[i];
        return disabled != 0;
    }

    // Breadth-first over nodes with what was done on the way to them. A way that leads back never leaves the whole
    // component, of which only a part may be known; but what has to be done for strong fairness is known for this part
    // alone.
    bool go_shortest(Spot from, std::vector<Way::Taken>& steps) const {
        const bool inside = groups_.any_strong();
        std::vector<Id> wanted;  // groups
        for (Id group = 0; group < groups_.all.size(); ++group)
            if (has_bit(open_, group)) wanted.push_back(group);
        std::vector<unsigned> sets;
        for (unsigned set = 0; set < 64; ++set)
            if ((acceptance_ >> set & 1) != 0) sets.push_back(set);
        const std::size_t marks = wanted.size() + sets.size();
        if (marks > most_marks) return false;
        const std::uint64_t all = (std::uint64_t{1} << marks) - 1;
        std::vector<std::uint64_t> here(groups_.words());
        const auto done_by = [&](std::uint64_t edge, const Product::Move& move) {
            std::uint64_t done = 0;
            groups_.enabled(graph_, graph_.target(edge), here);
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                const bool rests = has_bit(groups_.weak, wanted[i]) && !has_bit(here, wanted[i]);
                done |= std::uint64_t{rests || groups_.has(graph_.act(edge), wanted[i])} << i;
            }
            for (std::size_t i = 0; i < sets.size(); ++i)
                done |= (move.acceptance >> sets[i] & 1) << (wanted.size() + i);
            return done;
        };
        struct Met {
            Spot at;
            std::uint64_t done;
            std::size_t before;
            std::uint64_t edge;
        };
        std::vector<Met> met{{from, 0, 0, 0}};
        FlatMap<char> known;
        std::optional<std::size_t> last;
        for (std::size_t i = 0; i < met.size() && !last; ++i) {
            if (met.size() > most_met) return false;
            const Met now = met[i];
            product_.each_way(now.at.state, now.at.place, [&](std::uint64_t edge, const Product::Move& move) {
                const Spot next{graph_.target(edge), move.target};
                if (groups_.allowed[graph_.act(edge)] == 0 || (inside && !has(next))) return false;
                const std::uint64_t done = now.done | done_by(edge, move);
                const std::uint64_t key = product_.node(next.state, next.place) << marks | done;
                if (known.find(key) != nullptr) return false;
                known.insert(key, 1);
                met.push_back({next, done, i, edge});
                if (next == from && done == all) last = met.size() - 1;
                return last.has_value();
            });
        }
        if (!last) return false;
        const std::size_t begin = steps.size();
        for (std::size_t i = *last; i != 0; i = met[i].before) steps.push_back({met[met[i].before].at, met[i].edge});
        std::reverse(steps.begin() + static_cast<std::ptrdiff_t>(begin), steps.end());
        return true;
    }

    // A shortest way inside the component whose last step is a wanted one; appends it and notes what it does.
    template <typename Wanted>
    Spot follow(Spot from, std::vector<Way::Taken>& steps, Wanted wanted) {
        struct Via {
            Id before = none;
            std::uint64_t edge = 0, acceptance = 0;
        };
        std::vector<Via> via(nodes_.size());
        std::vector<bool> met(nodes_.size(), false);
        std::deque<Id> queue{find(from)};
        met[queue.front()] = true;
        while (!queue.empty()) {
            const Id number = queue.front();
            queue.pop_front();
            const Spot at = nodes_[number];
            std::optional<std::pair<Via, Spot>> last;
            product_.each_way(at.state, at.place, [&](std::uint64_t edge, const Product::Move& move) {
                const Spot next{graph_.target(edge), move.target};
                const Id target = groups_.allowed[graph_.act(edge)] != 0 ? find(next) : none;
                if (target == none) return false;
                if (wanted(at, edge, move)) {
                    last = {Via{number, edge, move.acceptance}, next};
                    return true;
                }
                if (met[target]) return false;
                met[target] = true;
                via[target] = {number, edge, move.acceptance};
                queue.push_back(target);
                return false;
            });
            if (!last) continue;
            std::vector<Via> backwards{last->first};
            for (Id i = number; via[i].before != none; i = via[i].before) backwards.push_back(via[i]);
            for (std::size_t i = backwards.size(); i-- > 0;) {
                steps.push_back({nodes_[backwards[i].before], backwards[i].edge});
                visit(nodes_[backwards[i].before]);
                take(backwards[i].edge, backwards[i].acceptance);
            }
            visit(last->second);
            return last->second;
        }
        throw std::logic_error("an accepting component does not hold what it was accepted for");
    }

    static constexpr std::size_t most_marks = 16, most_met = std::size_t{1} << 18;

    const Product& product_;
    const Graph& graph_;
    const Groups& groups_;
    const std::vector<Spot>& nodes_;
    FlatMap<Id> numbers_{};
    std::uint64_t acceptance_ = 0;     // what is still open
    std::vector<std::uint64_t> open_;  // groups
    std::vector<std::uint64_t> here_;
};

}  // namespace

Lasso make_lasso(const Product& product, const Groups& groups, const std::vector<Spot>& component, Pace& pace) {
    Loop loop(product, groups, component);
    Breadth breadth(product, pace);
    const auto entry = breadth.run([&](Id state, Id place) { return loop.has({state, place}); });
    if (!entry) throw std::logic_error("an accepting component cannot be reached");
    Lasso lasso;
    lasso.way = breadth.way_to(*entry);
    lasso.loop_from = lasso.way.steps.size();
    loop.go(lasso.way.last, lasso.way.steps);
    return lasso;
}

void find_starved(const Graph& graph, const Assumption& assumption, Lasso& lasso) {
    const std::size_t count = graph.acts.size();
    std::vector<bool> taken(count, false), somewhere(count, false), always(count, true), here(count);
    std::vector<Id> states;
    for (std::size_t i = lasso.loop_from; i < lasso.way.steps.size(); ++i) {
        taken[graph.act(lasso.way.steps[i].edge)] = true;
        states.push_back(lasso.way.steps[i].from.state);
    }
    if (states.empty()) states.push_back(lasso.way.last.state);
    for (const Id state : states) {
        std::fill(here.begin(), here.end(), false);
        for (std::uint64_t edge = graph.begin(state); edge < graph.end(state); ++edge)
            if (graph.target(edge) != Graph::blocked) here[graph.act(edge)] = true;
        for (std::size_t act = 0; act < count; ++act) {
            somewhere[act] = somewhere[act] || here[act];
            always[act] = always[act] && here[act];
        }
    }
    for (Id act = 0; act < count; ++act) {
        const bool counts =
            (graph.acts[act].protocol() || graph.acts[act].kind == Kind::recover) && !graph.acts[act].optional;
        if (counts && somewhere[act] && !taken[act] && !assumption.stops(graph.acts[act]))
            lasso.starved.push_back({act, always[act]});
    }
}

}  // namespace quorate

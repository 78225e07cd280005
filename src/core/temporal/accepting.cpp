#include "temporal/accepting.hpp"

#include "temporal/refine.hpp"

namespace quorate {

Accepting::Accepting(const Product& product, const Groups& groups, Pace& pace)
    : product_(product),
      groups_(groups),
      pace_(pace),
      strong_(groups.any_strong()),
      words_(groups.words()),
      order_((product.size() + 1) * sizeof(std::uint32_t), product.size() > Node{1} << 22),
      gathered_(groups.words()) {}

std::optional<std::vector<Spot>> Accepting::search(Spot root) { return run(root) ? std::move(found_) : std::nullopt; }

bool Accepting::reaches(Spot root, const StateSet& ends) {
    everything_ = true;
    ends_ = &ends;
    run(root);
    return order(root) == gone_good;
}

bool Accepting::run(Spot root) {
    if (order(root) != 0) return false;
    const Graph& graph = product_.graph;
    enter(root, none, 0);
    while (!frames_.empty()) {
        Frame& frame = frames_.back();
        const Spot at = frame.at;
        const std::span<const Product::Move> moves = product_.moves(at.state, at.place);
        const std::uint64_t edge = graph.begin(at.state) + frame.edge;
        if (moves.empty() || edge == graph.end(at.state)) {
            frames_.pop_back();
            if (order(at) == roots_.back().order) leave();
            if (found_) return true;
            continue;
        }
        const Product::Move move = moves[frame.move];
        if (++frame.move == moves.size()) {
            frame.move = 0;
            ++frame.edge;
        }
        const Id target = graph.target(edge), act = graph.act(edge);
        if (!Graph::moves(target) || groups_.allowed[act] == 0) continue;
        const Spot next{target, move.target};
        const std::uint32_t seen = order(next);
        if (seen == 0) {
            enter(next, act, move.acceptance);
        } else if (seen >= gone_good) {
            roots_.back().good |= seen == gone_good;
        } else {
            merge(seen, act, move.acceptance);
            if (everything_ || strong_ || !complete(roots_.size() - 1)) continue;
            found_.emplace(active_.begin() + roots_.back().begin, active_.end());
            return true;
        }
    }
    return false;
}

void Accepting::enter(Spot at, Id act, std::uint64_t by) {
    if (met_ + 1 >= gone_good) throw LimitError("more than 4,294,967,292 states of a product");
    order(at) = ++met_;
    const bool good = ends_ != nullptr && ends_->has(at.state) && product_.stays(at.state, at.place);
    roots_.push_back({met_, static_cast<std::uint32_t>(active_.size()), act, by, 0, false, false, good});
    active_.push_back(at);
    frames_.push_back({at, 0, 0});
    // The nodes that come next, each in a place of its own in memory.
    const auto moves = product_.moves(at.state, at.place);
    const std::uint32_t* orders = reinterpret_cast<const std::uint32_t*>(order_.data());
    const std::uint64_t first = product_.graph.begin(at.state), end = product_.graph.end(at.state);
    for (std::uint64_t edge = first; edge < std::min(end, first + 16) && !moves.empty(); ++edge)
        if (Graph::moves(product_.graph.target(edge)))
            __builtin_prefetch(orders + product_.node(product_.graph.target(edge), moves.front().target));
    pace_.tick(met_, frames_.size());
}

// The marks of a component of one node: the groups that are disabled there.
void Accepting::know(std::size_t root) {
    if (roots_[root].known) return;
    roots_[root].known = true;
    if (marks_.size() < (root + 1) * words_) marks_.resize((root + 1) * words_);
    groups_.enabled(product_.graph, active_[roots_[root].begin].state, marks(root));
    for (std::uint64_t& word : marks(root)) word = ~word;
}

// A step led back to the node of that order: all components since then are one.
void Accepting::merge(std::uint32_t until, Id act, std::uint64_t acceptance) {
    std::fill(gathered_.begin(), gathered_.end(), 0);
    groups_.add(act, gathered_);
    bool good = false;
    while (roots_.back().order > until) {
        const std::size_t top = roots_.size() - 1;
        know(top);
        unite(gathered_, marks(top));
        groups_.add(roots_[top].act, gathered_);
        acceptance |= roots_[top].acceptance | roots_[top].by;
        good |= roots_[top].good;
        roots_.pop_back();
    }
    const std::size_t top = roots_.size() - 1;
    know(top);
    unite(marks(top), gathered_);
    roots_[top].acceptance |= acceptance;
    roots_[top].good |= good;
    roots_[top].cycle = true;
}

bool Accepting::complete(std::size_t root) {
    return roots_[root].cycle && roots_[root].acceptance == product_.all && within(groups_.weak, marks(root));
}

// The component on top is finished.
void Accepting::leave() {
    const std::size_t top = roots_.size() - 1;
    const Root root = roots_[top];
    bool good = root.good;
    if (complete(top) && strong_) {
        auto part = refine(product_, groups_, {active_.begin() + root.begin, active_.end()}, pace_);
        if (part && !everything_) {
            found_ = std::move(part);
            return;
        }
        good |= part.has_value();
    } else if (complete(top)) {
        good = true;
    }
    roots_.pop_back();
    for (std::size_t i = root.begin; i < active_.size(); ++i) order(active_[i]) = good ? gone_good : gone;
    active_.resize(root.begin);
    if (good && !roots_.empty()) roots_.back().good = true;
}

}  // namespace quorate

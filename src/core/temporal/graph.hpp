// The graph of all reachable states: what every state leads to, by whose step, and what the predicates say of it.
//
// A step that leads to no state stands among the edges as well, with a word in place of the target: fairness has to
// know that it is enabled (or that only a bound keeps it from being so). So does a step that partial orders leave out.
// A state that was not expanded has no edges; nothing may be concluded from that.
#pragma once

#include "base/flat_map.hpp"
#include "base/pile.hpp"
#include "model/column.hpp"
#include "temporal/state_set.hpp"

namespace quorate {

// What makes two steps the same one: whose it is, of what kind, its transition, what it consumes.
struct Act {
    Id column = 0;
    Kind kind = Kind::step;
    Id transition = none, set = none;
    Id alike = set;         // the set, but for ranks: what is fair together with ranks must not depend on their numbers
    bool optional = false;  // it consumes what an attacker can say but need not

    bool protocol() const { return kind == Kind::step || kind == Kind::discard; }
};

class Graph {
public:
    // In place of a target: `within` cuts the step, a full channel blocks it, a handler or a monitor fails, or the step
    // is possible and was left out.
    static constexpr Id cut = none, blocked = none - 1, fails = none - 2, left_out = none - 3;
    static bool moves(Id target) { return target < left_out; }

    std::vector<Act> acts{};
    std::vector<Id> initials{};

    std::size_t states() const { return labels_.size(); }
    std::size_t expanded() const { return first_.size() - 1; }
    std::uint64_t edges() const { return targets_.size(); }
    std::uint64_t begin(Id state) const { return state < expanded() ? first_[state] : first_[expanded()]; }
    std::uint64_t end(Id state) const { return state < expanded() ? first_[state + 1] : first_[expanded()]; }
    Id target(std::uint64_t edge) const { return targets_[edge]; }
    Id act(std::uint64_t edge) const {
        return edge < high_from_ ? low_[edge] : low_[edge] | static_cast<Id>(high_[edge - high_from_]) << 16;
    }
    // Bit i: does predicate i hold?
    std::uint64_t label(Id state) const { return words_[labels_[state]]; }

    Id add_state(std::uint64_t label) {
        if (states() >= left_out) throw LimitError("more than 4,294,967,291 states for a temporal property");
        if (words_.empty() || words_[last_] != label) {
            const Id* known = label_ids_.find(label);
            last_ = known != nullptr ? *known : static_cast<Id>(words_.size());
            if (known == nullptr) {
                words_.push_back(label);
                label_ids_.insert(label, last_);
            }
        }
        labels_.push_back(last_);
        return static_cast<Id>(states() - 1);
    }
    // Edges are added state by state; `close` ends those of the next one.
    void add_edge(Id act, Id target) {
        // Nearly always there are few acts: two bytes are then enough for each edge.
        if (act >> 16 != 0 && high_from_ == ~std::uint64_t{0}) high_from_ = edges();
        if (high_from_ != ~std::uint64_t{0}) high_.push_back(static_cast<std::uint16_t>(act >> 16));
        low_.push_back(static_cast<std::uint16_t>(act));
        targets_.push_back(target);
        if (target <= expanded()) forward_ = false;
        if (target == cut) cuts_ = true;
    }
    // Does every edge lead to a state of a higher number? Then there is no cycle.
    bool forward() const { return forward_; }
    // Does `within` cut any step?
    bool cuts() const { return cuts_; }
    void close() { first_.push_back(edges()); }

    StateSet predicate(unsigned index) const {
        StateSet result(states());
        for (Id state = 0; state < states(); ++state)
            if (label(state) >> index & 1) result.add(state);
        return result;
    }
    std::size_t bytes() const {
        return first_.bytes() + targets_.bytes() + low_.bytes() + high_.bytes() + labels_.bytes();
    }

    Graph() { first_.push_back(0); }

private:
    Pile<std::uint64_t> first_{};
    Pile<Id> targets_{};
    Pile<std::uint16_t> low_{}, high_{};  // of the acts
    std::uint64_t high_from_ = ~std::uint64_t{0};
    bool forward_ = true, cuts_ = false;
    Pile<Id> labels_{};
    std::vector<std::uint64_t> words_{};
    FlatMap<Id> label_ids_{};
    Id last_ = 0;  // label
};

}  // namespace quorate

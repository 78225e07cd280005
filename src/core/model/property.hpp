// What the properties say of a state, without asking them twice. A property is a deterministic program that reads
// fields one after another, so its answers form a decision trie: each node names the field that is read next, each
// branch a value. The oracle adds the path of an evaluation; walking it again costs a few look-ups.
//
// Where a property folds what it reads of several processes (sums it up, say), paths that know the same of the fold
// meet again in one node: what is read from there on, and what is answered, is the same. So a fold has as many nodes as
// there are sums, not as many as there are ways to come to them.
#pragma once

#include <tuple>

#include "model/tables.hpp"

namespace quorate {

enum class Verdict : std::uint8_t { unknown, no, yes, raises };

struct Read {
    Id column, field, value;
    Id fold = none, state = none;  // if it is part of a fold: which, and what is known of it after this read
};

class Trie {
public:
    Verdict walk(const Tables& tables, std::span<const Id> cells) const {
        return descend([&](Id column, Id field) {
            const Column& owner = *tables.columns[column];
            const Cell& cell = owner.cells[cells[column]];
            return field == pending_field ? cell.seen : owner.locals[cell.local].values[field];
        });
    }
    // Without what is pending, which no property may read where this is used.
    Verdict walk_locals(const Tables& tables, std::span<const Id> locals) const {
        return descend(
            [&](Id column, Id field) { return tables.columns[column]->locals[locals[column]].values.at(field); });
    }
    void add(std::span<const Read> path, Verdict verdict) {
        Id node = 0, begin = 0, fold = none;
        for (const Read& read : path) {
            if (read.fold != fold) begin = node;
            fold = read.fold;
            if (nodes_[node].column == none) {
                nodes_[node].column = read.column;
                nodes_[node].field = read.field;
            } else if (nodes_[node].column != read.column || nodes_[node].field != read.field) {
                throw std::logic_error("a property read different fields in two states that look alike to it");
            }
            if (const Id* child = nodes_[node].children.find(read.value)) {
                node = *child;
            } else {
                const Id fresh = checked_id(nodes_.size(), "answers of a property");
                const Id next =
                    fold == none ? fresh : meets_.try_emplace({begin, read.column, read.state}, fresh).first->second;
                nodes_[node].children.insert(read.value, next);
                if (next == fresh) nodes_.emplace_back();
                node = next;
            }
        }
        nodes_[node].verdict = verdict;
    }
    std::size_t size() const { return nodes_.size(); }
    void clear() {
        nodes_.clear();
        nodes_.emplace_back();
        meets_.clear();
    }

private:
    template <typename ValueOf>
    Verdict descend(ValueOf value_of) const {
        Id node = 0;
        while (nodes_[node].verdict == Verdict::unknown) {
            const Node& here = nodes_[node];
            if (here.column == none) return Verdict::unknown;
            const Id* child = here.children.find(value_of(here.column, here.field));
            if (child == nullptr) return Verdict::unknown;
            node = *child;
        }
        return nodes_[node].verdict;
    }
    struct Node {
        Id column = none, field = none;
        FlatMap<Id> children{};
        Verdict verdict = Verdict::unknown;
    };
    std::vector<Node> nodes_{Node{}};
    // The node behind a process of a fold, by where the fold begins and what is known of it.
    std::map<std::tuple<Id, Id, Id>, Id> meets_{};
};

// Invariants must never say no; a goal (`can`) must somewhere say yes; the final predicate says which states without an
// enabled protocol step are fine; a bound says which states are looked at.
enum class PropertyKind : std::uint8_t { invariant, goal, final, bound };

struct Property {
    PropertyKind kind;
    Trie trie{};
    bool symmetric = false;  // it is known to say the same of every renamed state
};

}  // namespace quorate

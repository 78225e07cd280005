// What the transitions of a process were seen to do, by the fields that they have read.
//
// A transition that reads some fields of a local state, and no others, does the same in every local state that agrees
// on these: it assigns the same values to the same fields, leaves the others as they are, and sends the same messages
// (docs/soundness.md, rule 39). Which field is read next depends on those that were read before, so it is a trie. Only
// where it has no answer a handler is run.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"
#include "model/behaviour.hpp"

namespace quorate {

// Of a question that was answered: what was read to find the answer, in this order, and the fields that every outcome
// has assigned without reading them.
struct Record {
    Query::Kind kind = Query::Kind::fire;
    Id transition = 0, subject = 0;
    std::vector<Id> read{}, assigned{};
};

class ByReads {
public:
    // A field and the number of its value.
    struct Assignment {
        Id field, value;
        bool operator==(const Assignment&) const = default;
    };
    // What one outcome of a behaviour does to any local state of which the same was read.
    struct Deed {
        Outcome outcome{};  // without its local state
        std::vector<Assignment> assigned{};
    };
    struct Answer {
        std::vector<Deed> deeds{};  // of a transition
        Request request{};          // of a quorum in a local state
        Id group = none;            // of a message in a local state
    };

    // What is asked: a transition, and what it is asked about.
    struct Question {
        Query::Kind kind;
        Id transition, subject;
    };

    const Answer* find(const Question& question, std::span<const Id> values) const {
        const Id* root = roots_.find(key(question));
        if (root == nullptr) return nullptr;
        Id node = *root;
        while (nodes_[node].field != none) {
            const Id* next = edges_.find(edge(node, values[nodes_[node].field]));
            if (next == nullptr) return nullptr;
            node = *next;
        }
        return &answers_[nodes_[node].answer];
    }

    // Adds an answer for all local states with these values of what was read, in that order. False: from what was read
    // before, something else was read or done then, so the model is no function of its fields and messages.
    bool add(const Question& question, std::span<const Assignment> read, Answer answer);

private:
    struct Node {
        Id field = none;   // what is read next
        Id answer = none;  // if nothing more is read
    };
    static std::uint64_t key(const Question& question) {
        return (static_cast<std::uint64_t>(question.transition) * 4 + static_cast<std::uint64_t>(question.kind)) << 32 |
               question.subject;
    }
    static std::uint64_t edge(Id node, Id value) { return static_cast<std::uint64_t>(node) << 32 | value; }
    Id new_node();

    FlatMap<Id> roots_, edges_;
    std::vector<Node> nodes_{};
    std::vector<Answer> answers_{};
};

}  // namespace quorate

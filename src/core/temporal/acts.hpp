// The numbers of acts. While threads are at work nobody adds any: who meets a new one keeps it, and it gets its number
// when all rest, in an order that does not depend on threads.
#pragma once

#include <algorithm>
#include <map>

#include "model/tables.hpp"
#include "temporal/graph.hpp"

namespace quorate {

struct FreshAct {
    Id column;
    std::uint64_t key;
    Act act;
    Id number = none;
};

class Acts {
public:
    static constexpr Id fresh = Id{1} << 31;  // a bit

    explicit Acts(std::size_t columns) : ids_(columns) {}

    static Act of(Id column, const Step& step) {
        Act act{column, step.kind};
        if (step.kind == Kind::step) act.transition = step.transition;
        if (step.kind != Kind::crash && step.kind != Kind::recover) act.set = step.set;
        return act;
    }
    static std::uint64_t key(const Act& act) {
        return static_cast<std::uint64_t>(act.kind) << 61 |
               static_cast<std::uint64_t>(act.transition & 0x1fffffff) << 32 | act.set;
    }
    const Id* find(Id column, std::uint64_t key) const { return ids_[column].find(key); }
    // Its number, which it gets now if it has none.
    Id number(FreshAct& one, const Tables& tables, Graph& graph) {
        if (one.number != none) return one.number;
        if (const Id* known = find(one.column, one.key)) return one.number = *known;
        if (graph.acts.size() >= fresh) throw LimitError("more than 2,147,483,648 steps with what they consume");
        if (one.act.set != none && one.act.protocol())
            for (const Id message : tables.columns[one.column]->sets[one.act.set])
                one.act.optional |= tables.columns[one.column]->messages[message].stands;
        one.act.alike = one.act.set == none || tables.most_ranks == 0 ? one.act.set : alike(tables, one);
        one.number = static_cast<Id>(graph.acts.size());
        graph.acts.push_back(one.act);
        ids_[one.column].insert(one.key, one.number);
        return one.number;
    }

private:
    // The number of a set of messages, but for ranks.
    Id alike(const Tables& tables, const FreshAct& one) {
        const Column& column = *tables.columns[one.column];
        std::vector<std::uint64_t> key{one.column};
        for (const Id message : column.sets[one.act.set]) key.push_back(column.ranks.messages.likeness(message));
        std::sort(key.begin() + 1, key.end());
        return alike_.try_emplace(std::move(key), static_cast<Id>(alike_.size())).first->second;
    }

    std::vector<FlatMap<Id>> ids_;  // by column
    std::map<std::vector<std::uint64_t>, Id> alike_{};
};

}  // namespace quorate

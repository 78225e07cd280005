#include "analysis/decisions.hpp"

namespace quorate {

namespace {

bool is_live(const Local& state, Id message) { return message >= state.live.size() || state.live[message]; }

// Whether a key has this value, which is noted if it has none.
bool agrees(FlatMap<Id>& values, Id key, Id value) {
    if (const Id* known = values.find(key)) return *known == value;
    values.insert(key, value);
    return true;
}

}  // namespace

Decisions::Decisions(const Tables& tables) {
    for (const auto& column : tables.columns) {
        Process& process = processes_.emplace_back(Process{column->as_is, column->grows, {}, {}});
        for (Id message = 0; message < column->messages.size(); ++message)
            if (column->messages[message].member) process.messages.push_back(message);
        for (Id local = 0; local < column->locals.size(); ++local) {
            const Local& state = column->locals[local];
            if (!state.member) continue;
            Decided& decided = process.locals.emplace_back(Decided{local, tables.merged(*column, local), {}});
            if (!tables.dead_messages) continue;
            for (Id message : process.messages) decided.live.push_back(is_live(state, message));
        }
    }
}

bool Decisions::stand(Tables& tables) const {
    std::vector<FlatMap<Id>> kept(processes_.size());  // what represents a class now, and what did before
    for (Id index = 0; index < processes_.size(); ++index) {
        const Process& process = processes_[index];
        const Column& column = *tables.columns[index];
        if (column.as_is != process.as_is || column.grows != process.grows) return false;
        FlatMap<Id> now;  // the other way round: a class must not have been split
        for (const Decided& decided : process.locals) {
            const Local& state = column.locals[decided.local];
            const Id merged = tables.merged(column, decided.local);
            if (!agrees(kept[index], merged, decided.representative)) return false;
            if (!agrees(now, decided.representative, merged)) return false;
            for (std::size_t i = 0; i < decided.live.size(); ++i)
                if (is_live(state, process.messages[i]) != decided.live[i]) return false;
        }
    }
    for (Id index = 0; tables.quotient && index < processes_.size(); ++index) {
        Column& column = *tables.columns[index];
        if (column.grows) continue;
        for (Id local = 0; local < column.locals.size(); ++local)
            if (const Id* before = kept[index].find(column.locals[local].representative))
                column.locals[local].representative = *before;
    }
    return true;
}

}  // namespace quorate

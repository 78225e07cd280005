// What Python tells of a model: its processes, their local states, messages and behaviours, and answers of properties.

#include <map>

#include "binding/engine.hpp"

namespace quorate {

Engine::Engine(int order, int when_full, int head, Id capacity, bool losses_unlimited, bool duplicates_unlimited,
               Id losses, Id duplicates, Id crashes, bool cut_short)
    : tables(network(order, when_full, head, capacity, losses_unlimited, duplicates_unlimited, losses, duplicates,
                     crashes, cut_short)) {}

void Engine::add_column(bool monitor, const std::vector<std::tuple<int, bool>>& transitions) {
    Column& column = tables.add_column(monitor);
    for (const auto& [mode, keep] : transitions) column.transitions.push_back({static_cast<Mode>(mode), keep});
    if (monitor) column.transitions.emplace_back();  // so that keys of observations have a transition to name
}

void Engine::set_input(Id column, bool clean) {
    tables.columns[column]->input = true;
    tables.columns[column]->clean = clean;
}

Id Engine::add_local(Id column, std::uint64_t content, std::vector<Id> values, Id failure, bool crashed) {
    Column& owner = *tables.columns[column];
    const Id id = owner.add_local(content, std::move(values), failure);
    owner.locals[id].crashed = crashed;
    return id;
}

void Engine::add_notice(Id column, Id receiver, Id message) {
    tables.columns[column]->notices.push_back({receiver, message});
}

Id Engine::add_message(Id column, Id sender, Id type, std::uint64_t content, bool stands) {
    return tables.columns[column]->add_message({sender, type, content, stands});
}

void Engine::open_with(Id column, Id message) {
    Column& owner = *tables.columns[column];
    deliver_standing(tables.network, owner.opening, message, owner.sender());
}

void Engine::put_request(Id column, Id transition, Id local, bool enabled, int mode, Id size, std::vector<Id> senders) {
    Column& owner = *tables.columns[column];
    owner.requests.insert(owner.key(transition, local, 0),
                          {enabled, static_cast<Mode>(mode), size, std::move(senders)});
}

void Engine::put_group(Id column, Id transition, Id local, Id message, Id group) {
    Column& owner = *tables.columns[column];
    owner.groups.insert(owner.key(transition, local, message), group);
}

void Engine::put_behaviour(Id column, Id transition, Id local, Id subject,
                           const std::vector<std::tuple<int, Id, Id, Sent>>& outcomes) {
    Column& owner = *tables.columns[column];
    auto behaviour = std::make_unique<Behaviour>();
    for (const auto& [effect, next, failure, sends] : outcomes) {
        Outcome outcome;
        outcome.effect = static_cast<Effect>(effect);
        outcome.local = next;
        outcome.failure = failure;
        for (const auto& [receiver, message] : sends) outcome.sends.push_back({receiver, message});
        bundle(outcome);
        behaviour->outcomes.push_back(std::move(outcome));
    }
    owner.behaviours.insert(owner.key(transition, local, subject), std::move(behaviour));
}

void Engine::add_answer(std::size_t property, const std::vector<std::tuple<Id, Id, Id>>& reads, int verdict) {
    std::vector<Read> path;
    for (const auto& [column, field, value] : reads) path.push_back({column, field, value});
    properties[property].trie.add(path, static_cast<Verdict>(verdict));
}

void Engine::clear_answers() {
    for (Property& property : properties) property.trie.clear();
}

void Engine::bundle(Outcome& outcome) {
    std::map<Id, std::vector<Id>> standing;
    std::vector<Send> rest;
    for (const Send& send : outcome.sends) {
        const Column& receiver = *tables.columns[send.column];
        if (!receiver.monitor && receiver.messages[send.message].stands)
            standing[send.column].push_back(send.message);
        else
            rest.push_back(send);
    }
    if (standing.empty()) return;
    for (auto& [column, messages] : standing) {
        auto& bundles = tables.columns[column]->bundles;
        rest.push_back({column, bundle_bit + static_cast<Id>(bundles.size())});
        bundles.push_back(std::move(messages));
    }
    outcome.bundled = std::move(rest);
}

Network Engine::network(int order, int when_full, int head, Id capacity, bool losses_unlimited,
                        bool duplicates_unlimited, Id losses, Id duplicates, Id crashes, bool cut_short) {
    Network result;
    result.crashes_cut_short = cut_short;
    result.order = static_cast<Order>(order);
    result.when_full = static_cast<WhenFull>(when_full);
    result.head = static_cast<Head>(head);
    result.capacity = capacity;
    result.losses_unlimited = losses_unlimited;
    result.duplicates_unlimited = duplicates_unlimited;
    result.budget[0] = losses;
    result.budget[1] = duplicates;
    result.budget[2] = crashes;
    if ((losses + 1.0) * (duplicates + 1.0) * (crashes + 1.0) > 4e9)
        throw LimitError("the budgets for losses, duplicates and crashes have more than 4,000,000,000 combinations");
    return result;
}

}  // namespace quorate

// What Python tells of a model: its processes, their local states, messages and behaviours, and answers of properties.

#include <map>

#include "binding/engine.hpp"

namespace quorate {

namespace {

const Network& counted(const Network& network) {
    double combinations = 1;
    for (const Id budget : network.budget) combinations *= budget + 1.0;
    if (combinations > 4e9)
        throw LimitError("the budgets for losses, duplicates and crashes have more than 4,000,000,000 combinations");
    return network;
}

}  // namespace

Engine::Engine(const Network& network) : tables(counted(network)) {}

void Engine::add_column(bool monitor, std::vector<Transition> transitions) {
    Column& column = tables.add_column(monitor);
    column.transitions = std::move(transitions);
    if (monitor) column.transitions.emplace_back();  // so that keys of observations have a transition to name
}

void Engine::set_input(Id column, bool clean) {
    tables.columns[column]->input = true;
    tables.columns[column]->clean = clean;
}

Id Engine::add_local(Id column, std::uint64_t content, std::vector<Id> values, std::optional<Id> failure,
                     bool crashed) {
    Column& owner = *tables.columns[column];
    const Id id = owner.add_local(content, std::move(values), failure.value_or(none));
    owner.locals[id].crashed = crashed;
    return id;
}

void Engine::set_shared(Id column) {
    tables.columns[column]->shared = true;
    for (const auto& each : tables.columns) each->reading = !each->monitor;
}

void Engine::set_written(Id column, Id event, Id value) {
    auto& written = tables.columns[column]->written;
    if (written.size() <= event) written.resize(event + 1, none);
    written[event] = value;
}

void Engine::set_reads(Id column, Id local, Id shared) { tables.columns[column]->locals[local].reads = shared; }

Id Engine::add_view(Id column, Id local, Id value) {
    Column& owner = *tables.columns[column];
    const Local known = owner.locals[local];
    const std::uint64_t read = tables.columns[known.reads]->locals[value].content;
    const Id id = owner.add_local(mix(known.content ^ mix(read + known.reads)), known.values, none);
    Local& view = owner.locals[id];
    view.crash = known.crash;
    view.recovery = known.recovery;
    view.home = owner.home(local);
    view.representative = id;
    view.member = known.member;
    Local& seen = owner.locals[local];
    if (seen.views.size() <= value) seen.views.resize(value + 1, none);
    seen.views[value] = id;
    return id;
}

void Engine::set_fields(Id column, Id local, const std::vector<Id>& fields) {
    Column& owner = *tables.columns[column];
    owner.locals[local].fields = owner.fields.intern(fields);
    owner.with_fields.resize(owner.fields.size(), none);
    owner.with_fields[owner.locals[local].fields] = local;
}

void Engine::add_notice(Id column, Id receiver, Id message) {
    tables.columns[column]->notices.push_back({receiver, message});
}

void Engine::open_with(Id column, Id message) {
    Column& owner = *tables.columns[column];
    deliver_standing(tables.network, owner.opening, message, owner.sender());
}

void Engine::put_request(Id column, Id transition, Id local, std::optional<Request> request) {
    Column& owner = *tables.columns[column];
    Request wanted = std::move(request).value_or(Request{});
    wanted.enabled = request.has_value();
    owner.requests.insert(owner.key(transition, local, 0), std::move(wanted));
}

void Engine::put_group(Id column, Id transition, Id local, Id message, std::optional<Id> group) {
    Column& owner = *tables.columns[column];
    owner.groups.insert(owner.key(transition, local, message), group.value_or(rejected));
}

void Engine::put_behaviour(Id column, Id transition, Id local, Id subject, std::vector<Outcome> outcomes) {
    Column& owner = *tables.columns[column];
    auto behaviour = std::make_unique<Behaviour>();
    behaviour->outcomes = std::move(outcomes);
    for (Outcome& outcome : behaviour->outcomes) bundle(outcome);
    owner.behaviours.insert(owner.key(transition, local, subject), std::move(behaviour));
}

void Engine::add_configurations(Id column, Id no, Id yes) {
    tables.columns[column]->configurations = std::make_unique<Configurations>();
    tables.columns[column]->truth = {no, yes};
}

Id Engine::add_object(Id column, std::uint64_t content) {
    return tables.columns[column]->configurations->add_object(content);
}

void Engine::set_operation(Id column, Id event, bool begins, Id slot, Id subject) {
    tables.columns[column]->configurations->set_event(event, begins, slot, subject);
}

void Engine::put_effect(Id column, Id state, Id operation, std::optional<std::tuple<Id, Id>> effect) {
    Configurations& owner = *tables.columns[column]->configurations;
    if (owner.knows({state, operation})) return;
    const auto [next, result] = effect.value_or(std::tuple{none, none});
    owner.put_effect({state, operation}, next, result);
}

void Engine::put_result(Id column, Id operation, Id value) {
    tables.columns[column]->configurations->put_result(operation, value);
}

void Engine::mark_object(Id column, Id object, std::vector<Id> images, std::uint64_t base,
                         std::vector<std::tuple<Id, std::uint64_t>> marks) {
    tables.columns[column]->configurations->mark(object, {std::move(images), base, std::move(marks)});
}

Id Engine::add_configuration_set(Id column, std::vector<Id> numbers) {
    return tables.columns[column]->add_configurations(std::move(numbers));
}

std::optional<std::vector<Id>> Engine::configuration_set(Id column, Id local) const {
    return tables.columns[column]->configurations->numbers(local);
}

std::vector<std::tuple<Id, Id>> Engine::missing_effects(Id column, Id local, Id event) {
    std::vector<Configurations::Pair> missing;
    tables.columns[column]->react(local, event, missing);
    std::vector<std::tuple<Id, Id>> result;
    for (const auto& [state, operation] : missing) result.emplace_back(state, operation);
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

void Engine::add_answer(std::size_t property, const std::vector<std::tuple<Id, Id, Id, Id, Id>>& reads,
                        Verdict verdict) {
    std::vector<Read> path;
    for (const auto& [column, field, value, fold, state] : reads) path.push_back({column, field, value, fold, state});
    properties[property].trie.add(path, verdict);
}

void Engine::clear_answers() {
    for (Property& property : properties) property.trie.clear();
}

void Engine::set_symmetric(const std::vector<bool>& symmetric) {
    for (std::size_t i = 0; i < properties.size(); ++i) properties[i].symmetric = symmetric[i];
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

}  // namespace quorate

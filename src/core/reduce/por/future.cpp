#include "reduce/por/future.hpp"

#include <numeric>

namespace quorate {

// The local states that are reached by steps with other labels, as far as messages are not asked for.
void Futures::reach(const ProcessSteps& steps, Id local, const Labels& without, Future& found) const {
    std::vector<std::size_t> number(steps.instances.size(), none);
    const auto enter = [&](Id to) {
        if (number[to] == none) {
            number[to] = found.locals.size();
            found.locals.push_back(to);
            found.ways.emplace_back();
        }
        return number[to];
    };
    enter(local);
    std::vector<std::size_t> queue{0};
    while (!queue.empty()) {
        const std::size_t here = queue.back();
        queue.pop_back();
        for (const auto& [to, labels] : steps.summaries[found.locals[here]].moves) {
            if (labels.within(without)) continue;
            const std::size_t before = found.locals.size();
            const std::size_t next = enter(to);
            bool more = next >= before;
            if (next > 0) {
                Labels first = labels;
                first.remove(without);
                more |= found.ways[next].add(here == 0 ? first : found.ways[here]);
            }
            if (more) queue.push_back(next);
        }
    }
}

const Future& Futures::without(Id column, Id local, const Labels& labels, unsigned spent) {
    auto& place = columns_[column].futures[{local, spent, labels}];
    if (place) return *place;
    place = std::make_unique<Future>();
    Future& result = *place;
    const ProcessSteps& steps = instances_.of(column);
    Labels without = labels, gone;
    for (const LocalSummary& summary : steps.summaries)
        for (unsigned kind = 0; kind < budgets; ++kind)
            if (spent >> kind & 1) gone.add(summary.draws[kind]);
    without.add(gone);
    result.inside.assign(steps.tag_words(), 0);
    for (Id label = 0; label < steps.labelled.size(); ++label)
        if (labels.has(label) && !gone.has(label)) unite(result.inside, steps.labelled[label]);
    reach(steps, local, without, result);
    std::vector<Id> all = result.locals;
    if (!instances_.options.conditional) {
        all.resize(steps.instances.size());
        std::iota(all.begin(), all.end(), Id{0});
    }
    std::map<std::size_t, Labels> senders, takers, disabled;
    const auto gather = [&](const std::vector<std::pair<std::size_t, Labels>>& from,
                            std::map<std::size_t, Labels>& to) {
        for (const auto& [at, found] : from)
            if (!found.within(without)) to[at].add(found);
    };
    for (const Id at : all) {
        const LocalSummary& summary = steps.summaries[at];
        result.visible.add(summary.visible);
        for (unsigned kind = 0; kind < budgets; ++kind) result.draws[kind].add(summary.draws[kind]);
        gather(summary.senders, senders);
        gather(summary.takers, takers);
        gather(summary.disabled, disabled);
        for (const auto& event : summary.events)
            if (!without.has(std::get<2>(event))) result.events.push_back(event);
    }
    result.visible.remove(without);
    for (Labels& draws : result.draws) draws.remove(without);
    std::sort(result.events.begin(), result.events.end());
    result.events.erase(std::unique(result.events.begin(), result.events.end()), result.events.end());
    result.sends.assign(instances_.space.words(), 0);
    for (const auto& [at, found] : senders) set_bit(result.sends, at);
    const auto list = [&](std::map<std::size_t, Labels>& from, Future::Index& index) {
        for (auto& [at, found] : from) {
            found.remove(without);
            index.push_back({at, found, number(column, found)});
        }
    };
    list(senders, result.senders);
    list(takers, result.takers);
    list(disabled, result.disabled);
    return result;
}

Id Futures::number(Id column, const Labels& labels) {
    auto& numbers = columns_[column].numbers;
    return numbers.emplace(labels, static_cast<Id>(numbers.size())).first->second;
}

const std::vector<Futures::Sent>& Futures::forward(Id column, Id local, Bits messages) {
    const std::lock_guard guard(instances_.tables.columns[column]->lock);
    const auto [place, fresh] = columns_[column].forward.try_emplace({local, Words(messages.begin(), messages.end())});
    if (!fresh) return place->second;
    const ProcessSteps& steps = instances_.of(column);
    const MessageSpace& space = instances_.space;
    Words sent(space.words(), 0);
    const Words others = steps.needing_others(messages);
    std::vector<Id> found{local};
    for (std::size_t i = 0; i < found.size(); ++i) {
        const LocalSummary& summary = steps.summaries[found[i]];
        const std::vector<Instance>& instances = steps.instances[found[i]];
        const auto follow = [&](const Instance& instance) {
            for (const Instance::End& end : instance.ends) {
                if (std::find(found.begin(), found.end(), end.to) == found.end()) found.push_back(end.to);
                for (const Send& send : end.sends)
                    if (!instances_.tables.columns[send.column]->monitor)
                        set_bit(sent, space.bit(send.column, send.message));
            }
        };
        for (const auto& [tags, instance] : summary.same)
            if (!within(tags, others)) follow(instances[instance]);
        for (const Id number : summary.unlike)
            if (!has_bit(others, instances[number].tag)) follow(instances[number]);
    }
    for (std::size_t word = 0; word < sent.size(); ++word)
        if (sent[word] != 0) place->second.push_back({word, sent[word]});
    return place->second;
}

}  // namespace quorate

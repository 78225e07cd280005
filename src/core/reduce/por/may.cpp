// What a process may do from a local state on, and what it may send if it gets certain messages alone.

#include <numeric>

#include "reduce/por/relations.hpp"

namespace quorate {

// Of many steps that differ in their messages, what counts for these questions: it is the same for most of them.
Relations::Outline Relations::outline(const Column& column, const std::vector<Instance>& list) const {
    Outline result;
    result.tags.assign(tags_[column.index].size() / 64 + 1, 0);
    std::map<Id, std::size_t> deeds;
    std::map<std::size_t, Labels> moves, senders, takers, greedy;
    std::map<Id, Labels> maximal;  // by transition
    for (const Instance& instance : list)
        if (instance.greedy) maximal[transitions_[column.index][instance.tag]].add(instance.label);
    for (Id number = 0; number < list.size(); ++number) {
        const Instance& instance = list[number];
        Outline::Group& group = result.groups[instance.label];
        group.budget = instance.budget;
        group.removes |= !instance.stays && !column.sets[instance.set].empty();
        group.instances.push_back(number);
        set_bit(result.tags, instance.tag);
        if (instance.deed == none) {
            result.unlike.push_back(number);
        } else {
            const auto [place, fresh] = deeds.emplace(instance.deed, result.deeds.size());
            if (fresh) result.deeds.push_back({Words(result.tags.size()), number});
            set_bit(result.deeds[place->second].tags, instance.tag);
        }
        if (instance.visible) result.visible.add(instance.label);
        if (instance.budget != Budget::free)
            result.draws[static_cast<std::size_t>(instance.budget)].add(instance.label);
        for (const Id message : column.sets[instance.set]) {
            // One more message may make any other set of the transition a set that is not maximal.
            if (instance.greedy) greedy[message].add(maximal[transitions_[column.index][instance.tag]]);
            if (!instance.stays && !column.messages[message].stands) takers[message].add(instance.label);
        }
        for (const Instance::End& end : instance.ends) {
            moves[end.to].add(instance.label);
            for (const Send& send : end.sends) {
                if (tables_.columns[send.column]->monitor)
                    result.events.emplace_back(send.column, send.message, instance.label);
                else
                    senders[bit(send.column, send.message)].add(instance.label);
            }
        }
    }
    std::sort(result.events.begin(), result.events.end());
    result.events.erase(std::unique(result.events.begin(), result.events.end()), result.events.end());
    result.moves.assign(moves.begin(), moves.end());
    result.senders.assign(senders.begin(), senders.end());
    result.takers.assign(takers.begin(), takers.end());
    result.greedy.assign(greedy.begin(), greedy.end());
    return result;
}

// The local states that are reached by steps with other labels, as far as messages are not asked for.
void Relations::reach(Id column, Id local, const Labels& without, May& found) const {
    std::vector<std::size_t> number(instances_[column].size(), none);
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
        for (const auto& [to, labels] : outlines_[column][found.locals[here]].moves) {
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

const May& Relations::may(Id column, Id local, const Labels& labels, unsigned spent) {
    auto& place = may_[column][{local, spent, labels}];
    if (place) return *place;
    place = std::make_unique<May>();
    May& result = *place;
    Labels without = labels, gone;
    for (const Outline& outline : outlines_[column])
        for (unsigned kind = 0; kind < budgets; ++kind)
            if (spent >> kind & 1) gone.add(outline.draws[kind]);
    without.add(gone);
    result.inside.assign(tags_[column].size() / 64 + 1, 0);
    for (Id label = 0; label < labelled_[column].size(); ++label)
        if (labels.has(label) && !gone.has(label)) unite(result.inside, labelled_[column][label]);
    reach(column, local, without, result);
    std::vector<Id> all = result.locals;
    if (!options.conditional) {
        all.resize(instances_[column].size());
        std::iota(all.begin(), all.end(), Id{0});
    }
    std::map<std::size_t, Labels> senders, takers, greedy;
    const auto gather = [&](const std::vector<std::pair<std::size_t, Labels>>& from,
                            std::map<std::size_t, Labels>& to) {
        for (const auto& [at, found] : from)
            if (!found.within(without)) to[at].add(found);
    };
    for (const Id at : all) {
        const Outline& outline = outlines_[column][at];
        result.visible.add(outline.visible);
        for (unsigned kind = 0; kind < budgets; ++kind) result.draws[kind].add(outline.draws[kind]);
        gather(outline.senders, senders);
        gather(outline.takers, takers);
        gather(outline.greedy, greedy);
        for (const auto& event : outline.events)
            if (!without.has(std::get<2>(event))) result.events.push_back(event);
    }
    result.visible.remove(without);
    for (Labels& draws : result.draws) draws.remove(without);
    std::sort(result.events.begin(), result.events.end());
    result.events.erase(std::unique(result.events.begin(), result.events.end()), result.events.end());
    result.sends.assign(words_, 0);
    for (const auto& [at, found] : senders) set_bit(result.sends, at);
    const auto list = [&](std::map<std::size_t, Labels>& from, May::Index& index) {
        for (auto& [at, found] : from) {
            found.remove(without);
            index.push_back({at, found, number(column, found)});
        }
    };
    list(senders, result.senders);
    list(takers, result.takers);
    list(greedy, result.greedy);
    return result;
}

Id Relations::number(Id column, const Labels& labels) {
    return numbers_[column].emplace(labels, static_cast<Id>(numbers_[column].size())).first->second;
}

const std::vector<Relations::Sent>& Relations::forward(const Footprint& root, std::span<const std::uint64_t> messages) {
    Column& column = *tables_.columns[root.column];
    const std::lock_guard guard(column.lock);
    const Id local = column.cells[root.cell].local;
    const auto [place, fresh] = forward_[root.column].try_emplace({local, Words(messages.begin(), messages.end())});
    if (!fresh) return place->second;
    Words sent(words_, 0);
    const Words others = needing_others(root.column, messages);
    std::vector<Id> found{local};
    for (std::size_t i = 0; i < found.size(); ++i) {
        const Outline& outline = outlines_[root.column][found[i]];
        const std::vector<Instance>& instances = instances_[root.column][found[i]];
        const auto follow = [&](const Instance& instance) {
            for (const Instance::End& end : instance.ends) {
                if (std::find(found.begin(), found.end(), end.to) == found.end()) found.push_back(end.to);
                for (const Send& send : end.sends)
                    if (!tables_.columns[send.column]->monitor) set_bit(sent, bit(send.column, send.message));
            }
        };
        for (const auto& [tags, instance] : outline.deeds)
            if (!within(tags, others)) follow(instances[instance]);
        for (const Id number : outline.unlike)
            if (!has_bit(others, instances[number].tag)) follow(instances[number]);
    }
    for (std::size_t word = 0; word < words_; ++word)
        if (sent[word] != 0) place->second.push_back({word, sent[word]});
    return place->second;
}

Relations::Words Relations::needing_others(Id column, std::span<const std::uint64_t> messages) const {
    Words result(tags_[column].size() / 64 + 1);
    for (std::size_t message = 0; message < needing_[column].size(); ++message)
        if (!has_bit(messages, message)) unite(result, needing_[column][message]);
    return result;
}

}  // namespace quorate

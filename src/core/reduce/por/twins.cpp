#include "reduce/por/twins.hpp"

#include <set>

namespace quorate {

const Twins::Kinds& Twins::kinds(const Column& column, Id local) {
    const auto [place, fresh] = columns_[column.index].kinds.try_emplace(local);
    Kinds& result = place->second;
    if (!fresh) return result;
    const ProcessSteps& steps = instances_.of(column);
    result.kind.assign(steps.tags.size(), none);
    if (!steps.commuting || !instances_.options.twins) return result;
    // A kind is a list of effects, one for each local state in which there is such a step; here its last entry.
    struct Kind {
        Id before, at, effect;
        auto operator<=>(const Kind&) const = default;
    };
    std::vector<Kind> kinds;
    std::map<Kind, Id> numbers;
    for (const Id at : futures_.without(column.index, local, Labels(), 0).locals) {
        for (const Instance& instance : steps.instances[at]) {
            const Kind kind{result.kind[instance.tag], at, instance.effect};
            const auto [number, unknown] = numbers.emplace(kind, static_cast<Id>(kinds.size()));
            if (unknown) kinds.push_back(kind);
            result.kind[instance.tag] = number->second;
        }
    }
    // A step stands for another if it does the same wherever there is the other.
    const auto stands_for = [&](Id key, Id other) {
        for (; other != none; other = kinds[other].before) {
            while (key != none && kinds[key].at != kinds[other].at) key = kinds[key].before;
            if (key == none || kinds[key].effect != kinds[other].effect || kinds[key].effect == none) return false;
        }
        return true;
    };
    const std::set<Id> all(result.kind.begin(), result.kind.end());
    result.alike.resize(kinds.size());
    for (const Id key : all)
        for (const Id other : all)
            if (key != none && other != none && stands_for(key, other)) result.alike[key].push_back(other);
    result.tags.assign(kinds.size(), Words(result.kind.size() / 64 + 1));
    for (Id tag = 0; tag < result.kind.size(); ++tag)
        if (result.kind[tag] != none) set_bit(result.tags[result.kind[tag]], tag);
    return result;
}

// What is left over when the key or one of its twins is taken and not the other, nobody asks for any more. The key
// stays possible and can be moved to the front, so whoever takes its twin could have begun with the key, and is in a
// state that differs in such messages at most. (Where they can be lost, stand in the way or take up room, they matter.)
Labels Twins::represented(const Column& column, Id cell, Id key, const Words& pending, Bits sendable) {
    const ProcessSteps& steps = instances_.of(column);
    const Id local = column.cells[cell].local;
    const std::size_t size = sendable.size();
    const auto bits = [&](Id tag) { return steps.messages(tag); };
    Words messages = pending;
    unite(messages, sendable);
    Words absent = steps.needing_others(messages);
    for (std::size_t i = 0; i < absent.size(); ++i) absent[i] &= uses(column, local).tags[i];
    Labels result(absent);
    if (instances_.options.keep > Keep::safety) return result;
    std::vector<Id> same;
    const Kinds& kinds = this->kinds(column, local);
    for (const Id kind : kinds.alike_to(key))
        for (std::size_t i = 0; i < absent.size(); ++i)
            for (std::uint64_t rest = kinds.tags[kind][i] & ~absent[i]; rest != 0; rest &= rest - 1)
                if (const Id tag = static_cast<Id>(lowest(i, rest)); tag != key) same.push_back(tag);
    if (same.empty()) return result;
    Words removed(size, 0);  // what is gone once it is consumed
    const std::span<const Id> inbox = column.inboxes[column.cells[cell].inbox];
    for (const Id message : inbox)
        if (!column.messages[message].stands && std::count(inbox.begin(), inbox.end(), message) == 1)
            set_bit(removed, message);
    const Network& network = instances_.tables.network;
    const bool quiet = !network.ordered() && !network.bounded() && !network.loses() && !network.repeats();
    const Instance* found = steps.find(local, key);
    if (found == nullptr) throw std::logic_error("a step is possible that the closure does not hold");
    const Instance& wanted = *found;
    for (const Instance::End& end : wanted.ends) {
        const Uses& uses = this->uses(column, end.to);
        const Words* live = instances_.tables.dead_messages ? &this->live(column, end.to) : nullptr;
        // The uses that need a message which is not there and does not come.
        Words never(uses.sets.size() / 64 + 1);
        for (std::size_t i = 0; i < size; ++i)
            for (std::uint64_t rest = uses.all[i] & ~pending[i] & ~sendable[i]; rest != 0; rest &= rest - 1)
                unite(never, uses.of(i, rest));
        Words out, asked;
        // Is some message of one set, but not of the other, asked for when the other has been consumed?
        const auto matters = [&](const std::uint64_t* left, const std::uint64_t* consumed) {
            bool any = false;
            for (std::size_t i = 0; i < size; ++i) {
                const std::uint64_t rest = left[i] & ~consumed[i];
                any |= (live == nullptr ? rest : rest & (*live)[i]) != 0;
            }
            if (!any || !quiet) return any;
            out = never;
            asked.assign(never.size(), 0);
            for (std::size_t i = 0; i < size; ++i) {
                const std::uint64_t gone = wanted.stays ? 0 : consumed[i] & removed[i] & ~sendable[i];
                for (std::uint64_t rest = gone & uses.all[i]; rest != 0; rest &= rest - 1) unite(out, uses.of(i, rest));
                for (std::uint64_t rest = left[i] & ~consumed[i] & uses.all[i]; rest != 0; rest &= rest - 1)
                    unite(asked, uses.of(i, rest));
            }
            bool asked_for = false;
            for (std::size_t i = 0; i < out.size(); ++i) asked_for |= (asked[i] & ~out[i]) != 0;
            return asked_for;
        };
        std::erase_if(same, [&](Id tag) { return matters(bits(tag), bits(key)) || matters(bits(key), bits(tag)); });
    }
    for (const Id tag : same) result.add(tag);
    return result;
}

// The messages that are not dead in a local state.
const Words& Twins::live(const Column& column, Id local) {
    Words& result = columns_[column.index].live[local];
    if (result.empty()) {
        result.resize(instances_.of(column).message_words);
        for (Id message = 0; message < column.locals[local].live.size(); ++message)
            if (column.locals[local].live[message]) set_bit(result, message);
    }
    return result;
}

const Twins::Uses& Twins::uses(const Column& column, Id local) {
    const auto [place, fresh] = columns_[column.index].uses.try_emplace(local);
    if (!fresh) return place->second;
    Uses& result = place->second;
    const ProcessSteps& steps = instances_.of(column);
    const std::size_t size = steps.message_words;
    result.all.assign(size, 0);
    std::set<Words> sets;
    result.tags.resize(steps.tag_words());
    for (const Id at : futures_.without(column.index, local, Labels(), 0).locals)
        unite(result.tags, steps.summaries[at].tags);
    for (Id tag = 0; tag < steps.tags.size(); ++tag) {
        if (!has_bit(result.tags, tag)) continue;
        const std::uint64_t* messages = steps.messages(tag);
        sets.emplace(messages, messages + size);
        for (std::size_t i = 0; i < size; ++i) result.all[i] |= messages[i];
    }
    result.sets.assign(sets.begin(), sets.end());
    result.holding.assign(size * 64, Words());
    for (std::size_t use = 0; use < result.sets.size(); ++use)
        for (std::size_t i = 0; i < size; ++i)
            for (std::uint64_t rest = result.sets[use][i]; rest != 0; rest &= rest - 1) {
                Words& holding = result.holding[lowest(i, rest)];
                holding.resize(result.sets.size() / 64 + 1);
                set_bit(holding, use);
            }
    return result;
}

}  // namespace quorate

// Steps that do the same with other messages, of which one may stand for the others.

#include <set>

#include "reduce/por/relations.hpp"

namespace quorate {

// Steps are of one kind if they do the same in every local state that the process may still get to.
const Relations::Twins& Relations::twins(const Column& column, Id local) {
    const auto [place, fresh] = twins_[column.index].try_emplace(local);
    Twins& result = place->second;
    if (!fresh) return result;
    result.kind.assign(tags_[column.index].size(), none);
    if (!commuting_[column.index] || !options.twins) return result;
    // A kind is a list of deeds, one for each local state in which there is such a step; here its last entry.
    struct Kind {
        Id before, at, deed;
        auto operator<=>(const Kind&) const = default;
    };
    std::vector<Kind> kinds;
    std::map<Kind, Id> numbers;
    for (const Id at : may(column.index, local, Labels(), 0).locals) {
        for (const Instance& instance : instances_[column.index][at]) {
            const Kind kind{result.kind[instance.tag], at, instance.deed};
            const auto [number, unknown] = numbers.emplace(kind, static_cast<Id>(kinds.size()));
            if (unknown) kinds.push_back(kind);
            result.kind[instance.tag] = number->second;
        }
    }
    // A step stands for another if it does the same wherever there is the other.
    const auto stands_for = [&](Id key, Id other) {
        for (; other != none; other = kinds[other].before) {
            while (key != none && kinds[key].at != kinds[other].at) key = kinds[key].before;
            if (key == none || kinds[key].deed != kinds[other].deed || kinds[key].deed == none) return false;
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

// The steps that need no thought: those that can never come about, and the twins that the key stands for. What is left
// over when one of these is taken and not the other, nobody asks for any more. The key stays possible and can be moved
// to the front, so whoever takes its twin could have begun with the key, and is in a state that differs in such
// messages at most. (Where they can be lost, stand in the way or take up room, they matter.)
Labels Relations::alike(const Column& column, const Footprint& root, Id key, std::span<const std::uint64_t> sendable) {
    const Id local = column.cells[root.cell].local;
    const std::size_t size = sendable.size();
    const Words& there = root.there;
    const auto bits = [&](Id tag) { return set_bits_[column.index].data() + tag * size; };
    Words messages = there;
    unite(messages, sendable);
    Words absent = needing_others(column.index, messages);
    for (std::size_t i = 0; i < absent.size(); ++i) absent[i] &= uses(column, local).tags[i];
    Labels result(absent);
    if (options.keep > Keep::safety) return result;
    std::vector<Id> same;
    const Twins& twins = this->twins(column, local);
    for (const Id kind : twins.alike_to(key))
        for (std::size_t i = 0; i < absent.size(); ++i)
            for (std::uint64_t rest = twins.tags[kind][i] & ~absent[i]; rest != 0; rest &= rest - 1)
                if (const Id tag = static_cast<Id>(lowest(i, rest)); tag != key) same.push_back(tag);
    if (same.empty()) return result;
    Words removed(size, 0);  // what is gone once it is consumed
    const std::span<const Id> inbox = column.inboxes[column.cells[root.cell].inbox];
    for (const Id message : inbox)
        if (!column.messages[message].stands && std::count(inbox.begin(), inbox.end(), message) == 1)
            set_bit(removed, message);
    const Network& network = tables_.network;
    const bool quiet = !network.ordered() && !network.bounded() && !network.loses() && !network.repeats();
    const Instance& wanted = *find(column.index, local, key);
    for (const Instance::End& end : wanted.ends) {
        const Uses& uses = this->uses(column, end.to);
        const Words* live = tables_.dead_messages ? &this->live(column, end.to) : nullptr;
        // The uses that need a message which is not there and does not come.
        Words never(uses.sets.size() / 64 + 1);
        for (std::size_t i = 0; i < size; ++i)
            for (std::uint64_t rest = uses.all[i] & ~there[i] & ~sendable[i]; rest != 0; rest &= rest - 1)
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
const Relations::Words& Relations::live(const Column& column, Id local) {
    Words& result = live_[column.index][local];
    if (result.empty()) {
        result.resize(range(column.index).second);
        for (Id message = 0; message < column.locals[local].live.size(); ++message)
            if (column.locals[local].live[message]) set_bit(result, message);
    }
    return result;
}

const Relations::Uses& Relations::uses(const Column& column, Id local) {
    const auto [place, fresh] = uses_[column.index].try_emplace(local);
    if (!fresh) return place->second;
    Uses& result = place->second;
    const std::size_t size = range(column.index).second;
    result.all.assign(size, 0);
    std::set<Words> sets;
    result.tags.resize(tags_[column.index].size() / 64 + 1);
    for (const Id at : may(column.index, local, Labels(), 0).locals)
        unite(result.tags, outlines_[column.index][at].tags);
    for (Id tag = 0; tag < tags_[column.index].size(); ++tag) {
        if (!has_bit(result.tags, tag)) continue;
        const auto begin = set_bits_[column.index].begin() + static_cast<std::ptrdiff_t>(tag * size);
        sets.emplace(begin, begin + static_cast<std::ptrdiff_t>(size));
        for (std::size_t i = 0; i < size; ++i) result.all[i] |= begin[static_cast<std::ptrdiff_t>(i)];
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

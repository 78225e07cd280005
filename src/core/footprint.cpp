// What the steps of one cell depend on, label by label; built once per cell and set of labels.

#include <set>

#include "relations.hpp"

namespace quorate {

// How many of the steps that do the same are tried as a key.
constexpr std::ptrdiff_t most_twins = 3;

const Footprint& Relations::root(Id column, Id cell, const StepList& steps, unsigned spent) {
    Known& roots = *roots_[column][spent];
    if (cell < roots.size())
        if (const Footprint* found = roots[cell].load(std::memory_order_acquire)) return *found;
    Column& owner = *tables_.columns[column];
    const std::lock_guard guard(owner.lock);
    while (roots.size() <= cell) roots.append([](auto&) {});
    if (const Footprint* found = roots[cell].load(std::memory_order_relaxed)) return *found;
    Footprint wanted;
    wanted.cell = cell;
    wanted.spent = spent;
    const Footprint& result = known(owner, wanted, steps);
    roots[cell].store(&result, std::memory_order_release);
    return result;
}

const Footprint& Relations::start(const Footprint& root, Id key, std::span<const std::uint64_t> sendable) {
    Column& owner = *tables_.columns[root.column];
    const std::lock_guard guard(owner.lock);
    Footprint wanted;
    wanted.cell = root.cell;
    wanted.spent = root.spent;
    wanted.key = key;
    wanted.labels.add(tags_[root.column][key]);
    wanted.alike = alike(owner, root.cell, key, sendable);
    return known(owner, wanted, *owner.cells[root.cell].steps.load(std::memory_order_acquire));
}

const Footprint& Relations::grow(const Footprint& from, const Labels& more) {
    Column& owner = *tables_.columns[from.column];
    const std::lock_guard guard(owner.lock);
    Footprint wanted;
    wanted.cell = from.cell;
    wanted.spent = from.spent;
    wanted.key = from.key;
    wanted.alike = from.alike;
    wanted.labels = from.labels;
    wanted.labels.add(more);
    return known(owner, wanted, *owner.cells[from.cell].steps.load(std::memory_order_acquire));
}

const Footprint& Relations::known(Column& column, const Footprint& wanted, const StepList& steps) {
    auto& place = owned_[column.index][{wanted.cell, wanted.spent, wanted.labels, wanted.key, wanted.alike}];
    if (!place) place = build(column, wanted, steps);
    return *place;
}

// Adds what is not independent of a possible step, as long as it can come about, then says what else must hold.
std::unique_ptr<Footprint> Relations::build(Column& column, const Footprint& wanted, const StepList& steps) {
    auto result = std::make_unique<Footprint>(wanted);
    result->serial = ++serials_[column.index];
    result->column = column.index;
    const unsigned spent = wanted.spent;
    Labels& labels = result->labels;
    const Id local = column.cells[wanted.cell].local;
    std::vector<char> ready(tags_[column.index].size(), false);
    std::vector<Id> tags(steps.size(), none);
    for (Id number = 0; number < steps.size(); ++number) {
        const Step& step = steps[number];
        if (step.budget != Budget::free && (spent >> static_cast<unsigned>(step.budget) & 1)) continue;
        tags[number] = tag(column, step);
        const bool protocol = step.kind == Kind::step || step.kind == Kind::discard;
        if (labels.empty() && protocol && step.effect == Effect::moves && !ready[tags[number]]) {
            // Of many steps that do the same, a few are enough to start from.
            const std::vector<Id>& same = twins(column, local, tags[number]);
            if (std::count_if(same.begin(), same.end(), [&](Id twin) { return ready[twin]; }) < most_twins)
                result->seeds.push_back(tags[number]);
        }
        ready[tags[number]] = true;
        if (step.effect != Effect::cut) ++result->all;
    }
    if (!labels.empty()) {
        while (complete(column, may(column.index, local, labels, spent), ready, *result)) {
        }
        list_clauses(column, may(column.index, local, labels, spent), ready, *result);
    }
    result->outside = &may(column.index, local, labels, spent);
    result->steps.assign(steps.size(), false);
    for (Id number = 0; number < steps.size(); ++number) {
        const Step& step = steps[number];
        if (tags[number] == none || !labels.has(tags_[column.index][tags[number]])) continue;
        if (result->alike.has(tags[number])) continue;
        result->steps[number] = true;
        if (step.effect != Effect::cut) ++result->enabled;
        if (step.budget != Budget::free) result->draws |= 1u << static_cast<unsigned>(step.budget);
        const Instance* instance = find(column.index, local, tags[number]);
        if (instance == nullptr) throw std::logic_error("a step is possible that the closure does not hold");
        result->visible |= instance->visible;
        if (tables_.network.order == Order::set && !instance->stays)
            for (const Id message : column.sets[instance->set])
                if (!column.messages[message].stands) result->consumed.push_back(message);
        for (const Instance::End& end : instance->ends)
            for (const Send& send : end.sends)
                (tables_.columns[send.column]->monitor ? result->events : result->sends).push_back(send);
    }
    result->single = result->enabled <= 1;
    const auto once = [](auto& list, auto key) {
        std::sort(list.begin(), list.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
        list.erase(
            std::unique(list.begin(), list.end(), [&](const auto& a, const auto& b) { return key(a) == key(b); }),
            list.end());
    };
    once(result->consumed, [](Id message) { return message; });
    const auto content = [](const Send& send) { return std::make_pair(send.column, send.message); };
    once(result->sends, content);
    once(result->events, content);
    return result;
}

// Adds labels that must come along whatever the other processes are doing; false if there are none.
bool Relations::complete(const Column& column, const May& found, const std::vector<char>& ready, Footprint& footprint) {
    const Id local = column.cells[footprint.cell].local;
    const Words there = pending(column, footprint.cell);
    Labels more;
    std::vector<Id> possible;
    footprint.pardons.clear();
    for (Id tag = 0; tag < ready.size(); ++tag)
        if (ready[tag] && !footprint.alike.has(tag) && footprint.labels.has(tags_[column.index][tag]))
            possible.push_back(tag);
    const auto out = [&](const Instance& instance) {
        return !footprint.labels.has(instance.label) && !spent(instance, footprint.spent);
    };
    // In the set, and not possible although no message is missing.
    const auto held_up = [&](const Instance& instance) {
        return footprint.labels.has(instance.label) && !spent(instance, footprint.spent) && !ready[instance.tag] &&
               !footprint.alike.has(instance.tag) && !lacks(column, there, instance.tag);
    };
    bool removes = false;
    for (const Id at : found.locals) {
        for (const Instance& instance : instances_[column.index][at]) {
            if (!out(instance)) continue;
            removes |= !instance.stays && !column.sets[instance.set].empty();
            if (more.has(instance.label)) continue;
            bool pardoned = false;
            for (const Id tag : possible) {
                const bool lasting = tag == footprint.key || !weak();
                const Pair order = commute(column.index, at, tag, instance, lasting);
                pardoned |= order == Pair::absorbs;
                if (order != Pair::matters) continue;
                more.add(instance.label);
                break;
            }
            if (!pardoned || more.has(instance.label)) continue;
            footprint.pardons.push_back({instance.label, {}});
            for (const Instance::End& end : instance.ends)
                footprint.pardons.back().sends.insert(footprint.pardons.back().sends.end(), end.sends.begin(),
                                                      end.sends.end());
        }
    }
    // Something else stands before these messages, or goes with them, and it may be removed: then all steps of the
    // process stay together.
    const auto& here = instances_[column.index][local];
    if (removes && std::any_of(here.begin(), here.end(), held_up))
        for (const Id at : found.locals)
            for (const Instance& other : instances_[column.index][at])
                if (out(other)) more.add(other.label);
    // The local state in which they would do must not be reached.
    for (std::size_t i = 1; i < found.locals.size(); ++i)
        for (const Instance& instance : instances_[column.index][found.locals[i]])
            if (held_up(instance)) more.add(found.ways[i]);
    return footprint.labels.add(more);
}

// The steps that do what the key does, wherever the process may be by then, with other messages.
const std::vector<Id>& Relations::twins(const Column& column, Id local, Id key) {
    const auto [place, fresh] = twins_[column.index].try_emplace({local, key});
    if (!fresh || !commuting_[column.index] || !options.twins) return place->second;
    const auto same = [](const Send& a, const Send& b) { return a.column == b.column && a.message == b.message; };
    std::map<Id, bool> found;
    for (const Id at : may(column.index, local, Labels(), 0).locals) {
        const Instance* wanted = find(column.index, at, key);
        for (const Instance& instance : instances_[column.index][at]) {
            bool alike = wanted != nullptr && !wanted->fragile && !instance.fragile &&
                         wanted->stays == instance.stays && instance.budget == Budget::free &&
                         wanted->ends.size() == instance.ends.size();
            for (std::size_t i = 0; alike && i < instance.ends.size(); ++i) {
                const auto &a = wanted->ends[i], &b = instance.ends[i];
                alike = a.to == b.to && inside(column, a.to) &&
                        std::equal(a.sends.begin(), a.sends.end(), b.sends.begin(), b.sends.end(), same);
            }
            if (instance.tag == key) continue;
            const auto entry = found.emplace(instance.tag, alike).first;
            entry->second = entry->second && alike;
        }
    }
    for (const auto& [tag, alike] : found)
        if (alike) place->second.push_back(tag);
    return place->second;
}

// The steps that need no thought: those that can never come about, and the twins that the key stands for. What is left
// over when one of these is taken and not the other, nobody asks for any more. The key stays possible and can be moved
// to the front, so whoever takes its twin could have begun with the key, and is in a state that differs in such
// messages at most. (Where they can be lost, stand in the way or take up room, they matter.)
Labels Relations::alike(const Column& column, Id cell, Id key, std::span<const std::uint64_t> sendable) {
    Labels result;
    const Id local = column.cells[cell].local;
    const std::size_t size = sendable.size();
    const Words there = pending(column, cell);
    Words removed(size, 0);  // what is gone once it is consumed
    const std::span<const Id> inbox = column.inboxes[column.cells[cell].inbox];
    for (const Id message : inbox)
        if (!column.messages[message].stands && std::count(inbox.begin(), inbox.end(), message) == 1)
            removed[message / 64] |= std::uint64_t{1} << (message % 64);
    const auto bits = [&](Id tag) { return set_bits_[column.index].data() + tag * size; };
    for (Id tag = 0; tag < tags_[column.index].size(); ++tag)
        for (std::size_t i = 0; i < size; ++i)
            if (bits(tag)[i] & ~there[i] & ~sendable[i]) {
                result.add(tag);
                break;
            }
    const Network& network = tables_.network;
    const bool quiet = network.order != Order::fifo && !network.bounded() && !losing_ && !duplicating_;
    const Instance& wanted = *find(column.index, local, key);
    // Is some message of one set, but not of the other, asked for when the other has been consumed?
    const auto matters = [&](const std::uint64_t* left, const std::uint64_t* consumed, Id to) {
        bool any = false;
        for (std::size_t i = 0; i < size; ++i) {
            std::uint64_t rest = left[i] & ~consumed[i];
            if (tables_.dead_messages) rest &= live(column, to)[i];
            any |= rest != 0;
        }
        if (!any || !quiet) return any;
        for (const Words& use : uses(column, to)) {
            bool possible = true, asked = false;
            for (std::size_t i = 0; i < size; ++i) {
                const std::uint64_t gone = wanted.stays ? 0 : consumed[i] & removed[i];
                possible &= (use[i] & ~(sendable[i] | (there[i] & ~gone))) == 0;
                asked |= (use[i] & left[i] & ~consumed[i]) != 0;
            }
            if (possible && asked) return true;
        }
        return false;
    };
    if (options.keep > Keep::safety) return result;
    for (const Id tag : twins(column, local, key))
        if (!result.has(tag) && std::none_of(wanted.ends.begin(), wanted.ends.end(), [&](const Instance::End& end) {
                return matters(bits(tag), bits(key), end.to) || matters(bits(key), bits(tag), end.to);
            }))
            result.add(tag);
    return result;
}

// The messages that are not dead in a local state.
const Relations::Words& Relations::live(const Column& column, Id local) {
    Words& result = live_[column.index][local];
    if (result.empty()) {
        result.resize(range(column.index).second);
        for (Id message = 0; message < column.locals[local].live.size(); ++message)
            if (column.locals[local].live[message]) result[message / 64] |= std::uint64_t{1} << (message % 64);
    }
    return result;
}

// The sets of messages that a process can consume from a local state on.
const std::vector<Relations::Words>& Relations::uses(const Column& column, Id local) {
    const auto [place, fresh] = uses_[column.index].try_emplace(local);
    if (!fresh) return place->second;
    const std::size_t size = range(column.index).second;
    std::set<Words> sets;
    for (const Id at : may(column.index, local, Labels(), 0).locals)
        for (const Instance& instance : instances_[column.index][at]) {
            const auto begin = set_bits_[column.index].begin() + static_cast<std::ptrdiff_t>(instance.tag * size);
            sets.emplace(begin, begin + static_cast<std::ptrdiff_t>(size));
        }
    place->second.assign(sets.begin(), sets.end());
    return place->second;
}

Relations::Words Relations::pending(const Column& column, Id cell) const {
    Words result(range(column.index).second, 0);
    for (const Id message : column.inboxes[column.cells[cell].inbox])
        result[message / 64] |= std::uint64_t{1} << (message % 64);
    return result;
}

// The instances with labels of the set that are not possible now, by what keeps them so: a message that is missing, or
// a local state that is not reached. Where one keeps another in check, it stands for both.
void Relations::list_clauses(const Column& column, const May& found, const std::vector<char>& ready,
                             Footprint& footprint) const {
    const Words there = pending(column, footprint.cell);
    struct Lack {
        int size;
        bool elsewhere;
        Words missing;
        const Labels* way;
        auto key() const { return std::tie(size, elsewhere, missing); }
    };
    std::vector<Lack> all;
    for (std::size_t i = 0; i < found.locals.size(); ++i) {
        for (const Instance& instance : instances_[column.index][found.locals[i]]) {
            if (!footprint.labels.has(instance.label) || spent(instance, footprint.spent) || ready[instance.tag] ||
                footprint.alike.has(instance.tag) || !lacks(column, there, instance.tag))
                continue;
            Lack lack{0, i > 0, there, &found.ways[i]};
            for (std::size_t word = 0; word < there.size(); ++word) {
                lack.missing[word] = set_bits_[column.index][instance.tag * there.size() + word] & ~there[word];
                lack.size += std::popcount(lack.missing[word]);
            }
            all.push_back(std::move(lack));
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Lack& a, const Lack& b) { return a.key() < b.key(); });
    for (Lack& lack : all) {
        const auto covers = [&](const Footprint::Clause& other) {
            for (std::size_t word = 0; word < there.size(); ++word)
                if (other.missing[word] & ~lack.missing[word]) return false;
            return other.way.empty() || (lack.elsewhere && lack.way->within(other.way));
        };
        if (std::none_of(footprint.clauses.begin(), footprint.clauses.end(), covers))
            footprint.clauses.push_back({std::move(lack.missing), lack.elsewhere ? *lack.way : Labels()});
    }
}

}  // namespace quorate

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
    const Footprint& result = known(owner, {.cell = cell, .spent = spent}, nullptr, steps);
    roots[cell].store(&result, std::memory_order_release);
    return result;
}

const Footprint& Relations::start(const Footprint& root, Id key, std::span<const std::uint64_t> sendable) {
    Column& owner = *tables_.columns[root.column];
    const std::lock_guard guard(owner.lock);
    FootprintOf wanted{.cell = root.cell, .spent = root.spent, .key = key};
    wanted.labels.add(tags_[root.column][key]);
    wanted.alike = alike(owner, root, key, sendable);
    return known(owner, wanted, &root, *owner.cells[root.cell].steps.load(std::memory_order_acquire));
}

const Footprint& Relations::grow(const Footprint& from, const Labels& more) {
    Column& owner = *tables_.columns[from.column];
    const std::lock_guard guard(owner.lock);
    FootprintOf wanted = from;
    wanted.labels.add(more);
    return known(owner, wanted, from.root, *owner.cells[from.cell].steps.load(std::memory_order_acquire));
}

const Footprint& Relations::known(Column& column, const FootprintOf& wanted, const Footprint* root,
                                  const StepList& steps) {
    auto& place = owned_[column.index][wanted];
    if (!place) place = build(column, wanted, root, steps);
    return *place;
}

const std::vector<Footprint::Clause>& Relations::clauses(const Footprint& footprint) {
    if (!footprint.listed.load(std::memory_order_acquire)) {
        Column& column = *tables_.columns[footprint.column];
        const std::lock_guard guard(column.lock);
        if (!footprint.listed.load(std::memory_order_relaxed)) list_clauses(column, footprint);
        footprint.listed.store(true, std::memory_order_release);
    }
    return footprint.clauses;
}

// What is the same for all labels.
void Relations::look_at(Column& column, const StepList& steps, Footprint& root) {
    const Id local = column.cells[root.cell].local;
    root.root = &root;
    for (const Step& step : steps) {
        root.tags.push_back(none);
        if (step.budget != Budget::free && (root.spent >> static_cast<unsigned>(step.budget) & 1)) continue;
        const Id tag = root.tags.back() = this->tag(column, step);
        const bool protocol = step.kind == Kind::step || step.kind == Kind::discard;
        if (protocol && step.effect == Effect::moves && !root.ready.has(tag)) {
            // Of many steps that do the same, a few are enough to start from.
            const std::vector<Id>& same = twins(column, local, tag);
            if (std::count_if(same.begin(), same.end(), [&](Id twin) { return root.ready.has(twin); }) < most_twins)
                root.seeds.push_back(tag);
        }
        root.ready.add(tag);
        if (step.effect != Effect::cut) ++root.all;
    }
    root.there.assign(range(column.index).second, 0);
    for (const Id message : column.inboxes[column.cells[root.cell].inbox])
        root.there[message / 64] |= std::uint64_t{1} << (message % 64);
    root.used = uses(column, local).all;
    const auto& sends = may(column.index, local, Labels(), root.spent).sends;
    root.silent = std::all_of(sends.begin(), sends.end(), [](std::uint64_t word) { return word == 0; });
}

// Adds what is not independent of a possible step, as long as it can come about, then says what else must hold.
std::unique_ptr<Footprint> Relations::build(Column& column, const FootprintOf& wanted, const Footprint* root,
                                            const StepList& steps) {
    auto result = std::make_unique<Footprint>();
    static_cast<FootprintOf&>(*result) = wanted;
    result->serial = ++serials_[column.index];
    result->column = column.index;
    result->root = root;
    const unsigned spent = wanted.spent;
    Labels& labels = result->labels;
    const Id local = column.cells[wanted.cell].local;
    if (root == nullptr) {
        look_at(column, steps, *result);
    } else {
        while (complete(column, may(column.index, local, labels, spent), *result)) {
        }
    }
    const std::vector<Id>& tags = result->root->tags;
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
bool Relations::complete(const Column& column, const May& found, Footprint& footprint) {
    const Id local = column.cells[footprint.cell].local;
    const Words& there = footprint.root->there;
    const Labels& ready = footprint.root->ready;
    Labels more;
    std::vector<Id> possible;
    footprint.pardons.clear();
    for (const Id tag : footprint.root->tags)
        if (tag != none && !footprint.alike.has(tag) && footprint.labels.has(tags_[column.index][tag]))
            possible.push_back(tag);
    const auto out = [&](const Instance& instance) {
        return !footprint.labels.has(instance.label) && !spent(instance, footprint.spent);
    };
    // In the set, and not possible although no message is missing.
    const auto held_up = [&](const Instance& instance) {
        return footprint.labels.has(instance.label) && !spent(instance, footprint.spent) && !ready.has(instance.tag) &&
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
    const std::uint64_t question = static_cast<std::uint64_t>(local) << 32 | key;
    if (const auto* known = twins_[column.index].find(question)) return **known;
    auto owned = std::make_unique<std::vector<Id>>();
    std::vector<Id>& result = *owned;
    twins_[column.index].insert(question, std::move(owned));
    if (!commuting_[column.index] || !options.twins) return result;
    const auto same = [](const Send& a, const Send& b) { return a.column == b.column && a.message == b.message; };
    enum : char { unseen, alike, different };
    std::vector<char> found(tags_[column.index].size(), unseen);
    for (const Id at : may(column.index, local, Labels(), 0).locals) {
        const Instance* wanted = find(column.index, at, key);
        for (const Instance& instance : instances_[column.index][at]) {
            if (instance.tag == key || found[instance.tag] == different) continue;
            bool equal = wanted != nullptr && !wanted->fragile && !instance.fragile &&
                         wanted->stays == instance.stays && instance.budget == Budget::free &&
                         wanted->ends.size() == instance.ends.size();
            for (std::size_t i = 0; equal && i < instance.ends.size(); ++i) {
                const auto &a = wanted->ends[i], &b = instance.ends[i];
                equal = a.to == b.to && inside(column, a.to) &&
                        std::equal(a.sends.begin(), a.sends.end(), b.sends.begin(), b.sends.end(), same);
            }
            found[instance.tag] = equal ? alike : different;
        }
    }
    for (Id tag = 0; tag < found.size(); ++tag)
        if (found[tag] == alike) result.push_back(tag);
    return result;
}

// The steps that need no thought: those that can never come about, and the twins that the key stands for. What is left
// over when one of these is taken and not the other, nobody asks for any more. The key stays possible and can be moved
// to the front, so whoever takes its twin could have begun with the key, and is in a state that differs in such
// messages at most. (Where they can be lost, stand in the way or take up room, they matter.)
Labels Relations::alike(const Column& column, const Footprint& root, Id key, std::span<const std::uint64_t> sendable) {
    Labels result;
    const Id local = column.cells[root.cell].local;
    const std::size_t size = sendable.size();
    const Words& there = root.there;
    const auto bits = [&](Id tag) { return set_bits_[column.index].data() + tag * size; };
    const auto comes = [&](const std::uint64_t* set) {
        for (std::size_t i = 0; i < size; ++i)
            if (set[i] & ~there[i] & ~sendable[i]) return false;
        return true;
    };
    for (const Id tag : uses(column, local).tags)
        if (!comes(bits(tag))) result.add(tag);
    if (options.keep > Keep::safety) return result;
    std::vector<Id> same;
    for (const Id tag : twins(column, local, key))
        if (!result.has(tag)) same.push_back(tag);
    if (same.empty()) return result;
    Words removed(size, 0);  // what is gone once it is consumed
    const std::span<const Id> inbox = column.inboxes[column.cells[root.cell].inbox];
    for (const Id message : inbox)
        if (!column.messages[message].stands && std::count(inbox.begin(), inbox.end(), message) == 1)
            removed[message / 64] |= std::uint64_t{1} << (message % 64);
    const Network& network = tables_.network;
    const bool quiet = network.order != Order::fifo && !network.bounded() && !losing_ && !duplicating_;
    const Instance& wanted = *find(column.index, local, key);
    for (const Instance::End& end : wanted.ends) {
        std::vector<const std::uint64_t*> uses;
        for (const Words& use : this->uses(column, end.to).sets)
            if (comes(use.data())) uses.push_back(use.data());
        const Words* live = tables_.dead_messages ? &this->live(column, end.to) : nullptr;
        // Is some message of one set, but not of the other, asked for when the other has been consumed?
        const auto matters = [&](const std::uint64_t* left, const std::uint64_t* consumed) {
            bool any = false;
            for (std::size_t i = 0; i < size; ++i) {
                const std::uint64_t rest = left[i] & ~consumed[i];
                any |= (live == nullptr ? rest : rest & (*live)[i]) != 0;
            }
            if (!any || !quiet) return any;
            return std::any_of(uses.begin(), uses.end(), [&](const std::uint64_t* use) {
                bool possible = true, asked = false;
                for (std::size_t i = 0; i < size; ++i) {
                    const std::uint64_t gone = wanted.stays ? 0 : consumed[i] & removed[i];
                    possible &= (use[i] & ~(sendable[i] | (there[i] & ~gone))) == 0;
                    asked |= (use[i] & left[i] & ~consumed[i]) != 0;
                }
                return possible && asked;
            });
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
            if (column.locals[local].live[message]) result[message / 64] |= std::uint64_t{1} << (message % 64);
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
    std::set<Id> tags;
    for (const Id at : may(column.index, local, Labels(), 0).locals)
        for (const Instance& instance : instances_[column.index][at]) tags.insert(instance.tag);
    result.tags.assign(tags.begin(), tags.end());
    for (const Id tag : tags) {
        const auto begin = set_bits_[column.index].begin() + static_cast<std::ptrdiff_t>(tag * size);
        sets.emplace(begin, begin + static_cast<std::ptrdiff_t>(size));
        for (std::size_t i = 0; i < size; ++i) result.all[i] |= begin[static_cast<std::ptrdiff_t>(i)];
    }
    result.sets.assign(sets.begin(), sets.end());
    return result;
}

// The instances with labels of the set that are not possible now, by what keeps them so: a message that is missing, or
// a local state that is not reached. Where one keeps another in check, it stands for both.
void Relations::list_clauses(const Column& column, const Footprint& footprint) {
    const May& found = *footprint.outside;
    const Words& there = footprint.root->there;
    struct Lack {
        int size;
        bool elsewhere;
        const std::uint64_t* set;
        const Labels* way;
    };
    std::vector<Lack> all;
    for (std::size_t i = 0; i < found.locals.size(); ++i) {
        for (const Instance& instance : instances_[column.index][found.locals[i]]) {
            if (!footprint.labels.has(instance.label) || spent(instance, footprint.spent) ||
                footprint.root->ready.has(instance.tag) || footprint.alike.has(instance.tag) ||
                !lacks(column, there, instance.tag))
                continue;
            Lack lack{0, i > 0, set_bits_[column.index].data() + instance.tag * there.size(), &found.ways[i]};
            for (std::size_t word = 0; word < there.size(); ++word)
                lack.size += std::popcount(lack.set[word] & ~there[word]);
            all.push_back(lack);
        }
    }
    std::stable_sort(all.begin(), all.end(), [&](const Lack& a, const Lack& b) {
        if (a.size != b.size || a.elsewhere != b.elsewhere)
            return std::tie(a.size, a.elsewhere) < std::tie(b.size, b.elsewhere);
        for (std::size_t word = 0; word < there.size(); ++word)
            if ((a.set[word] & ~there[word]) != (b.set[word] & ~there[word]))
                return (a.set[word] & ~there[word]) < (b.set[word] & ~there[word]);
        return false;
    });
    for (const Lack& lack : all) {
        const auto covers = [&](std::size_t other) {
            for (std::size_t word = 0; word < there.size(); ++word)
                if (footprint.missing[other * there.size() + word] & ~lack.set[word]) return false;
            const Labels& way = footprint.clauses[other].way;
            return way.empty() || (lack.elsewhere && lack.way->within(way));
        };
        bool covered = false;
        for (std::size_t other = 0; other < footprint.clauses.size() && !covered; ++other) covered = covers(other);
        if (covered) continue;
        Footprint::Clause& clause = footprint.clauses.emplace_back();
        for (std::size_t word = 0; word < there.size(); ++word)
            footprint.missing.push_back(lack.set[word] & ~there[word]);
        if (!lack.elsewhere) continue;
        clause.way = *lack.way;
        clause.number = number(column.index, clause.way);
    }
}

}  // namespace quorate

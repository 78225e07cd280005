// What the steps of one cell depend on, label by label; built once per cell and set of labels.

#include "base/thresholds.hpp"
#include "reduce/por/relations.hpp"

namespace quorate {

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
    Owned& owned = *owned_[column.index];
    std::vector<Id> content{wanted.cell, wanted.spent, wanted.key, 0};
    wanted.labels.write(content);
    content[3] = static_cast<Id>(content.size());
    wanted.alike.write(content);
    const Id number = owned.contents.intern(content);
    if (number == owned.footprints.size()) owned.footprints.push_back(build(column, wanted, root, steps));
    return *owned.footprints[number];
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
    const Twins& twins = this->twins(column, local);
    std::vector<std::size_t> ready(twins.tags.size());  // possible steps of each kind
    for (const Step& step : steps) {
        root.tags.push_back(none);
        if (step.budget != Budget::free && (root.spent >> static_cast<unsigned>(step.budget) & 1)) continue;
        const Id tag = root.tags.back() = this->tag(column, step);
        const bool protocol = step.kind == Kind::step || step.kind == Kind::discard;
        if (protocol && step.effect == Effect::moves && !root.ready.has(tag)) {
            // Of many steps that do the same, a few are enough to start from.
            std::size_t same = 0;
            for (const Id kind : twins.alike_to(tag)) same += ready[kind];
            if (same < thresholds.most_twins) root.seeds.push_back(tag);
        }
        if (twins.kind[tag] != none) ready[twins.kind[tag]] += !root.ready.has(tag);
        root.ready.add(tag);
        if (step.effect != Effect::cut) ++root.all;
    }
    root.there.assign(range(column.index).second, 0);
    for (const Id message : column.inboxes[column.cells[root.cell].inbox]) set_bit(root.there, message);
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
        // Wherever it may be taken: after steps without the set it must show nothing either (rule 7 of stubborn.hpp).
        for (const Id at : result->outside->locals)
            if (const Instance* there = find(column.index, at, tags[number])) result->visible |= there->visible;
        // A copy that is sent later can be lost or repeated in its place, if places count.
        const bool anywhere = step.kind == Kind::lose || step.kind == Kind::duplicate;
        if (tables_.network.resending_matters(instance->stays, anywhere))
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
    const auto out = [&](Id label, Budget budget) {
        return !footprint.labels.has(label) && !gone(budget, footprint.spent);
    };
    // In the set, and not possible although no message is missing.
    Words held_up = needing_others(column.index, there);
    for (std::size_t i = 0; i < held_up.size(); ++i)
        held_up[i] = found.inside[i] & ~held_up[i] & ~ready.word(i) & ~footprint.alike.word(i);
    const auto any_held_up = [&](Id at) {
        const Words& tags = outlines_[column.index][at].tags;
        bool any = false;
        for (std::size_t i = 0; i < tags.size(); ++i) any |= (tags[i] & held_up[i]) != 0;
        return any;
    };
    bool removes = false;
    for (const Id at : found.locals) {
        for (const auto& [label, group] : outlines_[column.index][at].groups) {
            if (!out(label, group.budget)) continue;
            removes |= group.removes;
            std::vector<Send> pardons;
            bool pardoned = false;
            for (const Id tag : possible) {
                if (more.has(label)) break;
                const Pair& pair = meet(column, at, tag, label, tag == footprint.key || !weak());
                if (pair.matters) more.add(label);
                pardoned |= pair.pardoned;
                pardons.insert(pardons.end(), pair.pardons.begin(), pair.pardons.end());
            }
            if (!pardoned || more.has(label)) continue;
            footprint.pardons.push_back({{}, std::move(pardons)});
            footprint.pardons.back().label.add(label);
        }
    }
    // Something else stands before these messages, or goes with them, and it may be removed: then all steps of the
    // process stay together.
    if (removes && any_held_up(local))
        for (const Id at : found.locals)
            for (const auto& [label, group] : outlines_[column.index][at].groups)
                if (out(label, group.budget)) more.add(label);
    // The local state in which they would do must not be reached.
    for (std::size_t i = 1; i < found.locals.size(); ++i)
        if (any_held_up(found.locals[i])) more.add(found.ways[i]);
    return footprint.labels.add(more);
}

}  // namespace quorate

#include "reduce/por/footprint.hpp"

#include "base/thresholds.hpp"

namespace quorate {

namespace {

bool gone(Budget budget, unsigned spent) {
    return budget != Budget::free && (spent >> static_cast<unsigned>(budget) & 1);
}

}  // namespace

Footprints::Footprints(const Instances& instances)
    : futures(instances), instances_(instances), independence_(instances), twins_(instances, futures) {
    while (owned_.size() < instances.tables.columns.size()) owned_.push_back(std::make_unique<Owned>());
}

const Footprint& Footprints::root(Id column, Id cell, const StepList& steps, unsigned spent) {
    Roots& roots = owned_[column]->roots[spent];
    if (cell < roots.size())
        if (const Footprint* found = roots[cell].load(std::memory_order_acquire)) return *found;
    Column& owner = *instances_.tables.columns[column];
    const std::lock_guard guard(owner.lock);
    while (roots.size() <= cell) roots.append([](auto&) {});
    if (const Footprint* found = roots[cell].load(std::memory_order_relaxed)) return *found;
    const Footprint& result = known(owner, {.cell = cell, .spent = spent}, nullptr, steps);
    roots[cell].store(&result, std::memory_order_release);
    return result;
}

const Footprint& Footprints::start(const Footprint& root, Id key, Bits sendable) {
    Column& owner = *instances_.tables.columns[root.column];
    const std::lock_guard guard(owner.lock);
    FootprintOf wanted{.cell = root.cell, .spent = root.spent, .key = key};
    wanted.labels.add(instances_.of(root.column).tags[key].label);
    wanted.represented = twins_.represented(owner, root.cell, key, root.pending, sendable);
    return known(owner, wanted, &root, *owner.cells[root.cell].steps.load(std::memory_order_acquire));
}

const Footprint& Footprints::grow(const Footprint& from, const Labels& more) {
    Column& owner = *instances_.tables.columns[from.column];
    const std::lock_guard guard(owner.lock);
    FootprintOf wanted = from;
    wanted.labels.add(more);
    return known(owner, wanted, from.root, *owner.cells[from.cell].steps.load(std::memory_order_acquire));
}

const Footprint& Footprints::known(Column& column, const FootprintOf& wanted, const Footprint* root,
                                   const StepList& steps) {
    Owned& owned = *owned_[column.index];
    std::vector<Id> content{wanted.cell, wanted.spent, wanted.key, 0};
    wanted.labels.write(content);
    content[3] = static_cast<Id>(content.size());
    wanted.represented.write(content);
    const Id number = owned.contents.intern(content);
    if (number == owned.footprints.size()) owned.footprints.push_back(build(column, wanted, root, steps));
    return *owned.footprints[number];
}

const std::vector<Footprint::Clause>& Footprints::clauses(const Footprint& footprint) {
    if (!footprint.listed.load(std::memory_order_acquire)) {
        Column& column = *instances_.tables.columns[footprint.column];
        const std::lock_guard guard(column.lock);
        if (!footprint.listed.load(std::memory_order_relaxed)) list_clauses(column, footprint);
        footprint.listed.store(true, std::memory_order_release);
    }
    return footprint.clauses;
}

// What is the same for all labels.
void Footprints::look_at(Column& column, const StepList& steps, Footprint& root) {
    const Id local = column.cells[root.cell].local;
    root.root = &root;
    const Twins::Kinds& kinds = twins_.kinds(column, local);
    std::vector<std::size_t> ready(kinds.tags.size());  // possible steps of each kind
    for (const Step& step : steps) {
        root.tags.push_back(none);
        if (gone(step.budget, root.spent)) continue;
        const Id tag = root.tags.back() = instances_.tag(column, step);
        if (step.protocol && step.effect == Effect::moves && !root.ready.has(tag)) {
            // Of many steps that do the same, a few are enough to start from.
            std::size_t same = 0;
            for (const Id kind : kinds.alike_to(tag)) same += ready[kind];
            if (same < thresholds.most_twins) root.seeds.push_back(tag);
        }
        if (kinds.kind[tag] != none) ready[kinds.kind[tag]] += !root.ready.has(tag);
        root.ready.add(tag);
        if (step.effect != Effect::cut) ++root.all;
    }
    root.pending.assign(instances_.of(column).message_words, 0);
    for (const Id message : column.inboxes[column.cells[root.cell].inbox]) set_bit(root.pending, message);
    root.used = twins_.uses(column, local).all;
    const auto& sends = futures.without(column.index, local, Labels(), root.spent).sends;
    root.silent = std::all_of(sends.begin(), sends.end(), [](std::uint64_t word) { return word == 0; });
}

// Adds what is not independent of a possible step, as long as it can come about, then says what else must hold.
std::unique_ptr<Footprint> Footprints::build(Column& column, const FootprintOf& wanted, const Footprint* root,
                                             const StepList& steps) {
    auto result = std::make_unique<Footprint>();
    static_cast<FootprintOf&>(*result) = wanted;
    result->serial = ++owned_[column.index]->serial;
    result->column = column.index;
    result->root = root;
    const unsigned spent = wanted.spent;
    Labels& labels = result->labels;
    const Id local = column.cells[wanted.cell].local;
    if (root == nullptr) {
        look_at(column, steps, *result);
    } else {
        while (complete(column, futures.without(column.index, local, labels, spent), *result)) {
        }
    }
    const ProcessSteps& process = instances_.of(column);
    const std::vector<Id>& tags = result->root->tags;
    result->outside = &futures.without(column.index, local, labels, spent);
    result->steps.assign(steps.size(), false);
    for (Id number = 0; number < steps.size(); ++number) {
        const Step& step = steps[number];
        if (tags[number] == none || !labels.has(process.tags[tags[number]].label)) continue;
        if (result->represented.has(tags[number])) continue;
        result->steps[number] = true;
        if (step.effect != Effect::cut) ++result->enabled;
        if (step.budget != Budget::free) result->draws |= 1u << static_cast<unsigned>(step.budget);
        const Instance* instance = process.find(local, tags[number]);
        if (instance == nullptr) throw std::logic_error("a step is possible that the closure does not hold");
        // Wherever it may be taken: after steps without the set it must show nothing either (rule 7 of stubborn.hpp).
        for (const Id at : result->outside->locals)
            if (const Instance* there = process.find(at, tags[number])) result->visible |= there->visible;
        // A copy that is sent later can be lost or repeated in its place, if places count.
        const bool anywhere = step.kind == Kind::lose || step.kind == Kind::duplicate;
        if (instances_.tables.network.resending_matters(instance->stays, anywhere))
            for (const Id message : column.sets[instance->set])
                if (!column.messages[message].stands) result->consumed.push_back(message);
        for (const Instance::End& end : instance->ends)
            for (const Send& send : end.sends)
                (instances_.tables.columns[send.column]->monitor ? result->events : result->sends).push_back(send);
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
bool Footprints::complete(const Column& column, const Future& found, Footprint& footprint) {
    const Id local = column.cells[footprint.cell].local;
    const ProcessSteps& process = instances_.of(column);
    const Labels& ready = footprint.root->ready;
    Labels more;
    std::vector<Id> possible;
    footprint.absorbed.clear();
    for (const Id tag : footprint.root->tags)
        if (tag != none && !footprint.represented.has(tag) && footprint.labels.has(process.tags[tag].label))
            possible.push_back(tag);
    const auto out = [&](Id label, Budget budget) {
        return !footprint.labels.has(label) && !gone(budget, footprint.spent);
    };
    // In the set, and not possible although no message is missing.
    Words held_up = process.needing_others(footprint.root->pending);
    for (std::size_t i = 0; i < held_up.size(); ++i)
        held_up[i] = found.inside[i] & ~held_up[i] & ~ready.word(i) & ~footprint.represented.word(i);
    const auto any_held_up = [&](Id at) {
        const Words& tags = process.summaries[at].tags;
        bool any = false;
        for (std::size_t i = 0; i < tags.size(); ++i) any |= (tags[i] & held_up[i]) != 0;
        return any;
    };
    bool removes = false;
    for (const Id at : found.locals) {
        for (const auto& [label, group] : process.summaries[at].groups) {
            if (!out(label, group.budget)) continue;
            removes |= group.removes;
            std::vector<Send> unsent;
            bool absorbed = false;
            for (const Id tag : possible) {
                if (more.has(label)) break;
                const bool lasting = tag == footprint.key || !instances_.options.weak();
                const Independence::Pair& pair = independence_.meet(column, at, tag, label, lasting);
                if (pair.conflicts) more.add(label);
                absorbed |= pair.absorbed;
                unsent.insert(unsent.end(), pair.unsent.begin(), pair.unsent.end());
            }
            if (!absorbed || more.has(label)) continue;
            footprint.absorbed.push_back({{}, std::move(unsent)});
            footprint.absorbed.back().label.add(label);
        }
    }
    // Something else stands before these messages, or goes with them, and it may be removed: then all steps of the
    // process stay together.
    if (removes && any_held_up(local))
        for (const Id at : found.locals)
            for (const auto& [label, group] : process.summaries[at].groups)
                if (out(label, group.budget)) more.add(label);
    // The local state in which they would do must not be reached.
    for (std::size_t i = 1; i < found.locals.size(); ++i)
        if (any_held_up(found.locals[i])) more.add(found.ways[i]);
    return footprint.labels.add(more);
}

}  // namespace quorate

#include "reduce/por/independence.hpp"

#include <set>

namespace quorate {

namespace {

bool overlap(const Column& column, std::span<const Id> a, std::span<const Id> b) {
    return std::any_of(a.begin(), a.end(), [&](Id message) {
        return !column.messages[message].stands && std::find(b.begin(), b.end(), message) != b.end();
    });
}

}  // namespace

const Independence::Pair& Independence::meet(const Column& column, Id local, Id tag, Id label, bool lasting) {
    const ProcessSteps& steps = instances_.of(column);
    known_[column.index].resize(steps.instances.size());
    FlatMap<Pair>& known = known_[column.index][local][lasting];
    const std::uint64_t key = static_cast<std::uint64_t>(tag) << 32 | label;
    if (const Pair* found = known.find(key)) return *found;
    Pair pair{.conflicts = !steps.commuting};
    const Instance* step = steps.find(local, tag);
    for (const Id number : steps.summaries[local].groups.at(label).instances) {
        const Instance& other = steps.instances[local][number];
        if (pair.conflicts || commutes(column, tag, step, other, lasting)) continue;
        pair.conflicts = !absorbs(column, tag, step, other, lasting);
        pair.absorbed = true;
        for (const Instance::End& end : other.ends)
            pair.unsent.insert(pair.unsent.end(), end.sends.begin(), end.sends.end());
    }
    known.insert(key, std::move(pair));
    return *known.find(key);
}

// Does `step` lead to the same with and without `other` before it? (What the other sends is not looked at here.) What
// the other would have consumed is dead by then, so it is as if it had been consumed.
bool Independence::absorbs(const Column& column, Id tag, const Instance* step, const Instance& other,
                           bool lasting) const {
    const PorOptions& options = instances_.options;
    const Tables& tables = instances_.tables;
    if (!options.twins || !tables.dead_messages || options.keep > Keep::safety || other.fragile || other.visible ||
        other.stays || other.budget != Budget::free || step == nullptr || step->fragile)
        return false;
    const std::span<const Id> set = column.sets[other.set];
    if (overlap(column, column.sets[step->set], set)) return false;
    for (const Instance::End& end : other.ends) {
        const auto told = [&](const Send& send) {
            return send.column == column.index || tables.columns[send.column]->monitor;
        };
        if (std::any_of(end.sends.begin(), end.sends.end(), told)) return false;
        const Instance* then = instances_.of(column).find(end.to, tag);
        if (!instances_.inside(column, end.to) || (then == nullptr && lasting)) return false;
        if (then == nullptr) continue;
        // A step that only fails has no ends at all: that is not harmless (docs/soundness.md, rule 15).
        if (then->fragile) return false;
        for (const Instance::End& last : then->ends) {
            const auto same = [&](const Instance::End& alone) {
                const auto equal = [](const Send& a, const Send& b) {
                    return a.column == b.column && a.message == b.message;
                };
                return alone.to == last.to &&
                       std::equal(alone.sends.begin(), alone.sends.end(), last.sends.begin(), last.sends.end(), equal);
            };
            if (std::none_of(step->ends.begin(), step->ends.end(), same)) return false;
            const auto dead = [&](Id message) {
                return instances_.inside(column, last.to) && !column.locals[last.to].live[message];
            };
            if (!std::all_of(set.begin(), set.end(), dead)) return false;
        }
    }
    return true;
}

// May `step`, which is in the set, be moved before `other`, which is not: is whatever the two do in the order other,
// step also done in the order step, other? All corners of the diamond must lie in the closure (docs/soundness.md, rule
// 3). A lasting step must also still be possible after the other. `step` is nothing where it is not possible in this
// local state; its tag tells what becomes of it.
bool Independence::commutes(const Column& column, Id tag, const Instance* step, const Instance& other,
                            bool lasting) const {
    if (other.fragile || (step != nullptr && step->fragile)) return false;
    const Tables& tables = instances_.tables;
    const Network& network = tables.network;
    if (step != nullptr && !(step->stays && other.stays) &&
        overlap(column, column.sets[step->set], column.sets[other.set])) {
        // On a set channel what the step consumes is not sent again without the set (rule 3 of stubborn.hpp): once the
        // other has taken it, the step is out of the question.
        return !lasting && !step->stays && !other.stays && network.single_copies();
    }
    const auto clash = [&](const std::vector<Send>& first, const std::vector<Send>& second) {
        for (const Send& one : first) {
            for (const Send& another : second) {
                if (one.column != another.column) continue;
                const Column& receiver = *tables.columns[one.column];
                if (receiver.monitor ? !instances_.events.commute(one.column, one.message, another.message)
                                     : network.sends_conflict() && receiver.messages[one.message].sender ==
                                                                       receiver.messages[another.message].sender)
                    return true;
            }
        }
        return false;
    };
    // On a set, sending a message to oneself before or after its twin is consumed differs (docs/soundness.md, rules 1
    // and 2).
    const auto feeds = [&](const std::vector<Send>& sends, const Instance& taker) {
        const auto set = column.sets[taker.set];
        return network.merges_equal() && !taker.stays && std::any_of(sends.begin(), sends.end(), [&](const Send& send) {
                   return send.column == column.index && std::find(set.begin(), set.end(), send.message) != set.end();
               });
    };
    using Sent = std::vector<std::pair<Id, Id>>;
    const auto flat = [](const std::vector<Send>& sends) {
        Sent result;
        for (const Send& send : sends) result.emplace_back(send.column, send.message);
        return result;
    };
    const ProcessSteps& steps = instances_.of(column);
    std::set<std::tuple<Id, Sent, Sent>> before, after;  // the step comes before the other, or after it
    for (const Instance::End& end : other.ends) {
        const Instance* then = steps.find(end.to, tag);
        if (!instances_.inside(column, end.to) || (then == nullptr && lasting)) return false;
        if (then == nullptr) continue;
        if (then->fragile || step == nullptr || feeds(end.sends, *then)) return false;
        for (const Instance::End& last : then->ends) {
            if (clash(end.sends, last.sends) || feeds(last.sends, other)) return false;
            after.emplace(last.to, flat(end.sends), flat(last.sends));
        }
    }
    if (step == nullptr) return true;
    for (const Instance::End& end : step->ends) {
        const Instance* then = steps.find(end.to, other.tag);
        if (!instances_.inside(column, end.to)) return false;
        if (then == nullptr) continue;
        for (const Instance::End& last : then->ends) before.emplace(last.to, flat(last.sends), flat(end.sends));
    }
    return instances_.options.keep <= Keep::safety
               ? std::includes(before.begin(), before.end(), after.begin(), after.end())
               : before == after;
}

}  // namespace quorate

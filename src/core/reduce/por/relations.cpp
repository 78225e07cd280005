#include "reduce/por/relations.hpp"

#include <set>

namespace quorate {

namespace {

// The environment's steps, numbered after the transitions of a process.
enum : Id { discards, loses, duplicates, crashes, recovers };

bool overlap(const Column& column, std::span<const Id> a, std::span<const Id> b) {
    return std::any_of(a.begin(), a.end(), [&](Id message) {
        return !column.messages[message].stands && std::find(b.begin(), b.end(), message) != b.end();
    });
}

}  // namespace

Relations::Relations(Tables& tables, const Closure& closure, PorOptions options)
    : options(options), proviso(needs_proviso(tables, closure, options)), tables_(tables), closure_(closure) {
    const Network& network = tables.network;
    std::size_t total = 0;
    for (const auto& column : tables.columns) {
        first_.push_back(total);
        sizes_.push_back(column->monitor ? 0 : (column->messages.size() + 63) / 64);
        total += column->monitor ? 0 : (column->messages.size() + 63) / 64 * 64;
        receivers_.resize(total / 64, column->index);
    }
    words_ = total / 64;
    emitters_.resize(total);
    const std::size_t count = tables.columns.size();
    sources_.resize(count);
    tag_of_.resize(count);
    tags_.resize(count);
    sets_.resize(count);
    transitions_.resize(count);
    label_count_.resize(count);
    instances_.resize(count);
    outlines_.resize(count);
    needing_.resize(count);
    labelled_.resize(count);
    pairs_.resize(count);
    may_.resize(count);
    roots_.resize(count);
    while (owned_.size() < count) owned_.push_back(std::make_unique<Owned>());
    serials_.resize(count);
    twins_.resize(count);
    forward_.resize(count);
    numbers_.resize(count);
    uses_.resize(count);
    live_.resize(count);
    find_events();
    for (const auto& column : tables.columns) {
        bool commuting = options.commuting && !network.skips_refused();
        for (const Transition& transition : column->transitions) commuting &= transition.mode != Mode::maximal;
        commuting_.push_back(commuting);
        for (auto& roots : roots_[column->index]) roots = std::make_unique<Known>();
        nothing_.push_back(column->sets.intern({}));
        if (column->monitor) continue;
        find_labels(closure, *column);
        list_instances(closure, *column);
        for (const auto& list : instances_[column->index]) outlines_[column->index].push_back(outline(*column, list));
        const std::size_t size = range(column->index).second;
        set_bits_.resize(count);
        set_bits_[column->index].resize(tags_[column->index].size() * size);
        needing_[column->index].resize(size * 64);
        labelled_[column->index].resize(label_count_[column->index]);
        const auto note = [&](Words& tags, Id tag) {
            tags.resize(tags_[column->index].size() / 64 + 1);
            set_bit(tags, tag);
        };
        for (Id tag = 0; tag < tags_[column->index].size(); ++tag) {
            for (const Id message : column->sets[sets_[column->index][tag]]) {
                set_bit(std::span(set_bits_[column->index]).subspan(tag * size), message);
                note(needing_[column->index][message], tag);
            }
            if (const Id label = tags_[column->index][tag]; label != none) note(labelled_[column->index][label], tag);
        }
        std::set<std::size_t> sent;
        for (const auto& list : instances_[column->index])
            for (const Instance& instance : list)
                for (const Instance::End& end : instance.ends)
                    for (const Send& send : end.sends)
                        if (!tables.columns[send.column]->monitor) sent.insert(bit(send.column, send.message));
        for (std::size_t each : sent) {
            emitters_[each].push_back(column->index);
            std::vector<Id>& sources = sources_[receivers_[each / 64]];
            if (sources.empty() || sources.back() != column->index) sources.push_back(column->index);
        }
    }
}

Id Relations::representative(const Column& column, Id local) const {
    return tables_.quotient && local != none ? column.locals[local].representative : local;
}

Id Relations::tag(Column& column, Id transition, Id set) {
    const std::uint64_t key = static_cast<std::uint64_t>(transition) << 32 | set;
    if (const Id* known = tag_of_[column.index].find(key)) return *known;
    const Id fresh = static_cast<Id>(tags_[column.index].size());
    tag_of_[column.index].insert(key, fresh);
    tags_[column.index].push_back(none);
    sets_[column.index].push_back(set);
    transitions_[column.index].push_back(transition);
    return fresh;
}

Id Relations::tag(const Column& column, const Step& step) const {
    const Id first = static_cast<Id>(column.transitions.size());
    Id transition = step.transition;
    if (step.kind == Kind::discard) transition = first + discards;
    if (step.kind == Kind::lose) transition = first + loses;
    if (step.kind == Kind::duplicate) transition = first + duplicates;
    if (step.kind == Kind::crash) transition = first + crashes;
    if (step.kind == Kind::recover) transition = first + recovers;
    const Id set = step.set == none ? nothing_[column.index] : step.set;
    const Id* known = tag_of_[column.index].find(static_cast<std::uint64_t>(transition) << 32 | set);
    if (known == nullptr) throw std::logic_error("a step is possible that the closure does not hold");
    return *known;
}

// Transition refinement (definitions 12 to 14 of the thesis): the parts a transition is split into, one for each set of
// senders. A reply transition sends to those senders and to nobody else.
void Relations::find_labels(const Closure& closure, Column& column) {
    const Id transitions = static_cast<Id>(column.transitions.size());
    const auto senders = [&](Id set) {
        std::vector<Id> result;
        for (Id message : column.sets[set]) result.push_back(column.messages[message].sender);
        std::sort(result.begin(), result.end());
        return result;
    };
    std::vector<char> replies(transitions, true);
    for (const auto& behaviours : closure.enabled[column.index]) {
        for (const Closure::Enabled& one : behaviours) {
            for (const Outcome& outcome : one.behaviour->outcomes) {
                std::set<Id> receivers;
                for (const Send& send : outcome.sends)
                    if (!tables_.columns[send.column]->monitor) receivers.insert(send.column);
                const std::vector<Id> wanted = senders(one.set);
                const bool same = std::includes(wanted.begin(), wanted.end(), receivers.begin(), receivers.end()) &&
                                  std::includes(receivers.begin(), receivers.end(), wanted.begin(), wanted.end());
                if (outcome.effect == Effect::moves && (wanted.empty() || !same)) replies[one.transition] = false;
            }
        }
    }
    std::map<std::pair<Id, std::vector<Id>>, Id> labels;
    for (Id transition = 0; transition < transitions; ++transition)
        labels.emplace(std::make_pair(transition, std::vector<Id>()), transition);
    for (const auto& behaviours : closure.enabled[column.index]) {
        for (const Closure::Enabled& one : behaviours) {
            const Mode mode = column.transitions[one.transition].mode;
            const bool quorum = mode != Mode::spontaneous && mode != Mode::single;
            const bool split = replies[one.transition] ? options.split_replies : quorum && options.split_quorums;
            const auto part = std::make_pair(one.transition, split ? senders(one.set) : std::vector<Id>());
            const Id label = labels.emplace(part, static_cast<Id>(labels.size())).first->second;
            const Id number = tag(column, one.transition, one.set);
            tags_[column.index][number] = label;
        }
    }
    label_count_[column.index] = labels.size();
}

Instance Relations::make(Column& column, Id local, Id transition, Id set, std::vector<Instance::End> ends) {
    Instance instance;
    instance.tag = tag(column, transition, set);
    Id& label = tags_[column.index][instance.tag];
    if (label == none) label = static_cast<Id>(label_count_[column.index]++);
    instance.label = label;
    instance.set = set;
    for (const Instance::End& end : ends) {
        if (column.locals[end.to].observation != column.locals[local].observation) instance.visible = true;
        for (const Send& send : end.sends)
            if (tables_.columns[send.column]->monitor && visible_events_[send.column][send.message])
                instance.visible = true;
    }
    instance.ends = std::move(ends);
    return instance;
}

void Relations::list_instances(const Closure& closure, Column& column) {
    Interner deeds;
    const auto deed = [&](const Instance& instance) {
        std::vector<Id> content{instance.stays};
        bool reliable = !instance.fragile && instance.budget == Budget::free;
        for (const Instance::End& end : instance.ends) {
            reliable &= inside(column, end.to);
            content.insert(content.end(), {end.to, static_cast<Id>(end.sends.size())});
            for (const Send& send : end.sends) content.insert(content.end(), {send.column, send.message});
        }
        return reliable ? deeds.intern(content) : none;
    };
    instances_[column.index].resize(column.locals.size());
    for (Id local = 0; local < column.locals.size(); ++local) {
        if (representative(column, local) != local) continue;
        std::vector<Instance>& list = instances_[column.index][local];
        for (const Closure::Enabled& one : closure.enabled[column.index][local]) {
            std::vector<Instance::End> ends;
            bool fragile = false;
            for (const Outcome& outcome : one.behaviour->outcomes) {
                fragile |= outcome.effect != Effect::moves;
                if (outcome.effect == Effect::moves)
                    ends.push_back({representative(column, outcome.local), outcome.sends});
            }
            const Transition& transition = column.transitions[one.transition];
            Instance instance = make(column, local, one.transition, one.set, std::move(ends));
            instance.fragile = fragile;
            instance.stays = transition.keep || tables_.network.duplicates_unlimited;
            instance.greedy = transition.mode == Mode::maximal;
            list.push_back(std::move(instance));
        }
        list_environment(column, local, list);
        for (Instance& instance : list) instance.deed = deed(instance);
        std::sort(list.begin(), list.end(), [](const Instance& a, const Instance& b) { return a.tag < b.tag; });
    }
}

// What may be done to a process: the steps that `Tables::add_environment` makes, for any inbox.
void Relations::list_environment(Column& column, Id local, std::vector<Instance>& list) {
    const Id first = static_cast<Id>(column.transitions.size());
    const Local& state = column.locals[local];
    const Network& network = tables_.network;
    std::vector<Query> queries;
    for (Id message = 0; message < column.messages.size(); ++message) {
        if (column.messages[message].stands) continue;
        const Id set = column.sets.intern({&message, 1});
        if (network.loses() && !column.input) {
            list.push_back(make(column, local, first + loses, set, {{local, {}}}));
            list.back().budget = network.loss();
        }
        if (network.repeats() && !column.input) {
            list.push_back(make(column, local, first + duplicates, set, {{local, {}}}));
            list.back().budget = Budget::duplicates;
        }
        if (!network.drops_refused() || state.crashed) continue;
        bool wanted = false;
        for (Id transition = 0; transition < column.transitions.size(); ++transition)
            if (column.transitions[transition].takes(column.messages[message].type))
                wanted |= takes(column, transition, local, message, queries) != Taken::no;
        if (!wanted) list.push_back(make(column, local, first + discards, set, {{local, {}}}));
    }
    const Id nothing = nothing_[column.index];
    if (state.recovery != none)
        list.push_back(make(column, local, first + recovers, nothing, {{representative(column, state.recovery), {}}}));
    if (state.crash == none || !network.crashes()) return;
    // A crash in the midst of a step sends a part of what the step sends; here it counts as all of it.
    std::map<Id, std::vector<Instance::End>> crashing{
        {nothing, {{representative(column, state.crash), column.notices}}}};
    for (const Instance& instance : list) {
        if (!network.crashes_cut_short || instance.set == none) continue;
        for (const Instance::End& end : instance.ends) {
            const Id crashed = column.locals[end.to].crash;
            if (crashed == none) continue;
            std::vector<Send> sends = end.sends;
            sends.insert(sends.end(), column.notices.begin(), column.notices.end());
            crashing[instance.set].push_back({representative(column, crashed), std::move(sends)});
        }
    }
    Id label = none;
    for (auto& [set, ends] : crashing) {
        if (label != none && tags_[column.index][tag(column, first + crashes, set)] == none)
            tags_[column.index][tag(column, first + crashes, set)] = label;
        Instance instance = make(column, local, first + crashes, set, std::move(ends));
        label = instance.label;
        instance.fragile = true;
        instance.budget = Budget::crashes;
        list.push_back(std::move(instance));
    }
}

// Monitors are shared (design rule 6): events commute if the monitor ends in the same local state either way, from
// every one it may be in, and fails in neither.
void Relations::find_events() {
    commuting_events_.resize(tables_.columns.size());
    visible_events_.resize(tables_.columns.size());
    for (const auto& owner : tables_.columns) {
        if (!owner->monitor) continue;
        const Column& column = *owner;
        const Id count = static_cast<Id>(column.messages.size());
        auto& commuting = commuting_events_[column.index];
        auto& visible = visible_events_[column.index];
        commuting.assign(static_cast<std::size_t>(count) * count, true);
        visible.assign(count, false);
        const auto after = [&](Id local, Id event) {
            const auto* behaviour = column.behaviours.find(column.key(0, local, event));
            const Id next = behaviour == nullptr ? none : (*behaviour)->outcomes.front().local;
            return next == none || column.locals[next].failure != none ? none : next;
        };
        for (Id local = 0; local < column.locals.size(); ++local) {
            if (column.locals[local].failure != none) continue;
            std::vector<Id> next(count);
            for (Id event = 0; event < count; ++event) {
                next[event] = after(local, event);
                visible[event] |=
                    next[event] == none || column.locals[next[event]].observation != column.locals[local].observation;
            }
            for (Id a = 0; a < count; ++a) {
                for (Id b = 0; b <= a; ++b) {
                    const Id ab = next[a] == none ? none : after(next[a], b);
                    const Id ba = next[b] == none ? none : after(next[b], a);
                    if (ab != none && representative(column, ab) == representative(column, ba)) continue;
                    commuting[a * count + b] = commuting[b * count + a] = false;
                }
            }
        }
    }
}

std::vector<std::tuple<Id, std::vector<Id>, Id>> Relations::parts(Id column) const {
    const Column& owner = *tables_.columns[column];
    std::set<std::tuple<Id, std::vector<Id>, Id>> found;
    for (const auto& list : instances_[column]) {
        for (const Instance& instance : list) {
            const auto set = owner.sets[instance.set];
            const Id transition = transitions_[column][instance.tag];
            if (transition < owner.transitions.size())
                found.emplace(transition, std::vector<Id>(set.begin(), set.end()), instance.label);
        }
    }
    return {found.begin(), found.end()};
}

bool Relations::events_commute(Id monitor, Id a, Id b) const {
    return commuting_events_[monitor][a * visible_events_[monitor].size() + b];
}

const Instance* Relations::find(Id column, Id local, Id tag) const {
    const auto& list = instances_[column][local];
    const auto place = std::lower_bound(list.begin(), list.end(), tag,
                                        [](const Instance& instance, Id wanted) { return instance.tag < wanted; });
    return place == list.end() || place->tag != tag ? nullptr : &*place;
}

const Relations::Pair& Relations::meet(const Column& column, Id local, Id tag, Id label, bool lasting) {
    pairs_[column.index].resize(instances_[column.index].size());
    FlatMap<Pair>& known = pairs_[column.index][local][lasting];
    const std::uint64_t key = static_cast<std::uint64_t>(tag) << 32 | label;
    if (const Pair* found = known.find(key)) return *found;
    Pair pair{.matters = !commuting_[column.index]};
    const Instance* step = find(column.index, local, tag);
    for (const Id number : outlines_[column.index][local].groups.at(label).instances) {
        const Instance& other = instances_[column.index][local][number];
        if (pair.matters || diamond(column, tag, step, other, lasting)) continue;
        pair.matters = !absorbs(column, tag, step, other, lasting);
        pair.pardoned = true;
        for (const Instance::End& end : other.ends)
            pair.pardons.insert(pair.pardons.end(), end.sends.begin(), end.sends.end());
    }
    known.insert(key, std::move(pair));
    return *known.find(key);
}

// Does `step` lead to the same with and without `other` before it? (What the other sends is not looked at here.) What
// the other would have consumed is dead by then, so it is as if it had been consumed.
bool Relations::absorbs(const Column& column, Id tag, const Instance* step, const Instance& other, bool lasting) const {
    if (!options.twins || !tables_.dead_messages || options.keep > Keep::safety || other.fragile || other.visible ||
        other.stays || other.budget != Budget::free || step == nullptr || step->fragile)
        return false;
    const std::span<const Id> set = column.sets[other.set];
    if (overlap(column, column.sets[step->set], set)) return false;
    for (const Instance::End& end : other.ends) {
        const auto told = [&](const Send& send) {
            return send.column == column.index || tables_.columns[send.column]->monitor;
        };
        if (std::any_of(end.sends.begin(), end.sends.end(), told)) return false;
        const Instance* then = find(column.index, end.to, tag);
        if (!inside(column, end.to) || (then == nullptr && lasting)) return false;
        if (then == nullptr) continue;
        // A step that only fails has no ends at all: that is not harmless.
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
                return inside(column, last.to) && !column.locals[last.to].live[message];
            };
            if (!std::all_of(set.begin(), set.end(), dead)) return false;
        }
    }
    return true;
}

// May `step`, which is in the set, be moved before `other`, which is not: is whatever the two do in the order other,
// step also done in the order step, other? A lasting step must also still be possible after the other. `step` is
// nothing where it is not possible in this local state; its tag tells what becomes of it.
bool Relations::diamond(const Column& column, Id tag, const Instance* step, const Instance& other, bool lasting) const {
    if (other.fragile || (step != nullptr && step->fragile)) return false;
    const Network& network = tables_.network;
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
                const Column& receiver = *tables_.columns[one.column];
                if (receiver.monitor ? !events_commute(one.column, one.message, another.message)
                                     : network.sends_conflict() && receiver.messages[one.message].sender ==
                                                                       receiver.messages[another.message].sender)
                    return true;
            }
        }
        return false;
    };
    // On a set, sending a message to oneself before or after its twin is consumed differs (design rules 1 and 2).
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
    std::set<std::tuple<Id, Sent, Sent>> before, after;  // the step comes before the other, or after it
    for (const Instance::End& end : other.ends) {
        const Instance* then = find(column.index, end.to, tag);
        if (!inside(column, end.to) || (then == nullptr && lasting)) return false;
        if (then == nullptr) continue;
        if (then->fragile || step == nullptr || feeds(end.sends, *then)) return false;
        for (const Instance::End& last : then->ends) {
            if (clash(end.sends, last.sends) || feeds(last.sends, other)) return false;
            after.emplace(last.to, flat(end.sends), flat(last.sends));
        }
    }
    if (step == nullptr) return true;
    for (const Instance::End& end : step->ends) {
        const Instance* then = find(column.index, end.to, other.tag);
        if (!inside(column, end.to)) return false;
        if (then == nullptr) continue;
        for (const Instance::End& last : then->ends) before.emplace(last.to, flat(last.sends), flat(end.sends));
    }
    return options.keep <= Keep::safety ? std::includes(before.begin(), before.end(), after.begin(), after.end())
                                        : before == after;
}

// A cycle of states takes every process it moves round a cycle of local states, and every message it consumes is sent
// again along the way. So start from the moves that lie on cycles of local states, and strike those that consume what
// no remaining move sends, until nothing changes.
bool Relations::may_cycle(const Tables& tables, const Closure& closure) {
    const Network& network = tables.network;
    struct Move {
        Id column, from, to, transition, set;
        const std::vector<Send>* sends;
    };
    std::vector<Move> moves;
    for (const auto& column : tables.columns)
        for (Id local = 0; local < column->locals.size() && !column->monitor; ++local)
            for (const Closure::Enabled& one : closure.enabled[column->index][local])
                for (const Outcome& outcome : one.behaviour->outcomes)
                    if (outcome.effect == Effect::moves)
                        moves.push_back({column->index, local, outcome.local, one.transition, one.set, &outcome.sends});
    for (std::size_t before = moves.size() + 1; moves.size() < before;) {
        before = moves.size();
        // Local states that can be left and come back to: strike those without a way in or a way out, again and again.
        for (std::size_t count = moves.size() + 1; moves.size() < count;) {
            count = moves.size();
            std::set<std::pair<Id, Id>> entered, left;
            for (const Move& move : moves) {
                entered.emplace(move.column, move.to);
                left.emplace(move.column, move.from);
            }
            std::erase_if(moves, [&](const Move& move) {
                return !entered.contains({move.column, move.from}) || !left.contains({move.column, move.to});
            });
        }
        std::set<std::pair<Id, Id>> sent;
        for (const Move& move : moves)
            for (const Send& send : *move.sends) sent.emplace(send.column, send.message);
        std::erase_if(moves, [&](const Move& move) {
            const Column& column = *tables.columns[move.column];
            if (column.transitions[move.transition].keep || network.duplicates_unlimited) return false;
            const auto set = column.sets[move.set];
            return std::any_of(set.begin(), set.end(), [&](Id message) {
                return !column.messages[message].stands && !sent.contains({move.column, message});
            });
        });
    }
    return !moves.empty();
}

bool Relations::may_fail(const Tables& tables, const Closure& closure) {
    for (const auto& column : tables.columns) {
        for (Id local = 0; local < column->locals.size(); ++local)
            if (column->locals[local].failure != none) return true;
        for (const auto& behaviours : closure.enabled[column->index])
            for (const Closure::Enabled& one : behaviours)
                for (const Outcome& outcome : one.behaviour->outcomes)
                    if (outcome.effect != Effect::moves) return true;
    }
    return false;
}

// Failures of handlers and monitors are looked for in every mode, and what a bound cuts is reported: where there are
// any, no step may be put off for ever. Nor with an optimistic universe (design rule 4). A recovery brings back a local
// state, so then any run may be a cycle.
bool Relations::needs_proviso(const Tables& tables, const Closure& closure, const PorOptions& options) {
    if (options.keep == Keep::deadlocks && !closure.optimistic && !may_fail(tables, closure)) return false;
    for (const auto& column : tables.columns)
        for (Id local = 0; local < column->locals.size(); ++local)
            if (column->locals[local].recovery != none) return true;
    return may_cycle(tables, closure);
}

std::string Relations::unsupported(const Tables& tables, const Closure& closure, Keep keep) {
    for (const auto& column : tables.columns)
        if (column->as_is) return "nothing is known of a process that is too large for the optimistic universe";
    const Network& network = tables.network;
    if (keep > Keep::safety && (tables.has_budget() || network.losses_unlimited))
        return "no relation is proven for whole runs where messages are lost or processes crash";
    if (closure.optimistic &&
        (network.bounded() || tables.has_budget() || network.losses_unlimited || network.drops_refused()))
        return "an optimistic universe does not list what the network may do to messages";
    if (network.bounded()) {
        // What is sent can remove what another step takes or only reads, and let through what stood behind it.
        if (network.replaces_when_full())
            return "no relation is proven for channels in which a message replaces another";
        if (network.repeats()) return "no relation is proven for a bounded network that repeats messages";
        if (network.crashes()) return "no relation is proven for crashes on bounded channels";
    }
    std::map<std::pair<Id, Id>, Id> emitters;  // the process that sends into a channel
    for (const auto& column : tables.columns) {
        // With clean channels a message that arrives disables what was enabled before; with unclean ones the relations
        // have not been compared with the full search.
        if (column->input) return "no relation is proven for delivery events";
        for (const auto& behaviours : closure.enabled[column->index])
            for (const Closure::Enabled& one : behaviours)
                for (const Outcome& outcome : one.behaviour->outcomes)
                    for (const Send& send : outcome.sends) {
                        const Column& receiver = *tables.columns[send.column];
                        if (receiver.monitor || !network.sends_conflict()) continue;
                        const auto channel = std::make_pair(send.column, receiver.messages[send.message].sender);
                        if (emitters.emplace(channel, column->index).first->second != column->index)
                            return "two processes send into one channel, whose order or room counts";
                    }
    }
    return {};
}

}  // namespace quorate

#include "analysis.hpp"

#include <map>
#include <numeric>

namespace quorate {

namespace {

std::vector<Id> all_messages(const Column& column) {
    std::vector<Id> result(column.messages.size());
    std::iota(result.begin(), result.end(), Id{0});
    return result;
}

}  // namespace

std::vector<Closure::Enabled> behaviours_of(Tables& tables, Column& column, Id local, const std::vector<Id>& messages,
                                            std::vector<Query>& queries, std::size_t most) {
    std::vector<Closure::Enabled> result;
    if (column.locals[local].crashed || column.locals[local].failure != none) return result;
    if (column.monitor) {
        for (Id event : messages) {
            if (const auto* known = column.behaviours.find(column.key(0, local, event)))
                result.push_back({0, event, known->get()});
            else
                queries.push_back({Query::Kind::observe, column.index, 0, local, event});
        }
        return result;
    }
    for (Id transition = 0; transition < column.transitions.size(); ++transition) {
        std::vector<Consumption> found;
        list_consumptions(column, tables.network, Scope::closure, transition, local, messages, queries, found, most);
        for (const Consumption& one : found) result.push_back({transition, one.set, one.behaviour});
        // A head that passes the filter of a quorum is not discarded, even where the quorum itself is not asked for.
        if (tables.network.order == Order::fifo && tables.network.head == Head::drop)
            for (Id message : messages)
                if (column.transitions[transition].takes(column.messages[message].type))
                    takes(column, transition, local, message, queries);
    }
    return result;
}

Closure close(Tables& tables, Oracle& oracle, std::size_t most_behaviours) {
    Closure closure;
    std::vector<std::vector<std::size_t>> done(tables.columns.size());  // per local state: the messages it was tried on
    closure.enabled.resize(tables.columns.size());
    const auto give_up = [&](std::string why) {
        closure.why = std::move(why);
        closure.enabled.clear();
        return std::move(closure);
    };
    Watch watch(Limits{}, oracle);
    std::vector<Query> queries;
    for (bool changed = true; changed;) {
        changed = false;
        for (auto& column : tables.columns) {
            const std::vector<Id> messages = all_messages(*column);
            const std::size_t locals = column->locals.size();
            done[column->index].resize(locals, none);
            closure.enabled[column->index].resize(locals);
            for (Id local = 0; local < locals; ++local) {
                if (done[column->index][local] == messages.size()) continue;
                changed = true;
                const std::size_t asked = queries.size();
                try {
                    closure.enabled[column->index][local] =
                        behaviours_of(tables, *column, local, messages, queries, most_behaviours);
                } catch (const LimitError&) {
                    return give_up("a process has too many consumable sets of messages");
                }
                if (queries.size() == asked) done[column->index][local] = messages.size();
                if (watch.look([] { return Progress{}; })) throw Interrupted();
            }
        }
        closure.behaviours += queries.size();
        if (closure.behaviours > most_behaviours) return give_up("it did not end within its budget");
        ask(tables, oracle, queries);
    }
    for (const auto& column : tables.columns) {
        closure.local_states += column->locals.size();
        closure.messages += column->messages.size();
    }
    closure.complete = true;
    return closure;
}

void Closure::hide_sends(const Tables& tables, Id column, Id transition) {
    for (auto& list : enabled[column])
        for (Enabled& one : list) {
            if (one.transition != transition) continue;
            distorted.push_back(std::make_unique<Behaviour>(*one.behaviour));
            for (Outcome& outcome : distorted.back()->outcomes)
                std::erase_if(outcome.sends, [&](const Send& send) { return !tables.columns[send.column]->monitor; });
            one.behaviour = distorted.back().get();
        }
}

std::size_t merge_local_states(Tables& tables, const Closure& closure) {
    std::size_t total = 0;
    for (auto& owner : tables.columns) {
        Column& column = *owner;
        const std::size_t count = column.locals.size();
        const auto& enabled = closure.enabled[column.index];
        const bool filters_matter = tables.network.order == Order::fifo && tables.network.head != Head::block;
        std::vector<Id> block(count);
        std::vector<Id> inside;
        std::size_t blocks = 0;
        {
            std::map<std::tuple<Id, bool, Id>, Id> first;
            for (Id local = 0; local < count; ++local) {
                const Local& state = column.locals[local];
                if (!closure.holds(column, state)) {
                    block[local] = static_cast<Id>(count + local);
                    continue;
                }
                inside.push_back(local);
                const auto key = std::make_tuple(state.observation, state.crashed, state.failure);
                block[local] = first.emplace(key, static_cast<Id>(first.size())).first->second;
            }
            blocks = first.size();
        }
        for (;;) {
            // The signature is compared whole: merging on a hash alone would be unsound.
            std::map<std::vector<Id>, Id> classes;
            std::vector<Id> next = block;
            for (Id local : inside) {
                // A crash and a recovery are steps too.
                const Local& state = column.locals[local];
                std::vector<Id> signature{block[local], state.crash == none ? none : block[state.crash],
                                          state.recovery == none ? none : block[state.recovery]};
                for (const Closure::Enabled& one : enabled[local]) {
                    std::vector<std::vector<Id>> outcomes;
                    for (const Outcome& outcome : one.behaviour->outcomes) {
                        std::vector<Id> entry{static_cast<Id>(outcome.effect), outcome.failure,
                                              outcome.local == none ? none : block[outcome.local]};
                        for (const Send& send : outcome.sends) {
                            entry.push_back(send.column);
                            entry.push_back(send.message);
                        }
                        outcomes.push_back(std::move(entry));
                    }
                    std::sort(outcomes.begin(), outcomes.end());
                    outcomes.erase(std::unique(outcomes.begin(), outcomes.end()), outcomes.end());
                    signature.insert(signature.end(), {one.transition, one.set, static_cast<Id>(outcomes.size())});
                    for (const auto& entry : outcomes) {
                        signature.push_back(static_cast<Id>(entry.size()));
                        signature.insert(signature.end(), entry.begin(), entry.end());
                    }
                }
                if (filters_matter) {
                    // Which messages a transition passes over, or drops, is behaviour too.
                    std::vector<Query> unknown;
                    for (Id transition = 0; transition < column.transitions.size(); ++transition)
                        for (Id message = 0; message < column.messages.size(); ++message)
                            if (column.transitions[transition].takes(column.messages[message].type) &&
                                closure.holds(column, column.messages[message]))
                                signature.push_back(
                                    static_cast<Id>(takes(column, transition, local, message, unknown)));
                }
                next[local] = classes.emplace(std::move(signature), static_cast<Id>(classes.size())).first->second;
            }
            block.swap(next);
            if (classes.size() == blocks) break;
            blocks = classes.size();
        }
        std::vector<Id> representative(blocks, none);
        for (Id local : inside) {
            Id& best = representative[block[local]];
            if (best == none || column.locals[local].content < column.locals[best].content) best = local;
        }
        for (Id local = 0; local < count; ++local) column.locals[local].representative = local;
        for (Id local : inside) column.locals[local].representative = representative[block[local]];
        total += blocks;
    }
    return total;
}

Reduced find_dead_messages(Tables& tables, const Closure& closure) {
    Reduced reduced;
    for (auto& owner : tables.columns) {
        Column& column = *owner;
        if (column.monitor) continue;
        const std::size_t count = column.locals.size(), messages = column.messages.size();
        const std::size_t words = (messages + 63) / 64;
        std::vector<std::uint64_t> live(count * words, 0);
        std::vector<std::vector<Id>> successors(count);
        for (Id local = 0; local < count; ++local) {
            for (Id after : {column.locals[local].crash, column.locals[local].recovery})
                if (after != none) successors[local].push_back(after);
            for (const Closure::Enabled& one : closure.enabled[column.index][local]) {
                for (Id message : column.sets[one.set]) live[local * words + message / 64] |= 1ull << (message % 64);
                for (const Outcome& outcome : one.behaviour->outcomes)
                    if (outcome.effect == Effect::moves) successors[local].push_back(outcome.local);
            }
            std::sort(successors[local].begin(), successors[local].end());
            successors[local].erase(std::unique(successors[local].begin(), successors[local].end()),
                                    successors[local].end());
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t local = count; local-- > 0;) {
                for (Id next : successors[local]) {
                    for (std::size_t word = 0; word < words; ++word) {
                        const std::uint64_t more = live[next * words + word] & ~live[local * words + word];
                        live[local * words + word] |= more;
                        changed |= more != 0;
                    }
                }
            }
        }
        for (Id local = 0; local < count; ++local) {
            auto& bits = column.locals[local].live;
            bits.assign(messages, true);
            if (!closure.holds(column, column.locals[local])) continue;
            for (Id message = 0; message < messages; ++message) {
                if (!closure.holds(column, column.messages[message])) continue;
                bits[message] = live[local * words + message / 64] >> (message % 64) & 1;
                reduced.dead += !bits[message];
                ++reduced.pairs;
            }
        }
    }
    return reduced;
}

}  // namespace quorate

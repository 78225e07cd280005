#include "reduce/symmetry/orbits.hpp"

#include <set>

#include "model/consume.hpp"
#include "model/oracle.hpp"

namespace quorate {

namespace {

template <typename V>
const V& answered(const FlatMap<V>& facts, std::uint64_t key) {
    const V* known = facts.find(key);
    if (known == nullptr) throw std::logic_error("a question that was asked has no answer");
    return *known;
}

}  // namespace

Orbits::Orbits(Tables& tables, Symmetry& symmetry)
    : tables_(tables), symmetry_(symmetry), settled_(tables.columns.size()) {
    for (const auto& column : tables.columns) {
        column->compares = !symmetry.grows(column->index);
        for (auto& known : column->compared) known.clear();
    }
}

std::optional<Breach> Orbits::begin(Helper& helper) {
    for (const auto& locals : tables_.initials)
        for (Id column = 0; column < locals.size(); ++column) reach(column, locals[column]);
    for (const auto& sends : tables_.posted) reach(sends);
    for (const auto& column : tables_.columns) {
        reach(column->notices);
        for (const Id message : column->opening) reach(std::vector<Send>{{column->index, message}});
    }
    if (!admit(helper)) return breach;
    for (exchange = 0; exchange < symmetry_.exchanges(); ++exchange) {
        Renaming renaming;
        for (const auto& column : tables_.columns) {
            const Id index = column->index;
            renaming.columns.push_back(symmetry_.moved(exchange, index));
            auto& locals = renaming.locals.emplace_back(column->locals.size(), none);
            for (Id local = 0; local < locals.size(); ++local)
                if (symmetry_.has_local(index, local)) locals[local] = symmetry_.image_of_local(exchange, index, local);
            auto& messages = renaming.messages.emplace_back(column->messages.size(), none);
            for (Id message = 0; message < messages.size(); ++message)
                if (symmetry_.has_message(index, message))
                    messages[message] = symmetry_.image_of_message(exchange, index, message);
        }
        breach = find_breach_at_start(tables_, renaming);
        if (breach) return breach;
    }
    exchange = none;
    return std::nullopt;
}

bool Orbits::ask(const std::vector<Query>& queries, Helper& helper) {
    std::vector<Query> orbit, todo, rest;
    for (const Query& query : queries) {
        if (!concerns(query))
            rest.push_back(query);
        else if (note(query))
            todo.push_back(query);
    }
    helper.answer(rest);
    while (!todo.empty()) {
        std::vector<Query> open;
        for (const Query& query : todo)
            if (!is_answered(tables_, query)) open.push_back(query);
        helper.answer(open);
        for (const Query& query : todo) reach(query);
        if (!admit(helper)) return false;
        orbit.insert(orbit.end(), todo.begin(), todo.end());
        std::vector<Query> next;
        for (const Query& query : todo)
            for (Id one = 0; one < symmetry_.exchanges(); ++one)
                if (const Query renamed = image(query, one); note(renamed)) next.push_back(renamed);
        todo = std::move(next);
    }
    for (const Query& query : orbit) {
        for (Id one = 0; one < symmetry_.exchanges(); ++one) {
            if (alike(query, image(query, one), one, helper.failures())) continue;
            const bool told = query.kind != Query::Kind::observe;
            return tell_apart({"behaviour", query.column, query.local, told ? query.transition : none}, one);
        }
    }
    return true;
}

bool Orbits::concerns(const Query& query) const {
    return query.kind <= Query::Kind::observe && !symmetry_.grows(query.column);
}

bool Orbits::note(const Query& query) {
    Column& column = *tables_.columns[query.column];
    auto& known = column.compared[static_cast<std::size_t>(query.kind)];
    const Id subject = query.kind == Query::Kind::request ? 0 : query.subject;
    const std::uint64_t key = column.key(query.transition, query.local, subject);
    if (known.find(key) != nullptr) return false;
    known.insert(key, 1);
    return true;
}

Query Orbits::image(const Query& query, Id one) {
    Query found = query;
    found.column = symmetry_.moved(one, query.column);
    found.local = symmetry_.image_of_local(one, query.column, query.local);
    if (query.kind == Query::Kind::fire) {
        Column& to = *tables_.columns[found.column];
        std::vector<Id> set;
        for (const Id message : tables_.columns[query.column]->sets[query.subject])
            set.push_back(symmetry_.image_of_message(one, query.column, message));
        std::sort(set.begin(), set.end());
        found.subject = to.sets.intern(set);
    } else if (query.kind != Query::Kind::request) {
        found.subject = symmetry_.image_of_message(one, query.column, query.subject);
    }
    return found;
}

// --- universes ---

void Orbits::extend() {
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& column : tables_.columns) {
            if (symmetry_.grows(column->index)) continue;
            for (Id one = 0; one < symmetry_.exchanges(); ++one) {
                Column& other = *tables_.columns[symmetry_.moved(one, column->index)];
                const auto add = [&](bool& member) { changed |= !std::exchange(member, true); };
                for (Id local = 0; local < column->locals.size(); ++local)
                    if (column->locals[local].member && symmetry_.has_local(column->index, local))
                        add(other.locals[symmetry_.image_of_local(one, column->index, local)].member);
                for (Id message = 0; message < column->messages.size(); ++message)
                    if (column->messages[message].member && symmetry_.has_message(column->index, message))
                        add(other.messages[symmetry_.image_of_message(one, column->index, message)].member);
            }
        }
    }
}

void Orbits::spread(Closure& universe) {
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& column : tables_.columns) {
            for (Id one = 0; column->as_is && one < symmetry_.exchanges(); ++one) {
                Column& other = *tables_.columns[symmetry_.moved(one, column->index)];
                if (std::exchange(other.as_is, true)) continue;
                universe.enabled[other.index].assign(other.locals.size(), {});
                changed = true;
            }
        }
    }
}

std::vector<Query> Orbits::facts(const Closure& universe) const {
    std::vector<Query> found;
    for (const auto& owner : tables_.columns) {
        const Column& column = *owner;
        if (column.as_is || symmetry_.grows(column.index)) continue;
        const auto add = [&](Query::Kind kind, std::uint64_t key) {
            const Id high = static_cast<Id>(key >> 32), count = static_cast<Id>(column.transitions.size());
            const Query query{kind, column.index, high % count, high / count, static_cast<Id>(key)};
            const bool held = universe.holds(column, column.locals[query.local]);
            if (held && symmetry_.has_local(column.index, query.local) && known(query)) found.push_back(query);
        };
        const auto kind = column.monitor ? Query::Kind::observe : Query::Kind::fire;
        column.requests.each([&](std::uint64_t key, const auto&) { add(Query::Kind::request, key); });
        column.groups.each([&](std::uint64_t key, const auto&) { add(Query::Kind::accept, key); });
        column.behaviours.each([&](std::uint64_t key, const auto&) { add(kind, key); });
    }
    put_in_order(tables_, found);
    return found;
}

// Do all messages that it is about have images? Otherwise it is about some outside of the universe.
bool Orbits::known(const Query& query) const {
    const auto has = [&](Id message) { return symmetry_.has_message(query.column, message); };
    if (query.kind == Query::Kind::request) return true;
    if (query.kind != Query::Kind::fire) return has(query.subject);
    const auto set = tables_.columns[query.column]->sets[query.subject];
    return std::all_of(set.begin(), set.end(), has);
}

// --- images ---

bool Orbits::is_settled(Id column, Id local) const {
    return local < settled_[column].size() && settled_[column][local];
}

void Orbits::reach(Id column, Id local) {
    if (local == none || symmetry_.grows(column) || is_settled(column, local)) return;
    locals_.push_back({column, local});
}

void Orbits::reach(const std::vector<Send>& sends) {
    for (const Send& send : sends)
        if (!symmetry_.has_message(send.column, send.message)) messages_.push_back({send.column, send.message});
}

void Orbits::reach(const Query& query) {
    if (query.kind < Query::Kind::fire) return;
    const Column& column = *tables_.columns[query.column];
    const auto& known = answered(column.behaviours, column.key(query.transition, query.local, query.subject));
    for (const Outcome& outcome : known->outcomes) {
        reach(query.column, outcome.local);
        reach(outcome.sends);
    }
}

// Whoever has crashed, or come back, is reached with those who may.
bool Orbits::admit(Helper& helper) {
    std::set<std::pair<Id, Id>> listed;
    for (const Thing& each : locals_) listed.emplace(each.column, each.number);
    for (std::size_t i = 0; i < locals_.size(); ++i) {
        const auto [column, number] = locals_[i];
        const Local& local = tables_.columns[column]->locals[number];
        for (const Id other : {local.crash, local.recovery})
            if (other != none && !is_settled(column, other) && listed.emplace(column, other).second)
                locals_.push_back({column, other});
    }
    helper.admit(locals_, messages_);
    messages_.clear();
    for (std::vector<Thing> todo = std::move(locals_); !todo.empty();) {
        const auto [column, number] = todo.back();
        todo.pop_back();
        auto& settled = settled_[column];
        if (settled.size() <= number) settled.resize(number + std::size_t{1});
        if (settled[number]) continue;
        settled[number] = true;
        for (Id one = 0; one < symmetry_.exchanges(); ++one) {
            const Thing image{symmetry_.moved(one, column), symmetry_.image_of_local(one, column, number)};
            if (!alike(*tables_.columns[column], number, *tables_.columns[image.column], image.number, one,
                       helper.failures()))
                return tell_apart({"crash", column, number}, one);
            todo.push_back(image);
        }
    }
    locals_.clear();
    return true;
}

bool Orbits::tell_apart(const Breach& what, Id one) {
    breach = what;
    exchange = one;
    symmetry_.broken = Symmetry::Broken{symmetry_.family_of(one), none};
    return false;
}

// --- comparing ---

bool Orbits::alike(const Query& query, const Query& image, Id one, const std::vector<Id>& failures) {
    const Column &mine = *tables_.columns[query.column], &its = *tables_.columns[image.column];
    const bool whole = query.kind == Query::Kind::request;
    const std::uint64_t my_key = mine.key(query.transition, query.local, whole ? 0 : query.subject);
    const std::uint64_t its_key = its.key(image.transition, image.local, whole ? 0 : image.subject);
    if (query.kind == Query::Kind::request) {
        const Request &asked = answered(mine.requests, my_key), &wanted = answered(its.requests, its_key);
        std::vector<Id> senders, others = wanted.senders;
        for (const Id sender : asked.senders) senders.push_back(symmetry_.moved(one, sender));
        std::sort(senders.begin(), senders.end());
        std::sort(others.begin(), others.end());
        return asked.enabled == wanted.enabled && asked.mode == wanted.mode && asked.size == wanted.size &&
               senders == others;
    }
    if (query.kind == Query::Kind::accept) {
        const Id accepted = answered(mine.groups, my_key), other = answered(its.groups, its_key);
        if (accepted == rejected || other == rejected) return accepted == other;
        const std::array<Id, 5> key{one, query.column, query.transition, query.local, accepted};
        return groups_.emplace(key, other).first->second == other;
    }
    return signatures(*answered(mine.behaviours, my_key), mine, one, failures) ==
           signatures(*answered(its.behaviours, its_key), its, none, failures);
}

bool Orbits::alike(const Column& mine, Id local, const Column& its, Id image, Id one,
                   const std::vector<Id>& failures) const {
    const Local &here = mine.locals[local], &there = its.locals[image];
    const auto failure = [&](Id id) { return id == none ? none : failures[id]; };
    const auto moved = [&](Id other) {
        return other == none ? none : symmetry_.image_of_local(one, mine.index, other);
    };
    const auto back = [](const Column& column, Id crashed) {
        return crashed == none ? none : column.locals[crashed].recovery;
    };
    return here.crashed == there.crashed && failure(here.failure) == failure(there.failure) &&
           moved(here.crash) == there.crash && moved(back(mine, here.crash)) == back(its, there.crash);
}

std::vector<Orbits::Signature> Orbits::signatures(const Behaviour& behaviour, const Column& column, Id one,
                                                  const std::vector<Id>& failures) const {
    std::vector<Signature> result;
    for (const Outcome& outcome : behaviour.outcomes) {
        Id next = outcome.local, failed = none;
        if (next != none && column.locals[next].failure != none) {  // of a monitor; which of several texts is the same
            failed = failures[column.locals[next].failure];
            next = none;
        } else if (next != none && one != none) {
            next = symmetry_.image_of_local(one, column.index, next);
        }
        Signature signature{static_cast<Id>(outcome.effect), outcome.failure == none ? none : failures[outcome.failure],
                            next, failed};
        const Signature messages = sent(outcome.sends, one);
        signature.insert(signature.end(), messages.begin(), messages.end());
        result.push_back(std::move(signature));
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

// The messages by receiver. Where they are put into a set or a multiset their order has no effect; into channels and
// for monitors it may have one.
Orbits::Signature Orbits::sent(const std::vector<Send>& sends, Id one) const {
    std::vector<std::pair<Id, Id>> list;
    for (const Send& send : sends) {
        if (one == none)
            list.emplace_back(send.column, send.message);
        else
            list.emplace_back(symmetry_.moved(one, send.column),
                              symmetry_.image_of_message(one, send.column, send.message));
    }
    const bool ordered = tables_.network.sends_conflict();
    std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) {
        if (a.first != b.first) return a.first < b.first;
        return !ordered && !tables_.columns[a.first]->monitor && a.second < b.second;
    });
    Signature result;
    for (const auto& [column, message] : list) result.insert(result.end(), {column, message});
    return result;
}

}  // namespace quorate

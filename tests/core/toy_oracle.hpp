// Answers the core's questions about a toy protocol. Numbers are given out as they come up, as for a real protocol, so
// that they tell nothing about contents.
#pragma once

#include <map>

#include "toy.hpp"

namespace toy {

// Says one thing where a column is in some local state, crashed or not, and another elsewhere.
struct Predicate {
    Id column = 0, local = 0;
    Verdict there = Verdict::yes, elsewhere = Verdict::no;
};

class ToyOracle : public Oracle {
public:
    enum class Numbers { as_met, as_in_toy };

    explicit ToyOracle(const Protocol& protocol, Numbers numbers = Numbers::as_met)
        : tables(protocol.network), protocol_(protocol) {
        const Id count = protocol.processes + protocol.monitor;
        numbers_.resize(count);
        for (Id i = 0; i < count; ++i) {
            Column& column = tables.add_column(i == protocol.processes);
            column.observed = {false, false};
            column.input = protocol.input;
            column.clean = protocol.clean;
            if (column.monitor)
                column.transitions.emplace_back();
            else
                for (const Rule& rule : protocol.rules) {
                    column.transitions.push_back({rule.mode, rule.keep});
                    if (rule.mode != Mode::spontaneous) column.transitions.back().allow(rule.type);
                }
            for (Id number = 0; numbers == Numbers::as_in_toy && number < protocol.locals; ++number) local(i, number);
            for (Id number = 0; numbers == Numbers::as_in_toy && number < protocol.messages(); ++number)
                message(i, number);
        }
        for (Id i = 0; i < protocol.processes; ++i) {
            Column& column = *tables.columns[i];
            for (const Send& notice : protocol.notices(i))
                column.notices.push_back({notice.column, message(notice.column, notice.message)});
            if (protocol.attacker != none)
                deliver_standing(protocol.network, column.opening, message(i, protocol.attacker), column.sender());
        }
        for (Id start = 0; start < protocol.starts; ++start) {
            tables.initials.push_back({local(0, start)});
            for (Id i = 1; i < count; ++i) tables.initials.back().push_back(local(i, 0));
        }
    }

    std::size_t fill(const std::vector<Query>& queries) override {
        ++rounds;
        for (const Query& query : queries) answer(query);
        return queries.size() * Cost::evaluated;
    }
    bool judge(std::size_t property, std::span<const Id> locals) override {
        if (void_judgement) return false;
        const Predicate& predicate = predicates_[property];
        const Column& column = *tables.columns[predicate.column];
        const Id value = column.locals[locals[predicate.column]].values[1];
        const Read read{predicate.column, 1, value};
        properties[property].trie.add({&read, 1}, value == predicate.local ? predicate.there : predicate.elsewhere);
        return true;
    }
    bool poll(const Progress&) override { return false; }

    // Must come before anything is searched: properties read what they observe, and nothing else.
    void ask_for(PropertyKind kind, Predicate predicate) {
        properties.push_back({kind});
        predicates_.push_back(predicate);
        std::vector<std::vector<bool>> observed;
        for (const auto& column : tables.columns) observed.push_back(column->observed);
        observed[predicate.column][1] = true;
        tables.observe(observed);
    }

    // The same state in the numbers of the toy.
    State state(std::span<const Id> cells) const {
        State result;
        for (const auto& column : tables.columns) {
            const Cell& cell = column->cells[cells[column->index]];
            result.locals.push_back(numbers_[column->index].toy_locals[cell.local]);
            if (column->monitor) continue;
            std::vector<Id> inbox;
            for (Id id : column->inboxes[cell.inbox]) inbox.push_back(numbers_[column->index].toy_messages[id]);
            protocol_.arrange(inbox);
            result.pending.push_back(std::move(inbox));
        }
        for (std::size_t i = 0; i < budgets && tables.has_budget(); ++i)
            result.left[i] = static_cast<Id>(tables.left(cells.back(), static_cast<Budget>(i)));
        return result;
    }

    Tables tables;
    std::vector<Property> properties{};
    std::size_t rounds = 0;
    bool void_judgement = false;

private:
    struct Numbering {
        std::map<Id, Id> locals{}, messages{};
        std::vector<Id> toy_locals{}, toy_messages{};
    };

    Id local(Id column, Id number) {
        Numbering& known = numbers_[column];
        if (const auto place = known.locals.find(number); place != known.locals.end()) return place->second;
        Column& owner = *tables.columns[column];
        const bool crashed = protocol_.crashed(column, number);
        const Id failure = protocol_.failed(column, number) ? 1 : none;
        const Id id = owner.add_local(mix(column * 1000 + number), {crashed, number % protocol_.locals}, failure);
        known.locals.emplace(number, id);
        known.toy_locals.push_back(number);
        owner.locals[id].crashed = crashed;
        if (protocol_.may_crash(column)) {
            if (!crashed) owner.locals[id].crash = local(column, number + protocol_.locals);
            if (crashed && protocol_.recovers) owner.locals[id].recovery = local(column, protocol_.recovered(number));
        }
        return id;
    }
    Id message(Id column, Id number) {
        Numbering& known = numbers_[column];
        if (const auto place = known.messages.find(number); place != known.messages.end()) return place->second;
        Column& owner = *tables.columns[column];
        const std::uint64_t content = mix(100'000 + column * 1000 + number);
        const Id id = owner.monitor ? owner.add_message({0, 0, content})
                                    : owner.add_message({protocol_.sender(number), protocol_.type(number), content,
                                                         protocol_.stands(number)});
        known.messages.emplace(number, id);
        known.toy_messages.push_back(number);
        return id;
    }

    void answer(const Query& query) {
        Column& column = *tables.columns[query.column];
        const Numbering& known = numbers_[query.column];
        const Id local_number = known.toy_locals[query.local];
        const std::uint64_t key =
            column.key(query.transition, query.local, query.kind == Query::Kind::request ? 0 : query.subject);
        if (query.kind == Query::Kind::request) {
            const Rule& rule = protocol_.rules[query.transition];
            std::vector<Id> senders;
            for (Id i = 0; i < rule.size && rule.mode == Mode::each; ++i) senders.push_back(i);
            const bool asks = protocol_.asks(query.column, query.transition, local_number);
            column.requests.insert(key, {asks, rule.mode, rule.size, senders});
        } else if (query.kind == Query::Kind::accept) {
            const Id number = known.toy_messages[query.subject];
            column.groups.insert(key, protocol_.group(query.column, query.transition, local_number, number));
        } else {
            auto behaviour = std::make_unique<Behaviour>();
            if (query.kind == Query::Kind::observe) {
                const Id next = protocol_.observe(local_number, known.toy_messages[query.subject]);
                behaviour->outcomes.resize(1);
                behaviour->outcomes[0].local = local(query.column, next);
            } else {
                std::vector<Id> set;
                for (Id id : column.sets[query.subject]) set.push_back(known.toy_messages[id]);
                std::sort(set.begin(), set.end());
                for (const Result& result : protocol_.fire(query.column, query.transition, local_number, set))
                    behaviour->outcomes.push_back(outcome(query.column, result));
            }
            column.behaviours.insert(key, std::move(behaviour));
        }
    }
    Outcome outcome(Id column, const Result& result) {
        Outcome made;
        made.effect = result.effect;
        if (result.effect == Effect::fails) made.failure = 0;
        if (result.effect != Effect::moves) return made;
        made.local = local(column, result.local);
        std::map<Id, std::vector<Id>> standing;
        for (const Send& send : result.sends) {
            made.sends.push_back({send.column, message(send.column, send.message)});
            if (send.column < protocol_.processes && protocol_.stands(send.message))
                standing[send.column].push_back(made.sends.back().message);
            else
                made.bundled.push_back(made.sends.back());
        }
        if (standing.empty()) made.bundled.clear();
        for (const auto& [receiver, messages] : standing) {
            auto& bundles = tables.columns[receiver]->bundles;
            made.bundled.push_back({receiver, bundle_bit + static_cast<Id>(bundles.size())});
            bundles.push_back(messages);
        }
        return made;
    }

    const Protocol protocol_;
    std::vector<Numbering> numbers_{};
    std::vector<Predicate> predicates_{};
};

}  // namespace toy

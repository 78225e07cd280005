// Answers about transitions that are recalled where the fields that were read have the same values.

#include <bit>

#include "binding/engine.hpp"

namespace quorate {

namespace {

// So often a question is asked although the answer is known, to see whether it is still the same.
constexpr std::uint64_t again = 64;

// What an outcome has done to the fields. What was read has the same value wherever this is recalled, so a new value of
// it is as good as assigned.
std::vector<ByReads::Assignment> changes(std::span<const Id> before, std::span<const Id> after, const Record& record) {
    std::vector<ByReads::Assignment> found;
    for (const Id field : record.read)
        if (after[field] != before[field]) found.push_back({field, after[field]});
    for (const Id field : record.assigned) found.push_back({field, after[field]});
    return found;
}

}  // namespace

bool Engine::learn(Id column, Id local, const Record& record) {
    Column& owner = *tables.columns[column];
    if (owner.locals[local].fields == none) return true;
    const std::span<const Id> values = owner.fields[owner.locals[local].fields];
    const std::uint64_t key = owner.key(record.transition, local, record.subject);
    ByReads::Answer answer;
    if (record.kind == Query::Kind::request) {
        if (const Request* known = owner.requests.find(key)) answer.request = *known;
    } else if (record.kind == Query::Kind::accept) {
        if (const Id* known = owner.groups.find(key)) answer.group = *known;
    } else if (const auto* known = owner.behaviours.find(key)) {
        for (const Outcome& outcome : (*known)->outcomes) {
            ByReads::Deed& deed = answer.deeds.emplace_back(outcome);
            if (outcome.effect != Effect::moves) continue;
            deed.outcome.local = none;
            deed.assigned = changes(values, owner.fields[owner.locals[outcome.local].fields], record);
        }
    }
    std::vector<ByReads::Assignment> read;
    for (const Id field : record.read) read.push_back({field, values[field]});
    return owner.by_reads.add({record.kind, record.transition, record.subject}, read, std::move(answer));
}

bool Engine::recall(const Query& query, const Number& number) {
    if (query.kind > Query::Kind::fire) return false;
    Column& owner = *tables.columns[query.column];
    const Id fields = owner.locals[query.local].fields;
    if (fields == none) return false;
    const ByReads::Answer* answer =
        owner.by_reads.find({query.kind, query.transition, query.subject}, owner.fields[fields]);
    if (answer == nullptr) return false;
    ++owner.recalled;
    if (owner.recalled % again == 0 || std::has_single_bit(owner.recalled)) return false;
    const std::uint64_t key = owner.key(query.transition, query.local, query.subject);
    if (query.kind == Query::Kind::request) {
        owner.requests.insert(key, answer->request);
    } else if (query.kind == Query::Kind::accept) {
        owner.groups.insert(key, answer->group);
    } else {
        auto behaviour = std::make_unique<Behaviour>();
        for (const ByReads::Deed& deed : answer->deeds) {
            Outcome& outcome = behaviour->outcomes.emplace_back(deed.outcome);
            if (outcome.effect != Effect::moves) continue;
            std::vector<Id> next(owner.fields[fields].begin(), owner.fields[fields].end());
            for (const auto& [field, value] : deed.assigned) next[field] = value;
            const Id known = owner.fields.find(next);
            outcome.local = known != none ? owner.with_fields[known] : none;
            if (outcome.local == none) outcome.local = number(query, deed.assigned, next);
        }
        owner.behaviours.insert(key, std::move(behaviour));
    }
    return true;
}

}  // namespace quorate

#include "model/oracle.hpp"

namespace quorate {

std::vector<Id> locals_of(const Tables& tables, std::span<const Id> cells) {
    std::vector<Id> locals;
    for (Id i = 0; i < tables.columns.size(); ++i) locals.push_back(tables.columns[i]->cells[cells[i]].local);
    for (Id i = 0; tables.shows_messages && i < tables.columns.size(); ++i)
        if (!tables.columns[i]->monitor) locals.push_back(tables.columns[i]->cells[cells[i]].seen);
    return locals;
}

void put_in_order(const Tables& tables, std::vector<Query>& queries) {
    const auto content = [&](const Query& query) {
        if (query.kind == Query::Kind::bound) {
            std::uint64_t sum = 0;
            for (Id i = 0; i < tables.columns.size(); ++i)
                sum = mix(sum + tables.columns[i]->locals[tables.open[query.subject][i]].content);
            return std::make_tuple(none, none, query.kind, sum, std::uint64_t{0}, none, Id{0});
        }
        const Column& column = *tables.columns[query.column];
        std::uint64_t sum = 0;
        if (query.kind == Query::Kind::read)
            sum = tables.columns[column.locals[query.local].reads]->locals[query.subject].content;
        else if (query.kind == Query::Kind::fire)
            for (Id message : column.sets[query.subject]) sum += mix(column.messages[message].content);
        else if (query.kind != Query::Kind::request)
            sum = column.messages[query.subject].content;
        return std::make_tuple(query.column, query.transition, query.kind, column.locals[query.local].content, sum,
                               query.local, query.subject);
    };
    std::sort(queries.begin(), queries.end(), [&](const Query& a, const Query& b) { return content(a) < content(b); });
    const auto same = [&](const Query& a, const Query& b) { return content(a) == content(b); };
    queries.erase(std::unique(queries.begin(), queries.end(), same), queries.end());
}

bool is_answered(const Tables& tables, const Query& query) {
    if (query.kind == Query::Kind::bound) return false;
    const Column& column = *tables.columns[query.column];
    if (query.kind == Query::Kind::read) return column.locals[query.local].view(query.subject) != none;
    if (!column.monitor && column.locals[query.local].reads != none) return true;  // by what it reads: ask that instead
    if (query.kind == Query::Kind::request)
        return column.requests.find(column.key(query.transition, query.local, 0)) != nullptr;
    const std::uint64_t key = column.key(query.transition, query.local, query.subject);
    return query.kind == Query::Kind::accept ? column.groups.find(key) != nullptr
                                             : column.behaviours.find(key) != nullptr;
}

void ask(Tables& tables, Oracle& oracle, std::vector<Query>& queries) {
    if (queries.empty()) return;
    ++tables.round;
    put_in_order(tables, queries);
    oracle.fill(queries);
    queries.clear();
    tables.open.clear();
}

}  // namespace quorate

// The sets of messages a transition may consume, against all subsets that fit the definition.

#include "check.hpp"
#include "explorer.hpp"
#include "model/consume.hpp"
#include "toy_oracle.hpp"

using namespace quorate;

namespace {

std::set<std::vector<Id>> listed(toy::ToyOracle& oracle, Id rule, Id local, const Inbox& inbox, Scope scope) {
    Column& column = *oracle.tables.columns[0];
    for (;;) {
        std::vector<Query> queries;
        std::vector<Consumption> found;
        list_consumptions(column, oracle.tables.network, scope, rule, local, inbox, queries, found);
        if (queries.empty()) {
            std::set<std::vector<Id>> sets;
            for (const Consumption& one : found) {
                const auto set = column.sets[one.set];
                CHECK(sets.insert({set.begin(), set.end()}).second);  // each once
                CHECK(!one.behaviour->outcomes.empty());
            }
            return sets;
        }
        ask(oracle.tables, oracle, queries);
    }
}

}  // namespace

TEST("consumable sets are those of the definition, for every mode and network") {
    Dice dice{4};
    std::map<Mode, std::size_t> met;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        toy::Protocol protocol;
        protocol.seed = seed;
        protocol.processes = 4;
        protocol.kinds = 3;
        protocol.network.order = static_cast<Order>(seed % 3);
        protocol.network.head = static_cast<Head>(seed / 3 % 3);
        protocol.rarity = 2 + seed % 3;
        protocol.rules = {{Mode::spontaneous}, {Mode::single, 1},  {Mode::exact, 0, 2}, {Mode::exact, 1, 3},
                          {Mode::each, 0, 2},  {Mode::minimal, 1}, {Mode::maximal, 0},  {Mode::maximal, 1}};
        toy::ToyOracle oracle(protocol, toy::ToyOracle::Numbers::as_in_toy);
        const toy::Explorer explorer(protocol);
        for (int i = 0; i < 12; ++i) {
            Inbox inbox;
            const auto sender = oracle.tables.columns[0]->sender();
            for (Id k = dice(14); k > 0; --k)
                CHECK(deliver(protocol.network, inbox, dice(protocol.messages()), sender, [](Id) { return false; }));
            for (Id rule = 0; rule < protocol.rules.size(); ++rule) {
                const Id local = dice(protocol.locals);
                const auto sets = listed(oracle, rule, local, inbox, Scope::cell);
                CHECK(sets == explorer.consumable(0, rule, local, inbox));
                met[protocol.rules[rule].mode] += sets.size();
            }
        }
    }
    for (Mode mode : {Mode::spontaneous, Mode::single, Mode::exact, Mode::each, Mode::minimal, Mode::maximal})
        CHECK(met[mode] > 30);
}

TEST("the closure knows every set that is consumable in some inbox") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        toy::Protocol protocol;
        protocol.seed = seed;
        protocol.network.order = static_cast<Order>(seed % 3);
        protocol.network.head = static_cast<Head>(seed / 3 % 3);
        protocol.rules = {
            {Mode::single, 0}, {Mode::exact, 0, 2}, {Mode::each, 1, 2}, {Mode::minimal, 1}, {Mode::maximal, 0}};
        toy::ToyOracle oracle(protocol, toy::ToyOracle::Numbers::as_in_toy);
        const toy::Explorer explorer(protocol);
        Inbox all;
        for (Id message = 0; message < protocol.messages(); ++message) all.push_back(message);
        for (Id rule = 0; rule < protocol.rules.size(); ++rule) {
            const auto known = listed(oracle, rule, 1, all, Scope::closure);
            for (std::size_t chosen = 0; chosen < std::size_t{1} << all.size(); ++chosen) {
                Inbox inbox;
                for (Id from = 0; from < protocol.processes; ++from)  // by sender, as FIFO channels have it
                    for (Id message : all)
                        if (chosen >> message & 1 && protocol.sender(message) == from) inbox.push_back(message);
                if (protocol.network.order != Order::fifo) std::sort(inbox.begin(), inbox.end());
                for (const auto& set : explorer.consumable(0, rule, 1, inbox)) CHECK(known.contains(set));
            }
        }
    }
}

TEST("too many sets are refused with a reason") {
    toy::Protocol protocol;
    protocol.processes = 12;
    protocol.kinds = 1;
    protocol.rules = {{Mode::maximal, 0}};
    toy::ToyOracle oracle(protocol, toy::ToyOracle::Numbers::as_in_toy);
    Inbox all;
    for (Id message = 0; message < protocol.messages(); ++message) all.push_back(message);
    Id local = 0;
    while (!protocol.asks(0, 0, local)) ++local;
    const auto list = [&](std::size_t most) {
        for (bool again = true; again;) {
            std::vector<Query> queries;
            std::vector<Consumption> found;
            list_consumptions(*oracle.tables.columns[0], oracle.tables.network, Scope::closure, 0, local, all, queries,
                              found, most);
            again = !queries.empty();
            ask(oracle.tables, oracle, queries);
        }
    };
    CHECK_THROWS(list(5), LimitError);
    list(1 << 14);
}

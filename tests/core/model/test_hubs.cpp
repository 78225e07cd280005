// Processes that are taken apart: the same searches as with whole cells, and parts that are what they should be.

#include "base/thresholds.hpp"
#include "check.hpp"
#include "explorer.hpp"
#include "model/hubs.hpp"
#include "search/search.hpp"
#include "toy_oracle.hpp"

using namespace quorate;

namespace {

struct TakenApart {
    TakenApart() {
        thresholds.most_cells = 1;
        thresholds.hub_gain = 0;
    }
    ~TakenApart() { thresholds = before; }
    const Thresholds before = thresholds;
};

std::vector<toy::Protocol> protocols() {
    std::vector<toy::Protocol> result;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        toy::Protocol protocol = toy::any(seed);
        if (seed % 3 > 0) {  // as most of them are not of a network that lets processes be taken apart
            const Network any = protocol.network;
            protocol.network = {};
            protocol.network.duplicates_unlimited = seed % 5 == 0;
            protocol.network.losses_unlimited = any.losses_unlimited;
            protocol.network.budget[0] = any.budget[0];
        }
        result.push_back(protocol);
    }
    return result;
}

}  // namespace

TEST("a search that takes every process apart counts as the naive explorer does") {
    const TakenApart now;
    std::size_t compared = 0, apart = 0;
    for (const toy::Protocol& protocol : protocols()) {
        const auto wanted = toy::Explorer(protocol).run(400);
        if (!wanted || wanted->states.size() < 2) continue;
        ++compared;
        for (unsigned threads : {1u, 3u}) {
            toy::ToyOracle oracle(protocol);
            SearchOptions options;
            options.threads = threads;
            const SearchResult found = breadth_first(oracle.tables, oracle.properties, oracle, options);
            CHECK_EQUAL(found.states, wanted->states.size());
            CHECK_EQUAL(found.transitions, wanted->transitions);
            CHECK_EQUAL(found.deadlocks, wanted->deadlocks);
            CHECK_EQUAL(found.depth, wanted->depth());
            apart += oracle.tables.part_values > 0;
        }
    }
    CHECK(compared > 60);
    CHECK(apart > 60);
}

TEST("what is pending is divided by what quorums take together, and comes together again") {
    toy::Protocol protocol;
    protocol.processes = 3;
    protocol.kinds = 3;
    protocol.rules = {{Mode::spontaneous}, {Mode::single, 0}, {Mode::exact, 1, 2}, {Mode::single, 1}};
    toy::ToyOracle oracle(protocol, toy::ToyOracle::Numbers::as_in_toy);
    Column& column = *oracle.tables.columns[0];
    CHECK(Hub::possible(column));
    Hub hub(oracle.tables, column, 7);
    CHECK_EQUAL(hub.count(), Id{3});
    Id alone = 0;
    for (Id part = 0; part < hub.count(); ++part) alone += hub.one_by_one(part);
    CHECK_EQUAL(alone, Id{2});  // all but that of the quorum
    Inbox inbox;
    for (Id message = 0; message < protocol.messages(); message += 2) inbox.push_back(message);
    std::vector<Id> values(hub.count());
    hub.divide(inbox, values.data());
    CHECK(hub.join(values.data()) == inbox);
    for (Id part = 0; part < hub.count(); ++part)
        for (Id message : hub.messages(part, values[part]))
            for (Id other = 0; other < hub.count(); ++other)
                for (Id its : hub.messages(other, values[other]))
                    CHECK(other == part || column.messages[its].type != column.messages[message].type);
    // A message goes to its part, and arriving twice is arriving once.
    const Id cell = oracle.tables.cell(column, 0, {});
    const Row* row = hub.receive(cell, 1);
    const Id part = row->find(1) - redirected - 7;
    const Id more = hub.change(part, values[part], 1)->find(1);
    CHECK(more != values[part]);
    CHECK_EQUAL(hub.change(part, more, 1)->find(1), more);
}

TEST("only networks on which messages do not depend on one another let processes be taken apart") {
    CHECK(Hub::possible(Network{}));
    CHECK(Hub::possible(Network{.order = Order::multiset}));
    CHECK(!Hub::possible(Network{.order = Order::fifo}));
    CHECK(!Hub::possible(Network{.capacity = 2}));
    CHECK(!Hub::possible(Network{.budget = {0, 1, 0}}));
    CHECK(!Hub::possible(Network{.crashes_cut_short = true, .budget = {0, 0, 1}}));
    CHECK(Hub::possible(Network{.crashes_cut_short = true}));
    CHECK(Hub::possible(Network{.losses_unlimited = true, .budget = {0, 0, 1}}));
}

// The closure, and the reductions that follow from it, against the naive explorer.

#include "analysis/dead_messages.hpp"
#include "analysis/local_quotient.hpp"
#include "check.hpp"
#include "explorer.hpp"
#include "toy_oracle.hpp"

using namespace quorate;

namespace {

// States with what can be seen of them, and the states after one step. The initial ones come first.
struct Graph {
    std::vector<std::vector<Id>> seen{};
    std::vector<std::vector<Id>> next{};
};

// `expand(state, next)` appends the states after a step, and says what is seen of the state.
template <typename State>
Graph explore(std::vector<State> states, auto expand) {
    Graph graph;
    std::map<State, Id> numbers;
    for (const State& state : states) numbers.emplace(state, static_cast<Id>(numbers.size()));
    for (std::size_t i = 0; i < states.size(); ++i) {
        std::vector<State> next;
        graph.seen.push_back(expand(states[i], next));
        graph.next.emplace_back();
        for (State& one : next) {
            const auto [place, fresh] = numbers.emplace(one, static_cast<Id>(states.size()));
            if (fresh) states.push_back(std::move(one));
            graph.next.back().push_back(place->second);
        }
    }
    return graph;
}

Closure close(Tables& tables, Oracle& oracle, std::size_t most_behaviours) {
    Closing closing(tables);
    closing.go_on(oracle, most_behaviours);
    return std::move(closing.closure());
}

// What a property may ask about: process 0, the monitor, deadlocks, failures.
Graph plain(const toy::Protocol& protocol) {
    toy::Explorer explorer(protocol);
    return explore(explorer.initials(), [&](const toy::State& state, std::vector<toy::State>& next) {
        const auto expansion = explorer.successors(state);
        next = expansion.next;
        return std::vector<Id>{state.locals[0] % protocol.locals, protocol.monitor ? state.locals.back() : none,
                               expansion.enabled, expansion.fails};
    });
}

// The same, by the tables of the core.
Graph tabled(toy::ToyOracle& oracle, const toy::Protocol& protocol) {
    std::vector<std::vector<Id>> initials;
    for (std::size_t i = 0; i < oracle.tables.initials.size(); ++i) initials.push_back(oracle.tables.initial_cells(i));
    Expander expander(oracle.tables);
    return explore(initials, [&](const std::vector<Id>& cells, std::vector<std::vector<Id>>& next) {
        for (;;) {
            bool fails = false;
            expander.cells = cells;
            const auto emit = [&](Id, const Step&, Id, std::uint64_t, bool) { next.push_back(expander.cells); };
            const auto summary = expander.expand(expander.sum(), emit, [&](Id, Id, Id) { fails = true; });
            const toy::State state = oracle.state(cells);
            if (!summary.missing)
                return std::vector<Id>{state.locals[0] % protocol.locals, protocol.monitor ? state.locals.back() : none,
                                       summary.enabled, fails};
            next.clear();
            ask(oracle.tables, oracle, expander.queries);
        }
    });
}

// Strong bisimulation, by refining one partition of both graphs until it is stable.
bool bisimilar(const Graph& one, const Graph& two, std::size_t initials) {
    const Graph* graphs[] = {&one, &two};
    std::vector<std::vector<Id>> blocks{std::vector<Id>(one.seen.size(), 0), std::vector<Id>(two.seen.size(), 0)};
    for (std::size_t count = 0;;) {
        std::map<std::pair<std::vector<Id>, std::set<Id>>, Id> classes;
        auto refined = blocks;
        for (std::size_t g = 0; g < 2; ++g)
            for (std::size_t i = 0; i < blocks[g].size(); ++i) {
                std::pair<std::vector<Id>, std::set<Id>> signature{graphs[g]->seen[i], {}};
                signature.first.push_back(blocks[g][i]);
                for (Id next : graphs[g]->next[i]) signature.second.insert(blocks[g][next]);
                refined[g][i] = classes.emplace(std::move(signature), static_cast<Id>(classes.size())).first->second;
            }
        blocks = std::move(refined);
        if (classes.size() == count) break;
        count = classes.size();
    }
    return std::equal(blocks[0].begin(), blocks[0].begin() + static_cast<std::ptrdiff_t>(initials), blocks[1].begin());
}

// Few enough states for the closure and for comparing whole graphs; local states that are alike in some respects.
toy::Protocol some(std::uint64_t seed) {
    toy::Protocol protocol = toy::any(seed);
    protocol.locals = 4;
    protocol.classes = 1 + static_cast<Id>(seed % 3);
    if (seed % 2 == 0) protocol.failures = 30;
    if (protocol.network.order == Order::set) protocol.network.capacity = none;
    return protocol;
}

// A quorum that never comes together: only its filter counts, because it keeps heads from being dropped.
toy::Protocol dropping(std::uint64_t seed) {
    toy::Protocol protocol;
    protocol.seed = seed;
    protocol.processes = 2;
    protocol.locals = 4;
    protocol.kinds = 1;
    protocol.classes = 2;
    protocol.rules = {{Mode::spontaneous}, {Mode::exact, 0, 3}};
    protocol.network.order = Order::fifo;
    protocol.network.head = Head::drop;
    protocol.network.capacity = 1;
    return protocol;
}

// A message that is never consumed has no effect on such a network.
bool may_drop_dead(const toy::Protocol& protocol) {
    return protocol.network.order != Order::fifo && !protocol.network.bounded() && !protocol.clean;
}

// Losing or doubling a dead message is a step of the plain system alone, and may take from a budget.
bool touches_dead(const toy::Protocol& protocol) {
    const Network& network = protocol.network;
    return !protocol.input && (network.losses_unlimited || network.budget[0] > 0 || network.budget[1] > 0);
}

struct Reductions {
    bool quotient, dead;
};

}  // namespace

TEST("after the closure no search has anything to ask") {
    std::size_t closed = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const toy::Protocol protocol = some(seed);
        if (!toy::Explorer(protocol).run(500)) continue;
        toy::ToyOracle oracle(protocol);
        const Closure closure = close(oracle.tables, oracle, 1 << 20);
        CHECK(closure.complete);
        ++closed;
        const std::size_t rounds = oracle.rounds;
        CHECK(rounds > 0);
        tabled(oracle, protocol);
        CHECK_EQUAL(oracle.rounds, rounds);
    }
    CHECK(closed > 20);
}

TEST("a closure that was stopped and taken up again is the same") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const toy::Protocol protocol = some(seed);
        if (!toy::Explorer(protocol).run(500)) continue;
        toy::ToyOracle once(protocol), often(protocol);
        const Closure closure = close(once.tables, once, 1 << 20);
        Closing closing(often.tables);
        for (std::size_t most = 1; !closing.closure().complete; most += 2) {
            CHECK(most < 1 << 20);
            closing.go_on(often, most);
        }
        CHECK_EQUAL(closing.closure().local_states, closure.local_states);
        CHECK_EQUAL(closing.closure().messages, closure.messages);
        CHECK_EQUAL(closing.closure().behaviours, closure.behaviours);
        std::size_t enabled = 0, wanted = 0;
        for (const auto& column : closing.closure().enabled)
            for (const auto& local : column) enabled += local.size();
        for (const auto& column : closure.enabled)
            for (const auto& local : column) wanted += local.size();
        CHECK_EQUAL(enabled, wanted);
    }
}

TEST("a closure without end is given up, and says so") {
    toy::ToyOracle oracle(some(1));
    const Closure closure = close(oracle.tables, oracle, 3);
    CHECK(!closure.complete);
    CHECK(!closure.why.empty());
}

TEST("reductions keep verdicts, distances, deadlocks and more: the systems are bisimilar") {
    std::size_t merged = 0, dropped = 0, smaller = 0;
    for (std::uint64_t seed = 1; seed <= 360; ++seed) {
        const toy::Protocol protocol = seed <= 300 ? some(seed) : dropping(seed);
        const auto explored = toy::Explorer(protocol).run(200);
        if (!explored || explored->states.size() < 5) continue;
        const Graph full = plain(protocol);
        std::vector<std::pair<Id, Id>> goals;
        for (Id local = 0; local < protocol.locals; ++local) {
            goals.emplace_back(0, local);
            if (protocol.monitor) goals.emplace_back(protocol.processes, local);
        }
        for (const Reductions& on : {Reductions{false, false}, {true, false}, {false, true}, {true, true}}) {
            if (on.dead && !may_drop_dead(protocol)) continue;
            toy::ToyOracle oracle(protocol);
            for (const auto& [column, local] : goals) oracle.ask_for(PropertyKind::goal, {column, local});
            const Closure closure = close(oracle.tables, oracle, 1 << 20);
            oracle.tables.quotient = on.quotient;
            oracle.tables.dead_messages = on.dead;
            if (on.quotient) merged += merge_local_states(oracle.tables, closure) < closure.local_states;
            if (on.dead) dropped += find_dead_messages(oracle.tables, closure).dead > 0;
            oracle.tables.forget_cells();
            const Graph reduced = tabled(oracle, protocol);
            smaller += reduced.seen.size() < full.seen.size();
            if (!on.dead || !touches_dead(protocol)) CHECK(bisimilar(full, reduced, protocol.starts));
            CHECK(std::set(full.seen.begin(), full.seen.end()) == std::set(reduced.seen.begin(), reduced.seen.end()));
            if (explored->failure != toy::never) continue;  // a search would end there
            for (int kind = 0; kind < 5; ++kind) {
                SearchOptions options;
                options.threads = kind == 1 ? 3 : 1;
                options.bitstate = kind == 3 ? 1 << 20 : 0;
                options.stateless = kind == 4;
                options.limits.states = 2000;
                const SearchResult found = kind < 2 ? breadth_first(oracle.tables, oracle.properties, oracle, options)
                                                    : depth_first(oracle.tables, oracle.properties, oracle, options);
                if (found.stop == Stop::states) continue;
                CHECK(found.stop == Stop::finished);
                if (kind < 4) CHECK_EQUAL(found.states, reduced.seen.size());
                CHECK_EQUAL(found.deadlocks > 0, explored->deadlocks > 0);
                std::size_t reachable = 0;
                for (const auto& goal : goals) reachable += explored->first.contains(goal);
                CHECK_EQUAL(found.goals.size(), reachable);
                for (const Witness& goal : found.goals)
                    if (kind < 2) CHECK_EQUAL(goal.length, explored->first.at(goals[goal.property]));
            }
        }
    }
    CHECK(merged > 50);
    CHECK(dropped > 20);
    CHECK(smaller > 50);
}

TEST("without observations only behaviour keeps local states apart") {
    // Nothing is ever consumed or sent: all local states are alike.
    toy::Protocol protocol;
    protocol.processes = 1;
    protocol.locals = 6;
    protocol.rules = {{Mode::single, 0}};
    protocol.rarity = 1;  // every guard is false
    toy::ToyOracle oracle(protocol, toy::ToyOracle::Numbers::as_in_toy);
    const Closure closure = close(oracle.tables, oracle, 1 << 20);
    CHECK_EQUAL(merge_local_states(oracle.tables, closure), std::size_t{1});
    oracle.tables.observe({{false, true}});
    CHECK_EQUAL(merge_local_states(oracle.tables, closure), std::size_t{6});
    const DeadMessages reduced = find_dead_messages(oracle.tables, closure);
    CHECK_EQUAL(reduced.pairs, std::size_t{6} * protocol.messages());
    CHECK_EQUAL(reduced.dead, reduced.pairs);  // nobody ever takes anything
}

// Every search against the naive explorer, on toy protocols with every network and every fault.

#include "check.hpp"
#include "explorer.hpp"
#include "toy_oracle.hpp"

using namespace quorate;
using toy::never;

namespace {

struct Case {
    toy::Protocol protocol;
    toy::Exploration wanted;
};

// Those of the protocols that have more than one state, and not too many for the naive explorer.
std::vector<Case> cases(const std::vector<toy::Protocol>& protocols, std::size_t most) {
    std::vector<Case> result;
    for (const toy::Protocol& protocol : protocols) {
        auto explored = toy::Explorer(protocol).run(most);
        if (explored && explored->states.size() > 1) result.push_back({protocol, std::move(*explored)});
    }
    return result;
}

std::vector<toy::Protocol> protocols(std::uint64_t first, std::uint64_t last) {
    std::vector<toy::Protocol> result;
    for (std::uint64_t seed = first; seed <= last; ++seed) result.push_back(toy::any(seed));
    return result;
}

const std::vector<Case>& small() {
    static const std::vector<Case> all = cases(protocols(1, 120), 400);
    return all;
}

// Levels of hundreds of states, so that threads have something to share. The last one begins with such a level: there
// all of them meet what nobody knows yet.
const std::vector<Case>& large() {
    static const std::vector<Case> all = [] {
        toy::Protocol crowd;
        crowd.seed = 24;
        crowd.processes = 2;
        crowd.kinds = 1;
        crowd.locals = crowd.starts = 512;
        crowd.targets = 2;
        crowd.rules = {{Mode::spontaneous}, {Mode::single, 0}};
        return cases({toy::any(137), toy::any(84), crowd}, 6000);
    }();
    return all;
}

SearchResult breadth(toy::ToyOracle& oracle, unsigned threads, bool deadlock = false) {
    SearchOptions options;
    options.threads = threads;
    options.deadlock = deadlock;
    return breadth_first(oracle.tables, oracle.properties, oracle, options);
}

SearchResult depth(toy::ToyOracle& oracle, const SearchOptions& options = {}) {
    return depth_first(oracle.tables, oracle.properties, oracle, options);
}

// Is it a run, as the definitions have it? Returns its last state.
toy::State replay(const toy::ToyOracle& oracle, const toy::Protocol& protocol, const Witness& witness) {
    toy::Explorer explorer(protocol);
    std::vector<toy::State> possible = explorer.initials();
    toy::State last;
    for (const auto& cells : witness.path) {
        last = oracle.state(cells);
        CHECK(std::find(possible.begin(), possible.end(), last) != possible.end());
        possible = explorer.successors(last).next;
    }
    return last;
}

void agree(const SearchResult& found, const toy::Exploration& wanted) {
    CHECK(found.stop == Stop::finished);
    CHECK_EQUAL(found.states, wanted.states.size());
    CHECK_EQUAL(found.transitions, wanted.transitions);
    CHECK_EQUAL(found.deadlocks, wanted.deadlocks);
    CHECK_EQUAL(std::count(found.cut.begin(), found.cut.end(), true) > 0, wanted.cut);
}

// A local state of a column.
struct Target {
    Id column, local;
    toy::Predicate excluded() const { return {column, local, Verdict::no, Verdict::yes}; }
    bool holds(const toy::State& state, const toy::Protocol& protocol) const {
        return state.locals[column] % protocol.locals == local;
    }
};

std::vector<Target> targets(const toy::Protocol& protocol) {
    std::vector<Target> result;
    for (Id column = 0; column < protocol.processes + protocol.monitor; ++column)
        for (Id local = 0; local < protocol.locals; ++local) result.push_back({column, local});
    return result;
}

// The one it takes the most steps to get to; every third time, one that is never got to, if there is one.
Target far_target(const Case& one) {
    std::vector<Target> all = targets(one.protocol);
    const auto steps = [&](const Target& target) {
        const std::uint64_t count = one.wanted.steps_to(target.column, target.local);
        return count == never && one.protocol.seed % 3 > 0 ? 0 : count;
    };
    return *std::max_element(all.begin(), all.end(),
                             [&](const Target& a, const Target& b) { return steps(a) < steps(b); });
}

}  // namespace

TEST("a complete search counts as the naive explorer does") {
    CHECK(small().size() > 60);
    for (const Case& one : small()) {
        for (unsigned threads : {1u, 2u, 3u, 4u}) {
            toy::ToyOracle oracle(one.protocol);
            const SearchResult found = breadth(oracle, threads);
            agree(found, one.wanted);
            CHECK_EQUAL(found.depth, one.wanted.depth());
        }
        toy::ToyOracle deep(one.protocol), bits(one.protocol);
        agree(depth(deep), one.wanted);
        SearchOptions options;
        options.bitstate = 1 << 20;
        agree(depth(bits, options), one.wanted);
    }
}

TEST("threads that share levels count as the naive explorer does") {
    CHECK_EQUAL(large().size(), std::size_t{3});
    for (const Case& one : large()) {
        CHECK(*std::max_element(one.wanted.level_states.begin(), one.wanted.level_states.end()) > 500);
        for (unsigned threads : {1u, 2u, 3u, 4u}) {
            toy::ToyOracle oracle(one.protocol);
            agree(breadth(oracle, threads), one.wanted);
            // And again, when there is nothing to ask any more.
            const std::size_t rounds = oracle.rounds;
            agree(breadth(oracle, threads), one.wanted);
            CHECK_EQUAL(oracle.rounds, rounds);
        }
    }
}

TEST("successors that wait for room in the index, or for wider states, are not lost") {
    // So many processes that a state takes up more words when their cells become known.
    toy::Protocol wide;
    wide.seed = 7;
    wide.processes = 24;
    wide.kinds = 1;
    wide.locals = wide.starts = 512;
    wide.rules = {{Mode::spontaneous}};
    wide.rarity = 1000;
    // So many steps in each state that the index is full amid its successors. Initial states differ in process 0, and
    // what it does does not: states in which it has moved are met again.
    toy::Protocol fan = wide;
    fan.seed = 10;
    fan.processes = 2;
    fan.starts = 20;
    fan.classes = 1;
    fan.choices = 400;
    for (const toy::Protocol& protocol : {wide, fan}) {
        toy::Explorer explorer(protocol);
        std::set<toy::State> wanted;
        std::uint64_t transitions = 0;
        for (const toy::State& state : explorer.initials()) {
            wanted.insert(state);
            const std::vector<toy::State> next = explorer.successors(state).next;
            if (protocol.seed == fan.seed) CHECK(next.size() > 600);
            transitions += next.size();
            wanted.insert(next.begin(), next.end());
        }
        CHECK(wanted.size() > 5000);
        for (unsigned threads : {1u, 2u, 4u}) {
            toy::ToyOracle oracle(protocol);
            SearchOptions options;
            options.threads = threads;
            options.most_depth = 1;
            const SearchResult found = breadth_first(oracle.tables, oracle.properties, oracle, options);
            CHECK_EQUAL(found.states, wanted.size());
            CHECK_EQUAL(found.transitions, transitions);
        }
    }
}

TEST("a violation comes with a shortest run, the same for any number of threads, when its level is finished") {
    std::size_t violated = 0;
    const auto check = [&](const Case& one) {
        const Target excluded = far_target(one);
        const std::uint64_t length = one.wanted.steps_to(excluded.column, excluded.local);
        std::vector<toy::State> known;
        for (unsigned threads : {1u, 2u, 3u, 4u}) {
            toy::ToyOracle oracle(one.protocol);
            oracle.ask_for(PropertyKind::invariant, excluded.excluded());
            const SearchResult found = breadth(oracle, threads);
            CHECK_EQUAL(found.violation.has_value(), length != never);
            if (!found.violation) {
                agree(found, one.wanted);
                continue;
            }
            ++violated;
            CHECK(found.stop == Stop::violation);
            CHECK(found.violation->finding == Finding::violated);
            CHECK_EQUAL(found.violation->length, length);
            CHECK_EQUAL(found.violation->path.size(), length + 1);
            CHECK(excluded.holds(replay(oracle, one.protocol, *found.violation), one.protocol));
            std::uint64_t states = 0, transitions = 0;
            for (std::size_t level = 0; level <= length; ++level) states += one.wanted.level_states[level];
            for (std::size_t level = 0; level < length; ++level) transitions += one.wanted.level_transitions[level];
            CHECK_EQUAL(found.states, states);
            CHECK_EQUAL(found.transitions, transitions);
            std::vector<toy::State> run;
            for (const auto& cells : found.violation->path) run.push_back(oracle.state(cells));
            if (threads == 1) known = run;
            CHECK(run == known);
        }
    };
    for (const Case& one : small()) check(one);
    for (const Case& one : large()) check(one);
    CHECK(violated > 100);
}

TEST("depth first, with a store, bits or nothing, comes to the same verdict with a run that shows it") {
    std::size_t violated = 0, without = 0;
    for (const Case& one : small()) {
        const Target excluded = far_target(one);
        const bool wanted = one.wanted.steps_to(excluded.column, excluded.local) != never;
        for (int kind = 0; kind < 3; ++kind) {
            SearchOptions options;
            options.bitstate = kind == 1 ? 1 << 20 : 0;
            options.stateless = kind == 2;
            options.limits.states = 5000;
            toy::ToyOracle oracle(one.protocol);
            oracle.ask_for(PropertyKind::invariant, excluded.excluded());
            const SearchResult found = depth(oracle, options);
            if (found.stop == Stop::states) continue;
            violated += wanted;
            without += kind == 2 && !wanted;
            CHECK_EQUAL(found.violation.has_value(), wanted);
            if (!found.violation) continue;
            CHECK_EQUAL(found.violation->path.size(), found.violation->length + 1);
            CHECK(excluded.holds(replay(oracle, one.protocol, *found.violation), one.protocol));
        }
    }
    CHECK(violated > 100);
    CHECK(without > 10);
}

TEST("every goal is reached by a shortest run, and by none if there is none") {
    std::size_t reached = 0, missed = 0;
    for (const Case& one : small()) {
        for (unsigned threads : {0u, 1u, 3u}) {  // 0: depth first
            toy::ToyOracle oracle(one.protocol);
            const std::vector<Target> goals = targets(one.protocol);
            for (const auto& [column, local] : goals) oracle.ask_for(PropertyKind::goal, {column, local});
            const SearchResult found = threads == 0 ? depth(oracle) : breadth(oracle, threads);
            agree(found, one.wanted);
            CHECK_EQUAL(found.goals.size(), one.wanted.first.size());
            missed += goals.size() - found.goals.size();
            for (const Witness& witness : found.goals) {
                ++reached;
                const Target& goal = goals[witness.property];
                CHECK(goal.holds(replay(oracle, one.protocol, witness), one.protocol));
                if (threads > 0) CHECK_EQUAL(witness.length, one.wanted.steps_to(goal.column, goal.local));
            }
        }
    }
    CHECK(reached > 500);
    CHECK(missed > 50);
}

TEST("failures and deadlocks are found at their distance") {
    std::size_t failed = 0, stuck = 0, neither = 0;
    std::vector<toy::Protocol> fragile = protocols(201, 320);
    for (toy::Protocol& protocol : fragile) {
        if (protocol.seed % 2 == 0) protocol.failures = 40;
        if (protocol.seed % 3 == 0) protocol.monitor_fails = true;
    }
    for (const Case& one : cases(fragile, 300)) {
        const std::uint64_t failure = one.wanted.failure, deadlock = one.wanted.deadlock;
        for (unsigned threads : {0u, 1u, 4u}) {
            toy::ToyOracle oracle(one.protocol);
            SearchOptions options;
            options.deadlock = true;
            const SearchResult found = threads == 0 ? depth(oracle, options) : breadth(oracle, threads, true);
            CHECK_EQUAL(found.violation.has_value(), std::min(failure, deadlock) != never);
            neither += !found.violation;
            if (!found.violation) continue;
            replay(oracle, one.protocol, *found.violation);
            const bool fails = found.violation->finding == Finding::failure;
            (fails ? failed : stuck) += 1;
            CHECK((fails ? failure : deadlock) != never);
            if (threads == 0) continue;
            CHECK_EQUAL(found.violation->length, std::min(failure, deadlock));
            CHECK_EQUAL(fails, failure < deadlock);  // of two that are as long, a deadlock ranks first
        }
    }
    CHECK(failed > 20);
    CHECK(stuck > 20);
    CHECK(neither > 20);
}

TEST("a deadlock that is final is fine") {
    std::size_t fine = 0, stuck = 0;
    for (const Case& one : small()) {
        if (one.wanted.deadlocks == 0) continue;
        const Id local = one.wanted.stuck.begin()->first.second;  // of process 0, in some deadlock
        std::uint64_t other = never;
        for (const auto& [place, steps] : one.wanted.stuck)
            if (place.first == 0 && place.second != local) other = std::min(other, steps);
        for (unsigned threads : {0u, 1u, 4u}) {
            toy::ToyOracle oracle(one.protocol);
            oracle.ask_for(PropertyKind::final, {0, local});
            SearchOptions options;
            options.deadlock = true;
            const SearchResult found = threads == 0 ? depth(oracle, options) : breadth(oracle, threads, true);
            CHECK_EQUAL(found.violation.has_value(), other != never);
            (found.violation ? stuck : fine) += 1;
            if (found.violation && threads > 0) CHECK_EQUAL(found.violation->length, other);
        }
    }
    CHECK(fine > 20);
    CHECK(stuck > 10);
}

TEST("a property that raises, or cannot be judged, ends the search") {
    for (const Case& one : small()) {
        const Target bad = far_target(one);
        const std::uint64_t length = one.wanted.steps_to(bad.column, bad.local);
        if (length == never) continue;
        for (unsigned threads : {0u, 1u, 4u}) {
            toy::ToyOracle oracle(one.protocol), helpless(one.protocol);
            oracle.ask_for(PropertyKind::goal, {bad.column, bad.local, Verdict::raises, Verdict::no});
            const SearchResult found = threads == 0 ? depth(oracle) : breadth(oracle, threads);
            CHECK(found.violation && found.violation->finding == Finding::raises);
            if (found.violation && threads > 0) CHECK_EQUAL(found.violation->length, length);
            helpless.ask_for(PropertyKind::invariant, bad.excluded());
            helpless.void_judgement = true;
            CHECK((threads == 0 ? depth(helpless) : breadth(helpless, threads)).stop == Stop::regrown);
        }
    }
}

TEST("a bit array says how much of the state space it expects to have seen") {
    const Case& one = large().front();
    const auto run = [&](std::size_t bytes) {
        toy::ToyOracle oracle(one.protocol);
        SearchOptions options;
        options.bitstate = bytes;
        return depth(oracle, options);
    };
    const std::uint64_t states = one.wanted.states.size();
    const SearchResult roomy = run(1 << 22), tight = run(1 << 11);
    CHECK_EQUAL(roomy.states, states);
    CHECK(roomy.coverage > 0.999);
    CHECK(tight.states < states);
    CHECK(tight.coverage < 0.99);
    CHECK(tight.coverage > 0);
}

TEST("limits end a search with what was covered so far") {
    const Case& one = large().front();
    for (unsigned threads : {0u, 1u, 4u}) {
        toy::ToyOracle oracle(one.protocol);
        SearchOptions options;
        options.threads = std::max(threads, 1u);
        options.limits.states = 1000;
        const SearchResult found =
            threads == 0 ? depth(oracle, options) : breadth_first(oracle.tables, oracle.properties, oracle, options);
        CHECK(found.stop == Stop::states);
        CHECK(found.states >= 1000);
        CHECK(found.states < one.wanted.states.size() / 2);
        CHECK(found.frontier > 0);
    }
    for (std::uint64_t most : {0u, 3u, 7u}) {
        toy::ToyOracle oracle(one.protocol);
        SearchOptions options;
        options.threads = 2;
        options.most_depth = most;
        std::uint64_t states = 0;
        for (std::size_t level = 0; level <= most; ++level) states += one.wanted.level_states[level];
        CHECK_EQUAL(breadth_first(oracle.tables, oracle.properties, oracle, options).states, states);
    }
}

TEST("an oracle that throws ends the search on every thread") {
    struct Broken : toy::ToyOracle {
        using ToyOracle::ToyOracle;
        std::size_t fill(const std::vector<Query>& queries) override {
            if (rounds == 6) throw std::runtime_error("no idea");
            return ToyOracle::fill(queries);
        }
    };
    for (unsigned threads : {0u, 1u, 4u}) {
        Broken oracle(large().front().protocol);
        CHECK_THROWS(threads == 0 ? depth(oracle) : breadth(oracle, threads), std::runtime_error);
    }
}

// Fair accepted runs of random small graphs, against trying every set of nodes.
#include <algorithm>
#include <map>
#include <set>

#include "check.hpp"
#include "dice.hpp"
#include "temporal/branching.hpp"

using namespace quorate;

namespace {

struct Idle : Oracle {
    std::size_t fill(const std::vector<Query>&) override { return 0; }
    bool judge(std::size_t, std::span<const Id>) override { return true; }
    bool poll(const Progress&) override { return false; }
};

constexpr Id columns = 3, transitions = 2;

void draw_graph(Dice& dice, Graph& graph) {
    for (Id column = 0; column < columns; ++column) {
        for (Id transition = 0; transition < transitions; ++transition)
            for (Id set = 0; set < 2; ++set) graph.acts.push_back({column, Kind::step, transition, set});
        graph.acts.push_back({column, Kind::discard, none, 0});
        graph.acts.push_back({column, Kind::lose, none, 0});
        graph.acts.push_back({column, Kind::recover, none, none});
    }
    const Id states = 1 + dice(5);
    for (Id state = 0; state < states; ++state) graph.add_state(dice(4));
    graph.initials.push_back(0);
    if (dice(3) == 0 && states > 1) graph.initials.push_back(1);
    // At times the last one was not expanded.
    const Id expanded = dice(6) == 0 ? states - 1 : states;
    for (Id state = 0; state < expanded; ++state) {
        const Id out = dice(4);
        for (Id i = 0; i < out; ++i) {
            const Id odd = dice(16);
            const Id target = odd == 0 ? Graph::cut : odd == 1 ? Graph::blocked : dice(states);
            graph.add_edge(dice(graph.acts.size()), target);
        }
        graph.close();
    }
}

Question draw_question(Dice& dice, const Graph& graph) {
    Question question;
    Automaton& automaton = question.automaton;
    automaton.states = 1 + dice(2);
    automaton.sets = dice(3);
    const Id edges = automaton.states + dice(4);
    for (Id i = 0; i < edges; ++i) {
        const std::uint64_t must = dice(3) == 0 ? 1u << dice(2) : 0;
        const std::uint64_t must_not = dice(3) == 0 ? (1u << dice(2)) & ~must : 0;
        automaton.edges.push_back(
            {dice(automaton.states), must, must_not, dice(automaton.states), dice(std::uint64_t{1} << automaton.sets)});
    }
    for (unsigned i = 0; i < 2; ++i) question.atoms.push_back(graph.predicate(i));
    Assumption& assumption = question.assumption;
    assumption.level = static_cast<Level>(dice(5));
    assumption.strong = dice(4) == 0;
    for (Id column = 0; column < columns; ++column) {
        assumption.steps.emplace_back();
        for (Id i = 0; i < transitions; ++i) assumption.steps.back().push_back(static_cast<Strength>(dice(3)));
    }
    assumption.discards = static_cast<Strength>(dice(3));
    assumption.recoveries = static_cast<Strength>(dice(3));
    question.crashes = dice(3) == 0 ? dice(3) : 0;
    for (Id column = 0; column < columns; ++column) question.crashable.push_back(dice(2) == 0);
    question.even_if_acyclic = dice(2) == 0;
    return question;
}

// A node of the product: state, state of the automaton.
using Point = std::pair<Id, Id>;

class Naive {
public:
    Naive(const Graph& graph, const Question& question) : graph_(graph), question_(question) {}

    struct Edge {
        Point from, to;
        Id act;
        std::uint64_t acceptance;
    };
    std::vector<Edge> out(Point from) const {
        std::vector<Edge> edges;
        for (std::uint64_t edge = graph_.begin(from.first); edge < graph_.end(from.first); ++edge)
            for (const auto& move : question_.automaton.edges)
                if (Graph::moves(graph_.target(edge)) && move.source == from.second &&
                    move.reads(graph_.label(from.first)))
                    edges.push_back({from, {graph_.target(edge), move.target}, graph_.act(edge), move.acceptance});
        return edges;
    }
    std::set<Point> reach(std::set<Point> points) const {
        for (bool more = true; more;) {
            more = false;
            const std::set<Point> now = points;
            for (const Point& point : now)
                for (const Edge& edge : out(point)) more |= points.insert(edge.to).second;
        }
        return points;
    }
    std::set<Point> initial() const {
        std::set<Point> points;
        for (const Id state : graph_.initials) points.insert({state, question_.automaton.initial});
        return points;
    }

    // Names for the groups of an act: none if nothing is assumed. A name begins with whether it is strongly fair.
    using Group = std::vector<Id>;
    std::vector<Group> groups(Id number, const std::set<Id>& stopped) const {
        const Act& act = graph_.acts[number];
        const Assumption& assumption = question_.assumption;
        if (act.kind == Kind::lose || stopped.contains(act.column) || assumption.level == Level::none) return {};
        Strength strength = act.kind == Kind::discard   ? assumption.discards
                            : act.kind == Kind::recover ? assumption.recoveries
                                                        : assumption.steps[act.column][act.transition];
        if (strength == Strength::unfair) return {};
        const bool coarse = assumption.level < Level::transition, strong = strength == Strength::strong;
        Group group{assumption.strong || (strong && !coarse), act.kind == Kind::recover};
        if (assumption.level >= Level::process) group.push_back(act.column);
        if (!coarse) {
            group.push_back(static_cast<Id>(act.kind));
            group.push_back(act.transition);
        }
        if (assumption.level == Level::message) group.push_back(act.set);
        if (!coarse || !strong || assumption.strong) return {group};
        return {group, {1, 2, act.column, static_cast<Id>(act.kind), act.transition}};  // by itself
    }
    static std::set<Group> set_of(const std::vector<Group>& listed) { return {listed.begin(), listed.end()}; }
    bool allowed(Id act, const std::set<Id>& stopped) const {
        return graph_.acts[act].kind == Kind::lose || !stopped.contains(graph_.acts[act].column);
    }
    std::set<Group> enabled(Id state, const std::set<Id>& stopped) const {
        std::set<Group> found;
        for (std::uint64_t edge = graph_.begin(state); edge < graph_.end(state); ++edge)
            if (graph_.target(edge) != Graph::blocked) found.merge(set_of(groups(graph_.act(edge), stopped)));
        return found;
    }

    // Can a fair accepted run visit exactly these points again and again?
    bool good(const std::set<Point>& points, const std::set<Id>& stopped) const {
        std::uint64_t acceptance = 0;
        std::set<Group> taken;
        std::vector<Edge> inner;
        for (const Point& point : points)
            for (const Edge& edge : out(point)) {
                if (!points.contains(edge.to) || !allowed(edge.act, stopped)) continue;
                inner.push_back(edge);
                acceptance |= edge.acceptance;
                taken.merge(set_of(groups(edge.act, stopped)));
            }
        if (inner.empty() || acceptance != question_.automaton.all()) return false;
        for (const Point& from : points) {
            std::set<Point> found{from};
            for (std::size_t i = 0; i < points.size(); ++i)
                for (const Edge& edge : inner)
                    if (found.contains(edge.from)) found.insert(edge.to);
            if (found != points) return false;
        }
        std::set<Group> all;
        for (const Point& point : points)
            for (const Group& one : enabled(point.first, stopped)) all.insert(one);
        for (const Group& one : all) {
            if (taken.contains(one)) continue;
            bool always = true;
            for (const Point& point : points) always &= enabled(point.first, stopped).contains(one);
            if (one.front() != 0 || always) return false;
        }
        return true;
    }
    bool cycle(const std::set<Point>& among, const std::set<Id>& stopped) const {
        const std::vector<Point> list(among.begin(), among.end());
        for (std::size_t chosen = 1; chosen < std::size_t{1} << list.size(); ++chosen) {
            std::set<Point> points;
            for (std::size_t i = 0; i < list.size(); ++i)
                if (chosen >> i & 1) points.insert(list[i]);
            if (good(points, stopped)) return true;
        }
        return false;
    }
    // Is there a fair accepted way of at most so many steps from this point back to it?
    bool loops(Point from, const std::set<Id>& stopped, std::size_t most, std::vector<Edge> way = {}) const {
        const Point at = way.empty() ? from : way.back().to;
        if (!way.empty() && at == from && fair(way, stopped)) return true;
        if (way.size() == most) return false;
        for (const Edge& edge : out(at)) {
            if (!allowed(edge.act, stopped)) continue;
            way.push_back(edge);
            if (loops(from, stopped, most, way)) return true;
            way.pop_back();
        }
        return false;
    }
    bool fair(const std::vector<Edge>& way, const std::set<Id>& stopped) const {
        std::uint64_t acceptance = 0;
        std::set<Group> taken, somewhere;
        for (const Edge& edge : way) {
            acceptance |= edge.acceptance;
            taken.merge(set_of(groups(edge.act, stopped)));
            somewhere.merge(enabled(edge.from.first, stopped));
        }
        const auto starves = [&](const Group& one) {
            return !taken.contains(one) && std::all_of(way.begin(), way.end(), [&](const Edge& edge) {
                return enabled(edge.from.first, stopped).contains(one);
            });
        };
        return acceptance == question_.automaton.all() && std::none_of(somewhere.begin(), somewhere.end(), starves);
    }
    bool stays(Point point) const {
        // The label for ever: a graph of one state that leads to itself.
        Graph still;
        still.acts.push_back({0, Kind::lose});
        still.add_state(graph_.label(point.first));
        still.add_edge(0, 0);
        still.close();
        Question same = question_;
        same.automaton.initial = point.second;
        still.initials.push_back(0);
        const Naive naive(still, same);
        return naive.cycle(naive.reach(naive.initial()), {});
    }
    // A step is cut here, and nobody knows what comes then: could the automaton accept it?
    bool open(Point point) const {
        bool cut = false;
        for (std::uint64_t edge = graph_.begin(point.first); edge < graph_.end(point.first); ++edge)
            cut |= graph_.target(edge) == Graph::cut;
        if (!cut) return false;
        // Any labels: a graph of one state, and edges that ask for nothing where they ask for nothing impossible.
        Graph still;
        still.acts.push_back({0, Kind::lose});
        still.add_state(0);
        still.add_edge(0, 0);
        still.close();
        Question any = question_;
        std::erase_if(any.automaton.edges, [](const auto& edge) { return (edge.must & edge.must_not) != 0; });
        for (auto& edge : any.automaton.edges) edge.must = edge.must_not = 0;
        const Naive naive(still, any);
        for (const auto& move : question_.automaton.edges)
            if (move.source == point.second && move.reads(graph_.label(point.first)) &&
                naive.cycle(naive.reach({{0, move.target}}), {}))
                return true;
        return false;
    }
    // 2: a run may end here, 1: a bound ends it, 0: no.
    int end(Id state, const std::set<Id>& stopped) const {
        if (state >= graph_.expanded()) return 1;
        int found = 2;
        for (std::uint64_t edge = graph_.begin(state); edge < graph_.end(state); ++edge) {
            if (groups(graph_.act(edge), stopped).empty()) continue;
            if (Graph::moves(graph_.target(edge))) return 0;
            found = 1;
        }
        return found;
    }
    std::vector<std::set<Id>> stops() const {
        std::vector<std::set<Id>> sets;
        for (Id chosen = 0; chosen < 1u << columns; ++chosen) {
            std::set<Id> some;
            bool may = true;
            for (Id column = 0; column < columns; ++column)
                if (chosen >> column & 1) {
                    some.insert(column);
                    may &= question_.crashable[column];
                }
            if (may && some.size() <= question_.crashes) sets.push_back(some);
        }
        return sets;
    }
    std::string answer(const std::set<Point>& from) const {
        const std::set<Point> points = reach(from);
        bool ends = false, bounded = false, cycles = false;
        for (const std::set<Id>& stopped : stops()) {
            for (const Point& point : points) {
                const int found = stays(point) ? end(point.first, stopped) : 0;
                ends |= found == 2;
                bounded |= found == 1 || open(point);
            }
            cycles |= cycle(points, stopped);
        }
        return ends ? "end" : cycles ? "cycle" : bounded ? "bound" : "nothing";
    }

private:
    const Graph& graph_;
    const Question& question_;
};

// A run, from step to step, that closes.
void follow(const Graph& graph, const Lasso& lasso) {
    const auto& steps = lasso.way.steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Id next = i + 1 < steps.size() ? steps[i + 1].from.state : lasso.way.last.state;
        CHECK(steps[i].edge >= graph.begin(steps[i].from.state) && steps[i].edge < graph.end(steps[i].from.state));
        CHECK_EQUAL(graph.target(steps[i].edge), next);
    }
    CHECK(lasso.loop_from <= steps.size());
    if (lasso.loop_from < steps.size()) CHECK(steps[lasso.loop_from].from == lasso.way.last);
}

}  // namespace

TEST("fair accepted runs of random graphs are those that trying every set of nodes finds") {
    Dice dice;
    Idle idle;
    std::map<std::string, int> seen;
    for (int round = 0; round < 4000; ++round) {
        Graph graph;
        draw_graph(dice, graph);
        const Question question = draw_question(dice, graph);
        const Naive naive(graph, question);
        Watch watch(Limits{}, idle);
        const Answer answer = quorate::check(graph, question, is_acyclic(graph), watch);
        std::string found = "nothing";
        if (answer.bounded) found = "bound";
        if (answer.lasso) found = answer.lasso->loop_from == answer.lasso->way.steps.size() ? "end" : "cycle";
        const std::string wanted = naive.answer(naive.initial());
        CHECK_EQUAL(found, wanted);
        ++seen[wanted];
        if (answer.lasso) {
            follow(graph, *answer.lasso);
            CHECK(answer.lasso->stopped.size() <= question.crashes);
        }
    }
    // Not by luck: each answer occurs often.
    for (const char* kind : {"end", "cycle", "bound", "nothing"})
        if (seen[kind] < 100)
            check::fail(__FILE__, __LINE__, std::string(kind) + " is rare: " + check::show(seen[kind]));
}

TEST("a loop is a shortest one from where it begins, where nothing is strongly fair") {
    Dice dice{11};
    Idle idle;
    int longer = 0;
    for (int round = 0; round < 4000; ++round) {
        Graph graph;
        draw_graph(dice, graph);
        Question question = draw_question(dice, graph);
        question.assumption.strong = false;
        for (auto& column : question.assumption.steps)
            for (Strength& one : column) one = std::min(one, Strength::weak);
        question.assumption.discards = std::min(question.assumption.discards, Strength::weak);
        question.assumption.recoveries = std::min(question.assumption.recoveries, Strength::weak);
        Watch watch(Limits{}, idle);
        const Answer answer = quorate::check(graph, question, is_acyclic(graph), watch);
        if (!answer.lasso || answer.lasso->loop_from == answer.lasso->way.steps.size()) continue;
        const Naive naive(graph, question);
        const std::size_t length = answer.lasso->way.steps.size() - answer.lasso->loop_from;
        const Spot from = answer.lasso->way.last;
        const std::set<Id> stopped(answer.lasso->stopped.begin(), answer.lasso->stopped.end());
        const std::size_t most = std::min<std::size_t>(length - 1, 5);
        CHECK(!naive.loops({from.state, from.place}, stopped, most));
        if (length <= 6) CHECK(naive.loops({from.state, from.place}, stopped, length));
        longer += length > 1;
    }
    CHECK(longer > 100);
}

// Never reaching the goal, state 2, with column 0 stopped at most.
Answer never(const Graph& graph) {
    Idle idle;
    Watch watch(Limits{}, idle);
    Question question;
    question.automaton = {1, 0, 0, {{0, 0, 1, 0, 0}}};
    question.atoms.push_back(graph.predicate(0));
    question.crashable = {true, false};
    question.crashes = 1;
    return quorate::check(graph, question, is_acyclic(graph), watch);
}

TEST("a process that has stopped takes no step on the loop") {
    // The loop needs column 0, which would have to take `b` some time: and if it has stopped there is no loop.
    Graph graph;
    enum : Id { a, b, c, d };
    graph.acts = {{0, Kind::step, 0, 0}, {0, Kind::step, 1, 0}, {1, Kind::step, 0, 0}, {1, Kind::step, 1, 0}};
    for (const std::uint64_t label : {0u, 0u, 1u}) graph.add_state(label);
    graph.initials.push_back(0);
    graph.add_edge(a, 1);
    graph.add_edge(b, 2);
    graph.add_edge(d, 2);
    graph.close();
    graph.add_edge(c, 0);
    graph.add_edge(b, 2);
    graph.close();
    graph.close();
    const Answer answer = never(graph);
    CHECK(!answer.lasso);
    CHECK_EQUAL(answer.passes, std::uint64_t{2});
}

TEST("messages to a process that has stopped can still be lost") {
    Graph graph;
    enum : Id { b, c, e, lost };
    graph.acts = {{0, Kind::step, 0, 0}, {1, Kind::step, 0, 0}, {1, Kind::step, 1, 0}, {0, Kind::lose, none, 0}};
    for (const std::uint64_t label : {0u, 0u, 1u}) graph.add_state(label);
    graph.initials.push_back(0);
    graph.add_edge(c, 1);
    graph.add_edge(b, 2);
    graph.close();
    graph.add_edge(lost, 0);
    graph.add_edge(b, 2);
    graph.add_edge(e, 2);
    graph.close();
    graph.close();
    const Answer answer = never(graph);
    CHECK(answer.lasso && answer.lasso->stopped == std::vector<Id>{0});
    CHECK(answer.lasso && answer.lasso->way.steps.size() == 2 && answer.lasso->loop_from == 0);
}

TEST("states in which a fair accepted run begins, by an automaton and by labelling") {
    Dice dice{77};
    Idle idle;
    int some = 0;
    for (int round = 0; round < 1500; ++round) {
        Graph graph;
        draw_graph(dice, graph);
        Question question = draw_question(dice, graph);
        question.crashes = 0;
        Watch watch(Limits{}, idle);
        const Beginnings found = beginnings(graph, question, watch);
        const Naive naive(graph, question);
        for (Id state = 0; state < graph.states(); ++state) {
            const std::string answer = naive.answer({{state, question.automaton.initial}});
            CHECK_EQUAL(found.states.has(state), answer == "end" || answer == "cycle");
        }
        some += found.states.count() > 0 && found.states.count() < graph.states();
        Question globally = question;
        globally.automaton = {1, 0, 0, {{0, 1, 0, 0, 0}}};
        CHECK(always(graph, question.atoms[0], question.assumption, watch).states ==
              beginnings(graph, globally, watch).states);
        const StateSet reached = until(graph, question.atoms[0], question.atoms[1]);
        StateSet again = question.atoms[1];
        for (Id times = 0; times < graph.states(); ++times)
            for (Id state = 0; state < graph.states(); ++state)
                for (std::uint64_t edge = graph.begin(state); edge < graph.end(state); ++edge)
                    if (question.atoms[0].has(state) && Graph::moves(graph.target(edge)) &&
                        again.has(graph.target(edge)))
                        again.add(state);
        CHECK(reached == again);
    }
    CHECK(some > 200);
}

TEST("a graph has a cycle if and only if some state leads back to itself") {
    Dice dice{5};
    int cyclic = 0;
    for (int round = 0; round < 1000; ++round) {
        Graph graph;
        draw_graph(dice, graph);
        const StateSet all(graph.states(), true);
        bool expected = false;
        for (Id state = 0; state < graph.states(); ++state) {
            StateSet self(graph.states());
            self.add(state);
            const StateSet before = until(graph, all, self);
            for (std::uint64_t edge = graph.begin(state); edge < graph.end(state); ++edge)
                expected |= Graph::moves(graph.target(edge)) && before.has(graph.target(edge));
        }
        CHECK_EQUAL(is_acyclic(graph), !expected);
        cyclic += expected;
    }
    CHECK(cyclic > 100 && cyclic < 900);
}

TEST("a graph of more than 65,536 acts keeps the act of every edge") {
    Graph graph;
    graph.add_state(0);
    for (Id act = 0; act < 70000; ++act) {
        graph.acts.push_back({act});
        graph.add_edge(act, 0);
    }
    graph.add_edge(3, 0);
    graph.close();
    for (Id act = 0; act < 70000; act += 7) CHECK_EQUAL(graph.act(act), act);
    CHECK_EQUAL(graph.act(69999), Id{69999});
    CHECK_EQUAL(graph.act(70000), Id{3});
}

TEST("sets of states") {
    StateSet set(70);
    set.add(3);
    set.add(69);
    CHECK_EQUAL((~set).count(), std::size_t{68});
    CHECK_EQUAL((set & ~set).count(), std::size_t{0});
    CHECK((set | ~set) == StateSet(70, true));
    CHECK_THROWS(set & StateSet(71), std::logic_error);
}

// The graph of a model: every reachable state is stored once, packed, and its steps are listed beside it.
//
// Breadth-first, in rounds: the states of a round are expanded on any number of threads, and then, while all rest, what
// they lead to is numbered in the order of the states and their steps. What a round is does not depend on threads, nor
// does what is asked of the oracle after it. So the graph, and every answer about it, is the same for any number of
// them.
//
// The exact reductions of the tables (quotient, dead messages) are used as they are: both keep the steps of every
// process with what they consume, hence every group of fairness.
//
// Partial orders are, if they were asked to keep whole runs (`Keep::linear`, `Keep::branching`; docs/soundness.md, rule
// 30). Then the steps of a stubborn set T(s) are taken in a state s, all of them strong (D1, D2) and none of them seen,
// or all steps of s. What is left out stands among the edges of s, so that it is known what s enables.
//
// Theorem (Valmari 1998; Peled 1994; for branching time Gerth, Kuiper, Peled and Penczek 1995). If every
// cycle of the reduced graph has a state of which all steps were taken, then for every run of the full system, finite
// or not, the reduced graph has one that looks the same up to stuttering, and that ends if and only if the other one
// does. What the code relies on, for a run w from a state s that was visited:
//  - A step of w is in T(s). The first one can be moved to the front (D1, one diamond after another), where it is not
//    seen. The rest of w goes on from there.
//  - None is. Then w does not end in a deadlock (D2). T(s) has a step k that stays possible all along w, so that w is
//    possible after k, state by state after an outcome of k: for an endless w by König's lemma, since k has finitely
//    many outcomes (D3). As k is not seen, all looks the same. Go on with w from there.
//  - Neither can put off the first step of w for ever: a run that goes on for ever comes to states of which all steps
//    were taken again and again, and there that very step is taken. So every step of w is taken some time, and those
//    that are seen, which are taken in such states only, in their order.
// So without fairness, and where it is only assumed that a run goes on while it can: then a run that ends is one that
// comes to a deadlock.
//
// Fairness of processes (after Peled 1993), where all steps are weakly fair and no step of a process counts as
// independent of another one of it: the second case does not occur. If no step of w is in T(s), the process of k takes
// none in w, since all that it could take would be in T(s); but k stays possible, so w is unfair. Then the reduced run
// has the steps of w in another order. A process that goes on for ever in w does so there. One that does not is
// disabled from some time on, since nobody can disable a process but itself (nothing is lost, nobody crashes); and so
// it is in the reduced run, once both have taken the same steps.
//
// The condition on cycles is kept by numbers: a state whose chosen steps all lead to states of higher numbers, and no
// other, is left with its choice. On a cycle the state of the highest number leads to one that is not higher. A state
// without a number yet gets one that is higher than that of any state of the round.
#pragma once

#include "reduce/por/chooser.hpp"
#include "reduce/symmetry/symmetry.hpp"
#include "search/search.hpp"
#include "temporal/graph.hpp"

namespace quorate {

struct Exploration {
    Stop stop = Stop::finished;
    std::uint64_t depth = 0, deadlocks = 0;
    std::uint64_t left_out = 0;        // edges that stand for steps which were left out
    std::vector<bool> cut{};           // the columns whose bound cut a step
    bool blocked = false;              // a full channel held up a step
    std::optional<Witness> witness{};  // a handler or a monitor that fails, a predicate that raises
    bool paused = false;               // there is more to explore
    std::uint64_t given_up = 0;        // the depth from which on stubborn sets were no longer looked for; 0: always
    double stands_for = 0;             // states, with those that differ in names only
};

class Explorer;

class SystemGraph {
public:
    // `predicates` are indices of properties, at most 64; the verdict of each is noted for every state.
    SystemGraph(Tables& tables, std::vector<Property>& properties, const std::vector<std::size_t>& predicates,
                const std::optional<PartialOrders>& partial_orders, Symmetry* symmetry, unsigned threads);
    ~SystemGraph();

    Tables& tables;
    Graph graph{};

    // Until all is explored, or a pause is due: at that many states or, in full rounds, a few more. Call it again
    // after a pause.
    Exploration explore(Oracle& oracle, const Limits& limits, std::uint64_t pause);
    std::vector<Id> cells(Id state) const;
    std::size_t bytes() const;

private:
    Store store_;
    const std::uint64_t forgotten_;
    std::unique_ptr<Explorer> explorer_;
};

}  // namespace quorate

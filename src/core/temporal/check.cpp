#include "temporal/check.hpp"

#include "temporal/accepting.hpp"
#include "temporal/components.hpp"

namespace quorate {

namespace {

// Sets of at most `most` of the given columns, smaller ones first; the empty set is one of them.
std::vector<std::vector<Id>> choices(const std::vector<bool>& from, std::size_t most) {
    std::vector<std::vector<Id>> sets{{}};
    for (std::size_t begin = 0, size = 1; size <= most; ++size) {
        const std::size_t end = sets.size();
        for (std::size_t i = begin; i < end; ++i)
            for (Id column = sets[i].empty() ? 0 : sets[i].back() + 1; column < from.size(); ++column) {
                if (!from[column]) continue;
                sets.push_back(sets[i]);
                sets.back().push_back(column);
            }
        begin = end;
    }
    return sets;
}

class Checker {
public:
    Checker(const Graph& graph, const Question& question, Watch& watch)
        : graph_(graph), question_(question), pace_(watch), product_(graph, question.automaton, question.atoms) {}

    Answer run(bool acyclic) {
        try {
            const Groups groups(graph_, question_.assumption);
            answer_.groups = groups.all.size();
            search(groups, acyclic);
        } catch (const Stopped& stopped) {
            answer_.stop = stopped.why;
        } catch (const std::bad_alloc&) {
            answer_.stop = Stop::memory;
        } catch (const Interrupted&) {
            answer_.stop = Stop::interrupt;
        }
        if (answer_.lasso) answer_.stop = Stop::violation;
        return std::move(answer_);
    }

private:
    void search(const Groups& groups, bool acyclic) {
        const bool cycles = !acyclic || question_.even_if_acyclic;
        const Ends ends = find_ends(graph_, groups, question_.crashable, question_.crashes);
        const bool any_ends = may_end(ends);
        std::optional<Breadth> breadth;
        if (any_ends || (cycles && question_.crashes > 0)) {
            breadth.emplace(product_, pace_);
            if (find_end(*breadth, groups, ends)) return;
        }
        if (!cycles) return;
        if (question_.crashes == 0) breadth.reset();
        for (const std::vector<Id>& stopped : choices(question_.crashable, question_.crashes))
            if (find_cycle(breadth, groups, stopped)) return;
    }

    // Is any end one that the automaton could accept, had it come there? Mostly none is, and nothing has to be
    // searched.
    bool may_end(const Ends& ends) const {
        if (!ends.cut.empty()) return true;
        for (Id state = 0; state < graph_.states(); ++state)
            if ((ends.real.has(state) || ends.bounded.has(state)) && product_.ever_stays(state)) return true;
        return false;
    }

    bool find_end(Breadth& breadth, const Groups& groups, const Ends& ends) {
        std::optional<std::size_t> held;
        std::size_t number = 0;
        const auto found = breadth.run([&](Id state, Id place) {
            const std::size_t here = number++;
            if (ends.real.has(state) && product_.stays(state, place)) return true;
            if (!held && ((ends.bounded.has(state) && product_.stays(state, place)) ||
                          (ends.cut.has(state) && product_.open(state, place))))
                held = here;
            return false;
        });
        answer_.nodes = breadth.size();
        if (held) answer_.bounded = end_at(breadth, groups, *held);
        if (!found) return false;
        answer_.lasso = end_at(breadth, groups, *found);
        return true;
    }
    Lasso end_at(const Breadth& breadth, const Groups& groups, std::size_t number) const {
        Lasso lasso;
        lasso.way = breadth.way_to(number);
        lasso.loop_from = lasso.way.steps.size();
        Assumption assumption = question_.assumption;
        if (question_.crashes > 0) {
            lasso.stopped = waiting_columns(graph_, groups, lasso.way.last.state);
            stop(assumption, lasso.stopped);
        }
        find_starved(graph_, assumption, lasso);
        return lasso;
    }

    bool find_cycle(const std::optional<Breadth>& breadth, const Groups& without, const std::vector<Id>& stopped) {
        Assumption assumption = question_.assumption;
        stop(assumption, stopped);
        const Groups groups = stopped.empty() ? without : Groups(graph_, assumption);
        std::optional<std::vector<Spot>> component;
        ++answer_.passes;
        {
            Accepting accepting(product_, groups, pace_);
            if (stopped.empty()) {
                for (const Id state : graph_.initials)
                    if (!component) component = accepting.search({state, product_.initial});
                answer_.nodes = std::max(answer_.nodes, accepting.nodes());
            } else {
                // Whoever has stopped may have taken steps before, so the loop may begin anywhere.
                for (std::size_t i = 0; i < breadth->size() && !component; ++i)
                    component = accepting.search((*breadth)[i]);
            }
        }
        if (!component) return false;
        answer_.lasso = make_lasso(product_, groups, *component, pace_);
        answer_.lasso->stopped = stopped;
        find_starved(graph_, assumption, *answer_.lasso);
        return true;
    }
    void stop(Assumption& assumption, const std::vector<Id>& columns) const {
        for (const Id column : columns) {
            if (assumption.stopped.size() <= column) assumption.stopped.resize(column + 1, false);
            assumption.stopped[column] = true;
        }
    }

    const Graph& graph_;
    const Question& question_;
    Pace pace_;
    const Product product_;
    Answer answer_{};
};

}  // namespace

bool is_acyclic(const Graph& graph) {
    if (graph.forward()) return true;
    bool acyclic = true;
    each_component(
        graph.states(), [&](Id state) { return acyclic ? graph.end(state) - graph.begin(state) : 0; },
        [&](Id state, std::uint64_t i) {
            const Id target = graph.target(graph.begin(state) + i);
            if (target == state) acyclic = false;
            return Graph::moves(target) ? target : none;
        },
        [&](std::span<const Id> states) { acyclic = acyclic && states.size() == 1; });
    return acyclic;
}

Answer check(const Graph& graph, const Question& question, bool acyclic, Watch& watch) {
    const double before = watch.seconds();
    Answer answer = Checker(graph, question, watch).run(acyclic);
    answer.seconds = watch.seconds() - before;
    return answer;
}

Beginnings beginnings(const Graph& graph, const Question& question, Watch& watch) {
    Beginnings found{Stop::finished, StateSet(graph.states())};
    if (question.crashes > 0) throw std::invalid_argument("implicit crashes are for properties of single runs");
    try {
        Pace pace(watch);
        const Product product(graph, question.automaton, question.atoms);
        const Groups groups(graph, question.assumption);
        const Ends ends = find_ends(graph, groups, {}, 0);
        found.bounded = !ends.bounded.empty() || !ends.cut.empty();
        Accepting accepting(product, groups, pace);
        for (Id state = 0; state < graph.states(); ++state)
            if (accepting.reaches({state, product.initial}, ends.real)) found.states.add(state);
    } catch (const Stopped& stopped) {
        found.stop = stopped.why;
    } catch (const std::bad_alloc&) {
        found.stop = Stop::memory;
    } catch (const Interrupted&) {
        found.stop = Stop::interrupt;
    }
    return found;
}

}  // namespace quorate

#include "search/verify.hpp"

#include <map>
#include <set>

namespace quorate {

namespace {

using State = std::vector<Id>;

struct Move {
    StepIdentity step;  // whatever its outcome
    State to{};         // nothing if it fails
    Id failure = none;
    bool observed = false;
};

class Verifier {
public:
    Verifier(Tables& tables, Oracle& oracle, Chooser& chooser, std::size_t depth, std::size_t most, bool visible)
        : tables_(tables),
          oracle_(oracle),
          chooser_(chooser),
          expander_(tables),
          depth_(depth),
          most_(most),
          visible_(visible) {}

    void verify(const State& state, Verification& found) {
        std::set<StepIdentity> chosen;
        bool seen = false;
        const std::vector<Move> taken = moves(state, true);
        const std::vector<Move> all = moves(state, false);
        if (taken.size() == all.size()) return;
        for (const Move& move : taken) {
            if (move.failure != none) return;
            chosen.insert(move.step);
            seen |= move.observed;
        }
        ++found.sets;
        for (const Move& move : all)
            if (!chosen.contains(move.step)) found.pairs += taken.size();
        const auto refute = [&](Refutation::Kind kind, const std::vector<StepIdentity>& path) {
            Refutation refutation{kind, state};
            for (const StepIdentity& step : chosen) refutation.chosen.push_back(name(step));
            for (const StepIdentity& step : path) refutation.path.push_back(name(step));
            found.wrong.push_back(std::move(refutation));
        };
        // Both sides grow together: what comes after a chosen step, and what is reached without one.
        std::map<State, std::vector<StepIdentity>> without{{state, {}}};
        std::vector<State> level{state};
        std::set<State> covered;
        std::set<std::pair<Id, Id>> failures;
        std::vector<State> border;
        for (const Move& move : taken)
            if (covered.insert(move.to).second) border.push_back(move.to);
        for (std::size_t length = 1; length <= depth_ && !level.empty(); ++length) {
            std::vector<State> further;
            for (const State& from : border)
                for (const Move& move : moves(from, false)) {
                    if (move.failure != none) failures.emplace(move.step.column, move.failure);
                    if (move.failure != none || chosen.contains(move.step)) continue;
                    if (covered.insert(move.to).second) further.push_back(move.to);
                }
            border = std::move(further);
            std::vector<State> next;
            for (const State& from : level) {
                const std::vector<StepIdentity> path = without[from];
                for (const Move& move : moves(from, false)) {
                    if (chosen.contains(move.step)) continue;
                    std::vector<StepIdentity> longer = path;
                    longer.push_back(move.step);
                    if (move.failure != none) {
                        if (!failures.contains({move.step.column, move.failure}))
                            return refute(Refutation::Kind::fails, longer);
                        continue;
                    }
                    if (visible_ && seen && move.observed) return refute(Refutation::Kind::unseen, longer);
                    if (without.emplace(move.to, longer).second) next.push_back(move.to);
                }
            }
            for (const State& reached : next) {
                ++found.paths;
                bool possible = false;
                for (const Move& move : moves(reached, false)) {
                    if (!chosen.contains(move.step)) continue;
                    possible = true;
                    if (move.failure != none ? !failures.contains({move.step.column, move.failure})
                                             : !covers(covered, move.to))
                        return refute(Refutation::Kind::differs, without[reached]);
                }
                if (!possible) return refute(Refutation::Kind::stuck, without[reached]);
            }
            found.depth = std::max(found.depth, length);
            if (without.size() > most_ || covered.size() > most_) return;
            level = std::move(next);
        }
    }

private:
    // Is this state among them, or one that has more left of a budget and is the same otherwise? States that differ in
    // their budgets alone follow each other, since the budget comes last.
    bool covers(const std::set<State>& covered, const State& wanted) const {
        if (!tables_.has_budget()) return covered.contains(wanted);
        State least = wanted;
        least.back() = 0;
        const auto more = [&](const State& other) {
            for (unsigned kind = 0; kind < budgets; ++kind)
                if (tables_.left(other.back(), static_cast<Budget>(kind)) <
                    tables_.left(wanted.back(), static_cast<Budget>(kind)))
                    return false;
            return true;
        };
        for (auto place = covered.lower_bound(least); place != covered.end(); ++place) {
            if (!std::equal(wanted.begin(), wanted.end() - 1, place->begin())) return false;
            if (more(*place)) return true;
        }
        return false;
    }
    std::vector<Move> moves(const State& state, bool reduced) {
        expander_.cells = state;
        while (!expander_.steps_known()) ask(tables_, oracle_, expander_.queries);
        const bool less = reduced && chooser_.choose(expander_.cells);
        for (;;) {
            std::vector<Move> result;
            const auto identity = [&](Id column, const Step& step) {
                return StepIdentity::of(column, step).any_outcome();
            };
            const auto emit = [&](Id column, const Step& step, Id, std::uint64_t, bool observed) {
                result.push_back({identity(column, step), expander_.cells, none, observed});
            };
            const auto fail = [&](Id column, Id number, Id failure) {
                const Column& owner = *tables_.columns[column];
                result.push_back({identity(column, (*owner.cells[state[column]].steps.load())[number]), {}, failure});
            };
            const auto summary = expander_.expand(expander_.sum(), emit, fail, less ? &chooser_.chosen() : nullptr);
            if (!summary.missing) return result;
            ask(tables_, oracle_, expander_.queries);
        }
    }
    Refutation::Named name(const StepIdentity& step) const {
        Refutation::Named named{step.column, step.kind == Kind::step ? step.transition : none, {}};
        if (step.set != none)
            for (Id message : tables_.columns[step.column]->sets[step.set]) named.messages.push_back(message);
        return named;
    }

    Tables& tables_;
    Oracle& oracle_;
    Chooser& chooser_;
    Expander expander_;
    const std::size_t depth_, most_;
    const bool visible_;
};

}  // namespace

Verification verify(Tables& tables, Oracle& oracle, Chooser& chooser, const std::vector<std::vector<Id>>& states,
                    std::size_t depth, std::size_t most, bool visible) {
    Verification found;
    Verifier verifier(tables, oracle, chooser, depth, most, visible);
    Watch watch(Limits{}, oracle);
    for (const auto& state : states) {
        verifier.verify(state, found);
        if (watch.look([] { return Progress{}; })) throw Interrupted();
    }
    return found;
}

}  // namespace quorate

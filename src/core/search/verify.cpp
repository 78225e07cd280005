#include "search/verify.hpp"

#include <map>
#include <set>

namespace quorate {

namespace {

// What makes a step the same one in another state: the process, what kind it is, its transition, what it consumes.
using Tag = std::tuple<Id, Kind, Id, Id>;
using State = std::vector<Id>;

struct Move {
    Tag tag;
    State to{};  // nothing if it fails
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
        std::set<Tag> chosen;
        bool seen = false;
        const std::vector<Move> taken = moves(state, true);
        const std::vector<Move> all = moves(state, false);
        if (taken.size() == all.size()) return;
        for (const Move& move : taken) {
            if (move.failure != none) return;
            chosen.insert(move.tag);
            seen |= move.observed;
        }
        ++found.sets;
        for (const Move& move : all)
            if (!chosen.contains(move.tag)) found.pairs += taken.size();
        const auto refute = [&](Refutation::Kind kind, const std::vector<Tag>& path) {
            Refutation refutation{kind, state};
            for (const Tag& tag : chosen) refutation.chosen.push_back(name(tag));
            for (const Tag& tag : path) refutation.path.push_back(name(tag));
            found.wrong.push_back(std::move(refutation));
        };
        // Both sides grow together: what comes after a chosen step, and what is reached without one.
        std::map<State, std::vector<Tag>> without{{state, {}}};
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
                    if (move.failure != none) failures.emplace(std::get<0>(move.tag), move.failure);
                    if (move.failure != none || chosen.contains(move.tag)) continue;
                    if (covered.insert(move.to).second) further.push_back(move.to);
                }
            border = std::move(further);
            std::vector<State> next;
            for (const State& from : level) {
                const std::vector<Tag> path = without[from];
                for (const Move& move : moves(from, false)) {
                    if (chosen.contains(move.tag)) continue;
                    std::vector<Tag> longer = path;
                    longer.push_back(move.tag);
                    if (move.failure != none) {
                        if (!failures.contains({std::get<0>(move.tag), move.failure}))
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
                    if (!chosen.contains(move.tag)) continue;
                    possible = true;
                    if (move.failure != none ? !failures.contains({std::get<0>(move.tag), move.failure})
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
            const auto tag = [&](Id column, const Step& step) {
                return Tag{column, step.kind, step.transition, step.set};
            };
            const auto emit = [&](Id column, const Step& step, Id, std::uint64_t, bool observed) {
                result.push_back({tag(column, step), expander_.cells, none, observed});
            };
            const auto fail = [&](Id column, Id number, Id failure) {
                const Column& owner = *tables_.columns[column];
                result.push_back({tag(column, (*owner.cells[state[column]].steps.load())[number]), {}, failure});
            };
            const auto summary = expander_.expand(expander_.sum(), emit, fail, less ? &chooser_.chosen() : nullptr);
            if (!summary.missing) return result;
            ask(tables_, oracle_, expander_.queries);
        }
    }
    Refutation::Named name(const Tag& tag) const {
        const auto& [column, kind, transition, set] = tag;
        Refutation::Named named{column, kind == Kind::step ? transition : none, {}};
        if (set != none)
            for (Id message : tables_.columns[column]->sets[set]) named.messages.push_back(message);
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

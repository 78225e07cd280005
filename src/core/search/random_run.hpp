// One random run after another, by one thread: what it throws dice for, and what it has met.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_map>

#include "base/hash.hpp"
#include "search/judge.hpp"
#include "search/sketch.hpp"

namespace quorate::at_random {

// Splitmix64: one number after another from a seed.
struct Dice {
    std::uint64_t state;
    std::uint64_t operator()() { return mix(state += 0x9e3779b97f4a7c15ULL); }
};

constexpr std::uint64_t stretch = 1 << 16;  // steps of a run, after which limits are looked at

using Counts = std::unordered_map<std::uint64_t, std::uint64_t>;  // by the content of a step in a local state

// Where a column is: a cell, and what can happen there, in the order of content.
struct Place {
    struct Entry {
        std::uint64_t content, taken = 0, depth = 0;
        Id number;
        std::uint64_t lately = 0;  // taken in this batch
        double weight = 0;         // for `rare`: the less, the more often it was taken before
    };
    const StepList* list = nullptr;  // nothing: it is not known yet
    std::uint64_t times = 0;
    std::vector<Entry> steps{};
    std::uint64_t batch = 0;  // in which it was weighed
    double weight = 0;        // of all steps
};

class Runner {
public:
    Runner(Tables& tables, const Judge& judge, const RunOptions& options, const Counts& taken)
        : tables_(tables),
          judge_(judge),
          options_(options),
          taken_(taken),
          expander_(tables),
          met_(tables.columns.size()),
          places_(tables.columns.size()),
          here_(tables.columns.size()),
          since_(tables.columns.size()) {
        for (Id slot = 0; slot < tables.width(); ++slot) factors_.push_back(column_factor(slot));
    }

    bool idle() const { return phase_ == Phase::idle; }
    // Change points of this run lie among so many steps.
    void begin(std::uint64_t number, std::uint64_t span) {
        number_ = number;
        dice_ = {mix(options_.seed * 0x9e3779b97f4a7c15ULL + 1) ^ mix(number + 1)};
        expander_.cells = tables_.initial_cells(dice_() % tables_.initials.size());
        path_.assign(expander_.cells.begin(), expander_.cells.end());
        length_ = 0;
        may_wait_ = false;
        if (options_.strategy == Strategy::pct) deal(span);
        observed_ = true;
        phase_ = Phase::judge;
        sum_ = expander_.sum();
        possible_ = 0;
        unlisted_.clear();
        for (Id column = 0; column < here_.size(); ++column) {
            here_[column] = nullptr;
            enter(column);
        }
        meet();
    }
    enum class Pause : std::uint8_t { over, asks, rests };
    // Goes on until the run is over or something has to be asked; of a long one, for so many steps.
    Pause advance() {
        for (const std::uint64_t rest = length_ + stretch; length_ < rest;) {
            if (phase_ == Phase::judge && !judge()) return Pause::asks;
            if (phase_ == Phase::idle) return Pause::over;
            if (length_ >= options_.depth) {
                ++full;
                over();
                return Pause::over;
            }
            if (!step()) return Pause::asks;
            if (phase_ == Phase::idle) return Pause::over;
        }
        return Pause::rests;
    }
    // The search ends before the run does.
    void give_up() {
        if (!idle()) over();
    }

    // The batch is over: what was taken in it counts from now on.
    void learn(Counts& taken) {
        for (Place::Entry* each : recent_) {
            taken[each->content] += each->lately;
            each->lately = 0;
        }
        recent_.clear();
        ++batch_;
    }

    // What has to be asked.
    std::vector<Query>& queries() { return expander_.queries; }
    const std::vector<Id>* unjudged() const { return phase_ != Phase::idle && unjudged_ ? &expander_.cells : nullptr; }
    bool stuck() const { return phase_ == Phase::stuck || phase_ == Phase::waits; }

    struct Shown {
        std::uint64_t run;
        Witness witness;
    };
    std::vector<Shown> violations{}, goals{};
    std::vector<Shown> set_aside{};  // violations of a state of which not everything is known yet
    std::uint64_t steps = 0, ended = 0, cut = 0, full = 0, longest = 0;
    Sketch sketch{};
    Sample sample{};
    // By column and cell; nothing where it was never met.
    const std::vector<std::vector<Place*>>& met() const { return met_; }

private:
    // Where nothing but faults can happen a run waits: that is a deadlock unless it may end there, and it goes on.
    enum class Phase : std::uint8_t { idle, judge, choose, waits, stuck };
    enum class Try : std::uint8_t { asked, again, refused, taken };  // again: the dice will fall as they did

    struct Candidate {
        double key;
        Id column, place;  // the place among the steps of the cell, by content
    };

    bool over() {
        longest = std::max(longest, length_);
        for (Id column = 0; column < here_.size(); ++column) here_[column]->times += length_ + 1 - since_[column];
        phase_ = Phase::idle;
        return true;
    }
    void meet() {
        const std::uint64_t hash = spread(sum_);
        sketch.add(hash);
        sample.add(hash);
    }
    Place* place(Id column, Id cell) {
        auto& places = met_[column];
        if (cell >= places.size()) places.resize(std::max<std::size_t>(cell + 1, places.size() * 2));
        if (places[cell] == nullptr) places[cell] = &places_[column].emplace_back();
        return places[cell];
    }
    // The cell that the steps of a column depend on: of a process that reads shared cells, with what it sees in them.
    // Nothing: that is not known yet.
    Id looked_at(Id column) {
        const Id cell = expander_.cells[column];
        if (!tables_.columns[column]->reading) return cell;
        return tables_.seen(column, cell, expander_.cells.data(), expander_.queries);
    }
    // The column is in another cell than it was.
    void enter(Id column) {
        const Id cell = looked_at(column);
        if (here_[column] != nullptr) {
            here_[column]->times += length_ - since_[column];
            possible_ -= here_[column]->steps.size();
        }
        since_[column] = length_;
        here_[column] = cell == none ? &nowhere_ : place(column, cell);
        if (!tables_.columns[column]->monitor && here_[column]->list == nullptr)
            unlisted_.push_back(column);
        else
            possible_ += here_[column]->steps.size();
    }
    // Lists the steps of cells that are new; false if some are not known.
    bool list() {
        while (!unlisted_.empty()) {
            const Id column = unlisted_.back(), cell = looked_at(column);
            if (cell == none) return false;
            here_[column] = this->place(column, cell);
            Place& place = *here_[column];
            if (place.list == nullptr) {
                const StepList* found = tables_.steps(column, cell, expander_.queries);
                if (found == nullptr) return false;
                const Column& table = *tables_.columns[column];
                const std::uint64_t local = table.locals[table.cells[cell].local].content;
                for (Id i = 0; i < found->size(); ++i)
                    place.steps.push_back(
                        {.content = mix(tables_.content(StepIdentity::of(column, (*found)[i])) ^ mix(local)),
                         .number = i});
                std::sort(place.steps.begin(), place.steps.end(), [](const auto& one, const auto& other) {
                    return std::tie(one.content, one.number) < std::tie(other.content, other.number);
                });
                tell_apart(place.steps);
                place.list = found;
            }
            possible_ += place.steps.size();
            unlisted_.pop_back();
        }
        return true;
    }

    // A crash in the midst of a step is one step for each part of what is sent, all with one identity. Each has to have
    // its own dice, and its own count: otherwise the first of them is taken whenever one is.
    static void tell_apart(std::vector<Place::Entry>& steps) {
        for (std::size_t first = 0, i = 1; i < steps.size(); ++i) {
            if (steps[i].content != steps[first].content)
                first = i;
            else
                steps[i].content = mix(steps[i].content + (i - first));
        }
    }

    // False if a property has to be asked.
    bool judge() {
        unjudged_ = false;
        if (observed_) {
            const auto found = [&](Finding finding, std::size_t property) {
                show(finding == Finding::reached ? goals : violations, finding, property);
                return finding == Finding::reached;
            };
            const auto later = [](std::size_t) { return Verdict::unknown; };
            const std::size_t shown = violations.size(), seen = goals.size();
            set_aside.clear();
            // Which of several violations is the first one is known once all properties are.
            if (!judge_.state(expander_.cells, later, found)) {
                for (; violations.size() > shown; violations.pop_back())
                    set_aside.push_back(std::move(violations.back()));
                goals.resize(seen);
                unjudged_ = true;
                return false;
            }
            if (violations.size() > shown) return over();
        }
        phase_ = Phase::choose;
        return true;
    }

    // False if something has to be asked first. It is thrown again when that is known: the dice are the same.
    bool step() {
        if (phase_ == Phase::stuck) return end();
        if (phase_ == Phase::waits) {
            const std::size_t shown = violations.size();
            if (!judge_end()) return false;
            if (violations.size() > shown) return over();
            phase_ = Phase::choose;
        }
        if (!list()) {
            gather_unlisted();
            return false;
        }
        enabled_ = false;
        const std::uint64_t thrown = mix(dice_.state + length_ + 1);
        Try tried = Try::refused;
        if (options_.strategy != Strategy::pct) {
            tried = try_any(thrown);
        } else {
            for (std::size_t i = 0; i < order_.size() && tried == Try::refused; ++i) {
                candidates_.clear();
                add_candidates(order_[i], thrown);
                tried = try_candidates();
            }
        }
        if (tried == Try::asked) return false;
        if (tried == Try::taken || tried == Try::again) return true;
        if (enabled_) {  // but cut by a bound
            ++cut;
            return over();
        }
        phase_ = Phase::stuck;
        return end();
    }
    // All that is missing is asked for in one go.
    void gather_unlisted() {
        for (const Id column : unlisted_)
            if (here_[column]->list == nullptr) tables_.steps(column, expander_.cells, expander_.queries);
    }
    // Every step is as likely as its weight says. Most are possible, so the first throw decides.
    Try try_any(std::uint64_t thrown) {
        if (possible_ == 0) return Try::refused;
        const auto [column, place] = options_.strategy == Strategy::rare ? fall_by_weight(thrown) : fall(thrown);
        const Try first = attempt(column, place);
        if (first != Try::refused) return first;
        candidates_.clear();
        for (Id other = 0; other < here_.size(); ++other) add_candidates(other, mix(thrown));
        std::erase_if(candidates_, [column = column, place = place](const Candidate& one) {
            return one.column == column && one.place == place;
        });
        return try_candidates();
    }
    // A process, and one of its steps.
    std::pair<Id, Id> fall(std::uint64_t thrown) const {
        std::uint64_t place = (thrown >> 32) * possible_ >> 32;
        Id column = 0;
        while (place >= here_[column]->steps.size()) place -= here_[column++]->steps.size();
        return {column, static_cast<Id>(place)};
    }
    std::pair<Id, Id> fall_by_weight(std::uint64_t thrown) {
        double rest = 0;
        for (Place* place : here_) rest += weigh(*place);
        rest *= fraction(thrown);
        Id column = 0, number = 0;
        for (Id each = 0; each < here_.size(); ++each) {
            if (here_[each]->steps.empty()) continue;
            column = each;  // the last one, if rounding leaves a rest
            if (rest < here_[each]->weight) break;
            rest -= here_[each]->weight;
        }
        const auto& steps = here_[column]->steps;
        while (number + 1 < steps.size() && rest >= steps[number].weight) rest -= steps[number++].weight;
        return {column, number};
    }
    double weigh(Place& place) {
        if (place.batch == batch_) return place.weight;
        place.batch = batch_;
        place.weight = 0;
        for (Place::Entry& each : place.steps) {
            const auto known = taken_.find(each.content);
            each.weight = 1 / (1 + (known == taken_.end() ? 0.0 : static_cast<double>(known->second)));
            place.weight += each.weight;
        }
        return place.weight;
    }
    static double fraction(std::uint64_t thrown) { return (static_cast<double>(thrown >> 11) + 0.5) * 0x1p-53; }
    void add_candidates(Id column, std::uint64_t thrown) {
        const auto& steps = here_[column]->steps;
        for (Id i = 0; i < steps.size(); ++i)
            candidates_.push_back({key(steps[i], mix(thrown ^ steps[i].content)), column, i});
    }
    Try try_candidates() {
        while (!candidates_.empty()) {
            auto first = candidates_.begin();
            for (auto one = first + 1; one < candidates_.end(); ++one)
                if (one->key < first->key) first = one;
            const Candidate chosen = *first;
            *first = candidates_.back();
            candidates_.pop_back();
            const Try tried = attempt(chosen.column, chosen.place);
            if (tried != Try::refused) return tried;
        }
        return Try::refused;
    }
    Try attempt(Id column, Id number) {
        Place& from = *here_[column];
        bool moved = false, observed = false;
        Id failure = none;
        const Expander::Summary summary = expander_.follow(
            column, *from.list, from.steps[number].number,
            [&](Id, const Step&, Id, std::uint64_t, bool seen) {
                moved = true;
                observed = seen;
                changes_.assign(expander_.changes().begin(), expander_.changes().end());
            },
            [&](Id, Id, Id how) { failure = how; });
        if (summary.missing) return Try::asked;
        enabled_ |= summary.enabled;
        if (!moved && failure == none) return Try::refused;
        if (options_.deadlock && !summary.enabled && !may_wait_) {
            const Try protocol = look_for_protocol();
            if (protocol == Try::asked) return Try::asked;
            if (protocol == Try::refused) phase_ = Phase::waits;
            may_wait_ = true;
            return Try::again;
        }
        Place::Entry& entry = from.steps[number];
        if (entry.taken++ == 0 || entry.depth > length_) entry.depth = length_;
        if (options_.strategy == Strategy::rare && entry.lately++ == 0) recent_.push_back(&entry);
        if (failure != none) {
            show(violations, Finding::failure, 0);
            Witness& witness = violations.back().witness;
            witness.column = column;
            witness.failure = failure;
            ++witness.length;
            over();
            return Try::taken;
        }
        if (options_.strategy == Strategy::pct) change(column);
        may_wait_ = false;
        ++length_;
        ++steps;
        for (const Expander::Change& each : changes_) {
            sum_ += factors_[each.column] * (static_cast<std::uint64_t>(each.after) - each.before);
            expander_.cells[each.column] = each.after;
        }
        bool is_written = false;
        for (const Expander::Change& each : changes_) {
            if (each.column >= here_.size()) continue;
            is_written |= tables_.columns[each.column]->shared;
            if (is_elsewhere(each.column)) enter(each.column);
        }
        for (Id other = 0; is_written && other < here_.size(); ++other)
            if (tables_.columns[other]->reading && here_[other] != &nowhere_ && is_elsewhere(other)) enter(other);
        path_.insert(path_.end(), expander_.cells.begin(), expander_.cells.end());
        observed_ = observed;
        phase_ = Phase::judge;
        meet();
        return Try::taken;
    }
    // Is a step of the protocol enabled?
    Try look_for_protocol() {
        for (Id column = 0; column < here_.size(); ++column) {
            if (tables_.columns[column]->monitor) continue;
            const StepList& list = *here_[column]->list;
            for (Id number = 0; number < list.size(); ++number) {
                if (!list[number].protocol) continue;
                const auto ignored = [](auto&&...) {};
                const Expander::Summary summary = expander_.follow(column, list, number, ignored, ignored);
                if (summary.missing) return Try::asked;
                if (summary.enabled) return Try::taken;
            }
        }
        return Try::refused;
    }
    bool is_elsewhere(Id column) {
        const Id cell = looked_at(column);
        return cell == none || cell >= met_[column].size() || met_[column][cell] == nullptr ||
               met_[column][cell] != here_[column];
    }

    // Nothing can happen any more.
    bool end() {
        if (options_.deadlock && !judge_end()) return false;
        ++ended;
        return over();
    }
    // False if it has to be asked whether a run may end here.
    bool judge_end() {
        const std::size_t shown = violations.size();
        const auto later = [](std::size_t) { return Verdict::unknown; };
        const auto found = [&](Finding finding, std::size_t property) { show(violations, finding, property); };
        unjudged_ = !judge_.stuck(expander_.cells, later, found) && violations.size() == shown;
        return !unjudged_;
    }

    void show(std::vector<Shown>& list, Finding finding, std::size_t property) {
        Witness witness;
        witness.finding = finding;
        witness.property = property;
        witness.length = length_;
        witness.cells = expander_.cells;
        if (&list == &goals)  // one run for each goal is enough
            for (const Shown& one : list)
                if (one.witness.property == property && one.run <= number_) return;
        const std::size_t width = tables_.width();
        for (std::size_t i = 0; i < path_.size(); i += width)
            witness.path.emplace_back(path_.begin() + static_cast<std::ptrdiff_t>(i),
                                      path_.begin() + static_cast<std::ptrdiff_t>(i + width));
        list.push_back({number_, std::move(witness)});
    }

    // Of several, the step with the smallest key is taken: each waits for a random time, longer if it has less weight.
    double key(const Place::Entry& entry, std::uint64_t thrown) const {
        const double uniform = fraction(thrown);
        return options_.strategy == Strategy::rare ? -std::log(uniform) / entry.weight : uniform;
    }
    // Priorities and change points (Burckhardt et al. 2010): each process gets one, and at random moments the process
    // that has just moved falls behind all others.
    void deal(std::uint64_t span) {
        order_.clear();
        for (Id column = 0; column < here_.size(); ++column)
            if (!tables_.columns[column]->monitor) order_.push_back(column);
        for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[dice_() % i]);
        priorities_.assign(here_.size(), 0);
        for (std::size_t i = 0; i < order_.size(); ++i) priorities_[order_[i]] = options_.changes + order_.size() - i;
        points_.clear();
        for (unsigned i = 1; i < options_.changes; ++i) points_.push_back(dice_() % span);
    }
    void change(Id column) {
        for (std::size_t i = 0; i < points_.size(); ++i) {
            if (points_[i] != length_) continue;
            priorities_[column] = i + 1;
            std::stable_sort(order_.begin(), order_.end(),
                             [&](Id one, Id other) { return priorities_[one] > priorities_[other]; });
        }
    }

    Tables& tables_;
    const Judge& judge_;
    const RunOptions& options_;
    const Counts& taken_;
    Expander expander_;
    std::vector<std::vector<Place*>> met_;
    std::vector<std::deque<Place>> places_;  // all of them, by column
    std::vector<Place*> here_;               // where each column is, and since which step
    Place nowhere_{};                        // it is not known yet what the process sees in shared cells
    std::vector<std::uint64_t> since_;
    std::vector<Id> unlisted_{};  // columns whose steps are still to be listed
    std::uint64_t possible_ = 0;  // steps of all processes, if there is room
    std::uint64_t sum_ = 0;       // what the state is hashed by
    std::vector<std::uint64_t> factors_{};
    Phase phase_ = Phase::idle;
    std::uint64_t number_ = 0, length_ = 0;
    Dice dice_{0};
    std::vector<Id> path_{};
    std::vector<Expander::Change> changes_{};
    bool observed_ = true, unjudged_ = false, enabled_ = false;
    bool may_wait_ = false;  // it was looked whether nothing but faults can happen
    std::vector<Candidate> candidates_{};
    std::vector<Place::Entry*> recent_{};  // taken in this batch
    std::uint64_t batch_ = 1;
    std::vector<std::size_t> priorities_{};
    std::vector<Id> order_{};  // the processes, the one with the highest priority first
    std::vector<std::uint64_t> points_{};
};

}  // namespace quorate::at_random

#include "search/random_runs.hpp"

#include <atomic>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/hash.hpp"
#include "search/census_builder.hpp"
#include "search/crew.hpp"
#include "search/judge.hpp"

namespace quorate {

namespace {

constexpr std::uint64_t batch = 64;  // runs; what `rare` prefers changes between batches only
constexpr unsigned sketch_bits = 14;
constexpr std::size_t most_sampled = std::size_t{1} << 20;

// How many different values were added, within about 1% (HyperLogLog, Flajolet et al. 2007).
class Sketch {
public:
    void add(std::uint64_t hash) {
        auto& slot = slots_[hash >> (64 - sketch_bits)];
        slot = std::max(slot, static_cast<std::uint8_t>(std::countl_zero(hash << sketch_bits | 1) + 1));
    }
    void merge(const Sketch& other) {
        for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i] = std::max(slots_[i], other.slots_[i]);
    }
    double count() const {
        const double size = static_cast<double>(slots_.size());
        double sum = 0;
        std::size_t empty = 0;
        for (const std::uint8_t slot : slots_) {
            sum += std::ldexp(1.0, -slot);
            empty += slot == 0;
        }
        const double estimate = 0.7213 / (1 + 1.079 / size) * size * size / sum;
        return estimate < 2.5 * size && empty > 0 ? size * std::log(size / static_cast<double>(empty)) : estimate;
    }

private:
    std::vector<std::uint8_t> slots_ = std::vector<std::uint8_t>(std::size_t{1} << sketch_bits);
};

// How often states were met, of a sample by hash; the sample gets thinner when it is full.
class Sample {
public:
    void add(std::uint64_t hash) {
        if ((hash & mask_) != 0) return;
        ++met_[hash];
        if (met_.size() <= most_sampled) return;
        mask_ = mask_ * 2 + 1;
        std::erase_if(met_, [&](const auto& entry) { return (entry.first & mask_) != 0; });
    }
    void merge(const Sample& other) {
        mask_ = std::max(mask_, other.mask_);
        std::erase_if(met_, [&](const auto& entry) { return (entry.first & mask_) != 0; });
        for (const auto& [hash, times] : other.met_)
            if ((hash & mask_) == 0) met_[hash] += times;
    }
    void report(RunResult& result) const {
        result.sampled_states = met_.size();
        for (const auto& [hash, times] : met_) {
            result.sampled_visits += times;
            result.met_once += times == 1;
        }
    }

private:
    std::uint64_t mask_ = 15;
    std::unordered_map<std::uint64_t, std::uint64_t> met_{};
};

// Splitmix64: one number after another from a seed.
struct Dice {
    std::uint64_t state;
    std::uint64_t operator()() { return mix(state += 0x9e3779b97f4a7c15ULL); }
};

using Counts = std::unordered_map<std::uint64_t, std::uint64_t>;  // by the content of a step in a local state

class Runner {
public:
    Runner(Tables& tables, const Judge& judge, const RunOptions& options, const Counts& taken)
        : tables_(tables),
          judge_(judge),
          options_(options),
          taken_(taken),
          expander_(tables),
          known_(tables.columns.size()) {}

    bool idle() const { return phase_ == Phase::idle; }
    void begin(std::uint64_t number) {
        number_ = number;
        dice_ = {mix(options_.seed * 0x9e3779b97f4a7c15ULL + 1) ^ mix(number + 1)};
        expander_.cells = tables_.initial_cells(dice_() % tables_.initials.size());
        path_.assign(expander_.cells.begin(), expander_.cells.end());
        length_ = 0;
        if (options_.strategy == Strategy::pct) deal();
        observed_ = true;
        phase_ = Phase::judge;
        meet();
    }
    // Goes on until the run is over or something has to be asked; true if it is over.
    bool advance() {
        while (true) {
            if (phase_ == Phase::judge && !judge()) return false;
            if (phase_ == Phase::idle) return true;
            if (length_ >= options_.depth) {
                ++full;
                return over();
            }
            if (!step()) return false;
            if (phase_ == Phase::idle) return true;
        }
    }

    // What has to be asked.
    std::vector<Query>& queries() { return expander_.queries; }
    const std::vector<Id>* unjudged() const { return phase_ != Phase::idle && unjudged_ ? &expander_.cells : nullptr; }
    bool stuck() const { return phase_ == Phase::stuck; }

    struct Shown {
        std::uint64_t run;
        Witness witness;
    };
    std::vector<Shown> violations{}, goals{};
    std::uint64_t steps = 0, ended = 0, cut = 0, full = 0;
    Sketch sketch{};
    Sample sample{};
    Counts newly{};  // what `rare` learns at the end of the batch

    // What was met is the same for all runners together.
    struct Entry {
        std::uint64_t content, taken = 0, depth = 0;
    };
    struct Visited {
        std::uint64_t times = 0;
        std::vector<Entry> steps{};
    };
    const std::vector<std::vector<Visited>>& met() const { return known_; }

private:
    enum class Phase : std::uint8_t { idle, judge, choose, stuck };

    struct Candidate {
        double key;
        Id column, number;
        const StepList* steps;
    };

    bool over() {
        phase_ = Phase::idle;
        return true;
    }
    void meet() {
        const std::uint64_t hash = spread(expander_.sum());
        sketch.add(hash);
        sample.add(hash);
        for (Id column = 0; column < known_.size(); ++column) ++visited(column, expander_.cells[column]).times;
    }
    Visited& visited(Id column, Id cell) {
        auto& cells = known_[column];
        if (cell >= cells.size()) cells.resize(std::max<std::size_t>(cell + 1, cells.size() * 2));
        return cells[cell];
    }
    // The entries of a cell's steps, by their numbers.
    std::vector<Entry>& entries(Id column, const StepList& list) {
        Visited& here = visited(column, expander_.cells[column]);
        if (here.steps.size() < list.size()) {
            const Column& table = *tables_.columns[column];
            const std::uint64_t local = table.locals[table.cells[expander_.cells[column]].local].content;
            here.steps.clear();
            for (const Step& step : list)
                here.steps.push_back({mix(tables_.content(StepIdentity::of(column, step)) ^ mix(local))});
        }
        return here.steps;
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
            if (!judge_.state(expander_.cells, later, found) && violations.size() == shown) {
                goals.resize(seen);
                unjudged_ = true;
                return false;
            }
            if (violations.size() > shown) return over();
        }
        phase_ = Phase::choose;
        return true;
    }

    // False if something has to be asked first.
    bool step() {
        if (phase_ == Phase::stuck) return end();
        candidates_.clear();
        const std::uint64_t thrown = mix(dice_.state + length_ + 1);
        const std::vector<Entry>* entry = nullptr;
        if (!expander_.look_at_steps([&](Id column, const StepList& list, Id number) {
                if (number == 0) entry = &entries(column, list);
                const std::uint64_t content = (*entry)[number].content;
                candidates_.push_back({key(column, content, mix(thrown ^ content)), column, number, &list});
            }))
            return false;
        bool enabled = false;
        while (!candidates_.empty()) {
            auto first = candidates_.begin();
            for (auto one = first + 1; one < candidates_.end(); ++one)
                if (one->key < first->key) first = one;
            const Candidate chosen = *first;
            *first = candidates_.back();
            candidates_.pop_back();
            const StepList& list = *chosen.steps;
            bool moved = false, observed = false;
            Id failure = none;
            const Expander::Summary summary = expander_.follow(
                chosen.column, list, chosen.number,
                [&](Id, const Step&, Id, std::uint64_t, bool seen) {
                    moved = true;
                    observed = seen;
                    next_ = expander_.cells;
                },
                [&](Id, Id, Id how) { failure = how; });
            if (summary.missing) return false;  // thrown again when it is known: the dice are the same
            enabled |= summary.enabled;
            if (!moved && failure == none) continue;
            took(chosen);
            if (failure != none) {
                show(violations, Finding::failure, 0);
                Witness& witness = violations.back().witness;
                witness.column = chosen.column;
                witness.failure = failure;
                ++witness.length;
                return over();
            }
            if (options_.strategy == Strategy::pct) change(chosen.column);
            expander_.cells = next_;
            path_.insert(path_.end(), next_.begin(), next_.end());
            ++length_;
            ++steps;
            observed_ = observed;
            phase_ = Phase::judge;
            meet();
            return true;
        }
        if (enabled) {  // but cut by a bound
            ++cut;
            return over();
        }
        phase_ = Phase::stuck;
        return end();
    }
    void took(const Candidate& chosen) {
        Entry& entry = entries(chosen.column, *chosen.steps)[chosen.number];
        if (entry.taken++ == 0 || entry.depth > length_) entry.depth = length_;
        if (options_.strategy == Strategy::rare) ++newly[entry.content];
    }

    // Nothing can happen any more.
    bool end() {
        unjudged_ = false;
        const std::size_t shown = violations.size();
        if (options_.deadlock) {
            const auto later = [](std::size_t) { return Verdict::unknown; };
            const auto found = [&](Finding finding, std::size_t property) { show(violations, finding, property); };
            if (!judge_.stuck(expander_.cells, later, found) && violations.size() == shown) {
                unjudged_ = true;
                return false;
            }
        }
        ++ended;
        return over();
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

    // The step with the smallest key is taken. Each waits for a random time, so that all are equally likely; one that
    // was taken often waits in proportion. With priorities, those of the first process come before all others.
    double key(Id column, std::uint64_t content, std::uint64_t thrown) const {
        const double uniform = (static_cast<double>(thrown >> 11) + 0.5) * 0x1p-53;
        if (options_.strategy == Strategy::uniform) return uniform;
        if (options_.strategy == Strategy::pct) return uniform - priorities_[column];
        const auto known = taken_.find(content);
        const double often = known == taken_.end() ? 0.0 : static_cast<double>(known->second);
        return -std::log(uniform) * (1 + often);
    }
    // Priorities and change points (Burckhardt et al. 2010): each process gets one, and at random moments the process
    // that has just moved falls behind all others.
    void deal() {
        const std::size_t count = tables_.columns.size();
        priorities_.assign(count, 0.0);
        std::vector<std::size_t> order(count);
        for (std::size_t i = 0; i < count; ++i) order[i] = i;
        for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[dice_() % i]);
        for (std::size_t i = 0; i < count; ++i) priorities_[i] = static_cast<double>(options_.changes + order[i]);
        changes_.clear();
        for (unsigned i = 1; i < options_.changes; ++i) changes_.push_back(dice_() % options_.depth);
    }
    void change(Id column) {
        for (std::size_t i = 0; i < changes_.size(); ++i)
            if (changes_[i] == length_) priorities_[column] = static_cast<double>(changes_.size() - i);
    }

    Tables& tables_;
    const Judge& judge_;
    const RunOptions& options_;
    const Counts& taken_;
    Expander expander_;
    std::vector<std::vector<Visited>> known_;
    Phase phase_ = Phase::idle;
    std::uint64_t number_ = 0, length_ = 0;
    Dice dice_{0};
    std::vector<Id> path_{}, next_{};
    bool observed_ = true, unjudged_ = false;
    std::vector<Candidate> candidates_{};
    std::vector<double> priorities_{};
    std::vector<std::uint64_t> changes_{};
};

class RandomRuns {
public:
    RandomRuns(Tables& tables, std::vector<Property>& properties, Oracle& oracle, const RunOptions& options)
        : tables_(tables),
          properties_(properties),
          oracle_(oracle),
          options_(options),
          judge_(tables, properties, oracle, nullptr),
          watch_(options.limits, oracle) {
        for (unsigned i = 0; i < options.threads; ++i)
            runners_.push_back(std::make_unique<Runner>(tables, judge_, options, taken_));
        errors_.resize(options.threads);
    }

    RunResult run() {
        try {
            Crew crew(options_.threads, [this](unsigned number) { work(number); });
            while (stop_ == Stop::finished && next_ < options_.runs && !shown()) {
                end_ = std::min(next_ + batch, options_.runs);
                while (stop_ == Stop::finished && (next_ < end_ || busy())) {
                    crew.run(true);
                    settle();
                }
                for (auto& runner : runners_) {
                    for (const auto& [content, times] : runner->newly) taken_[content] += times;
                    runner->newly.clear();
                }
            }
        } catch (const std::bad_alloc&) {
            stop_ = Stop::memory;
        } catch (const Interrupted&) {
            stop_ = Stop::interrupt;
        }
        return report();
    }

private:
    bool busy() const {
        return std::any_of(runners_.begin(), runners_.end(), [](const auto& runner) { return !runner->idle(); });
    }
    bool shown() const {
        return std::any_of(runners_.begin(), runners_.end(), [](const auto& one) { return !one->violations.empty(); });
    }
    void work(unsigned number) {
        Runner& runner = *runners_[number];
        try {
            while (!halted_.load(std::memory_order_relaxed)) {
                if (runner.idle()) {
                    const std::uint64_t run = cursor_.fetch_add(1);
                    if (run >= end_) break;
                    runner.begin(run);
                }
                const std::uint64_t before = runner.steps;
                const bool over = runner.advance();
                steps_.fetch_add(runner.steps - before, std::memory_order_relaxed);
                if (!over) break;
                done_.fetch_add(1, std::memory_order_relaxed);
                if (number == 0 && look()) break;
            }
        } catch (...) {
            errors_[number] = std::current_exception();
            halted_ = true;
        }
    }
    bool look() {
        const auto stop = watch_.look([&] {
            Progress progress;
            progress.states = done_;
            progress.transitions = steps_;
            progress.depth = options_.depth;
            return progress;
        });
        if (stop) {
            stop_ = *stop;
            halted_ = true;
        }
        return stop.has_value();
    }
    // Between rounds: what the runs wait for.
    void settle() {
        for (const auto& error : errors_)
            if (error) std::rethrow_exception(error);
        next_ = std::min(cursor_.load(), end_);
        cursor_ = next_;
        std::vector<Query> queries;
        for (auto& runner : runners_) {
            queries.insert(queries.end(), runner->queries().begin(), runner->queries().end());
            runner->queries().clear();
        }
        ask(tables_, oracle_, queries);
        for (auto& runner : runners_) {
            const std::vector<Id>* cells = runner->unjudged();
            for (std::size_t i = 0; cells != nullptr && i < properties_.size(); ++i)
                if (properties_[i].kind != PropertyKind::bound &&
                    runner->stuck() == (properties_[i].kind == PropertyKind::final))
                    judge_.ask(i, *cells);
        }
        look();
    }

    RunResult report() {
        RunResult result;
        result.stop = stop_;
        result.runs = done_;
        Sketch sketch;
        Sample sample;
        for (auto& runner : runners_) {
            result.steps += runner->steps;
            result.ended += runner->ended;
            result.cut += runner->cut;
            result.full += runner->full;
            sketch.merge(runner->sketch);
            sample.merge(runner->sample);
            for (auto& one : runner->violations)
                if (!result.violation || one.run < result.run) {
                    result.run = one.run;
                    result.violation = std::move(one.witness);
                }
        }
        std::map<std::size_t, Runner::Shown*> goals;
        for (auto& runner : runners_)
            for (auto& goal : runner->goals) {
                auto*& first = goals[goal.witness.property];
                if (first == nullptr || goal.run < first->run) first = &goal;
            }
        for (auto& [property, goal] : goals) result.goals.push_back(std::move(goal->witness));
        if (result.violation) result.stop = Stop::violation;
        result.distinct = sketch.count();
        sample.report(result);
        result.census = count();
        return result;
    }
    Census count() {
        CensusBuilder found(tables_);
        std::vector<Query> unanswered;
        for (const auto& runner : runners_)
            for (Id column = 0; column < tables_.columns.size(); ++column) {
                const auto& cells = runner->met()[column];
                for (Id cell = 0; cell < cells.size(); ++cell) {
                    if (cells[cell].times == 0) continue;
                    found.visited(column, cell, cells[cell].times);
                    if (cells[cell].steps.empty()) continue;
                    const StepList* list = tables_.steps(column, cell, unanswered);
                    for (std::size_t i = 0; list != nullptr && i < cells[cell].steps.size(); ++i) {
                        const Runner::Entry& entry = cells[cell].steps[i];
                        if (entry.taken == 0) continue;
                        Census::Fired& fired = found.took(column, cell, (*list)[i], entry.depth);
                        fired.steps += entry.taken;
                        fired.states += entry.taken;
                    }
                }
            }
        Census census = found.finish();
        census.complete = false;
        return census;
    }

    Tables& tables_;
    std::vector<Property>& properties_;
    Oracle& oracle_;
    const RunOptions& options_;
    Judge judge_;
    Watch watch_;
    Counts taken_{};
    std::vector<std::unique_ptr<Runner>> runners_{};
    std::vector<std::exception_ptr> errors_{};
    std::atomic<std::uint64_t> cursor_{0}, done_{0}, steps_{0};
    std::uint64_t next_ = 0, end_ = 0;
    std::atomic<Stop> stop_{Stop::finished};
    std::atomic<bool> halted_{false};
};

}  // namespace

RunResult random_runs(Tables& tables, std::vector<Property>& properties, Oracle& oracle, const RunOptions& options) {
    return RandomRuns(tables, properties, oracle, options).run();
}

}  // namespace quorate

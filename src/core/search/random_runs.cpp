#include "search/random_runs.hpp"

#include <atomic>
#include <map>

#include "search/census_builder.hpp"
#include "search/crew.hpp"
#include "search/random_run.hpp"

namespace quorate {

namespace {

using at_random::Counts, at_random::Place, at_random::Runner, at_random::Sample, at_random::Sketch;
using Pause = Runner::Pause;

constexpr std::uint64_t batch = 64;  // runs; what `rare` prefers changes between batches only

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
                    unwatched_ = false;
                    crew.run(true);
                    settle();
                }
                std::uint64_t longest = 1;
                for (auto& runner : runners_) {
                    runner->learn(taken_);
                    longest = std::max(longest, runner->longest);
                }
                if (stop_ == Stop::finished) span_ = longest;  // runs are hardly ever as long as they may be
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
                    runner.begin(run, span_);
                }
                const std::uint64_t before = runner.steps;
                const Pause pause = runner.advance();
                steps_.fetch_add(runner.steps - before, std::memory_order_relaxed);
                if (pause == Pause::asks) break;
                if (pause == Pause::over) done_.fetch_add(1, std::memory_order_relaxed);
                if (number == 0 ? look() : pause == Pause::rests && unwatched_) break;
            }
            if (number == 0) unwatched_ = true;
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
            result.unfinished += !runner->idle();
            runner->give_up();
            result.steps += runner->steps;
            result.ended += runner->ended;
            result.cut += runner->cut;
            result.full += runner->full;
            sketch.merge(runner->sketch);
            sample.merge(runner->sample);
            // Nobody has answered what else is violated there: then it is what counts.
            if (runner->violations.empty()) runner->violations.swap(runner->set_aside);
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
        result.span = span_;
        for (const auto& runner : runners_) result.span = std::max(result.span, runner->longest);  // if it was stopped
        sample.report(result);
        result.distinct = result.exact ? static_cast<double>(result.sampled_states) : sketch.count();
        result.census = count();
        return result;
    }
    Census count() {
        CensusBuilder found(tables_);
        for (const auto& runner : runners_)
            for (Id column = 0; column < tables_.columns.size(); ++column) {
                const auto& cells = runner->met()[column];
                for (Id cell = 0; cell < cells.size(); ++cell) {
                    if (cells[cell] == nullptr || cells[cell]->times == 0) continue;
                    if (tables_.reads(column, cell) == none) found.visited(column, cell, cells[cell]->times);
                    for (const Place::Entry& entry : cells[cell]->steps) {
                        if (entry.taken == 0) continue;
                        Census::Fired& fired =
                            found.took(column, cell, (*cells[cell]->list)[entry.number], entry.depth);
                        fired.steps += entry.taken;
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
    std::uint64_t span_ = options_.depth;
    std::atomic<Stop> stop_{Stop::finished};
    std::atomic<bool> halted_{false};
    std::atomic<bool> unwatched_{false};  // the first thread, which looks at the limits, rests until the next round
};

}  // namespace

RunResult random_runs(Tables& tables, std::vector<Property>& properties, Oracle& oracle, const RunOptions& options) {
    return RandomRuns(tables, properties, oracle, options).run();
}

}  // namespace quorate

// Level by level, on any number of threads, with the same result for each: a level is finished before the next one
// begins, also when it holds a violation, and of several violations the one that ranks first by content is reported.
//
// A state whose steps need a fact that only the oracle knows is put aside. When the threads have run out of work, the
// oracle answers all open questions at once and the states put aside are expanded again. The same pause serves to grow
// the index and to widen the packed form.

#include "base/thresholds.hpp"
#include "reduce/symmetry/canonical.hpp"
#include "search/crew.hpp"
#include "search/judge.hpp"
#include "search/worker.hpp"

namespace quorate {

namespace {

class BreadthFirst {
public:
    BreadthFirst(Tables& tables, std::vector<Property>& properties, Oracle& oracle, const SearchOptions& options)
        : tables_(tables),
          properties_(properties),
          oracle_(oracle),
          options_(options),
          judge_(tables, properties, oracle, options.symmetry),
          watch_(options.limits, oracle),
          memory_before_(resident_bytes()),
          store_(tables, options.threads) {
        if (options.partial_orders && options.partial_orders->whole_runs)
            throw std::logic_error("properties of whole runs need a depth-first search");
        for (unsigned i = 0; i < options.threads; ++i) {
            workers_.push_back(std::make_unique<Worker>(tables, i));
            workers_.back()->goals.resize(properties.size());
            if (options.partial_orders) workers_.back()->chooser = options.partial_orders->chooser();
            if (options.symmetry != nullptr) workers_.back()->canonical.emplace(*options.symmetry);
        }
    }

    SearchResult run() {
        {
            Crew crew(options_.threads, [this](unsigned number) { process(*workers_[number]); });
            try {
                search(crew);
            } catch (const std::bad_alloc&) {
                stop_ = Stop::memory;
            } catch (const Interrupted&) {
                stop_ = Stop::interrupt;
            } catch (const SymmetryBroken&) {
                stop_ = Stop::regrown;
            }
        }
        return report();
    }

private:
    // --- the levels, on the calling thread ---

    void search(Crew& crew) {
        levels_.push_back(counts());
        for (const auto& locals : tables_.initials) insert_initial(tables_.initial_cells(locals));
        settle();
        while (stop_ == Stop::finished && !violation_) {
            std::vector<Range> ranges;
            for (unsigned i = 0; i < options_.threads; ++i)
                if (levels_.back()[i] < store_.count(i))
                    ranges.push_back({.array = i, .begin = levels_.back()[i], .end = store_.count(i)});
            if (ranges.empty()) break;
            if (levels_.size() - 1 >= options_.most_depth) break;
            depth_ = levels_.size() - 1;
            levels_.push_back(counts());
            while (!ranges.empty() && stop_ == Stop::finished) {
                work(crew, std::move(ranges));
                ranges = settle();
            }
            if (stop_ != Stop::finished) break;
            // At the end of a level, so that the universe grows alike for any number of threads.
            if (tables_.outgrown && void_from_ == 0) void_from_ = store_.size();
            if (tables_.outgrown && store_.size() >= 2 * void_from_ + options_.void_states) break;
            for (auto& worker : workers_) merge_goals(*worker);
            if (goals_end(properties_, options_, store_.size(), goals_.size())) {
                stop_ = Stop::reached;
                break;
            }
            if (!violation_ && options_.meanwhile && options_.meanwhile(store_.size(), transitions())) {
                stop_ = Stop::overtaken;
                break;
            }
            if (not_worth_it() || saves_little()) {
                given_up_ = levels_.size() - 1;
                for (auto& worker : workers_) worker->chooser.reset();
            }
        }
    }

    // Whether partial orders save few states: as many steps as they leave out, the same states may be reached by
    // others. That is tried out. A search without them, to the same depth, is cheap beside what they cost; it is done
    // whenever there are twice as many states, and not at all once they have shown their worth.
    bool saves_little() {
        if (!workers_[0]->chooser || store_.size() < next_trial_) return false;
        next_trial_ = 2 * store_.size();
        constexpr std::uint64_t worth = 5;  // times as many states: no doubt about it
        SearchOptions options = options_;
        options.partial_orders.reset();
        options.evidence = nullptr;
        options.meanwhile = {};
        options.goals_end_from = ~std::uint64_t{0};
        options.most_depth = levels_.size() - 1;
        options.limits.states = worth * store_.size();
        const SearchResult plain = breadth_first(tables_, properties_, oracle_, options);
        if (plain.stop == Stop::regrown || plain.stop == Stop::interrupt || plain.stop == Stop::time ||
            plain.stop == Stop::memory) {
            stop_ = plain.stop;
            return false;
        }
        if (plain.stop == Stop::states) {
            next_trial_ = ~std::uint64_t{0};
            return false;
        }
        const bool dear = options_.partial_orders->built() > store_.size();
        return plain.states * 10 < store_.size() * (dear ? 30 : 11);
    }

    // Whether partial orders leave out so few steps that looking for them takes longer than it saves. Decided at the
    // end of a level from all states so far, so that it is the same for any number of threads. To take all steps of a
    // state is always sound.
    bool not_worth_it() const {
        if (!workers_[0]->chooser || store_.size() < few_states) return false;
        std::uint64_t offered = 0, left_out = 0;
        for (const auto& worker : workers_) {
            offered += worker->offered;
            left_out += worker->left_out;
        }
        return left_out * 10 < offered;
    }

    void insert_initial(std::vector<Id> cells) {
        if (workers_[0]->canonical) cells = std::vector<Id>(workers_[0]->canonical->of(cells));
        store_.widen();
        std::vector<Word> packed(store_.layout().words());
        store_.layout().pack(cells.data(), packed.data());
        std::uint64_t known;
        if (store_.insert(0, packed.data(), spread(tables_.sum(cells.data())), known) == Store::Insertion::known)
            return;
        workers_[0]->stands_for += workers_[0]->canonical ? workers_[0]->canonical->orbit() : 1;
        check(*workers_[0], cells, 0);
    }

    // After a round: answers, growth, verdicts. Returns the work that was put aside.
    std::vector<Range> settle() {
        std::vector<Range> again = std::move(left_over_);
        left_over_.clear();
        std::vector<Query> queries;
        std::vector<Unchecked> unchecked;
        for (auto& worker : workers_) {
            if (worker->error) std::rethrow_exception(worker->error);
            // Room in the index first: what waits is packed in the layout of now.
            while (store_.room() < worker->waiting + portion * options_.threads) grow();
            flush(*worker);
            queries.insert(queries.end(), worker->expander.queries.begin(), worker->expander.queries.end());
            worker->expander.queries.clear();
            again.insert(again.end(), worker->deferred.begin(), worker->deferred.end());
            worker->deferred.clear();
            for (auto& one : worker->unchecked) unchecked.push_back(std::move(one));
            worker->unchecked.clear();
        }
        if (store_.needs_growth() && stop_ == Stop::finished) grow();
        ask(tables_, oracle_, queries);
        if (widen_.exchange(false)) {
            store_.widen();
            for (auto& worker : workers_) worker->most = 0;  // a state may have more words now
        }
        judge(unchecked);
        for (auto& worker : workers_)
            if (worker->violation && (!violation_ || worker->violation->rank() < violation_->rank()))
                violation_ = std::move(worker->violation);
        if (too_many_steps()) {
            tables_.forget_steps();
            for (auto& worker : workers_) worker->expander.forget_steps();
        }
        pause_ = false;
        look();
        remaining_ = 0;
        for (const Range& range : again) remaining_ += range.end - range.begin;
        return again;
    }

    bool too_many_steps() const {
        const std::size_t bytes = tables_.step_bytes();
        return bytes > tables_.most_step_bytes && bytes > store_.bytes();
    }
    void grow() {
        if (resident_bytes() + store_.bytes_to_grow() > options_.limits.memory) {
            stop_ = Stop::memory;
            throw std::bad_alloc();
        }
        store_.grow();
    }

    void judge(std::vector<Unchecked>& unchecked) {
        std::sort(unchecked.begin(), unchecked.end(), [&](const Unchecked& a, const Unchecked& b) {
            return tables_.content(a.cells) < tables_.content(b.cells);
        });
        for (const Unchecked& one : unchecked) {
            look();
            for (std::size_t i = 0; i < properties_.size() && stop_ == Stop::finished; ++i) {
                if (one.stuck != (properties_[i].kind == PropertyKind::final)) continue;
                if (judge_.ask(i, one.cells) == Verdict::unknown) stop_ = Stop::regrown;
            }
            if (stop_ != Stop::finished) return;
            if (one.stuck)
                check_stuck(*workers_[0], one.cells, one.length);
            else
                check(*workers_[0], one.cells, one.length);
        }
    }

    void merge_goals(Worker& worker) {
        for (auto& goal : worker.goals) {
            if (!goal) continue;
            const auto same = [&](const Witness& other) { return other.property == goal->property; };
            const auto known = std::find_if(goals_.begin(), goals_.end(), same);
            if (known == goals_.end())
                goals_.push_back(std::move(*goal));
            else if (goal->rank() < known->rank())
                *known = std::move(*goal);
            goal.reset();
        }
    }

    std::vector<std::uint64_t> counts() const {
        std::vector<std::uint64_t> result;
        for (unsigned i = 0; i < options_.threads; ++i) result.push_back(store_.count(i));
        return result;
    }
    std::uint64_t transitions() const {
        std::uint64_t sum = 0;
        for (const auto& worker : workers_) sum += worker->transitions;
        return sum;
    }
    std::uint64_t next_level() const {
        std::uint64_t sum = store_.size();
        for (std::uint64_t begin : levels_.back()) sum -= begin;
        return sum;
    }

    void look() {
        const auto stop = watch_.look([&] {
            Progress progress;
            progress.states = store_.size();
            for (const auto& worker : workers_)
                progress.transitions += worker->published.load(std::memory_order_relaxed);
            progress.frontier = remaining_ + next_level();
            progress.depth = depth_;
            return progress;
        });
        if (stop) halt(*stop);
    }
    void halt(Stop why) {
        Stop running = Stop::finished;
        stop_.compare_exchange_strong(running, why);
        pause_ = true;
    }

    // --- rounds of parallel work ---

    void work(Crew& crew, std::vector<Range> ranges) {
        work_ = std::move(ranges);
        total_ = 0;
        starts_.clear();
        for (const Range& range : work_) {
            starts_.push_back(total_);
            total_ += range.end - range.begin;
        }
        remaining_ = total_;
        cursor_ = 0;
        crew.run(total_ >= 4 * batch);
        // A pause leaves the tail of the work for the next round.
        std::uint64_t skipped = std::min<std::uint64_t>(cursor_, total_);
        for (const Range& range : work_) {
            const std::uint64_t size = range.end - range.begin;
            const std::uint64_t done = std::min(size, skipped);
            skipped -= done;
            if (done < size) {
                left_over_.push_back(range);
                left_over_.back().begin += done;
            }
        }
    }

    void process(Worker& worker) {
        try {
            while (!pause_.load(std::memory_order_relaxed)) {
                const std::uint64_t begin = cursor_.fetch_add(batch);
                if (begin >= total_) break;
                process(worker, begin, std::min(begin + batch, total_));
                flush(worker);
                if (store_.needs_growth() || too_many_steps() || worker.unchecked.size() >= most_waiting ||
                    worker.expander.queries.size() >= most_waiting)
                    pause_ = true;
                if (store_.size() >= options_.limits.states) halt(Stop::states);
                if (worker.number == 0) {
                    remaining_ = total_ - std::min<std::uint64_t>(cursor_, total_);
                    look();
                }
            }
        } catch (...) {
            worker.error = std::current_exception();
            pause_ = true;
        }
    }
    // The states from number `begin` to `end` of this round's work.
    void process(Worker& worker, std::uint64_t begin, std::uint64_t end) {
        auto range = std::upper_bound(starts_.begin(), starts_.end(), begin) - starts_.begin() - 1;
        for (std::uint64_t i = begin; i < end; ++range) {
            const Range& here = work_[static_cast<std::size_t>(range)];
            const std::uint64_t start = starts_[static_cast<std::size_t>(range)];
            const std::uint64_t stop = std::min(end, start + (here.end - here.begin));
            for (; i < stop; ++i) {
                Range one = here;
                one.begin = here.begin + (i - start);
                one.end = one.begin + 1;
                expand(worker, one);
            }
        }
    }

    void expand(Worker& worker, const Range& one) {
        const Layout& layout = store_.layout();
        const std::byte* packed = store_.state(one.array, one.begin);
        Expander& expander = worker.expander;
        layout.unpack(packed, expander.cells.data());
        const std::size_t mark = worker.waiting;
        const std::uint64_t transitions = worker.transitions;
        const std::size_t words = layout.words();
        bool misfit = false;
        const Choice* chosen = nullptr;
        bool asked = false;
        if (worker.chooser && !one.in_full) {
            if (!expander.steps_known()) {
                worker.deferred.push_back(one);
                return;
            }
            asked = !expander.leaves();
            if (asked && worker.chooser->choose(expander.cells)) chosen = &worker.chooser->chosen();
        }
        if (worker.canonical) worker.canonical->expand(expander.cells);
        const bool watched = chosen != nullptr && options_.partial_orders->proviso;
        const std::size_t keeping = worker.keeping.size();
        std::pair<Id, Id> last{none, none};  // the process and the number of the step that was looked at last
        worker.here.resize(words);
        Word* const here = worker.here.data();
        layout.load(packed, here);
        std::vector<Witness>& failures = worker.failures;
        failures.clear();
        const auto emit = [&](Id process, const Step&, Id number, std::uint64_t hash, bool observed) {
            Id keeps = watched ? worker.chooser->keeping(process, number) : none;
            if (keeps != none) {
                if (last != std::make_pair(process, keeps))
                    worker.keeping.push_back({static_cast<Id>(worker.partly.size())});
                last = {process, keeps};
                keeps = static_cast<Id>(worker.keeping.size() - 1);
            }
            if (worker.waiting >= worker.most) [[unlikely]]
                worker.make_room(words);
            Word* target = worker.buffer.data() + worker.waiting * words;
            const std::vector<Id>& form =
                worker.canonical ? worker.canonical->of(expander.cells, expander.changes()) : expander.cells;
            if (&form != &expander.cells) {
                for (Id column = 0; column < form.size(); ++column) misfit |= !layout.fits(column, form[column]);
                layout.pack(form.data(), target);
                hash = spread(tables_.sum(form.data()));
            } else {
                target[0] = here[0];
                for (std::size_t i = 1; i < words; ++i) target[i] = here[i];
                for (const auto& [column, before, after] : expander.changes()) {
                    misfit |= !layout.fits(column, after);
                    layout.change(target, column, before, after);
                }
            }
            store_.prefetch(hash);
            const double orbit = worker.canonical ? worker.canonical->orbit() : 1;
            worker.successors[worker.waiting++] = {hash, orbit, keeps, observed};
            ++worker.transitions;
        };
        const auto fail = [&](Id column, Id step, Id failure) {
            Witness witness;
            witness.finding = Finding::failure;
            witness.length = depth_ + 1;
            witness.column = column;
            witness.step = step;
            witness.failure = failure;
            failures.push_back(std::move(witness));
            ++worker.transitions;
        };
        const Expander::Summary summary = expander.expand(expander.sum(), emit, fail, chosen);
        if (summary.missing || misfit) {
            if (misfit) widen_ = pause_ = true;
            worker.waiting = mark;
            worker.keeping.resize(keeping);
            worker.transitions = transitions;
            worker.deferred.push_back(one);
            return;
        }
        if (asked) {
            worker.offered += worker.chooser->offered();
            worker.left_out += worker.chooser->left_out();
        }
        if (watched) {
            worker.partly.push_back({one});
            worker.partly.back().state.counted = worker.transitions - transitions;
        }
        worker.transitions -= one.counted;
        if (!failures.empty()) {
            for (Witness& witness : failures) {
                witness.cells = expander.cells;
                // The number of a step depends on the order of discovery; the failure's content does not.
                witness.content = mix(tables_.content(expander.cells) + content_of(witness));
                witness.step = none;
            }
            for (std::size_t i = 0; i < failures.size(); ++i) offer(worker, std::move(failures[i]));
        }
        if (options_.evidence != nullptr)
            options_.evidence->note(tables_, expander.cells, chosen != nullptr, !summary.enabled);
        if (!summary.enabled) {
            ++worker.deadlocks;
            if (options_.deadlock) check_stuck(worker, expander.cells, depth_);
        }
        if (worker.waiting >= batch) flush(worker);
    }

    std::uint64_t content_of(const Witness& failed) const {
        const Cell& cell = tables_.columns[failed.column]->cells[failed.cells[failed.column]];
        const Step& step = (*cell.steps.load(std::memory_order_acquire))[failed.step];
        return tables_.content(StepIdentity::of(failed.column, step));
    }

    void flush(Worker& worker) {
        const std::size_t words = store_.layout().words();
        worker.published.store(worker.transitions, std::memory_order_relaxed);
        std::size_t done = 0;
        while (done < worker.waiting) {
            // Each thread may be in the midst of one portion, so this much room is enough for all.
            if (store_.room() < portion * options_.threads) {
                pause_ = true;
                break;
            }
            const std::size_t end = std::min(worker.waiting, done + portion);
            for (std::size_t i = done; i < end; ++i) store_.prefetch_state(worker.successors[i].hash);
            for (; done < end; ++done) {
                const Word* packed = worker.buffer.data() + done * words;
                const Worker::Waiting& successor = worker.successors[done];
                std::uint64_t known;
                if (store_.insert(worker.number, packed, successor.hash, known) == Store::Insertion::known) {
                    if (successor.keeping != none) worker.keeping[successor.keeping].further &= in_next_level(known);
                    continue;
                }
                worker.stands_for += successor.orbit;
                if (!successor.observed) continue;
                worker.scratch.resize(tables_.width());
                store_.layout().unpack(reinterpret_cast<const std::byte*>(packed), worker.scratch.data());
                check(worker, worker.scratch, depth_ + 1);
            }
        }
        const auto shift = [&](auto& list, std::size_t width) {
            std::copy(list.begin() + static_cast<std::ptrdiff_t>(done * width),
                      list.begin() + static_cast<std::ptrdiff_t>(worker.waiting * width), list.begin());
        };
        if (done > 0 && done < worker.waiting) {
            shift(worker.buffer, words);
            shift(worker.successors, 1);
        }
        worker.waiting -= done;
        if (worker.waiting > 0) return;
        for (const Keeping& keeping : worker.keeping) worker.partly[keeping.source].progressed |= keeping.further;
        worker.keeping.clear();
        for (Partly& partly : worker.partly) {
            if (partly.progressed) continue;
            partly.state.in_full = true;
            worker.deferred.push_back(partly.state);
        }
        worker.partly.clear();
    }
    bool in_next_level(std::uint64_t number) const {
        return store_.position_of(number) >= levels_.back()[store_.thread_of(number)];
    }

    // --- verdicts ---

    // What is not known yet is put aside: the oracle is asked while all threads rest.
    static constexpr auto later = [](std::size_t) { return Verdict::unknown; };

    void check(Worker& worker, const std::vector<Id>& cells, std::uint64_t length) {
        const auto found = [&](Finding finding, std::size_t property) {
            if (finding != Finding::reached) {
                offer(worker, witness(finding, property, cells, length));
            } else if (!reached(property)) {
                Witness goal = witness(finding, property, cells, length);
                auto& best = worker.goals[property];
                if (!best || goal.rank() < best->rank()) best = std::move(goal);
            }
            return true;
        };
        if (!judge_.state(cells, later, found)) worker.unchecked.push_back({cells, length, false});
    }
    bool reached(std::size_t property) const {
        return std::any_of(goals_.begin(), goals_.end(),
                           [&](const Witness& goal) { return goal.property == property; });
    }
    void check_stuck(Worker& worker, const std::vector<Id>& cells, std::uint64_t length) {
        const auto found = [&](Finding finding, std::size_t property) {
            offer(worker, witness(finding, property, cells, length));
        };
        if (!judge_.stuck(cells, later, found)) worker.unchecked.push_back({cells, length, true});
    }
    Witness witness(Finding finding, std::size_t property, const std::vector<Id>& cells, std::uint64_t length) const {
        Witness result;
        result.finding = finding;
        result.property = property;
        result.length = length;
        result.content = tables_.content(cells);
        result.cells = cells;
        return result;
    }
    void offer(Worker& worker, Witness witness) const {
        if (options_.all)
            add(worker.violations, {std::move(witness), 1});
        else if (!worker.violation || witness.rank() < worker.violation->rank())
            worker.violation = std::move(witness);
    }

    static void add(std::vector<Violations>& all, Violations more) {
        const auto known =
            std::find_if(all.begin(), all.end(), [&](const Violations& one) { return one.same(more.first); });
        if (known == all.end()) {
            all.push_back(std::move(more));
            return;
        }
        known->count += more.count;
        if (more.first.rank() < known->first.rank()) known->first = std::move(more.first);
    }

    // A state that a step reaches without changing what properties read is not judged again, so the states in which a
    // property is violated are counted here. All answers are known by now.
    void count_violations() {
        std::vector<Id> cells(tables_.width());
        std::vector<std::uint64_t> counts(properties_.size());
        for (unsigned array = 0; array < store_.threads(); ++array) {
            for (std::uint64_t i = 0; i < store_.count(array); ++i) {
                store_.layout().unpack(store_.state(array, i), cells.data());
                judge_.state(cells, later, [&](Finding finding, std::size_t property) {
                    counts[property] += finding == Finding::violated;
                    return true;
                });
            }
        }
        for (Violations& each : violations_)
            if (each.first.finding == Finding::violated) each.count = counts[each.first.property];
    }

    SearchResult report() {
        SearchResult result;
        // A violation of the same level is void as well: the search is about to start over.
        result.stop = violation_ && stop_ != Stop::regrown ? Stop::violation : stop_.load();
        result.states = store_.size();
        result.depth = depth_ + (next_level() > 0 && levels_.size() > 1);
        result.given_up = given_up_;
        result.cut.assign(tables_.columns.size(), false);
        for (const auto& worker : workers_) {
            result.transitions += worker->transitions;
            result.deadlocks += worker->deadlocks;
            result.stands_for += worker->stands_for;
            for (std::size_t i = 0; i < result.cut.size(); ++i)
                if (worker->expander.cut[i]) result.cut[i] = true;
        }
        // So is all that was found if the search left the universe.
        if (tables_.outgrown && stop_ != Stop::regrown) {
            violation_.reset();
            goals_.clear();
            for (auto& worker : workers_) worker->goals.assign(properties_.size(), std::nullopt);
            const bool over = stop_ == Stop::finished || stop_ == Stop::reached;
            result.stop = over ? Stop::outgrown : stop_.load();
        }
        result.frontier = violation_ || stop_ == Stop::finished ? 0 : remaining_ + next_level();
        const std::size_t now = resident_bytes();
        result.store_bytes = now > memory_before_ ? now - memory_before_ : 0;
        if (stop_ == Stop::regrown) violation_.reset();
        // Those of a level that was not finished, or of the initial states if one of them is a violation.
        for (auto& worker : workers_) merge_goals(*worker);
        if (violation_) {
            find_path(tables_, store_, levels_, oracle_, options_.symmetry, *violation_);
            result.violation = std::move(violation_);
        }
        for (auto& worker : workers_)
            for (Violations& each : worker->violations) add(violations_, std::move(each));
        if (stop_ == Stop::regrown || tables_.outgrown) violations_.clear();
        if (!violations_.empty()) count_violations();
        std::sort(violations_.begin(), violations_.end(),
                  [](const Violations& one, const Violations& two) { return one.first.rank() < two.first.rank(); });
        for (Violations& each : violations_) {
            find_path(tables_, store_, levels_, oracle_, options_.symmetry, each.first);
            result.violations.push_back(std::move(each));
        }
        for (Witness& goal : goals_) {
            find_path(tables_, store_, levels_, oracle_, options_.symmetry, goal);
            result.goals.push_back(std::move(goal));
        }
        if (options_.census) result.census = take_census(tables_, store_, levels_, watch_);
        return result;
    }

    static constexpr std::uint64_t batch = 64;
    // No search of so many states takes long, and a few say little about the others.
    const std::uint64_t few_states = thresholds.few_states;
    const std::size_t portion = thresholds.portion, most_waiting = thresholds.most_waiting;

    Tables& tables_;
    std::vector<Property>& properties_;
    Oracle& oracle_;
    const SearchOptions& options_;
    Judge judge_;
    Watch watch_;
    std::size_t memory_before_;
    Store store_;
    std::vector<std::unique_ptr<Worker>> workers_{};
    std::vector<std::vector<std::uint64_t>> levels_{};  // per level and thread, where it begins in the store
    std::uint64_t depth_ = 0, given_up_ = 0;
    std::uint64_t next_trial_ = thresholds.few_states;  // with how many states to see what partial orders save
    std::uint64_t void_from_ = 0;  // how many states there were when the search had left the optimistic universe
    std::uint64_t remaining_ = 0;  // states of this level that are still to be expanded
    std::optional<Witness> violation_{};
    std::vector<Witness> goals_{};
    std::vector<Violations> violations_{};
    std::atomic<Stop> stop_{Stop::finished};

    std::vector<Range> work_{}, left_over_{};
    std::vector<std::uint64_t> starts_{};  // of each range, counted through the round's work
    std::uint64_t total_ = 0;
    std::atomic<std::uint64_t> cursor_{0};
    std::atomic<bool> pause_{false}, widen_{false};
};

}  // namespace

SearchResult breadth_first(Tables& tables, std::vector<Property>& properties, Oracle& oracle,
                           const SearchOptions& options) {
    return BreadthFirst(tables, properties, oracle, options).run();
}

}  // namespace quorate

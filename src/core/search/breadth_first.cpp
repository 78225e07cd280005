// Level by level, on any number of threads, with the same result for each: a level is finished before the next one
// begins, also when it holds a violation, and of several violations the one that ranks first by content is reported.
//
// A state whose steps need a fact that only the oracle knows is put aside. When the threads have run out of work, the
// oracle answers all open questions at once and the states put aside are expanded again. The same pause serves to grow
// the index, to widen the packed form, to save the search (checkpoint.hpp), and to take processes apart that turn out
// to have too many cells (model/hubs.hpp).

#include <numeric>

#include "base/thresholds.hpp"
#include "reduce/symmetry/canonical.hpp"
#include "search/checkpoint.hpp"
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
          store_(tables, options.threads, options.spill),
          sequence_(options.threads),
          may_take_apart_(!options.partial_orders && options.symmetry == nullptr && options.evidence == nullptr &&
                          options.checkpoints == nullptr && !options.census && !tables.optimistic &&
                          options.spill.empty() && tables.most_ranks == 0 && tables.bound == nullptr &&
                          tables.step_observer == nullptr && Hub::possible(tables.network)),
          next_look_(tables.columns.size(), thresholds.most_cells) {
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
            } catch (const DiskFull&) {
                stop_ = Stop::disk;
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
        put_off_saving(Clock::duration{0});
        levels_.push_back(counts());
        if (options_.checkpoints != nullptr && options_.checkpoints->from) {
            std::vector<Range> left = restore(*options_.checkpoints->from);
            if (stop_ != Stop::finished) return;  // it is saved as it was
            go_on(crew, std::move(left));
        } else {
            for (std::size_t i = 0; i < tables_.initials.size(); ++i) insert_initial(tables_.initial_cells(i));
            settle();
        }
        while (stop_ == Stop::finished && !violation_ && !over_) {
            std::vector<Range> ranges;
            for (unsigned i = 0; i < options_.threads; ++i)
                if (levels_.back()[i] < store_.count(i))
                    ranges.push_back({.array = i, .begin = levels_.back()[i], .end = store_.count(i)});
            if (ranges.empty()) break;
            if (levels_.size() - 1 >= options_.most_depth) break;
            depth_ = levels_.size() - 1;
            levels_.push_back(counts());
            go_on(crew, std::move(ranges));
        }
    }

    // Expands what is left of a level, and does what is due at its end.
    void go_on(Crew& crew, std::vector<Range> ranges) {
        while (!ranges.empty() && stop_ == Stop::finished) {
            work(crew, std::move(ranges));
            ranges = settle();
            if (stop_ != Stop::finished || due()) save(ranges);
        }
        if (stop_ != Stop::finished) return;
        // At the end of a level, so that the universe grows alike for any number of threads.
        if (tables_.outgrown && void_from_ == 0) void_from_ = store_.size();
        if (tables_.outgrown && store_.size() >= 2 * void_from_ + options_.void_states) {
            over_ = true;
            return;
        }
        for (auto& worker : workers_) merge_goals(*worker);
        if (goals_end(properties_, options_, store_.size(), goals_.size())) {
            stop_ = Stop::reached;
            return;
        }
        if (!violation_ && options_.meanwhile && options_.meanwhile(store_.size(), transitions())) {
            stop_ = Stop::overtaken;
        } else if (hubs_ && !hubs_->current()) {  // messages of a new type were met meanwhile
            take_apart();
        } else if (not_worth_it() || saves_little()) {
            given_up_ = levels_.size() - 1;
            for (auto& worker : workers_) worker->chooser.reset();
        }
        if (stop_ != Stop::finished) save({});
    }

    // --- saving, and going on from what was saved ---

    bool due() const { return options_.checkpoints != nullptr && Clock::now() >= next_save_; }
    // A search spends no more than a twentieth of its time on being saved, however slow the disk is, unless it is to be
    // saved more often than once a second.
    void put_off_saving(Clock::duration took) {
        if (options_.checkpoints == nullptr) return;
        const double seconds = options_.checkpoints->seconds;
        auto pause = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, 1e9)));
        if (seconds >= 1) pause = std::max(pause, 20 * took);
        next_save_ = Clock::now() + pause;
    }

    void save(const std::vector<Range>& again) {
        const Stop stop = stop_;
        if (options_.checkpoints == nullptr || stop == Stop::regrown) return;
        const auto begun = Clock::now();
        sequence_.extend(store_, levels_);
        Snapshot snapshot(store_, sequence_.since(saved_));
        snapshot.stop = stop;
        SearchState& state = snapshot.state;
        state.states = store_.size();
        state.depth = depth_;
        state.given_up = given_up_;
        state.next_trial = next_trial_;
        state.void_from = void_from_;
        state.outgrown = tables_.outgrown;
        if (options_.partial_orders) state.built = built_before_ + options_.partial_orders->built();
        state.cut.assign(tables_.columns.size(), false);
        state.goals = goals_;
        std::vector<std::optional<Witness>> best(properties_.size());
        for (const auto& worker : workers_) {
            state.transitions += worker->transitions;
            state.deadlocks += worker->deadlocks;
            state.stands_for += worker->stands_for;
            state.offered += worker->offered;
            state.left_out += worker->left_out;
            for (std::size_t i = 0; i < state.cut.size(); ++i)
                if (worker->expander.cut[i]) state.cut[i] = true;
            for (std::size_t i = 0; i < best.size(); ++i)
                if (worker->goals[i] && (!best[i] || worker->goals[i]->rank() < best[i]->rank()))
                    best[i] = worker->goals[i];
            for (const Violations& each : worker->violations) add_to(state.violations, each);
        }
        for (auto& goal : best)
            if (goal) state.goals_of_level.push_back(std::move(*goal));
        for (const auto& level : levels_) {
            std::uint64_t begin = 0;
            for (std::uint64_t of_array : level) begin += of_array;
            state.levels.push_back(begin);
        }
        state.pending = sequence_.places(again);
        state.unchecked = unchecked_;
        state.violation = violation_;
        if (options_.checkpoints->save(snapshot)) saved_ = sequence_.size();
        put_off_saving(Clock::now() - begun);
    }

    // The states become those of the first thread. Returns those that are still to be expanded.
    std::vector<Range> restore(const SearchState& from) {
        store_.widen();
        while (auto saved = options_.checkpoints->load()) {
            restore(*saved);
            look();
            if (stop_ != Stop::finished) return {};
        }
        if (store_.size() != from.states) throw Damaged("states are missing");
        const std::uint64_t others = options_.threads - 1;
        levels_.clear();
        for (std::uint64_t begin : from.levels) {
            levels_.emplace_back(1, begin);
            levels_.back().resize(1 + others, 0);
        }
        sequence_.extend(store_, levels_);
        saved_ = sequence_.size();
        depth_ = from.depth;
        given_up_ = from.given_up;
        next_trial_ = from.next_trial;
        void_from_ = from.void_from;
        built_before_ = from.built;
        if (from.outgrown) tables_.outgrown = true;
        Worker& first = *workers_[0];
        first.transitions = from.transitions;
        first.published = from.transitions;
        first.deadlocks = from.deadlocks;
        first.stands_for = from.stands_for;
        first.offered = from.offered;
        first.left_out = from.left_out;
        first.violations = from.violations;
        for (const Witness& goal : from.goals_of_level) first.goals.at(goal.property) = goal;
        for (std::size_t i = 0; i < from.cut.size(); ++i)
            if (from.cut[i]) first.expander.cut.at(i) = true;
        goals_ = from.goals;
        violation_ = from.violation;
        if (given_up_ > 0)
            for (auto& worker : workers_) worker->chooser.reset();
        for (const Pending& one : from.pending)
            left_over_.push_back(
                {.array = 0, .begin = one.begin, .end = one.end, .in_full = one.in_full, .counted = one.counted});
        unchecked_ = from.unchecked;
        return settle();
    }
    void restore(const SavedStates& saved) {
        const Layout layout = Layout::of(saved.bits);
        const std::size_t width = tables_.width(), words = store_.layout().words();
        if (saved.bits.size() != width || saved.bytes % layout.stride() != 0) throw Damaged("states of another shape");
        constexpr std::size_t ahead = 64;
        std::vector<Id> cells(width);
        std::vector<Word> packed(ahead * words);
        std::uint64_t hashes[ahead], known = 0;
        const std::size_t count = saved.bytes / layout.stride();
        for (std::size_t begin = 0; begin < count; begin += ahead) {
            while (store_.room() < portion * options_.threads + ahead || store_.needs_growth()) grow();
            const std::size_t some = std::min(ahead, count - begin);
            for (std::size_t i = 0; i < some; ++i) {
                layout.unpack(saved.packed.data() + (begin + i) * layout.stride(), cells.data());
                for (Id column = 0; column < width; ++column)
                    if (cells[column] >= tables_.cell_count(column))
                        throw Damaged("a state of cells that are not there");
                store_.layout().pack(cells.data(), packed.data() + i * words);
                hashes[i] = spread(tables_.sum(cells.data()));
                store_.prefetch(hashes[i]);
            }
            for (std::size_t i = 0; i < some; ++i)
                if (store_.insert(0, packed.data() + i * words, hashes[i], known) == Store::Insertion::known)
                    throw Damaged("a state is there twice");
        }
    }

    // Whether partial orders save few states: as many steps as they leave out, the same states may be reached by
    // others. That is tried out. A search without them, to the same depth, is cheap beside what they cost; it is done
    // whenever there are twice as many states, and not at all once they have shown their worth.
    bool saves_little() {
        if (!workers_[0]->chooser || store_.size() < next_trial_) return false;
        const std::uint64_t trial = std::exchange(next_trial_, 2 * store_.size());
        constexpr std::uint64_t worth = 5;  // times as many states: no doubt about it
        SearchOptions options = options_;
        options.partial_orders.reset();
        options.evidence = nullptr;
        options.meanwhile = {};
        options.checkpoints = nullptr;
        options.goals_end_from = ~std::uint64_t{0};
        options.most_depth = levels_.size() - 1;
        options.limits.states = worth * store_.size();
        const SearchResult plain = breadth_first(tables_, properties_, oracle_, options);
        for (auto& worker : workers_) worker->expander.forget_steps();  // the tables may have
        if (plain.stop == Stop::regrown || plain.stop == Stop::interrupt || plain.stop == Stop::time ||
            plain.stop == Stop::memory || plain.stop == Stop::disk) {
            stop_ = plain.stop;
            next_trial_ = trial;  // it is made again where the search goes on
            return false;
        }
        if (plain.stop == Stop::states) {
            next_trial_ = ~std::uint64_t{0};
            return false;
        }
        const bool dear = built_before_ + options_.partial_orders->built() > store_.size();
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
        for (auto& worker : workers_) {
            if (worker->error) std::rethrow_exception(worker->error);
            // Room in the index first: what waits is packed in the layout of now.
            do {
                while (store_.room() < portion * options_.threads) grow();
                flush(*worker);
            } while (worker->waiting > 0);
            queries.insert(queries.end(), worker->expander.queries.begin(), worker->expander.queries.end());
            worker->expander.queries.clear();
            again.insert(again.end(), worker->deferred.begin(), worker->deferred.end());
            worker->deferred.clear();
            for (auto& one : worker->unchecked) unchecked_.push_back(std::move(one));
            worker->unchecked.clear();
        }
        // What stops the search here leaves it whole, so that it can be saved.
        try {
            while (store_.needs_growth() && stop_ == Stop::finished) grow();
            ask(tables_, oracle_, queries);
        } catch (const std::bad_alloc&) {
            stop_ = Stop::memory;
        } catch (const Interrupted&) {
            stop_ = Stop::interrupt;
        }
        if (may_take_apart_ && stop_ == Stop::finished) take_apart();
        if (widen_.exchange(false)) {
            store_.widen();
            for (auto& worker : workers_) worker->most = 0;  // a state may have more words now
        }
        judge();
        for (auto& worker : workers_)
            if (worker->violation && (!violation_ || worker->violation->rank() < violation_->rank()))
                violation_ = std::move(worker->violation);
        // The steps of parts are copies, and do not know what properties have begun to read.
        const bool stale = hubs_ != nullptr && observations_ != tables_.observations;
        observations_ = tables_.observations;
        if (stale || too_many_steps()) {
            forget_steps(tables_, hubs_.get());
            for (auto& worker : workers_) worker->expander.forget_steps();
        }
        pause_ = false;
        look();
        remaining_ = 0;
        for (const Range& range : again) remaining_ += range.end - range.begin;
        return again;
    }

    bool too_many_steps() const {
        const std::size_t bytes = step_bytes(tables_, hubs_.get());
        return bytes > tables_.most_step_bytes && bytes > store_.bytes();
    }

    // --- processes with too many cells ---

    // A process is taken apart if it has nearly as many cells as there are states, and needs far fewer numbers then.
    // Looked at while all threads rest, and again whenever it has twice as many cells. No answer depends on it.
    void take_apart() {
        constexpr std::size_t many = 8;  // times as many states: cells are met again often enough
        bool changes = hubs_ != nullptr && !hubs_->current();
        std::vector<Id> chosen;
        for (Id column = 0; column < tables_.columns.size(); ++column) {
            Column& process = *tables_.columns[column];
            bool apart = hubs_ != nullptr && hubs_->of(column) != nullptr;
            if (apart && changes) apart = Hub::possible(process);
            const std::size_t cells = process.cells.size();
            if (!apart && cells >= next_look_[column]) {
                next_look_[column] = 2 * cells;
                // The states are there twice for a moment.
                if (resident_bytes() + store_.bytes() > options_.limits.memory) continue;
                apart = Hub::possible(process) && (cells * many >= store_.size() || thresholds.hub_gain == 0) &&
                        numbers_needed(tables_, process) * thresholds.hub_gain <= cells;
                changes |= apart;
            }
            if (apart) chosen.push_back(column);
        }
        if (changes) convert(chosen.empty() ? nullptr : std::make_unique<Hubs>(tables_, chosen));
    }
    bool too_many_cells() const {
        for (Id column = 0; may_take_apart_ && column < next_look_.size(); ++column)
            if (tables_.columns[column]->cells.size() >= next_look_[column] && (!hubs_ || hubs_->of(column) == nullptr))
                return true;
        return false;
    }
    void convert(std::unique_ptr<Hubs> next) {
        const auto converted = [&](const std::vector<Id>& cells) {
            const std::vector<Id> whole = hubs_ ? hubs_->join(cells) : cells;
            return next ? next->divide(whole) : whole;
        };
        store_.convert(next.get(), converted);
        const auto convert_all = [&](std::vector<Violations>& all) {
            for (Violations& each : all) each.first.cells = converted(each.first.cells);
        };
        for (Unchecked& one : unchecked_) one.cells = converted(one.cells);
        for (Witness& goal : goals_) goal.cells = converted(goal.cells);
        convert_all(violations_);
        if (violation_) violation_->cells = converted(violation_->cells);
        for (auto& worker : workers_) {
            if (worker->violation) worker->violation->cells = converted(worker->violation->cells);
            for (auto& goal : worker->goals)
                if (goal) goal->cells = converted(goal->cells);
            convert_all(worker->violations);
            worker->expander.use(next.get());
            worker->most = 0;  // a state may have more words now
        }
        hubs_ = std::move(next);
    }
    std::size_t width() const { return store_.layout().width(); }
    std::uint64_t content(const std::vector<Id>& cells) const { return content_of(tables_, hubs_.get(), cells); }

    void grow() {
        const auto too_much = [&] { return resident_bytes() + store_.bytes_to_grow() > options_.limits.memory; };
        if (too_much()) store_.rest();
        if (too_much()) {
            stop_ = Stop::memory;
            throw std::bad_alloc();
        }
        store_.grow();
    }

    void judge() {
        std::sort(unchecked_.begin(), unchecked_.end(),
                  [&](const Unchecked& a, const Unchecked& b) { return content(a.cells) < content(b.cells); });
        std::size_t judged = 0;
        try {
            for (; judged < unchecked_.size(); ++judged)
                if (!judge(unchecked_[judged])) break;
        } catch (const Interrupted&) {
            stop_ = Stop::interrupt;
        }
        unchecked_.erase(unchecked_.begin(), unchecked_.begin() + static_cast<std::ptrdiff_t>(judged));
    }
    // False if the search stops before it is judged.
    bool judge(const Unchecked& one) {
        look();
        for (std::size_t i = 0; i < properties_.size() && stop_ == Stop::finished; ++i) {
            if (properties_[i].kind == PropertyKind::bound) continue;
            if (one.stuck != (properties_[i].kind == PropertyKind::final)) continue;
            if (judge_.ask(i, one.cells) == Verdict::unknown) stop_ = Stop::regrown;
        }
        if (stop_ != Stop::finished) return false;
        if (one.stuck)
            check_stuck(*workers_[0], one.cells, one.length);
        else
            check(*workers_[0], one.cells, one.length);
        return true;
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

    std::vector<std::uint64_t> level_starts() const {
        std::vector<std::uint64_t> starts;
        for (const auto& begins : levels_)
            starts.push_back(std::accumulate(begins.begin(), begins.end(), std::uint64_t{0}));
        return starts;
    }

    void look() {
        const auto stop = watch_.look([&] {
            if (!options_.spill.empty() && resident_bytes() > options_.limits.memory / 10 * 7) store_.rest();
            Progress progress;
            progress.states = store_.size();
            for (const auto& worker : workers_)
                progress.transitions += worker->published.load(std::memory_order_relaxed);
            progress.frontier = remaining_ + next_level();
            progress.depth = depth_;
            progress.levels = level_starts();
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
                if (store_.needs_growth() || too_many_steps() || too_many_cells() ||
                    worker.unchecked.size() >= most_waiting || worker.expander.queries.size() >= most_waiting)
                    pause_ = true;
                if (store_.size() >= options_.limits.states) halt(Stop::states);
                if (worker.number == 0) {
                    if (due()) pause_ = true;
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
        const auto emit = [&](Id process, const Step&, Id number, std::uint64_t hash,
                              bool observed) __attribute__((always_inline)) {
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
        const auto fail = [&](Id column, Id, Id failure) {
            Witness witness;
            witness.finding = Finding::failure;
            witness.length = depth_ + 1;
            witness.column = column;
            witness.failure = failure;
            // The number of a step depends on the order of discovery; the failure's content does not.
            witness.content = tables_.content(StepIdentity::of(column, expander.failing()));
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
                witness.faults = tables_.spent(expander.cells);
                witness.content = mix(content(expander.cells) + witness.content);
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
                worker.scratch.resize(width());
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
        result.faults = tables_.spent(cells);
        result.content = content(cells);
        result.cells = cells;
        return result;
    }
    void offer(Worker& worker, Witness witness) const {
        if (options_.all)
            add_to(worker.violations, {std::move(witness), 1});
        else if (!worker.violation || witness.rank() < worker.violation->rank())
            worker.violation = std::move(witness);
    }

    // A state that a step reaches without changing what properties read is not judged again, so the states in which a
    // property is violated are counted here. All answers are known by now, unless the search has gone on from what was
    // saved: what properties say of renamed states is not part of that.
    void count_violations() {
        std::vector<Id> cells(width());
        std::vector<std::uint64_t> counts(properties_.size());
        const auto again = [&](std::size_t property) {
            try {
                return judge_.ask(property, cells);
            } catch (const Interrupted&) {
                return Verdict::unknown;
            }
        };
        for (unsigned array = 0; array < store_.threads(); ++array) {
            for (std::uint64_t i = 0; i < store_.count(array); ++i) {
                store_.layout().unpack(store_.state(array, i), cells.data());
                judge_.state(cells, again, [&](Finding finding, std::size_t property) {
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
        result.levels = level_starts();
        result.depth = depth_ + (next_level() > 0 && levels_.size() > 1);
        result.given_up = given_up_;
        result.cut.assign(tables_.columns.size() + 1, false);
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
        // A search that was stopped has not looked at what it asked for last.
        if (hubs_ && !hubs_->current()) take_apart();
        // Those of a level that was not finished, or of the initial states if one of them is a violation.
        for (auto& worker : workers_) merge_goals(*worker);
        if (violation_) {
            find_path(tables_, store_, levels_, oracle_, options_.symmetry, hubs_.get(), *violation_);
            result.violation = std::move(violation_);
        }
        for (auto& worker : workers_)
            for (Violations& each : worker->violations) add_to(violations_, std::move(each));
        if (stop_ == Stop::regrown || tables_.outgrown) violations_.clear();
        if (!violations_.empty()) count_violations();
        std::sort(violations_.begin(), violations_.end(),
                  [](const Violations& one, const Violations& two) { return one.first.rank() < two.first.rank(); });
        for (Violations& each : violations_) {
            find_path(tables_, store_, levels_, oracle_, options_.symmetry, hubs_.get(), each.first);
            result.violations.push_back(std::move(each));
        }
        for (Witness& goal : goals_) {
            find_path(tables_, store_, levels_, oracle_, options_.symmetry, hubs_.get(), goal);
            result.goals.push_back(std::move(goal));
        }
        tables_.part_values = hubs_ ? hubs_->values() : 0;
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

    Sequence sequence_;
    std::uint64_t saved_ = 0;         // states of the sequence
    std::uint64_t built_before_ = 0;  // by the partial orders, before the search was saved
    Clock::time_point next_save_{};
    bool over_ = false;  // it has left the universe, and what else lies outside is known
    std::vector<Unchecked> unchecked_{};

    std::vector<Range> work_{}, left_over_{};
    std::vector<std::uint64_t> starts_{};  // of each range, counted through the round's work
    std::uint64_t total_ = 0;
    std::atomic<std::uint64_t> cursor_{0};
    std::atomic<bool> pause_{false}, widen_{false};

    const bool may_take_apart_;
    std::unique_ptr<Hubs> hubs_{};
    std::uint64_t observations_ = 0;
    std::vector<std::size_t> next_look_{};  // per process: with how many cells to see whether to take it apart
};

}  // namespace

SearchResult breadth_first(Tables& tables, std::vector<Property>& properties, Oracle& oracle,
                           const SearchOptions& options) {
    return BreadthFirst(tables, properties, oracle, options).run();
}

}  // namespace quorate

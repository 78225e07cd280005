// The levels of a breadth-first search, on the calling thread: see breadth_first.hpp.

#include "search/breadth_first.hpp"

#include <numeric>

namespace quorate {

BreadthFirst::BreadthFirst(Tables& tables, std::vector<Property>& properties, Oracle& oracle,
                           const SearchOptions& options)
    : tables_(tables),
      properties_(properties),
      oracle_(oracle),
      options_(options),
      judge_(tables, properties, oracle, options.symmetry),
      watch_(options.limits, oracle),
      memory_before_(resident_bytes()),
      store_(tables, options.threads, options.spill, options.fingerprints),
      broken_(properties.size() + 1),
      sequence_(options.threads),
      may_extend_(options.outgrown && !options.partial_orders && options.symmetry == nullptr &&
                  options.evidence == nullptr && options.checkpoints == nullptr && tables.step_observer == nullptr &&
                  tables.most_ranks == 0),
      may_take_apart_(!options.partial_orders && options.symmetry == nullptr && options.evidence == nullptr &&
                      options.checkpoints == nullptr && !options.census && !tables.optimistic &&
                      options.spill.empty() && !options.fingerprints && tables.most_ranks == 0 &&
                      tables.bound == nullptr && !tables.shows_messages && tables.step_observer == nullptr &&
                      Hub::possible(tables.network)),
      next_look_(tables.columns.size(), thresholds.most_cells) {
    if (options.partial_orders && options.partial_orders->whole_runs)
        throw std::logic_error("properties of whole runs need a depth-first search");
    if (options.fingerprints && (options.partial_orders || options.checkpoints != nullptr || options.census))
        throw std::logic_error("fingerprints do not tell which states there are");
    for (unsigned i = 0; i < options.threads; ++i) {
        workers_.push_back(std::make_unique<Worker>(tables, i));
        workers_.back()->goals.resize(properties.size());
        if (options.partial_orders) workers_.back()->chooser = options.partial_orders->chooser();
        if (options.symmetry != nullptr) workers_.back()->canonical.emplace(*options.symmetry);
    }
}

SearchResult BreadthFirst::run() {
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
    if (std::exchange(tables_.stays_inside, false)) tables_.outgrown = false;  // what was put aside was not taken
    tables_.outside.clear();
    return report();
}

void BreadthFirst::search(Crew& crew) {
    put_off_saving(Clock::duration{0});
    levels_.push_back(counts());
    if (options_.checkpoints != nullptr && options_.checkpoints->from) {
        std::vector<Range> left = restore(*options_.checkpoints->from);
        if (stop_ != Stop::finished) return;  // it is saved as it was
        go_on(crew, std::move(left));
    } else {
        for (std::size_t i = 0; i < tables_.initials.size(); ++i) insert_initial(tables_.initial_cells(i));
        tables_.stays_inside = may_extend_ && tables_.optimistic && !tables_.outgrown;
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
        if (keeps_levels_) forget_levels();
        go_on(crew, std::move(ranges));
    }
}

void BreadthFirst::go_on(Crew& crew, std::vector<Range> ranges) {
    while (!ranges.empty() && stop_ == Stop::finished) {
        work(crew, std::move(ranges));
        ranges = settle();
        if (stop_ != Stop::finished || due()) save(ranges);
    }
    if (stop_ != Stop::finished) return;
    // At the end of a level, so that the universe grows alike for any number of threads.
    if (tables_.outgrown && void_from_ == 0) void_from_ = store_.size();
    if (tables_.outgrown && store_.size() >= goes_on_to(void_from_, options_)) {
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
    } else if (next_level() > 0 && !violation_ && (not_worth_it() || saves_little())) {
        given_up_ = levels_.size() - 1;
        for (auto& worker : workers_) worker->chooser.reset();
    }
    if (stop_ != Stop::finished) save({});
}

bool BreadthFirst::saves_little() {
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
    // Counts of states alone: how much was worked out differs between threads, workers, and a search that was resumed.
    return plain.states * 2 < store_.size() * 3;
}

bool BreadthFirst::not_worth_it() const {
    if (!workers_[0]->chooser || store_.size() < few_states) return false;
    std::uint64_t offered = 0, left_out = 0;
    for (const auto& worker : workers_) {
        offered += worker->offered;
        left_out += worker->left_out;
    }
    return left_out * 10 < offered;
}

void BreadthFirst::insert_initial(std::vector<Id> cells) {
    if (workers_[0]->canonical) cells = std::vector<Id>(workers_[0]->canonical->of(cells));
    store_.widen();
    std::vector<Word> packed(store_.layout().words());
    store_.layout().pack(cells.data(), packed.data());
    std::uint64_t known;
    if (store_.insert(0, packed.data(), spread(tables_.sum(cells.data())), known) == Store::Insertion::known) return;
    workers_[0]->stands_for += workers_[0]->canonical ? workers_[0]->canonical->orbit() : 1;
    check(*workers_[0], cells, 0);
}

std::vector<Range> BreadthFirst::settle() {
    std::vector<Range> again = std::move(left_over_);
    left_over_.clear();
    bool waits_outside = tables_.stays_inside && tables_.outgrown && again.empty() && !widen_;
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
    look();
    waits_outside &= queries.empty();
    // What stops the search here leaves it whole, so that it can be saved.
    try {
        while (store_.needs_growth() && stop_ == Stop::finished) grow();
        ask(tables_, oracle_, queries);
    } catch (const std::bad_alloc&) {
        stop_ = Stop::memory;
    } catch (const Interrupted&) {
        stop_ = Stop::interrupt;
    }
    if (waits_outside && stop_ == Stop::finished) extend_universe(!again.empty());
    if (may_take_apart_ && stop_ == Stop::finished) take_apart();
    if (widen_ && may_widen()) {
        widen_ = false;
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
    if (options_.fingerprints) forget_expanded(again);
    remaining_ = 0;
    for (const Range& range : again) remaining_ += range.end - range.begin;
    return again;
}

void BreadthFirst::extend_universe(bool wait) {
    const std::optional<bool> stands = wait ? options_.outgrown() : false;
    ++tables_.round;  // what waits is looked at again
    tables_.outside.clear();
    if (!stands)
        stop_ = Stop::interrupt;
    else if (*stands)
        tables_.outgrown = false;
    else
        tables_.stays_inside = false;
}

void BreadthFirst::grow() {
    const auto too_much = [&] { return resident_bytes() + store_.bytes_to_grow() > options_.limits.memory; };
    if (too_much()) store_.rest();
    while (too_much() && forget_oldest()) {
    }
    if (too_much()) {
        stop_ = Stop::memory;
        throw std::bad_alloc();
    }
    store_.grow();
}

bool BreadthFirst::may_widen() {
    const auto too_much = [&] { return resident_bytes() + store_.bytes_to_widen() > options_.limits.memory; };
    while (too_much() && forget_oldest()) {
    }
    if (too_much()) stop_ = Stop::memory;
    return stop_ != Stop::memory;
}

std::vector<std::uint64_t> BreadthFirst::counts() const {
    std::vector<std::uint64_t> result;
    for (unsigned i = 0; i < options_.threads; ++i) result.push_back(store_.count(i));
    return result;
}

std::uint64_t BreadthFirst::transitions() const {
    std::uint64_t sum = 0;
    for (const auto& worker : workers_) sum += worker->transitions;
    return sum;
}

std::uint64_t BreadthFirst::next_level() const {
    std::uint64_t sum = store_.size();
    for (std::uint64_t begin : levels_.back()) sum -= begin;
    return sum;
}

std::vector<std::uint64_t> BreadthFirst::level_starts() const {
    std::vector<std::uint64_t> starts;
    for (const auto& begins : levels_)
        starts.push_back(std::accumulate(begins.begin(), begins.end(), std::uint64_t{0}));
    return starts;
}

// Every state that is compared may bring a page into memory, and its neighbours with it. So the more room there is, the
// later it has to be looked at; by every thread, since the others may be waiting for a core.
void BreadthFirst::keep_resting(Worker& worker) {
    if (options_.spill.empty() || worker.batches_left-- > 0) return;
    const std::size_t most = std::size_t{64 << 10} * 3 * batch * options_.threads;
    const std::size_t limit = options_.limits.memory / 20 * 19;
    std::size_t now = resident_bytes();
    if (now + most > limit) {
        store_.rest();
        now = resident_bytes();
    }
    worker.batches_left = limit > now ? (limit - now) / most / 2 : 0;
}

Progress BreadthFirst::progress() const {
    Progress progress;
    progress.states = store_.size();
    for (const auto& worker : workers_) progress.transitions += worker->published.load(std::memory_order_relaxed);
    progress.frontier = remaining_ + next_level();
    progress.depth = depth_;
    progress.levels = level_starts();
    progress.memory = resident_bytes();
    if (tables_.outgrown) return progress;
    for (std::size_t i = 0; i < properties_.size(); ++i)
        if (broken_[i]) progress.violated.push_back(i);
    progress.deadlock = broken_.back();
    progress.failure = failed_;
    return progress;
}

void BreadthFirst::look() {
    if (news_.exchange(false) && oracle_.poll(progress())) halt(Stop::interrupt);
    if (const auto stop = watch_.look([&] { return progress(); })) halt(*stop);
}

SearchResult breadth_first(Tables& tables, std::vector<Property>& properties, Oracle& oracle,
                           const SearchOptions& options) {
    return BreadthFirst(tables, properties, oracle, options).run();
}

}  // namespace quorate

// What all searches share: the oracle they ask, the limits they keep, what they report, and how one state is expanded.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "chooser.hpp"
#include "judge.hpp"
#include "store.hpp"
#include "survey.hpp"

namespace quorate {

// `depth` and `cycle`: a stateless search cut runs at a depth, or met a run that has no end. `reached`: nothing but
// goals was asked for, and each of them was reached.
enum class Stop : std::uint8_t {
    finished,
    violation,
    states,
    memory,
    time,
    interrupt,
    regrown,
    outgrown,
    depth,
    cycle,
    reached
};

struct Progress {
    std::uint64_t states = 0, transitions = 0, frontier = 0, depth = 0;
    std::size_t memory = 0;
};

// The user asked to stop while the oracle was at work.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

// Who knows the protocol. Called from the thread that started the search, while all others rest.
struct Oracle {
    virtual ~Oracle() = default;
    // Puts the answers to all queries into the tables.
    virtual void fill(const std::vector<Query>& queries) = 0;
    // Evaluates a property on a state, given by its local states, and adds the path to its trie. False: it read a field
    // that was not observed before while the local quotient is on, so the answer is void and the search has to start
    // over (rule 8). Both throw Interrupted where it is time to stop.
    virtual bool judge(std::size_t property, std::span<const Id> locals) = 0;
    // About ten times a second. True: stop.
    virtual bool poll(const Progress& progress) = 0;
};

struct Limits {
    std::uint64_t states = ~std::uint64_t{0};
    std::size_t memory = ~std::size_t{0};
    double seconds = 1e18;
};

enum class Finding : std::uint8_t { violated, reached, raises, deadlock, failure };

// A state, or a step from a state, that decides a property.
struct Witness {
    Finding finding = Finding::violated;
    std::size_t property = 0;  // index among the properties; unused for deadlock and failure
    std::uint64_t length = 0;  // steps from an initial state, the failing one included
    std::uint64_t content = 0;
    std::vector<Id> cells{};              // the deciding state, or the one the failing step starts from
    Id column = none, step = none;        // the failing step
    Id failure = none;                    // the failure of a handler or of a monitor
    std::vector<std::vector<Id>> path{};  // the states from an initial one to `cells`

    // Shorter first, then by kind and property, then by content: the same choice for every order of discovery.
    auto rank() const { return std::make_tuple(length, finding, property, content, column, step); }
};

class Symmetry;

// A step of a search, as it was taken.
struct StepTaken {
    std::vector<Id> from, to;
    Id column, step;
};

enum class DporVariant : std::uint8_t { none, classical, optimal };

struct SearchOptions {
    unsigned threads = 1;
    bool deadlock = false;  // is a state without an enabled protocol step a violation, unless final?
    // Nothing else is asked for than the goals: with so many states, the search is over once all of them were reached.
    std::uint64_t goals_end_from = ~std::uint64_t{0};
    bool stateless = false;
    std::size_t bitstate = 0;  // bytes of the bit array, 0 for an exact store
    std::optional<PartialOrders> partial_orders{};
    Symmetry* symmetry = nullptr;  // with symmetry reduction
    DporVariant dpor = DporVariant::none;
    bool visible = true;       // with dynamic partial-order reduction: are there properties besides deadlock?
    Survey* survey = nullptr;  // where the search is to be checked afterwards
    std::vector<StepTaken>* record = nullptr;  // depth-first: every step that is taken
    std::uint64_t most_depth = ~std::uint64_t{0};
    // A search that has left the optimistic universe is void, but goes on until it has twice as many states, and so
    // many more: then it is known what else lies outside, and fewer searches have to start over.
    std::uint64_t void_states = 1000;
    Limits limits{};
};

struct SearchResult {
    Stop stop = Stop::finished;
    std::uint64_t states = 0, transitions = 0, depth = 0, deadlocks = 0, frontier = 0;
    std::uint64_t given_up = 0;  // the depth from which on stubborn sets were no longer looked for; 0: always
    std::uint64_t executions = 0, blocked = 0;  // with dynamic partial-order reduction: runs made, and given up
    double stands_for = 0;                      // states, with those that differ in names only
    std::optional<Witness> violation{};
    std::vector<Witness> goals{};
    double coverage = 1.0;
    std::size_t store_bytes = 0;  // growth of resident memory
    std::vector<bool> cut{};      // the columns whose bound cut a step
};

using Clock = std::chrono::steady_clock;

// Decides when to look at the clock, the memory and the user.
class Watch {
public:
    Watch(const Limits& limits, Oracle& oracle) : limits_(limits), oracle_(oracle) {}

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    // Cheap; asks the oracle about ten times a second.
    template <typename Fill>
    std::optional<Stop> look(Fill fill) {
        const auto now = Clock::now();
        if (now < next_) return std::nullopt;
        next_ = now + std::chrono::milliseconds(100);
        Progress progress = fill();
        progress.memory = resident_bytes();
        if (oracle_.poll(progress)) return Stop::interrupt;
        if (progress.memory > limits_.memory) return Stop::memory;
        if (seconds() > limits_.seconds) return Stop::time;
        return std::nullopt;
    }

private:
    const Limits limits_;
    Oracle& oracle_;
    Clock::time_point start_ = Clock::now(), next_ = start_ + std::chrono::milliseconds(100);
};

std::vector<Id> locals_of(const Tables& tables, std::span<const Id> cells);

// Sorts by content, drops repetitions and asks: the same questions in the same order for any number of threads.
void ask(Tables& tables, Oracle& oracle, std::vector<Query>& queries);

// The successors of one state, one after another, in a buffer of cells that is changed and restored.
struct Expander {
    explicit Expander(Tables& tables) : tables(tables), cells(tables.width()), cut(tables.columns.size(), false) {
        for (const auto& column : tables.columns) processes_ += !column->monitor;
        views_.resize(tables.width());
        ready_.resize(processes_ + 1);
        for (Id column = 0; column < tables.width(); ++column) lanes_.push_back({.factor = tables.factor(column)});
    }

    Tables& tables;
    std::vector<Id> cells;  // the state; during a call-back, the successor
    struct Change {
        Id column, before, after;
    };
    // From the state to the successor, in order; a column may occur twice.
    std::span<const Change> changes() const { return {changes_.data(), changed_}; }
    std::vector<bool> cut;  // the columns whose bound (`within`) has cut a step
    std::vector<Query> queries{};

    struct Summary {
        bool missing = false;  // some facts are not known: what was produced so far must not be used
        bool enabled = false;  // a protocol step is enabled, be it one that a bound cuts
    };

    // Calls emit(column, step, step number, hash, observed) for every step that moves, with the successor in `cells`,
    // and fail(column, step number, failure) for every step in which a handler or a monitor fails.
    // With `chosen`, only for the steps it holds.
    template <typename Emit, typename Fail>
    Summary expand(std::uint64_t sum, Emit emit, Fail fail, const Choice* chosen = nullptr) {
        Summary summary;
        if (!gather(chosen)) {
            summary.missing = true;
            return summary;
        }
        for (const Ready *ready = ready_.data(), *last = ready + ready_count_; ready != last; ++ready) {
            const std::vector<char>* wanted = chosen == nullptr ? nullptr : (*chosen)[ready->column];
            for (const Step* step = ready->begin; step != ready->end; ++step)
                if (wanted == nullptr || (*wanted)[static_cast<std::size_t>(step - ready->begin)])
                    take(ready->column, *step, ready->begin, sum, summary, emit, fail);
        }
        return summary;
    }
    // Are the steps of every process known? What is missing is asked for.
    bool steps_known() {
        bool known = true;
        for (Id column = 0; column < processes_; ++column)
            known &= tables.steps(column, cells[column], queries) != nullptr;
        return known;
    }
    // Does a cell of the state, or a step of one, lie outside of the optimistic universe? The steps must be known.
    bool leaves() const {
        for (Id column = 0; column < processes_ && tables.optimistic; ++column)
            if (tables.columns[column]->cells[cells[column]].leaves) return true;
        return false;
    }
    // The tables have forgotten their steps.
    void forget_steps() {
        for (auto& views : views_) views.assign(views.size(), {});
    }
    // The sum of the columns' shares; `spread` makes a hash of it.
    std::uint64_t sum() const {
        std::uint64_t sum = 0;
        const Id* cell = cells.data();
        for (const Lane& lane : lanes_) sum += lane.factor * *cell++;
        return sum;
    }

private:
    // What the tables hold of a cell, copied to where this thread finds it at once.
    struct alignas(32) View {
        const Step *begin = nullptr, *end = nullptr;
        const Row* row = nullptr;
    };
    struct Ready {
        const Step *begin, *end;
        Id column;
    };
    struct Lane {
        const View* views = nullptr;
        std::size_t count = 0;
        std::uint64_t factor = 0;
    };
    // Lists the processes that have steps; false if some process's steps are not known.
    bool gather(const Choice* chosen) {
        bool known = true;
        Ready* ready = ready_.data();
        const Id* cell = cells.data();
        const Lane* lane = lanes_.data();
        for (Id column = 0; column < processes_; ++column, ++cell, ++lane) {
            if (chosen != nullptr && (*chosen)[column] == nullptr) continue;
            const Step* begin = *cell < lane->count ? lane->views[*cell].begin : nullptr;
            if (begin == nullptr) [[unlikely]] {
                begin = copy_steps(column, *cell);
                if (begin == nullptr) {
                    known = false;
                    continue;
                }
            }
            const Step* const end = lane->views[*cell].end;
            *ready = {begin, end, column};
            ready += begin != end;
        }
        ready_count_ = static_cast<std::size_t>(ready - ready_.data());
        return known;
    }
    const Step* copy_steps(Id column, Id cell) {
        static const Step nothing{};
        const StepList* list = tables.steps(column, cell, queries);
        if (list == nullptr) return nullptr;
        View& view = room(column, cell);
        view.begin = list->empty() ? &nothing : list->data();
        view.end = view.begin + list->size();
        for (const Step& step : *list)
            if (changes_.size() < step.send_count + 2u) changes_.resize(step.send_count + 2u);
        return view.begin;
    }
    Id deliver(Id column, Id cell, Id message) {
        const Lane& lane = lanes_[column];
        const Row* row = cell < lane.count ? lane.views[cell].row : nullptr;
        const Id known = row != nullptr ? row->find(message) : none;
        return known != none ? known : copy_delivery(column, cell, message);
    }
    Id copy_delivery(Id column, Id cell, Id message) {
        const Id next = tables.deliver(column, cell, message, queries);
        if (next != none) room(column, cell).row = tables.columns[column]->cells[cell].row.load();
        return next;
    }
    View& room(Id column, Id cell) {
        auto& views = views_[column];
        if (cell >= views.size()) {
            views.resize(std::max<std::size_t>(cell + 1, views.size() + views.size() / 2));
            lanes_[column].views = views.data();
            lanes_[column].count = views.size();
        }
        return views[cell];
    }

    template <typename Emit, typename Fail>
    void take(Id column, const Step& step, const Step* first, std::uint64_t sum, Summary& summary, Emit& emit,
              Fail& fail) {
        Change* const changes = changes_.data();
        Id* const now = cells.data();
        std::size_t changed = 0;
        const auto move = [&](Id which, Id before, Id after) {
            sum += lanes_[which].factor * (static_cast<std::uint64_t>(after) - before);
            changes[changed++] = {which, before, after};
            now[which] = after;
        };
        if (step.special) [[unlikely]] {
            if (step.whole != none) {
                const Id room = tables.room(cells, column, first[step.whole], queries);
                summary.missing |= room == none;
                if (room >= full) return;
            }
            if (step.effect != Effect::moves) {
                summary.enabled = true;
                if (step.effect == Effect::cut)
                    cut[column] = true;
                else
                    fail(column, static_cast<Id>(&step - first), step.failure);
                return;
            }
            if (step.budget != Budget::free) {
                const Id purse = static_cast<Id>(tables.columns.size());
                const Id rest = tables.spend(now[purse], step.budget);
                if (rest == none) return;
                move(purse, now[purse], rest);
            }
        }
        bool observed = step.observed, possible = true;
        Id failure = none;
        move(column, now[column], step.next);
        for (const Send *send = step.sends, *end = send + step.send_count; send != end; ++send) {
            const Id old = now[send->column];
            const Id next = deliver(send->column, old, send->message);
            if (next == old) continue;
            if (next >= full) [[unlikely]] {
                possible = false;
                summary.missing |= next == none;
                break;
            }
            if (send->column >= processes_) {
                const Cell& reached = tables.columns[send->column]->cells[next];
                if (reached.failure != none) {
                    failure = reached.failure;
                    break;
                }
                observed |= reached.observation != tables.columns[send->column]->cells[old].observation;
            }
            move(send->column, old, next);
        }
        if (possible) [[likely]] {
            summary.enabled |= step.protocol;
            changed_ = changed;
            if (failure == none) [[likely]]
                emit(column, step, static_cast<Id>(&step - first), spread(sum), observed);
        }
        while (changed > 0) {
            --changed;
            now[changes[changed].column] = changes[changed].before;
        }
        if (possible && failure != none) fail(column, static_cast<Id>(&step - first), failure);
    }
    std::vector<std::vector<View>> views_{};
    std::vector<Lane> lanes_{};
    std::vector<Ready> ready_{};
    std::size_t ready_count_ = 0;
    std::vector<Change> changes_{};
    std::size_t changed_ = 0;
    Id processes_ = 0;
};

// Whether so many goals, reached in so many states, are all that is asked for.
inline bool goals_end(const std::vector<Property>& properties, const SearchOptions& options, std::uint64_t states,
                      std::size_t goals) {
    const auto is_goal = [](const Property& property) { return property.kind == PropertyKind::goal; };
    return states >= options.goals_end_from &&
           goals == static_cast<std::size_t>(std::count_if(properties.begin(), properties.end(), is_goal));
}

SearchResult breadth_first(Tables& tables, std::vector<Property>& properties, Oracle& oracle,
                           const SearchOptions& options);
SearchResult depth_first(Tables& tables, std::vector<Property>& properties, Oracle& oracle,
                         const SearchOptions& options);

// Walks back through the levels of a breadth-first search. `levels[d]` says, per thread, where level d begins in the
// store; the predecessor with the smallest content is taken each time.
void find_path(Tables& tables, const Store& store, const std::vector<std::vector<std::uint64_t>>& levels,
               Oracle& oracle, Symmetry* symmetry, Witness& witness);

}  // namespace quorate

// All columns together: what a state of the whole system is made of, and the steps between states.
//
// A global state is a vector of cells: one per process, one per monitor and, where there are global budgets
// (docs/soundness.md, rule 7), one more for what is left of them.
#pragma once

#include <atomic>

#include "model/column.hpp"

namespace quorate {

// Looks at the steps of every cell as they are made. Called under the column's lock.
class StepObserver {
public:
    virtual ~StepObserver() = default;
    // True: these steps are outside of what the reductions assume, so that the search is void.
    virtual bool note(const Column& column, const StepList& steps) = 0;
};

class Trie;

// Says of the steps of a cell what follows from where they lead.
void classify(const Network& network, const Column& column, Id cell, StepList& steps);

class Tables {
public:
    explicit Tables(Network network) : network(network) {}
    Tables(const Tables&) = delete;
    Tables& operator=(const Tables&) = delete;

    const Network network;
    std::vector<std::unique_ptr<Column>> columns{};
    std::vector<std::vector<Id>> initials{};  // a local state per column
    // How often it was said which fields are observed: steps that others have copied say so no longer.
    std::uint64_t observations = 0;
    std::vector<std::vector<Send>> posted{};  // of each initial state: what is sent before the run begins, in order
    std::uint64_t round = 1;                  // counts how often the oracle was asked
    bool quotient = false, dead_messages = false;
    bool shows_messages = false;  // properties may read messages that are pending: no reduction is on then
    Id most_ranks = 0;            // in one state; 0 if there are no numbers that are only compared (ranks.hpp)
    bool inexact_ranks = false;   // a rank was made where another one is higher
    // The reductions argue about a universe that was taken from a search (universe.hpp); `outgrown` says that since
    // cells were last forgotten something outside of it was met.
    bool optimistic = false;
    std::atomic<bool> outgrown{false};
    // A search may want to stay inside: then a cell whose steps lead out has none for the time being, so that states
    // wait for them, and whether what they lead to is a member is to be said there.
    bool stays_inside = false;
    std::vector<bool*> outside{};
    std::mutex outside_lock{};
    // Where partial-order reduction assumes something of the steps themselves (flows.hpp): a step that it does not
    // allow for is outside as well.
    StepObserver* step_observer = nullptr;
    // What the bound of the whole system says of states, if there is one: a step to a state outside of it is not taken.
    const Trie* bound = nullptr;
    std::mutex open_lock{};
    std::vector<std::vector<Id>> open{};  // the local states of which that has to be asked
    // The question whether a state lies inside.
    Query question(std::span<const Id> cells);

    Column& add_column(bool monitor);
    bool has_budget() const { return network.budget[0] + network.budget[1] + network.budget[2] > 0; }
    Id width() const { return static_cast<Id>(columns.size() + has_budget()); }
    // The number of cells a column has so far; for the budgets, of all there can be.
    std::size_t cell_count(Id column) const;

    // The number of the cell after the exact reductions: quotient of the local state, dead messages dropped. Take the
    // column's lock first.
    Id cell(Column& column, Id local, const Inbox& inbox);
    // The cell's steps, or nothing when facts are missing, which are then appended to `queries`. Of a cell whose steps
    // depend on shared cells, none: ask for those of the cell that it is `seen` as.
    const StepList* steps(Id column, Id cell, std::vector<Query>& queries) {
        const StepList* known = columns[column]->cells[cell].steps.load(std::memory_order_acquire);
        return known != nullptr ? known : build_steps(*columns[column], cell, queries);
    }
    // The steps of a process in a state.
    const StepList* steps(Id column, std::span<const Id> cells, std::vector<Query>& queries) {
        if (columns[column]->reading) [[unlikely]]
            return seen_steps(column, cells, queries);
        return steps(column, cells[column], queries);
    }
    // The shared cell that the steps of a cell depend on, or `none`.
    Id reads(Id column, Id cell) const { return columns[column]->locals[columns[column]->cells[cell].local].reads; }
    // The cell together with what its process reads in a state, or `none` when the oracle has to be asked first.
    Id seen(Id column, Id cell, const Id* cells, std::vector<Query>& queries);
    // Appends the steps by one transition, or nothing if facts are missing: more than `asked` queries. With `alone`
    // they lead to cells without any message: what stays in the inbox is for the caller to know. Take the column's lock
    // first.
    void add_steps(Column& column, Id transition, Id local, const Inbox& inbox, bool alone, StepList& steps,
                   std::vector<Query>& queries, std::size_t asked);
    // The receiver's next cell, `full`, or `none` when the oracle has to be asked first.
    Id deliver(Id column, Id cell, Id message, std::vector<Query>& queries) {
        const Id known = columns[column]->known_delivery(cell, message);
        return known != none ? known : build_delivery(*columns[column], cell, message, queries);
    }
    // Is there room for all that a step sends? `full` if not, `none` when the oracle has to be asked first.
    Id room(const std::vector<Id>& cells, Id column, const Step& step, std::vector<Query>& queries);
    Id initial_budget() const;
    // The cell that says how much is left of each budget.
    Id budget(const std::vector<std::uint64_t>& left) const;
    // What is left after taking one from a budget, or `none`.
    Id spend(Id budget_cell, Budget kind) const;
    std::uint64_t left(Id budget_cell, Budget kind) const;
    // How much of the budgets was spent on the way to a state.
    std::uint64_t spent(std::span<const Id> cells) const;

    // What a local state was merged into by the quotient: itself where there is none.
    Id merged(const Column& column, Id local) const {
        return quotient && !column.grows && local != none ? column.locals[local].representative : local;
    }

    // Numbers local states by what the observed fields show of them: (column, field) -> observed or not.
    void observe(const std::vector<std::vector<bool>>& observed);
    // Throws away cells and steps, which depend on the reductions; behaviours stay.
    void forget_cells();
    std::uint64_t forgotten = 0;  // how often: the number of a cell means nothing after the next time
    // Steps and deliveries are a cache: a search throws them away when they take more than this many bytes and more
    // than its states. A process with nearly as many cells as there are states would fill the memory otherwise.
    std::size_t most_step_bytes = std::size_t{64} << 20;
    std::size_t step_bytes() const { return step_bytes_.load(std::memory_order_relaxed); }
    // No other thread may be at work, and no pointer to a step is good afterwards.
    void forget_steps();
    // The numbers that the parts of processes were given in the last search that took some apart (hubs.hpp).
    std::size_t part_values = 0;
    // By column, what is pending in the initial state of that number; and its cells.
    std::vector<Inbox> initial_inboxes(std::size_t number) const;
    std::vector<Id> initial_cells(std::size_t number);
    // Puts the ranks of a state into their normal form: calls move(column, before, after) for every cell that changes.
    template <typename Move>
    void normalise(const Id* cells, Move move) {
        std::uint64_t all = 0;
        for (Id column = 0; column < columns.size(); ++column) all |= ranks(*columns[column], cells[column]);
        if (all == renumbered(all, all)) return;
        if (static_cast<Id>(std::popcount(all)) > most_ranks) throw LimitError("a state has too many ranks");
        // A new rank is odd. Where another one is higher, the new one may be lower than that, or the same: one of the
        // two is not what the next number is.
        const std::uint64_t made = all & 0xAAAA'AAAA'AAAA'AAAAU;
        inexact_ranks = inexact_ranks || (made != 0 && std::bit_width(all) > std::bit_width(made));
        for (Id column = 0; column < columns.size(); ++column)
            if (const Id before = cells[column], after = renumbered_cell(*columns[column], before, all);
                before != after)
                move(column, before, after);
    }
    // Where only so many may be down at once: whether one more may crash.
    bool may_go_down(const Id* cells) const;
    // A number that depends on the content of a cell alone, not on the order in which anything was met
    // (docs/soundness.md, rule 13).
    std::uint64_t content(Id column, Id cell) const;
    std::uint64_t content(const Column& column, Id local, std::span<const Id> inbox) const;
    std::uint64_t content(std::span<const Id> cells) const;
    std::uint64_t content(const StepIdentity& step) const;

    // What a state is hashed by.
    std::uint64_t sum(const Id* cells) const {
        std::uint64_t sum = 0;
        for (Id column = 0; column < width(); ++column) sum += factors_[column] * cells[column];
        return sum;
    }

private:
    const StepList* seen_steps(Id column, std::span<const Id> cells, std::vector<Query>& queries);
    const StepList* build_steps(Column& column, Id cell, std::vector<Query>& queries);
    Id build_delivery(Column& column, Id cell, Id message, std::vector<Query>& queries);
    Id build_view(Column& column, Id cell, Id value, std::vector<Query>& queries);
    void add_crashes(Column& column, const Inbox& inbox, Id local, std::vector<Step>& steps);
    void add_environment(Column& column, Id local, const Inbox& inbox, std::vector<Step>& steps,
                         std::vector<Query>& queries);
    // Whether a step takes something out of the inbox.
    bool removes(const Column& column, const Step& step, const Inbox& inbox) const;
    // Whether a cell or its steps lie outside of the universe; and whether its steps are to wait for that.
    bool note_leaving(Column& column, Id cell, const StepList& steps);
    // The ranks that a cell holds, and the cell with these ranks renumbered.
    std::uint64_t ranks(Column& column, Id cell);
    Id renumbered_cell(Column& column, Id cell, std::uint64_t all);
    void remember_delivery(Column& column, Id cell, Id message, Id next);

    std::atomic<std::size_t> step_bytes_{0};
    std::vector<std::uint64_t> factors_{column_factor(0)};  // one more than there are columns, for the budgets
};

}  // namespace quorate

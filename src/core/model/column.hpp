// One process (or monitor) as tables over small numbers: its local states, messages, behaviours and cells.
//
// A behaviour is what one transition does to one local state with one set of consumed messages; it is asked from the
// oracle once. A cell is a local state with an inbox; its steps are assembled from behaviours without the oracle.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/flat_map.hpp"
#include "base/interner.hpp"
#include "model/by_reads.hpp"
#include "model/configurations.hpp"
#include "model/network.hpp"
#include "model/ranks.hpp"

namespace quorate {

struct Transition {
    Mode mode = Mode::spontaneous;
    bool keep = false;
    std::vector<bool> types{};  // by type of message: does it consume such messages?

    bool takes(Id type) const { return type < types.size() && types[type]; }
    void allow(Id type) {
        if (type >= types.size()) types.resize(type + 1, false);
        types[type] = true;
    }
};

struct Message {
    Id sender = 0, type = 0;
    std::uint64_t content = 0;
    bool stands = false;  // its sender, an attacker, can send it again at any time: consuming does not remove it
    bool shown = false;   // properties may read it while it is pending
    bool member = false;  // of the optimistic universe, where there is one
};

struct Local {
    std::uint64_t content = 0;
    std::vector<Id> values{};  // a number per observable field; the first says whether the process has crashed
    bool crashed = false;
    bool member = false;          // of the optimistic universe, where there is one
    Id crash = none;              // the same local state of the process once it has crashed, if it may crash
    Id fields = none;             // the numbers of all its fields, in `Column::fields`, if it has some and is alive
    Id recovery = none;           // of a crashed one: where it comes back, if it may
    Id failure = none;            // a monitor that failed: reaching this local state is a failure
    Id representative = none;     // after the quotient
    Id observation = 0;           // the class of local states no property can tell apart
    std::vector<bool> live = {};  // per message: may some later local state consume it?
    // Shared cells (docs/decisions/0015-shared-cells.md). What the process does next depends on the value of that
    // column: by its local states, this local state together with what was read. Such a view is no part of any state;
    // its home is the local state that the process is in.
    Id reads = none, home = none;
    std::vector<Id> views = {};
    Id view(Id value) const { return value < views.size() ? views[value] : none; }
};

enum class Kind : std::uint8_t { step, discard, lose, duplicate, crash, recover };

inline constexpr Id rejected = none;  // the group of a message that a transition's filter refuses

struct Step {
    Id next = none;  // this column's cell after consuming and moving, before anything is sent
    Id send_count = 0;
    const Send* sends = nullptr;
    bool observed = false;  // a property may tell the difference
    bool protocol = true;   // not a fault or the network's doing
    bool special = false;   // does not move, draws on a budget or needs `whole`
    Kind kind = Kind::step;
    Effect effect = Effect::moves;
    Budget budget = Budget::free;
    Id whole = none;  // of a crash that cuts a step short on a bounded network: that step, which must be possible
    Id transition = none, set = none, outcome = none, failure = none;
};

using StepList = std::vector<Step>;

// What makes a step the same one in another state: the process, the kind of step, its transition, what it consumes and,
// of several outcomes, which.
struct StepIdentity {
    Id column = none;
    Kind kind = Kind::step;
    Id transition = none, set = none, outcome = none;

    static StepIdentity of(Id column, const Step& step) {
        return {column, step.kind, step.transition, step.set, step.outcome};
    }
    // The same for all outcomes.
    StepIdentity any_outcome() const { return {column, kind, transition, set, none}; }
    auto operator<=>(const StepIdentity&) const = default;
};

// deliver[cell]: an open-addressing row from messages to next cells, filled lazily and replaced when it fills up.
class Row {
public:
    static std::unique_ptr<Row> make(std::size_t size) { return std::unique_ptr<Row>(new (size) Row(size)); }
    Id find(Id message) const {
        for (std::size_t i = slot(message);; ++i) {
            const std::uint64_t entry = entries()[i & mask].load(std::memory_order_acquire);
            if (entry >> 32 == static_cast<std::uint64_t>(message) + 1) return static_cast<Id>(entry);
            if (entry == 0) return none;
        }
    }
    void insert(Id message, Id next) {
        std::size_t i = slot(message);
        while (entries()[i & mask].load(std::memory_order_relaxed) != 0) ++i;
        entries()[i & mask].store((static_cast<std::uint64_t>(message) + 1) << 32 | next, std::memory_order_release);
        ++count;
    }
    void copy_from(const Row& other) {
        for (std::size_t i = 0; i <= other.mask; ++i)
            if (const std::uint64_t entry = other.entries()[i].load(std::memory_order_relaxed))
                insert(static_cast<Id>((entry >> 32) - 1), static_cast<Id>(entry));
    }
    std::size_t bytes() const { return sizeof(Row) + (mask + 1) * sizeof(Entry); }
    const std::size_t mask;
    std::size_t count = 0;

    static void operator delete(void* row) { ::operator delete(row); }

private:
    using Entry = std::atomic<std::uint64_t>;  // (message + 1) << 32 | next cell; 0 is empty

    explicit Row(std::size_t size) : mask(size - 1) {
        for (std::size_t i = 0; i < size; ++i) new (entries() + i) Entry(0);
    }
    // The entries lie right behind the row itself: one look-up less on the hottest path.
    static void* operator new(std::size_t bytes, std::size_t size) {
        return ::operator new(bytes + size * sizeof(Entry));
    }
    Entry* entries() const { return reinterpret_cast<Entry*>(const_cast<Row*>(this) + 1); }
    static std::size_t slot(Id message) { return (message * 0x9e3779b1u) >> 7; }
};

// Adds an entry to a row. Readers may hold the row, so one that fills up is not changed but kept, and replaced. One
// writer at a time.
inline const Row* with_entry(const Row* row, Id key, Id value, std::vector<std::unique_ptr<Row>>& kept,
                             std::atomic<std::size_t>& bytes) {
    Row* writable = const_cast<Row*>(row);
    if (row == nullptr || (row->count + 1) * 2 > row->mask + 1) {
        auto bigger = Row::make(row == nullptr ? 4 : (row->mask + 1) * 2);
        if (row != nullptr) bigger->copy_from(*row);
        writable = bigger.get();
        bytes += bigger->bytes();
        kept.push_back(std::move(bigger));
    }
    writable->insert(key, value);
    return writable;
}

struct Cell {
    std::atomic<const StepList*> steps{nullptr};
    std::atomic<const Row*> row{nullptr};
    Id local = 0, inbox = 0;
    Id seen = 0;  // the inbox that holds what properties may read of this one
    Id observation = 0;
    Id failure = none;
    std::uint64_t asked = 0;  // the round in which its steps were last asked for
    bool leaves = false;      // it lies outside the optimistic universe, or one of its steps leads there
};

class Column : private Configurations::Home {
public:
    explicit Column(Id index, bool monitor) : index(index), monitor(monitor) {}

    const Id index;
    const bool monitor;
    bool input = false;           // an input buffer: what lies there was delivered, and is neither lost nor duplicated
    bool clean = false;           // a transition consumes all that lies there, or is not enabled
    bool grows = false;           // a monitor whose local states are met by the search alone: no table of it ended
    std::size_t weight = 0;       // of a monitor: how many bytes its local states take, as Python encodes them
    bool shared = false;          // no monitor but a shared cell: its local states are values, which processes read
    bool reading = false;         // a process that may read shared cells
    bool as_is = false;           // too large for the optimistic universe: nothing is assumed of it
    std::size_t evaluated = 0;    // what the optimistic universe has asked the oracle about it
    std::vector<Send> notices{};  // what is sent when this process crashes
    std::vector<Transition> transitions{};
    Segmented<Local> locals;
    Segmented<Message> messages;
    Interner inboxes, sets;
    Segmented<Cell> cells;
    std::mutex lock;  // guards everything below and whatever is appended to during a search

    Id add_local(std::uint64_t content, std::vector<Id> values, Id failure) {
        checked_id(locals.size(), "local states");
        return static_cast<Id>(locals.append([&](Local& local) {
            local.content = content;
            local.values = std::move(values);
            local.failure = failure;
            local.observation = classify(local);
        }));
    }
    // The class of local states that agree on every field in `observed`.
    Id classify(const Local& local) {
        std::vector<Id> seen{local.failure};
        for (std::size_t field = 0; field < observed.size(); ++field)
            if (observed[field]) seen.push_back(local.values[field]);
        return observations_.emplace(std::move(seen), static_cast<Id>(observations_.size())).first->second;
    }
    // The same of a local state together with what properties may read of the inbox.
    Id classify(Id observation, Id seen) {
        return seen_observations_.emplace(std::pair{observation, seen}, static_cast<Id>(seen_observations_.size()))
            .first->second;
    }
    // The messages of an inbox that properties may read; take the lock first.
    Id shown(std::span<const Id> inbox) {
        Inbox found;
        for (Id message : inbox)
            if (messages[message].shown) found.push_back(message);
        return inboxes.intern(found);
    }
    void observe(std::vector<bool> fields) {
        observed = std::move(fields);
        observations_.clear();
        seen_observations_.clear();
        for (std::size_t i = 0; i < locals.size(); ++i) locals[i].observation = classify(locals[i]);
    }
    std::vector<bool> observed{};  // by field: does a property read it?
    Id add_message(Message message) {
        checked_id(messages.size(), "messages");
        return static_cast<Id>(messages.append([&](Message& slot) { slot = message; }));
    }
    auto sender() const {
        return [this](Id message) { return messages[message].sender; };
    }
    auto stands() const {
        return [this](Id message) { return messages[message].stands; };
    }
    Inbox opening{};  // what is pending from the beginning

    // --- what transitions do, by what they read ---

    ByReads by_reads{};
    Interner fields;                // the values of local states, hidden ones too
    std::vector<Id> with_fields{};  // the local state of each
    std::uint64_t recalled = 0;     // how often there was an answer

    // --- a monitor that reacts without Python; take the lock first ---

    std::unique_ptr<Configurations> configurations{};
    std::array<Id, 2> truth{};  // the numbers of the values False and True
    Id add_configurations(Configurations::Numbers numbers) { return configurations->local(*this, std::move(numbers)); }
    Id react(Id local, Id event, std::vector<Configurations::Pair>& missing) {
        return configurations->react(*this, local, event, missing);
    }
    Id exchanged(Id exchange, Id local) { return configurations->image(*this, exchange, local); }

    Ranks ranks{};  // numbers that are only compared, where there are any

    std::vector<std::vector<Id>> bundles{};
    std::vector<Id> written{};  // of a shared cell, by event: the value that is written
    // The local state that a process is in, which of views is not the one that its steps are looked up by.
    Id home(Id local) const { return locals[local].home == none ? local : locals[local].home; }

    std::uint64_t key(Id transition, Id local, Id subject) const {
        const std::uint64_t high = static_cast<std::uint64_t>(local) * transitions.size() + transition;
        if (high > none) throw LimitError("more than 4,294,967,295 pairs of transition and local state in one process");
        return high << 32 | subject;
    }
    FlatMap<std::unique_ptr<Behaviour>> behaviours;  // key(transition, local, set); for a monitor key(0, local, event)
    FlatMap<Request> requests;                       // key(transition, local, 0)
    FlatMap<Id> groups;                              // key(transition, local, message)
    FlatMap<Id> cell_of;                             // local << 32 | inbox
    // Symmetry without a closure: a search uses only answers that were compared with those of all renamed questions
    // (reduce/symmetry/orbits.hpp). By kind of query, those that were.
    bool compares = false;
    FlatMap<char> compared[4];
    bool usable(Query::Kind kind, std::uint64_t key) const {
        return !compares || compared[static_cast<std::size_t>(kind)].find(key) != nullptr;
    }

    // Storage whose addresses are published without a lock, kept until the column goes.
    std::vector<std::unique_ptr<StepList>> step_lists{};
    std::vector<std::unique_ptr<Row>> rows{};
    std::vector<std::unique_ptr<std::vector<Send>>> parts{};  // of broadcasts that a crash cuts short

    Id known_delivery(Id cell, Id message) const {
        const Row* row = cells[cell].row.load(std::memory_order_acquire);
        return row == nullptr ? none : row->find(message);
    }
    // Steps and deliveries can be made again from behaviours.
    void forget_steps() {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            cells[i].steps.store(nullptr, std::memory_order_relaxed);
            cells[i].row.store(nullptr, std::memory_order_relaxed);
        }
        step_lists.clear();
        rows.clear();
        parts.clear();
    }
    // Cells and their steps depend on the reductions; behaviours do not.
    void forget_cells() {
        forget_steps();
        cells.clear();
        cell_of.clear();
        ranks.forget_cells();
    }

private:
    // Its fields are the operations under way, the configurations, and whether there are any. Only that is observed.
    Id add_local(const Configurations& owner, std::span<const Id> numbers) override {
        const Id number = static_cast<Id>(locals.size());
        return add_local(owner.content(numbers), {0, number, number, truth[Configurations::possible(numbers)]}, none);
    }

    std::map<std::vector<Id>, Id> observations_{};
    std::map<std::pair<Id, Id>, Id> seen_observations_{};
};

}  // namespace quorate

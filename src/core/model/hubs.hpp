// A process as more than one cell: its local state, and what is pending, in parts.
//
// A cell is a local state with its whole inbox. A process that many send to has nearly as many cells as there are
// states, and then steps and deliveries are built as often as they are used. But a transition takes messages of certain
// types only. So the inbox falls into parts, such that no quorum takes messages of two; what a local state can do with
// one of them does not depend on the others, and a delivery touches one. The numbers that are needed are a sum over the
// parts then, not their product.
//
// A state of a search that takes processes apart has more slots than there are columns. The slot of such a process
// holds its cell with an empty inbox, so whoever asks for its local state need not know of parts; the slots behind all
// columns (and the budgets) hold the parts. Networks without order and bounds allow for it, as long as a step of the
// environment touches one message alone (docs/soundness.md, rule 33).
#pragma once

#include "base/lazy.hpp"
#include "model/tables.hpp"

namespace quorate {

// What a step does to the parts of its own process.
struct PartMove {
    Id taken = none;     // the key of what it takes from the part it belongs to
    Id liveness = none;  // the key of what can still be consumed afterwards, if that is another than before
};

// The steps of a local state with one part, or with one message of it.
struct PartSteps {
    StepList steps{};
    std::vector<PartMove> moves{};
};

class Hub {
public:
    // Its slots in a state begin with `first`.
    Hub(Tables& tables, Column& column, Id first);

    // Can processes be taken apart on this network, and can this one?
    static bool possible(const Network& network);
    static bool possible(const Column& column);
    // Is what is known of the process still what the parts were made for? Messages of a new type may belong together
    // with others.
    bool current();

    Column& column;
    const Id first;
    Id count() const { return static_cast<Id>(parts_.size()); }
    std::size_t values(Id part) const { return parts_[part]->values.size(); }
    std::span<const Id> messages(Id part, Id value) const { return parts_[part]->values[value]; }
    // Are messages of the part taken one by one? Then its steps are those with each message alone.
    bool one_by_one(Id part) const { return parts_[part]->one_by_one; }

    // The inbox as a value per part; and back. Take the column's lock first.
    void divide(std::span<const Id> inbox, Id* values);
    Inbox join(const Id* values) const;

    // The steps of a cell with an empty inbox and a unit: a value of the part, or a message where they are taken one by
    // one. Nothing when facts are missing, which are then appended to `queries`.
    static constexpr Id own = none;  // as part: what the local state does without any message
    const PartSteps* steps(Id cell, Id part, Id unit, std::vector<Query>& queries);

    // Where a message goes. The row of a cell with an empty inbox holds that cell, if the message is dead, and
    // otherwise the slot of its part, beyond `redirected`.
    const Row* receive(Id cell, Id message);
    // The row of a value with this key in it: a message that arrives, or what a step takes or leaves alive.
    const Row* change(Id part, Id value, Id key);

    std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    // As with the tables' own: no other thread may be at work.
    void forget_steps();

private:
    struct Part {
        bool one_by_one = true;
        std::vector<Id> transitions{};
        Interner values{};
        std::unique_ptr<Lazy<const Row*>> rows{};
        struct Listed {
            std::unique_ptr<PartSteps> list{};
            std::uint64_t asked = 0;
        };
        FlatMap<Listed> lists{};
    };
    static constexpr Id taken_bit = Id{1} << 30, live_bit = Id{1} << 31;

    bool list(Part& part, Id local, const Inbox& inbox, PartSteps& found, std::vector<Query>& queries);
    Id liveness(Id local);
    Id build(Part& part, Id value, Id key);
    void forget_rows();

    Tables& tables_;
    std::size_t looked_at_ = 0;  // messages that are known to be of a known type
    std::vector<Id> part_of_type_{};
    std::vector<std::unique_ptr<Part>> parts_{};
    Part own_{};
    std::unique_ptr<Lazy<const Row*>> rows_{};
    std::vector<std::unique_ptr<Row>> kept_{};
    std::map<std::vector<bool>, Id> classes_of_live_{};
    std::vector<const std::vector<bool>*> live_{};
    std::atomic<std::size_t> bytes_{0};
};

// The processes that a search has taken apart.
class Hubs {
public:
    Hubs(Tables& tables, const std::vector<Id>& columns);

    struct Slot {
        Id slot, column, part;
        Hub* parts;
    };
    Id width() const { return static_cast<Id>(tables_.width() + slots_.size()); }
    std::span<const Slot> slots() const { return slots_; }
    std::size_t count(Id slot) const {
        const Slot& one = slots_[slot - tables_.width()];
        return one.parts->values(one.part);
    }
    const std::vector<std::unique_ptr<Hub>>& processes() const { return processes_; }
    Hub* of(Id column) const { return by_column_[column]; }
    bool current() const;
    Id most_parts() const;

    // From whole cells to slots, and back. No other thread may be at work.
    std::vector<Id> divide(const std::vector<Id>& cells);
    std::vector<Id> join(const std::vector<Id>& slots);
    // The same as that of the whole cells.
    std::uint64_t content(std::span<const Id> slots) const;

    std::size_t bytes() const;
    void forget_steps();
    // All numbers that parts were given.
    std::size_t values() const;

private:
    Tables& tables_;
    std::vector<std::unique_ptr<Hub>> processes_{};
    std::vector<Hub*> by_column_;
    std::vector<Slot> slots_{};
    std::vector<std::vector<Id>> divided_{};  // by process and whole cell: its slots, once they were asked for
};

// The same whether or not a search takes processes apart.
inline std::uint64_t content_of(const Tables& tables, const Hubs* hubs, std::span<const Id> cells) {
    return hubs == nullptr ? tables.content(cells) : hubs->content(cells);
}
inline std::size_t step_bytes(const Tables& tables, const Hubs* hubs) {
    return tables.step_bytes() + (hubs == nullptr ? 0 : hubs->bytes());
}
inline void forget_steps(Tables& tables, Hubs* hubs) {
    tables.forget_steps();
    if (hubs != nullptr) hubs->forget_steps();
}

// How many numbers a process would need if it were taken apart, going by its cells: local states and values of parts.
std::size_t numbers_needed(Tables& tables, Column& column);

}  // namespace quorate

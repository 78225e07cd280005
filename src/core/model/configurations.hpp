// A monitor whose local states are sets of configurations: which orders of the operations so far are possible
// (src/quorate/histories/linearizability.py says what that is, and is what this is tested against).
//
// All that it is about has a number, whatever kind of thing it is: states of the object, operations, results, and
// slots, which are processes with the identity of one of their operations. Python says what an operation does to a
// state of the object, once for every pair, and what numbers become under renamings. From that, reactions and images
// are worked out here, without Python: there are far fewer pairs than sets of configurations.
#pragma once

#include <optional>

#include "base/flat_map.hpp"
#include "base/interner.hpp"

namespace quorate {

class Configurations {
public:
    // A set of configurations as numbers: how many operations are under way; slot and operation of each, by slot; then
    // for every configuration the state of the object and, by operation under way, its result or `none`. In order, so
    // that equal sets are equal sequences.
    using Numbers = std::vector<Id>;
    struct Pair {
        Id state, operation;
    };

    // Who numbers local states. Called under the lock of the monitor's column, as all below.
    struct Home {
        virtual ~Home() = default;
        virtual Id add_local(const Configurations& owner, std::span<const Id> numbers) = 0;
    };

    Id add_object(std::uint64_t content);
    // Puts a set in order.
    Id local(Home& home, Numbers numbers);
    // Nothing for a local state of another kind: a monitor that failed.
    std::optional<Numbers> numbers(Id local) const;
    void set_event(Id event, bool begins, Id slot, Id subject);
    // `next` none: the operation has to wait.
    void put_effect(Pair pair, Id next, Id result) { effects_.insert(key(pair), Effect{next, result}); }
    bool knows(Pair pair) const { return effects_.find(key(pair)) != nullptr; }
    void put_result(Id operation, Id value) {
        if (results_.find(key({value, operation})) == nullptr) results_.insert(key({value, operation}), 1);
    }

    // The next local state; `none` if Python has to be asked for effects, which are then appended to `missing`, or to
    // say what is wrong with this event, if there are none.
    Id react(Home& home, Id local, Id event, std::vector<Pair>& missing);

    // --- symmetry ---

    struct Marked {
        std::vector<Id> images{};  // under the exchanges of two names, as symmetry counts them (Symmetry::pair)
        std::uint64_t base = 0;
        std::vector<std::tuple<Id, std::uint64_t>> of{};
    };
    void mark(Id object, Marked marked);
    Id image(Home& home, Id exchange, Id local);
    // Adds to a row of marks, one per name, and returns the numbers of the names that occur.
    std::vector<Id> add_marks(Id local, std::span<std::uint64_t> row) const;

    // A number that depends on what the set holds, not on how it was numbered.
    std::uint64_t content(std::span<const Id> numbers) const;
    // Whether it has a configuration at all.
    static bool possible(std::span<const Id> numbers) { return numbers.size() > 1 + 2 * std::size_t{numbers[0]}; }

private:
    struct Effect {
        Id next = none, result = none;
    };
    struct Event {
        bool begins = false;
        Id slot = none, subject = none;
    };
    static std::uint64_t key(Pair pair) { return static_cast<std::uint64_t>(pair.state) << 32 | pair.operation; }
    Numbers begin(std::span<const Id> old, std::size_t place, const Event& event, std::vector<Pair>& missing) const;
    Numbers end(std::span<const Id> old, std::size_t place, const Event& event) const;
    static void arrange(Numbers& numbers);
    static Numbers packed(const Numbers& numbers);
    static Numbers unpacked(std::span<const Id> packed);
    template <typename Content>
    static std::uint64_t digest(std::span<const Id> numbers, Content content);
    std::uint64_t mark_of(Id object, Id name) const;

    std::vector<std::uint64_t> contents_{};
    std::vector<Marked> marked_{};
    std::vector<Event> events_{};
    FlatMap<Effect> effects_{};
    FlatMap<char> results_{};
    Interner sets_{};                        // packed: there may be nearly as many sets as states
    std::vector<Id> local_of_{}, set_of_{};  // local state by set, set by local state
};

}  // namespace quorate

// States on their way from one worker of a distributed search to another.
//
// Every worker numbers local states, messages and cells for itself. A batch holds packed states in the sender's
// numbers, and the definitions of those of its cells that the receiver has not been told yet: a local state and the
// pending messages. What a local state or a message of the sender is, only Python knows; the numbers below `shared`
// mean the same to all workers, the others are told beside the batch, once. Batches from one sender have to be taken in
// in the order in which they were made.
#pragma once

#include <span>
#include <string>

#include "store/layout.hpp"

namespace quorate {

// The numbers of a column that mean the same to all workers: those below.
struct Shared {
    Id locals = 0, messages = 0;
};

// What the receiver of a batch has to be told before it can read it, by column and the sender's number.
struct Untold {
    std::vector<std::pair<Id, Id>> locals{}, messages{};
};

struct Batch {
    std::string bytes{};
    std::uint64_t states = 0, depth = 0;
    Untold untold{};
    std::vector<Id> watched{};  // what the sender wants to know of some of the states (shard.hpp), in their order
};

// What waits to be sent to one receiver.
class Outbox {
public:
    // Where there is symmetry, a state is sent with how many it stands for.
    Outbox(const Tables& tables, std::vector<Shared> shared, bool symmetric)
        : tables_(tables), shared_(std::move(shared)), symmetric_(symmetric), told_(tables.columns.size()) {}

    // `words` is the state in this layout; `watched` none, or what to remember it by.
    void add(const Layout& layout, const Word* words, bool observed, double orbit, Id watched);
    std::uint64_t states() const { return count_; }
    std::size_t bytes() const { return used_ + definitions_.size() * sizeof(Id); }
    // Everything that waits, as one batch.
    Batch close(const Layout& layout, std::uint64_t depth);

private:
    struct Told {
        std::vector<bool> locals{}, messages{};
        std::vector<char> cells{};
        bool knows(Id cell) const { return cell < cells.size() && cells[cell] != 0; }
    };
    // One for each state, as many to a byte as fit.
    struct Bits {
        std::string bytes{};
        void push(std::uint64_t number, bool bit) {
            if (number % 8 == 0) bytes.push_back('\0');
            bytes.back() = static_cast<char>(bytes.back() | bit << number % 8);
        }
    };
    void define(Id column, Id cell);

    const Tables& tables_;
    const std::vector<Shared> shared_;
    const bool symmetric_;
    std::vector<Told> told_;
    std::vector<Id> definitions_{};
    std::vector<std::byte> states_{};  // longer than what it holds
    std::size_t used_ = 0;
    Bits observed_{}, is_watched_{};
    std::vector<double> orbits_{};
    std::uint64_t count_ = 0;
    Untold untold_{};
    std::vector<Id> watched_{};
};

// The numbers of one sender, and what they are here.
class Inlet {
public:
    Inlet(Tables& tables, std::vector<Shared> shared)
        : tables_(tables), shared_(std::move(shared)), known_(tables.columns.size()) {}

    void tell_local(Id column, Id number, Id mine) { set(known_[column].locals, number, mine); }
    void tell_message(Id column, Id number, Id mine) { set(known_[column].messages, number, mine); }

    // Reads the head of a batch and its definitions; the cells it defines are made here where they are new. False if
    // this layout is too narrow for the states of the batch.
    bool open(std::span<const char> bytes, const Layout& layout);
    std::uint64_t states() const { return count_; }
    std::uint64_t depth() const { return depth_; }
    struct Arrived {
        std::uint64_t sum;  // of its cells
        double orbit;
        bool observed, watched;
    };
    // The next state, in numbers of this worker, packed in a layout that is wide enough.
    Arrived next(const Layout& layout, Word* packed);

private:
    struct Known {
        std::vector<Id> locals{}, messages{}, cells{};
    };
    static void set(std::vector<Id>& list, Id number, Id mine) {
        if (number >= list.size()) list.resize(std::max<std::size_t>(number + 1, list.size() * 2), none);
        list[number] = mine;
    }
    static Id get(const std::vector<Id>& list, Id number) {
        if (number >= list.size() || list[number] == none) [[unlikely]]
            throw std::logic_error("a batch holds a number that its sender has not told");
        return list[number];
    }
    bool bit(std::size_t from) const { return bytes_[from + at_ / 8] >> (at_ % 8) & 1; }

    Tables& tables_;
    const std::vector<Shared> shared_;
    std::vector<Known> known_;
    Layout layout_{};
    std::vector<unsigned> widths_{};
    std::span<const char> bytes_{};
    std::vector<std::byte> one_{};
    std::uint64_t count_ = 0, depth_ = 0, at_ = 0;
    std::size_t states_ = 0, observed_ = 0, watched_ = 0, orbits_ = 0;  // where they begin
    bool any_watched_ = false, symmetric_ = false;
};

}  // namespace quorate

// The messages of all processes as one set of bits: receiver after receiver, each from a word of its own.
#pragma once

#include "base/bits.hpp"
#include "model/tables.hpp"

namespace quorate {

class MessageSpace {
public:
    explicit MessageSpace(const Tables& tables) {
        for (const auto& column : tables.columns) {
            const std::size_t size = column->monitor ? 0 : (column->messages.size() + 63) / 64;
            receivers_.push_back({owners_.size(), size});
            owners_.resize(owners_.size() + size, column->index);
        }
        emitters_.resize(words() * 64);
    }

    std::size_t words() const { return owners_.size(); }
    std::size_t bit(Id receiver, Id message) const { return receivers_[receiver].first * 64 + message; }
    // Where the bits of a receiver's messages lie, in words. A search may add messages, outside of an optimistic
    // universe: those have no bit.
    std::pair<std::size_t, std::size_t> range(Id receiver) const {
        return {receivers_[receiver].first, receivers_[receiver].size};
    }
    // The receiver that a word belongs to.
    Id receiver(std::size_t word) const { return owners_[word]; }

    // Notes that a process may send a message. Process after process.
    void add_emitter(Id process, std::size_t bit) {
        emitters_[bit].push_back(process);
        std::vector<Id>& sources = receivers_[owners_[bit / 64]].sources;
        if (sources.empty() || sources.back() != process) sources.push_back(process);
    }
    // The processes that ever send a message to a receiver.
    const std::vector<Id>& emitters(std::size_t bit) const { return emitters_[bit]; }
    // The processes that ever send anything to a receiver.
    const std::vector<Id>& sources(Id receiver) const { return receivers_[receiver].sources; }

private:
    struct Receiver {
        std::size_t first, size;  // in words
        std::vector<Id> sources{};
    };
    std::vector<Receiver> receivers_{};
    std::vector<Id> owners_{};  // by word
    std::vector<std::vector<Id>> emitters_{};
};

}  // namespace quorate

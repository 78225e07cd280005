// A set of the states of a graph, a bit each.
#pragma once

#include "base/bits.hpp"
#include "base/types.hpp"

namespace quorate {

class StateSet {
public:
    explicit StateSet(std::size_t size, bool full_set = false)
        : size_(size), words_((size + 63) / 64, full_set ? ~std::uint64_t{0} : 0) {
        trim();
    }

    std::size_t size() const { return size_; }
    bool has(std::size_t state) const { return has_bit(words_, state); }
    void add(std::size_t state) { set_bit(words_, state); }
    std::size_t count() const { return size_of(words_); }
    bool empty() const { return count() == 0; }
    Bits words() const { return words_; }

    StateSet operator~() const {
        StateSet result = *this;
        for (std::uint64_t& word : result.words_) word = ~word;
        result.trim();
        return result;
    }
    StateSet operator&(const StateSet& other) const {
        StateSet result = alike(other);
        for (std::size_t i = 0; i < words_.size(); ++i) result.words_[i] &= other.words_[i];
        return result;
    }
    StateSet operator|(const StateSet& other) const {
        StateSet result = alike(other);
        for (std::size_t i = 0; i < words_.size(); ++i) result.words_[i] |= other.words_[i];
        return result;
    }
    bool operator==(const StateSet& other) const = default;

private:
    const StateSet& alike(const StateSet& other) const {
        if (other.size_ != size_) throw std::logic_error("two sets of states that are of different graphs");
        return *this;
    }
    void trim() {
        if (size_ % 64 != 0) words_.back() &= (std::uint64_t{1} << size_ % 64) - 1;
    }
    std::size_t size_;
    std::vector<std::uint64_t> words_;
};

}  // namespace quorate

// Sets of labels, or of tags, of one process.
#pragma once

#include <algorithm>
#include <vector>

#include "base/bits.hpp"
#include "base/types.hpp"

namespace quorate {

class Labels {
public:
    Labels() = default;
    explicit Labels(Words words) : words_(std::move(words)) { trim(); }
    bool has(Id label) const { return label / 64 < words_.size() && (words_[label / 64] >> (label % 64) & 1); }
    void add(Id label) {
        if (label / 64 >= words_.size()) words_.resize(label / 64 + 1);
        words_[label / 64] |= std::uint64_t{1} << (label % 64);
    }
    bool add(const Labels& other) {
        if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
        bool more = false;
        for (std::size_t i = 0; i < other.words_.size(); ++i) {
            more |= (other.words_[i] & ~words_[i]) != 0;
            words_[i] |= other.words_[i];
        }
        return more;
    }
    void remove(const Labels& other) {
        for (std::size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i) words_[i] &= ~other.words_[i];
        trim();
    }
    bool within(const Labels& other) const {
        for (std::size_t i = 0; i < words_.size(); ++i)
            if (words_[i] & ~(i < other.words_.size() ? other.words_[i] : 0)) return false;
        return true;
    }
    bool empty() const {
        return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
    }
    std::uint64_t word(std::size_t i) const { return i < words_.size() ? words_[i] : 0; }
    auto operator<=>(const Labels&) const = default;
    void write(std::vector<Id>& numbers) const {
        for (const std::uint64_t word : words_) {
            numbers.push_back(static_cast<Id>(word));
            numbers.push_back(static_cast<Id>(word >> 32));
        }
    }

private:
    // So that equal sets are equal.
    void trim() {
        while (!words_.empty() && words_.back() == 0) words_.pop_back();
    }
    Words words_{};
};

}  // namespace quorate

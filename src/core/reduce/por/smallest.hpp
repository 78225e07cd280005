// The smallest of many sets of messages: those that hold no other.
#pragma once

#include "base/bits.hpp"
#include "base/flat_map.hpp"
#include "base/thresholds.hpp"

namespace quorate {

// One set after the other, in the order of their sizes.
class Smallest {
public:
    explicit Smallest(std::size_t words) : words_(words), shares_(words * 64) {
        for (std::size_t message = 0; message < shares_.size(); ++message) shares_[message] = mix(message + 1);
    }

    // Whether it is one of the smallest so far. What holds another need not be remembered if nothing larger comes.
    bool add(Bits set, bool last) {
        const std::uint64_t sum = sum_of(set);
        const bool known = holds_smaller(set, sum);
        if ((known && last) || came(set, sum, 0, 0)) return false;
        if (known_.find(sum) == nullptr) known_.insert(sum, sets_.size());
        if (!known) smallest_.emplace_back(size_of(set), sets_.size());
        sets_.insert(sets_.end(), set.begin(), set.end());
        return !known;
    }
    bool holds_another(Bits set) const {
        const std::uint64_t sum = sum_of(set);
        return came(set, sum, 0, 0) || holds_smaller(set, sum);
    }

private:
    std::uint64_t share(std::size_t word, std::uint64_t bits) const { return shares_[lowest(word, bits)]; }
    std::uint64_t sum_of(Bits set) const {
        std::uint64_t sum = 0;
        for (std::size_t word = 0; word < words_; ++word)
            for (std::uint64_t rest = set[word]; rest != 0; rest &= rest - 1) sum += share(word, rest);
        return sum;
    }
    // Is this set, without the message `but` of the word `in`, one of those that came?
    bool came(Bits set, std::uint64_t sum, std::size_t in, std::uint64_t but) const {
        const std::size_t* place = known_.find(sum);
        if (place == nullptr) return false;
        for (std::size_t word = 0; word < words_; ++word)
            if (sets_[*place + word] != (word == in ? set[word] & ~but : set[word])) return false;
        return true;
    }
    // What is smaller by one is looked up, and only what is smaller still is compared one by one.
    bool holds_smaller(Bits set, std::uint64_t sum) const {
        for (std::size_t word = 0; word < words_; ++word)
            for (std::uint64_t rest = set[word]; rest != 0; rest &= rest - 1)
                if (came(set, sum - share(word, rest), word, rest & -rest)) return true;
        const std::size_t size = size_of(set);
        for (const auto& [smaller, place] : smallest_) {
            if (smaller + 1 >= size) break;
            if (within(Bits(sets_).subspan(place, words_), set)) return true;
        }
        return false;
    }

    std::size_t words_;
    std::vector<std::uint64_t> shares_{};                          // of each message in the sum of a set
    std::vector<std::uint64_t> sets_{};                            // all that came, one after the other
    FlatMap<std::size_t> known_{};                                 // where they are, by their sums
    std::vector<std::pair<std::size_t, std::size_t>> smallest_{};  // with their sizes
};

// The same for what sets lack, where only few of them are the smallest. Sets are given by numbers, and all of them are
// looked at together, a bit each: `needing` has, for each message, the numbers of the sets that need it.
class FewSmallest {
public:
    FewSmallest(const std::vector<std::vector<std::uint64_t>>& needing, Bits there) : needing_(needing) {
        for (std::size_t message = 0; message < needing.size(); ++message)
            if (!needing[message].empty() && !has_bit(there, message)) missing_.push_back(message);
    }

    // Calls `found` with the number of a set, the smallest first, and takes all sets that hold it out of the
    // candidates. A set that lacks nothing is none of them. False if there are too many.
    template <typename Found>
    bool list(std::vector<std::uint64_t>& candidates, Found&& found) {
        count(candidates);
        for (std::size_t size = 1; size < std::size_t{1} << planes_; ++size) {
            for (std::size_t word = 0; word < candidates.size(); ++word) {
                while (const std::uint64_t rest = candidates[word] & of_size(size, word)) {
                    const Id number = static_cast<Id>(lowest(word, rest));
                    if (++listed_ > thresholds.few_smallest) return false;
                    rows_.clear();
                    for (const std::size_t message : missing_)
                        if (needing_[message][word] & rest & -rest) rows_.push_back(needing_[message].data());
                    take_out(candidates);
                    found(number);
                    taken_.push_back(rows_);
                }
            }
        }
        return true;
    }
    // Takes out what holds a set that was found before.
    void take_out_all(std::vector<std::uint64_t>& candidates) {
        for (const auto& rows : taken_) {
            rows_ = rows;
            take_out(candidates);
        }
    }

private:
    using Rows = std::vector<const std::uint64_t*>;
    // How many messages each of them lacks, as binary numbers: a plane has one digit of all of them.
    void count(const std::vector<std::uint64_t>& candidates) {
        planes_ = static_cast<std::size_t>(std::bit_width(missing_.size()));
        digits_.assign(planes_ * candidates.size(), 0);
        for (std::size_t word = 0; word < candidates.size(); ++word) {
            if (candidates[word] == 0) continue;
            std::uint64_t* digits = digits_.data() + word * planes_;
            for (const std::size_t message : missing_) {
                std::uint64_t carry = needing_[message][word] & candidates[word];
                for (std::size_t plane = 0; carry != 0; ++plane) {
                    const std::uint64_t both = digits[plane] & carry;
                    digits[plane] ^= carry;
                    carry = both;
                }
            }
        }
    }
    std::uint64_t of_size(std::size_t size, std::size_t word) const {
        std::uint64_t result = ~std::uint64_t{0};
        for (std::size_t plane = 0; plane < planes_; ++plane) {
            const std::uint64_t digit = digits_[word * planes_ + plane];
            result &= size >> plane & 1 ? digit : ~digit;
        }
        return result;
    }
    void take_out(std::vector<std::uint64_t>& candidates) const {
        for (std::size_t word = 0; word < candidates.size(); ++word) {
            if (candidates[word] == 0) continue;
            std::uint64_t holding = candidates[word];
            for (const std::uint64_t* row : rows_) holding &= row[word];
            candidates[word] &= ~holding;
        }
    }

    const std::vector<std::vector<std::uint64_t>>& needing_;
    std::vector<std::size_t> missing_{};  // messages
    std::size_t planes_ = 0, listed_ = 0;
    std::vector<std::uint64_t> digits_{};
    Rows rows_{};
    std::vector<Rows> taken_{};
};

}  // namespace quorate

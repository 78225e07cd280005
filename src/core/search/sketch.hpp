// How many different states random runs have met, and how many of them only once: in little memory, however many.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "search/random_runs.hpp"

namespace quorate::at_random {

inline constexpr unsigned sketch_bits = 14;
inline constexpr std::size_t most_sampled = std::size_t{1} << 16;

// How many different values were added, within about 1% (HyperLogLog, Flajolet et al. 2007).
class Sketch {
public:
    void add(std::uint64_t hash) {
        auto& slot = slots_[hash >> (64 - sketch_bits)];
        slot = std::max(slot, static_cast<std::uint8_t>(std::countl_zero(hash << sketch_bits | 1) + 1));
    }
    void merge(const Sketch& other) {
        for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i] = std::max(slots_[i], other.slots_[i]);
    }
    double count() const {
        const double size = static_cast<double>(slots_.size());
        double sum = 0;
        std::size_t empty = 0;
        for (const std::uint8_t slot : slots_) {
            sum += std::ldexp(1.0, -slot);
            empty += slot == 0;
        }
        const double estimate = 0.7213 / (1 + 1.079 / size) * size * size / sum;
        return estimate < 2.5 * size && empty > 0 ? size * std::log(size / static_cast<double>(empty)) : estimate;
    }

private:
    std::vector<std::uint8_t> slots_ = std::vector<std::uint8_t>(std::size_t{1} << sketch_bits);
};

// How often states were met: of all, or of a sample by hash that gets thinner when there are too many.
class Sample {
public:
    void add(std::uint64_t hash, std::uint64_t times = 1) {
        if ((hash & mask_) != 0) return;
        Entry& entry = find(hash);
        size_ += entry.times == 0;
        entry = {hash, entry.times + times};
        if (size_ > most_sampled) thin(mask_ * 2 + 1);
    }
    void merge(const Sample& other) {
        if (other.mask_ > mask_) thin(other.mask_);
        for (const Entry& entry : other.entries_)
            if (entry.times > 0) add(entry.hash, entry.times);
    }
    void report(RunResult& result) const {
        result.sampled_states = size_;
        result.exact = mask_ == 0;
        for (const Entry& entry : entries_) {
            result.sampled_visits += entry.times;
            result.met_once += entry.times == 1;
        }
    }

private:
    struct Entry {
        std::uint64_t hash = 0, times = 0;
    };
    Entry& find(std::uint64_t hash) {
        std::size_t i = hash >> (64 - bits);
        while (entries_[i].times > 0 && entries_[i].hash != hash) i = (i + 1) & (entries_.size() - 1);
        return entries_[i];
    }
    void thin(std::uint64_t mask) {
        mask_ = mask;
        const std::vector<Entry> before = std::exchange(entries_, std::vector<Entry>(entries_.size()));
        size_ = 0;
        for (const Entry& entry : before)
            if (entry.times > 0) add(entry.hash, entry.times);
    }
    static constexpr unsigned bits = 17;  // twice as many entries as are used
    std::uint64_t mask_ = 0;
    std::size_t size_ = 0;
    std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << bits);
};

}  // namespace quorate::at_random

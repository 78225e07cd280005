// A table that is filled entry by entry, in any order, while others read it without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "base/blocks.hpp"

namespace quorate {

template <typename T>
class Lazy {
public:
    explicit Lazy(T empty) : empty_(empty) {}
    Lazy(const Lazy&) = delete;
    Lazy& operator=(const Lazy&) = delete;
    ~Lazy() {
        for (auto& block : blocks_) delete[] block.load(std::memory_order_relaxed);
    }

    T get(std::size_t index) const {
        const auto [block, offset] = Place::of(index);
        const std::atomic<T>* entries = blocks_[block].load(std::memory_order_acquire);
        return entries == nullptr ? empty_ : entries[offset].load(std::memory_order_acquire);
    }
    // One writer at a time.
    void put(std::size_t index, T value) {
        const auto [block, offset] = Place::of(index);
        std::atomic<T>* entries = blocks_[block].load(std::memory_order_relaxed);
        if (entries == nullptr) {
            entries = new std::atomic<T>[Place::size(block)];
            for (std::size_t i = 0; i < Place::size(block); ++i) entries[i].store(empty_, std::memory_order_relaxed);
            blocks_[block].store(entries, std::memory_order_release);
        }
        entries[offset].store(value, std::memory_order_release);
    }

private:
    const T empty_;
    std::array<std::atomic<std::atomic<T>*>, Place::most_blocks> blocks_{};
};

}  // namespace quorate

// A table that is filled entry by entry, in any order, while others read it without a lock.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>

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
        const auto [block, offset] = place(index);
        const std::atomic<T>* entries = blocks_[block].load(std::memory_order_acquire);
        return entries == nullptr ? empty_ : entries[offset].load(std::memory_order_acquire);
    }
    // One writer at a time.
    void put(std::size_t index, T value) {
        const auto [block, offset] = place(index);
        std::atomic<T>* entries = blocks_[block].load(std::memory_order_relaxed);
        if (entries == nullptr) {
            entries = new std::atomic<T>[first << block];
            for (std::size_t i = 0; i < first << block; ++i) entries[i].store(empty_, std::memory_order_relaxed);
            blocks_[block].store(entries, std::memory_order_release);
        }
        entries[offset].store(value, std::memory_order_release);
    }

private:
    static constexpr std::size_t first = 64;
    struct Place {
        std::size_t block, offset;
    };
    static Place place(std::size_t index) {
        const std::size_t shifted = index + first;
        const std::size_t block = static_cast<std::size_t>(std::bit_width(shifted)) - 7;
        return {block, shifted - (first << block)};
    }
    const T empty_;
    std::array<std::atomic<std::atomic<T>*>, 40> blocks_{};
};

}  // namespace quorate

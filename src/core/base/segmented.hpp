// A growing array whose elements never move, so that readers need no lock while one writer appends.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "base/blocks.hpp"

namespace quorate {

template <typename T>
class Segmented {
public:
    Segmented() = default;
    Segmented(const Segmented&) = delete;
    Segmented& operator=(const Segmented&) = delete;
    ~Segmented() { clear(); }

    void clear() {
        for (auto& block : blocks_) {
            delete[] block.load(std::memory_order_relaxed);
            block.store(nullptr, std::memory_order_relaxed);
        }
        size_.store(0, std::memory_order_relaxed);
    }

    // Appends a default element and gives it to `fill` before the new size becomes visible.
    template <typename Fill>
    std::size_t append(Fill&& fill) {
        const std::size_t index = size_.load(std::memory_order_relaxed);
        const auto [block, offset] = Place::of(index);
        if (blocks_[block].load(std::memory_order_relaxed) == nullptr)
            blocks_[block].store(new T[Place::size(block)](), std::memory_order_release);
        fill(blocks_[block].load(std::memory_order_relaxed)[offset]);
        size_.store(index + 1, std::memory_order_release);
        return index;
    }

    T& operator[](std::size_t index) {
        const auto [block, offset] = Place::of(index);
        return blocks_[block].load(std::memory_order_acquire)[offset];
    }
    const T& operator[](std::size_t index) const {
        const auto [block, offset] = Place::of(index);
        return blocks_[block].load(std::memory_order_acquire)[offset];
    }
    std::size_t size() const { return size_.load(std::memory_order_acquire); }

private:
    std::array<std::atomic<T*>, Place::most_blocks> blocks_{};
    std::atomic<std::size_t> size_{0};
};

}  // namespace quorate

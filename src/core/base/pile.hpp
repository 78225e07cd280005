// A long list of plain numbers that grows in blocks and never moves: no moment in which it takes twice its size.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "base/memory.hpp"

namespace quorate {

template <typename T>
class Pile {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    void push_back(T value) {
        if (next_ == end_) [[unlikely]]
            add_block();
        *next_++ = value;
    }
    void set(std::size_t index, T value) { parts_[index >> bits][index & mask] = value; }
    T operator[](std::size_t index) const { return parts_[index >> bits][index & mask]; }
    std::size_t size() const { return (parts_.size() << bits) - static_cast<std::size_t>(end_ - next_); }
    std::size_t bytes() const { return size() * sizeof(T); }

private:
    static constexpr unsigned bits = 20;
    static constexpr std::size_t mask = (std::size_t{1} << bits) - 1;
    // The first block stays on small pages: a short list should not pay for clearing large ones.
    void add_block() {
        blocks_.emplace_back(sizeof(T) << bits, !blocks_.empty());
        next_ = reinterpret_cast<T*>(blocks_.back().data());
        end_ = next_ + (std::size_t{1} << bits);
        parts_.push_back(next_);
    }
    std::vector<Block> blocks_{};
    std::vector<T*> parts_{};
    T *next_ = nullptr, *end_ = nullptr;  // in the last block
};

}  // namespace quorate

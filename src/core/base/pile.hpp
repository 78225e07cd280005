// A long list of plain numbers that grows in blocks and never moves: no moment in which it takes twice its size.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace quorate {

template <typename T>
class Pile {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    void push_back(T value) {
        if (size_ >> bits == blocks_.size())
            blocks_.push_back(std::make_unique_for_overwrite<T[]>(std::size_t{1} << bits));
        blocks_[size_ >> bits][size_ & mask] = value;
        ++size_;
    }
    T operator[](std::size_t index) const { return blocks_[index >> bits][index & mask]; }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return blocks_.size() * (sizeof(T) << bits); }

private:
    static constexpr unsigned bits = 18;
    static constexpr std::size_t mask = (std::size_t{1} << bits) - 1;
    std::vector<std::unique_ptr<T[]>> blocks_{};
    std::size_t size_ = 0;
};

}  // namespace quorate

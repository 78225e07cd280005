// An open-addressing map from 64-bit keys to small values: the behaviours, cells and facts of one column.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.hpp"

namespace quorate {

template <typename V>
class FlatMap {
public:
    V* find(std::uint64_t key) {
        if (entries_.empty()) return nullptr;
        for (std::size_t i = mix(key) & mask();; i = (i + 1) & mask()) {
            if (!entries_[i].used) return nullptr;
            if (entries_[i].key == key) return &entries_[i].value;
        }
    }
    const V* find(std::uint64_t key) const { return const_cast<FlatMap*>(this)->find(key); }

    // The key must not be there yet.
    void insert(std::uint64_t key, V value) {
        if ((count_ + 1) * 10 > entries_.size() * 7) grow();
        place(key, std::move(value));
        ++count_;
    }
    std::size_t size() const { return count_; }
    // Calls visit(key, value) for each, in no particular order.
    template <typename Visit>
    void each(Visit visit) const {
        for (const Entry& entry : entries_)
            if (entry.used) visit(entry.key, entry.value);
    }
    void clear() {
        entries_.clear();
        count_ = 0;
    }

private:
    struct Entry {
        std::uint64_t key = 0;
        V value{};
        bool used = false;
    };
    std::size_t mask() const { return entries_.size() - 1; }
    void place(std::uint64_t key, V value) {
        std::size_t i = mix(key) & mask();
        while (entries_[i].used) i = (i + 1) & mask();
        entries_[i] = {key, std::move(value), true};
    }
    void grow() {
        std::vector<Entry> old(entries_.empty() ? 16 : entries_.size() * 2);
        old.swap(entries_);
        for (auto& entry : old)
            if (entry.used) place(entry.key, std::move(entry.value));
    }
    std::vector<Entry> entries_;
    std::size_t count_ = 0;
};

}  // namespace quorate

// Gives equal sequences of numbers the same small number: inboxes and consumed sets.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/hash.hpp"
#include "base/segmented.hpp"

namespace quorate {

class Interner {
public:
    Id intern(std::span<const Id> ids) {
        const std::uint64_t hash = hash_ids(ids);
        if ((items_.size() + 1) * 10 > slots_.size() * 7) grow();
        std::size_t i = hash & (slots_.size() - 1);
        for (; slots_[i] != none; i = (i + 1) & (slots_.size() - 1)) {
            const Item& item = items_[slots_[i]];
            if (item.hash == hash && item.size == ids.size() &&
                (ids.empty() || std::memcmp(item.data, ids.data(), ids.size_bytes()) == 0))
                return slots_[i];
        }
        const Id id = checked_id(items_.size(), "distinct inboxes");
        Id* copy = store(ids);
        items_.append([&](Item& item) { item = {hash, copy, ids.size()}; });
        slots_[i] = id;
        return id;
    }
    // The number of a sequence that was interned, or `none`.
    Id find(std::span<const Id> ids) const {
        if (slots_.empty()) return none;
        const std::uint64_t hash = hash_ids(ids);
        for (std::size_t i = hash & (slots_.size() - 1); slots_[i] != none; i = (i + 1) & (slots_.size() - 1)) {
            const Item& item = items_[slots_[i]];
            if (item.hash == hash && item.size == ids.size() &&
                (ids.empty() || std::memcmp(item.data, ids.data(), ids.size_bytes()) == 0))
                return slots_[i];
        }
        return none;
    }
    std::span<const Id> operator[](Id id) const { return {items_[id].data, items_[id].size}; }
    std::size_t size() const { return items_.size(); }

private:
    struct Item {
        std::uint64_t hash = 0;
        const Id* data = nullptr;
        std::size_t size = 0;
    };
    Id* store(std::span<const Id> ids) {
        constexpr std::size_t block = 1 << 12;
        if (blocks_.empty() || used_ + ids.size() > room_) {
            room_ = ids.size() > block ? ids.size() : block;
            blocks_.push_back(std::make_unique<Id[]>(room_));
            used_ = 0;
        }
        Id* copy = blocks_.back().get() + used_;
        if (!ids.empty()) std::memcpy(copy, ids.data(), ids.size_bytes());
        used_ += ids.size();
        return copy;
    }
    void grow() {
        std::vector<Id> bigger(slots_.empty() ? 16 : slots_.size() * 2, none);
        for (Id id = 0; id < items_.size(); ++id) {
            std::size_t i = items_[id].hash & (bigger.size() - 1);
            while (bigger[i] != none) i = (i + 1) & (bigger.size() - 1);
            bigger[i] = id;
        }
        slots_.swap(bigger);
    }
    std::vector<Id> slots_;
    Segmented<Item> items_;
    std::vector<std::unique_ptr<Id[]>> blocks_{};
    std::size_t used_ = 0, room_ = 0;
};

}  // namespace quorate

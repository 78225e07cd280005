// The exact store: every state that was met, packed, in the order it was met, with an index over it.
//
// Each thread appends to an array of its own; a state's number is position * threads + thread, so there are no gaps.
// The arrays serve as the queue of the breadth-first search too: a level is a range in each of them. No parent is kept:
// a counterexample is found backwards through the levels (path.cpp), which costs no memory and no order of discovery.
//
// The index is an open-addressing table of 64-bit slots: 24 bits of the hash beside the state's number. A state's home
// is given by the top bits of its hash, and the 24 bits are those behind the first ten. So a slot's place and its bits
// tell its home, and the table is doubled by one pass over its slots, without looking at the states. Inserting is a
// compare-and-swap; growing and repacking happen while all threads rest.
#pragma once

#include <atomic>
#include <thread>

#include "layout.hpp"
#include "memory.hpp"

namespace quorate {

class Store {
public:
    static constexpr std::uint64_t most_states = (std::uint64_t{1} << 40) - 2;

    Store(const Tables& tables, unsigned threads) : tables_(tables), layout_(Layout::fit(tables)), arrays_(threads) {
        reindex(std::bit_ceil(std::max<std::size_t>(std::size_t{1} << 12, threads * std::size_t{1024})));
    }

    const Layout& layout() const { return layout_; }
    std::uint64_t size() const {
        std::uint64_t sum = 0;
        for (const auto& array : arrays_) sum += array.count.load(std::memory_order_relaxed);
        return sum;
    }
    unsigned threads() const { return static_cast<unsigned>(arrays_.size()); }
    std::uint64_t count(unsigned thread) const { return arrays_[thread].count.load(std::memory_order_relaxed); }
    const std::byte* state(unsigned thread, std::uint64_t position) const {
        const Array& array = arrays_[thread];
        return array.blocks[position >> block_bits].data() + (position & block_mask) * layout_.stride();
    }
    bool needs_growth() const { return size() * 4 > capacity() * 3; }
    // How many more states the index takes before probing gets long.
    std::uint64_t room() const {
        const std::uint64_t most = capacity() / 20 * 19, now = size();
        return most > now ? most - now : 0;
    }
    std::size_t bytes_to_grow() const { return capacity() * 16; }
    // While the index is small, memory is cheaper than moving entries.
    void grow() { reindex(capacity() * (capacity() < std::size_t{1} << 21 ? 8 : 2)); }

    void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots()[home(hash)]); }
    // Brings the state a slot points to closer, if there is one that may be equal.
    void prefetch_state(std::uint64_t hash) const {
        const std::uint64_t slot = slots()[home(hash)].load(std::memory_order_relaxed);
        if (slot != 0 && slot >> 40 == tag(hash)) __builtin_prefetch(at(number(slot)));
    }

    enum class Insertion { fresh, known };
    // The state becomes the next one of the thread's array unless it is known; then `number` becomes the number of the
    // known one. Call only if there is room.
    Insertion insert(unsigned thread, const Word* packed, std::uint64_t hash, std::uint64_t& number_of) {
        Array& mine = arrays_[thread];
        const std::uint64_t position = mine.count.load(std::memory_order_relaxed);
        bool written = false;
        for (std::size_t i = home(hash);; i = (i + 1) & mask_) {
            std::uint64_t slot = slots()[i].load(std::memory_order_acquire);
            if (slot == 0) {
                if (!written) {
                    layout_.store(packed, room(mine, position));
                    written = true;
                }
                const std::uint64_t id = position * arrays_.size() + thread;
                if (id > most_states) throw LimitError("more than 1,099,511,627,774 states");
                if (slots()[i].compare_exchange_strong(slot, tag(hash) << 40 | (id + 1), std::memory_order_acq_rel)) {
                    if (((i - home(hash)) & mask_) >= block_size()) far_.store(true, std::memory_order_relaxed);
                    mine.count.store(position + 1, std::memory_order_relaxed);
                    return Insertion::fresh;
                }
            }
            if (slot >> 40 == tag(hash) && layout_.equal(at(number(slot)), packed)) {
                number_of = number(slot);
                return Insertion::known;
            }
        }
    }

    // Packs every state anew, for the cells that exist now. The index stays: it depends on cell numbers alone.
    void widen() {
        const Layout wider = Layout::fit(tables_);
        in_parallel([&](std::size_t thread, std::size_t) {
            Array& array = arrays_[thread];
            std::vector<Id> cells(tables_.width());
            std::vector<Word> words(wider.words());
            const std::uint64_t count = array.count.load(std::memory_order_relaxed);
            for (std::size_t b = 0; b < array.blocks.size(); ++b) {
                Block fresh = block(wider, b);
                const std::uint64_t begin = static_cast<std::uint64_t>(b) << block_bits;
                for (std::uint64_t i = 0; i < block_states && begin + i < count; ++i) {
                    layout_.unpack(array.blocks[b].data() + i * layout_.stride(), cells.data());
                    wider.pack(cells.data(), words.data());
                    wider.store(words.data(), fresh.data() + i * wider.stride());
                }
                array.blocks[b] = std::move(fresh);
            }
        });
        layout_ = wider;
    }

private:
    static constexpr unsigned known_bits = 10;
    static constexpr std::size_t given_back = std::size_t{1} << 18;  // slots, between two times
    static constexpr unsigned block_bits = 20;
    static constexpr std::uint64_t block_states = std::uint64_t{1} << block_bits, block_mask = block_states - 1;
    // The first block stays on small pages: a small search should not pay for clearing large ones.
    static Block block(const Layout& layout, std::size_t number) {
        return Block(layout.stride() * block_states + Layout::slack, number > 0);
    }

    struct alignas(64) Array {
        std::atomic<std::uint64_t> count{0};
        std::vector<Block> blocks{};
    };
    using Slot = std::atomic<std::uint64_t>;

    Slot* slots() const { return reinterpret_cast<Slot*>(index_.data()); }
    std::size_t capacity() const { return mask_ + 1; }
    std::size_t home(std::uint64_t hash) const { return hash >> shift_; }
    static std::uint64_t tag(std::uint64_t hash) { return hash << known_bits >> 40; }
    // How many homes share their first ten bits.
    std::size_t block_size() const { return capacity() >> known_bits; }
    static std::uint64_t number(std::uint64_t slot) { return (slot & ((std::uint64_t{1} << 40) - 1)) - 1; }
    const std::byte* at(std::uint64_t id) const {
        if (arrays_.size() == 1) return state(0, id);
        return state(static_cast<unsigned>(id % arrays_.size()), id / arrays_.size());
    }
    std::byte* room(Array& array, std::uint64_t position) {
        const std::size_t block = position >> block_bits;
        if (block >= array.blocks.size()) {
            // Readers look up blocks without a lock, so the list of them must not move while they do.
            array.blocks.reserve(std::size_t{1} << 14);
            if (block >= array.blocks.capacity()) throw LimitError("more than 17,179,869,184 states on one thread");
            array.blocks.push_back(Store::block(layout_, block));
        }
        return array.blocks[block].data() + (position & block_mask) * layout_.stride();
    }
    void reindex(std::size_t capacity) {
        Block old = std::move(index_);
        const std::size_t old_capacity = old.size() / sizeof(Slot);
        index_ = Block(capacity * sizeof(Slot), capacity > std::size_t{1} << 20);
        mask_ = capacity - 1;
        shift_ = static_cast<unsigned>(64 - std::bit_width(mask_));
        // All bits of the new homes must be among those a slot tells, and no entry further from home than its block is
        // long.
        const unsigned bits = 64 - shift_;
        if (old_capacity >= std::size_t{1} << 18 && bits <= known_bits + 24 && !far_)
            move_slots(old, old_capacity, bits);
        else
            insert_states();
    }
    // Reads the old table and writes the new one in order: home positions keep their order when the table grows. So
    // each thread reads a part of the old table and writes a part of the new one; at the seams they may meet.
    void move_slots(Block& old_index, std::size_t old_capacity, unsigned bits) {
        const Slot* old = reinterpret_cast<const Slot*>(old_index.data());
        const std::size_t old_block = old_capacity >> known_bits;
        const unsigned old_low = static_cast<unsigned>(std::bit_width(old_block - 1)), low = bits - known_bits;
        in_parallel([&](std::size_t thread, std::size_t threads) {
            const std::size_t begin = old_capacity / threads * thread;
            const std::size_t end = thread + 1 == threads ? old_capacity : old_capacity / threads * (thread + 1);
            for (std::size_t i = begin; i < end; ++i) {
                // Memory that was read is given back now and then, so that the two tables are never there whole.
                if (i % given_back == 0 && i >= begin + given_back)
                    old_index.give_back((i - given_back) * sizeof(Slot), given_back * sizeof(Slot));
                const std::uint64_t slot = old[i].load(std::memory_order_relaxed);
                if (slot == 0) continue;
                const std::uint64_t known = slot >> 40;
                const std::size_t low_part = known >> (24 - old_low);
                const std::size_t high_part = ((i - low_part) & (old_capacity - 1)) >> old_low;
                const std::size_t home = high_part << low | known >> (24 - low);
                std::size_t place = home;
                for (std::uint64_t empty = 0; !slots()[place].compare_exchange_strong(empty, slot); empty = 0)
                    place = (place + 1) & mask_;
                if (((place - home) & mask_) >= block_size()) far_ = true;
            }
        });
    }
    template <typename Work>
    void in_parallel(Work work) {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < arrays_.size(); ++i) others.emplace_back([&, i] { work(i, arrays_.size()); });
        work(0, arrays_.size());
    }
    void insert_states() {
        far_ = false;
        constexpr std::size_t ahead = 16;
        std::uint64_t hashes[ahead], ids[ahead];
        std::size_t waiting = 0;
        std::vector<Id> cells(tables_.width());
        const auto place_all = [&] {
            for (std::size_t k = 0; k < waiting; ++k) {
                std::size_t i = home(hashes[k]);
                while (slots()[i].load(std::memory_order_relaxed) != 0) i = (i + 1) & mask_;
                if (((i - home(hashes[k])) & mask_) >= block_size()) far_ = true;
                slots()[i].store(tag(hashes[k]) << 40 | (ids[k] + 1), std::memory_order_relaxed);
            }
            waiting = 0;
        };
        for (unsigned thread = 0; thread < arrays_.size(); ++thread) {
            const std::uint64_t count = arrays_[thread].count.load(std::memory_order_relaxed);
            for (std::uint64_t position = 0; position < count; ++position) {
                layout_.unpack(state(thread, position), cells.data());
                hashes[waiting] = spread(tables_.sum(cells.data()));
                ids[waiting] = position * arrays_.size() + thread;
                prefetch(hashes[waiting]);
                if (++waiting == ahead) place_all();
            }
        }
        place_all();
    }

    const Tables& tables_;
    Layout layout_;
    std::vector<Array> arrays_;
    Block index_{};
    std::size_t mask_ = 0;
    unsigned shift_ = 52;
    std::atomic<bool> far_{false};  // some entry lies further from its home than a block is long
};

}  // namespace quorate

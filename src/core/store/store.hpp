// The exact store: every state that was met, packed, in the order it was met, with an index over it.
//
// Each thread appends to an array of its own; a state's number is its position there, with the thread in the low bits.
// The arrays serve as the queue of the breadth-first search too: a level is a range in each of them. No parent is kept:
// a counterexample is found backwards through the levels (path.cpp), which costs no memory and no order of discovery.
//
// The index is an open-addressing table of slots: a state's number beside some bits of its hash, which spare most
// look-ups of states that are not equal. A state's home is given by the top bits of its hash. Slots have 32 bits as
// long as a number leaves some of them to the hash, and 64 after that. Inserting is a compare-and-swap; growing and
// repacking happen while all threads rest. A larger index is filled from the states, so the old one is given back
// first.
#pragma once

#include <atomic>

#include "base/joined.hpp"
#include "base/memory.hpp"
#include "store/layout.hpp"

namespace quorate {

class Store {
public:
    static constexpr std::uint64_t most_states = (std::uint64_t{1} << 40) - 2;

    // Slots have 32 bits as long as `narrow` of them are enough for a number.
    Store(const Tables& tables, unsigned threads, unsigned narrow = 28)
        : tables_(tables),
          layout_(Layout::fit(tables)),
          arrays_(threads),
          thread_bits_(static_cast<unsigned>(std::bit_width(threads - 1))),
          narrow_(narrow) {
        reindex(std::bit_ceil(std::max<std::size_t>(std::size_t{1} << 12, threads * std::size_t{1024})));
    }

    const Layout& layout() const { return layout_; }
    std::uint64_t size() const {
        std::uint64_t sum = 0;
        for (const auto& array : arrays_) sum += array.count.load(std::memory_order_relaxed);
        return sum;
    }
    unsigned threads() const { return static_cast<unsigned>(arrays_.size()); }
    unsigned thread_of(std::uint64_t number) const {
        return static_cast<unsigned>(number & ((std::uint64_t{1} << thread_bits_) - 1));
    }
    std::uint64_t position_of(std::uint64_t number) const { return number >> thread_bits_; }
    std::uint64_t count(unsigned thread) const { return arrays_[thread].count.load(std::memory_order_relaxed); }
    const std::byte* state(unsigned thread, std::uint64_t position) const {
        const Array& array = arrays_[thread];
        return array.blocks[position >> block_bits].data() + (position & block_mask) * layout_.stride();
    }
    std::size_t bytes() const { return size() * layout_.stride() + index_.size(); }
    bool needs_growth() const { return size() * 4 > capacity() * 3; }
    // How many more states the index takes before probing gets long.
    std::uint64_t room() const {
        const std::uint64_t most = capacity() / 20 * 19, now = size();
        return most > now ? most - now : 0;
    }
    std::size_t bytes_to_grow() const {
        const std::size_t bytes = capacity() * growth() * (wide(capacity() * growth()) ? 8 : 4);
        return bytes - std::min(bytes, index_.size());
    }
    void grow() { reindex(capacity() * growth()); }

    void prefetch(std::uint64_t hash) const { __builtin_prefetch(index_.data() + (home(hash) << slot_shift_)); }
    // Brings the state a slot points to closer, if there is one that may be equal.
    void prefetch_state(std::uint64_t hash) const {
        const std::uint64_t number = slot_shift_ == 2 ? candidate<std::uint32_t>(hash) : candidate<std::uint64_t>(hash);
        if (number != 0) __builtin_prefetch(at(number - 1));
    }

    enum class Insertion { fresh, known };
    // The state becomes the next one of the thread's array unless it is known; then `number` becomes the number of the
    // known one. Call only if there is room.
    Insertion insert(unsigned thread, const Word* packed, std::uint64_t hash, std::uint64_t& number) {
        return slot_shift_ == 2 ? insert<std::uint32_t>(thread, packed, hash, number)
                                : insert<std::uint64_t>(thread, packed, hash, number);
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
    static constexpr unsigned block_bits = 20;
    static constexpr std::uint64_t block_states = std::uint64_t{1} << block_bits, block_mask = block_states - 1;
    // The first block stays on small pages: a small search should not pay for clearing large ones.
    static Block block(const Layout& layout, std::size_t number) {
        return Block(layout.stride() * block_states + Layout::slack, number > 0);
    }

    // The count changes with every state of its thread, the list of blocks hardly ever, and all threads read it: they
    // must not share a cache line, nor two lines that are fetched together.
    struct Array {
        alignas(128) std::atomic<std::uint64_t> count{0};
        alignas(128) std::vector<Block> blocks{};
    };

    template <typename Slot>
    std::atomic<Slot>* slots() const {
        return reinterpret_cast<std::atomic<Slot>*>(index_.data());
    }
    std::size_t capacity() const { return mask_ + 1; }
    // While the index is small, memory is cheaper than filling it again.
    std::size_t growth() const {
        return capacity() < std::size_t{1} << 19 ? 8 : capacity() < std::size_t{1} << 22 ? 4 : 2;
    }
    // Must slots have 64 bits? With this many of them, and the numbers spread unevenly over the threads.
    bool wide(std::size_t capacity) const { return number_bits(capacity) > narrow_; }
    unsigned number_bits(std::size_t capacity) const {
        return static_cast<unsigned>(std::bit_width((capacity << thread_bits_) - 1));
    }
    std::size_t home(std::uint64_t hash) const { return hash >> shift_; }
    template <typename Slot>
    Slot tag(std::uint64_t hash) const {
        return static_cast<Slot>(hash << number_bits_);
    }
    template <typename Slot>
    bool tagged(Slot slot, std::uint64_t hash) const {
        return (slot ^ tag<Slot>(hash)) >> number_bits_ == 0;
    }
    template <typename Slot>
    std::uint64_t number(Slot slot) const {
        return (slot & ((Slot{1} << number_bits_) - 1)) - 1;
    }
    // The number plus one of the state at the hash's home, if it may be equal.
    template <typename Slot>
    std::uint64_t candidate(std::uint64_t hash) const {
        const Slot slot = slots<Slot>()[home(hash)].load(std::memory_order_relaxed);
        return slot != 0 && tagged(slot, hash) ? number(slot) + 1 : 0;
    }

    template <typename Slot>
    Insertion insert(unsigned thread, const Word* packed, std::uint64_t hash, std::uint64_t& known) {
        Array& mine = arrays_[thread];
        const std::uint64_t position = mine.count.load(std::memory_order_relaxed);
        bool written = false;
        for (std::size_t i = home(hash);; i = (i + 1) & mask_) {
            Slot slot = slots<Slot>()[i].load(std::memory_order_acquire);
            if (slot == 0) {
                if (!written) {
                    layout_.store(packed, room(mine, position));
                    written = true;
                }
                const std::uint64_t id = position << thread_bits_ | thread;
                if (id > most_states) throw LimitError("more than 1,099,511,627,774 states");
                const Slot mark = static_cast<Slot>(tag<Slot>(hash) | (id + 1));
                if (slots<Slot>()[i].compare_exchange_strong(slot, mark, std::memory_order_acq_rel)) {
                    mine.count.store(position + 1, std::memory_order_relaxed);
                    return Insertion::fresh;
                }
            }
            if (tagged(slot, hash) && layout_.equal(at(number(slot)), packed)) {
                known = number(slot);
                return Insertion::known;
            }
        }
    }

    const std::byte* at(std::uint64_t id) const { return state(thread_of(id), position_of(id)); }
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
        slot_shift_ = wide(capacity) ? 3 : 2;
        number_bits_ = slot_shift_ == 3 ? 40 : number_bits(capacity);
        index_ = Block();
        index_ = Block(capacity << slot_shift_, capacity > std::size_t{1} << 20);
        mask_ = capacity - 1;
        shift_ = static_cast<unsigned>(64 - std::bit_width(mask_));
        in_parallel([&](std::size_t thread, std::size_t) {
            if (slot_shift_ == 2)
                enter<std::uint32_t>(thread);
            else
                enter<std::uint64_t>(thread);
        });
    }
    // Enters a thread's states, which are known to differ, into the index.
    template <typename Slot>
    void enter(std::size_t thread) {
        constexpr std::size_t ahead = 32;
        std::uint64_t hashes[ahead];
        const std::uint64_t count = arrays_[thread].count.load(std::memory_order_relaxed);
        for (std::uint64_t begin = 0; begin < count; begin += ahead) {
            const std::uint64_t some = std::min<std::uint64_t>(ahead, count - begin);
            for (std::uint64_t i = 0; i < some; ++i) {
                hashes[i] = spread(layout_.sum(state(static_cast<unsigned>(thread), begin + i)));
                prefetch(hashes[i]);
            }
            for (std::uint64_t i = 0; i < some; ++i) {
                const std::uint64_t id = (begin + i) << thread_bits_ | thread;
                const Slot mark = static_cast<Slot>(tag<Slot>(hashes[i]) | (id + 1));
                std::size_t place = home(hashes[i]);
                if (arrays_.size() == 1) {
                    while (slots<Slot>()[place].load(std::memory_order_relaxed) != 0) place = (place + 1) & mask_;
                    slots<Slot>()[place].store(mark, std::memory_order_relaxed);
                    continue;
                }
                for (Slot empty = 0; !slots<Slot>()[place].compare_exchange_strong(empty, mark); empty = 0)
                    place = (place + 1) & mask_;
            }
        }
    }
    template <typename Work>
    void in_parallel(Work work) {
        std::vector<Joined> others;
        for (std::size_t i = 1; i < arrays_.size(); ++i) others.emplace_back([&, i] { work(i, arrays_.size()); });
        work(0, arrays_.size());
    }

    const Tables& tables_;
    Layout layout_;
    std::vector<Array> arrays_;
    const unsigned thread_bits_, narrow_;
    Block index_{};
    std::size_t mask_ = 0;
    unsigned shift_ = 52, slot_shift_ = 2, number_bits_ = 0;
};

}  // namespace quorate

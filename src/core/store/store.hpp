// The exact store: every state that was met, packed, in the order it was met, with an index over it.
//
// Each thread appends to an array of its own; a state's number is its position there, with the thread in the low bits.
// The arrays serve as the queue of the breadth-first search too: a level is a range in each of them. No parent is kept:
// a counterexample is found backwards through the levels (path.cpp), which costs no memory and no order of discovery.
//
// The index is an open-addressing table of slots of 32 bits: a state's number beside some bits of its hash, which spare
// most look-ups of states that are not equal. Sixteen of them are a cache line (line.hpp); a state's home is the line
// that the top bits of its hash name. Inserting is a compare-and-swap; growing and repacking happen while all threads
// rest. A larger index is filled from the states, so the old one is given back first. Where that would take long, or
// leave few bits to the hash, another kind of index takes over, which is slower but grows in small steps (index.hpp).
//
// The states are written once and never move, in memory or in a file; either index can be filled from them again.
//
// With fingerprints the index is all there is: a hash that is there stands for a state that is. States are kept only
// until the search has no more use for them, which it says by forgetting them.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "base/joined.hpp"
#include "base/memory.hpp"
#include "base/spill.hpp"
#include "base/thresholds.hpp"
#include "store/index.hpp"
#include "store/layout.hpp"
#include "store/line.hpp"

namespace quorate {

class Store {
public:
    static constexpr std::uint64_t most_states = 4'290'000'000;

    // With the name of a directory, the states lie in a file there.
    Store(const Tables& tables, unsigned threads, const std::string& directory = {}, bool fingerprints = false)
        : tables_(tables),
          layout_(Layout::fit(tables)),
          arrays_(threads),
          thread_bits_(static_cast<unsigned>(std::bit_width(threads - 1))),
          longer_(threads == 1 ? 0 : 1) {
        if (!directory.empty()) spill_ = std::make_unique<Spill>(directory);
        if (fingerprints) {
            fingerprints_ = Fingerprints::of_fingerprints(threads, thresholds.fingerprint_bits);
            doubling_ = false;
            return;
        }
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
    std::uint64_t number_of(unsigned thread, std::uint64_t position) const { return position << thread_bits_ | thread; }
    std::uint64_t count(unsigned thread) const { return arrays_[thread].count.load(std::memory_order_relaxed); }
    const std::byte* state(unsigned thread, std::uint64_t position) const {
        const Array& array = arrays_[thread];
        return array.blocks[position >> block_bits].data() + (position & block_mask) * layout_.stride();
    }
    // States in a file need not be in memory: all but those that were written last are given back, until they are read
    // again.
    void rest() const {
        if (spill_ == nullptr) return;
        for (const Array& array : arrays_) {
            const std::uint64_t count = array.count.load(std::memory_order_acquire), full = count >> block_bits;
            for (std::uint64_t b = 0; b < full; ++b) array.blocks[b].give_back(0, array.blocks[b].size());
            const std::size_t written = (count & block_mask) * layout_.stride() / spill_->page * spill_->page;
            if (written > 0) array.blocks[full].give_back(0, written);
        }
    }
    // States of the thread before this one are not needed any more. Given back are whole blocks of them.
    void forget(unsigned thread, std::uint64_t position) {
        Array& array = arrays_[thread];
        for (std::uint64_t& b = array.forgotten; (b + 1) << block_bits <= position; ++b) array.blocks[b] = Block();
    }
    // Nothing is needed any more.
    void forget_all() {
        for (Array& array : arrays_) array.blocks.clear();
        index_ = Block();
        large_.reset();
        fingerprints_.reset();
    }
    std::size_t bytes() const {
        std::uint64_t kept = size();
        for (const Array& array : arrays_) kept -= array.forgotten << block_bits;
        const std::size_t index = doubling_ ? index_.size() : large_ ? large_->bytes() : fingerprints_->bytes();
        return kept * layout_.stride() + index;
    }
    bool needs_growth() const {
        if (fingerprints_) return size() >= fingerprints_->grows_at();
        return large_ ? size() >= large_->grows_at() || uneven() : size() > fullest();
    }
    // How many more states the index takes, if each of the threads inserts its share of them.
    std::uint64_t room() const {
        const std::uint64_t most = doubling_ ? capacity() / 20 * 19 : large_ ? large_->room() : fingerprints_->room();
        const std::uint64_t now = size();
        const std::uint64_t left = most > now ? most - now : 0;
        return large_ ? std::min(left, shortest() * arrays_.size()) : left;
    }
    std::size_t bytes_to_grow() const {
        if (fingerprints_) return fingerprints_->bytes_to_grow();
        if (large_) return uneven() ? 0 : large_->bytes_to_grow();
        const std::size_t next = grown();
        const std::size_t bytes = wide(next) ? Index::bytes_for(size()) : next * sizeof(Slot);
        return bytes - std::min(bytes, index_.size());
    }
    void grow() {
        if (size() >= most_states) throw LimitError("more than 4,290,000,000 states");
        if (fingerprints_) return fingerprints_->grow();
        if (large_ && !uneven()) return large_->grow();
        if (large_) ++longer_;
        if (!large_ && !wide(grown())) return reindex(grown());
        enlarge();
    }

    void prefetch(std::uint64_t hash) const {
        if (!doubling_) [[unlikely]]
            return large_ ? large_->prefetch(hash) : fingerprints_->prefetch(hash);
        __builtin_prefetch(lines() + home(hash));
    }
    // Brings the state a slot points to closer, if there is one that may be equal.
    void prefetch_state(std::uint64_t hash) const {
        if (fingerprints_) [[unlikely]]
            return;
        const std::uint64_t number = large_ ? large_->candidate(hash) : candidate(hash);
        if (number != Index::nothing) __builtin_prefetch(at(number));
    }

    enum class Insertion { fresh, known };
    // The state becomes the next one of the thread's array unless it is known; then `number` becomes the number of the
    // known one; with fingerprints it has none. Call only if there is room.
    Insertion insert(unsigned thread, const Word* packed, std::uint64_t hash, std::uint64_t& number) {
        return doubling_ ? insert_small(thread, packed, hash, number) : insert_large(thread, packed, hash, number);
    }

    // What the states take more when they are packed anew: they are given back piece by piece as they are copied.
    std::size_t bytes_to_widen() const {
        const Layout wider = Layout::fit(tables_, hubs_);
        if (spill_ != nullptr || wider.stride() <= layout_.stride()) return 0;
        std::uint64_t kept = size();
        for (const Array& array : arrays_) kept -= array.forgotten << block_bits;
        return kept * (wider.stride() - layout_.stride()) + arrays_.size() * (portion_mask + 1) * layout_.stride();
    }
    // Packs every state anew, for the cells that exist now. The index stays: it depends on cell numbers alone.
    void widen() {
        const Layout wider = Layout::fit(tables_, hubs_);
        // Room in a file may be missing: that has to be known before anything changes.
        std::vector<std::vector<Block>> files(arrays_.size());
        if (spill_ != nullptr) {
            spill_->restart();
            for (std::size_t i = 0; i < files.size(); ++i)
                for (std::size_t b = 0; b < arrays_[i].blocks.size(); ++b) files[i].push_back(block(wider, b));
        }
        in_parallel([&](std::size_t thread, std::size_t) {
            Array& array = arrays_[thread];
            std::vector<Id> cells(layout_.width());
            std::vector<Word> words(wider.words());
            const std::uint64_t count = array.count.load(std::memory_order_relaxed);
            for (std::size_t b = array.forgotten; b < array.blocks.size(); ++b) {
                Block fresh = spill_ != nullptr ? std::move(files[thread][b]) : block(wider, b);
                const std::uint64_t begin = static_cast<std::uint64_t>(b) << block_bits;
                for (std::uint64_t i = 0; i < block_states && begin + i < count; ++i) {
                    layout_.unpack(array.blocks[b].data() + i * layout_.stride(), cells.data());
                    wider.pack(cells.data(), words.data());
                    wider.store(words.data(), fresh.data() + i * wider.stride());
                    if ((i & portion_mask) != portion_mask) continue;
                    give_back(array, begin + i + 1);
                    if (spill_ != nullptr) fresh.give_back(0, wider.stride() * (i + 1) / page * page);
                }
                array.blocks[b] = std::move(fresh);
            }
        });
        layout_ = wider;
    }
    // Every state becomes another, as other processes are taken apart: convert(cells) for each of them, which must stay
    // different from one another.
    template <typename Convert>
    void convert(const Hubs* hubs, Convert convert) {
        std::vector<Id> cells(layout_.width());
        const auto each = [&](auto use) {
            for (Array& array : arrays_) {
                const std::uint64_t count = array.count.load(std::memory_order_relaxed);
                for (std::uint64_t i = 0; i < count; ++i) {
                    layout_.unpack(array.blocks[i >> block_bits].data() + (i & block_mask) * layout_.stride(),
                                   cells.data());
                    use(array, i, convert(cells));
                }
            }
        };
        each([](Array&, std::uint64_t, const std::vector<Id>&) {});  // then all numbers are given, and the form fits
        hubs_ = hubs;
        const Layout fitting = Layout::fit(tables_, hubs);
        std::vector<Word> words(fitting.words());
        std::vector<std::vector<Block>> fresh(arrays_.size());
        each([&](Array& array, std::uint64_t i, const std::vector<Id>& slots) {
            auto& blocks = fresh[static_cast<std::size_t>(&array - arrays_.data())];
            if (i >> block_bits >= blocks.size()) {
                blocks.reserve(std::size_t{1} << 14);
                blocks.push_back(block(fitting, blocks.size()));
            }
            fitting.pack(slots.data(), words.data());
            fitting.store(words.data(), blocks[i >> block_bits].data() + (i & block_mask) * fitting.stride());
        });
        for (std::size_t i = 0; i < arrays_.size(); ++i)
            if (!fresh[i].empty()) arrays_[i].blocks = std::move(fresh[i]);
        layout_ = fitting;
        if (large_) return enlarge();
        reindex(capacity());
    }

private:
    static constexpr unsigned block_bits = 20;
    static constexpr std::uint64_t portion_mask = (1 << 16) - 1;  // of what is read in order, and given back then
    static constexpr std::uint64_t block_states = std::uint64_t{1} << block_bits, block_mask = block_states - 1;
    // The first block stays on small pages: a small search should not pay for clearing large ones.
    Block block(const Layout& layout, std::size_t number) {
        if (spill_ != nullptr) return spill_->block(layout.stride() * block_states + Layout::slack);
        return Block(layout.stride() * block_states + Layout::slack, number > 0);
    }

    // The count changes with every state of its thread, the list of blocks hardly ever, and all threads read it: they
    // must not share a cache line, nor two lines that are fetched together.
    struct Array {
        alignas(128) std::atomic<std::uint64_t> count{0};
        alignas(128) std::vector<Block> blocks{};
        std::uint64_t forgotten = 0;  // blocks
    };

    // The states up to this one, as far as they lie in the same block, are not needed any more; or, in a file, for now.
    void give_back(const Array& array, std::uint64_t end) const {
        const std::size_t bytes = ((end - 1) & block_mask) * layout_.stride();
        array.blocks[(end - 1) >> block_bits].give_back(0, bytes / page * page);
    }

    std::size_t capacity() const { return lines_ * Line::capacity; }
    Line* lines() const { return reinterpret_cast<Line*>(index_.data()); }
    bool small() const { return capacity() < std::size_t{1} << 22; }
    // With how many states it is to grow, and to how many slots. While it is small, memory is cheaper than time.
    std::uint64_t fullest() const { return small() ? capacity() / 4 * 3 : capacity() / 8 * 7; }
    std::size_t grown() const {
        if (!small()) return (lines_ + lines_ / 3) * Line::capacity;
        return capacity() * (capacity() < std::size_t{1} << 19 ? 8 : 4);
    }
    // Are these so many slots that filling them takes long, or that a number leaves too few bits to the hash?
    bool wide(std::size_t capacity) const {
        return capacity > std::size_t{1} << thresholds.narrow_index || number_bits(capacity) > 28;
    }
    unsigned number_bits(std::size_t capacity) const {
        return static_cast<unsigned>(std::bit_width((capacity << thread_bits_) - 1));
    }
    std::size_t home(std::uint64_t hash) const {
        return static_cast<std::size_t>(static_cast<Wide>(hash) * lines_ >> 64);
    }
    Slot tag(std::uint64_t hash) const { return static_cast<Slot>(hash << number_bits_); }
    std::uint64_t number(Slot slot) const { return (slot & ((Slot{1} << number_bits_) - 1)) - 1; }
    // The number of a state in the hash's home that may be equal.
    std::uint64_t candidate(std::uint64_t hash) const {
        const Line& line = lines()[home(hash)];
        const std::uint32_t found = line.look(tag(hash), tag_mask()).tagged;
        return found != 0 ? number(line.read(static_cast<unsigned>(std::countr_zero(found)))) : Index::nothing;
    }
    bool alone() const { return thread_bits_ == 0; }
    Slot tag_mask() const { return ~Slot{0} << number_bits_; }

    // In line: it is done for every transition. The other is for searches that wait for memory anyway.
    [[gnu::always_inline]] Insertion insert_small(unsigned thread, const Word* packed, std::uint64_t hash,
                                                  std::uint64_t& known) {
        Array& mine = arrays_[thread];
        const std::uint64_t position = mine.count.load(std::memory_order_relaxed);
        bool written = false;
        const Slot wanted = tag(hash);
        for (std::size_t at = home(hash);;) {
            Line& line = lines()[at];
            const Line::Seen seen = line.look(wanted, tag_mask());
            for (std::uint32_t found = seen.tagged; found != 0; found &= found - 1) {
                const std::uint64_t other = number(line.read(static_cast<unsigned>(std::countr_zero(found))));
                if (!layout_.equal(this->at(other), packed)) continue;
                known = other;
                return Insertion::known;
            }
            if (seen.free == 0) {
                if (++at == lines_) at = 0;
                continue;
            }
            if (!written) {
                layout_.store(packed, room(mine, position));
                written = true;
            }
            const std::uint64_t id = position << thread_bits_ | thread;
            // If another thread was first, the line is looked at again.
            if (!line.take(static_cast<unsigned>(std::countr_zero(seen.free)), static_cast<Slot>(wanted | (id + 1)),
                           alone()))
                continue;
            mine.count.store(position + 1, std::memory_order_relaxed);
            return Insertion::fresh;
        }
    }

    [[gnu::noinline]] Insertion insert_large(unsigned thread, const Word* packed, std::uint64_t hash,
                                             std::uint64_t& known) {
        Array& mine = arrays_[thread];
        const std::uint64_t position = mine.count.load(std::memory_order_relaxed);
        bool written = false;
        const auto equal = [&](std::uint64_t other) { return layout_.equal(at(other), packed); };
        const auto fresh = [&] {
            if (!written) layout_.store(packed, room(mine, position));
            written = true;
            return large_ ? position << thread_bits_ | thread : 0;
        };
        const std::uint64_t found = large_ ? large_->insert(hash, equal, fresh)
                                           : fingerprints_->insert(hash, [](std::uint64_t) { return true; }, fresh);
        if (found != Index::nothing) {
            known = found;
            return Insertion::known;
        }
        mine.count.store(position + 1, std::memory_order_relaxed);
        return Insertion::fresh;
    }
    // How many more states the thread that has met most of them may meet before its numbers get too long.
    std::uint64_t shortest() const {
        std::uint64_t most = 0;
        for (const auto& array : arrays_) most = std::max(most, array.count.load(std::memory_order_relaxed));
        const std::uint64_t each = large_->numbers() >> thread_bits_;
        return each > most ? each - most : 0;
    }
    bool uneven() const { return arrays_.size() > 1 && shortest() < thresholds.portion; }

    const std::byte* at(std::uint64_t id) const { return state(thread_of(id), position_of(id)); }
    std::byte* room(Array& array, std::uint64_t position) {
        const std::size_t block = position >> block_bits;
        if (block >= array.blocks.size()) {
            // Readers look up blocks without a lock, so the list of them must not move while they do.
            array.blocks.reserve(std::size_t{1} << 14);
            if (block >= array.blocks.capacity()) throw LimitError("more than 17,179,869,184 states on one thread");
            array.blocks.push_back(this->block(layout_, block));
        }
        return array.blocks[block].data() + (position & block_mask) * layout_.stride();
    }
    // The index that grows in small steps, filled from the states.
    void enlarge() {
        index_ = Block();
        large_.reset();
        doubling_ = false;
        large_ = Index::for_states(threads(), longer_, size());
        in_parallel([&](std::size_t thread, std::size_t) { enter_large(static_cast<unsigned>(thread)); });
    }
    void reindex(std::size_t capacity) {
        number_bits_ = number_bits(capacity);
        index_ = Block();
        index_ = Block(capacity * sizeof(Slot), capacity > std::size_t{1} << 20);
        lines_ = capacity / Line::capacity;
        in_parallel([&](std::size_t thread, std::size_t) { enter(static_cast<unsigned>(thread)); });
    }
    // Calls each(hash, number) for the states of a thread, whose places in the index are on their way then.
    template <typename Each>
    void each_state(unsigned thread, Each each) {
        constexpr std::size_t ahead = 32;
        std::uint64_t hashes[ahead];
        for (std::uint64_t begin = 0; begin < count(thread); begin += ahead) {
            const std::uint64_t some = std::min<std::uint64_t>(ahead, count(thread) - begin);
            for (std::uint64_t i = 0; i < some; ++i) {
                hashes[i] = spread(layout_.sum(state(thread, begin + i)));
                prefetch(hashes[i]);
            }
            for (std::uint64_t i = 0; i < some; ++i) each(hashes[i], (begin + i) << thread_bits_ | thread);
            if (spill_ != nullptr && (begin & portion_mask) == portion_mask + 1 - ahead)
                give_back(arrays_[thread], begin + ahead);
        }
    }
    // Enters a thread's states, which are known to differ, into the index.
    void enter(unsigned thread) {
        each_state(thread, [&](std::uint64_t hash, std::uint64_t id) {
            const Slot mark = static_cast<Slot>(tag(hash) | (id + 1));
            for (std::size_t at = home(hash);;) {
                const std::uint32_t free = lines()[at].look(0, 0).free;
                if (free == 0)
                    at = at + 1 == lines_ ? 0 : at + 1;
                else if (lines()[at].take(static_cast<unsigned>(std::countr_zero(free)), mark, alone()))
                    return;
            }
        });
    }
    void enter_large(unsigned thread) {
        each_state(thread, [&](std::uint64_t hash, std::uint64_t id) {
            large_->insert(hash, [](std::uint64_t) { return false; }, [&] { return id; });
        });
    }
    template <typename Work>
    void in_parallel(Work work) {
        std::vector<Joined> others;
        for (std::size_t i = 1; i < arrays_.size(); ++i) others.emplace_back([&, i] { work(i, arrays_.size()); });
        work(0, arrays_.size());
    }

    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

    const Tables& tables_;
    const Hubs* hubs_ = nullptr;
    Layout layout_;
    std::vector<Array> arrays_;
    const unsigned thread_bits_;
    unsigned longer_;
    std::unique_ptr<Spill> spill_{};
    Block index_{};
    std::size_t lines_ = 0;
    unsigned number_bits_ = 0;
    bool doubling_ = true;  // the index is that of 32 bits a slot; otherwise it is one of these
    std::optional<Index> large_{};
    std::optional<Fingerprints> fingerprints_{};
};

}  // namespace quorate

// The index over the states of a store: a hash table that grows by a tenth at a time, one part after another, in place.
//
// A line is two cache lines with 25 slots of five bytes. A slot holds the number of a state and some bits of its hash,
// the tag. Where the states themselves are not kept, it has 21 slots of six bytes, and a slot holds nothing but a tag.
// A state goes into the first free slot of its home line or of the seven behind it, and where these are full, which
// hardly ever happens, on a list. Slots are filled in order, so a look-up ends at the first free one.
//
// Only the first `precision` bits of a hash count here, and a tag together with the line it lies in gives back all of
// them (quotienting: Cleary 1984; Knuth 6.4, exercise 13). So the index grows without a look at the states. Let a
// segment have m lines, and r bits of a hash choose one of them: line l is the home of the hashes from
// ceil(l * 2^r / m) on. A tag is a hash modulo 2^t, and 8 * 2^r <= m * 2^t, so among the hashes whose homes are eight
// neighbouring lines no two have the same tag. Whenever there are twice as many lines, numbers get a bit longer and
// tags a bit shorter: the bound is kept. Without numbers, tags stay as they are.
//
// A large index consists of segments, named by the top bits of the hash. They lie one behind the other in a part of the
// address space that is reserved for them. To grow, the last segment that was not yet enlarged moves up, then the one
// before it, down to the first: memory grows in small steps, and no pause is long.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/joined.hpp"
#include "base/memory.hpp"
#include "base/thresholds.hpp"
#include "base/types.hpp"

namespace quorate {

__extension__ typedef unsigned __int128 Wide;  // GCC and Clang have it, the standard does not

// What a slot holds besides the 32 bits of its word: the numbers of states, or nothing but bits of their hashes.
struct Numbered {
    using Tag = std::uint8_t;
    static constexpr unsigned capacity = 25, padding = 2;
    static constexpr bool numbers = true;
};
struct Unnumbered {
    using Tag = std::uint16_t;
    static constexpr unsigned capacity = 21, padding = 1;
    static constexpr bool numbers = false;
};

template <typename Slots>
class BasicIndex {
public:
    static constexpr std::uint64_t nothing = ~std::uint64_t{0};

    // Numbers consist of a position and, in the low bits, of a thread. They may be `longer` by so many bits than a
    // count of the states, because threads do not meet as many each.
    explicit BasicIndex(unsigned threads, unsigned longer = 0)
        requires Slots::numbers
        : threads_(threads), longer_(longer), precision_(word_bits + tag_bits - 6 - window_bits - longer) {
        if (longer > 12) throw LimitError("one thread has met far more states than the others");
        base_ = generation(
            std::bit_ceil(std::max<std::size_t>({thresholds.index_lines, threads * std::size_t{16}, window})));
        slots_ = Block(base_.lines * sizeof(Line), false);
    }

    // One of fingerprints with so many bits, each of which is there once.
    static BasicIndex of_fingerprints(unsigned threads, unsigned bits)
        requires(!Slots::numbers)
    {
        constexpr unsigned most = word_bits + tag_bits - 1 - window_bits;
        BasicIndex index;
        index.threads_ = threads;
        index.precision_ = bits;
        const std::size_t lines = std::max(thresholds.index_lines, std::size_t{1} << (std::max(bits, most) - most));
        const unsigned segment_bits = lines >= thresholds.index_segmented ? thresholds.index_segment_bits : 0;
        return BasicIndex(index, segment_bits, lines >> segment_bits);
    }

    // One with room for so many states, and some more.
    static BasicIndex for_states(unsigned threads, unsigned longer, std::uint64_t states) {
        BasicIndex index(threads, longer);
        if (states < index.grows_at()) return index;
        const auto lines = static_cast<std::size_t>(states / 20 + window);
        const unsigned bits = lines >= thresholds.index_segmented ? thresholds.index_segment_bits : 0;
        return BasicIndex(index, bits, bits == 0 ? std::bit_ceil(lines) : (lines >> bits) + window);
    }
    static std::size_t bytes_for(std::uint64_t states) { return states / 20 * sizeof(Line); }

    std::size_t bytes() const {
        return (base_.lines * segments() + (segments() - grown_) * (next_.lines - base_.lines)) * sizeof(Line);
    }
    // How many states it takes, and with how many it is to grow.
    std::uint64_t room() const { return base_.lines * segments() * capacity / 100 * 97; }
    std::uint64_t grows_at() const {
        const std::uint64_t all = base_.lines * segments() * capacity, last = all / 100 * fullest;
        const std::uint64_t first = last / 11 * 10;
        return small() ? all / 100 * 80 : first + (last - first) * (segments() - grown_) / segments();
    }
    std::uint64_t numbers() const { return (std::uint64_t{1} << base_.number_bits) - 3; }  // those below it fit
    std::size_t bytes_to_grow() const { return (small() ? enlarged() : step() * next_.lines) * sizeof(Line); }
    void grow() {
        if (small())
            enlarge();
        else
            enlarge_segments();
    }

    void prefetch(std::uint64_t hash) const {
        const Line* line = lines() + home(hash).line;
        __builtin_prefetch(line);
        __builtin_prefetch(reinterpret_cast<const std::byte*>(line) + 64);
    }
    // The number of a state in the home line that may have this hash.
    std::uint64_t candidate(std::uint64_t hash) const {
        const Home at = home(hash);
        const Tag tag = tag_of(hash, *at.generation);
        const Line& line = lines()[at.line];
        for (std::uint32_t found = matches(line, tag.low, used(line)); found != 0; found &= found - 1) {
            const std::uint64_t word = read(line.words[std::countr_zero(found)]);
            if (word >> at.generation->number_bits == tag.high) return number(word, *at.generation);
        }
        return nothing;
    }

    // The number of the state with this hash for which `equal(number)`; nothing if there is none: then it is entered
    // with the number that `fresh()` gives. Call only if there is room.
    template <typename Equal, typename Fresh>
    std::uint64_t insert(std::uint64_t hash, Equal equal, Fresh fresh) {
        const Home at = home(hash);
        const Generation& form = *at.generation;
        const Tag tag = tag_of(hash, form);
        std::size_t place = at.line;
        for (unsigned distance = 0; distance < window; ++distance) {
            Line& line = lines()[place];
            unsigned i = used(line);
            for (std::uint32_t found = matches(line, tag.low, i); found != 0; found &= found - 1) {
                const std::uint64_t word = read(line.words[std::countr_zero(found)]);
                if (word >> form.number_bits == tag.high && equal(number(word, form))) return number(word, form);
            }
            for (; i < capacity; ++i) {  // another thread may be about to fill it
                std::uint32_t word = read(line.words[i]);
                if (word == 0) {
                    const auto mark = static_cast<std::uint32_t>(tag.high << form.number_bits | (fresh() + 1));
                    if (threads_ == 1) {
                        enter(line, i, tag.low, mark);
                        return nothing;
                    }
                    if (__atomic_compare_exchange_n(&line.words[i], &word, busy, false, __ATOMIC_ACQ_REL,
                                                    __ATOMIC_ACQUIRE)) {
                        __atomic_store_n(&line.tags[i], tag.low, __ATOMIC_RELAXED);
                        __atomic_store_n(&line.words[i], mark, __ATOMIC_RELEASE);
                        // This thread has seen that every slot before is complete. A lower count may overwrite this
                        // one; it is as true.
                        __atomic_store_n(&line.used, static_cast<std::uint8_t>(i + 1), __ATOMIC_RELEASE);
                        return nothing;
                    }
                }
                while (word == busy) word = read(line.words[i]);
                if (__atomic_load_n(&line.tags[i], __ATOMIC_RELAXED) != tag.low ||
                    std::uint64_t{word} >> form.number_bits != tag.high)
                    continue;
                if (equal(number(word, form))) return number(word, form);
            }
            if (++place == at.end) place = at.end - form.lines;
        }
        const std::lock_guard guard(*listing_);
        const auto [begin, end] = list_.equal_range(hash & prefix());
        for (auto entry = begin; entry != end; ++entry)
            if (equal(entry->second)) return entry->second;
        list_.emplace(hash & prefix(), fresh());
        return nothing;
    }

private:
    using LowTag = typename Slots::Tag;
    static constexpr unsigned capacity = Slots::capacity, tag_bits = 8 * sizeof(LowTag), word_bits = 32;
    static constexpr unsigned window_bits = 3, window = 1 << window_bits;
    static constexpr unsigned fullest = 90;                   // in percent, of a segment
    static constexpr std::uint32_t busy = ~std::uint32_t{1};  // no number is so high, and without numbers words are odd

    struct Line {
        LowTag tags[capacity];  // the low bits of tags
        std::uint8_t used;      // at least so many slots are
        std::uint8_t unused[Slots::padding];
        std::uint32_t words[capacity];  // a number plus one, and above it the other bits of the tag; 0 if free
    };
    static_assert(sizeof(Line) == 128);

    // How segments of so many lines look.
    struct Generation {
        std::size_t lines = 0;
        unsigned number_bits = 0;
        std::uint64_t tag_mask = 0;
    };
    struct Home {
        std::size_t line, end;  // end: of the segment
        const Generation* generation;
    };
    struct Tag {
        std::uint64_t high;
        LowTag low;
    };

    static std::uint32_t read(const std::uint32_t& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }
    static unsigned used(const Line& line) { return __atomic_load_n(&line.used, __ATOMIC_ACQUIRE); }
    // Which of the first slots have this tag, as bits. Others may be written meanwhile.
    static std::uint32_t matches(const Line& line, LowTag tag, unsigned count) {
        std::uint32_t found = 0;
#ifdef __SSE2__
        const auto* tags = reinterpret_cast<const __m128i*>(&line);
        if constexpr (tag_bits == 8) {
            const __m128i wanted = _mm_set1_epi8(static_cast<char>(tag));
            const auto same = [&](const __m128i* at) {
                return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_load_si128(at), wanted)));
            };
            found = same(tags) | same(tags + 1) << 16;
        } else {
            const __m128i wanted = _mm_set1_epi16(static_cast<short>(tag));
            const auto same = [&](const __m128i* at) { return _mm_cmpeq_epi16(_mm_load_si128(at), wanted); };
            const auto bits = [](__m128i low, __m128i high) {
                return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
            };
            found = bits(same(tags), same(tags + 1)) | bits(same(tags + 2), _mm_setzero_si128()) << 16;
        }
#else
        for (unsigned i = 0; i < capacity; ++i) found |= static_cast<std::uint32_t>(line.tags[i] == tag) << i;
#endif
        return found & ((std::uint32_t{1} << count) - 1);
    }
    static std::uint64_t number(std::uint64_t word, const Generation& form) {
        return (word & ((std::uint64_t{1} << form.number_bits) - 1)) - 1;
    }
    static void enter(Line& line, unsigned slot, LowTag tag, std::uint32_t mark) {
        line.tags[slot] = tag;
        line.words[slot] = mark;
        line.used = static_cast<std::uint8_t>(slot + 1);
    }

    Line* lines() const { return reinterpret_cast<Line*>(slots_.data()); }
    std::size_t segments() const { return std::size_t{1} << segment_bits_; }
    bool small() const { return segment_bits_ == 0; }
    std::uint64_t prefix() const { return ~std::uint64_t{0} << (64 - precision_); }
    unsigned line_bits() const { return precision_ - segment_bits_; }  // the bits that choose a line of a segment

    Generation generation(std::size_t lines) const {
        Generation form;
        form.lines = lines;
        const std::uint64_t most = (lines * segments() * capacity << longer_) + 3;
        form.number_bits = Slots::numbers ? std::min(word_bits, static_cast<unsigned>(std::bit_width(most))) : 1;
        const unsigned bits = std::min(word_bits + tag_bits - form.number_bits, line_bits());
        form.tag_mask = (std::uint64_t{1} << bits) - 1;
        return form;
    }
    Home home(std::uint64_t hash) const {
        const std::uint64_t segment = hash >> 1 >> (63 - segment_bits_);
        const Generation& form = segment >= grown_ ? next_ : base_;
        const std::uint64_t rest = (hash & prefix()) << segment_bits_;
        const auto line = static_cast<std::uint64_t>(static_cast<Wide>(rest) * form.lines >> 64);
        const std::size_t begin = segment * form.lines;
        return {begin + line, begin + form.lines, &form};
    }
    Tag tag_of(std::uint64_t hash, const Generation& form) const {
        const std::uint64_t tag = hash >> (64 - precision_) & form.tag_mask;
        return {tag >> tag_bits, static_cast<LowTag>(tag)};
    }

    // --- growing, while all threads rest ---

    // Calls each(hash, number) for the slots of a segment, of which these are the lines.
    template <typename Each>
    void each(const Line* lines, std::uint64_t segment, const Generation& form, Each each) const {
        const unsigned bits = line_bits();
        const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
        for (std::size_t l = 0; l < form.lines; ++l) {
            // The first hash of the eight lines in which the homes of these states can be.
            const std::size_t from = l >= window - 1 ? l - (window - 1) : l + form.lines - (window - 1);
            const auto first =
                static_cast<std::uint64_t>(((static_cast<Wide>(from) << bits) + form.lines - 1) / form.lines);
            const Line& line = lines[l];
            for (unsigned i = 0; i < capacity && line.words[i] != 0; ++i) {
                const std::uint64_t word = line.words[i];
                const std::uint64_t tag = word >> form.number_bits << tag_bits | line.tags[i];
                const std::uint64_t rest = (first + ((tag - first) & form.tag_mask)) & mask;
                each((segment << bits | rest) << (64 - precision_), number(word, form));
            }
        }
    }
    void put(std::uint64_t hash, std::uint64_t number) {
        const Home at = home(hash);
        const Tag tag = tag_of(hash, *at.generation);
        std::size_t place = at.line;
        for (unsigned distance = 0; distance < window; ++distance) {
            Line& line = lines()[place];
            if (line.used < capacity) {
                enter(line, line.used, tag.low,
                      static_cast<std::uint32_t>(tag.high << at.generation->number_bits | (number + 1)));
                return;
            }
            if (++place == at.end) place = at.end - at.generation->lines;
        }
        const std::lock_guard guard(*listing_);
        list_.emplace(hash, number);
    }

    // While the index is small, memory is cheaper than time.
    std::size_t enlarged() const { return base_.lines * (base_.lines < std::size_t{1} << 14 ? 8 : 4); }
    void enlarge() {
        const Block before = std::move(slots_);
        const Generation old = base_;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> all(list_.begin(), list_.end());
        list_.clear();
        const std::size_t wanted = enlarged();
        const unsigned segment_bits = wanted >= thresholds.index_segmented ? thresholds.index_segment_bits : 0;
        BasicIndex larger(*this, segment_bits, wanted >> segment_bits);
        each(reinterpret_cast<const Line*>(before.data()), 0, old,
             [&](std::uint64_t hash, std::uint64_t number) { larger.put(hash, number); });
        for (const auto& [hash, number] : all) larger.put(hash, number);
        *this = std::move(larger);
    }
    BasicIndex() = default;
    BasicIndex(const BasicIndex& other, unsigned segment_bits, std::size_t lines)
        : threads_(other.threads_), longer_(other.longer_), precision_(other.precision_), segment_bits_(segment_bits) {
        grown_ = segments();
        base_ = generation(lines);
        if (small()) {
            slots_ = Block(lines * sizeof(Line), lines >= std::size_t{1} << 14);
            return;
        }
        next_ = generation(lines + std::max<std::size_t>(1, lines / 10));
        // No more than the machine has, and less where a process may not have so many addresses.
        const std::size_t all = lines << segment_bits;
        for (std::size_t bytes = std::max(all * sizeof(Line) * 2, memory_bytes());; bytes /= 2) {
            try {
                slots_ = Block(bytes, true);
                return;
            } catch (const std::bad_alloc&) {
                if (bytes < 2 * all * sizeof(Line)) throw;
            }
        }
    }

    // Segments that are enlarged in one pause.
    std::size_t step() const {
        const std::size_t enough = (thresholds.index_step + base_.lines - 1) / base_.lines;
        return std::min(grown_, std::max<std::size_t>({segments() / 64, enough, 1}));
    }
    void enlarge_segments() {
        const std::size_t begin = grown_ - step(), end = grown_;
        if (end * next_.lines * sizeof(Line) > slots_.size()) throw std::bad_alloc();
        const std::size_t bytes = (end - begin) * base_.lines * sizeof(Line);
        if (scratch_.size() < bytes) scratch_ = Block(bytes, false);
        auto* const copied = reinterpret_cast<Line*>(scratch_.data());
        std::memcpy(static_cast<void*>(copied), lines() + begin * base_.lines, bytes);
        grown_ = begin;
        std::unordered_multimap<std::uint64_t, std::uint64_t> listed = std::move(list_);
        list_.clear();
        in_parallel(begin, end, [&](std::size_t segment) {
            std::memset(static_cast<void*>(lines() + segment * next_.lines), 0, next_.lines * sizeof(Line));
            each(copied + (segment - begin) * base_.lines, segment, base_,
                 [&](std::uint64_t hash, std::uint64_t number) { put(hash, number); });
        });
        for (const auto& [hash, number] : listed) {
            const std::uint64_t segment = hash >> 1 >> (63 - segment_bits_);
            if (segment >= begin && segment < end)
                put(hash, number);
            else
                list_.emplace(hash, number);
        }
        if (grown_ > 0) return;
        base_ = next_;
        next_ = generation(base_.lines + std::max<std::size_t>(1, base_.lines / 10));
        grown_ = segments();
    }
    template <typename Work>
    void in_parallel(std::size_t begin, std::size_t end, Work work) {
        const auto some = [&](std::size_t from) {
            for (std::size_t i = begin + from; i < end; i += threads_) work(i);
        };
        std::vector<Joined> others;
        if ((end - begin) * base_.lines >= 1 << 12)
            for (std::size_t i = 1; i < std::min<std::size_t>(threads_, end - begin); ++i)
                others.emplace_back([&, i] { some(i); });
        for (std::size_t i = others.empty() ? 1 : threads_; i < threads_; ++i) some(i);
        some(0);
    }

    unsigned threads_ = 1, longer_ = 0, precision_ = 0, segment_bits_ = 0;
    std::size_t grown_ = 1;  // the segments from this one on are of the next generation
    Generation base_{}, next_{};
    Block slots_{}, scratch_{};
    std::unique_ptr<std::mutex> listing_ = std::make_unique<std::mutex>();
    std::unordered_multimap<std::uint64_t, std::uint64_t> list_{};  // by the hash, as far as it counts
};

using Index = BasicIndex<Numbered>;
using Fingerprints = BasicIndex<Unnumbered>;

}  // namespace quorate

// A cache line of the index: 16 slots of 32 bits, each free or the number of a state, plus one, below bits of its hash.
//
// The slots of a line are filled in order and are never emptied, so the first free one ends it. All are compared at
// once: which of them may be the state that is looked for is one mask and no loop, whose end no processor would guess.
#pragma once

#include <bit>
#include <cstdint>

// The thread sanitizer knows nothing of loads that are atomic slot by slot.
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
#define QUORATE_WHOLE_LINES
#include <emmintrin.h>
#endif

namespace quorate {

using Slot = std::uint32_t;

struct alignas(64) Line {
    static constexpr unsigned capacity = 16;

    // Slots as bits, from the first.
    struct Seen {
        std::uint32_t tagged, free;
    };
    // Other threads may fill slots meanwhile: one that was seen free may be taken.
    Seen look(Slot tag, Slot mask) const {
        Seen seen{0, 0};
#ifdef QUORATE_WHOLE_LINES
        const auto* four = reinterpret_cast<const __m128i*>(slots);
        const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag)), bits = _mm_set1_epi32(static_cast<int>(mask));
        __m128i same[4], none[4];
        for (int i = 0; i < 4; ++i) {
            __m128i here = _mm_load_si128(four + i);
            asm("" : "+x"(here));  // loaded once: both masks are of one moment
            same[i] = _mm_cmpeq_epi32(_mm_and_si128(here, bits), wanted);
            none[i] = _mm_cmpeq_epi32(here, _mm_setzero_si128());
        }
        const auto gathered = [](const __m128i(&each)[4]) {
            const __m128i low = _mm_packs_epi32(each[0], each[1]), high = _mm_packs_epi32(each[2], each[3]);
            return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
        };
        seen.free = gathered(none);
        seen.tagged = gathered(same) & ~seen.free;
#else
        for (unsigned i = 0; i < capacity; ++i) {
            const Slot here = read(i);
            seen.free |= static_cast<std::uint32_t>(here == 0) << i;
            seen.tagged |= static_cast<std::uint32_t>(here != 0 && (here & mask) == tag) << i;
        }
#endif
        return seen;
    }
    // Only what is read like this says that the state it names has been written.
    Slot read(unsigned slot) const { return __atomic_load_n(slots + slot, __ATOMIC_ACQUIRE); }
    // False if another thread was first, unless there is none.
    bool take(unsigned slot, Slot with, bool alone) {
        if (alone) {
            slots[slot] = with;
            return true;
        }
        Slot free = 0;
        return __atomic_compare_exchange_n(slots + slot, &free, with, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }

    Slot slots[capacity];
};
static_assert(sizeof(Line) == 64);

}  // namespace quorate

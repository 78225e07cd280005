// A line of the index: what is seen of it at once is what a loop over its slots sees.
#include "check.hpp"
#include "dice.hpp"
#include "store/line.hpp"

using namespace quorate;

namespace {

TEST("what is seen of a line at once is what its slots hold") {
    Dice dice{7};
    for (int round = 0; round < 2000; ++round) {
        Line line{};
        const Slot mask = ~Slot{0} << dice(32), tag = static_cast<Slot>(dice(4)) * 0x9e3779b9u & mask;
        const unsigned filled = static_cast<unsigned>(dice(Line::capacity + 1));
        std::uint32_t tagged = 0;
        for (unsigned i = 0; i < filled; ++i) {
            const bool same = dice(3) == 0;
            const Slot other = static_cast<Slot>(dice(4)) * 0x85ebca6bu & mask;
            // Also where the tag is nothing but zeros, a slot that is used is never zero.
            const Slot slot = (same ? tag : other) | (1 & ~mask);
            if (slot == 0) continue;
            CHECK(line.take(static_cast<unsigned>(std::countr_zero(line.look(0, 0).free)), slot, i % 2 == 0));
        }
        std::uint32_t free = 0;
        for (unsigned i = 0; i < Line::capacity; ++i) {
            free |= static_cast<std::uint32_t>(line.read(i) == 0) << i;
            tagged |= static_cast<std::uint32_t>(line.read(i) != 0 && (line.read(i) & mask) == tag) << i;
        }
        CHECK(line.look(tag, mask).free == free);
        CHECK(line.look(tag, mask).tagged == tagged);
    }
}

TEST("a slot that another thread has taken is not taken again") {
    Line line{};
    CHECK(line.take(0, 5, false));
    CHECK(!line.take(0, 6, false));
    CHECK(line.read(0) == 5);
    CHECK(line.look(5, ~Slot{0}).tagged == 1);
    CHECK(line.look(5, ~Slot{0}).free == 0xfffe);
}

}  // namespace

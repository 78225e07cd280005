// Arrays that never move, maps from numbers to values, and numbers for sequences.

#include <map>
#include <thread>
#include <unordered_map>

#include "base/flat_map.hpp"
#include "base/interner.hpp"
#include "check.hpp"
#include "dice.hpp"

using namespace quorate;

namespace {

using Numbers = Segmented<std::uint64_t>;

// Not inlined: where GCC sees the whole array, it believes that something might be read before its beginning.
[[gnu::noinline]] std::size_t append(Numbers& array, std::uint64_t value) {
    return array.append([&](std::uint64_t& slot) { slot = value; });
}
[[gnu::noinline]] const std::uint64_t* place(const Numbers& array, std::size_t index) { return &array[index]; }

}  // namespace

TEST("a segmented array grows without moving its elements") {
    Numbers array;
    std::vector<const std::uint64_t*> places;
    for (std::uint64_t i = 0; i < 5000; ++i) {
        CHECK_EQUAL(append(array, i * i), i);
        places.push_back(place(array, i));
    }
    CHECK_EQUAL(array.size(), std::size_t{5000});
    std::size_t moved = 0, wrong = 0;
    for (std::uint64_t i = 0; i < 5000; ++i) {
        moved += place(array, i) != places[i];
        wrong += *places[i] != i * i;
    }
    CHECK_EQUAL(moved, std::size_t{0});
    CHECK_EQUAL(wrong, std::size_t{0});
    array.clear();
    CHECK_EQUAL(array.size(), std::size_t{0});
    append(array, 7);
    CHECK_EQUAL(*place(array, 0), std::uint64_t{7});
}

TEST("a segmented array is read while it grows") {
    Numbers array;
    constexpr std::size_t most = 50000;
    std::atomic<std::size_t> wrong{0};
    std::vector<std::jthread> readers;
    for (int reader = 0; reader < 3; ++reader) {
        readers.emplace_back([&] {
            for (std::size_t known = 0; known < most; known = array.size())
                for (std::size_t i = known / 2; i < known; i += 1 + i / 50) wrong += *place(array, i) != 3 * i + 1;
        });
    }
    for (std::size_t i = 0; i < most; ++i) append(array, 3 * i + 1);
    readers.clear();
    CHECK_EQUAL(wrong.load(), std::size_t{0});
}

TEST("a flat map finds what was inserted and nothing else") {
    FlatMap<std::uint64_t> map;
    CHECK(map.find(0) == nullptr);
    std::unordered_map<std::uint64_t, std::uint64_t> known;
    Dice dice{1};
    for (int i = 0; i < 20000; ++i) {
        // Keys as they occur: a pair of small numbers, and now and then any.
        const std::uint64_t key = i % 7 == 0 ? dice.throw_any() : std::uint64_t{dice(100)} << 32 | dice(100);
        const std::uint64_t* found = map.find(key);
        const auto place = known.find(key);
        CHECK_EQUAL(found != nullptr, place != known.end());
        if (found != nullptr) {
            CHECK_EQUAL(*found, place->second);
        } else {
            known.emplace(key, static_cast<std::uint64_t>(i));
            map.insert(key, static_cast<std::uint64_t>(i));
        }
    }
    CHECK_EQUAL(map.size(), known.size());
    map.clear();
    CHECK_EQUAL(map.size(), std::size_t{0});
    CHECK(map.find(known.begin()->first) == nullptr);
}

TEST("a flat map holds values that can only be moved") {
    FlatMap<std::unique_ptr<int>> map;
    for (int i = 0; i < 1000; ++i) map.insert(static_cast<std::uint64_t>(i) << 20, std::make_unique<int>(i));
    int right = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::unique_ptr<int>* found = map.find(static_cast<std::uint64_t>(i) << 20);
        right += found != nullptr && *found != nullptr && **found == i;
    }
    CHECK_EQUAL(right, 1000);
}

TEST("an interner gives equal sequences equal numbers, and keeps them apart from all others") {
    Interner interner;
    std::map<std::vector<Id>, Id> known;
    Dice dice{2};
    for (int i = 0; i < 20000; ++i) {
        std::vector<Id> ids(dice(5));
        for (Id& id : ids) id = dice(6);
        const Id number = interner.intern(ids);
        const auto [place, fresh] = known.emplace(ids, number);
        CHECK_EQUAL(place->second, number);
        if (fresh) CHECK_EQUAL(static_cast<std::size_t>(number), known.size() - 1);
    }
    CHECK_EQUAL(interner.size(), known.size());
    for (const auto& [ids, number] : known) {
        const auto kept = interner[number];
        CHECK(std::vector<Id>(kept.begin(), kept.end()) == ids);
    }
}

TEST("an interner keeps sequences longer than its blocks") {
    Interner interner;
    std::vector<Id> longer(10000);
    for (Id i = 0; i < longer.size(); ++i) longer[i] = i;
    const Id empty = interner.intern({}), first = interner.intern(longer), small = interner.intern({longer.data(), 3});
    CHECK_EQUAL(interner.intern(longer), first);
    CHECK_EQUAL(interner.intern({}), empty);
    CHECK_EQUAL(interner[first].size(), longer.size());
    CHECK_EQUAL(interner[small].size(), std::size_t{3});
    CHECK_EQUAL(interner[first].back(), longer.back());
}

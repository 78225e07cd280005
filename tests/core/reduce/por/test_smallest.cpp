// The smallest of many sets, one by one and all at once, against a comparison of all with all.

#include <algorithm>
#include <set>

#include "check.hpp"
#include "dice.hpp"
#include "reduce/por/smallest.hpp"

using namespace quorate;

namespace {

using Words = std::vector<std::uint64_t>;

struct Family {
    std::vector<Words> sets{};
    Words there{};
    std::vector<Words> needing{};
    Words candidates{};

    Words lacks(std::size_t number) const {
        Words result = sets[number];
        for (std::size_t i = 0; i < result.size(); ++i) result[i] &= ~there[i];
        return result;
    }
    // What the candidates lack, if they lack anything and no other lacks less.
    std::set<Words> smallest() const {
        std::set<Words> all, result;
        for (std::size_t number = 0; number < sets.size(); ++number)
            if (has_bit(candidates, number) && size_of(lacks(number)) > 0) all.insert(lacks(number));
        for (const Words& one : all)
            if (std::none_of(all.begin(), all.end(),
                             [&](const Words& other) { return other != one && within(other, one); }))
                result.insert(one);
        return result;
    }
};

Family family(Dice& dice, std::size_t words) {
    Family result;
    const std::size_t messages = words * 64, count = 1 + dice(200), most = 1 + dice(6), range = 2 + dice(messages - 2);
    result.there.resize(words);
    result.needing.resize(messages);
    result.candidates.resize(count / 64 + 1);
    for (std::size_t i = 0; i < range / 3; ++i) set_bit(result.there, dice(range));
    for (std::size_t number = 0; number < count; ++number) {
        Words set(words);
        for (std::size_t i = 0; i < most; ++i) set_bit(set, dice(range));
        for (std::size_t message = 0; message < messages; ++message) {
            if (!has_bit(set, message)) continue;
            result.needing[message].resize(count / 64 + 1);
            set_bit(result.needing[message], number);
        }
        if (dice(4) > 0) set_bit(result.candidates, number);
        result.sets.push_back(std::move(set));
    }
    return result;
}

}  // namespace

TEST("the smallest sets, one by one") {
    Dice dice;
    for (int round = 0; round < 400; ++round) {
        const Family family = ::family(dice, 1 + dice(3));
        std::vector<Words> lacks;
        for (std::size_t number = 0; number < family.sets.size(); ++number)
            if (has_bit(family.candidates, number) && size_of(family.lacks(number)) > 0)
                lacks.push_back(family.lacks(number));
        std::stable_sort(lacks.begin(), lacks.end(),
                         [](const Words& a, const Words& b) { return size_of(a) < size_of(b); });
        Smallest smallest(family.there.size());
        std::set<Words> found;
        std::size_t twice = 0, unseen = 0;
        for (const Words& each : lacks)
            if (smallest.add(each, size_of(each) == size_of(lacks.back()))) twice += !found.insert(each).second;
        for (const Words& each : lacks) unseen += !smallest.holds_another(each);
        CHECK(found == family.smallest());
        CHECK_EQUAL(twice, std::size_t{0});
        CHECK_EQUAL(unseen, std::size_t{0});
    }
}

TEST("the smallest sets, all at once, or a refusal") {
    Dice dice;
    std::size_t refused = 0;
    for (int round = 0; round < 400; ++round) {
        const Family family = ::family(dice, 1 + dice(3));
        FewSmallest few(family.needing, family.there);
        Words candidates = family.candidates;
        std::set<Words> found;
        std::size_t twice = 0;
        const bool done = few.list(candidates, [&](Id number) { twice += !found.insert(family.lacks(number)).second; });
        const std::set<Words> wanted = family.smallest();
        CHECK_EQUAL(done, wanted.size() <= thresholds.few_smallest);
        CHECK_EQUAL(twice, std::size_t{0});
        refused += !done;
        if (!done) continue;
        CHECK(found == wanted);
        candidates = family.candidates;
        few.take_out_all(candidates);
        std::size_t left = 0;
        for (std::size_t number = 0; number < family.sets.size(); ++number)
            left += has_bit(candidates, number) && size_of(family.lacks(number)) > 0;
        CHECK_EQUAL(left, std::size_t{0});
    }
    CHECK(refused > 0);
    CHECK(refused < 400);
}

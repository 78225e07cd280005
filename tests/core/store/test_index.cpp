// The index finds every number again, however small its parts are, and gives back the hashes that it was given.

#include "base/hash.hpp"
#include "check.hpp"
#include "store/index.hpp"

using namespace quorate;

namespace {

// Enters so many hashes and looks all of them up, now and then and at the end. How many were not found as themselves?
std::uint64_t lost(Index& index, const std::vector<std::uint64_t>& hashes) {
    std::uint64_t wrong = 0;
    const auto look_up = [&](std::uint64_t i) {
        return index.insert(hashes[i], [&](std::uint64_t other) { return other == i; }, [&] { return i; });
    };
    for (std::uint64_t i = 0; i < hashes.size(); ++i) {
        while (i >= index.grows_at()) index.grow();
        wrong += look_up(i) != Index::nothing;
        if ((i & (i - 1)) == 0)
            for (std::uint64_t j = 0; j < i; ++j) wrong += look_up(j) != j;
    }
    for (std::uint64_t i = 0; i < hashes.size(); ++i) wrong += look_up(i) != i;
    return wrong;
}

}  // namespace

TEST("an index of small segments loses nothing while it grows") {
    const Thresholds usual = thresholds;
    for (unsigned bits : {1u, 3u, 5u})
        for (unsigned threads : {1u, 3u}) {
            thresholds.index_lines = 8;
            thresholds.index_segment_bits = bits;
            thresholds.index_segmented = std::size_t{8} << bits;
            thresholds.index_step = 1;
            Index index(threads, threads == 1 ? 0 : 1);
            std::vector<std::uint64_t> hashes;
            for (std::uint64_t i = 0; i < 60'000; ++i) hashes.push_back(mix(i * 0x9e3779b97f4a7c15ULL));
            CHECK_EQUAL(lost(index, hashes), std::uint64_t{0});
        }
    thresholds = usual;
}

TEST("hashes that crowd in one place go on a list, and are found there") {
    const Thresholds usual = thresholds;
    thresholds.index_lines = 8;
    thresholds.index_segment_bits = 2;
    thresholds.index_segmented = 64;
    Index index(1);
    std::vector<std::uint64_t> hashes;
    // One in eight has a home of its own; the others share few, and many are equal as far as they count.
    for (std::uint64_t i = 0; i < 6'000; ++i) {
        const std::uint64_t hash = mix(i * 0x9e3779b97f4a7c15ULL);
        hashes.push_back(i % 8 == 0 ? hash : hash >> 20);
    }
    CHECK_EQUAL(lost(index, hashes), std::uint64_t{0});
    thresholds = usual;
}

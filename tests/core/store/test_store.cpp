// The store keeps every state once, whatever the number of threads and however often it grows and widens.

#include <filesystem>

#include "check.hpp"
#include "store/store.hpp"

using namespace quorate;

namespace {

// Two processes with so many local states, and nothing else.
void fill(Tables& tables, Id first, Id second) {
    for (Id count : {first, second}) {
        Column& column = tables.add_column(false);
        for (Id local = 0; local < count; ++local) {
            column.add_local(local, {0}, none);
            tables.cell(column, local, {});
        }
    }
}

struct Inserter {
    const Tables& tables;
    Store& store;
    std::vector<Word> words = std::vector<Word>(8);

    bool insert(unsigned thread, Id a, Id b, std::uint64_t& number) {
        const Id cells[] = {a, b};
        while (store.needs_growth()) store.grow();
        store.layout().pack(cells, words.data());
        return store.insert(thread, words.data(), spread(tables.sum(cells)), number) == Store::Insertion::fresh;
    }
    // How many of these states are not found, or are found as another one.
    std::uint64_t misplaced(Id first, Id second) {
        std::uint64_t wrong = 0, number = 0;
        for (Id a = 0; a < first; ++a) {
            for (Id b = 0; b < second; ++b) {
                Id cells[2] = {none, none};
                if (!insert(0, a, b, number))
                    store.layout().unpack(store.state(store.thread_of(number), store.position_of(number)), cells);
                wrong += cells[0] != a || cells[1] != b;
            }
        }
        return wrong;
    }
};

}  // namespace

TEST("a state is kept once while the index grows") {
    const Thresholds usual = thresholds;
    for (auto [threads, lines] : {std::pair{1u, 256u}, {2u, 256u}, {3u, 256u}, {1u, 8u}, {2u, 8u}}) {
        thresholds.index_lines = lines;  // with few of them, it consists of segments that are small
        if (lines == 8) {
            thresholds.narrow_index = 12;
            thresholds.index_segmented = 128;
            thresholds.index_segment_bits = 3;
            thresholds.index_step = 1;
        }
        Tables tables{Network{}};
        fill(tables, 2048, 1024);
        Store store(tables, threads);
        Inserter inserter{tables, store};
        std::uint64_t number = 0, fresh = 0;
        for (Id a = 0; a < 2048; ++a)
            for (Id b = 0; b < 1024; ++b) fresh += inserter.insert((a + b) % threads, a, b, number);
        CHECK_EQUAL(fresh, std::uint64_t{2048} * 1024);
        CHECK_EQUAL(store.size(), fresh);
        CHECK_EQUAL(inserter.misplaced(2048, 1024), std::uint64_t{0});
        thresholds = usual;
        if (threads > 1) continue;
        // More states than a block holds are widened, too.
        Column& column = *tables.columns[0];
        for (Id local = 2048; store.layout().fits(0, local - 1); ++local) {
            column.add_local(local, {0}, none);
            tables.cell(column, local, {});
        }
        store.widen();
        CHECK(store.layout().fits(0, static_cast<Id>(column.locals.size() - 1)));
        CHECK_EQUAL(inserter.misplaced(2048, 1024), std::uint64_t{0});
    }
}

TEST("states in a file are kept as those in memory are") {
    const std::string directory = std::filesystem::temp_directory_path().string();
    const Thresholds usual = thresholds;
    thresholds.narrow_index = 18;
    Tables tables{Network{}};
    fill(tables, 2048, 1024);
    Store store(tables, 2, directory);
    Inserter inserter{tables, store};
    std::uint64_t number = 0, fresh = 0;
    for (Id a = 0; a < 2048; ++a) {
        for (Id b = 0; b < 1024; ++b) fresh += inserter.insert((a + b) % 2, a, b, number);
        if (a % 512 == 0) store.rest();
    }
    for (Id b = 0; b < 1024; ++b) CHECK(!inserter.insert(0, 7, b, number));
    CHECK_EQUAL(fresh, std::uint64_t{2048} * 1024);
    // A thread has more than a block now, so that the first is given back.
    for (Id a = 0; a < 2048; ++a) inserter.insert(0, a, a % 1024, number);
    store.rest();
    CHECK_EQUAL(inserter.misplaced(2048, 1024), std::uint64_t{0});
    Column& column = *tables.columns[0];
    for (Id local = 2048; store.layout().fits(0, local - 1); ++local) {
        column.add_local(local, {0}, none);
        tables.cell(column, local, {});
    }
    store.widen();
    store.rest();
    CHECK_EQUAL(inserter.misplaced(2048, 1024), std::uint64_t{0});
    thresholds = usual;
}

TEST("a directory that cannot be written to is told") {
    Tables tables{Network{}};
    fill(tables, 2, 2);
    bool told = false;
    try {
        Store store(tables, 1, "/nowhere/at/all");
    } catch (const DiskFull&) {
        told = true;
    }
    CHECK(told);
}

TEST("a thread that meets nearly all the states gets longer numbers") {
    const Thresholds usual = thresholds;
    thresholds.index_lines = 8;
    thresholds.narrow_index = 12;
    thresholds.portion = 1;
    Tables tables{Network{}};
    fill(tables, 256, 256);
    Store store(tables, 16);
    Inserter inserter{tables, store};
    std::uint64_t number = 0;
    for (Id a = 0; a < 256; ++a)
        for (Id b = 0; b < 256; ++b) CHECK(inserter.insert(3, a, b, number));
    CHECK_EQUAL(inserter.misplaced(256, 256), std::uint64_t{0});
    thresholds = usual;
}

TEST("widening changes no state and keeps the index") {
    Tables tables{Network{}};
    fill(tables, 3, 2);
    Store store(tables, 2);
    Inserter inserter{tables, store};
    std::uint64_t number = 0;
    for (Id a = 0; a < 3; ++a)
        for (Id b = 0; b < 2; ++b) CHECK(inserter.insert((a + b) % 2, a, b, number));
    Column& column = *tables.columns[0];
    for (Id local = 3; local < 5000; ++local) {
        column.add_local(local, {0}, none);
        tables.cell(column, local, {});
        if (store.layout().fits(0, local)) continue;
        store.widen();
        CHECK(store.layout().fits(0, local));
        for (Id a = 0; a < 3; ++a)
            for (Id b = 0; b < 2; ++b) CHECK(!inserter.insert(0, a, b, number));
    }
    CHECK(inserter.insert(1, 4999, 1, number));
    CHECK_EQUAL(store.size(), std::uint64_t{7});
}

// Packing a vector of cells and reading it back.

#include "check.hpp"
#include "dice.hpp"
#include "store/layout.hpp"

using namespace quorate;

namespace {

void add(Tables& tables, Id cells) {
    Column& column = tables.add_column(false);
    for (Id local = 0; local < cells; ++local) {
        column.add_local(local, {0}, none);
        tables.cell(column, local, {});
    }
}

void round_trip(const Tables& tables, Dice& dice) {
    const Layout layout = Layout::fit(tables);
    std::vector<Id> cells(tables.width()), again(tables.width());
    std::vector<Word> words(layout.words()), loaded(layout.words());
    std::vector<std::byte> state(layout.stride() + Layout::slack);
    for (int i = 0; i < 200; ++i) {
        for (Id column = 0; column < cells.size(); ++column) {
            const std::size_t count = tables.cell_count(column);
            cells[column] = i == 0 ? static_cast<Id>(count - 1) : dice(count);
            CHECK(layout.fits(column, cells[column]));
        }
        layout.pack(cells.data(), words.data());
        layout.store(words.data(), state.data());
        // What lies behind a state is the next one: it must not matter.
        for (std::size_t k = layout.stride(); k < state.size(); ++k) state[k] = std::byte{0xa5};
        layout.unpack(state.data(), again.data());
        CHECK(again == cells);
        CHECK_EQUAL(layout.sum(state.data()), tables.sum(cells.data()));
        CHECK(layout.equal(state.data(), words.data()));
        layout.load(state.data(), loaded.data());
        CHECK(loaded == words);
        const Id column = dice(cells.size());
        const Id other = dice(tables.cell_count(column));
        layout.change(words.data(), column, cells[column], other);
        CHECK_EQUAL(layout.equal(state.data(), words.data()), other == cells[column]);
        cells[column] = other;
        layout.pack(cells.data(), loaded.data());
        CHECK(loaded == words);
    }
}

}  // namespace

TEST("what is packed is read back, for any widths") {
    Dice dice{3};
    for (int i = 0; i < 60; ++i) {
        Network network{};
        if (i % 3 == 0) network.budget[0] = 5;
        Tables tables{network};
        const int columns = 1 + static_cast<int>(dice(24));
        for (int column = 0; column < columns; ++column) add(tables, 1 + dice(dice(3) == 0 ? 700 : 9));
        round_trip(tables, dice);
    }
}

TEST("columns with a single cell take no bits, and a state takes at least a byte") {
    Tables tables{Network{}};
    for (int i = 0; i < 5; ++i) add(tables, 1);
    CHECK_EQUAL(Layout::fit(tables).stride(), std::size_t{1});
    add(tables, 257);
    CHECK_EQUAL(Layout::fit(tables).stride(), std::size_t{2});
}

TEST("budgets are one more column") {
    Network network{};
    network.budget[0] = 2;
    network.budget[2] = 3;
    Tables tables{network};
    add(tables, 2);
    CHECK_EQUAL(tables.width(), Id{2});
    CHECK_EQUAL(tables.cell_count(1), std::size_t{12});
    Id cell = tables.initial_budget();
    CHECK_EQUAL(tables.left(cell, Budget::losses), std::uint64_t{2});
    CHECK_EQUAL(tables.left(cell, Budget::crashes), std::uint64_t{3});
    CHECK_EQUAL(tables.spend(cell, Budget::duplicates), none);
    for (int i = 0; i < 3; ++i) cell = tables.spend(cell, Budget::crashes);
    CHECK_EQUAL(tables.spend(cell, Budget::crashes), none);
    CHECK_EQUAL(tables.left(cell, Budget::losses), std::uint64_t{2});
    cell = tables.spend(tables.spend(cell, Budget::losses), Budget::losses);
    CHECK_EQUAL(cell, Id{0});
}

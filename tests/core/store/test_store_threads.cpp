// Several threads insert into one store at the same time.

#include <set>
#include <thread>

#include "check.hpp"
#include "dice.hpp"
#include "store/store.hpp"

using namespace quorate;

TEST("threads that insert the same states at the same time keep each once") {
    const Thresholds usual = thresholds;
    for (unsigned narrow : {24u, 12u}) {  // the last with the index that grows in small steps
        thresholds.narrow_index = narrow;
        Tables tables{Network{}};
        for (Id count : {300u, 100u, 7u}) {
            Column& column = tables.add_column(false);
            for (Id local = 0; local < count; ++local) {
                column.add_local(local, {0}, none);
                tables.cell(column, local, {});
            }
        }
        constexpr unsigned threads = 4;
        Store store(tables, threads);
        std::uint64_t fresh_in_all = 0;
        constexpr Id portion = 2500;  // growing happens between rounds, when all threads rest
        for (Id begin = 0; begin < 30000; begin += portion) {
            while (store.needs_growth() || store.room() < portion * threads) store.grow();
            std::atomic<std::uint64_t> fresh{0}, wrong{0};
            {
                std::vector<std::jthread> inserters;
                for (unsigned thread = 0; thread < threads; ++thread) {
                    inserters.emplace_back([&, thread] {
                        std::vector<Word> words(store.layout().words());
                        std::vector<Id> order(portion);
                        for (Id i = 0; i < portion; ++i) order[i] = begin + i;
                        Dice dice{thread};
                        for (Id i = portion; i-- > 1;) std::swap(order[i], order[dice(i + 1)]);
                        for (Id number : order) {
                            const Id cells[] = {number % 300, number / 300, number % 7};
                            store.layout().pack(cells, words.data());
                            std::uint64_t known = 0;
                            if (store.insert(thread, words.data(), spread(tables.sum(cells)), known) ==
                                Store::Insertion::fresh) {
                                ++fresh;
                            } else {
                                Id stored[3];
                                const auto owner = store.thread_of(known);
                                store.layout().unpack(store.state(owner, store.position_of(known)), stored);
                                wrong += !std::equal(cells, cells + 3, stored);
                            }
                        }
                    });
                }
            }
            CHECK_EQUAL(fresh.load(), std::uint64_t{portion});
            CHECK_EQUAL(wrong.load(), std::uint64_t{0});
            fresh_in_all += fresh;
        }
        CHECK_EQUAL(store.size(), fresh_in_all);
        std::set<std::vector<Id>> all;
        for (unsigned thread = 0; thread < threads; ++thread)
            for (std::uint64_t i = 0; i < store.count(thread); ++i) {
                std::vector<Id> cells(3);
                store.layout().unpack(store.state(thread, i), cells.data());
                all.insert(cells);
            }
        CHECK_EQUAL(all.size(), store.size());
    }
    thresholds = usual;
}

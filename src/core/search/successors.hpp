// What one state leads to, in a search level by level: by threads (rounds.cpp), or by a worker of many (shard.cpp).
#pragma once

#include "search/worker.hpp"
#include "store/store.hpp"

namespace quorate {

// What is the same for all states of a level.
struct LevelSetting {
    const Tables& tables;
    const Hubs* hubs;
    const Layout& layout;
    bool proviso;  // of partial orders
    std::uint64_t depth;
};

struct Expanded {
    bool waits = false;   // until some facts are known, or until what it leads to fits: nothing has come of it
    bool misfit = false;  // a successor does not fit into the packed form
    bool enabled = false;
    const Choice* chosen = nullptr;  // the steps that were taken, if not all
};

// Puts the successors of a state behind those that wait already, and its failures into the list of those. Told of each
// successor: `place(worker, hash, form)`, with the cells of the form that symmetry has chosen, if it is another one.
// Before the first: `begin()`, with the state itself in the expander's cells.
template <typename Begin, typename Place>
[[gnu::always_inline]] inline Expanded take_successors(Worker& worker, const Range& one, const std::byte* packed,
                                                       const LevelSetting& level, Begin begin, Place place) {
    const Layout& layout = level.layout;
    Expander& expander = worker.expander;
    layout.unpack(packed, expander.cells.data());
    const std::size_t mark = worker.waiting, keeping = worker.keeping.size();
    const std::uint64_t transitions = worker.transitions;
    const std::size_t words = layout.words();
    Expanded result;
    bool misfit = false;
    const Choice* chosen = nullptr;
    bool asked = false;
    if (worker.chooser && !one.in_full) {
        if (!expander.steps_known()) {
            worker.deferred.push_back(one);
            result.waits = true;
            return result;
        }
        asked = !expander.leaves();
        if (asked && worker.chooser->choose(expander.cells)) chosen = &worker.chooser->chosen();
    }
    if (worker.canonical) worker.canonical->expand(expander.cells);
    const bool watched = chosen != nullptr && level.proviso;
    std::pair<Id, Id> last{none, none};  // the process and the number of the step that was looked at last
    worker.here.resize(words);
    Word* const here = worker.here.data();
    layout.load(packed, here);
    begin();
    std::vector<Witness>& failures = worker.failures;
    failures.clear();
    const auto emit = [&](Id process, const Step&, Id number, std::uint64_t hash,
                          bool observed) __attribute__((always_inline)) {
        Id keeps = watched ? worker.chooser->keeping(process, number) : none;
        if (keeps != none) {
            if (last != std::make_pair(process, keeps))
                worker.keeping.push_back({static_cast<Id>(worker.partly.size())});
            last = {process, keeps};
            keeps = static_cast<Id>(worker.keeping.size() - 1);
        }
        if (worker.waiting >= worker.most) [[unlikely]]
            worker.make_room(words);
        Word* target = worker.buffer.data() + worker.waiting * words;
        const std::vector<Id>& form =
            worker.canonical ? worker.canonical->of(expander.cells, expander.changes()) : expander.cells;
        if (&form != &expander.cells) {
            for (Id column = 0; column < form.size(); ++column) misfit |= !layout.fits(column, form[column]);
            layout.pack(form.data(), target);
            hash = spread(level.tables.sum(form.data()));
            place(hash, &form);
        } else {
            target[0] = here[0];
            for (std::size_t i = 1; i < words; ++i) target[i] = here[i];
            for (const auto& [column, before, after] : expander.changes()) {
                misfit |= !layout.fits(column, after);
                layout.change(target, column, before, after);
            }
            place(hash, static_cast<const std::vector<Id>*>(nullptr));
        }
        const double orbit = worker.canonical ? worker.canonical->orbit() : 1;
        worker.successors[worker.waiting++] = {hash, orbit, keeps, observed};
        ++worker.transitions;
    };
    const auto fail = [&](Id column, Id, Id failure) {
        Witness witness;
        witness.finding = Finding::failure;
        witness.length = level.depth + 1;
        witness.column = column;
        witness.failure = failure;
        // The number of a step depends on the order of discovery; the failure's content does not.
        witness.content = level.tables.content(StepIdentity::of(column, expander.failing()));
        failures.push_back(std::move(witness));
        ++worker.transitions;
    };
    const Expander::Summary summary = expander.expand(expander.sum(), emit, fail, chosen);
    if (summary.missing || misfit) {
        worker.waiting = mark;
        worker.keeping.resize(keeping);
        worker.transitions = transitions;
        worker.deferred.push_back(one);
        result.waits = true;
        result.misfit = misfit;
        return result;
    }
    if (asked) {
        worker.offered += worker.chooser->offered();
        worker.left_out += worker.chooser->left_out();
    }
    if (watched) {
        worker.partly.push_back({one});
        worker.partly.back().state.counted = worker.transitions - transitions;
    }
    worker.transitions -= one.counted;
    for (Witness& witness : failures) {
        witness.cells = expander.cells;
        witness.faults = level.tables.spent(expander.cells);
        witness.content = mix(content_of(level.tables, level.hubs, expander.cells) + witness.content);
    }
    result.enabled = summary.enabled;
    result.chosen = chosen;
    return result;
}

// All of their successors are known: the states that made no progress are to be expanded in full.
inline void put_off(Worker& worker) {
    for (const Keeping& keeping : worker.keeping) worker.partly[keeping.source].progressed |= keeping.further;
    worker.keeping.clear();
    for (Partly& partly : worker.partly) {
        if (partly.progressed) continue;
        partly.state.in_full = true;
        worker.deferred.push_back(partly.state);
    }
    worker.partly.clear();
}

}  // namespace quorate

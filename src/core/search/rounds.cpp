// A round of a breadth-first search, on all threads: states are expanded, and what they lead to is looked up.

#include "search/breadth_first.hpp"

namespace quorate {

void BreadthFirst::work(Crew& crew, std::vector<Range> ranges) {
    work_ = std::move(ranges);
    total_ = 0;
    starts_.clear();
    for (const Range& range : work_) {
        starts_.push_back(total_);
        total_ += range.end - range.begin;
    }
    remaining_ = total_;
    cursor_ = 0;
    crew.run(total_ >= 4 * batch);
    // A pause leaves the tail of the work for the next round.
    std::uint64_t skipped = std::min<std::uint64_t>(cursor_, total_);
    for (const Range& range : work_) {
        const std::uint64_t size = range.end - range.begin;
        const std::uint64_t done = std::min(size, skipped);
        skipped -= done;
        if (done < size) {
            left_over_.push_back(range);
            left_over_.back().begin += done;
        }
    }
}

void BreadthFirst::process(Worker& worker) {
    try {
        while (!pause_.load(std::memory_order_relaxed)) {
            const std::uint64_t begin = cursor_.fetch_add(batch);
            if (begin >= total_) break;
            process(worker, begin, std::min(begin + batch, total_));
            flush(worker);
            if (store_.needs_growth() || too_many_steps() || too_many_cells() ||
                worker.unchecked.size() >= most_waiting || worker.expander.queries.size() >= most_waiting)
                pause_ = true;
            if (store_.size() >= options_.limits.states) halt(Stop::states);
            keep_resting(worker);
            if (worker.number == 0) {
                if (due()) pause_ = true;
                remaining_ = total_ - std::min<std::uint64_t>(cursor_, total_);
                look();
            }
        }
    } catch (...) {
        worker.error = std::current_exception();
        pause_ = true;
    }
}

void BreadthFirst::process(Worker& worker, std::uint64_t begin, std::uint64_t end) {
    auto range = std::upper_bound(starts_.begin(), starts_.end(), begin) - starts_.begin() - 1;
    for (std::uint64_t i = begin; i < end; ++range) {
        const Range& here = work_[static_cast<std::size_t>(range)];
        const std::uint64_t start = starts_[static_cast<std::size_t>(range)];
        const std::uint64_t stop = std::min(end, start + (here.end - here.begin));
        for (; i < stop; ++i) {
            Range one = here;
            one.begin = here.begin + (i - start);
            one.end = one.begin + 1;
            expand(worker, one);
        }
    }
}

void BreadthFirst::expand(Worker& worker, const Range& one) {
    const Layout& layout = store_.layout();
    const std::byte* packed = store_.state(one.array, one.begin);
    Expander& expander = worker.expander;
    layout.unpack(packed, expander.cells.data());
    const std::size_t mark = worker.waiting;
    const std::uint64_t transitions = worker.transitions;
    const std::size_t words = layout.words();
    bool misfit = false;
    const Choice* chosen = nullptr;
    bool asked = false;
    if (worker.chooser && !one.in_full) {
        if (!expander.steps_known()) {
            worker.deferred.push_back(one);
            return;
        }
        asked = !expander.leaves();
        if (asked && worker.chooser->choose(expander.cells)) chosen = &worker.chooser->chosen();
    }
    if (worker.canonical) worker.canonical->expand(expander.cells);
    const bool watched = chosen != nullptr && options_.partial_orders->proviso;
    const std::size_t keeping = worker.keeping.size();
    std::pair<Id, Id> last{none, none};  // the process and the number of the step that was looked at last
    worker.here.resize(words);
    Word* const here = worker.here.data();
    layout.load(packed, here);
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
            hash = spread(tables_.sum(form.data()));
        } else {
            target[0] = here[0];
            for (std::size_t i = 1; i < words; ++i) target[i] = here[i];
            for (const auto& [column, before, after] : expander.changes()) {
                misfit |= !layout.fits(column, after);
                layout.change(target, column, before, after);
            }
        }
        store_.prefetch(hash);
        const double orbit = worker.canonical ? worker.canonical->orbit() : 1;
        worker.successors[worker.waiting++] = {hash, orbit, keeps, observed};
        ++worker.transitions;
    };
    const auto fail = [&](Id column, Id, Id failure) {
        Witness witness;
        witness.finding = Finding::failure;
        witness.length = depth_ + 1;
        witness.column = column;
        witness.failure = failure;
        // The number of a step depends on the order of discovery; the failure's content does not.
        witness.content = tables_.content(StepIdentity::of(column, expander.failing()));
        failures.push_back(std::move(witness));
        ++worker.transitions;
    };
    const Expander::Summary summary = expander.expand(expander.sum(), emit, fail, chosen);
    if (summary.missing || misfit) {
        if (misfit) widen_ = pause_ = true;
        worker.waiting = mark;
        worker.keeping.resize(keeping);
        worker.transitions = transitions;
        worker.deferred.push_back(one);
        return;
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
    if (!failures.empty()) {
        for (Witness& witness : failures) {
            witness.cells = expander.cells;
            witness.faults = tables_.spent(expander.cells);
            witness.content = mix(content(expander.cells) + witness.content);
        }
        for (std::size_t i = 0; i < failures.size(); ++i) offer(worker, std::move(failures[i]));
    }
    if (options_.evidence != nullptr)
        options_.evidence->note(tables_, expander.cells, chosen != nullptr, !summary.enabled);
    if (!summary.enabled) {
        ++worker.deadlocks;
        if (options_.deadlock) check_stuck(worker, expander.cells, depth_);
    }
    if (worker.waiting >= batch) flush(worker);
}

void BreadthFirst::flush(Worker& worker) {
    const std::size_t words = store_.layout().words();
    // Otherwise violations are counted once all states are there: here they are not.
    const bool judges_all = options_.fingerprints && options_.all;
    worker.published.store(worker.transitions, std::memory_order_relaxed);
    std::size_t done = 0;
    while (done < worker.waiting) {
        // Each thread may be in the midst of one portion, so this much room is enough for all.
        if (store_.room() < portion * options_.threads) {
            pause_ = true;
            break;
        }
        const std::size_t end = std::min(worker.waiting, done + portion);
        for (std::size_t i = done; i < end; ++i) store_.prefetch_state(worker.successors[i].hash);
        for (; done < end; ++done) {
            const Word* packed = worker.buffer.data() + done * words;
            const Worker::Waiting& successor = worker.successors[done];
            std::uint64_t known;
            if (store_.insert(worker.number, packed, successor.hash, known) == Store::Insertion::known) {
                if (successor.keeping != none) worker.keeping[successor.keeping].further &= in_next_level(known);
                continue;
            }
            worker.stands_for += successor.orbit;
            if (!successor.observed && !judges_all) continue;
            worker.scratch.resize(width());
            store_.layout().unpack(reinterpret_cast<const std::byte*>(packed), worker.scratch.data());
            check(worker, worker.scratch, depth_ + 1);
        }
    }
    const auto shift = [&](auto& list, std::size_t width) {
        std::copy(list.begin() + static_cast<std::ptrdiff_t>(done * width),
                  list.begin() + static_cast<std::ptrdiff_t>(worker.waiting * width), list.begin());
    };
    if (done > 0 && done < worker.waiting) {
        shift(worker.buffer, words);
        shift(worker.successors, 1);
    }
    worker.waiting -= done;
    if (worker.waiting > 0) return;
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

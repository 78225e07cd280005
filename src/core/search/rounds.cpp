// A round of a breadth-first search, on all threads: states are expanded, and what they lead to is looked up.

#include "search/breadth_first.hpp"
#include "search/successors.hpp"

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
    const bool proviso = options_.partial_orders && options_.partial_orders->proviso;
    const LevelSetting level{tables_, hubs_.get(), store_.layout(), proviso, depth_};
    const auto begin = [] {};
    const auto place = [&](std::uint64_t hash, const std::vector<Id>*)
                           __attribute__((always_inline)) { store_.prefetch(hash); };
    const std::byte* packed = store_.state(one.array, one.begin);
    const Expanded expanded = take_successors(worker, one, packed, level, begin, place);
    if (expanded.misfit) widen_ = pause_ = true;
    if (expanded.waits) return;
    const Expander& expander = worker.expander;
    for (std::size_t i = 0; i < worker.failures.size(); ++i) offer(worker, std::move(worker.failures[i]));
    if (options_.evidence != nullptr)
        options_.evidence->note(tables_, expander.cells, expanded.chosen != nullptr, !expanded.enabled);
    if (!expanded.enabled) {
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
    put_off(worker);
}

}  // namespace quorate

#include "search/checkpoint.hpp"

namespace quorate {

namespace {

class Writer {
public:
    explicit Writer(const std::vector<Id>& failures) : failures_(failures) {}
    std::vector<std::uint64_t> words{};

    void put(std::uint64_t word) { words.push_back(word); }
    template <typename Items, typename Each>
    void list(const Items& items, Each each) {
        put(items.size());
        for (const auto& item : items) each(item);
    }
    void cells(const std::vector<Id>& cells) {
        list(cells, [&](Id cell) { put(cell); });
    }
    void witness(const Witness& one) {
        for (const std::uint64_t word : {static_cast<std::uint64_t>(one.finding), std::uint64_t{one.property},
                                         one.length, one.content, std::uint64_t{one.column}, std::uint64_t{one.step}})
            put(word);
        put(one.failure == none ? none : failures_.at(one.failure));
        cells(one.cells);
    }

private:
    const std::vector<Id>& failures_;
};

class Reader {
public:
    Reader(std::span<const std::uint64_t> words, const std::vector<Id>& failures)
        : words_(words), failures_(failures) {}

    std::uint64_t get() {
        if (at_ == words_.size()) throw Damaged("it ends too early");
        return words_[at_++];
    }
    Id id() { return static_cast<Id>(get()); }
    template <typename Item, typename Each>
    std::vector<Item> list(Each each) {
        const std::uint64_t count = get();
        if (count > words_.size() - at_) throw Damaged("a list is longer than all there is");
        std::vector<Item> items;
        for (std::uint64_t i = 0; i < count; ++i) items.push_back(each());
        return items;
    }
    std::vector<Id> cells() {
        return list<Id>([&] { return id(); });
    }
    Witness witness() {
        Witness one;
        const std::uint64_t finding = get();
        if (finding > static_cast<std::uint64_t>(Finding::failure)) throw Damaged("it found something unknown");
        one.finding = static_cast<Finding>(finding);
        one.property = get();
        one.length = get();
        one.content = get();
        one.column = id();
        one.step = id();
        const Id failure = id();
        if (failure != none && failure >= failures_.size()) throw Damaged("a failure is not listed");
        one.failure = failure == none ? none : failures_[failure];
        one.cells = cells();
        return one;
    }
    void end() const {
        if (at_ != words_.size()) throw Damaged("it goes on after its end");
    }

private:
    std::span<const std::uint64_t> words_;
    const std::vector<Id>& failures_;
    std::size_t at_ = 0;
};

}  // namespace

std::vector<std::uint64_t> SearchState::encode(const std::vector<Id>& failures) const {
    Writer to(failures);
    for (const std::uint64_t word : {states, depth, given_up, next_trial, void_from, transitions, deadlocks, offered,
                                     left_out, std::bit_cast<std::uint64_t>(stands_for), std::uint64_t{outgrown}})
        to.put(word);
    to.list(levels, [&](std::uint64_t begin) { to.put(begin); });
    to.list(pending, [&](const Pending& one) {
        for (const std::uint64_t word : {one.begin, one.end, std::uint64_t{one.in_full}, one.counted}) to.put(word);
    });
    to.list(unchecked, [&](const Unchecked& one) {
        to.cells(one.cells);
        to.put(one.length);
        to.put(one.stuck);
    });
    to.put(violation.has_value());
    if (violation) to.witness(*violation);
    to.list(goals, [&](const Witness& one) { to.witness(one); });
    to.list(goals_of_level, [&](const Witness& one) { to.witness(one); });
    to.list(violations, [&](const Violations& each) {
        to.witness(each.first);
        to.put(each.count);
    });
    to.list(cut, [&](bool one) { to.put(one); });
    return std::move(to.words);
}

SearchState SearchState::decode(std::span<const std::uint64_t> words, const std::vector<Id>& failures) {
    Reader from(words, failures);
    SearchState state;
    for (std::uint64_t* word : {&state.states, &state.depth, &state.given_up, &state.next_trial, &state.void_from,
                                &state.transitions, &state.deadlocks, &state.offered, &state.left_out})
        *word = from.get();
    state.stands_for = std::bit_cast<double>(from.get());
    state.outgrown = from.get() != 0;
    state.levels = from.list<std::uint64_t>([&] { return from.get(); });
    state.pending = from.list<Pending>([&] {
        Pending one{};
        one.begin = from.get();
        one.end = from.get();
        one.in_full = from.get() != 0;
        one.counted = from.get();
        if (one.begin > one.end || one.end > state.states)
            throw Damaged("states are to be expanded that are not there");
        return one;
    });
    state.unchecked = from.list<Unchecked>([&] {
        Unchecked one{};
        one.cells = from.cells();
        one.length = from.get();
        one.stuck = from.get() != 0;
        return one;
    });
    if (from.get() != 0) state.violation = from.witness();
    state.goals = from.list<Witness>([&] { return from.witness(); });
    state.goals_of_level = from.list<Witness>([&] { return from.witness(); });
    state.violations = from.list<Violations>([&] {
        Violations each{};
        each.first = from.witness();
        each.count = from.get();
        return each;
    });
    state.cut = from.list<bool>([&] { return from.get() != 0; });
    from.end();
    if (state.levels.size() < 2 || state.levels.front() != 0 ||
        !std::is_sorted(state.levels.begin(), state.levels.end()) || state.levels.back() > state.states)
        throw Damaged("its levels are not in order");
    return state;
}

void Sequence::extend(const Store& store, const std::vector<std::vector<std::uint64_t>>& levels) {
    for (std::size_t level = 0; level < levels.size(); ++level) {
        for (unsigned array = 0; array < arrays_.size(); ++array) {
            const std::uint64_t begin = std::max(ends_[array], levels[level][array]);
            const std::uint64_t end = level + 1 < levels.size() ? levels[level + 1][array] : store.count(array);
            if (begin >= end) continue;
            auto& segments = arrays_[array];
            // Of one thread, a level follows on the other.
            if (!segments.empty() && segments.back().end == begin &&
                segments.back().place + (begin - segments.back().begin) == size_)
                segments.back().end = end;
            else
                segments.push_back({array, begin, end, size_});
            size_ += end - begin;
            ends_[array] = end;
        }
    }
}

std::vector<Pending> Sequence::places(const std::vector<Range>& ranges) const {
    std::vector<Pending> result;
    for (const Range& range : ranges) {
        const auto& segments = arrays_[range.array];
        auto segment = std::upper_bound(segments.begin(), segments.end(), range.begin,
                                        [](std::uint64_t at, const Segment& one) { return at < one.end; });
        for (std::uint64_t at = range.begin; at < range.end; ++segment) {
            const std::uint64_t end = std::min(range.end, segment->end);
            const std::uint64_t place = segment->place + (at - segment->begin);
            result.push_back({place, place + (end - at), range.in_full, range.counted});
            at = end;
        }
    }
    return result;
}

std::vector<Segment> Sequence::since(std::uint64_t place) const {
    std::vector<Segment> result;
    for (const auto& segments : arrays_) {
        for (Segment segment : segments) {
            const std::uint64_t size = segment.end - segment.begin;
            if (segment.place + size <= place) continue;
            const std::uint64_t before = place > segment.place ? place - segment.place : 0;
            segment.begin += before;
            segment.place += before;
            result.push_back(segment);
        }
    }
    std::sort(result.begin(), result.end(), [](const Segment& a, const Segment& b) { return a.place < b.place; });
    return result;
}

std::size_t Snapshot::copy(std::byte* to, std::size_t most) {
    const std::size_t stride = store_.layout().stride();
    std::size_t copied = 0;
    while (copied < most && segment_ < fresh_.size()) {
        const Segment& segment = fresh_[segment_];
        const std::uint64_t end = std::min<std::uint64_t>(segment.end - segment.begin, done_ + (most - copied));
        while (done_ < end) {
            // Where the last of them lies says whether they lie one after the other.
            const std::byte* first = store_.state(segment.array, segment.begin + done_);
            std::uint64_t some = std::min<std::uint64_t>(end - done_, 4096);
            if (store_.state(segment.array, segment.begin + done_ + some - 1) != first + (some - 1) * stride) some = 1;
            std::memcpy(to + copied * stride, first, some * stride);
            done_ += some;
            copied += some;
        }
        if (done_ < segment.end - segment.begin) break;
        ++segment_;
        done_ = 0;
    }
    left -= copied;
    return copied;
}

}  // namespace quorate

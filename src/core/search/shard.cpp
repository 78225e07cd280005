#include "search/shard.hpp"

#include "base/thresholds.hpp"
#include "search/successors.hpp"

namespace quorate {

namespace {

// What is not known yet is put aside, and the oracle is asked about many things at once.
constexpr auto later = [](std::size_t) { return Verdict::unknown; };

constexpr std::uint64_t together = 64;  // states that are expanded before their successors are looked up

}  // namespace

Shard::Shard(Tables& tables, std::vector<Property>& properties, Oracle& oracle, Symmetry* symmetry,
             std::optional<PartialOrders> partial_orders, std::vector<Shared> shared, ShardOptions options)
    : tables_(tables),
      properties_(properties),
      oracle_(oracle),
      symmetry_(symmetry),
      partial_orders_(std::move(partial_orders)),
      options_(options),
      judge_(tables, properties, oracle, symmetry),
      watch_(options.limits, oracle),
      store_(tables, 1),
      mine_(tables, 0),
      full_(options.workers + 1),
      shares_(tables.width()),
      reached_(properties.size(), false) {
    shared.resize(tables.columns.size());
    for (unsigned i = 0; i <= options.workers; ++i) {
        // What was saved is read by another process, perhaps later, that shares no number with this one.
        const bool other = i < options.workers;
        outboxes_.emplace_back(tables, other ? shared : std::vector<Shared>(shared.size()), symmetry && other);
        inlets_.emplace_back(tables, other ? shared : std::vector<Shared>(shared.size()));
    }
    mine_.goals.resize(properties.size());
    if (partial_orders_) mine_.chooser = partial_orders_->chooser();
    if (symmetry != nullptr) mine_.canonical.emplace(*symmetry);
}

template <typename Work>
void Shard::guarded(Work work) {
    if (stop_ != Stop::finished) return;
    try {
        work();
    } catch (const std::bad_alloc&) {
        stop_ = Stop::memory;
    } catch (const Interrupted&) {
        stop_ = Stop::interrupt;
    } catch (const SymmetryBroken&) {
        stop_ = Stop::regrown;
    }
}

// --- to whom a state belongs ---

// Sums of shares follow from those of the predecessor by what changed. The content of a cell takes long to work out.
std::uint64_t Shard::work_out_share(Id column, Id cell) {
    std::vector<std::uint64_t>& known = shares_[column];
    if (cell >= known.size()) known.resize(std::max<std::size_t>(cell + 1, known.size() * 2), 0);
    known[cell] = mix(tables_.content(column, cell) + column_factor(column));
    return known[cell];
}
std::uint64_t Shard::shares(const std::vector<Id>& cells) {
    std::uint64_t sum = 0;
    for (Id column = 0; column < cells.size(); ++column) sum += share(column, cells[column]);
    return sum;
}

// --- levels ---

void Shard::begin() {
    guarded([&] {
        for (std::size_t number = 0; number < tables_.initials.size(); ++number) {
            std::vector<Id> cells = tables_.initial_cells(number);
            if (mine_.canonical) cells = std::vector<Id>(mine_.canonical->of(cells));
            if (owner(shares(cells)) != options_.number) continue;
            store_.widen();
            std::vector<Word> packed(store_.layout().words());
            store_.layout().pack(cells.data(), packed.data());
            std::uint64_t known;
            const double orbit = mine_.canonical ? mine_.canonical->orbit() : 1;
            const std::uint64_t hash = spread(tables_.sum(cells.data()));
            if (store_.insert(0, packed.data(), hash, known) == Store::Insertion::known) continue;
            mine_.stands_for += orbit;
            check(cells, 0);
        }
        settle();
    });
}

void Shard::start_level(const std::vector<std::size_t>& reached) {
    for (std::size_t property : reached) reached_[property] = true;
    depth_ = levels_.size() - 1;
    work_.clear();
    if (levels_.back() < store_.count(0))
        work_.push_back({.array = 0, .begin = levels_.back(), .end = store_.count(0)});
    levels_.push_back(store_.count(0));
}

std::uint64_t Shard::remaining() const {
    std::uint64_t sum = mine_.deferred.size();
    for (const Range& range : work_) sum += range.end - range.begin;
    return sum;
}

bool Shard::expand(std::uint64_t most) {
    guarded([&] {
        for (std::uint64_t done = 0; done < most && stop_ == Stop::finished;) {
            if (work_.empty()) {
                flush();
                settle();
                work_.swap(mine_.deferred);
                if (work_.empty()) return;
            }
            Range& range = work_.back();
            Range some = range;
            some.end = std::min(range.end, range.begin + together);
            range.begin = some.end;
            if (range.begin == range.end) work_.pop_back();
            for (Range one = some; one.begin < some.end; ++one.begin) {
                one.end = one.begin + 1;
                expand(one);
            }
            done += some.end - some.begin;
            flush();
            if (widen_) widen();
            const std::size_t bytes = tables_.step_bytes();
            if (mine_.unchecked.size() >= thresholds.most_waiting ||
                mine_.expander.queries.size() >= thresholds.most_waiting ||
                (bytes > tables_.most_step_bytes && bytes > store_.bytes()))
                settle();
            if (store_.size() >= options_.limits.states) halt(Stop::states);
            look();
            bool full = false;
            for (const Outbox& outbox : outboxes_) full |= outbox.bytes() >= options_.batch_bytes;
            if (full) return;
        }
    });
    return stop_ == Stop::finished && (!work_.empty() || !mine_.deferred.empty());
}

void Shard::finish_level() {
    guarded([&] { settle(); });
}

// What only the oracle knows, and what follows from it.
void Shard::settle() {
    ask(tables_, oracle_, mine_.expander.queries);
    std::vector<Unchecked> unchecked = std::move(mine_.unchecked);
    mine_.unchecked.clear();
    judge(unchecked);
    const std::size_t bytes = tables_.step_bytes();
    if (bytes > tables_.most_step_bytes && bytes > store_.bytes()) {
        tables_.forget_steps();
        mine_.expander.forget_steps();
    }
    look();
}

void Shard::look() {
    const auto stop = watch_.look([&] {
        Progress progress;
        progress.states = store_.size();
        progress.transitions = mine_.transitions;
        progress.frontier = remaining() + next_level();
        progress.depth = depth_;
        return progress;
    });
    if (stop) halt(*stop);
}

void Shard::grow() {
    if (resident_bytes() + store_.bytes_to_grow() > options_.limits.memory) throw std::bad_alloc();
    store_.grow();
}

// States that wait to be sent are packed in the layout of now.
void Shard::widen() {
    if (resident_bytes() + store_.bytes_to_widen() > options_.limits.memory) throw std::bad_alloc();
    for (unsigned to = 0; to < outboxes_.size(); ++to)
        if (outboxes_[to].states() > 0) full_[to].push_back(outboxes_[to].close(store_.layout(), depth_));
    store_.widen();
    mine_.most = 0;
    mine_.make_room(store_.layout().words());
    sent_.clear();
    widen_ = false;
}

// --- expanding ---

void Shard::expand(const Range& one) {
    const bool proviso = partial_orders_ && partial_orders_->proviso;
    const LevelSetting level{tables_, nullptr, store_.layout(), proviso, depth_};
    const Expander& expander = mine_.expander;
    std::uint64_t content = 0;
    const auto begin = [&] { content = shares(expander.cells); };
    const auto place = [&](std::uint64_t hash, const std::vector<Id>* form) __attribute__((always_inline)) {
        std::uint64_t successor = content;
        if (form != nullptr)
            successor = shares(*form);
        else
            for (const auto& [column, before, after] : expander.changes())
                successor += share(column, after) - share(column, before);
        const unsigned to = owner(successor);
        if (to == options_.number)
            store_.prefetch(hash);
        else if (!sent_.empty())
            __builtin_prefetch(sent_place(hash));
        if (owners_.size() < mine_.most) owners_.resize(mine_.most);
        owners_[mine_.waiting] = to;
    };
    const std::byte* packed = store_.state(one.array, one.begin);
    const Expanded expanded = take_successors(mine_, one, packed, level, begin, place);
    widen_ |= expanded.misfit;
    if (expanded.waits) return;
    for (Witness& witness : mine_.failures) offer(std::move(witness));
    if (expanded.enabled) return;
    ++mine_.deadlocks;
    if (options_.deadlock) check_stuck(expander.cells, depth_);
}

// The successors that wait: what is its own is looked up, the rest is sent.
void Shard::flush() {
    const std::size_t words = store_.layout().words();
    const std::size_t portion = thresholds.portion;
    for (std::size_t done = 0; done < mine_.waiting;) {
        const std::size_t end = std::min(mine_.waiting, done + portion);
        while (store_.room() < portion) grow();
        if (store_.needs_growth()) grow();
        for (std::size_t i = done; i < end; ++i)
            if (owners_[i] == options_.number) store_.prefetch_state(mine_.successors[i].hash);
        for (; done < end; ++done) {
            const Word* packed = mine_.buffer.data() + done * words;
            const Worker::Waiting& successor = mine_.successors[done];
            if (owners_[done] != options_.number) {
                send(owners_[done], packed, successor, successor.keeping);
                continue;
            }
            std::uint64_t known;
            if (!insert(packed, successor.hash, successor.observed, successor.orbit, known) &&
                successor.keeping != none)
                mine_.keeping[successor.keeping].further &= in_next_level(known);
        }
    }
    mine_.waiting = 0;
}

// False if it is known; then `known` is its number.
bool Shard::insert(const Word* packed, std::uint64_t hash, bool observed, double orbit, std::uint64_t& known) {
    if (store_.insert(0, packed, hash, known) == Store::Insertion::known) return false;
    mine_.stands_for += orbit;
    if (observed) {
        mine_.scratch.resize(tables_.width());
        store_.layout().unpack(reinterpret_cast<const std::byte*>(packed), mine_.scratch.data());
        check(mine_.scratch, depth_ + 1);
    }
    return true;
}

// Most successors are met several times within a short time: those that were sent lately need not be sent again. A
// watched one has to be, for its answer.
void Shard::send(unsigned to, const Word* packed, const Worker::Waiting& state, Id watched) {
    const std::size_t words = store_.layout().words();
    if (options_.sent_states > 0) {
        if (sent_.empty()) {
            sent_mask_ = std::bit_floor(options_.sent_states) - 1;
            sent_width_ = words + 1;
            sent_.assign((sent_mask_ + 1) * sent_width_, 0);
        }
        Word* const place = sent_place(state.hash);
        Word differs = place[0] ^ 1;
        for (std::size_t i = 0; i < words; ++i) differs |= packed[i] ^ place[i + 1];
        if (watched == none && differs == 0) {
            ++repeated;
            return;
        }
        place[0] = 1;
        std::copy(packed, packed + words, place + 1);
    }
    ++sent;
    outboxes_[to].add(store_.layout(), packed, state.observed, state.orbit, watched);
}

// --- the others ---

std::optional<Batch> Shard::batch(unsigned to, bool rest) {
    std::optional<Batch> result;
    if (!full_[to].empty()) {
        result = std::move(full_[to].front());
        full_[to].erase(full_[to].begin());
    } else if (outboxes_[to].bytes() >= options_.batch_bytes || (rest && outboxes_[to].states() > 0)) {
        result = outboxes_[to].close(store_.layout(), depth_);
    }
    if (result) sent_bytes += result->bytes.size();
    return result;
}

std::vector<bool> Shard::absorb(unsigned from, std::span<const char> bytes) {
    std::vector<bool> further;
    guarded([&] {
        Inlet& inlet = inlets_[from];
        const bool fits = inlet.open(bytes, store_.layout());
        if (inlet.depth() != depth_) throw std::logic_error("a batch belongs to another level than this");
        if (!fits) {
            flush();  // what waits is packed in the layout of now
            widen();
        }
        const std::size_t portion = thresholds.portion, words = store_.layout().words();
        arriving_.resize(portion * words);
        std::vector<Inlet::Arrived> arrived(portion);
        for (std::uint64_t done = 0; done < inlet.states();) {
            const std::size_t some = std::min<std::uint64_t>(portion, inlet.states() - done);
            while (store_.room() < portion) grow();
            if (store_.needs_growth()) grow();
            for (std::size_t i = 0; i < some; ++i) {
                arrived[i] = inlet.next(store_.layout(), arriving_.data() + i * words);
                store_.prefetch(spread(arrived[i].sum));
            }
            for (std::size_t i = 0; i < some; ++i) store_.prefetch_state(spread(arrived[i].sum));
            for (std::size_t i = 0; i < some; ++i) {
                const Inlet::Arrived& one = arrived[i];
                std::uint64_t known = 0;
                const Word* packed = arriving_.data() + i * words;
                const bool fresh = insert(packed, spread(one.sum), one.observed, one.orbit, known);
                if (one.watched) further.push_back(fresh || in_next_level(known));
            }
            done += some;
        }
        if (mine_.unchecked.size() >= thresholds.most_waiting) settle();
        if (store_.size() >= options_.limits.states) halt(Stop::states);
        look();
    });
    return further;
}

void Shard::answered(const std::vector<Id>& watched, const std::vector<bool>& further) {
    for (std::size_t i = 0; i < watched.size() && i < further.size(); ++i)
        if (!further[i]) mine_.keeping[watched[i]].further = false;
}

bool Shard::expand_in_full() {
    put_off(mine_);
    return !mine_.deferred.empty() && stop_ == Stop::finished;
}

// --- verdicts ---

void Shard::judge(std::vector<Unchecked>& unchecked) {
    std::sort(unchecked.begin(), unchecked.end(), [&](const Unchecked& a, const Unchecked& b) {
        return tables_.content(a.cells) < tables_.content(b.cells);
    });
    for (const Unchecked& one : unchecked) {
        look();
        for (std::size_t i = 0; i < properties_.size() && stop_ == Stop::finished; ++i) {
            if (one.stuck != (properties_[i].kind == PropertyKind::final)) continue;
            if (judge_.ask(i, one.cells) == Verdict::unknown) stop_ = Stop::regrown;
        }
        if (stop_ != Stop::finished) return;
        if (one.stuck)
            check_stuck(one.cells, one.length);
        else
            check(one.cells, one.length);
    }
}

void Shard::check(const std::vector<Id>& cells, std::uint64_t length) {
    std::vector<Witness> broken;
    const auto found = [&](Finding finding, std::size_t property) {
        if (finding != Finding::reached) {
            broken.push_back(witness(finding, property, cells, length));
        } else if (!reached_[property]) {
            Witness goal = witness(finding, property, cells, length);
            auto& best = mine_.goals[property];
            if (!best || goal.rank() < best->rank()) best = std::move(goal);
        }
        return true;
    };
    const bool known = judge_.state(cells, later, found);
    // What is put aside is judged again, and counted then.
    for (Witness& each : broken) offer(std::move(each), known);
    if (!known) mine_.unchecked.push_back({cells, length, false});
}

void Shard::check_stuck(const std::vector<Id>& cells, std::uint64_t length) {
    const auto found = [&](Finding finding, std::size_t property) { offer(witness(finding, property, cells, length)); };
    if (!judge_.stuck(cells, later, found)) mine_.unchecked.push_back({cells, length, true});
}

Witness Shard::witness(Finding finding, std::size_t property, const std::vector<Id>& cells,
                       std::uint64_t length) const {
    Witness result;
    result.finding = finding;
    result.property = property;
    result.length = length;
    result.faults = tables_.spent(cells);
    result.content = tables_.content(cells);
    result.cells = cells;
    return result;
}

void Shard::offer(Witness witness, bool counts) {
    if (options_.all)
        add_to(mine_.violations, {std::move(witness), counts ? 1u : 0u});
    else if (!mine_.violation || witness.rank() < mine_.violation->rank())
        mine_.violation = std::move(witness);
}

// A state that was reached by a step which properties do not see was not judged, and perhaps none like it by this
// worker: then the oracle is asked. All that properties read is observed by now.
std::vector<std::uint64_t> Shard::count_violated() {
    std::vector<Id> cells(tables_.width());
    std::vector<std::uint64_t> counts(properties_.size());
    for (std::uint64_t i = 0; i < store_.count(0); ++i) {
        store_.layout().unpack(store_.state(0, i), cells.data());
        const auto unknown = [&](std::size_t property) {
            const Verdict verdict = judge_.ask(property, cells);
            if (verdict == Verdict::unknown) throw std::logic_error("a property reads what it did not read before");
            return verdict;
        };
        judge_.state(cells, unknown, [&](Finding finding, std::size_t property) {
            counts[property] += finding == Finding::violated;
            return true;
        });
    }
    return counts;
}

// --- the way back, and what is kept ---

std::optional<std::pair<std::uint64_t, std::vector<Id>>> Shard::step_back(std::uint64_t level, std::vector<Id> target) {
    StepBack back(tables_, store_, oracle_, symmetry_, nullptr,
                  true);  // states that were loaded were expanded elsewhere
    back.begin(std::move(target), level);
    back.look(0, levels_[level], levels_[level + 1]);
    mine_.expander.forget_steps();
    if (back.best().empty()) return std::nullopt;
    return std::make_pair(back.rank(), back.best());
}

std::vector<Batch> Shard::saved(std::uint64_t level) {
    std::vector<Batch> result;
    Outbox& outbox = outboxes_.back();
    const Layout& layout = store_.layout();
    const std::uint64_t end = level + 1 < levels_.size() ? levels_[level + 1] : store_.count(0);
    std::vector<Word> words(layout.words());
    for (std::uint64_t i = levels_[level]; i < end; ++i) {
        layout.load(store_.state(0, i), words.data());
        outbox.add(layout, words.data(), false, 1, none);
        if (outbox.bytes() >= options_.batch_bytes || i + 1 == end) result.push_back(outbox.close(layout, level));
    }
    return result;
}

void Shard::restore(std::span<const char> bytes) {
    Inlet& inlet = inlets_.back();
    if (!inlet.open(bytes, store_.layout())) store_.widen();
    std::vector<Word> words(store_.layout().words());
    for (std::uint64_t i = 0; i < inlet.states(); ++i) {
        const Inlet::Arrived one = inlet.next(store_.layout(), words.data());
        if (store_.needs_growth()) grow();
        std::uint64_t known;
        if (store_.insert(0, words.data(), spread(one.sum), known) == Store::Insertion::known)
            throw std::runtime_error("a saved share holds a state twice");
    }
}

void Shard::restored(std::uint64_t transitions, std::uint64_t deadlocks, double stands_for, std::uint64_t offered,
                     std::uint64_t left_out) {
    mine_.transitions = transitions;
    mine_.deadlocks = deadlocks;
    mine_.stands_for = stands_for;
    mine_.offered = offered;
    mine_.left_out = left_out;
}

}  // namespace quorate

#include "temporal/expansion.hpp"

#include "base/thresholds.hpp"

namespace quorate {

Expansion::Expansion(Exploring& shared, const Judge& judge, const std::optional<PartialOrders>& partial_orders,
                     unsigned number)
    : expander(shared.tables),
      number(number),
      cut(shared.tables.columns.size() + 1, false),
      shared_(shared),
      judge_(judge),
      fresh_ids_(shared.tables.columns.size()),
      places_(shared.tables.columns.size()) {
    for (const auto& column : shared.tables.columns) processes_ += !column->monitor;
    others_.resize(processes_);
    left_out_.resize(processes_);
    if (partial_orders) chooser_ = partial_orders->chooser();
    if (shared.symmetry != nullptr) canonical_.emplace(*shared.symmetry);
}

void Expansion::clear() {
    edges.clear();
    labels.clear();
    failures.clear();
    if (fresh.empty()) return;
    fresh.clear();
    for (auto& each : fresh_ids_) each.clear();
}

bool Expansion::expand(Id state) {
    const std::size_t begin = edges.size();
    for (bool in_full = chooser_ == nullptr;;) {
        const Layout& layout = shared_.store.layout();
        const std::size_t words = layout.words(), mark = waiting_.size();
        const std::byte* packed = shared_.numbering.state(state);
        layout.unpack(packed, expander.cells.data());
        here_.resize(words);
        layout.load(packed, here_.data());
        const Choice* chosen = nullptr;
        if (!in_full) {
            if (!expander.steps_known()) return false;
            if (chooser_->choose(expander.cells)) chosen = &chooser_->chosen();
        }
        if (canonical_) canonical_->expand(expander.cells);
        bool misfit = false;
        std::optional<Witness> failing;
        const auto emit = [&](Id column, const Step& step, Id which, std::uint64_t hash, bool observed)
                              __attribute__((always_inline)) {
                                  const std::size_t wanted = (waiting_.size() + 1) * words;
                                  if (buffer_.size() < wanted) [[unlikely]]
                                      buffer_.resize(2 * wanted);
                                  Word* target = buffer_.data() + waiting_.size() * words;
                                  const std::vector<Id>& form =
                                      canonical_ ? canonical_->of(expander.cells, expander.changes()) : expander.cells;
                                  if (&form != &expander.cells) {
                                      for (Id at = 0; at < form.size(); ++at) misfit |= !layout.fits(at, form[at]);
                                      layout.pack(form.data(), target);
                                      hash = spread(shared_.tables.sum(form.data()));
                                  } else {
                                      std::copy_n(here_.data(), words, target);
                                      for (const auto& [at, before, after] : expander.changes()) {
                                          misfit |= !layout.fits(at, after);
                                          layout.change(target, at, before, after);
                                      }
                                  }
                                  shared_.store.prefetch(hash);
                                  if (canonical_) {
                                      orbits_.resize(edges.size() + 1);
                                      orbits_.back() = canonical_->orbit();
                                  }
                                  waiting_.push_back({hash, static_cast<std::uint32_t>(edges.size()), state, observed});
                                  edges.push_back({taken(column, step, which), 0});
                              };
        const auto fail = [&](Id column, Id which, Id failure) {
            if (failing) return;
            failing.emplace();
            failing->finding = Finding::failure;
            failing->length = shared_.depth + 1;
            failing->column = column;
            failing->step = which;
            failing->failure = failure;
        };
        const Expander::Summary summary = expander.expand(expander.sum(), emit, fail, chosen);
        if (summary.missing || misfit || (chosen != nullptr && !note_left_out(*chosen))) {
            misfits |= misfit;
            waiting_.resize(mark);
            edges.resize(begin);
            return false;
        }
        if (chosen != nullptr && shared_.proviso && !failing) {
            // What waits is stored at once, and in order.
            if (!flush()) {
                while (!waiting_.empty() && waiting_.back().edge >= begin) waiting_.pop_back();
                edges.resize(begin);
                return false;
            }
            if (returns(state, begin)) {
                // Otherwise the steps left out could be put off for ever along a cycle.
                edges.resize(begin);
                in_full = true;
                continue;
            }
        }
        if (failing) {
            failing->cells = expander.cells;
            failures.push_back({state, std::move(*failing)});
        }
        if (summary.cut || !expander.outside.empty()) note_cuts();
        if (shared_.tables.network.bounded() && shared_.tables.network.when_full == WhenFull::block) note_blocked();
        deadlocks += !summary.enabled;
        return true;
    }
}

// Does a chosen step lead to a state of no higher number? One that has none yet will get a higher one.
bool Expansion::returns(Id state, std::size_t begin) {
    for (std::size_t i = begin; i < edges.size(); ++i) {
        if (!Graph::moves(edges[i].target)) continue;
        const Id target = shared_.numbering.of(edges[i].target);
        if (target != none && target <= state) return true;
    }
    return false;
}

// Lists what is possible and not chosen; false if that is not known yet.
bool Expansion::note_left_out(const Choice& chosen) {
    for (Id column = 0; column < processes_; ++column) {
        const std::size_t count = expander.listed(column).size();
        left_out_[column].assign(count, true);
        for (std::size_t i = 0; i < count && chosen[column] != nullptr; ++i)
            left_out_[column][i] = !(*chosen[column])[i];
        others_[column] = &left_out_[column];
    }
    Id last = none;
    const auto left_out = [&](Id column, const Step& step) {
        const Id which = act(column, step);  // with several outcomes it is still one step
        if (which != last) note(which, Graph::left_out);
        last = which;
    };
    const auto emit = [&](Id column, const Step& step, Id, std::uint64_t, bool) { left_out(column, step); };
    const auto fail = [&](Id column, Id which, Id) { left_out(column, expander.listed(column)[which]); };
    return !expander.expand(0, emit, fail, &others_).missing;
}

void Expansion::note_cuts() {
    for (const auto& [column, which] : expander.outside) {
        cut.back() = true;
        note(act(column, expander.listed(column)[which]), Graph::cut);
    }
    for (Id column = 0; column < processes_; ++column) {
        if (!expander.cut[column]) continue;
        expander.cut[column] = false;
        cut[column] = true;
        for (const Step& step : expander.listed(column))
            if (step.effect == Effect::cut) note(act(column, step), Graph::cut);
    }
}

void Expansion::note_blocked() {
    Tables& tables = shared_.tables;
    for (Id column = 0; column < processes_; ++column)
        for (const Step& step : expander.listed(column)) {
            if (!step.protocol || step.effect != Effect::moves) continue;
            // What processes are sent is delivered without asking the oracle, so that this is known.
            if (tables.room(expander.cells, column, step, expander.queries) != full) continue;
            blocked = true;
            note(act(column, step), Graph::blocked);
        }
}

Id Expansion::remember(Id column, Id cell, const Step& step, Id which) {
    // What a process does that reads shared cells is not a matter of its own cell alone.
    if (shared_.tables.columns[column]->reading) return act(column, step);
    std::vector<std::size_t>& places = places_[column];
    if (cell >= places.size()) places.resize(std::max<std::size_t>(cell + 1, 2 * places.size()), nowhere);
    if (places[cell] == nowhere) {
        places[cell] = known_acts_.size();
        const std::size_t count = shared_.tables.steps(column, cell, expander.queries)->size();
        known_acts_.resize(known_acts_.size() + count, none);
    }
    const Id found = act(column, step);
    if ((found & Acts::fresh) == 0) known_acts_[places[cell] + which] = found;
    return found;
}

void Expansion::forget_steps() {
    expander.forget_steps();
    known_acts_.clear();
    for (auto& each : places_) each.clear();
}

Id Expansion::act(Id column, const Step& step) {
    const Act act = Acts::of(column, step);
    const std::uint64_t key = Acts::key(act);
    if (const Id* known = shared_.acts.find(column, key)) return *known;
    if (const Id* known = fresh_ids_[column].find(key)) return *known;
    const Id id = Acts::fresh | static_cast<Id>(fresh.size());
    fresh.push_back({column, key, act});
    fresh_ids_[column].insert(key, id);
    return id;
}

bool Expansion::flush() {
    Store& store = shared_.store;
    const std::size_t words = store.layout().words();
    std::size_t done = 0;
    while (done < waiting_.size()) {
        // Each thread may be in the midst of one portion, so this much room is enough for all.
        if (store.room() < thresholds.portion * store.threads()) {
            shared_.crowded = true;
            break;
        }
        const std::size_t end = std::min(waiting_.size(), done + thresholds.portion);
        for (std::size_t i = done; i < end; ++i) store.prefetch_state(waiting_[i].hash);
        for (; done < end; ++done) {
            const Waiting& one = waiting_[done];
            const Word* packed = buffer_.data() + done * words;
            std::uint64_t stored = 0;
            if (store.insert(number, packed, one.hash, stored) == Store::Insertion::fresh) {
                stored = store.number_of(number, store.count(number) - 1);
                if (stored >= Graph::left_out) throw LimitError("more states than a graph has numbers for");
                stands_for += canonical_ ? orbits_[one.edge] : 1;
                if (one.observed) {
                    scratch_.resize(shared_.tables.width());
                    store.layout().unpack(reinterpret_cast<const std::byte*>(packed), scratch_.data());
                    labels.push_back(label(scratch_));
                } else {
                    labels.push_back({shared_.graph.label(one.source), true});
                }
            }
            edges[one.edge].target = static_cast<Id>(stored);
        }
    }
    if (done < waiting_.size())
        std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(done * words),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(waiting_.size() * words), buffer_.begin());
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(done));
    return waiting_.empty();
}

Expansion::Label Expansion::label(const std::vector<Id>& cells) const {
    Label found{0, judge_.judged_alike(cells, false)};
    for (std::size_t i = 0; i < shared_.predicates.size() && found.known; ++i) {
        const Verdict verdict = shared_.properties[shared_.predicates[i]].trie.walk(shared_.tables, cells);
        found.known = verdict == Verdict::yes || verdict == Verdict::no;
        found.word |= std::uint64_t{verdict == Verdict::yes} << i;
    }
    return found;
}

}  // namespace quorate

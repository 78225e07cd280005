// Depth first, on one thread: with an exact store, with a bit array (an approximation), or with none at all
// (stateless). The stack is the run that led to the present state.

#include <cmath>

#include "base/thresholds.hpp"
#include "reduce/symmetry/canonical.hpp"
#include "search/run_search.hpp"
#include "search/search.hpp"

namespace quorate {

namespace {

// Holzmann's bitstate hashing with three bits per state: a state whose bits are all set counts as met before.
class BitArray {
public:
    explicit BitArray(std::size_t bytes)
        : mask_(std::bit_floor(std::max<std::size_t>(bytes, 64)) * 8 - 1), bits_((mask_ + 1) / 8, true) {}

    bool insert(std::uint64_t hash) {
        // Chance that this look-up calls a new state known, given how full the array is now.
        const double filled = static_cast<double>(set_) / static_cast<double>(mask_ + 1);
        const std::uint64_t stride = mix(hash) | 1;
        bool fresh = false;
        for (unsigned i = 0; i < hashes; ++i) {
            const std::uint64_t bit = (hash + i * stride) & mask_;
            std::byte& place = bits_.data()[bit / 8];
            const std::byte flag = std::byte{1} << static_cast<int>(bit % 8);
            if ((place & flag) == std::byte{0}) {
                fresh = true;
                place |= flag;
                ++set_;
            }
        }
        if (fresh) {
            const double missed = std::pow(filled, static_cast<double>(hashes));
            expected_misses_ += missed / (1 - missed);
            ++states_;
        }
        return fresh;
    }
    double coverage() const {
        const double met = static_cast<double>(states_);
        return met == 0 ? 1 : met / (met + expected_misses_);
    }
    std::uint64_t states() const { return states_; }

private:
    static constexpr unsigned hashes = 3;
    std::uint64_t mask_;
    Block bits_;
    std::uint64_t states_ = 0, set_ = 0;
    double expected_misses_ = 0;
};

class DepthFirst : RunSearch {
public:
    DepthFirst(Tables& tables, std::vector<Property>& properties, Oracle& oracle, const SearchOptions& options)
        : RunSearch(tables, properties, oracle, options), expander_(tables) {
        if (options.bitstate > 0)
            bits_.emplace(options.bitstate);
        else if (!options.stateless)
            store_.emplace(tables, 1u);
        if (options.partial_orders) chooser_ = options.partial_orders->chooser();
        if (options.symmetry != nullptr) canonical_.emplace(*options.symmetry);
        keeps_path_ = options.stateless || (chooser_ && options.partial_orders->proviso);
    }

    SearchResult run() {
        SearchResult found = run_from_initials([&](std::vector<Id> cells) {
            if (canonical_) cells = std::vector<Id>(canonical_->of(cells));
            expander_.cells = cells;
            if (!insert(cells, spread(expander_.sum()))) return;
            result_.stands_for += canonical_ ? canonical_->orbit() : 1;
            if (check(cells)) explore(cells);
        });
        found.cut = expander_.cut;
        if (bits_) found.coverage = bits_->coverage();
        return found;
    }

private:
    struct Frame {
        std::size_t next, end;  // the successors not yet taken, in `pending_`
        std::uint64_t hash;
    };

    void explore(const std::vector<Id>& initial) {
        enter(initial);
        while (!frames_.empty() && !done()) {
            Frame& frame = frames_.back();
            if (frame.next == frame.end) {
                leave();
                continue;
            }
            const std::size_t at = frame.next++;
            const Id* from = pending_.data() + at * width_;
            current_.assign(from, from + width_);
            const Successor successor = successors_[at];
            if (!insert(current_, successor.hash)) continue;
            result_.stands_for += successor.orbit;
            if (successor.observed && !check(current_)) break;
            enter(current_);
        }
        if (!done()) return;
        frames_.clear();
        path_.clear();
        pending_.clear();
        successors_.clear();
        on_path_.clear();
    }

    // Puts the state on the stack together with its successors.
    void enter(const std::vector<Id>& cells) {
        path_.insert(path_.end(), cells.begin(), cells.end());
        const std::size_t begin = successors_.size();
        expander_.cells = cells;
        const std::uint64_t sum = expander_.sum(), hash = spread(sum);
        frames_.push_back({begin, begin, hash});
        result_.depth = std::max<std::uint64_t>(result_.depth, frames_.size() - 1);
        if (keeps_path_) remember_top(hash);
        Expander::Summary summary;
        bool in_full = !chooser_ || given_up(), reduced = false;
        for (;;) {
            const Choice* chosen = nullptr;
            if (!in_full) {
                while (!expander_.steps_known()) ask(tables_, oracle_, expander_.queries);
                if (!expander_.leaves()) {
                    if (chooser_->choose(expander_.cells)) chosen = &chooser_->chosen();
                    offered_ += chooser_->offered();
                    left_out_ += chooser_->left_out();
                }
            }
            std::vector<std::pair<Id, Id>> failures;
            if (canonical_) canonical_->expand(cells);
            std::vector<StepTaken> steps;
            const bool watched = chosen != nullptr && keeps_path_;
            const auto emit = [&](Id column, const Step&, Id number, std::uint64_t next,
                                  bool observed) __attribute__((always_inline)) {
                const Id keeping = watched ? chooser_->keeping(column, number) : none;
                const std::vector<Id>& form =
                    canonical_ ? canonical_->of(expander_.cells, expander_.changes()) : expander_.cells;
                if (&form != &expander_.cells) next = spread(tables_.sum(form.data()));
                if (options_.record != nullptr) steps.push_back({cells, form, column, number});
                pending_.insert(pending_.end(), form.begin(), form.end());
                successors_.push_back({next, canonical_ ? canonical_->orbit() : 1, column, keeping, observed});
            };
            const auto note = [&](Id column, Id, Id failure) { failures.emplace_back(column, failure); };
            summary = expander_.expand(sum, emit, note, chosen);
            if (summary.missing) {
                pending_.resize(begin * width_);
                successors_.resize(begin);
                ask(tables_, oracle_, expander_.queries);
                continue;
            }
            if (watched && failures.empty() && closes_cycle(begin)) {
                // Otherwise the steps left out could be put off for ever along this cycle.
                in_full = true;
                pending_.resize(begin * width_);
                successors_.resize(begin);
                continue;
            }
            result_.transitions += successors_.size() - begin + failures.size();
            reduced = chosen != nullptr;
            if (options_.record != nullptr) options_.record->insert(options_.record->end(), steps.begin(), steps.end());
            if (!failures.empty()) fail(failures.front().first, failures.front().second, cells);
            break;
        }
        frames_.back().end = successors_.size();
        if (options_.evidence != nullptr) options_.evidence->note(tables_, cells, reduced, !summary.enabled);
        if (!summary.enabled) {
            ++result_.deadlocks;
            if (options_.deadlock && !done()) check_stuck(cells);
        }
        look(frames_.size());
    }

    void leave() {
        const std::size_t begin = frames_.size() > 1 ? frames_[frames_.size() - 2].end : 0;
        pending_.resize(begin * width_);
        successors_.resize(begin);
        path_.resize(path_.size() - width_);
        if (keeps_path_) forget_top(frames_.back().hash);
        frames_.pop_back();
    }

    // Of the successors from number `begin` on, does none, by a step that keeps what was left out, lie off the present
    // path with all its outcomes? For properties of whole runs: does any successor lie on it?
    bool closes_cycle(std::size_t begin) const {
        const auto returns = [&](std::size_t i) { return on_path(pending_.data() + i * width_, successors_[i].hash); };
        const auto same = [&](std::size_t i, std::size_t j) {
            return successors_[i].column == successors_[j].column && successors_[i].keeping == successors_[j].keeping;
        };
        if (options_.partial_orders->whole_runs) {
            for (std::size_t i = begin; i < successors_.size(); ++i)
                if (returns(i)) return true;
            return false;
        }
        for (std::size_t i = begin; i < successors_.size();) {
            bool further = successors_[i].keeping != none;
            const std::size_t first = i;
            for (; i < successors_.size() && same(i, first); ++i) further = further && !returns(i);
            if (further) return false;
        }
        return true;
    }

    // True if the state is new (or, without a store, not on the present path).
    bool insert(const std::vector<Id>& cells, std::uint64_t hash) {
        if (options_.stateless) {
            if (on_path(cells.data(), hash)) return false;
            ++result_.states;
            return true;
        }
        if (bits_) {
            const bool fresh = bits_->insert(hash);
            result_.states = bits_->states();
            return fresh;
        }
        for (Id column = 0; column < width_; ++column) {
            if (store_->layout().fits(column, cells[column])) continue;
            if (resident_bytes() + store_->bytes_to_widen() > options_.limits.memory) throw std::bad_alloc();
            store_->widen();
            break;
        }
        if (store_->needs_growth()) {
            if (resident_bytes() + store_->bytes_to_grow() > options_.limits.memory) throw std::bad_alloc();
            store_->grow();
        }
        packed_.resize(store_->layout().words());
        store_->layout().pack(cells.data(), packed_.data());
        std::uint64_t known;
        const bool fresh = store_->insert(0, packed_.data(), hash, known) == Store::Insertion::fresh;
        result_.states = store_->size();
        return fresh;
    }

    struct Successor {
        std::uint64_t hash;
        double orbit;  // how many states it stands for
        Id column;
        Id keeping;  // of its step (chooser.hpp); asked for only where something was left out
        bool observed;
    };

    Expander expander_;
    std::optional<Store> store_{};
    std::optional<BitArray> bits_{};
    // Whether partial orders leave out so few steps that looking for them takes longer than it saves. To take all steps
    // of a state is always sound.
    bool given_up() {
        if (result_.given_up == 0 && result_.states >= thresholds.few_states && left_out_ * 10 < offered_)
            result_.given_up = std::max<std::uint64_t>(result_.depth, 1);
        return result_.given_up != 0;
    }

    std::unique_ptr<Chooser> chooser_{};
    std::uint64_t offered_ = 0, left_out_ = 0;  // steps, of the states it was asked about
    std::optional<Canonical> canonical_{};
    bool keeps_path_ = false;
    std::vector<Frame> frames_{};
    std::vector<Id> pending_{};  // the cells of the successors of every state on the stack
    std::vector<Successor> successors_{};
    std::vector<Id> current_{};
    std::vector<Word> packed_{};
};

}  // namespace

SearchResult depth_first(Tables& tables, std::vector<Property>& properties, Oracle& oracle,
                         const SearchOptions& options) {
    return DepthFirst(tables, properties, oracle, options).run();
}

}  // namespace quorate

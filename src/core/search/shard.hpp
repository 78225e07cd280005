// One worker's share of a breadth-first search that many processes do together, level by level.
//
// A state belongs to the worker that its content names. A worker expands its own states of a level, keeps the
// successors that are its own and sends the others in batches (exchange.hpp); it takes in what others send at any time
// in between. A level is over when everything was expanded and taken in everywhere. So each level holds the same states
// as in a search by one process, whatever the order, and so do counts, verdicts and the shortest run (path.hpp).
//
// Properties: a successor that differs in nothing a property was seen to read is not judged again. For that to be right
// here, all workers have to know at the beginning of a level what was read anywhere before it: `Tables::observe` with
// the union.
//
// Partial orders: what a stubborn set leaves out must not be put off for ever (stubborn.hpp). Whether a successor lies
// in the next level is known where it belongs, so whoever receives a watched state says so in its answer; that does not
// depend on the order in which states arrive, because all states of this level were there before it began.
#pragma once

#include "search/exchange.hpp"
#include "search/judge.hpp"
#include "search/path.hpp"
#include "search/worker.hpp"

namespace quorate {

struct ShardOptions {
    unsigned number = 0, workers = 1;
    bool deadlock = false, all = false;
    std::size_t batch_bytes = std::size_t{1} << 18;
    std::size_t sent_states = std::size_t{1} << 15;  // how many of the states sent last are remembered; 0: none
    Limits limits{};                                 // of this share
};

class Shard {
public:
    Shard(Tables& tables, std::vector<Property>& properties, Oracle& oracle, Symmetry* symmetry,
          std::optional<PartialOrders> partial_orders, std::vector<Shared> shared, ShardOptions options);

    // Takes the initial states that are its own.
    void begin();
    // The states that were found last become the level to be expanded; properties of these goals are not looked for.
    void start_level(const std::vector<std::size_t>& reached);
    // Expands some states of the level. False if none is left to be expanded for now.
    bool expand(std::uint64_t most);
    // A batch for another worker, if one is full or `rest` asks for what there is.
    std::optional<Batch> batch(unsigned to, bool rest);
    // Who has to be told what a number of another one is: the numbers of this worker.
    Inlet& inlet(unsigned from) { return inlets_[from]; }
    // Takes in a batch. Of the watched states among them: which lie in the next level.
    std::vector<bool> absorb(unsigned from, std::span<const char> bytes);
    // What the receiver said of the watched states of a batch, in their order.
    void answered(const std::vector<Id>& watched, const std::vector<bool>& further);
    // All answers are there: states that made no progress are to be expanded in full. False if there are none.
    bool expand_in_full();
    // Nothing more comes in this level: what is open is decided.
    void finish_level();

    // Keeps the states of a level for later, and takes them back; no judgement is made of them.
    std::vector<Batch> saved(std::uint64_t level);
    void restore(std::span<const char> bytes);
    Inlet& saved_inlet() { return inlets_.back(); }
    void restored_level() { levels_.push_back(store_.count(0)); }
    void restored(std::uint64_t transitions, std::uint64_t deadlocks, double stands_for, std::uint64_t offered,
                  std::uint64_t left_out);

    // One step back from a state of the level after this one: see path.hpp.
    std::optional<std::pair<std::uint64_t, std::vector<Id>>> step_back(std::uint64_t level, std::vector<Id> target);
    // By property, in how many of its states an invariant is violated.
    std::vector<std::uint64_t> count_violated();

    void give_up_partial_orders() { mine_.chooser.reset(); }
    // Another search over the same tables may have thrown steps away.
    void forget_steps() { mine_.expander.forget_steps(); }
    void halt(Stop why) {
        if (stop_ == Stop::finished) stop_ = why;
    }

    // --- what it has to tell ---

    Stop stop() const { return stop_; }
    std::uint64_t states() const { return store_.size(); }
    std::uint64_t next_level() const { return store_.size() - levels_.back(); }
    std::uint64_t remaining() const;
    std::size_t bytes() const { return store_.bytes(); }
    std::size_t bytes_per_state() const { return store_.layout().stride(); }
    std::uint64_t sent = 0, sent_bytes = 0, repeated = 0;  // states, and those that were kept off the wire
    const Worker& figures() const { return mine_; }
    const std::optional<Witness>& violation() const { return mine_.violation; }
    const std::vector<std::optional<Witness>>& goals() const { return mine_.goals; }
    const std::vector<Violations>& violations() const { return mine_.violations; }

private:
    std::uint64_t share(Id column, Id cell) {
        const std::vector<std::uint64_t>& known = shares_[column];
        return cell < known.size() && known[cell] != 0 ? known[cell] : work_out_share(column, cell);
    }
    [[gnu::noinline]] std::uint64_t work_out_share(Id column, Id cell);
    std::uint64_t shares(const std::vector<Id>& cells);
    unsigned owner(std::uint64_t shares) const {
        return static_cast<unsigned>((mix(shares) >> 32) * options_.workers >> 32);
    }
    void expand(const Range& one);
    void flush();
    void send(unsigned to, const Word* packed, const Worker::Waiting& state, Id watched);
    bool insert(const Word* packed, std::uint64_t hash, bool observed, double orbit, std::uint64_t& known);
    void settle();
    void widen();
    void grow();
    void look();
    void judge(std::vector<Unchecked>& unchecked);
    void check(const std::vector<Id>& cells, std::uint64_t length);
    void check_stuck(const std::vector<Id>& cells, std::uint64_t length);
    Witness witness(Finding finding, std::size_t property, const std::vector<Id>& cells, std::uint64_t length) const;
    void offer(Witness witness, bool counts = true);
    Word* sent_place(std::uint64_t hash) { return sent_.data() + (hash & sent_mask_) * sent_width_; }
    bool in_next_level(std::uint64_t number) const { return store_.position_of(number) >= levels_.back(); }
    // Runs what may run out of memory, or be asked to stop, or have to start over.
    template <typename Work>
    void guarded(Work work);

    Tables& tables_;
    std::vector<Property>& properties_;
    Oracle& oracle_;
    Symmetry* const symmetry_;
    const std::optional<PartialOrders> partial_orders_;
    const ShardOptions options_;
    Judge judge_;
    Watch watch_;
    Store store_;
    Worker mine_;
    std::vector<unsigned> owners_{};  // of the waiting successors
    std::vector<Outbox> outboxes_{};  // one more than there are workers, for what is saved
    std::vector<Inlet> inlets_{};
    std::vector<std::vector<Batch>> full_{};  // batches that had to be closed before they were asked for
    std::vector<std::vector<std::uint64_t>> shares_{};
    std::vector<Word> sent_{};  // the states sent last, by hash; the first word of each says that there is one
    std::size_t sent_mask_ = 0, sent_width_ = 0;
    std::vector<Word> arriving_{};
    std::vector<Range> work_{};
    std::vector<std::uint64_t> levels_{0};  // where each begins in the store
    std::uint64_t depth_ = 0;
    std::vector<bool> reached_{};
    Stop stop_ = Stop::finished;
    bool widen_ = false;
};

}  // namespace quorate

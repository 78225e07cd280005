// Level by level, on any number of threads, with the same result for each: a level is finished before the next one
// begins, also when it holds a violation, and of several violations the one that ranks first by content is reported.
//
// A state whose steps need a fact that only the oracle knows is put aside. When the threads have run out of work, the
// oracle answers all open questions at once and the states put aside are expanded again. The same pause serves to grow
// the index, to widen the packed form, to save the search (checkpoint.hpp), and to take processes apart that turn out
// to have too many cells (model/hubs.hpp).
//
// The class is one; its parts are the levels (breadth_first.cpp), a round on all threads (rounds.cpp), what is found
// (verdicts.cpp), runs that have to be searched for again (again.cpp), saving (saving.cpp), and processes that are
// taken apart (apart.cpp).
#pragma once

#include "base/thresholds.hpp"
#include "search/checkpoint.hpp"
#include "search/crew.hpp"
#include "search/judge.hpp"
#include "search/worker.hpp"

namespace quorate {

class BreadthFirst {
public:
    BreadthFirst(Tables& tables, std::vector<Property>& properties, Oracle& oracle, const SearchOptions& options);
    SearchResult run();

private:
    // --- the levels, on the calling thread ---

    void search(Crew& crew);

    // All states that are left of a level wait, if there are any, for what lies outside of the universe.
    void extend_universe(bool wait);

    // Expands what is left of a level, and does what is due at its end.
    void go_on(Crew& crew, std::vector<Range> ranges);

    // --- saving, and going on from what was saved ---

    bool due() const { return options_.checkpoints != nullptr && Clock::now() >= next_save_; }
    // A search spends no more than a twentieth of its time on being saved, however slow the disk is, unless it is to be
    // saved more often than once a second.
    void put_off_saving(Clock::duration took);

    void save(const std::vector<Range>& again);

    // The states become those of the first thread. Returns those that are still to be expanded.
    std::vector<Range> restore(const SearchState& from);
    void restore(const SavedStates& saved);
    // How many faults there were on the way is not saved: its state knows.
    Witness restored(Witness one) const;
    // Damaged if these are no cells of a state.
    void require(const std::vector<Id>& cells) const;

    // Whether partial orders save few states: as many steps as they leave out, the same states may be reached by
    // others. That is tried out. A search without them, to the same depth, is cheap beside what they cost; it is done
    // whenever there are twice as many states, and not at all once they have shown their worth.
    bool saves_little();

    // Whether partial orders leave out so few steps that looking for them takes longer than it saves. Decided at the
    // end of a level from all states so far, so that it is the same for any number of threads. To take all steps of a
    // state is always sound.
    bool not_worth_it() const;

    void insert_initial(std::vector<Id> cells);

    // After a round: answers, growth, verdicts. Returns the work that was put aside.
    std::vector<Range> settle();

    bool too_many_steps() const {
        const std::size_t bytes = step_bytes(tables_, hubs_.get());
        return bytes > tables_.most_step_bytes && bytes > store_.bytes();
    }

    // --- processes with too many cells ---

    // A process is taken apart if it has nearly as many cells as there are states, and needs far fewer numbers then.
    // Looked at while all threads rest, and again whenever it has twice as many cells. No answer depends on it.
    void take_apart();
    bool too_many_cells() const;
    void convert(std::unique_ptr<Hubs> next);
    std::size_t width() const { return store_.layout().width(); }
    std::uint64_t content(const std::vector<Id>& cells) const { return content_of(tables_, hubs_.get(), cells); }

    void grow();
    // Is there memory to pack the states anew? Otherwise the search stops.
    bool may_widen();

    void judge();
    // False if the search stops before it is judged.
    bool judge(const Unchecked& one);

    void merge_goals(Worker& worker);

    std::vector<std::uint64_t> counts() const;
    std::uint64_t transitions() const;
    std::uint64_t next_level() const;

    std::vector<std::uint64_t> level_starts() const;

    Progress progress() const;
    // What is newly broken is told at once: the model's code may never come back from the next question.
    void look();
    // Has something been violated, that is not void?
    bool has_broken() const;
    void note_broken(const Witness& witness);
    void keep_resting(Worker& worker);
    void halt(Stop why) {
        Stop running = Stop::finished;
        stop_.compare_exchange_strong(running, why);
        pause_ = true;
    }

    // --- rounds of parallel work ---

    void work(Crew& crew, std::vector<Range> ranges);

    void process(Worker& worker);
    // The states from number `begin` to `end` of this round's work.
    void process(Worker& worker, std::uint64_t begin, std::uint64_t end);

    void expand(Worker& worker, const Range& one);

    void flush(Worker& worker);
    bool in_next_level(std::uint64_t number) const {
        return store_.position_of(number) >= levels_.back()[store_.thread_of(number)];
    }

    // --- verdicts ---

    // What is not known yet is put aside: the oracle is asked while all threads rest.
    static constexpr auto later = [](std::size_t) { return Verdict::unknown; };

    void check(Worker& worker, const std::vector<Id>& cells, std::uint64_t length);
    bool reached(std::size_t property) const;
    void check_stuck(Worker& worker, const std::vector<Id>& cells, std::uint64_t length);
    Witness witness(Finding finding, std::size_t property, const std::vector<Id>& cells, std::uint64_t length) const;
    void offer(Worker& worker, Witness witness, bool counts = true);

    // A state that a step reaches without changing what properties read is not judged again, so the states in which a
    // property is violated are counted here. All answers are known by now, unless the search has gone on from what was
    // saved: what properties say of renamed states is not part of that. Where the user does not wait for the end of it,
    // the search is one that was stopped, and the counts are of the states that were looked at.
    void count_violations();

    SearchResult report();

    // --- with fingerprints ---

    // The runs to these, which must all be of one search. False: one of them was not found.
    bool find_again(const std::vector<Witness*>& witnesses);
    // Without fingerprints, no deeper than this: a search that needs more memory, and misses nothing.
    SearchResult exactly(std::uint64_t depth);
    double miss() const;
    // What was expanded is forgotten, but for what is to be expanded again.
    void forget_expanded(const std::vector<Range>& again);
    // Where a run is searched for again, levels are kept as long as there is room: the oldest are forgotten first.
    void forget_levels();
    bool forget_oldest();

    static constexpr std::uint64_t batch = 64;
    // No search of so many states takes long, and a few say little about the others.
    const std::uint64_t few_states = thresholds.few_states;
    const std::size_t portion = thresholds.portion, most_waiting = thresholds.most_waiting;

    Tables& tables_;
    std::vector<Property>& properties_;
    Oracle& oracle_;
    const SearchOptions& options_;
    Judge judge_;
    Watch watch_;
    std::size_t memory_before_;
    Store store_;
    std::vector<std::unique_ptr<Worker>> workers_{};
    std::vector<std::vector<std::uint64_t>> levels_{};  // per level and thread, where it begins in the store
    std::uint64_t depth_ = 0, given_up_ = 0;
    std::uint64_t next_trial_ = thresholds.few_states;  // with how many states to see what partial orders save
    std::uint64_t void_from_ = 0;  // how many states there were when the search had left the optimistic universe
    std::uint64_t remaining_ = 0;  // states of this level that are still to be expanded
    std::optional<Witness> violation_{};
    std::vector<Witness> goals_{};
    std::vector<Violations> violations_{};
    std::atomic<Stop> stop_{Stop::finished};
    // What was offered by any thread: by property, and last a deadlock; and a failure.
    std::vector<std::atomic<bool>> broken_;
    std::atomic<Id> failed_{none};
    std::atomic<bool> news_{false};  // something new is broken, and that was not told yet

    Sequence sequence_;
    std::uint64_t saved_ = 0;  // states of the sequence
    Clock::time_point next_save_{};
    bool over_ = false;  // it has left the universe, and what else lies outside is known
    std::vector<Unchecked> unchecked_{};

    std::vector<Range> work_{}, left_over_{};
    std::vector<std::uint64_t> starts_{};  // of each range, counted through the round's work
    std::uint64_t total_ = 0;
    std::atomic<std::uint64_t> cursor_{0};
    std::atomic<bool> pause_{false}, widen_{false};

    bool keeps_levels_ = false;
    std::uint64_t oldest_ = 0;  // level that is kept

    // Whether a universe that turns out too small may be extended: where a state is represented, and which of its steps
    // are taken, must not depend on what else belongs to it.
    const bool may_extend_;
    const bool may_take_apart_;
    std::unique_ptr<Hubs> hubs_{};
    std::uint64_t observations_ = 0;
    std::vector<std::size_t> next_look_{};  // per process: with how many cells to see whether to take it apart
};

}  // namespace quorate

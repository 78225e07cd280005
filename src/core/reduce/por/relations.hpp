// Who can disturb whom, read off the closure: what partial-order reduction needs to know about steps.
//
// An instance is what a transition does to a local state with one set of messages; a label is a set of instances that a
// stubborn set holds or leaves out together. Labels are what transition refinement makes finer: one for each
// transition, or one for each set of senders it can consume from. What the environment may do to a process (lose a
// message, crash it) has labels of its own.
//
// Two instances of one process are independent only if they commute as a whole diamond in the closure (design rule 3).
// Instances of different processes meet in inboxes, monitors and budgets only; what can go wrong there is listed where
// stubborn sets are closed (stubborn.hpp).
#pragma once

#include <array>
#include <map>
#include <unordered_map>

#include "analysis/closure.hpp"
#include "base/bits.hpp"

namespace quorate {

// Which properties the reduced search has to keep: deadlocks, what is reachable, LTL without next, CTL* without next.
// The last two are for depth-first search, which sees when it closes a cycle.
enum class Keep : std::uint8_t { deadlocks, safety, linear, branching };

struct PorOptions {
    bool necessary = true;    // of the ways to keep a step disabled one is chosen (NET); otherwise all are taken
    bool conditional = true;  // what a process may still do starts at its present local state, otherwise at any
    bool smallest = true;     // try every step as a start and keep the smallest set, otherwise the first
    bool commuting = true;    // steps of one process may be independent; otherwise they never are
    bool key = true;          // one step of the set must stay possible, not all of them (weak stubborn sets)
    bool twins = true;        // a step may stand for others that do the same with other messages
    bool split_quorums = false, split_replies = false;
    Keep keep = Keep::safety;
};

// A set of labels of one column.
class Labels {
public:
    Labels() = default;
    explicit Labels(std::vector<std::uint64_t> words) : words_(std::move(words)) { trim(); }
    bool has(Id label) const { return label / 64 < words_.size() && (words_[label / 64] >> (label % 64) & 1); }
    void add(Id label) {
        if (label / 64 >= words_.size()) words_.resize(label / 64 + 1);
        words_[label / 64] |= std::uint64_t{1} << (label % 64);
    }
    bool add(const Labels& other) {
        if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
        bool more = false;
        for (std::size_t i = 0; i < other.words_.size(); ++i) {
            more |= (other.words_[i] & ~words_[i]) != 0;
            words_[i] |= other.words_[i];
        }
        return more;
    }
    void remove(const Labels& other) {
        for (std::size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i) words_[i] &= ~other.words_[i];
        trim();
    }
    bool within(const Labels& other) const {
        for (std::size_t i = 0; i < words_.size(); ++i)
            if (words_[i] & ~(i < other.words_.size() ? other.words_[i] : 0)) return false;
        return true;
    }
    bool empty() const {
        return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
    }
    std::uint64_t word(std::size_t i) const { return i < words_.size() ? words_[i] : 0; }
    auto operator<=>(const Labels&) const = default;
    void write(std::vector<Id>& numbers) const {
        for (const std::uint64_t word : words_) {
            numbers.push_back(static_cast<Id>(word));
            numbers.push_back(static_cast<Id>(word >> 32));
        }
    }

private:
    // So that equal sets are equal.
    void trim() {
        while (!words_.empty() && words_.back() == 0) words_.pop_back();
    }
    std::vector<std::uint64_t> words_{};
};

struct Instance {
    Id tag = none;  // the number of this transition with this set of messages, the same in every local state
    Id label = none;
    bool stays = false;    // what it takes is not removed
    bool fragile = false;  // it may fail, be cut or crash the process: nothing of this process commutes with it
    bool visible = false;
    bool greedy = false;  // a maximal set: one more message may disable it
    Budget budget = Budget::free;
    Id set = none;
    Id deed = none;  // what it does: the same number, the same ends and sends; none if that cannot be relied on
    struct End {
        Id to;
        std::vector<Send> sends;
    };
    std::vector<End> ends{};
};

// What a process may do from a local state on while it takes no step with a label of a given set.
struct May {
    std::vector<Id> locals{};    // where it may get, as far as messages are not asked for
    std::vector<Labels> ways{};  // per such local state: the labels of the first steps of all ways that lead there
    std::vector<std::uint64_t> sends{};  // by receiver and message
    // The labels for a message or bit. Sets of labels are numbered, process by process.
    struct Listed {
        std::size_t at = 0;
        Labels labels{};
        Id number = none;
    };
    using Index = std::vector<Listed>;
    Index senders{};           // the same with the labels, sorted
    Index takers{}, greedy{};  // own messages with labels that remove them, or that they may disable
    std::vector<std::tuple<Id, Id, Id>> events{};  // monitor, event, label
    Labels visible{};
    std::array<Labels, budgets> draws{};
    std::vector<std::uint64_t> inside{};  // the tags that have a label of the set, and a budget left
    static const Listed& find(const Index& index, std::size_t at) {
        static const Listed nothing;
        const auto place = std::lower_bound(index.begin(), index.end(), at,
                                            [](const Listed& entry, std::size_t wanted) { return entry.at < wanted; });
        return place == index.end() || place->at != at ? nothing : *place;
    }
};

// A cell, what is left of its budgets, and labels: for these there is a footprint.
struct FootprintOf {
    Id cell = none;
    unsigned spent = 0;
    Labels labels{};
    Id key = none;   // the tag of the step that must stay possible
    Labels alike{};  // tags of steps that the key stands for, or that never come about
};

// What a cell's steps with given labels depend on. More labels than were asked for, if others must come along.
struct Footprint : FootprintOf {
    // Either one of the messages that are missing does not come, or the way there is in the set.
    struct Clause {
        Labels way{};      // empty: there is no such way
        Id number = none;  // of these labels
    };
    // These labels may stay out as long as nobody asks for what they send: the set makes up for their steps.
    struct Pardon {
        Labels label;
        std::vector<Send> sends;
    };
    std::vector<Pardon> pardons{};
    std::uint64_t serial = 0;
    Id column = none;
    Id enabled = 0;             // possible steps with these labels
    Id all = 0;                 // possible steps of the cell
    std::vector<char> steps{};  // which of the cell's steps these are
    bool visible = false;
    unsigned draws = 0;          // budgets, a bit each
    std::vector<Id> consumed{};  // messages that a possible step takes away, where another copy would matter
    std::vector<Send> sends{};   // of possible steps, to processes
    std::vector<Send> events{};  // of possible steps
    // Made when they are first asked for, which is seldom: most footprints only show that a set gets too large.
    mutable std::vector<Clause> clauses{};
    mutable std::vector<std::uint64_t> missing{};  // messages of the process, a bit each, clause after clause
    mutable std::atomic<bool> listed = false;
    const May* outside = nullptr;
    bool single = true;  // of one possible step at most, with one outcome
    // The footprint of no label, which alone has the rest: what is the same for all footprints of the cell.
    const Footprint* root = nullptr;
    std::vector<Id> tags{};              // of each step; none where nothing is left of its budget
    std::vector<Id> seeds{};             // tags of possible steps of the protocol
    Labels ready{};                      // tags of possible steps
    std::vector<std::uint64_t> there{};  // the messages that are pending, a bit each
    std::vector<std::uint64_t> used{};   // the messages that the process may ever use from here on
    bool silent = true;                  // it sends nothing from here on
};

class Relations {
public:
    // The closure must be complete. Observations must be set.
    Relations(Tables& tables, const Closure& closure, PorOptions options);

    // Why the relations do not hold for this system; empty if they do.
    static std::string unsupported(const Tables& tables, const Closure& closure, Keep keep);

    const PorOptions options;
    // Linear and branching time need strong sets: D3 of Valmari 1998, theorem 10 of the thesis.
    bool weak() const { return options.key && options.keep <= Keep::safety; }
    // Must steps that are left out again and again be taken some time? Not if no run comes back to a state it has been
    // in, and not for deadlocks alone.
    const bool proviso;

    // The footprint of no label, and that of more labels. `spent` has a bit for each budget of which nothing is left.
    const Footprint& root(Id column, Id cell, const StepList& steps, unsigned spent);
    const Footprint& grow(const Footprint& from, const Labels& more);
    const std::vector<Footprint::Clause>& clauses(const Footprint& footprint);
    // The footprint of a key alone. `sendable` has a bit for each message that may still be sent to the process.
    const Footprint& start(const Footprint& root, Id key, std::span<const std::uint64_t> sendable);
    // What the process may still send, as bits of `May::sends`, if it ever gets these messages alone.
    struct Sent {
        std::size_t word;
        std::uint64_t bits;
    };
    const std::vector<Sent>& forward(const Footprint& root, std::span<const std::uint64_t> messages);
    std::size_t words() const { return words_; }
    // The receiver that a word of `May::sends` belongs to.
    Id receiver(std::size_t word) const { return receivers_[word]; }
    // Where the bits of a receiver's messages lie in `May::sends`, in words.
    std::pair<std::size_t, std::size_t> range(Id receiver) const { return {first_[receiver] / 64, sizes_[receiver]}; }
    Id label(Id column, Id tag) const { return tags_[column][tag]; }

    std::size_t bit(Id receiver, Id message) const { return first_[receiver] + message; }
    static bool may_send(const May& may, std::size_t bit) { return has_bit(may.sends, bit); }
    // The processes that ever send a message to a receiver.
    const std::vector<Id>& emitters(std::size_t bit) const { return emitters_[bit]; }
    // The processes that ever send anything to a receiver.
    const std::vector<Id>& sources(Id receiver) const { return sources_[receiver]; }
    Id tag(const Column& column, const Step& step) const;
    bool events_commute(Id monitor, Id a, Id b) const;

    // What the transitions of a process are split into: transition, set of messages, label.
    std::vector<std::tuple<Id, std::vector<Id>, Id>> parts(Id column) const;

private:
    using Words = std::vector<std::uint64_t>;
    static bool may_cycle(const Tables& tables, const Closure& closure);
    static bool may_fail(const Tables& tables, const Closure& closure);
    static bool needs_proviso(const Tables& tables, const Closure& closure, const PorOptions& options);
    void list_instances(const Closure& closure, Column& column);
    void list_environment(Column& column, Id local, std::vector<Instance>& list);
    void find_labels(const Closure& closure, Column& column);
    void find_events();
    Id tag(Column& column, Id transition, Id set);
    bool inside(const Column& column, Id local) const { return closure_.holds(column, column.locals[local]); }
    Id representative(const Column& column, Id local) const;
    Instance make(Column& column, Id local, Id transition, Id set, std::vector<Instance::End> ends);

    const Instance* find(Id column, Id local, Id tag) const;
    // A step of the set and those of another label, which is not in it.
    struct Pair {
        bool matters = false;         // the order does, with one of them at least
        std::vector<Send> pardons{};  // what those send that the step makes up for
        bool pardoned = false;        // there are any
    };
    const Pair& meet(const Column& column, Id local, Id tag, Id label, bool lasting);
    bool absorbs(const Column& column, Id tag, const Instance* step, const Instance& other, bool lasting) const;
    bool diamond(const Column& column, Id tag, const Instance* step, const Instance& other, bool lasting) const;
    static bool gone(Budget budget, unsigned spent) {
        return budget != Budget::free && (spent >> static_cast<unsigned>(budget) & 1);
    }
    // What counts of the instances of a local state, for most questions.
    struct Outline {
        // All of one label.
        struct Group {
            Budget budget = Budget::free;
            bool removes = false;  // messages
            std::vector<Id> instances{};
        };
        std::map<Id, Group> groups{};
        Words tags{};  // a bit each
        // All that do the same, and one of them.
        struct Same {
            Words tags{};
            Id instance = none;
        };
        std::vector<Same> deeds{};
        std::vector<Id> unlike{};                    // instances whose deeds are like no other's
        std::vector<std::pair<Id, Labels>> moves{};  // by the next local state
        std::vector<std::pair<std::size_t, Labels>> senders{}, takers{}, greedy{};  // as in May
        std::vector<std::tuple<Id, Id, Id>> events{};
        Labels visible{};
        std::array<Labels, budgets> draws{};
    };
    Outline outline(const Column& column, const std::vector<Instance>& list) const;
    void reach(Id column, Id local, const Labels& without, May& found) const;
    const May& may(Id column, Id local, const Labels& labels, unsigned spent);
    Id number(Id column, const Labels& labels);
    const Footprint& known(Column& column, const FootprintOf& wanted, const Footprint* root, const StepList& steps);
    std::unique_ptr<Footprint> build(Column& column, const FootprintOf& wanted, const Footprint* root,
                                     const StepList& steps);
    void look_at(Column& column, const StepList& steps, Footprint& root);
    bool complete(const Column& column, const May& found, Footprint& footprint);
    struct Twins {
        std::vector<Id> kind{};                // of each tag, if it has one
        std::vector<Words> tags{};             // of each kind
        std::vector<std::vector<Id>> alike{};  // the kinds that a kind stands for
        std::span<const Id> alike_to(Id tag) const {
            return kind[tag] == none ? std::span<const Id>() : alike[kind[tag]];
        }
    };
    const Twins& twins(const Column& column, Id local);
    Labels alike(const Column& column, const Footprint& root, Id key, std::span<const std::uint64_t> sendable);
    const Words& live(const Column& column, Id local);
    // What a process can consume from a local state on.
    struct Uses {
        Words tags{};
        std::vector<Words> sets{};
        Words all{};
        std::vector<Words> holding{};  // by message: the sets that hold it
        const Words& of(std::size_t word, std::uint64_t bits) const { return holding[lowest(word, bits)]; }
    };
    const Uses& uses(const Column& column, Id local);
    // The tags that need a message which is not among these.
    Words needing_others(Id column, std::span<const std::uint64_t> messages) const;
    void list_clauses(const Column& column, const Footprint& footprint);

    Tables& tables_;
    const Closure& closure_;
    std::vector<std::size_t> first_{}, sizes_{};  // a search may add messages, outside of an optimistic universe
    std::size_t words_ = 0;
    std::vector<Id> receivers_{};
    std::vector<std::vector<Id>> emitters_{}, sources_{};

    // Per column.
    std::vector<Id> nothing_{};                   // the empty set of messages
    std::vector<FlatMap<Id>> tag_of_{};           // transition << 32 | set
    std::vector<std::vector<Id>> transitions_{};  // the transition of each tag
    std::vector<std::vector<Id>> sets_{};         // the set of each tag
    std::vector<Words> set_bits_{};               // the same as bits, tag after tag
    std::vector<std::vector<Id>> tags_{};         // the label of each tag
    std::vector<std::size_t> label_count_{};
    std::vector<std::vector<std::vector<Instance>>> instances_{};  // by local state, sorted by tag
    std::vector<std::vector<Outline>> outlines_{};                 // by local state
    std::vector<std::vector<Words>> needing_{};                    // by message: the tags that need it, a bit each
    std::vector<std::vector<Words>> labelled_{};                   // by label: its tags
    std::vector<char> commuting_{};
    std::vector<std::vector<std::array<FlatMap<Pair>, 2>>> pairs_{};  // by local state and lasting or not; tag, label
    std::vector<std::map<std::tuple<Id, unsigned, Labels>, std::unique_ptr<May>>> may_{};
    using Known = Segmented<std::atomic<const Footprint*>>;
    std::vector<std::array<std::unique_ptr<Known>, 8>> roots_{};
    struct Owned {
        Interner contents{};
        std::vector<std::unique_ptr<Footprint>> footprints{};
    };
    std::vector<std::unique_ptr<Owned>> owned_{};
    std::vector<std::map<Labels, Id>> numbers_{};
    std::vector<std::map<std::pair<Id, Words>, std::vector<Sent>>> forward_{};  // by local state and messages it gets
    std::vector<std::map<Id, Twins>> twins_{};                                  // by local state
    std::vector<std::map<Id, Uses>> uses_{};                                    // by local state
    std::vector<std::unordered_map<Id, Words>> live_{};
    std::vector<std::uint64_t> serials_{};
    // Per monitor column: which pairs of events commute, and which events a property may see.
    std::vector<std::vector<char>> commuting_events_{}, visible_events_{};
};

}  // namespace quorate

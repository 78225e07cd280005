// The steps that the closure holds, numbered process by process: what all relations between steps are read off.
//
// An instance is what a transition does to a local state with one set of messages. Its tag is the number of the
// transition with this set, the same in every local state. A label is a set of tags that a stubborn set holds or leaves
// out together. Labels are what transition refinement makes finer: one for each transition, or one for each set of
// senders it can consume from. What the environment may do to a process (lose a message, crash it) has labels of its
// own.
#pragma once

#include <array>
#include <map>

#include "analysis/closure.hpp"
#include "reduce/por/events.hpp"
#include "reduce/por/labels.hpp"
#include "reduce/por/message_space.hpp"
#include "reduce/por/options.hpp"

namespace quorate {

struct Instance {
    Id tag = none;
    Id label = none;
    bool stays = false;    // what it takes is not removed
    bool fragile = false;  // it may fail, be cut or crash the process: nothing of this process commutes with it
    bool visible = false;
    bool maximal = false;  // a maximal set: one more message may disable it
    Budget budget = Budget::free;
    Id set = none;
    Id effect = none;  // what it does: the same number, the same ends and sends; none if that cannot be relied on
    struct End {
        Id to;
        std::vector<Send> sends;
    };
    std::vector<End> ends{};
};

// What counts of the instances of a local state, for most questions: of many steps that differ in their messages alone
// it is the same.
struct LocalSummary {
    // All of one label.
    struct Group {
        Budget budget = Budget::free;
        bool removes = false;  // messages
        std::vector<Id> instances{};
    };
    std::map<Id, Group> groups{};
    Words tags{};  // a bit each
    // All that have the same effect, and one of them.
    struct Same {
        Words tags{};
        Id instance = none;
    };
    std::vector<Same> same{};
    std::vector<Id> unlike{};                    // instances whose effects are like no other's
    std::vector<std::pair<Id, Labels>> moves{};  // by the next local state
    // By message: the labels that send it; of its own messages, the labels that remove one, or that one may disable.
    std::vector<std::pair<std::size_t, Labels>> senders{}, takers{}, disabled{};
    std::vector<std::tuple<Id, Id, Id>> events{};  // monitor, event, label
    Labels visible{};
    std::array<Labels, budgets> draws{};
};

// All that is known of one process.
struct ProcessSteps {
    struct Tag {
        Id transition, set, label = none;
    };
    Id nothing = none;     // the empty set of messages
    FlatMap<Id> tag_of{};  // transition << 32 | set
    std::vector<Tag> tags{};
    std::size_t labels = 0;
    std::size_t message_words = 0;
    Words consumed{};                                // the messages of each tag as bits, tag after tag
    std::vector<std::vector<Instance>> instances{};  // by local state, sorted by tag
    std::vector<LocalSummary> summaries{};           // by local state
    std::vector<Words> needing{};                    // by message: the tags that need it, a bit each
    std::vector<Words> labelled{};                   // by label: its tags
    bool commuting = false;                          // steps of this process may be independent

    std::size_t tag_words() const { return tags.size() / 64 + 1; }
    const std::uint64_t* messages(Id tag) const { return consumed.data() + tag * message_words; }
    const Instance* find(Id local, Id tag) const {
        const auto& list = instances[local];
        const auto place = std::lower_bound(list.begin(), list.end(), tag,
                                            [](const Instance& instance, Id wanted) { return instance.tag < wanted; });
        return place == list.end() || place->tag != tag ? nullptr : &*place;
    }
    // The tags that need a message which is not among these.
    Words needing_others(Bits messages) const {
        Words result(tag_words());
        for (std::size_t message = 0; message < needing.size(); ++message)
            if (!has_bit(messages, message)) unite(result, needing[message]);
        return result;
    }
};

class Instances {
public:
    // The closure must be complete. Observations must be set.
    Instances(Tables& tables, const Closure& closure, const PorOptions& options);

    Tables& tables;
    const Closure& closure;
    const PorOptions options;
    const MonitorEvents events;
    MessageSpace space;

    const ProcessSteps& of(Id column) const { return processes_[column]; }
    const ProcessSteps& of(const Column& column) const { return processes_[column.index]; }
    // The tag of a step that is possible.
    Id tag(const Column& column, const Step& step) const;
    // Does the closure, or the universe, hold this local state?
    bool inside(const Column& column, Id local) const { return closure.holds(column, column.locals[local]); }
    // What the transitions of a process are split into: transition, set of messages, label.
    std::vector<std::tuple<Id, std::vector<Id>, Id>> parts(Id column) const;

private:
    void index(const Column& column, ProcessSteps& steps);

    std::vector<ProcessSteps> processes_;  // by column
};

}  // namespace quorate

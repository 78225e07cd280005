// What a process may do from a local state on while it takes no step with a label of a given set; and what it may send
// if it gets certain messages alone.
#pragma once

#include "reduce/por/instances.hpp"

namespace quorate {

struct Future {
    std::vector<Id> locals{};    // where it may get, as far as messages are not asked for
    std::vector<Labels> ways{};  // per such local state: the labels of the first steps of all ways that lead there
    Words sends{};               // bits of the message space
    // The labels for a message or bit. Sets of labels are numbered, process by process.
    struct Listed {
        std::size_t at = 0;
        Labels labels{};
        Id number = none;
    };
    using Index = std::vector<Listed>;
    Index senders{};             // the same as `sends` with the labels, sorted
    Index takers{}, disabled{};  // own messages with labels that remove them, or that they may disable
    std::vector<std::tuple<Id, Id, Id>> events{};  // monitor, event, label
    Labels visible{};
    std::array<Labels, budgets> draws{};
    Words inside{};  // the tags that have a label of the set, and a budget left

    bool may_send(std::size_t bit) const { return has_bit(sends, bit); }
    static const Listed& find(const Index& index, std::size_t at) {
        static const Listed nothing;
        const auto place = std::lower_bound(index.begin(), index.end(), at,
                                            [](const Listed& entry, std::size_t wanted) { return entry.at < wanted; });
        return place == index.end() || place->at != at ? nothing : *place;
    }
};

class Futures {
public:
    explicit Futures(const Instances& instances) : instances_(instances), columns_(instances.tables.columns.size()) {}

    // `spent` has a bit for each budget of which nothing is left. Take the column's lock first.
    const Future& without(Id column, Id local, const Labels& labels, unsigned spent);
    // Numbers sets of labels of a process.
    Id number(Id column, const Labels& labels);

    // What the process may still send, as bits of the message space, if it ever gets these messages alone.
    struct Sent {
        std::size_t word;
        std::uint64_t bits;
    };
    const std::vector<Sent>& forward(Id column, Id local, Bits messages);

private:
    void reach(const ProcessSteps& steps, Id local, const Labels& without, Future& found) const;

    struct Known {
        std::map<std::tuple<Id, unsigned, Labels>, std::unique_ptr<Future>> futures{};
        std::map<Labels, Id> numbers{};
        std::map<std::pair<Id, Words>, std::vector<Sent>> forward{};  // by local state and messages it gets
    };
    const Instances& instances_;
    std::vector<Known> columns_;
};

}  // namespace quorate

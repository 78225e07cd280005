#include "model/consume.hpp"

#include <map>

namespace quorate {

namespace {

struct Candidates {
    std::vector<std::vector<Id>> by_sender{};  // the messages of each sender that fit together

    std::size_t senders() const { return by_sender.size(); }
};

// What is known, if a search may use it.
template <typename V>
const V* fact(const FlatMap<V>& facts, const Column& column, Scope scope, Query::Kind kind, std::uint64_t key) {
    return scope == Scope::closure || column.usable(kind, key) ? facts.find(key) : nullptr;
}

class Enumeration {
public:
    Enumeration(Column& column, Scope scope, Id transition, Id local, std::vector<Query>& queries,
                std::vector<Consumption>& found, std::size_t most)
        : column_(column),
          scope_(scope),
          transition_(transition),
          local_(local),
          queries_(queries),
          found_(found),
          left_(most) {}

    // The behaviour on this set, or nothing if it has to be asked for.
    const Behaviour* behaviour(std::vector<Id> set, Id& id) {
        if (left_-- == 0) too_many();
        std::sort(set.begin(), set.end());
        id = column_.sets.intern(set);
        const std::uint64_t key = column_.key(transition_, local_, id);
        if (const auto* known = fact(column_.behaviours, column_, scope_, Query::Kind::fire, key)) return known->get();
        queries_.push_back({Query::Kind::fire, column_.index, transition_, local_, id});
        return nullptr;
    }
    // True if known and enabled.
    bool take(const std::vector<Id>& set) {
        Id id;
        const Behaviour* known = behaviour(set, id);
        if (known == nullptr || known->outcomes.empty()) return false;
        found_.push_back({id, known});
        return true;
    }

    void exact(const Candidates& candidates, std::size_t size) {
        if (size > candidates.senders()) return;
        chosen_.clear();
        exact_from(candidates, 0, size);
    }
    void each(const Candidates& candidates) { exact(candidates, candidates.senders()); }

    void minimal(const Candidates& candidates) {
        struct Partial {
            std::vector<Id> set;
            std::size_t next;
        };
        std::vector<Partial> level{{{}, 0}};
        std::vector<std::vector<Id>> satisfying;
        while (!level.empty()) {
            std::vector<Partial> longer;
            const std::size_t asked = queries_.size();
            for (const Partial& partial : level) {
                for (std::size_t sender = partial.next; sender < candidates.senders(); ++sender) {
                    for (Id message : candidates.by_sender[sender]) {
                        std::vector<Id> set = partial.set;
                        set.push_back(message);
                        if (holds_one_of(set, satisfying)) continue;
                        if (take(set))
                            satisfying.push_back(sorted(set));
                        else
                            longer.push_back({std::move(set), sender + 1});
                    }
                }
            }
            // A longer set is minimal only if no set of this size inside it satisfies: that must be known first.
            if (queries_.size() > asked) return;
            level = std::move(longer);
        }
    }

    void maximal(const Candidates& candidates, bool every_satisfying) {
        std::vector<std::vector<std::vector<Id>>> by_size(candidates.senders() + 1);
        std::size_t total = 1;
        for (const auto& messages : candidates.by_sender) {
            total *= messages.size() + 1;
            if (total > left_) too_many();
        }
        for (std::size_t number = 1; number < total; ++number) {
            std::vector<Id> set;
            std::size_t rest = number;
            for (const auto& messages : candidates.by_sender) {
                const std::size_t digit = rest % (messages.size() + 1);
                rest /= messages.size() + 1;
                if (digit > 0) set.push_back(messages[digit - 1]);
            }
            by_size[set.size()].push_back(sorted(set));
        }
        std::vector<std::vector<Id>> larger;
        for (std::size_t size = by_size.size(); size-- > 1;) {
            const std::size_t asked = queries_.size();
            std::vector<std::vector<Id>> satisfying;
            for (auto& set : by_size[size]) {
                const bool inside = std::any_of(larger.begin(), larger.end(), [&](const auto& other) {
                    return std::includes(other.begin(), other.end(), set.begin(), set.end());
                });
                if (inside && !every_satisfying) continue;
                if (take(set)) satisfying.push_back(set);
            }
            if (queries_.size() > asked && !every_satisfying) return;
            for (auto& set : satisfying) larger.push_back(std::move(set));
        }
    }

private:
    [[noreturn]] static void too_many() {
        throw LimitError(
            "a quorum transition would have to be tried on more than 1,048,576 sets of messages in one local "
            "state; filter its messages with where=, or group them with same=");
    }
    static std::vector<Id> sorted(std::vector<Id> set) {
        std::sort(set.begin(), set.end());
        return set;
    }
    static bool holds_one_of(const std::vector<Id>& set, const std::vector<std::vector<Id>>& others) {
        const std::vector<Id> ordered = sorted(set);
        return std::any_of(others.begin(), others.end(), [&](const auto& other) {
            return std::includes(ordered.begin(), ordered.end(), other.begin(), other.end());
        });
    }
    void exact_from(const Candidates& candidates, std::size_t sender, std::size_t missing) {
        if (missing == 0) {
            take(chosen_);
            return;
        }
        for (; sender + missing <= candidates.senders(); ++sender) {
            for (Id message : candidates.by_sender[sender]) {
                chosen_.push_back(message);
                exact_from(candidates, sender + 1, missing - 1);
                chosen_.pop_back();
            }
        }
    }

    Column& column_;
    const Scope scope_;
    Id transition_, local_;
    std::vector<Query>& queries_;
    std::vector<Consumption>& found_;
    std::vector<Id> chosen_{};
    std::size_t left_;
};

// The pending messages that the transition is offered. In the closure no message stands before another: any of them may
// be a head.
std::vector<Id> visible(Column& column, const Network& network, Scope scope, Id transition, Id local,
                        std::span<const Id> pending, std::vector<Query>& queries) {
    static const Network unordered{};
    const bool in_order = network.ordered() && scope == Scope::cell;
    return offered(
        in_order ? network : unordered, pending, column.sender(), column.stands(),
        [&](Id message) { return column.transitions[transition].takes(column.messages[message].type); },
        [&](Id message) {
            const Taken taken = takes(column, scope, transition, local, message, queries);
            return taken == Taken::yes ? Refuses::no : taken == Taken::no ? Refuses::yes : Refuses::unknown;
        });
}

}  // namespace

Taken takes(Column& column, Scope scope, Id transition, Id local, Id message, std::vector<Query>& queries) {
    if (column.transitions[transition].mode == Mode::single) {
        const Id set = column.sets.intern({&message, 1});
        const std::uint64_t key = column.key(transition, local, set);
        if (const auto* known = fact(column.behaviours, column, scope, Query::Kind::fire, key))
            return (*known)->outcomes.empty() ? Taken::no : Taken::yes;
        queries.push_back({Query::Kind::fire, column.index, transition, local, set});
        return Taken::unknown;
    }
    const std::uint64_t key = column.key(transition, local, message);
    if (const Id* group = fact(column.groups, column, scope, Query::Kind::accept, key))
        return *group == rejected ? Taken::no : Taken::yes;
    queries.push_back({Query::Kind::accept, column.index, transition, local, message});
    return Taken::unknown;
}

void list_consumptions(Column& column, const Network& network, Scope scope, Id transition, Id local,
                       std::span<const Id> pending, std::vector<Query>& queries, std::vector<Consumption>& found,
                       std::size_t most) {
    Enumeration enumeration(column, scope, transition, local, queries, found, most);
    Mode mode = column.transitions[transition].mode;
    if (mode == Mode::spontaneous) {
        enumeration.take({});
        return;
    }
    const std::size_t asked = queries.size();
    const Request* request = nullptr;
    if (mode != Mode::single) {
        const std::uint64_t key = column.key(transition, local, 0);
        request = fact(column.requests, column, scope, Query::Kind::request, key);
        if (request == nullptr)
            queries.push_back({Query::Kind::request, column.index, transition, local, 0});
        else if (!request->enabled)
            return;
    }
    const std::vector<Id> messages = visible(column, network, scope, transition, local, pending, queries);
    if (mode == Mode::single) {
        for (Id message : messages) enumeration.take({message});
        return;
    }
    std::map<Id, std::map<Id, std::vector<Id>>> groups;  // group -> sender -> messages
    for (Id message : messages) {
        const std::uint64_t key = column.key(transition, local, message);
        const Id* group = fact(column.groups, column, scope, Query::Kind::accept, key);
        if (group == nullptr)
            queries.push_back({Query::Kind::accept, column.index, transition, local, message});
        else if (*group != rejected)
            groups[*group][column.messages[message].sender].push_back(message);
    }
    if (queries.size() > asked) return;
    mode = request->mode;
    for (const auto& [group, by_sender] : groups) {
        Candidates candidates;
        if (mode == Mode::each) {
            for (Id sender : request->senders) {
                const auto place = by_sender.find(sender);
                if (place == by_sender.end()) break;
                candidates.by_sender.push_back(place->second);
            }
            if (candidates.senders() == request->senders.size()) enumeration.each(candidates);
            continue;
        }
        for (const auto& [sender, list] : by_sender) candidates.by_sender.push_back(list);
        if (mode == Mode::exact) enumeration.exact(candidates, request->size);
        if (mode == Mode::minimal) enumeration.minimal(candidates);
        if (mode == Mode::maximal) enumeration.maximal(candidates, scope == Scope::closure);
        if (mode == Mode::any) enumeration.maximal(candidates, true);
    }
}

}  // namespace quorate

#include "reduce/por/instances.hpp"

#include <set>

namespace quorate {

namespace {

// The environment's steps, numbered after the transitions of a process.
enum : Id { discards, loses, duplicates, crashes, recovers };

// The number of a step's transition, or of what the environment does.
Id transition_of(const Column& column, const StepIdentity& step) {
    const Id first = static_cast<Id>(column.transitions.size());
    switch (step.kind) {
        case Kind::step:
            return step.transition;
        case Kind::discard:
            return first + discards;
        case Kind::lose:
            return first + loses;
        case Kind::duplicate:
            return first + duplicates;
        case Kind::crash:
            return first + crashes;
        case Kind::recover:
            return first + recovers;
    }
    throw std::logic_error("an unknown kind of step");
}

// Lists the instances of one process.
class Listing {
public:
    Listing(const Instances& all, Column& column, ProcessSteps& steps)
        : all_(all), tables_(all.tables), network_(all.tables.network), column_(column), steps_(steps) {}

    void list() {
        find_labels();
        list_instances();
        for (const auto& list : steps_.instances) steps_.summaries.push_back(summary(list));
    }

private:
    const std::vector<Closure::Enabled>& enabled(Id local) const { return all_.closure.enabled[column_.index][local]; }
    Id tag(Id transition, Id set) {
        const std::uint64_t key = static_cast<std::uint64_t>(transition) << 32 | set;
        if (const Id* known = steps_.tag_of.find(key)) return *known;
        const Id fresh = static_cast<Id>(steps_.tags.size());
        steps_.tag_of.insert(key, fresh);
        steps_.tags.push_back({transition, set});
        return fresh;
    }
    void find_labels();
    void list_instances();
    void list_environment(Id local, std::vector<Instance>& list);
    void list_crashes(Id local, std::vector<Instance>& list);
    Instance make(Id local, Id transition, Id set, std::vector<Instance::End> ends);
    Id effect(const Instance& instance);
    LocalSummary summary(const std::vector<Instance>& list) const;

    const Instances& all_;
    const Tables& tables_;
    const Network& network_;
    Column& column_;
    ProcessSteps& steps_;
    Interner effects_{};
};

// Transition refinement (definitions 12 to 14 of the thesis): the parts a transition is split into, one for each set of
// senders. A reply transition sends to those senders and to nobody else.
void Listing::find_labels() {
    const Id transitions = static_cast<Id>(column_.transitions.size());
    const auto senders = [&](Id set) {
        std::vector<Id> result;
        for (Id message : column_.sets[set]) result.push_back(column_.messages[message].sender);
        std::sort(result.begin(), result.end());
        return result;
    };
    std::vector<char> replies(transitions, true);
    for (const auto& behaviours : all_.closure.enabled[column_.index]) {
        for (const Closure::Enabled& one : behaviours) {
            for (const Outcome& outcome : one.behaviour->outcomes) {
                std::set<Id> receivers;
                for (const Send& send : outcome.sends)
                    if (!tables_.columns[send.column]->monitor) receivers.insert(send.column);
                const std::vector<Id> wanted = senders(one.set);
                const bool same = std::includes(wanted.begin(), wanted.end(), receivers.begin(), receivers.end()) &&
                                  std::includes(receivers.begin(), receivers.end(), wanted.begin(), wanted.end());
                if (outcome.effect == Effect::moves && (wanted.empty() || !same)) replies[one.transition] = false;
            }
        }
    }
    std::map<std::pair<Id, std::vector<Id>>, Id> labels;
    for (Id transition = 0; transition < transitions; ++transition)
        labels.emplace(std::make_pair(transition, std::vector<Id>()), transition);
    for (const auto& behaviours : all_.closure.enabled[column_.index]) {
        for (const Closure::Enabled& one : behaviours) {
            const Mode mode = column_.transitions[one.transition].mode;
            const bool quorum = mode != Mode::spontaneous && mode != Mode::single;
            const bool split =
                replies[one.transition] ? all_.options.split_replies : quorum && all_.options.split_quorums;
            const auto part = std::make_pair(one.transition, split ? senders(one.set) : std::vector<Id>());
            const Id label = labels.emplace(part, static_cast<Id>(labels.size())).first->second;
            steps_.tags[tag(one.transition, one.set)].label = label;
        }
    }
    steps_.labels = labels.size();
}

Instance Listing::make(Id local, Id transition, Id set, std::vector<Instance::End> ends) {
    Instance instance;
    instance.tag = tag(transition, set);
    Id& label = steps_.tags[instance.tag].label;
    if (label == none) label = static_cast<Id>(steps_.labels++);
    instance.label = label;
    instance.set = set;
    for (const Instance::End& end : ends) {
        if (column_.locals[end.to].observation != column_.locals[local].observation) instance.visible = true;
        for (const Send& send : end.sends)
            if (tables_.columns[send.column]->monitor && all_.events.visible(send.column, send.message))
                instance.visible = true;
    }
    instance.ends = std::move(ends);
    return instance;
}

Id Listing::effect(const Instance& instance) {
    std::vector<Id> content{instance.stays};
    bool reliable = !instance.fragile && instance.budget == Budget::free;
    for (const Instance::End& end : instance.ends) {
        reliable &= all_.inside(column_, end.to);
        content.insert(content.end(), {end.to, static_cast<Id>(end.sends.size())});
        for (const Send& send : end.sends) content.insert(content.end(), {send.column, send.message});
    }
    return reliable ? effects_.intern(content) : none;
}

void Listing::list_instances() {
    steps_.instances.resize(column_.locals.size());
    for (Id local = 0; local < column_.locals.size(); ++local) {
        if (tables_.merged(column_, local) != local) continue;
        std::vector<Instance>& list = steps_.instances[local];
        for (const Closure::Enabled& one : enabled(local)) {
            std::vector<Instance::End> ends;
            bool fragile = false;
            for (const Outcome& outcome : one.behaviour->outcomes) {
                fragile |= outcome.effect != Effect::moves;
                if (outcome.effect == Effect::moves)
                    ends.push_back({tables_.merged(column_, outcome.local), outcome.sends});
            }
            const Transition& transition = column_.transitions[one.transition];
            Instance instance = make(local, one.transition, one.set, std::move(ends));
            instance.fragile = fragile;
            instance.stays = transition.keep || network_.duplicates_unlimited;
            instance.maximal = transition.mode == Mode::maximal;
            list.push_back(std::move(instance));
        }
        list_environment(local, list);
        for (Instance& instance : list) instance.effect = effect(instance);
        std::sort(list.begin(), list.end(), [](const Instance& a, const Instance& b) { return a.tag < b.tag; });
    }
}

// What may be done to a process: the steps that `Tables::add_environment` makes, for any inbox.
void Listing::list_environment(Id local, std::vector<Instance>& list) {
    const Id first = static_cast<Id>(column_.transitions.size());
    const Local& state = column_.locals[local];
    std::vector<Query> queries;
    for (Id message = 0; message < column_.messages.size(); ++message) {
        if (column_.messages[message].stands) continue;
        const Id set = column_.sets.intern({&message, 1});
        if (network_.loses() && !column_.input) {
            list.push_back(make(local, first + loses, set, {{local, {}}}));
            list.back().budget = network_.loss();
        }
        if (network_.repeats() && !column_.input) {
            list.push_back(make(local, first + duplicates, set, {{local, {}}}));
            list.back().budget = Budget::duplicates;
        }
        if (!network_.drops_refused() || state.crashed) continue;
        bool wanted = false;
        for (Id transition = 0; transition < column_.transitions.size(); ++transition)
            if (column_.transitions[transition].takes(column_.messages[message].type))
                wanted |= takes(column_, Scope::cell, transition, local, message, queries) != Taken::no;
        if (!wanted) list.push_back(make(local, first + discards, set, {{local, {}}}));
    }
    if (state.recovery != none)
        list.push_back(make(local, first + recovers, steps_.nothing, {{tables_.merged(column_, state.recovery), {}}}));
    if (state.crash != none && network_.crashes()) list_crashes(local, list);
}

// A crash in the midst of a step sends a part of what the step sends; here it counts as all of it.
void Listing::list_crashes(Id local, std::vector<Instance>& list) {
    const Id transition = static_cast<Id>(column_.transitions.size()) + crashes;
    std::map<Id, std::vector<Instance::End>> crashing{
        {steps_.nothing, {{tables_.merged(column_, column_.locals[local].crash), column_.notices}}}};
    for (const Instance& instance : list) {
        if (!network_.crashes_cut_short || instance.set == none) continue;
        for (const Instance::End& end : instance.ends) {
            const Id crashed = column_.locals[end.to].crash;
            if (crashed == none) continue;
            std::vector<Send> sends = end.sends;
            sends.insert(sends.end(), column_.notices.begin(), column_.notices.end());
            crashing[instance.set].push_back({tables_.merged(column_, crashed), std::move(sends)});
        }
    }
    Id label = none;
    for (auto& [set, ends] : crashing) {
        Id& known = steps_.tags[tag(transition, set)].label;
        if (label != none && known == none) known = label;
        Instance instance = make(local, transition, set, std::move(ends));
        label = instance.label;
        instance.fragile = true;
        instance.budget = Budget::crashes;
        list.push_back(std::move(instance));
    }
}

LocalSummary Listing::summary(const std::vector<Instance>& list) const {
    LocalSummary result;
    result.tags.assign(steps_.tag_words(), 0);
    std::map<Id, std::size_t> same;  // by effect
    std::map<std::size_t, Labels> moves, senders, takers, disabled;
    std::map<Id, Labels> maximal;  // by transition
    for (const Instance& instance : list)
        if (instance.maximal) maximal[steps_.tags[instance.tag].transition].add(instance.label);
    for (Id number = 0; number < list.size(); ++number) {
        const Instance& instance = list[number];
        LocalSummary::Group& group = result.groups[instance.label];
        group.budget = instance.budget;
        group.removes |= !instance.stays && !column_.sets[instance.set].empty();
        group.instances.push_back(number);
        set_bit(result.tags, instance.tag);
        if (instance.effect == none) {
            result.unlike.push_back(number);
        } else {
            const auto [place, fresh] = same.emplace(instance.effect, result.same.size());
            if (fresh) result.same.push_back({Words(result.tags.size()), number});
            set_bit(result.same[place->second].tags, instance.tag);
        }
        if (instance.visible) result.visible.add(instance.label);
        if (instance.budget != Budget::free)
            result.draws[static_cast<std::size_t>(instance.budget)].add(instance.label);
        for (const Id message : column_.sets[instance.set]) {
            // One more message may make any other set of the transition a set that is not maximal.
            if (instance.maximal) disabled[message].add(maximal[steps_.tags[instance.tag].transition]);
            if (!instance.stays && !column_.messages[message].stands) takers[message].add(instance.label);
        }
        for (const Instance::End& end : instance.ends) {
            moves[end.to].add(instance.label);
            for (const Send& send : end.sends) {
                if (tables_.columns[send.column]->monitor)
                    result.events.emplace_back(send.column, send.message, instance.label);
                else
                    senders[all_.space.bit(send.column, send.message)].add(instance.label);
            }
        }
    }
    std::sort(result.events.begin(), result.events.end());
    result.events.erase(std::unique(result.events.begin(), result.events.end()), result.events.end());
    result.moves.assign(moves.begin(), moves.end());
    result.senders.assign(senders.begin(), senders.end());
    result.takers.assign(takers.begin(), takers.end());
    result.disabled.assign(disabled.begin(), disabled.end());
    return result;
}

}  // namespace

Instances::Instances(Tables& tables, const Closure& closure, const PorOptions& options)
    : tables(tables),
      closure(closure),
      options(options),
      events(tables),
      space(tables),
      processes_(tables.columns.size()) {
    for (const auto& column : tables.columns) {
        ProcessSteps& steps = processes_[column->index];
        steps.commuting = options.commuting && !tables.network.skips_refused();
        for (const Transition& transition : column->transitions) steps.commuting &= transition.mode != Mode::maximal;
        steps.nothing = column->sets.intern({});
        if (column->monitor) continue;
        Listing(*this, *column, steps).list();
        index(*column, steps);
    }
}

void Instances::index(const Column& column, ProcessSteps& steps) {
    steps.message_words = space.range(column.index).second;
    steps.consumed.resize(steps.tags.size() * steps.message_words);
    steps.needing.resize(steps.message_words * 64);
    steps.labelled.resize(steps.labels);
    const auto note = [&](Words& tags, Id tag) {
        tags.resize(steps.tag_words());
        set_bit(tags, tag);
    };
    for (Id tag = 0; tag < steps.tags.size(); ++tag) {
        for (const Id message : column.sets[steps.tags[tag].set]) {
            set_bit(std::span(steps.consumed).subspan(tag * steps.message_words), message);
            note(steps.needing[message], tag);
        }
        if (const Id label = steps.tags[tag].label; label != none) note(steps.labelled[label], tag);
    }
    std::set<std::size_t> sent;
    for (const auto& list : steps.instances)
        for (const Instance& instance : list)
            for (const Instance::End& end : instance.ends)
                for (const Send& send : end.sends)
                    if (!tables.columns[send.column]->monitor) sent.insert(space.bit(send.column, send.message));
    for (const std::size_t bit : sent) space.add_emitter(column.index, bit);
}

Id Instances::tag(const Column& column, const Step& step) const {
    const ProcessSteps& steps = of(column);
    const Id transition = transition_of(column, StepIdentity::of(column.index, step));
    const Id set = step.set == none ? steps.nothing : step.set;
    const Id* known = steps.tag_of.find(static_cast<std::uint64_t>(transition) << 32 | set);
    if (known == nullptr) throw std::logic_error("a step is possible that the closure does not hold");
    return *known;
}

std::vector<std::tuple<Id, std::vector<Id>, Id>> Instances::parts(Id column) const {
    const Column& owner = *tables.columns[column];
    std::set<std::tuple<Id, std::vector<Id>, Id>> found;
    for (const auto& list : of(column).instances) {
        for (const Instance& instance : list) {
            const auto set = owner.sets[instance.set];
            const Id transition = of(column).tags[instance.tag].transition;
            if (transition < owner.transitions.size())
                found.emplace(transition, std::vector<Id>(set.begin(), set.end()), instance.label);
        }
    }
    return {found.begin(), found.end()};
}

}  // namespace quorate

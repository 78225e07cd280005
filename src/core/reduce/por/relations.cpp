#include "reduce/por/relations.hpp"

#include "reduce/por/proviso.hpp"

namespace quorate {

namespace {

bool cuts(const Closure& closure) {
    for (const auto& column : closure.enabled)
        for (const auto& behaviours : column)
            for (const Closure::Enabled& one : behaviours)
                for (const Outcome& outcome : one.behaviour->outcomes)
                    if (outcome.effect == Effect::cut) return true;
    return false;
}

}  // namespace

Relations::Relations(Tables& tables, const Closure& closure, const PorOptions& options)
    : proviso(needs_proviso(tables, closure, options)), instances(tables, closure, options), footprints(instances) {}

std::string Relations::unsupported(const Tables& tables, const Closure& closure, Keep keep) {
    for (const auto& column : tables.columns)
        if (column->as_is) return "nothing is known of a process that is too large for the optimistic universe";
    for (const auto& column : tables.columns)
        if (column->shared) return "no relation is proven for steps that read and write shared cells";
    const Network& network = tables.network;
    if (tables.bound != nullptr) return "the bound of the whole system may cut one order of steps and not another";
    // Budgets only shrink: what is spent stays spent (future.hpp). How many are down does not.
    if (network.most_down != none) return "no relation is proven where a recovery lets another process crash";
    if (network.crashes_redeliver) return "no relation is proven for messages that a crash leaves pending";
    if (keep > Keep::safety && (tables.has_budget() || network.losses_unlimited))
        return "no relation is proven for whole runs where messages are lost or processes crash";
    if (keep > Keep::safety && cuts(closure)) return "no relation is proven for whole runs that a bound cuts short";
    if (closure.optimistic &&
        (network.bounded() || tables.has_budget() || network.losses_unlimited || network.drops_refused()))
        return "an optimistic universe does not list what the network may do to messages";
    if (network.bounded()) {
        // What is sent can remove what another step takes or only reads, and let through what stood behind it.
        if (network.replaces_when_full())
            return "no relation is proven for channels in which a message replaces another";
        if (network.repeats()) return "no relation is proven for a bounded network that repeats messages";
        if (network.crashes()) return "no relation is proven for crashes on bounded channels";
    }
    std::map<std::pair<Id, Id>, Id> emitters;  // the process that sends into a channel
    for (const auto& column : tables.columns) {
        // With clean channels a message that arrives disables what was enabled before; with unclean ones the relations
        // have not been compared with the full search.
        if (column->input) return "no relation is proven for delivery events";
        for (const auto& behaviours : closure.enabled[column->index])
            for (const Closure::Enabled& one : behaviours)
                for (const Outcome& outcome : one.behaviour->outcomes)
                    for (const Send& send : outcome.sends) {
                        const Column& receiver = *tables.columns[send.column];
                        if (receiver.monitor || !network.sends_conflict()) continue;
                        const auto channel = std::make_pair(send.column, receiver.messages[send.message].sender);
                        if (emitters.emplace(channel, column->index).first->second != column->index)
                            return "two processes send into one channel, whose order or room counts";
                    }
    }
    return {};
}

}  // namespace quorate

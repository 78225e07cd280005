#include "reduce/por/flows.hpp"

namespace quorate {

std::string Flows::unsupported(const Tables& tables) {
    const Network& network = tables.network;
    if (tables.bound != nullptr) return "nothing is proven for a bound of the whole system then";
    if (network.bounded()) return "nothing is proven for bounded channels then";
    if (tables.has_budget() || network.losses_unlimited || network.drops_refused() || network.crashes())
        return "nothing is proven for crashes, or for messages that are lost, repeated or dropped, then";
    for (const auto& column : tables.columns)
        if (column->shared) return "nothing is proven for shared cells then";
    for (const auto& column : tables.columns)
        if (column->input) return "nothing is proven for delivery events then";
    return {};
}

bool Flows::takes(const Column& receiver, Id type) {
    return std::any_of(receiver.transitions.begin(), receiver.transitions.end(),
                       [&](const Transition& transition) { return transition.takes(type); });
}

void Flows::note_all() {
    for (const auto& column : tables_.columns)
        for (std::size_t i = 0; i < column->cells.size(); ++i)
            if (const StepList* steps = column->cells[i].steps.load(std::memory_order_acquire)) note(*column, *steps);
}

bool Flows::note(const Column& column, const StepList& steps) {
    bool fresh = false;
    const auto message_to = [&](const Column& receiver, const Message& message) {
        if (takes(receiver, message.type)) fresh |= note(receiver.index, column.index);
        for (const Transition& transition : receiver.transitions)
            if (transition.mode == Mode::maximal && transition.takes(message.type))
                fresh |= note(column.index, receiver.index);
        if (message.sender == column.index) return;
        fresh |= note(message.sender, column.index);
        fresh |= note(column.index, message.sender);
    };
    for (const Step& step : steps) {
        for (Id i = 0; i < step.send_count; ++i) {
            const auto& [to, message] = step.sends[i];
            const Column& receiver = *tables_.columns[to];
            if (receiver.monitor) {
                fresh |= note(column.index, to);
                fresh |= note(to, column.index);
            } else if (message < bundle_bit) {
                message_to(receiver, receiver.messages[message]);
            } else {
                for (const Id member : receiver.bundles[message - bundle_bit])
                    message_to(receiver, receiver.messages[member]);
            }
        }
    }
    return fresh;
}

bool Flows::note(Id dependent, Id needed) {
    const std::size_t at = std::size_t{dependent} * size_ + needed;
    met_[at].store(true, std::memory_order_relaxed);
    return !assumed_.empty() && !assumed_[at];
}

void Flows::assume() {
    assumed_.assign(met_.begin(), met_.end());
    const auto assumed = [&](Id dependent, Id needed) -> char& {
        return assumed_[std::size_t{dependent} * size_ + needed];
    };
    for (Id column = 0; column < size_; ++column) assumed(column, column) = true;
    for (Id by = 0; by < size_; ++by)
        for (Id dependent = 0; dependent < size_; ++dependent)
            for (Id needed = 0; needed < size_; ++needed)
                if (assumed(dependent, by) && assumed(by, needed)) assumed(dependent, needed) = true;
    needs_.assign(size_, {});
    for (Id dependent = 0; dependent < size_; ++dependent)
        for (Id needed = 0; needed < size_; ++needed)
            if (assumed(dependent, needed)) needs_[dependent].push_back(needed);
}

bool Flows::hopeless() const {
    for (const auto& dependent : tables_.columns)
        for (const auto& needed : tables_.columns)
            if (!dependent->monitor && !needed->monitor && !needed->transitions.empty() &&
                !assumed_[std::size_t{dependent->index} * size_ + needed->index])
                return false;
    return true;
}

}  // namespace quorate

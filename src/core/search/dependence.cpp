#include "search/dpor.hpp"

namespace quorate {

Dependence::Dependence(const Tables& tables, bool visible) : tables_(tables), visible_(visible) {
    for (const auto& column : tables.columns)
        if (column->monitor)
            monitors_seen_ |=
                std::find(column->observed.begin(), column->observed.end(), true) != column->observed.end();
}

std::string Dependence::unsupported(const Tables& tables) {
    if (tables.bound != nullptr) return "the bound of the whole system may cut one order of steps and not another";
    if (tables.network.bounded()) return "a full channel of a bounded network disables steps of other processes";
    if (tables.has_budget() || tables.network.crashes()) return "steps that draw on a common budget disable each other";
    if (tables.network.losses_unlimited)
        return "with losses a run does not end in a deadlock: where the protocol is stuck, messages can still be lost";
    for (const auto& column : tables.columns) {
        if (column->shared) return "steps that read and write shared cells disable each other";
        if (column->clean) return "with clean channels a message that is delivered disables steps";
        for (const Transition& transition : column->transitions)
            if (transition.mode == Mode::maximal) return "a maximal quorum may be disabled by a message that arrives";
    }
    return {};
}

Event Dependence::event(Id column, const Step& step) const {
    Event event{column, &step};
    for (Id i = 0; i < step.send_count; ++i) {
        event.receivers |= std::uint64_t{1} << (step.sends[i].column % 64);
        event.emits |= tables_.columns[step.sends[i].column]->monitor;
    }
    event.visible = visible_ && (step.observed || (event.emits && monitors_seen_));
    return event;
}

bool Dependence::feeds(const Event& sender, const Event& receiver) const {
    if ((sender.receivers >> (receiver.column % 64) & 1) == 0 || receiver.step->set == none) return false;
    const Column& column = *tables_.columns[receiver.column];
    const std::span<const Id> set = column.sets[receiver.step->set];
    const auto consumed = [&](Id message) { return std::find(set.begin(), set.end(), message) != set.end(); };
    for (const Send *send = sender.step->sends, *end = send + sender.step->send_count; send != end; ++send) {
        if (send->column != receiver.column) continue;
        if (send->message < bundle_bit) {
            if (consumed(send->message)) return true;
        } else {
            const std::vector<Id>& bundle = column.bundles[send->message - bundle_bit];
            if (std::any_of(bundle.begin(), bundle.end(), consumed)) return true;
        }
    }
    return false;
}

bool Dependence::dependent(const Event& a, const Event& b) const {
    return a.column == b.column || (a.emits && b.emits) || (a.visible && b.visible) || feeds(a, b) || feeds(b, a);
}

std::optional<std::size_t> Dependence::initial(const Event& event, const std::vector<Event>& sequence) const {
    for (std::size_t i = 0; i < sequence.size(); ++i) {
        if (event == sequence[i]) return i;
        if (dependent(event, sequence[i])) return std::nullopt;
    }
    return sequence.size();
}

std::size_t WakeupTree::insert(std::vector<Event> sequence, const Dependence& dependence) {
    WakeupTree* node = this;
    for (bool descended = true; descended;) {
        descended = false;
        for (Branch& branch : node->branches) {
            const auto place = dependence.initial(branch.event, sequence);
            if (!place) continue;
            if (*place < sequence.size()) sequence.erase(sequence.begin() + static_cast<std::ptrdiff_t>(*place));
            node = &branch.rest;
            if (node->branches.empty()) return 0;  // from this leaf on, everything will be explored
            descended = true;
            break;
        }
    }
    for (const Event& event : sequence) {
        node->branches.push_back({event, {}});
        node = &node->branches.back().rest;
    }
    return sequence.size();
}

std::size_t WakeupTree::insert_first(const std::vector<Event>& sequence, const Dependence& dependence) {
    for (const Branch& branch : branches)
        if (dependence.initial(branch.event, sequence)) return 0;
    branches.push_back({sequence.front(), {}});
    return 1;
}

void HappensBefore::push(const Event& event, const Dependence& dependence) {
    Taken taken{event, 1, last_[event.column]};
    const std::size_t here = clocks_.size();
    clocks_.resize(here + processes_, 0);
    if (taken.previous != npos) {
        std::copy_n(clocks_.begin() + static_cast<std::ptrdiff_t>(taken.previous * processes_), processes_,
                    clocks_.begin() + static_cast<std::ptrdiff_t>(here));
        taken.number = taken_[taken.previous].number + 1;
    }
    clocks_[here + event.column] = taken.number;
    // From the last step backwards: what happens before a step that was found already is no race of its own.
    for (std::size_t i = taken_.size(); i-- > 0;) {
        if (clocks_[here + taken_[i].event.column] >= taken_[i].number) continue;
        if (!dependence.dependent(taken_[i].event, event)) continue;
        taken.races.push_back(i);
        for (std::size_t column = 0; column < processes_; ++column)
            clocks_[here + column] = std::max(clocks_[here + column], clocks_[i * processes_ + column]);
    }
    last_[event.column] = taken_.size();
    taken_.push_back(std::move(taken));
}

void HappensBefore::pop() {
    last_[taken_.back().event.column] = taken_.back().previous;
    clocks_.resize(clocks_.size() - processes_);
    taken_.pop_back();
}

std::vector<std::size_t> HappensBefore::after_but_not_because_of(std::size_t i) const {
    std::vector<std::size_t> found;
    for (std::size_t j = i + 1; j < taken_.size(); ++j)
        if (!before(i, j)) found.push_back(j);
    return found;
}

}  // namespace quorate

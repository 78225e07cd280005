#include "reduce/por/persistent.hpp"

namespace quorate {

Persistent::Persistent(Tables& tables, const Flows& flows, bool visible)
    : tables_(tables),
      flows_(flows),
      twins_(tables.network.resending_conflicts()),
      is_observed_(tables.columns.size(), false) {
    for (const auto& column : tables.columns) {
        processes_ += !column->monitor;
        const auto& fields = column->observed;
        if (!visible || std::find(fields.begin(), fields.end(), true) == fields.end()) continue;
        observed_.push_back(column->index);
        is_observed_[column->index] = true;
    }
    steps_.resize(processes_);
    for (Id process = 0; process < processes_; ++process) {
        leaders_.push_back(0);
        while (flows.needs(leaders_.back()) != flows.needs(process)) ++leaders_.back();
    }
}

bool Persistent::choose(std::span<const Id> cells) {
    cells_ = cells;
    Id best = 0;
    for (Id column = 0; column < processes_; ++column) {
        steps_[column] = tables_.steps(column, cells, queries_);
        best += static_cast<Id>(steps_[column]->size());
        if (all_.size() < steps_[column]->size()) all_.resize(steps_[column]->size(), true);
    }
    offered_ = best;
    tried_.assign(processes_, false);
    for (Id seed = 0; seed < processes_ && best > 1; ++seed) {
        const auto moves = [](const Step& step) { return step.effect == Effect::moves; };
        if (tried_[leaders_[seed]] || std::none_of(steps_[seed]->begin(), steps_[seed]->end(), moves)) continue;
        tried_[leaders_[seed]] = true;
        if (!close(seed, best)) continue;
        best = possible_;
        best_ = members_;
    }
    left_out_ = offered_ - best;
    if (left_out_ == 0) return false;
    chosen_.assign(processes_, nullptr);
    for (const Id column : best_)
        if (column < processes_) chosen_[column] = &all_;
    return true;
}

bool Persistent::close(Id seed, Id limit) {
    inside_.assign(tables_.columns.size(), false);
    members_.clear();
    possible_ = 0;
    add(seed);
    bool shown = observed_.empty();
    for (std::size_t i = 0; i < members_.size() && possible_ < limit; ++i) {
        if (members_[i] >= processes_) continue;
        for (const Step& step : *steps_[members_[i]]) {
            if (!shown && shows(step)) {
                shown = true;
                for (const Id column : observed_) add(column);
            }
            for (Id k = 0; k < step.send_count && twins_; ++k)
                if (twin_of(step.sends[k])) add(step.sends[k].column);
        }
    }
    return possible_ < limit;
}

void Persistent::add(Id column) {
    if (inside_[column]) return;
    for (const Id needed : flows_.needs(column)) {
        if (inside_[needed]) continue;
        inside_[needed] = true;
        members_.push_back(needed);
        if (needed < processes_) possible_ += static_cast<Id>(steps_[needed]->size());
    }
}

bool Persistent::shows(const Step& step) const {
    if (step.observed) return true;
    for (Id i = 0; i < step.send_count; ++i)
        if (step.sends[i].column >= processes_ && is_observed_[step.sends[i].column]) return true;
    return false;
}

// Is an equal message pending, which its receiver may consume?
bool Persistent::twin_of(const Send& send) const {
    if (send.column >= processes_ || send.message >= bundle_bit || inside_[send.column]) return false;
    const Column& receiver = *tables_.columns[send.column];
    const Message& message = receiver.messages[send.message];
    const std::span<const Id> inbox = receiver.inboxes[receiver.cells[cells_[send.column]].inbox];
    return !message.stands && std::binary_search(inbox.begin(), inbox.end(), send.message) &&
           Flows::takes(receiver, message.type);
}

}  // namespace quorate

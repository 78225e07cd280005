#include "reduce/por/local_steps.hpp"

#include <algorithm>

namespace quorate {

LocalSteps::LocalSteps(Tables& tables) : tables_(tables) {
    for (const auto& column : tables.columns) {
        if (column->monitor) continue;
        const auto takes = [](const Transition& transition) { return transition.mode != Mode::spontaneous; };
        hears_.push_back(std::any_of(column->transitions.begin(), column->transitions.end(), takes));
    }
}

std::string LocalSteps::unsupported(const Tables& tables) {
    if (tables.bound != nullptr) return "the bound of the whole system may cut one order of steps and not another";
    for (const auto& column : tables.columns)
        if (column->input) return "nothing is proven for delivery events";
    return {};
}

bool LocalSteps::concerns_nobody(const StepList& steps) {
    return !steps.empty() && std::all_of(steps.begin(), steps.end(), [](const Step& step) {
        return step.kind == Kind::step && step.effect == Effect::moves && step.budget == Budget::free &&
               step.send_count == 0 && !step.observed;
    });
}

bool LocalSteps::choose(std::span<const Id> cells) {
    Id best = none, fewest = 0;
    offered_ = 0;
    for (Id column = 0; column < hears_.size(); ++column) {
        const StepList& steps = *tables_.steps(column, cells, queries_);
        const Id count = static_cast<Id>(steps.size());
        offered_ += count;
        if (hears_[column] || tables_.reads(column, cells[column]) != none || !concerns_nobody(steps)) continue;
        if (best != none && fewest <= count) continue;
        best = column;
        fewest = count;
    }
    left_out_ = best == none ? 0 : offered_ - fewest;
    if (left_out_ == 0) return false;
    if (all_.size() < fewest) all_.resize(fewest, true);
    chosen_.assign(hears_.size(), nullptr);
    chosen_[best] = &all_;
    return true;
}

}  // namespace quorate

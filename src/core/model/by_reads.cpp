#include "model/by_reads.hpp"

#include <algorithm>

namespace quorate {

namespace {

bool is_same(const Outcome& one, const Outcome& two) {
    const auto same_send = [](const Send& a, const Send& b) { return a.column == b.column && a.message == b.message; };
    // The text of a failure may hold an address, so it is not compared (model/again.py).
    return one.effect == two.effect &&
           std::equal(one.sends.begin(), one.sends.end(), two.sends.begin(), two.sends.end(), same_send);
}

bool is_same(const ByReads::Answer& one, const ByReads::Answer& two) {
    const auto same_deed = [](const ByReads::Deed& a, const ByReads::Deed& b) {
        return a.assigned == b.assigned && is_same(a.outcome, b.outcome);
    };
    return std::equal(one.deeds.begin(), one.deeds.end(), two.deeds.begin(), two.deeds.end(), same_deed) &&
           one.request.enabled == two.request.enabled && one.request.mode == two.request.mode &&
           one.request.size == two.request.size && one.request.senders == two.request.senders && one.group == two.group;
}

}  // namespace

Id ByReads::new_node() {
    nodes_.emplace_back();
    return checked_id(nodes_.size() - 1, "combinations of fields that were read");
}

bool ByReads::add(const Question& question, std::span<const Assignment> read, Answer answer) {
    const std::uint64_t start = key(question);
    const Id* root = roots_.find(start);
    Id node = root == nullptr ? new_node() : *root;
    bool is_new = root == nullptr;
    if (is_new) roots_.insert(start, node);
    for (const Assignment& each : read) {
        if (is_new) nodes_[node].field = each.field;
        if (nodes_[node].field != each.field) return false;
        const std::uint64_t step = edge(node, each.value);
        const Id* next = edges_.find(step);
        is_new = next == nullptr;
        node = is_new ? new_node() : *next;
        if (is_new) edges_.insert(step, node);
    }
    if (!is_new) return nodes_[node].field == none && is_same(answers_[nodes_[node].answer], answer);
    nodes_[node].answer = static_cast<Id>(answers_.size());
    answers_.push_back(std::move(answer));
    return true;
}

}  // namespace quorate

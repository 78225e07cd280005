// What a search notes of itself where it is to be checked: a sample of the states it reduced, and what it has seen.
#pragma once

#include <map>
#include <mutex>
#include <unordered_set>

#include "model/tables.hpp"

namespace quorate {

struct Evidence {
    Evidence(const Tables& tables, std::size_t most) : most(most) {
        for (const auto& column : tables.columns) fields.push_back(column->observed);
    }

    const std::size_t most;
    std::vector<std::vector<bool>> fields{};  // per column: those that a property reads
    // The states with the smallest contents of all that were reduced: the same for any number of threads.
    std::map<std::uint64_t, std::vector<Id>> sample{};
    std::unordered_set<std::uint64_t> seen{}, stuck{};  // what the fields were like, as hashes; in deadlocks

    void note(const Tables& tables, const std::vector<Id>& cells, bool reduced, bool deadlock) {
        std::uint64_t hash = 0;
        for (Id column = 0; column < fields.size(); ++column) {
            const Column& owner = *tables.columns[column];
            const Local& local = owner.locals[owner.cells[cells[column]].local];
            for (std::size_t field = 0; field < fields[column].size(); ++field)
                if (fields[column][field]) hash = mix(mix(hash + column) + (field << 32 | local.values[field]));
        }
        const std::lock_guard guard(lock_);
        seen.insert(hash);
        if (deadlock) stuck.insert(hash);
        if (!reduced) return;
        sample.emplace(tables.content(cells), cells);
        if (sample.size() > most) sample.erase(std::prev(sample.end()));
    }

private:
    std::mutex lock_{};
};

}  // namespace quorate

// Random runs over the same tables as every search, for systems that are too large to be searched, or have no end.
//
// Run number n of a seed is the same run for any number of threads: its dice depend on the seed and on n alone, and
// what is thrown for is each step's content, never its number. Of several runs that show a violation the first counts.
#pragma once

#include "search/census.hpp"
#include "search/search.hpp"

namespace quorate {

enum class Strategy : std::uint8_t { uniform, pct, rare };

struct RunOptions {
    Strategy strategy = Strategy::uniform;
    std::uint64_t seed = 0;
    std::uint64_t runs = ~std::uint64_t{0};
    std::uint64_t depth = 1000;  // the longest run
    unsigned changes = 3;        // pct: the depth of the bugs that it is aimed at, one more than its change points
    unsigned threads = 1;
    bool deadlock = false;
    Limits limits{};
};

struct RunResult {
    Stop stop = Stop::finished;
    std::uint64_t runs = 0, steps = 0;
    std::uint64_t ended = 0, cut = 0, full = 0;  // runs that came to an end, were cut by a bound, or got too long
    std::uint64_t unfinished = 0;                // runs that were under way when all of it was stopped
    std::uint64_t run = 0;                       // the number of the one that shows the violation
    std::optional<Witness> violation{};
    std::vector<Witness> goals{};
    double distinct = 0;     // states, counted or estimated
    bool exact = false;      // counted: all of them are in the sample
    std::uint64_t span = 0;  // the steps among which change points lie, with pct
    // Of the states whose hash was sampled: how often they were met, how many there are, and how many were met once.
    std::uint64_t sampled_visits = 0, sampled_states = 0, met_once = 0;
    Census census{};
};

RunResult random_runs(Tables& tables, std::vector<Property>& properties, Oracle& oracle, const RunOptions& options);

}  // namespace quorate

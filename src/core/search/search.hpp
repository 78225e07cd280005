// What all searches share: what they are asked, and what they report.
#pragma once

#include <functional>
#include <optional>

#include "base/thresholds.hpp"
#include "model/expander.hpp"
#include "model/property.hpp"
#include "model/watch.hpp"
#include "reduce/por/chooser.hpp"
#include "search/census.hpp"
#include "search/evidence.hpp"
#include "store/store.hpp"

namespace quorate {

enum class Finding : std::uint8_t { violated, reached, raises, deadlock, failure };

// A state, or a step from a state, that decides a property.
struct Witness {
    Finding finding = Finding::violated;
    std::size_t property = 0;  // index among the properties; unused for deadlock and failure
    std::uint64_t length = 0;  // steps from an initial state, the failing one included
    std::uint64_t faults = 0;  // losses, duplicates and crashes on the way, as far as they are bounded
    std::uint64_t content = 0;
    std::vector<Id> cells{};              // the deciding state, or the one the failing step starts from
    Id column = none, step = none;        // the failing step
    Id failure = none;                    // the failure of a handler or of a monitor
    std::vector<std::vector<Id>> path{};  // the states from an initial one to `cells`

    // Shorter first, then by kind and property, then with fewer faults, then by content: the same choice for every
    // order of discovery.
    auto rank() const { return std::make_tuple(length, finding, property, faults, content, column, step); }
};

class Symmetry;
struct Checkpoints;

// One kind of violation of a search that goes on after the first: a property, deadlocks, or a failure of a handler.
struct Violations {
    Witness first;
    std::uint64_t count = 0;  // states; of a failure, steps

    bool same(const Witness& other) const {
        return first.finding == other.finding && first.property == other.property && first.failure == other.failure;
    }
};

inline void add_to(std::vector<Violations>& all, Violations more) {
    const auto known =
        std::find_if(all.begin(), all.end(), [&](const Violations& one) { return one.same(more.first); });
    if (known == all.end()) {
        all.push_back(std::move(more));
        return;
    }
    known->count += more.count;
    if (more.first.rank() < known->first.rank()) known->first = std::move(more.first);
}

// A step of a search, as it was taken.
struct StepTaken {
    std::vector<Id> from, to;
    Id column, step;
};

// The last two are dynamic partial-order reduction (dpor.hpp).
enum class Traversal : std::uint8_t { breadth_first, depth_first, dpor_classical, dpor_optimal };

struct SearchOptions {
    Traversal traversal = Traversal::breadth_first;
    unsigned threads = 1;
    bool deadlock = false;  // is a state without an enabled protocol step a violation, unless final?
    // Nothing else is asked for than the goals: with so many states, the search is over once all of them were reached.
    std::uint64_t goals_end_from = ~std::uint64_t{0};
    bool stateless = false;
    std::string spill{};        // breadth-first: a directory for the states, or none
    std::size_t bitstate = 0;   // bytes of the bit array, 0 for an exact store
    bool fingerprints = false;  // breadth-first: states that were expanded are kept as fingerprints alone
    std::optional<PartialOrders> partial_orders{};
    Symmetry* symmetry = nullptr;  // with symmetry reduction
    bool visible = true;           // with dynamic partial-order reduction: are there properties besides deadlock?
    Evidence* evidence = nullptr;  // where the search is to be checked afterwards
    std::vector<StepTaken>* record = nullptr;  // depth-first: every step that is taken
    bool census = false;                       // breadth-first: what was met is counted at the end
    bool all = false;                          // breadth-first: go on after a violation, and count them
    std::uint64_t most_depth = ~std::uint64_t{0};
    // A search that has left the optimistic universe is void, but goes on until it has twice as many states, or
    // `most_void_states` more, and so many more: then it is known what else lies outside, and fewer searches have to
    // start over.
    std::uint64_t void_states = 1000;
    // Called now and then while the search rests, with its states and transitions so far: what else there is to be done
    // meanwhile. True: that has come to something, so the search is to stop. It is called at the end of levels, or
    // after given numbers of states, so that the same is done for any number of threads.
    std::function<bool(std::uint64_t, std::uint64_t)> meanwhile{};
    // Breadth-first: called when all that is left of a level leads out of the optimistic universe. True: the universe
    // was extended, and what was decided by it stands, so the search goes on. False: it is void. None: it is to stop.
    std::function<std::optional<bool>()> outgrown{};
    const Checkpoints* checkpoints = nullptr;  // breadth-first: how the search is saved, and where it goes on
    Limits limits{};
};

struct SearchResult {
    Stop stop = Stop::finished;
    std::uint64_t states = 0, transitions = 0, depth = 0, deadlocks = 0, frontier = 0;
    std::uint64_t given_up = 0;  // the depth from which on stubborn sets were no longer looked for; 0: always
    std::uint64_t executions = 0, blocked = 0;  // with dynamic partial-order reduction: runs made, and given up
    double stands_for = 0;                      // states, with those that differ in names only
    std::optional<Witness> violation{};
    std::vector<Witness> goals{};
    std::vector<Violations> violations{};  // with `all`
    double coverage = 1.0;
    double miss = 0;                      // with fingerprints: at most so probable is it that a state was missed
    std::size_t store_bytes = 0;          // growth of resident memory
    std::vector<bool> cut{};              // the columns whose bound cut a step; last, the system's
    std::vector<std::uint64_t> levels{};  // breadth-first: how many states there were before each level
    std::optional<Census> census{};
};

// Up to how many states a search goes on that has left the universe with so many.
inline std::uint64_t goes_on_to(std::uint64_t states, const SearchOptions& options) {
    return states + std::min(states, thresholds.most_void_states) + options.void_states;
}

// Whether so many goals, reached in so many states, are all that is asked for.
inline bool goals_end(const std::vector<Property>& properties, const SearchOptions& options, std::uint64_t states,
                      std::size_t goals) {
    const auto is_goal = [](const Property& property) { return property.kind == PropertyKind::goal; };
    return states >= options.goals_end_from &&
           goals == static_cast<std::size_t>(std::count_if(properties.begin(), properties.end(), is_goal));
}

// Goes through the states as the options say.
SearchResult search(Tables& tables, std::vector<Property>& properties, Oracle& oracle, const SearchOptions& options);

SearchResult breadth_first(Tables& tables, std::vector<Property>& properties, Oracle& oracle,
                           const SearchOptions& options);
SearchResult depth_first(Tables& tables, std::vector<Property>& properties, Oracle& oracle,
                         const SearchOptions& options);

// Walks back through the levels of a breadth-first search. `levels[d]` says, per thread, where level d begins in the
// store; the predecessor with the smallest content is taken each time. The witness and its path are of whole cells
// afterwards.
void find_path(Tables& tables, const Store& store, const std::vector<std::vector<std::uint64_t>>& levels,
               Oracle& oracle, Symmetry* symmetry, Hubs* hubs, Witness& witness);

}  // namespace quorate

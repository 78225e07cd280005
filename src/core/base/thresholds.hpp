// Where the core changes its ways because there is much of something. Constants for all users; tests set them low, so
// that small systems, of which everything is known, get to what else only large ones do.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quorate {

struct Thresholds {
    std::uint64_t few_states = 10'000;               // with fewer, partial orders are not given up
    std::size_t portion = 128;                       // successors that a thread inserts before it looks up
    std::size_t most_waiting = 4096;                 // questions to Python that are asked together
    std::size_t few_smallest = 64;                   // smallest sets that are listed, before each is looked up instead
    std::size_t most_twins = 3;                      // steps that do the same from which stubborn sets are begun
    std::size_t most_judged = std::size_t{1} << 23;  // views of a property that are compared under renamings
    std::uint64_t most_void_states = 500'000;        // that a search which is void visits in addition
    unsigned narrow_index = 24;     // an index of up to 2 to the power of so many slots is filled anew to grow
    std::size_t index_lines = 256;  // of the index, to begin with
    std::size_t index_segmented = std::size_t{1} << 16;   // lines from which on it grows in small steps
    std::size_t index_step = std::size_t{1} << 13;        // lines to enlarge in one pause, or a 64th of all
    unsigned index_segment_bits = 8;                      // there are two to the power of this many segments
    unsigned fingerprint_bits = 62;                       // of a state that is not kept itself
    std::size_t most_levels = ~std::size_t{0};            // that are kept where a run is searched for again
    std::size_t most_cells = 4096;                        // of one process, before it is seen whether to take it apart
    std::size_t hub_gain = 2;                             // so many times fewer numbers make it worth it
    std::size_t most_reactions = 4000;                    // of one monitor that are asked for before a search
    std::size_t heaviest_monitor = std::size_t{1} << 22;  // bytes of its local states, before a search
    std::size_t most_sequenced = std::size_t{1} << 20;    // steps of sequences that dynamic reduction is still to run
};

inline Thresholds thresholds;

}  // namespace quorate

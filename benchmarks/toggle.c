/* Callgrind's switches for Python: what lies between start and stop is counted, and written out under a name. */
#include <valgrind/callgrind.h>

void start(void) {
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
}

void stop(const char *name) {
    CALLGRIND_DUMP_STATS_AT(name);
    CALLGRIND_STOP_INSTRUMENTATION;
}

// A process that does not outlive the one it works for, however that one ends.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>

#include <csignal>
#endif

namespace quorate {

// From now on this process ends with its parent; at once if that is gone already. Elsewhere than on Linux there is no
// such thing, and whoever works for another process has to look for it from time to time.
inline void end_with(pid_t parent) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) _exit(1);
}

}  // namespace quorate

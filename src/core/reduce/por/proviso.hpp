// Must steps that are left out again and again be taken some time (the ignoring proviso)?
#pragma once

#include "analysis/closure.hpp"
#include "reduce/por/options.hpp"

namespace quorate {

// Not if no run comes back to a state it has been in, and not for deadlocks alone.
bool needs_proviso(const Tables& tables, const Closure& closure, const PorOptions& options);

}  // namespace quorate

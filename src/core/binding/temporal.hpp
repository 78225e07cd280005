// Temporal properties as Python sees them.
#pragma once

#include <nanobind/nanobind.h>

namespace quorate {

void bind_temporal(nanobind::module_& module);

}  // namespace quorate

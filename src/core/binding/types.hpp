// The names that Python sees of the core's types.
#pragma once

#include "binding/engine.hpp"

namespace quorate {

// What Python gives: enumerations, and structs that are made with keywords.
void bind_inputs(nb::module_& module);
// What Python gets: structs that can only be read.
void bind_reports(nb::module_& module);

}  // namespace quorate

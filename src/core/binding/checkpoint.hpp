// Saving a search, and going on with one, as Python does it.
#pragma once

#include "binding/engine.hpp"
#include "search/checkpoint.hpp"

namespace quorate {

// From an object with `seconds`, `save(snapshot)`, and `resumed`: None, or a `SavedSearch`.
Checkpoints checkpoints_of(const nb::object& given);

void bind_checkpoints(nb::module_& module);

}  // namespace quorate

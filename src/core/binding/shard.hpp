#pragma once

#include "binding/engine.hpp"

namespace quorate {

void bind_shard(nb::module_& module);

}  // namespace quorate

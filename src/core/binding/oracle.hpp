// An oracle that asks Python.
#pragma once

#include "binding/engine.hpp"

namespace quorate {

// Calls fill(queries), judge(property, locals) and poll(...) of a Python object.
class PythonOracle : public Oracle {
public:
    PythonOracle(Engine& engine, nb::object object) : engine_(engine), object_(std::move(object)) {}

    std::size_t fill(const std::vector<Query>& queries) override;
    bool judge(std::size_t property, std::span<const Id> locals) override;
    bool poll(const Progress& progress) override;

private:
    Engine& engine_;
    nb::object object_;
};

}  // namespace quorate

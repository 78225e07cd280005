// An oracle that asks Python.
#pragma once

#include "binding/engine.hpp"

namespace quorate {

// Calls fill(queries), judge(property, locals) and poll(...) of a Python object.
class PythonOracle : public Oracle, private Orbits::Helper {
public:
    // `compares`: where there is symmetry without a closure, answers are compared, unless it is the closure that asks.
    PythonOracle(Engine& engine, nb::object object, bool compares = true)
        : engine_(engine), object_(std::move(object)), compares_(compares) {}

    std::size_t fill(const std::vector<Query>& queries) override;
    bool judge(std::size_t property, std::span<const Id> locals) override;
    bool poll(const Progress& progress) override;
    // Symmetry without a closure: compares what there is at the beginning.
    std::optional<Breach> begin_orbits();

private:
    void answer(const std::vector<Query>& queries) override;
    void admit(const std::vector<Orbits::Thing>& locals, const std::vector<Orbits::Thing>& messages) override;
    const std::vector<Id>& failures() override { return engine_.failure_classes; }

    Engine& engine_;
    nb::object object_;
    const bool compares_;
    std::size_t cost_ = 0;
};

}  // namespace quorate

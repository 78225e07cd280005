"""For tests: what has become of a saved run.

    assert replayed(json.loads(saved)) == "violates agreement"

`quorate check --pytest FILE` writes such a test around the run that it found.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any


def replayed(run: Mapping[str, Any], beside: str | None = None) -> str:
    """What a run that was saved as JSON shows in the model as it is now.

    `"violates NAME"`, `"reaches NAME"`, `"deadlocks"` or `"fails in PROCESS.TRANSITION"`; if the model does otherwise,
    `"cannot be replayed: "` and the first step that is different. `beside` is a file from whose folder the path of the
    model is meant, usually the test's own `__file__`.
    """
    from quorate.model.define import define
    from quorate.model.environment import Environment
    from quorate.model.given import restored
    from quorate.model.target import load
    from quorate.properties.purity import Purity
    from quorate.render.exports.regression import outcome_of
    from quorate.results.json import confirmed
    from quorate.results.replay import ReplayError, replay

    confirmed(run, "the run")
    target = str(run["target"])
    if beside is not None and (target.rpartition(":")[0] or target).endswith(".py"):
        target = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(beside)), target))
    system = restored(load(target), run["parameters"])
    definition = define(system, Environment.from_json(run.get("environment", {})))
    try:
        with Purity(definition):
            return outcome_of(replay(definition, run["trace"]))
    except ReplayError as error:
        return f"cannot be replayed: {error.message}"

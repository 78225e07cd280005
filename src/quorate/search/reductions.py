"""Which exact reductions run on a model, and why the others do not."""

from __future__ import annotations

from typing import Any

from quorate.analysis.model import Model
from quorate.search.options import Options

# The analysis asks about combinations that no run may meet. It must not cost more than the search it saves, so it
# gets a small budget first, then the plain search has a try, and only if that is not over soon the analysis goes on.
FIRST_BEHAVIOURS = 4_000
FIRST_STATES = 200_000
MOST_BEHAVIOURS = 60_000

Figures = dict[str, dict[str, Any]]


def analyse(model: Model, options: Options, most_behaviours: int = MOST_BEHAVIOURS) -> Figures:
    """Close the model, and reduce it as far as the options and the network allow."""
    figures: Figures = {}
    quotient, why_no_quotient = options.quotient == "on", "switched off"
    dead, why_no_dead = options.dead_messages == "on", "switched off"
    if dead:
        why = _dead_messages_matter(model)
        dead, why_no_dead = not why, why
    if quotient or dead:
        closure = model.engine.close(model, most_behaviours)
        figures["closure"] = {"ran": True, **closure, "why": "bounds what any run can meet"}
        if not closure["complete"]:
            figures["closure"] |= {"ran": False, "why": closure["why"]}
            quotient = dead = False
            why_no_quotient = why_no_dead = f"the closure is not complete: {closure['why']}"
    else:
        figures["closure"] = {"ran": False, "why": "no reduction needs it"}
    figures["quotient"] = {"ran": quotient, "why": "" if quotient else why_no_quotient}
    figures["dead-messages"] = {"ran": dead, "why": "" if dead else why_no_dead}
    reduce(model, figures)
    for name in ("por", "split", "symmetry"):
        figures[name] = {"ran": False, "why": "not in this version"}
    return figures


def unfinished(figures: Figures) -> bool:
    """Whether the closure ran out of its budget."""
    return figures["closure"].get("complete") is False


def reduce(model: Model, figures: Figures) -> None:
    """Apply the reductions that run; again whenever more fields turned out to be observed."""
    quotient, dead = figures["quotient"]["ran"], figures["dead-messages"]["ran"]
    model.restart_on_new_reads = quotient
    model.engine.observe(model.observed)
    sizes = model.engine.reduce(quotient, dead)
    if quotient:
        figures["quotient"] |= {
            "local_states": sizes["local_states"],
            "of": figures["closure"]["local_states"],
            "why": "merges local states that nothing can tell apart",
        }
    if dead:
        figures["dead-messages"] |= {
            "dead": sizes["dead"],
            "of": sizes["pairs"],
            "why": "drops messages that are never consumed any more",
        }


def _dead_messages_matter(model: Model) -> str:
    """Why a message that is never consumed may still have an effect on this network; empty if it has none."""
    network = model.definition.network
    if network.kind == "fifo":
        return "in a FIFO channel a dead message still stands before others"
    if network.capacity is not None:
        return "in a bounded channel a dead message still takes up room"
    return ""

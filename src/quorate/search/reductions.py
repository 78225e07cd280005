"""Which exact reductions run on a model, and why the others do not."""

from __future__ import annotations

from typing import Any

from quorate.analysis.model import Model
from quorate.analysis.symmetry import Family, Symmetries, proposed
from quorate.language.pid import DecompositionError
from quorate.language.watchdog import supervised
from quorate.search.options import Options

# The analysis asks about combinations that no run may meet. It must not cost more than the search it saves, so it
# gets a small budget first, then the plain search has a try, and only if that is not over soon the analysis goes on.
FIRST_BEHAVIOURS = 4_000
FIRST_STATES = 200_000
MOST_BEHAVIOURS = 60_000

# The number of what partial-order reduction has to preserve, in the core's order.
KEEP = {"deadlocks": 0, "safety": 1, "linear": 2, "branching": 3}

Figures = dict[str, dict[str, Any]]


def analyse(model: Model, options: Options, most_behaviours: int | None = None) -> Figures:
    """Close the model, and reduce it as far as the options and the network allow."""
    unknown = ""
    figures: Figures = {"closure": {"ran": False, "why": "no reduction needs it"}}
    figures |= applicable(model, options)
    dynamic = is_dynamic(figures, options)
    stores_nothing = "dynamic partial-order reduction" if dynamic else "a stateless search" if options.stateless else ""
    families: list[Family] = []
    if options.symmetry != "none" and not stores_nothing:
        families = supervised(lambda: proposed(model.definition))  # of thousands of processes it takes long
    needs = ("quotient", "dead-messages") if dynamic else ("quotient", "dead-messages", "por")
    if families or any(figures[name]["ran"] for name in needs):
        most = options.max_behaviours or MOST_BEHAVIOURS
        closure = model.engine.close(model, most if most_behaviours is None else most_behaviours)
        figures["closure"] = {"ran": True, **closure, "why": "bounds what any run can meet"}
        if not closure["complete"]:
            unknown = f"the closure is not complete: {closure['why']}"
            figures["closure"] |= {"ran": False, "why": closure["why"]}
            figures |= applicable(model, options, unknown)
    figures["symmetry"] = {"ran": False, "why": "switched off" if options.symmetry == "none" else unknown}
    if options.symmetry != "none" and stores_nothing:
        figures["symmetry"]["why"] = f"{stores_nothing} stores no states that could be merged"
    elif options.symmetry != "none" and not unknown:
        model.symmetries = Symmetries(model, families) if families else None
        _tell_symmetries(model, figures)
    figures["split"] = {"ran": False, "why": "switched off"}
    reduce(model, figures, options)
    return figures


def applicable(model: Model, options: Options, unknown: str = "") -> Figures:
    """The reductions that were asked for and fit the network; none of them if it is `unknown` what to reason about."""
    why_not = {
        "quotient": "switched off" if options.quotient == "off" else "",
        "dead-messages": "switched off" if options.dead_messages == "off" else _dead_messages_matter(model),
        "por": "switched off" if options.por == "none" else "",
    }
    figures: Figures = {name: {"ran": not (why or unknown), "why": why or unknown} for name, why in why_not.items()}
    if options.por == "dpor":  # learns from runs, and needs to know nothing beforehand
        why = model.engine.dpor_unsupported()
        runs = "runs one order of steps for each that makes a difference"
        figures["por"] = {"ran": not why, "why": why or runs, "variant": options.dpor_variant}
    return figures


def is_dynamic(figures: Figures, options: Options) -> bool:
    """Whether dynamic partial-order reduction runs."""
    return options.por == "dpor" and bool(figures["por"]["ran"])


def without_broken_family(model: Model, figures: Figures) -> None:
    """Leave out the family of processes that a property turned out to tell apart, if that is why the search stopped."""
    broken = model.engine.broken_family()
    if broken is None or model.symmetries is None:
        return
    number, index = broken
    if index is None:
        why = "the properties look at it in too many ways to compare them all"
    else:
        prop = model.properties[index]
        place = f"{prop.location.file}:{prop.location.line}"
        why = f"the property `{prop.name}` ({place}) does not say the same of all of them"
    model.symmetries.drop(number, why)
    _tell_symmetries(model, figures)


def _tell_symmetries(model: Model, figures: Figures) -> None:
    found = model.symmetries
    if found is None:
        figures["symmetry"] = {"ran": False, "why": "no two processes are of one class, with the same links and fields"}
        return
    left_out = [f"{family}: {why}" for family, why in found.dropped]
    figures["symmetry"] = {
        "ran": bool(found.families),
        "why": "; ".join(left_out) if not found.families else "takes one of all states that differ in names only",
    }
    if found.families:
        figures["symmetry"] |= {"group": found.group, "order": found.order, "left_out": left_out}


def require_decomposed(model: Model, figures: Figures) -> None:
    """Raises DecompositionError if taking processes apart gains no symmetry, or would not be the same system."""
    if not figures["symmetry"]["ran"]:
        raise DecompositionError(f"symmetry was left out: {figures['symmetry']['why']}")
    if model.whole is not None:
        model.whole.require_messages(model.numbered_messages)


def unfinished(figures: Figures) -> bool:
    """Whether the closure ran out of its budget."""
    return figures["closure"].get("complete") is False


def reduce(model: Model, figures: Figures, options: Options) -> None:
    """Apply the reductions that run; again whenever more fields turned out to be observed."""
    quotient, dead = figures["quotient"]["ran"], figures["dead-messages"]["ran"]
    # What a property turns out to read also decides which steps are visible to it.
    model.restart_on_new_reads = quotient or figures["por"]["ran"] or figures["symmetry"]["ran"]
    model.engine.observe(model.observed)
    sizes = model.engine.reduce(quotient, dead)
    universe = figures.get("universe", figures["closure"])
    if quotient:
        figures["quotient"] |= {
            "local_states": sizes["local_states"],
            "of": universe["local_states"],
            "factor": universe["local_states"] / max(1, sizes["local_states"]),
            "why": "merges local states that nothing can tell apart",
        }
    if dead:
        figures["dead-messages"] |= {
            "dead": sizes["dead"],
            "of": sizes["pairs"],
            "factor": sizes["pairs"] / max(1, sizes["pairs"] - sizes["dead"]),
            "why": "drops messages that are never consumed any more",
        }

    if figures["por"]["ran"] and options.por != "dpor":
        _relate(model, figures, options)


def visible(model: Model) -> bool:
    """Whether anything but deadlocks is asked for, so that steps may be visible."""
    return any(each.kind != "final" for each in model.properties)


def _relate(model: Model, figures: Figures, options: Options) -> None:
    """Prepare partial-order reduction, if the network and the transitions have relations that are proven."""
    if not model.engine.knows_all():
        _relate_by_flows(model, figures, options)
        return
    without = options.por_without
    why = model.engine.relate(
        necessary=options.por == "lpor-net" and "necessary" not in without,
        conditional="conditional" not in without,
        smallest="smallest" not in without,
        commuting="commuting" not in without,
        key="key" not in without,
        # A check by definition cannot see that two states differ only in messages that nobody asks for.
        twins="twins" not in without and not options.self_check,
        split_quorums=options.split in ("quorum", "combined"),
        split_replies=options.split in ("reply", "combined"),
        keep=KEEP["safety" if visible(model) else "deadlocks"],
    )
    figures["por"] |= {"ran": not why, "why": why or "leaves out orders of steps that do not matter"}
    if not why:
        figures["por"]["based_on"] = "universe" if "universe" in figures else "closure"
    if options.split != "none":
        told = "each part of a transition is chosen or left out alone"
        figures["split"] = {"ran": not why, "why": why or told, "kind": options.split}


def _relate_by_flows(model: Model, figures: Figures, options: Options) -> None:
    """What is left where it is not known what a process may do: the classes of messages that it sends, and to whom."""
    unknown = "it is not known what all processes may do"
    why = model.engine.relate_by_flows(visible(model))
    if why:
        figures["por"] = {"ran": False, "why": f"{unknown}, and {why}"}
    else:
        told = (
            "leaves out orders of steps of processes that do not wait for each other, by the classes of messages that "
        )
        told += f"they were seen to send to whom, since {unknown}"
        figures["por"] = {"ran": True, "why": told, "based_on": "types"}
    if options.split != "none":
        told = f"only whole processes are chosen or left out, since {unknown}"
        figures["split"] = {"ran": False, "why": figures["por"]["why"] if why else told, "kind": options.split}


def _dead_messages_matter(model: Model) -> str:
    """Why a message that is never consumed may still have an effect on this network; empty if it has none."""
    network = model.definition.network
    if network.kind == "fifo":
        return "in a FIFO channel a dead message still stands before others"
    if model.definition.environment.network_model == "rm":
        return "with clean channels a dead message in an input buffer blocks its process"
    if network.capacity is not None:
        return "in a bounded channel a dead message still takes up room"
    return ""

"""A proof, or why there is none: the verdict, what it says, the graph, the step that breaks the induction."""

from __future__ import annotations

from collections.abc import Sequence

from quorate.base.values import show
from quorate.base.words import count, duration
from quorate.proofs.flows import Flow
from quorate.proofs.propositions import Claim
from quorate.proofs.prove import Proof
from quorate.render.layered import Arrow, Box, layered
from quorate.render.layout import WIDTH, Page, Piece
from quorate.render.text import run

CLASSES = {"D": "definition", "SM": "system model", "MF": "message flow", "SV": "state validity", "goal": "goal"}
_MARKS = {"proved": ("✓", "good"), "refuted": ("✗", "bad"), "not proved": ("?", "open"), "unknown": ("?", "open")}
_HUES = {"goal": 4, "D": 0, "SM": 1, "MF": 2, "SV": 3}


def report(proof: Proof, width: int = WIDTH) -> Page:
    """The verdict first, then why, then the figures."""
    page = Page(width)
    mark, style = _MARKS[proof.verdict]
    given = ", ".join(f"{name}={show(value)}" for name, value in proof.parameters.items() if value is not None)
    what = f"{', '.join(proof.goals)} " if proof.goals else ""
    page.add(
        Piece(f"{mark} {proof.system}", style),
        Piece(f"({given}) " if given else " ", "faint"),
        Piece(f"{what}{proof.verdict}", style),
    )
    page.add("  ", _meaning(proof), hanging=2)
    for each in _granted(proof):
        page.add("  ", f"taken for granted: {each}", hanging=2)
    if proof.within:
        page.add(
            "  ",
            Piece(f"bounded by {', '.join(proof.within)}: nothing is said of what lies beyond", "warning"),
            hanging=2,
        )
    if proof.verdict == "refuted" and proof.trace is not None:
        page.gap()
        page.lines.extend(run(proof.trace, width, "auto").lines)
    elif proof.verdict in ("not proved", "unknown"):
        _open(page, proof, width)
    _strengthened(page, proof)
    if proof.claims and proof.verdict == "proved":
        _graph(page, proof)
        _lemmas(page, proof)
    page.gap()
    page.table(_figures(proof))
    return page


def _everyone(proof: Proof) -> str:
    return "any number of " + " and any number of ".join(proof.numbers) if proof.numbers else "these processes"


def _granted(proof: Proof) -> list[str]:
    """What nobody has shown: that what was seen for some numbers of processes is so for all."""
    if proof.built is None:
        return []
    return [f"`build` makes more of the same for every number; it was run for {proof.built}", *proof.quorums]


def _meaning(proof: Proof) -> str:
    if proof.verdict == "proved":
        values = f"for all initial values of {', '.join(proof.free)}" if proof.free else "from the initial states given"
        within = " within the bounds of the model" if proof.within else ""
        return f"in every reachable state of {_everyone(proof)}{within}, {values}, whatever integers they come to"
    if proof.verdict == "refuted":
        return "a run of the instance breaks it"
    stopped = {None: "", "interrupted": "interrupted", "time": "the time was up"}[proof.stopped]
    if proof.verdict == "not proved":
        open_ = "some step does not keep it, from a state that may be unreachable: a lemma that excludes it may help"
        return f"{stopped} before every attempt was made; so far {open_}" if stopped else open_
    if stopped:
        return f"{stopped} before there was an answer: nothing is known of it"
    return "the solver gave up: nothing is known of it"


def _open(page: Page, proof: Proof, width: int) -> None:
    page.gap()
    for claim in proof.claims:
        node = proof.nodes[claim]
        if node.status != "proved":
            page.add("  ", Piece(claim.name, "action"), f": {node.why}", hanging=4)
    if proof.trace is not None:
        page.gap()
        page.lines.extend(run(proof.trace, width, "text").lines)
        page.gap()
        known = "it is reachable: a search came to it" if proof.reachable else "a short search did not come to it"
        page.add("  the state before the step: ", known, hanging=4)
        if proof.violated:
            page.add("  it violates, of the lemmas that were given and not proved: ", ", ".join(proof.violated))


def _strengthened(page: Page, proof: Proof) -> None:
    if not proof.strengthened:
        return
    page.gap()
    page.add("  strengthened transitions: what earlier steps of the same process leave true")
    rows = []
    for each in proof.strengthened:
        rows.append(
            (
                Piece(each.transition, "process"),
                f"only after {' or '.join(each.after)}: if {each.condition}, then {each.assertion} ({each.claim.name})",
            )
        )
    page.table(rows)


def _graph(page: Page, proof: Proof) -> None:
    page.gap()
    rows = []
    for claim in proof.claims:
        node = proof.nodes[claim]
        rests = ", ".join(each.name for each in node.rests_on) or "nothing else"
        kind = CLASSES[claim.kind] if claim.origin != "obligation" else "obligation"
        more = f", k = {node.k}" if node.k > 1 else ""
        rows.append((Piece(_short(claim), "process"), f"{kind}{more}; rests on {rests}; {duration(node.seconds)}"))
    page.table(rows)


def _short(claim: Claim) -> str:
    return claim.name if len(claim.name) <= 40 else claim.name[:39] + "…"


def _lemmas(page: Page, proof: Proof) -> None:
    found = [claim for claim in proof.claims if claim.origin in ("found", "derived")]
    if not found:
        return
    page.gap()
    page.add("  the lemmas that were found, to be pasted into the system (from quorate import Pending, lemma):")
    page.gap()
    for claim in found:
        page.lines.extend((Piece(f"    {line}"),) for line in claim.text.splitlines())


def _figures(proof: Proof) -> list[tuple[str, str]]:
    found = [("time", f"{duration(proof.seconds)}, of which {duration(proof.encode_seconds)} for the formulas")]
    found.append(("actions", f"{count(proof.actions, 'action')} from {count(proof.paths, 'way')} through the handlers"))
    found.append(("solver", count(proof.queries, "question")))
    if proof.discovery is not None:
        each = proof.discovery
        found.append(
            (
                "lemmas",
                f"{each.considered:,} clauses considered, {count(each.candidates, 'candidate')} true in "
                f"{count(each.samples, 'sampled state')}; {duration(each.seconds)}",
            )
        )
    if proof.certificate is not None:
        found.append(("certificate", proof.certificate))
    return found


def picture(proof: Proof) -> str:
    """The proof graph as SVG: arrows lead from a lemma to what rests on it."""
    boxes = {}
    for claim in proof.claims:
        node = proof.nodes[claim]
        body = [line.strip() for line in claim.text.splitlines() if claim.origin in ("found", "derived")][2:]
        status = "" if node.status == "proved" else f", {node.status}"
        about = f"{CLASSES[claim.kind]}, k = {node.k}, {duration(node.seconds)}{status}"
        boxes[claim.name] = Box(
            claim.name, (about, *(line.removeprefix("return ") for line in body)), _HUES[claim.kind]
        )
    arrows = [Arrow(other.name, claim.name) for claim in proof.claims for other in proof.nodes[claim].rests_on]
    goals = ", ".join(proof.goals)
    return layered(f"{proof.system}: {goals} {proof.verdict}", boxes, arrows)


def flow_report(flows: Sequence[Flow], name: str, width: int = WIDTH) -> Page:
    page = Page(width)
    page.add(Piece(name, "good"), ": what each transition consumes, and what it may send")
    page.gap()
    rows = []
    for each in flows:
        came = f"{each.consumes} of {', '.join(each.senders)}" if each.consumes else "by itself"
        sends = ", ".join(f"{message} → {receiver}" for message, receiver in each.sends) or "nothing"
        rows.append((Piece(f"{each.owner}.{each.transition}", "process"), f"{came}  ⇒  {sends}"))
    page.table(rows)
    return page


def flow_picture(flows: Sequence[Flow], name: str) -> str:
    """Transitions as boxes; an arrow leads from who sends a message to who may consume it."""
    boxes = {
        f"{each.owner}.{each.transition}": Box(
            f"{each.owner}.{each.transition}",
            (f"consumes {each.consumes}" if each.consumes else "by itself",),
            _hue(each.owner, flows),
        )
        for each in flows
    }
    arrows = [
        Arrow(f"{one.owner}.{one.transition}", f"{two.owner}.{two.transition}", message)
        for one in flows
        for message, receiver in one.sends
        for two in flows
        if two.consumes == message and two.owner == receiver
    ]
    return layered(f"Message flows of {name}", boxes, arrows)


def _hue(owner: str, flows: Sequence[Flow]) -> int:
    return list(dict.fromkeys(each.owner for each in flows)).index(owner)

"""`quorate.prove`: from a system to a verdict about all of its states, however many there are.

Every invariant is tried alone, with the lemmas that were given, and with greater k. If that is not enough, an explicit
search looks for a counterexample of the instance; then lemmas are looked for. The verdict is "proved" if all invariants
and all that they rest on are; a solver that gives up makes it "unknown", a step that does not keep an invariant "not
proved".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from quorate.base.errors import PropertyError, TargetError
from quorate.base.watchdog import Halted
from quorate.model.define import define
from quorate.proofs import certificate
from quorate.proofs.candidates import Generator
from quorate.proofs.counterexamples import minimal, reachable, reason, trace_of
from quorate.proofs.encode import Encoded
from quorate.proofs.execution_plans import Planner, Strengthened
from quorate.proofs.induction import BRIEFLY, Node, Prover, closure, minimised, settled
from quorate.proofs.propositions import Claim, invariants, lemmas, obligations
from quorate.proofs.samples import Sample, Sampler
from quorate.proofs.solver import Deadline, Stopped, require
from quorate.proofs.unrolling import k_induction, thinned
from quorate.results.trace import Trace
from quorate.search.check import check

if TYPE_CHECKING:
    from quorate.language.system import System
    from quorate.model.definition import Definition

Verdict = Literal["proved", "refuted", "not proved", "unknown"]
SCHEMA = 1
SAMPLES = 2000
SOON, LATE = 100_000, 400_000
"""States of an explicit search for a counterexample: before lemmas are looked for, and if they did not help."""
FIRST_LITERALS, MOST_LITERALS = 2, 3


@dataclass
class Discovery:
    """What the search for lemmas came to."""

    samples: int = 0
    considered: int = 0
    candidates: int = 0
    seconds: float = 0.0


@dataclass
class Proof:
    """The answer of `quorate.prove`."""

    system: str
    parameters: Mapping[str, Any]
    verdict: Verdict
    goals: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    """The roles of which there may be any number of processes."""
    built: str | None = None
    """For which of these numbers `build` was run. That it makes more of the same for others is taken for granted."""
    quorums: tuple[str, ...] = ()
    """What is taken for granted of quorums of theirs."""
    within: tuple[str, ...] = ()
    """The bounds of the model: the answer is about the states within them."""
    claims: tuple[Claim, ...] = ()
    """All that the proof consists of, goals first."""
    nodes: Mapping[Claim, Node] = field(default_factory=dict)
    trace: Trace | None = None
    """Of a verdict "refuted": the run. Of "not proved": the step that breaks a claim, from a state that may be
    unreachable."""
    reachable: bool | None = None
    """Whether a bounded search came to the first state of that step."""
    violated: tuple[str, ...] = ()
    """The lemmas that this state violates, and that could not be proved themselves."""
    strengthened: tuple[Strengthened, ...] = ()
    """What may be joined to guards, by execution plans; each is a lemma that is proved."""
    discovery: Discovery | None = None
    seconds: float = 0.0
    encode_seconds: float = 0.0
    queries: int = 0
    actions: int = 0
    paths: int = 0
    target: str | None = None
    certificate: str | None = None
    trouble: TargetError | None = None
    """Why the certificate was not written."""
    stopped: Literal["time", "interrupted"] | None = None
    """Why there was no time for more attempts."""

    @property
    def ok(self) -> bool:
        return self.verdict == "proved"

    @contextmanager
    def certified(self, folder: Path) -> Iterator[None]:
        """A certificate is written: what was proved stays so, whatever becomes of it."""
        self.trouble = TargetError(f"interrupted: the certificate in {folder} is not whole", code="Q310")
        try:
            yield
        except TargetError as error:
            self.trouble = error
        else:
            self.certificate, self.trouble = str(folder), None

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        from quorate.render.proofs import report

        return report(self).plain()

    def __repr__(self) -> str:
        # Short, so that pytest shows it whole where it explains an `assert`; the formulas are megabytes.
        return f"<Proof {self.system}, {self.verdict}; {', '.join(self.goals)}>"

    def to_json(self) -> dict[str, Any]:
        from quorate.results.json import trace_to_json, value_to_json

        return {
            "schema": SCHEMA,
            "system": self.system,
            "target": self.target,
            "parameters": {name: value_to_json(value) for name, value in self.parameters.items()},
            "verdict": self.verdict,
            "goals": list(self.goals),
            "any": list(self.free),
            "numbers": list(self.numbers),
            "built": self.built,
            "quorums": list(self.quorums),
            "within": list(self.within),
            "graph": certificate.graph(self.claims, self.nodes),
            "strengthened": [each.to_json() for each in self.strengthened],
            "discovery": vars(self.discovery) if self.discovery is not None else None,
            "seconds": self.seconds,
            "encode_seconds": self.encode_seconds,
            "queries": self.queries,
            "actions": self.actions,
            "paths": self.paths,
            "trace": trace_to_json(self.trace) if self.trace is not None else None,
            "reachable": self.reachable,
            "violated": list(self.violated),
            "certificate": self.certificate,
            "stopped": self.stopped,
        }


def prove(
    system: System | type[System],
    *,
    property: str | Iterable[str] | None = None,
    k: int = 1,
    timeout: float | None = None,
    any: Iterable[str] = (),
    number: Iterable[str] = (),
    discover: bool = True,
    strengthen: bool = False,
    certificate_folder: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
    target: str | None = None,
) -> Proof:
    """Prove the invariants of a system for all of its reachable states, of which there may be infinitely many.

    With `number=["Participant=any"]`: of all instances, however many processes of that role there are.
    """
    require()
    began = time.perf_counter()
    deadline = Deadline(timeout)
    free = tuple(any)
    names = [property] if isinstance(property, str) else list(property) if property is not None else None
    if certificate_folder is not None:
        certificate.make(certificate_folder)
    made = system() if isinstance(system, type) else system
    definition = define(made)
    if not definition.invariants:
        raise PropertyError(
            f"{definition.name} states no invariant", hint="mark a method of the system with @invariant", code="Q401"
        )
    numbers = tuple(number)
    proof = Proof(definition.name, definition.parameters, "unknown", free=free, target=target)
    within = tuple(dict.fromkeys(f"{c.cls.__name__}.within" for c in definition.columns if c.spec.within is not None))
    with deadline, suppress(Stopped, Halted):
        if numbers:
            from quorate.proofs.parametric_prove import prove_family

            prove_family(
                proof,
                made,
                numbers,
                names,
                deadline=deadline,
                discover=discover,
                k=k,
                strengthen=strengthen,
                certificate_folder=certificate_folder,
                progress=progress,
            )
        else:
            _prove(proof, definition, names, deadline, k, discover, strengthen, certificate_folder, progress)
    # Each way through a handler was run for itself: of a model that remembers something, nothing was shown.
    definition.memory.require_unchanged()
    proof.within = within
    if proof.verdict in ("unknown", "not proved") and deadline.passed:
        proof.stopped = "interrupted" if deadline.interrupted else "time"
    proof.seconds = time.perf_counter() - began
    return proof


def _prove(
    proof: Proof,
    definition: Definition,
    names: list[str] | None,
    deadline: Deadline,
    k: int,
    discover: bool,
    strengthen: bool,
    certificate_folder: Path | None,
    progress: Callable[[str], None],
) -> None:
    began = time.perf_counter()
    proof.goals = tuple(names) if names is not None else tuple(each.name for each in definition.invariants)
    progress("encoding")
    encoded = Encoded(definition, free=proof.free, deadline=deadline, progress=progress)
    proof.actions, proof.paths = len(encoded.actions), encoded.explorer.runs
    goals = invariants(encoded, names)
    proof.goals = tuple(goal.name for goal in goals)
    wanted = [*goals, *obligations(encoded)]
    proof.encode_seconds = time.perf_counter() - began
    prover = Prover(encoded, deadline, query_seconds=min(60.0, max(1.0, deadline.left / 4)), progress=progress)
    begins = _base(prover, goals, definition)
    if begins is not None:
        proof.verdict, proof.trace = "refuted", begins
        return

    def refuted(most: int) -> Trace | None:
        progress("looking for a counterexample")
        seconds = max(0.1, min((1.5 if most == SOON else 5.0) * deadline.slowness, deadline.left / 4))
        searched = check(definition.system, property=[*proof.goals, "assertions"], max_states=most, timeout=seconds)
        if searched.stopped_by == "interrupt":
            deadline.interrupt()
        return searched.trace if searched.verdict == "violated" else None

    attempt = _Attempt(proof, prover, wanted, goals, progress)
    try:
        attempt.run(lemmas(encoded), refuted, discover=discover, strengthen=strengthen, k=k)
    except (Stopped, Halted):
        attempt._conclude()
    if certificate_folder is not None and proof.verdict == "proved":
        kept = {claim: proof.nodes[claim] for claim in proof.claims}
        told = {"schema": SCHEMA, "system": proof.system, "graph": certificate.graph(proof.claims, proof.nodes)}
        with proof.certified(certificate_folder):
            certificate.write(prover, kept, certificate_folder, told)


def _base(prover: Prover, goals: Sequence[Claim], definition: Definition) -> Trace | None:
    """A goal that an initial state breaks, perhaps one with a value that was left open."""
    for goal in goals:
        status, values = prover.base(goal)
        if status == "open" and values is not None:
            state = prover.machine.state(values, {})
            return Trace("violation", goal.name, reason(definition, goal.name, state), definition, state, (), True)
    return None


class _Attempt:
    """The attempts to prove the goals, one after the other."""

    def __init__(
        self, proof: Proof, prover: Prover, wanted: list[Claim], goals: list[Claim], progress: Callable[[str], None]
    ) -> None:
        self.proof, self.prover, self.wanted, self.goals, self.progress = proof, prover, wanted, goals, progress
        self.encoded = prover.encoded
        self.nodes: dict[Claim, Node] = {}
        self.pool: list[Claim] = []

    def run(
        self, given: list[Claim], refuted: Callable[[int], Trace | None], *, discover: bool, strengthen: bool, k: int
    ) -> None:
        samples: list[Sample] = []
        if given:
            samples = self._samples()
            _refuse_false(self.prover, given, samples)
        self.pool = list(given)
        # Where lemmas are missing, a solver may look for a proof for ever: patience is for the last attempt.
        patience, self.prover.query_seconds = (
            self.prover.query_seconds,
            BRIEFLY if discover else self.prover.query_seconds,
        )
        self._try("trying what is given" if given else "trying without lemmas")
        if not self._done() and k > 1:
            self._greater(k)
        if not self._done() and strengthen:
            self._strengthen()
            if not self._done() and k > 1:
                self._greater(k)
        if not self._done():
            self.proof.trace = refuted(SOON)
            if self.proof.trace is not None:
                self.proof.verdict = "refuted"
                return
        if not self._done() and discover:
            samples = samples or self._samples()
            for literals in range(FIRST_LITERALS, MOST_LITERALS + 1):
                self.prover.query_seconds = patience if literals == MOST_LITERALS else min(patience, 3 * BRIEFLY)
                self._discover(samples, literals)
                if self._done() or self.prover.deadline.passed:
                    break
        if not self._done() and discover and not self.prover.deadline.passed:
            self.proof.trace = refuted(LATE)
            if self.proof.trace is not None:
                self.proof.verdict = "refuted"
                return
        self._conclude()

    def _done(self) -> bool:
        return all(claim in self.nodes and self.nodes[claim].status == "proved" for claim in self.wanted)

    def _try(self, what: str) -> None:
        self.progress(what)
        self.nodes = self.prover.prove(self.wanted, self.pool)

    def _samples(self) -> list[Sample]:
        self.progress("sampling states")
        deadline = self.prover.deadline
        limit = Deadline(min(30.0 * deadline.slowness, deadline.left / 4), deadline)
        return Sampler(self.encoded.definition, self.encoded.machine).states(SAMPLES, limit)

    def _strengthen(self) -> None:
        """What earlier steps have made true when a transition is taken, as lemmas that are proved."""
        self.progress("strengthening transitions")
        planner = Planner(self.prover, Generator(self.encoded, [], self.prover.deadline))
        found = planner.found()
        claims = [each.claim for each in found]
        nodes = self.prover.prove(claims, claims)
        sure = settled(nodes)
        self.proof.strengthened = tuple(each for each in found if each.transition and each.claim in sure)
        self.pool += [each for each in claims if each in sure]
        self._try("trying with strengthened transitions")
        self.nodes = {**{claim: nodes[claim] for claim in sure}, **self.nodes}

    def _discover(self, samples: list[Sample], literals: int) -> None:
        began = time.perf_counter()
        self.progress("looking for lemmas")
        found = self.proof.discovery = self.proof.discovery or Discovery(len(samples))
        generator = Generator(self.encoded, samples, self.prover.deadline, literals=literals)
        candidates = list(generator.candidates())
        made = [generator.claim(each, f"lemma_{at}") for at, each in enumerate(candidates, start=1)]
        made = [claim for claim in made if claim.instances]
        found.considered += generator.considered
        found.candidates = len(made)
        self.pool = [claim for claim in self.pool if claim.origin != "found"] + made
        found.seconds += time.perf_counter() - began
        self._try("proving with candidates")

    def _greater(self, most: int) -> None:
        """k-induction of what is open, relative to what is proved."""
        for goal in self.wanted:
            node = self.nodes.get(goal)
            if node is None or node.status == "proved" or goal.origin == "obligation":
                continue
            self.progress(f"{goal.name}: greater k")
            proved = [each for each in (*self.pool, *self.goals) if self._proved(each)]
            tried = k_induction(self.prover, goal, proved, most)
            if tried.status == "proved":
                tried = thinned(self.prover, goal, tried)
            if tried.status == "proved" or node.status == "unknown":
                self.nodes[goal] = tried

    def _proved(self, claim: Claim) -> bool:
        """Whether a claim is proved, with all that it rests on."""
        return all(each in self.nodes and self.nodes[each].status == "proved" for each in closure([claim], self.nodes))

    def _conclude(self) -> None:
        proof, prover = self.proof, self.prover
        prover.deadline.answering = True
        complete = self._done() and all(self._proved(goal) for goal in self.wanted)
        if complete:
            self.nodes = minimised(prover, self.wanted, self.nodes)
            complete = all(self._proved(goal) for goal in self.wanted)
        proof.nodes = self.nodes
        claims = closure(self.wanted, self.nodes)
        proof.claims = tuple(_named([*self.wanted, *(each for each in claims if each not in self.wanted)]))
        proof.claims = tuple(each for each in proof.claims if each in self.nodes)
        proof.queries = prover.queries
        if complete:
            proof.verdict = "proved"
            return
        states = {self.nodes[goal].status for goal in self.wanted if goal in self.nodes}
        proof.verdict = "not proved" if "open" in states else "unknown"
        failing = next((n for g in self.wanted if (n := self.nodes.get(g)) and n.cti is not None), None)
        if failing is not None and failing.cti is not None:
            cti = minimal(prover, failing.cti)
            proof.trace = trace_of(prover, cti)
            proof.reachable = reachable(prover, cti)
            given = [each for each in self.pool if each.origin == "given"]
            proof.violated = tuple(each.name for each in prover.violated(cti, given))


def _named(claims: list[Claim]) -> list[Claim]:
    """Lemmas that were found get numbers without gaps."""
    number = 0
    for claim in claims:
        if claim.origin == "found":
            number += 1
            old, claim.name = claim.name, f"lemma_{number}"
            claim.text = claim.text.replace(f"def {old}(", f"def {claim.name}(")
    return claims


def _refuse_false(prover: Prover, given: Sequence[Claim], samples: Sequence[Sample]) -> None:
    """A lemma that a reachable state breaks is no lemma; nothing is proved with it."""
    from quorate.base.values import show

    for claim in given:
        for sample in samples:
            if claim.instances and not prover.holds(claim, sample.values, sample.channels):
                values = ", ".join(f"{name} = {show(value)}" for name, value in list(sample.values.items())[:8])
                raise PropertyError(
                    f"the lemma {claim.name} is false in a reachable state",
                    hint=f"there {values}; `quorate check` shows a run if it is about processes alone",
                    code="Q754",
                    location=claim.location,
                )

"""What the benchmarks are to show, with the figures beside it: met or missed."""

from __future__ import annotations

from benchmarks.against import MULTICAST, OM, PAXOS, STORAGE, THESIS
from benchmarks.experiment import Measured
from benchmarks.gandalf import AGAIN
from benchmarks.overhead import overhead
from benchmarks.results import Figure, Results, Section
from benchmarks.symmetry import AUTO, NAIVE, NONE, THESIS_TABLE
from benchmarks.tables import duration, fastest, reduced, times

LONG_FOR_SPIN = 5.0  # seconds
SPIN = ("Spin", "Spin, no reduction", "Spin, COLLAPSE")  # exact searches of the like-for-like model
RUMUR = ("Rumur, scalarsets", "Rumur, scalarsets, heuristic")


def goals(results: Results) -> Section:
    sections = results.sections
    figures: list[Figure] = []
    if PAXOS in sections:
        paxos = sections[PAXOS]
        figures += [*_time_to_verdict(paxos), *_throughput(paxos), *_same_counts(paxos), *_reductions(paxos)]
    for name in (OM, THESIS, STORAGE, MULTICAST):
        if name in sections:
            figures += _same_counts(sections[name])
    if THESIS in sections:
        figures += _fewer_than_rumur(sections[THESIS], "Paxos")
        figures += _fewer_than_rumur(sections[THESIS], "OM(1), 4 lieutenants")
    if THESIS_TABLE in sections:
        figures += _efficiency(sections[THESIS_TABLE])
    figures += _out_of_memory(results)
    figures += overhead(results)
    if "gandalf-1" in sections:
        figures += _published_again(sections["gandalf-1"])
    return Section("goals", figures=tuple(figures))


def _tried(section: Section, instance: str, columns: tuple[str, ...]) -> list[Measured]:
    """What these columns measured on an instance: answers, and searches that met a limit."""
    return [
        each.measured
        for each in section.entries
        if each.instance == instance and each.column in columns and each.measured.states
    ]


def _time_to_verdict(section: Section) -> list[Figure]:
    """Against the quickest of Spin's exact searches. Where none ended, its time is at least what it was given.

    Seconds on a core, on both sides: on a quiet machine those are the seconds that passed.
    """
    figures = []
    for instance in section.instances:
        tried, ours = _tried(section, instance, SPIN), fastest(section, instance)
        answers = [each for each in tried if each.answered]
        theirs = min(answers or tried, key=lambda each: each.core_seconds, default=None)
        if theirs is None or ours is None or theirs.core_seconds <= LONG_FOR_SPIN:
            continue
        more = "" if answers else "more than "
        note = f"{duration(ours.core_seconds)}, Spin {more}{duration(theirs.core_seconds)}" + (
            "" if answers else ", when it was stopped"
        )
        figures.append(
            Figure(
                f"Paxos {instance}: times faster than Spin" + ("" if answers else ", at least"),
                "x",
                theirs.core_seconds / ours.core_seconds,
                goal=100,
                note=note,
            )
        )
    return figures


def _throughput(section: Section) -> list[Figure]:
    """Without reductions, against Spin on the same instance: the worst of the instances that last long enough."""
    rates: dict[str, float] = {}
    sizes: dict[str, float] = {}
    for instance in section.instances:
        plain, theirs = section.find(instance, "Quorate, plain"), section.find(instance, "Spin")
        if plain is None or theirs is None or not (plain.lasts and theirs.lasts):
            continue
        rates[instance] = plain.states_per_second / theirs.states_per_second
        sizes[instance] = theirs.bytes_per_state / plain.bytes_per_state
    if not rates:
        return []
    return [
        Figure(
            "Paxos, plain search: times more states per second than Spin, at least",
            "x",
            min(rates.values()),
            goal=20,
            note=_each(rates),
        ),
        Figure(
            "Paxos, plain search: times less memory per state than Spin, at least",
            "x",
            min(sizes.values()),
            goal=16,
            note=_each(sizes),
        ),
    ]


def _each(factors: dict[str, float]) -> str:
    return ", ".join(f"{instance} {times(value)}" for instance, value in factors.items())


def _same_counts(section: Section) -> list[Figure]:
    """Three tools that count the same states of three models of one protocol: that is evidence for all."""
    more = {"Spin": 1 if section.name == OM else 0}  # the state in which Spin chooses the traitors
    same, compared = 0, 0
    for entry in section.entries:
        plain = section.find(entry.instance, "Quorate, plain")
        if plain is None or entry.measured.status != "holds" or entry.column not in (*SPIN, "Spin, packed", "Rumur"):
            continue
        compared += 1
        same += entry.measured.states - more.get(entry.program, 0) == plain.states
    what = f"{section.name}: searches by peers without symmetry that count our states"
    return [Figure(what, "", same, better="equal", goal=compared)] if compared else []


def _reductions(section: Section) -> list[Figure]:
    plain, default = section.find("(2,5,1)", "Quorate, plain"), section.find("(2,5,1)", "Quorate")
    if plain is None or default is None:
        return []
    note = f"{plain.states:,} in {duration(plain.seconds)}; {default.states:,} in {duration(default.seconds)}"
    return [
        Figure(
            "Paxos (2,5,1): times fewer states with the default reductions",
            "x",
            plain.states / default.states,
            goal=100,
            note=note,
        )
    ]


def _fewer_than_rumur(section: Section, instance: str) -> list[Figure]:
    theirs = [each for each in _tried(section, instance, RUMUR) if each.answered]
    ours = reduced(section, instance)
    if not theirs or not ours:
        return []
    fewest, least = (min(each.states for each in group) for group in (theirs, ours))
    usual = section.find(instance, RUMUR[1])
    note = f"{least:,}, Rumur {fewest:,}" + (f", and {usual.states:,} with its default" if usual else "")
    return [
        Figure(
            f"the thesis' {instance}: times fewer states than Rumur with scalarsets",
            "x",
            fewest / least,
            goal=10,
            note=note,
        )
    ]


def _efficiency(section: Section) -> list[Figure]:
    """As the thesis defines it: 1 where every state stands for as many as the group has elements.

    Where the search without symmetry did not end, what the states stand for is as many as it would have found.
    """
    figures = []
    for instance in section.instances:
        plain, auto = section.find(instance, NONE), section.find(instance, AUTO)
        if auto is None or not auto.symmetries or auto.status != "holds":
            continue
        naive = section.find(instance, NAIVE)
        least = (plain.states if plain else auto.stands_for) / auto.symmetries
        note = auto.group + (f"; naive {least / naive.states:.2f}, {naive.group}" if naive and naive.group else "")
        goal = 0.9 if instance.startswith("Paxos") else 0.85
        figures.append(Figure(f"{instance}: efficiency of symmetry", "x", least / auto.states, goal=goal, note=note))
    return figures


def _published_again(section: Section) -> list[Figure]:
    """The paper's model, written anew, against the paper's counts."""
    published = {e.instance: e.published.states for e in section.entries if e.published}
    again = [e for e in section.entries if e.column == AGAIN and e.measured.answered]
    same = sum(e.measured.states == published[e.instance] for e in again)
    what = "rows of GandALF table 1 that Spin counts as published, on a model after the paper"
    return [Figure(what, "", same, better="equal", goal=len(again))] if again else []


def _out_of_memory(results: Results) -> list[Figure]:
    """Rows of the papers where Spin ran out of memory, and how many of them Quorate answers."""
    answered: dict[str, bool] = {}
    for name, section in results.sections.items():
        if not name.startswith("gandalf"):
            continue
        gone = {e.instance for e in section.entries if e.published and e.published.note == "out of memory"}
        for instance in gone:
            found = [e.measured for e in section.entries if e.instance == instance and e.program == "Quorate"]
            answered[f"{name} {instance}"] = any(each.answered for each in found)
    if not answered:
        return []
    missing = ", ".join(sorted(name for name, done in answered.items() if not done))
    what = "rows of the GandALF tables where Spin ran out of memory, answered exhaustively"
    return [Figure(what, "", sum(answered.values()), goal=len(answered), note=f"not: {missing}" if missing else "")]

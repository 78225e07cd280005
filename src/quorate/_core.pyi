import enum
from collections.abc import Sequence
from typing import Any

class LimitError(Exception):
    pass

class StoppedError(RuntimeError):
    pass

NONE: int = 4294967295

class Order(enum.Enum):
    set = 0

    multiset = 1

    fifo = 2

class WhenFull(enum.Enum):
    block = 0

    replace = 1

class Head(enum.Enum):
    block = 0

    skip = 1

    drop = 2

class Mode(enum.Enum):
    spontaneous = 0

    single = 1

    exact = 2

    each = 3

    minimal = 4

    maximal = 5

class Effect(enum.Enum):
    moves = 0

    cut = 1

    fails = 2

class PropertyKind(enum.Enum):
    invariant = 0

    goal = 1

    final = 2

class Verdict(enum.Enum):
    unknown = 0

    no = 1

    yes = 2

    raises = 3

class QueryKind(enum.Enum):
    request = 0

    accept = 1

    fire = 2

    observe = 3

class Keep(enum.Enum):
    deadlocks = 0

    safety = 1

    linear = 2

    branching = 3

class Traversal(enum.Enum):
    breadth_first = 0

    depth_first = 1

    dpor_classical = 2

    dpor_optimal = 3

class Stop(enum.Enum):
    finished = 0

    violation = 1

    states = 2

    memory = 3

    time = 4

    interrupt = 5

    regrown = 6

    outgrown = 7

    depth = 8

    cycle = 9

    reached = 10

    overtaken = 11

class Finding(enum.Enum):
    violated = 0

    reached = 1

    raises = 2

    deadlock = 3

    failure = 4

class RefutationKind(enum.Enum):
    stuck = 0

    differs = 1

    unseen = 2

    fails = 3

class Network:
    def __init__(
        self,
        *,
        order: Order,
        when_full: WhenFull,
        head: Head,
        capacity: int | None,
        losses_unlimited: bool,
        duplicates_unlimited: bool,
        losses: int,
        duplicates: int,
        crashes: int,
        cut_short: bool,
    ) -> None: ...

class Transition:
    def __init__(self, *, mode: Mode, keep: bool) -> None: ...

class Message:
    def __init__(self, *, sender: int, type: int, content: int, stands: bool) -> None: ...

class Request:
    def __init__(self, *, mode: Mode, size: int = 0, senders: Sequence[int] = []) -> None: ...

class Outcome:
    def __init__(
        self,
        *,
        effect: Effect,
        local: int | None = None,
        failure: int | None = None,
        sends: Sequence[tuple[int, int]] = [],
    ) -> None: ...
    @property
    def effect(self) -> Effect: ...
    @property
    def local(self) -> int | None: ...
    @property
    def failure(self) -> int | None: ...
    @property
    def sends(self) -> list[tuple[int, int]]: ...

class Renaming:
    def __init__(
        self, *, columns: Sequence[int], locals: Sequence[Sequence[int]], messages: Sequence[Sequence[int]]
    ) -> None: ...
    @property
    def columns(self) -> list[int]: ...
    @property
    def locals(self) -> list[list[int]]: ...

class Symmetry:
    def __init__(
        self,
        *,
        families: Sequence[int],
        owned: Sequence[Sequence[int]],
        exchanges: Sequence[Sequence[Renaming]],
        locals: Sequence[Sequence[tuple[int, Sequence[tuple[int, int]]]]],
        messages: Sequence[Sequence[tuple[int, Sequence[tuple[int, int]]]]],
    ) -> None: ...

class PorOptions:
    def __init__(
        self,
        *,
        necessary: bool = True,
        conditional: bool = True,
        smallest: bool = True,
        commuting: bool = True,
        key: bool = True,
        twins: bool = True,
        split_quorums: bool = False,
        split_replies: bool = False,
        keep: Keep,
    ) -> None: ...

class SearchOptions:
    def __init__(
        self,
        *,
        traversal: Traversal,
        threads: int = 1,
        deadlock: bool,
        stateless: bool = False,
        bitstate: int = 0,
        states: int | None = None,
        memory: int | None = None,
        seconds: float | None = None,
        depth: int | None = None,
        void_states: int = 1000,
        visible: bool = True,
        goals_end_from: int | None = None,
    ) -> None: ...

class Progress:
    @property
    def states(self) -> int: ...
    @property
    def transitions(self) -> int: ...
    @property
    def frontier(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def memory(self) -> int: ...

class UniverseReport:
    @property
    def complete(self) -> bool: ...
    @property
    def why(self) -> str: ...
    @property
    def local_states(self) -> int: ...
    @property
    def messages(self) -> int: ...
    @property
    def behaviours(self) -> int: ...
    @property
    def enabled(self) -> int: ...
    @property
    def as_is(self) -> list[int]: ...

class ReductionReport:
    @property
    def local_states(self) -> int: ...
    @property
    def dead(self) -> int: ...
    @property
    def pairs(self) -> int: ...

class EnabledReport:
    @property
    def local(self) -> int: ...
    @property
    def transition(self) -> int: ...
    @property
    def consumed(self) -> list[int]: ...
    @property
    def outcomes(self) -> list[Outcome]: ...

class Breach:
    @property
    def what(self) -> str: ...
    @property
    def column(self) -> int | None: ...
    @property
    def local(self) -> int | None: ...
    @property
    def transition(self) -> int | None: ...

class BrokenFamily:
    @property
    def family(self) -> int: ...
    @property
    def property(self) -> int | None: ...

class Witness:
    @property
    def finding(self) -> Finding: ...
    @property
    def length(self) -> int: ...
    @property
    def column(self) -> int | None: ...
    @property
    def failure(self) -> int | None: ...
    @property
    def path(self) -> list[tuple[list[tuple[int, list[int]]], list[int]]]: ...
    @property
    def property(self) -> int: ...

class SearchReport:
    @property
    def stop(self) -> Stop: ...
    @property
    def states(self) -> int: ...
    @property
    def transitions(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def deadlocks(self) -> int: ...
    @property
    def stands_for(self) -> float: ...
    @property
    def frontier(self) -> int: ...
    @property
    def coverage(self) -> float: ...
    @property
    def store_bytes(self) -> int: ...
    @property
    def por_given_up(self) -> int: ...
    @property
    def executions(self) -> int: ...
    @property
    def blocked(self) -> int: ...
    @property
    def cut(self) -> list[int]: ...
    @property
    def violation(self) -> Witness | None: ...
    @property
    def goals(self) -> list[Witness]: ...

class GraphNode:
    @property
    def state(self) -> tuple[list[tuple[int, list[int]]], list[int]]: ...
    @property
    def observed(self) -> list[int]: ...

class GraphEdge:
    @property
    def source(self) -> int: ...
    @property
    def target(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def transition(self) -> int | None: ...
    @property
    def messages(self) -> list[int]: ...

class Graph:
    @property
    def initial(self) -> int: ...
    @property
    def states(self) -> list[GraphNode]: ...
    @property
    def edges(self) -> list[GraphEdge]: ...

class Preview:
    @property
    def taken(self) -> list[tuple[int, tuple[list[tuple[int, list[int]]], list[int]] | None]]: ...
    @property
    def reduced(self) -> bool: ...

class SeenReport:
    @property
    def fields(self) -> list[list[bool]]: ...
    @property
    def seen(self) -> list[int]: ...
    @property
    def stuck(self) -> list[int]: ...

class NamedStep:
    @property
    def column(self) -> int: ...
    @property
    def transition(self) -> int | None: ...
    @property
    def messages(self) -> list[int]: ...

class Refutation:
    @property
    def kind(self) -> RefutationKind: ...
    @property
    def state(self) -> tuple[list[tuple[int, list[int]]], list[int]]: ...
    @property
    def chosen(self) -> list[NamedStep]: ...
    @property
    def path(self) -> list[NamedStep]: ...

class Verification:
    @property
    def sets(self) -> int: ...
    @property
    def paths(self) -> int: ...
    @property
    def pairs(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def wrong(self) -> list[Refutation]: ...

class Engine:
    def __init__(self, network: Network) -> None: ...
    def add_column(self, monitor: bool, transitions: Sequence[Transition]) -> None: ...
    def set_input(self, column: int, clean: bool) -> None: ...
    def add_local(
        self, column: int, content: int, values: Sequence[int], failure: int | None, crashed: bool
    ) -> int: ...
    def set_crash(self, column: int, local: int, crash: int) -> None: ...
    def set_recovery(self, column: int, local: int, back: int) -> None: ...
    def add_notice(self, column: int, receiver: int, message: int) -> None: ...
    def add_message(self, column: int, message: Message) -> int: ...
    def open_with(self, column: int, message: int) -> None: ...
    def allow(self, column: int, transition: int, type: int) -> None: ...
    def put_request(self, column: int, transition: int, local: int, request: Request | None) -> None: ...
    def put_group(self, column: int, transition: int, local: int, message: int, group: int | None) -> None: ...
    def put_behaviour(
        self, column: int, transition: int, local: int, subject: int, outcomes: Sequence[Outcome]
    ) -> None: ...
    def add_property(self, kind: PropertyKind) -> None: ...
    def add_answer(self, property: int, reads: Sequence[tuple[int, int, int, int, int]], verdict: Verdict) -> None: ...
    def clear_answers(self) -> None: ...
    def set_symmetric(self, symmetric: Sequence[bool]) -> None: ...
    def set_initials(self, initials: Sequence[Sequence[int]]) -> None: ...
    def observe(self, observed: Sequence[Sequence[bool]]) -> None: ...
    def close(self, oracle: object, most_behaviours: int, aside: bool = False) -> UniverseReport: ...
    def simulate(self, oracle: object, walks: int, most_steps: int) -> None: ...
    def extend_universe(self) -> None: ...
    def evaluate_universe(self, oracle: object, most_behaviours: int, only_met: bool = False) -> UniverseReport: ...
    def forget_universe(self) -> None: ...
    def reduce(self, quotient: bool, dead_messages: bool) -> ReductionReport: ...
    def search(
        self, oracle: object, options: SearchOptions, sample: int | None = None, meanwhile: object | None = None
    ) -> SearchReport: ...
    def relate(self, options: PorOptions) -> str: ...
    def parts(self, column: int) -> list[tuple[int, list[int], int]]: ...
    def graph(self, oracle: object) -> Graph: ...
    def dpor_unsupported(self) -> str: ...
    def relate_by_flows(self, visible: bool) -> str: ...
    def knows_all(self) -> bool: ...
    def unrelate(self) -> None: ...
    def hide_sends(self, column: int, transition: int) -> None: ...
    def seen(self) -> SeenReport: ...
    def verify(self, oracle: object, depth: int, most: int, visible: bool) -> Verification: ...
    def cell_count(self) -> int: ...
    def set_most_step_bytes(self, bytes: int) -> None: ...
    def preview(
        self, oracle: object, state: tuple[Sequence[tuple[int, Sequence[int]]], Sequence[int]], por: bool
    ) -> Preview: ...
    def behaviours(self, column: int) -> list[EnabledReport]: ...
    def dead(self, column: int) -> list[int]: ...
    def find_breach(self, renaming: Renaming, failures: Sequence[int]) -> Breach | None: ...
    def symmetrise(self, description: Symmetry) -> None: ...
    def unsymmetrise(self) -> None: ...
    def broken_family(self) -> BrokenFamily | None: ...
    def reduced(
        self, state: tuple[Sequence[tuple[int, Sequence[int]]], Sequence[int]]
    ) -> tuple[list[tuple[int, list[int]]], list[int]]: ...
    def representatives(self, column: int) -> list[int]: ...

class StateSet:
    def __and__(self, other: StateSet) -> StateSet: ...
    def __or__(self, other: StateSet) -> StateSet: ...
    def __invert__(self) -> StateSet: ...
    def __len__(self) -> int: ...
    def __contains__(self, arg: int, /) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    @property
    def size(self) -> int: ...
    def states(self) -> list[int]: ...

class Temporal:
    def __init__(self, engine: Engine) -> None: ...
    def explore(
        self,
        oracle: object,
        predicates: Sequence[int],
        *,
        states: int | None = None,
        memory: int | None = None,
        seconds: float | None = None,
    ) -> dict[str, Any]: ...
    def check(
        self,
        oracle: object,
        automaton: tuple[int, int, int, Sequence[tuple[int, int, int, int, int]]],
        atoms: Sequence[StateSet],
        *,
        level: str = "message",
        fair: Sequence[Sequence[int]] = [],
        discards: int = 1,
        recoveries: int = 0,
        crashable: Sequence[int] = [],
        crashes: int = 0,
        memory: int | None = None,
        seconds: float | None = None,
        even_if_acyclic: bool = False,
    ) -> dict[str, Any]: ...
    def exists(
        self,
        oracle: object,
        automaton: tuple[int, int, int, Sequence[tuple[int, int, int, int, int]]],
        atoms: Sequence[StateSet],
        *,
        level: str = "message",
        fair: Sequence[Sequence[int]] = [],
        discards: int = 1,
        recoveries: int = 0,
        memory: int | None = None,
        seconds: float | None = None,
    ) -> tuple[StateSet, str, bool]: ...
    def always(
        self,
        oracle: object,
        holds: StateSet,
        *,
        level: str = "message",
        fair: Sequence[Sequence[int]] = [],
        discards: int = 1,
        recoveries: int = 0,
        memory: int | None = None,
        seconds: float | None = None,
    ) -> tuple[StateSet, str, bool]: ...
    def until(self, holds: StateSet, goal: StateSet) -> StateSet: ...
    def predicate(self, index: int) -> StateSet: ...
    def everything(self) -> StateSet: ...
    def initial(self) -> StateSet: ...
    def state(self, number: int) -> tuple[list[tuple[int, list[int]]], list[int]]: ...
    def steps(self, number: int) -> list[Any]: ...
    def groups(
        self, *, level: str = "message", fair: Sequence[Sequence[int]] = [], discards: int = 1, recoveries: int = 0
    ) -> list[Any]: ...

def resident_bytes() -> int: ...
def end_with(parent: int) -> None: ...

class Thresholds:
    @property
    def few_states(self) -> int: ...
    @few_states.setter
    def few_states(self, arg: int, /) -> None: ...
    @property
    def portion(self) -> int: ...
    @portion.setter
    def portion(self, arg: int, /) -> None: ...
    @property
    def most_waiting(self) -> int: ...
    @most_waiting.setter
    def most_waiting(self, arg: int, /) -> None: ...
    @property
    def few_smallest(self) -> int: ...
    @few_smallest.setter
    def few_smallest(self, arg: int, /) -> None: ...
    @property
    def most_twins(self) -> int: ...
    @most_twins.setter
    def most_twins(self, arg: int, /) -> None: ...
    @property
    def most_judged(self) -> int: ...
    @most_judged.setter
    def most_judged(self, arg: int, /) -> None: ...

thresholds: Thresholds = ...

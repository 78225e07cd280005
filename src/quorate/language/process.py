"""Processes: fields are the local state, decorated methods the transitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, TypeVar

from quorate.base.errors import ModelError, caller, did_you_mean
from quorate.base.places import member_location
from quorate.base.values import BadValueError, in_order, show
from quorate.language.automaton import Automaton
from quorate.language.message import Event, Message, stamped
from quorate.language.operation import Invoked, Operation, Returned
from quorate.language.pid import Peers, Pid
from quorate.language.signed import Signed, signed

T = TypeVar("T")


class Process(Automaton):
    """A sequential process.

    class Acceptor(Process):
        learners: Peers                  # given when it is spawned
        promised: int = 0

        @on(Prepare, when=lambda self, m: m.ballot > self.promised)
        def promise(self, m: Prepare) -> None:
            self.promised = m.ballot
            self.reply(Promise(m.ballot))

    `class Liar(Acceptor, byzantine=True)` is an acceptor that does not keep to the protocol: it overrides handlers, and
    in properties `self[Acceptor]` leaves it out.

    A method `within(self) -> bool`, if there is one, bounds the local states that are explored.
    """

    __slots__ = ()
    _reserved = Automaton._reserved | {"sign", "durable", "crashed", "invoke", "returns"}
    durable: ClassVar[tuple[str, ...]] = ()
    """The fields that a process which recovers from a crash still has: `durable = ("term", "voted_for")`."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if isinstance(cls.durable, str):
            raise ModelError(
                f"{cls.__name__}.durable is the string {cls.durable!r}, not a tuple of field names",
                hint=f"write a tuple: durable = ({cls.durable!r},)",
                code="Q106",
                location=member_location(cls, "durable"),
            )
        for name in cls.durable:
            if name not in cls._fields:
                raise ModelError(
                    f"{cls.__name__}.durable names `{name}`, and {cls.__name__} has no such field",
                    hint=did_you_mean(name, cls._fields),
                    code="Q106",
                    location=member_location(cls, "durable"),
                )

    @property
    def pid(self) -> Pid:
        """The identity of this process."""
        pid: Pid = self._run.pid
        return pid

    @property
    def crashed(self) -> bool:
        """For properties: whether this process has crashed. A process that runs has not."""
        return False

    def send(self, to: Pid | Iterable[Pid], message: Message) -> None:
        """Send to one process, or to each of several; oneself included, if named."""
        run = self._run
        if run.closed:
            raise misplaced(self, "send", run.closed)
        if not isinstance(message, Message):
            raise _not_a_message(self, "send", message, to)
        mine = stamped(message, run.pid)
        if type(to) is Pid:
            run.sends.append((to._index, mine))
            return
        for pid in _receivers(self, to):
            run.sends.append((pid._index, mine))

    def reply(self, message: Message) -> None:
        """Send to the senders of the messages this transition consumes, once to each."""
        run = self._run
        if run.closed:
            raise misplaced(self, "reply", run.closed)
        if not isinstance(message, Message):
            raise _not_a_message(self, "reply", message)
        if not run.messages:
            raise ModelError(
                f"{type(self).__name__}.reply(...) in a transition without a message: there is nobody to reply to",
                hint="name the receiver: self.send(pid, message)",
                code="Q107",
                location=caller(),
            )
        mine = stamped(message, run.pid)
        for received in run.messages:
            run.sends.append((received._origin._index, mine))

    def emit(self, event: Event) -> None:
        """Tell the monitors, who see it in the same indivisible step."""
        run = self._run
        if run.closed:
            raise misplaced(self, "emit", run.closed)
        if not isinstance(event, Event):
            raise ModelError(
                f"{type(self).__name__}.emit({show(event)}): not an event",
                hint="emit an instance of an Event subclass; messages are sent with self.send",
                code="Q107",
                location=caller(),
            )
        run.events.append(stamped(event, run.pid))

    def invoke(self, operation: Operation, *, identity: Any = None) -> None:
        """Begin an operation, which ends with `returns`; with identities there may be several under way."""
        run = self._run
        if run.closed:
            raise misplaced(self, "invoke", run.closed)
        if not isinstance(operation, Operation):
            raise ModelError(
                f"{type(self).__name__}.invoke({show(operation)}): not an operation",
                hint="invoke an instance of an Operation subclass: self.invoke(Write(3))",
                code="Q107",
                location=caller(),
            )
        self._tell(Invoked(operation, identity))

    def returns(self, value: Any = None, *, identity: Any = None) -> None:
        """End the operation under way, or the one of that identity, with its result."""
        run = self._run
        if run.closed:
            raise misplaced(self, "returns", run.closed)
        self._tell(Returned(value, identity))

    def _tell(self, event: Event) -> None:
        told = stamped(event, self._run.pid)
        told.__dict__["_place"] = caller()
        self._run.events.append(told)

    def sign(self, value: T) -> Signed[T]:
        """The value with the signature of this process, which nobody else can make."""
        run = self._run
        if run.closed:
            raise misplaced(self, "sign", run.closed)
        try:
            return signed(value, run.pid)
        except BadValueError as bad:
            raise ModelError(
                f"{type(self).__name__}.sign({show(value)}): not a value that can be sent",
                hint=bad.advice,
                code="Q101",
                location=caller(),
            ) from None

    def choose(self, options: Iterable[T]) -> T:
        """Any of the options: every one is explored. Without an option the transition is not enabled."""
        run = self._run
        if run.closed:
            raise misplaced(self, "choose", run.closed)
        chosen: T = run.choices.pick(type(self).__name__, options)
        return chosen


def misplaced(self: Automaton, what: str, where: str) -> ModelError:
    """The error for an action in a guard, a bound or a property."""
    return ModelError(
        f"{type(self).__name__}.{what}(...) was called in {where}, which may only read",
        hint="do it in the body of the transition",
        code="Q108",
        location=caller(),
    )


def _receivers(self: Process, to: Any) -> list[Pid]:
    try:
        # A plain set's own order follows the hashes of its elements.
        pids = in_order(to) if isinstance(to, (set, frozenset)) and not isinstance(to, Peers) else list(to)
    except (TypeError, BadValueError):
        pids = [to]  # neither one identity nor several: reported below
    for pid in pids:
        if type(pid) is not Pid:
            raise ModelError(
                f"{type(self).__name__}.send({show(to)}, ...): {show(pid)} is not the identity of a process",
                hint="send takes a Pid or several, then the message: self.send(self.acceptors, Prepare(1))",
                code="Q107",
                location=caller(),
            )
    return pids


def _not_a_message(self: Process, method: str, message: object, to: object = None) -> ModelError:
    if isinstance(to, Message):
        hint = "the receiver comes first: self.send(pid, message)"
    elif isinstance(message, Event):
        hint = "events go to the monitors: self.emit(event)"
    elif isinstance(message, type):
        hint = f"send an instance: {message.__name__}(...)"
    else:
        hint = "send an instance of a Message subclass"
    return ModelError(
        f"{type(self).__name__}.{method}: {show(message)} is not a message", hint=hint, code="Q107", location=caller()
    )

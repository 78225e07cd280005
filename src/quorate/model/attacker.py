"""The exhaustive attacker: a Byzantine process that may send any well-typed message to anyone, at any time.

What it may say is not said step by step. A message that the attacker can send now it can send at any later time too, so
it *stands*: it lies in its receiver's inbox from the moment on when it becomes possible, and consuming it does not
remove it. A run in which the attacker sends just what is consumed, just before, is such a run without those steps, and
the other way round. So the observations are the same, and the attacker's messages add no states. That needs receivers
whom a pending message does not hinder, so `sets="maximal"` is refused. On FIFO and bounded channels a standing message
neither blocks nor takes up room: the attacker can always wait with sending it.

Attackers know one another and share their keys. What others have signed they can use only once one of them was sent it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from quorate.base.errors import ModelError
from quorate.base.values import ContentSet, encode, freeze, in_order
from quorate.language.domains import Domain, Evidence, World, evidence
from quorate.language.message import Crash, Message, derived, origin, stamped
from quorate.language.pid import Pid
from quorate.language.process import Process
from quorate.language.signed import Signed
from quorate.language.transitions import on

if TYPE_CHECKING:
    from quorate.model.definition import Spec


class Attacker(Process, byzantine=True):
    """A process that says whatever can be said. Where nothing is signed there is nothing for it to remember."""


class Leak(Message):
    """What one attacker tells the others."""

    evidence: frozenset[Any]


class LearningAttacker(Attacker):
    """Keeps what others have signed, to use it."""

    arsenal: ClassVar[Any] = None  # of the system at hand
    known: frozenset[Any] = frozenset()

    @on(Message, when=lambda self, m: bool(type(self).arsenal.news(self.known, m)))
    def learn(self, m: Message) -> None:
        arsenal: Arsenal = type(self).arsenal
        news = arsenal.news(self.known, m)
        before, self.known = self.known, self.known | news
        for receiver, message in arsenal.more(before, self.known):
            self.send(receiver, message)
        if not isinstance(m, Leak):
            self.send([pid for pid in arsenal.attackers if pid != self.pid], Leak(news))


class Arsenal:
    """The messages that attackers can send, by what they know."""

    def __init__(
        self, system: Any, honest: Sequence[tuple[Pid, Spec]], attackers: Iterable[Pid], pids: Iterable[Pid]
    ) -> None:
        self.attackers = tuple(attackers)
        self._domain = Domain(World(system, tuple(pids), self.attackers))
        self._receivers = [(pid, types) for pid, spec in honest if (types := _taken(spec, honest))]
        self._types = list(dict.fromkeys(cls for _, types in self._receivers for cls in types))
        self._signed: set[type] = set().union(*(self._domain.evidence_types(cls) for cls in self._types))
        self._known: dict[Evidence, dict[type[Message], dict[bytes, Message]]] = {}

    @property
    def learns(self) -> bool:
        """Whether there is anything signed, so that attackers have something to learn."""
        return bool(self._signed)

    def more(self, before: Evidence | None, after: Evidence) -> list[tuple[Pid, Message]]:
        """What can be sent with new knowledge that could not be sent before, and to whom."""
        old: dict[type[Message], dict[bytes, Message]] = {} if before is None else self._sayable(before)
        new = {
            cls: [message for code, message in messages.items() if code not in old.get(cls, {})]
            for cls, messages in self._sayable(after).items()
        }
        return [(pid, message) for pid, types in self._receivers for cls in types for message in new[cls]]

    def _sayable(self, known: Evidence) -> dict[type[Message], dict[bytes, Message]]:
        """Every message that can be made with this knowledge, by class and encoding."""
        found = self._known.get(known)
        if found is None:
            found = self._known[known] = {
                cls: {encode(message): message for message in self._domain.messages(cls, known)} for cls in self._types
            }
        return found

    def news(self, known: Evidence, message: Message) -> Evidence:
        """What a message shows that was signed by others, can be used, and was not known."""
        found = message.evidence if isinstance(message, Leak) else evidence(message)
        return ContentSet(freeze(one) for one in found if self._usable(one) and one not in known)

    def initial(self) -> dict[int, tuple[Message, ...]]:
        """By receiver, what stands from the beginning: all that needs nobody else's signature."""
        found: dict[int, list[Message]] = {}
        for pid, message in self.more(None, ContentSet()):
            found.setdefault(pid._index, []).extend(stamped(message, attacker) for attacker in self.attackers)
        return {index: tuple(in_order(messages)) for index, messages in found.items()}

    def _usable(self, one: Any) -> bool:
        signer = one.signer if isinstance(one, Signed) else origin(one)
        return any(isinstance(one, cls) for cls in self._signed) and signer not in self.attackers


def _taken(spec: Spec, honest: Sequence[tuple[Pid, Spec]]) -> list[type[Message]]:
    """The classes of messages that a process takes. Those it names, and subclasses that belong to the same protocol."""
    modules = {each.cls.__module__ for _, each in honest}
    found: dict[type[Message], None] = {}
    for transition in spec.transitions:
        if transition.message is None or issubclass(transition.message, Crash):
            continue
        if transition.mode == "maximal":
            raise ModelError(
                f"{transition} takes maximal sets, which depend on absent messages, and a Byzantine process may hold "
                "messages back",
                hint="use sets='minimal', or write the attack as a class of its own: "
                f"class Liar({spec.cls.__name__}, byzantine=True)",
                code="Q117",
                location=transition.location,
            )
        todo = [transition.message]
        while todo:
            cls = todo.pop()
            if cls is not Message and cls is not Leak and (cls is transition.message or cls.__module__ in modules):
                found.setdefault(cls)
            todo += derived(cls)
    return list(found)

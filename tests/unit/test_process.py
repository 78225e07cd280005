import copy
import enum
from typing import Any, ClassVar

import pytest

from quorate import Map, Message, ModelError, Peers, Pid, Process, System, on, start
from quorate.language.automaton import MISSING
from quorate.model.define import define
from quorate.model.outcome import Outcome
from quorate.model.run import fire
from support import alone, column, failure, here, run, transition


class Note(Message):
    number: int


class Colour(enum.Enum):
    RED = 1


class Everything(Process):
    number: int = 1
    truth: bool = True
    text: str = "t"
    raw: bytes = b"b"
    colour: Colour = Colour.RED
    nothing: None = None
    pair: tuple[int, str] = (1, "x")
    items: frozenset[int] = frozenset({1})
    table: Map[int, str] = Map()
    note: Note = Note(1)
    CONSTANT: ClassVar[int] = 7
    bare = 3

    @start
    def change(self) -> None:
        self.number += self.CONSTANT + self.bare
        self.items |= {0, 5}
        self.table |= {2: "two"}


def test_fields_hold_every_kind_of_value() -> None:
    definition = alone(Everything)
    assert "CONSTANT" not in definition.columns[0].fields
    assert "bare" not in definition.columns[0].fields
    (outcome,) = run(Everything, "change")
    assert outcome.local is not None
    after = dict(zip(definition.columns[0].fields, outcome.local, strict=True))
    assert after["number"] == 11
    assert list(after["items"]) == [0, 1, 5]
    assert after["table"] == Map({2: "two"})
    assert after["started:change"] is True


def test_a_mutable_default_is_refused() -> None:
    with pytest.raises(ModelError) as caught:

        class Wrong(Process):
            seen: Any = set()  # here: default

    assert caught.value.code == "Q101"
    assert caught.value.message == "Wrong.seen holds set() of type set, which cannot be part of a state"
    assert "use a frozenset" in caught.value.hint
    assert caught.value.location == here("default")


class Careless(Process):
    seen: Any = ()
    ballot: int = 0

    @start
    def store_list(self) -> None:
        self.seen = [1]  # here: list

    @start
    def nested(self) -> None:
        self.seen = (1, {2: 3})  # here: nested

    @start
    def misspelt(self) -> None:
        self.balot = 1  # here: misspelt

    @start
    def undeclared(self) -> None:
        self.completely_new = 1

    @start
    def identity(self) -> None:
        self.pid = 3  # type: ignore[misc, assignment]

    @start
    def delete(self) -> None:
        del self.ballot

    @start
    def smuggle(self) -> None:
        self.__dict__["more"] = 1

    @start
    def copied(self) -> None:
        self.ballot = copy.copy(self).ballot  # here: copied

    @start
    def float_message(self) -> None:
        self.send(self.pid, Note(1.5))  # type: ignore[arg-type]  # here: float

    @start
    def swapped(self) -> None:
        self.send(Note(1), self.pid)  # type: ignore[arg-type]

    @start
    def no_message(self) -> None:
        self.send(self.pid, Note)  # type: ignore[arg-type]

    @start
    def no_receiver(self) -> None:
        self.send("everybody", Note(1))  # type: ignore[arg-type]  # here: receiver

    @start
    def nobody(self) -> None:
        self.reply(Note(1))

    @start
    def emit_message(self) -> None:
        self.emit(Note(1))  # type: ignore[arg-type]

    @start
    def bad_choice(self) -> None:
        self.choose([[1]])

    @start
    def no_choice(self) -> None:
        self.choose(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "code", "text", "hint"),
    [
        ("store_list", "Q101", "Careless.seen holds [1] of type list, which cannot be part of a state", "use a tuple"),
        ("nested", "Q101", "Careless.seen holds {2: 3} of type dict", "use quorate.Map"),
        (
            "misspelt",
            "Q102",
            "Careless.balot was assigned, but Careless declares no field `balot`",
            "did you mean `ballot`?",
        ),
        (
            "undeclared",
            "Q102",
            "declares no field `completely_new`",
            "declare it in the class: `completely_new: <type>",
        ),
        ("identity", "Q102", "Careless.pid was assigned: a process keeps its identity", ""),
        ("delete", "Q102", "Careless.ballot was deleted", "self.ballot = None"),
        ("smuggle", "Q102", "declares no field `more`", "declare it"),
        ("copied", "Q108", "a Careless was copied or pickled", "use the values of its fields"),
        ("float_message", "Q101", "Note.number holds 1.5 of type float", "use int"),
        ("swapped", "Q107", "is not a message", "the receiver comes first"),
        ("no_message", "Q107", "is not a message", "send an instance: Note(...)"),
        ("no_receiver", "Q107", "'e' is not the identity of a process", "self.send(self.acceptors, Prepare(1))"),
        ("nobody", "Q107", "there is nobody to reply to", "self.send(pid, message)"),
        ("emit_message", "Q107", "not an event", "self.send"),
        ("bad_choice", "Q101", "the option [1] cannot be part of a run", "use a tuple"),
        ("no_choice", "Q107", "Careless.choose(5): not a collection of values", "self.choose((1, 2))"),
    ],
)
def test_what_breaks_the_discipline_is_named(name: str, code: str, text: str, hint: str) -> None:
    found = failure(Careless, name)
    assert found.kind == "model"
    assert found.code == code
    assert text in found.text
    assert hint in found.hint
    assert found.file == __file__


def test_it_is_located_where_it_happens() -> None:
    assert failure(Careless, "store_list")[2:4] == here("list")
    assert failure(Careless, "nested")[2:4] == here("nested")
    assert failure(Careless, "misspelt")[2:4] == here("misspelt")
    assert failure(Careless, "float_message")[2:4] == here("float")
    assert failure(Careless, "no_receiver")[2:4] == here("receiver")


def test_declarations_of_a_process_that_are_refused() -> None:
    with pytest.raises(ModelError, match=r"Wrong\.pid: the name is reserved by the language"):

        class Wrong(Process):
            pid: int  # type: ignore[assignment]

    with pytest.raises(ModelError, match=r"Wrong3\.crashed: the name is reserved by the language"):

        class Wrong3(Process):
            crashed: bool = False

    with pytest.raises(ModelError, match=r"Wrong4\.durable names `votd_for`, and Wrong4 has no such field") as caught:

        class Wrong4(Process):
            durable = ("votd_for",)
            voted_for: int = 0

    assert caught.value.hint == "did you mean `voted_for`?"
    with pytest.raises(ModelError, match=r"Wrong5\.durable is the string 'term', not a tuple of field names"):

        class Wrong5(Process):
            durable = "term"  # type: ignore[assignment]
            term: int = 0

    with pytest.raises(ModelError, match="Wrong2 defines __init__, which is never called"):

        class Wrong2(Process):
            def __init__(self) -> None: ...

    with pytest.raises(ModelError, match="Wrong6 defines __post_init__, which is never called"):

        class Wrong6(Process):
            def __post_init__(self) -> None: ...

    with pytest.raises(ModelError, match=r"Wrong7\.__init_subclass__ takes no options"):

        class Wrong7(Process):
            def __init_subclass__(cls) -> None: ...

    with pytest.raises(ModelError, match="Wrong8 defines __post_init__, which is never called"):

        class Wrong8(System):
            def __post_init__(self) -> None: ...

    class Wrong9(System):
        def __init__(self, servers: int = 2) -> None:
            self.servers = servers

    class Wrong10(System):
        def __init__(self) -> None: ...

    for wrong in (Wrong9, Wrong10):
        with pytest.raises(ModelError, match=rf"{wrong.__name__}\.__init__ does not call super\(\)\.__init__"):
            define(wrong)

    with pytest.raises(ModelError, match="processes and monitors are made by their system"):
        Careless()


def test_inherited_fields_come_first_and_defaults_can_be_overridden() -> None:
    class First(Process):
        a: int
        b: int = 1

    class Second(First):
        c: int = 2
        b = 5

    definition = alone(Second, a=0)
    assert definition.columns[0].fields == ("a", "b", "c")
    assert definition.initials == (((0, 5, 2),),)


class Talker(Process):
    friends: Peers = Peers()
    friend: Pid | None = None

    @start
    def all(self) -> None:
        self.send(self.friends, Note(1))

    @start
    def others(self) -> None:
        self.send(self.friends - {self.pid}, Note(2))

    @start
    def oneself_twice(self) -> None:
        self.send([self.pid, self.pid], Note(3))

    @start
    def plain_set(self) -> None:
        self.send(set(self.friends), Note(4))

    @on(Note)
    def echo(self, m: Note) -> None:
        self.friend = m.sender
        self.reply(Note(m.number + 1))

    @on(Note)
    def forward(self, m: Note) -> None:
        self.send(self.friends, m)


class Talkers(System):
    def build(self) -> None:
        talkers = self.spawn(Talker, 3)
        self.connect(talkers, friends=talkers)


def talk(name: str, *messages: Message) -> Outcome:
    definition = define(Talkers())
    second = column(definition, "talker2")
    (outcome,) = fire(second, transition(definition, name), definition.initials[0][1], messages)
    return outcome


def test_sending() -> None:
    assert [(to, str(m), str(m.sender)) for to, m in talk("all").sends] == [
        (0, "Note(number=1)", "talker2"),
        (1, "Note(number=1)", "talker2"),
        (2, "Note(number=1)", "talker2"),
    ]
    assert [to for to, _ in talk("others").sends] == [0, 2]
    assert [to for to, _ in talk("oneself_twice").sends] == [1, 1]
    assert [to for to, _ in talk("plain_set").sends] == [0, 1, 2]


def test_replying_and_forwarding() -> None:
    note = talk("all").sends[0][1]
    outcome = talk("echo", note)
    assert [(to, m) for to, m in outcome.sends] == [(1, outcome.sends[0][1])]
    assert str(outcome.sends[0][1]) == "Note(number=2)"
    assert outcome.local is not None
    assert str(outcome.local[1]) == "talker2"
    assert {str(m.sender) for _, m in talk("forward", note).sends} == {"talker2"}


class Common(Process):
    rank: int = 0
    given: int = 0


class Plain(Common):
    given: int


class Ranked(Common):
    rank = 1


class Both(Plain, Ranked):
    pass


def test_an_inherited_default_does_not_hide_one_that_was_given() -> None:
    """As Python looks up any attribute of a class: `Both.rank` is 1."""
    assert Both._fields["rank"] == Both.rank == 1
    assert Both._fields["given"] is MISSING

import enum
from typing import Any

import pytest

from quorate import (
    Message,
    ModelError,
    Monitor,
    Peers,
    Pid,
    Process,
    System,
    can,
    check,
    crashes,
    fifo,
    final,
    invariant,
    multiset,
    on,
    prove,
)
from quorate.base.errors import ParameterError, PropertyError
from quorate.language.faults import Faults
from quorate.language.network import Network
from quorate.model.define import define
from support import here


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


class Note(Message): ...


class Server(Process):
    peers: Peers = Peers()
    number: int = 0

    @on(Note)
    def receive(self, m: Note) -> None: ...


class Client(Process):
    server: Pid


class Cluster(System):
    servers: int = 2
    debug: bool = False
    name: str = "c"
    mode: Mode = Mode.FAST
    limit: int | None = None

    def build(self) -> None:
        self.require(self.servers < 100, "that is too many servers")
        servers = self.spawn(Server, self.servers)
        self.connect(servers, peers=servers)
        self.spawn(Client, server=next(iter(servers)))


class TestParameters:
    def test_defaults_and_values(self) -> None:
        assert dict(Cluster().parameters) == {
            "servers": 2,
            "debug": False,
            "name": "c",
            "mode": Mode.FAST,
            "limit": None,
        }
        system = Cluster(servers=5, limit=3)
        assert (system.servers, system.limit, system.parameters["servers"]) == (5, 3, 5)
        assert repr(Cluster(servers=5)).startswith("Cluster(servers=5, debug=False")

    def test_an_unknown_one_gets_a_guess(self) -> None:
        with pytest.raises(ParameterError) as caught:
            Cluster(server=3)  # type: ignore[call-arg]
        assert caught.value.code == "Q201"
        assert caught.value.message == "Cluster has no parameter `server`"
        assert caught.value.hint == "did you mean `servers`?"

    @pytest.mark.parametrize(
        ("name", "value", "text"),
        [
            ("servers", "3", "servers='3' is of type str, the parameter is of type int"),
            ("servers", True, "servers=True is of type bool, the parameter is of type int"),
            ("servers", None, "servers=None is of type NoneType, the parameter is of type int"),
            ("debug", 1, "debug=1 is of type int, the parameter is of type bool"),
            ("limit", "x", "limit='x' is of type str, the parameter is of type int | None"),
            ("mode", "FAST", "mode='FAST' is of type str, the parameter is of type Mode"),
        ],
    )
    def test_types_are_checked(self, name: str, value: object, text: str) -> None:
        with pytest.raises(ParameterError) as caught:
            Cluster(**{name: value})  # type: ignore[arg-type]
        assert caught.value.code == "Q202"
        assert caught.value.message == text

    def test_texts_are_parsed(self) -> None:
        known = Cluster.declared_parameters()
        assert known["servers"].parse(" 7 ") == 7
        assert known["debug"].parse("yes") is True
        assert known["debug"].parse("False") is False
        assert known["name"].parse("x y") == "x y"
        assert known["mode"].parse("slow") is Mode.SLOW
        assert known["limit"].parse("none") is None
        for name, text in (("servers", "three"), ("debug", "maybe"), ("mode", "medium"), ("limit", "1.5")):
            with pytest.raises(ParameterError) as caught:
                known[name].parse(text)
            assert caught.value.code == "Q202"
        with pytest.raises(ParameterError, match=r"one of FAST, SLOW"):
            known["mode"].parse("medium")

    def test_ranges_are_the_models_to_refuse(self) -> None:
        with pytest.raises(ParameterError) as caught:
            define(Cluster(servers=100))
        assert caught.value.code == "Q203"
        assert caught.value.message == "that is too many servers"
        assert "servers=100" in caught.value.hint

    def test_one_without_a_default_is_required(self) -> None:
        class Demanding(System):
            size: int

        with pytest.raises(ParameterError, match="Demanding needs the parameter `size`: int"):
            Demanding()  # type: ignore[call-arg]

    def test_types_that_no_parameter_has(self) -> None:
        class Wrong(System):
            sizes: list[int] = []

        with pytest.raises(ModelError, match=r"Wrong.sizes: list\[int\] cannot be the type of a parameter"):
            Wrong()

        class Wrong2(System):
            size: int = "3"  # type: ignore[assignment]

        with pytest.raises(ModelError, match="Wrong2: the default size='3' is of type str"):
            Wrong2()

        class Wrong3(System):
            spawn: int = 3  # type: ignore[assignment]

        with pytest.raises(ModelError, match=r"Wrong3\.spawn: the name is reserved by the language"):
            Wrong3()

    def test_a_subclass_inherits_and_overrides(self) -> None:
        class Larger(Cluster):
            servers: int = 9
            extra: int = 1

        assert list(Larger.declared_parameters()) == ["servers", "debug", "name", "mode", "limit", "extra"]
        assert Larger().servers == 9
        assert Cluster().servers == 2


class TestBuild:
    def test_columns_and_initial_state(self) -> None:
        definition = define(Cluster())
        assert [(c.index, c.name, c.cls, c.is_monitor) for c in definition.columns] == [
            (0, "server1", Server, False),
            (1, "server2", Server, False),
            (2, "client1", Client, False),
        ]
        one, two = (pid for pid in (definition.columns[0].pid, definition.columns[1].pid) if pid is not None)
        assert definition.initials == (((Peers([one, two]), 0), (Peers([one, two]), 0), (one,)),)
        assert definition.name == "Cluster"
        assert definition.network == Network()
        assert define(Cluster).parameters["servers"] == 2

    def test_a_system_without_processes(self) -> None:
        class Empty(System):
            servers: int = 0

            def build(self) -> None:  # here: empty
                self.spawn(Server, self.servers)

        with pytest.raises(ModelError) as caught:
            define(Empty())
        assert caught.value.code == "Q110"
        assert caught.value.message == "Empty(servers=0) has no processes"
        assert "self.spawn(Server, 3)" in caught.value.hint
        assert caught.value.location == here("empty")

    def test_a_system_without_build(self) -> None:
        class Nothing(System): ...

        with pytest.raises(ModelError, match="Nothing has no `build`"):
            define(Nothing())

    def failing(self, body: Any) -> ModelError:
        class Failing(System):
            def build(self) -> None:
                body(self)

        with pytest.raises(ModelError) as caught:
            define(Failing())
        return caught.value

    def test_a_missing_field(self) -> None:
        error = self.failing(lambda self: self.spawn(Client))  # here: missing
        assert error.code == "Q109"
        assert error.message == "client1 was given no value for Client.server"
        assert error.hint == "give it where it is spawned: server=..., or a default in the class"
        assert error.location == here("missing")

    def test_an_unknown_field(self) -> None:
        error = self.failing(lambda self: self.spawn(Server, nummber=1))  # here: unknown
        assert (error.code, error.message) == ("Q102", "Server has no field `nummber`")
        assert error.hint == "did you mean `number`?"
        assert error.location == here("unknown")

    def test_a_mutable_value(self) -> None:
        error = self.failing(lambda self: self.spawn(Server, number=[1]))  # here: mutable
        assert error.code == "Q101"
        assert error.message == "Server.number holds [1] of type list, which cannot be part of a state"
        assert error.location == here("mutable")

    @pytest.mark.parametrize(
        ("body", "text"),
        [
            (lambda self: self.spawn(System), "spawn(System): not a Process class"),
            (lambda self: self.watch(Server), "watch(Server): not a Monitor class"),
            (lambda self: self.spawn(Server, -1), "spawn(Server, -1): the count is an int, 0 or more"),
            (lambda self: self.connect(["x"], number=1), "connect('x', ...): not the identity of a process"),
            (lambda self: self[Server], "self[Server] was read outside of a property"),
            (lambda self: setattr(self, "network", "fifo"), "Failing.network = 'fifo'"),
            (lambda self: setattr(self, "leader", 1), "Failing.leader was assigned"),
        ],
    )
    def test_what_build_may_not_do(self, body: Any, text: str) -> None:
        error = self.failing(body)
        assert text in error.message
        assert error.hint or "count" in text

    def test_spawning_is_for_build(self) -> None:
        with pytest.raises(ModelError, match=r"Cluster.spawn\(...\) was called outside of `build`"):
            Cluster().spawn(Server)
        with pytest.raises(ModelError, match=r"Cluster.servers was assigned"):
            Cluster().servers = 3

    def test_network_and_faults(self) -> None:
        class Settings(Cluster):
            network = fifo()
            losses: int = 1

            def build(self) -> None:
                super().build()
                self.faults = crashes(1, of=Server)
                self.network = fifo(losses=self.losses)

        definition = define(Settings(losses=2))
        assert definition.network == fifo(losses=2)
        assert definition.faults.crashes == 1
        assert [column.may_crash for column in definition.columns] == [True, True, False]
        assert Settings().network == fifo()

        class ByClass(Cluster):
            faults = Faults(2)

        assert [column.may_crash for column in define(ByClass()).columns] == [True, True, True]

    def test_properties_read_the_network_and_faults_that_build_has_set(self) -> None:
        class Settings(Cluster):
            def build(self) -> None:
                super().build()
                self.faults = crashes(1, of=Server)
                self.network = multiset()

            @invariant
            def as_set(self) -> bool:
                return self.faults.crashes == 1 and self.network == multiset()

        assert check(Settings(), property="as_set").verdict == "holds"
        assert check(Settings(), property="as_set", crashes=2, trace=False).verdict == "violated"
        assert prove(Settings(), property="as_set").verdict == "proved"


class TestChoices:
    def test_several_initial_states_in_content_order_without_repetition(self) -> None:
        class Choosing(System):
            def build(self) -> None:
                self.spawn(Server, number=self.choose((3, 1, 2)))
                self.spawn(Server, number=self.choose((0, 1)) * 0)

        numbers = [[local[1] for local in state] for state in define(Choosing()).initials]
        assert numbers == [[1, 0], [2, 0], [3, 0]]

    def test_every_choice_spawns_the_same(self) -> None:
        class Choosing(System):
            def build(self) -> None:  # here: choosing
                self.spawn(Server, self.choose((1, 2)))

        with pytest.raises(ModelError) as caught:
            define(Choosing())
        assert caught.value.code == "Q112"
        assert "spawns different processes" in caught.value.message
        assert caught.value.location == here("choosing")

    def test_a_choice_among_nothing(self) -> None:
        class Choosing(System):
            def build(self) -> None:
                self.spawn(Server)
                self.choose(())

        with pytest.raises(ModelError, match="Choosing has no initial state"):
            define(Choosing())


class TestProperties:
    def test_they_are_collected_in_order(self) -> None:
        class Base(Cluster):
            @invariant
            def safe(self) -> bool:
                """Nothing bad happens."""
                return True

            @can
            def reach(self) -> bool:
                return True

        class Derived(Base):
            @invariant
            def also(self) -> bool:
                return True

            @invariant
            def safe(self) -> bool:
                return False

            @final
            def done(self) -> bool:
                return True

        definition = define(Derived())
        assert [each.name for each in definition.invariants] == ["safe", "also"]
        assert [each.name for each in definition.cans] == ["reach"]
        assert definition.final is not None
        assert definition.final.name == "done"
        assert define(Base()).invariants[0].doc == "Nothing bad happens."
        assert definition.property("reach").kind == "can"
        with pytest.raises(PropertyError) as caught:
            definition.property("saef")
        assert (caught.value.code, caught.value.hint) == ("Q401", "did you mean `safe`?")

    def test_declarations_that_are_refused(self) -> None:
        class Base(Cluster):
            @final
            def done(self) -> bool:
                return True

        class Twice(Base):
            @final
            def also(self) -> bool:
                return True

        with pytest.raises(ModelError, match="Twice has 2 @final methods: done, also"):
            define(Twice())

        class Silent(Base):
            def done(self) -> bool:
                return True

        with pytest.raises(ModelError, match=r"Silent\.done overrides a property but is not one itself"):
            define(Silent())

        class Named(Cluster):
            @invariant
            def deadlock(self) -> bool:
                return True

        with pytest.raises(ModelError, match="the name is reserved for the deadlock check"):
            define(Named())

        class Failing(Cluster):
            @invariant
            def assertions(self) -> bool:
                return True

        with pytest.raises(ModelError, match="Failing.assertions: the name is reserved for assertions in handlers"):
            define(Failing())

        class Hiding(Cluster):
            @invariant
            def shared(self) -> bool:  # type: ignore[override]
                return True

        with pytest.raises(ModelError, match=r"Hiding\.shared: the name is reserved for System\.shared"):
            define(Hiding())
        with pytest.raises(ModelError, match=r"Shown\.parameters: the name is reserved for System\.parameters"):

            class Shown(Cluster):
                @invariant
                def parameters(self) -> bool:  # type: ignore[override]
                    return True


class Watcher(Monitor):
    count: int = 0


def test_monitors_come_last_and_once() -> None:
    class Watched(System):
        times: int = 1

        def build(self) -> None:
            for _ in range(self.times):
                self.watch(Watcher)
            self.spawn(Server)

    definition = define(Watched())
    assert [(c.name, c.is_monitor, c.pid is None) for c in definition.columns] == [
        ("server1", False, False),
        ("Watcher", True, True),
    ]
    assert definition.monitors == (definition.columns[1],)
    with pytest.raises(ModelError, match=r"watch\(Watcher\) twice"):
        define(Watched(times=2))


def test_a_bound_that_excludes_the_initial_state() -> None:
    class Bounded(Process):
        n: int = 5

        def within(self) -> bool:  # here: within
            return self.n < 5

    class Wrong(System):
        def build(self) -> None:
            self.spawn(Bounded)

    with pytest.raises(ModelError) as caught:
        define(Wrong())
    assert caught.value.code == "Q115"
    assert caught.value.message == "Bounded.within excludes the initial state of bounded1"
    assert caught.value.location == here("within")

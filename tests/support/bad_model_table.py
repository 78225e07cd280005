# ruff: noqa: E501 - a model in a table is one line
"""Bad models as a hostile or clumsy user writes them: source, and the code that each must give.

The line that must be named is marked `# here`; a row without the mark names none. `violated` and `exceptions` are no
errors but findings: the protocol fails in that line.
"""

from __future__ import annotations

HEAD = """\
import collections, dataclasses, enum, functools, itertools, os, random, sys, time
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar
from quorate import (Among, Crash, Event, Map, Message, Monitor, Peers, Pid, Process, Scalar, Signed, Sized, System, can, crashes,
    fifo, final, invariant, majority, multiset, on, quorum, start, step, unordered)
class Go(Message):
    n: int = 0
class Said(Event):
    n: int = 0
"""
PROCESS = """\
class A(Process):
    x: int = 0
    @start
    def begin(self) -> None:
        self.x = 1
"""
SYSTEM = """\
class S(System):
    n: int = 2
    def build(self) -> None:
        self.spawn(A, self.n)
    @invariant
    def ok(self) -> bool:
        return True
"""


def handler(line: str, fields: str = "x: int = 0") -> str:
    """One line in a handler."""
    return (
        f"class A(Process):\n    {fields}\n    @start\n    def begin(self) -> None:\n        {line}  # here\n" + SYSTEM
    )


def process(text: str) -> str:
    """A class A, and a plain system of it."""
    return text + "\n" + SYSTEM


def build(line: str) -> str:
    """One line in `build`."""
    return PROCESS + SYSTEM.replace("self.spawn(A, self.n)", f"{line}  # here")


def system(text: str) -> str:
    return PROCESS + text


def prop(line: str) -> str:
    """One line in an invariant."""
    return PROCESS + SYSTEM.replace("return True", f"{line}  # here")


def body(line: str) -> str:
    """One line in the class of a process."""
    return f"class A(Process):\n    {line}  # here\n" + SYSTEM


GO = "    @on(Go)\n    def go(self, m: Go) -> None: {}  # here\n"


def receives(line: str) -> str:
    """One line in a handler of a message that is sent to oneself."""
    return (
        "class A(Process):\n    x: int = 0\n    @start\n    def begin(self) -> None:\n        self.send(self.pid, Go(1))\n"
        f"    @on(Go)\n    def go(self, m: Go) -> None:\n        {line}  # here\n" + SYSTEM
    )


def guard(decorator: str, message: str = "") -> str:
    """A decorator with a guard, on a process that has a message to itself."""
    parameters = "self, m" if message else "self"
    return (
        "class A(Process):\n    x: int = 0\n    @start\n    def begin(self) -> None:\n        self.send(self.pid, Go(1))\n"
        f"    {decorator}  # here\n    def go({parameters}): self.x = 2\n" + SYSTEM
    )


def at(anchor: str, text: str) -> str:
    """The mark on the first line that holds the anchor instead."""
    lines = text.replace("  # here", "").split("\n")
    number = next(number for number, line in enumerate(lines) if anchor in line)
    lines[number] += "  # here"
    return "\n".join(lines)


# fmt: off
ROWS: dict[str, tuple[str, str]] = {
    # --- values that cannot be part of a state
    "list": (handler("self.x = [1]"), "Q101"),
    "dict": (handler("self.x = {1: 2}"), "Q101"),
    "set": (handler("self.x = {1}"), "Q101"),
    "float": (handler("self.x = 1.5"), "Q101"),
    "nan": (handler("self.x = float('nan')"), "Q101"),
    "complex": (handler("self.x = 1j"), "Q101"),
    "bytearray": (handler("self.x = bytearray(b'a')"), "Q101"),
    "range": (handler("self.x = range(3)"), "Q101"),
    "function": (handler("self.x = len"), "Q101"),
    "lambda": (handler("self.x = lambda: 1"), "Q101"),
    "class": (handler("self.x = int"), "Q101"),
    "module": (handler("self.x = os"), "Q101"),
    "generator": (handler("self.x = (i for i in ())"), "Q101"),
    "file": (handler("self.x = sys.stderr"), "Q101"),
    "object": (handler("self.x = object()"), "Q101"),
    "itself": (handler("self.x = self"), "Q101"),
    "its system": (handler("self.x = S()"), "Q101"),
    "list in a tuple": (handler("self.x = (1, (2, [3]))"), "Q101"),
    "list in a set": (handler("self.x = frozenset({(1, Go(2)), ([])})"), "exceptions"),
    "subclass of int": ("class Int(int): ...\n" + handler("self.x = Int(3)"), "Q101"),
    "subclass of str": ("class Str(str): ...\n" + handler("self.x = Str('a')"), "Q101"),
    "dataclass that is not frozen": ("@dataclass\nclass D:\n    v: int = 0\n" + handler("self.x = D()"), "Q101"),
    "frozen dataclass with a list": ("@dataclass(frozen=True)\nclass D:\n    v: Any = 0\n" + handler("self.x = D([1])"), "Q101"),
    "list as default": (body("x: list = []"), "Q101"),
    "float as default": (body("x: float = 0.5"), "Q101"),
    "list where it is spawned": (build("self.spawn(A, x=[1])"), "Q101"),
    "list in a message": (handler("self.send(self.pid, Go([1]))"), "Q101"),
    "list in an event": (handler("self.emit(Said([1]))"), "Q101"),
    "list among the options": (handler("self.x = self.choose([[1]])"), "Q101"),
    "list in a monitor": ("class M(Monitor):\n    x: Any = 0\n    @on(Said)\n    def said(self, e): self.x = [1]  # here\n"+ handler("self.emit(Said())").replace("  # here", "").replace("self.spawn", "self.watch(M); self.spawn"), "Q101"),
    "list as default of a message": (at("class Bad", "class Bad(Message):\n    v: list = []  # here\n" + PROCESS + SYSTEM), "Q106"),
    # --- fields
    "undeclared field": (handler("self.y = 1"), "Q102"),
    "typo in a field": (handler("self.xx += 1"), "exceptions"),
    "deleted field": (handler("del self.x"), "Q102"),
    "setattr of an undeclared field": (handler("setattr(self, 'y', 1)"), "Q102"),
    "past the assignment": (at("@start", handler("object.__setattr__(self, 'y', 1)")), "Q102"),
    "into its dictionary": (at("@start", handler("self.__dict__['y'] = 1")), "Q102"),
    "dictionary emptied": (at("@start", handler("self.__dict__.clear()")), "Q102"),
    "list past the assignment": (at("x: int = 0", handler("self.__dict__['x'] = [1]")), "Q101"),
    "no such field when spawned": (build("self.spawn(A, y=1)"), "Q102"),
    "no such field when connected": (build("self.connect(self.spawn(A), y=1)"), "Q102"),
    "missing field": (process("class A(Process):\n    x: int\n").replace("self.n)", "self.n)  # here"), "Q109"),
    "missing field of a monitor": ("class M(Monitor):\n    x: int\n" + build("self.watch(M); self.spawn(A)"), "Q109"),
    "field and handler of one name": (process("class A(Process):\n    go: int = 0\n    @start  # here\n    def go(self): ...\n"), "Q106"),
    "field with a reserved name": (body("send: int = 0"), "Q106"),
    "field named pid": (body("pid: int = 0"), "Q106"),
    "field with an underscore": (body("_x: int = 0"), ""),
    "annotation that does not exist": (body("x: 'Nowhere' = 0"), ""),
    "class variable": (body("x: typing.ClassVar[int] = 0"), "Q303"),
    # --- messages and events
    "message changed": (receives("m.n = 2"), "Q103"),
    "message changed by force": (receives("object.__setattr__(m, 'n', m.n + 1); self.x = m.n").replace("  # here", "").replace("    @on(Go)", "    @on(Go)  # here"), "Q103"),
    "message with a field too many": (handler("self.send(self.pid, Go(1, 2))"), "exceptions"),
    "message without its field": ("class Need(Message):\n    n: int\n" + handler("self.send(self.pid, Need())"), "exceptions"),
    "message of the wrong type is not checked": (handler("self.send(self.pid, Go('a'))"), ""),
    "list by way of replace": (receives("self.send(self.pid, dataclasses.replace(m, n=[1]))"), "Q101"),
    "class sent instead of a message": (handler("self.send(self.pid, Go)"), "Q107"),
    "event sent": (handler("self.send(self.pid, Said())"), "Q107"),
    "text sent": (handler("self.send(self.pid, 'hello')"), "Q107"),
    "message emitted": (handler("self.emit(Go())"), "Q107"),
    "arguments exchanged": (handler("self.send(Go(), self.pid)"), "Q107"),
    "sent to a number": (handler("self.send(0, Go())"), "Q107"),
    "sent to nobody": (handler("self.send(None, Go())"), "Q107"),
    "sent to a class": (handler("self.send(A, Go())"), "Q107"),
    "sent to a name": (handler("self.send('a1', Go())"), "Q107"),
    "sent without a message": (handler("self.send(self.pid)"), "exceptions"),
    "reply where nothing came": (handler("self.reply(Go())"), "Q107"),
    "reply with a number": (receives("self.reply(3)"), "Q107"),
    "sender of what was never sent": (handler("self.x = Go().sender"), "Q108"),
    "message with a sender of its own": ("class Bad(Message):\n    sender: int = 0  # here\n" + PROCESS + SYSTEM, "Q106"),
    "message with a method for a field": ("class Bad(Message):\n    n: int = 0\n    def n(self): ...  # here\n" + PROCESS + SYSTEM, "Q106"),
    "abstract Message": (handler("self.send(self.pid, Message())"), ""),
    # --- purity
    "random": (handler("self.x = random.randint(0, 1)"), "Q105"),
    "time": (handler("self.x = int(time.time())"), "Q105"),
    "global counter": ("N = 0  \n" + handler("global N; N += 1; self.x = N"), "Q104"),
    "global list": ("LOG = []\n" + handler("LOG.append(1)"), "Q104"),
    "class attribute": ("class Shared:\n    n = 0\n" + handler("Shared.n += 1"), "Q104"),
    "id": (handler("self.x = id(object()) % 7 + id(self) % 1009"), "Q105"),
    "environment": (handler("os.environ['QUORATE_BAD'] = str(len(os.environ.get('QUORATE_BAD', '')))"), "Q104"),
    "frozen dataclass changed": ("@dataclass(frozen=True)\nclass D:\n    v: int = 0\nD0 = D(0)\n"+ handler("object.__setattr__(D0, 'v', D0.v + 1)"), "Q104"),
    "async": (process("class A(Process):\n    @start  # here\n    async def go(self): ...\n"), "Q106"),
    "generator handler": (process("class A(Process):\n    @start  # here\n    def go(self): yield\n"), "Q106"),
    "async property": (system(SYSTEM.replace("    @invariant", "    @invariant  # here").replace("def ok", "async def ok")), "Q106"),
    # --- handlers that return or raise
    "returns": (handler("return 3").replace("  # here", "").replace("    @start", "    @start  # here"), "Q106"),
    "divides by zero": (handler("self.x = 1 // self.x"), "exceptions"),
    "assertion": (handler("assert self.x, 'no'"), "assertions"),
    "recursion": (process("class A(Process):\n    @start\n    def go(self): self.down()\n    def down(self): self.down()  # here\n"), "Q114"),
    "exit": (handler("sys.exit(0)"), "Q119"),
    "hard loop of attributes": (handler("self.x.y.z"), "exceptions"),
    "pid as a number": (handler("self.x = self.pid + 1"), "Q113"),
    "pids in order": (handler("self.x = self.pid < self.pid"), "Q113"),
    "pids sorted": (process("class A(Process):\n    o: Peers = Peers()\n    @start\n    def go(self): sorted(self.o)  # here\n").replace("self.spawn(A, self.n)", "p = self.spawn(A, 2); self.connect(p, o=p)"), "Q113"),
    "hash of a pid": (handler("self.x = hash(self.pid)"), "Q105"),
    "hash of a text": (handler("self.x = hash('a') % 2"), "Q105"),
    "int of a pid": (handler("self.x = int(self.pid)"), "Q113"),
    # --- where something has no meaning
    "sends in a guard": (guard("@on(Go, when=lambda self, m: self.send(self.pid, Go()))", "m"), "Q108"),
    "assigns in a guard": (guard("@on(Go, when=lambda self, m: setattr(self, 'x', 3))", "m"), "Q108"),
    "chooses in a guard": (guard("@on(Go, when=lambda self, m: self.choose((True, False)))", "m"), "Q108"),
    "emits in a guard": (guard("@step(when=lambda self: self.emit(Said()))"), "Q108"),
    "sends in within": (process("class A(Process):\n    def within(self): return self.send(self.pid, Go())  # here\n"), "Q108"),
    "sends in a monitor": ("class M(Monitor):\n    @on(Said)\n    def said(self, e): self.send(e.source, Go())  # here\n"+ handler("self.emit(Said())").replace("  # here", "").replace("self.spawn", "self.watch(M); self.spawn"), "Q108"),
    "chooses in a monitor": ("class M(Monitor):\n    @on(Said)\n    def said(self, e): self.choose((1, 2))  # here\n"+ handler("self.emit(Said())").replace("  # here", "").replace("self.spawn", "self.watch(M); self.spawn"), "Q108"),
    "assigns in a property": (prop("self[A][0].x = 1"), "Q108"),
    "asks for types in a property": (prop("return all(type(p) is not A for p in self[Process])"), "Q108"),
    "spawns in a property": (prop("return self.spawn(A)"), "Q108"),
    "chooses in a property": (prop("return self.choose((True, False))"), "Q108"),
    "sets a parameter in a property": (prop("self.n = 3"), "Q108"),
    "spawns in a handler": (handler("self.spawn(A)"), "exceptions"),
    "pid in a class": (body("me = Process.pid + 1"), "Q303"),
    "send in build": (build("self.send(self.spawn(A), Go())"), "Q109"),
    "reads fields in build": (build("self.x = self.spawn(A).x"), "Q118"),
    # --- decorators
    "on without a message": (at("@on", process("class A(Process):\n    @on\n    def go(self, m): ...  # here\n")), "Q106"),
    "on an int": (at("@on", body("@on(int)\n    def go(self, m): ...")), "Q106"),
    "on an instance": (at("@on", body("@on(Go())\n    def go(self, m): ...")), "Q106"),
    "on an event": (process("class A(Process):\n    @on(Said)  # here\n    def go(self, m): ...\n"), "Q106"),
    "monitor on a message": ("class M(Monitor):\n    @on(Go)  # here\n    def go(self, m): ...\n"+ build("self.watch(M); self.spawn(A)").replace("  # here", ""), "Q106"),
    "monitor with a start": ("class M(Monitor):\n    @start  # here\n    def go(self): ...\n"+ build("self.watch(M); self.spawn(A)").replace("  # here", ""), "Q106"),
    "handler without its message": (process("class A(Process):\n    @on(Go)  # here\n    def go(self): ...\n"), "Q106"),
    "handler with too much": (process("class A(Process):\n    @start  # here\n    def go(self, m): ...\n"), "Q106"),
    "step without a guard": (process("class A(Process):\n    @step  # here\n    def go(self): ...\n"), "Q106"),
    "step that is called without a guard": (process("class A(Process):\n    @step()  # here\n    def go(self): ...\n"), "Q106"),
    "guard that is no function": (process("class A(Process):\n    @step(when=True)  # here\n    def go(self): ...\n"), "Q106"),
    "guard with too few arguments": (process("class A(Process):\n    @on(Go, when=lambda self: True)  # here\n    def go(self, m): ...\n"), "Q106"),
    "guard with too many arguments": (process("class A(Process):\n    @step(when=lambda self, m: True)  # here\n    def go(self): ...\n"), "Q106"),
    "two decorators": (at("@start", process("class A(Process):\n    @start\n    @step(when=lambda self: True)  # here\n    def go(self): ...\n")), "Q106"),
    "quorum without a size": (process("class A(Process):\n    @quorum(Go)  # here\n    def go(self, ms): ...\n"), "Q106"),
    "quorum with two sizes": (process("class A(Process):\n    @quorum(Go, size=1, enough=lambda self, ms: True)  # here\n    def go(self, ms): ...\n"), "Q106"),
    "quorum of none": (process("class A(Process):\n    @quorum(Go, size=0)  # here\n    def go(self, ms): ...\n"), "Q106"),
    "quorum of minus one": (process("class A(Process):\n    @quorum(Go, size=-1)  # here\n    def go(self, ms): ...\n"), "Q106"),
    "quorum of a text": (process("class A(Process):\n    @quorum(Go, size='nowhere')  # here\n    def go(self, ms): ...\n"), "Q106"),
    "quorum of half": (process("class A(Process):\n    @quorum(Go, size=1.5)  # here\n    def go(self, ms): ...\n"), "Q106"),
    "quorum size becomes 0": (guard("@quorum(Go, size=lambda self: self.x)", "m"), "Q107"),
    "quorum size becomes a text": (guard("@quorum(Go, size=lambda self: 'two')", "m"), "Q107"),
    "each of numbers": (guard("@quorum(Go, each=lambda self: (1, 2))", "m"), "Q107"),
    "each of nothing that can be listed": (guard("@quorum(Go, each=lambda self: 3)", "m"), "Q107"),
    "same names no field": (process("class A(Process):\n    @quorum(Go, size=1, same='nowhere')  # here\n    def go(self, ms): ...\n"), "Q106"),
    "same gives a list": (guard("@quorum(Go, size=1, same=lambda m: [m.n])", "m"), "Q101"),
    "unknown sets": (process("class A(Process):\n    @quorum(Go, enough=lambda self, ms: True, sets='some')  # here\n    def go(self, ms): ...\n"), "Q106"),
    "unknown keyword": (at("@on", body("@on(Go, wen=lambda self, m: True)\n    def go(self, m): ...")), "Q303"),
    "decorator on a class": (process("@start  # here\nclass A(Process): ...\n"), "Q106"),
    "temporal property in a process": (process("from quorate import eventually\nclass A(Process):\n    @eventually  # here\n    def ok(self): return True\n"), "Q106"),
    "formula in a process": (process("from quorate import ltl\nclass A(Process):\n    p = ltl('F ok')  # here\n"), "Q106"),
    "formula in a monitor": (process("from quorate import ltl\nclass W(Monitor):\n    p = ltl('F ok')  # here\n" + PROCESS).replace("self.spawn(A, self.n)", "self.spawn(A, self.n); self.watch(W)"), "Q106"),
    "invariant in a process": (process("class A(Process):\n    @invariant  # here\n    def ok(self): return True\n"), "Q106"),
    "handler in a system": (system(SYSTEM + "    @start  # here\n    def go(self): ...\n"), "Q106"),
    "property with an argument": (system(SYSTEM + "    @invariant  # here\n    def more(self, m): return True\n"), "Q106"),
    "two handlers of one name": (process("class A(Process):\n    x: int = 0\n    @start\n    def go(self): self.x = 1\n    @on(Go)  # here\n    def go(self, m): self.x = 2\n"), "Q106"),
    "two properties of one name": (system(SYSTEM + "    @can  # here\n    def ok(self): return True\n"), "Q106"),
    "a decorator above that keeps nothing": (process("def plain(f): return lambda self: f(self)\nclass A(Process):\n    @plain  # here\n    @start\n    def go(self): ...\n"), "Q106"),
    "an abstract process": (process("import abc\nclass A(Process, abc.ABC):  # here\n    @abc.abstractmethod\n    def by(self): ...\n"), "Q106"),
    "two finals": (system(SYSTEM + "    @final\n    def one(self): return True\n    @final  # here\n    def two(self): return True\n"), "Q106"),
    "property named deadlock": (system(SYSTEM + "    @invariant  # here\n    def deadlock(self): return True\n"), "Q106"),
    "property as a function of the module": ("@invariant\ndef ok(self): return True\n" + PROCESS + SYSTEM, ""),
    "static handler": (process("class A(Process):\n    @start  # here\n    @staticmethod\n    def go(): ...\n"), "Q106"),
    "abstract process spawned": (build("self.spawn(Process)"), ""),
    # --- properties
    "property returns a number": (at("@invariant", prop("return 1")), "Q402"),
    "property returns nothing": (at("@invariant", prop("pass")), "Q402"),
    "property returns a generator": (at("@invariant", prop("return (a.x == 0 for a in self[A])")), "Q402"),
    "property raises": (prop("return self[A][7].x == 0"), "Q403"),
    "property of a missing field": (prop("return self[A][0].y == 0"), "Q403"),
    "property of a class that is not there": ("class B(Process): ...\n" + prop("return self[B][0].x == 0"), "Q403"),
    "property of a number": (prop("return self[3] == 0"), "Q108"),
    "property of a text": (prop("return self['A'] == 0"), "Q108"),
    "property recurses": (prop("return self.ok()"), "Q114"),
    "property exits": (prop("sys.exit()"), "Q119"),
    "property by chance": (prop("return random.random() < 2"), "Q105"),
    # --- systems
    "no build": (PROCESS + "class S(System):  # here\n    n: int = 2\n", "Q110"),
    "build without a process": (build("pass").replace("  # here", "").replace("    def build", "    def build").replace("def build(self) -> None:", "def build(self) -> None:  # here"), "Q110"),
    "build returns": (at("def build", build("return self.spawn(A)")), "Q106"),
    "build with an argument": (system("class S(System):\n    def build(self, n) -> None: self.spawn(A)  # here\n"), "Q118"),
    "build as async": (system("class S(System):\n    async def build(self) -> None: self.spawn(A)  # here\n"), "Q106"),
    "build raises": (build("{}['a']"), "Q118"),
    "build recurses": (build("self.build()"), "Q114"),
    "build exits": (build("sys.exit(0)"), "Q119"),
    "build forbids": (build("self.require(self.n > 5, 'more than five')").replace("  # here", ""), "Q203"),
    "build forbids with a number": (build("self.require(self.n > 5, 5)"), "Q109"),
    "build chooses who is there": (at("def build", build("self.spawn(A, self.choose((1, 2)))")), "Q112"),
    "build chooses from nothing": (at("def build", build("self.spawn(A, x=self.choose(()))")), "Q110"),
    "build chooses from a number": (build("self.spawn(A, x=self.choose(3))"), "Q107"),
    "build with chance": (build("self.spawn(A, x=random.randint(0, 10**9))"), "Q105"),
    "spawns a class that is none": (build("self.spawn(int)"), "Q109"),
    "spawns an instance": (build("self.spawn(A())"), "Q108"),
    "spawns a name": (build("self.spawn('A')"), "Q109"),
    "spawns a monitor": ("class M(Monitor): ...\n" + build("self.spawn(M)"), "Q109"),
    "spawns a message": (build("self.spawn(Go)"), "Q109"),
    "spawns minus one": (build("self.spawn(A, -1)"), "Q109"),
    "spawns a half": (build("self.spawn(A, 1.5)"), "Q109"),
    "spawns True": (build("self.spawn(A, True)"), "Q109"),
    "spawns without self": (build("System.spawn(A, 2)"), "Q118"),
    "watches a process": (build("self.watch(A)"), "Q109"),
    "watches twice": ("class M(Monitor): ...\n" + build("self.spawn(A); self.watch(M); self.watch(M)"), "Q109"),
    "connects a number": (build("self.connect(3, x=1)"), "Q109"),
    "connects a class": (build("self.connect(A, x=1)"), "Q109"),
    "corrupts a number": (build("self.corrupt(3)"), "Q109"),
    "corrupts too many": (build("self.corrupt(self.spawn(A, 2), 3)"), "Q109"),
    "assigns in build": (build("self.spawn(A); self.y = 3"), "Q108"),
    "assigns a parameter in build": (build("self.spawn(A); self.n = 3"), "Q108"),
    "network of a text": (system(SYSTEM.replace("n: int = 2", "n: int = 2\n    network = 'fifo'  # here")), "Q111"),
    "network not called": (system(SYSTEM.replace("n: int = 2", "n: int = 2\n    network = fifo  # here")), "Q111"),
    "network in build": (build("self.network = 3; self.spawn(A)"), "Q111"),
    "losses of minus one": (system(SYSTEM.replace("n: int = 2", "n: int = 2\n    network = fifo(losses=-1)  # here")), "Q111"),
    "capacity of a text": (system(SYSTEM.replace("n: int = 2", "n: int = 2\n    network = fifo(capacity='x')  # here")), "Q111"),
    "unknown head": (system(SYSTEM.replace("n: int = 2", "n: int = 2\n    network = fifo(head='x')  # here")), "Q111"),
    "faults of a number": (system(SYSTEM.replace("n: int = 2", "n: int = 2\n    faults = 1  # here")), "Q111"),
    "crashes of a text": (system(SYSTEM.replace("n: int = 2", "n: int = 2\n    faults = crashes('x')  # here")), "Q111"),
    "crashes of no class": (system(SYSTEM.replace("n: int = 2", "n: int = 2\n    faults = crashes(1, of=3)  # here")), "Q111"),
    "parameter of a list": (system(SYSTEM.replace("n: int = 2", "n: list = [2]  # here")), "Q106"),
    "parameter of a float": (system(SYSTEM.replace("n: int = 2", "n: float = 2.0  # here")), "Q106"),
    "parameter with another default": (system(SYSTEM.replace("n: int = 2", "n: int = 'two'  # here")), "Q106"),
    "parameter with a method's name": (system(SYSTEM.replace("n: int = 2", "n: int = 2\n    spawn: int = 3  # here")), "Q106"),
    "parameter without a default": (system(SYSTEM.replace("n: int = 2", "n: int")), "Q204"),
    "parameter of an unknown type": (system(SYSTEM.replace("n: int = 2", "n: Nowhere = 2  # here")), "Q303"),
    "within excludes the beginning": (process("class A(Process):\n    x: int = 0\n    def within(self): return self.x > 0  # here\n"), "Q115"),
    "within with an argument": (process("class A(Process):\n    x: int = 0\n    def within(self, m): return True  # here\n"), "Q118"),
    "durable names no field": (process("class A(Process):\n    x: int = 0\n    durable = ('y')  # here\n"), "Q106"),
    "durable is a text": (process("class A(Process):\n    x: int = 0\n    durable = 'x'  # here\n"), "Q106"),
    "attacker without a domain": ("class Open(Message):\n    n: int = 0  # here\n" + PROCESS + "    @on(Open)\n    def go(self, m: Open) -> None: ...\n" + SYSTEM.replace("self.spawn(A, self.n)", "self.corrupt(self.spawn(A, 2), 1)"), "Q116"),
    "domain that is none": ("class Bad(Message):\n    n: Annotated[int, Among(3)] = 0  # here\n" + PROCESS + SYSTEM, ""),
    # --- values whose content is more, or less, than what they declare
    "dataclass with an attribute more": ("@dataclass(frozen=True)\nclass D:\n    v: int = 0\ndef more(v):\n    d = D(v)\n    object.__setattr__(d, 'w', 1)\n    return d\n" + handler("self.x = more(0)"), "Q101"),
    "dataclass with what only __init__ is given": ("@dataclass(frozen=True)\nclass D:\n    v: dataclasses.InitVar[int]\n    def __post_init__(self, v): object.__setattr__(self, 'w', v)\n" + handler("self.x = D(1)"), "Q101"),
    "dataclass with slots more": ("@dataclass(frozen=True)\nclass D:\n    __slots__ = ('v', 'w')\n    v: int\n    def __post_init__(self): object.__setattr__(self, 'w', self.v)\n" + handler("self.x = D(1)"), "Q101"),
    "named tuple with an attribute more": ("class B(NamedTuple):\n    v: int = 0\nclass D(B): ...\ndef more(v):\n    d = D(v)\n    d.w = 1\n    return d\n" + handler("self.x = more(0)"), "Q101"),
    "message with an attribute more": ("class More(Message):\n    v: int\n    def __post_init__(self): object.__setattr__(self, 'w', self.v)\n" + handler("self.send(self.pid, More(1))"), "Q102"),
    "message with slots": ("class Slots(Message):\n    __slots__ = ('v',)  # here\n    v: int\n" + PROCESS + SYSTEM, "Q106"),
    "message that is a number": ("class Int(Message, int): ...  # here\n" + PROCESS + SYSTEM, "Q106"),
    "message that is an exception": ("class Error(Message, Exception): ...  # here\n" + PROCESS + SYSTEM, "Q106"),
    "class variables are no fields": ("class K(Message):\n    table: ClassVar[list[int]] = [7]\n    n: int = 0\n@dataclass(frozen=True)\nclass D:\n    half: ClassVar[float] = 0.5\n    v: int = 0\n" + receives("assert (m.table, m.n, self.x.v, self.x.half) == ([7], 3, 2, 0.5)").replace("Go(1)", "K(3)").replace("@on(Go)", "@on(K)").replace("m: Go", "m: K").replace("x: int = 0", "x: D = D(2)"), ""),
    "what is computed from fields": ("@dataclass(frozen=True)\nclass D:\n    v: int\n    k: dataclasses.InitVar[int] = 1\n    w: int = dataclasses.field(init=False)\n    def __post_init__(self, k): object.__setattr__(self, 'w', self.v + k)\n    @functools.cached_property\n    def u(self): return self.w + 1\n" + handler("d = D(4); assert d.u == 6; self.x = d; assert (self.x.u, self.x) == (6, d)"), ""),
    "message with defaults that __init__ does not take": ("class K(Message):\n    n: int = dataclasses.field(default=3)\n    m: int = dataclasses.field(init=False, default=2)\n    o: int = dataclasses.field(kw_only=True, default=1)\n" + receives("assert (m.n, m.m, m.o) == (4, 2, 5)").replace("Go(1)", "K(4, o=5)").replace("@on(Go)", "@on(K)").replace("m: Go", "m: K"), ""),
    "generic message": ("V = TypeVar('V')\nclass K(Message, Generic[V]):\n    v: V\n" + receives("assert m.v == 4").replace("Go(1)", "K[int](4)").replace("@on(Go)", "@on(K)").replace("m: Go", "m: K[int]"), ""),
    "message that says what is equal": ("class K(Message):\n    n: int = 0\n    def __eq__(self, other): return True  # here\n    def __hash__(self): return 0\n" + PROCESS + SYSTEM, "Q106"),
    # --- names that the language or Python keeps something by
    **{f"handler named {name}": (at(f"def {name}", process(PROCESS.replace("begin", name))), "Q106") for name in ("_fields", "_places", "_constants", "_run", "__eq__")},
    **{f"helper named {name}": (at(f"def {name}", process(PROCESS + f"    def {name}(self): ...\n")), "Q106") for name in ("_run", "_undeclared")},
    **{f"field named {name}": (body(f"{name}: int = 0"), "Q106") for name in ("_fields", "_run", "__init_subclass__", "__len__")},
    **{f"field of a message named {name}": (at("    ", f"class K(Message):\n    {name}: int = 0\n" + PROCESS + SYSTEM), "Q106") for name in ("_encoded", "_origin", "_names", "__eq__", "__dataclass_fields__")},
    **{f"parameter named {name}": (system(SYSTEM.replace("n: int = 2", f"n: int = 2\n    {name}: int = 3  # here")), "Q106") for name in ("_parameters", "_views", "__dict__", "__init__")},
    **{f"property named {name}": (system(at(f"def {name}", SYSTEM.replace("ok", name))), "Q106") for name in ("_builder", "_require_made", "__dict__", "__getattribute__")},
    "field of a monitor named durable": ("class M(Monitor):\n    durable: int = 0\n    @on(Said)\n    def said(self, e): self.durable = 1\n" + handler("self.emit(Said())").replace("  # here", "").replace("self.spawn", "self.watch(M); self.spawn"), ""),
    # --- classes that are made in another way
    "process as a dataclass": (at("class A", process("@dataclass\nclass A(Process):\n    x: int = 0\n    @start\n    def go(self): self.x = 1\n")), "Q106"),
    "process as a frozen dataclass": (at("class A", process("@dataclass(frozen=True)\nclass A(Process):\n    x: int = 0\n    @start\n    def go(self): self.x = 1\n")), "Q106"),
    "system as a dataclass": (PROCESS + "@dataclass\n" + at("class S", SYSTEM), "Q106"),
    "metaclass without options": ("class Meta(type):\n    def __new__(meta, name, bases, body):  # here\n        return super().__new__(meta, name, bases, body)\n" + process("class A(Process, metaclass=Meta): ...\n"), "Q106"),
    "metaclass with options": ("class Meta(type):\n    def __new__(meta, name, bases, body, **options):\n        return super().__new__(meta, name, bases, body, **options)\n" + process("class A(Process, metaclass=Meta): ...\n"), ""),
    "annotations deleted afterwards": (PROCESS + "del A.__annotations__\n" + SYSTEM, ""),
    "annotations replaced afterwards": (PROCESS + "A.__annotations__ = 3\n" + SYSTEM, ""),
    "exception from nowhere": ("class E(Exception):\n    __module__ = property(lambda self: 1 // 0)\n" + handler("raise E"), "exceptions"),
    "writes bytes": ("sys.stdout.buffer.write(b'\\xff{}\\n')\n" + PROCESS + SYSTEM, ""),
    # --- files
    "syntax": (PROCESS + "class S(System)  # here\n    def build(self): ...\n", "Q303"),
    "indentation": (PROCESS + "class S(System):\n    def build(self):\n  self.spawn(A)  # here\n", "Q303"),
    "tabs and spaces": (PROCESS + "class S(System):\n    def build(self):\n        pass\n\tself.spawn(A)  # here\n", "Q303"),
    "null byte": (PROCESS + "x = '\0'\n", "Q303"),
    "not utf-8": (PROCESS + "x = '\udcff'  # here\n", "Q303"),
    "name error": (PROCESS + SYSTEM + "nowhere  # here\n", "Q303"),
    "import of nothing": ("import no_such_module  # here\n" + PROCESS + SYSTEM, "Q303"),
    "import of no name": ("from quorate import Nowhere  # here\n" + PROCESS + SYSTEM, "Q303"),
    "import of itself": ("import bad; bad.S  # here\n" + PROCESS + SYSTEM, "Q303"),
    "exits when imported": ("sys.exit(0)  # here\n" + PROCESS + SYSTEM, "Q303"),
    "raises when imported": ("1 / 0  # here\n" + PROCESS + SYSTEM, "Q303"),
    "recurses when imported": ("def f(): f()  # here\nf()\n" + PROCESS + SYSTEM, "Q303"),
    "empty": ("", "Q304"),
    "no system": (PROCESS, "Q304"),
    "two systems": (PROCESS + SYSTEM + SYSTEM.replace("class S", "class T"), "Q304"),
    "one name twice": (PROCESS + SYSTEM + SYSTEM, ""),
    "system made by a function": (PROCESS+ "def make():\n    class S(System):\n        def build(self): self.spawn(A)\n    return S\nT = make()\n", ""),
    "an instance instead of a class": (PROCESS + SYSTEM + "S = S()\n", "Q304"),
    "checks itself": (PROCESS + SYSTEM + "import quorate\nassert quorate.check(S).ok\n", ""),
    "checks itself and fails": (PROCESS+ SYSTEM.replace("return True", "return all(a.x == 0 for a in self[A])")+ "import quorate\nquorate.check(S).check()  # here\n", "Q303"),
    "threads": ("import threading\n" + handler("threading.Thread(target=print).start()"), ""),
    "closes standard output": (handler("sys.stdout.close()"), ""),
    "replaces standard output": (handler("sys.stdout = None"), "Q104"),
    "changes folder": (handler("os.chdir('/')"), "Q104"),
    "warns": ("import warnings\n" + handler("warnings.simplefilter('ignore'); warnings.warn('no')"), ""),
    "metaclass": (process("class A(Process, metaclass=type): ...\n").replace("class A", "class A"), ""),
    "process and message": (process("class A(Process, Message):  # here\n    x: int = 0\n"), "Q106"),
    "slots": (process("class A(Process):\n    __slots__ = ('y')\n    x: int = 0\n    @start\n    def go(self): self.y = 1  # here\n"), "Q102"),
    "own __init__": (process("class A(Process):\n    x: int = 0\n    def __init__(self): self.x = 3  # here\n    @start\n    def go(self): self.x = 1\n"), "Q106"),
    "own __setattr__": (process("class A(Process):\n    x: int = 0\n    def __setattr__(self, name, value): ...  # here\n    @start\n    def go(self): self.x = 1\n"), "Q106"),
    "own __getattribute__": (process("class A(Process):\n    x: int = 0\n    def __getattribute__(self, name): return 1  # here\n    @start\n    def go(self): self.x = 1\n"), "Q106"),
    "own __new__": (process("class A(Process):\n    x: int = 0\n    def __new__(cls): return 3  # here\n    @start\n    def go(self): self.x = 1\n"), "Q106"),
    # --- remembered, and assigned where nothing may be
    "build that counts": ("N = itertools.count()\n" + at("def build", build("self.spawn(A, x=next(N))")), "Q104"),
    "build that remembers": ("N = []\n" + at("def build", build("N.append(1); self.spawn(A, len(N))")), "Q104"),
    "assigns in a guard that is true": (process("def guard(self):\n    self.x += 1  # here\n    return True\nclass A(Process):\n    x: int = 0\n    @step(when=guard)\n    def go(self): ...\n"), "Q108"),
    "assigns in within": (process("class A(Process):\n    x: int = 0\n    def within(self):\n        self.x = 0  # here\n        return True\n"), "Q108"),
}

# ruff: noqa: E501 - models in a table are one line each
"""A model that remembers something outside of its fields gets an error with the line, never a verdict (rule 19)."""

import decimal
import json
import logging
import math
import os
import sys
import textwrap
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from quorate import QuorateError, check, prove
from quorate.cli.main import app
from quorate.explore.session import Session
from quorate.model.define import define
from quorate.model.target import load
from quorate.options import Options
from quorate.properties import evaluate
from quorate.search.plan import plan

HEAD = """
import contextvars, functools, itertools, sys, types
from collections import Counter, defaultdict, deque
from enum import Flag, auto
from functools import cache, cached_property, lru_cache
from quorate import *
class Go(Message):
    n: int = 0
class Said(Event): ...
"""
STEP = """
class A(Process):
    x: int = 0
    y: int = 0
    @step(when=lambda self: self.x < 3)
    def go(self) -> None:
        self.x += 1
        {}
class S(System):
    def build(self) -> None:
        self.spawn(A, 2)
    @invariant
    def ok(self) -> bool:
        return True
"""
PROPERTY = """
class A(Process):
    x: int = 0
    @step(when=lambda self: self.x < 3)
    def go(self) -> None:
        self.x += 1
class S(System):
    def build(self) -> None:
        self.spawn(A, 2)
    @invariant
    def ok(self) -> bool:
        {}
"""

# What is remembered, and the words for it; the line is marked.
REMEMBERED = {
    "class attribute": ("class Shared:\n    i = 0", "Shared.i += 1  # here", "`Shared.i` was 0 and is "),
    "global": ("n = 0", "global n; n += 1  # here", "`n` was 0 and is "),
    "map": ("class Shared:\n    m = Map()", "Shared.m |= {'first': self.x}  # here", "`Shared.m` was Map({}) and is "),
    "list": ("LOG: list = []", "LOG.append(self.x)  # here", "`LOG` was [] and is ["),
    "its method": ("LOG: list = []\nnote = LOG.append", "note(self.x)  # here", "`note` was [] and is ["),
    "dict": (
        "KNOWN: dict = {}",
        "self.y = KNOWN.setdefault('first', self.x)  # here",
        "`KNOWN` was {} and is {'first'",
    ),
    "nested": ("KNOWN = {'a': [1]}", "KNOWN['a'].append(2)  # here", "`KNOWN['a']` was [1] and is [1, 2"),
    "set": ("SEEN = set()", "SEEN.add(self.x)  # here", "`SEEN` was {} and is {"),
    "deque": ("LAST = deque([0], 1)", "LAST.append(self.x)  # here", "`LAST` was [0] and is ["),
    "counter": ("COUNT = Counter()", "COUNT['x'] += 1  # here", "`COUNT` was {} and is {'x'"),
    "long list": ("LOG = [0] * 100", "LOG[self.x] = self.x  # here", "`LOG` has changed"),
    "bytearray": ("DATA = bytearray(3)", "DATA[0] = self.x  # here", "`DATA` was bytearray(b'\\x00"),
    "object": (
        "class Box:\n    def __init__(self): self.i = 0\nbox = Box()",
        "box.i = self.x  # here",
        "`box.i` was 0 and is ",
    ),
    "slots": (
        "class Box:\n    __slots__ = ('i',)\n    def __init__(self): self.i = 0\nbox = Box()",
        "box.i = self.x  # here",
        "`box.i` was 0 and is ",
    ),
    "method": (
        "class Box:\n    i = 0\n    def up(self):\n        Box.i += 1  # here\nbox = Box()",
        "box.up()",
        "`Box.i` was 0 and is ",
    ),
    "namespace": ("box = types.SimpleNamespace(i=0)", "box.i += 1  # here", "`box.i` was 0 and is "),
    "own class": ("", "type(self).seen = self.x  # here", "`A.seen` is new"),
    "default of a field": ("", "A.x = 2  # here", "`A.x` was 0 and is 2"),
    "helper": ("n = 0\ndef up():\n    global n\n    n += 1  # here", "up()", "`n` was 0 and is "),
    "closure": (
        "def counting():\n    n = 0\n    def up():\n        nonlocal n\n        n += 1  # here\n        return n\n"
        "    return up\nup = counting()",
        "up()",
        "`n` was 0 and is ",
    ),
    "default argument": (
        "def up(seen=[]):  # here\n    seen.append(1)",
        "up()",
        "`a default argument of up` was [] and",
    ),
    "function": ("def up():\n    up.n += 1  # here\nup.n = 0", "up()", "`up.n` was 0 and is "),
    "partial": (
        "LOG: list = []\ndef note(log, x): log.append(x)\nup = functools.partial(note, LOG)",
        "up(1)  # here",
        "`up` was [] and is [1",
    ),
    "context": ("now = contextvars.ContextVar('now', default=0)", "now.set(self.x)  # here", "`now` was 0 and is "),
    "frozen": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass D:\n    v: int\nd = D(0)",
        "object.__setattr__(d, 'v', self.x)  # here",
        "`d.v` was 0 and is ",
    ),
    "frozen, and a field of that name": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass D:\n    y: int\nd = D(0)",
        "self.y = 3\n        object.__setattr__(d, 'y', d.y + 1)  # here",
        "`d.y` was 0 and is ",
    ),
    "count": ("ids = itertools.count()", "self.y = next(ids)  # here", "`ids` is an iterator (count)"),
    "generator": ("ids = (n for n in range(9))", "self.y = next(ids)  # here", "`ids` is an iterator (generator)"),
    "in a tuple": ("ids = (itertools.count(),)", "self.y = next(ids[0])  # here", "`ids[0]` is an iterator (count)"),
    "in a default": (
        "def up(ids=itertools.count()):  # here\n    return next(ids)",
        "self.y = up()",
        "`a default argument of up` is an iterator (count)",
    ),
}

# The same in objects and places that are not the model's own: what is written, and how it is read.
# Whatever it is, there is an order in which the reader gets 0.
ELSEWHERE = {
    "UserDict": ("from collections import UserDict\nG = UserDict(i=0)", "G['i'] = 1", "G['i']", "`G.data` was {'i': 0} and is {'i': 1}"),
    "UserDict in another": ("from collections import UserDict\nG = UserDict(i=UserDict(i=0))", "G['i']['i'] = 1", "G['i']['i']", "`G.data['i'].data` was {'i': 0} and is"),
    "UserList": ("from collections import UserList\nG = UserList([0])", "G[0] = 1", "G[0]", "`G.data` was [0] and is [1]"),
    "ChainMap": ("from collections import ChainMap\nG = ChainMap({'i': 0})", "G['i'] = 1", "G['i']", "`G.maps[0]` was {'i': 0}"),
    "Namespace": ("from argparse import Namespace\nG = Namespace(i=0)", "G.i = 1", "G.i", "`G.i` was 0 and is 1"),
    "module": ("G = types.ModuleType('g'); G.i = 0", "G.i = 1", "G.i", "`G.i` was 0 and is 1"),
    "library module": ("import math\nmath.i = 0", "math.i = 1", "math.i", "`math.i` was 0 and is 1"),
    "library class": ("import fractions\nfrom fractions import Fraction\nFraction.i = 0", "Fraction.i = 1", "Fraction.i", "`Fraction.i` was 0 and is 1"),
    "threading.local": ("import threading\nG = threading.local(); G.i = 0", "G.i = 1", "G.i", "`G.i` was 0 and is 1"),
    "Event": ("import threading\nG = threading.Event()", "G.set()", "int(G.is_set())", "`G._flag` was False and is True"),
    "Lock": ("import threading\nG = threading.Lock()", "G.locked() or G.acquire()", "int(G.locked())", "`G` has changed"),
    "Queue": ("from queue import Queue\nG = Queue()", "G.put(1)", "min(G.qsize(), 1)", "`G.queue` was [] and is [1"),
    "WeakKeyDictionary": ("import weakref\nclass K: ...\nk = K()\nG = weakref.WeakKeyDictionary()", "G[k] = 1", "G.get(k, 0)", "`G.data`"),
    "Mock": ("from unittest.mock import Mock\nG = Mock(); G.i = 0", "G.i = 1", "G.i", "`G.i` was 0 and is 1"),
    "level of a logger": ("import logging\nG = logging.getLogger('purity')", "G.setLevel(10)", "int(G.level == 10)", "`G.level` was 0 and is 10"),
    "memoryview": ("G = memoryview(bytearray(1))", "G[0] = 1", "G[0]", "`G` was b'\\x00' and is b'\\x01'"),
    "ctypes": ("import ctypes\nG = ctypes.c_int(0)", "G.value = 1", "G.value", "`G` was b'\\x00"),
    "decimal context": ("import decimal", "decimal.getcontext().prec = 1", "int(decimal.getcontext().prec == 1)", "`decimal.getcontext()` has changed"),
    "environment": ("import os\nos.environ['PURITY'] = '0'", "os.environ['PURITY'] = '1'", "int(os.environ['PURITY'])", "the model calls os.putenv"),
    "file": ("import os\nfrom quorate import __file__ as F\nF += '.txt'", "open(F, 'w').close()", "int(os.path.exists(F))", "the model opens '"),
    "globals": ("zz = 0", "globals()['zz'] = 1", "globals()['zz']", "`zz` was 0 and is 1"),
    "module by name": ("", "sys.modules[__name__].zz = 1", "getattr(sys.modules[__name__], 'zz', 0)", "`zz` is new: 1"),
    "underscores": ("class G: __i__ = 0", "G.__i__ = 1", "G.__i__", "`G.__i__` was 0 and is 1"),
    "defaults": ("def f(x=0): return x", "f.__defaults__ = (1,)", "f()", "`f.__defaults__` has changed"),
    "keyword defaults": ("def f(*, x=0): return x", "f.__kwdefaults__['x'] = 1", "f()", "`f.__defaults__` has changed"),
    "code": ("def f(): return 0\ndef g(): return 1", "f.__code__ = g.__code__", "f()", "`f.__code__` has changed"),
    "setattr": ("class G: ...\nname = 'i'", "setattr(G, name, 1)", "getattr(G, name, 0)", "`G.i` is new: 1"),
    "switch interval": ("", "sys.setswitchinterval(0.01)", "int(sys.getswitchinterval() > 0.009)", "`sys.getswitchinterval()` was 0.005"),
    "what cannot be seen": ("import queue\nG = queue.SimpleQueue()", "G.put(1)", "min(G.qsize(), 1)", "R.r behaved differently "),
}  # fmt: skip
WRITER = """
class W(Process):
    done: bool = False
    @start
    def w(self) -> None:
        self.done = True
        {write}  # here
class R(Process):
    t: int = -1
    @start
    def r(self) -> None:
        self.t = {read}
class S(System):
    def build(self) -> None:
        {spawn}
    @invariant
    def always_one(self) -> bool:
        return all(r.t != 0 for r in self[R])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    known, path = set(sys.modules), list(sys.path)
    yield tmp_path
    for name in set(sys.modules) - known:
        del sys.modules[name]
    sys.path[:] = path


def written(folder: Path, *parts: str) -> str:
    file = folder / "mine.py"
    file.write_text(HEAD + "\n".join(textwrap.dedent(part) for part in parts))
    return str(file)


def call(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(arguments))
    assert "Traceback" not in done.stderr
    return done.exit_code, done.stdout, done.stderr


def error(target: str, **options: object) -> QuorateError:
    with pytest.raises(QuorateError) as caught:
        check(load(target), **options)  # type: ignore[arg-type]
    return caught.value


def line(target: str) -> int:
    return 1 + next(n for n, text in enumerate(Path(target).read_text().splitlines()) if text.endswith("# here"))


@pytest.mark.parametrize("name", REMEMBERED)
def test_what_a_handler_stores(folder: Path, name: str) -> None:
    before, action, words = REMEMBERED[name]
    target = written(folder, before, STEP.format(action))
    found = error(target)
    assert found.code == "Q104"
    assert found.message.startswith(words)
    assert found.location == (target, line(target))


@pytest.mark.parametrize("name", REMEMBERED)
def test_nothing_is_proved_of_what_a_handler_stores(folder: Path, name: str) -> None:
    before, action, _ = REMEMBERED[name]
    system = load(written(folder, before, STEP.format(action)))
    with pytest.raises(QuorateError) as error:
        prove(system(), timeout=30)
    assert error.value.code in ("Q104", "Q752")


@pytest.mark.parametrize("name", [name for name in REMEMBERED if "self" not in REMEMBERED[name][1]])
def test_what_a_property_stores(folder: Path, name: str) -> None:
    before, action, words = REMEMBERED[name]
    action, _, mark = action.partition("  #")
    target = written(
        folder, before, PROPERTY.format(f"{action}; return len(self[A]) == 2" + ("  #" + mark) * bool(mark))
    )
    found = error(target)
    assert found.code == "Q104"
    assert found.message.startswith(words.partition(" was ")[0])
    assert found.location == (target, line(target))


GOALS = {
    "memory": (
        "SEEN: list = []\ndef over(self):\n    SEEN.append(1)  # here\n    return len(SEEN) > 3",
        "Q104",
        "`SEEN` was []",
    ),
    "chance": (
        "import random\ndef tossed(): return random.random() < 0.9  # here\ndef over(self): return tossed()",
        "Q105",
        "tossed uses `random`",
    ),
}


@pytest.mark.parametrize("name", GOALS)
def test_the_goal_of_a_temporal_property(folder: Path, name: str) -> None:
    """It is a function of its own, no method of the system."""
    before, code, words = GOALS[name]
    later = "    @leads_to(over)\n    def ends(self) -> bool:\n        return self[A][0].x == 0"
    target = written(folder, before, STEP.format("") + later)
    found = error(target, property="ends")
    assert (found.code, found.location) == (code, (target, line(target)))
    assert found.message.startswith(words)


@pytest.mark.parametrize("spawn", ["self.spawn(W); self.spawn(R)", "self.spawn(R); self.spawn(W)"])
@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_stored_in_things_that_are_not_the_models(folder: Path, name: str, spawn: str) -> None:
    before, write, read, words = ELSEWHERE[name]
    before = before.replace("from quorate import __file__ as F", f"F = {str(folder / 'memory')!r}")
    interval, precision = sys.getswitchinterval(), decimal.getcontext().prec
    try:
        target = written(folder, before, WRITER.format(write=write, read=read, spawn=spawn))
        found = error(target)
    finally:
        sys.setswitchinterval(interval)
        decimal.getcontext().prec = precision
        for cls, attribute in ((Fraction, "i"), (math, "i")):
            if hasattr(cls, attribute):
                delattr(cls, attribute)
        os.environ.pop("PURITY", None)
        logging.getLogger("purity").setLevel(0)
    assert found.code == "Q104"
    assert found.message.startswith(words)
    assert found.location is not None
    assert found.location.file == target


def test_an_error_of_the_search_may_come_from_what_the_model_remembers(folder: Path) -> None:
    """The reader is asked first, and says something else when its run is followed: no internal error."""
    spawn = "self.spawn(R); self.spawn(W)"
    target = written(folder, "class G: i = 0", WRITER.format(write="G.i = 1", read="G.i", spawn=spawn))
    found = error(target)
    assert (found.code, found.message) == (
        "Q104",
        "`G.i` was 0 and is 1: the model remembers something outside of its fields",
    )
    assert found.location == (target, line(target))


CHANCE = {
    "helper": ("import random\ndef h(): return random.random()  # here", "self.y = int(h() < 0.02)", "h uses `random`"),
    "static method": ("import random\nclass H:\n    @staticmethod\n    def h(): return random.random()  # here", "self.y = int(H.h() < 0.02)", "H.h uses `random`"),
    "helper of a helper": ("import time\ndef g(): return time.time()  # here\ndef h(f=g): return f()", "self.y = int(h() < 0.02)", "g uses `time`"),
    "imported": ("", "import random; self.y = random.randint(0, 50)  # here", "A.go uses `random`"),
    "imported from": ("", "from random import randint; self.y = randint(0, 50)  # here", "A.go uses `random`"),
    "by name": ("", "self.y = int(__import__('random').random() < 0.02)  # here", "the model draws random numbers"),
    "urandom": ("import os", "self.y = int(os.urandom(1)[0] < 5)  # here", "A.go uses `os.urandom`"),
    "urandom by itself": ("from os import urandom", "self.y = int(urandom(1)[0] < 5)  # here", "A.go uses `urandom`"),
    "getpid": ("import os", "self.y = os.getpid() % 2  # here", "A.go uses `os.getpid`"),
    "id": ("", "self.y = id(self) % 2  # here", "A.go uses `id`"),
    "hash of a text by its method": ("", "self.y = 'a'.__hash__() % 2  # here", "A.go uses `__hash__`"),
    "table of functions": ("import time\ndef h(): return time.time()  # here\nTABLE = {'now': h}", "self.y = int(TABLE['now']() < 2)", "h uses `time`"),
}  # fmt: skip

HELD = {
    "table": ("import time\nTABLE = {'now': time.time}", "self.y = int(TABLE['now']() < 2)", "A.go gets at `time`"),
    "table of tables": ("import time\nTABLE = {'a': (1, [time.monotonic])}", "self.y = int(TABLE['a'][1][0]() < 0.02)", "A.go gets at `monotonic`"),
    "table of modules": ("import time\nTABLE = {'clock': time}", "self.y = int(TABLE['clock'].time() < 2)", "A.go gets at `time`"),
    "chance in a list": ("import random\nLIST = [random.random]", "self.y = int(LIST[0]() < 0.02)", "A.go gets at `Random.random`"),
    "partial": ("import time\nnow = functools.partial(time.time)", "self.y = int(now() < 2)", "A.go gets at `time`"),
    "static method": ("import time\nclass H:\n    now = staticmethod(time.time)", "self.y = int(H.now() < 2)", "A.go gets at `time`"),
    "default": ("import time\ndef h(f=time.time): return f()  # here", "self.y = int(h() < 2)", "h gets at `time`"),
    "closure": ("import time\ndef made(f):\n    def g(): return f()  # here\n    return g\nh = made(time.time)", "self.y = int(h() < 2)", "made.<locals>.g gets at `time`"),
    "object": ("import time\nclass O: pass\no = O()\no.now = time.time", "self.y = int(o.now() < 2)", "A.go gets at `time`"),
    "date": ("from datetime import datetime\nTABLE = [datetime.now]", "self.y = TABLE[0]().year % 2", "A.go gets at `datetime.now`"),
    "hash": ("TABLE = {'h': hash}", "self.y = TABLE['h']('a') % 2", "A.go gets at `hash`"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANCE)
def test_chance_is_found_in_what_a_handler_calls(folder: Path, name: str) -> None:
    before, action, words = CHANCE[name]
    target = written(folder, before, STEP.format(action))
    found = error(target)
    assert (found.code, found.message.startswith(words)) == ("Q105", True)
    assert found.location == (target, line(target))


@pytest.mark.parametrize("name", HELD)
def test_chance_is_found_in_what_holds_it(folder: Path, name: str) -> None:
    """`TABLE = {"now": time.time}`: no code of the model's is in between that would name the clock."""
    before, action, words = HELD[name]
    step = (
        STEP
        if "# here" in before
        else STEP.replace("@step(when=lambda self: self.x < 3)", "@step(when=lambda self: self.x < 3)  # here")
    )
    target = written(folder, before, step.format(action))
    found = error(target)
    assert (found.code, found.message.startswith(words)) == ("Q105", True)
    assert found.location == (target, line(target))


def test_what_is_named_like_the_clock_is_not_the_clock(folder: Path) -> None:
    before = "import time, random\nBEGUN = time.time()\nclass Held:\n    at = 3\nTABLE = {'now': len, 'held': Held()}"
    action = "time, random = self.x, TABLE['held'].at; self.y = TABLE['now']((time, random))"
    assert check(load(written(folder, before, STEP.format(action)))).verdict == "holds"


WAYS: dict[str, dict[str, object]] = {
    "violated": {"property": "no"},
    "stopped": {"max_states": 2},
    "out of time": {},
    "depth first": {"search": "dfs"},
    "reduced": {"por": "lpor-net"},
    "unreduced": {"symmetry": "none", "quotient": "off", "dead_messages": "off"},
}


@pytest.mark.parametrize("way", WAYS)
def test_whatever_the_verdict_would_be(folder: Path, way: str) -> None:
    bad = STEP.format("Shared.i += 1  # here")
    no = "    @invariant\n    def no(self) -> bool:\n        return all(a.x < 2 for a in self[A])\n"
    if way == "out of time":
        bad = bad.replace("self.x < 3", "True").replace("self.spawn(A, 2)", "self.spawn(A, 3)")
    target = written(folder, "class Shared:\n    i = 0", bad + no if way == "violated" else bad)
    if way == "out of time":
        assert found_in_time(target, 0.2) == "Q104"
    else:
        assert error(target, **WAYS[way]).code == "Q104"


def found_in_time(target: str, seconds: float) -> str:
    """What a check is told that has so much time, or more if that was not enough for a single handler."""
    try:
        result = check(load(target), timeout=seconds)
    except QuorateError as refused:
        return refused.code or ""
    return found_in_time(target, 3 * seconds) if result.python_calls == 0 and seconds < 60 else result.verdict


def test_every_command_refuses(folder: Path) -> None:
    target = written(folder, "class Shared:\n    i = 0", STEP.format("Shared.i += 1  # here"))
    status, out, _ = call("check", target, "--json")
    found = json.loads(out)["error"]
    assert (status, found["code"], found["line"]) == (2, "Q104", line(target))
    status, _, err = call("plan", target)
    assert (status, "Q104" in err) == (2, True)
    with pytest.raises(QuorateError):
        plan(load(target)(), Options())


def test_a_saved_run_is_not_followed_through_a_model_that_remembers(folder: Path) -> None:
    fine = STEP.format("pass").replace("return True", "return all(a.x < 2 for a in self[A])")
    target = written(folder, fine)
    assert call("check", target, "--save", str(folder / "run.json"))[0] == 1
    assert call("replay", str(folder / "run.json"), "--trust")[0] == 1
    sys.modules.pop("mine", None)
    written(folder, "class Shared:\n    i = 0", fine.replace("pass", "Shared.i += 1"))
    status, _, err = call("replay", str(folder / "run.json"), "--trust")
    assert (status, "Q104" in err) == (2, True)


def test_what_is_hidden_is_found_by_asking_again_in_another_order(folder: Path) -> None:
    target = written(
        folder, "import queue\nQ = queue.SimpleQueue()", STEP.format("(self.x == 3 and Q.put(1)); self.y = Q.qsize()")
    )
    found = error(target, symmetry="none")
    assert found.code == "Q104"
    assert found.message.startswith("A.go behaved differently when it was run again")


def test_a_guard_and_a_monitor_and_a_property_are_asked_again(folder: Path) -> None:
    hidden = "import queue\nQ = queue.SimpleQueue()\ndef up():\n    Q.put(1)\n    return Q.qsize() > 2"
    guard = """
    class A(Process):
        x: int = 0
        @start
        def go(self) -> None: self.send(self.pid, Go(1)); self.emit(Said())
        @quorum(Go, size=1, where=lambda self, m: {where})
        def done(self, ms: frozenset) -> None: self.x = 1
    class M(Monitor):
        n: int = 0
        @on(Said)
        def said(self, e: Said) -> None: self.n = {monitor}
    class S(System):
        def build(self) -> None:
            self.spawn(A, 3)
            self.watch(M)
        @invariant
        def ok(self) -> bool: return {answer}
    """
    fine = {"where": "True", "monitor": "min(self.n + 1, 2)", "answer": "all(a.x >= 0 for a in self[A])"}
    assert check(load(written(folder, hidden, guard.format(**fine)))).ok
    for name, bad in {"where": "up()", "monitor": "int(up())", "answer": "up() or len(self[A]) > 9"}.items():
        sys.modules.pop("mine", None)
        assert error(written(folder, hidden, guard.format(**{**fine, name: bad}))).code == "Q104", name


# --- what stays legal --------------------------------------------------------------------------------------------

LEGAL = {
    "constants": (
        "NAMES = ['a', 'b']\nTABLE = {0: [1, 2], 1: [3]}\nclass K:\n    LIMIT = 3",
        "self.y = TABLE[0][0] + K.LIMIT",
    ),
    "memoised helper": (
        "@cache\ndef fib(n: int) -> int:\n    return n if n < 2 else fib(n - 1) + fib(n - 2)",
        "self.y = fib(9)",
    ),
    "enum": ("class F(Flag):\n    A = auto()\n    B = auto()", "self.y = (F.A | F.B).value"),
    "logging": ("import logging\nlog = logging.getLogger('x')", "log.debug('%s', self.x)"),
    "local mutables": ("", "seen = [1]; seen.append(2); self.y = len(seen)"),
    "local generators": ("", "self.y = sum(n for n in range(3)); self.y = next(itertools.count(2))"),
    "a name that is also an attribute": ("y = itertools.count()", "self.y = 1"),
    "a default that stays": ("def up(table=[1, 2]): return table[0]", "self.y = up()"),
    "stdlib state": ("import re", "self.y = len(re.findall('a', 'aa'))"),
    "objects of a library": (
        "import struct, threading\nfrom pathlib import Path\nP = Path('a/b')\nF = struct.Struct('>I')\n"
        "L = threading.Lock()\nU = __import__('collections').UserDict(i=1)",
        "self.y = len(str(P)) + F.unpack(F.pack(1))[0] + U['i']\n        with L: self.y += 1",
    ),
    "a cache of a library": (
        "import ipaddress\nN = ipaddress.ip_network('10.0.0.0/30')",
        "self.y = len(list(N.hosts())) + len(str(N.broadcast_address))",
    ),
    "decimal": ("from decimal import Decimal", "self.y = int(Decimal(1) / Decimal(3) * 100)"),
    "printing": ("", "print('x', file=sys.stderr)"),
    "reading a file": ("HERE = __file__", "with open(HERE) as file: self.y = len(file.read())"),
    "chance that nobody asks for": (
        "import random\nclass Tool:\n    def draw(self): return random.random()\n    def one(self): return 1\ntool = Tool()",
        "self.y = tool.one()",
    ),
    "names of what is no module": (
        "import os\nclass T:\n    times = 3\n    id = 4",
        "self.y = T.times + T.id + len(os.sep)",
    ),
}


@pytest.mark.parametrize("name", LEGAL)
def test_what_does_not_change_may_be_anywhere(folder: Path, name: str) -> None:
    before, action = LEGAL[name]
    result = check(load(written(folder, before, STEP.format(action))))
    assert result.ok
    assert 0 < result.repeated_calls <= result.python_calls


def test_build_may_reset_what_it_uses(folder: Path) -> None:
    target = written(
        folder, "LIMIT = [0]", STEP.format("self.y = LIMIT[0]").replace("self.spawn", "LIMIT[0] = 3; self.spawn")
    )
    assert check(load(target)).ok


# --- objects are made anew for every run -----------------------------------------------------------------------------

CACHES = {
    "cached_property of a process": ("", "@cached_property\n    def fresh(self) -> bool: return self.x == 0", "", "a.fresh"),
    "cached_property of the system": ("", "", "@cached_property\n    def xs(self): return [a.x for a in self[A]]", "not any(self.xs)"),
    "cache of a helper": ("@cache\ndef fresh(a): return a.x == 0", "", "", "fresh(a)"),
    "lru_cache of a method": ("", "@lru_cache\n    def fresh(self): return self.x == 0", "", "a.fresh()"),
    "put into the object": ("def fresh(a): return a.__dict__.setdefault('f', a.x == 0)", "", "", "fresh(a)"),
    "put into the system": ("", "", "def xs(self): return self.__dict__.setdefault('f', [a.x for a in self[A]])", "not any(self.xs())"),
}  # fmt: skip


@pytest.mark.parametrize("name", CACHES)
def test_what_a_property_keeps_in_objects_is_not_there_the_next_time(folder: Path, name: str) -> None:
    before, member, method, answer = CACHES[name]
    model = f"""
class A(Process):
    x: int = 0
    @start
    def begin(self) -> None: self.x = 1
    {member}
class S(System):
    def build(self) -> None: self.spawn(A, 2)
    {method}
    @invariant
    def ok(self) -> bool: return all({answer} for a in self[A])
"""
    for options in ({}, {"symmetry": "none"}):
        result = check(load(written(folder, before, model)), **options)  # type: ignore[arg-type]
        assert (result.verdict, len(result.trace.steps) if result.trace else 0) == ("violated", 1)


def test_what_a_handler_keeps_in_its_object_is_refused(folder: Path) -> None:
    bad = STEP.format("self.y = self.more").replace(
        "class S(", "    @cached_property\n    def more(self): return 1\nclass S("
    )
    found = error(written(folder, bad))
    assert (found.code, found.message) == (
        "Q102",
        "A.more is a cached_property, which keeps its value beside the fields",
    )
    for action in ("self.__dict__['z'] = 1", "del self.__dict__['x']", "self.__dict__['x'] = self.__dict__.pop('x')"):
        sys.modules.pop("mine", None)
        found = error(written(folder, STEP.format(action)))
        assert (found.code, found.location and found.location.file) == ("Q102", str(folder / "mine.py")), action


@pytest.mark.parametrize("who", ["A", "M"])
def test_nor_can_a_mutable_value_be_smuggled_into_a_field(folder: Path, who: str) -> None:
    bad = ENDING.replace("self.x += 1", "self.__dict__['x'] = []") if who == "A" else ENDING
    if who == "M":
        field = "class M(Monitor):\n    x: int = 0"
        bad = bad.replace("class M(Monitor):", field).replace(": ...\nclass S", ": self.__dict__['x'] = []\nclass S")
    found = error(written(folder, bad))
    assert (found.code, found.message.startswith(f"{who}.x holds [] of type list")) == ("Q101", True)


def test_nor_can_a_message_be_changed_by_force(folder: Path) -> None:
    model = """
class A(Process):
    x: int = 0
    @start
    def begin(self) -> None: self.send(self.pid, Go(1))
    @on(Go)  # here
    def take(self, m: Go) -> None:
        object.__setattr__(m, "n", m.n + 1)
        self.x = m.n
class S(System):
    def build(self) -> None: self.spawn(A, 2)
    @invariant
    def ok(self) -> bool: return True
"""
    target = written(folder, model)
    found = error(target)
    assert (found.code, found.location) == ("Q103", (target, line(target)))


CHANGED_BACK = """
class In(Message): n: int
class Out(Message): inside: In
class Told(Event): n: int
class M(Monitor):
    @on(Told)
    def hear(self, e: Told) -> None: {hear}
class A(Process):
    @start
    def begin(self) -> None: self.send(self.pid, Out(In(1))); self.emit(Told(1))
    @on(Out)
    def take(self, m: Out) -> None: {take}
class S(System):
    def build(self) -> None: self.spawn(A); self.watch(M)
    @invariant
    def ok(self) -> bool: return True
"""
BY_FORCE = "object.__setattr__({0}, 'n', 1 - {0}.n)"


@pytest.mark.parametrize("options", [{}, {"coverage": True}, {"vacuity": True}, {"all": True}], ids=str)
@pytest.mark.parametrize(("who", "what"), [("hear", "e"), ("take", "m.inside")])
def test_nor_is_what_was_changed_back_by_running_it_again(
    folder: Path, who: str, what: str, options: dict[str, Any]
) -> None:
    """An even number of evaluations leaves the message, or the event, as it was."""
    parts = {"hear": "...", "take": "..."} | {who: BY_FORCE.format(what)}
    with pytest.raises(QuorateError, match="changes the (Out|Told) it received") as caught:
        check(load(written(folder, CHANGED_BACK.format(**parts)))(), **options)
    assert caught.value.code == "Q103"


def test_other_modules_of_the_model_belong_to_it(folder: Path) -> None:
    (folder / "helping.py").write_text("count = 0\ndef up():\n    global count\n    count += 1  # here\n")
    for action in ("helping.count += 1", "helping.up()"):
        sys.modules.pop("mine", None)
        sys.modules.pop("helping", None)
        found = error(written(folder, "import helping", STEP.format(action)))
        assert found.code == "Q104", action
        assert "count` was 0 and is " in found.message


def test_a_model_may_be_installed_like_a_library(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quorate.model.memory._ELSEWHERE", (f"{folder}/",))
    assert error(written(folder, "class Shared:\n    i = 0", STEP.format("Shared.i += 1"))).code == "Q104"


def test_the_explorer_shows_nothing_that_depends_on_where_one_has_been(folder: Path) -> None:
    session = Session(define(load(written(folder, "class Shared:\n    i = 0", STEP.format("Shared.i += 1")))()))
    with pytest.raises(QuorateError, match="`Shared.i` was 0"):
        session.at((0, 0))


# --- functions that do not run when they are called -------------------------------------------------------------------

MEMBERS = """
{decorated}
class S(System):
    def build(self) -> None: self.spawn(A, 2)
    @invariant
    def ok(self) -> bool: return True
"""
SUSPENDED = {
    "handler": "class A(Process):\n    @start  # here\n    async def go(self): ...",
    "generator handler": "class A(Process):\n    @start  # here\n    def go(self): yield",
    "async generator": "class A(Process):\n    @on(Go)  # here\n    async def go(self, m): yield",
    "quorum": "class A(Process):\n    @quorum(Go, size=1)  # here\n    async def go(self, ms): ...",
    "monitor": "class M(Monitor):\n    @on(Said)  # here\n    async def go(self, e): ...",
    "within": "class A(Process):\n    async def within(self): return True  # here",
    "lambda": "class A(Process):\n    @step(when=lambda self: (yield))  # here\n    def go(self): ...",
    "when": "async def when(self): return False  # here\nclass A(Process):\n    @start(when=when)\n    def go(self): ...",
    "property": "class A(Process): ...\nclass S2(System):\n    @invariant  # here\n    async def ok(self): ...",
    "build": "class A(Process): ...\nclass Base(System):\n    async def build(self): self.spawn(A)  # here",
    **{
        name: f"async def bad(*_): ...  # here\nclass A(Process):\n    @quorum(Go, {how})\n    def go(self, ms): ..."
        for name, how in {
            "size": "size=bad",
            "each": "each=bad",
            "enough": "enough=bad",
            "where": "size=1, where=bad",
            "same": "size=1, same=bad",
            "partial": "size=1, where=functools.partial(bad, 1)",
        }.items()
    },
}


@pytest.mark.parametrize("name", SUSPENDED)
def test_coroutines_and_generators_are_refused_where_they_are_written(folder: Path, name: str) -> None:
    target = written(folder, MEMBERS.format(decorated=SUSPENDED[name]))
    with pytest.raises(QuorateError) as caught:
        check(load(target + (":Base" if name == "build" else ":S")))
    assert caught.value.code == "Q106"
    assert caught.value.location == (target, line(target))


WRAPPED = {
    "handler": ("class A(Process):\n    @start\n    @wrap  # here\n    async def go(self): ...", "A.go returned a coroutine"),
    "value": ("class A(Process):\n    @start  # here\n    def go(self): return 1", "A.go returned 1"),
    "when": ("class A(Process):\n    @start(when=lambda self: (n for n in ()))  # here\n    def go(self): ...", "`when` of A.go returned a generator"),
    "uncalled": ("class A(Process):\n    @step(when=lambda self: self.ready)  # here\n    def go(self): ...\n    def ready(self): return False", "`when` of A.go returned <bound"),
    "within": ("class A(Process):\n    def within(self): return (n for n in ())  # here", "A.within returned a generator"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRAPPED)
def test_what_comes_back_must_have_a_meaning(folder: Path, name: str) -> None:
    members, words = WRAPPED[name]
    wrap = "def wrap(f):\n    @functools.wraps(f)\n    def run(self): return f(self)  # wrapped\n    return run"
    target = written(folder, wrap, MEMBERS.format(decorated=members))
    found = error(target)
    assert (found.code, found.message[: len(words)]) == ("Q106", words)
    if name != "handler":
        assert found.location == (target, line(target))


# --- what would end the program ------------------------------------------------------------------------------------

ENDS = {
    "SystemExit": "sys.exit()",
    "status 0": "sys.exit(0)",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "GeneratorExit": "raise GeneratorExit",
    "own": "raise Own('x')",
}
PLACES = {
    "build": "def build(self) -> None:\n        {}  # here\n        self.spawn(A, 2)",
    "handler": "self.x += 1; {}  # here",
    "within": "def within(self): {}  # here",
    "property": "def ok(self) -> bool:\n        {}  # here",
    "guard": "def guard(self): {}  # here",
    "monitor": "def said(self, e: Said) -> None: {}  # here",
}
ENDING = """
class Own(BaseException): ...
def guard(self): return self.x < 3
class A(Process):
    x: int = 0
    @step(when=guard)
    def go(self) -> None:
        self.x += 1
        self.emit(Said())
    def within(self): return True
class M(Monitor):
    @on(Said)
    def said(self, e: Said) -> None: ...
class S(System):
    def build(self) -> None:
        self.watch(M)
        self.spawn(A, 2)
    @invariant
    def ok(self) -> bool:
        return True
"""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ENDS)
def test_nothing_in_a_model_ends_the_program(folder: Path, place: str, name: str) -> None:
    new = PLACES[place].format(ENDS[name])
    first = new.partition(":")[0] if "def" in new else "self.x += 1"
    lines = ENDING.splitlines()
    at = next(n for n, text in enumerate(lines) if text.strip().startswith(first.strip()))
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    target = written(folder, "\n".join([*lines[:at], *(indent + new).splitlines(), *lines[at + 1 :]]))
    status, out, _ = call("check", target, "--json")
    found = json.loads(out)["error"]
    assert (status, found["code"], found["line"]) == (2, "Q119", line(target))


def test_ctrl_c_is_nobodys_fault(folder: Path) -> None:
    model = ENDING.replace("self.watch(M)", "signal.raise_signal(signal.SIGINT); self.watch(M)")
    system = load(written(folder, "import signal", model))
    with pytest.raises(KeyboardInterrupt):
        define(system)
    model = ENDING.replace("        return True", "        signal.raise_signal(signal.SIGINT); return True")
    sys.modules.pop("mine", None)
    system = load(written(folder, "import signal", model))
    definition = define(system)
    with pytest.raises(KeyboardInterrupt):
        evaluate(definition, definition.invariants[0], definition.initials[0])


# --- whose fault it is -----------------------------------------------------------------------------------------------

BLAMED = {
    "build": ("self.spawn(A, 2)", "self.spawn(A, {}['no'])  # here", "Q118", "`S.build` raised KeyError: 'no'"),
    "assertion in build": ("self.spawn(A, 2)", "assert False, 'no'  # here", "Q118", "`S.build` raised no"),
    "within": ("return True", "return {}[0]  # here", "Q118", "`A.within` raised KeyError: 0"),
    "within, later": ("return True", "return {0: 1, 1: 1}[self.x]  # here", "Q118", "`A.within` raised KeyError: 2"),
    "build returns": ("self.spawn(A, 2)", "return self.spawn(A, 2)", "Q106", "S.build returned something"),
}


@pytest.mark.parametrize("name", BLAMED)
def test_exceptions_of_the_model_are_its_own(folder: Path, name: str) -> None:
    old, new, code, words = BLAMED[name]
    target = written(folder, ENDING.replace(old, new, 1))
    status, out, _ = call("check", target, "--json")
    found = json.loads(out)["error"]
    assert (status, found["code"], found["message"]) == (2, code, words)
    if "# here" in new:
        assert (found["file"], found["line"]) == (target, line(target))


def test_what_nobody_has_foreseen_is_blamed_on_whose_line_it_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = ENDING.replace("    def build", "    def __init__(self, **values):\n        {}[0]  # here\n    def build", 1)
    target = written(folder, bad)
    status, out, _ = call("check", target, "--json")
    found = json.loads(out)["error"]
    assert (status, found["code"], found["line"]) == (2, "Q118", line(target))
    monkeypatch.setattr("quorate.search.check.define", None)
    status, out, _ = call("check", "ping-pong", "--json")
    found = json.loads(out)["error"]
    assert (status, found["code"]) == (2, "Q900")
    assert found["message"].startswith("internal error, TypeError")


TWICE = {
    "handler": ("class A(Process):\n    go: int = 0\n    @start  # here\n    def go(self): ...", "A.go is a field in line 12 and a method in line 13"),
    "helper": ("class A(Process):\n    go: int\n    def go(self): ...  # here", "A.go is a field in line 12 and a method in line 13"),
    "property": ("class A(Process):\n    go: int\n    @property  # here\n    def go(self): ...", "A.go is a field in line 12 and a method in line 13"),
    "inherited": ("class B(Process):\n    go: int = 0\nclass A(B):\n    def go(self): ...  # here", "A.go is a field in line 12 and a method in line 14"),
    "message": ("class M(Message):\n    n: int\n    def n(self): ...  # here", "M.n is a field in line 12 and a method in line 13"),
    "monitor": ("class M(Monitor):\n    said: int = 0\n    @on(Said)  # here\n    def said(self, e): ...", "M.said is a field in line 12 and a method in line 13"),
    "parameter": ("class A(Process): ...\nclass S(System):\n    n: int = 2\n    def build(self): self.spawn(A)\n    @invariant  # here\n    def n(self): return True\nclass A(Process): ...\nclass Last(S): ...", "S.n is a parameter in line 12 and a method in line 14"),
}  # fmt: skip


@pytest.mark.parametrize("name", TWICE)
def test_a_name_has_one_meaning(folder: Path, name: str) -> None:
    model, words = TWICE[name]
    target = written(folder, model if name == "parameter" else MEMBERS.format(decorated=model))
    with pytest.raises(QuorateError) as caught:
        check(load(target + ":S"))
    assert (caught.value.code, caught.value.message) == ("Q106", words)
    assert caught.value.location == (target, line(target))


# The line that is at fault, not the first of the class or of its first method.
LINES = {
    "within of a monitor": "class M(Monitor):\n    @on(Said)\n    def said(self, e): ...\n    def within(self): return True  # here",
    "durable": "class A(Process):\n    x: int = 0\n    durable = ('y',)  # here\n    @start\n    def go(self): ...",
    "durable text": "class A(Process):\n    x: int = 0\n    durable = 'x'  # here",
    "reserved": "class A(Process):\n    x: int = 0\n    pid: int = 0  # here",
    "init": "class A(Process):\n    x: int = 0\n    def __init__(self): ...  # here",
    "reserved in a message": "class M(Message):\n    n: int\n    sender: int  # here",
    "default": "class A(Process):\n    x: int = 0\n    y: list = []  # here",
    "forgotten": "class B(Process):\n    @start\n    def go(self): ...\nclass A(B):\n    x: int = 0\n    go = 3  # here",
}


@pytest.mark.parametrize("name", LINES)
def test_an_error_shows_the_line_that_is_wrong(folder: Path, name: str) -> None:
    model = LINES[name]
    watched = "class S(System):\n    def build(self): self.spawn(A); self.watch(M)" if "(Monitor)" in model else MEMBERS
    head = "class A(Process): ...\n" if "class A" not in model else ""
    text = head + model + "\n" + watched.format(decorated="")
    target = written(folder, text)
    with pytest.raises(QuorateError) as caught:
        check(load(target + ":S"))
    assert caught.value.location == (target, line(target))


PARAMETERS = {
    "type": "    servers: int = 3\n    weights: list = 1  # here\n",
    "default": "    servers: int = 3\n    name: str = 1  # here\n",
    "taken": "    servers: int = 3\n    spawn: int = 1  # here\n",
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_so_does_one_about_parameters(folder: Path, name: str) -> None:
    target = written(folder, ENDING.replace("class S(System):\n", "class S(System):\n" + PARAMETERS[name]))
    found = error(target)
    assert (found.code, found.location) == ("Q106", (target, line(target)))


SIZES = ["lambda self: 0", "'zero'", "lambda self: -1", "lambda self: True", "lambda self: 1.0"]


@pytest.mark.parametrize("size", SIZES)
def test_a_size_that_is_none_is_an_error_once_there_is_a_message(folder: Path, size: str) -> None:
    model = """
class A(Process):
    zero: int = 0
    x: int = 0
    @start(when=lambda self: {sends})
    def go(self) -> None: self.send(self.pid, Go(1))
    @quorum(Go, size={size})
    def done(self, ms: frozenset) -> None: self.x = 1
class S(System):
    def build(self) -> None: self.spawn(A, 2)
    @invariant
    def ok(self) -> bool: return True
"""
    found = error(written(folder, model.format(size=size, sends=True)))
    assert (found.code, found.message.startswith("A.done: size is ")) == ("Q107", True)
    sys.modules.pop("mine", None)
    assert check(load(written(folder, model.format(size=size, sends=False)))).ok


def test_too_many_initial_states_come_with_advice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quorate.model.build.MAX_PATHS", 3)
    found = error(written(folder, ENDING.replace("self.spawn(A, 2)", "self.spawn(A, x=self.choose(range(9)))", 1)))
    assert (found.code, found.hint.startswith("choose fewer fields")) == ("Q502", True)

"""`quorate new`: a small protocol to start from, which checks green."""

import keyword
import re
from pathlib import Path
from typing import Annotated

import typer

from quorate.base.errors import TargetError
from quorate.cli.errors import HOLDS, guarded

EPILOG = """
Examples:

  quorate new my-protocol

  quorate check my_protocol.py
"""

TEMPLATE = '''"""@TITLE@: a client stores a value on servers, and is done once a majority has it.

    quorate check @FILE@
    quorate check @FILE@ -p servers=5

Something to try: let the client wait for one server only (size=1), and check again.
"""

from quorate import Message, Peers, Process, System, can, final, invariant, majority, on, quorum, start


class Store(Message):
    value: int


class Stored(Message):
    value: int


class Server(Process):
    value: int = 0  # fields are the local state: immutable values, with or without a default

    @on(Store)  # consumes one message; `when=lambda self, m: ...` would guard it
    def store(self, m: Store) -> None:
        self.value = m.value
        self.reply(Stored(m.value))


class Client(Process):
    servers: Peers  # no default: given when the client is spawned
    done: bool = False

    @start  # happens once, at any time
    def write(self) -> None:
        self.send(self.servers, Store(1))

    @quorum(Stored, size=lambda self: majority(self.servers))  # this many distinct servers, atomically
    def finish(self, replies: frozenset[Stored]) -> None:
        self.done = True


class @NAME@(System):
    """What the client was told is stored is stored on a majority."""

    servers: int = 3  # a parameter: -p servers=5

    # The network keeps every message, in no order, until it is consumed. To make life harder, import and set
    #     network = unordered(losses=1)      or fifo(), multiset(), duplicates=...
    #     faults = crashes(1, of=Server)

    def build(self) -> None:
        servers = self.spawn(Server, self.servers)
        self.spawn(Client, servers=servers)

    @invariant  # in every reachable state
    def durable(self) -> bool:
        stored = sum(server.value == 1 for server in self[Server])
        return stored >= majority(self.servers) or not any(client.done for client in self[Client])

    @can  # in some reachable state, so that the invariant is not vacuous
    def finishes(self) -> bool:
        return all(client.done for client in self[Client])

    @final  # where nothing more can happen, this must be true, or it is a deadlock
    def finished(self) -> bool:
        return all(client.done for client in self[Client])
'''


@guarded
def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="For example my-protocol, which is written to my_protocol.py.")
    ],
) -> int:
    """Write a small commented protocol to start from. It checks green."""
    path, title = _path(name)
    text = TEMPLATE.replace("@TITLE@", title).replace("@FILE@", str(path)).replace("@NAME@", title.replace(" ", ""))
    try:
        with path.open("x", encoding="utf-8") as file:  # x: never overwrite
            file.write(text)
    except FileExistsError:
        hint = "choose another name; nothing was written"
        raise TargetError(f"{path} exists already", hint=hint, code="Q312") from None
    except OSError as error:
        raise TargetError(f"cannot write {path}: {error.strerror}", code="Q310") from None
    _next_step(path)
    return HOLDS


def _path(name: str) -> tuple[Path, str]:
    """The file, and the name in words: `my-protocol` becomes my_protocol.py and `My Protocol`."""
    given = Path(name)
    stem = given.name.removesuffix(".py")
    words = [word for word in re.split(r"[^0-9A-Za-z]+|(?<=[a-z0-9])(?=[A-Z])", stem) if word]
    module = "_".join(word.lower() for word in words)
    if not module.isidentifier() or keyword.iskeyword(module):
        hint = "use letters, digits and dashes, a letter first: my-protocol"
        raise TargetError(f"{name!r} cannot be the name of a protocol", hint=hint, code="Q313")
    return given.with_name(module + ".py"), " ".join(word[0].upper() + word[1:] for word in words)


def _next_step(path: Path) -> None:
    from quorate.cli.output import show
    from quorate.render.layout import Page, Piece

    page = Page(lines=[])
    page.add(Piece("✓ ", "good"), f"wrote {path}")
    page.add("  check it: ", Piece(f"quorate check {path}", "command"))
    show(page)

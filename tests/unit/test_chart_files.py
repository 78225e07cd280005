"""Charts as files and as text: PNG, Mermaid, the terminal."""

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from handmade import violation, witness
from models import Everything
from quorate import QuorateError, check
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.render.chart.mermaid import mermaid
from quorate.render.chart.model import chart
from quorate.render.chart.terminal import draw, fits
from quorate.render.chart.write import write
from quorate.results.trace import Trace


def broken_paxos() -> Trace:
    trace = check(FaultyPaxos()).trace
    assert trace is not None
    return trace


def test_png(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    write(broken_paxos(), tmp_path / "run.png")
    content = (tmp_path / "run.png").read_bytes()
    assert content.startswith(b"\x89PNG\r\n")
    assert int.from_bytes(content[16:20], "big") > 2000  # twice the size of the drawing


def test_png_without_its_library_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(QuorateError, match="needs the library resvg-py") as caught:
        write(broken_paxos(), tmp_path / "run.png")
    assert "pip install 'quorate[png]'" in caught.value.hint


def test_the_name_says_the_form(tmp_path: Path) -> None:
    with pytest.raises(QuorateError, match="has no file extension that names a format") as caught:
        write(broken_paxos(), tmp_path / "run.gif")
    assert caught.value.hint == "use one of .svg, .png, .mmd, .txt"
    for name, start in (("a.svg", "<svg "), ("a.mmd", "---"), ("a.txt", "  ")):
        write(broken_paxos(), tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(QuorateError, match="cannot write"):
        write(broken_paxos(), tmp_path / "nowhere" / "run.svg")


def test_mermaid() -> None:
    assert mermaid(chart(violation(Everything(lossy=False), "one_busy"))) == dedent(
        """\
        ---
        title: Everything
        ---
        sequenceDiagram
            box transparent Asker
            participant asker1 as asker1
            end
            box transparent Helper
            participant helper1 as helper1
            participant helper2 as helper2
            participant helper3 as helper3
            end
            Note right of asker1: 1 ask<br/>chooses Colour.RED<br/>emits Asked(colour=Colour.RED)
            asker1--xhelper3: Ask(colour=Colour.RED) (never received)
            asker1->>helper1: Ask(colour=Colour.RED)
            Note right of helper1: 2 help<br/>busy: False → True<br/>chooses 1
            helper1--xasker1: Answer(number=1) (never received)
            asker1->>helper2: Ask(colour=Colour.RED)
            Note right of helper2: 3 help<br/>busy: False → True<br/>chooses 1
            helper2--xasker1: Answer(number=1) (never received)
            Note over asker1,helper3: ✗ one_busy fails<br/>sum(helper.busy for helper in self[Helper]) #lt; 2<br/>2 #lt; 2 is false<br/>sum((True, True, False)) is 2<br/>helper1.busy = True<br/>helper2.busy = True<br/>helper3.busy = False
        """  # noqa: E501 - a note is one line
    )


def test_the_terminal() -> None:
    shown = draw(chart(witness(Everything(lossy=False), "served")), 80).plain()
    assert shown == dedent(
        """
            |          asker1                  helper1                 helper2
            |             │                       │                       │
            |             ┃ 1 ask                 │                       │
            |             ┃ chooses Colour.RED    │                       │
            |             ┃ emits Asked(colour=Colour.RED)                │
            |             │                       │                       │
            |             ├─ Ask(Colour.RED) ────▶┃ 2 help                │
            |             │                       ┃ busy: False → True    │
            |             │                       ┃ chooses 1             │
            |             │                       │                       │
            |             ├─ Ask(colour=Colour.RED) ─────────────────────▶┃ 3 help
            |             │                       │                       ┃ busy = True
            |             │                       │                       ┃ chooses 1
            |             │                       │                       │
            |             ┃◀─── Answer(number=1) ─┤                       │
            |             ┃◀─────────────────────────── Answer(number=1) ─┤
            |             ┃ 4 hear                │                       │
            |             ┃ answers: {} → {helper1: 1, helper2: 1}        │
            |             │                       │                       │
            """
    ).strip().replace("\n|", "\n").removeprefix("|")


@pytest.mark.parametrize("width", [80, 100, 110])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    picture = chart(broken_paxos())
    assert fits(picture, width)
    assert max(map(len, draw(picture, width).plain().splitlines())) <= width


def test_without_unicode_everything_stays_in_its_place() -> None:
    page = draw(chart(broken_paxos()), 80)
    plain, ascii_only = page.plain().splitlines(), page.plain(ascii_only=True).splitlines()
    assert "".join(ascii_only).isascii()
    at = plain[0].index("proposer2")
    assert ascii_only[0][at:].startswith("proposer2")
    assert ascii_only[14].startswith("       +- Prepare(ballot=1) ----># 3 promise  |            |")


def test_there_is_not_always_room() -> None:
    assert not fits(chart(broken_paxos()), 60)


def test_what_fits_beside_no_lifeline_goes_on_below() -> None:
    from quorate.protocols.gossip import Gossip

    trace = check(Gossip(fanout=1)).trace
    assert trace is not None
    lines = draw(chart(trace), 80).plain().splitlines()
    start = next(at for at, line in enumerate(lines) if "Progress.newest: {node1: 2}" in line)
    assert lines[start].endswith("┃ Progress.newest: {node1: 2} → {node1:")
    assert "┃   2, node2: 2}" in lines[start + 1]
    assert max(map(len, lines)) <= 80

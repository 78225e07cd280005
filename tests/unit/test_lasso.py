"""Runs that go on for ever, and runs that start anywhere: kept, saved, replayed and shown as what they are."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from quorate import Message, Pid, Process, System, crashes, eventually, fifo, invariant, on, start, step
from quorate.base.errors import TargetError
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.render.chart.layout import laid_out
from quorate.render.chart.mermaid import mermaid
from quorate.render.chart.model import chart
from quorate.render.chart.svg import svg
from quorate.render.chart.terminal import draw
from quorate.render.exports.itf import itf
from quorate.render.exports.regression import regression_test
from quorate.render.exports.shiviz import shiviz
from quorate.render.html.run import run as section
from quorate.render.text import run
from quorate.results.json import load, saved_document, trace_to_json
from quorate.results.regroup import regroup
from quorate.results.replay import ReplayError, replay
from quorate.results.shorten import shorten
from quorate.results.trace import Trace
from quorate.semantics.state import Step, initial_states
from quorate.semantics.steps import steps
from quorate.semantics.waiting import waiting
from test_schemas import validator


class Token(Message): ...


class Thanks(Message):
    times: int


class Player(Process):
    next: Pid | None = None
    has: bool = False

    @step(when=lambda self: self.has)
    def play(self) -> None:
        self.has = False
        assert self.next is not None
        self.send(self.next, Token())

    @on(Token)
    def catch(self, _: Token) -> None:
        self.has = True


class Watcher(Process):
    greeted: bool = False
    friend: Pid

    @start
    def begin(self) -> None:
        self.greeted = True

    @on(Thanks)
    def bow(self, m: Thanks) -> None: ...


class Ring(System):
    """A token goes round. Nobody thanks the watcher, who waits for that."""

    network = fifo()

    def build(self) -> None:
        players = [self.spawn(Player, has=True), self.spawn(Player)]
        self.connect(players[0], next=players[1])
        self.connect(players[1], next=players[0])
        self.spawn(Watcher, friend=players[0])

    @eventually
    def thanked(self) -> bool:
        return False


def taken(definition: Definition, *names: str) -> tuple[Step, ...]:
    state = initial_states(definition)[0]
    found: list[Step] = []
    for name in names:
        (one,) = [each for each in steps(definition, state) if each.transition and each.transition.name == name]
        found.append(one)
        assert one.next is not None
        state = one.next
    return tuple(found)


ROUND = ("play", "catch", "play", "catch")


def lasso(*names: str, loop_from: int, fairness: str = "message") -> Trace:
    definition = define(Ring())
    path = taken(definition, *names)
    return Trace(
        "violation",
        "thanked",
        ("nobody thanks",),
        definition,
        initial_states(definition)[0],
        path,
        shortest=True,
        loop_from=loop_from,
        fairness=fairness,
    )


def endless() -> Trace:
    """The watcher begins; then the token goes round for ever."""
    return lasso("begin", *ROUND, loop_from=1)


def in_the_air() -> Trace:
    """The loop begins and ends while the token is in flight."""
    return lasso("begin", "play", "catch", "play", "catch", "play", loop_from=2)


def stopped() -> Trace:
    return lasso("begin", "play", loop_from=2, fairness="none")


def recorded(trace: Trace) -> Any:
    return json.loads(json.dumps(trace_to_json(trace)))


# --- the run itself --------------------------------------------------------------------------------------------


def test_it_knows_its_loop() -> None:
    trace = endless()
    assert [each.transition.name for each in trace.loop if each.transition] == list(ROUND)
    assert not trace.stops
    assert stopped().stops
    assert stopped().loop == ()
    assert replace(trace, loop_from=None).loop == ()


@pytest.mark.parametrize("loop_from", [0, 2, 6, -1])
def test_a_loop_that_does_not_close_is_none(loop_from: int) -> None:
    with pytest.raises(ValueError, match=f"does not come back to its state {loop_from}"):
        replace(endless(), loop_from=loop_from)


def test_its_order_and_its_length_mean_something() -> None:
    trace = replace(endless(), shortest=False)
    assert regroup(trace) is trace
    assert shorten(trace) is trace


# --- files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [endless, in_the_air, stopped])
def test_it_is_saved_and_replayed(make: Any) -> None:
    trace = make()
    document = recorded(trace)
    assert document["loop_from"] == trace.loop_from
    again = replay(define(Ring()), document)
    assert (again.loop_from, again.start, again.reason) == (trace.loop_from, "initial", trace.reason)
    assert recorded(again) == document


def test_a_run_that_ends_is_saved_as_before() -> None:
    assert not {"loop_from", "start"} & recorded(replace(endless(), loop_from=None)).keys()


def test_the_schema_knows_loops() -> None:
    for trace in (endless(), anywhere()):
        validator("run").validate(json.loads(json.dumps(saved_document(trace, "model.py:Ring"))))


@pytest.mark.parametrize(
    ("key", "value"), [("loop_from", -1), ("loop_from", "1"), ("loop_from", None), ("start", "initially")]
)
def test_a_damaged_file_is_refused(tmp_path: Path, key: str, value: Any) -> None:
    file = tmp_path / "run.json"
    document = json.loads(json.dumps(saved_document(endless(), "model.py:Ring")))
    file.write_text(json.dumps(document))
    assert load(file) == document
    document["trace"][key] = value
    with pytest.raises(jsonschema.ValidationError):
        validator("run").validate(document)
    file.write_text(json.dumps(document))
    with pytest.raises(TargetError, match=rf"trace\.{key} is"):
        load(file)


@pytest.mark.parametrize(
    ("loop_from", "why"),
    [(0, "its loop does not close: after the last step it is not in state 0"), (9, "only 5 steps")],
)
def test_a_replay_sees_that_the_loop_closes(loop_from: int, why: str) -> None:
    with pytest.raises(ReplayError, match=why):
        replay(define(Ring()), recorded(endless()) | {"loop_from": loop_from})


def test_a_replay_looks_for_the_property() -> None:
    with pytest.raises(ReplayError, match="which the model no longer has"):
        replay(define(Ring()), recorded(endless()) | {"property": "gone"})


def test_a_regression_test_keeps_the_loop() -> None:
    text = regression_test(endless(), "test_it.py", "model.py:Ring")
    assert '"loop_from": 1' in text
    assert '"reason": ["nobody thanks"]' in text


# --- what is shown ---------------------------------------------------------------------------------------------


def test_as_text() -> None:
    assert (
        run(endless()).plain()
        == """\
The shortest run that breaks thanked: 5 steps, the last 4 steps again and again

    1. watcher1  begin
         greeted: False → True

╭ from here on, again and again
│   2. player1   play
│        has: True → False
│        sends Token() to player2
│        in flight: Token() → player2
│
│   3. player2   catch  ← Token() from player1
│        has: False → True
│
│   4. player2   play
│        has: True → False
│        sends Token() to player1
│        in flight: Token() → player1
│
│   5. player1   catch  ← Token() from player2
│        has: False → True
╰

  ✗ thanked fails on this run, which has no end
      nobody thanks"""
    )


def test_as_text_with_nothing_more_to_come() -> None:
    assert (
        run(stopped()).plain()
        == """\
The shortest run that breaks thanked: 2 steps, and then nothing happens any more

  1. watcher1  begin
       greeted: False → True

  2. player1   play
       has: True → False
       sends Token() to player2

  and then nothing happens any more
      player1 waits for Token
      player2 could still do: catch
      watcher1 waits for Thanks

  ✗ thanked fails on this run, which has no end
      nobody thanks

  still in flight
      Token() from player1 to player2"""
    )


def test_in_the_terminal() -> None:
    assert (
        draw(chart(in_the_air()), 76).plain()
        == """\
           watcher1                 player1                 player2
               │                       │                       │
               ┃ 1 begin               │                       │
               ┃ greeted: False → True │                       │
               │                       │                       │
               │                       ┃ 2 play                │
               │                       ┃ has: True → False     │
               │                       │                       │
╭ from here on, again and again
│              │                       ├─ Token() ────────────▶┃ 3 catch
│              │                       │                       ┃ has = True
│              │                       │                       │
│              │                       │                       ┃ 4 play
│              │                       │                       ┃ has = False
│              │                       │                       │
│              │                       ┃◀──────────── Token() ─┤
│              │                       ┃ 5 catch               │
│              │                       ┃ has: False → True     │
│              │                       │                       │
│              │                       ┃ 6 play                │
│              │                       ┃ has: True → False     │
│              │                       ┃╌ Token() ╌╌╌╌╌╌╌╌╌╌╌╌↻│
│              │                       │                       │
╰"""
    )


def test_in_the_terminal_with_nothing_more_to_come() -> None:
    assert (
        draw(chart(stopped()), 76).plain()
        == """\
         watcher1                 player1                 player2
             │                       │                       │
             ┃ 1 begin               │                       │
             ┃ greeted: False → True │                       │
             │                       │                       │
             │                       ┃ 2 play                │
             │                       ┃ has: True → False     │
             │                       ┃╌ Token() ╌╌╌╌╌╌╌╌╌╌╌╌○│
             │                       │                       │
  and then nothing happens any more  │                       │
             │                       │                       │"""
    )


def diagram(trace: Trace) -> str:
    """Behind the participants."""
    return "\n".join(line.strip() for line in mermaid(chart(trace)).splitlines()[11:]).replace("<br/>", "\n  ")


def test_as_mermaid() -> None:
    assert (
        diagram(in_the_air())
        == """\
Note right of watcher1: 1 begin
  greeted: False → True
Note right of player1: 2 play
  has: True → False
loop from here on, again and again
player1->>player2: Token()
Note right of player2: 3 catch
  has: False → True
Note right of player2: 4 play
  has: True → False
player2->>player1: Token()
Note right of player1: 5 catch
  has: False → True
Note right of player1: 6 play
  has: True → False
player1-->>player2: Token() (received next time)
end
Note over watcher1,player2: ✗ thanked fails
  nobody thanks"""
    )


def test_as_mermaid_with_nothing_more_to_come() -> None:
    assert (
        diagram(stopped())
        == """\
Note right of watcher1: 1 begin
  greeted: False → True
Note right of player1: 2 play
  has: True → False
player1--xplayer2: Token() (never received)
Note over watcher1,player2: and then nothing happens any more
  player1 waits for Token
  player2 could still do: catch
  watcher1 waits for Thanks
Note over watcher1,player2: ✗ thanked fails
  nobody thanks"""
    )


def test_as_itf() -> None:
    """Whose key `loop` is the number of a state, too."""
    assert json.loads(itf(endless()))["loop"] == 1
    assert json.loads(itf(stopped()))["loop"] == 2
    assert "loop" not in json.loads(itf(replace(endless(), loop_from=None)))


def test_in_a_picture_there_is_a_bracket_around_the_loop() -> None:
    drawing = laid_out(chart(in_the_air()))
    assert drawing.bracket is not None
    inside = [bar.number for bar in drawing.bars if drawing.bracket.top < bar.top < bar.bottom < drawing.bracket.bottom]
    assert inside == [3, 4, 5, 6]
    assert all(bar.bottom < drawing.bracket.top for bar in drawing.bars if bar.number not in inside)
    assert not any(bar.bad for bar in drawing.bars), "no step is the bad one"
    assert min(label.box[0] for label in drawing.labels) > drawing.bracket.x
    picture = svg(drawing)
    assert "from here on, again and again" in picture
    assert "sent in step 6, received when the loop comes round again" in picture
    assert laid_out(chart(replace(endless(), loop_from=None))).bracket is None


def test_a_bracket_may_begin_in_a_fold() -> None:
    drawing = laid_out(chart(in_the_air()), fold=3)
    (fold,) = drawing.folds
    assert drawing.bracket is not None
    assert fold.y <= drawing.bracket.top <= fold.y + fold.height


def test_in_a_picture_with_nothing_more_to_come_each_process_says_what_it_waits_for() -> None:
    drawing = laid_out(chart(stopped()))
    assert [fold.text for fold in drawing.folds] == ["and then nothing happens any more"]
    said = {lane.name: lane.column for lane in drawing.chart.lanes}
    assert list(said) == ["watcher1", "player1", "player2"]
    waits = [label for label in drawing.labels if label.number == 0]
    assert [label.spans[0].text for label in waits] == ["waits for Thanks", "waits for Token", "could still do: catch"]
    assert all(label.box[0] > 0 and label.box[2] < drawing.width for label in waits)
    assert all(label.y < drawing.end for label in waits)
    assert "waits for Thanks" in svg(drawing)


def test_in_a_page() -> None:
    page = section(endless(), 1)
    assert page.count('<li class="loop">from here on, again and again</li><li class="step again" data-step="2"') == 1
    assert page.count('class="step again"') == 4
    assert "step bad" not in page
    assert "watcher1 waits for Thanks" in section(stopped(), 1)


def test_what_is_received_when_the_loop_comes_round_again_is_not_left_in_flight() -> None:
    assert "in flight" not in run(in_the_air()).plain().partition("✗")[2]
    assert "at the end" not in section(in_the_air(), 1)
    assert "never received" not in section(in_the_air(), 1)


def test_who_has_crashed_waits_for_nothing() -> None:
    class Fragile(Ring):
        faults = crashes(1, of=Watcher)

    definition = define(Fragile())
    (crash,) = [each for each in steps(definition, initial_states(definition)[0]) if each.kind == "crash"]
    assert crash.next is not None
    assert list(map(str, waiting(definition, crash.next))) == [
        "player1 could still do: play",
        "player2 waits for Token",
        "watcher1 has crashed",
    ]


# --- runs that start anywhere ----------------------------------------------------------------------------------


def anywhere() -> Trace:
    """From a state that no run leads to: the token is in flight twice."""
    trace = in_the_air()
    odd = trace.states[2]
    token = odd.pending[1][0]
    odd = replace(odd, pending=(odd.pending[0], (token, token), odd.pending[2]))
    (catch,) = [each for each in steps(trace.definition, odd) if each.transition and each.transition.name == "catch"]
    return replace(trace, initial=odd, steps=(catch,), loop_from=None, start="any", property="unthanked")


def test_as_text_from_anywhere() -> None:
    assert (
        run(anywhere()).plain()
        == """\
The shortest run that breaks unthanked: 1 step

  starts in a state that need not be reachable:
       player1.next = player2
       player1.has = False
       player2.next = player1
       player2.has = False
       watcher1.greeted = True
       watcher1.friend = player1
       Token() from player1 to player2 (twice), in flight

  1. player2  catch  ← Token() from player1
       has: False → True

  ✗ unthanked fails here
      nobody thanks

  still in flight
      Token() from player1 to player2"""
    )


def test_a_message_that_was_in_flight_before_is_drawn_from_the_top() -> None:
    drawing = laid_out(chart(anywhere()))
    (line,) = drawing.lines
    assert line.arrow.sent == 0
    assert line.y1 < min(bar.top for bar in drawing.bars)
    assert "in flight from the beginning, received in step 1" in svg(drawing)
    assert "from a state that need not be reachable" in svg(drawing)
    assert shiviz(anywhere()) == 'catch Token(), has: False → True\nplayer2 {"player2": 1}\n'


def test_its_first_state_is_read_from_the_file() -> None:
    document = recorded(anywhere())
    assert document["start"] == "any"
    with pytest.raises(ReplayError, match="which the model no longer has"):
        replay(define(Ring()), document)

    class Never(Ring):
        @invariant
        def unthanked(self) -> bool:
            return not self[Player][1].has

    again = replay(define(Never()), document)
    assert (again.start, again.states) == ("any", anywhere().states)


def test_a_first_state_that_the_model_does_not_have_is_refused() -> None:
    document = recorded(anywhere())
    document["initial"]["processes"]["player1"]["next"] = {"$": "process", "name": "player7"}
    with pytest.raises(ReplayError, match="starts in a state that the model does not have"):
        replay(define(Ring()), document)


def test_without_the_word_it_has_to_be_an_initial_state() -> None:
    document = recorded(anywhere())
    del document["start"]
    with pytest.raises(ReplayError, match="does not start in an initial state of the model"):
        replay(define(Ring()), document)

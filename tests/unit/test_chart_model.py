"""What a chart shows agrees with the semantics, whatever the network does."""

from collections import Counter

from hypothesis import given

from handmade import violation, witness
from models import Everything
from quorate import Message, Pid, Process, System, check, invariant, multiset, on, start, step, unordered
from quorate.base.values import show
from quorate.protocols.faulty_paxos import FaultyPaxos
from quorate.protocols.two_phase_commit import TwoPhaseCommit
from quorate.render.chart.model import Chart, chart, compact
from quorate.results.trace import Trace
from quorate.semantics.state import in_flight
from walks import traces, walked


@given(traces())
def test_messages_are_followed_from_sending_to_consuming(trace: Trace) -> None:
    picture = chart(trace)
    assert len(picture.happenings) == len(trace.steps)
    for seen, taken in zip(picture.happenings, trace.steps, strict=True):
        assert Counter(show(arrow.message) for arrow in seen.incoming) == Counter(map(show, taken.consumed))
        for arrow in seen.incoming:
            assert arrow.receiver == seen.column
            assert str(arrow.message.sender) == trace.definition.columns[arrow.sender].name
            # Every arrow starts where the message was really sent (or copied by the network), before it arrives.
            source = trace.steps[arrow.sent - 1]
            if arrow.copy:
                assert source.kind == "duplicate"
            else:
                assert source.outcome is not None
                assert (arrow.receiver, show(arrow.message)) in [(to, show(m)) for to, m in source.outcome.sends]
            assert arrow.sent < seen.number
    lanes = {lane.column for lane in picture.lanes}
    pending = Counter(
        (column.index, show(message))
        for column, message in in_flight(trace.definition, trace.states[-1])
        if column.index in lanes and trace.definition.columns[_sender(trace, message)].index in lanes
    )
    if trace.steps[-1].failure is None:
        left = Counter((arrow.receiver, show(arrow.message)) for arrow in picture.arrows if arrow.end == "never")
        assert left == pending


def _sender(trace: Trace, message: Message) -> int:
    return next(each.index for each in trace.definition.columns if each.name == str(message.sender))


def found() -> Chart:
    trace = check(FaultyPaxos()).trace
    assert trace is not None
    return chart(trace)


def test_roles_come_in_the_order_in_which_they_act() -> None:
    assert [lane.name for lane in found().lanes] == [
        "proposer1",
        "proposer2",
        "acceptor1",
        "acceptor2",
        "acceptor3",
        "learner1",
    ]


def test_what_the_property_looked_at_is_known() -> None:
    assert [lane.name for lane in found().lanes if lane.read] == ["learner1"]


def test_a_quorum_joins_its_messages() -> None:
    joined = found().happenings[-1]
    assert joined.quorum
    assert joined.title == "learn"
    assert [compact(arrow.message) for arrow in joined.incoming] == ["Accepted(Vote(1, 1))", "Accepted(Vote(2, 2))"]


def test_who_does_nothing_is_left_out() -> None:
    assert chart(violation(Everything(), "never_blue")).left_out == ["helper1", "helper2", "helper3"]


def test_events_choices_and_monitors_are_notes() -> None:
    picture = chart(violation(Everything(), "never_blue"))
    assert picture.happenings[0].notes == [
        "chooses Colour.BLUE",
        "emits Asked(colour=Colour.BLUE)",
        "Watch.blue: 0 → 1",
    ]


def test_a_failure_is_the_end() -> None:
    picture = chart(violation(Everything(), "assertion"))
    assert picture.happenings[-1].failure == "an answer was 2"
    assert (picture.verdict, picture.bad) == ("the last step fails", True)


def test_a_witness_is_no_violation() -> None:
    picture = chart(witness(Everything(), "served"))
    assert (picture.verdict, picture.bad) == ("served is reached", False)


class Hello(Message): ...


class Talker(Process):
    other: Pid
    said: int = 0

    @step(when=lambda self: self.said < 2)
    def say(self) -> None:
        self.said += 1
        self.send(self.other, Hello())


class Hearer(Process):
    heard: int = 0

    @on(Hello)
    def hear(self, _: Hello) -> None:
        self.heard += 1


class Twice(System):
    copies: bool = False

    def build(self) -> None:
        self.network = multiset() if self.copies else unordered()
        self.spawn(Talker, other=self.spawn(Hearer))


def ends(system: System, *choices: int) -> list[tuple[int, str]]:
    from quorate.model.define import define

    return [(arrow.sent, arrow.end) for arrow in chart(walked(define(system), choices)).arrows]


def test_a_set_holds_a_message_once() -> None:
    assert ends(Twice(), 0, 1, 0) == [(1, "received"), (2, "merged")]


def test_a_multiset_holds_it_twice() -> None:
    assert ends(Twice(copies=True), 0, 1, 0) == [(1, "received"), (2, "never")]


class Keeping(Process):
    seen: int = 0

    @on(Hello, keep=True, when=lambda self, _: self.seen < 2)
    def look(self, _: Hello) -> None:
        self.seen += 1


class Once(Process):
    other: Pid

    @start
    def say(self) -> None:
        self.send(self.other, Hello())


class Kept(System):
    def build(self) -> None:
        self.spawn(Once, other=self.spawn(Keeping))

    @invariant
    def unseen(self) -> bool:
        return self[Keeping][0].seen < 2


def test_a_message_that_is_kept_is_read_again_and_stays() -> None:
    picture = chart(violation(Kept(), "unseen"))
    assert [(arrow.sent, arrow.ended, arrow.end) for arrow in picture.arrows] == [
        (1, None, "never"),
        (1, 2, "kept"),
        (1, 3, "kept"),
    ]


def test_delivery_events_are_drawn_beside_the_receiver() -> None:
    trace = check(FaultyPaxos(), network_model="grm").trace
    assert trace is not None
    picture = chart(trace)
    assert [lane.name for lane in picture.lanes][:2] == ["proposer1", "proposer2"]
    assert all(not lane.name.startswith("channel") for lane in picture.lanes)
    delivered = next(seen for seen in picture.happenings if seen.kind == "deliver")
    (arrow,) = delivered.incoming
    assert (arrow.end, arrow.ended) == ("delivered", delivered.number)
    taken = next(a for a in picture.arrows if a.sent == delivered.number)
    assert (taken.copy, taken.message, taken.sender) == (True, arrow.message, arrow.sender)


def test_what_an_attacker_can_say_is_drawn_when_it_is_heard() -> None:
    trace = check(TwoPhaseCommit(participants=2), byzantine={"coordinator": 1}).trace
    assert trace is not None
    picture = chart(trace)
    assert [lane.name for lane in picture.lanes if lane.byzantine] == ["coordinator1"]
    spontaneous = [arrow for arrow in picture.arrows if arrow.at_will]
    assert spontaneous
    assert all(arrow.byzantine and arrow.sent == arrow.ended for arrow in spontaneous)

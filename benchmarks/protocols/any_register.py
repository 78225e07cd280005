"""The register of `regular-storage` with lemmas, for any number of base objects: `--number Base=any`.

With `--any Writer.writes` for any number of writes as well. What a read may return at the least is stored at a majority
when it begins; so is every answer from there; and any two majorities have a base object in common.
"""

from quorate import lemma, majority
from quorate.protocols.regular_storage import (
    Answer,
    Base,
    Query,
    Reader,
    Regularity,
    RegularStorage,
    Store,
    Stored,
    Writer,
)


class AnyRegister(RegularStorage):
    """One writer, one reader, any number of base objects."""

    @lemma
    def writes_in_turn(self, r: Regularity, w: Writer) -> bool:
        return r.began == w.time and r.ended == (w.time - 1 if w.busy else w.time)

    @lemma
    def stores_what_was_written(self, m: Store, w: Writer) -> bool:
        return m.time <= w.time

    @lemma
    def holds_what_was_written(self, b: Base, w: Writer) -> bool:
        return b.time <= w.time

    @lemma
    def answers_what_was_written(self, m: Answer, w: Writer) -> bool:
        return m.time <= w.time

    @lemma
    def acknowledges_what_it_holds(self, m: Stored, b: Base) -> bool:
        return m.sender != b.pid or m.time <= b.time

    @lemma
    def asked_only_when_reading(self, m: Query, r: Reader) -> bool:
        return self.has_started(r, "read")

    @lemma
    def answered_only_when_reading(self, m: Answer, r: Reader) -> bool:
        return self.has_started(r, "read")

    @lemma
    def finds_only_when_reading(self, r: Reader) -> bool:
        return r.result is None or self.has_started(r, "read")

    @lemma
    def watched_while_reading(self, d: Reader, r: Regularity) -> bool:
        return (d.pid in r.oldest) == (self.has_started(d, "read") and d.result is None)

    @lemma
    def written_at_a_majority(self, r: Regularity) -> bool:
        return sum(b.time >= r.ended for b in self[Base]) >= majority(self[Base])

    @lemma
    def found_at_a_majority(self, d: Reader, r: Regularity) -> bool:
        if d.pid not in r.oldest:
            return True
        least = r.oldest[d.pid]
        return sum(
            b.time >= least and not self.ever_sent_any(Answer, lambda m: m.time < least, by=b) for b in self[Base]
        ) >= majority(self[Base])

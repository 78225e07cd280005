"""Forward-enable sets: algorithm 2 of the thesis, and algorithm 4, its generalised form. Computed once per system.

The forward-enable set of t holds a pair (t', en) for every sequence of transitions, each able to enable the next, that
leads from t to t'; `en` is what must have happened before the sequence can. The algorithms differ only in what that is:
a transition t2 that is necessary for some t1 on the way (algorithm 2), or the pair (t1, t2) itself (algorithm 4).
Here both are bits of a mask, and called tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

from quorate.por.system import bits

# A forward-enable set: for each t' the masks `en` with which it occurs.
ForwardSet = dict[int, tuple[int, ...]]


def forward_enable_set(start: int, enables: Sequence[int], tokens: Sequence[int], limit: int) -> ForwardSet:
    """The forward-enable set of `start`, where `tokens[t]` is what entering t adds to `en` (line 2.12, line 4.12).

    Of two entries for the same t' the one with more in `en` is left out: line 3.12 asks that nothing of `en` is in the
    way, so whenever the larger one demands that a transition joins the stubborn set, the smaller one does. If still
    more than `limit` remain for a t', they give way to (t', nothing), which only ever lets more transitions join.
    """
    found: dict[int, list[int]] = {start: [0]}
    pending = [(start, 0)]
    while pending:
        last, needs = pending.pop()
        if needs not in found[last]:  # a smaller one came since
            continue
        for each in bits(enables[last]):
            entry = needs | tokens[each]
            known = found.setdefault(each, [])
            if any(other & ~entry == 0 for other in known):
                continue
            known[:] = [other for other in known if entry & ~other]
            known.append(entry)
            if len(known) > limit:
                known[:] = [0]
                entry = 0
            pending.append((each, entry))
    return {each: tuple(sorted(needs)) for each, needs in sorted(found.items())}

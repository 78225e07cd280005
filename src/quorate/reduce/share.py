"""What a closure may cost that goes on beside a search.

If it ends, the search is dropped and a reduced one takes its place; if the search ends first, the closure was for
nothing. So it is an investment. Where the search promises to be long, it gets as much as the search has had so far, and
a closure that ends, ends soon. Where the end of the search is near, it gets little, and so it does where it goes on
without an end in sight itself. Then both together cost hardly more than the search alone.

All of that is counted and not timed, so that the same is done on every machine and for any number of threads.
"""

from __future__ import annotations

TRANSITIONS_PER_BEHAVIOUR = 150
"""How many transitions a search takes in the time of one answer from Python, more or less."""
EXPECTED = 7
"""Of all that the search is expected to cost, the closure gets a part: one of so many."""
MANY = 60_000
"""With so many answers it has had its chance."""
BEYOND = 10
"""After that it gets less of what the search costs: one part of so many."""
LONG = 200
"""After so many rounds, each about what the one before has led to, something counts without an end, or nearly so."""
ENDLESS = 33
"""Then the closure gets this part of what the search has cost: one of so many."""


def share(transitions: int, expected: int, rounds: int) -> int:
    """How many answers the closure may have had from Python, beside a search that has made so many transitions.

    `expected`: how many it will have made. `rounds`: of the closure so far.
    """
    so_far = transitions // TRANSITIONS_PER_BEHAVIOUR
    if rounds > LONG:
        return so_far // ENDLESS
    most = min(so_far, max(transitions, expected) // (EXPECTED * TRANSITIONS_PER_BEHAVIOUR))
    return most if most <= MANY else min(most, MANY + (so_far - MANY) // BEYOND)

"""Numbers of a module of its own, for models that import them."""

LIMITS = frozenset({3})
NAMES = {3: "three"}


def limits() -> set[int]:
    return {3}

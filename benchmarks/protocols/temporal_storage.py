"""The registers with predicates to ask about: does every read end?"""

from __future__ import annotations

from quorate import ltl
from quorate.protocols import atomic_storage, regular_storage
from quorate.protocols.atomic_storage import AtomicStorage
from quorate.protocols.regular_storage import RegularStorage


class AtomicRegister(AtomicStorage):
    def found(self) -> bool:
        return self[atomic_storage.Reader][0].found is not None

    def read(self) -> bool:
        return self[atomic_storage.Reader][0].result is not None

    ends = ltl("F read")
    answered = ltl("G(found -> F read)")


class RegularRegister(RegularStorage):
    def read(self) -> bool:
        return self[regular_storage.Reader][0].result is not None

    ends = ltl("F read")

"""Numbers and bytes in a row, read back with every length checked: no more than data, whatever a file says."""

from __future__ import annotations

from collections.abc import Iterable


class Damaged(Exception):  # noqa: N818 - what a file is
    """Bytes that nobody has written in this way."""


class Writer:
    """Appends to `data`. Small numbers take one byte (LEB128)."""

    def __init__(self) -> None:
        self.data = bytearray()

    def number(self, value: int) -> None:
        data = self.data
        while value >= 0x80:
            data.append(value & 0x7F | 0x80)
            value >>= 7
        data.append(value)

    def numbers(self, values: Iterable[int]) -> None:
        listed = list(values)
        self.number(len(listed))
        for value in listed:
            self.number(value)

    def text(self, value: bytes) -> None:
        self.number(len(value))
        self.data += value


class Reader:
    """Reads what a `Writer` has written."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def __bool__(self) -> bool:
        """Whether there is more."""
        return self.at < len(self.data)

    def number(self) -> int:
        value = shift = 0
        while self.at < len(self.data):
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                break
        raise Damaged("a number has no end")

    def numbers(self) -> list[int]:
        count = self.number()
        if count > len(self.data) - self.at:
            raise Damaged("a list is longer than all there is")
        return [self.number() for _ in range(count)]

    def text(self) -> bytes:
        size = self.number()
        if size > len(self.data) - self.at:
            raise Damaged("a text is longer than all there is")
        self.at += size
        return self.data[self.at - size : self.at]

"""Hashes that frozen values compute once: an expression is a large tree of few nodes.

    @hashed_once
    @dataclass(frozen=True, slots=True)
    class Pair(HashedOnce): ...

Copies and pickles leave the number out, which is another one in another process.
"""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


class HashedOnce:
    """Has a place for the hash."""

    __slots__ = ("_hash",)

    _hash: int


def hashed_once(cls: type[T]) -> type[T]:
    """A subclass of HashedOnce, whose hash is as it was."""
    compute = cls.__hash__

    def remembered(self: Any) -> int:
        try:
            found: int = self._hash
        except AttributeError:
            found = compute(self)
            object.__setattr__(self, "_hash", found)
        return found

    cls.__hash__ = remembered  # type: ignore[method-assign]
    return cls

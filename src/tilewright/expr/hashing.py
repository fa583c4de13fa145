"""Hashes, equality and texts of frozen values that are graphs: large trees of few nodes.

    @hashed_once
    @dataclass(frozen=True, slots=True)
    class Pair(HashedOnce): ...

A hash is computed once. Two values that were found equal remember it, so that comparing two graphs
takes as long as these have nodes, however often each stands in the tree. Copies and pickles leave
both out: a hash is another one in another process. A text shows the first levels.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

T = TypeVar("T")
LEVELS_SHOWN = 8


class HashedOnce:
    """Has places for the hash, for an equal value, and for what it reads, all made when they are
    asked for.
    """

    __slots__ = ("_equal", "_hash", "_reads")

    _hash: int
    _equal: HashedOnce
    _reads: tuple[Any, ...]


def hashed_once(cls: type[T]) -> type[T]:
    """A dataclass of HashedOnce, whose hash and equality are as they were."""
    compute, compare = cls.__hash__, cls.__eq__

    def remembered(self: Any) -> int:
        try:
            found: int = self._hash
        except AttributeError:
            found = compute(self)
            object.__setattr__(self, "_hash", found)
        return found

    def equal(self: Any, other: object) -> bool:
        if self is other:
            return True
        if other.__class__ is not cls:
            return False
        if remembered(self) != remembered(other):
            return False
        mine, theirs = _first(self), _first(other)
        if mine is theirs:
            return True
        if not compare(self, other):
            return False
        object.__setattr__(theirs, "_equal", mine)
        return True

    cls.__hash__ = remembered  # type: ignore[method-assign]
    cls.__eq__ = equal  # type: ignore[method-assign]
    cls.__repr__ = lambda self: _shown(self, LEVELS_SHOWN)  # type: ignore[method-assign]
    return cls


def _first(value: Any) -> Any:
    """The value that stands for all that were found equal to this one."""
    try:
        while True:
            value = value._equal
    except AttributeError:
        return value


def _shown(value: Any, levels: int) -> str:
    """A value as its dataclass shows it, down to so many levels."""
    if isinstance(value, tuple):
        return f"({', '.join(_shown(x, levels) for x in value)}{',' * (len(value) == 1)})"
    if not isinstance(value, HashedOnce):
        return repr(value)
    if levels == 0:
        return "…"
    listed = ((f.name, getattr(value, f.name)) for f in fields(value) if f.repr)  # type: ignore[arg-type]
    texts = (f"{name}={_shown(x, levels - 1)}" for name, x in listed)
    return f"{type(value).__qualname__}({', '.join(texts)})"

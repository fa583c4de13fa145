"""How far an index moves over some loops: its largest minus its smallest value, all others at 0.

    width(i * T + j, {"i": 3, "j": T - 1}, {"i", "j", "k"})     T * 4 - 1

It does not depend on how far an index was simplified.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import reduce

from tilewright.expr.extents import add, floordiv, maximum, minimum, mul, sub
from tilewright.expr.nodes import Binary, Const, Expr, Extent, Read, Select, Var, children

ONE: Extent = 1


class Content:
    """What expressions consist of, looked at once a node: an index that went through many stages
    is a large tree, whose nodes stand in it many times over.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Expr, bool, frozenset[str]]] = {}

    def reads(self, e: Expr) -> bool:
        """Whether `e` reads a tensor."""
        return self._of(e)[1]

    def names(self, e: Expr) -> frozenset[str]:
        """The variables in `e`."""
        return self._of(e)[2]

    def _of(self, e: Expr) -> tuple[Expr, bool, frozenset[str]]:
        found = self._known.get(id(e))
        if found is None:
            parts = [self._of(x) for x in children(e)]
            own = {e.name} if isinstance(e, Var) else set()
            names = frozenset(own).union(*(names for _, _, names in parts))
            found = e, isinstance(e, Read) or any(r for _, r, _ in parts), names
            self._known[id(e)] = found  # which keeps `e` alive, and its id its own
        return found


def width(
    e: Expr, most: Mapping[str, Extent], loops: Collection[str], content: Content | None = None
) -> Extent:
    """How far `e` moves while the variables in `most` run from 0 to there and the other `loops`
    stand at 0. `content` may know the expression from before.
    """
    low, high = _Reach(most, frozenset(loops), content or Content()).of(e)
    return sub(high, low)


class _Reach:
    """Smallest and largest values, by interval arithmetic; decision variables are positive."""

    def __init__(self, most: Mapping[str, Extent], loops: frozenset[str], content: Content) -> None:
        self._most, self._loops, self._content = most, loops, content
        self._known: dict[int, tuple[Extent, Extent]] = {}

    def of(self, e: Expr) -> tuple[Extent, Extent]:
        """Those of `e`, or of a part of it."""
        if id(e) not in self._known:
            self._known[id(e)] = self._found(e)
        return self._known[id(e)]

    def _found(self, e: Expr) -> tuple[Extent, Extent]:
        reads, names = self._content.reads(e), self._content.names(e)
        match e:
            case Const(value, _):
                return int(value), int(value)
            case Var(name, _):
                return (0, self._most.get(name, 0)) if name in self._loops else (e, e)
            case Binary("mul" | "floordiv" | "mod", _, b) if reads and not isinstance(b, Const):
                pass  # nobody knows by how much: see below
            case Binary(op, a, b):
                return _combined(op, self.of(a), self.of(b))
            case Select() if not names & self._loops and not reads:
                return e, e  # decided by the row
            case Select(_, a, b):
                (a0, a1), (b0, b1) = self.of(a), self.of(b)
                return minimum(a0, b0), maximum(a1, b1)
        # a table or data decides: at most as many different values as there are iterations
        count = reduce(mul, (add(self._most[n], 1) for n in self._most if n in names), ONE)
        return 0, sub(count, 1)


def _combined(op: str, a: tuple[Extent, Extent], b: tuple[Extent, Extent]) -> tuple[Extent, Extent]:
    (a0, a1), (b0, b1) = a, b
    match op:
        case "add":
            return add(a0, b0), add(a1, b1)
        case "sub":
            return sub(a0, b1), sub(a1, b0)
        case "mul" if isinstance(b0, int) and b0 < 0:
            return mul(a1, b1), mul(a0, b0)
        case "mul":
            return mul(a0, b0), mul(a1, b1)
        case "floordiv":
            return floordiv(a0, b1), floordiv(a1, b1)
        case "mod":
            return 0, minimum(sub(a1, a0), sub(b1, 1))
        case "min":
            return minimum(a0, b0), minimum(a1, b1)
        case "max":
            return maximum(a0, b0), maximum(a1, b1)
    return 0, 0  # a condition

"""How far an index moves over some loops: its largest minus its smallest value, all others at 0.

    widths = Widths({"i": 3, "j": T - 1, "k": 7})
    widths.of(i * T + j + k, {"i", "j"})                        T * 4 - 1

It does not depend on how far an index was simplified.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import reduce

from tilewright.expr.index.extents import add, floordiv, maximum, minimum, mul, sub
from tilewright.expr.nodes import Binary, Const, Expr, Extent, Read, Select, Var
from tilewright.expr.traversal import PerNode, children

ONE: Extent = 1


class Content:
    """What expressions consist of, looked at once a node: an index that went through many stages
    is a large tree, whose nodes stand in it many times over.
    """

    def __init__(self) -> None:
        self.names = PerNode(_names)
        """The variables in an expression."""
        self.reads = PerNode[bool](lambda e, of: isinstance(e, Read) or any(map(of, children(e))))
        """Whether it reads a tensor."""


def _names(e: Expr, of: Callable[[Expr], frozenset[str]]) -> frozenset[str]:
    if isinstance(e, Var):
        return frozenset((e.name,))
    return frozenset[str]().union(*map(of, children(e)))


class Widths:
    """How far indices move while some of the loops in `most` run, each from 0 to what it says, and
    the others of them stand at 0. `content` may know the expressions from before.

    What a part of an index does depends on the loops in it alone: it is asked once for each set.
    """

    def __init__(self, most: Mapping[str, Extent], content: Content | None = None) -> None:
        self._most, self._content = most, content or Content()
        self._known: dict[tuple[int, frozenset[str]], tuple[Extent, Extent]] = {}

    def of(self, e: Expr, running: Collection[str]) -> Extent:
        """How far `e` moves while the loops in `running` do."""
        low, high = self._reach(e, frozenset(running))
        return sub(high, low)

    def _reach(self, e: Expr, running: frozenset[str]) -> tuple[Extent, Extent]:
        """Smallest and largest value, by interval arithmetic; decision variables are positive."""
        inside = self._content.names(e) & running
        key = id(e), inside  # its content keeps `e` alive
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._found(e, inside)
        return found

    def _found(self, e: Expr, running: frozenset[str]) -> tuple[Extent, Extent]:
        reads, names = self._content.reads(e), self._content.names(e)
        match e:
            case Const(value, _):
                return int(value), int(value)
            case Var(name, _):
                if name in running:
                    return 0, self._most[name]
                return (0, 0) if name in self._most else (e, e)
            case Binary("mul" | "floordiv" | "mod", _, b) if reads and not isinstance(b, Const):
                pass  # nobody knows by how much: see below
            case Binary(op, a, b):
                return _combined(op, self._reach(a, running), self._reach(b, running))
            case Select() if not reads and names.isdisjoint(self._most):
                return e, e  # decided by the row
            case Select(_, a, b):
                (a0, a1), (b0, b1) = self._reach(a, running), self._reach(b, running)
                return minimum(a0, b0), maximum(a1, b1)
        # a table or data decides: at most as many different values as there are iterations
        count = reduce(mul, (add(self._most[n], 1) for n in self._most if n in running), ONE)
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

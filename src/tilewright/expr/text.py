"""Expressions as readable text, stable enough for golden files.

expr_text(A[i.0 * 4 + i.1, k] * 2.0)      "A[i.0 * 4 + i.1, k] * 2.0"
shape_text((Var("S"), 768))               "(S, 768)"
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tilewright.expr.nodes import (
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Extent,
    Read,
    Reduce,
    Select,
    Var,
)
from tilewright.expr.traversal import PerNode, children, walk

# Infix operators: text and how tightly they bind.
INFIX = {
    "or": ("or", 1),
    "and": ("and", 2),
    "lt": ("<", 4), "le": ("<=", 4), "gt": (">", 4), "ge": (">=", 4), "eq": ("==", 4),
    "ne": ("!=", 4),
    "add": ("+", 5), "sub": ("-", 5),
    "mul": ("*", 6), "div": ("/", 6), "floordiv": ("//", 6), "mod": ("%", 6),
}  # fmt: skip
NOT, COMPARISON, NEGATION, ATOM = 3, 4, 7, 8
LONGEST_TEXT = 1024
"""Nodes of an expression that are written out, each as often as it is used."""


def extent_text(extent: Extent) -> str:
    """An extent, an int or an expression, as text."""
    return str(extent) if isinstance(extent, int) else expr_text(extent)


def shape_text(shape: Sequence[Extent]) -> str:
    """A shape as a tuple of numbers prints: `(S, 768)`."""
    listed = ", ".join(map(extent_text, shape))
    return f"({listed},)" if len(shape) == 1 else f"({listed})"


def expr_text(e: Expr) -> str:
    """An expression with as few parentheses as it needs. Where it would be long, what is used again
    stands behind it, under a name: `#0 * #0 with #0 = a + b`.
    """
    size = PerNode[int](lambda x, ask: 1 + sum(map(ask, children(x))))
    if size(e) <= LONGEST_TEXT:
        return _ExprText({}).text(e)
    uses = Counter(id(c) for x in walk(e) for c in children(x))
    again = [x for x in walk(e) if uses[id(x)] > 1 and children(x)]
    names = {id(x): f"#{n}" for n, x in enumerate(again)}
    write = _ExprText(names)
    parts = ", ".join(f"{names[id(x)]} = {write.node(x)[0]}" for x in again)
    return f"{write.node(e)[0]} with {parts}"


class _ExprText:
    """Writes expressions, some parts of which have names, by their ids."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self.names = names

    def text(self, e: Expr) -> str:
        return self.bound(e)[0]

    def bound(self, e: Expr) -> tuple[str, int]:
        """Text and how tightly its outermost operator binds."""
        name = self.names.get(id(e))
        return self.node(e) if name is None else (name, ATOM)

    def node(self, e: Expr) -> tuple[str, int]:
        """The same of a part that may have a name, written out."""
        text = self.text
        match e:
            case Const(value, dtype):
                number = repr(float(value)) if dtype.is_float else str(value)
                return number, NEGATION if number.startswith("-") else ATOM
            case Var(name):
                return name, ATOM
            case Read(tensor, indices):
                return f"{tensor.name}[{', '.join(map(text, indices))}]", ATOM
            case Binary(op, a, b) if op in INFIX:
                return self.infix(op, a, b)
            case Binary(op, a, b):
                return f"{op}({text(a)}, {text(b)})", ATOM
            case Call("not", (x,)):
                return f"not {self.inside(x, NOT)}", NOT
            case Call("neg", (x,)):
                return f"-{self.inside(x, NEGATION)}", NEGATION
            case Call(fn, args):
                return f"{fn}({', '.join(map(text, args))})", ATOM
            case Cast(to, x):
                return f"{to}({text(x)})", ATOM
            case Select(cond, a, b):
                return f"select({text(cond)}, {text(a)}, {text(b)})", ATOM
            case Reduce(op, axes, body):
                over = ", ".join(f"{a.name}: {a.extent}" for a in axes)
                return f"{op}({text(body)} over {over})", ATOM

    def infix(self, op: str, a: Expr, b: Expr) -> tuple[str, int]:
        text, level = INFIX[op]
        # Operators of one level group from the left; comparisons do not chain.
        left = self.inside(a, level + 1 if level == COMPARISON else level)
        return f"{left} {text} {self.inside(b, level + 1)}", level

    def inside(self, e: Expr, least: int) -> str:
        text, level = self.bound(e)
        return text if level >= least else f"({text})"

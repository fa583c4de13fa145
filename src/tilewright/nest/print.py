"""Pretty printer: a loop nest as readable text, stable enough for golden files.

    program gemm
      input A: float32[16, 16]
      constant B: float32[16, 16]
      output C: float32[16, 16]

    for i.0 in range(4):  # parallel
      for j in range(16):  # vector
        C[i.0 * 4 + i.1, j] += A[i.0 * 4 + i.1, k] * B[k, j]

Symbolic nests print too: extents are expressions, `when` follows the kind, a `Hoist` lists its
loops with the conditions under which they are live.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

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
    Tensor,
    Var,
)
from tilewright.expr.traversal import PerNode, children, walk
from tilewright.nest.marks import MARKS
from tilewright.nest.nodes import (
    Alloc,
    Barrier,
    For,
    Hoist,
    If,
    Instruction,
    Kind,
    Node,
    Program,
    Scope,
    Seq,
    Store,
    accessed,
)

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
UPDATES = {"sum": "+=", "prod": "*=", "max": "max=", "min": "min="}
INDENT = "  "
LONGEST_TEXT = 1024
"""Nodes of an expression that are written out, each as often as it is used."""


def program_text(program: Program) -> str:
    """The interface and the nest of `program`, one statement a line, ending in a newline."""
    roles = [
        ("input", program.inputs),
        ("constant", program.constants),
        ("table", program.tables),
        ("output", program.outputs),
    ]
    lines = [f"program {program.name}"]
    lines += [f"{INDENT}size {s.name}: {s.least}..{s.most}" for s in program.sizes]
    lines += [f"{INDENT}{role} {declaration(t)}" for role, tensors in roles for t in tensors]
    for key, rule in MARKS.items():
        if rule.node == "Store":
            lines += [f"{INDENT}{rule.text}: {name}" for name in program.marked(key)]
    return "\n".join([*lines, "", *_node(program.body, 0)]) + "\n"


def nest_text(node: Node) -> str:
    """A nest without an interface, ending in a newline."""
    return "\n".join(_node(node, 0)) + "\n"


def declaration(tensor: Tensor) -> str:
    """`A: float32[16, 16]`."""
    return f"{tensor.name}: {tensor.dtype}[{', '.join(extent_text(e) for e in tensor.shape)}]"


def extent_text(extent: Extent) -> str:
    """An extent, an int or an expression, as text."""
    return str(extent) if isinstance(extent, int) else expr_text(extent)


def _node(node: Node, depth: int) -> list[str]:
    pad = INDENT * depth
    match node:
        case Seq(body):
            return [line for n in body for line in _node(n, depth)]
        case For(var, extent, body):
            head = f"{pad}for {var.name} in range({extent_text(extent)}):{_remarks(node)}"
            return [head, *_node(body, depth + 1)]
        case If(cond, body):
            return [f"{pad}if {expr_text(cond)}:", *_node(body, depth + 1)]
        case Alloc(tensor, offset, body, scope, slot):
            remark = "" if scope is Scope.LOCAL else f"  # {scope.value}"
            remark += "" if slot is None else f", slot {slot}"
            remark += ", swizzled" if node.swizzled else ""
            head = f"{pad}alloc {declaration(tensor)} at {_list(offset)}:{remark}"
            return [head, *_node(body, depth + 1)]
        case Barrier():
            return [f"{pad}barrier"]
        case Instruction(name):
            return [f"{pad}{name}({', '.join(map(expr_text, accessed(node)))})"]
        case Store(tensor, indices, value, reduce):
            update = "=" if reduce is None else UPDATES.get(reduce, f"{reduce}=")
            return [f"{pad}{tensor.name}{_list(indices)} {update} {expr_text(value)}"]
        case Hoist(loops, live, body):
            pairs = zip(loops, live, strict=True)
            listed = ", ".join(f"{v.name} if {expr_text(e)}" for v, e in pairs)
            return [f"{pad}hoist {listed}:", *_node(body, depth + 1)]


def _remarks(loop: For) -> str:
    remarks = [] if loop.kind is Kind.SERIAL else [loop.kind.value]
    if loop.when is not None:
        remarks.append(f"when {expr_text(loop.when)}")
    said = [MARKS[name].text.format(extent_text(value)) for name, value in loop.marks]
    text = ", ".join(filter(None, [" ".join(remarks), *said]))
    return f"  # {text}" if text else ""


def _list(items: tuple[Expr, ...]) -> str:
    return f"[{', '.join(expr_text(e) for e in items)}]"


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

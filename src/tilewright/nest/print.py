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

from tilewright.expr.nodes import Expr, Tensor
from tilewright.expr.text import expr_text, extent_text
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

UPDATES = {"sum": "+=", "prod": "*=", "max": "max=", "min": "min="}
INDENT = "  "


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
    return f"{tensor.name}: {tensor.dtype}[{', '.join(map(extent_text, tensor.shape))}]"


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

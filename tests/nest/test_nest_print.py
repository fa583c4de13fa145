"""The printer: whole programs as golden text, and expressions with few parentheses."""

from __future__ import annotations

import pytest
from nest_programs import gemm, stencil

from tilewright.expr.dtypes import BOOL, FLOAT32, INT64
from tilewright.expr.nodes import Cast, Const, Expr, Tensor, Var, binary, call, const, select
from tilewright.expr.tensors import placeholder
from tilewright.expr.text import expr_text
from tilewright.nest.marks import marks
from tilewright.nest.nodes import For, Hoist, Kind, Node, Store
from tilewright.nest.print import nest_text, program_text

GEMM = """\
program gemm
  input A: float32[10, 6]
  constant B: float32[6, 12]
  output C: float32[10, 12]

for i.0 in range(3):  # parallel, unroll to 16
  for i.1 in range(4):
    for j in range(12):  # vector
      if i.0 * 4 + i.1 < 10:
        C[i.0 * 4 + i.1, j] = 0.0
  for k in range(6):
    for i.1 in range(4):  # unrolled
      for j in range(12):  # vector
        if i.0 * 4 + i.1 < 10:
          C[i.0 * 4 + i.1, j] += A[i.0 * 4 + i.1, k] * B[k, j]
"""

STENCIL = """\
program stencil
  input x: float32[10]
  output y: float32[10]

for t in range(3):  # parallel
  alloc p: float32[6] at [t * 4]:
    for u in range(6):
      p[t * 4 + u] = select(t * 4 + u - 1 >= 0 and t * 4 + u - 1 < 10, x[t * 4 + u - 1], 0.0)
    for v in range(4):
      if t * 4 + v < 10:
        y[t * 4 + v] = 0.0
      for r in range(3):
        if t * 4 + v < 10:
          y[t * 4 + v] += p[t * 4 + v + r]
"""


def test_gemm() -> None:
    assert program_text(gemm(10)).replace("kk", "k") == GEMM


def test_stencil() -> None:
    assert program_text(stencil(10)) == STENCIL


def test_a_symbolic_nest() -> None:
    i, tile, position = Var("i"), Var("tile"), Var("position")
    y = Tensor("y", (tile,), FLOAT32)
    store: Node = Store(y, (i,), const(1, FLOAT32), "max")
    body = Hoist((i,), (position >= 1,), store)
    nest = For(i, 8 // tile, body, Kind.PARALLEL, position > 0, marks(unroll_step=tile))
    assert nest_text(nest) == (
        "for i in range(8 // tile):  # parallel when position > 0, unroll to tile\n"
        "  hoist i if position >= 1:\n"
        "    y[i] max= 1.0\n"
    )


i, j = Var("i"), Var("j")
p, q = Var("p", BOOL), Var("q", BOOL)
A = placeholder((4, 4), name="A")


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (i + j * 2, "i + j * 2"),
        ((i + j) * 2, "(i + j) * 2"),
        (i - (j - 1), "i - (j - 1)"),
        (i - j - 1, "i - j - 1"),
        (i * (j // 2), "i * (j // 2)"),
        (i * j // 2 % 3, "i * j // 2 % 3"),
        (-(i + j), "-(i + j)"),
        (-i * 2, "-i * 2"),
        (i - -3, "i - -3"),
        ((i < j) & (j >= 2), "i < j and j >= 2"),
        (p & (q | p), "p and (q or p)"),
        (~(p & q), "not (p and q)"),
        (~p & q, "not p and q"),
        ((i < j).eq(p), "(i < j) == p"),
        (binary("max", i, 0), "max(i, 0)"),
        (call("exp", A[i, j] / 3.0), "exp(A[i, j] / 3.0)"),
        (select(i < 1, A[i, j], 0), "select(i < 1, A[i, j], 0.0)"),
        (Cast(FLOAT32, i), "float32(i)"),
        (const(-2.5, FLOAT32), "-2.5"),
        (const(float("-inf"), FLOAT32), "-inf"),
        (Const(True, BOOL), "True"),
        (const(7, INT64), "7"),
    ],
)
def test_expressions(e: Expr, text: str) -> None:
    assert expr_text(e) == text

"""How far loops are unrolled, and how many statements a kernel becomes."""

from __future__ import annotations

from math import prod

import pytest

from tilewright.codegen.clike import emit
from tilewright.codegen.clike.cuda import Cuda
from tilewright.codegen.clike.unroll import Unrolling
from tilewright.expr.nodes import Expr, Read, Tensor, Var, as_expr
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import BuildError
from tilewright.nest.marks import marks
from tilewright.nest.nodes import WORKERS, Alloc, For, Kind, Node, Program, Store, bodies, seq

A = placeholder((4096,), name="A")
OUT = placeholder((4096,), name="out")


def tile(private: Tensor) -> Node:
    """C[j] += A[..] for k.1 < 8, k.2 < 4, j < 8, then out = C."""
    j, k1, k2 = Var("j"), Var("k.1"), Var("k.2")
    update = Store(private, (j,), Read(A, (k1 * 32 + k2 * 8 + j,)), "sum")
    loops: Node = update
    for var, extent in ((j, 8), (k2, 4), (k1, 8)):
        loops = For(var, extent, loops)
    start = For(j, 8, Store(private, (j,), as_expr(0.0)))
    return seq(start, loops, For(j, 8, Store(OUT, (j,), Read(private, (j,)))))


def kernel(budget: int) -> Node:
    private = Tensor("C", (8,), A.dtype)
    body = Alloc(private, (as_expr(0),), tile(private))
    return For(Var("t"), 32, body, Kind.THREAD_X, marks=marks(unroll_step=budget))


def factors(node: Node, unrolling: Unrolling) -> dict[str, int]:
    here = {}
    if isinstance(node, For) and node.kind not in WORKERS:
        here = {node.var.name: unrolling.factor(node)}
    return here | {k: n for b in bodies(node) for k, n in factors(b, unrolling).items()}


@pytest.mark.parametrize(
    ("budget", "k1", "k2", "statements"),
    [
        (0, 1, 1, 8 + 8 + 8),
        (16, 1, 2, 8 + 16 + 8),
        (32, 1, 4, 8 + 32 + 8),
        (120, 2, 4, 8 + 64 + 8),  # 3 would fit, but does not divide 8
        (256, 8, 4, 8 + 256 + 8),
    ],
)
def test_the_budget_is_of_all_copies(budget: int, k1: int, k2: int, statements: int) -> None:
    root = kernel(budget)
    unrolling = Unrolling(root)
    assert factors(root, unrolling) == {"j": 8, "k.1": k1, "k.2": k2}
    assert unrolling.statements == statements


def wide(extent: int, registers: bool) -> Node:
    """C[j] = 0 for j < extent, in registers or in an array that is too large for them."""
    j = Var("j")
    private = Tensor("C", (extent if registers else 4096,), A.dtype)
    loop = For(j, extent, Store(private, (j,), as_expr(0.0)))
    return For(Var("t"), 32, Alloc(private, (as_expr(0),), loop), Kind.THREAD_X)


def test_arrays_that_are_no_registers_force_nothing() -> None:
    root = wide(16, registers=False)
    assert factors(root, Unrolling(root)) == {"j": 8}
    root = wide(16, registers=True)
    assert factors(root, Unrolling(root)) == {"j": 16}


def test_loops_inside_forced_ones_count_their_copies() -> None:
    """k is inside 4 copies already: all of its 4 iterations would make 16."""
    x: Expr = Var("i") * 4 + Var("k")
    inner = For(Var("k"), 4, Store(OUT, (x,), Read(A, (x,))))
    body = For(Var("i"), 4, inner, Kind.UNROLLED)
    root = For(Var("t"), 1, body, Kind.THREAD_X, marks=marks(unroll_step=15))
    assert factors(root, Unrolling(root)) == {"i": 4, "k": 2}


def test_divisions_weigh_as_much_as_statements() -> None:
    x = Var("k")
    store = Store(OUT, (x // 3,), Read(A, (x // 3 + x % 3,)))
    root = For(x, 4, store, marks=marks(unroll_step=12))
    assert Unrolling(root).statements == 4 * 3


def test_too_much_code_is_an_error() -> None:
    extents = (32, 32, 16)
    variables = [Var(f"i{d}") for d in range(3)]
    node: Node = Store(OUT, (as_expr(0),), Read(A, (as_expr(0),)))
    for var, extent in zip(variables, extents, strict=True):
        node = For(var, extent, node, Kind.UNROLLED)
    with pytest.raises(BuildError, match=f"{prod(extents)} statements, more than 8192"):
        emit(Program("p", (A,), (), (), (OUT,), node), Cuda())

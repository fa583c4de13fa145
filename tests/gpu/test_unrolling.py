"""Which loops of a kernel are written out, and what that makes of its statements."""

from __future__ import annotations

from math import prod

import pytest

from tilewright.codegen.clike import CUDA, emit
from tilewright.codegen.clike.unroll import Unrolling
from tilewright.errors import BuildError
from tilewright.expr.nodes import Expr, Read, Tensor, Var, as_expr
from tilewright.expr.tensors import placeholder
from tilewright.nest.nodes import Alloc, For, Kind, Node, Program, Store, bodies, seq

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


def kernel(budget: int, size: int = 8) -> Node:
    private = Tensor("C", (size,), A.dtype)
    body = Alloc(private, (as_expr(0),), tile(private))
    return For(Var("t"), 32, body, Kind.THREAD_X, None, budget)


def written_out(node: Node, unrolling: Unrolling) -> list[str]:
    here = [node.var.name] if isinstance(node, For) and node in unrolling else []
    return here + [name for b in bodies(node) for name in written_out(b, unrolling)]


@pytest.mark.parametrize(
    ("budget", "loops", "statements"),
    [
        (0, ["j", "j", "j"], 8 + 8 + 8),
        (31, ["j", "j", "j"], 8 + 8 + 8),
        (32, ["j", "k.2", "j", "j"], 8 + 32 + 8),
        (255, ["j", "k.2", "j", "j"], 8 + 32 + 8),
        (256, ["j", "k.1", "k.2", "j", "j"], 8 + 256 + 8),
    ],
)
def test_the_budget_is_of_all_copies(budget: int, loops: list[str], statements: int) -> None:
    root = kernel(budget)
    unrolling = Unrolling(root)
    assert written_out(root, unrolling) == loops
    assert unrolling.statements == statements


def test_arrays_that_are_no_registers_force_nothing() -> None:
    root = kernel(0, size=4096)
    assert written_out(root, Unrolling(root)) == []


def test_loops_around_forced_ones_count_their_copies() -> None:
    """k is inside 4 copies already: two more would make 8."""
    x: Expr = Var("i") * 2 + Var("k")
    inner = For(Var("k"), 2, Store(OUT, (x,), Read(A, (x,))))
    root = For(Var("t"), 1, For(Var("i"), 4, inner, Kind.UNROLLED), Kind.THREAD_X, None, 7)
    assert written_out(root, Unrolling(root)) == ["i"]


def test_divisions_weigh_as_much_as_statements() -> None:
    x = Var("k")
    root = For(x, 4, Store(OUT, (x // 3,), Read(A, (x // 3 + x % 3,))), Kind.SERIAL, None, 12)
    assert Unrolling(root).statements == 4 * 3


def test_too_much_code_is_an_error() -> None:
    extents = (32, 32, 16)
    variables = [Var(f"i{d}") for d in range(3)]
    node: Node = Store(OUT, (as_expr(0),), Read(A, (as_expr(0),)))
    for var, extent in zip(variables, extents, strict=True):
        node = For(var, extent, node, Kind.UNROLLED)
    with pytest.raises(BuildError, match=f"{prod(extents)} statements, more than 8192"):
        emit(Program("p", (A,), (), (), (OUT,), node), CUDA)

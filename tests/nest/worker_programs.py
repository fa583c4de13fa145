"""Nests for the workers of a GPU, written by hand.

`reverse`: every block turns 8 elements of x around through storage that its threads share.
"""

from __future__ import annotations

from nest_programs import ZERO, loops, variables

from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.nodes import Expr, Tensor
from tilewright.expr.tensors import placeholder
from tilewright.nest.nodes import Alloc, Barrier, For, Kind, Node, Program, Scope, Store, seq

B, T, U, K = variables("b t u k")
X = placeholder((16,), name="x")
Y = Tensor("y", (16,), FLOAT32)
S = Tensor("s", (8,), FLOAT32)


def reverse(*, barrier: bool = True, mirror: Expr = 7 - U, rounds: int = 0) -> Program:
    """`rounds` repeats the exchange, each time through the same storage."""
    fill = For(T, 8, Store(S, (B * 8 + T,), X[B * 8 + T]), Kind.THREAD_X)
    use = For(U, 8, Store(Y, (B * 8 + U,), S[B * 8 + mirror]), Kind.THREAD_X)
    body: Node = seq(fill, *([Barrier()] if barrier else []), use)
    body = Alloc(S, (B * 8,), body, Scope.SHARED)
    if rounds:
        body = For(K, rounds, body)
    return in_blocks(body)


def in_blocks(body: Node, *, blocks: int = 2, name: str = "reverse") -> Program:
    return Program(name, (X,), (), (), (Y,), For(B, blocks, body, Kind.BLOCK))


def row_sums() -> Program:
    """r[b] = Σ x[b * 8 + t] over the threads of a block."""
    r = Tensor("r", (2,), FLOAT32)
    total = For(T, 8, Store(r, (B,), X[B * 8 + T], "sum"), Kind.THREAD_X)
    body = loops(seq(Store(r, (B,), ZERO), total), (B, 2, Kind.BLOCK))
    return Program("row_sums", (X,), (), (), (r,), body)

"""Rings of stages in shared storage, and loops that look like them, for the analysis of barriers.

ring(3, ahead=2)        for k: [barrier; write stage (k + 2) % 3; read stage k % 3 of others]
"""

from __future__ import annotations

from nest_programs import variables
from worker_programs import X, Y

from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.nodes import Expr, Tensor, Var, as_expr
from tilewright.nest.nodes import Alloc, Barrier, For, Kind, Node, Program, Scope, Store, seq

THREADS, STEPS = 8, 6
T, K, J, FIRST = variables("t k j first")
OTHER = THREADS - 1 - T


def storage(*shape: int) -> Tensor:
    return Tensor("s", shape, FLOAT32)


def write(s: Tensor, *at: Expr | int) -> Store:
    return Store(s, tuple(map(as_expr, at)), X[T])


def read(s: Tensor, *at: Expr | int) -> Store:
    return Store(Y, (T,), s[tuple(map(as_expr, at))])


def steps(*body: Node) -> Node:
    return For(K, STEPS, seq(*body))


def threaded(s: Tensor, body: Node, *offset: Expr | int) -> Program:
    """A kernel of one block that has `s`, of which all is written first."""
    at = tuple(map(as_expr, offset)) or tuple(as_expr(0) for _ in s.shape)
    *stages, columns = (Var(f"d{d}") for d in range(s.rank))
    clear: Node = write(s, *stages, columns * THREADS + T)
    assert isinstance(s.shape[-1], int)
    extents = [*s.shape[:-1], s.shape[-1] // THREADS]
    for var, extent in zip((*stages, columns), extents, strict=True):
        clear = For(var, extent, clear)
    rest = Store(Y, (THREADS + T,), X[T])
    threads = For(T, THREADS, seq(rest, clear, Barrier(), body), Kind.THREAD_X)
    return Program("ring", (X,), (), (), (Y,), Alloc(s, at, threads, Scope.SHARED))


def ring(
    stages: int, *, ahead: int, behind: int = 0, waits: bool = True, prologue: Var = FIRST
) -> Program:
    """Every iteration fills a stage `ahead` and uses another thread's element of its own, or of one
    `behind` that. The first stages are filled before.
    """
    s = storage(stages, THREADS)
    inner = seq(
        *([Barrier()] if waits else []),
        write(s, (K + ahead) % stages, T),
        read(s, (K + behind) % stages, OTHER),
    )
    first = For(prologue, min(ahead, stages), write(s, prologue, T))
    return threaded(s, seq(first, steps(inner)))

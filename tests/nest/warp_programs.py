"""Small programs of one warp with instructions, written by hand.

product("float16")          sums of 16 x 8 by mma, whose fragments PTX's manual names
turned("ldmatrix.x4")       four matrices of 8 x 8, from shared memory to registers
copied(16)                  rows copied asynchronously, zeros from row 20 on
"""

from __future__ import annotations

from collections.abc import Sequence

from nest_programs import variables

from tilewright.expr.dtypes import FLOAT32, dtype
from tilewright.expr.nodes import Const, Expr, Read, Tensor, as_expr, select
from tilewright.expr.tensors import placeholder
from tilewright.nest.nodes import (
    Alloc,
    Barrier,
    For,
    Instruction,
    Kind,
    Node,
    Program,
    Scope,
    Store,
    seq,
)

T, E = variables("t e")
WARP, LAST = 32, 20
GROUP, QUAD = T // 4, T % 4
COMMIT = Instruction("cp.async.commit_group")


def read(tensor: Tensor, *at: Expr | int) -> Read:
    return Read(tensor, tuple(map(as_expr, at)))


def wait(left: int) -> Instruction:
    return Instruction("cp.async.wait_group", None, (as_expr(left),))


def alloc(tensor: Tensor, body: Node, scope: Scope = Scope.LOCAL) -> Node:
    return Alloc(tensor, tuple(as_expr(0) for _ in tensor.shape), body, scope)


def warp(body: Node, threads: int = WARP) -> Node:
    return For(T, threads, body, Kind.THREAD_X)


def program(inputs: Sequence[Tensor], output: Tensor, body: Node) -> Program:
    return Program("warp", tuple(inputs), (), (), (output,), body)


def product(element: str) -> Program:
    """c[16, 8] = 1 + a[16, 16] · b[8, 16]ᵀ."""
    a, b = (placeholder((n, 16), element, name=x) for n, x in ((16, "a"), (8, "b")))
    c = Tensor("c", (16, 8), FLOAT32)
    left, right = (Tensor(n, (size,), a.dtype) for n, size in (("left", 8), ("right", 4)))
    sums = Tensor("sums", (4,), FLOAT32)
    body = seq(
        For(E, 8, Store(left, (E,), a[GROUP + E // 2 % 2 * 8, QUAD * 2 + E // 4 * 8 + E % 2])),
        For(E, 4, Store(right, (E,), b[GROUP, QUAD * 2 + E // 2 * 8 + E % 2])),
        For(E, 4, Store(sums, (E,), Const(1.0, FLOAT32))),
        Instruction("mma.m16n8k16", read(sums, 0), (read(left, 0), read(right, 0))),
        For(E, 4, Store(c, (GROUP + E // 2 * 8, QUAD * 2 + E % 2), sums[E])),
    )
    for tensor in (left, right, sums):
        body = alloc(tensor, body)
    return program((a, b), c, warp(body))


X, Y = placeholder((32, 8), "float16", name="x"), Tensor("y", (32, 8), dtype("float16"))
S, F = (Tensor(n, shape, dtype("float16")) for n, shape in (("s", (32, 8)), ("f", (8,))))


def through_shared(statement: Node, *, threads: int = WARP, barrier: bool = True) -> Program:
    """y[t] = f, which `statement` makes of s, which is x."""
    fill = For(E, 8, Store(S, (T, E), X[T, E]))
    show = For(E, 8, Store(Y, (T, E), F[E]))
    body = alloc(F, seq(fill, *([Barrier()] if barrier else []), statement, show))
    return program((X,), Y, alloc(S, warp(body, threads), Scope.SHARED))


def turned(name: str, row: Expr = T, first: int = 0) -> Instruction:
    """Every lane has the place of a row of s."""
    return Instruction(name, read(F, 0), (read(S, row, first),))


def copied(
    size: int, *, element: str = "float16", order: Sequence[Node] = (), at: Expr | int = 0
) -> Program:
    """y[t] = s[31 - t], of which a copy of x makes rows; `order` is what comes after the copy."""
    count = size // dtype(element).bytes
    x = placeholder((WARP, count), element, name="x")
    y, s = (Tensor(n, x.shape, x.dtype) for n in "ys")
    inside = select(T < LAST, read(x, T, at), Const(0.0, x.dtype.compute))
    copy = Instruction(f"cp.async.{size}", read(s, T, at), (inside,))
    use = For(E, count, Store(y, (T, E), s[31 - T, E]))
    body = seq(copy, *(order or (COMMIT, wait(0), Barrier())), use)
    return program((x,), y, alloc(s, warp(body), Scope.SHARED))

"""Products of a warpgroup written by hand: who has which sum, and who may write what they read."""

from __future__ import annotations

import numpy as np
import pytest
from nest_programs import variables
from warp_programs import alloc, read

from tilewright.expr.dtypes import FLOAT32, dtype
from tilewright.expr.nodes import Const, Tensor, as_expr
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import VerifyError
from tilewright.nest.instructions import GROUP, GROUP_COMMIT, GROUP_FENCE, GROUP_WAIT, PROXY_FENCE
from tilewright.nest.nodes import Barrier, For, Instruction, Kind, Node, Program, Scope, Store, seq
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify

T, E = variables("t e")
SIDE, SUMS = 64, 32
X = placeholder((SIDE, SIDE), "float16", name="x")
Y = Tensor("y", (GROUP, SUMS), FLOAT32)
S, C = Tensor("s", (SIDE, SIDE), dtype("float16")), Tensor("c", (SUMS,), FLOAT32)
ROWS = np.random.default_rng(3).integers(-4, 5, (SIDE, SIDE)).astype(np.float16)
PER_THREAD = SIDE * SIDE // GROUP


def written() -> Node:
    """Each thread writes half a row of s."""
    at = T // 2, T % 2 * PER_THREAD + E
    return For(E, PER_THREAD, Store(S, at, X[at]))


def waited(left: int) -> Instruction:
    return Instruction(GROUP_WAIT, None, (as_expr(left),))


def program(*after: Node, fence: bool = True, barrier: bool = True) -> Program:
    """y[t] are the sums of 16 products, of s from column 0 on and from column 16 on."""
    product = Instruction("wgmma.m64n64k16.kk", read(C, 0), (read(S, 0, 0), read(S, 0, 16)))
    body = seq(
        written(),
        *([Instruction(PROXY_FENCE)] if fence else []),
        *([Barrier()] if barrier else []),
        For(E, SUMS, Store(C, (E,), Const(0.0, FLOAT32))),
        Instruction(GROUP_FENCE),
        product,
        Instruction(GROUP_COMMIT),
        *after,
        For(E, SUMS, Store(Y, (T, E), C[E])),
    )
    threads = For(T, GROUP, alloc(C, body), Kind.THREAD_X)
    return Program("group", (X,), (), (), (Y,), alloc(S, threads, Scope.SHARED))


def run(p: Program) -> np.ndarray:
    return interpret(p, {"x": ROWS})["y"]


def test_sums_are_where_ptx_says() -> None:
    """Of a warp: 16 rows; its lanes have pairs of columns as those of mma have."""
    p = program(waited(0))
    verify(p)
    whole = ROWS[:, :16].astype(np.float32) @ ROWS[:, 16:32].astype(np.float32).T
    found = run(p)
    for t in range(GROUP):
        for e in range(SUMS):
            row = t // 32 * 16 + e // 2 % 2 * 8 + t % 32 // 4
            assert found[t, e] == whole[row, e // 4 * 8 + t % 4 * 2 + e % 2]


@pytest.mark.parametrize("after", [(), (waited(1),)])
def test_sums_are_there_after_the_wait(after: tuple[Node, ...]) -> None:
    with pytest.raises(VerifyError, match="c is used before a wait for what makes it"):
        run(program(*after))


def test_what_threads_wrote_needs_a_fence_and_a_barrier() -> None:
    with pytest.raises(VerifyError, match="a fence is missing after threads wrote s"):
        run(program(waited(0), fence=False))
    for check in (verify, run):
        with pytest.raises(VerifyError, match="barrier"):
            check(program(waited(0), barrier=False))


def test_what_is_read_is_not_written_before_the_wait() -> None:
    with pytest.raises(VerifyError, match="s is written while an instruction reads it"):
        run(program(Barrier(), written(), waited(0)))


def test_a_thread_waits_for_its_own_part_only() -> None:
    """Other warps' products may still read: it is a barrier after the wait that counts."""
    run(program(waited(0), Barrier(), written()))
    with pytest.raises(VerifyError, match="threads race for an element of s: a barrier is missing"):
        run(program(Barrier(), waited(0), written()))

"""Loops bound to the workers of a GPU: what they mean, and the rules the verifier holds them to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from nest_programs import ZERO
from worker_programs import B, K, S, T, U, X, Y, in_blocks, reverse, row_sums

from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.nodes import Tensor
from tilewright.ground.errors import VerifyError
from tilewright.nest.gpu.barriers import first_race, with_barriers
from tilewright.nest.gpu.workers import kernels, thread_counts
from tilewright.nest.nodes import (
    Alloc,
    Barrier,
    For,
    If,
    Kind,
    Node,
    Program,
    Scope,
    Store,
    seq,
    walk,
)
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify

VALUES = np.arange(16, dtype=np.float32)
REVERSED = VALUES.reshape(2, 8)[:, ::-1].reshape(-1)


def run(program: Program, seed: int | None = None) -> np.ndarray:
    rng = None if seed is None else np.random.default_rng(seed)
    (found,) = interpret(program, {"x": VALUES}, rng=rng).values()
    return found


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_threads_exchange_through_shared_storage(seed: int | None) -> None:
    program = reverse()
    verify(program)
    np.testing.assert_array_equal(run(program, seed), REVERSED)


def test_a_combined_reduction_adds_up_the_threads() -> None:
    verify(row_sums())
    np.testing.assert_array_equal(run(row_sums()), VALUES.reshape(2, 8).sum(axis=1))


def test_a_cooperative_loop_is_done_once_by_the_threads_around_it() -> None:
    """8 threads, each twice (virtual); the fetch inside shares out 8 iterations, not 8 * 16."""
    v, w = T, U
    fetch = For(K, 8, Store(S, (B * 8 + K,), X[B * 8 + K]), Kind.THREAD_X)
    own = Store(Y, (B * 8 + v * 4 + w,), S[B * 8 + v * 4 + w])
    body = Alloc(S, (B * 8,), seq(fetch, Barrier(), If(w < 4, own)), Scope.SHARED)
    threads = For(v, 2, For(w, 8, body, Kind.THREAD_X), Kind.VIRTUAL)
    program = in_blocks(threads)
    verify(program)
    np.testing.assert_array_equal(run(program), VALUES)


def test_thread_dimensions_multiply() -> None:
    program = in_blocks(
        For(T, 2, For(U, 4, Store(Y, (B * 8 + T * 4 + U,), X[B * 8 + T * 4 + U]), Kind.THREAD_X),
            Kind.THREAD_Y)
    )  # fmt: skip
    verify(program)
    assert thread_counts(kernels(program.body)[0]) == {Kind.THREAD_X: 4, Kind.THREAD_Y: 2}
    np.testing.assert_array_equal(run(program), VALUES)


# ---- races ----------------------------------------------------------------------------------


def test_a_missing_barrier_is_found_before_and_while_running() -> None:
    program = reverse(barrier=False)
    with pytest.raises(VerifyError, match=r"no barrier between the write of s\[.*the read of s\["):
        verify(program)
    with pytest.raises(VerifyError, match="s is read where another thread wrote: a barrier is mis"):
        run(program)


def test_a_loop_that_comes_round_needs_a_second_barrier() -> None:
    program = reverse(rounds=2)
    with pytest.raises(VerifyError, match=r"no barrier between the read of s\[.*the write of s\["):
        verify(program)
    with pytest.raises(VerifyError, match="threads race for an element of s"):
        run(program)
    fixed = replace(program, body=with_barriers(program.body))
    verify(fixed)
    np.testing.assert_array_equal(run(fixed), REVERSED)


def test_barriers_are_placed_between_conflicts_only() -> None:
    bare = reverse(barrier=False)
    placed = with_barriers(bare.body)
    assert placed == reverse().body
    assert with_barriers(placed) == placed


def test_a_thread_that_reads_what_it_wrote_needs_no_barrier() -> None:
    at = (B * 8 + T,)
    body = seq(Store(S, at, X[at[0]]), Store(S, at, X[at[0]], "sum"), Store(Y, at, S[at[0]]))
    program = in_blocks(Alloc(S, (B * 8,), For(T, 8, body, Kind.THREAD_X), Scope.SHARED))
    assert first_race(program.body) is None
    assert not any(isinstance(n, Barrier) for n in walk(with_barriers(program.body)))
    verify(program)
    np.testing.assert_array_equal(run(program), 2 * VALUES)


def test_two_threads_must_not_write_one_element() -> None:
    body = For(T, 8, Store(S, (B * 8 + T // 2,), X[B * 8 + T]), Kind.THREAD_X)
    with pytest.raises(VerifyError, match="threads race for an element of s"):
        run(in_blocks(Alloc(S, (B * 8,), body, Scope.SHARED)))


# ---- rules ----------------------------------------------------------------------------------

COPY = Store(Y, (B * 8 + T,), X[B * 8 + T])
THREADS = For(T, 8, COPY, Kind.THREAD_X)
LOCAL = Tensor("l", (1,), FLOAT32)


def over_threads(body: Node) -> Node:
    return For(T, 8, seq(COPY, body), Kind.THREAD_X)


RULES: dict[str, tuple[Node, str]] = {
    "block in a loop": (
        For(K, 1, For(B, 2, THREADS, Kind.BLOCK)),
        "for b in .*: a block loop inside a kernel; blocks are outermost",
    ),
    "parallel inside": (
        For(B, 2, For(T, 8, COPY, Kind.PARALLEL), Kind.BLOCK),
        "for t in .*: a parallel loop inside a kernel; blocks are outermost",
    ),
    "barrier where threads differ": (
        For(B, 2, over_threads(If(T < 4, Barrier())), Kind.BLOCK),
        "barrier: not every thread of the block comes",
    ),
    "barrier in part of the threads": (
        For(B, 2, seq(THREADS, For(U, 4, Barrier(), Kind.THREAD_X)), Kind.BLOCK),
        "barrier: not every thread of the block comes",
    ),
    "too many iterations": (
        For(B, 2, over_threads(For(U, 9, Store(Y, (B + U,), ZERO), Kind.THREAD_X)), Kind.BLOCK),
        "for u in .*: 9 iterations for 8 threads",
    ),
    "cooperation that depends on the thread": (
        For(B, 2, over_threads(For(U, 8, Store(Y, (B * 8 + T,), ZERO), Kind.THREAD_X)), Kind.BLOCK),
        r"for u in .*: a cooperative loop cannot depend on the thread: \['t'\]",
    ),
    "cooperation on private storage": (
        For(
            B,
            2,
            over_threads(Alloc(LOCAL, (B,), For(U, 8, Store(LOCAL, (B,), ZERO), Kind.THREAD_X))),
            Kind.BLOCK,
        ),
        "l.b. = 0.0: a cooperative loop cannot use the private l",
    ),
    "private storage of several threads": (
        For(B, 2, Alloc(S, (B * 8,), THREADS), Kind.BLOCK),
        "alloc s: .*: the threads of t use it; its scope must be shared",
    ),
    "shared storage that starts at a thread": (
        For(B, 2, over_threads(Alloc(S, (T,), COPY, Scope.SHARED)), Kind.BLOCK),
        r"alloc s: .*: the window of all threads cannot start at one's: \['t'\]",
    ),
    "a reduction of some threads": (
        For(
            B,
            2,
            over_threads(If(T < 4, seq(COPY, Store(Y, (B,), ZERO, "sum")))),
            Kind.BLOCK,
        ),
        "not every thread of the block takes part in this reduction",
    ),
    "a reduction over half a dimension": (
        For(
            B,
            2,
            For(T, 2, For(U, 4, Store(Y, (B * 8 + T,), ZERO, "sum"), Kind.THREAD_X), Kind.THREAD_X),
            Kind.BLOCK,
        ),
        "a reduction over some of the loops of thread.x; bind the others",
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_broken_rules_are_named(name: str) -> None:
    body, message = RULES[name]
    with pytest.raises(VerifyError, match=message):
        verify(Program("p", (X,), (), (), (Y,), body))


def test_the_interpreter_misses_no_thread_at_a_barrier() -> None:
    body = over_threads(If(T < 4, Barrier()))
    with pytest.raises(VerifyError, match="barrier: not every thread comes here"):
        run(in_blocks(body))

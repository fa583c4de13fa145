"""Rings of stages: which barriers they need, and that the analysis is not fooled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from random_rings import random_ring
from ring_programs import (
    FIRST,
    OTHER,
    J,
    K,
    T,
    read,
    ring,
    steps,
    storage,
    threaded,
    write,
)
from worker_programs import X

from tilewright.expr.dtypes import INT64
from tilewright.expr.nodes import Tensor, as_expr
from tilewright.ground.errors import VerifyError
from tilewright.nest.gpu.barriers import first_race, with_barriers
from tilewright.nest.nodes import Alloc, Barrier, For, If, Kind, Program, Scope, Store, seq
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify

RANDOM, SLICE = 600, 150
VALUES = {X.name: np.arange(16, dtype=np.float32)}

RIGHT: dict[str, Program] = {
    "3 stages, 2 ahead": ring(3, ahead=2),
    "3 stages, 1 ahead": ring(3, ahead=1),
    "2 stages, 1 ahead": ring(2, ahead=1),
    "5 stages, 4 ahead": ring(5, ahead=4),
    "the stage of the iteration before": ring(3, ahead=2, behind=1),
    "loops of one name": ring(3, ahead=2, prologue=K),
}
WRONG: dict[str, Program] = {
    "no barrier": ring(3, ahead=2, waits=False),
    "too far ahead": ring(3, ahead=3),
    "the stage that is written": ring(3, ahead=2, behind=2),
    "the next stage of two": ring(2, ahead=1, behind=1),
    "one stage": ring(1, ahead=1),
}


@pytest.mark.parametrize("name", RIGHT)
def test_stages_that_are_apart_need_one_barrier(name: str) -> None:
    verify(RIGHT[name])
    interpret(RIGHT[name], VALUES)


@pytest.mark.parametrize("name", WRONG)
def test_others_are_found_before_and_while_running(name: str) -> None:
    with pytest.raises(VerifyError, match="no barrier between"):
        verify(WRONG[name])
    with pytest.raises(VerifyError, match="a barrier is missing"):
        interpret(WRONG[name], VALUES)


S, SQUARE, WIDE = storage(3, 8), storage(2, 2, 8), storage(2, 16)
COUNT = Tensor("c", (1,), INT64)
ZERO = as_expr(0)
SLOWER = seq(
    Store(COUNT, (ZERO,), ZERO),
    steps(
        write(S, COUNT[0] % 3, T),
        Store(COUNT, (ZERO,), COUNT[0] + 1),
        read(S, (COUNT[0] + 2) % 3, OTHER),
        Barrier(),
    ),
)
LOOKALIKES: dict[str, Program] = {
    "a barrier for some iterations": threaded(
        S,
        steps(If((K % 3).eq(0), Barrier()), write(S, (K + 2) % 3, T), read(S, K % 3, OTHER)),
    ),
    "a barrier that may not come": threaded(
        S,
        steps(write(S, K % 3, T), If((K % 2).eq(0), Barrier()), read(S, K % 3, OTHER), Barrier()),
    ),
    "two dimensions that move": threaded(
        SQUARE, steps(write(SQUARE, (K + 1) % 2, (K + 1) % 2, T), read(SQUARE, K % 2, K % 2, OTHER))
    ),
    "elements that move with the stage": threaded(
        WIDE, steps(read(WIDE, K % 2, K + T), Barrier(), write(WIDE, (K + 1) % 2, K + T))
    ),
    "elements of another inner iteration": threaded(
        WIDE,
        steps(
            For(J, 2, read(WIDE, K % 2, J + T)),
            Barrier(),
            For(J, 2, write(WIDE, (K + 1) % 2, J + T)),
        ),
    ),
    "a stage that is counted": threaded(S, Alloc(COUNT, (ZERO,), SLOWER)),
    "a stage of each thread": threaded(
        S, steps(write(S, K % 3, T), Barrier(), write(S, (K + T) % 3, OTHER), read(S, T % 3, T))
    ),
    "another ring with the same loop after it": threaded(
        S,
        seq(
            For(K, 3, seq(Barrier(), write(S, K % 3, T))),
            For(K, 3, read(S, (K + 1) % 3, OTHER)),
        ),
    ),
    "plain stages after plain stages": threaded(
        S, For(J, 2, seq(For(K, 3, write(S, K, T)), For(FIRST, 3, read(S, FIRST % 3, OTHER))))
    ),
    "an inner loop that comes again": threaded(
        S,
        For(J, 2, seq(For(K, 3, write(S, K, T)), Barrier(), For(K, 3, read(S, K % 3, OTHER)))),
    ),
    "rings of different lengths": threaded(
        S, steps(Barrier(), write(S, (K + 1) % 3, T), read(S, K % 2, OTHER))
    ),
    "one element and a ring": threaded(S, steps(Barrier(), write(S, K % 3, T), read(S, 0, OTHER))),
    "a stage twice as fast": threaded(
        S, steps(Barrier(), write(S, K * 2 % 3, T), read(S, (K + 1) % 3, OTHER))
    ),
}


@pytest.mark.parametrize("name", LOOKALIKES)
def test_what_looks_like_a_ring_is_none(name: str) -> None:
    """All of them race; the interpreter sees the very elements."""
    with pytest.raises(VerifyError, match="a barrier is missing"):
        interpret(LOOKALIKES[name], VALUES)
    assert first_race(LOOKALIKES[name].body) is not None


def test_a_window_that_moves_has_no_stages() -> None:
    """Each iteration's storage is the same bytes, whatever the indices."""
    window = storage(1, 8)
    body = seq(read(window, K % 3, OTHER), Barrier(), write(window, (K + 1) % 3, T))
    moving = steps(Alloc(window, (K, ZERO), body, Scope.SHARED))
    assert first_race(For(T, 8, moving, Kind.THREAD_X)) is not None


def test_barriers_for_a_ring_are_placed_as_for_other_loops() -> None:
    """Stages are a template's: it places its barriers itself."""
    bare = ring(3, ahead=2, waits=False)
    placed = replace(bare, body=with_barriers(bare.body))
    verify(placed)
    interpret(placed, VALUES)


def test_a_barrier_within_a_condition_is_no_barrier_after_it() -> None:
    s = storage(2, 8)
    both = seq(write(s, 0, T), read(s, 0, OTHER))
    bare = threaded(s, steps(If(K < 2, both), write(s, 0, T)))
    placed = replace(bare, body=with_barriers(bare.body))
    verify(placed)
    interpret(placed, VALUES)


@pytest.mark.no_cover
@pytest.mark.parametrize("first", range(0, RANDOM, SLICE))
def test_random_loops_that_race_are_found(first: int) -> None:
    """The analysis may see races that are none, but misses none that the interpreter sees."""
    for seed in range(first, first + SLICE):
        program = random_ring(np.random.default_rng([13, seed]))
        try:
            interpret(program, VALUES)
        except VerifyError as error:
            if "a barrier is missing" in str(error):
                assert first_race(program.body) is not None, seed

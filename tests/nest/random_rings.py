"""Random loops over stages of one shared tensor, with barriers anywhere, that may race or not.

kernel = random_ring(np.random.default_rng(7))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from ring_programs import FIRST, OTHER, THREADS, J, K, T, read, storage, threaded, write

from tilewright.expr.nodes import Expr, Var, as_expr
from tilewright.nest.nodes import Barrier, For, If, Node, Program, seq

Of = TypeVar("Of")


def random_ring(rng: np.random.Generator) -> Program:
    """Up to three loops within each other, of a few statements each."""
    draw = _Draw(rng)
    return threaded(draw.tensor, draw.block((), 3))


class _Draw:
    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.stages = int(rng.integers(1, 5))
        self.tensor = storage(self.stages, THREADS)

    def one(self, options: Sequence[Of]) -> Of:
        return options[int(self.rng.integers(len(options)))]

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def stage(self, loops: Sequence[Var]) -> Expr:
        """Mostly the remainder of a loop's variable, some steps on."""
        if self.chance(0.15):
            return as_expr(int(self.rng.integers(self.stages)))
        base: Expr = self.one((as_expr(0), *loops))
        if len(loops) > 1 and self.chance(0.3):
            base = loops[0] + loops[1]
        return (base * self.one((1, 1, 1, 2)) + int(self.rng.integers(5))) % self.stages

    def statement(self, loops: Sequence[Var]) -> Node:
        if self.chance(0.5):
            return write(self.tensor, self.stage(loops), T)
        return read(self.tensor, self.stage(loops), self.one((T, OTHER)))

    def block(self, loops: Sequence[Var], depth: int) -> Node:
        return seq(*(self.part(loops, depth) for _ in range(int(self.rng.integers(1, 4)))))

    def part(self, loops: Sequence[Var], depth: int) -> Node:
        if self.chance(0.25):
            return Barrier()
        if loops and self.chance(0.15):
            inner = Barrier() if self.chance(0.5) else self.block(loops, 0)
            return If((loops[-1] % 2).eq(int(self.rng.integers(2))), inner)
        free = [v for v in (K, J, FIRST) if v not in loops]
        if depth and self.chance(0.3):
            var = self.one(free)
            return For(var, int(self.rng.integers(2, 6)), self.block((*loops, var), depth - 1))
        return self.statement(loops)

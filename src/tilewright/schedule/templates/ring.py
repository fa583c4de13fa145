"""A ring of stages that a warp of its own fills while others use them.

    ring = Ring((product.left, product.right), stages, consumers=256)
    ring.nest(steps, start, used)           in every step: fill a stage; use one

Two mbarriers a stage say that it is full, which the copies' bytes make it, and that it is empty,
when each of the warps that use it has said so. Nobody else waits for anybody: the warp that fills
runs ahead by as many steps as there are stages. The nest has the roles of a step one after the
other; code generation makes a loop of each (`codegen.passes.roles`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from tilewright.expr.dtypes import INT64
from tilewright.expr.index.extents import add
from tilewright.expr.nodes import Expr, Extent, Read, Tensor, Var, as_expr, binary
from tilewright.nest.instructions import (
    ARRIVE,
    EXPECT,
    GROUP_WAIT,
    INIT,
    PHASE_WAIT,
    PROXY_FENCE,
    WARP,
)
from tilewright.nest.nodes import Barrier, For, If, Instruction, Node, Scope, allocated, seq
from tilewright.schedule.templates.tiles import THREAD, Tile, quotient


class Ring:
    """See the module. The first `consumers` threads of a block use stages, the next warp fills
    them.
    """

    def __init__(self, tiles: Sequence[Tile], stages: Extent, consumers: Extent) -> None:
        self.tiles, self.stages = tiles, as_expr(stages)
        self.full, self.empty = (Tensor(name, (stages,), INT64) for name in ("full", "empty"))
        self.consumers, self.threads = consumers, add(consumers, WARP)
        self.uses, self.fills = as_expr(consumers) > THREAD, THREAD.eq(consumers)

    def alloc(self, body: Node) -> Node:
        """`body` with the mbarriers."""
        return allocated(self.full, allocated(self.empty, body, Scope.SHARED), Scope.SHARED)

    def nest(self, steps: Extent, start: Expr, used: Callable[[Expr], Node], last: Node) -> Node:
        """What a thread does: `used` of every stage begins a group of products, `last` comes when
        all are made. `start` is the first of `steps` tiles along the depth.
        """
        k = Var("k")
        stage, turn = k % self.stages, k // self.stages
        wait = Instruction(GROUP_WAIT, None, (as_expr(1),))
        done = self._signalled(k > 0, (k + self.stages - 1) % self.stages)
        uses = seq(self._awaited(self.full, stage, turn), used(stage), wait, done)
        step = seq(If(self.fills, self._filled(stage, turn, start + k)), If(self.uses, uses))
        ended = seq(Instruction(GROUP_WAIT, None, (as_expr(0),)), last)
        return seq(self._begun(), For(k, steps, step), If(self.uses, ended))

    def _begun(self) -> Node:
        """One thread initialises the mbarriers; then all may use them, and copies, too."""
        i = Var("ring.stage")
        counts = ((self.full, 1), (self.empty, quotient(self.consumers, WARP)))
        each = seq(*(Instruction(INIT, Read(t, (i,)), (as_expr(n),)) for t, n in counts))
        first = If(THREAD.eq(0), For(i, self.stages, each))
        return seq(first, Instruction(PROXY_FENCE), Barrier())

    def _filled(self, stage: Expr, turn: Expr, step: Expr) -> Node:
        """Copies of the tiles of a step, once the stage is empty; at first, it is."""
        full = Read(self.full, (stage,))
        size = reduce(add, (t.stage_bytes for t in self.tiles))
        return seq(
            self._awaited(self.empty, stage, turn + 1),
            Instruction(EXPECT, full, (as_expr(size),)),
            *(t.boxed(stage, step * t.depth, full) for t in self.tiles),
        )

    def _awaited(self, mbarrier: Tensor, stage: Expr, turn: Expr) -> Node:
        return Instruction(PHASE_WAIT, Read(mbarrier, (stage,)), (turn % 2,))

    def _signalled(self, cond: Expr, stage: Expr) -> Node:
        """A thread of each warp says that it has used a stage."""
        first = binary("and", cond, (THREAD % WARP).eq(0))
        return If(first, Instruction(ARRIVE, Read(self.empty, (stage,))))

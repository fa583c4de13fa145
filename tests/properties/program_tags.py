"""What a scheduled program exercises, so that a run can prove that everything occurred.

tags(state, program) -> {"halo", "padded tile", …}
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.expr.access import accesses
from tilewright.expr.nodes import Binary
from tilewright.expr.traversal import reads
from tilewright.expr.traversal import walk as walk_expr
from tilewright.nest.nodes import Alloc, If, Program, Store, walk
from tilewright.schedule.state import State
from tilewright.schedule.steps import CacheRead, ComputeInline, LayoutRewrite, RFactor

REQUIRED = (
    "padded tile", "halo", "stride", "dilation", "rfactor", "inline", "floor-div", "multi-output",
)  # fmt: skip
ALSO = (
    "negative coefficient", "several consumers", "nested attach", "layout rewrite",
    "packed operand",
)  # fmt: skip


def tags(state: State, program: Program) -> set[str]:
    """The names in REQUIRED and ALSO that apply to a concrete state and its program."""
    found = set(_windows(state, program))
    nodes = list(walk(program.body))
    if any(isinstance(n, If) for n in nodes):
        found.add("padded tile")  # selects belong to the math; only tiles are guarded by an If
    if any(_divides(n) for n in nodes if isinstance(n, Store)):
        found.add("floor-div")
    if len(program.outputs) > 1:
        found.add("multi-output")
    if any(isinstance(s, ComputeInline) for s in state.trace):
        found.add("inline")
    if any(isinstance(s, LayoutRewrite) for s in state.trace):
        found.add("layout rewrite")
    if any(isinstance(s, CacheRead) for s in state.trace):
        found.add("packed operand")
    for step in state.trace:
        if isinstance(step, RFactor) and step.factor != 1:
            found.add("rfactor")
    return found


def _divides(store: Store) -> bool:
    indices = [i for r in reads(store.value) for i in r.indices]
    return any(
        isinstance(x, Binary) and x.op in ("floordiv", "mod") for i in indices for x in walk_expr(i)
    )


def _windows(state: State, program: Program) -> Iterator[str]:
    """Tags of stages that compute only a window of themselves inside a consumer."""
    shapes = {n.tensor.name: n.tensor.shape for n in walk(program.body) if isinstance(n, Alloc)}
    for stage in state.stages.values():
        if stage.attach is None:
            continue
        consumers = state.consumers(stage.name)
        if len(consumers) > 1:
            yield "several consumers"
        if state[stage.attach.target].attach is not None:
            yield "nested attach"
        for consumer in consumers:
            reduction = {a.name for a in consumer.compute.reduce_axes if a.extent != 1}
            for access in accesses(consumer.compute):
                if access.tensor.name != stage.name:
                    continue
                for d, index in enumerate(access.indices):
                    whole = shapes[stage.name][d] == stage.tensor.shape[d]
                    if index is None or whole:
                        continue
                    moving = [(n, k) for n, k in index.coefficients if access.extents[n] != 1]
                    yield from _coefficients(moving, reduction)


def _coefficients(moving: list[tuple[str, int]], reduction: set[str]) -> Iterator[str]:
    spatial = [k for n, k in moving if n not in reduction]
    reduced = [k for n, k in moving if n in reduction]
    if spatial and reduced:
        yield "halo"
    if any(abs(k) > 1 for k in spatial):
        yield "stride"
    if spatial and any(abs(k) > 1 for k in reduced):
        yield "dilation"
    if any(k < 0 for k in (*spatial, *reduced)):
        yield "negative coefficient"

"""The conditions of the sketch rules (paper table 1), from the math alone.

They look at a stage's expression and its consumers in the current state, never at a name: after
inlining a bias, the consumer of a convolution is the ReLU that absorbed it.
"""

from __future__ import annotations

from tilewright.expr.nodes import (
    Call,
    Expr,
    Read,
    Reduce,
    Select,
    Var,
    as_expr,
    free_vars,
    reads,
    walk,
)
from tilewright.expr.simplify import affine
from tilewright.expr.tensors import Placeholder, Table
from tilewright.schedule.state import Stage, State

EXPENSIVE = frozenset({"exp", "log", "tanh", "erf", "sigmoid", "sin", "cos", "pow", "sqrt"})


def element_expr(stage: Stage) -> Expr:
    """The expression that is evaluated per iteration (inside the reduction, if any)."""
    body = stage.compute.body
    return body.body if isinstance(body, Reduce) else body


def is_branching(stage: Stage) -> bool:
    """Whether a select tests the position (padding, concatenation)."""
    axes = {a.name for a in stage.axes}
    return any(
        isinstance(x, Select) and free_vars(x.cond) & axes and not reads(x.cond)
        for x in walk(element_expr(stage))
    )


def is_inlinable(state: State, stage: Stage) -> bool:
    """Whether the stage may be substituted into its consumers at all."""
    return not stage.compute.reduce_axes and not state.is_output(stage.name)


def is_strictly_inlinable(state: State, stage: Stage) -> bool:
    """Rule 2: no reduction, no branch on the position, cheap or used once per element."""
    if not is_inlinable(state, stage) or is_branching(stage):
        return False
    if not any(isinstance(x, Call) and x.fn in EXPENSIVE for x in walk(element_expr(stage))):
        return True
    return all(not c.compute.reduce_axes for c in state.consumers(stage.name))


def has_data_reuse(stage: Stage) -> bool:
    """Rules 3-5: a reduction with a read that stays the same along some spatial axis."""
    spatial = {a.name for a in stage.compute.axes if a.extent != 1}
    if not stage.compute.reduce_axes:
        return False
    data = [r for r in reads(element_expr(stage)) if not isinstance(r.tensor.source, Table)]
    return any(spatial - index_axes(r) for r in data)


def index_axes(read: Read) -> set[str]:
    """Axes that an access depends on."""
    return {name for i in read.indices for name in free_vars(i)}


def fusible_consumer(state: State, stage: Stage) -> Stage | None:
    """Rule 4: the only consumer, when it reads the stage one to one over the same shape."""
    consumers = state.consumers(stage.name)
    if len(consumers) != 1 or state.is_output(stage.name):
        return None
    consumer = consumers[0]
    if consumer.compute.reduce_axes or consumer.tensor.shape != stage.tensor.shape:
        return None
    axes = tuple(a.var for a in consumer.compute.axes)
    found = [r for r in reads(element_expr(consumer)) if r.tensor.name == stage.name]
    return consumer if all(r.indices == axes for r in found) else None


def has_more_reduction_parallel(stage: Stage, cores: int) -> bool:
    """Rule 6: fewer outputs than reduction steps, and too few of them for the cores.

    The bound of 16 outputs a core is the published system's.
    """
    space, work = 1, 1
    for axis in stage.axes:
        if not isinstance(axis.extent, int):
            return False
        if axis.reduce:
            work *= axis.extent
        else:
            space *= axis.extent
    return work > 1 and space <= work and space <= 16 * cores


def packable_constants(state: State, stage: Stage) -> list[str]:
    """Constants that only this stage reads, once, with plain axes: their layout may change."""
    found = reads(element_expr(stage))
    names = [r.tensor.name for r in found]
    return [
        r.tensor.name
        for r in found
        if isinstance(r.tensor.source, Placeholder)
        and r.tensor.source.constant
        and names.count(r.tensor.name) == 1
        and r.tensor.rank > 1
        and len(state.consumers(r.tensor.name)) == 1
        and all(isinstance(i, Var) for i in r.indices)
        and len(index_axes(r)) == r.tensor.rank
    ]


def vector_axis(state: State, stage: Stage) -> str | None:
    """The axis to run along vector lanes: one along which every access is contiguous or fixed.

    A constant whose layout may change is contiguous along any axis. Spatial axes come before
    reductions, inner before outer; without a clean axis it is the last spatial one.
    """
    free = set(packable_constants(state, stage))
    accesses = [r.indices for r in reads(element_expr(stage)) if r.tensor.name not in free]
    accesses.append(tuple(a.var for a in stage.compute.axes))
    spatial = [a.name for a in reversed(stage.compute.axes) if a.extent != 1]
    reduction = [a.name for a in reversed(stage.compute.reduce_axes) if a.extent != 1]
    clean = [n for n in spatial + reduction if all(_is_contiguous(i, n) for i in accesses)]
    return next(iter(clean + spatial), None)


def _is_contiguous(indices: tuple[Expr, ...], axis: str) -> bool:
    """Whether the axis moves no dimension, or only the innermost one that varies, by one."""
    moving = [i for i in indices if free_vars(i)]
    if any(axis in free_vars(i) for i in moving[:-1]):
        return False
    if not moving or axis not in free_vars(moving[-1]):
        return True
    split = affine(moving[-1], [axis])
    return split is not None and split[0].get(axis) == as_expr(1)

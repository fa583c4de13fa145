"""Stages in the order of the memory around them: channels first where input and output are.

    y[n, c, h, w] = conv[n, h, w, c]        conv[n, h, w, c] = Σ x.t[n, h+r, w+q, c] · k[r, q, c]
        ->  conv[n, c, h, w] = Σ x.t[n, c, h+r, w+q] · k[r, q, c]

What only moves elements takes the order of what it reads, everything else that of its consumers,
as far as every dimension follows one axis of theirs. The mathematics is the same; a search then
finds the neighbours of memory along the last axis.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.expr.access import is_movement
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Axis, Expr, Read, Tensor
from tilewright.expr.reference import compute_of
from tilewright.expr.tensors import Compute
from tilewright.expr.traversal import free_vars, reads, with_reads

Order = tuple[int, ...]
"""The old dimension that each new one is."""


def in_memory_order(dag: ComputeDAG) -> ComputeDAG:
    """The DAG with its stages' dimensions reordered, inputs and outputs as they are."""
    orders: dict[str, Order] = {}
    for stage in reversed(dag.stages):
        found = None if dag.is_output(stage) else _order(dag, stage, orders)
        orders[stage.name] = found or tuple(range(stage.rank))
    made: dict[str, Tensor] = {}
    for stage in dag.stages:
        made[stage.name] = _reordered(stage, orders, made)
    return ComputeDAG([made[t.name] for t in dag.outputs], dag.sizes)


def _order(dag: ComputeDAG, stage: Tensor, orders: dict[str, Order]) -> Order | None:
    compute = compute_of(stage)
    every = reads(compute.body)
    if is_movement(compute.body) and len(every) == 1 and not dag.producers(every[0].tensor):
        return _following(stage, _positions(every[0], compute.axes))
    found = set()
    for consumer in dag.consumers(stage):
        axes = compute_of(consumer).axes
        ordered = tuple(axes[d] for d in orders[consumer.name])
        for read in (r for r in reads(compute_of(consumer).body) if r.tensor.name == stage.name):
            where = {a.name: i for i, a in enumerate(ordered)}
            keys = [_only(i, where) for i in read.indices]
            found.add(_sorted(stage, keys))
    return found.pop() if len(found) == 1 else None


def _positions(read: Read, axes: tuple[Axis, ...]) -> dict[str, int]:
    """Of every axis, the dimension of what is read that it alone moves."""
    names = {a.name for a in axes}
    found: dict[str, int] = {}
    for d, index in enumerate(read.indices):
        moving = free_vars(index) & names
        if len(moving) == 1:
            found.setdefault(next(iter(moving)), d)
    return found


def _following(stage: Tensor, positions: dict[str, int]) -> Order | None:
    axes = compute_of(stage).axes
    return _sorted(stage, [positions.get(a.name) for a in axes])


def _only(index: Expr, where: dict[str, int]) -> int | None:
    moving = free_vars(index) & where.keys()
    return where[next(iter(moving))] if len(moving) == 1 else None


def _sorted(stage: Tensor, keys: list[int | None]) -> Order | None:
    """The dimensions by their keys; those of one element may have none."""
    known = [k for k, n in zip(keys, stage.shape, strict=True) if n != 1]
    if None in known or len(set(known)) < len(known):
        return None
    return tuple(sorted(range(stage.rank), key=lambda d: -1 if keys[d] is None else keys[d] or 0))


def _reordered(stage: Tensor, orders: dict[str, Order], made: dict[str, Tensor]) -> Tensor:
    def access(tensor: Tensor, indices: tuple[Expr, ...]) -> Expr:
        if tensor.name not in made:
            return Read(tensor, indices)
        return Read(made[tensor.name], tuple(indices[d] for d in orders[tensor.name]))

    order, compute = orders[stage.name], compute_of(stage)
    axes = tuple(compute.axes[d] for d in order)
    shape = tuple(stage.shape[d] for d in order)
    source: Compute = replace(compute, axes=axes, body=with_reads(compute.body, access))
    return Tensor(stage.name, shape, stage.dtype, source)

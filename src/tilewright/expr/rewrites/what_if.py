"""A task's computation made a little otherwise, to ask what a part of it costs (Bolt, section 3.3).

    activations(dag)                     the stages that are functions of one tensor: (relu, conv)
    without(dag, stage, source)          conv, bias, relu  ->  conv, bias
    deepened(dag)                        y  ->  Σ_c y[..., c] * w[c, o]: a 1x1 convolution more
    aligned(dag, 16)                     the contraction with 48 for 46 channels, or None
    narrower(dag, "uint8", "int8")       x[i, k] * w[k, j] in bytes, summed in int32 and scaled

Nothing is known by name: an activation is what depends on one tensor's element alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from tilewright.expr import tensors as te
from tilewright.expr.access import has_data_reuse, is_movement
from tilewright.expr.contraction.factors import NoMatch
from tilewright.expr.contraction.groups import contraction_of, sums
from tilewright.expr.dag import ComputeDAG, stage_flops
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.nodes import Binary, Const, Expr, Read, Reduce, Tensor, cast
from tilewright.expr.reference import compute_of, sizes, static_shape
from tilewright.expr.rewrites.resize import resized
from tilewright.expr.tensors import Compute, Placeholder, is_constant
from tilewright.expr.traversal import reads, transform
from tilewright.ground.errors import InputError

Rebuilt: TypeAlias = Callable[[Tensor], Tensor]
Leaf: TypeAlias = Callable[[Expr], Expr | None]
BYTES_SCALE = 2.0**-12  # of products of two bytes, which are some thousands


def activations(dag: ComputeDAG) -> list[tuple[Tensor, Tensor]]:
    """(end, source) of each longest run of stages whose elements are functions of one computed
    tensor's elements at the same place, and of nothing else, with arithmetic in them.
    """
    roots: dict[str, Tensor] = {}
    for stage in dag.stages:
        read = [r.tensor for r in reads(compute_of(stage).body)]
        behind = {roots.get(t.name, t).name: roots.get(t.name, t) for t in read}
        if len(behind) == 1 and _is_elementwise(stage):
            (root,) = behind.values()
            if isinstance(root.source, Compute):
                roots[stage.name] = root
    found = []
    for stage in dag.stages:
        if stage.name in roots and _computes(dag, stage, roots):
            source = roots[stage.name]
            if not any(roots.get(c.name) is source for c in dag.consumers(stage)):
                found.append((stage, source))
    return found


def _is_elementwise(stage: Tensor) -> bool:
    """Whether each element depends on elements at the same place; along an axis of one element
    there is no other.
    """
    axes = compute_of(stage).axes
    found = reads(compute_of(stage).body)
    return not compute_of(stage).reduce_axes and all(
        len(r.indices) == len(axes)
        and all(a.extent == 1 or i == a.var for a, i in zip(axes, r.indices, strict=True))
        for r in found
    )


def _computes(dag: ComputeDAG, stage: Tensor, roots: Mapping[str, Tensor]) -> bool:
    """Whether it, or what of its run it reads, is more than a copy."""
    if not isinstance(compute_of(stage).body, Read):
        return True
    return any(t.name in roots and _computes(dag, t, roots) for t in dag.producers(stage))


def without(dag: ComputeDAG, stage: Tensor, source: Tensor) -> ComputeDAG:
    """The same, with the elements of `source` in the place of those of `stage`, which is computed
    from them one by one.
    """

    def other(tensor: Tensor, rebuilt: Rebuilt) -> Tensor | None:
        return rebuilt(source) if tensor.name == stage.name else None

    return _changed(dag, other)


def _changed(
    dag: ComputeDAG, other: Callable[[Tensor, Rebuilt], Tensor | None], scale: float = 1.0
) -> ComputeDAG:
    """The same, with what `other` makes in the place of a tensor; None leaves it, but for what it
    reads. Where that has integers for floats, they are in units of `scale`.
    """
    made: dict[str, Tensor] = {}

    def rebuilt(tensor: Tensor) -> Tensor:
        if tensor.name not in made:
            made[tensor.name] = other(tensor, rebuilt) or _with_leaves(tensor, leaf)
        return made[tensor.name]

    def leaf(e: Expr) -> Expr | None:
        return value(e.tensor, e.indices) if isinstance(e, Read) else None

    def value(tensor: Tensor, indices: tuple[Expr, ...]) -> Expr:
        read = Read(rebuilt(tensor), indices)
        same = read.dtype.is_float == tensor.dtype.is_float
        return read if same else cast(tensor.dtype, read) * scale

    def output(tensor: Tensor) -> Tensor:
        found = rebuilt(tensor)
        if found.dtype.is_float == tensor.dtype.is_float:
            return found
        shape, name = static_shape(tensor), f"{tensor.name}.scaled"
        return te.compute(shape, lambda *i: value(tensor, tuple(x.var for x in i)), name=name)

    return ComputeDAG(list({id(t): t for t in map(output, dag.outputs)}.values()))


def _with_leaves(tensor: Tensor, leaf: Leaf) -> Tensor:
    if not isinstance(tensor.source, Compute):
        return tensor
    body = transform(tensor.source.body, leaf)
    return replace(tensor, source=replace(tensor.source, body=body))


def deepened(dag: ComputeDAG) -> ComputeDAG | None:
    """The same with a 1x1 convolution at its end, as many channels as the (last) output has: None
    where that is no image of a contraction, channels last.
    """
    (*_, output) = dag.outputs
    if len(dag.outputs) > 1 or output.rank < 3 or not any(map(has_data_reuse, dag.stages)):
        return None
    if output.dtype.kind != "float":
        return None
    channels = static_shape(output)[-1]
    if channels == 1:
        return None
    weights = te.placeholder(
        (channels, channels), output.dtype, name="deeper_weights", constant=True
    )
    k = te.reduce_axis(channels, "deeper_k")
    deeper = te.compute(
        static_shape(output),
        lambda *i: te.sum(output[(*i[:-1], k)] * weights[k, i[-1]], k),
        name="deeper",
    )
    return ComputeDAG([deeper])


def aligned(dag: ComputeDAG, lanes: int) -> tuple[ComputeDAG, ComputeDAG] | None:
    """The contraction of most work, alone: as it is, and with its channels (the last axis of what
    it makes and of what it sums) rounded up to whole vectors of `lanes`. None where they are, where
    there is none, or where its indices do not say what they are at other extents.
    """
    contractions = [s for s in dag.stages if has_data_reuse(s)]
    if not contractions:
        return None
    stage = max(contractions, key=stage_flops)
    compute = compute_of(stage)
    extents = list(sizes((*compute.axes, *compute.reduce_axes)))
    wanted = list(extents)
    for at in (len(compute.axes) - 1, len(extents) - 1):
        if extents[at] > 1:
            wanted[at] = -(-extents[at] // lanes) * lanes
    if wanted == extents:
        return None
    try:
        alone, whole = resized(stage, extents), resized(stage, wanted)
    except InputError:
        return None
    return ComputeDAG([alone]), ComputeDAG([whole])


def narrower(dag: ComputeDAG, given: str, known: str) -> ComputeDAG | None:
    """The same with contractions of fewer bits where they are of float32 and one factor is known:
    that is of the type `known`, the other one, which comes from an input, of the type `given`. Sums
    of integers are scaled. None where there is no such contraction.
    """
    chosen = {s.name: parts for s in sums(dag) if (parts := _rounded_factors(dag, s))}

    def narrow(tensor: Tensor) -> Tensor:
        kind = DTYPES[known if is_constant(tensor) else given]

        def leaf(e: Expr) -> Expr | None:
            if isinstance(e, Read):
                return Read(narrow(e.tensor), e.indices)
            if isinstance(e, Const) and e.dtype == tensor.dtype:  # beside the image
                return Const(kind.compute.numpy.type(e.value).item(), kind.compute)
            return None

        found = _with_leaves(tensor, leaf)
        return replace(found, name=f"{tensor.name}.{kind}", dtype=kind)

    def other(tensor: Tensor, _: Rebuilt) -> Tensor | None:
        if tensor.name not in chosen:
            return None
        compute = compute_of(tensor)
        kind = tensor.dtype if DTYPES[given].is_float else DTYPES["int32"]
        left, right = (
            cast(kind, Read(narrow(read.tensor), read.indices)) for read in chosen[tensor.name]
        )
        body = Reduce("sum", compute.reduce_axes, left * right)
        return replace(tensor, dtype=kind, source=replace(compute, body=body))

    return _changed(dag, other, BYTES_SCALE) if chosen else None


def _rounded_factors(dag: ComputeDAG, stage: Tensor) -> tuple[Read, Read] | None:
    """The factors of a contraction of float32, one of them known and one an input, moved at most;
    None for another sum.
    """
    if isinstance(contraction_of(dag, stage), NoMatch):
        return None
    body = compute_of(stage).body
    assert isinstance(body, Reduce) and isinstance(body.body, Binary)
    left, right = body.body.a, body.body.b
    if not isinstance(left, Read) or not isinstance(right, Read):
        return None
    tensors = (left.tensor, right.tensor)
    if any(t.dtype.name != "float32" or not _is_moved(t) for t in tensors):
        return None
    return (left, right) if sum(map(is_constant, tensors)) == 1 else None


def _is_moved(tensor: Tensor) -> bool:
    """Whether it is an input, or moved from one."""
    if isinstance(tensor.source, Placeholder):
        return True
    if not isinstance(tensor.source, Compute) or not is_movement(tensor.source.body):
        return False
    return all(_is_moved(r.tensor) for r in reads(tensor.source.body))

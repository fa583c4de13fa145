"""A task's computation made a little otherwise, to ask what a part of it costs (Bolt, section 3.3).

    activations(dag)                     the stages that are functions of one tensor: (relu, conv)
    without(dag, stage, source)          conv, bias, relu  ->  conv, bias
    deepened(dag)                        y  ->  Σ_c y[..., c] * w[c, o]: a 1x1 convolution more
    aligned(dag, 16)                     the contraction with 48 for 46 channels, or None

Nothing is known by name: an activation is what depends on one tensor's element alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilewright.expr import tensors as te
from tilewright.expr.access import has_data_reuse
from tilewright.expr.dag import ComputeDAG, stage_flops
from tilewright.expr.nodes import Expr, Read, Tensor
from tilewright.expr.reference import compute_of, sizes, static_shape
from tilewright.expr.rewrites.resize import resized
from tilewright.expr.tensors import Compute
from tilewright.expr.traversal import reads, transform
from tilewright.ground.errors import InputError


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
    made: dict[str, Tensor] = {}

    def rebuilt(tensor: Tensor) -> Tensor:
        if tensor.name == stage.name:
            return rebuilt(source)
        if not isinstance(tensor.source, Compute):
            return tensor
        if tensor.name not in made:
            compute = tensor.source

            def leaf(e: Expr) -> Expr | None:
                if isinstance(e, Read):
                    return Read(rebuilt(e.tensor), e.indices)
                return None

            body = transform(compute.body, leaf)
            made[tensor.name] = replace(tensor, source=replace(compute, body=body))
        return made[tensor.name]

    return ComputeDAG(list({id(t): t for t in map(rebuilt, dag.outputs)}.values()))


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

"""Dimensions that only count rows, as one: its extent is a size of its own.

    y[b, s, f] = Σ x[b, s, c] · w[c, f]    over B and S    ->    y[b, f] = Σ x[b, c] · w[c, f]
                                                               over rows, which is given B·S

16 sequences of 7 tokens, or 3 by 3 pixels, fill tiles of rows then, which they do not one by one.
The memory is the same where rows follow each other (`expr.sizes.stored_extents`). Two dimensions
are joined where all that is read or computed along them is so along both, side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from tilewright.contract.sizes import Size, Sizes, timed_points
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.index.extents import product
from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Axis, Expr, Extent, Read, Shape, Tensor, Var, as_expr
from tilewright.expr.reference import compute_of
from tilewright.expr.sizes import extent_at, least, most, stored_extents
from tilewright.expr.tensors import Compute, canonical
from tilewright.expr.traversal import free_vars, reads, substitute, with_reads

BOTH = Var("both")
"""Stands for the two axes of a stage until it is known that nothing needs one of them."""


def with_joined_rows(dag: ComputeDAG) -> tuple[ComputeDAG, Shape]:
    """The DAG with such dimensions joined, and what is given for each of its sizes, over those that
    it had.
    """
    given: dict[str, Expr] = {s.name: as_expr(Var(s.name)) for s in dag.sizes}
    found: ComputeDAG | None = dag
    while found is not None:
        dag, found = found, None
        for d in _candidates(dag):
            joined = _joined(dag, d)
            if joined is not None:
                found, name, extent = joined
                given[name] = substitute(as_expr(extent), given)
                break
    return dag, tuple(canonical(given[s.name]) for s in dag.sizes)


def _candidates(dag: ComputeDAG) -> list[int]:
    """Dimensions of the output that may be joined with the next one, which varies. The last one
    stays what it is: along it are vectors.
    """
    shape = dag.outputs[0].shape if dag.sizes and len(dag.outputs) == 1 else ()
    return [d for d in range(len(shape) - 2) if shape[d] != 1 and not isinstance(shape[d + 1], int)]


def _joined(dag: ComputeDAG, dimension: int) -> tuple[ComputeDAG, str, Extent] | None:
    """The DAG with two dimensions of its output joined, the name of the size that says how many
    rows these are, and its extent; None where they cannot be.
    """
    (output,) = dag.outputs
    extents = output.shape[dimension : dimension + 2]
    places = _places(dag, output, dimension)
    if places is None:
        return None
    size = _size(dag, extents)
    made: dict[str, Tensor] = {}
    for tensor in (*dag.inputs, *dag.constants, *dag.tables, *dag.stages):
        at, shape, source = places.get(tensor.name), tensor.shape, tensor.source
        if at is not None:
            shape = (*shape[:at], Var(size.name), *shape[at + 2 :])
        if isinstance(source, Compute):
            body = _by_rows(source.body, places, made)
            axes = source.axes
            if at is not None:
                first, second = axes[at : at + 2]
                if {first.name, second.name} & free_vars(body):
                    return None
                axes = (*axes[:at], Axis(first.name, Var(size.name)), *axes[at + 2 :])
                body = substitute(body, {BOTH.name: first.var})
            source = replace(source, axes=axes, body=body)
        made[tensor.name] = Tensor(tensor.name, shape, tensor.dtype, source)
    used = {n for t in made.values() for e in _extents(t) for n in free_vars(as_expr(e))}
    sizes = tuple(s for s in (*dag.sizes, size) if s.name in used)
    return ComputeDAG([made[output.name]], sizes), size.name, product(extents)


def _extents(tensor: Tensor) -> Shape:
    """Those of a tensor, and of what computes it."""
    if not isinstance(tensor.source, Compute):
        return tensor.shape
    axes = (*tensor.source.axes, *tensor.source.reduce_axes)
    return (*tensor.shape, *(a.extent for a in axes))


def _places(dag: ComputeDAG, output: Tensor, dimension: int) -> dict[str, int] | None:
    """The first of the two dimensions in each tensor that has them; None where one is read along
    them and otherwise, too, or its rows are apart.
    """
    extents = output.shape[dimension : dimension + 2]
    found, apart = {output.name: dimension}, set[str]()
    for stage in reversed(dag.stages):
        compute = compute_of(stage)
        first = found.get(stage.name)
        pair = () if first is None else compute.axes[first : first + 2]
        units = {a.name: as_expr(0) for a in compute.reduce_axes if a.extent == 1}
        for read in reads(compute.body):
            plain = tuple(simplify(substitute(i, units)) for i in read.indices)
            at = _along(Read(read.tensor, plain), pair, extents)
            if at is None or found.setdefault(read.tensor.name, at) != at:
                apart.add(read.tensor.name)
    outside = [t for t in (*dag.inputs, *dag.constants, output) if t.name in found]
    if apart & found.keys() or not all(_follow(t, found[t.name], dag.sizes) for t in outside):
        return None
    return found


def _along(read: Read, pair: tuple[Axis, ...], extents: Shape) -> int | None:
    """The dimension of what is read along which the first of two axes runs, the second along the
    next.
    """
    names = [a.name for a in pair]
    for d in range(len(read.indices) - 1):
        match read.indices[d : d + 2]:
            case (Var(a), Var(b)) if [a, b] == names and read.tensor.shape[d : d + 2] == extents:
                return d
    return None


def _follow(tensor: Tensor, at: int, sizes: Sizes) -> bool:
    """Whether rows along two dimensions of an array follow each other in memory."""
    both = slice(at, at + 2)
    return at + 2 < tensor.rank and stored_extents(tensor, sizes)[both] == tensor.shape[both]


def _by_rows(body: Expr, places: Mapping[str, int], made: Mapping[str, Tensor]) -> Expr:
    """What a stage computes, of tensors whose dimensions are joined."""

    def access(tensor: Tensor, indices: tuple[Expr, ...]) -> Expr:
        at = places.get(tensor.name)
        if at is not None:
            indices = (*indices[:at], BOTH, *indices[at + 2 :])
        return Read(made[tensor.name], indices)

    return with_reads(body, access)


def _size(dag: ComputeDAG, extents: Shape) -> Size:
    """The size of rows over two extents, measured where the others are said to be."""
    taken = {s.name for s in dag.sizes} | {a.name for t in dag.stages for a in compute_of(t).axes}
    name = "rows"
    while name in taken:
        name += "_"
    points: dict[int, float] = {}
    for p in timed_points(dag.sizes) if any(s.points for s in dag.sizes) else ():
        value = prod(extent_at(e, p.values) for e in extents)
        points[value] = points.get(value, 0.0) + p.weight
    low, high = (prod(max(0, end(e, dag.sizes)) for e in extents) for end in (least, most))
    return Size(name, low, max(1, high), tuple(points.items()))

"""Which operators may reuse each other's programs, and the operators in between (ETO).

    family_of(conv3x3) == family_of(strided_1x1)                   type τ, the major loop nest's
    iteration_space(conv3x3)        (1, 14, 14, 64, 3, 3, 64)      I(L)
    iteration_space(strided_1x1)    (1, 28, 28, 64, 1, 1, 64)      neither dominates
    bridge(conv3x3, meet(...))      a convolution of (1, 14, 14, 64, 1, 1, 64), which both dominate

A DAG's *major stage*, the stage of most work, stands for the whole: what surrounds it is not looked
at. A *nest* here is the extents of its axes, spatial before reduction, in its own order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from tilewright.expr.dag import ComputeDAG, stage_flops
from tilewright.expr.nodes import Tensor
from tilewright.expr.reference import compute_of, sizes
from tilewright.expr.rewrites.resize import resized
from tilewright.expr.structure import Structure, operands, structure
from tilewright.expr.tensors import Table, is_constant
from tilewright.ground.errors import InputError

Nest: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """The type τ of operators (ETO, definition 1), read off the mathematics of the major stage.

    `spatial` and `reduction` count its axes. `operands` are (origin, dtype) of what it reads;
    "constant" is known when a program is compiled, "data" comes from outside or another stage.
    Extents, strides, dilations, padding, epilogues and names make no difference.
    """

    spatial: int
    reduction: int
    dtype: str
    operands: tuple[tuple[str, str], ...]
    element: Structure


@dataclass(frozen=True, slots=True)
class Operator:
    """What reuse knows of a DAG: its major stage's name, type and nest."""

    stage: str
    family: Family
    nest: Nest

    @staticmethod
    def of(dag: ComputeDAG) -> Operator:
        """That of a DAG."""
        return Operator(major_stage(dag).name, family_of(dag), iteration_space(dag))

    @property
    def outputs(self) -> int:
        """|I(sL)|: iterations over the spatial axes."""
        return prod(self.nest[: self.family.spatial])


def major_stage(dag: ComputeDAG) -> Tensor:
    """The stage of most operations among those that reduce, or among all where none does.

    The first of several; operations as `stage_flops` counts them, then iterations.
    """

    def work(stage: Tensor) -> tuple[bool, int, int]:
        return bool(compute_of(stage).reduce_axes), stage_flops(stage), prod(_nest(stage))

    return max(dag.stages, key=work)


def family_of(dag: ComputeDAG) -> Family:
    """The type of a DAG's major stage."""
    stage = major_stage(dag)
    compute = compute_of(stage)
    return Family(
        len(compute.axes),
        len(compute.reduce_axes),
        stage.dtype.name,
        tuple((_origin(t), t.dtype.name) for t in operands(compute)),
        structure(compute),
    )


def _origin(tensor: Tensor) -> str:
    if isinstance(tensor.source, Table):
        return "table"
    return "constant" if is_constant(tensor) else "data"


def iteration_space(dag: ComputeDAG) -> Nest:
    """Extents of the major stage's axes; the first `Family.spatial` of them are spatial."""
    return _nest(major_stage(dag))


def _nest(stage: Tensor) -> Nest:
    compute = compute_of(stage)
    return sizes((*compute.axes, *compute.reduce_axes))


def dominates(a: Nest, b: Nest) -> bool:
    """Whether no axis of `a` is shorter than that of `b`. Both are of one family."""
    return all(x >= y for x, y in zip(a, b, strict=True))


def comparable(a: Nest, b: Nest) -> bool:
    """Whether one of two nests dominates the other (ETO, definition 2, condition 2)."""
    return dominates(a, b) or dominates(b, a)


def meet(a: Nest, b: Nest) -> Nest:
    """The largest nest that both dominate: minima axis by axis (ETO, definition 5)."""
    return tuple(min(x, y) for x, y in zip(a, b, strict=True))


def ratios(target: Operator, source: Operator) -> tuple[float, float]:
    """(r1, r2) for an operator α, `target`, that reuses a program of β, `source` (ETO, section 3).

    r1 = |I(rLβ)| / |I(rLα)| over reduction axes, r2 = |I(Lα)| / |I(Lβ)| over all. They bound
    features of α's programs relative to β's, in either order.
    """
    spatial = target.family.spatial
    terms = prod(source.nest[spatial:]) / prod(target.nest[spatial:])
    return terms, prod(target.nest) / prod(source.nest)


def bridges(nests: Iterable[Nest], hops: int | None = 1) -> list[Nest]:
    """Nests of the bridge operators of one family, sorted (ETO, section 6.2).

    One hop adds the meets of all pairs that are not comparable (the meet of others is one of
    them); each further one those of pairs that are there by then. None goes on until nothing is
    new. Raises InputError for nests of different lengths, or less than no hops.
    """
    given = set(nests)
    if len({len(n) for n in given}) > 1 or (hops is not None and hops < 0):
        raise InputError(f"no bridges after {hops} hops between nests {sorted(given)}")
    known, new, count = set(given), set(given), 0
    while new and (hops is None or count < hops):
        # Any meet of several can be made one of the given at a time; only hops are counted in pairs
        others = given if hops is None else known
        new = {meet(a, b) for a in new for b in others} - known
        known, count = known | new, count + 1
    return sorted(known - given)


def bridge(dag: ComputeDAG, nest: Nest) -> ComputeDAG:
    """The bridge operator γ: the major stage alone, over axes of other extents.

    What the extents leave open, `expr/rewrites/resize.py` sets: stride and dilation 1, no padding.
    Any member of a family gives an operator of that family. Raises InputError where there is none,
    as where a stage decides by position or data what it reads.
    """
    found = ComputeDAG([resized(major_stage(dag), nest)])
    if family_of(found) != family_of(dag) or iteration_space(found) != nest:
        raise InputError(
            f"{major_stage(dag).name} with extents {list(nest)} is another operator; there is no "
            "bridge of its family"
        )
    return found

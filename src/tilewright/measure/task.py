"""What measuring needs to know of a workload, read from its expressions alone.

    task = MeasureTask.of("c2d", dag, reference_request)
    task.inputs        which values each input takes (indices stay inside what they index)
    task.tolerance     how far a right answer may be from the reference

`check_reference` compares the compiled reference with direct evaluation in float64.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tilewright.contract.artifact import Array, BufferSpec, numpy_dtype
from tilewright.contract.sizes import Point, Sizes, points_of
from tilewright.contract.surroundings import ALONE, Setting
from tilewright.expr.dag import ComputeDAG, inline_reads
from tilewright.expr.dtypes import INT64
from tilewright.expr.index.intervals import Interval, interval
from tilewright.expr.nodes import (
    COMPARISONS,
    NARROWING,
    ROUNDINGS,
    Binary,
    Call,
    Cast,
    Expr,
    Read,
    Reduce,
    Select,
    Tensor,
    Var,
)
from tilewright.expr.reference import compute_of, sizes, static_shape
from tilewright.expr.sizes import shape_at, stored_at
from tilewright.expr.tensors import Placeholder
from tilewright.expr.traversal import reads, transform, walk
from tilewright.ground.errors import RunError, WrongAnswer
from tilewright.measure.gate import ROUNDOFF, Tolerance, wrong_elements
from tilewright.measure.inputs import (
    POSITIVE,
    SIGNED,
    InputKind,
    Place,
    default_kind,
    make_inputs,
    narrowest,
)

PROBES = 512
SUMMED = ("sum", "prod")
"""Reductions that round; the others pick a term."""
# The share of elements that may differ where a comparison of computed floats decides.
FLIP_SHARE = 1e-3
# With more undefined values than this among the probes, roots and logarithms get positive inputs.
UNDEFINED_SHARE = 0.1


@dataclass(frozen=True)
class MeasureTask:
    """One workload to measure programs of.

    `reference` is the build request of the default program. `inputs` are the kinds of the DAG's
    inputs, then of its constants; `probes` flat indices into each output. `setting` is what runs
    around the programs.

    A DAG with sizes is measured at `points`, and is a task without sizes at each: `parts`, whose
    probes follow each other.
    """

    name: str
    dag: ComputeDAG
    reference: bytes
    inputs: tuple[InputKind, ...]
    tolerance: Tolerance
    probes: tuple[tuple[int, ...], ...]
    setting: Setting = ALONE
    seed: int = 0
    points: tuple[Point, ...] = ()
    parts: tuple[MeasureTask, ...] = ()

    @staticmethod
    def of(
        name: str, dag: ComputeDAG, reference: bytes, setting: Setting = ALONE, seed: int = 0
    ) -> MeasureTask:
        """Derive all facts from `dag`. Inputs are signed; if that makes more than a tenth of the
        sampled outputs undefined (the root of a variance), floats are positive instead.
        """
        if dag.sizes:
            return _sized(name, dag, reference, setting, seed)
        rng = np.random.default_rng(seed)
        sizes = [math.prod(static_shape(t)) for t in dag.outputs]
        probes = tuple(
            tuple(range(n)) if n <= PROBES else tuple(map(int, rng.integers(0, n, PROBES)))
            for n in sizes
        )
        kinds = input_kinds(dag)
        task = MeasureTask(name, dag, reference, kinds, tolerance_of(dag), probes, setting, seed)
        undefined = _undefined(task)
        if undefined > UNDEFINED_SHARE:
            positive = tuple(
                replace(k, distribution=POSITIVE) if k.distribution == SIGNED else k for k in kinds
            )
            other = replace(task, inputs=positive)
            return other if _undefined(other) < undefined else task
        return task

    @property
    def places(self) -> tuple[Place, ...]:
        """The points, and how arrays are there."""
        arrays = (*self.dag.inputs, *self.dag.constants, *self.dag.outputs)
        return tuple(place_of(point, arrays, self.dag.sizes) for point in self.points)

    @cached_property
    def expected(self) -> list[Array]:
        """The outputs at `probes` by direct evaluation, floats in float64."""
        tensors = (*self.dag.inputs, *self.dag.constants)
        arrays = make_inputs([_spec(t) for t in tensors], self.inputs, self.seed)
        return [
            self.dag.evaluate_points(t, _positions(p, static_shape(t)), arrays)
            for t, p in zip(self.dag.outputs, self.probes, strict=True)
        ]

    def check_reference(self, values: Sequence[bytes], rounding: float = 1.0) -> None:
        """Compare a reference's outputs at `probes` (raw bytes, one for each output), which may be
        `rounding` times as far off as a direct sum.

        Raises WrongAnswer: the default program, and with it every measurement, is wrong.
        """
        each = len(self.dag.outputs)
        for number, part in enumerate(self.parts):
            part.check_reference(values[number * each : (number + 1) * each], rounding)
        if self.parts:
            return
        pairs = zip(self.dag.outputs, self.probes, values, self.expected, strict=True)
        for tensor, probes, data, expected in pairs:
            if len(data) != len(probes) * numpy_dtype(tensor.dtype.name).itemsize:
                raise RunError(
                    f"the runner gave {len(data)} bytes of output {tensor.name} of {self.name}, "
                    f"not {len(probes)} values of {tensor.dtype.name}"
                )
            got = np.frombuffer(data, dtype=numpy_dtype(tensor.dtype.name))
            limits = None
            if tensor.dtype.is_float:
                limits = self.tolerance.limits(expected, tensor.dtype.name) * rounding
                got = got.astype(np.float64)
            bad = wrong_elements(got, expected, limits)
            if bad is None or np.count_nonzero(bad) <= math.ceil(self.tolerance.flips * got.size):
                continue
            first = int(np.argmax(bad))
            position = tuple(int(i) for i in np.unravel_index(probes[first], static_shape(tensor)))
            raise WrongAnswer(
                f"the reference program of {self.name} is wrong: output {tensor.name} differs from "
                f"direct evaluation at {np.count_nonzero(bad)} of {got.size} points; at {position} "
                f"expected {expected[first]}, got {got[first]}"
            )


def _sized(
    name: str, dag: ComputeDAG, reference: bytes, setting: Setting, seed: int
) -> MeasureTask:
    """The task of a DAG with sizes. Inputs take values that are right at every point."""
    points = points_of(dag.sizes)
    parts = [
        MeasureTask.of(f"{name} at {point}", dag.at(point.values), reference, setting, seed)
        for point in points
    ]
    kinds = tuple(map(narrowest, zip(*(part.inputs for part in parts), strict=True)))
    parts = [replace(part, inputs=kinds) for part in parts]
    probes = tuple(indices for part in parts for indices in part.probes)
    tolerance = tolerance_of(dag.heaviest)
    return MeasureTask(
        name, dag, reference, kinds, tolerance, probes, setting, seed, points, tuple(parts)
    )


def place_of(point: Point, arrays: Sequence[Tensor], sizes: Sizes) -> Place:
    """A point, and how the arrays of a program are there."""
    shapes = {t.name: shape_at(t, point.values) for t in arrays}
    return Place(point, shapes, {t.name: stored_at(t, sizes, point.values) for t in arrays})


def _positions(flat: Sequence[int], shape: tuple[int, ...]) -> Array:
    """Flat indices as positions, int64[len(flat), rank]."""
    found = np.empty((len(flat), len(shape)), dtype=np.int64)
    for axis, index in enumerate(np.unravel_index(np.array(flat, dtype=np.int64), shape or (1,))):
        if shape:
            found[:, axis] = index
    return found


def _undefined(task: MeasureTask) -> float:
    """The largest share of values that are not finite, over the outputs."""
    shares = (float((~np.isfinite(e.astype(np.float64))).mean()) for e in task.expected if e.size)
    return max(shares, default=0.0)


def tolerance_of(dag: ComputeDAG) -> Tolerance:
    """Depth, coarsest rounding and decisions on floats of a DAG (see `gate`).

    The depth is the product of the sums' lengths along the longest way from an input to an output:
    an upper bound of the terms in one element, which also covers how transforms such as Winograd's
    amplify errors. A place computed in floats (where to sample an image) is off by rounding times
    the extent it ranges over, and neighbours there differ by twice their size: as much as a sum of
    twice that extent, squared.

    What is rounded counts only where it was computed: inputs are rounded alike by every program.
    """
    depth: dict[str, int] = {}
    made = _computed_stages(dag)
    units = [ROUNDOFF["float64"]]
    for stage in dag.stages:
        compute = compute_of(stage)
        before = max((depth.get(t.name, 1) for t in dag.producers(stage)), default=1)
        terms = math.prod(sizes(compute.reduce_axes))
        summed = isinstance(compute.body, Reduce) and compute.body.op in SUMMED
        depth[stage.name] = before * (terms if summed else 1) * _float_places(compute.body) ** 2
        if stage.dtype.is_float:
            units.append(ROUNDOFF[stage.dtype.compute.name])
            if dag.consumers(stage) and stage.name in made:
                units.append(ROUNDOFF[stage.dtype.name])
        units += [
            ROUNDOFF[e.fn]
            for e in walk(compute.body)
            if isinstance(e, Call) and e.fn in NARROWING
            if e is not compute.body and _computed(e, made)
        ]
    flips = FLIP_SHARE if _decides_on_floats(dag, made) else 0.0
    return Tolerance(max(depth.values(), default=1), max(units), flips)


def _float_places(body: Expr) -> int:
    """Twice the largest extent that is indexed by computed floats; 1 where none is."""
    extents = [
        2 * extent
        for read in reads(body)
        for extent, index in zip(static_shape(read.tensor), read.indices, strict=True)
        if any(r.tensor.dtype.is_float for r in reads(index))
    ]
    return max(extents, default=1)


def _decides_on_floats(dag: ComputeDAG, made: Collection[str]) -> bool:
    """Whether a rounding error can change an output by a step: floats become integers or bools, or
    are rounded to whole numbers, after some arithmetic.
    """
    for stage in dag.stages:
        body = compute_of(stage).body
        for e in walk(body):
            match e:
                case Call(fn, (x,)) if fn in ROUNDINGS and _computed(x, made):
                    return True
                case Cast(to, x) if not to.is_float and x.dtype.is_float and _computed(x, made):
                    return True
                case Binary(op, a, b) if op in COMPARISONS and a.dtype.is_float:
                    if not _is_clamp(body, e) and (_computed(a, made) or _computed(b, made)):
                        return True
    return False


def _computed_stages(dag: ComputeDAG) -> set[str]:
    """Stages that hold floats which programs compute, each in its own order: no copies of inputs,
    padded or rounded to fewer bits.
    """
    found: set[str] = set()
    for stage in dag.stages:
        if _computed(compute_of(stage).body, found):
            found.add(stage.name)
    return found


def _computed(e: Expr, made: Collection[str]) -> bool:
    """Whether a float expression holds anything but values read unchanged from inputs; `made` are
    the computed stages.
    """
    return any(
        isinstance(x, Binary)
        or (isinstance(x, Call) and x.fn not in NARROWING)
        or (isinstance(x, Reduce) and x.op in SUMMED)
        or (isinstance(x, Read) and x.tensor.name in made)
        for x in walk(e)
        if x.dtype.is_float
    )


def _is_clamp(body: Expr, comparison: Expr) -> bool:
    """Whether a comparison only steers selects between its own operands (relu, max): no step."""
    users = [x for x in walk(body) if isinstance(x, Select) and x.cond == comparison]
    assert isinstance(comparison, Binary)
    operands = {comparison.a, comparison.b}
    return bool(users) and all({x.a, x.b} == operands for x in users)


def input_kinds(dag: ComputeDAG) -> tuple[InputKind, ...]:
    """The kind of each input, then of each constant; integers used as indices stay valid."""
    highs: dict[str, int] = {}
    for stage in dag.stages:
        for tensor, high in _index_limits(dag, compute_of(stage).body):
            highs[tensor] = min(high, highs.get(tensor, high))
    kinds = []
    for t in (*dag.inputs, *dag.constants):
        kind = default_kind(t.dtype.name)
        if t.name in highs:
            kind = replace(kind, low=0, high=highs[t.name])
        kinds.append(kind)
    return tuple(kinds)


def _index_limits(dag: ComputeDAG, body: Expr) -> Iterator[tuple[str, int]]:
    """(integer placeholder, least value that would index out of bounds) for every use as index."""
    elementwise: dict[str, Tensor] = {
        s.name: s
        for s in dag.stages
        if s.dtype.kind in ("int", "uint") and not compute_of(s).reduce_axes
    }
    for read in reads(body):
        for extent, index in zip(static_shape(read.tensor), read.indices, strict=True):
            inlined = index
            while any(r.tensor.name in elementwise for r in reads(inlined)):
                inlined = inline_reads(inlined, elementwise)
            for r in reads(inlined):
                is_input = isinstance(r.tensor.source, Placeholder)
                if is_input and r.tensor.dtype.kind in ("int", "uint"):
                    yield r.tensor.name, _first_invalid(inlined, r, extent)


def _first_invalid(index: Expr, read: Read, extent: int) -> int:
    """The largest h so that `read` in [0, h) keeps `index` below `extent`, other variables at 0."""

    def fits(high: int) -> bool:
        held: Mapping[str, Interval] = {name: Interval(0, 0) for name in _variables(index)}
        swapped = transform(index, lambda x: Var(_HELD, INT64) if x == read else None)
        top = interval(swapped, {**held, _HELD: Interval(0, high - 1)}).hi
        return top is not None and top < extent

    low, high = 1, extent
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


_HELD = "index read"


def _variables(e: Expr) -> set[str]:
    return {x.name for x in walk(e) if isinstance(x, Var)}


def _spec(tensor: Tensor) -> BufferSpec:
    return BufferSpec(tensor.name, static_shape(tensor), tensor.dtype.name)

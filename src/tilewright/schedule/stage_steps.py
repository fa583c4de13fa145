"""Transform steps that change what stages compute: they vanish, split in two, or get new axes.

The results of the whole are the same; `loop_steps` says how the loops of each stage run.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tilewright.expr.contraction.groups import narrow_factors
from tilewright.expr.dag import element
from tilewright.expr.dtypes import INT16, DType
from tilewright.expr.index.extents import ceildiv
from tilewright.expr.nodes import (
    Axis,
    Expr,
    Extent,
    Read,
    Reduce,
    Tensor,
    Var,
    as_expr,
    cast,
    const,
    select,
)
from tilewright.expr.rewrites.zero_terms import is_solvable, without_zero_terms
from tilewright.expr.tensors import Compute
from tilewright.expr.traversal import reads, rebuild, substitute, with_reads
from tilewright.expr.written import DEEPEST_EXPRESSION, GREATEST_EXPRESSION, written
from tilewright.ground.errors import ScheduleError
from tilewright.schedule.state import Role, Stage, State, Step, extent_int


@dataclass(frozen=True, slots=True)
class ComputeInline(Step):
    """Substitute a stage's expression into its consumers."""

    name: ClassVar[str] = "compute_inline"
    stage: str

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        if stage.compute.reduce_axes or state.is_output(self.stage):
            raise ScheduleError(f"{self.stage} is a reduction or an output; it cannot be inlined")
        if state.attached(self.stage):
            raise ScheduleError(f"{self.stage} has stages attached; it cannot be inlined")
        if outgrows(state, stage):
            raise ScheduleError(
                f"{self.stage} cannot be inlined: an expression that reads it would have more "
                f"than {GREATEST_EXPRESSION} operations, or more than {DEEPEST_EXPRESSION} within "
                "each other"
            )
        consumers = state.consumers(self.stage)
        del state.stages[self.stage]
        for consumer in consumers:
            rewrite_body(consumer, lambda e: inlined(e, stage.tensor, stage.compute))


def outgrows(state: State, stage: Stage) -> bool:
    """Whether a consumer's expression would be too large with the stage inlined."""
    own = tuple(a.name for a in stage.compute.axes), written(stage.compute.body)
    return not all(
        written(c.compute.body, lambda t: own if t.name == stage.name else None).fits
        for c in state.consumers(stage.name)
    )


def inlined(e: Expr, tensor: Tensor, source: Compute) -> Expr:
    """`e` with every read of `tensor` replaced by its definition (converted as storage would)."""

    def access(read: Tensor, indices: tuple[Expr, ...]) -> Expr:
        return element(tensor.dtype, source, indices) if read == tensor else Read(read, indices)

    return with_reads(e, access)


def rewrite_body(stage: Stage, rewrite: Any) -> None:
    """Replace the stage's expression by `rewrite(body)`."""
    source = stage.compute
    body = source.body
    new = rebuild(body, (rewrite(body.body),)) if isinstance(body, Reduce) else rewrite(body)
    stage.tensor = replace(stage.tensor, source=replace(source, body=new))


def redirect(stage: Stage, old: Tensor, new: Tensor) -> None:
    """Make the stage read `new` wherever it read `old`."""

    def access(tensor: Tensor, indices: tuple[Expr, ...]) -> Expr:
        return Read(new if tensor == old else tensor, indices)

    rewrite_body(stage, lambda e: with_reads(e, access))


@dataclass(frozen=True, slots=True)
class CacheWrite(Step):
    """Compute into `<stage>.local` first; the stage becomes a copy of it."""

    name: ClassVar[str] = "cache_write"
    stage: str

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        if stage.relations or stage.attach is not None or state.attached(self.stage):
            raise ScheduleError(f"{self.stage}: cache_write must come before other steps on it")
        source = stage.compute
        local = Tensor(f"{self.stage}.local", stage.tensor.shape, stage.tensor.dtype, source)
        state.insert_before(self.stage, local, Role.CACHE)
        body = Read(local, tuple(a.var for a in source.axes))
        state.redefine(self.stage, Compute(source.axes, body, source.hints))


def _check_copy(state: State, old: Tensor, readers: Collection[str]) -> None:
    """Raises ScheduleError where a stage before `readers` cannot read `old` for them."""
    if any(old.name in state[name].packed for name in readers):
        raise ScheduleError(f"{old.name} has its layout rewritten; copy it before that")
    if old.name in state.stages and state[old.name].attach is not None:
        raise ScheduleError(f"{old.name} is attached already; copy it before that")


@dataclass(frozen=True, slots=True)
class CacheRead(Step):
    """Copy `tensor` to `<tensor>.<first reader>`, which the `readers` then read instead."""

    name: ClassVar[str] = "cache_read"
    tensor: str
    readers: tuple[str, ...]

    def apply(self, state: State) -> None:
        if not self.readers:
            raise ScheduleError(f"cache_read of {self.tensor} names no reader")
        found = [
            r.tensor
            for name in self.readers
            for r in reads(state[name].compute.body)
            if r.tensor.name == self.tensor
        ]
        if not found:
            raise ScheduleError(f"none of {self.readers} reads {self.tensor}")
        old = found[0]
        _check_copy(state, old, self.readers)
        new = _copy(old, self.readers[0], old.dtype)
        first = next(n for n in state.stages if n in self.readers)
        state.insert_before(first, new)
        for name in self.readers:
            redirect(state[name], old, new)


def _copy(old: Tensor, reader: str, dtype: DType) -> Tensor:
    """A copy for a stage, in a type that holds all values."""
    axes = tuple(Axis(f"d{i}", e) for i, e in enumerate(old.shape))
    body = cast(dtype, Read(old, tuple(a.var for a in axes)))
    return Tensor(f"{old.name}.{reader}", old.shape, dtype, Compute(axes, body))


@dataclass(frozen=True, slots=True)
class WidenRead(Step):
    """Copy bytes that a stage multiplies to words, which it then reads.

    C[i, j] = sum_k int32(A[i, k]) * int32(B[k, j])
    ->  A.C[i, k] = int16(A[i, k]);  C[i, j] = sum_k int32(A.C[i, k]) * int32(B[k, j])
    """

    name: ClassVar[str] = "widen_read"
    stage: str
    tensor: str

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        factors = narrow_factors(stage.compute.term) or ()
        found = [r.tensor for r in factors if r.tensor.name == self.tensor]
        if len(found) != 1 or found[0].dtype.kind == "float" or found[0].dtype.bits >= INT16.bits:
            raise ScheduleError(f"{self.stage} does not multiply {self.tensor} once, as bytes")
        (old,) = found
        _check_copy(state, old, (self.stage,))
        new = _copy(old, self.stage, INT16)
        state.insert_before(self.stage, new)
        redirect(stage, old, new)


@dataclass(frozen=True, slots=True)
class PackRead(Step):
    """Copy what a stage reads along `depth` and `lanes` to where `length` terms of a dot are next
    to each other, lane after lane. Terms behind the last one are zero.

        C[i, j] = sum_k A[i, k] * B[k, j]
        ->  B.C[k, j] = B[k * 4 + j % 4, j // 4]
            C[i, j] = sum_k A[i, k] * B.C[k // 4, j * 4 + k % 4]
    """

    name: ClassVar[str] = "pack_read"
    stage: str
    tensor: str
    depth: str
    lanes: str
    length: int

    def apply(self, state: State) -> None:
        stage, length = state[self.stage], self.length
        k, j = Var(self.depth), Var(self.lanes)
        every = reads(stage.compute.body)
        found = [r for r in every if r.tensor.name == self.tensor and {k, j} <= {*r.indices}]
        if len(found) != 1:
            raise ScheduleError(
                f"{self.stage} does not read {self.tensor} once along {self.depth} and {self.lanes}"
            )
        (read,) = found
        old = read.tensor
        _check_copy(state, old, (self.stage,))
        at = {k: read.indices.index(k), j: read.indices.index(j)}
        terms, lanes = (extent_int(old.shape[at[x]]) for x in (k, j))
        if length > terms:
            raise ScheduleError(
                f"{self.stage}: dots of {length} terms, where {self.depth} has {terms}"
            )
        others = [d for d in range(old.rank) if d not in at.values()]
        axes = [Axis(f"d{d}", extent_int(old.shape[d])) for d in others]
        axes += [Axis("k", -(-terms // length)), Axis("j", lanes * length)]
        row, lane = axes[-2].var, axes[-1].var
        source: dict[int, Expr] = {d: axis.var for d, axis in zip(others, axes, strict=False)}
        source |= {at[k]: row * length + lane % length, at[j]: lane // length}
        body: Expr = Read(old, tuple(source[d] for d in range(old.rank)))
        if terms % length:
            body = select(source[at[k]] < terms, body, const(0, old.dtype.compute))
        shape = tuple(a.extent for a in axes)
        new = Tensor(f"{old.name}.{self.stage}", shape, old.dtype, Compute(tuple(axes), body))
        state.insert_before(self.stage, new, Role.PACKED)
        packed = Read(
            new, (*(read.indices[d] for d in others), k // length, j * length + k % length)
        )

        def access(tensor: Tensor, indices: tuple[Expr, ...]) -> Expr:
            one = Read(tensor, indices)
            return packed if one == read else one

        rewrite_body(stage, lambda e: with_reads(e, access))


def neutral(op: str, tensor: Tensor) -> Expr:
    """The neutral element of a reduction in the tensor's compute type."""
    dtype = tensor.dtype.compute
    return const(dtype.neutral(op), dtype)


@dataclass(frozen=True, slots=True)
class RFactor(Step):
    """Factor a reduction: partial results along a new spatial axis, then a short reduction.

    `outer` takes the factor as the outer part of the axis (contiguous chunks, for threads),
    otherwise as the inner part (interleaved, for vector lanes).
    """

    name: ClassVar[str] = "rfactor"
    stage: str
    axis: str
    factor: Extent
    outer: bool = False

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        source = stage.compute
        axis = next((a for a in source.reduce_axes if a.name == self.axis), None)
        if axis is None or stage.relations:
            raise ScheduleError(
                f"{self.stage}: rfactor needs an unsplit reduction axis, not {self.axis}"
            )
        if state.dag.sizes:
            extent_int(axis.extent)  # how many steps are left is a number, also in a sketch
        if isinstance(self.factor, int) and not 1 <= self.factor < 2 * extent_int(axis.extent):
            raise ScheduleError(
                f"{self.stage}: a factor of {self.factor} does not suit {axis.name}, which has "
                f"{axis.extent} steps"
            )
        for producer in state.producers(self.stage):
            if producer.attach is not None:
                raise ScheduleError(f"{producer.name} is attached; factor {self.stage} before that")
        partial = self._partial(stage, source, axis)
        state.insert_before(self.stage, partial, Role.PARTIAL)
        factor = Axis(f"{axis.name}.f", self.factor, reduce=True)
        assert isinstance(source.body, Reduce)
        body = Reduce(
            source.body.op, (factor,), Read(partial, (*(a.var for a in source.axes), factor.var))
        )
        state.redefine(self.stage, Compute(source.axes, body, source.hints), Role.TOTAL)

    def _partial(self, stage: Stage, source: Compute, axis: Axis) -> Tensor:
        assert isinstance(source.body, Reduce)
        lane = Axis(f"{axis.name}.f", self.factor)
        count = ceildiv(axis.extent, self.factor)
        rest = Axis(f"{axis.name}.r", count, reduce=True)
        if self.outer:
            value = lane.var * as_expr(count) + rest.var
        else:
            value = rest.var * as_expr(self.factor) + lane.var
        body = substitute(source.body.body, {axis.name: value})
        if isinstance(self.factor, int) and axis.extent % self.factor:
            body = select(value < axis.extent, body, neutral(source.body.op, stage.tensor))
        others = tuple(rest if a is axis else a for a in source.reduce_axes)
        compute = Compute((*source.axes, lane), Reduce(source.body.op, others, body))
        shape = (*stage.tensor.shape, self.factor)
        return Tensor(f"{stage.name}.rf", shape, stage.tensor.dtype, compute)


@dataclass(frozen=True, slots=True)
class SkipZeros(Step):
    """Sum only the terms that satisfy a stage's congruences (`expr/rewrites/zero_terms.py`)."""

    name: ClassVar[str] = "skip_zeros"
    stage: str

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        if stage.relations or not is_solvable(stage.compute):
            raise ScheduleError(f"{self.stage}: no unsplit reduction axis has zeros to skip")
        source = without_zero_terms(stage.compute)
        axes = (*source.axes, *source.reduce_axes)
        renamed = {old.name: new.name for old, new in zip(stage.axes, axes, strict=True)}
        stage.groups = [[renamed[leaf] for leaf in group] for group in stage.groups]
        stage.kinds = {renamed[leaf]: kind for leaf, kind in stage.kinds.items()}
        stage.tensor = replace(stage.tensor, source=source)

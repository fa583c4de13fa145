"""The transform steps: one small class each, in one table.

A step is a frozen value with JSON form; `apply(state)` checks legality (ScheduleError), then
rewrites. Extents may be ints or expressions over decision variables; `bind` turns the latter into
ints. `STEPS` names every step: a new one is a class here (or in a file of its own) and one line.

    Split("C", "i", (4, 8))       i              ->  i.0, i.1 (4), i.2 (8)
    FollowSplit("D", "i", "C", "i", 2)           ->  i.0, i.1 (4*8): as far as D's loops go
    Fuse("C", ("i", "j"))         i, j           ->  i@j
    Reorder("C", (("i",), ("j",)))               tile levels, outermost first
    ComputeAt("B", "C", 1)        B is computed inside C's loops up to tile level 1
    CacheWrite("C")               C = f(A)       ->  C.local = f(A); C = C.local
    CacheRead("A", ("C",))        C = f(A)       ->  A.C = A; C = f(A.C)
    RFactor("C", "k", 16)         C = sum_k      ->  C.rf[.., k.f] = sum_{k.r}; C = sum_{k.f} C.rf
    SkipZeros("C")                C = sum_k select(k % 2 == 0, ..)  ->  C = sum_{k.q} ..   k = 2*k.q
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from tilewright.errors import ScheduleError
from tilewright.expr.extents import ceildiv, mul
from tilewright.expr.nodes import (
    Axis,
    Expr,
    Extent,
    Operand,
    Read,
    Reduce,
    Tensor,
    as_expr,
    cast,
    const,
    reads,
    rebuild,
    select,
    substitute,
    transform,
)
from tilewright.expr.simplify import simplify
from tilewright.expr.tensors import Compute, Placeholder
from tilewright.expr.zero_terms import is_solvable, without_zero_terms
from tilewright.nest.nodes import Kind
from tilewright.schedule.state import At, Stage, State
from tilewright.schedule.state import Fuse as FuseRelation
from tilewright.schedule.state import Split as SplitRelation


@dataclass(frozen=True, slots=True)
class Step:
    """Base of all steps."""

    name: ClassVar[str]

    def apply(self, state: State) -> None:
        """Rewrite `state`; raises ScheduleError when the step is illegal there."""
        raise ScheduleError(f"{type(self).__name__} cannot be applied")

    def bind(self, values: dict[str, int]) -> Step:
        """The step with its decision variables replaced by ints."""
        exprs: dict[str, Expr] = {n: as_expr(v) for n, v in values.items()}
        changed = {f.name: _bind(getattr(self, f.name), exprs) for f in fields(self)}
        return replace(self, **changed)


def _bind(value: Any, values: dict[str, Expr]) -> Any:
    if isinstance(value, tuple):
        return tuple(_bind(v, values) for v in value)
    if isinstance(value, Operand):
        return extent_int(simplify(substitute(as_expr(value), values)))
    return value


def extent_int(e: Extent) -> int:
    """The int behind an extent; ScheduleError where a decision is unbound."""
    value = getattr(e, "value", e)
    if not isinstance(value, int):
        raise ScheduleError(f"the extent {e} still depends on decisions")
    return value


@dataclass(frozen=True, slots=True)
class Split(Step):
    """Split a loop in `len(lengths) + 1`; the outermost length is inferred (rounded up)."""

    name: ClassVar[str] = "split"
    stage: str
    leaf: str
    lengths: tuple[Extent, ...]

    def apply(self, state: State) -> None:
        split_leaf(state[self.stage], self.leaf, self.lengths)


def split_leaf(stage: Stage, leaf: str, lengths: tuple[Extent, ...]) -> tuple[str, ...]:
    """Replace `leaf` by its tiles; returns their names, outermost first."""
    stage.require(leaf)
    if any(isinstance(n, int) and n < 1 for n in lengths):
        raise ScheduleError(f"{stage.name}: split lengths of {leaf} must be positive: {lengths}")
    children = tuple(f"{leaf}.{i}" for i in range(len(lengths) + 1))
    stage.replace_leaves([leaf], children)
    stage.relations.append(SplitRelation(leaf, children, lengths))
    return children


def _split_of(state: State, stage: str, leaf: str) -> SplitRelation:
    for relation in state[stage].relations:
        if isinstance(relation, SplitRelation) and relation.parent == leaf:
            return relation
    raise ScheduleError(f"{stage}.{leaf} was not split, so nothing can follow it")


@dataclass(frozen=True, slots=True)
class FollowSplit(Step):
    """Split like another stage's loop, in `parts`; the last part is the product of the rest."""

    name: ClassVar[str] = "follow_split"
    stage: str
    leaf: str
    source: str
    source_leaf: str
    parts: int

    def apply(self, state: State) -> None:
        lengths = _split_of(state, self.source, self.source_leaf).lengths
        split_leaf(state[self.stage], self.leaf, follow(lengths, self.parts))


def follow(lengths: tuple[Extent, ...], parts: int) -> tuple[Extent, ...]:
    """The lengths of a split in `parts` whose inner parts multiply to those of `lengths`."""
    if not 1 < parts <= len(lengths) + 1:
        raise ScheduleError(f"cannot follow a split in {len(lengths) + 1} with {parts} parts")
    rest: Extent = 1
    for n in lengths[parts - 2 :]:
        rest = mul(rest, n)
    return (*lengths[: parts - 2], rest)


@dataclass(frozen=True, slots=True)
class FollowFusedSplit(Step):
    """Split a loop by the product of one level of several loops of another stage."""

    name: ClassVar[str] = "follow_fused_split"
    stage: str
    leaf: str
    source: str
    source_leaves: tuple[str, ...]
    level: int

    def apply(self, state: State) -> None:
        product: Extent = 1
        for leaf in self.source_leaves:
            lengths = _split_of(state, self.source, leaf).lengths
            if not 1 <= self.level <= len(lengths):
                raise ScheduleError(f"{self.source}.{leaf} has no inner tile level {self.level}")
            product = mul(product, lengths[self.level - 1])
        split_leaf(state[self.stage], self.leaf, (product,))


@dataclass(frozen=True, slots=True)
class Fuse(Step):
    """Fuse adjacent loops of one tile level into one."""

    name: ClassVar[str] = "fuse"
    stage: str
    leaves: tuple[str, ...]

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        if len({stage.is_reduction(leaf) for leaf in self.leaves}) != 1:
            raise ScheduleError(f"{self.stage}: cannot fuse spatial with reduction loops")
        if any(s.attach is not None for s in state.attached(self.stage)):
            raise ScheduleError(f"{self.stage}: fuse before attaching stages to it")
        if stage.parallel != 0:
            raise ScheduleError(f"{self.stage}: fuse before making its loops parallel")
        fused = "@".join(self.leaves)
        groups = [[leaf] for leaf in self.leaves]
        if [g for g in stage.groups if g[0] in self.leaves] == groups:
            _merge_groups(stage, self.leaves)
        stage.replace_leaves(self.leaves, [fused])
        stage.relations.append(FuseRelation(self.leaves, fused))


def _merge_groups(stage: Stage, leaves: tuple[str, ...]) -> None:
    """Make one tile level of consecutive single-loop levels."""
    at = stage.groups.index([leaves[0]])
    if [leaf for g in stage.groups[at : at + len(leaves)] for leaf in g] == list(leaves):
        stage.groups[at : at + len(leaves)] = [list(leaves)]


@dataclass(frozen=True, slots=True)
class Reorder(Step):
    """Set the loop order; every inner tuple becomes one tile level."""

    name: ClassVar[str] = "reorder"
    stage: str
    levels: tuple[tuple[str, ...], ...]

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        order = [leaf for level in self.levels for leaf in level]
        if sorted(order) != sorted(stage.leaves):
            raise ScheduleError(f"{self.stage}: the order {order} is not of {stage.leaves}")
        _require_spatial(stage, order, stage.parallel)
        groups = [list(level) for level in self.levels if level]
        for child in state.attached(self.stage):
            level = child.attach.level if child.attach is not None else 0
            if isinstance(level, int) and level >= len(groups):
                raise ScheduleError(
                    f"{self.stage}: {child.name} is computed at tile level {level}, "
                    f"{len(groups)} levels would be left"
                )
        stage.groups = groups


@dataclass(frozen=True, slots=True)
class ComputeAt(Step):
    """Compute a stage inside another's loops, up to and including tile level `level`.

    Every consumer must be `target` or run inside it, at that level or deeper.
    """

    name: ClassVar[str] = "compute_at"
    stage: str
    target: str
    level: Extent

    def apply(self, state: State) -> None:
        target = state[self.target]
        if state.is_output(self.stage):
            raise ScheduleError(f"{self.stage} is an output; it cannot be attached to a consumer")
        if isinstance(self.level, int) and not 0 <= self.level < len(target.groups):
            raise ScheduleError(
                f"{self.target} has tile levels 0..{len(target.groups) - 1}, not {self.level}"
            )
        attach(state, self.stage, At(self.target, self.level))


def attach(state: State, name: str, at: At | None) -> None:
    """Move a stage; ScheduleError (and no change) where some stage would come too late."""
    if at is not None and state[name].parallel != 0:
        raise ScheduleError(f"{name} runs in parallel; it cannot be computed inside another stage")
    before, state[name].attach = state[name].attach, at
    try:
        for stage in state.stages.values():
            if stage.attach is not None:
                _require_before_consumers(state, stage, stage.attach)
    except ScheduleError:
        state[name].attach = before
        raise


def _require_before_consumers(state: State, stage: Stage, at: At) -> None:
    """Every consumer must be the target, or run inside it at this tile level or deeper."""
    for consumer in state.consumers(stage.name):
        inner: Stage | None = None
        outer = consumer
        while outer.name != at.target:
            if outer.attach is None:
                raise ScheduleError(
                    f"{stage.name} cannot be computed at {at.target}: its consumer "
                    f"{consumer.name} is outside"
                )
            inner, outer = outer, state[outer.attach.target]
        if inner is None or inner.attach is None:
            continue
        first = inner.attach.level
        if isinstance(first, int) and isinstance(at.level, int) and first < at.level:
            raise ScheduleError(
                f"{stage.name} cannot be computed at tile level {at.level} of {at.target}: "
                f"its consumer {consumer.name} runs at level {first} already"
            )


@dataclass(frozen=True, slots=True)
class ComputeRoot(Step):
    """Detach a stage: it is computed completely before its consumers."""

    name: ClassVar[str] = "compute_root"
    stage: str

    def apply(self, state: State) -> None:
        attach(state, self.stage, None)


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
        consumers = state.consumers(self.stage)
        del state.stages[self.stage]
        for consumer in consumers:
            rewrite_body(consumer, lambda e: inlined(e, stage.tensor, stage.compute))


def inlined(e: Expr, tensor: Tensor, source: Compute) -> Expr:
    """`e` with every read of `tensor` replaced by its definition (converted as storage would)."""

    def leaf(x: Expr) -> Expr | None:
        if not (isinstance(x, Read) and x.tensor == tensor):
            return None
        indices = [inlined(i, tensor, source) for i in x.indices]
        values = {a.name: i for a, i in zip(source.axes, indices, strict=True)}
        return cast(tensor.dtype, substitute(source.body, values))

    return transform(e, leaf)


def rewrite_body(stage: Stage, rewrite: Any) -> None:
    """Replace the stage's expression by `rewrite(body)`."""
    source = stage.compute
    body = source.body
    new = rebuild(body, (rewrite(body.body),)) if isinstance(body, Reduce) else rewrite(body)
    stage.tensor = replace(stage.tensor, source=replace(source, body=new))


def redirect(stage: Stage, old: Tensor, new: Tensor) -> None:
    """Make the stage read `new` wherever it read `old`."""

    def leaf(x: Expr) -> Expr | None:
        if isinstance(x, Read) and x.tensor == old:
            return Read(new, tuple(transform(i, leaf) for i in x.indices))
        return None

    rewrite_body(stage, lambda e: transform(e, leaf))


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
        state.insert_before(self.stage, local)
        body = Read(local, tuple(a.var for a in source.axes))
        copy = Compute(source.axes, body, source.hints)
        state.stages[self.stage] = Stage(
            replace(stage.tensor, source=copy), [[a.name] for a in source.axes]
        )


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
        if any(self.tensor in state[name].packed for name in self.readers):
            raise ScheduleError(f"{self.tensor} has its layout rewritten; cache it before that")
        old = found[0]
        if old.name in state.stages and state[old.name].attach is not None:
            raise ScheduleError(f"{old.name} is attached already; cache it before that")
        axes = tuple(Axis(f"d{i}", extent_int(e)) for i, e in enumerate(old.shape))
        body = Read(old, tuple(a.var for a in axes))
        new = Tensor(f"{self.tensor}.{self.readers[0]}", old.shape, old.dtype, Compute(axes, body))
        first = next(n for n in state.stages if n in self.readers)
        state.insert_before(first, new)
        for name in self.readers:
            redirect(state[name], old, new)


IDENTITIES: dict[str, Any] = {"sum": 0, "prod": 1}


def identity(op: str, tensor: Tensor) -> Expr:
    """The neutral element of a reduction in the tensor's compute type."""
    dtype = tensor.dtype.compute
    if op in IDENTITIES:
        return const(IDENTITIES[op], dtype)
    if dtype.is_float:
        return const(float("-inf") if op == "max" else float("inf"), dtype)
    if dtype.kind == "bool":
        return const(op == "min", dtype)
    low, high = integer_range(dtype.kind, dtype.bits)
    return const(low if op == "max" else high, dtype)


def integer_range(kind: str, bits: int) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    return (0, 2**bits - 1) if kind == "uint" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


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
        for producer in state.producers(self.stage):
            if producer.attach is not None:
                raise ScheduleError(f"{producer.name} is attached; factor {self.stage} before that")
        partial = self._partial(stage, source, axis)
        state.insert_before(self.stage, partial)
        factor = Axis(f"{axis.name}.f", self.factor, reduce=True)
        assert isinstance(source.body, Reduce)
        body = Reduce(
            source.body.op, (factor,), Read(partial, (*(a.var for a in source.axes), factor.var))
        )
        final = replace(stage.tensor, source=Compute(source.axes, body, source.hints))
        groups = [[a.name] for a in (*source.axes, factor)]
        state.stages[self.stage] = Stage(final, groups, attach=stage.attach)

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
            body = select(value < axis.extent, body, identity(source.body.op, stage.tensor))
        others = tuple(rest if a is axis else a for a in source.reduce_axes)
        compute = Compute((*source.axes, lane), Reduce(source.body.op, others, body))
        shape = (*stage.tensor.shape, self.factor)
        return Tensor(f"{stage.name}.rf", shape, stage.tensor.dtype, compute)


@dataclass(frozen=True, slots=True)
class SkipZeros(Step):
    """Sum only over the terms that satisfy the stage's congruences (`expr/zero_terms.py`)."""

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


@dataclass(frozen=True, slots=True)
class Annotate(Step):
    """Mark a loop vector or unrolled (or serial again)."""

    name: ClassVar[str] = "annotate"
    stage: str
    leaf: str
    kind: str

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        stage.require(self.leaf)
        if self.kind not in (Kind.VECTOR.value, Kind.UNROLLED.value, Kind.SERIAL.value):
            raise ScheduleError(f"cannot annotate a loop {self.kind!r}; see Parallel for threads")
        stage.kinds[self.leaf] = Kind(self.kind)


@dataclass(frozen=True, slots=True)
class Parallel(Step):
    """Run the `count` outermost loops of a root stage as one parallel region (0: none)."""

    name: ClassVar[str] = "parallel"
    stage: str
    count: Extent

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        if stage.attach is not None and self.count != 0:
            raise ScheduleError(
                f"{self.stage} is computed in {stage.attach.target}, not at the root"
            )
        _require_spatial(stage, stage.leaves, self.count)
        stage.parallel = self.count


def _require_spatial(stage: Stage, leaves: list[str], parallel: Extent) -> None:
    """The outermost `parallel` leaves must not be reductions."""
    if isinstance(parallel, int):
        for leaf in leaves[:parallel]:
            if stage.is_reduction(leaf):
                raise ScheduleError(f"{stage.name}: the reduction {leaf} cannot be parallel")


@dataclass(frozen=True, slots=True)
class Pragma(Step):
    """Set a stage's auto-unroll limit, in statements of the unrolled body."""

    name: ClassVar[str] = "pragma"
    stage: str
    unroll_step: Extent

    def apply(self, state: State) -> None:
        state[self.stage].unroll_step = self.unroll_step


@dataclass(frozen=True, slots=True)
class StorageAlign(Step):
    """Make the stride of `axis` in the stage's storage ≡ `offset` modulo `factor` elements."""

    name: ClassVar[str] = "storage_align"
    stage: str
    axis: str
    factor: int
    offset: int = 0

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        names = [a.name for a in stage.compute.axes]
        if names[-2:-1] != [self.axis] or state.is_output(self.stage):
            raise ScheduleError(
                f"{self.stage}: only the row stride (axis {names[-2:-1]}) of scratch can be aligned"
            )
        if self.factor < 1 or not 0 <= self.offset < self.factor:
            raise ScheduleError(f"{self.stage}: bad alignment {self.offset} mod {self.factor}")
        stage.align = (self.axis, self.factor, self.offset)


@dataclass(frozen=True, slots=True)
class LayoutRewrite(Step):
    """Store a constant in the order in which the stage's loops read it (Ansor §4.2).

    A dimension that is not indexed by a plain axis stays whole and comes first. The compiled task
    takes the constant packed; `Layout` says how to make it.
    """

    name: ClassVar[str] = "layout_rewrite"
    stage: str
    tensor: str

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        found = [r for r in reads(stage.compute.body) if r.tensor.name == self.tensor]
        source = found[0].tensor.source if found else None
        if not (isinstance(source, Placeholder) and source.constant):
            raise ScheduleError(f"{self.stage} reads no constant {self.tensor!r} to rewrite")
        if len(found) != 1 or len(state.consumers(self.tensor)) != 1:
            raise ScheduleError(f"{self.tensor} is read in several places; its layout stays")
        if any(reads(i) for i in found[0].indices):
            raise ScheduleError(f"{self.tensor} is indexed by data; its layout stays")
        stage.packed = (*stage.packed, self.tensor)


STEPS: dict[str, type[Step]] = {
    cls.name: cls
    for cls in (
        Split, FollowSplit, FollowFusedSplit, Fuse, Reorder, ComputeAt, ComputeRoot,
        ComputeInline, CacheWrite, CacheRead, RFactor, SkipZeros, Annotate, Parallel, Pragma,
        StorageAlign, LayoutRewrite,
    )
}  # fmt: skip

"""The conditions of the sketch rules on a schedule state, from the math alone.

The analysis itself is `tilewright.expr.access`; here it meets the state's stages, whose
expressions and consumers change as stages are inlined: after a bias is inlined, the consumer of a
convolution is the ReLU that absorbed it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import gcd

from tilewright.expr import access
from tilewright.expr.contraction.groups import narrow_factors
from tilewright.expr.index.simplify import affine
from tilewright.expr.nodes import Axis, Binary, Const, Expr, Read, Reduce, Tensor, Var, as_expr
from tilewright.expr.tensors import Table, is_constant
from tilewright.expr.traversal import free_vars, reads, transform, walk
from tilewright.schedule.stage_steps import outgrows
from tilewright.schedule.state import Role, Stage, State
from tilewright.target import CpuTarget, Target
from tilewright.target.cpu import SHUFFLED_STRIDE
from tilewright.target.dots import dot_of


@dataclass(frozen=True, slots=True)
class StateGraph:
    """A state's stages as the graph that access analysis asks."""

    state: State

    def consumers(self, tensor: Tensor) -> tuple[Tensor, ...]:
        """Tensors computed from `tensor`."""
        return tuple(s.tensor for s in self.state.consumers(tensor.name))

    def is_output(self, tensor: Tensor) -> bool:
        """Whether its values leave the program."""
        return self.state.is_output(tensor.name)


def element_expr(stage: Stage) -> Expr:
    """The expression that is evaluated per iteration (inside the reduction, if any)."""
    return stage.compute.term


def table_axes(stage: Stage) -> list[str]:
    """Axes that an index of a table depends on, in the stage's order."""
    found: set[str] = set()
    for read in reads(element_expr(stage)):
        if isinstance(read.tensor.source, Table):
            found.update(n for i in read.indices for n in free_vars(i))
    return [a.name for a in stage.axes if a.name in found]


def is_inlinable(state: State, stage: Stage) -> bool:
    """Whether the stage may be substituted into its consumers at all."""
    if stage.compute.hint("inline") is False:
        return False
    if stage.compute.reduce_axes or state.is_output(stage.name):
        return False
    return not outgrows(state, stage)


def is_strictly_inlinable(state: State, stage: Stage, target: Target) -> bool:
    """Rule 2: no reduction, no branch on the position, cheap or used once per element.

    Next to a factored reduction, whose extents are decisions, an expensive stage counts as used
    more than once.
    """
    if packs_operand(state, stage, target):
        return False
    if access.is_expensive(stage.compute) and any(map(is_factored, state.consumers(stage.name))):
        return False
    return access.is_strictly_inlinable(StateGraph(state), stage.tensor) and is_inlinable(
        state, stage
    )


def _is_used_again(consumer: Stage, read: Read) -> bool:
    """Whether there is an axis along which the consumer reads the same element."""
    axes = (*consumer.compute.axes, *consumer.compute.reduce_axes)
    used = free_vars(read)
    return any(a.extent != 1 and a.name not in used for a in axes)


def packs_operand(state: State, stage: Stage, target: Target) -> bool:
    """Whether the stage is a permutation that makes elements contiguous along the lanes of a
    consumer that reuses them.

        b_t[k, j] = b[j, k];  c[i, j] = Σ_k a[i, k] * b_t[k, j]

    Inlined, every use of an element would gather lanes from far apart; the copy does it once, and
    gains nothing where there is one use. A constant needs no copy: its layout may change.
    """
    source = stage.compute.body
    if not isinstance(source, Read) or not all(isinstance(i, Var) for i in source.indices):
        return False
    if is_constant(source.tensor) or not source.indices:
        return False
    inner = next((a.var for a in reversed(stage.compute.axes) if a.extent != 1), None)
    if inner is None or source.indices[-1] == inner:
        return False
    return any(
        has_data_reuse(consumer)
        and any(
            read.tensor.name == stage.name
            and _is_contiguous(read.indices, axis)
            and axis in free_vars(read)
            and _is_used_again(consumer, read)
            for read in reads(element_expr(consumer))
        )
        for consumer in state.consumers(stage.name)
        if (axis := vector_axis(state, consumer, target)) is not None
    )


def is_factored(stage: Stage) -> bool:
    """Whether an extent of the stage is a decision."""
    return not all(isinstance(a.extent, int) for a in stage.axes)


def has_data_reuse(stage: Stage) -> bool:
    """Rules 3-5: a reduction in which one loaded element serves several outputs."""
    return access.has_data_reuse(stage.tensor)


def fusible_consumer(state: State, stage: Stage) -> tuple[Stage, tuple[int, ...]] | None:
    """Rule 4: the only consumer, if it reads the stage one to one, and for each of its axes the
    stage's dimension.
    """
    found = access.fusible_consumer(StateGraph(state), stage.tensor)
    return None if found is None else (state[found[0].name], found[1])


def has_more_reduction_parallel(stage: Stage, cores: int) -> bool:
    """Rule 6: fewer outputs than reduction steps, and too few of them for the cores."""
    return access.has_more_reduction_parallel(stage.tensor, cores)


def packable_constants(state: State, stage: Stage) -> list[str]:
    """Constants that only this stage reads, once: their layout may change.

    The last dimensions are plain axes; others come first and stay whole, as a new layout has them.
    """
    found = reads(element_expr(stage))
    names = [r.tensor.name for r in found]
    return [r.tensor.name for r in found if names.count(r.tensor.name) == 1 and _packable(state, r)]


def laid_out(state: State, stage: Stage) -> set[str]:
    """What is in memory as this stage reads it: `packable_constants`, and packed factors."""
    names = {r.tensor.name for r in reads(element_expr(stage))} & state.stages.keys()
    packed = {name for name in names if state[name].role is Role.PACKED}
    return packed | set(packable_constants(state, stage))


def _packable(state: State, read: Read) -> bool:
    return (
        is_constant(read.tensor)
        and read.tensor.rank > 1
        and len(state.consumers(read.tensor.name)) == 1
        and _ends_in_axes(read)
        and not any(reads(i) for i in read.indices)
        and len(set(read.indices)) == read.tensor.rank
    )


def _ends_in_axes(read: Read) -> bool:
    plain = [isinstance(i, Var) for i in read.indices]
    return plain[-1] and plain == sorted(plain)


def vector_axis(
    state: State, stage: Stage, target: Target, anew: Collection[Read] = ()
) -> str | None:
    """The axis to run along vector lanes: one along which every access is contiguous or fixed.

    What is laid out for the stage, a constant or a packed factor or one of `anew`, is contiguous
    along any axis. `axis // length` stands still
    in tiles that divide the length, see `block_length`. Spatial axes come before reductions, inner
    before outer. A reduction that fills a vector goes before spatial axes that fill less than half
    of it: adding up its lanes in the end costs less. Where none of these fills that, a spatial axis
    goes first along which accesses are a few elements apart, which loads shuffle; without a clean
    axis it is the last spatial one. A hint decides.
    """
    hinted = stage.compute.hint("vectorize")
    if hinted is not None:
        return str(hinted)
    free = laid_out(state, stage)
    kept = [r for r in reads(element_expr(stage)) if r.tensor.name not in free and r not in anew]
    accessed = [r.indices for r in kept]
    accessed.append(tuple(a.var for a in stage.compute.axes))
    spatial = [a for a in reversed(stage.compute.axes) if a.extent != 1]
    reduction = [a for a in reversed(stage.compute.reduce_axes) if a.extent != 1]
    clean, near = [], []
    for axis in spatial + reduction:
        length = block_length(stage, axis.name, target)
        inside = [_in_one_block(i, axis.name, length) for i in accessed]
        if all(_is_contiguous(i, axis.name) for i in inside):
            clean.append(axis)
        elif not axis.reduce and all(_is_contiguous(i, axis.name, SHUFFLED_STRIDE) for i in inside):
            near.append(axis)
    lanes = target.lanes(stage.tensor.dtype)
    wide = [a for a in clean if _fills(a, lanes if a.reduce else lanes / 2)]
    shuffled = [a for a in near if _fills(a, lanes / 2)]
    return next((a.name for a in wide + shuffled + clean + spatial), None)


@dataclass(frozen=True, slots=True)
class DotLoop:
    """A stage whose reduction along `axis` is made of dots of `length` terms, of words where these
    are what is multiplied; `fixed` is the factor that all lanes share, `packed` the one that is
    laid out for them.
    """

    axis: str
    length: int
    words: bool
    fixed: Read
    packed: Read

    @property
    def shared(self) -> frozenset[str]:
        """Axes that move both factors: products along spatial ones have none in common."""
        return frozenset(free_vars(self.fixed) & free_vars(self.packed))


def dot_loop(state: State, stage: Stage, target: Target) -> DotLoop | None:
    """The reduction along which a dot instruction of the target multiplies and adds: one factor is
    laid out for the stage, the other one is contiguous along the reduction and the same in all
    lanes.

        C[i, j] = Σ_k int32(a[i, k]) * int32(b[k, j])       lanes along j:  k, 4
    """
    factors = narrow_factors(element_expr(stage))
    if factors is None:
        return None
    free = laid_out(state, stage)
    fixed, packed = sorted(factors, key=lambda read: read.tensor.name in free)
    if packed.tensor.name not in free:
        return None
    return _dot_of(stage, target, fixed, packed, vector_axis(state, stage, target))


def dot_copy(state: State, stage: Stage, target: Target) -> tuple[DotLoop, str] | None:
    """The same where neither factor is laid out for the stage, but a copy of one may be, which
    serves many outputs; and the axis along the lanes.
    """
    factors = narrow_factors(element_expr(stage))
    if factors is None:
        return None
    free = laid_out(state, stage)
    if any(read.tensor.name in free for read in factors):
        return None
    for fixed, packed in (factors, factors[::-1]):
        lanes = vector_axis(state, stage, target, (packed,))
        found = _dot_of(stage, target, fixed, packed, lanes)
        if found is None or lanes is None or access.uses(stage.tensor, packed) < access.MIN_REUSE:
            continue
        moved = {Var(found.axis), Var(lanes)}
        apart = [i for i in packed.indices if i not in moved]
        if len(apart) == packed.tensor.rank - 2 and not any(
            free_vars(i) & {found.axis, lanes} for i in apart
        ):
            return found, lanes
    return None


def _dot_of(
    stage: Stage, target: Target, fixed: Read, packed: Read, lanes: str | None
) -> DotLoop | None:
    body = stage.compute.body
    if not isinstance(target, CpuTarget) or not isinstance(body, Reduce) or body.op != "sum":
        return None
    dot = dot_of(target, fixed.tensor.dtype.name, packed.tensor.dtype.name)
    if dot is None or lanes is None or lanes in free_vars(fixed) or lanes not in free_vars(packed):
        return None
    shape = fixed.tensor.shape
    along = tuple(i for i, n in zip(fixed.indices, shape, strict=True) if n != 1)
    for axis in stage.compute.reduce_axes:
        found = DotLoop(axis.name, dot.length, dot.words, fixed, packed)
        long = isinstance(axis.extent, int) and axis.extent >= 2 * dot.length
        if long and axis.name in found.shared and _is_contiguous(along, axis.name):
            return found
    return None


def _fills(axis: Axis, lanes: float) -> bool:
    """Whether an axis is that long; one whose extent is a decision is taken to be."""
    return not isinstance(axis.extent, int) or axis.extent >= lanes


def block_length(stage: Stage, axis: str, target: Target) -> int:
    """The length of aligned pieces of `axis` in which each `axis // d` of the stage stands still.

    Groups of channels are such pieces. 0 where the axis is not divided, or where the pieces are
    not whole vectors or do not divide the axis.
    """
    quotients = (_quotient(e, axis) for e in walk(element_expr(stage)))
    length = gcd(*quotients)
    extent = next(a.extent for a in stage.axes if a.name == axis)
    whole = isinstance(extent, int) and length and extent % length == 0
    return length if whole and length % target.lanes(stage.tensor.dtype) == 0 else 0


def _quotient(e: Expr, axis: str) -> int:
    """d where `e` is axis // d, else 0."""
    if isinstance(e, Binary) and e.op == "floordiv" and e.a == Var(axis):
        return int(e.b.value) if isinstance(e.b, Const) else 0
    return 0


def _in_one_block(indices: tuple[Expr, ...], axis: str, length: int) -> tuple[Expr, ...]:
    """The indices where `axis` runs inside its first block of `length`; as they are for 0."""
    if not length:
        return indices
    zero = as_expr(0)
    return tuple(transform(i, lambda e: zero if _quotient(e, axis) else None) for i in indices)


def _is_contiguous(indices: tuple[Expr, ...], axis: str, most: int = 1) -> bool:
    """Whether the axis moves no dimension, or only the innermost one that varies, by one, or by
    `most` at most.
    """
    moving = [i for i in indices if free_vars(i)]
    if any(axis in free_vars(i) for i in moving[:-1]):
        return False
    if not moving or axis not in free_vars(moving[-1]):
        return True
    split = affine(moving[-1], [axis])
    step = split[0].get(axis) if split is not None else None
    return isinstance(step, Const) and 1 <= step.value <= most

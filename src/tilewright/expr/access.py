"""Access analysis: what a stage's expression says of its reads, and the sketch rules' conditions.

    C[i, j] = sum(A[i, k] * B[k, j], k)     A: axes {i, k}, injective
                                            has_data_reuse(C): A stays the same along j

Everything is read off the mathematics (paper section 4.1): no operator is named or tagged, and
neither the names of stages nor the order of spatial axes changes an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

from tilewright.expr.index.simplify import Simplifier
from tilewright.expr.nodes import (
    ROUNDINGS,
    Axis,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Read,
    Reduce,
    Select,
    Tensor,
    Var,
)
from tilewright.expr.reference import compute_of, extents_of, sizes
from tilewright.expr.tensors import Compute, Table
from tilewright.expr.traversal import children, free_vars, reads, walk

EXPENSIVE = frozenset({"exp", "log", "sqrt", "tanh", "erf", "sigmoid", "sin", "cos", "pow"})
"""Intrinsics that take tens of instructions: worth storing rather than computing twice."""
LONGEST_CHAIN = 3
"""Contractions that may be computed inside each other, in one kernel."""
MIN_REUSE = 12
"""Uses of an element, about two register tiles, that pay for a copy of it."""
OUTPUTS_PER_CORE = 16
"""With at most this many outputs a core, splitting the reduction may pay (published value)."""


@dataclass(frozen=True, slots=True)
class AffineIndex:
    """One index as `offset + sum(coefficient * axis)`; axes in the stage's order, none zero."""

    coefficients: tuple[tuple[str, int], ...]
    offset: int

    @property
    def axis(self) -> str | None:
        """The axis this index is, unscaled and unshifted; None for any other index."""
        if self.offset or len(self.coefficients) != 1 or self.coefficients[0][1] != 1:
            return None
        return self.coefficients[0][0]


@dataclass(frozen=True, slots=True)
class Access:
    """One read of a stage. `indices` holds None for a dimension that is not affine in the axes.

    `axes` are the names of all axes the position depends on; `extents` those of the stage's axes.
    """

    read: Read
    indices: tuple[AffineIndex | None, ...]
    axes: frozenset[str]
    extents: Mapping[str, int]

    @property
    def tensor(self) -> Tensor:
        return self.read.tensor

    @property
    def is_injective(self) -> bool:
        """Whether different values of the axes it depends on always read different elements.

        Decided dimension by dimension: an index whose coefficients form a mixed radix over the
        axes not yet known determines them. False where that does not settle it.
        """
        known = {n for n, e in self.extents.items() if e == 1}
        pending = [i for i in self.indices if i is not None]
        while pending:
            settled = [i for i in pending if self._determines(i, known)]
            if not settled:
                break
            known.update(n for i in settled for n, _ in i.coefficients)
            pending = [i for i in pending if i not in settled]
        return self.axes <= known

    def _determines(self, index: AffineIndex, known: set[str]) -> bool:
        open_ = [(abs(k), n) for n, k in index.coefficients if n not in known]
        reach = 0
        for k, name in sorted(open_):
            if k <= reach:
                return False
            reach += k * (self.extents[name] - 1)
        return True

    def dimensions_of(self, axes: Sequence[Axis]) -> tuple[int, ...] | None:
        """For each axis the dimension that it indexes, when the read is one to one over `axes`.

        `C[j, i]` over axes i, j gives (1, 0). None unless every dimension is one of the axes,
        unscaled and unshifted, each axis once and over its dimension's whole extent.
        """
        names = [None if i is None else i.axis for i in self.indices]
        # in a dimension of extent 1, index 0 is as good as an axis of extent 1
        units = [a.name for a in axes if a.extent == 1 and a.name not in names]
        for d, extent in enumerate(self.tensor.shape):
            if extent == 1 and names[d] is None and units:
                names[d] = units.pop(0)
        if len(names) != len(axes) or set(names) != {a.name for a in axes}:
            return None
        found = tuple(names.index(a.name) for a in axes)
        whole = all(self.tensor.shape[d] == a.extent for d, a in zip(found, axes, strict=True))
        return found if whole else None


def accesses(compute: Compute) -> list[Access]:
    """All reads of a stage in the order of its expression (reads inside indices included)."""
    extents = extents_of((*compute.axes, *compute.reduce_axes))
    simplifier = Simplifier()
    return [_access(x, extents, simplifier) for x in walk(compute.body) if isinstance(x, Read)]


def _access(read: Read, extents: Mapping[str, int], simplifier: Simplifier) -> Access:
    indices = tuple(affine_index(i, extents, simplifier) for i in read.indices)
    axes = frozenset(n for i in read.indices for n in free_vars(simplifier.simplify(i)))
    return Access(read, indices, axes, extents)


def affine_index(
    index: Expr, extents: Mapping[str, int], simplifier: Simplifier
) -> AffineIndex | None:
    """An index over the axes of `extents`; None where it is not affine in them."""
    found = simplifier.affine(index, extents)
    if found is None:
        return None
    coefficients, rest = found
    values = {n: k.value for n, k in coefficients.items() if isinstance(k, Const)}
    if len(values) != len(coefficients) or not isinstance(rest, Const):
        return None
    return AffineIndex(tuple((n, int(values[n])) for n in extents if n in values), int(rest.value))


def branches_on_position(compute: Compute) -> bool:
    """Whether a select tests where an element lies (padding, concatenation), not what it is."""
    return any(isinstance(x, Select) and _tests_position(x.cond) for x in walk(compute.body))


def _tests_position(e: Expr) -> bool:
    outside = walk(e, lambda x: () if isinstance(x, Read) else children(x))
    return any(isinstance(x, Var) for x in outside)


def is_movement(e: Expr) -> bool:
    """Whether the value is an element of a tensor as it is, or a fill value."""

    def branches(x: Expr) -> tuple[Expr, ...]:
        return (x.a, x.b) if isinstance(x, Select) and (x is e or reads(x)) else ()

    return isinstance(e, Read | Select) and all(
        isinstance(x, Read | Select) or not (reads(x) or isinstance(x, Var))
        for x in walk(e, branches)
    )


def uses(stage: Tensor, read: Read) -> int:
    """How many outputs of a stage each element serves that it reads so, windows left aside."""
    moving = frozenset[str]().union(*map(free_vars, read.indices))
    return prod(sizes([a for a in compute_of(stage).axes if a.name not in moving]))


def is_data_dependent(compute: Compute) -> bool:
    """Whether the position of a read depends on another read (gather)."""
    return any(
        isinstance(y, Read)
        for x in walk(compute.body)
        if isinstance(x, Read)
        for i in x.indices
        for y in walk(i)
    )


def is_expensive(compute: Compute) -> bool:
    """Whether an element takes an intrinsic of EXPENSIVE."""
    return any(isinstance(x, Call) and x.fn in EXPENSIVE for x in walk(compute.body))


def is_step(e: Expr) -> bool:
    """Whether one bit of an operand may decide the result: what rounds to whole numbers."""
    match e:
        case Call(fn, _):
            return fn in ROUNDINGS
        case Cast(to, x):
            return x.dtype.is_float and not to.is_float
        case Binary(op, a, _):
            return op in ("floordiv", "mod") and a.dtype.is_float
    return False


class Consumers(Protocol):
    """The graph around a stage: a ComputeDAG, or the state of a schedule."""

    def consumers(self, tensor: Tensor) -> tuple[Tensor, ...]:
        """The stages that read a tensor."""

    def is_output(self, tensor: Tensor) -> bool:
        """Whether the tensor's values leave the graph."""


def is_strictly_inlinable(dag: Consumers, stage: Tensor) -> bool:
    """Rules 1 and 2: whether substituting the stage into its consumers never hurts.

    So for elementwise arithmetic, broadcasts and plain data movement; not for reductions,
    outputs, gathers, stages that branch on the position (padding), nor for expensive intrinsics
    unless each element is used once.
    """
    compute = compute_of(stage)
    if compute.reduce_axes or dag.is_output(stage):
        return False
    if branches_on_position(compute) or is_data_dependent(compute):
        return False
    return not is_expensive(compute) or _is_used_once(dag, stage)


def _is_used_once(dag: Consumers, stage: Tensor) -> bool:
    found = [
        (a, compute_of(c))
        for c in dag.consumers(stage)
        for a in accesses(compute_of(c))
        if a.tensor.name == stage.name
    ]
    if len(found) != 1:
        return False
    access, consumer = found[0]
    iterated = {a.name for a in (*consumer.axes, *consumer.reduce_axes) if a.extent != 1}
    return access.is_injective and iterated <= access.axes


def has_data_reuse(stage: Tensor) -> bool:
    """Rules 3 to 5: a reduction in which some read moves with the reduction, but not with every
    spatial axis, so that one loaded element serves several outputs.

    Tables do not count (they become literals), nor do axes of extent 1. Along an axis of which an
    index takes only the remainder, the read comes back to its elements.
    """
    compute = compute_of(stage)
    spatial = {a.name for a in compute.axes if a.extent != 1}
    reduction = {a.name for a in compute.reduce_axes if a.extent != 1}
    return any(
        a.axes & reduction and spatial - frozenset().union(*map(_advancing, a.read.indices))
        for a in accesses(compute)
        if not isinstance(a.tensor.source, Table)
    )


def _advancing(index: Expr) -> frozenset[str]:
    """Variables that occur in an index outside of remainders."""

    def below(e: Expr) -> tuple[Expr, ...]:
        match e:
            case Binary("mod", _, Const()):
                return ()
        return children(e)

    return frozenset(x.name for x in walk(index, below) if isinstance(x, Var))


def fusible_consumer(dag: Consumers, stage: Tensor) -> tuple[Tensor, tuple[int, ...]] | None:
    """Rule 4: the only consumer and, for each of its axes, the stage's dimension it reads.

    None unless that consumer is no reduction and every read of the stage is one to one over all
    of the consumer's axes (in any order). An output has none: its values are needed elsewhere.
    """
    consumers = dag.consumers(stage)
    if len(consumers) != 1 or dag.is_output(stage):
        return None
    compute = compute_of(consumers[0])
    if isinstance(compute.body, Reduce):
        return None
    maps = {a.dimensions_of(compute.axes) for a in accesses(compute) if a.tensor.name == stage.name}
    found = maps.pop()
    return None if maps or found is None else (consumers[0], found)


def has_more_reduction_parallel(stage: Tensor, cores: int) -> bool:
    """Rule 6: whether the reduction offers more parallelism than the outputs do.

    So where there are no more outputs than reduction steps and at most OUTPUTS_PER_CORE a core,
    or fewer outputs than cores.
    """
    compute = compute_of(stage)
    outputs, steps = prod(sizes(compute.axes)), prod(sizes(compute.reduce_axes))
    if steps == 1:
        return False
    return (outputs <= steps and outputs <= OUTPUTS_PER_CORE * cores) or outputs < cores

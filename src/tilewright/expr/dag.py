"""The computation graph behind a set of output tensors.

    dag = ComputeDAG([matmul_relu])     dag.stages = (matmul, matmul_relu)   dag.inputs = (A, B)

Two things are made uniform on the way in: names (different tensors of one name are numbered) and
accumulation (a reduction stored narrower than it is summed becomes a stage of the accumulator's
dtype followed by a cast, so that no schedule rounds partial sums).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod

import numpy as np

from tilewright.contract.sizes import Sizes, checked_sizes
from tilewright.expr.dtypes import BOOL, INT64, DType
from tilewright.expr.evaluate import Array
from tilewright.expr.folding import fold
from tilewright.expr.nodes import (
    ARITHMETIC,
    Axis,
    Binary,
    Call,
    Expr,
    Read,
    Reduce,
    Select,
    Tensor,
    as_expr,
    cast,
)
from tilewright.expr.reference import (
    PointEvaluator,
    compute_of,
    evaluate_stage,
    sizes,
    static_shape,
)
from tilewright.expr.rewrites.zero_terms import nonzero_terms
from tilewright.expr.sizes import extent_at, shape_at
from tilewright.expr.tensors import Compute, Placeholder, Table
from tilewright.expr.text import extent_text
from tilewright.expr.traversal import (
    PerNode,
    children,
    free_vars,
    reads,
    rewriting,
    substitute,
    with_reads,
)
from tilewright.ground.errors import ExprError, InputError


class ComputeDAG:
    """Stages in topological order (producers first) with the tensors they need.

    `outputs` in the order given; `inputs` and `constants` (placeholders), `tables` and `stages`
    (computed tensors) in the order a depth-first walk from the outputs meets them. Raises
    ExprError for an output that is not computed, listed twice, or reads undefined storage, for an
    extent over other variables than `sizes`, and an axis called as one. Most of what is asked of a
    DAG needs numbers: that of the DAG `at` some values.
    """

    def __init__(self, outputs: Sequence[Tensor], sizes: Sizes = ()) -> None:
        self.sizes = sizes
        self._written = list(_topological(outputs))  # kept, because `_made` knows them by id
        ordered, self._made = _normalise(outputs, self._written)
        self.outputs = tuple(self._made[id(t)] for t in outputs)
        self.stages = tuple(t for t in ordered if isinstance(t.source, Compute))
        self.tables = tuple(t for t in ordered if isinstance(t.source, Table))
        given = [(t, t.source) for t in ordered if isinstance(t.source, Placeholder)]
        self.inputs = tuple(t for t, source in given if not source.constant)
        self.constants = tuple(t for t, source in given if source.constant)
        self._tensors = {t.name: t for t in ordered}
        self._producers = {t.name: _producers(t) for t in self.stages}
        self._consumers: dict[str, list[Tensor]] = {t.name: [] for t in ordered}
        for stage in self.stages:
            for t in self._producers[stage.name]:
                self._consumers[t.name].append(stage)

        self._check_sizes(ordered)

    def _check_sizes(self, tensors: Sequence[Tensor]) -> None:
        known = {s.name for s in self.sizes}
        for t in tensors:
            axes = axes_of(t)
            extents = (*t.shape, *(a.extent for a in axes))
            used = {n for e in extents if not isinstance(e, int) for n in free_vars(e)}
            if used - known:
                raise ExprError(f"{t.name} has extents over {sorted(used - known)}: no sizes here")
            if known & {a.name for a in axes}:
                raise ExprError(f"{t.name} has an axis called as a size")
            least = {s.name: s.least for s in self.sizes}
            for e in t.shape:
                if (n := extent_at(e, least)) < 0:
                    shown = extent_text(e)
                    raise ExprError(f"{t.name} has the extent {shown}, {n} of the least sizes")

    @cached_property
    def heaviest(self) -> ComputeDAG:
        """The DAG of the sizes at their most, itself where there are none."""
        return self.at({s.name: s.most for s in self.sizes}) if self.sizes else self

    def at(self, values: Mapping[str, int]) -> ComputeDAG:
        """The DAG of these values of the sizes. Raises InputError for wrong ones."""
        values = checked_sizes(self.sizes, values)
        numbers: dict[str, Expr] = {name: as_expr(v) for name, v in values.items()}
        made: dict[int, Tensor] = {}

        def axis(a: Axis) -> Axis:
            return replace(a, extent=extent_at(a.extent, values))

        for t in (*self.inputs, *self.constants, *self.tables, *self.stages):
            source = t.source
            if isinstance(source, Compute):
                body = folding(substitute(_with_tensors(source.body, made), numbers))
                if isinstance(body, Reduce):
                    body = replace(body, axes=tuple(map(axis, body.axes)))
                source = replace(source, axes=tuple(map(axis, source.axes)), body=body)
            made[id(t)] = replace(t, shape=shape_at(t, values), source=source)
        return ComputeDAG([made[id(t)] for t in self.outputs])

    def __repr__(self) -> str:
        return f"ComputeDAG({', '.join(t.name for t in self.stages)})"

    def tensor(self, name: str) -> Tensor:
        """The tensor of that name; raises ExprError when there is none."""
        if name not in self._tensors:
            raise ExprError(f"no tensor {name!r} in this DAG; it has {', '.join(self._tensors)}")
        return self._tensors[name]

    def name_of(self, tensor: Tensor) -> str | None:
        """What a tensor that the outputs were written with is called here; None for another one.

        It is the very object that counts: two placeholders may be called x, and one is then x_1.
        """
        found = self._made.get(id(tensor))
        return None if found is None else found.name

    def producers(self, stage: Tensor) -> tuple[Tensor, ...]:
        """The tensors a stage reads, in the order of its expression, without duplicates."""
        return self._producers.get(stage.name, ())

    def consumers(self, tensor: Tensor) -> tuple[Tensor, ...]:
        """The stages that read a tensor, in topological order."""
        return tuple(self._consumers[tensor.name])

    def is_output(self, tensor: Tensor) -> bool:
        """Whether the tensor's values leave the DAG."""
        return tensor.name in {t.name for t in self.outputs}

    @property
    def least_bytes(self) -> int:
        """Bytes of all inputs, constants and outputs, each once."""
        tensors = (*self.inputs, *self.constants, *self.outputs)
        return sum(prod(static_shape(t)) * t.dtype.bytes for t in tensors)

    @property
    def useful_flops(self) -> int:
        """Operations on element values in one evaluation of all stages.

        An arithmetic operation, an intrinsic and a reduction step count 1 (so a matmul counts
        2*m*n*k), a fused multiply-add 2; int64 index arithmetic, comparisons, casts and the
        cheaper branch of a select count 0. Terms of a sum that inserted zeros make zero (those of
        a transposed convolution) count 0, terms with zeros of a border as any other.
        """
        return sum(stage_flops(t) for t in self.stages)

    def evaluate(self, inputs: Mapping[str, Array], *, float64: bool = False) -> dict[str, Array]:
        """Values of all outputs by name, from the values of inputs and constants by name.

        The reference semantics, by NumPy; with `float64` every float is computed and returned in
        float64. Raises InputError for a missing array or a wrong shape or dtype.
        """
        arrays = self._arrays(inputs)

        def read(tensor: Tensor, indices: tuple[Array, ...]) -> Array:
            return np.asarray(arrays[tensor.name][indices])

        for stage in self.stages:
            arrays[stage.name] = evaluate_stage(stage, read, float64=float64)
        return {t.name: arrays[t.name] for t in self.outputs}

    def evaluate_points(self, tensor: Tensor, points: Array, inputs: Mapping[str, Array]) -> Array:
        """Values [p] of a tensor at `points` [p, rank] in float64, evaluating only their cone.

        Raises InputError as `evaluate` does.
        """
        return PointEvaluator(self._arrays(inputs)).values(self.tensor(tensor.name), points)

    def _arrays(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        arrays = {t.name: t.source.values for t in self.tables if isinstance(t.source, Table)}
        for t in (*self.inputs, *self.constants):
            if t.name not in inputs:
                raise InputError(f"no array for {t.name}; given: {', '.join(inputs) or 'none'}")
            array = np.asarray(inputs[t.name])
            if array.shape != t.shape or array.dtype != t.dtype.numpy:
                raise InputError(
                    f"{t.name} must be {t.dtype}{list(t.shape)}, "
                    f"not {array.dtype}{list(array.shape)}"
                )
            arrays[t.name] = array
        return arrays


def folding(e: Expr) -> Expr:
    """An expression with operations on literals done."""
    return rewriting(_folded)(e)


def _folded(e: Expr, rewrite: Callable[[Expr], Expr]) -> Expr | None:
    if not isinstance(e, Binary) or e.a.dtype != INT64:
        return None
    return fold(Binary(e.op, rewrite(e.a), rewrite(e.b)))


def axes_of(tensor: Tensor) -> tuple[Axis, ...]:
    """The axes of a stage, none of another tensor."""
    source = tensor.source
    return (*source.axes, *source.reduce_axes) if isinstance(source, Compute) else ()


def divided(dag: ComputeDAG, at: Tensor) -> tuple[ComputeDAG, ComputeDAG] | None:
    """What makes a stage of the DAG, and the rest, to which that is an input; None where the rest
    reads other stages of the first, too.
    """
    first = ComputeDAG([at])
    given = Tensor(at.name, at.shape, at.dtype, Placeholder(constant=False))
    made = {id(t): t for t in (*dag.inputs, *dag.constants, *dag.tables)} | {id(at): given}
    mine = {t.name for t in first.stages}
    for stage in dag.stages:
        if stage.name in mine:
            continue
        source = compute_of(stage)
        if any(id(r.tensor) not in made for r in reads(source.body)):
            return None
        made[id(stage)] = replace(
            stage, source=replace(source, body=_with_tensors(source.body, made))
        )
    return first, ComputeDAG([made[id(output)] for output in dag.outputs])


def inline_reads(body: Expr, stages: Mapping[str, Tensor]) -> Expr:
    """`body` with each read of one of these stages replaced by the stage's own expression."""

    def access(tensor: Tensor, indices: tuple[Expr, ...]) -> Expr:
        if tensor.name not in stages:
            return Read(tensor, indices)
        return element(tensor.dtype, compute_of(stages[tensor.name]), indices)

    return with_reads(body, access)


def element(storage: DType, source: Compute, indices: Sequence[Expr]) -> Expr:
    """What a stage's definition makes of the element at `indices`, rounded as storing it does."""
    values = {a.name: i for a, i in zip(source.axes, indices, strict=True)}
    return cast(storage, substitute(source.body, values))


def stage_flops(tensor: Tensor) -> int:
    """`ComputeDAG.useful_flops` of one stage."""
    compute = compute_of(tensor)
    if isinstance(compute.body, Reduce):
        return _terms(compute, compute.body) * (_flops(compute.body.body) + 1)
    return prod(sizes(compute.axes)) * _flops(compute.body)


def _terms(compute: Compute, body: Reduce) -> int:
    """Terms of all the sums that are not known to be zero, seen through elementwise producers."""
    found = {r.tensor.name: r.tensor for r in reads(body.body)}
    inlined = {
        name: t
        for name, t in found.items()
        if isinstance(t.source, Compute) and not t.source.reduce_axes
    }
    return nonzero_terms(replace(compute, body=inline_reads(body, inlined)))


def _flops(body: Expr) -> int:
    def found(e: Expr, count: Callable[[Expr], int]) -> int:
        match e:
            case Read():
                return 0
            case Select(cond, a, b):
                return count(cond) + max(count(a), count(b))
        own = 0
        if isinstance(e, Call) or (isinstance(e, Binary) and e.op in ARITHMETIC):
            own = 0 if e.dtype in (INT64, BOOL) else 1
        if isinstance(e, Call) and e.fn == "fma":
            own *= 2
        return own + sum(map(count, children(e)))

    return PerNode(found)(body)


def _producers(stage: Tensor) -> tuple[Tensor, ...]:
    return tuple({r.tensor.name: r.tensor for r in reads(compute_of(stage).body)}.values())


def _normalise(
    outputs: Sequence[Tensor], original: Sequence[Tensor]
) -> tuple[list[Tensor], dict[int, Tensor]]:
    """All tensors in topological order, with unique names and wide accumulators; and what became
    of each original one, by id.
    """
    if not outputs:
        raise ExprError("a DAG needs at least one output")
    if len({id(t) for t in outputs}) != len(outputs):
        raise ExprError(f"an output is listed twice: {[t.name for t in outputs]}")
    taken: set[str] = set()
    made: dict[int, Tensor] = {}
    ordered: list[Tensor] = []
    for t in original:
        renamed = replace(t, name=_unique(t.name, taken))
        if isinstance(t.source, Compute):
            body = _with_tensors(t.source.body, made)
            renamed = replace(renamed, source=replace(t.source, body=body))
        wide, final = _split_accumulation(renamed, taken)
        ordered.extend(wide)
        ordered.append(final)
        made[id(t)] = final
    return ordered, made


def _topological(outputs: Sequence[Tensor]) -> Iterator[Tensor]:
    """Tensors, producers first, each object once; raises ExprError for undefined storage."""
    seen: set[int] = set()
    for output in outputs:
        if not isinstance(output.source, Compute):
            raise ExprError(f"output {output.name} is not computed; return a copy of it instead")
        stack = [(output, False)]
        while stack:
            t, expanded = stack.pop()
            if expanded:
                yield t
            elif id(t) not in seen:
                seen.add(id(t))
                stack.append((t, True))
                if isinstance(t.source, Compute):
                    stack += [(r.tensor, False) for r in reversed(reads(t.source.body))]
                elif t.source is None:
                    raise ExprError(f"{t.name} is read but has no definition")


def _unique(name: str, taken: set[str]) -> str:
    found, n = name, 0
    while found in taken:
        n += 1
        found = f"{name}_{n}"
    taken.add(found)
    return found


def _with_tensors(body: Expr, made: Mapping[int, Tensor]) -> Expr:
    """Reads redirected to the tensors that replace theirs."""

    return with_reads(body, lambda tensor, indices: Read(made[id(tensor)], indices))


def _split_accumulation(t: Tensor, taken: set[str]) -> tuple[list[Tensor], Tensor]:
    """`C: float16 = sum(...)` -> `C_acc: float32 = sum(...)`, `C = cast(C_acc)`."""
    source = t.source
    if not isinstance(source, Compute) or not isinstance(source.body, Reduce):
        return [], t
    kept = source.body.dtype
    if kept == t.dtype:
        return [], t
    wide = Tensor(_unique(f"{t.name}_acc", taken), t.shape, kept, replace(source, hints=()))
    body = cast(t.dtype.compute, wide[tuple(a.var for a in source.axes)])
    return [wide], replace(t, source=Compute(source.axes, body, source.hints))

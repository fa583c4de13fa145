"""Tensor expressions: placeholders, tables and computes.

    i.e.  A = placeholder((512, 512), name="A")
          k = reduce_axis(512, "k")
          C = compute((512, 512), lambda i, j: sum(A[i, k] * B[k, j], k), name="C")

A tensor's `source` says where its values come from: `Placeholder` (given at run time, or at
compile time when `constant`), `Table` (fixed values that are part of the math) or `Compute`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from tilewright.expr.dtypes import DType, dtype
from tilewright.expr.index.extents import plain
from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import (
    REDUCTIONS,
    Axis,
    Call,
    Expr,
    Extent,
    Operand,
    Reduce,
    Shape,
    Tensor,
    as_expr,
    cast,
)
from tilewright.expr.traversal import free_vars, reads, shared, walk
from tilewright.ground.errors import ExprError

HINTS = {
    "vectorize": "name of the axis to run along the vector lanes",
    "unroll": "names of axes to unroll completely",
    "inline": "False: never substitute this stage into its consumers",
}
"""What a user may tell the search about a compute (Ansor §4.2). Names with a dot are others': a
sketch rule of one's own reads hints such as "mine.levels"."""
GREATEST_BODY = 1 << 18
"""Different operations of one element."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Values given by the caller; `constant` ones arrive at compile time (weights)."""

    constant: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Values that are part of the math (Winograd's matrices)."""

    values: np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Compute:
    """One element's expression over spatial `axes`; a reduction is the whole body.

    `hints` are the user's annotations for the search (see `tilewright.space`).
    """

    axes: tuple[Axis, ...]
    body: Expr
    hints: tuple[tuple[str, Any], ...] = ()

    @property
    def reduce_axes(self) -> tuple[Axis, ...]:
        return self.body.axes if isinstance(self.body, Reduce) else ()

    @property
    def term(self) -> Expr:
        """What is evaluated in each iteration, inside of the reduction if there is one."""
        return self.body.body if isinstance(self.body, Reduce) else self.body

    def hint(self, name: str) -> Any:
        """The user's hint of that name, or None."""
        return dict(self.hints).get(name)


@dataclass(frozen=True, slots=True)
class View:
    """Other indices for the elements of a tensor's memory: those at `x` are `offset + Σ x·strides`
    elements from its start. What instructions of a nest read, never a part of the math.
    """

    of: Tensor
    offset: int
    strides: tuple[int, ...]


Source: TypeAlias = Placeholder | Table | Compute | View


def memory_of(tensor: Tensor) -> Tensor:
    """The tensor that has the memory: itself, or what it is a view of."""
    return tensor.source.of if isinstance(tensor.source, View) else tensor


def is_constant(tensor: Tensor) -> bool:
    """Whether the tensor is a weight, whose values are known when a program is compiled."""
    return isinstance(tensor.source, Placeholder) and tensor.source.constant


def placeholder(
    shape: Sequence[Extent],
    dtype: str | DType = "float32",
    *,
    name: str = "x",
    constant: bool = False,
) -> Tensor:
    """A tensor whose values the caller gives; `constant=True` at compile time (weights)."""
    return Tensor(name, _shape(shape, name), _dtype(dtype), Placeholder(constant))


def table(values: Any, *, name: str = "table") -> Tensor:
    """A tensor with fixed values that belong to the math itself."""
    array = np.array(values, order="C")  # a copy: the caller's array stays writable
    array.setflags(write=False)
    return Tensor(name, tuple(array.shape), _dtype(array.dtype), Table(array))


def reduce_axis(extent: Extent, name: str = "k") -> Axis:
    """An axis to reduce over."""
    return Axis(name, canonical(extent), reduce=True)


def compute(
    shape: Sequence[Extent],
    fn: Callable[..., Any],
    *,
    name: str = "y",
    dtype: str | DType | None = None,
    hints: dict[str, Any] | None = None,
) -> Tensor:
    """Define a tensor element by element.

    `fn` takes one index per dimension (its parameter names become the axes' names; a `*args`
    function gets `i0, i1, …`) and returns an expression. `dtype` is the storage type, by default
    that of the expression. `hints` are named in HINTS. Raises ExprError when a reduction is not
    the whole body, or for an unknown hint.
    """
    dims = _shape(shape, name)
    axes = tuple(Axis(n, e) for n, e in zip(_axis_names(fn, len(dims)), dims, strict=True))
    body = as_expr(fn(*axes))
    if next(islice(walk(body), GREATEST_BODY, None), None) is not None:
        raise ExprError(
            f"{name}: an element has more than {GREATEST_BODY} operations; make tensors of parts"
        )
    body = shared(body)
    storage = body.dtype if dtype is None else _dtype(dtype)
    body = _check_body(name, axes, body, storage)
    return Tensor(name, dims, storage, Compute(axes, body, _checked_hints(name, hints or {})))


def _checked_hints(name: str, hints: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    unknown = sorted(hint for hint in hints if hint not in HINTS and "." not in hint)
    if unknown:
        raise ExprError(
            f"{name}: unknown hints {unknown}; known: {', '.join(HINTS)}; a hint for a rule of "
            "your own has a dot in its name"
        )
    frozen = {k: tuple(v) if isinstance(v, list) else v for k, v in hints.items()}
    return tuple(sorted(frozen.items()))


def _check_body(name: str, axes: tuple[Axis, ...], body: Expr, storage: DType) -> Expr:
    nested = [x for x in walk(body) if isinstance(x, Reduce)]
    if nested and (len(nested) > 1 or nested[0] is not body):
        raise ExprError(
            f"{name}: a reduction must be the whole body; put the rest in a 2nd compute"
        )
    names = [a.name for a in axes]
    if isinstance(body, Reduce):
        names += [a.name for a in body.axes]
    if len(set(names)) != len(names):
        raise ExprError(f"{name}: axis names are not unique: {names}")
    unknown = {x.name for x in walk(body) if hasattr(x, "name")} - set(names)
    if unknown:
        unknown -= _sizes_of(axes, body)
    if unknown:
        raise ExprError(f"{name}: unknown axes {sorted(unknown)}; known: {names}")
    for r in reads(body):
        if r.tensor.source is None:
            raise ExprError(f"{name} reads {r.tensor.name}, which has no definition")
    if isinstance(body, Reduce):
        kept = storage.accumulator if body.op in ("sum", "prod") else storage.compute
        return Reduce(body.op, body.axes, cast(kept, body.body))
    return stored(cast(storage.compute, body), storage)


def _sizes_of(axes: tuple[Axis, ...], body: Expr) -> frozenset[str]:
    """The variables of all extents that a stage has to do with."""
    own = (*axes, *(body.axes if isinstance(body, Reduce) else ()))
    extents = [a.extent for a in own]
    for tensor in {id(r.tensor): r.tensor for r in reads(body)}.values():
        extents += tensor.shape
        if isinstance(tensor.source, Compute):  # a mean divides by what was summed over
            extents += [a.extent for a in tensor.source.reduce_axes]
    return frozenset[str]().union(*(free_vars(as_expr(e)) for e in extents))


def stored(value: Expr, storage: DType) -> Expr:
    """`value` without a rounding that storing it does."""
    return value.args[0] if isinstance(value, Call) and value.fn == storage.name else value


def _axis_names(fn: Callable[..., Any], rank: int) -> list[str]:
    params = list(inspect.signature(fn).parameters.values())
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in params):
        return [f"i{d}" for d in range(rank)]
    names = [p.name for p in params if p.default is inspect.Parameter.empty]
    if len(names) != rank:
        raise ExprError(f"the function takes {len(names)} indices, the shape has {rank} dimensions")
    return names


def _shape(shape: Sequence[Extent], name: str) -> Shape:
    dims = tuple(map(canonical, shape))
    if any(isinstance(d, int) and d < 1 for d in dims):
        raise ExprError(f"{name}: every extent must be at least 1, got {dims}")
    return dims


def canonical(extent: Extent) -> Extent:
    """An int, or the canonical form of an expression over sizes: equal ones are equal."""
    return plain(simplify(as_expr(extent))) if isinstance(extent, Operand) else int(extent)


def _dtype(x: Any) -> DType:
    return dtype(x)


def _reduce(op: str, body: Any, axes: Axis | Sequence[Axis]) -> Reduce:
    listed = (axes,) if isinstance(axes, Axis) else tuple(axes)
    if not listed or not all(isinstance(a, Axis) and a.reduce for a in listed):
        raise ExprError(f"{op} needs reduce_axis() axes, got {axes!r}")
    if op not in REDUCTIONS:
        raise ExprError(f"unknown reduction {op!r}")
    return Reduce(op, listed, as_expr(body))


def sum(body: Any, axes: Axis | Sequence[Axis]) -> Reduce:
    """Sum of `body` over `axes`."""
    return _reduce("sum", body, axes)


def max(body: Any, axes: Axis | Sequence[Axis]) -> Reduce:
    """Maximum of `body` over `axes`."""
    return _reduce("max", body, axes)


def min(body: Any, axes: Axis | Sequence[Axis]) -> Reduce:
    """Minimum of `body` over `axes`."""
    return _reduce("min", body, axes)


def prod(body: Any, axes: Axis | Sequence[Axis]) -> Reduce:
    """Product of `body` over `axes`."""
    return _reduce("prod", body, axes)

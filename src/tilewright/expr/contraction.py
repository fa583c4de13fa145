"""What a contraction is to a template: its axes in groups, its factors, what follows it.

    left, right = factors_of(dag, stage)                    what is multiplied, over its axes
    found = groups_of(stage, axes_of(left), axes_of(right))
    found.rows, found.columns, found.depth, found.batch     names of axes

    found = contraction_of(dag, stage)                      where both factors are only read
    found.left.tensor, found.left.indices                   x[n, h * 2 + rh - 1, w * 2 + rw - 1, rc]

Read off the mathematics alone (`expr.access`): no operator is named, and neither the order of axes
nor that of the factors is asked for. A factor that is read is an input or a constant, seen through
stages that only move elements; zeros around it are a window's border where every test is one of its
bounds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tilewright.expr.access import AffineIndex, affine_index
from tilewright.expr.dag import ComputeDAG, inline_reads
from tilewright.expr.index.simplify import Simplifier, simplify
from tilewright.expr.nodes import (
    Axis,
    Binary,
    Cast,
    Const,
    Expr,
    Read,
    Reduce,
    Select,
    Tensor,
    Var,
    binary,
    free_vars,
    reads,
    substitute,
)
from tilewright.expr.reference import compute_of, sizes, static_shape
from tilewright.expr.tensors import Placeholder, is_constant

Axes = tuple[str, ...]


class NoMatchError(Exception):
    """A computation is none that templates have; says why."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A placeholder that is multiplied. `indices` are affine in the contraction's axes; outside of
    the tensor's bounds the factor is 0, where `bordered`.
    """

    tensor: Tensor
    indices: tuple[AffineIndex, ...]
    bordered: bool

    @property
    def axes(self) -> frozenset[str]:
        return frozenset(name for index in self.indices for name, _ in index.coefficients)

    @property
    def is_plain(self) -> bool:
        """Whether every dimension is one of the axes as it is, or has one element."""
        return all(_is_plain(i) for i in self.indices)

    def dimension(self, axis: str) -> int | None:
        """The dimension that `axis` indexes; None where there is none."""
        found = [d for d, i in enumerate(self.indices) if axis in dict(i.coefficients)]
        return found[0] if len(found) == 1 else None

    def stride(self, axis: str) -> int:
        """Elements between two neighbouring values of `axis`."""
        step, row = 0, 1
        shape = static_shape(self.tensor)
        for index, extent in zip(reversed(self.indices), reversed(shape), strict=True):
            step += row * dict(index.coefficients).get(axis, 0)
            row *= extent
        return step

    @property
    def offset(self) -> int:
        """Elements before that at index 0 of every axis."""
        found, row = 0, 1
        shape = static_shape(self.tensor)
        for index, extent in zip(reversed(self.indices), reversed(shape), strict=True):
            found += row * index.offset
            row *= extent
        return found


def _is_plain(index: AffineIndex) -> bool:
    return index.axis is not None or (not index.coefficients and not index.offset)


@dataclass(frozen=True, slots=True)
class Groups:
    """`stage[batch, rows, columns] = sum(left * right)` over `depth`; groups hold the axes of more
    than one element, the outermost first. `rows` are the left factor's alone, `columns` the right
    one's.
    """

    stage: Tensor
    batch: Axes
    rows: Axes
    columns: Axes
    depth: Axes
    extents: Mapping[str, int]

    def size(self, axes: Axes) -> int:
        """Elements of a group."""
        return prod(self.extents[a] for a in axes)

    @property
    def spatial(self) -> Axes:
        return (*self.batch, *self.rows, *self.columns)


@dataclass(frozen=True, slots=True)
class Contraction(Groups):
    """A contraction of two factors that are read."""

    left: Factor
    right: Factor

    @property
    def dtype(self) -> str:
        """Of both factors."""
        return self.left.tensor.dtype.name


def packed_once(factors: Sequence[Factor], follows: Follows) -> None:
    """Raises NoMatchError where a constant that is packed for one purpose is read for another."""
    names = [f.tensor.name for f in factors if is_constant(f.tensor)]
    given = [r.tensor for e in follows.expressions for r in reads(e)]
    names += {t.name for t in given if is_constant(t)}
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise NoMatchError(f"{', '.join(twice)} is read for two purposes")


def seen_through(dag: ComputeDAG, e: Expr, kept: frozenset[str] = frozenset()) -> Expr:
    """`e` in terms of placeholders and sums (and stages in `kept`): what else it reads is written
    out.
    """
    stages = {
        s.name: s
        for s in dag.stages
        if s.name not in kept and not isinstance(compute_of(s).body, Reduce)
    }
    while any(r.tensor.name in stages for r in reads(e)):
        e = inline_reads(e, stages)
    return e


def sums(dag: ComputeDAG) -> list[Tensor]:
    """The stages that reduce, in order."""
    return [s for s in dag.stages if isinstance(compute_of(s).body, Reduce)]


def contraction_of(dag: ComputeDAG, stage: Tensor, swapped: bool = False) -> Contraction:
    """The contraction that a stage is; `swapped` takes the second factor for the left one. Raises
    NoMatchError where it is none.
    """
    compute = compute_of(stage)
    extents = _extents((*compute.axes, *compute.reduce_axes))
    left, right = (read_factor(e, extents) for e in factors_of(dag, stage))
    return grouped(stage, right, left) if swapped else grouped(stage, left, right)


def factors_of(dag: ComputeDAG, stage: Tensor) -> tuple[Expr, Expr]:
    """The two factors whose products a stage sums, over its axes, seen through what is no sum.
    Raises NoMatchError where it does not.
    """
    body = compute_of(stage).body
    if not isinstance(body, Reduce) or body.op != "sum":
        raise NoMatchError(f"{stage.name} is no sum")
    product = body.body
    if not isinstance(product, Binary) or product.op != "mul":
        raise NoMatchError(f"{stage.name} is no sum of products")
    return seen_through(dag, product.a), seen_through(dag, product.b)


def grouped(stage: Tensor, left: Factor, right: Factor) -> Contraction:
    """The contraction of two factors. Raises NoMatchError for axes of no group."""
    if left.tensor.dtype != right.tensor.dtype:
        raise NoMatchError(f"{stage.name} multiplies {left.tensor.dtype} by {right.tensor.dtype}")
    g = groups_of(stage, left.axes, right.axes)
    return Contraction(g.stage, g.batch, g.rows, g.columns, g.depth, g.extents, left, right)


def axes_of(factor: Expr) -> frozenset[str]:
    """The axes that move a factor."""
    return frozenset(free_vars(simplify(factor)))


def groups_of(stage: Tensor, left: Collection[str], right: Collection[str]) -> Groups:
    """The groups of a stage's axes, by those that move its factors. Raises NoMatchError for axes of
    no group, or sums in another type than float32.
    """
    compute = compute_of(stage)
    extents = _extents((*compute.axes, *compute.reduce_axes))
    if stage.dtype.name != "float32":
        raise NoMatchError(f"{stage.name} is summed in {stage.dtype}")
    spatial = [a.name for a in compute.axes if extents[a.name] > 1]
    depth = [a.name for a in compute.reduce_axes if extents[a.name] > 1]
    for axis in depth:
        if axis not in left or axis not in right:
            raise NoMatchError(f"{stage.name}: only one factor moves along {axis}")
    for axis in spatial:
        if axis not in left and axis not in right:
            raise NoMatchError(f"{stage.name} does not move along {axis}")
    return Groups(
        stage,
        batch=tuple(a for a in spatial if a in left and a in right),
        rows=tuple(a for a in spatial if a in left and a not in right),
        columns=tuple(a for a in spatial if a not in left and a in right),
        depth=tuple(depth),
        extents=extents,
    )


def _extents(axes: Sequence[Axis]) -> dict[str, int]:
    return dict(zip((a.name for a in axes), sizes(axes), strict=True))


def read_factor(e: Expr, extents: Mapping[str, int]) -> Factor:
    """A factor that is read, or 0 outside of its tensor. Raises NoMatchError where it is not."""
    while isinstance(e, Cast) and e.dtype == e.x.dtype:
        e = e.x
    condition: Expr | None = None
    if isinstance(e, Select) and isinstance(e.b, Const) and e.b.value == 0:
        condition, e = e.cond, e.a
    if not isinstance(e, Read) or not isinstance(e.tensor.source, Placeholder):
        raise NoMatchError("a factor is computed, not read")
    return factor_of(e, condition, extents)


def factor_of(read: Read, condition: Expr | None, extents: Mapping[str, int]) -> Factor:
    """The factor that a read is, 0 where `condition` does not hold. Raises NoMatchError for another
    condition than that it is inside of its tensor, or indices that are not affine.
    """
    simplifier = Simplifier()
    indices = tuple(affine_index(i, extents, simplifier) for i in read.indices)
    if any(i is None for i in indices):
        raise NoMatchError(f"{read.tensor.name} is not read at sums of multiples of axes")
    live = tuple(_live(i, extents) for i in indices if i is not None)
    if condition is not None:
        inside: set[AffineIndex | None] = set()
        for index, extent in zip(read.indices, static_shape(read.tensor), strict=True):
            for form in (index, binary("sub", extent - 1, index)):
                inside.add(affine_index(form, extents, simplifier))
        for test in _conjuncts(condition):
            if _at_least_zero(test, extents, simplifier) not in inside:
                raise NoMatchError(f"{read.tensor.name} is 0 elsewhere than outside of its bounds")
    return Factor(read.tensor, live, condition is not None)


def _live(index: AffineIndex, extents: Mapping[str, int]) -> AffineIndex:
    """Without axes of one element, whose only value is 0."""
    kept = tuple((name, k) for name, k in index.coefficients if extents[name] > 1)
    return AffineIndex(kept, index.offset)


def _conjuncts(e: Expr) -> list[Expr]:
    if isinstance(e, Binary) and e.op == "and":
        return [*_conjuncts(e.a), *_conjuncts(e.b)]
    return [e]


def _at_least_zero(
    test: Expr, extents: Mapping[str, int], simplifier: Simplifier
) -> AffineIndex | None:
    """The form that a comparison of ints says to be 0 or more."""
    if not isinstance(test, Binary) or test.a.dtype.name != "int64":
        return None
    match test.op:
        case "ge":
            form = test.a - test.b
        case "gt":
            form = test.a - test.b - 1
        case "le":
            form = test.b - test.a
        case "lt":
            form = test.b - test.a - 1
        case _:
            return None
    return affine_index(form, extents, simplifier)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an element of a tensor is, in terms of a contraction's axes: `offset` and elements
    between two neighbours by axis.
    """

    tensor: Tensor
    strides: Mapping[str, int]
    offset: int


@dataclass(frozen=True, slots=True)
class Reduction:
    """What a row's columns become together: `op` of REDUCTIONS over all of them, then `value` in
    terms of `stage`, the reduced tensor.
    """

    op: str
    stage: Tensor
    value: Expr


@dataclass(frozen=True, slots=True)
class Follows:
    """What becomes of a contraction's elements: `value` over its axes, stored at `output`, or
    reduced over the columns before that.
    """

    value: Expr
    output: Place
    reduction: Reduction | None = None

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All that is computed."""
        return (self.value,) if self.reduction is None else (self.value, self.reduction.value)


def what_follows(dag: ComputeDAG, found: Contraction) -> Follows:
    """The stages after a contraction as one expression, or as one up to a reduction over its
    columns and one from there on. Raises NoMatchError where an element of the output is not made of
    one element of the contraction, or of one row.
    """
    if len(dag.outputs) != 1:
        raise NoMatchError("there are several outputs")
    (output,) = dag.outputs
    compute, last = compute_of(output), sums(dag)[-1]
    after: Expr = compute.body
    if output.name == last.name:
        after = Read(output, tuple(a.var for a in compute.axes))

    def place(names: Mapping[str, Expr]) -> Place:
        return place_of(Read(output, tuple(names[a.name] for a in compute.axes)), found)

    if last.name == found.stage.name:
        value, names = of_elements(dag, after, last, compute.axes)
        return Follows(value, place(names))
    reduced = compute_of(last)
    body = reduced.body
    assert isinstance(body, Reduce)
    axes = (*reduced.axes, *reduced.reduce_axes)
    value, inner = of_elements(dag, body.body, found.stage, axes)
    over = {e.name for a in reduced.reduce_axes if isinstance(e := inner[a.name], Var)}
    if over != set(found.columns):
        raise NoMatchError(f"{last.name} is not over all columns of {found.stage.name}")
    of_row, outer = of_elements(dag, after, last, compute.axes)
    reduction = Reduction(body.op, last, substitute(of_row, inner))
    names = {name: substitute(e, inner) for name, e in outer.items()}
    return Follows(value, place(names), reduction)


def of_elements(
    dag: ComputeDAG, e: Expr, stage: Tensor, axes: Sequence[Axis]
) -> tuple[Expr, dict[str, Expr]]:
    """`e`, over `axes`, as an expression of one element of `stage` and over its axes; and what each
    of `axes` is there.
    """
    body = seen_through(dag, e)
    mine = [r for r in reads(body) if r.tensor.name == stage.name]
    others = [r.tensor for r in reads(body) if r.tensor.name != stage.name]
    if not mine or len(set(mine)) > 1:
        raise NoMatchError(f"{stage.name} is read at other than one place")
    if any(not isinstance(t.source, Placeholder) for t in others):
        raise NoMatchError(f"what is neither given nor {stage.name} is read beside it")
    extents = _extents(axes)
    outside = _axes_of(mine[0], axes, extents)
    names: dict[str, Expr] = {a.name: outside.get(a.name, Const(0, a.var.dtype)) for a in axes}
    return substitute(body, names), names


def _axes_of(read: Read, axes: Sequence[Axis], extents: Mapping[str, int]) -> dict[str, Expr]:
    """What each of `axes` is in terms of the axes of the tensor that is read, as variables: one of
    them, digits of one, or a number whose digits some of them are (a reshape).
    """
    simplifier = Simplifier()
    inner = compute_of(read.tensor).axes
    found: dict[str, Expr] = {}
    parts: dict[str, list[tuple[int, int, Var]]] = {}
    for axis, index, extent in zip(inner, read.indices, static_shape(read.tensor), strict=True):
        if extent == 1:
            continue
        form = affine_index(index, extents, simplifier)
        digits = None if form is None else _digits(_live(form, extents), axis.var, extent, extents)
        part = None if digits else _part(simplifier.simplify(index), extent)
        if digits is not None and not digits.keys() & found.keys():
            found |= digits
        elif part is not None:
            parts.setdefault(part[0], []).append((part[1], extent, axis.var))
        else:
            raise NoMatchError(f"{read.tensor.name} is not read element by element")
    for name, pieces in parts.items():
        if name in found:
            raise NoMatchError(f"{read.tensor.name} is read along {name} twice")
        found[name] = _joined(read.tensor, name, pieces, extents)
    if {a.name for a in axes if extents[a.name] > 1} != set(found):
        raise NoMatchError(f"elements of {read.tensor.name} are used for several of the output")
    return found


def _digits(
    form: AffineIndex, var: Var, extent: int, extents: Mapping[str, int]
) -> dict[str, Expr] | None:
    """The axes that an index is made of, as digits of its value `var`; None where they are none."""
    found: dict[str, Expr] = {}
    place = 1
    for name, k in sorted(form.coefficients, key=lambda term: term[1]):
        if k != place:
            return None
        place *= extents[name]
        digit: Expr = var if k == 1 else var // k
        found[name] = digit if place == extent else digit % extents[name]
    return found if place == extent and not form.offset else None


def _part(index: Expr, extent: int) -> tuple[str, int] | None:
    """An axis and the place of a digit of it that an index of `extent` is: `axis // place`, or the
    remainder of that.
    """
    if isinstance(index, Binary) and index.op == "mod" and index.b == Const(extent, index.b.dtype):
        index = index.a
    match index:
        case Var(name):
            return name, 1
        case Binary("floordiv", Var(name), Const(place)):
            return name, int(place)
    return None


def _joined(
    tensor: Tensor, name: str, pieces: list[tuple[int, int, Var]], extents: Mapping[str, int]
) -> Expr:
    """The axis whose digits, at these places and of these extents, variables are."""
    total: Expr | None = None
    expected = 1
    for place, extent, var in sorted(pieces, key=lambda piece: piece[0]):
        if place != expected:
            raise NoMatchError(f"{tensor.name} is not read element by element")
        expected *= extent
        term = var if place == 1 else var * place
        total = term if total is None else term + total
    if expected != extents[name] or total is None:
        raise NoMatchError(f"{tensor.name} is not read element by element")
    return total


def place_of(read: Read, found: Contraction) -> Place:
    """Where a read's element is. Raises NoMatchError for an index that is not affine."""
    simplifier = Simplifier()
    strides: dict[str, int] = {}
    offset, row = 0, 1
    for index, extent in zip(
        reversed(read.indices), reversed(static_shape(read.tensor)), strict=True
    ):
        form = affine_index(index, found.extents, simplifier)
        if form is None:
            raise NoMatchError(f"{read.tensor.name} is not read at sums of multiples of axes")
        offset += row * form.offset
        for name, k in _live(form, found.extents).coefficients:
            strides[name] = strides.get(name, 0) + row * k
        row *= extent
    return Place(read.tensor, strides, offset)


NARROW = {"int32": ("int8", "uint8"), "float32": ("bfloat16",)}
"""Types of factors whose products instructions add to a sum of this type."""


def narrow_factors(product: Expr) -> tuple[Read, Read] | None:
    """The two reads that a term of a sum multiplies, of tensors with fewer bits than the sum has;
    None where it is another term.
    """
    if not isinstance(product, Binary) or product.op != "mul":
        return None
    a, b = (e.x if isinstance(e, Cast) else e for e in (product.a, product.b))
    if not isinstance(a, Read) or not isinstance(b, Read):
        return None
    kinds = NARROW.get(product.dtype.name, ())
    fits = a.tensor.dtype.name in kinds and b.tensor.dtype.name in kinds
    return (a, b) if fits else None

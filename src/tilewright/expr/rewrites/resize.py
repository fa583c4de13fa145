"""A stage alone, over axes of other extents: what it reads becomes just as large as it needs.

    y[h, c] = Σ_r pad[h * 2 + r, c] * w[r, c]       h < 7, r < 3, c < 64
      ->      Σ_r pad[h + r, c] * w[r, c]           h < 4, r < 1, c < 32: pad [4, 32], w [1, 32]

Extents do not determine everything. What they leave open (ETO, section 6.2: "default values"):

- A *window*, an index that sums a reduction axis and a spatial axis which moves no other operand,
  has stride 1 and dilation 1.
- A *block*, an index `number * extent of a reduction axis + that axis`, keeps to the new extent.
  Where the number is `axis // outputs` (a grouped convolution), there stay as many blocks.
- A stage that inserts zeros (a transposed convolution's) is kept, with the distance of the zeros:
  they decide which products there are. Other stages are operands like data: no padding.
- All other literals stay.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from tilewright.expr.access import branches_on_position, is_data_dependent
from tilewright.expr.index.affine import Affine, AffineForms
from tilewright.expr.index.intervals import Interval, interval
from tilewright.expr.index.polynomials import sort_key
from tilewright.expr.nodes import (
    Axis,
    Binary,
    Const,
    Expr,
    Read,
    Reduce,
    Select,
    Tensor,
    Var,
    as_expr,
    binary,
    select,
)
from tilewright.expr.reference import compute_of, extents_of, static_shape
from tilewright.expr.structure import with_unit_axes
from tilewright.expr.tensors import Compute, Placeholder, Table
from tilewright.expr.traversal import conjuncts, free_vars, reads, substitute, transform
from tilewright.ground.errors import InputError

Numbers = Mapping[str, tuple[str, str, int]]
"""Names that stand for `axis // literal` and `axis % literal`: operation, axis and literal."""


def resized(stage: Tensor, extents: Sequence[int]) -> Tensor:
    """The stage with these extents of its axes, spatial before reduction.

    Operands become placeholders; constants stay constants, tables tables. Raises InputError where
    the extents do not fit the axes, or the indices do not say what they are at other extents.
    """
    axes = (*compute_of(stage).axes, *compute_of(stage).reduce_axes)
    if len(extents) != len(axes) or any(e < 1 for e in extents):
        raise InputError(
            f"{stage.name} has {len(axes)} axes; {list(extents)} are not their extents"
        )
    new = dict(zip((a.name for a in axes), extents, strict=True))
    compute = replace(compute_of(stage), body=with_unit_axes(compute_of(stage)))
    if branches_on_position(compute) or is_data_dependent(compute):
        raise InputError(f"{stage.name} decides by position or data what it reads")
    body = _with_operands(_Indices(stage.name, compute, new).body(), _ranges(new))
    if isinstance(body, Reduce):
        body = replace(body, axes=_with_extents(body.axes, new))
    spatial = _with_extents(compute.axes, new)
    shape = tuple(new[a.name] for a in compute.axes)
    return replace(stage, shape=shape, source=replace(compute, axes=spatial, body=body))


def _ranges(extents: Mapping[str, int]) -> dict[str, Interval]:
    return {n: Interval(0, e - 1) for n, e in extents.items()}


def _with_extents(axes: Sequence[Axis], extents: Mapping[str, int]) -> tuple[Axis, ...]:
    return tuple(replace(a, extent=extents[a.name]) for a in axes)


class _Indices:
    """Indices of a stage at other extents."""

    def __init__(self, name: str, compute: Compute, new: Mapping[str, int]) -> None:
        self.name, self.compute, self.new = name, compute, new
        self.old = extents_of((*compute.axes, *compute.reduce_axes))
        self.reduced = {a.name for a in compute.reduce_axes}
        self.movers: dict[str, set[str]] = {}  # operand -> the axes that move it
        for r in reads(compute.body):
            self.movers.setdefault(r.tensor.name, set()).update(*map(free_vars, r.indices))
        self.blocks: dict[tuple[str, int], int] = {}  # (axis, literal) -> the new literal

    def body(self) -> Expr:
        """The stage's body with all indices rewritten."""
        found = reads(self.compute.body)
        for r in found:  # one axis' blocks are the same in all operands
            for i in r.indices:
                self._note_blocks(*self._affine(i))

        def leaf(e: Expr) -> Expr | None:
            if not isinstance(e, Read):
                return None
            return Read(e.tensor, tuple(self._index(i, e.tensor.name) for i in e.indices))

        return transform(self.compute.body, leaf)

    def _affine(self, index: Expr) -> tuple[Affine, Numbers]:
        """The index over axes, their quotients and remainders, which are `numbers`."""
        forms = AffineForms()
        form, numbers = forms.of(index), dict[str, tuple[str, str, int]]()
        for name, e in forms.opaque.items():
            match e:
                case Binary("floordiv" | "mod" as op, Var(axis, _), Const(k)):
                    numbers[name] = op, axis, int(k)
                case _:
                    raise InputError(
                        f"{self.name}: nothing says what {sort_key(index)} is at other extents"
                    )
        return form, numbers

    def _blocked(self, index: Affine, numbers: Numbers) -> str | None:
        """The reduction axis whose blocks an index numbers."""
        terms = dict(index.terms)
        inner = [n for n in terms if n in self.reduced]
        if len(inner) != 1 or len(terms) != 2 or terms[inner[0]] != 1:
            return None
        (number,) = terms.keys() - {inner[0]}
        _, axis, _ = numbers.get(number, ("", number, 1))
        movers = [axis in axes for axes in self.movers.values()]
        return inner[0] if movers.count(True) > 1 and terms[number] == self.old[inner[0]] else None

    def _note_blocks(self, index: Affine, numbers: Numbers) -> None:
        if self._blocked(index, numbers) is None:
            return
        for _, axis, outputs in numbers.values():
            count = -(-self.old[axis] // outputs)
            self.blocks[axis, outputs] = -(-self.new[axis] // count)

    def _index(self, index: Expr, operand: str) -> Expr:
        found, numbers = self._affine(index)
        within = self._blocked(found, numbers)
        others = [axes for name, axes in self.movers.items() if name != operand]
        order = (*self.old, *numbers)
        terms = dict(sorted(found.terms, key=lambda t: order.index(t[0])))
        window = terms.keys() & self.reduced and any(
            n in self.old and n not in self.reduced and not any(n in axes for axes in others)
            for n in terms
        )
        total = as_expr(found.const)
        for name, k in terms.items():
            factor = k
            if within is not None:
                factor = 1 if name == within else self.new[within]
            elif window:
                factor = 1 if k > 0 else -1
            total = total + self._term(name, numbers) * factor
        return total

    def _term(self, name: str, numbers: Numbers) -> Expr:
        if name not in numbers:
            return Var(name)
        op, axis, literal = numbers[name]
        return binary(op, Var(axis), self.blocks.get((axis, literal), literal))


def _with_operands(body: Expr, ranges: Mapping[str, Interval]) -> Expr:
    """`body` reading tensors that are as large as what it reads of them, each from 0 on."""
    found: dict[str, tuple[Tensor, list[Interval]]] = {}
    for r in reads(body):
        reach = [interval(i, ranges) for i in r.indices]
        _, known = found.get(r.tensor.name, (r.tensor, reach))
        whole = [a.union(b) for a, b in zip(known, reach, strict=True)]
        found[r.tensor.name] = r.tensor, whole
    made = {name: _operand(t, reach) for name, (t, reach) in found.items()}

    def leaf(e: Expr) -> Expr | None:
        if not isinstance(e, Read):
            return None
        tensor, lows = made[e.tensor.name]
        return Read(tensor, tuple(i - low for i, low in zip(e.indices, lows, strict=True)))

    return transform(body, leaf)


def _operand(tensor: Tensor, reach: Sequence[Interval]) -> tuple[Tensor, list[int]]:
    """What replaces an operand, and its element that is now the first."""
    bounds = [(i.lo, i.hi) for i in reach if i.lo is not None and i.hi is not None]
    if len(bounds) != len(reach):
        raise InputError(f"nothing bounds the elements that are read of {tensor.name}")
    shape, lows = tuple(hi - lo + 1 for lo, hi in bounds), [lo for lo, _ in bounds]
    source = tensor.source
    if isinstance(source, Table):
        inside = zip(bounds, static_shape(tensor), strict=True)
        if not all(lo >= 0 and hi < extent for (lo, hi), extent in inside):
            raise InputError(f"the table {tensor.name} has no values for other extents")
        return tensor, [0] * tensor.rank
    if isinstance(source, Compute):
        spread = _between_zeros(tensor, source, shape, lows)
        if spread is not None:
            return spread, lows
    constant = isinstance(source, Placeholder) and source.constant
    return replace(tensor, shape=shape, source=Placeholder(constant)), lows


def _between_zeros(
    tensor: Tensor, source: Compute, shape: tuple[int, ...], lows: Sequence[int]
) -> Tensor | None:
    """The stage that inserts zeros, of this shape from `lows` on; None for any other stage.

    Of what it tests, the distance of the zeros stays; where the data end does not.
    """
    match source.body:
        case Select(cond, value, Const(0) as zero):
            tests = [c for c in conjuncts(cond) if _is_congruence(c)]
        case _:
            return None
    if not tests:
        return None
    extents = {a.name: e for a, e in zip(source.axes, shape, strict=True)}
    moved: dict[str, Expr] = {a.name: a.var + low for a, low in zip(source.axes, lows, strict=True)}
    inner = _with_operands(substitute(value, moved), _ranges(extents))
    test = substitute(reduce(operator.and_, tests), moved)
    axes = _with_extents(source.axes, extents)
    spread = Compute(axes, select(test, inner, zero), source.hints)
    return replace(tensor, shape=shape, source=spread)


def _is_congruence(e: Expr) -> bool:
    match e:
        case Binary("eq", Binary("mod", _, Const()), Const()):
            return True
    return False

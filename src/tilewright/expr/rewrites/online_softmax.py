"""The online form of a softmax whose quotients are weights of a sum, found and built from the
expressions alone.

    o[i, j] = Σ_k p[i, k] * v[k, j],   p = e / Σ_k e,   e = exp(x - max_k x)

needs a whole row of x before its first product. In chunks of `k` each chunk takes its own maximum,
and what a chunk has in common is put right afterwards, in a few operations a chunk (Milakov and
Gimelshein, 2018, arXiv 1805.02867; of attention: Dao et al., 2022). Here chunks are independent, as
in flash-decoding, and k = c * length + r:

    m[i, c] = max_r x,   e[i, c, r] = exp(x - m),   s[i, c] = Σ_r e
    q[i, c, j] = Σ_r e * v,   y[i, c, j] = q / s                       of each chunk
    g[i, c] = exp(m[i, c] - max_c m) * s[i, c]                         what a chunk weighs
    o[i, j] = Σ_c y[i, c, j] * (g[i, c] / Σ_c g)

    lengths(extent)                    of chunks that divide so many terms
    find(compute, definition)          what the weights are made of; None for another expression
    rewrite(tensor, found, length)     the stages that compute the same

Scores of minus infinity (a mask) stay defined: maxima are not below the least finite number, so
that a chunk without any other score has exponentials 0, and s, at least 1 elsewhere, is 1 where it
divides. A row without any other score is NaN, as in the direct form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import (
    Axis,
    Binary,
    Call,
    Expr,
    Read,
    Reduce,
    Tensor,
    as_expr,
    binary,
    call,
    const,
)
from tilewright.expr.reference import compute_of
from tilewright.expr.tensors import Compute
from tilewright.expr.traversal import free_vars, reads, substitute

LEAST_BITS = 32  # narrower floats would be rounded more often than in the direct form
LENGTHS = (256, 512)  # about how long chunks are: some rows of that stay in the first-level cache
FEWEST = 4  # chunks

Definition: TypeAlias = Callable[[Tensor], Compute | None]
"""How a tensor is computed; None for one that is given."""


@dataclass(frozen=True, slots=True)
class SoftmaxProduct:
    """A sum over one axis of `weights`, a softmax along their dimension `key`, times `values`.

    `axes` are those of the weights, over which `scores` says of what they are the softmax.
    `replaced` names the stages that no one needs any more: the softmax's.
    """

    weights: Read
    key: int
    values: Expr
    axes: tuple[Axis, ...]
    scores: Expr
    replaced: tuple[str, ...]

    @property
    def rows(self) -> tuple[Axis, ...]:
        """The axes of the weights but `key`."""
        return tuple(a for d, a in enumerate(self.axes) if d != self.key)


@dataclass(frozen=True, slots=True)
class OnlineForm:
    """What is computed instead of a `SoftmaxProduct`, in chunks along the axis `chunk`: of each one
    its maxima, exponentials, their sums, products, and these divided; of each row the maximum, what
    each chunk weighs, the sum of that, and the chunk's share; and the `result`, how the last stage
    is computed now.
    """

    chunk: Axis
    chunk_max: Tensor
    exponentials: Tensor
    chunk_sum: Tensor
    products: Tensor
    partial: Tensor
    row_max: Tensor
    weights: Tensor
    row_sum: Tensor
    shares: Tensor
    result: Compute

    @property
    def stages(self) -> tuple[Tensor, ...]:
        """All new stages in the order of their computation."""
        return (*self.of_chunks, self.products, self.partial, *self.of_rows)

    @property
    def of_chunks(self) -> tuple[Tensor, ...]:
        """Those that a chunk's products wait for."""
        return (self.chunk_max, self.exponentials, self.chunk_sum)

    @property
    def of_rows(self) -> tuple[Tensor, ...]:
        """Those that wait for all chunks of a row."""
        return (self.row_max, self.weights, self.row_sum, self.shares)

    @property
    def kept(self) -> tuple[Tensor, ...]:
        """Those of a chunk that the stages of its row read, too."""
        return (self.chunk_max, self.chunk_sum)


def lengths(extent: int) -> list[int]:
    """Lengths of chunks that suit a row of so many scores, at most two; they divide it."""
    near = range(LENGTHS[0] // 2 + 1, min(2 * LENGTHS[-1], extent // FEWEST + 1))
    exact = [n for n in near if extent % n == 0]
    return list(dict.fromkeys(min(exact, key=lambda n: abs(n - x)) for x in LENGTHS if exact))


# ---- finding it -----------------------------------------------------------------------------


def find(source: Compute, definition: Definition) -> SoftmaxProduct | None:
    """The softmax in an expression, None where it has none that `rewrite` can transform."""
    body = source.body
    if not (isinstance(body, Reduce) and body.op == "sum" and len(body.axes) == 1):
        return None
    if not (isinstance(body.body, Binary) and body.body.op == "mul"):
        return None
    if not all(isinstance(a.extent, int) for a in (*source.axes, *body.axes)):
        return None
    (over,) = body.axes
    a, b = body.body.a, body.body.b
    for weights, values in ((a, b), (b, a)):
        if isinstance(weights, Read) and weights.indices.count(over.var) == 1:
            key = weights.indices.index(over.var)
            others = (i for d, i in enumerate(weights.indices) if d != key)
            if any(over.name in free_vars(i) or reads(i) for i in others):
                continue
            found = _Search(definition, weights.tensor).softmax(key)
            if found is not None and weights.tensor.shape[key] == over.extent:
                axes, scores, replaced = found
                if not any(r.tensor.name in replaced for r in reads(values)):
                    return SoftmaxProduct(weights, key, values, axes, scores, replaced)
    return None


class _Search:
    """Looks for a softmax behind `tensor`; `met` are the stages that it is made of."""

    def __init__(self, definition: Definition, tensor: Tensor) -> None:
        self.definition = definition
        self.tensor = tensor
        self.met: dict[str, None] = {}

    def softmax(self, key: int) -> tuple[tuple[Axis, ...], Expr, tuple[str, ...]] | None:
        """The tensor's axes, the scores over them, and the names of all stages of the softmax."""
        source = self.definition(self.tensor)
        if source is None or isinstance(source.body, Reduce):
            return None
        along = source.axes[key]
        # index 0 of a dimension of extent 1 is written as an axis here, as a number there
        units: dict[str, Expr] = {a.name: as_expr(0) for a in source.axes if a.extent == 1}
        own = tuple(units.get(a.name, a.var) for a in source.axes)
        quotient = self.expanded(Read(self.tensor, own))
        if not (isinstance(quotient, Binary) and quotient.op == "div"):
            return None
        top, total = self.expanded(quotient.a), self.expanded(quotient.b)
        if not (isinstance(top, Call) and top.fn == "exp" and isinstance(total, Read)):
            return None
        difference = self.expanded(top.args[0])
        if not (isinstance(difference, Binary) and difference.op == "sub"):
            return None
        scores, most = difference.a, self.expanded(difference.b)
        if not isinstance(most, Read) or self.reduced("max", most, along) != simplify(scores):
            return None
        term = self.reduced("sum", total, along)
        if term is None or simplify(self.expanded(term)) != simplify(top):
            return None
        return source.axes, scores, tuple(self.met)

    def expanded(self, e: Expr) -> Expr:
        """The expression of an element that is computed by itself, that of another one as is."""
        while isinstance(e, Read) and self.is_wide(e.tensor):
            source = self.definition(e.tensor)
            if source is None or isinstance(source.body, Reduce):
                break
            self.met[e.tensor.name] = None
            e = _at(source, e, source.body)
        return e

    def reduced(self, op: str, read: Read, along: Axis) -> Expr | None:
        """What an element, the same all along an axis, reduces along that axis; None where it does
        not.
        """
        source = self.definition(read.tensor)
        if source is None or not self.is_wide(read.tensor) or along.name in free_vars(read):
            return None
        body = source.body
        if not (isinstance(body, Reduce) and body.op == op and len(body.axes) == 1):
            return None
        if body.axes[0].extent != along.extent:
            return None
        self.met[read.tensor.name] = None
        return simplify(_at(source, read, body.body, {body.axes[0].name: along.var}))

    def is_wide(self, tensor: Tensor) -> bool:
        """Whether its elements are stored as they are computed, in the type of the weights."""
        dtype = tensor.dtype
        return dtype == self.tensor.dtype and dtype.is_float and dtype.bits >= LEAST_BITS


def _at(source: Compute, read: Read, e: Expr, others: dict[str, Expr] | None = None) -> Expr:
    """An expression over a stage's axes at the element that `read` reads."""
    values = {a.name: i for a, i in zip(source.axes, read.indices, strict=True)}
    return substitute(e, values | (others or {}))


# ---- building it ----------------------------------------------------------------------------


def rewrite(tensor: Tensor, found: SoftmaxProduct, length: int) -> OnlineForm:
    """The online form of `tensor`, whose expression `found` is, in chunks of `length`, which must
    divide the extent of what is summed.
    """
    return _Rewriting(tensor, found, length).run()


class _Rewriting:
    """Axes: `c` a chunk, `r` a position in it."""

    def __init__(self, tensor: Tensor, found: SoftmaxProduct, length: int) -> None:
        self.tensor = tensor
        self.source = compute_of(tensor)
        self.found = found
        (over,) = self.source.reduce_axes
        assert isinstance(over.extent, int)
        self.over = over
        self.rows = found.rows
        self.chunk = Axis(f"{over.name}.c", over.extent // length)
        self.chunks = Axis(self.chunk.name, self.chunk.extent, reduce=True)
        self.place = Axis(f"{over.name}.r", length)
        self.places = Axis(self.place.name, length, reduce=True)
        self.at = self.chunk.var * length + self.place.var
        self.lowest = const(float(np.finfo(tensor.dtype.name).min), tensor.dtype)

    def run(self) -> OnlineForm:
        rows, chunk, place = self.rows, self.chunk, self.place
        scores = substitute(self.found.scores, {self.found.axes[self.found.key].name: self.at})
        chunk_max = self._stage("chunk_max", (*rows, chunk), self._over_places("max", scores))
        most = binary("max", _element(chunk_max, (*rows, chunk)), self.lowest)
        exponentials = self._stage("exp", (*rows, chunk, place), call("exp", scores - most))
        terms = _element(exponentials, (*rows, chunk, place))
        chunk_sum = self._stage("chunk_sum", (*rows, chunk), self._over_places("sum", terms))
        products, partial = self._products(exponentials, chunk_sum)
        chunk_tops = _element(chunk_max, (*rows, chunk))
        row_max = self._stage("row_max", rows, Reduce("max", (self.chunks,), chunk_tops))
        top = binary("max", _element(row_max, rows), self.lowest)
        weight = call("exp", most - top) * _element(chunk_sum, (*rows, chunk))
        weights = self._stage("weights", (*rows, chunk), weight)
        mine = _element(weights, (*rows, chunk))
        row_sum = self._stage("row_sum", rows, Reduce("sum", (self.chunks,), mine))
        share = mine / _element(row_sum, rows)
        shares = self._stage("shares", (*rows, chunk), share)
        return OnlineForm(
            chunk, chunk_max, exponentials, chunk_sum, products, partial,
            row_max, weights, row_sum, shares, self._result(partial, shares),
        )  # fmt: skip

    def _products(self, exponentials: Tensor, chunk_sum: Tensor) -> tuple[Tensor, Tensor]:
        """Sums of products of each chunk, and these divided by the sum of its exponentials."""
        axes, mine = self._with_chunk(), self._row_indices()
        values = substitute(self.found.values, {self.over.name: self.at})
        term = Read(exponentials, (*mine, self.chunk.var, self.place.var)) * values
        products = self._stage("products", axes, self._over_places("sum", term))
        least = binary("max", Read(chunk_sum, (*mine, self.chunk.var)), const(1.0, term.dtype))
        return products, self._stage("partial", axes, _element(products, axes) / least)

    def _result(self, partial: Tensor, shares: Tensor) -> Compute:
        share = Read(shares, (*self._row_indices(), self.chunk.var))
        body = Reduce("sum", (self.chunks,), _element(partial, self._with_chunk()) * share)
        return Compute(self.source.axes, body, self.source.hints)

    def _with_chunk(self) -> tuple[Axis, ...]:
        """The axes of the sum, that of the chunks behind those that move the weights: rows of
        what the chunks have in common stay together.
        """
        moving = free_vars(self.found.weights)
        first = [i for i, a in enumerate(self.source.axes) if a.name in moving]
        behind = first[-1] + 1 if first else 0
        return (*self.source.axes[:behind], self.chunk, *self.source.axes[behind:])

    def _row_indices(self) -> tuple[Expr, ...]:
        """Where the sum reads its weights, without the position in their row."""
        return tuple(i for d, i in enumerate(self.found.weights.indices) if d != self.found.key)

    def _over_places(self, op: str, term: Expr) -> Reduce:
        return Reduce(op, (self.places,), term)

    def _stage(self, part: str, axes: tuple[Axis, ...], body: Expr) -> Tensor:
        shape = tuple(a.extent for a in axes)
        return Tensor(f"{self.tensor.name}.{part}", shape, self.tensor.dtype, Compute(axes, body))


def _element(tensor: Tensor, axes: tuple[Axis, ...]) -> Read:
    return Read(tensor, tuple(a.var for a in axes))

"""Einstein summation: products of tensors, summed over the labels that the result lacks.

einsum("bij,bjk->bik", a, b)        einsum("...ii->...i", x)        einsum("ij->", x)
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

from tilewright.expr.nodes import Expr, Extent, Tensor
from tilewright.expr.operators.shapes import Unequal, accumulated, sum_dtype
from tilewright.expr.tensors import compute, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.expr.text import extent_text
from tilewright.ground.errors import ExprError


def einsum(equation: str, *tensors: Tensor, name: str = "einsum") -> Tensor:
    """NumPy's `einsum`; an ellipsis stands for leading dimensions that broadcast.

    Without an arrow the result has the labels that occur once, in alphabetical order. Raises
    ExprError for an equation that does not fit the operands.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(tensors):
        raise ExprError(f"{name}: {equation!r} has {len(terms)} operands, {len(tensors)} are given")
    widest = max(_dots(term, t) for term, t in zip(terms, tensors, strict=True))
    dots = tuple(f".{n}" for n in range(widest))
    labels = [_labels(term, t, dots) for term, t in zip(terms, tensors, strict=True)]
    sizes = _sizes(labels, tensors, equation, name)
    if arrow:
        before, _, after = right.partition("...")
        result = (*before, *(dots if "..." in right else ()), *after)
    else:
        single = {c for c in left if c.isalpha() and left.count(c) == 1}
        result = (*dots, *sorted(single))
    if len(set(result)) != len(result) or not set(result) <= set(sizes):
        raise ExprError(f"{name}: the result of {equation!r} has labels that the operands lack")
    over = {
        label: reduce_axis(n, f"r{i}")
        for i, (label, n) in enumerate(sizes.items())
        if label not in result
    }

    def body(*index: Any) -> Expr:
        where = dict(zip(result, index, strict=True)) | over
        factors = []
        for t, mine in zip(tensors, labels, strict=True):
            at = [0 if e == 1 else where[c] for c, e in zip(mine, t.shape, strict=True)]
            factors.append(accumulated(t[tuple(at)]))
        product = reduce(operator.mul, factors)
        return sum_over(product, tuple(over.values())) if over else product

    shape = tuple(sizes[c] for c in result)
    dtype = sum_dtype(*tensors) if over or len(tensors) > 1 else tensors[0].dtype
    return compute(shape, body, name=name, dtype=dtype)


def _dots(term: str, tensor: Tensor) -> int:
    """How many dimensions the ellipsis of a term stands for."""
    return tensor.rank - len(term.replace("...", "")) if "..." in term else 0


def _labels(term: str, tensor: Tensor, dots: Sequence[str]) -> tuple[str, ...]:
    before, _, after = term.partition("...")
    count = _dots(term, tensor)
    return (*before, *(dots[len(dots) - count :]), *after)


def _sizes(
    labels: Sequence[Sequence[str]], tensors: Sequence[Tensor], equation: str, name: str
) -> dict[str, Extent]:
    sizes: dict[str, Extent] = {}
    for mine, tensor in zip(labels, tensors, strict=True):
        if len(mine) != tensor.rank:
            raise ExprError(f"{name}: {equation!r} does not fit the shape {tensor.shape}")
        for label, extent in zip(mine, tensor.shape, strict=True):
            known = sizes.get(label, 1)
            if extent != known and 1 not in (extent, known):
                said = f"{extent_text(known)} and {extent_text(extent)}"
                raise Unequal(f"{name}: {label!r} of {equation!r} is {said}", known, extent)
            sizes[label] = extent if known == 1 else known
    return sizes

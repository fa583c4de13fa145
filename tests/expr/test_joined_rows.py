"""Dimensions that only count rows become one, and the mathematics stays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.contract.sizes import Size
from tilewright.expr import operators as op
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.nodes import Tensor, Var, cast
from tilewright.expr.reference import static_shape
from tilewright.expr.rewrites.joined_rows import with_joined_rows
from tilewright.expr.sizes import extent_at, shape_at
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over

B, H, W = Var("B"), Var("H"), Var("W")
SIZES = (Size("B", 1, 3), Size("H", 1, 5), Size("W", 2, 7))
VALUES = {"B": 3, "H": 4, "W": 5}


def dense(x: Tensor, columns: int = 8) -> Tensor:
    """x[..., k] · w, not less than 0."""
    *rows, terms = x.shape
    w, k = placeholder((terms, columns), name="w", constant=True), reduce_axis(terms, "k")
    y = compute(
        (*rows, columns), lambda *at: sum_over(x[(*at[:-1], k)] * w[k, at[-1]], k), name="c"
    )
    return op.relu(y, name="y")


def image(*extents: object) -> Tensor:
    return placeholder((*extents, 16), name="x")


def of_one_tap() -> Tensor:
    """A convolution of 1 x 1, as the library writes it."""
    x, w = image(1, H, W), placeholder((1, 1, 16, 8), name="w", constant=True)
    r, q, k = (reduce_axis(n, name) for n, name in ((1, "r"), (1, "q"), (16, "k")))
    return compute(
        (1, H, W, 8),
        lambda n, h, v, f: sum_over(x[n, h + r, v + q, k] * w[r, q, k, f], (r, q, k)),
    )


def weight(name: str) -> Tensor:
    return placeholder((16,), name=name, constant=True)


def beside(rows: tuple[object, ...]) -> Tensor:
    """A sum with what has these dimensions."""
    x, other = image(B, H), placeholder((*rows, 16), name="other")
    if len(rows) == 2:
        return compute((B, H, 16), lambda b, h, c: x[b, h, c] + other[b, h, c], name="y")
    return compute((B, H, 16), lambda b, h, c: x[b, h, c] + other[h, c], name="y")


JOINED: dict[str, tuple[Callable[[], Tensor], int]] = {
    "texts": (lambda: dense(image(B, H)), 1),
    "images": (lambda: dense(image(1, H, W)), 1),
    "images of a batch": (lambda: dense(image(B, H, W)), 2),
    "a convolution of one tap": (of_one_tap, 1),
    "a batch that is a number": (lambda: dense(image(4, H)), 1),
    "normalised": (lambda: op.layer_norm(image(B, H), *map(weight, "gb")), 1),
    "two arrays": (lambda: beside((B, H)), 1),
}  # fmt: skip
APART: dict[str, Callable[[], Tensor]] = {
    "rows of another array": lambda: beside((H,)),
    "a length that is a number": lambda: dense(image(B, 4)),
    "one dimension and columns": lambda: dense(image(B)),
    "columns that vary": lambda: op.relu(placeholder((B, H), name="x")),
    "a shifted row": lambda: compute((B, H, 16), lambda b, h, c: image(B, H + 1)[b, h + 1, c]),
    "turned rows": lambda: compute((B, H, 16), lambda b, h, c: image(H, B)[h, b, c]),
    "what asks for the row": lambda: compute(
        (B, H, 16), lambda b, h, c: image(B, H)[b, h, c] + cast(FLOAT32, h.var)
    ),
}


@pytest.mark.parametrize("name", JOINED)
def test_rows_are_one_dimension(name: str) -> None:
    made, fewer = JOINED[name]
    dag = ComputeDAG([made()], SIZES)
    joined, given = with_joined_rows(dag)
    assert joined.outputs[0].rank == dag.outputs[0].rank - fewer
    numbers = {s.name: extent_at(e, VALUES) for s, e in zip(joined.sizes, given, strict=True)}
    assert all(s.least <= numbers[s.name] <= s.most for s in joined.sizes)
    rng, before, after = np.random.default_rng(0), dag.at(VALUES), joined.at(numbers)
    arrays = {
        t.name: rng.standard_normal(static_shape(t)).astype("f4")
        for t in (*before.inputs, *before.constants)
    }
    shapes = {t.name: static_shape(t) for t in (*after.inputs, *after.constants)}
    rows = {n: a.reshape(shapes[n]) for n, a in arrays.items()}
    (wanted,), (found,) = before.evaluate(arrays).values(), after.evaluate(rows).values()
    np.testing.assert_array_equal(found.reshape(shape_at(dag.outputs[0], VALUES)), wanted)


@pytest.mark.parametrize("name", APART)
def test_what_needs_both_dimensions_keeps_them(name: str) -> None:
    dag = ComputeDAG([APART[name]()], SIZES)
    joined, given = with_joined_rows(dag)
    assert joined is dag and given == tuple(Var(s.name) for s in SIZES)


def test_rows_that_are_a_pitch_apart_are_not_joined() -> None:
    sizes = (Size("B", 1, 3), Size("H", 1, 5, pitched=True))
    dag = ComputeDAG([dense(image(B, H))], sizes)
    assert with_joined_rows(dag)[0] is dag


def test_they_are_measured_where_the_sizes_are_said_to_be() -> None:
    sizes = (Size("B", 1, 3, ((1, 1.0), (2, 3.0))), Size("H", 1, 5, ((5, 1.0), (2, 1.0))))
    (rows,) = with_joined_rows(ComputeDAG([dense(image(B, H))], sizes))[0].sizes
    assert (rows.least, rows.most) == (1, 15) and dict(rows.points) == {10: 0.75, 2: 0.25}

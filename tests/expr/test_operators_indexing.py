"""Operators whose data say where elements go, and those that count along an axis, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operator_cases import Array, close, like, normal, onnx_node, run

from tilewright.expr import operators as op
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import ExprError

equal = np.testing.assert_array_equal
REDUCTIONS = ("none", "add", "mul", "max", "min")


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_scatter_elements(axis: int, reduction: str, dtype: str) -> None:
    """Indices that repeat, count from the end, and cover a part of the other dimensions."""
    x = np.abs(normal(4, 5, 3, dtype=dtype)).astype(dtype) // np.dtype(dtype).type(8)
    extent = x.shape[axis]
    indices = np.random.default_rng(axis % 3).integers(-extent, extent, (3, 4, 2))
    if reduction == "none":  # several updates of one element: their order is ours to say
        shape = [1, 1, 1]
        shape[axis] = -1
        backwards = np.arange(indices.shape[axis])[::-1].reshape(shape)
        indices = np.ascontiguousarray(np.broadcast_to(backwards, (3, 4, 2)))
    updates = (np.abs(normal(3, 4, 2, seed=3, dtype=dtype)) / 9).astype(dtype)
    y = op.scatter_elements(
        like("x", x), like("i", indices), like("u", updates), axis, reduction=reduction
    )
    expected = reference_scatter(x, indices, updates, axis, reduction)
    np.testing.assert_allclose(
        run(y, x=x, i=indices, u=updates).astype(float), expected.astype(float), rtol=1e-3
    )


def reference_scatter(x: Array, indices: Array, updates: Array, axis: int, reduction: str) -> Array:
    combine: dict[str, Any] = {
        "none": lambda a, b: b, "add": np.add, "mul": np.multiply,
        "max": np.maximum, "min": np.minimum,
    }  # fmt: skip
    y = x.astype(np.float64) if x.dtype.kind == "f" else x.copy()
    for place in np.ndindex(indices.shape):
        at = list(place)
        at[axis] = indices[place]
        y[tuple(at)] = combine[reduction](y[tuple(at)], updates[place])
    return y.astype(x.dtype)


def test_the_last_update_of_an_element_wins() -> None:
    x, indices = np.zeros(3, np.float32), np.array([1, 1, -2])
    updates = np.float32([5, 6, 7])
    y = op.scatter_elements(like("x", x), like("i", indices), like("u", updates))
    equal(run(y, x=x, i=indices, u=updates), [0, 7, 0])


def test_updates_out_of_range_are_ignored() -> None:
    x, indices = np.float32([1, 2, 3]), np.array([3, -4, 0])
    updates = np.float32([5, 6, 7])
    y = op.scatter_elements(like("x", x), like("i", indices), like("u", updates))
    equal(run(y, x=x, i=indices, u=updates), [7, 2, 3])


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_scatter_nd(depth: int, reduction: str) -> None:
    x = normal(4, 3, 2)
    count = 4 if depth == 1 else 5
    numbers = np.random.default_rng(1).permutation(int(np.prod(x.shape[:depth])))[:count]
    indices = np.stack(np.unravel_index(numbers, x.shape[:depth]), -1)
    updates = normal(count, *x.shape[depth:], seed=5)
    y = op.scatter_nd(like("x", x), like("i", indices), like("u", updates), reduction=reduction)
    expected = onnx_node("ScatterND", x, indices, updates, opset=18, reduction=reduction)
    close(run(y, x=x, i=indices, u=updates), expected)


@pytest.mark.parametrize(("batch_dims", "shape"), [(0, (5, 2)), (0, (2, 3, 1)), (1, (3, 4, 1))])
def test_gather_nd(batch_dims: int, shape: tuple[int, ...]) -> None:
    x = normal(3, 3, 2)
    indices = np.random.default_rng(2).integers(-2, 2, shape)
    y = op.gather_nd(like("x", x), like("i", indices), batch_dims)
    equal(run(y, x=x, i=indices), onnx_node("GatherND", x, indices, batch_dims=batch_dims))


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, -1])
def test_cumulative(axis: int, reverse: bool, exclusive: bool) -> None:
    x = normal(4, 7)
    options = {"exclusive": exclusive, "reverse": reverse}
    y = op.cumulative(like("x", x), axis, **options)
    expected = onnx_node(
        "CumSum", x, np.array(axis), opset=14, **{k: int(v) for k, v in options.items()}
    )
    close(run(y, x=x), expected)


def test_cumulative_product_of_integers() -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]])
    y = op.cumulative(like("x", x), 1, product=True)
    equal(run(y, x=x), [[1, 2, 6], [4, 20, 120]])
    y = op.cumulative(like("x", x), 1, product=True, exclusive=True, reverse=True)
    equal(run(y, x=x), [[6, 3, 1], [30, 6, 1]])


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("axis", [0, 1])
def test_top_indices(axis: int, largest: bool) -> None:
    x = np.round(normal(5, 6) * 2)  # with equal elements
    y = op.top_indices(like("x", x), 3, axis, largest=largest)
    order = np.argsort(-x if largest else x, axis=axis, kind="stable")
    equal(run(y, x=x), order.take(range(3), axis))


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("offset", [-2, 0, 1, 9])
def test_triangle(offset: int, upper: bool) -> None:
    x = normal(2, 4, 5)
    expected = np.triu(x, offset) if upper else np.tril(x, offset)
    equal(run(op.triangle(like("x", x), offset, upper=upper), x=x), expected)


def test_reverse_sequence() -> None:
    x, lengths = normal(4, 3, 2), np.array([1, 4, 3])
    y = op.reverse_sequence(like("x", x), like("n", lengths), batch_axis=1, time_axis=0)
    expected = x.copy()
    for b, n in enumerate(lengths):
        expected[:n, b] = x[:n, b][::-1]
    equal(run(y, x=x, n=lengths), expected)


@pytest.mark.parametrize("circular", [False, True])
def test_write_slice(circular: bool) -> None:
    x, update, starts = normal(3, 5, 2), normal(3, 3, 2, seed=9), np.array([0, 4, 2])
    y = op.write_slice(
        like("x", x), like("u", update), like("s", starts), axis=1, circular=circular
    )
    expected = x.copy()
    for b, start in enumerate(starts):
        for t in range(3):
            if circular or start + t < 5:
                expected[b, (start + t) % 5] = update[b, t]
    equal(run(y, x=x, u=update, s=starts), expected)


def test_count_grams() -> None:
    x, grams = np.array([[1, 2, 1, 2, 3]]), np.array([[1, 2], [2, 1], [1, 3]])
    y = op.count_grams(like("x", x), like("g", grams), skips=0)
    equal(run(y, x=x, g=grams), [[2, 1, 0]])
    y = op.count_grams(like("x", x), like("g", grams), skips=2)
    equal(run(y, x=x, g=grams), [[3, 1, 1]])
    single = np.array([[2], [4]])
    y = op.count_grams(like("x", x), like("g", single), skips=2)
    equal(run(y, x=x, g=single), [[2, 0]])


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_determinant(n: int) -> None:
    x = normal(3, n, n)
    close(run(op.determinant(like("x", x)), x=x), np.linalg.det(x), 1e-4)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", ((3, 4), (4, 5))),
        ("ij,jk", ((3, 4), (4, 5))),
        ("bij , bjk -> bik", ((2, 3, 4), (2, 4, 5))),
        ("...ij,jk->...ik", ((2, 6, 3, 4), (4, 5))),
        ("...i,...i->...", ((2, 1, 4), (3, 4))),
        ("ii->i", ((4, 4),)),
        ("...ii->...i", ((3, 4, 4),)),
        ("ii", ((4, 4),)),
        ("ba", ((3, 4),)),
        ("i,j,k->ikj", ((2,), (3,), (4,))),
        ("ij->", ((3, 4),)),
        ("ij->ji", ((3, 4),)),
    ],
)
def test_einsum(equation: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    arrays = {f"x{n}": normal(*s, seed=n) for n, s in enumerate(shapes)}
    y = op.einsum(equation, *(like(n, a) for n, a in arrays.items()))
    close(run(y, **arrays), np.einsum(equation, *arrays.values()))


X, AT = placeholder((4, 6), name="x"), placeholder((3, 2), "int64", name="i")


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: op.scatter_elements(X, AT, placeholder((2, 2), name="u")), "indices"),
        (lambda: op.scatter_elements(X, AT, placeholder((3, 2), name="u"), reduction="sub"), "sub"),
        (lambda: op.scatter_nd(X, AT, placeholder((3, 6), name="u")), "updates"),
        (lambda: op.gather_nd(X, AT, 1), "batch_dims=1"),
        (lambda: op.top_indices(X, 7), "7 of 6"),
        (lambda: op.triangle(placeholder((4,), name="v")), "needs matrices"),
        (lambda: op.determinant(X), "square matrices"),
        (lambda: op.einsum("ij,jk->ik", X), "has 2 operands, 1 are given"),
        (lambda: op.einsum("ijk->i", X), "does not fit the shape"),
        (lambda: op.einsum("ii->i", X), "'i' of 'ii->i' is 4 and 6"),
        (lambda: op.einsum("ij->k", X), "labels that the operands lack"),
    ],
)
def test_operands_that_do_not_fit(build: Any, says: str) -> None:
    with pytest.raises(ExprError, match=says):
        build()

"""Operators that move elements, against NumPy and onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operator_cases import channels_first, channels_last, like, normal, onnx_node, run

from tilewright.expr import operators as op
from tilewright.expr.nodes import Binary
from tilewright.expr.tensors import Compute, placeholder
from tilewright.expr.traversal import walk
from tilewright.ground.errors import ExprError

equal = np.testing.assert_array_equal


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ((2, 3, 4), (6, 4)),
        ((2, 3, 4), (2, 12)),
        ((2, 12), (2, 3, 4)),
        ((6, 4), (4, 6)),
        ((4, 6), (8, 3)),
        ((2, 3, 4), (-1,)),
        ((24,), (2, 3, -1)),
        ((1, 2, 1, 3), (2, 3)),
        ((2, 3), (2, 1, 3, 1)),
        ((2, 3, 4, 5), (3, 2, 20)),
        ((1,), ()),
        ((), (1, 1)),
    ],
)
def test_reshape(old: tuple[int, ...], new: tuple[int, ...]) -> None:
    x = np.asarray(normal(*old))
    equal(run(op.reshape(like("x", x), new), x=x), x.reshape(new))


def test_dimensions_that_stay_whole_keep_plain_indices() -> None:
    y = op.reshape(placeholder((8, 4, 6, 16), name="x"), (8, 24, 16))
    assert isinstance(y.source, Compute)
    divided = [e for e in walk(y.source.body) if isinstance(e, Binary) and e.op == "floordiv"]
    assert len(divided) == 1  # only the merged pair is divided


@pytest.mark.parametrize("axis", [0, 1, 3, -1])
def test_flatten(axis: int) -> None:
    x = normal(2, 3, 4)
    cut = axis % 3 if axis < 0 else axis
    expected = x.reshape(int(np.prod(x.shape[:cut], dtype=int)), -1)
    equal(run(op.flatten(like("x", x), axis), x=x), expected)


@pytest.mark.parametrize("order", [None, (0, 2, 1), (2, 0, 1), (1, -1, 0)])
def test_transpose(order: Any) -> None:
    x = normal(2, 3, 4)
    equal(run(op.transpose(like("x", x), order), x=x), np.transpose(x, order))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_concat(axis: int, count: int) -> None:
    arrays = {}
    for n in range(count):
        shape = [2, 3, 4]
        shape[axis] = n + 1
        arrays[f"x{n}"] = normal(*shape, seed=n)
    y = op.concat([like(n, a) for n, a in arrays.items()], axis)
    equal(run(y, **arrays), np.concatenate(list(arrays.values()), axis))


def test_one_tensor_may_be_joined_with_itself() -> None:
    x = normal(2, 3)
    t = like("x", x)
    equal(run(op.concat([t, t], 1), x=x), np.concatenate([x, x], 1))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_stack(axis: int) -> None:
    a, b = normal(2, 3), normal(2, 3, seed=1)
    equal(run(op.stack([like("a", a), like("b", b)], axis), a=a, b=b), np.stack([a, b], axis))


def test_element() -> None:
    x = normal(3)
    equal(run(op.element(like("x", x), at=2), x=x), x[2])


@pytest.mark.parametrize(
    ("starts", "stops", "steps", "axes"),
    [
        ((1,), (9,), None, None),
        ((1, 2), (5, 100), (2, 3), (0, 1)),
        ((-1,), (-100,), (-1,), (1,)),
        ((5,), (0,), (-2,), (-1,)),
        ((0, -3), (-1, 2**62), (1, 1), (1, 0)),
    ],
)
def test_strided_slice(starts: Any, stops: Any, steps: Any, axes: Any) -> None:
    x = normal(6, 7)
    index: list[Any] = [slice(None)] * 2
    for n, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        index[n if axes is None else axes[n]] = slice(start, stop, steps[n] if steps else None)
    equal(run(op.strided_slice(like("x", x), starts, stops, steps, axes), x=x), x[tuple(index)])


@pytest.mark.parametrize("sections", [3, (1, 3, 2), 4])
def test_split(sections: Any) -> None:
    x = normal(2, 6)
    parts = op.split(like("x", x), sections, 1)
    sizes = {3: [2, 2, 2], 4: [2, 2, 2], (1, 3, 2): [1, 3, 2]}[sections]
    expected = np.split(x, np.cumsum(sizes)[:-1], 1)
    assert len(parts) == len(expected)
    for part, want in zip(parts, expected, strict=True):
        equal(run(part, x=x), want)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_gather(axis: int, dtype: str) -> None:
    x, indices = normal(4, 5, 6), np.array([[0, 3], [-1, 2], [-4, 1]], dtype)
    y = op.gather(like("x", x), like("indices", indices), axis)
    equal(run(y, x=x, indices=indices), np.take(x, indices, axis))


def test_gather_of_a_scalar_index() -> None:
    x, index = normal(4, 5), np.asarray(2)
    equal(run(op.gather(like("x", x), like("i", index)), x=x, i=index), x[2])


def test_gather_never_reads_outside() -> None:
    x, indices = normal(4), np.array([99, -99, 4, -5])
    y = op.gather(like("x", x), like("indices", indices))
    equal(run(y, x=x, indices=indices), x[[3, 0, 3, 0]])


def test_gather_elements() -> None:
    x, indices = normal(3, 4), np.array([[0, 2, 1, 0], [-1, 0, 0, 2]])
    y = op.gather_elements(like("x", x), like("indices", indices))
    equal(run(y, x=x, indices=indices), np.take_along_axis(x, indices % 3, 0))


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("pads", [((1, 2), (0, 3)), ((0, 0), (2, 0)), ((3, 3), (1, 1))])
def test_pad(mode: str, pads: Any) -> None:
    x = normal(4, 5)
    options: dict[str, Any] = {"constant_values": 1.5} if mode == "constant" else {}
    got = run(op.pad(like("x", x), pads, mode=mode, value=1.5), x=x)
    equal(got, np.pad(x, pads, mode, **options))  # type: ignore[call-overload]


def test_reflection_may_bounce() -> None:
    x = np.float32([1, 2, 3])
    equal(run(op.pad(like("x", x), ((5, 7),), mode="reflect"), x=x), np.pad(x, (5, 7), "reflect"))


def test_negative_pads_crop() -> None:
    x = normal(6, 5)
    got = run(op.pad(like("x", x), ((-2, 1), (1, -3)), value=9), x=x)
    equal(got, np.pad(x[2:, :2], ((0, 1), (1, 0)), constant_values=9))


def test_no_padding_is_no_stage() -> None:
    x = placeholder((4, 5), name="x")
    assert op.pad(x, ((0, 0), (0, 0))) is x


def test_broadcast_and_tile() -> None:
    x = normal(3, 1)
    equal(run(op.broadcast_to(like("x", x), (2, 3, 4)), x=x), np.broadcast_to(x, (2, 3, 4)))
    equal(run(op.tile(like("x", x), (2, 3)), x=x), np.tile(x, (2, 3)))


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space(mode: str) -> None:
    x = normal(2, 3, 4, 12)
    expected = onnx_node("DepthToSpace", channels_first(x), blocksize=2, mode=mode)
    equal(run(op.depth_to_space(like("x", x), 2, mode=mode), x=x), channels_last(expected))


def test_space_to_depth() -> None:
    x = normal(2, 4, 6, 3)
    expected = onnx_node("SpaceToDepth", channels_first(x), blocksize=2)
    equal(run(op.space_to_depth(like("x", x), 2), x=x), channels_last(expected))


@pytest.mark.parametrize("shape", [(6, 8), (5, 7), (3, 9), (2, 2)])
def test_upsample_nearest(shape: tuple[int, int]) -> None:
    x = normal(2, 3, 4, 2)
    rows = np.arange(shape[0]) * 3 // shape[0]
    columns = np.arange(shape[1]) * 4 // shape[1]
    expected = x[:, rows][:, :, columns]
    equal(run(op.upsample_nearest(like("x", x), shape), x=x), expected)


X = placeholder((4, 6), name="x")


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: op.reshape(X, (5, 5)), r"24 elements .* cannot take shape \(5, 5\)"),
        (lambda: op.reshape(X, (-1, -1)), "cannot take shape"),
        (lambda: op.transpose(X, (0, 0)), "no permutation"),
        (lambda: op.concat([]), "nothing to concatenate"),
        (lambda: op.concat([X, placeholder((4, 5), name="y")], 0), "does not join"),
        (lambda: op.concat([X, placeholder((4, 6), "int32", name="y")], 0), "does not join"),
        (lambda: op.strided_slice(X, (3,), (3,)), "no elements"),
        (lambda: op.strided_slice(X, (0,), (3,), (0,)), "a step of 0"),
        (lambda: op.split(X, (1, 2), 1), "do not make up the extent 6"),
        (lambda: op.gather(X, placeholder((2,), name="i")), "must be integers, not float32"),
        (lambda: op.pad(X, ((1, 1),)), "1 pads"),
        (lambda: op.pad(X, ((1, 1), (0, 0)), mode="mirror"), "modes: "),
        (lambda: op.tile(X, (2,)), "1 repeats for 2"),
        (lambda: op.depth_to_space(placeholder((1, 2, 2, 6), name="i"), 2), "6 channels"),
        (lambda: op.space_to_depth(placeholder((1, 3, 2, 6), name="i"), 2), "block 2 of 3 x 2"),
        (lambda: op.depth_to_space(X, 2), r"needs \[n, h, w, c\]"),
        (lambda: op.upsample_nearest(placeholder((1, 3, 2, 6), name="i"), (2,)), "shape"),
        (lambda: op.flatten(X, 3), "outside the 2 dimensions"),
    ],
)
def test_options_that_do_not_fit(build: Any, says: str) -> None:
    with pytest.raises(ExprError, match=says):
        build()

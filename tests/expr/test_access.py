"""Access analysis and the sketch rules' conditions, independent of names and axis order."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_evaluate import matmul, padded_conv2d, softmax

from tilewright.expr.access import (
    Access,
    AffineIndex,
    accesses,
    fusible_consumer,
    has_data_reuse,
    has_more_reduction_parallel,
    is_strictly_inlinable,
)
from tilewright.expr.contraction.factors import AffineRead, read_of
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor, Var, binary, call, cast, select
from tilewright.expr.tensors import Compute, compute, placeholder, reduce_axis, table
from tilewright.expr.tensors import sum as sum_over


def analysed(tensor: Tensor) -> dict[str, Access]:
    assert isinstance(tensor.source, Compute)
    return {a.tensor.name: a for a in accesses(tensor.source)}


def answers(dag: ComputeDAG) -> dict[str, tuple[bool, ...]]:
    return {
        s.name: (
            is_strictly_inlinable(dag, s),
            has_data_reuse(s),
            fusible_consumer(dag, s) is not None,
            has_more_reduction_parallel(s, 2),
        )
        for s in dag.stages
    }


def test_accesses_of_a_convolution() -> None:
    conv = padded_conv2d(2, 8, 3, 4, 3, 2)
    found = analysed(conv)
    x, w = found["pad"], found["W"]
    assert x.indices[1] == AffineIndex((("h", 2), ("rh", 1)), 0)
    assert x.axes == {"b", "h", "v", "rh", "rw", "rc"}
    assert not x.is_injective  # neighbouring windows overlap
    assert w.is_injective and w.axes == {"rh", "rw", "rc", "o"}


def test_injective_maps() -> None:
    x = placeholder((64, 64), name="X")
    k = reduce_axis(4, "k")

    def access(f: object) -> Access:
        return analysed(compute((4, 8), f, name="Y"))["X"]  # type: ignore[arg-type]

    assert access(lambda i, j: x[i, j]).is_injective
    assert access(lambda i, j: x[j, i + 3]).is_injective
    assert access(lambda i, j: x[i * 8 + j, 0]).is_injective
    assert not access(lambda i, j: x[i * 7 + j, 0]).is_injective
    assert access(lambda i, j: x[i + j, j]).is_injective
    assert access(lambda i, j: x[i, i]).is_injective  # it moves along i only
    assert not access(lambda i, j: x[i // 2, j]).is_injective
    strided = access(lambda i, j: sum_over(x[i * 4 + k, j], k))
    assert strided.is_injective


def test_one_to_one_maps() -> None:
    x, b = placeholder((4, 8), name="X"), placeholder((1, 8), name="b")
    y = compute((4, 8), lambda i, j: x[i, j] + b[0, j], name="Y")
    assert isinstance(y.source, Compute)
    found, axes = analysed(y), y.source.axes
    assert found["X"].dimensions_of(axes) == (0, 1)
    assert found["b"].dimensions_of(axes) is None
    turned = compute((8, 4), lambda i, j: x[j, i], name="Y")
    assert isinstance(turned.source, Compute)
    assert analysed(turned)["X"].dimensions_of(turned.source.axes) == (1, 0)
    part = compute((4, 4), lambda i, j: x[i, j], name="Y")
    assert isinstance(part.source, Compute)
    assert analysed(part)["X"].dimensions_of(part.source.axes) is None


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    coefficients=st.lists(st.tuples(*[st.integers(-4, 6)] * 3), min_size=1, max_size=3),
    extents=st.tuples(*[st.integers(1, 4)] * 3),
)
def test_strides_and_injectivity_hold(
    coefficients: list[tuple[int, int, int]], extents: tuple[int, int, int]
) -> None:
    x = placeholder((97,) * len(coefficients), name="X")

    def body(a: Var, b: Var, c: Var) -> object:
        return x[tuple(a * p + b * q + c * r + 40 for p, q, r in coefficients)]

    access = analysed(compute(extents, body, name="Y"))["X"]
    points = np.indices(extents).reshape(3, -1)
    flat = np.zeros(points.shape[1], int)
    for row in coefficients:
        flat = flat * 97 + np.array(row) @ points + 40
    place = read_of(access.read, access.extents)
    assert isinstance(place, AffineRead)
    steps = [place.stride(n) for n in "abc"]
    np.testing.assert_array_equal(flat - place.offset, np.array(steps) @ points)
    for group in ("ab", "bc", "abc"):
        live = [n for n in group if access.extents[n] > 1]
        whole = np.indices([access.extents[n] for n in live]).reshape(len(live), -1 if live else 1)
        apart = set(np.diff(np.array([place.stride(n) for n in live]) @ whole))
        assert place.step(live) == (0 if not apart else apart.pop() if len(apart) == 1 else None)
    used = [n for n, name in enumerate("abc") if name in access.axes]
    if access.is_injective:
        positions = {tuple(p) for p in points[used].T}
        assert len(np.unique(flat)) == len(positions)


def conv_bias_relu() -> ComputeDAG:
    conv = padded_conv2d(1, 8, 16, 32, 3, 1)
    bias = placeholder((32,), name="bias", constant=True)
    y = compute(conv.shape, lambda b, h, w, o: conv[b, h, w, o] + bias[o], name="add")  # type: ignore[arg-type]
    return ComputeDAG(
        [compute(y.shape, lambda b, h, w, o: binary("max", y[b, h, w, o], 0.0), name="relu")]  # type: ignore[arg-type]
    )


def test_conditions_on_a_convolution() -> None:
    assert answers(conv_bias_relu()) == {
        "pad": (False, False, False, False),
        "Y": (False, True, True, False),
        "add": (True, False, True, False),
        "relu": (False, False, False, False),
    }


def test_conditions_on_softmax() -> None:
    dag = ComputeDAG([softmax(128, 64)])
    assert answers(dag) == {
        "top": (False, False, False, False),
        "e": (False, False, False, False),  # expensive and used twice
        "total": (False, False, False, False),
        "S": (False, False, False, False),
    }


def test_figure_5_inputs() -> None:
    c = matmul(512, 512, 512)
    d = compute((512, 512), lambda i, j: binary("max", c[i, j], 0.0), name="D")
    assert answers(ComputeDAG([d]))["C"] == (False, True, True, False)

    a, w = placeholder((8, 400), name="A"), placeholder((512, 4), name="D")
    b = compute((8, 400), lambda i, n: binary("max", a[i, n], 0.0), name="B")
    padded = compute((8, 512), lambda i, n: select(n < 400, b[i, n], 0.0), name="C")
    k = reduce_axis(512)
    e = compute((8, 4), lambda i, j: sum_over(padded[i, k] * w[k, j], k), name="E")
    assert answers(ComputeDAG([e])) == {
        "B": (True, False, False, False),
        "C": (False, False, False, False),
        "E": (False, True, False, True),
    }


def inlinable(body: object, shape: tuple[int, ...] = (4, 8), uses: int = 1) -> bool:
    """Whether a stage with this body, read once by each of `uses` consumers, may be inlined."""
    stage = compute(shape, body, name="stage")  # type: ignore[arg-type]
    read = [compute(shape, lambda *i: stage[i] * 2.0, name=f"use{n}") for n in range(uses)]
    dag = ComputeDAG(read)
    return is_strictly_inlinable(dag, dag.tensor("stage"))


def test_what_may_always_be_inlined() -> None:
    x, v = placeholder((4, 8), name="X"), placeholder((32,), name="V")
    where = placeholder((8,), "int32", name="where")
    assert inlinable(lambda i, j: x[i, j] + 1.0)
    assert inlinable(lambda i, j: x[3 - i, j // 2])
    assert inlinable(lambda i, j: v[i * 8 + j])
    assert inlinable(lambda i, j: select(x[i, j] > 0.0, x[i, j], x[i, j] * 0.1))  # leaky relu
    assert inlinable(lambda i, j: call("exp", x[i, j]))
    assert inlinable(lambda i, j: x[i, j] + 1.0, uses=2)
    assert not inlinable(lambda i, j: call("exp", x[i, j]), uses=2)
    assert not inlinable(lambda i, j: select(j < 3, x[i, j], 0.0))
    assert not inlinable(lambda i, j: x[i, cast("int64", where[j])])


def test_an_expensive_stage_is_not_repeated_along_a_broadcast() -> None:
    x = placeholder((8,), name="X")
    root = compute((8,), lambda i: call("sqrt", x[i]), name="root")
    y = placeholder((8, 8), name="Y")
    dag = ComputeDAG([compute((8, 8), lambda i, j: y[i, j] / root[i], name="Z")])
    assert not is_strictly_inlinable(dag, dag.tensor("root"))
    dag = ComputeDAG([compute((8, 1), lambda i, j: y[i, j] / root[i], name="Z")])
    assert is_strictly_inlinable(dag, dag.tensor("root"))


def test_data_reuse_needs_an_operand_that_serves_several_outputs() -> None:
    x, k = placeholder((16, 32), name="X"), reduce_axis(32)
    scale, rows = placeholder((), name="scale"), placeholder((16,), name="rows")
    basis = table(np.ones((32, 4), np.float32), name="basis")
    assert has_data_reuse(matmul(4, 4, 4)) and has_data_reuse(matmul(1, 4, 4))
    assert not has_data_reuse(matmul(1, 1, 64))
    norm = compute((16,), lambda i: sum_over(x[i, k] * x[i, k] * scale[()], k), name="Y")
    assert not has_data_reuse(norm)
    weighted = compute((16, 4), lambda i, j: sum_over(x[i, k] * rows[i], k), name="Y")
    assert has_data_reuse(weighted)  # x serves every j
    pooled = compute((16, 8), lambda i, j: sum_over(x[i, j * 4 + k % 4], k), name="Y")
    assert not has_data_reuse(pooled)
    only_table = compute((16, 4), lambda i, j: sum_over(basis[k, j] * rows[i], k), name="Y")
    assert not has_data_reuse(only_table)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((2, 2, 512), True),
        ((512, 512, 512), False),
        ((8, 4, 512), True),
        ((8, 5, 512), False),
        ((4, 8, 16), False),
        ((1, 1, 2), True),
        ((1, 1, 1), False),
    ],
)
def test_reduction_parallelism(shape: tuple[int, int, int], expected: bool) -> None:
    assert has_more_reduction_parallel(matmul(*shape), 2) is expected


def test_few_outputs_for_the_cores_ask_for_reduction_parallelism() -> None:
    assert has_more_reduction_parallel(matmul(2, 4, 4), 16)
    assert not has_more_reduction_parallel(matmul(2, 4, 4), 2)


def test_a_consumer_with_axes_in_another_order_is_fusible() -> None:
    c = matmul(8, 16, 4)
    turned = compute((16, 8), lambda i, j: c[j, i] + c[j, i], name="T")
    dag = ComputeDAG([turned])
    assert fusible_consumer(dag, dag.tensor("C")) == (dag.tensor("T"), (1, 0))


def test_index_zero_serves_as_an_axis_of_extent_one() -> None:
    c = matmul(1, 16, 4)
    row = compute((1, 16), lambda i, j: c[0, j] * 2.0, name="R")
    dag = ComputeDAG([row])
    assert fusible_consumer(dag, dag.tensor("C")) == (dag.tensor("R"), (0, 1))
    part = ComputeDAG([compute((1, 15), lambda i, j: c[0, j] * 2.0, name="R")])
    assert fusible_consumer(part, part.tensor("C")) is None


def test_consumers_that_cannot_be_fused() -> None:
    c = matmul(8, 8, 4)
    shifted = compute((8, 7), lambda i, j: c[i, j + 1], name="Y")
    both = compute((8, 8), lambda i, j: c[i, j] + c[j, i], name="Y")
    broadcast = compute((8, 8, 2), lambda i, j, n: c[i, j] * 2.0, name="Y")
    k = reduce_axis(8)
    summed = compute((8,), lambda i: sum_over(c[i, k], k), name="Y")
    for consumer in (shifted, both, broadcast, summed):
        dag = ComputeDAG([consumer])
        assert fusible_consumer(dag, dag.tensor("C")) is None
    dag = ComputeDAG([compute((8, 8), lambda i, j: c[i, j] * 2.0, name="Y"), c])
    assert fusible_consumer(dag, dag.tensor("C")) is None
    first = compute((8, 8), lambda i, j: c[i, j] * 2.0, name="Y")
    second = compute((8, 8), lambda i, j: c[i, j] * 3.0, name="Z")
    dag = ComputeDAG([first, second])
    assert fusible_consumer(dag, dag.tensor("C")) is None


def chain(order: tuple[int, ...], prefix: str) -> ComputeDAG:
    """relu(batch matmul) whose three spatial axes are permuted in every computed stage."""
    extents = (3, 4, 6)
    a, b = placeholder((3, 4, 512), name=f"{prefix}0"), placeholder((3, 512, 6), name=f"{prefix}1")
    k = reduce_axis(512)
    shape = tuple(extents[d] for d in order)

    def natural(i: tuple[Var, ...]) -> tuple[Var, ...]:
        return tuple(i[order.index(d)] for d in range(3))

    def product(*i: Var) -> object:
        n, h, w = natural(i)
        return sum_over(a[n, h, k] * b[n, k, w], k)

    c = compute(shape, product, name=f"{prefix}2")
    s = compute(shape, lambda *i: c[i] + 1.0, name=f"{prefix}3")
    return ComputeDAG([compute(shape, lambda *i: binary("max", s[i], 0.0), name=f"{prefix}4")])


def test_names_and_the_order_of_spatial_axes_do_not_matter() -> None:
    expected = list(answers(chain((0, 1, 2), "t")).values())
    assert (False, True, True, False) in expected
    for order in permutations(range(3)):
        assert list(answers(chain(order, "renamed")).values()) == expected

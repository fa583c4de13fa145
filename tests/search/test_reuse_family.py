"""Types of operators, their iteration spaces, and the operators between them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from benchmarks.cases import CASES, SMALL
from hypothesis import given, settings
from hypothesis import strategies as st

import tilewright as tw
from tilewright.expr import operators as ops
from tilewright.expr.access import accesses
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.reference import compute_of
from tilewright.expr.serialize import dag_from_json, dag_to_json
from tilewright.expr.tensors import compute, placeholder, reduce_axis, table
from tilewright.expr.tensors import sum as sum_over
from tilewright.front.tuning_tasks import tasks_of
from tilewright.ground.errors import InputError
from tilewright.search.reuse.family import (
    Nest,
    Operator,
    bridge,
    bridges,
    comparable,
    dominates,
    family_of,
    iteration_space,
    major_stage,
    meet,
    ratios,
)
from tilewright.space.space import Space
from tilewright.target import Target
from workloads import light_resnet50

Array = np.ndarray[Any, Any]


def data(*shape: int, dtype: str = "float32") -> Tensor:
    return placeholder(shape, dtype, name="x")


def weight(*shape: int, dtype: str = "float32") -> Tensor:
    return placeholder(shape, dtype, name="w", constant=True)


def conv(n: int, size: int, ci: int, co: int, kernel: int, **options: Any) -> ComputeDAG:
    return ComputeDAG(
        [ops.conv2d(data(n, size, size, ci), weight(kernel, kernel, ci, co), **options)]
    )


def layer(n: int, size: int, channels: int) -> ComputeDAG:
    """A padded convolution, scale, shift and ReLU."""
    y = ops.conv2d(data(n, size, size, channels), weight(3, 3, channels, 8), padding=1)
    return ComputeDAG([ops.relu(ops.add(ops.multiply(y, weight(8)), weight(8)))])


CONVOLUTIONS = {
    "1x1": conv(1, 8, 6, 10, 1),
    "3x3": conv(1, 8, 6, 10, 3),
    "padded": conv(1, 8, 6, 10, 3, padding=1),
    "strided": conv(1, 8, 6, 10, 3, stride=2, padding=1),
    "strided 1x1": conv(1, 8, 6, 10, 1, stride=2),
    "dilated": conv(2, 9, 6, 10, 3, dilation=2),
    "batch 16": conv(16, 4, 6, 10, 3),
    "one position": conv(1, 3, 6, 10, 3),
    "one channel": conv(1, 8, 1, 1, 3),
    "bias": ComputeDAG([ops.conv2d(data(1, 8, 8, 6), weight(3, 3, 6, 10), weight(10))]),
    "scale, shift and ReLU": layer(1, 8, 6),
}
OTHERS = {
    "transposed": lambda: ops.conv_transpose(data(1, 8, 8, 6), weight(3, 3, 6, 10), stride=2),
    "depthwise": lambda: ops.depthwise_conv(data(1, 8, 8, 6), weight(3, 3, 6, 1)),
    "grouped": lambda: ops.conv2d(data(1, 8, 8, 6), weight(3, 3, 3, 10), groups=2),
    "capsule": lambda: ops.capsule_conv2d(data(1, 8, 8, 4, 4, 6), weight(3, 3, 4, 4, 6, 10)),
    "1D": lambda: ops.conv1d(data(1, 8, 6), weight(3, 6, 10)),
    "3D": lambda: ops.conv3d(data(1, 8, 8, 8, 6), weight(3, 3, 3, 6, 10)),
    "matmul": lambda: ops.matmul(data(8, 6), data(6, 10)),
    "weights": lambda: ops.matmul(data(8, 6), weight(6, 10)),
    "batched": lambda: ops.batch_matmul(data(3, 8, 6), data(3, 6, 10)),
    "norm": lambda: ops.matrix_norm(data(8, 6, 10)),
    "max pool": lambda: ops.max_pool(data(1, 8, 8, 6), 3),
    "sum pool": lambda: ops.avg_pool(data(1, 8, 8, 6), 3),
    "data as kernel": lambda: ops.conv2d(data(1, 8, 8, 6), data(3, 3, 6, 10)),
    "float64": lambda: ops.conv2d(
        data(1, 8, 8, 6, dtype="float64"), weight(3, 3, 6, 10, dtype="float64")
    ),
    "float16": lambda: ops.conv2d(
        data(1, 8, 8, 6, dtype="float16"), weight(3, 3, 6, 10, dtype="float16")
    ),
    "integers": lambda: ops.conv2d(
        data(1, 8, 8, 6, dtype="int8"), weight(3, 3, 6, 10, dtype="int8")
    ),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_are_one_family(name: str) -> None:
    dag = CONVOLUTIONS[name]
    assert family_of(dag) == family_of(CONVOLUTIONS["3x3"])
    assert hash(family_of(dag)) == hash(family_of(CONVOLUTIONS["3x3"]))
    assert family_of(dag_from_json(dag_to_json(dag))) == family_of(dag)


def test_other_operators_are_other_families() -> None:
    found = [family_of(ComputeDAG([make()])) for make in OTHERS.values()]
    assert len({*found, family_of(CONVOLUTIONS["3x3"])}) == len(OTHERS) + 1
    smaller = ops.conv_transpose(data(16, 4, 4, 6), weight(1, 1, 6, 10))
    assert family_of(ComputeDAG([smaller])) == found[0]


def test_the_benchmark_has_one_family_an_operator() -> None:
    found: dict[str, set[Any]] = {}
    for case in (*CASES.values(), *SMALL.values()):
        # of batch 1, GMM is a matrix product
        name = case.operator if case.operator != "GMM" or case.batch == 1 else "BMM"
        found.setdefault(name, set()).add(family_of(case.dag()))
    assert {name: len(families) for name, families in found.items()} == dict.fromkeys(found, 1)
    assert found["C2D"] == found["DIL"] == found["CONV"]
    assert len(set().union(*found.values())) == len(found) - 2


def test_names_and_literals_do_not_count() -> None:
    def stencil(step: int, rows: str) -> ComputeDAG:
        x, w, r = placeholder((32,), name=rows), weight(3), reduce_axis(3, f"{rows}_r")
        return ComputeDAG([compute((8,), lambda q: sum_over(x[q * step + r + step] * w[r], r))])

    assert family_of(stencil(1, "x")) == family_of(stencil(3, "rows"))


@pytest.mark.parametrize(
    "shapes",
    [
        ((1, 8, 6), (1, 6, 10)),
        ((1, 1, 6), (1, 6, 10)),
        ((1, 8, 6), (1, 6, 1)),
        ((1, 1, 6), (1, 6, 1)),
        ((1, 8, 1), (1, 1, 10)),
        ((3, 1, 6), (3, 6, 1)),
    ],
)
def test_an_operator_may_leave_axes_of_extent_1_out(shapes: tuple[Any, Any]) -> None:
    family = family_of(ComputeDAG([ops.batch_matmul(data(3, 8, 6), data(3, 6, 10))]))
    found = ComputeDAG([ops.batch_matmul(data(*shapes[0]), data(*shapes[1]))])
    assert family_of(found) == family
    assert family_of(bridge(found, (2, 4, 5, 3))) == family


def test_a_broadcast_operand_makes_another_family() -> None:
    shared = ComputeDAG([ops.batch_matmul(data(1, 8, 6), data(3, 6, 10))])
    assert family_of(shared) != family_of(
        ComputeDAG([ops.batch_matmul(data(3, 8, 6), data(3, 6, 10))])
    )
    assert bridge(shared, (2, 4, 5, 3)).inputs[0].shape == (1, 4, 3)


def test_the_major_stage_does_most_of_the_work() -> None:
    x = ops.conv2d(data(1, 8, 8, 4), weight(3, 3, 4, 8), name="small")
    y = ops.conv2d(x, weight(3, 3, 8, 16), weight(16), name="large")
    assert major_stage(ComputeDAG([ops.relu(y)])).name == "large_sum"
    assert major_stage(ComputeDAG([ops.softmax(data(4, 9))])).name == "softmax_max"
    light = ops.relu(data(4, 9), name="light")
    assert major_stage(ComputeDAG([ops.add(ops.gelu(light, name="gelu"), light)])).name == "gelu"
    assert major_stage(ComputeDAG([ops.transpose(data(4, 9), name="moved")])).name == "moved"


def test_iteration_spaces() -> None:
    assert iteration_space(CONVOLUTIONS["strided"]) == (1, 4, 4, 10, 3, 3, 6)
    assert family_of(CONVOLUTIONS["strided"]).spatial == 4
    assert dominates((4, 3), (4, 2)) and not dominates((4, 2), (4, 3))
    assert comparable((4, 2), (4, 3)) and not comparable((4, 2), (2, 4))
    assert meet((4, 2), (2, 4)) == (2, 2)


def test_ratios_of_the_papers_example() -> None:
    # Figure 2's convolution, and one of half as many input channels (ETO, example 3)
    few, many = (Operator.of(conv(1, 28, c, 128, 1)) for c in (256, 512))
    assert (few.nest, many.nest) == ((1, 28, 28, 128, 1, 1, 256), (1, 28, 28, 128, 1, 1, 512))
    assert ratios(few, many) == (2.0, 0.5)
    assert few.outputs == 28 * 28 * 128


def test_the_papers_bridge() -> None:
    first, second = conv(1, 14, 64, 64, 3, padding=1), conv(1, 28, 64, 64, 1)
    assert iteration_space(first) == (1, 14, 14, 64, 3, 3, 64)
    nest = meet(iteration_space(first), iteration_space(second))
    assert nest == (1, 14, 14, 64, 1, 1, 64)
    for dag in (first, second):
        found = bridge(dag, nest)
        assert [t.shape for t in (*found.inputs, *found.constants)] == [
            (1, 14, 14, 64),
            (1, 1, 64, 64),
        ]
        assert len(found.stages) == 1


@pytest.mark.parametrize("name", [n for n in SMALL if n != "T2D-small"])
def test_bridges_of_the_benchmarks_operators(name: str) -> None:
    dag = SMALL[name].dag()
    family, nest = family_of(dag), iteration_space(dag)
    for extents in (nest, tuple(-(-e // 2) for e in nest), tuple(2 * e for e in nest)):
        found = bridge(dag, extents)
        assert (family_of(found), iteration_space(found)) == (family, extents)
        assert len(found.stages) == 1
        assert [is_c for _, is_c in _operands(found)] == [is_c for _, is_c in _operands(dag)]
        assert dag_to_json(dag_from_json(dag_to_json(found))) == dag_to_json(found)
    assert _reads_exactly(bridge(dag, tuple(-(-e // 2) for e in nest)))


def _operands(dag: ComputeDAG) -> list[tuple[str, bool]]:
    found = accesses(compute_of(major_stage(dag)))
    return [(a.tensor.name, a.tensor in dag.constants) for a in found]


def _reads_exactly(dag: ComputeDAG) -> bool:
    """Whether every element along each dimension is read, and none beyond, by evaluating."""
    inputs = {t.name: np.ones(t.shape, t.dtype.numpy) for t in (*dag.inputs, *dag.constants)}
    before = dag.evaluate(inputs)[dag.outputs[0].name]
    for name, array in inputs.items():
        for d, extent in enumerate(array.shape):
            for end in {0, extent - 1}:
                changed = array.copy()
                changed[(slice(None),) * d + (end,)] = 3
                if np.array_equal(
                    dag.evaluate({**inputs, name: changed})[dag.outputs[0].name], before
                ):
                    return False
    return True


def _values(dag: ComputeDAG) -> tuple[list[Array], Array]:
    rng = np.random.default_rng(0)
    tensors = (*dag.inputs, *dag.constants)
    arrays = {t.name: rng.standard_normal(t.shape).astype(np.float32) for t in tensors}
    (result,) = dag.evaluate(arrays).values()
    return list(arrays.values()), result


def _windows(x: Array, kernel: int) -> Array:
    """[n, h, w, c] as [n, h', w', c, rh, rw]."""
    return np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), (1, 2))


def close(found: Array, wanted: Array) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_values_of_bridges() -> None:
    strided = conv(2, 11, 6, 9, 3, stride=2, dilation=2, padding=1)
    (x, w), y = _values(bridge(strided, (1, 4, 4, 5, 2, 2, 3)))
    close(y, np.einsum("nhwcpq,pqco->nhwo", _windows(x, 2), w))

    (a, b), y = _values(bridge(SMALL["GMM-small"].dag(), (2, 4, 6, 3)))
    close(y, a @ b)
    (a, b), y = _values(bridge(ComputeDAG([OTHERS["matmul"]()]), (4, 6, 3)))
    close(y, a @ b)

    (x, w), y = _values(bridge(SMALL["DEP-small"].dag(), (2, 4, 4, 5, 2, 2)))
    close(y, np.einsum("nhwcpq,pqc->nhwc", _windows(x, 2), w[..., 0]))

    # three groups of 3 channels and 7 outputs each become three of 2 and 4
    (x, w), y = _values(bridge(SMALL["GRD-small"].dag(), (1, 3, 3, 12, 2, 2, 2)))
    parts = [
        np.einsum("nhwcpq,pqco->nhwo", _windows(x[..., c : c + 2], 2), w[..., o : o + 4])
        for c, o in ((0, 0), (2, 4), (4, 8))
    ]
    close(y, np.concatenate(parts, -1))


def test_a_group_of_one_output_is_no_window() -> None:
    dag = ComputeDAG([ops.conv2d(data(1, 5, 5, 12), weight(1, 1, 3, 4), groups=4)])
    (x, w), y = _values(bridge(dag, (1, 5, 5, 3, 1, 1, 2)))
    assert x.shape == (1, 5, 5, 6)
    close(y, np.einsum("nhwgc,cg->nhwg", x.reshape(1, 5, 5, 3, 2), w[0, 0]))


def test_inserted_zeros_stay() -> None:
    first, second = CASES["T2D-0-b1"].dag(), CASES["T2D-1-b1"].dag()
    nest = meet(iteration_space(first), iteration_space(second))
    target = Target.parse("cpu")
    names = [s.name for s in Space(first, target).sketches]
    for dag in (first, second):
        found = bridge(dag, nest)
        assert [s.name for s in Space(found, target).sketches] == names
        assert found.useful_flops * 4 == 2 * np.prod(nest)
    (x, w), y = _values(bridge(SMALL["T2D-small"].dag(), (1, 5, 6, 3, 4, 4, 2)))
    close(y, _transposed(x, w, 5, 6))


def _transposed(x: Array, w: Array, height: int, width: int) -> Array:
    """Stride 2, no border: one element of x adds a kernel of w."""
    _, h, v, _ = x.shape
    whole = np.zeros((1, 2 * h + 2, 2 * v + 2, w.shape[-1]), np.float32)
    for i, j in product(range(h), range(v)):
        whole[0, 2 * i : 2 * i + 4, 2 * j : 2 * j + 4] += np.einsum("c,pqco->pqo", x[0, i, j], w)
    return whole[:, 3 : 3 + height, 3 : 3 + width]


def test_tables_stay_tables() -> None:
    r = reduce_axis(4, "r")
    values, x = table(np.arange(4, dtype=np.float32)), data(6, 4)
    dag = ComputeDAG([compute((6,), lambda i: sum_over(x[i, r] * values[r], r))])
    (given_x,), y = _values(bridge(dag, (3, 2)))
    close(y, given_x @ np.arange(2, dtype=np.float32))
    with pytest.raises(InputError, match="the table table has no values"):
        bridge(dag, (6, 5))


def test_what_has_no_bridge() -> None:
    rows = placeholder((3,), "int64", name="rows")
    gather = ComputeDAG([ops.gather(data(5, 4), rows, axis=0)])
    with pytest.raises(InputError, match="decides by position or data what it reads"):
        bridge(gather, (2, 2))
    with pytest.raises(InputError, match="decides by position or data what it reads"):
        bridge(ComputeDAG([ops.concat([data(5, 4), data(5, 4)], 1)]), (5, 4))
    with pytest.raises(InputError, match=r"nothing says what floordiv\(.*\) is at other extents"):
        bridge(ComputeDAG([ops.reshape(data(5, 4), (2, 10))]), (2, 5))
    with pytest.raises(InputError, match="has 7 axes"):
        bridge(CONVOLUTIONS["3x3"], (1, 2, 3))
    with pytest.raises(InputError, match="has 7 axes"):
        bridge(CONVOLUTIONS["3x3"], (1, 2, 3, 0, 1, 1, 1))
    # as many outputs as groups: their number is not divided any more
    with pytest.raises(InputError, match="is another operator"):
        bridge(SMALL["GRD-small"].dag(), (1, 3, 3, 3, 2, 2, 2))


def test_resnet50() -> None:
    model = tw.load(light_resnet50())
    convolutions = [
        t.dag for t in tasks_of(model) if family_of(t.dag) == family_of(CONVOLUTIONS["3x3"])
    ]
    nests = {iteration_space(dag) for dag in convolutions}
    assert (len(convolutions), len(nests)) == (24, 20)
    every = bridges(nests, None)
    assert (len(bridges(nests)), len(every)) == (51, 56)
    assert bridges(nests, 0) == []
    for nest in every:
        assert iteration_space(bridge(convolutions[0], nest)) == nest


NESTS = st.sets(st.tuples(*[st.integers(1, 5)] * 3), max_size=7)


@settings(deadline=None)
@given(NESTS, st.integers(0, 4))
def test_bridges_of_nests(nests: set[Nest], hops: int) -> None:
    some, more, every = (set(bridges(nests, k)) for k in (hops, hops + 1, None))
    assert some <= more <= every and not every & nests
    assert {meet(a, b) for a in every | nests for b in every | nests} <= every | nests
    # each is the meet of all that dominate it
    for nest in every:
        above = [n for n in nests if dominates(n, nest)]
        assert nest == tuple(map(min, *above))
    assert (
        set(bridges(nests))
        == {meet(a, b) for a in nests for b in nests if not comparable(a, b)} - nests
    )
    # "at most (m - 1)-hop", m the number of loops
    assert set(bridges(nests, 2)) == every


def test_bridges_need_nests_of_one_family() -> None:
    assert bridges([]) == bridges([(1, 2)], None) == []
    with pytest.raises(InputError, match="no bridges after 1 hops"):
        bridges([(1, 2), (1, 2, 3)])
    with pytest.raises(InputError, match="no bridges after -1 hops"):
        bridges([(1, 2)], -1)

"""Operators over extents that are sizes: at any value they are the static operator, and so are
their programs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from operator_cases import close

from kernel_calls import called
from tilewright.build.compile import compile_lowered
from tilewright.contract.sizes import Size
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.index.extents import mul
from tilewright.expr.nodes import Extent, Tensor, Var
from tilewright.expr.operators.shapes import broadcast_shapes, matching_groups
from tilewright.expr.sizes import shape_at
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import ExprError
from tilewright.nest.reference.interpret import interpret
from tilewright.runtime.cpu import LoadedKernel
from tilewright.schedule.producers import lowered_of
from tilewright.space.default import default_gene
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.testing import packed

S, T = Var("S"), Var("T")
SIZES = (Size("S", 3, 20), Size("T", 4, 9))
POINTS = ({"S": 3, "T": 4}, {"S": 13, "T": 7}, {"S": 20, "T": 9})
Make = Callable[[Extent, Extent], Tensor]


def given(name: str, *shape: Extent, dtype: str = "float32") -> Tensor:
    return placeholder(shape, dtype, name=name)


def weight(name: str, *shape: int) -> Tensor:
    return placeholder(shape, name=name, constant=True)


def image(s: Extent, t: Extent, channels: int = 4) -> Tensor:
    return given("x", 2, s, t, channels)


CASES: dict[str, Make] = {
    "relu": lambda s, t: ops.relu(given("x", s, 8)),
    "add": lambda s, t: ops.add(given("x", s, t, 8), given("y", t, 8)),
    "add column": lambda s, t: ops.add(given("x", s, t), given("y", s, 1)),
    "matmul": lambda s, t: ops.matmul(given("x", s, 8), given("y", 8, t)),
    "matmul depth": lambda s, t: ops.matmul(given("x", t, s), given("y", s, 8)),
    "batch_matmul": lambda s, t: ops.batch_matmul(
        given("x", t, s, 8), given("y", t, s, 8), transpose_b=True
    ),
    "dense": lambda s, t: ops.dense(given("x", t, s, 8), weight("w", 8, 16), weight("b", 16)),
    "einsum": lambda s, t: ops.einsum("ik,kj->ij", given("x", s, t), given("y", t, 8)),
    "conv2d": lambda s, t: ops.conv2d(
        image(s, t), weight("w", 3, 3, 4, 8), weight("b", 8), padding=1
    ),
    "conv2d stride": lambda s, t: ops.conv2d(
        image(s, t), weight("w", 3, 3, 4, 8), stride=2, padding=1
    ),
    "conv2d batch": lambda s, t: ops.conv2d(
        given("x", s, 6, 6, 4), weight("w", 3, 3, 4, 8), padding=1
    ),
    "depthwise": lambda s, t: ops.depthwise_conv(image(s, t), weight("w", 3, 3, 4, 1)),
    "conv_transpose": lambda s, t: ops.conv_transpose(
        image(s, t), weight("w", 2, 2, 4, 3), stride=2
    ),
    "max_pool": lambda s, t: ops.max_pool(image(s, t), 3, stride=2, padding=1),
    "avg_pool": lambda s, t: ops.avg_pool(image(s, t), 3, stride=2, padding=1),
    "avg_pool padded": lambda s, t: ops.avg_pool(image(s, t), 2, padding=1, count_include_pad=True),
    "max_pool ceil": lambda s, t: ops.max_pool(image(s, t), 2, stride=2, ceil_mode=True),
    "avg_pool ceil": lambda s, t: ops.avg_pool(image(s, t), 3, stride=2, padding=1, ceil_mode=True),
    "global_avg_pool": lambda s, t: ops.global_avg_pool(image(s, t)),
    "reduce_sum": lambda s, t: ops.reduce_sum(given("x", s, t, 8), (0, 2)),
    "reduce_mean": lambda s, t: ops.reduce_mean(given("x", t, s), 1),
    "reduce_max": lambda s, t: ops.reduce_max(given("x", s, t), 0, keepdims=True),
    "argmax": lambda s, t: ops.argmax(given("x", t, s), 1),
    "softmax": lambda s, t: ops.softmax(given("x", t, s)),
    "layer_norm": lambda s, t: ops.layer_norm(given("x", t, s, 8), weight("g", 8), weight("b", 8)),
    "layer_norm long": lambda s, t: ops.layer_norm(given("x", t, s)),
    "instance_norm": lambda s, t: ops.instance_norm(image(s, t), weight("g", 4), weight("b", 4)),
    "group_norm": lambda s, t: ops.group_norm(
        given("x", s, 5, 4), weight("g", 4), weight("b", 4), groups=2
    ),
    "rms_norm": lambda s, t: ops.rms_norm(given("x", s, 8), weight("g", 8)),
    "transpose": lambda s, t: ops.transpose(given("x", s, t, 4), (1, 2, 0)),
    "split heads": lambda s, t: ops.reshape(given("x", s, 8), (s, 2, 4)),
    "inferred": lambda s, t: ops.reshape(given("x", s, 2, 4), (-1, 8)),
    "joined rows": lambda s, t: ops.reshape(given("x", s, 4, 8), (mul(s, 4), 8)),
    "added dimension": lambda s, t: ops.reshape(given("x", s, t), (1, s, 1, t)),
    "concat": lambda s, t: ops.concat([given("x", s, 4), given("y", t, 4), given("z", 3, 4)]),
    "stack": lambda s, t: ops.stack([given("x", s, 4), given("y", s, 4)], 1),
    "slice": lambda s, t: ops.strided_slice(given("x", s, 8), (1,), (2**31 - 1,), (2,)),
    "slice to": lambda s, t: ops.strided_slice(given("x", s, 8), (1,), (-1,)),
    "slice first": lambda s, t: ops.strided_slice(given("x", s, 8), (0,), (5,)),
    "slice last": lambda s, t: ops.strided_slice(given("x", s, 8), (-4,), (2**31 - 1,)),
    "slice reversed": lambda s, t: ops.strided_slice(given("x", s, 8), (-1,), (1 - 2**31,), (-1,)),
    "slice back": lambda s, t: ops.strided_slice(given("x", s, 8), (2**31 - 1,), (-9,), (-2,)),
    "slice constant": lambda s, t: ops.strided_slice(weight("x", 20, 8), (0,), (s,)),
    "split": lambda s, t: ops.split(ops.concat([given("x", s, 4), given("y", t, 4)]), (s, t))[1],
    "pad": lambda s, t: ops.pad(given("x", s, 4), ((1, 2), (0, 0)), value=3.0),
    "pad edge": lambda s, t: ops.pad(given("x", s, 4), ((1, 2), (0, 0)), mode="edge"),
    "gather": lambda s, t: ops.gather(weight("x", 9, 8), given("i", s, dtype="int64")),
    "gather rows": lambda s, t: ops.gather(given("x", s, 8), given("i", t, dtype="int64")),
    "broadcast_to": lambda s, t: ops.broadcast_to(given("x", 1, 8), (s, 8)),
    "tile": lambda s, t: ops.tile(given("x", s, 4), (1, 2)),
    "cumulative": lambda s, t: ops.cumulative(given("x", t, s), 1),
    "triangle": lambda s, t: ops.triangle(given("x", s, s)),
}


def sized(make: Make) -> ComputeDAG:
    y = make(S, T)
    return ComputeDAG([y], SIZES)


def arrays_at(dag: ComputeDAG, values: dict[str, int]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        t.name: rng.integers(-3, 4, shape_at(t, values)).astype(t.dtype.numpy)
        for t in (*dag.inputs, *dag.constants)
    }


@pytest.mark.parametrize("name", CASES)
def test_at_any_value_an_operator_is_the_static_one(name: str) -> None:
    dag = sized(CASES[name])
    for values in POINTS:
        static = ComputeDAG([CASES[name](values["S"], values["T"])])
        found, arrays = dag.at(values), arrays_at(dag, values)
        assert found.outputs[0].shape == static.outputs[0].shape
        (y,), (expected,) = (d.evaluate(arrays).values() for d in (found, static))
        close(y, expected)


@pytest.mark.parametrize("name", CASES)
def test_programs_of_operators_are_right_at_every_value(name: str) -> None:
    dag, target = sized(CASES[name]), Target.parse("cpu cores=2")
    gene = default_gene(Space(dag, target))
    lowered = lowered_of(dag, gene, "operator")
    artifact, _ = compile_lowered(lowered, target)
    with LoadedKernel(artifact) as kernel:
        for values in POINTS[:2]:
            arrays = arrays_at(dag, values)
            (expected,) = dag.at(values).evaluate(arrays).values()
            constants = packed(lowered, arrays)
            (y,) = called(kernel, lowered.program, {**arrays, **constants}, values).values()
            close(y, expected)
    if name in ("dense", "softmax", "reduce_mean"):
        values = POINTS[0]
        arrays = arrays_at(dag, values)
        inputs = {t.name: arrays[t.name] for t in lowered.program.inputs}
        (y,) = interpret(lowered.program, inputs, packed(lowered, arrays), sizes=values).values()
        close(y, next(iter(dag.at(values).evaluate(arrays).values())))


def test_sizes_broadcast_with_themselves_only() -> None:
    assert broadcast_shapes((S, 1), (T,)) == (S, T)
    for other in (T, 4, S + 1):
        with pytest.raises(ExprError, match="do not broadcast together"):
            broadcast_shapes((S, 8), (other, 8))


def test_equal_extents_are_equal_however_they_are_written() -> None:
    x, y = given("x", (S + 1) * 2 - 2, 4), given("y", S * 2, 4)
    assert x.shape == y.shape == ops.add(x, y).shape


def test_the_groups_of_a_reshape_with_sizes() -> None:
    assert matching_groups((S, 8, T), (S, 2, 4, T)) == [([0], [0]), ([1], [1, 2]), ([2], [3])]
    assert matching_groups((1, S, 4), (mul(S, 4), 1)) == [([1, 2], [0])]
    assert matching_groups((S, T), (T, S)) == [([0, 1], [0, 1])]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ops.matmul(given("x", 4, S), given("y", T, 8)), "matmul: .* reduce over"),
        (lambda: ops.reshape(given("x", S, 4), (T, 4)), "cannot take shape"),
        (lambda: ops.concat([given("x", S, 4), given("y", S, T)]), "does not join"),
        (lambda: ops.split(given("x", S, 4), 2), "split needs a number where the extent is .*S"),
        (lambda: ops.split(given("x", S, 4), (3, T)), "do not make up the extent"),
        (lambda: ops.conv2d(given("x", 1, 8, 8, S), weight("w", 3, 3, 4, 8)), "conv2d needs a"),
        (lambda: ops.top_indices(given("x", S), 2), "top_indices needs a number"),
        (lambda: ops.upsample_nearest(image(S, T), (8, 8)), "upsample needs a number"),
    ],
)
def test_what_needs_numbers_says_so(make: Callable[[], Tensor], words: str) -> None:
    with pytest.raises(ExprError, match=words):
        make()


def test_the_least_sizes_leave_no_extent_negative() -> None:
    y = ops.conv2d(image(S, T), weight("w", 5, 5, 4, 8))
    with pytest.raises(ExprError, match=r"conv2d has the extent .*, -1 of the least sizes"):
        ComputeDAG([y], SIZES)

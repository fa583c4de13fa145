"""Which nodes share a kernel, which are views, and that cutting changes no result."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from graph_reference import Array, random_inputs, run_graph, run_partition

from tilewright.expr.dtypes import DTYPES
from tilewright.graph.access import NodeMath
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.fusion import fuse
from tilewright.graph.ir import Graph, Value
from tilewright.graph.partition import partition

RNG = np.random.default_rng(0)


def floats(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def kernels(build: Callable[[GraphBuilder, Value], Value | list[Value]]) -> list[str]:
    """The operators of each group, for a graph of one image x; also checks the results."""
    b = GraphBuilder("g")
    x = b.input("x", (1, 6, 5, 4), "float32")
    built = build(b, x)
    outputs = built if isinstance(built, list) else [built]
    graph = b.build(outputs, [f"y{i}" for i in range(len(outputs))])
    inputs = random_inputs(graph)
    pairs = zip(run_partition(partition(graph), inputs), run_graph(graph, inputs), strict=True)
    for cut, whole in pairs:
        np.testing.assert_allclose(cut, whole, rtol=1e-5, atol=1e-5)
    return ["+".join(n.op for n in g.nodes) for g in fuse(graph).groups]


def conv(b: GraphBuilder, x: Value, outputs: int = 4, kernel: int = 1) -> Value:
    w = b.constant("w", floats(kernel, kernel, x.shape[-1], outputs))
    pads = ((kernel // 2, kernel // 2),) * 2
    return b.emit("conv", x, w, stride=(1, 1), padding=pads)


def bias(b: GraphBuilder, x: Value) -> Value:
    return b.emit("add", x, b.constant("b", floats(x.shape[-1])))


def test_bias_residual_and_activation_join_the_convolution() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        return b.emit("relu", b.emit("add", bias(b, conv(b, x)), x))

    assert kernels(build) == ["conv+add+add+relu"]


def test_an_add_of_two_convolutions_joins_the_first_operand() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        main, shortcut = conv(b, x), conv(b, x, kernel=3)
        return b.emit("relu", b.emit("add", bias(b, main), shortcut))

    assert kernels(build) == ["conv", "conv+add+add+relu"]


def test_readers_that_meet_again_are_fused_as_a_whole() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        t = conv(b, x)
        return b.emit("relu", b.emit("multiply", t, b.emit("sigmoid", t)))

    assert kernels(build) == ["conv+sigmoid+multiply+relu"]


def test_readers_that_do_not_meet_keep_the_value_outside() -> None:
    def build(b: GraphBuilder, x: Value) -> list[Value]:
        t = conv(b, x)
        return [b.emit("relu", t), b.emit("sigmoid", t)]

    assert kernels(build) == ["conv", "relu", "sigmoid"]


def test_a_returned_value_ends_its_kernel() -> None:
    def build(b: GraphBuilder, x: Value) -> list[Value]:
        t = conv(b, x)
        return [t, b.emit("relu", t)]

    assert kernels(build) == ["conv", "relu"]


def test_contractions_never_share_a_kernel() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        return conv(b, b.emit("relu", conv(b, x)))

    assert kernels(build) == ["conv+relu", "conv"]


def test_a_softmax_joins_a_short_sum_but_no_long_one() -> None:
    def of_kernel(size: int) -> Callable[[GraphBuilder, Value], Value]:
        return lambda b, x: b.emit("softmax", conv(b, x, kernel=size), axis=3)

    assert kernels(of_kernel(1)) == ["conv+softmax"]
    assert kernels(of_kernel(9)) == ["conv", "softmax"]


def test_a_softmax_across_rows_stays_apart() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        return b.emit("softmax", conv(b, x), axis=1)

    assert kernels(build) == ["conv", "softmax"]


def test_reductions_of_the_same_rows_are_one_kernel_however_spelled() -> None:
    def normalised(b: GraphBuilder, x: Value) -> Value:
        mean = b.emit("reduce_mean", x, axes=(3,), keepdims=True)
        centred = b.emit("subtract", x, mean)
        spread = b.emit(
            "reduce_mean", b.emit("multiply", centred, centred), axes=(3,), keepdims=True
        )
        root = b.emit("sqrt", b.emit("add", spread, b.constant("e", np.float32([1e-3]))))
        return bias(b, b.emit("divide", centred, root))

    names = "reduce_mean+subtract+multiply+reduce_mean+add+sqrt+divide+add"
    assert kernels(lambda b, x: normalised(b, x)) == [names]
    assert kernels(lambda b, x: normalised(b, bias(b, x))) == [f"add+{names}"]


def test_a_norm_shares_the_kernel_of_what_it_divides() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        return b.emit("divide", x, b.emit("reduce_l2", x, axes=(3,), keepdims=True))

    assert kernels(build) == ["reduce_l2+divide"]


def test_a_kernel_holds_few_reductions() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        for _ in range(3):
            x = b.emit("softmax", x, axis=3)
        return x

    assert kernels(build) == ["softmax+softmax", "softmax"]


def attention(b: GraphBuilder, x: Value) -> Value:
    """softmax(q kᵀ / 2 + mask) v for two heads of width 2; q, k and v are slices."""
    rows = b.reshape(conv(b, x, 12), (1, 30, 12))
    parts = []
    for start, order in ((0, (0, 2, 1, 3)), (1, (0, 2, 3, 1)), (2, (0, 2, 1, 3))):
        cut = {"starts": (4 * start,), "stops": (4 * start + 4,), "steps": (1,), "axes": (2,)}
        heads = b.reshape(b.emit("strided_slice", rows, **cut), (1, 30, 2, 2))
        parts.append(b.emit("transpose", heads, permutation=order))
    q, k, v = parts
    scores = b.emit("multiply", b.emit("matmul", q, k), b.constant("s", np.float32([0.5])))
    masked = b.emit("add", scores, b.constant("m", floats(30, 30)))
    merged = b.emit("matmul", b.emit("softmax", masked, axis=3), v)
    return b.reshape(b.emit("transpose", merged, permutation=(0, 2, 1, 3)), (1, 30, 4))


def test_attention_is_two_kernels_and_moves_nothing_else() -> None:
    found = kernels(lambda b, x: attention(b, x))
    assert [f.split("+")[-4:] for f in found] == [
        ["conv"],
        ["matmul", "multiply", "add", "softmax"],
        ["reshape", "transpose", "matmul", "transpose"],
    ]


def test_elementwise_chains_are_one_kernel() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        t = b.emit("exp", b.emit("negative", x))
        return b.emit("transpose", b.emit("multiply", t, t), permutation=(0, 2, 1, 3))

    assert kernels(build) == ["negative+exp+multiply+transpose"]


def test_a_pad_joins_the_window_that_reads_it() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        pads = ((0, 0), (1, 1), (1, 1), (0, 0))
        padded = b.emit("pad", x, pads=pads, mode="constant", value=1.0)
        return b.emit("max_pool", padded, kernel=(3, 3), stride=(2, 2))

    assert kernels(build) == ["pad+max_pool"]


def test_a_transpose_joins_a_convolution_but_not_a_reader_of_whole_rows() -> None:
    order = (0, 3, 1, 2)

    def broadcast(b: GraphBuilder, x: Value) -> Value:
        return conv(b, b.emit("transpose", x, permutation=order))

    def rows(b: GraphBuilder, x: Value) -> Value:
        t = b.emit("transpose", x, permutation=order)
        return b.emit("max_pool", t, kernel=(2, 2), stride=(1, 1))

    assert kernels(broadcast) == ["transpose+conv"]
    assert kernels(rows) == ["transpose", "max_pool"]


def test_a_transpose_joins_a_contraction_that_can_copy_it() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        flat = b.reshape(x, (30, 4))
        return b.emit("matmul", flat, b.emit("transpose", flat, permutation=(1, 0)))

    assert kernels(build) == ["transpose+matmul"]


@pytest.mark.parametrize(("rows", "kernels"), [(1, 1), (4, 1), (8, 2)])
def test_keys_that_few_rows_read_are_not_turned_first(rows: int, kernels: int) -> None:
    b = GraphBuilder("g")
    q, k = b.input("q", (2, rows, 8), "float32"), b.input("k", (2, 20, 8), "float32")
    graph = b.build([b.emit("matmul", q, b.transpose(k, (0, 2, 1)))], ["y"])
    assert len(fuse(graph).groups) == kernels


def test_a_transpose_joins_what_it_reads_where_rows_stay_whole_or_are_short() -> None:
    def back(order: tuple[int, ...], channels: int) -> Callable[[GraphBuilder, Value], Value]:
        def build(b: GraphBuilder, x: Value) -> Value:
            return b.emit("transpose", conv(b, x, channels), permutation=order)

        return build

    assert kernels(back((0, 2, 1, 3), 32)) == ["conv+transpose"]
    assert kernels(back((0, 3, 1, 2), 3)) == ["conv+transpose"]
    assert kernels(back((0, 3, 1, 2), 32)) == ["conv", "transpose"]


def every_second(b: GraphBuilder, x: Value, start: int, axis: int) -> Value:
    n = x.shape[axis]
    return b.emit("strided_slice", x, starts=(start,), stops=(n,), steps=(2,), axes=(axis,))


def test_slices_into_a_concatenation_are_one_kernel() -> None:
    """Each value is read by two slices, whose elements are others."""

    def build(b: GraphBuilder, x: Value) -> Value:
        rows = [every_second(b, x, start, 1) for start in (0, 1)]
        parts = [every_second(b, r, start, 3) for start in (0, 1) for r in rows]
        return b.emit("concat", *parts, axis=2)

    assert kernels(build) == ["+".join(["strided_slice"] * 6 + ["concat"])]


def test_slight_arithmetic_joins_a_concatenation() -> None:
    """Rotary embedding: halves of sums of products; functions like exp are not written twice."""

    def rotary(b: GraphBuilder, x: Value) -> Value:
        even, odd = (every_second(b, x, start, 3) for start in (0, 1))
        cos, sin = (b.constant(name, floats(6, 5, 2)) for name in ("c", "s"))
        products = [b.emit("multiply", v, t) for v in (even, odd) for t in (cos, sin)]
        halves = [
            b.emit("subtract", products[0], products[3]),
            b.emit("add", products[1], products[2]),
        ]
        return b.emit("concat", *halves, axis=3)

    def of_exp(b: GraphBuilder, x: Value) -> Value:
        return b.emit("concat", b.emit("exp", x), x, axis=3)

    assert len(kernels(rotary)) == 1
    assert kernels(of_exp) == ["exp", "concat"]


def test_arithmetic_joins_a_reduction_only_where_it_is_not_repeated() -> None:
    def once(b: GraphBuilder, x: Value) -> Value:
        return b.emit("reduce_mean", b.emit("exp", x), axes=(1, 2), keepdims=True)

    def repeated(b: GraphBuilder, x: Value) -> Value:
        return conv(b, b.emit("exp", x), kernel=3)

    assert kernels(once) == ["exp+reduce_mean"]
    assert kernels(repeated) == ["exp", "conv"]


def test_a_reshape_needs_no_kernel() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        flat = b.reshape(b.emit("relu", conv(b, x)), (1, 120))
        return b.emit("matmul", flat, b.constant("v", floats(120, 7)))

    assert kernels(build) == ["conv+relu", "matmul"]


def test_a_graph_of_reshapes_alone_has_no_kernels() -> None:
    assert kernels(lambda b, x: b.reshape(x, (30, 4))) == []


@pytest.mark.parametrize(
    ("op", "attributes", "view"),
    [
        ("reshape", {"shape": (2, 3, 20)}, True),
        ("transpose", {"permutation": (0, 2, 1, 3)}, False),
        ("transpose", {"permutation": (1, 0, 2, 3)}, True),
        ("strided_slice", {"starts": (0,), "stops": (3,), "steps": (1,), "axes": (1,)}, False),
        ("relu", {}, False),
    ],
)
def test_views_are_recognised_by_their_math(
    op: str, attributes: dict[str, tuple[int, ...]], view: bool
) -> None:
    b = GraphBuilder("g")
    b.emit(op, b.input("x", (1, 6, 5, 4), "float32"), **attributes)
    assert NodeMath.of(b.nodes[0]).is_view() == view


def twins(shift: float) -> Graph:
    b = GraphBuilder("g")
    x = b.input("x", (1, 6, 5, 4), "float32")
    y = b.emit("relu", bias(b, conv(b, x)))
    z = b.emit("relu", bias(b, conv(b, y)))
    return b.build([b.emit("add", z, b.constant("c", np.float32([shift])))], ["y"])


def test_equal_subgraphs_are_one_task() -> None:
    b = GraphBuilder("g")
    t = b.input("x", (1, 6, 5, 4), "float32")
    for _ in range(3):
        t = b.emit("relu", bias(b, conv(b, t, kernel=3)))
    p = partition(b.build([b.emit("relu", bias(b, conv(b, t)))], ["y"]))
    assert [(t.name, t.weight) for t in p.tasks] == [
        ("t0_conv_add_relu_1x6x5x4", 3),
        ("t1_conv_add_relu_1x6x5x4", 1),
    ]
    assert {c.inputs[0].name for c in p.subgraphs} == {"x", "relu", "relu_2", "relu_3"}
    assert len({id(c.constants[0]) for c in p.subgraphs}) == 4, "each call has its own weights"


def test_names_of_a_task_do_not_depend_on_the_model() -> None:
    dag = partition(twins(1.0)).tasks[0].dag
    assert [t.name for t in dag.inputs] == ["x0"]
    assert [t.name for t in dag.constants] == ["w0", "w1"]
    assert [t.name for t in dag.stages] == ["conv", "add", "relu"]


def test_scalar_constants_are_part_of_the_task() -> None:
    keys = [{t.key for t in partition(twins(s)).tasks} for s in (1.0, 1.0, 2.0)]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize(("source", "to"), [("float16", "float32"), ("float32", "bfloat16")])
def test_a_conversion_of_storage_is_no_view(source: str, to: str) -> None:
    """Both are computed in float32, so that the math shows no conversion at all."""
    b = GraphBuilder("g")
    b.emit("cast_to", b.input("x", (2, 3), source), dtype=to)
    assert not NodeMath.of(b.nodes[0]).is_view()


@pytest.mark.parametrize(
    ("kind", "shape", "count"),
    [("float32", (64, 192), 1), ("bfloat16", (64, 192), 2), ("bfloat16", (1, 64, 12, 16), 1)],
    ids=["floats", "runs that are divided", "runs that stay"],
)
def test_dots_read_no_runs_that_a_view_divides(
    kind: str, shape: tuple[int, ...], count: int
) -> None:
    b = GraphBuilder("g")
    x = b.input("x", (12, 64, 16), kind)
    heads = b.reshape(b.transpose(x, (1, 0, 2)), shape)
    w = b.constant("w", floats(shape[-1], 64).astype(DTYPES[kind].numpy))
    graph = b.build([b.emit("matmul", heads, w, dtype="float32")], ["y"])
    assert len(fuse(graph).groups) == count

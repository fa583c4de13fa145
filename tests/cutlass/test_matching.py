"""Which computations templates have kernels for is read off the mathematics."""

from __future__ import annotations

import pytest
from problems import (
    SM_75,
    SM_80,
    convolution,
    half,
    match,
    product,
    scores,
    tried,
    two_convolutions,
    two_products,
)

from tilewright.cutlass import matches_of, reasons
from tilewright.cutlass.architectures import Architecture
from tilewright.expr import operators as ops
from tilewright.expr.contraction.factors import NoMatch
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor, cast, select
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.target import Target

A100, V100 = Target.parse("cuda:a100"), Target.parse("cuda:v100")


def names(dag: ComputeDAG) -> list[str]:
    return [m.template for m in matches_of(dag, A100)]


def test_a_template_for_each_form() -> None:
    assert names(product(20, 30, 40)) == ["cutlass.gemm"]
    assert names(convolution()) == ["cutlass.conv"]
    assert names(convolution(kernel=1, padding=0)) == ["cutlass.gemm"], "1 x 1 is a product"
    assert names(convolution(kernel=1, padding=0, stride=2)) == ["cutlass.conv"]
    assert names(two_products()) == ["cutlass.b2b_gemm"]
    assert names(two_convolutions()) == ["cutlass.b2b_conv"]


def test_names_and_order_do_not_count() -> None:
    """out[q, p] = sum(B[q, r] * A[r, p]) is the product of A' and B' transposed."""
    a, b, r = half((24, 40), "left"), half((16, 24), "right"), reduce_axis(24, "r")
    y = compute((16, 40), lambda q, p: sum_over(b[q, r] * a[r, p], r), name="out", dtype="float16")
    found = match("gemm", ComputeDAG([y])).last
    assert (found.left.tensor.name, found.right.tensor.name) == ("right", "left")
    assert (found.size(found.rows), found.size(found.columns), found.size(found.depth)) == (
        16, 40, 24
    )  # fmt: skip


def test_batches_are_what_both_factors_move_along() -> None:
    dag = ComputeDAG([ops.batch_matmul(half((2, 3, 16, 32), "a"), half((3, 32, 24), "b"))])
    found = match("gemm", dag).last
    assert found.size(found.batch) == 3, "b does not move along the first axis, which are rows"
    assert found.size(found.rows) == 2 * 16


def test_windows_are_recognised_by_their_indices() -> None:
    dag = convolution(channels=16, stride=2, dilation=2, padding=2)
    image = match("conv", dag).image  # type: ignore[attr-defined]
    assert (image.height.stride, image.height.dilation, image.height.pad) == (2, 2, 2)
    assert image.height.dimension == 1 and image.width.dimension == 2 and image.channels == 3
    x = ops.transpose(half((2, 16, 9, 9), "x"), (0, 2, 3, 1))
    first = ComputeDAG([ops.conv(x, half((3, 3, 16, 8), "w", True), padding=1)])
    image = match("conv", first).image  # type: ignore[attr-defined]
    assert (image.images, image.channels) == (0, 1), "NCHW is read where it is, and packed"
    assert match("conv", first).short_list(1)[0].pad == 1


def test_a_reduction_of_all_columns_is_part_of_the_epilogue() -> None:
    """Whichever factor's axes they are: these become the columns."""
    a, w = half((64, 32), "a"), half((32, 24), "w")
    for axis, columns in ((0, 64), (1, 24)):
        dag = ComputeDAG([ops.relu(ops.reduce_sum(ops.gelu(ops.matmul(a, w)), [axis]))])
        found = match("gemm", dag)
        assert found.last.size(found.last.columns) == columns
        assert found.follows.reduction is not None and found.follows.reduction.op == "sum"
    assert "cutlass.gemm" in names(scores()), "a product of one column is a sum"
    channels = ops.reduce_max(ops.conv(half((2, 9, 9, 8), "x"), half((3, 3, 8, 16), "w")), [-1])
    assert names(ComputeDAG([channels])) == ["cutlass.conv"]
    pixels = ops.reduce_max(ops.conv(half((2, 9, 9, 8), "x"), half((3, 3, 8, 16), "w")), [1, 2])
    assert "not over all columns" in refused("conv", ComputeDAG([pixels]))
    y = ops.matmul(a, w)
    centred = ComputeDAG([ops.subtract(y, ops.reduce_mean(y, [1], keepdims=True))])
    assert "what is neither given nor mean_sum_acc" in refused("gemm", centred)
    batch = ops.batch_matmul(half((4, 16, 32), "a"), half((4, 32, 24), "b"))
    assert "not over all columns" in refused("gemm", ComputeDAG([ops.reduce_sum(batch, [0, 2])]))


def refused(name: str, dag: ComputeDAG, where: Architecture = SM_80) -> str:
    found = tried(name, dag, where)
    assert isinstance(found, NoMatch)
    return found.reason


def test_a_border_of_anything_but_zeros_is_no_border() -> None:
    x, w, k = half((8, 10, 16), "x"), half((3, 16, 24), "w", True), reduce_axis(16, "k")
    r = reduce_axis(3, "r")

    def bordered(value: float, first: int) -> ComputeDAG:
        padded = compute(
            (8, 12, 16),
            lambda n, i, c: select((i >= first) & (i < 11), x[n, i - 1, c], value),
            name="padded",
            dtype="float16",
        )
        y = compute(
            (8, 10, 24),
            lambda n, i, o: sum_over(padded[n, i + r, k] * w[r, k, o], [r, k]),
            dtype="float16",
        )
        return ComputeDAG([y])

    assert "computed, not read" in refused("conv", bordered(1.0, 1))
    assert "0 elsewhere than outside of its bounds" in refused("conv", bordered(0.0, 2))
    assert match("conv", bordered(0.0, 1)).image.width.pad == 1  # type: ignore[attr-defined]


def test_what_no_template_computes_is_refused_with_the_reason() -> None:
    a, w = half((16, 32), "a"), half((32, 24), "w", True)
    assert "0 sums" in refused("gemm", ComputeDAG([ops.relu(a)]))
    softmax = ComputeDAG([ops.softmax(ops.matmul(a, w))])
    assert "3 sums" in refused("gemm", softmax) or "sums, not one" in refused("gemm", softmax)
    scaled = ComputeDAG([ops.matmul(ops.relu(a), w)])
    assert "computed, not read" in refused("gemm", scaled)
    grouped = ComputeDAG([ops.conv(half((1, 9, 9, 16), "x"), half((3, 3, 8, 24), "w"), groups=2)])
    assert "sums of multiples of axes" in refused("conv", grouped)
    single = placeholder((16, 32), "float32", name="a"), placeholder((32, 24), "float32", name="b")
    assert "multiplies no float32" in refused("gemm", ComputeDAG([ops.matmul(*single)]))
    wide = placeholder((16, 32), "bfloat16", name="a"), placeholder((32, 8), "bfloat16", name="b")
    assert "sm_75 multiplies no bfloat16" in refused("gemm", ComputeDAG([ops.matmul(*wide)]), SM_75)
    assert match("gemm", ComputeDAG([ops.matmul(*wide)]), SM_80).dtype == "bfloat16"
    assert matches_of(product(16, 16, 16), V100) == []
    assert "no tensor cores" in reasons(product(16, 16, 16), V100)["cutlass.gemm"]


@pytest.mark.parametrize(
    ("dag", "reason"),
    [
        (two_convolutions(kernel=3, padding=1), "depends on the position: a border"),
        (two_convolutions(kernel=3), "reads windows"),
        (two_convolutions(stride=2), "reads windows, or every second position"),
        (two_convolutions(padding=1), "depends on the position: a border"),
    ],
)
def test_second_convolutions_other_than_1_x_1_are_refused(dag: ComputeDAG, reason: str) -> None:
    assert names(dag) == []
    assert reason in refused("b2b_conv", dag)


def test_a_middle_value_that_others_need_is_not_kept_from_them() -> None:
    a, w = half((32, 32), "a"), half((32, 32), "w", True)
    middle = ops.relu(ops.matmul(a, w))
    last = ops.matmul(middle, half((32, 32), "w1", True), name="second")
    for outputs in ([ops.add(last, middle)], [middle, last]):
        assert names(ComputeDAG(outputs)) == []
    single = ops.matmul(ops.matmul(a, half((32, 1), "w", True)), half((1, 8), "w1", True), name="n")
    assert "nothing to be summed is left" in refused("b2b_gemm", ComputeDAG([single]))
    twice: list[Tensor] = [ops.matmul(middle, middle, name="second")]
    assert names(ComputeDAG(twice)) == []


def test_what_no_kernel_writes_or_reads_is_refused_before_any_is_written() -> None:
    y = ops.matmul(half((16, 32), "a"), half((32, 24), "w", True))
    mask = placeholder((16, 24), "bool", name="mask")
    masked = ComputeDAG([ops.where(mask, y, half((1,), "c"))])
    assert "mask is bool, which no functor stores" in refused("gemm", masked)
    counted = compute((16, 24), lambda i, j: cast("int32", y[i, j]), name="n", dtype="int32")
    assert "n is int32, which no functor stores" in refused("gemm", ComputeDAG([counted]))
    flat = compute((16, 24), lambda i, j: y[i, j] + half((8,), "b")[j // 3], name="sum")
    assert "b is not read at sums of multiples" in refused("gemm", ComputeDAG([flat]))
    part = half((2, 32, 24), "stack", True)
    first = compute((32, 24), lambda k, j: part[0, k, j], name="first", dtype="float16")
    sliced = ComputeDAG([ops.matmul(half((16, 32), "a"), first)])
    assert "read in part" in refused("gemm", sliced)


def test_constants_that_are_packed_have_one_purpose() -> None:
    w = half((32, 32), "w", True)
    y = ops.matmul(half((32, 32), "a"), w)
    assert "w is read for two purposes" in refused("gemm", ComputeDAG([ops.add(y, w)]))
    again = ComputeDAG([ops.matmul(ops.relu(y), w, name="second")])
    assert "w is read for two purposes" in refused("b2b_gemm", again)

"""The nest of products in registers, how its constants are packed, and what is no row of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import ScheduleError
from tilewright.nest.print import program_text
from tilewright.schedule.lower import Lowered
from tilewright.schedule.producers import instance_of, lowered_of, matched, template_gene
from tilewright.schedule.templates import REGISTERS
from tilewright.target import Target
from workloads import given, product, weight


def lowered(output: Tensor, *row: int) -> Lowered:
    return lowered_of(ComputeDAG([output]), template_gene(REGISTERS.name, row), "registers")


def test_a_product_of_panels(golden: Callable[[str, str], None]) -> None:
    """A dense layer of what is scaled, of 20 x 300 by 300 x 70, with relu: both packed."""
    x, w = given(20, 300), given(300, 70, name="w")
    scaled = ops.elementwise(lambda v: v * 2.0, x, name="scaled")
    output = ops.relu(ops.dense(scaled, w, name="dense"), name="relu")
    text = program_text(lowered(output, 6, 32, 2, 1, 256, 3).program)
    golden("steps/registers_template.txt", text + "\n")


def test_a_convolution_of_packed_weights(golden: Callable[[str, str], None]) -> None:
    """Windows are gathered; the depth runs over the axes of the kernel."""
    output = ops.conv2d(given(1, 9, 9, 8), weight(3, 3, 8, 40), padding=1, name="conv")
    found = lowered(output, 6, 32, 1, 1, 0, 1)
    (layout,) = found.layouts.values()
    assert layout.packed_shape == (1, 2, 72, 32)
    assert layout.splits == ((3,), (3,), (8,), (2, 32)) and layout.permutation == (3, 0, 1, 2, 4)
    golden("steps/registers_template_windows.txt", program_text(found.program) + "\n")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((9, 64, 1, 1, 0, 0), "tile_m is one of 1, 2, .* not 9"),
        ((6, 64, 1, 1, 0), "has the parameters tile_m, tile_n"),
        ((6, 64, 0, 1, 0, 0), "down is one of 1, 2, 3"),
        ((6, 64, 1, 1, -1, 0), "block_k is one of 0, 128"),
        ((6, 64, 1, 1, 0, 4), "packs is one of 0, 1, 2, 3"),
    ],
)
def test_other_numbers_are_refused(row: tuple[int, ...], message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        instance_of(product(64, 64, 64), REGISTERS.name, row)


def test_a_constant_is_packed_once() -> None:
    with pytest.raises(ScheduleError, match="no program of"):
        lowered(ops.dense(given(20, 30), weight(30, 70)), 6, 32, 1, 1, 0, 2)


@pytest.mark.parametrize(("rows", "columns"), [(64, 48), (30, 48), (64, 24), (30, 24)])
def test_a_constant_is_packed_where_all_of_it_is_read(rows: int, columns: int) -> None:
    x, w, k = given(16, rows), weight(64, 48), reduce_axis(rows, "k")
    y = compute((16, columns), lambda i, j: sum_over(x[i, k] * w[k, j], k), name="y")
    layouts = lowered(y, 4, 16, 1, 1, 0, 0).layouts
    assert bool(layouts) == ((rows, columns) == (64, 48))


@pytest.mark.parametrize("spec", ["icelake-server cores=64", "haswell cores=6", "cortex-a53"])
def test_there_are_few_rows_for_any_extents(spec: str) -> None:
    target = Target.parse(f"cpu:{spec}")
    rng = np.random.default_rng(0)
    for _ in range(40):
        m, n, k = (int(e) for e in 2 ** rng.uniform(1, 13, 3))
        anchor = matched(product(m, n, k), REGISTERS)
        rows = list(REGISTERS.rows(anchor, target))
        assert 1 <= len(rows) == len(set(rows)) <= 200, (m, n, k)
        for row in rows:
            tile_m, tile_n, *_ = row
            vectors = tile_n // target.lanes(anchor.sums.dtype)
            assert (tile_m + 1) * vectors < target.vector_registers  # type: ignore[attr-defined]
            assert all(x in o for x, o in zip(row, REGISTERS.options.values(), strict=True))


def half(name: str, *shape: int) -> Tensor:
    return placeholder(shape, "float16", name=name)


def test_what_it_computes() -> None:
    x = given(4, 6)
    row = (4, 4, 1, 1, 0, 0)
    for output, reason in (
        (ops.softmax(x), "stages reduce, not one"),
        (ops.depthwise_conv(given(1, 5, 5, 8), weight(3, 3, 8, 1)), "it is a product of vectors"),
        (ops.matmul(half("a", 4, 6), half("b", 6, 5)), "factors are float16, not both float32"),
    ):
        with pytest.raises(ScheduleError, match=reason):
            lowered(output, *row)

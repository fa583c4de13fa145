"""Winograd convolution against the direct one."""

from __future__ import annotations

import numpy as np
import pytest
from operator_cases import close, like, normal, run, stages

from tilewright.errors import ExprError
from tilewright.expr import operators as op
from tilewright.expr.operators.winograd import MATRICES
from tilewright.expr.tensors import placeholder


@pytest.mark.parametrize("tile", [2, 4])
@pytest.mark.parametrize("padding", [0, 1, ((2, 0), (0, 1))])
@pytest.mark.parametrize("extent", [8, 9])
def test_equals_the_direct_convolution(tile: int, padding: object, extent: int) -> None:
    x, w = normal(2, extent, extent + 1, 3, dtype="float64"), normal(3, 3, 3, 4, dtype="float64")
    direct = run(op.conv2d(like("x", x), like("w", w), padding=padding), x=x, w=w)
    y = op.conv2d_winograd(like("x", x), like("w", w), padding=padding, tile=tile)  # type: ignore[arg-type]
    close(run(y, x=x, w=w), direct, 1e-12)


def test_bias_and_weights_transformed_before() -> None:
    x, w, bias = normal(1, 6, 6, 2), normal(3, 3, 2, 3), normal(3)
    u = run(op.winograd_weights(like("w", w), tile=2), w=w)
    y = op.conv2d_winograd_transformed(
        like("x", x), like("u", u), like("bias", bias), padding=1, tile=2, name="c"
    )
    direct = op.conv2d(like("x", x), like("w", w), like("bias", bias), padding=1)
    close(run(y, x=x, u=u, bias=bias), run(direct, x=x, w=w, bias=bias))
    assert stages(y) == [
        "c_pad", "c_tiles", "c_data", "c_product", "c_inverse", "c_unpack", "c"
    ]  # fmt: skip


def test_what_it_refuses() -> None:
    x = placeholder((1, 8, 8, 4), name="x")
    with pytest.raises(ExprError, match=r"needs float weights \[3, 3, c, o\]"):
        op.conv2d_winograd(x, placeholder((5, 5, 4, 8), name="w"))
    with pytest.raises(ExprError, match=r"Winograd tables exist for \[2, 4\]"):
        op.conv2d_winograd(x, placeholder((3, 3, 4, 8), name="w"), tile=6)
    with pytest.raises(ExprError, match="do not fit"):
        op.conv2d_winograd_transformed(x, placeholder((4, 4, 4, 8), name="u"), tile=4)
    with pytest.raises(ExprError, match="does not fit"):
        op.conv2d_winograd(placeholder((1, 2, 8, 4), name="x"), placeholder((3, 3, 4, 8), name="w"))


def test_tables_are_exact_in_float32() -> None:
    for tile in (2, 4):
        tables = MATRICES[tile]
        for matrix in (tables.data, tables.inverse):
            np.testing.assert_array_equal(matrix.astype(np.float32), matrix)

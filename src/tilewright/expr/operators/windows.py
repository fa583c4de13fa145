"""Sliding windows over the spatial dimensions of a channels-last tensor [n, *spatial, ..].

windows = Windows.over((14, 14), (3, 3), name="conv", stride=2, padding=1)
windows.out                    (7, 7)
windows.at((h, w))             [h * 2 + rh, w * 2 + rw], a position in the padded tensor
windows.padded(x, name="pad")  x itself where nothing is padded
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from tilewright.expr.index.extents import add, ceildiv, floordiv, minimum, sub
from tilewright.expr.nodes import Axis, Expr, Extent, Shape, Tensor
from tilewright.expr.operators.movement import pad
from tilewright.expr.operators.shapes import (
    Padding,
    Pairs,
    PerAxis,
    number,
    padding_pairs,
    per_axis,
    spatial_names,
)
from tilewright.expr.tensors import canonical, reduce_axis
from tilewright.ground.errors import ExprError


class Sliding(TypedDict, total=False):
    """How windows slide. `stride` and `dilation` are an int or one an axis, 1 by default;
    `padding` is an int, one an axis, or a pair (before, after) an axis, 0 by default; pairs may be
    over sizes.
    """

    stride: PerAxis
    padding: Padding
    dilation: PerAxis


@dataclass(frozen=True, slots=True)
class Windows:
    """One entry a spatial dimension. `pads` are those asked for; `hang` is what ceil mode adds
    after them, at most where extents vary; `out` counts windows; `axes` are reduced over within
    one.
    """

    spatial: Shape
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    pads: Pairs
    hang: tuple[int, ...]
    out: Shape
    axes: tuple[Axis, ...]

    @staticmethod
    def over(
        spatial: Sequence[Extent],
        kernel: PerAxis,
        *,
        name: str,
        stride: PerAxis = 1,
        padding: Padding = 0,
        dilation: PerAxis = 1,
        ceil_mode: bool = False,
    ) -> Windows:
        """The windows that lie in the padded data; in ceil mode the last may hang over the end.

        Raises ExprError for options that do not fit, or a window larger than the padded data.
        """
        rank = len(spatial)
        kernels, strides = per_axis(kernel, rank, "kernel"), per_axis(stride, rank, "stride")
        dilations, pads = per_axis(dilation, rank, "dilation"), padding_pairs(padding, rank)
        out: list[Extent] = []
        hang = []
        rows = zip(spatial, kernels, strides, dilations, pads, strict=True)
        for extent, k, s, d, (before, after) in rows:
            room = canonical(add(extent, sub(add(before, after), (k - 1) * d + 1)))
            if not isinstance(room, int):
                fitting = add(floordiv(room, s), 1)
                if ceil_mode and s > 1:
                    fitting = minimum(add(ceildiv(room, s), 1), ceildiv(add(extent, before), s))
                out.append(fitting)
                hang.append(s - 1 if ceil_mode else 0)
                continue
            if room < 0:
                raise ExprError(
                    f"{name}: a window of {k} (dilation {d}) does not fit {extent} elements "
                    f"padded by {(before, after)}"
                )
            count = room // s + 1
            # One that would start beyond the data and the padding before is dropped.
            if ceil_mode and room % s and count * s < number(add(extent, before), name):
                count += 1
            out.append(count)
            hang.append(max(0, (count - 1) * s - room))
        names = spatial_names(rank)
        axes = tuple(reduce_axis(k, f"r{n}") for k, n in zip(kernels, names, strict=True))
        return Windows(
            tuple(spatial),
            kernels,
            strides,
            dilations,
            pads,
            tuple(hang),
            tuple(map(canonical, out)),
            axes,
        )

    @property
    def reach(self) -> tuple[int, ...]:
        """Elements from the first to the last of a window."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True))

    def padded(self, x: Tensor, value: float | int = 0, *, name: str) -> Tensor:
        """`x` with `value` around its spatial dimensions; `x` itself when there is no padding."""
        pads = [(b, add(a, h)) for (b, a), h in zip(self.pads, self.hang, strict=True)]
        rest = ((0, 0),) * (x.rank - 1 - len(pads))
        return pad(x, ((0, 0), *pads, *rest), value=value, name=name)

    def at(self, window: Sequence[Any]) -> list[Expr]:
        """The element of padded data that `axes` mean in a window: its number · stride + ..."""
        rows = zip(window, self.stride, self.axes, self.dilation, strict=True)
        return [p * s + r * d for p, s, r, d in rows]

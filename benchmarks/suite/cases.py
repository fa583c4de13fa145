"""What the suite computes: tables of shapes, and the same by PyTorch.

case = SPEED["square-bfloat16-1024x1024x1024"]
case.problem(), case.problem(small=True)

`SPEED` is timed, `VERIFY` compared with direct evaluation in float64 at every element. Products are
rows x columns x depth, convolutions have their channels last, bias and ReLU follow them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from benchmarks.bolt_problems import HALF, Problem, convolution, product
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import placeholder

Make: TypeAlias = Callable[[Sequence[int], str], Problem]
Shape: TypeAlias = tuple[int, ...]
BRAIN, SINGLE = "bfloat16", "float32"
SMALL = 40  # extents of small shapes, at most
SMALL_SIDE = 6  # of their images

SQUARES = (1024, 2048, 2039, 2040, 4096, 8192)
PRODUCTS: Mapping[str, tuple[str, Sequence[Shape]]] = {
    "bert": (HALF, ((1280, 3072, 768), (1280, 768, 3072), (1280, 768, 768))),
    "decode": (BRAIN, ((16, 4096, 4096), (16, 11008, 4096), (16, 4096, 11008), (16, 32000, 4096),
                       (64, 4096, 4096), (128, 11008, 4096))),
    "prefill": (BRAIN, ((512, 4096, 4096), (512, 11008, 4096), (2048, 4096, 11008),
                        (2048, 11008, 4096), (4096, 14336, 4096))),
    "skinny": (HALF, ((4096, 64, 4096), (64, 64, 16384), (256, 256, 8192), (8192, 128, 1024),
                      (16384, 16, 1024))),
    "odd": (HALF, ((1000, 1000, 1000), (1031, 517, 2053), (3000, 777, 1234), (127, 4095, 4097))),
    "square": (SINGLE, tuple((n, n, n) for n in (1024, 2048, 4096))),
}  # fmt: skip
CONVOLUTIONS = (  # of ResNet-50 at batch 1: size, channels in and out, kernel, stride
    (224, 3, 64, 7, 2), (56, 64, 64, 1, 1), (56, 64, 64, 3, 1), (56, 64, 256, 1, 1),
    (56, 256, 128, 1, 1), (56, 128, 128, 3, 2), (28, 128, 512, 1, 1), (28, 256, 256, 3, 2),
    (14, 256, 256, 3, 1), (7, 512, 512, 3, 1),
)  # fmt: skip
ROWS = ((8192, 1024), (16384, 4096))
VERIFIED = ((65, 127, 33), (129, 264, 200), (72, 40, 1032))
VERIFIED_CONVOLUTIONS = ((13, 24, 40, 3, 2), (7, 5, 9, 3, 1))


@dataclass(frozen=True)
class Case:
    """A computation of one shape and dtype."""

    kind: str
    dtype: str
    shape: Shape
    make: Make

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.dtype}-{'x'.join(map(str, self.shape))}"

    def problem(self, small: bool = False) -> Problem:
        """The computation, of a small shape to go through the code."""
        return self.make(_shrunk(self.shape) if small else self.shape, self.dtype)


def _shrunk(shape: Shape) -> Shape:
    """A shape for the emulation: images and what is in them, or a matrix."""
    if len(shape) == 5:
        size, c, o, *rest = shape
        return min(size, SMALL_SIDE), min(c, SMALL), min(o, SMALL), *rest
    return tuple(min(n, SMALL) for n in shape)


def _product(shape: Sequence[int], dtype: str) -> Problem:
    m, n, k = shape
    return product(m, n, k, dtype=dtype)


def _layer(shape: Sequence[int], dtype: str) -> Problem:
    """`product` with bias and ReLU."""
    m, n, k = shape
    return product(m, n, k, "relu", True, dtype)


def _convolution(shape: Sequence[int], dtype: str) -> Problem:
    """With bias and ReLU; PyTorch in cuDNN's own fused form, too."""
    size, c, o, k, stride = shape
    found = convolution(1, size, size, c, o, (k, k), stride, "relu", True, dtype)

    def fused(torch: Any, t: Mapping[str, Any]) -> Any:
        x = t["x"].permute(0, 3, 1, 2)
        strides, padding = (stride, stride), (k // 2, k // 2)
        y = torch.cudnn_convolution_relu(x, t["w"], t["bias"], strides, padding, (1, 1), 1)
        return y.permute(0, 2, 3, 1)

    def biased(torch: Any, t: Mapping[str, Any]) -> Any:
        x = t["x"].permute(0, 3, 1, 2)
        y = torch.nn.functional.conv2d(x, t["w"], t["bias"], stride, k // 2)
        return torch.relu_(y).permute(0, 2, 3, 1)

    return replace(found, others=(biased, fused))


def _softmax(shape: Sequence[int], dtype: str) -> Problem:
    x = placeholder(tuple(shape), dtype, name="x")
    return Problem(ComputeDAG([ops.softmax(x)]), lambda torch, t: torch.softmax(t["x"], -1))


def _layer_norm(shape: Sequence[int], dtype: str) -> Problem:
    x, *rest = (
        placeholder(s, dtype, name=name, constant=name != "x")
        for name, s in (("x", tuple(shape)), ("scale", shape[-1:]), ("bias", shape[-1:]))
    )

    def peer(torch: Any, t: Mapping[str, Any]) -> Any:
        return torch.nn.functional.layer_norm(t["x"], shape[-1:], t["scale"], t["bias"])

    return Problem(ComputeDAG([ops.layer_norm(x, *rest)]), peer)


def _table(cases: Sequence[Case]) -> dict[str, Case]:
    return {case.name: case for case in cases}


SPEED = _table(
    [
        *(Case("square", BRAIN, (n, n, n), _product) for n in SQUARES),
        *(
            Case(kind, dtype, shape, _product)
            for kind, (dtype, shapes) in PRODUCTS.items()
            for shape in shapes
        ),
        *(Case("conv", HALF, shape, _convolution) for shape in CONVOLUTIONS),
        *(Case("softmax", HALF, shape, _softmax) for shape in ROWS),
        *(Case("norm", HALF, shape, _layer_norm) for shape in ROWS),
    ]
)
VERIFY = _table(
    [
        *(Case("verify", d, s, _product) for s in VERIFIED for d in (HALF, BRAIN, SINGLE)),
        *(Case("layer", d, VERIFIED[1], _layer) for d in (HALF, BRAIN)),
        *(Case("verify", HALF, s, _convolution) for s in VERIFIED_CONVOLUTIONS),
    ]
)
EMULATED = (  # of both tables, those that go through all code
    "square-bfloat16-1024x1024x1024", "decode-bfloat16-16x4096x4096", "odd-float16-1031x517x2053",
    "square-float32-1024x1024x1024", "conv-float16-56x64x64x3x1", "softmax-float16-8192x1024",
    "norm-float16-8192x1024", "verify-float16-65x127x33", "verify-bfloat16-129x264x200",
    "verify-float32-65x127x33", "layer-float16-129x264x200", "verify-float16-7x5x9x3x1",
)  # fmt: skip
FIRST = (  # of those that are timed: what is worth most to know
    "square-bfloat16-4096x4096x4096", "square-bfloat16-8192x8192x8192",
    "bert-float16-1280x3072x768", "decode-bfloat16-16x4096x4096", "conv-float16-56x64x64x3x1",
    "softmax-float16-8192x1024", "norm-float16-8192x1024",
)  # fmt: skip
QUICK = ("square-bfloat16-1024x1024x1024", "softmax-float16-8192x1024", "verify-float16-65x127x33")

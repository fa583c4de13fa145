"""What the figures of the Hidet paper are measured on, beyond the cases of Ansor's benchmark.

CASES["GEMM-2039"]                  square products of consecutive sizes, and of primes near them
CASES["CONV-14-256-256-3-1"]        ResNet-50's convolutions with normalisation and ReLU
CASES[STRIDED]                      the convolution of figure 18
parts_of(CASES["CONV-..."])         the convolution, and what follows it
"""

from __future__ import annotations

from benchmarks.cases import SMALL, Case, conv2d, conv_layer, matmul, normalised
from benchmarks.operator_sets import RESNET50
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder

SIZES = (2039, *range(2048, 2057), 2063)  # 2039, 2053 and 2063 are primes
QUICK_SIZES = (126, 127, 128)
STRIDED = "C2D-28-256-256-3-2"


def _layer(size: int, ci: int, co: int, k: int, s: int) -> Case:
    shape = (size, size, ci, co, k, s, k // 2)
    return Case(f"CONV-{size}-{ci}-{co}-{k}-{s}", "CONV", shape, 1, conv_layer)


def after_convolution(n: int, h: int, w: int, channels: int) -> Tensor:
    """Normalisation and ReLU of `[n, h, w, channels]`."""
    return normalised(placeholder((n, h, w, channels), name="y"), channels)


PRODUCTS = tuple(Case(f"GEMM-{n}", "GMM", (n, n, n), 1, matmul) for n in (*SIZES, *QUICK_SIZES))
LAYERS = tuple(_layer(*shape) for _, shape in RESNET50)
CASES = {
    case.name: case
    for case in (
        *PRODUCTS, *LAYERS, Case(STRIDED, "C2D", (28, 28, 256, 256, 3, 2, 1), 1, conv2d)
    )
}  # fmt: skip
SMALL_LAYER = SMALL["CONV-small"]


def parts_of(case: Case) -> tuple[Case, Case]:
    """The convolution of a layer, and what follows it."""
    h, w, _, co, k, s, p = case.shape
    rows, columns = ((size + 2 * p - k) // s + 1 for size in (h, w))
    convolution = Case(f"{case.name}, convolution", "C2D", case.shape, case.batch, conv2d)
    rest = Case(f"{case.name}, rest", "ARU", (rows, columns, co), case.batch, after_convolution)
    return convolution, rest

"""LLVM IR of small kernels, as golden files: no instruction changes unnoticed.

Targets are named, so the text is the same on every machine. An entry's name holds a digest of the
whole text and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from kernel_nests import Conv, S, U, V, conv2d, gemm, nest, streamed

from tilewright.codegen.llvm.functions import ENTRY, emit
from tilewright.codegen.passes import prepared
from tilewright.expr.dtypes import BOOL, DTYPES, FLOAT32
from tilewright.expr.nodes import Cast, Const, Select, Tensor, Var, binary, call
from tilewright.expr.tensors import placeholder, table
from tilewright.nest.nodes import Alloc, Program, Store, seq
from tilewright.target import CpuTarget, Target

AVX512 = "cpu:icelake-server cores=1"
AVX2 = "cpu:haswell cores=1"
ARM = "cpu:cortex-a53 cores=1"
I, J, K = (Var(name) for name in "ijk")  # noqa: E741
ZERO = Const(0.0, FLOAT32)
INT32 = DTYPES["int32"]


def elementwise() -> Program:
    """y = max(a·2 + b, 0), 21 elements: a register and a masked rest."""
    a, b = placeholder((21,), name="a"), placeholder((21,), name="b")
    y = Tensor("y", (21,), FLOAT32)
    value = binary("max", a[I] * 2.0 + b[I], ZERO)
    return Program("elementwise", (a, b), (), (), (y,), nest([("i", 21, V)], Store(y, (I,), value)))


def depthwise() -> Program:
    """y[h, c] = Σ over r < 2 of x[h + r, c]·w[r, c]."""
    x, w = placeholder((5, 16), name="x"), placeholder((2, 16), name="w")
    y = Tensor("y", (4, 16), FLOAT32)
    begin = nest([("j", 4, U), ("i", 16, V)], Store(y, (J, I), ZERO))
    update = Store(y, (J, I), x[J + K, I] * w[K, I], "sum")
    body = seq(begin, nest([("k", 2, U), ("j", 4, U), ("i", 16, V)], update))
    return Program("depthwise", (x, w), (), (), (y,), body)


def lanes_sum() -> Program:
    """A sum whose terms are lanes, with a rest."""
    x, y = placeholder((3, 37), name="x"), Tensor("y", (3,), FLOAT32)
    update = nest([("j", 37, V)], Store(y, (I,), x[I, J], "sum"))
    return Program(
        "lanes", (x,), (), (), (y,), nest([("i", 3, S)], seq(Store(y, (I,), ZERO), update))
    )


def softmax() -> Program:
    """One row: maximum, exponentials, their sum, quotients."""
    x, y = placeholder((16,), name="x"), Tensor("y", (16,), FLOAT32)
    most, total = Tensor("most", (1,), FLOAT32), Tensor("total", (1,), FLOAT32)
    at = Const(0, I.dtype)
    body = seq(
        Store(most, (at,), Const(float("-inf"), FLOAT32)),
        nest([("i", 16, V)], Store(most, (at,), x[I], "max")),
        nest([("i", 16, V)], Store(y, (I,), call("exp", x[I] - most[at]))),
        Store(total, (at,), ZERO),
        nest([("i", 16, V)], Store(total, (at,), y[I], "sum")),
        nest([("i", 16, V)], Store(y, (I,), y[I] / total[at])),
    )
    body = Alloc(most, (at,), Alloc(total, (at,), body))
    return Program("softmax", (x,), (), (), (y,), body)


def quantised() -> Program:
    """int32 sums of int8 by uint8, kept where a mask says so."""
    a, b = placeholder((16,), "int8", name="a"), placeholder((16,), "uint8", name="b")
    keep = placeholder((16,), "bool", name="keep")
    y = Tensor("y", (16,), INT32)
    product = Cast(INT32, a[I]) * Cast(INT32, b[I])
    value = Select(keep[I], product, Const(0, INT32))
    body = nest([("i", 16, V)], Store(y, (I,), value))
    return Program("quantised", (a, b, keep), (), (), (y,), body)


def half() -> Program:
    """float16 stored, float32 computed."""
    x, y = placeholder((8,), "float16", name="x"), Tensor("y", (8,), DTYPES["float16"])
    body = nest([("i", 8, V)], Store(y, (I,), x[I] * x[I]))
    return Program("half", (x,), (), (), (y,), body)


def comparison() -> Program:
    """Booleans stored: x[2i] < t[i], a strided read and a table of known values."""
    x = placeholder((32,), name="x")
    t = table(np.arange(16, dtype=np.float32), name="t")
    y = Tensor("y", (16,), BOOL)
    body = nest([("i", 16, V)], Store(y, (I,), x[I * 2] < t[I]))
    return Program("comparison", (x,), (), (t,), (y,), body)


@dataclass(frozen=True)
class Case:
    """A program, its target, and from how many bytes on constants are prefetched."""

    make: Callable[[], Program]
    target: str = AVX512
    prefetch: int = 0


CASES = {
    "elementwise": Case(elementwise),
    "elementwise_avx2": Case(elementwise, AVX2),
    "elementwise_arm": Case(elementwise, ARM),
    "matmul": Case(lambda: gemm(2, 16, 8, 2, 16)),
    "matmul_masks": Case(lambda: gemm(2, 13, 8, 2, 16)),
    "matmul_parallel": Case(lambda: gemm(4, 16, 8, 2, 16), AVX512.replace("cores=1", "cores=2")),
    "matmul_packed": Case(lambda: gemm(2, 32, 8, 2, 16, packed=True)),
    "matmul_prefetch": Case(lambda: gemm(8, 16, 64, 2, 16, packed=True), prefetch=1),
    "matmul_streamed": Case(lambda: streamed(gemm(2, 16, 8, 2, 16), "C")),
    "matmul_arm": Case(lambda: gemm(2, 8, 8, 2, 8), ARM),
    "convolution": Case(lambda: conv2d(Conv(3, 4, 2, 16), 1, 4, 16)),
    "depthwise": Case(depthwise),
    "lanes_sum": Case(lanes_sum, AVX2),
    "softmax": Case(softmax),
    "quantised": Case(quantised),
    "half_avx2": Case(half, AVX2),
    "half_arm": Case(half, ARM),
    "comparison": Case(comparison),
}


@pytest.mark.parametrize("name", CASES)
def test_llvm_ir(name: str, golden: Callable[[str, str], None]) -> None:
    case = CASES[name]
    target = Target.parse(case.target)
    assert isinstance(target, CpuTarget)
    emitted = emit(prepared(case.make(), target), target, case.prefetch)
    golden(f"llvm/{name}.ll", emitted.ir.replace(emitted.entry, ENTRY))

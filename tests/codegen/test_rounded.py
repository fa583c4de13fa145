"""Floats that are rounded, limited and made small integers: as the interpreter says, whatever they
are, on every instruction set.
"""

from __future__ import annotations

import numpy as np
import pytest
from kernel_runs import run

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.intrinsics import maximum, minimum
from tilewright.expr.intrinsics import round as rounded
from tilewright.expr.nodes import Expr
from tilewright.expr.tensors import cast, compute, placeholder
from tilewright.ground.errors import RunError
from tilewright.nest.nodes import Program
from tilewright.nest.reference.interpret import interpret
from tilewright.runtime.host import check_targets, needed_features
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import Annotate
from tilewright.target import CpuTarget

pytestmark = pytest.mark.cpu

ISAS = {
    "sse2": "cpu:x86-64 cores=1",
    "avx2": "cpu:haswell cores=1 features=+avx2",
    "avx512": "cpu:skylake-avx512 cores=1 features=+avx512bw,+avx512vl,-prefer-256-bit",
    "host": "cpu cores=1",
}
# Type, zero point, limits: QuantizeLinear's, a ReLU's, some that are no type's.
RANGES = [
    ("uint8", 0, 0, 255),
    ("uint8", 117, 0, 255),
    ("uint8", 3, 3, 200),
    ("int8", 0, -128, 127),
    ("int8", -5, -128, 127),
    ("int16", 0, -32768, 32767),
    ("uint16", 1000, 0, 65535),
]
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 3e38, -3e38, 2.0**31, -(2.0**31), 1e-40]


def program(count: int, kind: str, zero: int, low: int, high: int, again: bool) -> Program:
    """Numbers of a type, in a vector loop; `again` they are made floats, and a second number."""
    x = placeholder((count,), name="x")
    y = placeholder((count,), name="y", dtype="uint8")

    def number(value: Expr) -> Expr:
        inside = minimum(maximum(rounded(value) + float(zero), float(low)), float(high))
        return cast(kind, inside)

    def body(i: Expr) -> Expr:
        if not again:
            return number(x[i] / 0.3)
        back = cast("float32", cast("int32", number(x[i] / 0.3)) - zero) * 0.3
        return number((back + cast("float32", y[i])) / 0.7)

    state = State(ComputeDAG((compute((count,), body, name="q", dtype=DTYPES[kind]),)))
    state.apply(Annotate("q", "i", "vector"))
    return lower(state, "rounded").program


def numbers(count: int, seed: int) -> dict[str, np.ndarray]:
    """Near whole numbers and halves of them, and special ones."""
    rng = np.random.default_rng(seed)
    x = (rng.integers(-700, 700, count) / 2 * np.float32(0.3)).astype(np.float32)
    x = np.nextafter(x, rng.choice(np.float32([-1e9, 0, 1e9]), count))
    x[: len(SPECIAL)] = SPECIAL
    return {"x": rng.permutation(x), "y": rng.integers(0, 256, count, np.uint8)}


@pytest.mark.parametrize("again", [False, True], ids=["once", "again"])
@pytest.mark.parametrize("limits", RANGES, ids=str)
@pytest.mark.parametrize("isa", ISAS)
def test_rounded(isa: str, limits: tuple[str, int, int, int], again: bool) -> None:
    target = CpuTarget.of(ISAS[isa])
    try:
        check_targets(isa, [(str(target), needed_features(str(target)))], 62)
    except RunError as error:
        pytest.skip(str(error))
    nest, arrays = program(75, *limits, again), numbers(75, len(isa))
    with np.errstate(all="ignore"):
        (wanted,) = interpret(nest, arrays, {}).values()
    (got,) = run(nest, arrays, target).values()
    np.testing.assert_array_equal(got, wanted)

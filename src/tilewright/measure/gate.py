"""The correctness gate: an output against the reference's, under a tolerance that knows rounding.

    gate = OutputGate(spec, expected, Tolerance(depth=4608))
    gate.poison(array)          before a run: values that are wrong at every element
    gate.check(array)           after it: WrongAnswer, or nothing

Both programs sum the same terms in different orders. A sum of K terms with independent rounding
errors is off by about u·√K of its magnitude (u: unit roundoff), and the magnitude that counts is
the output's root mean square where an element itself came out small by cancellation. Hence

    |got − expected| ≤ 8·u·√K·max(|expected|, rms) + 2·u_out·|expected|

with K at least 16 (so that 4 ulps of a math function pass), u the coarsest rounding on the way and
u_out that of the output's own dtype. Leaving one term of K out of a float32 sum shows for any K
below two million. A program that transforms its terms first (Winograd's form) says by how much its
errors are larger (`Artifact.rounding`), and may differ by as much more. NaNs and infinities must
stand at the same places. Integers and bools must be equal. Where a comparison or a rounding of
computed floats decides (argmax, quantisation, floor), `flips` is the share of elements that may
differ at all.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tilewright.contract.artifact import Array, BufferSpec, numpy_dtype
from tilewright.ground.errors import WrongAnswer

ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
SAFETY = 8.0
OUTPUT_SAFETY = 2.0
MIN_DEPTH = 16
# Elements compared at a time: what stays in a first-level cache is compared four times faster.
BLOCK = 1 << 14


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Facts of a task: how many terms flow into one output element along the longest way, the
    coarsest unit roundoff on that way, and the share of elements that may differ (see above).
    """

    depth: int = 1
    roundoff: float = ROUNDOFF["float32"]
    flips: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Tolerance:
        return Tolerance(**data)

    def limits(self, expected: Array, dtype: str) -> Array:
        """The allowed absolute difference for each element (0 where `expected` is not finite).

        `expected` is float32 or float64; the result has its shape and dtype.
        """
        finite = np.isfinite(expected)
        size = np.where(finite, np.abs(expected), 0)
        rms = math.sqrt(float(np.square(size, dtype=np.float64).sum()) / max(1, finite.sum()))
        unit = max(self.roundoff, ROUNDOFF["float64"])
        slack = SAFETY * unit * math.sqrt(max(self.depth, MIN_DEPTH))
        own = OUTPUT_SAFETY * ROUNDOFF[dtype]
        limits = slack * np.maximum(size, rms) + own * size
        return np.where(finite, limits, 0).astype(expected.dtype)


def wrong_elements(got: Array, expected: Array, limits: Array | None) -> Array | None:
    """The mask of elements that are not right, None when all are.

    Floats (with `limits`) may differ by their limit, and NaN equals NaN; others must be equal.
    """
    if limits is None:
        equal: Array = got == expected
        return None if equal.all() else ~equal
    with np.errstate(invalid="ignore", over="ignore"):
        close: Array = np.abs(got - expected) <= limits
    if close.all():
        return None
    close |= (got == expected) | (np.isnan(got) & np.isnan(expected))
    return None if close.all() else ~close


class OutputGate:
    """What one output must be."""

    def __init__(self, spec: BufferSpec, expected: Array, tolerance: Tolerance) -> None:
        self.spec = spec
        self.allowed = int(tolerance.flips * spec.elements)
        self._float = spec.dtype in ROUNDOFF
        stored = np.array(expected, copy=True).reshape(-1)
        self._expected = self._work(stored)
        self._limits = tolerance.limits(self._expected, spec.dtype) if self._float else None
        self._poison = self._make_poison(stored)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        parts = (self._expected, self._limits, self._poison)
        return sum(p.nbytes for p in parts if p is not None)

    def poison(self, array: Array) -> None:
        """Fill `array` so that every element left unwritten is found wrong: NaN, or a value that
        differs from the expected one.
        """
        if self._poison is None:
            array.fill(np.nan)
        else:
            np.copyto(array, self._poison.reshape(array.shape))

    def check(self, array: Array, rounding: float = 1.0) -> None:
        """Raise WrongAnswer when `array` is not the expected output: how many elements differ,
        where the first is, what was expected there, what was found and what would have passed.

        `rounding` is how many times as far off a right answer may be.
        """
        got = array.reshape(-1)
        wrong, first = 0, -1
        for start in range(0, got.size, BLOCK):
            bad = self._wrong(got[start : start + BLOCK], start, rounding)
            if bad is not None:
                wrong += int(np.count_nonzero(bad))
                first = start + int(np.argmax(bad)) if first < 0 else first
        if wrong > self.allowed:
            raise WrongAnswer(self._describe(got, wrong, first, rounding))

    def _wrong(self, block: Array, start: int, rounding: float) -> Array | None:
        got = self._work(block)
        part = slice(start, start + got.size)
        limits = None if self._limits is None else self._limits[part] * rounding
        return wrong_elements(got, self._expected[part], limits)

    def _describe(self, got: Array, wrong: int, first: int, rounding: float) -> str:
        position = tuple(int(i) for i in np.unravel_index(first, self.spec.shape))
        limits = self._limits
        within = "" if limits is None else f" within {float(limits[first]) * rounding:.3g}"
        return (
            f"output {self.spec.name} differs from the reference at {wrong} of {got.size} "
            f"elements; at {position} expected {self._expected[first]}{within}, got {got[first]}"
        )

    def _work(self, values: Array) -> Array:
        """Narrow floats as float32, everything else as it is."""
        narrow = self._float and values.dtype.itemsize == 2
        return values.astype(np.float32) if narrow else values

    def _make_poison(self, stored: Array) -> Array | None:
        if not self._float:
            return np.logical_not(stored) if stored.dtype.kind == "b" else np.invert(stored)
        missing = np.isnan(self._expected)
        if not missing.any():
            return None
        poison: Array = np.where(missing, 0, np.nan).astype(numpy_dtype(self.spec.dtype))
        return poison

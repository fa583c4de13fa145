"""A computation's arrays on a device, and its programs, checked and timed there in turn.

    bench = Bench(device, dag)
    loaded = bench.load(artifact)
    loaded.check()                  WrongAnswer, unless the output is right
    loaded.seconds(10)              by the device's clock, ten times

Programs share all arrays. What they give is compared with direct evaluation in float64: small
outputs at every element, others at random ones, and there is none that nobody wrote. It may be off
by as much as the gate allows (`measure.gate`), and no more than sums in float32 and a few roundings
to the output's dtype are: the gate knows of no program in which of these a sum is.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tilewright.contract.artifact import Array, Artifact, BufferSpec, Packing, numpy_dtype
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.reference import static_shape
from tilewright.ground.errors import RunError, WrongAnswer
from tilewright.measure.gate import ROUNDOFF, wrong_elements
from tilewright.measure.inputs import default_kind, make_input
from tilewright.measure.task import tolerance_of
from tilewright.runtime.device import Device, LoadedProgram, Seconds

SEED = 0
PERIOD = 1048573  # of random values: a prime, so that all rows differ
EVERY = 1 << 24  # terms of an output that is compared at all elements
POINTS = 1024  # of others
SAFETY = 8.0  # times a rounding error
SLACK_BYTES = 4096
UNWRITTEN = 0xFF  # of every byte: a NaN that no computation gives


class Bench:
    """See the module."""

    def __init__(self, device: Device, dag: ComputeDAG) -> None:
        """Raises RunError where the device has too little memory."""
        self.device = device
        self.arrays = arrays_of(dag)
        (output,) = dag.outputs
        self.output = spec_of(output)
        self.expected = Expected(dag, self.arrays)
        self.buffers = {t.name: self._uploaded(self.arrays[t.name]) for t in dag.inputs}
        self.whole = np.empty(self.output.bytes + SLACK_BYTES, np.uint8)
        self.unwritten = np.full_like(self.whole, UNWRITTEN)
        self.result = device.allocate(self.whole.nbytes)
        self.last: Array = self.whole  # what a program gave last
        self._constants: dict[Packing, Any] = {}

    def load(self, artifact: Artifact) -> Loaded:
        """A program with the arrays. Raises RunError where the device cannot load it."""
        program = self.device.load(artifact)
        buffers = [self.buffers[s.name] for s in artifact.inputs]
        buffers += [self._constant(packing) for packing in artifact.packings]
        scratch = self.device.allocate(artifact.scratch_bytes)
        return Loaded(self, program, [*buffers, self.result], scratch)

    def _constant(self, packing: Packing) -> Any:
        if packing not in self._constants:
            packed = packing.apply(self.arrays[packing.source.name])
            self._constants[packing] = self._uploaded(packed)
        return self._constants[packing]

    def _uploaded(self, array: Array) -> Any:
        buffer = self.device.allocate(array.nbytes)
        self.device.upload(array, buffer)
        return buffer


class Loaded:
    """A program of a bench."""

    def __init__(
        self, bench: Bench, program: LoadedProgram, buffers: Sequence[Any], scratch: Any
    ) -> None:
        self._bench, self._program = bench, program
        self._memory = buffers, scratch

    def check(self) -> float:
        """Run it; the seconds of this by the host's clock. Raises WrongAnswer for a wrong output,
        RunError where it fails or writes beyond it.
        """
        bench = self._bench
        bench.device.upload(bench.unwritten, bench.result)
        started = time.perf_counter()
        self._program.run(*self._memory)
        run_s = time.perf_counter() - started
        bench.device.download(bench.result, bench.whole)
        size = bench.output.bytes
        if (bench.whole[size:] != UNWRITTEN).any():
            raise RunError(f"it wrote outside of {bench.output}")
        array = bench.last = bench.whole[:size].view(numpy_dtype(bench.output.dtype))
        bench.expected.check(array)
        return run_s

    def seconds(self, count: int) -> Seconds:
        """Seconds of a run, `count` times."""
        return self._program.time(*self._memory, count)


class Expected:
    """Elements of a DAG's output by direct evaluation, and how far a right answer may be off."""

    def __init__(self, dag: ComputeDAG, arrays: Mapping[str, Array]) -> None:
        (output,) = dag.outputs
        shape = static_shape(output)
        count, tolerance = int(np.prod(shape)), tolerance_of(dag)
        is_small = count * tolerance.depth <= EVERY
        rng = np.random.default_rng(SEED)
        self.at = np.arange(count) if is_small else rng.integers(0, count, POINTS)
        points = np.stack(np.unravel_index(self.at, shape), axis=1)
        self.values = dag.evaluate_points(output, points, arrays)
        unit = ROUNDOFF["float32"] * max(tolerance.depth, 1) ** 0.5 + ROUNDOFF[output.dtype.name]
        rms = np.sqrt(np.square(self.values).mean())
        self.limits = np.minimum(
            tolerance.limits(self.values, output.dtype.name),
            SAFETY * unit * np.maximum(np.abs(self.values), rms),
        )

    def check(self, array: Array) -> None:
        """Raise WrongAnswer unless an output is as expected."""
        bits = array.view(f"i{array.itemsize}")
        unwritten = np.count_nonzero(bits == -1)
        if unwritten:
            raise WrongAnswer(f"{unwritten} of {array.size} elements were not written")
        got = array.reshape(-1)[self.at].astype(np.float64)
        bad = wrong_elements(got, self.values, self.limits)
        if bad is not None:
            first = int(np.argmax(bad))
            raise WrongAnswer(
                f"{np.count_nonzero(bad)} of {len(got)} elements are wrong; at {self.at[first]} "
                f"expected {self.values[first]:.6g} within {self.limits[first]:.3g}, got "
                f"{got[first]:.6g}"
            )


def spec_of(tensor: Any) -> BufferSpec:
    return BufferSpec(tensor.name, static_shape(tensor), tensor.dtype.name)


def arrays_of(dag: ComputeDAG) -> dict[str, Array]:
    """Random inputs and constants, the same on every machine: large ones repeat `PERIOD` values."""
    found: dict[str, Array] = {}
    for index, tensor in enumerate((*dag.inputs, *dag.constants)):
        spec = spec_of(tensor)
        some = BufferSpec(spec.name, (min(spec.elements, PERIOD),), spec.dtype)
        values = make_input(some, default_kind(spec.dtype), SEED, index)
        found[spec.name] = np.resize(values, spec.shape)
    return found

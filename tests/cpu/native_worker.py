"""Compiles programs and runs them in a process of its own: a fault costs one program, not pytest.

    with NativeWorker() as worker:
        found = worker.check(Job("softmax", target="cpu", rows=6))
    found == {"default": "", "row 0: multi_level_tiling": "WrongAnswer: …", …}    "" is right

A job is the default program of a workload of `operator_tensors`, and random rows of its space.
Every buffer ends at a page without access, inputs are read-only, outputs and scratch hold
another pattern before each of two runs, every element is compared with `ComputeDAG.evaluate`.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Self

import numpy as np
from operator_tensors import dag_of

from tilewright.build import build
from tilewright.contract.artifact import ALIGNMENT, Array, Artifact, BufferSpec, numpy_dtype
from tilewright.expr.dag import ComputeDAG
from tilewright.ground.errors import RunError, WrongAnswer
from tilewright.measure.gate import Tolerance, wrong_elements
from tilewright.measure.inputs import make_inputs
from tilewright.measure.task import MeasureTask
from tilewright.runtime.buffers import GuardedBuffer
from tilewright.runtime.cpu import LoadedKernel, pointer_array
from tilewright.schedule.steps import Step
from tilewright.schedule.trace import steps_of, trace_to_json
from tilewright.space.default import default_gene
from tilewright.space.space import Space
from tilewright.target import Target

TIMEOUT_S = 120.0
SPACE = "space"  # the label of what comes before a job's programs
# NaN to floats and -1 to integers; something else to both. No output can equal both everywhere.
POISONS = (0xFF, 0x5A)


@dataclass(frozen=True, slots=True)
class Job:
    """What to check: random rows, after the `default` program. `skip` programs of it were tried
    before a fault.
    """

    name: str
    target: str = "cpu"
    rows: int = 6
    seed: int = 0
    skip: int = 0
    default: bool = True


@dataclass(frozen=True, slots=True)
class Workload:
    """A computation with inputs and the outputs they must give (floats in float64)."""

    name: str
    dag: ComputeDAG
    arrays: dict[str, Array]
    expected: dict[str, Array]
    tolerance: Tolerance

    @staticmethod
    def of(name: str) -> Workload:
        """The workload called `name`, on seeded inputs that suit it."""
        dag = dag_of(name)
        task = MeasureTask.of(name, dag, b"")
        tensors = (*dag.inputs, *dag.constants)
        specs = [BufferSpec(t.name, tuple(map(int, t.shape)), t.dtype.name) for t in tensors]
        arrays = make_inputs(specs, task.inputs, task.seed)
        return Workload(name, dag, arrays, dag.evaluate(arrays, float64=True), task.tolerance)

    def check(self, outputs: dict[str, Array], rounding: float) -> None:
        """Raise WrongAnswer unless every element of every output is right, as an artifact of that
        `rounding` may be.
        """
        for tensor in self.dag.outputs:
            got, expected = outputs[tensor.name], self.expected[tensor.name]
            limits = None
            if tensor.dtype.is_float:
                limits = self.tolerance.limits(expected, tensor.dtype.name) * rounding
                got = got.astype(np.float64)
            elif tensor.dtype.name == "bool":
                got, expected = got.view(np.uint8), expected.astype(np.uint8)
            bad = wrong_elements(got, expected, limits)
            if bad is None or np.count_nonzero(bad) <= self.tolerance.flips * got.size:
                continue
            first = np.unravel_index(int(np.argmax(bad)), expected.shape)
            raise WrongAnswer(
                f"{tensor.name} is wrong at {np.count_nonzero(bad)} of {got.size} elements; at "
                f"{tuple(map(int, first))} expected {expected[first]}, got {got[first]}"
            )


def programs(workload: Workload, target: Target, job: Job) -> Iterator[tuple[str, Sequence[Step]]]:
    """The traces of a job, each with a label."""
    space = Space(workload.dag, target)
    if job.default:
        yield "default", steps_of(default_gene(space))
    population = space.sample(np.random.default_rng(job.seed), job.rows)
    for i in range(len(population)):
        sketch = int(population.sketch[i])
        yield f"row {i}: {space.sketches[sketch].name}", space.trace(sketch, population.rows[i])


def run_checked(artifact: Artifact, workload: Workload) -> None:
    """Run twice in guarded memory, inputs aligned for their elements only. Raises WrongAnswer or
    RunError (written outside a buffer).
    """
    inputs = [
        _filled(s, workload.arrays[s.name], numpy_dtype(s.dtype).itemsize) for s in artifact.inputs
    ]
    for packing, spec in zip(artifact.packings, artifact.constants, strict=True):
        inputs.append(_filled(spec, packing.apply(workload.arrays[packing.source.name])))
    outputs = [GuardedBuffer(s.bytes, written=True) for s in artifact.outputs]
    scratch = GuardedBuffer(artifact.scratch_bytes, written=True)
    pointers = pointer_array([b.address for b in (*inputs, *outputs)])
    with LoadedKernel(artifact) as kernel:
        for poison in POISONS:
            for buffer in (*outputs, scratch):
                buffer.data.fill(poison)
            kernel(ctypes.addressof(pointers), scratch.address)
            for name, buffer in zip(
                [*(s.name for s in artifact.outputs), "scratch"], [*outputs, scratch], strict=True
            ):
                if not buffer.slack_intact():
                    raise RunError(f"wrote outside {name}")
            pairs = zip(artifact.outputs, outputs, strict=True)
            found = {s.name: b.view(s.shape, numpy_dtype(s.dtype)) for s, b in pairs}
            workload.check(found, artifact.rounding)


def _filled(spec: BufferSpec, array: Array, alignment: int = ALIGNMENT) -> GuardedBuffer:
    buffer = GuardedBuffer(spec.bytes, alignment=alignment)
    np.copyto(buffer.view(spec.shape, numpy_dtype(spec.dtype)), array)
    buffer.set_writable(False)
    return buffer


# ---- the two ends of the pipe ----------------------------------------------------------------


def serve(pipe: Connection) -> None:
    """Take a job; send ("begin", label, trace), ("end", message) for each program; ("done",)."""
    while True:
        job: Job = pipe.recv()
        try:
            _work(pipe, job)
        except Exception as error:
            pipe.send(("end", f"{type(error).__name__}: {error}"))
        pipe.send(("done",))


def _work(pipe: Connection, job: Job) -> None:
    pipe.send(("begin", SPACE))
    target = Target.parse(job.target)
    workload = Workload.of(job.name)
    for number, (label, trace) in enumerate(programs(workload, target, job)):
        if number < job.skip:
            continue
        pipe.send(("begin", label, trace_to_json(trace)))
        message = ""
        try:
            run_checked(build(workload.dag, trace, target, "kernel"), workload)
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
        pipe.send(("end", message))


class NativeWorker:
    """A worker process, started again after a fault."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self._pipe, theirs = self._context.Pipe()
        self._process = self._context.Process(target=serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def check(self, job: Job) -> dict[str, str]:
        """What is wrong with each program of the job, by label; "" where nothing is."""
        found: dict[str, str] = {}
        while not self._attempt(replace(job, skip=len(found)), found):
            if SPACE in found:
                break
        return found

    def _attempt(self, job: Job, found: dict[str, str]) -> bool:
        """Add results to `found`; False where the process died and there may be more to do."""
        label, note = SPACE, ""
        try:
            self._pipe.send(job)
            while True:
                match self._receive():
                    case ("begin", str(name), *trace):
                        label, note = name, "".join(f"\ntrace: {t}" for t in trace)
                    case ("end", str(message)):
                        found[label] = message and message + note
                    case _:
                        return True
        except (EOFError, OSError, TimeoutError) as error:
            found[label] = self._post_mortem(error) + note
            self._start()
            return False

    def _receive(self) -> Any:
        if not self._pipe.poll(TIMEOUT_S):
            raise TimeoutError(f"no answer in {TIMEOUT_S:.0f} s")
        return self._pipe.recv()

    def _post_mortem(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            self._process.kill()
        self._process.join()
        code = self._process.exitcode or 0
        if isinstance(error, TimeoutError):
            return str(error)
        return f"the process died of {signal.Signals(-code).name if code < 0 else f'exit {code}'}"

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

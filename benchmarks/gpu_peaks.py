"""Two small kernels that show what a GPU can do: multiply-adds, and traffic.

    peaks = Peaks(device)               or with `kernels(target)`, which were compiled before
    peaks.measured(traffic)             (operations a second, an empty kernel's seconds, by traffic)
    peaks.fma_s(1024)                   seconds of so many steps of multiply-adds
    peaks.warm(0.02)                    multiply-adds for so long, and the clock meanwhile

It needs what runs programs and, without `kernels`, what compiles CUDA C++; nothing that makes
programs.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tilewright.build.compile import device_code
from tilewright.codegen.clike import Dialect, dialect_of
from tilewright.codegen.clike.dialect import GLOBAL
from tilewright.contract.artifact import Artifact, BufferSpec, Launch
from tilewright.expr.dtypes import DTYPES
from tilewright.measure.ceilings import Traffic
from tilewright.nest.nodes import Kind
from tilewright.runtime.device import Device, LoadedProgram
from tilewright.target import GpuTarget

THREADS = 256
BLOCKS = 8  # a core
SUMS = 16
LEAST_STEPS = 64
CALIBRATION = LEAST_STEPS * 64
MOST_STEPS = 1 << 20
LEAST_S = 1e-3  # of a run of multiply-adds
RUNS = 5
VECTOR_BYTES = 16

ARGUMENTS = {"in": "float32", "out": "float32", "sizes": "int32"}

FMA = """
{head} fma_ceiling({floats} in, {floats} out, {integers} sizes)
{{
    const int i = {block} * {threads} + {thread}, steps = sizes[0];
    const float x = in[0], y = in[1];
    float {declared};
    for (int n = 0; n < steps; ++n) {{
{body}
    }}
    out[i] = {total};
}}
"""
TRAFFIC = """
{head} traffic_ceiling({vectors} in, {vectors} out, {integers} sizes)
{{
    const int first = {block} * {threads} + {thread}, step = sizes[2];
    float4 s = {zero};
    for (int i = first; i < sizes[0]; i += step) {{
        s.x += in[i].x; s.y += in[i].y; s.z += in[i].z; s.w += in[i].w;
    }}
    for (int i = first; i < sizes[1]; i += step) out[i] = s;
    if (s.x == 1.0f) out[0] = s;
}}
"""


def kernels(target: GpuTarget) -> dict[str, Artifact]:
    """Both, compiled for a target."""
    dialect = dialect_of(target)
    sums = [f"s{i}" for i in range(SUMS)]
    fma = dialect.function("fma", DTYPES["float32"])
    texts = {
        "fma_ceiling": FMA.format(
            **_words(dialect),
            declared=", ".join(f"{s} = {i}.0f" for i, s in enumerate(sums)),
            body="\n".join(f"        {s} = {fma}({s}, x, y);" for s in sums),
            total=" + ".join(sums),
        ),
        "traffic_ceiling": TRAFFIC.format(
            **_words(dialect), zero=dialect.vector_value("float4", ["0.0f"] * 4)
        ),
    }
    return {name: _artifact(name, text, target) for name, text in texts.items()}


class Peaks:
    """The kernels on a device."""

    def __init__(self, device: Device, artifacts: Mapping[str, Artifact] | None = None) -> None:
        target = device.target
        assert isinstance(target, GpuTarget)
        self.device, self.cores = device, target.cores
        self._artifacts = kernels(target) if artifacts is None else artifacts
        blocks = BLOCKS * self.cores
        # one of each number of steps: how often a program runs for one sample depends on its time
        self._fma = functools.cache(lambda steps: self._program("fma_ceiling", blocks))
        self._scratch = device.allocate(1)
        sizes = (2 * 4, blocks * THREADS * 4, 4)
        self._buffers = [device.allocate(size) for size in sizes]
        device.upload(np.array([0.5, 1.0], np.float32), self._buffers[0])
        self._steps_a_second = 0.0

    def _program(self, name: str, blocks: int) -> LoadedProgram:
        artifact = self._artifacts[name]
        (launch,) = artifact.launches
        return self.device.load(replace(artifact, launches=(replace(launch, blocks=blocks),)))

    def flops(self, steps: int) -> float:
        """Operations of so many steps, a multiply-add as 2."""
        return 2.0 * SUMS * steps * THREADS * BLOCKS * self.cores

    def fma_s(self, steps: int, runs: int = RUNS) -> float:
        """Seconds of `steps` multiply-adds of every sum."""
        self.device.upload(np.array([steps], np.int32), self._buffers[2])
        return float(self._fma(steps).time(self._buffers, self._scratch, runs).min())

    def warm(self, seconds: float) -> float:
        """Multiply-adds for about so long; how many operations a second that was."""
        if not self._steps_a_second:
            self._steps_a_second = CALIBRATION / self.fma_s(CALIBRATION, 1)
        steps = max(int(seconds / 2 * self._steps_a_second), LEAST_STEPS)
        return self.flops(steps) / self.fma_s(steps, 1)  # of which the first run is not timed

    def measured(self, traffic: Iterable[Traffic]) -> tuple[float, float, dict[Traffic, float]]:
        """Float32 operations a second, seconds of an empty kernel, and those beyond it of each
        traffic. Raises RunError when the device has too little memory for some.
        """
        wanted = list(dict.fromkeys(traffic))
        steps, seconds = LEAST_STEPS, self.fma_s(LEAST_STEPS)
        while seconds < LEAST_S and steps < MOST_STEPS:
            steps *= 4
            seconds = self.fma_s(steps)
        call_s, *runs = self._traffic_s([Traffic(0, 0), *wanted])
        beyond = (max(s - call_s, 0.0) for s in runs)
        return self.flops(steps) / seconds, call_s, dict(zip(wanted, beyond, strict=True))

    def _traffic_s(self, wanted: list[Traffic]) -> list[float]:
        """Seconds of a run with one pass of each traffic."""
        vectors = [[-(-n // VECTOR_BYTES) for n in (t.read, t.written)] for t in wanted]
        most = [max(1, *column) * VECTOR_BYTES for column in zip(*vectors, strict=True)]
        buffers = [self.device.allocate(size) for size in (*most, 3 * 4)]
        self.device.upload(np.zeros(most[0] // 4, np.float32), buffers[0])
        program = functools.cache(partial(self._program, "traffic_ceiling"))
        found = []
        for pair in vectors:
            blocks = min(BLOCKS * self.cores, max(1, -(-max(pair) // THREADS)))
            self.device.upload(np.array([*pair, blocks * THREADS], np.int32), buffers[2])
            found.append(float(program(blocks).time(buffers, self._scratch, RUNS).min()))
        return found


def _words(dialect: Dialect) -> dict[str, Any]:
    """What both templates need."""
    return {
        "head": dialect.kernel_head((THREADS, 1)),
        "floats": dialect.pointer("float", GLOBAL),
        "vectors": dialect.pointer("float4", GLOBAL),
        "integers": dialect.pointer("int", GLOBAL),
        "block": dialect.block_index,
        "thread": dialect.thread_index[Kind.THREAD_X],
        "threads": THREADS,
    }


def _artifact(name: str, text: str, target: GpuTarget) -> Artifact:
    return Artifact(
        entry=name,
        target=str(target),
        object_code=device_code(text.encode(), target)[0],
        inputs=tuple(BufferSpec(n, (1,), d) for n, d in ARGUMENTS.items()),
        constants=(),
        outputs=(),
        packings=(),
        scratch_bytes=0,
        launches=(Launch(name, 1, (THREADS, 1), tuple(range(len(ARGUMENTS)))),),
    )

"""What a GPU can do at best: two small kernels, by the device's clock.

    ceilings = measure(device)
    ceilings.fma_flops           float32 operations a second of its plain (SIMT) units, a
                                 multiply-add as 2
    ceilings.seconds(traffic)    to read and write so many bytes
    ceilings.call_s              a run of a kernel that does nothing

    multiply-adds    16 independent sums a thread, as many steps as take a millisecond
    traffic          four floats a thread and step, blocks to fill the device or to take one step,
                     from the memory that holds as many bytes: runs follow one another, as in a
                     benchmark

Each figure is the best of several runs, because anything else that runs only takes away. Seconds
of traffic are those beyond an empty kernel's.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.ceilings import GB
from benchmarks.roofline import Bound, traffic_of
from tilewright.artifact import Artifact, BufferSpec, Launch
from tilewright.build.compile import device_code
from tilewright.codegen.clike import Dialect, dialect_of
from tilewright.codegen.clike.dialect import GLOBAL
from tilewright.expr.dtypes import DTYPES
from tilewright.measure.ceilings import Traffic
from tilewright.nest.nodes import Kind
from tilewright.runtime.device import Device, LoadedProgram
from tilewright.target import GpuTarget

THREADS = 256
BLOCKS = 8  # a core
SUMS = 16
LEAST_STEPS = 64
MOST_STEPS = 1 << 20
LEAST_S = 1e-3  # of a run of multiply-adds
RUNS = 5
VECTOR_BYTES = 16

FMA = """
{head} fma_ceiling({floats} in, {floats} out)
{{
    const int i = {block} * {threads} + {thread};
    const float x = in[0], y = in[1];
    float {declared};
    for (int n = 0; n < {steps}; ++n) {{
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


@dataclass(frozen=True)
class GpuCeilings:
    """See the module's docstring; `streams` are seconds by traffic."""

    target: GpuTarget
    fma_flops: float
    call_s: float
    streams: dict[Traffic, float] = field(default_factory=dict)
    sides: tuple[str, ...] = ()

    def bound_of(self, case: Case) -> Bound:
        """The roofline of a case."""
        return Bound(
            flops_s=case.dag().useful_flops / self.fma_flops,
            loads_s=0.0,
            bytes_s=self.streams[traffic_of(case)],
            call_s=self.call_s,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        streams = [{"traffic": asdict(t), "seconds": s} for t, s in self.streams.items()]
        return {"fma_flops": self.fma_flops, "call_s": self.call_s, "streams": streams}

    def lines(self) -> list[str]:
        """The figures for people."""
        rate = max((t.total / s for t, s in self.streams.items() if s > 0), default=0.0)
        return [
            f"float32 multiply-adds {self.fma_flops / GB:.0f} GFLOP/s, traffic up to "
            f"{rate / GB:.0f} GB/s, an empty kernel {self.call_s * 1e6:.1f} µs"
        ]


def measure(device: Device, traffic: Iterable[Traffic]) -> GpuCeilings:
    """All ceilings of a device. Raises RunError when it has too little memory for some traffic."""
    target = device.target
    assert isinstance(target, GpuTarget)
    wanted = list(dict.fromkeys(traffic))
    steps, seconds = LEAST_STEPS, _fma_s(device, LEAST_STEPS)
    while seconds < LEAST_S and steps < MOST_STEPS:
        steps *= 4
        seconds = _fma_s(device, steps)
    flops = 2 * SUMS * steps * THREADS * BLOCKS * target.cores / seconds
    call_s, *runs = _traffic_s(device, [Traffic(0, 0), *wanted])
    beyond = (max(s - call_s, 0.0) for s in runs)
    return GpuCeilings(target, flops, call_s, dict(zip(wanted, beyond, strict=True)))


def _fma_s(device: Device, steps: int) -> float:
    """Seconds of `steps` multiply-adds of every sum."""
    target = device.target
    assert isinstance(target, GpuTarget)
    dialect, blocks = dialect_of(target), BLOCKS * target.cores
    sums = [f"s{i}" for i in range(SUMS)]
    fma = dialect.function("fma", DTYPES["float32"])
    text = FMA.format(
        **_words(dialect),
        steps=steps,
        declared=", ".join(f"{s} = {i}.0f" for i, s in enumerate(sums)),
        body="\n".join(f"        {s} = {fma}({s}, x, y);" for s in sums),
        total=" + ".join(sums),
    )
    specs = [BufferSpec("in", (2,), "float32"), BufferSpec("out", (blocks * THREADS,), "float32")]
    program = device.load(_artifact("fma_ceiling", text, target, specs, blocks))
    buffers = [device.allocate(s.bytes) for s in specs]
    device.upload(np.array([0.5, 1.0], np.float32), buffers[0])
    return float(program.time(buffers, device.allocate(1), RUNS).min())


def _traffic_s(device: Device, wanted: list[Traffic]) -> list[float]:
    """Seconds of a run with one pass of each traffic."""
    target = device.target
    assert isinstance(target, GpuTarget)
    dialect = dialect_of(target)
    zero = dialect.vector_value("float4", ["0.0f"] * 4)
    text = TRAFFIC.format(**_words(dialect), zero=zero)
    vectors = [[-(-n // VECTOR_BYTES) for n in (t.read, t.written)] for t in wanted]
    most = [max(1, *column) * VECTOR_BYTES // 4 for column in zip(*vectors, strict=True)]
    specs = [
        *(BufferSpec(n, (m,), "float32") for n, m in zip(("in", "out"), most, strict=True)),
        BufferSpec("sizes", (3,), "int32"),
    ]
    artifact = _artifact("traffic_ceiling", text, target, specs, 1)

    @functools.cache
    def of_blocks(blocks: int) -> LoadedProgram:
        (launch,) = artifact.launches
        return device.load(replace(artifact, launches=(replace(launch, blocks=blocks),)))

    buffers = [device.allocate(s.bytes) for s in specs]
    device.upload(np.zeros(most[0], np.float32), buffers[0])
    scratch = device.allocate(1)
    found = []
    for pair in vectors:
        blocks = min(BLOCKS * target.cores, max(1, -(-max(pair) // THREADS)))
        device.upload(np.array([*pair, blocks * THREADS], np.int32), buffers[2])
        found.append(float(of_blocks(blocks).time(buffers, scratch, RUNS).min()))
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


def _artifact(
    name: str, text: str, target: GpuTarget, specs: list[BufferSpec], blocks: int
) -> Artifact:
    launch = Launch(name, blocks, (THREADS, 1), tuple(range(len(specs))))
    return Artifact(
        entry=name,
        target=str(target),
        object_code=device_code(text.encode(), target)[0],
        inputs=tuple(specs),
        constants=(),
        outputs=(),
        packings=(),
        scratch_bytes=0,
        launches=(launch,),
    )

"""Two small kernels that show what a GPU can do: multiply-adds, and traffic.

    measured(device, traffic)           (operations a second, an empty kernel's seconds, by traffic)
    fma_s(device, 1024)                 seconds of so many steps of multiply-adds

It needs what runs programs and what compiles CUDA C++, and nothing that makes programs.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

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


def measured(
    device: Device, traffic: Iterable[Traffic]
) -> tuple[float, float, dict[Traffic, float]]:
    """Float32 operations a second (a multiply-add as 2), seconds of an empty kernel, and those
    beyond it of each traffic. Raises RunError when the device has too little memory for some.
    """
    target = device.target
    assert isinstance(target, GpuTarget)
    wanted = list(dict.fromkeys(traffic))
    steps, seconds = LEAST_STEPS, fma_s(device, LEAST_STEPS)
    while seconds < LEAST_S and steps < MOST_STEPS:
        steps *= 4
        seconds = fma_s(device, steps)
    flops = 2 * SUMS * steps * THREADS * BLOCKS * target.cores / seconds
    call_s, *runs = _traffic_s(device, [Traffic(0, 0), *wanted])
    beyond = (max(s - call_s, 0.0) for s in runs)
    return flops, call_s, dict(zip(wanted, beyond, strict=True))


def fma_s(device: Device, steps: int) -> float:
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

"""Programs compiled for AArch64, linked by a cross compiler, run under qemu: equal to the math.

All kernels of a configuration are one executable (`aarch64_main.c`), which runs each in a process
of its own, on buffers that end at guard pages. There is no vector math library there, so the
polynomials serve.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from native_worker import Job, Workload, programs
from operator_tensors import NORMS, PAPER, POOLING

from devices import tools
from tilewright.build import build
from tilewright.contract.artifact import Array, Artifact, numpy_dtype
from tilewright.ground.errors import WrongAnswer
from tilewright.runtime.native import SOURCE
from tilewright.target import Target

COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
pytestmark = [pytest.mark.cpu, pytest.mark.no_cover, tools(COMPILER, EMULATOR)]

MATH = (
    "softmax", "log softmax", "layer norm", "gelu", "gelu tanh", "erf", "tanh", "sigmoid", "exp",
    "log", "sin", "cos", "power", "softplus", "mish", "sqrt", "round", "lrn", "logsumexp",
    "gelu float16", "tanh bfloat16", "exp float64", "erf float64", "tanh float64",
)  # fmt: skip
TYPES = (
    "matmul int8", "conv int8", "matmul float16", "matmul bfloat16", "matmul float64",
    "softmax float16", "sum int8", "floor divide int32", "argmax", "max pool", "gather", "concat",
    "transpose", "masks", "cast float32 to float16", "cast float32 to bfloat16",
)  # fmt: skip
DRIVER = Path(__file__).with_name("aarch64_main.c")
WROTE_OUTSIDE = 3
TIMEOUT_S = 300


@dataclass(frozen=True, slots=True)
class Kernel:
    """A compiled program of a workload."""

    label: str
    workload: Workload
    artifact: Artifact

    def inputs(self) -> list[Array]:
        """Arrays for its inputs and constants, constants packed."""
        given, artifact = self.workload.arrays, self.artifact
        packed = [p.apply(given[p.source.name]) for p in artifact.packings]
        return [*(given[s.name] for s in artifact.inputs), *packed]

    def table_row(self, number: int) -> str:
        """Its declarations and row of the C table."""
        arrays = self.inputs()
        sizes = [a.nbytes for a in arrays] + [s.bytes for s in self.artifact.outputs]
        listed = ", ".join(map(str, [*sizes, self.artifact.scratch_bytes]))
        return (
            f"entry_fn {self.artifact.entry};\n"
            f"static const int64_t bytes_{number}[] = {{{listed}}};\n"
            f"#define ROW_{number} {{{self.artifact.entry}, {len(arrays)}, "
            f"{len(self.artifact.outputs)}, bytes_{number}}}\n"
        )


@pytest.mark.parametrize(
    ("target", "names", "rows"),
    [
        pytest.param("cpu:cortex-a53", (*PAPER, *MATH), 2, marks=pytest.mark.thorough),
        ("cpu:cortex-a53 cores=1", (*NORMS, *TYPES), 1),
        ("cpu:cortex-a76 cores=2", POOLING, 1),
    ],
)
def test_programs_run_under_qemu(
    target: str, names: Sequence[str], rows: int, tmp_path: Path
) -> None:
    kernels = [k for i, n in enumerate(names) for k in compiled(n, Target.parse(target), rows, i)]
    executable = linked(kernels, tmp_path)
    # each CPU's own features only, so that an instruction of a newer one is an error
    cpu = Target.parse(target).cpu
    failures = run(executable, cpu, kernels, tmp_path)
    assert not failures, "\n".join(failures)


def compiled(name: str, target: Target, rows: int, number: int) -> list[Kernel]:
    """The default program and random rows of one workload."""
    workload = Workload.of(name)
    traces = programs(workload, target, Job(name, rows=rows))
    return [
        Kernel(f"{name}, {label}", workload, build(workload.dag, trace, target, f"k{number}_{i}"))
        for i, (label, trace) in enumerate(traces)
    ]


def linked(kernels: Sequence[Kernel], folder: Path) -> Path:
    """One static executable of all kernels and the driver."""
    objects = []
    for n, kernel in enumerate(kernels):
        objects.append(folder / f"{n}.o")
        objects[-1].write_bytes(kernel.artifact.object_code)
    table = ", ".join(f"ROW_{n}" for n in range(len(kernels)))
    (folder / "kernels.h").write_text(
        "".join(k.table_row(n) for n, k in enumerate(kernels))
        + f"static const struct kernel KERNELS[] = {{{table}}};\n"
        + f"enum {{ KERNELS_COUNT = {len(kernels)} }};\n"
    )
    executable = folder / "kernels"
    sources = [f"-I{folder}", f"-I{SOURCE}", SOURCE / "pool.c", DRIVER]
    command = [COMPILER, "-O1", "-static", *sources, *objects, "-o", executable, "-pthread", "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return executable


def run(executable: Path, cpu: str, kernels: Sequence[Kernel], folder: Path) -> list[str]:
    """What is wrong with any kernel."""
    given, found = folder / "inputs", folder / "outputs"
    given.write_bytes(b"".join(a.tobytes() for k in kernels for a in k.inputs()))
    command = [EMULATOR, "-cpu", cpu, executable, given, found]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr[-4000:]
    data = found.read_bytes()
    failures = []
    at = 0
    for kernel, line in zip(kernels, done.stdout.splitlines(), strict=True):
        outputs = {}
        for spec in kernel.artifact.outputs:
            part = data[at : at + spec.bytes].ljust(spec.bytes, b"\xff")
            outputs[spec.name] = np.frombuffer(part, numpy_dtype(spec.dtype)).reshape(spec.shape)
            at += spec.bytes
        problem = verdict(kernel, int(line.split()[1]), outputs)
        if problem:
            failures.append(f"{kernel.label}\n    {problem}")
    return failures


def verdict(kernel: Kernel, status: int, outputs: dict[str, Array]) -> str:
    """What is wrong with one kernel's run; "" where nothing is."""
    if status < 0:
        return f"died of {signal.Signals(-status).name}"
    if status:
        return "wrote outside a buffer" if status == WROTE_OUTSIDE else f"driver failed: {status}"
    try:
        kernel.workload.check(outputs, kernel.artifact.rounding)
    except WrongAnswer as error:
        return str(error)
    return ""

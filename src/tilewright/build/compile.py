"""From (workload, trace) to a compiled artifact.

    build(dag, trace, target, "gemm") -> Artifact
    build_request(request bytes) -> artifact bytes        (what a builder process calls)

A request is self-contained JSON: the DAG, the trace, the target and a name.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from tilewright.codegen import compile_program
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.serialize import dag_from_json, dag_to_json
from tilewright.nest.print import program_text
from tilewright.runtime.artifact import Artifact, BufferSpec, Packing
from tilewright.runtime.nvrtc import compile_cuda
from tilewright.schedule.lower import Layout, Lowered, lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import Step, extent_int
from tilewright.schedule.trace import trace_from_json, trace_to_json
from tilewright.settings import Settings
from tilewright.target import EMULATED, CudaTarget, Target


def build(
    dag: ComputeDAG, trace: Sequence[Step], target: Target, name: str, prefetch: int = 0
) -> Artifact:
    """Compile one kernel. Raises ScheduleError for an illegal trace, BuildError from codegen.

    Constants of at least `prefetch` bytes are fetched ahead of their use (0: none is).
    Layers named in TILEWRIGHT_SHOW are printed to standard error.
    """
    lowered = lower(State(dag).replay(trace), name)
    settings = Settings.from_environment()
    if settings.shows("trace"):
        print(f"# trace of {name}\n{trace_to_json(trace)}", file=sys.stderr)
    if settings.shows("nest"):
        print(f"# loop nest of {name}\n{program_text(lowered.program)}", file=sys.stderr)
    built, ir = compile_lowered(lowered, target, prefetch)
    if settings.shows("ir"):
        print(f"; code of {name}\n{ir}", file=sys.stderr)
    return built


def compile_lowered(lowered: Lowered, target: Target, prefetch: int = 0) -> tuple[Artifact, str]:
    """Compile a lowered program; returns the artifact and its code as text."""
    program = lowered.program
    kernel = compile_program(program, target, prefetch)
    artifact = Artifact(
        entry=kernel.entry,
        target=str(target),
        object_code=device_code(kernel.object_code, target),
        inputs=tuple(_spec(t) for t in program.inputs),
        constants=tuple(_spec(t) for t in program.constants),
        outputs=tuple(_spec(t) for t in program.outputs),
        packings=tuple(_packing(t, lowered.layouts.get(t.name)) for t in program.constants),
        scratch_bytes=kernel.scratch_bytes,
        launches=kernel.launches,
    )
    return artifact, kernel.ir


def device_code(code: bytes, target: Target) -> bytes:
    """What the target's driver loads: CUDA C++ is compiled here, OpenCL C by the driver (and the
    emulation takes the source).
    """
    if isinstance(target, CudaTarget) and target.architecture != EMULATED:
        return compile_cuda(code.decode(), target.architecture).binary
    return code


def _spec(tensor: Tensor) -> BufferSpec:
    return BufferSpec(tensor.name, tuple(extent_int(e) for e in tensor.shape), tensor.dtype.name)


def _packing(constant: Tensor, layout: Layout | None) -> Packing:
    if layout is None:
        spec = _spec(constant)
        return Packing(spec, tuple((d,) for d in spec.shape), tuple(range(len(spec.shape))))
    splits = tuple(tuple(extent_int(p) for p in split) for split in layout.splits)
    return Packing(_spec(layout.source), splits, layout.permutation)


def make_request(
    dag: ComputeDAG, trace: Sequence[Step], target: Target, name: str, prefetch: int = 0
) -> bytes:
    """Self-contained bytes from which `build_request` builds the same artifact anywhere."""
    fields = {
        "dag": dag_to_json(dag),
        "trace": trace_to_json(trace),
        "target": str(target),
        "name": name,
        "prefetch": prefetch,
    }
    return json.dumps(fields).encode()


def build_request(request: bytes) -> bytes:
    """Build what `make_request` describes; returns `Artifact.to_bytes()`."""
    fields = json.loads(request)
    dag = dag_from_json(fields["dag"])
    trace = trace_from_json(fields["trace"])
    target = Target.parse(fields["target"])
    return build(dag, trace, target, fields["name"], fields["prefetch"]).to_bytes()

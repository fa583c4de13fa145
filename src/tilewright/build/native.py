"""From (workload, gene of a template) to a compiled artifact (`tilewright.cutlass`).

    build_native(dag, gene, target, "gemm") -> Artifact

For a CUDA target NVRTC compiles the source with the headers of the extra `cutlass`; the emulation
takes the source as it is. Sizes are arguments, so one binary serves all workloads of its form: it
is kept in the user's cache by its source, and kernels are called by a hash of that.
"""

from __future__ import annotations

import sys
from hashlib import sha256

from tilewright.contract.artifact import Artifact, BufferSpec, CodeReport, Launch, Packing
from tilewright.contract.cache import ArtifactCache
from tilewright.contract.gene import Gene
from tilewright.cutlass import KernelCall, Native, Program, native_of
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.reference import static_shape
from tilewright.ground.settings import Settings
from tilewright.runtime.headers import folders
from tilewright.runtime.nvrtc import compile_cuda
from tilewright.target import CudaTarget, Target

# Host functions among the headers are taken for functions of the device, and what they warn of
# would be longer than what is said of kernels.
OPTIONS = ("--device-as-default-execution-space", "--disable-warnings", "-DNDEBUG")


def build_native(dag: ComputeDAG, gene: Gene, target: Target, name: str) -> Artifact:
    """Compile a template's instance. Raises ScheduleError for a gene that cannot be, BuildError
    from the compiler (with its first error) or with what to install.
    """
    return native_artifact(dag, written(native_of(dag, gene, target)), target, name)


def written(native: Native) -> Program:
    """An instance's source, whose kernel is called by what it is."""
    digest = sha256(native.program("kernel").text.encode()).hexdigest()
    return native.program(f"tw_{digest[:16]}")


def native_artifact(dag: ComputeDAG, program: Program, target: Target, name: str) -> Artifact:
    """The same for a program that is written already."""
    if Settings.from_environment().shows("ir"):
        print(f"// code of {name}\n{program.text}", file=sys.stderr)
    code, report = program.text.encode(), None
    if isinstance(target, CudaTarget):
        code, report = cached_template(program.text, target.architecture)
    packings = tuple(program.packings.get(t.name) or _as_it_is(t) for t in dag.constants)
    inputs = tuple(_spec(t) for t in dag.inputs)
    constants = tuple(
        BufferSpec(t.name, p.shape, t.dtype.name)
        for t, p in zip(dag.constants, packings, strict=True)
    )
    outputs = tuple(_spec(t) for t in dag.outputs)
    where = {spec.name: i for i, spec in enumerate((*inputs, *constants, *outputs))}
    static = 0 if report is None else report.shared_bytes
    launches = tuple(_launch(call, where, static) for call in program.calls)
    return Artifact(
        entry=name,
        target=str(target),
        object_code=code,
        inputs=inputs,
        constants=constants,
        outputs=outputs,
        packings=packings,
        scratch_bytes=program.scratch_bytes,
        launches=launches,
        report=report and report.with_launches(launches),
    )


def compile_template(text: str, architecture: str) -> tuple[bytes, CodeReport]:
    """The binary of a template's source, and what the assembler says of it. Raises BuildError."""
    return compile_cuda(text, architecture, folders(), OPTIONS)


def _key(cache: ArtifactCache, text: str, architecture: str) -> str:
    return cache.key("", text, architecture, "template")


def cached_template(text: str, architecture: str) -> tuple[bytes, CodeReport]:
    """The same, from the user's cache where it was compiled before."""
    cache = ArtifactCache.of_user()
    key = _key(cache, text, architecture)
    known = cache.get(key)
    if known is not None and known.report is not None:
        return known.object_code, known.report
    code, report = compile_template(text, architecture)
    kept = Artifact("template", architecture, code, (), (), (), (), 0, report=report)
    cache.put(key, kept.to_bytes())
    return code, report


def _launch(call: KernelCall, where: dict[str, int], static: int) -> Launch:
    arguments = tuple(where[a] if isinstance(a, str) else -1 - a for a in call.arguments)
    blocks, *beyond = call.grid
    rows, layers = beyond
    return Launch(
        call.kernel,
        blocks,
        (call.threads, 1),
        arguments,
        shared_bytes=call.dynamic_bytes + static,
        dynamic_bytes=call.dynamic_bytes,
        beyond=(rows, layers),
        values=call.values,
    )


def _as_it_is(constant: Tensor) -> Packing:
    return Packing.identity(_spec(constant))


def _spec(tensor: Tensor) -> BufferSpec:
    return BufferSpec(tensor.name, static_shape(tensor), tensor.dtype.name)

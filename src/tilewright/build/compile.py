"""From (workload, gene) to a compiled artifact.

    build(dag, trace, target, "gemm") -> Artifact
    compile_request(request bytes) -> artifact bytes      (what a builder process calls)
    build_request(request bytes) -> artifact bytes        the same for what is to be measured

A request is self-contained JSON: the DAG, the gene, the target and a name.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial

from tilewright.build.native import build_native
from tilewright.codegen import compile_program
from tilewright.contract.artifact import Artifact, BufferSpec, CodeReport, Packing
from tilewright.contract.gene import Gene
from tilewright.contract.sizes import Sizes
from tilewright.contract.surroundings import ALONE, Setting
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.serialize import dag_from_json, dag_to_json
from tilewright.expr.sizes import stored_shape
from tilewright.ground.errors import BuildError
from tilewright.ground.settings import Settings
from tilewright.nest.print import program_text
from tilewright.nest.verify import verify
from tilewright.schedule.lower import Lowered
from tilewright.schedule.producers import lowered_of
from tilewright.schedule.steps import Step, extent_int
from tilewright.schedule.trace import gene_of
from tilewright.space.default import default_gene
from tilewright.space.space import Space
from tilewright.target import Target

FRAME_WORTH_RUNNING = 512
"""Bytes of a thread that a program to be measured may keep in memory: half of its registers."""


def build(
    dag: ComputeDAG,
    trace: Sequence[Step],
    target: Target,
    name: str,
    prefetch: int = 0,
    checked: bool = True,
) -> Artifact:
    """Compile one kernel. Raises ScheduleError for an illegal trace, BuildError from codegen.

    Constants of at least `prefetch` bytes are fetched ahead of their use (0: none is). Every step
    keeps the values; with `checked`, it is proved that no access leaves its buffer (VerifyError).
    Layers named in TILEWRIGHT_SHOW are printed to standard error.
    """
    return build_nest(dag, gene_of(trace), target, name, prefetch, checked)


def build_nest(
    dag: ComputeDAG,
    gene: Gene,
    target: Target,
    name: str,
    prefetch: int = 0,
    checked: bool = True,
) -> Artifact:
    """The same of a gene whose producer makes a loop nest."""
    lowered = lowered_of(dag, gene, name)
    if checked:
        verify(lowered.program)
    settings = Settings.from_environment()
    if settings.shows("trace"):
        print(f"# gene of {name}\n{gene.text}", file=sys.stderr)
    if settings.shows("nest"):
        print(f"# loop nest of {name}\n{program_text(lowered.program)}", file=sys.stderr)
    built, ir = compile_lowered(lowered, target, prefetch)
    if settings.shows("ir"):
        print(f"; code of {name}\n{ir}", file=sys.stderr)
    return built


def compile_lowered(lowered: Lowered, target: Target, prefetch: int = 0) -> tuple[Artifact, str]:
    """Compile a lowered program; returns the artifact and its code as text. Raises BuildError."""
    program = lowered.program
    spec = partial(_spec, sizes=program.sizes)
    kernel = compile_program(program, target, prefetch)
    code, report = device_code(kernel.object_code, target)
    artifact = Artifact(
        entry=kernel.entry,
        target=str(target),
        object_code=code,
        inputs=tuple(map(spec, program.inputs)),
        constants=tuple(map(spec, program.constants)),
        outputs=tuple(map(spec, program.outputs)),
        packings=tuple(packing_of(t, lowered) for t in program.constants),
        scratch_bytes=kernel.scratch_bytes,
        launches=kernel.launches,
        report=report and report.with_launches(kernel.launches),
        rounding=lowered.rounding,
        sizes=program.sizes,
    )
    return artifact, kernel.ir


def device_code(code: bytes, target: Target) -> tuple[bytes, CodeReport | None]:
    """What the target's driver loads, and what its assembler says of it."""
    part = target.backend.assembler
    if part is None:
        return code, None
    assembled: tuple[bytes, CodeReport] = part.load()(code, target)
    return assembled


def _spec(tensor: Tensor, sizes: Sizes = ()) -> BufferSpec:
    return BufferSpec(tensor.name, stored_shape(tensor, sizes), tensor.dtype.name)


def packing_of(constant: Tensor, lowered: Lowered) -> Packing:
    """How a constant of a lowered program is made from what the user gives."""
    layout = lowered.layouts.get(constant.name)
    mapped = lowered.mapped.get(constant.name)
    logical = constant if layout is None else layout.source
    splits = [(d,) for d in logical.shape] if layout is None else layout.splits
    return Packing(
        _spec(logical if mapped is None else mapped.source),
        tuple(tuple(extent_int(p) for p in split) for split in splits),
        tuple(range(logical.rank)) if layout is None else layout.permutation,
        () if mapped is None else tuple((m.dimension, m.matrix) for m in mapped.maps),
    )


def make_request(
    dag: ComputeDAG,
    gene: Gene | None,
    target: Target,
    name: str,
    setting: Setting = ALONE,
) -> bytes:
    """Self-contained bytes from which an artifact can be built anywhere; the gene None is the
    default program, of the space that `setting` makes.
    """
    fields = {
        "dag": dag_to_json(dag),
        "gene": None if gene is None else gene.text,
        "target": str(target),
        "name": name,
        "between_bytes": setting.between_bytes,
    }
    return json.dumps(fields).encode()


def compile_request(request: bytes) -> bytes:
    """Build what `make_request` describes; returns `Artifact.to_bytes()`. Raises what `build`
    does.
    """
    return _requested(request, checked=True).to_bytes()


def build_request(request: bytes) -> bytes:
    """The same for a program to be measured, whose results are compared then.

    Raises BuildError also for a GPU program whose threads keep more than FRAME_WORTH_RUNNING in
    memory: it would lose.
    """
    built = _requested(request, checked=False)
    if built.report is not None and built.report.frame_bytes > FRAME_WORTH_RUNNING:
        raise BuildError(
            f"{built.entry} keeps {built.report.frame_bytes} bytes of each thread in memory, more "
            f"than {FRAME_WORTH_RUNNING}; smaller tiles need fewer registers"
        )
    return built.to_bytes()


def _requested(request: bytes, checked: bool) -> Artifact:
    fields = json.loads(request)
    dag = dag_from_json(fields["dag"])
    target, setting = Target.parse(fields["target"]), Setting(fields["between_bytes"])
    if fields["gene"] is None:
        gene = default_gene(Space(dag, target, setting=setting))
    else:
        gene = Gene.of(fields["gene"])
    if gene.key == "native":
        return build_native(dag, gene, target, fields["name"])
    return build_nest(dag, gene, target, fields["name"], setting.prefetch_bytes, checked)

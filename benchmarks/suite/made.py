"""Programs of a pack, each known by what it is made of (in processes of a pool).

    made = make(request, known={"3f…"}, products=4)
    made.key, made.features             a hash of source and compiler; the instructions it has
    made.artifact                       empty where the key is known; None: see made.refused

A commit that changes no source of a program leaves its key as it is, and its code where it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from hashlib import sha256

from benchmarks.sass import Sass, faults
from tilewright.build.compile import FRAME_WORTH_RUNNING, build_request, compile_lowered
from tilewright.codegen import compile_program
from tilewright.contract.artifact import Artifact
from tilewright.contract.gene import Gene
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Const
from tilewright.expr.serialize import dag_from_json
from tilewright.ground.errors import ScheduleError, TilewrightError
from tilewright.runtime import nvrtc
from tilewright.schedule.lower import Lowered
from tilewright.schedule.producers import Instance, lowered_of, matched
from tilewright.schedule.templates import TEMPLATES
from tilewright.schedule.trace import template_of
from tilewright.target import Target

DIGITS = 16  # of a hash
KERNELS = 'extern "C" __global__'  # before it are definitions
CALLED = re.compile(r"\btw_((?:mma|ldmatrix|cp_async|wgmma|mbarrier|fence)\w*)(?:<([^>]*)>)?\(")
SKETCH = "program"


@dataclass(frozen=True)
class Made:
    """See the module."""

    key: str
    features: frozenset[str]
    artifact: bytes | None
    refused: str = ""


def make(request: bytes, known: Collection[str], products: int = 0) -> Made:
    """What a request asks for (`build.make_request`); a step of a template of warpgroups has so
    many `products`.
    """
    fields = json.loads(request)
    gene, target = Gene.of(fields["gene"]), Target.parse(fields["target"])
    try:
        if gene.key == "native":
            built = build_request(request)
            code = Artifact.from_bytes(built).object_code
            return Made(digest(code), frozenset({gene.producer}), built)
        dag = dag_from_json(fields["dag"])
        lowered = lowered_of(dag, gene, SKETCH)
        return made(lowered, target, known, products, template_of(gene) is not None)
    except TilewrightError as error:
        return Made("", frozenset(), None, str(error)[:300])


def made(
    lowered: Lowered,
    target: Target,
    known: Collection[str],
    products: int,
    is_template: bool = True,
) -> Made:
    """A lowered program. Raises BuildError."""
    kernel = compile_program(lowered.program, target)
    launched = kernel.object_code + repr(kernel.launches).encode()
    key, found = source_key(launched, target), features_of(kernel.object_code.decode())
    if key in known:
        return Made(key, found, b"")
    artifact, _ = compile_lowered(lowered, target)
    reasons = audited(artifact, products, is_template)
    return Made(key, found, None if reasons else artifact.to_bytes(), "; ".join(reasons))


def of_template(name: str, dag: ComputeDAG, numbers: dict[str, int]) -> Lowered:
    """A program of a template with any numbers that it allows, its options or not. Raises
    ScheduleError.
    """
    template = TEMPLATES[name]
    anchor = matched(dag, template)
    conditions = map(simplify, template.legal(anchor, numbers))
    if not all(isinstance(c, Const) and c.value for c in conditions):
        raise ScheduleError(f"{name} has no program of {numbers}")
    return replace(Instance(template, anchor, numbers).lowered(SKETCH), layouts={})


def audited(artifact: Artifact, products: int, is_template: bool) -> list[str]:
    """Why a program is not worth a run: one of a template spills nothing, any other little."""
    report = artifact.report
    if report is None:  # it is emulated
        return []
    if report.frame_bytes > FRAME_WORTH_RUNNING:
        return [f"{report.frame_bytes} bytes of each thread are in memory"]
    code = Sass.of(artifact.object_code) if products else Sass((), {})
    return faults(code, report, products) if is_template else []


def features_of(text: str) -> frozenset[str]:
    """The instructions that kernels call; of windows, which way round they lie."""
    found = CALLED.findall(text[text.index(KERNELS) :])
    return frozenset(
        f"{name} {' '.join(of.split(', ')[:2])}" if name.startswith("wgmma_m64") else name
        for name, of in found
    )


def source_key(source: bytes, target: Target) -> str:
    """A hash of a source and of what it is compiled with, and for."""
    how = [target.backend.compiler.load()(), target.generation, *nvrtc.OPTIONS]
    return digest("\n".join(how).encode() + b"\n" + source)


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:DIGITS]

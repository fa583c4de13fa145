"""Random GPU programs of every operator family: are they right, how long do they take to compile?

    python -m benchmarks.gpu_candidates [--families LIST] [--candidates N] [--json FILE]
                                        [--anew] [--minutes N] [--templates]

Candidates are drawn from the search space of a CUDA device (the widest limits) at small shapes.
Each is written in both dialects: the OpenCL program runs on this machine's device (PoCL, if it has
no GPU) and must give what the NumPy interpreter gives for the untransformed program; the CUDA
program is compiled by NVRTC for three architectures.

  redrawn   share of draws that the space's validity columns turn down. The sampler draws such a row
            again, so that nobody sees it; columns are tested, nothing is lowered.
  invalid   share of candidates that the sampler does propose and that do not become source text:
            `Space.valid` finds them invalid, or lowering or code generation refuses them
  wrong     programs that give another answer, do not compile or do not run
  spilled   share of the compiled programs whose threads keep something in memory for want of
            registers (the assembler's stack frame)
  seconds   CPU time of compiling, so that what else the machine does is not in it. For OpenCL that
            is building and the first run less a second run: PoCL compiles a kernel when it is
            first launched. Caches of the driver are off.

A family of which FILE holds as many candidates already is not run again (each entry names the
commit of its last one): long runs are done in slices, which end after `--minutes` with the
candidate at hand, and go on where the last one stopped. `--anew` runs a family from its start.
With `--templates` it is programs of templates that are drawn (`template_candidates`).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks import template_candidates
from benchmarks.cases import SHAPES, Case
from benchmarks.deadline import Deadline
from benchmarks.provenance import kept_file, provenance
from benchmarks.template_candidates import TemplateFigures
from tilewright.build.compile import build_nest
from tilewright.cli.console import output
from tilewright.codegen.clike import emit
from tilewright.codegen.clike.cuda import Cuda
from tilewright.contract.artifact import Array, Artifact
from tilewright.contract.gene import Gene
from tilewright.cost.candidates import Population, concatenate
from tilewright.expr.dag import ComputeDAG
from tilewright.ground.errors import BuildError, RunError, ScheduleError, WrongAnswer
from tilewright.measure.gate import OutputGate
from tilewright.measure.task import tolerance_of
from tilewright.nest.reference.interpret import interpret
from tilewright.runtime.device import Device, DeviceFunction
from tilewright.runtime.nvrtc import compile_cuda
from tilewright.runtime.opencl import OpenclDevice
from tilewright.schedule.lower import lower
from tilewright.schedule.producers import lowered_of
from tilewright.schedule.state import State
from tilewright.schedule.templates import ON_GPUS
from tilewright.space.space import Space
from tilewright.target import Target

SPACE = "cuda:a100"
ARCHITECTURES = ("sm_75", "sm_80", "sm_90")
DRAWS = 4096
NEVER = Deadline(math.inf)
SEED = 1
NO_CACHES = {"POCL_KERNEL_CACHE": "0", "PYOPENCL_NO_CACHE": "1"}
SMALL = {
    "C1D": (32, 16, 24, 3, 1, 1),
    "C2D": (14, 14, 16, 32, 3, 1, 1),
    "C3D": (4, 8, 8, 6, 12, 3, 2, 1),
    "GMM": (48, 56, 40),
    "GRD": (8, 8, 16, 24, 3, 1, 1, 4),
    "DIL": (14, 14, 8, 16, 3, 1, 2, 2),
    "DEP": (16, 16, 24, 3, 2, 1),
    "T2D": (6, 6, 12, 8, 4, 2, 1),
    "CAP": (6, 6, 4, 6, 3, 1, 1, 4),
    "NRM": (48, 64),
    "CONV": (14, 14, 16, 32, 3, 1, 1),
    "TBS": (24, 2, 16),
}
"""One shape a family, in the order of `benchmarks.cases.SHAPES`; batch 1."""


def small_dag(family: str) -> ComputeDAG:
    make, _ = SHAPES[family]
    return Case(family, family, SMALL[family], 1, make).dag()


@dataclass
class Figures:
    """What was found of one family so far. Seconds are lists, one entry a program."""

    sampled: int = 0
    redrawn: float = 0.0
    invalid: int = 0
    wrong: int = 0
    failures: list[str] = field(default_factory=list)
    opencl_s: list[float] = field(default_factory=list)
    nvrtc_s: dict[str, list[float]] = field(default_factory=dict)
    spilled: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Figures:
        """Those of a family's entry in a results file; of an empty one, nothing yet."""
        return cls(**{f.name: entry[f.name] for f in fields(cls) if f.name in entry})

    def fail(self, i: int, error: Exception) -> None:
        self.failures.append(f"{i}: {type(error).__name__}: {error}"[:500])


def redrawn(space: Space, rng: np.random.Generator) -> float:
    """Share of uniform draws that the validity columns turn down."""
    drawn = space.draw(rng, DRAWS)
    sketch = rng.integers(0, len(space.sketches), DRAWS)
    return float(1 - space.satisfied(Population(drawn, sketch)).mean())


def drawn(space: Space, rng: np.random.Generator, count: int) -> Population:
    """`count` candidates as the sampler proposes them."""
    found = space.sample(rng, count)
    while len(found) < count:
        found = concatenate([found, space.sample(rng, count)])
    return found[:count]


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU time of all threads, and the result."""
    start = time.process_time()
    result = work()
    return round(time.process_time() - start, 4), result


def cuda_source(dag: ComputeDAG, gene: Gene) -> str:
    """A program as CUDA. Raises ScheduleError and BuildError."""
    return emit(lowered_of(dag, gene, "candidate").program, Cuda()).ir


class Family:
    """One operator with its inputs and right answers."""

    def __init__(self, name: str, device: Device, target: Target, seed: int) -> None:
        self.dag = small_dag(name)
        self.device, self.target = device, target
        rng = np.random.default_rng(seed)
        tensors = (*self.dag.inputs, *self.dag.constants)
        self.arrays = {t.name: rng.uniform(-1, 1, t.shape).astype(t.dtype.numpy) for t in tensors}
        plain = lower(State(self.dag), "plain").program
        self.expected = interpret(plain, self.arrays, self.arrays)

    def trial(self, gene: Gene) -> tuple[Artifact, str]:
        """The OpenCL artifact and the CUDA source. Raises ScheduleError and BuildError."""
        return build_nest(self.dag, gene, self.target, "candidate"), cuda_source(self.dag, gene)

    def run(self, artifact: Artifact) -> float:
        """Compile and run on the device; seconds of compiling. Raises RunError, WrongAnswer."""
        loading, fn = cpu_seconds(lambda: self.ready(artifact))
        inputs = [self.arrays[s.name] for s in artifact.inputs]
        first, found = cpu_seconds(lambda: fn(*inputs))
        self.check(artifact, found)
        again, _ = cpu_seconds(lambda: fn(*inputs))
        return max(loading + first - again, 0.0)

    def ready(self, artifact: Artifact) -> DeviceFunction:
        fn = DeviceFunction(artifact, self.device)
        fn.prepare({p.source.name: self.arrays[p.source.name] for p in artifact.packings})
        return fn

    def check(self, artifact: Artifact, found: Sequence[Array]) -> None:
        for spec, array in zip(artifact.outputs, found, strict=True):
            OutputGate(spec, self.expected[spec.name], tolerance_of(self.dag)).check(array)


def measured(
    name: str,
    device: Device,
    target: Target,
    candidates: int,
    architectures: Sequence[str],
    figures: Figures | None = None,
    deadline: Deadline = NEVER,
) -> Figures:
    """All figures of one family; `figures` are those of its first candidates, and as many more are
    added as the deadline admits.
    """
    family = Family(name, device, target, SEED)
    space = Space(family.dag, Target.parse(SPACE))
    rng = np.random.default_rng(SEED)
    share = redrawn(space, rng)
    if figures is None or not figures.sampled:
        figures = Figures(redrawn=share, nvrtc_s={a: [] for a in architectures})
        figures.spilled = dict.fromkeys(architectures, 0)
    population = drawn(space, rng, candidates)
    valid = space.valid(population)
    for i in range(figures.sampled, len(population)):
        if deadline.passed:
            break
        figures.sampled = i + 1
        try:
            if not valid[i]:
                raise ScheduleError("the space's validity columns refuse it")
            gene = space.gene(int(population.sketch[i]), population.rows[i])
            artifact, cuda = family.trial(gene)
        except (ScheduleError, BuildError) as error:
            figures.invalid += 1
            figures.fail(i, error)
            continue
        try:
            figures.opencl_s.append(family.run(artifact))
            for a in architectures:
                seconds, (_, report) = cpu_seconds(partial(compile_cuda, cuda, a))
                figures.nvrtc_s[a].append(seconds)
                figures.spilled[a] += report.spill_bytes > 0
        except (RunError, BuildError, WrongAnswer) as error:
            figures.wrong += 1
            figures.fail(i, error)
    return figures


# ---- results ----------------------------------------------------------------------------------


def summary(families: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The bars: wrong programs, the greatest invalid share, medians over all programs."""
    compiled = [s for f in families.values() for seconds in f["nvrtc_s"].values() for s in seconds]
    opencl = [s for f in families.values() for s in f["opencl_s"]]
    return {
        "sampled": sum(f["sampled"] for f in families.values()),
        "wrong": sum(f["wrong"] for f in families.values()),
        "greatest_invalid": max(f["invalid"] / f["sampled"] for f in families.values()),
        "opencl_median_s": _median(opencl),
        "nvrtc_median_s": _median(compiled),
        "nvrtc_p90_s": round(float(np.quantile(compiled, 0.9)), 3) if compiled else None,
    }


def _median(seconds: Sequence[float]) -> float | None:
    return round(float(np.median(seconds)), 3) if seconds else None


def rows(families: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The cells of a table: its head, then a row for every family."""
    architectures = list(next(iter(families.values()))["nvrtc_s"])
    heads = ["", "sampled", "redrawn", "invalid", "wrong", "PoCL s"]
    heads += [f"{a} s" for a in architectures] + ["spilled"]
    found = [heads]
    for name in (n for n in SMALL if n in families):
        f = families[name]
        cells = [name, str(f["sampled"]), f"{f['redrawn']:.0%}"]
        cells += [f"{f['invalid'] / f['sampled']:.0%}", str(f["wrong"])]
        medians = [_median(f["opencl_s"]), *(_median(f["nvrtc_s"][a]) for a in architectures)]
        cells += ["" if m is None else f"{m:.2f}" for m in medians]
        programs = sum(len(s) for s in f["nvrtc_s"].values())
        cells.append(f"{sum(f['spilled'].values()) / max(programs, 1):.0%}")
        found.append(cells)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--families", default=",".join(SMALL), help="names, comma-separated")
    parser.add_argument("--candidates", type=int, default=100, help="of each family")
    parser.add_argument("--json", type=kept_file, help="read and write the figures here")
    parser.add_argument("--anew", action="store_true", help="also families that FILE holds")
    parser.add_argument("--minutes", type=float, default=math.inf, help="of this run (no limit)")
    parser.add_argument("--templates", action="store_true", help="programs of templates instead")
    options = parser.parse_args()
    if options.templates:
        of_templates(options)
        return
    names = options.families.split(",")
    unknown = sorted(set(names) - set(SMALL))
    if unknown:
        parser.error(f"no families are called {', '.join(unknown)}; known: {', '.join(SMALL)}")
    os.environ.update(NO_CACHES)
    device = OpenclDevice()
    families: dict[str, Any] = _saved(options.json).get("families", {})
    deadline = Deadline.after(options.minutes)
    for name in names:
        before = Figures() if options.anew else Figures.of(families.get(name, {}))
        if before.sampled >= options.candidates or deadline.passed:
            continue
        found = measured(
            name, device, device.target, options.candidates, ARCHITECTURES, before, deadline
        )
        families[name] = {**provenance(), **vars(found)}
        print("\n".join([f"{name}:", *found.failures]) if found.failures else name, flush=True)
        if options.json:
            ordered = {n: families[n] for n in SMALL if n in families}
            result = {
                **_saved(options.json),
                "benchmark": "gpu_candidates",
                **provenance(),
                "device": device.device.name,
                "space": SPACE,
                "summary": summary(ordered),
                "families": ordered,
            }
            options.json.write_text(json.dumps(result, indent=1) + "\n")
    _show(rows(families))
    print(summary(families))


def of_templates(options: argparse.Namespace) -> None:
    """The same for every template; figures are kept beside those of families."""
    deadline = Deadline.after(options.minutes)
    saved = _saved(options.json)
    templates: dict[str, Any] = saved.setdefault("templates", {})
    for name in ON_GPUS:
        before = TemplateFigures.of({} if options.anew else templates.get(name, {}))
        if before.sampled >= options.candidates or deadline.passed:
            continue
        found = template_candidates.measured(name, options.candidates, before, deadline)
        templates[name] = {**provenance(), **vars(found)}
        print("\n".join([f"{name}:", *found.failures]) if found.failures else name, flush=True)
        if options.json:
            options.json.write_text(json.dumps(saved, indent=1) + "\n")
    _show(template_candidates.rows(templates))


def _saved(file: Path | None) -> dict[str, Any]:
    """What a results file holds."""
    found: dict[str, Any] = json.loads(file.read_text()) if file and file.is_file() else {}
    return found


def _show(table: list[list[str]]) -> None:
    head, *each = table
    shown = Table(*head, box=None)
    for cells in each:
        shown.add_row(*cells)
    output().print(shown)


if __name__ == "__main__":
    main()

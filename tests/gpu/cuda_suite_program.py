"""Runs `benchmarks.suite` on CudaDevice and writes what came of it; started by test_cuda_suite.py,
which puts a libcuda.so.1 in its way.

    python cuda_suite_program.py FOLDER        -> FOLDER/results.json
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.deadline import Deadline
from benchmarks.suite import ladder, verify
from benchmarks.suite.build import Wanted, best_or_some, dag_of, rows_of_templates
from benchmarks.suite.cases import QUICK
from benchmarks.suite.journal import Journal
from benchmarks.suite.ladder import LADDER, RUNGS
from benchmarks.suite.made import make
from benchmarks.suite.pack import PEAKS, Pack, Program
from benchmarks.suite.rungs import program_of
from benchmarks.suite.speed import Visit, ceilings
from cuda_program import binary

from benchmarks import gpu_peaks
from tilewright.build.compile import make_request
from tilewright.contract.artifact import Artifact
from tilewright.runtime.cuda import CudaDevice
from tilewright.space.space import Space
from tilewright.target import GpuTarget, Target

EMULATED = Target.parse("emulated")
TEMPLATES = ("matmul.threads.1", "matmul.warp_specialized.1")
CLIMBED = ("empty graph", "box", "roles")
SQUARE, _, CHECKED = QUICK
names = iter(range(1000))


def loadable(program: Program) -> Program:
    """As libcuda.cpp loads it, which is a T4's: shared memory is asked for as if there was less."""
    artifact = program.artifact
    small = tuple(replace(x, shared_bytes=0) for x in artifact.launches)
    built = binary(replace(artifact, entry=f"program{next(names)}", launches=small))
    return replace(program, artifact=built)


def wanted(pack: Pack, name: str) -> list[Program]:
    """A program of each of two templates."""
    dag = dag_of(pack, name)
    space = Space(dag, EMULATED)
    rows, found = rows_of_templates(space), []
    for template in (t for t in TEMPLATES if t in rows):
        one: Wanted = next(iter(best_or_some(space, rows[template], 1, True)))
        made = make(make_request(dag, one.gene, EMULATED, "program"), ())
        assert made.artifact
        built = Artifact.from_bytes(made.artifact)
        parts = one.template, one.numbers, one.estimate_s, built, made.key, made.features
        found.append(loadable(Program(*parts)))
    return found


def main(folder: Path) -> None:
    gpu_peaks.BLOCKS, gpu_peaks.CALIBRATION = 1, gpu_peaks.LEAST_STEPS  # the device is a CPU
    verify.CLOCK_STEPS, verify.WARM_S = (64, 128), 1e-6
    device: Any = CudaDevice()
    pack = Pack(folder / "pack", "emulated", True, {"commit": "c"})
    pack.save()
    rungs = {name: loadable(program_of(RUNGS[name], EMULATED)) for name in CLIMBED}
    pack.put(LADDER, list(rungs.values()), names=list(rungs))
    assert isinstance(EMULATED, GpuTarget)
    made = gpu_peaks.kernels(EMULATED)
    peaks = [Program(name, {}, 0.0, artifact, name) for name, artifact in made.items()]
    pack.put(PEAKS, [loadable(p) for p in peaks], names=[p.template for p in peaks])
    for name in (SQUARE, CHECKED):
        pack.put(name, wanted(pack, name))
    journal = Journal.open(folder / "found.jsonl", (), "fake", Deadline.after(5), pack.keys)
    for name in CLIMBED:
        ladder.step(pack, device, name, journal)
    work = verify.Work(journal, pack, device, 60.0)
    verify.begin(work)
    verify.verify(work, 2)
    peers: Any = SimpleNamespace(of=lambda *_: {})
    Visit(work, peers, SQUARE).go(slice(4))
    ceilings(work, [SQUARE])
    (folder / "results.json").write_text(json.dumps({"lines": journal.lines}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

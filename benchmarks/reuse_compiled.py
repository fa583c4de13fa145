"""Does what reuse finds for NVIDIA GPUs compile? The nine sets of ETO's table 2, by NVRTC.

    python -m benchmarks.reuse_compiled [--sets NAMES] [--each 2] [--minutes 15] [--json FILE]

Each set is tuned by its plan on a simulated GPU (benchmarks.simulated_gpu), which measures nothing:
what counts is which programs are proposed. Of every operator the best ones are printed as CUDA and
compiled for the architectures. Databases are kept in --folder, results in the JSON file after every
operator: run it again until nothing is left.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median

from rich.table import Table

from benchmarks.deadline import Deadline
from benchmarks.gpu_candidates import cpu_seconds, cuda_source
from benchmarks.operator_sets import SETS
from benchmarks.operators import reported
from benchmarks.provenance import provenance
from benchmarks.reuse_records import (
    Bench,
    OutOfTimeError,
    Results,
    add_slices,
    check_time,
    read_results,
    task_of,
    write_results,
)
from benchmarks.simulated_gpu import SimulatedGpu
from benchmarks.turns import chosen
from tilewright.cli.console import output
from tilewright.ground.errors import TilewrightError
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT, Trial, best_first
from tilewright.runtime.nvrtc import compile_cuda
from tilewright.search.progress import Progress
from tilewright.search.tasks import TuningTask
from tilewright.target import Target

TARGET = "cuda:a100"  # what its programs need every later GPU has
ARCHITECTURES = ("sm_80", "sm_90")
HEAD = ("set", "operators", "programs", "failed", "spilled", "seconds")


def main() -> int:
    """Run the benchmark; the exit status is 1 where a program does not compile."""
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("--sets", default="*", help="names or globs, comma-separated (all)")
    words.add_argument("--each", type=int, default=2, help="programs an operator (%(default)s)")
    add_slices(words, "reuse_compiled")
    options = words.parse_args()
    return reported(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """What the file lacks."""
    deadline = Deadline.after(options.minutes)
    options.folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(options.folder, Target.parse(TARGET), SimulatedGpu)
    results = read_results(options.json, {"sets": {}})
    console = output()
    try:
        for name in chosen(options.sets, SETS):
            found = results["sets"].setdefault(name, {})
            tasks = [task_of(e.case, float(e.frequency)) for e in SETS[name]]
            missing = [task for task in tasks if task.name not in found]
            if not missing:
                continue
            db = planned(bench, name, tasks, deadline)
            for task in missing:
                check_time(deadline)
                found[task.name] = compiled(task, best(bench, db, task, options.each))
                results["provenance"] = provenance(bench.target)
                write_results(options.json, results)
            console.print(f"{name}: {len(missing)} operators", highlight=False)
    except OutOfTimeError:
        console.print("out of time")
    console.print(table(results))
    return int(any(one["failed"] for of in results["sets"].values() for one in of.values()))


def planned(bench: Bench, name: str, tasks: Sequence[TuningTask], deadline: Deadline) -> Path:
    """The database of a set that was tuned by its plan, or is now."""
    db = bench.folder / f"{name}.db"

    def observe(_: Progress) -> None:
        check_time(deadline)

    with Database.open(db) as database:
        bench.run_plan(database, tasks, observe=observe)
    return db


def best(bench: Bench, db: Path, task: TuningTask, n: int) -> list[Trial]:
    """A task's best programs that its run proposed."""
    return [t for t in best_first(bench.trials_of(db, task)) if t.origin != DEFAULT][:n]


def compiled(task: TuningTask, trials: Sequence[Trial]) -> Results:
    """How many programs there are of a task; what fails of them, how many spill registers, and how
    many seconds each takes to compile, over all architectures.
    """
    failed, spilled, seconds = [], 0, []
    for trial in trials:
        try:
            source = cuda_source(task.dag, trial.gene)
            for architecture in ARCHITECTURES:
                took, (_, report) = cpu_seconds(partial(compile_cuda, source, architecture))
                seconds.append(took)
                spilled += report.spill_bytes > 0
        except TilewrightError as error:
            failed.append(f"{trial.gene.hash[:8]}: {type(error).__name__}: {error}"[:500])
    return {"programs": len(trials), "failed": failed, "spilled": spilled, "seconds": seconds}


def rows(results: Results) -> list[list[str]]:
    """The lines of the table, one a set, then all."""
    every = {**results["sets"]}
    if len(every) > 1:
        every["all"] = {f"{name} {op}": of for name, ops in every.items() for op, of in ops.items()}
    return [
        [
            name,
            str(len(operators)),
            str(sum(of["programs"] for of in operators.values())),
            str(sum(len(of["failed"]) for of in operators.values())),
            str(sum(of["spilled"] for of in operators.values())),
            f"{median([s for of in operators.values() for s in of['seconds']] or [0.0]):.2f}",
        ]
        for name, operators in every.items()
    ]


def table(results: Results) -> Table:
    """All that is known."""
    shown = Table(*HEAD, title=f"programs for {', '.join(ARCHITECTURES)}")
    for row in rows(results):
        shown.add_row(*row)
    return shown


if __name__ == "__main__":
    sys.exit(main())

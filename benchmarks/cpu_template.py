"""The CPU's template of matrix products against the programs that a search finds without it.

    python -m benchmarks.cpu_template [--cases NAMES] [--folder FOLDER] [--json FILE]

For every case the sketches are tuned for --trials trials, then all rows of the template (or as many
as --seconds allow, the most promising first: `strategy="templates"`). Then these programs take
turns, each in a process of its own on two threads:

    template        the best row that was measured
    sketches        the best program without the template
    first           the row that the estimate likes best
    untuned         the default program
    untuned, both   what it would be if the template were one of the target's own rules

Speeds are relative to `sketches` and to `untuned`, of the quickest calls of all rounds: others may
use the machine meanwhile. Databases are kept in --folder, results in the JSON file after every
case.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

import tilewright as tw
from benchmarks.cases import CASES, Case
from benchmarks.deadline import Deadline
from benchmarks.operators import DEFAULT, recorded, reported, tune
from benchmarks.peers.process import WAITS, Block, SideProcess
from benchmarks.peers.sides import OURS
from benchmarks.provenance import kept_file, provenance
from benchmarks.turns import ROUNDS, chosen, compared, in_turns, least, outliers, outputs
from tilewright.cli.console import output
from tilewright.contract.gene import Gene
from tilewright.cost.extractor import FeatureExtractor
from tilewright.front.machine import host_target, machine_of
from tilewright.front.tuning_tasks import tasks_of
from tilewright.ground.text import duration
from tilewright.records.database import Database
from tilewright.records.rows import Trial
from tilewright.schedule.templates import ON_CPUS
from tilewright.search.strategies.table import rows_of_templates
from tilewright.space.default import default_gene
from tilewright.target import Target

SOME = "GMM-?-b1,C2D-1-b1,C2D-1-b16,C2D-2-b1,C2D-3-b1,CONV-1-b1"
BOTH = "untuned, both"


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit status."""
    line = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    line.add_argument("--cases", default=SOME, help="names or globs (%(default)s)")
    line.add_argument("--trials", type=int, default=128, help="of the sketches (%(default)s)")
    line.add_argument("--seconds", type=float, default=30, help="of the template (%(default)s)")
    line.add_argument("--rounds", type=int, default=ROUNDS, help="(%(default)s)")
    line.add_argument("--threads", type=int, default=2, help="(%(default)s)")
    line.add_argument("--measure-only", action="store_true", help="the programs found before")
    line.add_argument("--minutes", type=float, default=15, help="of this slice (%(default)s)")
    line.add_argument("--folder", type=Path, default=Path("cpu_template"), help="of databases")
    line.add_argument("--json", type=kept_file, help="where results are kept, and read from first")
    options = line.parse_args(words)
    return reported(lambda: run(options, output()))


def run(options: argparse.Namespace, console: Console) -> int:
    """All cases that the time allows."""
    target = replace(host_target(), cores=options.threads)
    deadline = Deadline.after(options.minutes)
    options.folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, Any]] = {}
    if options.json is not None and options.json.exists():
        found = {c["case"]: c for c in json.loads(options.json.read_text())["cases"]}
    for name in chosen(options.cases, CASES):
        if deadline.passed:
            console.print(f"out of time before {name}")
            break
        older = found.get(name, {})
        found[name] = older | measured(CASES[name], options, target, deadline, console)
        if options.json is not None:
            head = {"machine": {"target": str(target)}, "provenance": provenance(target)}
            cases = [found[n] for n in CASES if n in found]
            options.json.write_text(json.dumps({**head, "cases": cases}, indent=1) + "\n")
    return 0


def measured(
    case: Case, options: argparse.Namespace, target: Target, deadline: Deadline, console: Console
) -> dict[str, Any]:
    """Tune a case both ways, and compare. Raises SideError where outputs differ."""
    task = tw.Task(case.dag().outputs, case.name)
    known, rows = options.folder / "sketches.db", options.folder / "templates.db"
    facts: dict[str, Any] = {}
    if not options.measure_only:
        tune(console, [case], options.trials, known, target, deadline)
        begun = time.monotonic()
        tw.tune(
            task, minutes=options.seconds / 60, db=rows, target=target, strategy="templates",
            progress=False,
        )  # fmt: skip
        facts = {"trials": options.trials, "template_s": time.monotonic() - begun}
    trials = [t for t in recorded(task, rows, target) if t.origin != DEFAULT]
    first, untuned, both, facts["rows"] = untuned_programs(task, target)
    genes = {
        "template": best(trials),
        "sketches": best(recorded(task, known, target)),
        "first": first,
        "untuned": untuned,
        BOTH: both,
    }
    blocks = turns(case.name, task, genes, target, options.rounds)
    found_s = least(blocks)
    speeds = {
        "speed_of_template": found_s["sketches"] / found_s["template"],
        "speed_of_first": found_s["sketches"] / found_s["first"],
        "speed_untuned": found_s["untuned"] / found_s[BOTH],
    }
    told = ", ".join(f"{n} {duration(s)}" for n, s in found_s.items())
    console.print(
        f"{case.name}: template {speeds['speed_of_template']:.3f} of the sketches' speed "
        f"({len(trials)} of {facts['rows']} rows), its first row {speeds['speed_of_first']:.3f}; "
        f"untuned with it {speeds['speed_untuned']:.3f}; {told}",
        soft_wrap=True,
    )
    return {
        "case": case.name,
        **facts,
        "measured_rows": len(trials),
        **speeds,
        "least_s": found_s,
        "median_s": {n: median(b.median_s for b in every) for n, every in blocks.items()},
        "default_is_template": "matmul.registers" in both.text,
        "programs": {name: gene.text for name, gene in genes.items()},
    }


def untuned_programs(task: tw.Task, target: Target) -> tuple[Gene, Gene, Gene, int]:
    """By the estimate: the template's first row, the default program without the template, and with
    it among the rules; and the number of rows.
    """
    (one,) = tasks_of(task)
    space = one.space(target, templates=ON_CPUS)
    listed = rows_of_templates(space, FeatureExtractor(space)).population
    first = space.gene(int(listed.sketch[0]), listed.rows[0])
    return first, default_gene(one.space(target)), default_gene(space), len(listed)


def best(trials: Sequence[Trial]) -> Gene:
    """The quickest program of some, by confirmed figures where there are any."""
    good = [t for t in trials if t.ok]
    confirmed = [t for t in good if t.confirmed_s]
    found = min(confirmed or good, key=lambda t: median(t.confirmed_s or t.latencies_s))
    return found.gene


def turns(
    name: str, task: tw.Task, genes: Mapping[str, Gene], target: Target, rounds: int
) -> Mapping[str, Sequence[Block]]:
    """The blocks of each program, whose outputs agree. Raises SideError where they do not."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        sides = {}
        for number, (side, gene) in enumerate(genes.items()):
            db = Path(folder) / f"{number}.db"
            keep(task, gene, target, db)
            process = SideProcess(OURS, f"operator:{name}", target, db, WAITS[0])
            sides[side] = stack.enter_context(process)
        outliers(compared(outputs(sides), "untuned"))
        return in_turns(sides, rounds)


def keep(task: tw.Task, gene: Gene, target: Target, db: Path) -> None:
    """A database whose only program of the task this is."""
    machine = machine_of(target)
    (one,) = tasks_of(task)
    with Database.open(db) as database:
        database.add_machine(machine)
        database.add_workload(one.row)
        database.add_trials([Trial(one.hash, machine.fingerprint, gene, 0, 0, (1e-6,))])


if __name__ == "__main__":
    sys.exit(main())

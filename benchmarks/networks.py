"""Whole networks against libraries: PyTorch, onnxruntime and OpenVINO.

    python -m benchmarks.networks --models 'resnet50-*,gpt2-b1' --minutes 25 --json networks.json
    python -m benchmarks.networks --slice 8      after 8 minutes no tuning, and no case is begun
    python -m benchmarks.networks --measure-only --missing      measure what the file lacks

`python -m benchmarks.gpu_networks` does the same on a GPU.

Architectures are plain PyTorch (benchmarks/models) with seeded weights, exported to ONNX once and
kept in --folder. Tuning and measuring are separate and resumable: a network is tuned until it has
had --minutes in all; measured ones stay in the JSON file, which is written after each.

Every side runs in a process of its own on `--threads` threads, in turns, all others stopped, as in
benchmarks.operators; `untuned` is Tilewright without records, compiled anew. The figures:

- ratio_best_peer      the best peer's median over Tilewright's: above 1 Tilewright is faster
- max_rel_error        tuned and untuned from PyTorch's output (the first peer's without PyTorch),
                       relative to its largest value
- peak_memory_mib      by how much a process grows at most while it imports the file, compiles
                       without records and runs once; weights_mib and activations_mib beside it
- import_s, compile_s  CPU seconds of the same
- overhead             the part of a tuned run that passes outside of kernels
- curve                [trials, seconds of tuning, estimated latency]; `match` is where it meets
                       each peer's measured time, the estimate scaled to the measured latency
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import tilewright as tw
from benchmarks.comparison import Results, mean, ratios
from benchmarks.deadline import Deadline
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES, PUBLISHED, NetworkCase
from benchmarks.operators import reported
from benchmarks.peers.process import WAITS, SideError
from benchmarks.peers.sides import OURS, OWN, PEERS, UNTUNED
from benchmarks.provenance import kept_file, provenance
from benchmarks.tuning_log import Point, TuningLog, points, reached
from benchmarks.turns import (
    ROUNDS,
    TOLERANCE,
    chosen,
    compared,
    in_turns,
    installed,
    least,
    medians,
    outliers,
    outputs,
    started,
)
from tilewright.cli.console import complain, output
from tilewright.front.machine import host_target, machine_of
from tilewright.front.tuning_tasks import tasks_of
from tilewright.ground.text import NONE, clock, duration
from tilewright.progress import display
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT
from tilewright.target import Target

LEAST_MINUTES = 0.1  # less is not worth a slice
BLOCK_S = 0.3  # of a side's turn: several runs, for the first ones find others' data in the caches


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit status."""
    line = parser(__doc__, "networks.db", PEERS)
    line.add_argument("--threads", type=int, default=2, help="of every side (%(default)s)")
    options = line.parse_args(words)
    target = replace(host_target(), cores=options.threads)
    return reported(lambda: run(options, output(), target))


def parser(description: str | None, db: str, peers: Sequence[str]) -> argparse.ArgumentParser:
    """The command line of this benchmark on any machine."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--models", default=",".join(PUBLISHED), help="names or globs (all)")
    parser.add_argument(
        "--minutes", type=float, default=25.0, help="of tuning, a network (%(default)s)"
    )
    parser.add_argument(
        "--slice",
        type=float,
        default=float("inf"),
        help="minutes of this run (no limit)",
    )
    parser.add_argument("--trials", type=int, help="at most, a network (as many as there is time)")
    parser.add_argument("--peers", default=",".join(peers), help="comma-separated (%(default)s)")
    parser.add_argument("--db", type=Path, default=Path(db), help="(%(default)s)")
    parser.add_argument("--folder", type=Path, default=Path("networks"), help="of ONNX files")
    parser.add_argument(
        "--json", type=kept_file, help="where results are kept, and read from first"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="(%(default)s)")
    parser.add_argument(
        "--wait", choices=WAITS, default=WAITS[0], help="peers' OpenMP threads (%(default)s)"
    )
    parser.add_argument("--missing", action="store_true", help="measure only what --json lacks")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--tune-only", action="store_true")
    only.add_argument("--measure-only", action="store_true")
    return parser


def run(options: argparse.Namespace, console: Console, target: Target) -> int:
    """Tune, then measure."""
    cases = [CASES[name] for name in chosen(options.models, CASES)]
    deadline = Deadline.after(options.slice)
    if not options.measure_only:
        for case in cases:
            tune(console, case, options, target, deadline)
    if options.tune_only:
        return 0
    results = NetworkResults.read(options.json)
    peers = installed(options.peers)
    if options.missing:
        cases = [c for c in cases if c.name not in results.cases]
    results.begin(
        machine={"target": str(target), "threads": target.cores, "wait": options.wait},
        provenance=provenance(target),
    )
    for case in cases:
        if deadline.passed:
            console.print(f"out of time before {case.name}")
            break
        measure(console, case, options, target, peers, results)
    names = [c.name for c in cases]
    entries = [e for e in results.sorted() if e["case"] in names]
    print_networks(console, entries, peers)
    print_summary(console, results)
    return 1 if any(n in results.failed for n in names) else 0


# ---- tuning -----------------------------------------------------------------------------------


def tune(
    console: Console,
    case: NetworkCase,
    options: argparse.Namespace,
    target: Target,
    deadline: Deadline,
) -> None:
    """Give a network what it lacks of its minutes, or what the slice has left."""
    log = TuningLog.beside(options.db)
    spent = log.seconds(case.name) / 60
    minutes = min(options.minutes - spent, deadline.minutes)
    if minutes < LEAST_MINUTES:
        return
    model = tw.load(onnx_file(case, options.folder))
    began = time.monotonic()
    with log.slice(case.name) as tick, display(console) as show:
        found = tw.tune(
            model,
            minutes=minutes,
            trials=options.trials,
            db=options.db,
            target=target,
            callbacks=[tick, show],
            progress=False,
        )
    console.print(
        f"tuned {case.name} for {clock(time.monotonic() - began)} after {clock(60 * spent)}: "
        f"{found.trials} trials, {duration(found.latency_s)} estimated"
    )


# ---- measuring --------------------------------------------------------------------------------


@dataclass
class NetworkResults(Results):
    """Results of networks, in the order of the table."""

    def sorted(self) -> list[dict[str, Any]]:
        order = {name: i for i, name in enumerate(CASES)}
        return sorted(self.cases.values(), key=lambda e: order.get(e["case"], len(order)))

    def summary(self) -> dict[str, Any]:
        """Over all compared networks; None where there is nothing to compare with."""
        found = [e for e in self.sorted() if e["ratio_best_peer"] is not None]
        worst = min(found, key=lambda e: e["ratio_best_peer"], default=None)
        return {
            "geomean_best_peer": mean(e["ratio_best_peer"] for e in found),
            **{f"geomean_{peer}": mean(ratios(found, peer)) for peer in PEERS},
            "faster_than_best_peer": sum(e["ratio_best_peer"] > 1 for e in found),
            "compared": len(found),
            "worst": worst and {"case": worst["case"], "ratio": worst["ratio_best_peer"]},
        }


def measure(
    console: Console,
    case: NetworkCase,
    options: argparse.Namespace,
    target: Target,
    peers: Sequence[str],
    results: NetworkResults,
) -> None:
    """Measure one network; its entry or its failure is on disk afterwards."""
    try:
        with contextlib.ExitStack() as stack:
            entry = measured(case, options, target, peers, stack)
    except SideError as error:
        results.fail(case.name, str(error))
        complain(f"{case.name}: {error}")
    else:
        results.put(entry)
        console.print(_sentence(entry), soft_wrap=True)
    results.write()


def measured(
    case: NetworkCase,
    options: argparse.Namespace,
    target: Target,
    peers: Sequence[str],
    stack: contextlib.ExitStack,
) -> dict[str, Any]:
    """The entry. Raises SideError when Tilewright fails or is wrong; failed peers are left out."""
    onnx_file(case, options.folder)
    subject = f"network:{case.name}:{options.folder}"
    wanted = (OURS, UNTUNED, *peers)
    sides = started(stack, wanted, subject, target, options.db, options.wait)
    errors = checked(outputs(sides))
    blocks = in_turns(sides, options.rounds, BLOCK_S)
    times = medians(blocks)
    theirs = {name: s for name, s in times.items() if name not in OWN}
    mine = times[OURS]
    curve, trials = tuning_curve(case, options, target)
    origin = provenance(target)
    return {
        "case": case.name,
        "median_s": mine,
        "peers": theirs,
        "ratio_best_peer": min(theirs.values()) / mine if theirs else None,
        "untuned_s": times[UNTUNED],
        "tuning_minutes": TuningLog.beside(options.db).seconds(case.name) / 60,
        **sides[UNTUNED].facts,
        "overhead": sides[OURS].facts["overhead"],
        **errors,
        "trials": trials,
        "curve": curve,
        "match": {name: matched(curve, mine, seconds) for name, seconds in theirs.items()},
        "least_s": least(blocks),
        "modes": {name: side.mode for name, side in sides.items() if side.mode},
        "rounds": options.rounds,
        "commit": origin["commit"],
        "date": origin["date"],
    }


def checked(results: Mapping[str, Any]) -> dict[str, Any]:
    """Errors of tuned and untuned, and every side's difference from the reference.

    Raises SideError when tuned and untuned disagree, or no peer agrees with them.
    """
    peers = [name for name in results if name not in OWN]
    own = compared({name: results[name] for name in (OURS, UNTUNED)}, OURS)
    if not own[UNTUNED] <= TOLERANCE:
        raise SideError(f"tuned and untuned outputs differ by {own[UNTUNED]} of the largest value")
    outliers({name: d for name, d in compared(results, OURS).items() if name in peers})
    if not peers:
        return {"max_rel_error": None, "differences": own}
    reference = "torch" if "torch" in peers else peers[0]
    differences = compared(results, reference)
    return {
        "max_rel_error": max(differences[n] for n in (OURS, UNTUNED)),
        "differences": differences,
    }


def tuning_curve(
    case: NetworkCase, options: argparse.Namespace, target: Target
) -> tuple[list[Point], int]:
    """The network's estimated latency while it was tuned, and the trials its tasks had."""
    if not options.db.exists():
        return [], 0
    tasks = tasks_of(tw.load(onnx_file(case, options.folder)))
    with Database.open(options.db, create=False, readonly=True) as database:
        fingerprint = machine_of(target).fingerprint
        trials = [t for task in tasks for t in database.trials(task.hash, fingerprint)]
    weights = {task.hash: task.weight for task in tasks}
    curve = points(weights, trials, TuningLog.beside(options.db).clock(case.name))
    return curve, sum(t.origin != DEFAULT for t in trials)


def matched(curve: Sequence[Point], measured_s: float, peer_s: float) -> dict[str, float] | None:
    """Trials and seconds until the network was as fast as a peer; None where it never was.

    The estimate leaves out what surrounds the kernels: it is scaled to the measured latency.
    """
    if not curve:
        return None
    point = reached(curve, peer_s * curve[-1].latency_s / measured_s)
    return None if point is None else {"trials": point.trials, "seconds": point.seconds}


# ---- printing ---------------------------------------------------------------------------------


def _sentence(entry: Mapping[str, Any]) -> str:
    peers = ", ".join(f"{n} {duration(s)}" for n, s in entry["peers"].items())
    ratio = entry["ratio_best_peer"]
    error = entry["max_rel_error"]
    return (
        f"{entry['case']}: {duration(entry['median_s'])}, {duration(entry['untuned_s'])} untuned; "
        f"{peers}; torch mode {entry['modes'].get('torch', '-')}; "
        f"ratio {'-' if ratio is None else f'{ratio:.2f}'}; "
        f"error {'-' if error is None else f'{error:.1g}'}; import {entry['import_s']:.1f} s, "
        f"compile {entry['compile_s']:.1f} s, {entry['peak_memory_mib']:.0f} MiB"
    )


def print_networks(
    console: Console, entries: Iterable[Mapping[str, Any]], peers: Iterable[str]
) -> None:
    """One row a network."""
    names = list(peers)
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("network")
    columns = ("tilewright", "untuned", *names, "best peer / ours", "error", "minutes", "trials")
    for heading in (*columns, "compile", "memory / data", "onnxruntime after"):
        table.add_column(heading, justify="right")
    for e in entries:
        ratio, error = e["ratio_best_peer"], e["max_rel_error"]
        met = e["match"].get("onnxruntime")
        table.add_row(
            e["case"],
            duration(e["median_s"]),
            duration(e["untuned_s"]),
            *(duration(e["peers"].get(n)) for n in names),
            NONE if ratio is None else f"{ratio:.2f}",
            NONE if error is None else f"{error:.1g}",
            f"{e['tuning_minutes']:.1f}",
            str(e["trials"]),
            f"{e['import_s'] + e['compile_s']:.1f} s",
            f"{memory_ratio(e):.1f}",
            NONE if met is None else f"{met['trials']} trials, {met['seconds']:.0f} s",
        )
    console.print(table)


def memory_ratio(entry: Mapping[str, Any]) -> float:
    """Peak memory over weights and activations."""
    data: float = entry["weights_mib"] + entry["activations_mib"]
    return float(entry["peak_memory_mib"]) / data


def print_summary(console: Console, results: NetworkResults) -> None:
    """The figures over all networks, and failures."""
    summary = results.summary()
    if summary["worst"]:
        console.print(
            f"faster than the best peer on {summary['faster_than_best_peer']} of "
            f"{summary['compared']} networks, geometric mean {summary['geomean_best_peer']:.2f}; "
            f"worst: {summary['worst']['case']} ({summary['worst']['ratio']:.2f})"
        )
    for case, message in results.failed.items():
        console.print(f"failed: {case}: {message}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main())

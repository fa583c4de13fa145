"""Whole networks beside libraries: PyTorch, onnxruntime and OpenVINO.

    python -m benchmarks.networks --cases 'resnet50-*,gpt2-b1' --stages 3,10 --json networks.json
    python -m benchmarks.networks --device cuda                   beside PyTorch on a GPU

Architectures are plain PyTorch (benchmarks/models) with seeded weights, exported to ONNX once. Each
is tuned from nothing, in a database of its own, for the minutes of the stages; what there was after
each takes turns with the program of no records (`untuned`) and with the peers, OpenVINO also as it
runs by default, which may round to fewer bits. A network that ends slower than untuned is shown so.

- ratio_best_peer      the best float32 peer's median over ours after the last stage: above 1
                       Tilewright is faster; ratio_untuned the same of untuned
- max_rel_error        ours from PyTorch's output (the first peer's without PyTorch), relative to
                       its largest value
- peak_memory_mib      by how much a process grows at most while it imports the file, compiles
                       without records and runs once; weights_mib and activations_mib beside it
- import_s, compile_s  CPU seconds of the same
- overhead             the part of an untuned run that passes outside of kernels
- curve, match         [trials, seconds of tuning, estimated latency], and where it meets each
                       peer's time, the estimate scaled to the measured latency
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tilewright as tw
from benchmarks.comparison import Entry, Results, is_worse, mean, ratio_text, worst
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES, PUBLISHED
from benchmarks.peers.process import SideError
from benchmarks.peers.sides import DEFAULT_OPENVINO, OURS, PEERS, UNTUNED
from benchmarks.slices import Bench, Suite
from benchmarks.slices import main as main_of
from benchmarks.tuning_log import Point, TuningLog, points, reached
from benchmarks.turns import TOLERANCE, compared, in_turns, medians, outliers, outputs
from tilewright.front.machine import machine_of
from tilewright.front.tuning_tasks import tasks_of
from tilewright.ground.text import duration
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT
from tilewright.target import Target

LEAST_MINUTES = 0.1  # less is not worth a slice
BLOCK_S = 0.3  # of a side's turn: several runs, for the first ones find others' data in the caches
TEN = (*PUBLISHED, "ppocr-det-b1")


@dataclass(frozen=True)
class Stages:
    """A network's tuning in stages of wall minutes, each in a copy of the records before."""

    name: str
    minutes: tuple[float, ...]
    db: Path

    def file(self, minutes: float) -> Path:
        """The records after so many minutes."""
        return self.db.with_name(f"{self.db.stem}-{self.name}-{minutes:g}.db")

    def tune(self, bench: Bench, model: tw.Model) -> dict[str, Path]:
        """Tune, or what is left of it; the records of all stages by the sides' names."""
        found: dict[str, Path] = {}
        before: Path | None = None
        for minutes in sorted(self.minutes):
            file = self.file(minutes)
            if before is not None and not file.exists():
                shutil.copy(TuningLog.beside(before).file, TuningLog.beside(file).file)
                shutil.copy(before, file)
            log = TuningLog.beside(file)
            left = minutes - log.seconds(self.name) / 60
            if left >= LEAST_MINUTES:
                how = {"trials": bench.options.trials, "minutes": left, "db": file}
                with log.slice(self.name) as tick:
                    bench.tune(model, callbacks=[tick], **how)
            found[f"after {minutes:g} min"] = before = file
        return found


@dataclass(frozen=True)
class NetworkBench(Bench):
    """Measures a network."""

    def case(self, name: str) -> Entry:
        case, folder = CASES[name], self.options.folder
        model = tw.load(onnx_file(case, folder)).for_target(self.target)
        minutes = tuple(float(word) for word in self.options.stages.split(","))
        stages = Stages(name, minutes, self.options.db)
        files = stages.tune(self, model)
        last = list(files.values())[-1]
        subject = f"network:{name}:{folder}"
        with contextlib.ExitStack() as stack:
            sides = {UNTUNED: self.side(stack, UNTUNED, subject)}
            sides |= {stage: self.side(stack, OURS, subject, db) for stage, db in files.items()}
            sides |= self.started(stack, self.peers, subject)
            errors = checked(outputs(sides), list(sides)[len(files)])
            if "openvino" in sides:
                sides |= self.started(stack, (DEFAULT_OPENVINO,), subject)
            blocks = in_turns(sides, self.options.rounds, BLOCK_S)
            facts = {**sides[UNTUNED].facts, **self.facts(sides, blocks), **errors}
        found, trials = tuning_curve(name, model, last, self.target)
        seconds = medians(blocks)
        peers = {n: s for n, s in seconds.items() if n in PEERS}
        mine = seconds[list(files)[-1]]
        match = {n: matched(found, mine, s) for n, s in peers.items()}
        return entry_of(name, seconds, list(files), curve=found, match=match, **facts | trials)


def entry_of(case: str, seconds: Mapping[str, float], stages: Sequence[str], **facts: Any) -> Entry:
    """One measured network; `seconds` by side, `facts` are kept as they are."""
    peers = {name: s for name, s in seconds.items() if name in PEERS}
    mine, untuned = seconds[stages[-1]], seconds[UNTUNED]
    best = min(peers.values(), default=None)
    return {
        "case": case,
        "median_s": mine,
        "untuned_s": untuned,
        "stages": {stage: seconds[stage] for stage in stages},
        "peers": peers,
        "default_openvino_s": seconds.get(DEFAULT_OPENVINO),
        "ratio_best_peer": None if best is None else best / mine,
        "ratio_untuned": None if best is None else best / untuned,
        **facts,
    }


def checked(results: Mapping[str, Any], ours: str = OURS) -> dict[str, Any]:
    """Errors of tuned and untuned, and every side's difference from the reference.

    Raises SideError when tuned and untuned disagree, or no peer agrees with them.
    """
    peers = [name for name in results if name in PEERS]
    own = compared({n: y for n, y in results.items() if n not in peers}, ours)
    if not own[UNTUNED] <= TOLERANCE:
        raise SideError(f"tuned and untuned outputs differ by {own[UNTUNED]} of the largest value")
    outliers({name: d for name, d in compared(results, ours).items() if name in peers})
    if not peers:
        return {"max_rel_error": None, "differences": own}
    reference = "torch" if "torch" in peers else peers[0]
    differences = compared(results, reference)
    return {
        "max_rel_error": max(d for name, d in differences.items() if name not in peers),
        "differences": differences,
    }


def tuning_curve(
    name: str, model: tw.Model, db: Path, target: Target
) -> tuple[list[Point], dict[str, Any]]:
    """The network's estimated latency while it was tuned; its trials and minutes."""
    tasks = tasks_of(model)
    with Database.open(db, create=False, readonly=True) as database:
        fingerprint = machine_of(target).fingerprint
        trials = [t for task in tasks for t in database.trials(task.hash, fingerprint)]
    log = TuningLog.beside(db)
    found = points({task.hash: task.weight for task in tasks}, trials, log.clock(name))
    counted = sum(t.origin != DEFAULT for t in trials)
    return found, {"trials": counted, "tuning_minutes": log.seconds(name) / 60}


def matched(curve: Sequence[Point], measured_s: float, peer_s: float) -> dict[str, float] | None:
    """Trials and seconds until the network was as fast as a peer; None where it never was.

    The estimate leaves out what surrounds the kernels: it is scaled to the measured latency.
    """
    if not curve:
        return None
    point = reached(curve, peer_s * curve[-1].latency_s / measured_s)
    return None if point is None else {"trials": point.trials, "seconds": point.seconds}


@dataclass
class NetworkResults(Results):
    """Networks in the order of the table."""

    names = tuple(CASES)

    def summary(self) -> dict[str, Any]:
        found = self.sorted()
        untuned = [e for e in found if e.get("ratio_untuned") is not None]
        return {
            **super().summary(),
            "geomean_untuned": mean(e["ratio_untuned"] for e in untuned),
            "worst_untuned": worst(untuned, "ratio_untuned"),
        }


HEAD = (
    "network", "ours", "untuned", *PEERS, "OpenVINO's default", "best peer / ours", "min", "trials",
    "compile, s", "memory / data", "as fast as onnxruntime after",
)  # fmt: skip


def row(entry: Entry) -> list[str]:
    """The figures of a network, as HEAD names them."""
    met = entry["match"].get("onnxruntime")
    return [
        entry["case"],
        duration(entry["median_s"]) + (" (slower)" if is_worse(entry) else ""),
        duration(entry["untuned_s"]),
        *(duration(entry["peers"].get(p)) for p in PEERS),
        duration(entry.get("default_openvino_s")),
        ratio_text(entry["ratio_best_peer"]),
        f"{entry['tuning_minutes']:.1f}",
        str(entry["trials"]),
        f"{entry['import_s'] + entry['compile_s']:.1f}",
        f"{memory_ratio(entry):.1f}",
        "" if met is None else f"{met['trials']} trials, {met['seconds']:.0f} s",
    ]


def memory_ratio(entry: Mapping[str, Any]) -> float:
    """Peak memory over weights and activations."""
    data: float = entry["weights_mib"] + entry["activations_mib"]
    return float(entry["peak_memory_mib"]) / data


class NetworkSuite(Suite):
    """Networks, tuned in stages."""

    def arguments(self, line: argparse.ArgumentParser) -> None:
        line.add_argument("--stages", default="3,10", help="minutes of tuning (%(default)s)")


SUITE = NetworkSuite(
    (__doc__ or "").splitlines()[0], tuple(n for n in CASES if CASES[n].network.is_whole),
    "dcgan-b1", "networks", 0, 0, NetworkResults, NetworkBench, HEAD, row,
)  # fmt: skip


def main(words: Sequence[str] | None = None, suite: Suite = SUITE) -> int:
    """Run the benchmark; the exit status."""
    return main_of(words, suite)


if __name__ == "__main__":
    sys.exit(main())

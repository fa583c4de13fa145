"""How soon the search finds what it finds: wall time and trials, from an empty database.

    python -m benchmarks.convergence [--case C2D-2-b1] [--trials 1000] [--seeds 5] [--json FILE]
    python -m benchmarks.convergence --original [--json FILE]

The gain is from the default program's latency, measured first, to the best of the run; a figure
is the wall time, from the call of `tune` on, after which half or 95 % of it was measured. The
median over seeds is what counts. Each seed has a database of its own in --folder; one that is
finished is not run again, so a benchmark that was stopped goes on.

`--original` gives 200 trials to the three operators on which the original implementation
(tvm.auto_scheduler) was once timed. Releases of TVM that install today do not have it, so it does
not take part: what it took stands beside ours, with its machine, and is no ratio.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import tilewright as tw
from benchmarks.cases import CASES
from benchmarks.provenance import kept_file, provenance
from tilewright.records.database import Database
from tilewright.records.rows import Trial

CASE = "C2D-2-b1"
PARTS = (0.5, 0.95)
ORIGINAL_TRIALS = 200
ORIGINAL_MACHINE = "icelake-server, 2 threads"
ORIGINAL = {  # case: its best latency, wall time and trials, of one run
    "GMM-2-b1": (1.21e-3, 380.0, 200),
    "C2D-2-b1": (1.39e-3, 838.0, 200),
    "T2D-1-b1": (2.76e-3, 420.0, 120),
}


@dataclass(frozen=True)
class Run:
    """One search. Seconds; `best_s[i]` is the least latency measured up to trial i, at `at_s[i]`.

    Entry 0 is the default program. `part_s` is when each of PARTS of the gain was reached.
    """

    seed: int
    trials: int
    seconds: float
    best_s: list[float]
    at_s: list[float]
    part_s: dict[str, float]
    shares: dict[str, float]

    @property
    def seconds_per_trial(self) -> float:
        return self.seconds / self.trials


def run(case: str, trials: int, seed: int, folder: Path) -> Run:
    """Tune `case` from nothing, or read what a finished run of the same left in `folder`.

    Raises what `tilewright.tune` raises.
    """
    file = folder / f"{case}-{trials}-{seed}.json"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        db = file.with_suffix(".db")
        for old in folder.glob(f"{db.name}*"):
            old.unlink()  # of a run that was stopped: its clock is lost
        task = tw.Task(CASES[case].dag().outputs, case)
        started = time.time()
        result = tw.tune(task, trials=trials, db=db, seed=seed, progress=False)
        with Database.open(db, create=False, readonly=True) as database:
            measured = list(database.trials())
        file.write_text(json.dumps(asdict(_run(seed, started, measured, result))))
    return Run(**json.loads(file.read_text()))


def _run(seed: int, started: float, measured: Sequence[Trial], result: tw.TuneResult) -> Run:
    at = [t.created_at - started for t in measured]
    best = best_so_far([t.measured_s for t in measured])
    parts = {str(part): reached(best, at, part) for part in PARTS}
    total = sum(result.shares.values())
    shares = {k: v / total for k, v in result.shares.items()}
    return Run(seed, result.trials, result.seconds, best, at, parts, shares)


def best_so_far(latencies_s: Sequence[float | None]) -> list[float]:
    """The least up to each, `[n]`; infinity before the first that ran."""
    found: list[float] = []
    least = float("inf")
    for one in latencies_s:
        least = min(least, one or float("inf"))
        found.append(least)
    return found


def reached(best_s: Sequence[float], at_s: Sequence[float], part: float) -> float:
    """When `part` of the gain from the first to the last of `best_s` had been measured; seconds.
    The first is that of the first program that ran.
    """
    first = next((s for s in best_s if s < float("inf")), best_s[0])
    wanted = first - part * (first - best_s[-1])
    return next(at for best, at in zip(best_s, at_s, strict=True) if best <= wanted)


def seeds_of(
    case: str, trials: int, seeds: int, folder: Path, say: Callable[[str], None]
) -> dict[str, Any]:
    """All seeds of one case, for the JSON file; every seed's line is said when it ends."""
    flops = CASES[case].dag().useful_flops
    runs = []
    for seed in range(seeds):
        one = run(case, trials, seed, folder)
        runs.append(one)
        parts = ", ".join(f"{float(p):.0%} of the gain in {s:.0f} s" for p, s in one.part_s.items())
        say(
            f"{case}, seed {seed}: {flops / one.best_s[0] / 1e9:.0f} -> "
            f"{flops / one.best_s[-1] / 1e9:.0f} GFLOP/s, {one.seconds_per_trial:.3f} s a trial; "
            f"{parts}; " + ", ".join(f"{k} {v:.0%}" for k, v in one.shares.items())
        )
    middle = {
        "seconds_per_trial": median(r.seconds_per_trial for r in runs),
        "best_s": median(r.best_s[-1] for r in runs),
        "part_s": {str(p): median(r.part_s[str(p)] for r in runs) for p in PARTS},
    }
    return {"trials": trials, "flops": flops, "median": middle, "runs": [asdict(r) for r in runs]}


def beside_original(case: str, found: dict[str, Any]) -> dict[str, Any]:
    """What the original took on its machine, and our best on this one at as many trials."""
    best_s, wall_s, trials = ORIGINAL[case]
    runs = found["runs"]
    return {
        "machine": ORIGINAL_MACHINE,
        "trials": trials,
        "best_s": best_s,
        "seconds_per_trial": wall_s / trials,
        "ours_s": median(r["best_s"][min(trials, len(r["best_s"]) - 1)] for r in runs),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--case", choices=CASES, default=CASE, metavar="CASE", help="%(default)s")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--original", action="store_true", help="the original's three cases")
    parser.add_argument("--folder", type=Path, default=Path("convergence"), help="databases")
    parser.add_argument("--json", type=kept_file, help="add the figures to this file")
    options = parser.parse_args(arguments)
    cases = list(ORIGINAL) if options.original else [options.case]
    trials = ORIGINAL_TRIALS if options.original else options.trials
    kept = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}
    for case in cases:
        found = seeds_of(case, trials, options.seeds, options.folder, print)
        if options.original:
            found["original"] = beside_original(case, found)
        kept = {**kept, **provenance(), "cases": kept.get("cases", {})}
        kept["cases"][f"{case}, {trials} trials"] = found
        if options.json:
            options.json.write_text(json.dumps(kept, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

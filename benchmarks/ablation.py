"""What each part of the search is worth: the paper's figure 7.

    python -m benchmarks.ablation [--seeds 5] [--trials 1000] [--json FILE] [--plot FILE]

Four searches of the last convolution of ResNet-50 at batch 16, 7x7x512 -> 7x7x512, 3x3 kernel:

- full: evolution on the learned cost model in the whole space;
- no fine-tuning: random programs of the same space;
- limited space: the full search in a template's space (benchmarks.template_space);
- beam search: incomplete programs pruned by the cost model, no fine-tuning.

A curve is the best throughput (GFLOP/s) measured up to each trial, the median over seeds. The
default program, which every run measures first, is no trial and does not count. Each variant and
seed has a database of its own in --folder; a run that was killed goes on where it stopped. Seeds
are the outer loop, so that a machine whose speed drifts treats all variants alike.

`confirmed` is the best program's throughput from a second measurement in fresh processes: the best
of many noisy figures flatters whoever measured most spread.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import tilewright as tw
from benchmarks.cases import CASES
from benchmarks.provenance import provenance, result_file
from benchmarks.template_space import TEMPLATE_RULES
from tilewright.front.tuning_tasks import tasks_of
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT, Trial
from tilewright.search.task_scheduler import TaskScheduler
from tilewright.space.derivation import Rule

Floats = NDArray[np.float64]
CASE = "C2D-3-b16"


@dataclass(frozen=True)
class Variant:
    """One search: a strategy in a space, and what allots trials to the tasks of a network."""

    name: str
    strategy: str = "evolution"
    rules: Sequence[Rule] = ()
    scheduler: type[TaskScheduler] = TaskScheduler


VARIANTS = (
    Variant("full"),
    Variant("no fine-tuning", strategy="random"),
    Variant("limited space", rules=TEMPLATE_RULES),
    Variant("beam search", strategy="beam"),
)


@dataclass(frozen=True)
class Run:
    """One search with one seed.

    curve:     GFLOP/s of the best program up to each trial, `[trials]`; 0 before one ran.
    confirmed: GFLOP/s of the best program, measured again in fresh processes.
    """

    seed: int
    curve: list[float]
    confirmed: float


def run_all(
    task: tw.Task, folder: Path, seeds: int, trials: int, say: Callable[[str], None] = print
) -> dict[str, list[Run]]:
    """Every variant with every seed; raises RunError and others where nothing can be measured."""
    found: dict[str, list[Run]] = {variant.name: [] for variant in VARIANTS}
    for seed in range(seeds):
        for variant in VARIANTS:
            one = run(task, variant, folder, seed, trials)
            found[variant.name].append(one)
            say(f"seed {seed}, {variant.name}: {one.confirmed:.1f} GFLOP/s")
    return found


def run(task: tw.Task, variant: Variant, folder: Path, seed: int, trials: int) -> Run:
    """One search, or what its database holds of it already."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{task.name}-{variant.name.replace(' ', '-')}-{seed}.db"
    (tuning,) = tasks_of(task)
    flops = tuning.flops
    if not file.exists() or not _finished(_trials(file, tuning.hash), trials):
        tw.tune(
            task,
            trials=trials,
            db=file,
            strategy=variant.strategy,
            seed=seed,
            rules=variant.rules,
            progress=False,
        )
    measured = _trials(file, tuning.hash)
    curve = best_so_far([t.measured_s for t in measured][:trials], trials, flops)
    sure = [t.latency_s for t in measured if t.latency_s and t.confirmed_s]
    confirmed = min(sure, default=float("inf"))
    return Run(seed, [float(x) for x in curve], flops / confirmed / 1e9)


def _trials(file: Path, workload: str) -> list[Trial]:
    """The search's trials in order, without the default program."""
    with Database.open(file, create=False, readonly=True) as database:
        return [t for t in database.trials(workload) if t.origin != DEFAULT]


def _finished(measured: Sequence[Trial], trials: int) -> bool:
    """Whether the budget is spent and the finalists are confirmed."""
    return len(measured) >= trials and any(t.confirmed_s for t in measured)


def best_so_far(latencies_s: Sequence[float | None], trials: int, flops: int) -> Floats:
    """GFLOP/s `[trials]` of the best up to each trial; a space that ran out keeps its best."""
    latency = np.full(trials, np.inf)
    latency[: len(latencies_s)] = [np.inf if s is None else s for s in latencies_s]
    curve: Floats = flops / np.minimum.accumulate(latency) / 1e9
    return curve


def medians(found: dict[str, list[Run]]) -> dict[str, Floats]:
    """The median curve of every variant."""
    return {name: np.median([r.curve for r in runs], axis=0) for name, runs in found.items()}


def table(found: dict[str, list[Run]], unit: str = "GFLOP/s") -> str:
    """Throughput relative to the best program of all, by trials; and confirmed, with its range."""
    curves = medians(found)
    best = max(max(r.curve[-1] for r in runs) for runs in found.values())
    trials = len(next(iter(curves.values())))
    at = sorted({max(1, trials * part // 16) for part in (1, 2, 4, 8, 16)})
    columns = "".join(f"{n:>8}" for n in at)
    lines = [f"{'trials':18}{columns}   confirmed {unit} (median, least-most)"]
    for name, curve in curves.items():
        shares = "".join(f"{curve[n - 1] / best:8.3f}" for n in at)
        sure = np.array([r.confirmed for r in found[name]])
        spread = f"{np.median(sure):.4g} ({sure.min():.4g}-{sure.max():.4g})"
        lines.append(f"{name:18}{shares}   {spread}")
    return "\n".join([*lines, f"1.000 is {best:.4g} {unit}"])


def plot(found: dict[str, list[Run]], file: Path, title: str) -> None:
    """The median curves, each over its range by seeds. Raises ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    best = max(max(r.curve[-1] for r in runs) for runs in found.values())
    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    for name, curve in medians(found).items():
        every = np.array([r.curve for r in found[name]]) / best
        trial = np.arange(1, len(curve) + 1)
        axes.plot(trial, curve / best, label=name)
        axes.fill_between(trial, every.min(axis=0), every.max(axis=0), alpha=0.15)
    axes.set(xlabel="trials", ylabel="throughput, relative to the best program", title=title)
    axes.set_ylim(0, 1.05)
    axes.legend(loc="lower right")
    figure.savefig(file)
    pyplot.close(figure)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; the exit status."""
    parser = argparse.ArgumentParser(description="What each part of the search is worth (figure 7)")
    parser.add_argument("--case", choices=CASES, default=CASE, metavar="CASE", help="%(default)s")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--folder", type=Path, default=Path("ablation"), help="databases")
    parser.add_argument("--json", type=result_file, help="write the curves to this file")
    parser.add_argument("--plot", type=Path, help="draw them (PNG, SVG or PDF)")
    options = parser.parse_args(arguments)
    task = tw.Task(CASES[options.case].dag().outputs, options.case)
    found = run_all(task, options.folder, options.seeds, options.trials)
    print(table(found))
    if options.json:
        curves = {
            name: {"median": [float(x) for x in curve], "runs": [asdict(r) for r in found[name]]}
            for name, curve in medians(found).items()
        }
        head = {"benchmark": "ablation", "case": options.case, **provenance()}
        options.json.write_text(json.dumps({**head, "unit": "GFLOP/s", "variants": curves}))
    if options.plot:
        try:
            plot(found, options.plot, options.case)
        except ImportError as error:
            print(f"No plot: {error}. Install the extra: pip install 'tilewright[report]'")
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

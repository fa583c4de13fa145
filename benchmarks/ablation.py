"""What each part of the search is worth: Ansor's figures 7 and 10.

    python -m benchmarks.ablation [--figures NAMES] [--seeds 3] [--trials 1000] [--json FILE]

Each figure is a few searches of the same operator or networks:

- C2D-3-b16                the last convolution of ResNet-50 at batch 16 (figure 7): full, that is
                           evolution on the learned cost model in the whole space; no fine-tuning
                           (random programs); limited space (a template's,
                           benchmarks.template_space); beam search (incomplete programs pruned by
                           the cost model, no fine-tuning)
- mobilenet-v2             figure 10: full; no task scheduler (trials go round); limited space; no
                           fine-tuning
- mobilenet-v2-resnet50    the same searches of two networks together, for the geometric mean of
                           their speed-ups

A curve is the speed of the best programs measured up to each trial, the weighted sum of all tasks,
relative to default programs; for two networks the geometric mean. Every run measures the default
programs first. They are no trials, but programs of the space that the search starts from, and count
where that space has them: a limited one is 0 until its search has a program for every task. Figures
of a run are relative to its own default programs'.

`confirmed` compares what the searches found: at the end all of them and the default programs are
measured again, those of a task in turns in fresh processes. The best of many noisy figures flatters
whoever measured most, or while the machine was fast.

Each search has a database of its own in --folder; a run that was killed goes on where it stopped.
Seeds are the outer loop, so that a machine whose speed drifts treats all variants alike.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np

import tilewright as tw
from benchmarks.cases import CASES as OPERATORS
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES
from benchmarks.provenance import kept_file, provenance
from benchmarks.report import Content, Part, Table, show
from benchmarks.slices import reported
from benchmarks.template_space import TEMPLATE_RULES
from benchmarks.tuning_log import INF, estimates
from tilewright.build import default_gene
from tilewright.cli.console import output
from tilewright.contract.gene import Gene
from tilewright.front import task_measurer
from tilewright.front.machine import host_target
from tilewright.front.tuning_tasks import tasks_of
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT, Trial
from tilewright.search.objectives import GeomeanSpeedup
from tilewright.search.strategies.table import STRATEGIES
from tilewright.search.task_scheduler import RoundRobin, TaskScheduler
from tilewright.search.tasks import TuningTask
from tilewright.space.derivation import Rule


@dataclass(frozen=True)
class Variant:
    """One search: a strategy in a space, and what allots trials to the tasks of a network."""

    name: str
    strategy: str = "evolution"
    rules: Sequence[Rule] = ()
    scheduler: type[TaskScheduler] = TaskScheduler


@dataclass(frozen=True)
class Run:
    """One search with one seed: speeds relative to untuned.

    curve:     of the best programs up to each trial, `[trials]`; 0 before one ran.
    confirmed: of the best programs, measured again in fresh processes.
    """

    seed: int
    curve: list[float]
    confirmed: float


FULL = Variant("full")
NO_FINE_TUNING = Variant("no fine-tuning", strategy="random")
LIMITED = Variant("limited space", rules=TEMPLATE_RULES)
ALONE = (FULL, NO_FINE_TUNING, LIMITED, Variant("beam search", strategy="beam"))
TOGETHER = (FULL, Variant("no task scheduler", scheduler=RoundRobin), LIMITED, NO_FINE_TUNING)


@dataclass(frozen=True)
class Figure:
    """An operator or networks, by case, and the searches that are compared on them."""

    models: tuple[str, ...]
    variants: tuple[Variant, ...]


FIGURES = {
    "C2D-3-b16": Figure(("C2D-3-b16",), ALONE),
    "mobilenet-v2": Figure(("mobilenet-v2-b1",), TOGETHER),
    "mobilenet-v2-resnet50": Figure(("mobilenet-v2-b1", "resnet50-b1"), TOGETHER),
}
Weights = Mapping[str, float]  # a figure of each workload, mostly how often a network runs it
Programs = dict[str, Trial]  # of each workload


def load(name: str, networks: Path) -> tw.Task | tw.Model | tw.ModelSet:
    """A case of either table."""
    if name in OPERATORS:
        return tw.Task(OPERATORS[name].dag().outputs, name)
    return tw.load(onnx_file(CASES[name], networks))


def run_all(
    figure: Figure,
    networks: Path,
    folder: Path,
    seeds: int,
    trials: int,
    say: Callable[[str], None] = print,
) -> dict[str, list[Run]]:
    """Every variant with every seed; raises what `tune` raises."""
    models = [load(name, networks) for name in figure.models]
    tasks = {t.hash: t for model in models for t in tasks_of(model)}
    weights = [{t.hash: t.weight for t in tasks_of(model)} for model in models]
    searches: list[tuple[Variant, int, Search]] = []
    every: list[list[Trial]] = []
    for seed in range(seeds):
        for variant in figure.variants:
            say(f"seed {seed}, {variant.name}")
            file = f"{'+'.join(figure.models)}-{variant.name.replace(' ', '-')}-{seed}.db"
            search(models, weights, variant, folder / file, seed, trials)
            every.append(read(folder / file, weights))
            searches.append((variant, seed, Search.of(every[-1], variant, trials)))
    defaults = {t.workload_hash: t for one in every for t in one if t.origin == DEFAULT}
    say("the best programs again")
    best = [one.best() for *_, one in searches]
    again = measured_again(list(tasks.values()), [defaults, *best])
    others = {w: s for one in every for w, s in untuned_of(one).items()}  # where a run has none
    found: dict[str, list[Run]] = {variant.name: [] for variant in figure.variants}
    for (variant, seed, one), measured, programs in zip(searches, every, best, strict=True):
        curve = one.curve(weights, others | untuned_of(measured), trials)
        confirmed = speed_up(weights, seconds_of(defaults, again), seconds_of(programs, again))
        found[variant.name].append(Run(seed, curve, confirmed))
    return found


def search(
    models: Sequence[Any],
    weights: Sequence[Weights],
    variant: Variant,
    file: Path,
    seed: int,
    trials: int,
) -> None:
    """One search, unless `file` has all of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists() and finished(read(file, weights), trials):
        return
    tw.tune(
        models,
        trials=trials,
        db=file,
        # where there is one network, its reference changes nothing
        objective=GeomeanSpeedup((1.0,) * len(models)),
        strategy=replace(STRATEGIES[variant.strategy], scheduler=variant.scheduler),
        seed=seed,
        rules=variant.rules,
        progress=False,
    )


def read(file: Path, weights: Sequence[Weights]) -> list[Trial]:
    """All trials of the networks' tasks, in the order of measuring, default programs included."""
    wanted = {workload for one in weights for workload in one}
    with Database.open(file, create=False, readonly=True) as database:
        return [t for t in database.trials() if t.workload_hash in wanted]


def finished(measured: Sequence[Trial], trials: int) -> bool:
    """Whether the budget is spent and finalists are confirmed."""
    searched = [t for t in measured if t.origin != DEFAULT]
    return len(searched) >= trials and any(t.confirmed_s for t in searched)


def untuned_of(measured: Sequence[Trial]) -> Weights:
    """Seconds of each task's default program in this run, to which the run's figures are relative
    (`measure.trial`): how fast the machine was at first cancels.
    """
    defaults = (t for t in measured if t.origin == DEFAULT)
    return {t.workload_hash: t.measured_s for t in defaults if t.measured_s is not None}


@dataclass(frozen=True)
class Search:
    """What a finished search measured: default programs, if they are of its space, and trials."""

    defaults: list[Trial]
    trials: list[Trial]

    @classmethod
    def of(cls, measured: Sequence[Trial], variant: Variant, trials: int) -> Search:
        """From all that is recorded."""
        defaults = [t for t in measured if t.origin == DEFAULT]
        searched = [t for t in measured if t.origin != DEFAULT]
        return cls([] if variant.rules else defaults, searched[:trials])

    def curve(self, weights: Sequence[Weights], untuned: Weights, trials: int) -> list[float]:
        """The speed after each trial; `untuned` are the default programs' seconds."""
        steps = [(t.workload_hash, t.measured_s) for t in (*self.defaults, *self.trials)]
        curves = []
        for one in weights:
            slow = sum(weight * untuned.get(w, INF) for w, weight in one.items())
            curves.append([slow / s for s in _estimates(one, steps)[len(self.defaults) :]])
        joined = [geometric_mean(at) if all(at) else 0.0 for at in zip(*curves, strict=True)]
        return joined + joined[-1:] * (trials - len(joined))

    def best(self) -> Programs:
        """The best program of each task: confirmed ones, if there are any."""
        found: dict[str, list[Trial]] = {}
        for t in (*self.defaults, *self.trials):
            if t.measured_s is not None:
                found.setdefault(t.workload_hash, []).append(t)
        return {w: min(each, key=_order) for w, each in found.items()}


def _order(trial: Trial) -> tuple[bool, float]:
    seconds = trial.latency_s if trial.confirmed_s else trial.measured_s
    return not trial.confirmed_s, seconds or INF


def measured_again(
    tasks: Sequence[TuningTask], programs: Sequence[Programs]
) -> dict[tuple[str, Gene], float]:
    """Seconds by workload and gene: the programs of a task in turns, in fresh processes."""
    found: dict[tuple[str, Gene], float] = {}
    target = host_target()
    with contextlib.closing(task_measurer.TaskMeasurer(target)) as measurer:
        for task in tasks:
            default = default_gene(task.space(target))
            genes = list(dict.fromkeys(p[task.hash].gene for p in programs if task.hash in p))
            for gene, seconds in zip(genes, measurer.confirm(task, default, genes), strict=True):
                found[task.hash, gene] = median(seconds) if seconds else INF
    return found


def seconds_of(programs: Programs, again: Mapping[tuple[str, Gene], float]) -> Weights:
    """Of each workload."""
    return {w: again[w, t.gene] for w, t in programs.items()}


def speed_up(weights: Sequence[Weights], before: Weights, after: Weights) -> float:
    """Of all networks, the geometric mean; 0 where a task has no program."""
    ratios = []
    for one in weights:
        slow, fast = (
            sum(weight * seconds.get(w, INF) for w, weight in one.items())
            for seconds in (before, after)
        )
        ratios.append(slow / fast if fast < INF else 0.0)
    return geometric_mean(ratios) if all(ratios) else 0.0


def _estimates(weights: Weights, latencies: Sequence[tuple[str, float | None]]) -> list[float]:
    """`estimates` at every step of all networks; another network's step changes nothing."""
    known = [(w, s) if w in weights else (next(iter(weights)), None) for w, s in latencies]
    return estimates(weights, known)


def figures_of(found: Content) -> dict[str, Content]:
    """What a file has by figure; one that is of a single operator names it."""
    several: dict[str, Content] = found.get("figures") or {found["case"]: found}
    return several


def parts(found: Content) -> list[Part]:
    """A table a figure: the median curve at some trials, and what was confirmed, with its range."""
    tables: list[Part] = []
    for name, one in figures_of(found).items():
        variants = one["variants"]
        trials = len(next(iter(variants.values()))["median"])
        at = sorted({max(1, trials * part // 16) for part in (1, 2, 4, 8, 16)})
        rows = []
        for variant, of in variants.items():
            sure = [run["confirmed"] for run in of["runs"]]
            spread = f"{median(sure):.4g} ({min(sure):.4g} to {max(sure):.4g})"
            rows.append([variant, *(f"{of['median'][n - 1]:.4g}" for n in at), spread])
        unit = one.get("unit", "times untuned")
        tables.append(Table([f"{name}, {unit}", *(f"after {n}" for n in at), "confirmed"], rows))
    return tables


def main(words: Sequence[str] | None = None) -> int:
    """Run it; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--figures", default=",".join(FIGURES), help="comma-separated (all)")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=1000, help="of every search (%(default)s)")
    parser.add_argument("--folder", type=Path, default=Path("ablation"), help="databases")
    parser.add_argument("--networks", type=Path, default=Path("networks"), help="ONNX files")
    parser.add_argument("--json", type=kept_file, help="add the curves to this file")
    options = parser.parse_args(words)
    return reported(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """All figures that are asked for."""
    figures: dict[str, Any] = {}
    if options.json and options.json.exists():
        figures = json.loads(options.json.read_text())["figures"]
    for name in options.figures.split(","):
        figure = FIGURES[name]
        found = run_all(figure, options.networks, options.folder, options.seeds, options.trials)
        variants = {
            variant: {
                "median": np.median([r.curve for r in runs], axis=0).tolist(),
                "runs": [asdict(r) for r in runs],
            }
            for variant, runs in found.items()
        }
        figures[name] = {**provenance(), "models": figure.models, "variants": variants}
        show(output(), parts({"figures": {name: figures[name]}}))
        if options.json:
            options.json.write_text(json.dumps({"benchmark": "ablation", "figures": figures}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How fast the search is: candidates scored a second, and wall seconds a trial.

    python -m benchmarks.search_speed [--trials 256] [--json FILE]

Candidates: whole evolution runs of a random and four more generations of 2,048 (selection,
mutation, crossover, validity, features, prediction; what a run meets again counts again, though it
is not scored again), mixed structure keys, median of 5. Trials: a tuning run of GMM (512, 512,
512) from an empty database, the correctness gate included.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tilewright as tw
from benchmarks.cases import CASES
from benchmarks.comparison import Entry, Results
from benchmarks.slices import Bench, Suite
from benchmarks.slices import main as main_of
from tilewright.cost.candidates import Population
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cost.features import COLUMNS
from tilewright.front.machine import host_target
from tilewright.search.model.cost_model import GradientBoostedModel
from tilewright.search.model.training_set import TrainingSet
from tilewright.search.strategies.evolution import Evolution, EvolutionSettings, Floats
from tilewright.space.space import Space

RUNS = 5
GMM, C2D = "GMM-2-b1", "C2D-2-b1"


def candidates_per_s(case: str) -> float:
    """Median rate over whole runs on one workload."""
    space = Space(CASES[case].dag(), host_target())
    extractor = FeatureExtractor(space)
    rng = np.random.default_rng(0)
    model = GradientBoostedModel()
    model.update(_estimated_rows(space, extractor, rng))

    def score(population: Population) -> Floats:
        features, owner = extractor.extract(population)
        return model.predict(features, owner, len(population))

    settings = EvolutionSettings()
    candidates = settings.population * (1 + settings.generations)
    rates = []
    for seed in range(RUNS):
        started = time.perf_counter()
        Evolution(space, settings).run(np.random.default_rng(seed), score, None)
        rates.append(candidates / (time.perf_counter() - started))
    return statistics.median(rates)


def _estimated_rows(
    space: Space, extractor: FeatureExtractor, rng: np.random.Generator
) -> TrainingSet:
    """A training set of realistic size, labelled by the analytical estimate."""
    rows = TrainingSet(len(COLUMNS))
    for round_ in range(16):
        population = space.sample(rng, 64)
        features, owner = extractor.extract(population)
        throughput = 1.0 / extractor.latency(population)
        rows.append(features, owner, throughput, workload="w", round_id=round_)
    return rows


def trial_cost(trials: int) -> dict[str, Any]:
    """Wall seconds a trial and the shares of a tuning run."""
    with tempfile.TemporaryDirectory() as folder:
        task = tw.Task(CASES[GMM].dag().outputs, "gmm")
        result = tw.tune(task, trials=trials, db=Path(folder) / "tuning.db", progress=False)
    total = sum(result.shares.values())
    return {
        "seconds_per_trial": result.seconds / result.trials,
        "shares": {k: round(v / total, 4) for k, v in result.shares.items()},
        "best_gflops": result.tasks[0].flops / (result.tasks[0].best_s or float("inf")) / 1e9,
    }


TRIALS = "trials"


@dataclass(frozen=True)
class SearchBench(Bench):
    """Candidates of a workload, or a tuning run."""

    def case(self, name: str) -> Entry:
        found = (
            trial_cost(self.trials) if name == TRIALS else
            {"candidates_per_s": candidates_per_s(name)}
        )  # fmt: skip
        return {"case": name, **found, **self.facts({}, {})}


@dataclass
class SearchResults(Results):
    """Rates, then the run."""

    names = (GMM, C2D, TRIALS)

    def summary(self) -> dict[str, Any]:
        """The rates."""
        return {"cases": len(self.cases)}


HEAD = ("case", "candidates a second", "s a trial", "shares")


def row(entry: Entry) -> list[str]:
    """The figures of a case, as HEAD names them."""
    shares = ", ".join(f"{name} {share:.0%}" for name, share in entry.get("shares", {}).items())
    rate, cost = entry.get("candidates_per_s"), entry.get("seconds_per_trial")
    cells = ["" if rate is None else f"{rate:.0f}", "" if cost is None else f"{cost:.3f}"]
    return [entry["case"], *cells, shares]


SUITE = Suite(
    (__doc__ or "").splitlines()[0], SearchResults.names, TRIALS, "search_speed", 256, 32,
    SearchResults, SearchBench, HEAD, row,
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main_of(suite=SUITE))

"""How fast the search is: candidates scored a second, and wall seconds a trial.

    python -m benchmarks.search_speed [--json FILE] [--trials 256]

Candidates: whole evolution runs of a random and four more generations of 2,048 (selection,
mutation, crossover, validity, features, prediction; what a run meets again counts again, though it
is not scored again), mixed structure keys, median of 5. Trials: a tuning run of GMM (512, 512,
512) from an empty database, the correctness gate included.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import tilewright as tw
from benchmarks.cases import CASES
from benchmarks.provenance import provenance, result_file
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", type=result_file, help="also write the figures to this file")
    parser.add_argument("--trials", type=int, default=256)
    arguments = parser.parse_args()
    rates = {"GMM": candidates_per_s(GMM), "C2D": candidates_per_s(C2D)}
    for name, rate in rates.items():
        print(f"{name}: {rate:,.0f} candidates/s")
    found = {**provenance(), "candidates_per_s": rates, **trial_cost(arguments.trials)}
    print(f"GMM tuning: {found['seconds_per_trial']:.3f} s a trial, shares {found['shares']}")
    print(f"GMM best: {found['best_gflops']:.0f} GFLOP/s")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()

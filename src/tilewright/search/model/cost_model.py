"""The learned cost model: features of a program's statements -> how fast the program will be.

Input: the features of programs that were measured, with their throughput; then the features of
programs that were not. Output: one score a program, its predicted throughput as a share of the best
known of its workload; higher is better. One model serves all workloads (paper section 5.2): each
gains by the others.

    rows = TrainingSet(width=164)
    rows.append(features, owner, 1.0 / latency_s, workload="gemm512", round_id=0)
    model = GradientBoostedModel(seed=0)
    model.update(rows)
    scores = model.predict(candidate_features, candidate_owner, len(candidates))

To the trees a program is one row, however many statements it has (`training_set.summary`).
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from tilewright.ground.errors import InputError, RunError
from tilewright.ground.process_limits import shortage
from tilewright.search.model.forest import Forest
from tilewright.search.model.training_set import (
    Batch,
    Features,
    Floats,
    Ints,
    Sample,
    TrainingSet,
    check_rows,
    states,
    summary,
)

try:
    import lightgbm as lgb
except OSError as error:
    raise RunError(
        f"LightGBM does not load, most likely for want of an OpenMP runtime ({error}): install "
        f"the Debian package libgomp1 (apt-get install libgomp1){shortage(error)}"
    ) from error
except AttributeError as error:
    if sys.flags.optimize < 2:
        raise
    raise RunError(
        "LightGBM does not load where docstrings are left out: unset PYTHONOPTIMIZE, or run Python "
        "without -OO"
    ) from error


class CostModel(Protocol):
    """What a search strategy asks of a cost model."""

    @property
    def trained(self) -> bool:
        """Whether `predict` may be called."""

    def update(self, rows: TrainingSet) -> None:
        """Learn from everything measured so far, old rows included."""

    def predict(self, features: Features, owner: Ints, n: int) -> Floats:
        """Scores `[n]` of n programs from their statements' features `[m, width]`; see module."""


def weights(throughput: Floats, floor: float, failed: float) -> Floats:
    """How much each program counts, `[n]`, 1 in the mean.

    The paper's weight is the throughput: good programs matter most. Alone it makes the first,
    mostly bad programs count for next to nothing, and a model of one round ranks the worse for
    it, so the weight does not fall below `floor`. A program of throughput 0 weighs `failed`.
    """
    weight = np.where(throughput > 0, np.maximum(throughput, floor), failed)
    scaled: Floats = weight / max(float(weight.mean()), 1e-12)
    return scaled


def pairwise_accuracy(scores: Floats, throughput: Floats, workload: Ints) -> float:
    """Share of pairs of one workload, unequal in `throughput`, that `scores` order rightly.

    NaN where no such pair exists.
    """
    right = pairs = 0
    for one in np.unique(workload):
        mine = workload == one
        truth = np.sign(throughput[mine][:, None] - throughput[mine])
        guess = np.sign(scores[mine][:, None] - scores[mine])
        right += int(((truth == guess) & (truth > 0)).sum())
        pairs += int((truth > 0).sum())
    return right / pairs if pairs else float("nan")


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """How the trees grow. What each was chosen by is said in `GradientBoostedModel`."""

    min_trees: int = 256
    max_trees: int = 512
    depth: int = 6
    learning_rate: float = 0.1
    bins: int = 63
    min_rows_per_leaf: int = 3
    columns_per_split: float = 0.2
    weight_floor: float = 0.5
    failed_weight: float = 0.1
    held_out: float = 0.2
    min_held_out: int = 4
    slack: float = 0.1
    validate_growth: float = 0.25
    retrain_growth: float = 0.01
    retrain_least: int = 24
    threads: int = 1


@dataclass(frozen=True, slots=True)
class Validation:
    """What the model was worth on rounds that it had not seen.

    trees: how many trees did best there. loss: the weighted mean squared error with that many.
    pairwise: `pairwise_accuracy`. programs: how many were held out; known: how many were not.
    """

    trees: int
    loss: float
    pairwise: float
    programs: int
    known: int


@dataclass(slots=True, eq=False)
class GradientBoostedModel:
    """Gradient-boosted trees (LightGBM) under a weighted squared loss, a program a row.

    Every split sees a fifth of the columns, drawn at random, and the best of all borders: so it
    ranks best where data are few. Each update trains from scratch, as in the paper. Some rounds are
    held out to find how many trees are too many; then all rounds train. The count is the largest
    whose held-out loss is within `slack` of the least, which is noisy and alone asks for too few,
    and at least `min_trees`. It is looked for anew whenever the data have grown by
    `validate_growth`; trees are trained anew when they have grown by `retrain_least` programs and
    by `retrain_growth`. The defaults of `TreeSettings` were chosen by what docs/findings.md shows.

    Same rows, same seed: same model. Not safe to use from two threads at once.
    """

    seed: int = 0
    settings: TreeSettings = field(default_factory=TreeSettings)
    validation: Validation | None = None
    train_s: float = 0.0  # what the last update took
    _least_region_s: float = float("nan")
    _trained_up_to: Batch | None = None
    _validated_up_to: Batch | None = None
    _text: str = ""
    _forest: Forest | None = None

    @property
    def trained(self) -> bool:
        return self._forest is not None

    def update(self, rows: TrainingSet) -> None:
        """Train anew if `rows` have grown by `retrain_growth` and by `retrain_least` or a quarter;
        does nothing while empty.
        """
        start = time.perf_counter()
        self.train_s = 0.0
        known = rows.milestone(self.settings.retrain_growth, self.settings.retrain_least)
        if not known or rows.batches[known - 1] is self._trained_up_to:
            return
        self._trained_up_to = rows.batches[known - 1]
        judged = rows.milestone(self.settings.validate_growth)
        if rows.batches[judged - 1] is not self._validated_up_to:
            self._validated_up_to = rows.batches[judged - 1]
            self.validation = self._validate(rows.sample(judged))
        trees = self.validation.trees if self.validation else self.settings.max_trees
        sample = rows.sample(known)
        self._least_region_s = sample.least_region_s
        self._text = self._fit(sample, trees).model_to_string()
        self._forest = Forest.parse(self._text)
        self.train_s = time.perf_counter() - start

    def predict(
        self, features: Features, owner: Ints, n: int, region_s: Floats | None = None
    ) -> Floats:
        """See `CostModel`; raises InputError before the first update or on other shapes.

        `region_s` `[n]` says how fast the machine is to be (see `training_set`); as it was at its
        best otherwise.
        """
        if self._forest is None:
            raise InputError("this cost model has seen no program yet: call update() first")
        check_rows(features, owner, n, self._forest.width // 2, "prediction")
        state = np.zeros(n, np.float32)
        if region_s is not None:
            state = states(region_s, self._least_region_s)
        return self._forest.predict(summary(features, owner, state))

    @property
    def text(self) -> str:
        """The trained trees as LightGBM writes them; empty before the first update."""
        return self._text

    def _validate(self, sample: Sample) -> Validation | None:
        """Train without some rounds and see on them how many trees to have; None if too few."""
        rounds = np.unique(sample.batch)
        rng = np.random.default_rng([self.seed, len(sample.throughput)])
        count = int(self.settings.held_out * len(rounds))
        if count < self.settings.min_held_out:
            return None
        held = np.isin(sample.batch, rng.choice(rounds, count, replace=False))
        booster = self._fit(sample.take(~held), self.settings.max_trees)
        return self._best_size(booster, sample.take(held), int((~held).sum()))

    def _best_size(self, booster: lgb.Booster, unseen: Sample, known: int) -> Validation:
        """The most trees whose loss on `unseen` is within `slack` of the least; see class."""
        weight = self._weights(unseen)
        rows = unseen.summary()
        counts = range(_STEP, booster.num_trees() + _STEP, _STEP)
        parts = [_predict(booster, rows, count - _STEP) for count in counts]
        predicted = np.cumsum(parts, axis=0)
        losses = np.mean(weight * (predicted - unseen.throughput) ** 2, axis=1)
        last = int(np.flatnonzero(losses <= (1 + self.settings.slack) * losses.min())[-1])
        last = max(last, min(self.settings.min_trees, booster.num_trees()) // _STEP - 1)
        pairwise = pairwise_accuracy(predicted[last], unseen.throughput, unseen.workload)
        return Validation(
            counts[last], float(losses[last]), pairwise, len(unseen.throughput), known
        )

    def _weights(self, sample: Sample) -> Floats:
        return weights(sample.throughput, self.settings.weight_floor, self.settings.failed_weight)

    def _fit(self, sample: Sample, trees: int) -> lgb.Booster:
        parameters = self._parameters()
        data = lgb.Dataset(
            sample.summary(), sample.throughput, weight=self._weights(sample), params=parameters
        )
        booster = lgb.Booster(parameters, data)
        for _ in range(trees):
            if booster.update():
                break
        return booster

    def _parameters(self) -> dict[str, Any]:
        chosen = self.settings
        return {
            "objective": "regression",
            "num_leaves": 2**chosen.depth,
            "max_depth": chosen.depth,
            "learning_rate": chosen.learning_rate,
            "max_bin": chosen.bins,
            "min_data_in_leaf": chosen.min_rows_per_leaf,
            "lambda_l2": 0.5,
            "feature_fraction_bynode": chosen.columns_per_split,
            "seed": self.seed,
            "num_threads": chosen.threads,
            "deterministic": True,
            "force_row_wise": True,
            "enable_bundle": False,
            "use_missing": False,
            "feature_pre_filter": False,
            "verbosity": -1,
        }


_STEP = 8  # trees between two looks at the held-out loss


def _predict(booster: lgb.Booster, features: Features, first: int) -> Floats:
    """Predictions of the `_STEP` trees from number `first` on."""
    return np.asarray(
        booster.predict(features, start_iteration=first, num_iteration=_STEP, num_threads=1)
    )

"""How well the cost model predicts: the paper's figures 3 and 11.

    python -m benchmarks.cost_model --db tuning.db [MORE.db …] [--json FILE]

The programs are all that this machine measured in the databases, as `benchmarks.operators` leaves
them. benchmarks/results has the scoreboard's operators, in one database: a search that begins with
the records of other tasks measures few programs that are not near the best, which are harder to
tell apart than the paper's, whose tasks were tuned each from nothing (`--cases CASE --trials 128
--tune-only --db CASE.db`).

A throughput is a share of the best of the same task, which is how the model is trained; RMSE and R²
are on that scale, over the programs of all tasks together.

Figure 11, predictions of complete programs by a model that has not seen them:

- random 20 %, as in the paper; five times, so that every program is predicted once;
- last 20 % of each task, in the order of measurement: harder, because programs found late are
  better than those known before, and like one another;
- new task: each task in turn, after training on the others only.

Each with failed programs (as throughput 0, as the search trains) and without them.

Figure 3, predictions of incomplete programs: of each program, the first decisions up to the
completion rate are kept, the others are undecided as in the beam search (nothing is tiled, each
choice takes its first option). The program's sketch is known from the start. Both curves are
within tasks: over pairs of one task, and of the top 10 of a task, the mean over the tasks. The
paper's programs are random ones; for those, give databases made with the random strategy.

The figures have a ceiling: how well a second measurement of the
same programs would predict the recorded one (docs/findings.md). Record on a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.provenance import provenance, result_file
from benchmarks.report import Content, Part, Table, show
from tilewright.cli.console import output
from tilewright.cost.candidates import Population, concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cost.features import COLUMNS
from tilewright.front.machine import host_target, machine_of
from tilewright.ground.errors import InputError
from tilewright.records.answers import TrainingGroup
from tilewright.records.database import Database
from tilewright.search.model.cost_model import GradientBoostedModel, TreeSettings
from tilewright.search.model.training_set import TrainingSet
from tilewright.search.strategies.beam import undecided
from tilewright.search.tasks import TuningTask
from tilewright.space.space import Space
from tilewright.target import Target

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

FOLDS = 5
RATES = tuple(i / 10 for i in range(11))
TOP_PARTIAL = 10  # k of figure 3
NAN = float("nan")


@dataclass(frozen=True, eq=False)
class Programs:
    """Measured programs of one task, in the order of measurement.

    throughput: float64 `[n]`, 1/s; 0 for one that failed.
    round:      int64 `[n]`, equal for those measured together.
    features, owner: their statements, as the cost model takes them.
    region_s:   float64 `[n]`, what an empty parallel region took beside each; nan: not known.
    """

    name: str
    extractor: FeatureExtractor
    population: Population
    throughput: Floats
    round: Ints
    features: NDArray[np.float32]
    owner: Ints
    region_s: Floats

    def __len__(self) -> int:
        return len(self.throughput)

    @property
    def space(self) -> Space:
        return self.extractor.space

    def take(self, chosen: Bools) -> Programs:
        """Those where `chosen` `[n]` holds."""
        rows = chosen[self.owner]
        return replace(
            self,
            population=self.population[chosen],
            throughput=self.throughput[chosen],
            round=self.round[chosen],
            features=self.features[rows],
            owner=(np.cumsum(chosen) - 1)[self.owner[rows]],
            region_s=self.region_s[chosen],
        )


# ---- metrics (the paper, sections 2 and 7.5) ----------------------------------------------------
#
# All functions take `predicted` and `truth`, float64 `[n]`, one value a program; higher is faster.
# Equal predictions count as an order chosen at random, so that a model which tells nothing apart
# gets a pairwise accuracy of one half and a recall of k / n.

TOP = 30  # k of the recall in figure 11
_BLOCK = 512  # rows of a block of pairs: bounds memory


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The figures of one test set.

    rmse, r2:  see the functions; over the whole set.
    pairwise:  over all pairs of the set, programs of two tasks among them (as in the paper, whose
               throughputs are normalised by task).
    within:    over pairs of one task: what a search asks of the model.
    recall:    of the top `TOP` of the whole set, as in the paper, whose tasks were 29. Each task's
               best is 1, so of T > 30 tasks a perfect model finds 30 / T.
    top:       the same in each task, the mean over tasks of at least twice as many programs; NaN
               where there is none.
    """

    programs: int
    rmse: float
    r2: float
    pairwise: float
    within: float
    recall: float
    top: float


def accuracy(predicted: Floats, truth: Floats, task: Ints) -> Accuracy:
    """All figures of a test set; `task` `[n]` says which task a program belongs to."""
    return Accuracy(
        programs=len(truth),
        rmse=rmse(predicted, truth),
        r2=r_squared(predicted, truth),
        pairwise=pairwise(predicted, truth),
        within=pairwise_within(predicted, truth, task),
        recall=recall(predicted, truth, TOP),
        top=recall_within(predicted, truth, task, TOP),
    )


def rmse(predicted: Floats, truth: Floats) -> float:
    """Root of the mean squared difference, in the unit of `truth`."""
    return float(np.sqrt(np.mean((predicted - truth) ** 2)))


def r_squared(predicted: Floats, truth: Floats) -> float:
    """Coefficient of determination, 1 - Σ (truth - predicted)² / Σ (truth - mean)².

    No line is fitted first, so predictions of the wrong scale count against the model. NaN where
    all truths are equal.
    """
    spread = float(np.sum((truth - truth.mean()) ** 2))
    return 1.0 - float(np.sum((truth - predicted) ** 2)) / spread if spread else float("nan")


def pairwise(predicted: Floats, truth: Floats) -> float:
    """Share of the pairs unequal in truth that are ordered rightly; NaN where there is none."""
    right, pairs = _ordered(predicted, truth)
    return right / pairs if pairs else float("nan")


def pairwise_within(predicted: Floats, truth: Floats, group: Ints) -> float:
    """The same over pairs of one group only."""
    counts = [_ordered(predicted[group == g], truth[group == g]) for g in np.unique(group)]
    right, pairs = np.sum(counts, axis=0)
    return float(right / pairs) if pairs else float("nan")


def _ordered(predicted: Floats, truth: Floats) -> tuple[float, int]:
    """How many pairs are ordered rightly (a tie is half of one), of how many."""
    right, pairs = 0.0, 0
    for start in range(0, len(truth), _BLOCK):
        part = slice(start, start + _BLOCK)
        faster = truth[part, None] > truth
        right += np.sum(faster & (predicted[part, None] > predicted))
        right += np.sum(faster & (predicted[part, None] == predicted)) / 2
        pairs += int(faster.sum())
    return float(right), pairs


def recall(predicted: Floats, truth: Floats, k: int) -> float:
    """recall@k = |G ∩ P| / k: G the k truly fastest programs, P the k that are predicted to be.

    Of fewer than k programs it is 1.
    """
    k = min(k, len(truth))
    return float(_top(truth, k) @ _top(predicted, k)) / k


def recall_within(predicted: Floats, truth: Floats, group: Ints, k: int) -> float:
    """The mean recall@k over the groups of at least 2k programs; NaN where there is none.

    Of a group of m, guessing gets k / m.
    """
    large = np.flatnonzero(np.bincount(group) >= 2 * k)
    found = [recall(predicted[group == g], truth[group == g], k) for g in large]
    return float(np.mean(found)) if found else float("nan")


def _top(values: Floats, k: int) -> Floats:
    """The probability `[n]` of each to be among the k largest, ties broken at random."""
    least = np.partition(values, -k)[-k]
    above, tied = values > least, values == least
    return above + tied * ((k - above.sum()) / tied.sum())


PAPER = Accuracy(5000, rmse=0.079, r2=0.958, pairwise=0.851, within=NAN, recall=0.624, top=NAN)


# ---- reading --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """Rows of one task in one database: `order` sorts them, `round` is theirs in that database."""

    population: Population
    throughput: Floats
    order: Ints
    round: Ints
    region_s: Floats


def load(files: Sequence[Path | str], target: Target) -> list[Programs]:
    """All programs that `target`'s machine measured, task by task, each program once.

    Rows of sketches that today's space does not have are left out. Raises InputError where none
    is left, RecordsError for a file that is not a database.
    """
    spaces: dict[str, tuple[str, Space]] = {}
    found: dict[str, list[_Measured]] = {}
    fingerprint = machine_of(target).fingerprint
    for number, file in enumerate(files):
        with Database.open(file, create=False, readonly=True) as database:
            for row in database.workloads():
                if row.hash not in spaces:
                    spaces[row.hash] = row.name, TuningTask.of(row).space(target)
            for group in database.training_set(fingerprint, include_failed=True):
                measured = _measured(group, spaces[group.workload_hash][1], number)
                if measured is not None:
                    found.setdefault(group.workload_hash, []).append(measured)
    if not found:
        raise InputError(
            f"{', '.join(map(str, files))}: no program that this machine measured in today's "
            "search space; tune on this machine first"
        )
    return [_programs(*spaces[task], parts) for task, parts in found.items()]


def _measured(group: TrainingGroup, space: Space, file: int) -> _Measured | None:
    """A group's programs as candidates of `space`; None if none is one any more."""
    found, at = space.rows_of(group.producer, group.decisions)
    if not len(at):
        return None
    return _Measured(
        found,
        1.0 / group.latency_s[at],
        group.ids[at] + (file << 40),
        group.rounds[at] + (file << 40),
        group.region_s[at],
    )


def _programs(name: str, space: Space, parts: Sequence[_Measured]) -> Programs:
    population = concatenate([p.population for p in parts])
    keys = np.column_stack([population.sketch, population.rows])
    order = np.concatenate([p.order for p in parts])
    by_time = np.argsort(order)
    _, first = np.unique(keys[by_time], axis=0, return_index=True)
    kept = by_time[np.sort(first)]
    extractor = FeatureExtractor(space)
    features, owner = extractor.extract(population[kept])
    throughput = np.concatenate([p.throughput for p in parts])[kept]
    rounds = np.concatenate([p.round for p in parts])[kept]
    region_s = np.concatenate([p.region_s for p in parts])[kept]
    return Programs(
        name, extractor, population[kept], throughput, rounds, features, owner, region_s
    )


# ---- training and predicting ----------------------------------------------------------------


@dataclass(frozen=True)
class Split:
    """Which programs of each task to train on (bool `[n]`, one array a task) and which to test."""

    train: tuple[Bools, ...]
    test: tuple[Bools, ...]

    @staticmethod
    def testing(test: Sequence[Bools]) -> Split:
        """Train on all that is not tested."""
        return Split(tuple(~t for t in test), tuple(test))


def random_fifths(tasks: Sequence[Programs], seed: int = 0) -> list[Split]:
    """Five splits; each program is tested in one of them."""
    rng = np.random.default_rng(seed)
    fold = [rng.permutation(len(t)) % FOLDS for t in tasks]
    return [Split.testing([f == i for f in fold]) for i in range(FOLDS)]


def last_fifth(tasks: Sequence[Programs]) -> list[Split]:
    """The programs of each task that were measured last."""
    return [Split.testing([np.arange(len(t)) >= len(t) - len(t) // FOLDS for t in tasks])]


def new_tasks(tasks: Sequence[Programs]) -> list[Split]:
    """Each task in turn."""
    return [
        Split.testing([np.full(len(t), i == out) for i, t in enumerate(tasks)])
        for out in range(len(tasks))
    ]


def train(
    tasks: Sequence[Programs], split: Split, settings: TreeSettings | None = None
) -> GradientBoostedModel:
    """A model of the programs of a split, in rounds as the search would have seen them."""
    rows = TrainingSet(len(COLUMNS))
    for name, (task, chosen) in enumerate(zip(tasks, split.train, strict=True)):
        some = task.take(chosen)
        for number in np.unique(some.round):
            one = some.take(some.round == number)
            rows.append(
                one.features,
                one.owner,
                one.throughput,
                workload=str(name),
                round_id=int(number),
                region_s=one.region_s,
            )
    model = GradientBoostedModel(settings=settings or TreeSettings())
    model.update(rows)
    return model


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Of the test programs of all tasks, `[n]` each; `truth` and `predicted` as shares."""

    predicted: Floats
    truth: Floats
    task: Ints


def predict(
    tasks: Sequence[Programs], splits: Sequence[Split], models: Sequence[GradientBoostedModel]
) -> Predictions:
    """What the model of each split says of the programs that it tests, all splits together.

    A model's shares are of the best program of a task that it was trained on, where there is one,
    and with the machine in the state in which it was measured, where the records tell.
    """
    predicted, truth, numbers = [], [], []
    for split, model in zip(splits, models, strict=True):
        for number, (task, tested) in enumerate(zip(tasks, split.test, strict=True)):
            some = task.take(tested)
            best = task.throughput.max() or 1.0
            known = task.throughput[split.train[number]].max(initial=0.0) or best
            share = model.predict(some.features, some.owner, len(some), some.region_s)
            predicted.append(share * (known / best))
            truth.append(some.throughput / best)
            numbers.append(np.full(len(some), number))
    return Predictions(*map(np.concatenate, (predicted, truth, numbers)))


def incomplete(task: Programs, rate: float) -> Programs:
    """The programs with the features that they have with the first `rate` of their decisions."""
    features, owner = task.extractor.extract(partial(task.space, task.population, rate))
    return replace(task, features=features, owner=owner)


def partial(space: Space, population: Population, rate: float) -> Population:
    """Programs of which only the first `rate` (0 to 1) of their sketch's decisions are made."""
    rows = np.tile(undecided(space), (len(population), 1))
    for sketch, at in space.groups(population):
        for decision in sketch.decisions[: round(rate * len(sketch.decisions))]:
            columns = space.span(decision)
            rows[at, columns] = population.rows[at, columns]
    return Population(rows, population.sketch)


# ---- the figures ----------------------------------------------------------------------------


def figure_11(
    tasks: Sequence[Programs], settings: TreeSettings | None = None
) -> dict[str, Accuracy]:
    """The accuracy on complete programs, by kind of test set."""
    kinds = {"random 20 %": random_fifths, "last 20 %": last_fifth, "new task": new_tasks}
    return {kind: _accuracy(tasks, splits(tasks), settings) for kind, splits in kinds.items()}


def _accuracy(
    tasks: Sequence[Programs], splits: Sequence[Split], settings: TreeSettings | None
) -> Accuracy:
    models = [train(tasks, split, settings) for split in splits]
    found = predict(tasks, splits, models)
    return accuracy(found.predicted, found.truth, found.task)


def figure_3(tasks: Sequence[Programs]) -> Iterator[tuple[float, float, float]]:
    """(completion rate, pairwise accuracy, recall@10), both within tasks, by random fifths."""
    splits = random_fifths(tasks)
    models = [train(tasks, split) for split in splits]
    for rate in RATES:
        found = predict([incomplete(task, rate) for task in tasks], splits, models)
        yield (
            rate,
            pairwise_within(found.predicted, found.truth, found.task),
            recall_within(found.predicted, found.truth, found.task, TOP_PARTIAL),
        )


def _defined(one: Accuracy) -> dict[str, float]:
    """The figures that are; JSON knows no NaN."""
    return {name: value for name, value in asdict(one).items() if not np.isnan(value)}


def measured(tasks: Sequence[Programs]) -> dict[str, Any]:
    """All figures of some programs."""
    started = time.perf_counter()
    train(tasks, Split.testing([np.zeros(len(t), bool) for t in tasks]))
    seconds = time.perf_counter() - started
    correct = [t.take(t.throughput > 0) for t in tasks if t.throughput.any()]
    total = sum(map(len, tasks))
    sets = {"all": tasks} | ({"without failed": correct} if total > sum(map(len, correct)) else {})
    names = ("completion", "pairwise", "recall@10")
    return {
        "programs": total,
        "tasks": len(tasks),
        "train_s": seconds,
        "figure_11": {
            f"{kind}, {which}": _defined(one)
            for which, programs in sets.items()
            for kind, one in figure_11(programs).items()
        },
        "figure_3": [dict(zip(names, point, strict=True)) for point in figure_3(tasks)],
    }


FIGURES = ("rmse", "r2", "pairwise", "within", "recall", "top")
HEAD = ("test programs", "number", "RMSE", "R²", "pairwise", "within tasks", "recall@30", "of each")


def parts(found: Content) -> list[Part]:
    """Figure 11, then figure 3."""
    every = {**found["figure_11"], "the paper (random 20 %, all)": _defined(PAPER)}
    rows = [
        [name, str(int(one["programs"])), *(f"{one[n]:.3f}" if n in one else "" for n in FIGURES)]
        for name, one in every.items()
    ]
    steps = [
        [f"{p['completion']:.0%}", f"{p['pairwise']:.3f}", f"{p['recall@10']:.3f}"]
        for p in found["figure_3"]
    ]
    return [
        f"{found['programs']} programs of {found['tasks']} tasks; training on all of them takes "
        f"{found['train_s']:.2f} s. Complete programs that the model has not seen (figure 11):",
        Table(HEAD, rows),
        "Incomplete programs, scored by what is decided of them (figure 3):",
        Table(("completion", "pairwise", "recall@10"), steps),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--db", type=Path, nargs="+", required=True, help="records to learn from")
    parser.add_argument("--json", type=result_file, help="write the figures to this file")
    options = parser.parse_args(arguments)
    found = measured(load(options.db, host_target()))
    show(output(), parts(found))
    if options.json:
        content = {"benchmark": "cost_model", **provenance(), **found}
        options.json.write_text(json.dumps(content))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

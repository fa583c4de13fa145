"""What the cost model learns from: the features of measured programs with their throughput.

    rows = TrainingSet(width=164)
    rows.append(features, owner, 1.0 / latency_s, workload="gemm512", round_id=0)
    sample = rows.sample()
    pretrain(rows, database, machine, spaces)        spaces of recorded workloads, by hash
    summary(sample.features, sample.owner, state)    one row a program, as the trees see it

A program is one or several statements. `owner` says which program a row of features belongs to,
from 0 and never decreasing where rows are stored.

A program's throughput depends on the machine's state, too: on where a virtual machine's cores are
just then (docs/findings.md). What a region without work took beside each trial tells, so the trees
see it with the program and are asked about the machine at its best.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.cost.extractor import FeatureExtractor
from tilewright.ground.errors import InputError
from tilewright.records.reader import Reader
from tilewright.space.space import Space

Features = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Programs of one workload measured in one round: `m` statements of `n` programs."""

    features: Features
    owner: Ints
    throughput: Floats
    workload: str
    round_id: int
    region_s: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Rows joined for training: `m` statements of `n` programs.

    features:   float32 `[m, width]`.
    owner:      int64 `[m]`, the program of each statement.
    throughput: float64 `[n]`, each program's share of its workload's best, in [0, 1].
    workload:   int64 `[n]`, equal for programs of one workload.
    batch:      int64 `[n]`, equal for programs of one workload measured in one round.
    state:      float32 `[n]`, the machine's, as `states` has it.
    least_region_s: what a parallel region took at best; nan: not known.
    """

    features: Features
    owner: Ints
    throughput: Floats
    workload: Ints
    batch: Ints
    state: Features
    least_region_s: float

    def summary(self) -> Features:
        """One row a program; see `summary`."""
        return summary(self.features, self.owner, self.state)

    def take(self, chosen: npt.NDArray[np.bool_]) -> Sample:
        """The programs where `chosen`, bool `[n]`, holds."""
        rows = chosen[self.owner]
        number = np.cumsum(chosen) - 1
        return Sample(
            self.features[rows],
            number[self.owner[rows]],
            self.throughput[chosen],
            self.workload[chosen],
            self.batch[chosen],
            self.state[chosen],
            self.least_region_s,
        )


class TrainingSet:
    """Everything measured so far, batch by batch; grows, never forgets."""

    def __init__(self, width: int = 164) -> None:
        """`width`: how many features a statement has."""
        self.width = width
        self.batches: list[Batch] = []
        self.programs = 0

    def append(
        self,
        features: Features,
        owner: Ints,
        throughput: Floats,
        *,
        workload: str,
        round_id: int,
        region_s: Floats | None = None,
    ) -> None:
        """Add one round of one workload.

        throughput: `[n]`, 1 / latency in any unit that the workload keeps to; 0 for a program that
            failed. Leave out programs that failed for reasons of their own, such as a lost runner.
        region_s: `[n]`, seconds of a region without work at that time; nan where not known.

        Raises InputError if shapes disagree, a feature is not finite, a program has no statement.
        """
        where = f"round {round_id} of workload {workload}"
        check_rows(features, owner, len(throughput), self.width, where)
        if len(np.unique(owner)) != len(throughput):
            raise InputError(f"{where}: a program has no statement to learn from; leave it out")
        if not np.isfinite(throughput).all() or (throughput < 0).any():
            raise InputError(f"{where}: throughput must be finite and not negative: {throughput}")
        if region_s is None:
            region_s = np.full(len(throughput), np.nan)
        self.batches.append(Batch(features, owner, throughput, workload, round_id, region_s))
        self.programs += len(throughput)

    def milestone(self, growth: float, least: int = 0) -> int:
        """How many batches there were when the programs had last grown by `growth`, a ratio, and by
        `least` programs or a quarter.

        A function of what was appended alone, so a resumed run finds the same milestones.
        """
        programs = reached = batches = 0
        for i, batch in enumerate(self.batches):
            programs += len(batch.throughput)
            if programs >= reached + max(growth * reached, min(least, reached / 4)):
                reached, batches = programs, i + 1
        return batches

    def sample(self, batches: int | None = None) -> Sample:
        """The first `batches` (or all) joined, throughput as a share of each workload's best."""
        some = self.batches[:batches]
        workloads = _numbered(b.workload for b in some)
        rounds = _numbered((b.workload, b.round_id) for b in some)
        sizes = [len(b.throughput) for b in some]
        starts = np.cumsum([0, *sizes])
        owner = [b.owner + start for b, start in zip(some, starts, strict=False)]
        throughput = np.concatenate([np.empty(0), *(b.throughput for b in some)])
        workload = np.repeat(workloads, sizes)
        best = np.zeros(len(some))
        np.maximum.at(best, workload, throughput)
        features = [np.empty((0, self.width), np.float32), *(b.features for b in some)]
        region_s = np.concatenate([np.empty(0), *(b.region_s for b in some)])
        known = region_s[np.isfinite(region_s)]
        least_s = float(known.min()) if len(known) else float("nan")
        return Sample(
            np.concatenate(features),
            np.concatenate([np.empty(0, np.int64), *owner]),
            throughput / np.where(best > 0, best, 1.0)[workload],
            workload,
            np.repeat(rounds, sizes),
            states(region_s, least_s),
            least_s,
        )


def _numbered(keys: Iterable[Hashable]) -> Ints:
    """Equal keys get equal numbers, from 0 in order of appearance."""
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(key, len(seen)) for key in keys], np.int64)


def check_rows(features: Features, owner: Ints, n: int, width: int, where: str) -> None:
    """Raise InputError unless `features`, `owner` are statements of n programs."""
    if features.dtype != np.float32 or features.ndim != 2 or features.shape[1] != width:
        raise InputError(
            f"{where}: features must be float32 [m, {width}], "
            f"not {features.dtype} {list(features.shape)}"
        )
    if owner.shape != features.shape[:1]:
        raise InputError(f"{where}: {len(features)} feature rows but {len(owner)} owners")
    if len(owner) and (owner.min() < 0 or owner.max() >= n):
        raise InputError(f"{where}: owners must lie in [0, {n})")
    if not np.isfinite(features).all():
        raise InputError(f"{where}: a feature is not finite")


def states(region_s: Floats, least_s: float) -> Features:
    """By how many octaves, in halves, a parallel region took longer than `least_s`: float32 `[n]`,
    0 where it is not known.

    Coarse on purpose: exact figures differ from round to round, and tell which programs were
    measured together, hence are alike, instead of how fast the machine was.
    """
    octaves = np.log2(region_s / least_s)
    return np.nan_to_num(np.round(2.0 * octaves) / 2.0).astype(np.float32)


def summary(features: Features, owner: Ints, state: Features) -> Features:
    """One row for each of n programs: float32 `[n, 2 * width + 1]`, zeros for the features of one
    without statement.

    The features of its busiest statement, the one with the largest sum, then the largest of each
    feature over all its statements; then the machine's `state`, `[n]`. The paper sums over
    statements what trees say of each, but their shares of a throughput do not add up: time does,
    and most of it is one statement's.
    """
    n = len(state)
    columns = np.ascontiguousarray(features.T)  # column by column: as extracted, as tested
    sums = columns.sum(axis=0)
    order = np.append(np.argsort(owner, kind="stable"), 0)
    counts = np.bincount(owner, minlength=n)
    starts = np.cumsum(counts) - counts
    busiest = order[starts]
    largest = columns[:, busiest]
    for i in range(1, int(counts.max(initial=0))):
        # A program of fewer statements meets its last one again.
        other = order[starts + np.minimum(i, np.maximum(counts, 1) - 1)]
        np.maximum(largest, columns[:, other], out=largest)
        busiest = np.where(sums[other] > sums[busiest], other, busiest)
    rows = np.concatenate([columns[:, busiest], largest, state[None]])
    rows[:-1, counts == 0] = 0.0
    return rows.T


def pretrain(
    rows: TrainingSet, database: Reader, machine: str, spaces: Mapping[str, Space]
) -> None:
    """Append what a machine's records (a fingerprint) hold of some workloads to a training set."""
    extractors = {name: FeatureExtractor(space) for name, space in spaces.items()}
    for group in database.training_set(machine, spaces):
        found, at = spaces[group.workload_hash].rows_of(group.producer, group.decisions)
        if len(at):
            features, owner = extractors[group.workload_hash].extract(found)
            rows.append(
                features,
                owner,
                1.0 / group.latency_s[at],
                workload=group.workload_hash,
                round_id=0,
                region_s=group.region_s[at],
            )

"""What the records database holds: plain frozen rows (`answers.py`: what is counted from them).

    Trial(workload_hash=…, machine=…, gene=Gene('{"sketch":…}', '{"C.i":[4]}'), round=0, seed=0,
          latencies_s=(0.0021, 0.0020))

Hashes, genes and DAGs are made by the layers that own them; here they are opaque text, kept
verbatim. Times are seconds; `created_at` is Unix time.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from statistics import median

from tilewright.contract.gene import Gene, compact
from tilewright.ground.errors import RecordsError

INT64_MAX = 2**63 - 1
RUN, MEASURED = FACT_KINDS = ("run", "measured")
SEARCH, REUSE, RECORDED, FOREIGN = REUSE_KINDS = ("search", "reuse", "recorded", "foreign")
DEFAULT = "default"  # origin of a default program's trial


@dataclass(frozen=True, slots=True)
class WorkloadRow:
    """A task's math. `dag` is JSON text; `structure_hash` ignores shapes, `extents` are those;
    `between_bytes` is its setting (`tilewright.contract.surroundings`).
    """

    hash: str
    name: str
    dag: str
    structure_hash: str
    extents: tuple[int, ...]
    flops: int
    between_bytes: int = 0

    def __post_init__(self) -> None:
        """Raises RecordsError for numbers that are none, or fit no database."""
        for what, number in (("flops", self.flops), ("between_bytes", self.between_bytes)):
            if not 0 <= number <= INT64_MAX:
                raise RecordsError(
                    f"workload {self.name}: {what} must be from 0 to {INT64_MAX}, not {number}"
                )


@dataclass(frozen=True, slots=True)
class Trial:
    """One measured candidate, or one that failed.

    `gene` is its program. `round` counts the task's rounds within the run of `seed`; `origin` names
    what proposed it ("sample", "crossover", …). `stage` is the last stage reached; a failure has an
    `error` class and a `message`. `confirmed_s` are latencies of a later confirmation in fresh
    processes; `region_s` is what a region without work took beside it, None where that is not
    known; `points_s` are the latencies at the points of a task with sizes, in their order; `id` is
    given by the database and grows in the order of insertion.

    Raises RecordsError for a successful trial without a positive finite latency, and for
    numbers a database cannot hold.
    """

    workload_hash: str
    machine: str
    gene: Gene
    round: int
    seed: int
    latencies_s: tuple[float, ...] = ()
    predicted: float | None = None
    origin: str = ""
    stage: str = "done"
    error: str | None = None
    message: str = ""
    build_s: float = 0.0
    run_s: float = 0.0
    created_at: float = field(default_factory=time.time)
    confirmed_s: tuple[float, ...] = ()
    region_s: float | None = None
    points_s: tuple[float, ...] = ()
    id: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_latencies(self.latencies_s, f"trial {self.gene.hash}")
        check_latencies(self.confirmed_s, f"confirmation of trial {self.gene.hash}")
        check_latencies(self.points_s, f"points of trial {self.gene.hash}")
        if self.region_s is not None:
            check_latencies([self.region_s], f"parallel region of trial {self.gene.hash}")
        if self.error is None and not self.latencies_s:
            raise RecordsError(
                f"trial {self.gene.hash} has neither a latency nor an error: "
                "give latencies_s, or error and stage"
            )
        numbers = (self.build_s, self.run_s, self.created_at, self.predicted or 0.0)
        if not all(map(math.isfinite, numbers)):
            raise RecordsError(
                f"trial {self.gene.hash} has a time or score that is not finite: {numbers}"
            )
        if not (0 <= self.seed <= INT64_MAX and 0 <= self.round <= INT64_MAX):
            raise RecordsError(
                f"trial {self.gene.hash}: seed {self.seed} and round {self.round} "
                f"must be from 0 to {INT64_MAX}"
            )

    @property
    def ok(self) -> bool:
        """Whether it ran and gave the right answer."""
        return self.error is None

    @property
    def measured_s(self) -> float | None:
        """Median latency of the trial itself; None for a failure."""
        return median(self.latencies_s) if self.ok else None

    @property
    def latency_s(self) -> float | None:
        """The latency to believe: the confirmed median where there is one, else `measured_s`."""
        return median(self.confirmed_s) if self.ok and self.confirmed_s else self.measured_s


def best_first(trials: Iterable[Trial]) -> list[Trial]:
    """Those that worked, in the order in which `Database.best` prefers them: confirmed ones, then
    the faster, then the first.
    """
    worked = ((not t.confirmed_s, t.latency_s, t.id, t) for t in trials if t.ok)
    return [t for *_, t in sorted(worked, key=lambda known: known[:3])]


@dataclass(frozen=True, slots=True)
class ModelTask:
    """One task of a model and how many times the model runs it."""

    workload_hash: str
    weight: int

    def __post_init__(self) -> None:
        """Raises RecordsError for a task that a model never runs, or more often than is counted."""
        if not 1 <= self.weight <= INT64_MAX:
            raise RecordsError(
                f"workload {self.workload_hash}: a model's weight must be from 1 to {INT64_MAX}, "
                f"not {self.weight}"
            )


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A network as its tasks, in order of first use.

    `hash` is what it is known by: two files of one name are two models. Its name and its file (as
    it was given, "" where there is none) are for people.
    """

    hash: str
    name: str
    tasks: tuple[ModelTask, ...]
    path: str = ""

    @staticmethod
    def of(name: str, tasks: tuple[ModelTask, ...], path: str = "") -> ModelRow:
        """Known by its content: its tasks, in their order, and how often each is run."""
        content = compact([[t.workload_hash, t.weight] for t in tasks])
        return ModelRow(sha256(content.encode()).hexdigest(), name, tasks, path)


def told_apart(models: Sequence[ModelRow]) -> list[ModelRow]:
    """The same, where several have one name with names that differ: `net (b/net.onnx)`."""
    names = Counter(m.name for m in models)
    places = Counter((m.name, m.path) for m in models)

    def place(model: ModelRow) -> str:
        is_enough = model.path and places[model.name, model.path] == 1
        parts = [model.path] if is_enough else [model.path, model.hash[:8]]
        return ", ".join(filter(None, parts))

    return [m if names[m.name] == 1 else replace(m, name=f"{m.name} ({place(m)})") for m in models]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A tuning run as far as it has come: how long, and its wall seconds by activity.

    `started_at` is Unix time; trials recorded from then on for `seconds` seconds are its own.
    """

    machine: str
    started_at: float
    seed: int
    strategy: str
    seconds: float
    search_s: float = 0.0
    train_s: float = 0.0
    build_s: float = 0.0
    run_s: float = 0.0
    other_s: float = 0.0

    def __post_init__(self) -> None:
        """Raises RecordsError for times that are not finite or below 0."""
        shares = (self.search_s, self.train_s, self.build_s, self.run_s, self.other_s)
        if not all(0.0 <= s < math.inf for s in (self.started_at, self.seconds, *shares)):
            raise RecordsError(f"a tuning run has a time that is no length of time: {self}")


@dataclass(frozen=True, slots=True)
class LoadRow:
    """That a machine was busy during the run that began at `started_at`, and why, in words."""

    machine: str
    started_at: float
    reason: str


@dataclass(frozen=True, slots=True)
class FactsRow:
    """What else is known of something that happened on a machine, by name: of a tuning run
    (`kind` RUN, `at` its start) or of a whole network that was timed (MEASURED, `at` then).

    Values are text or numbers: {"command": "tilewright tune m.onnx", "tuned": 0.0317}.
    """

    machine: str
    kind: str
    at: float
    facts: dict[str, str | float]

    def __post_init__(self) -> None:
        """Raises RecordsError for anything else."""
        if self.kind not in FACT_KINDS:
            raise RecordsError(f"there are no facts of {self.kind!r}, but of {FACT_KINDS}")
        if not 0.0 <= self.at < math.inf:
            raise RecordsError(f"facts of {self.kind!r} have a time that is none: {self.at}")
        for name, value in self.facts.items():
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not (isinstance(value, str) or (is_number and abs(value) < INT64_MAX)):
                raise RecordsError(f"fact {name!r} must be text or a number, not {value!r:.80}")


@dataclass(frozen=True, slots=True)
class CeilingsRow:
    """What a machine can do at best, all threads together.

    `flops_per_s` are float32 operations a second, a multiply-add counted as 2; `bytes_per_s[i]` is
    how fast `sizes_bytes[i]` bytes are read again and again, the sizes growing.
    """

    machine: str
    flops_per_s: float
    sizes_bytes: tuple[int, ...]
    bytes_per_s: tuple[float, ...]
    measured_at: float = field(default_factory=time.time)

    def __post_init__(self) -> None:
        """Raises RecordsError for rates that are not positive, or not one for each size."""
        numbers = (self.flops_per_s, *self.sizes_bytes, *self.bytes_per_s)
        if not (self.sizes_bytes and all(0 < n < math.inf for n in numbers)):
            raise RecordsError(f"ceilings need positive finite rates, got {self}")
        if len(self.sizes_bytes) != len(self.bytes_per_s):
            raise RecordsError(f"ceilings need one rate for each size, got {self}")

    def raised_by(self, other: CeilingsRow) -> CeilingsRow:
        """The higher figure of each: what a busy machine measured is no limit.

        Where other sizes were measured, `other` counts alone.
        """
        if other.sizes_bytes != self.sizes_bytes:
            return other
        rates = tuple(map(max, self.bytes_per_s, other.bytes_per_s))
        flops = max(self.flops_per_s, other.flops_per_s)
        return replace(other, flops_per_s=flops, bytes_per_s=rates)

    def seconds(self, bytes_: int) -> float:
        """The least time to move so many bytes: at the best rate seen of as much data or more."""
        fitting = sum(size <= bytes_ for size in self.sizes_bytes)
        return bytes_ / max(self.bytes_per_s[max(fitting - 1, 0) :])


@dataclass(frozen=True, slots=True)
class ReuseRow:
    """One step of a plan, which says for every task whose programs its search begins near.

    `plan` is a hash that names the plan, `seed` is the run's, `position` the step's place in it. A
    SEARCH begins with nothing, a REUSE near programs of the workload `source_hash`; a RECORDED task
    has its programs from before, a FOREIGN one from another machine: it is its own source.
    `programs` and `seconds` are what the step is expected to measure and take. `trials` are ids of
    the source's trials whose programs are reused, none until the step begins; `begun_at` is then
    (Unix time, the database sets it).
    """

    machine: str
    plan: str
    seed: int
    position: int
    workload_hash: str
    kind: str
    source_hash: str | None
    programs: int
    seconds: float
    trials: tuple[int, ...] = ()
    begun_at: float = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        """Raises RecordsError for what is no step, or has numbers that are none."""
        step = f"step {self.position} of plan {self.plan}"
        if self.kind not in REUSE_KINDS:
            raise RecordsError(f"{step} is of kind {self.kind!r}, which is none of {REUSE_KINDS}")
        has_source = self.source_hash is not None
        if has_source == (self.kind == SEARCH) and self.kind != RECORDED:
            raise RecordsError(
                f"{step}: a {self.kind} {'has no' if has_source else 'needs a'} source workload"
            )
        if self.trials and not has_source:
            raise RecordsError(f"{step} reuses trials {self.trials} of no source workload")
        counts = (self.seed, self.position, self.programs, *(n - 1 for n in self.trials))
        if not all(0 <= n <= INT64_MAX for n in counts):
            raise RecordsError(f"{step} has a number that is below 0 or above {INT64_MAX}: {self}")
        if not all(0.0 <= s < math.inf for s in (self.seconds, self.begun_at)):
            raise RecordsError(f"{step} has a time that is no length of time: {self}")


CARRIED = "carried"  # a program of another workload as it is


def program_kind(origin: str | None) -> str:
    """What a program is, by what proposed it: "tuned", found by a search; "measured", the default
    program, which nothing that was measured beat; "default", the same without any record. (That of
    a workload without records may be "carried" from another's.)
    """
    if origin is None:
        return "default"
    return "measured" if origin == DEFAULT else "tuned"


def check_latencies(latencies_s: Sequence[float], what: str) -> None:
    """Raise RecordsError unless every latency is finite and positive."""
    for latency in latencies_s:
        if not (math.isfinite(latency) and latency > 0):
            raise RecordsError(f"{what}: latency {latency} s is not a positive finite number")

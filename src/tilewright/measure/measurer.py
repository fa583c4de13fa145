"""Measure candidates: build in parallel, then check and time one after another.

    with LocalMeasurer() as measurer:
        results = measurer.measure(task, [request, …])       one MeasureResult each
        again = measurer.confirm(task, finalists)            in turns with the default program

Builds of a batch and its timings do not overlap unless cores are free for builds: a compiler on a
core that a kernel's threads wait for costs a parallel region milliseconds. The reference of a task
is built, run and compared with direct evaluation once, before its first candidate.
"""

from __future__ import annotations

import math
import shutil
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import TracebackType
from typing import Self

from tilewright.contract.artifact import Artifact
from tilewright.ground.errors import BuildError, RunError
from tilewright.ground.files import own_folder
from tilewright.measure.pools import BuilderPool, Built, Outcome, RunnerClient, TaskSpec
from tilewright.measure.task import MeasureTask
from tilewright.measure.trial import RunOptions
from tilewright.measure.workers import RequestFailure, WorkerFailureError
from tilewright.target import available_cores

BUILD = "tilewright.build:build_request"
# A smaller batch may fail alike by chance.
ALIKE_BATCH = 8
BUILDER_MEMORY_BYTES = 8 << 30
# Figures are relative to references of at most so long: in a longer run the machine changes.
LONGEST_PACE_S = 0.1
# Variables that say where an OpenCL driver keeps what it compiles. A candidate is compiled for its
# trial and perhaps to be confirmed: its code need not stay.
DRIVER_CACHES = ("POCL_CACHE_DIR",)


@dataclass(frozen=True, slots=True)
class MeasureResult:
    """One trial. `stage` is "ok", or where it failed: "build", "run", "check" or "timeout"; then
    `error` is the exception's class or the signal.

    `latencies_s` has one median per repeat. `build_s` and `run_s` are wall time, the gate
    included; `spent_s` says where `run_s` went on the runner. `stopped_early`: the first run was so
    slow that there was no other. `region_s` is what an empty parallel region took beside it; None
    where it is not known; `points_s` are those at the points of a task with sizes.
    """

    stage: str
    error: str | None = None
    message: str = ""
    latencies_s: tuple[float, ...] = ()
    build_s: float = 0.0
    run_s: float = 0.0
    stopped_early: bool = False
    spent_s: Mapping[str, float] = field(default_factory=dict)
    region_s: float | None = None
    points_s: tuple[float, ...] = ()

    @property
    def latency_s(self) -> float:
        """The median of `latencies_s`, infinity for a failed trial."""
        return statistics.median(self.latencies_s) if self.latencies_s else math.inf


class BatchFailedError(RunError):
    """Every candidate of a batch failed in the same way; `results` are theirs."""

    def __init__(self, message: str, results: Sequence[MeasureResult]) -> None:
        super().__init__(message)
        self.results = tuple(results)


class LocalMeasurer:
    """Builders on this machine; a runner on it, or on another through a command."""

    def __init__(
        self,
        *,
        build: str = BUILD,
        runner: Sequence[str] | str | None = None,
        options: RunOptions | None = None,
        builders: int | None = None,
        build_timeout_s: float = 30.0,
        free_cores: int | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """`runner` is the command of the runner (None: this machine).

        `free_cores` is the number of cores that neither kernels nor the runner need; with at least
        one, builds overlap with timings on so many processes. By default none are free when the
        runner is local, and all are when a command carries requests elsewhere. `env` is added to
        the workers' environment.
        """
        cores = available_cores()
        if free_cores is None:
            free_cores = 0 if runner is None else cores
        self.options = options or RunOptions()
        self.overlap = free_cores > 0
        self._driver_caches = own_folder(self)
        env = {**dict.fromkeys(DRIVER_CACHES, str(self._driver_caches)), **(env or {})}
        self._command = runner
        self._env = env
        self._runner = RunnerClient(runner, env)
        self._confirmers: list[RunnerClient] = []
        self._builders = BuilderPool(
            build,
            builders or (free_cores if self.overlap else cores),
            timeout_s=build_timeout_s,
            memory_bytes=BUILDER_MEMORY_BYTES,
            env=env,
        )
        self._specs: dict[str, TaskSpec] = {}
        self._references: dict[str, Built] = {}
        self._best_s: dict[str, float] = {}

    @property
    def runner(self) -> RunnerClient:
        """The client of the runner that `measure` uses; its `facts` describe the machine."""
        return self._runner

    def launch(self) -> None:
        """Start the worker processes without waiting for them."""
        for worker in (self._runner.worker, *self._builders.workers):
            worker.launch()

    def prepare(self, task: MeasureTask) -> TaskSpec:
        """Build the reference, load it on the runner and check it; once per task.

        Raises BuildError, RunError or WrongAnswer: nothing of this task can be measured.
        """
        if task.name not in self._specs:
            ((_, outcome),) = self._builders.build([task.reference])
            if isinstance(outcome, RequestFailure):
                raise BuildError(
                    f"the reference program of {task.name} does not build: "
                    f"{outcome.error}: {outcome.message}"
                )
            spec = TaskSpec(
                name=task.name,
                reference=outcome.artifact,
                inputs=task.inputs,
                tolerance=task.tolerance,
                seed=task.seed,
                probes=task.probes,
                setting=task.setting,
                places=task.places,
            )
            rounding = Artifact.from_bytes(outcome.artifact).rounding
            task.check_reference(self._runner.load(spec), rounding)
            self._specs[task.name] = replace(spec, probes=tuple(() for _ in spec.probes))
            self._references[task.name] = outcome
        return self._specs[task.name]

    def build(self, requests: Sequence[bytes]) -> list[Outcome]:
        """What comes of build requests, for a measurer elsewhere."""
        found = dict(self._builders.build(requests))
        return [found[i] for i in range(len(requests))]

    def measure(
        self,
        task: MeasureTask,
        candidates: Sequence[bytes],
        best_s: float | None = None,
        reference_s: float | None = None,
        built: Sequence[Outcome] | None = None,
    ) -> list[MeasureResult]:
        """One result per candidate (a build request), in order.

        `reference_s` is what the task's reference took, to which figures are then relative (see
        `RunOptions`; not those of a network's task: with so much data read between calls, the few
        calls of a trial's length would be noise of their own). `best_s` is the best latency known
        from elsewhere (an earlier run): with the best measured here it decides which candidates are
        too slow to be timed further. A failing candidate costs its own trial only. A new best is
        measured again and the slower figure counts: of many figures the least is most often a lucky
        one. `built` is what came of the requests where others built them. Raises BatchFailedError
        when at least eight candidates failed and all alike, and what `prepare` raises.
        """
        spec = self.prepare(task)
        known = [s for s in (best_s, self._best_s.get(task.name)) if s is not None]
        best = min(known, default=None)
        results: list[MeasureResult] = [MeasureResult("build")] * len(candidates)
        is_paced = (
            reference_s is not None and reference_s <= LONGEST_PACE_S and task.setting.is_alone
        )
        usual_s = reference_s if is_paced else None
        outcomes = self._built(task, candidates) if built is None else enumerate(built)
        for index, outcome in outcomes:
            options = replace(self.options, best_s=best, reference_s=usual_s)
            result = _measure_one(self._runner, spec, outcome, options)
            if best is not None and result.latency_s < best:
                result = _slower(result, _measure_one(self._runner, spec, outcome, options))
            results[index] = result
            if result.stage == "ok" and (best is None or result.latency_s < best):
                best = self._best_s[task.name] = result.latency_s
        _stop_when_alike(results)
        return results

    def confirm(
        self, task: MeasureTask, candidates: Sequence[bytes], processes: int = 2
    ) -> list[MeasureResult]:
        """Measure finalists again, in each of `processes` runners in turns with the reference: on
        a shared machine figures of different moments do not compare, and one program's times differ
        between processes.

        No search has used these runners; they serve later confirmations, too. `latencies_s` has one
        figure a process: the reference's own, where a candidate is the reference, else how much
        longer the candidate took in their turns, times that. Failed once is failed.
        """
        spec = self.prepare(task)
        outcomes = dict(self._built(task, candidates))
        found: list[list[MeasureResult]] = [[] for _ in candidates]
        while len(self._confirmers) < processes:
            self._confirmers.append(RunnerClient(self._command, self._env))
        for process, runner in enumerate(self._confirmers[:processes]):
            usual = _quietest(_measure_one(runner, spec, self._references[task.name], self.options))
            for i in _rotated(len(candidates), process):
                result = usual
                if usual.stage == "ok" and candidates[i] != task.reference:
                    paced = replace(self.options, reference_s=usual.latency_s)
                    result = _measure_one(runner, spec, outcomes[i], paced)
                found[i].append(result)
        return [_combined(each, [r.latency_s for r in each]) for each in found]

    def _built(
        self, task: MeasureTask, candidates: Sequence[bytes]
    ) -> Iterable[tuple[int, Outcome]]:
        """Candidates by number, in their order unless builds and timings overlap; the reference,
        which may be one of them, has been built before.
        """
        others = [i for i, request in enumerate(candidates) if request != task.reference]
        built = self._builders.build([candidates[i] for i in others])
        outcomes = chain(
            ((i, self._references[task.name]) for i in range(len(candidates)) if i not in others),
            ((others[k], outcome) for k, outcome in built),
        )
        return outcomes if self.overlap else sorted(outcomes, key=lambda pair: pair[0])

    def close(self) -> None:
        """End all worker processes."""
        for runner in (self._runner, *self._confirmers):
            runner.close()
        self._builders.close()
        shutil.rmtree(self._driver_caches, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _measure_one(
    runner: RunnerClient, spec: TaskSpec, outcome: Outcome, options: RunOptions
) -> MeasureResult:
    if isinstance(outcome, RequestFailure):
        return MeasureResult(outcome.stage, outcome.error, outcome.message)
    started = time.perf_counter()
    try:
        timing = runner.run(spec, outcome.artifact, options)
    except WorkerFailureError as error:
        failure = error.failure
        seconds = time.perf_counter() - started
        return MeasureResult(
            failure.stage, failure.error, failure.message, build_s=outcome.build_s, run_s=seconds
        )
    return MeasureResult(
        "ok",
        latencies_s=tuple(timing.latencies_s),
        build_s=outcome.build_s,
        run_s=time.perf_counter() - started,
        stopped_early=timing.stopped_early,
        spent_s=timing.spent_s,
        region_s=timing.region_s,
        points_s=tuple(timing.points_s),
    )


def _slower(first: MeasureResult, second: MeasureResult) -> MeasureResult:
    """The slower of two trials of a candidate, or the one that failed, with the time of both."""
    slower = second if second.latency_s > first.latency_s else first
    return replace(slower, run_s=first.run_s + second.run_s)


def _quietest(result: MeasureResult) -> MeasureResult:
    """With its least figure alone."""
    return replace(result, latencies_s=tuple(sorted(result.latencies_s)[:1]))


def _combined(results: Sequence[MeasureResult], latencies_s: Sequence[float]) -> MeasureResult:
    """One result for several measurements of a candidate."""
    failed = next((r for r in results if r.stage != "ok"), None)
    if failed is not None:
        return replace(failed, latencies_s=())
    run_s = sum(r.run_s for r in results)
    return replace(results[0], latencies_s=tuple(latencies_s), run_s=run_s)


def _rotated(count: int, by: int) -> Iterator[int]:
    return ((i + by) % count for i in range(count))


def _stop_when_alike(results: Sequence[MeasureResult]) -> None:
    kinds = {(r.stage, r.error) for r in results}
    if len(results) < ALIKE_BATCH or len(kinds) > 1 or results[0].stage == "ok":
        return
    first = results[0]
    raise BatchFailedError(
        f"all {len(results)} candidates failed alike, in stage {first.stage} with {first.error}; "
        f"the first one says: {first.message}",
        results,
    )

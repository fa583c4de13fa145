"""The search's window on measuring: programs of tasks, given as genes.

with contextlib.closing(TaskMeasurer(target)) as measurer:
    results = measurer.measure(task, default, genes, best_s=None)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from tilewright.build import make_request
from tilewright.contract.gene import Gene
from tilewright.front.kernels import kernel_name
from tilewright.front.machine import keep_proofs
from tilewright.ground.settings import Settings
from tilewright.measure.measurer import BatchFailedError, LocalMeasurer, MeasureResult
from tilewright.measure.task import MeasureTask
from tilewright.measure.trial import SHORTEST_LIMIT_S, RunOptions
from tilewright.schedule.trace import template_of
from tilewright.search.tasks import UNFINISHED, AllFailedError, TuningTask
from tilewright.target import GpuTarget, Target, available_cores


@dataclass
class TaskMeasurer:
    """Measures programs of tasks, given as genes: a LocalMeasurer in the tuner's terms. In a run of
    `budget_s` a trial has less time than usual, unless `options` say how much; what does not end in
    that is no failure, but UNFINISHED. A default program, without which nothing begins, has all the
    time that is left. `local` is what measures, a LocalMeasurer here where none is given; `loaded`
    are the tasks that it knows.
    """

    target: Target
    command: Sequence[str] | str | None = None
    options: RunOptions | None = None
    budget_s: float | None = None
    known: dict[str, MeasureTask] = field(default_factory=dict)
    builders: int | None = None
    local: Any = None
    loaded: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        # One core is the runner's; on the others programs are built while a GPU runs some.
        is_apart = self.target.backend.apart and self.command is None
        free = available_cores() - 1 if is_apart else None
        self.until_s = None if self.budget_s is None else monotonic() + self.budget_s
        repeats = RunOptions.within(self.budget_s).repeats
        self.usual = self.options or RunOptions(repeats=repeats)
        if self.local is None:
            self.local = LocalMeasurer(
                runner=self.command, options=self.usual, builders=self.builders, free_cores=free
            )
            if self.budget_s is not None:
                self.local.launch()

    def measure(
        self,
        task: TuningTask,
        default: Gene,
        genes: Sequence[Gene],
        best_s: float | None,
        default_s: float | None = None,
        *built: Any,
    ) -> list[MeasureResult]:
        """Build, check and time candidates of a task; `built` is what others made of `requests`."""
        requests = self.requests(task, genes)
        hurried_s = self._hurry(is_default=list(genes) == [default])
        failed: BatchFailedError | None = None
        results: list[MeasureResult]
        try:
            one = self._task(task, default)
            results = self.local.measure(one, requests, best_s, default_s, *built)
        except BatchFailedError as error:
            failed, results = error, list(error.results)
        self._keep_proofs(genes, results)
        if hurried_s is not None:
            late = [r.stage == "timeout" for r in results]
            failed = None if all(late) else failed
            pairs = zip(results, late, strict=True)
            results = [replace(r, stage=UNFINISHED) if is_late else r for r, is_late in pairs]
        if failed is not None:
            raise AllFailedError(str(failed), results) from failed
        return results

    def confirm(
        self, task: TuningTask, default: Gene, genes: Sequence[Gene]
    ) -> list[tuple[float, ...]]:
        """Latencies of finalists, in turns with the default program in fresh processes; empty for
        one that failed there.
        """
        requests = self.requests(task, genes)
        self._hurry(is_default=True)
        results = self.local.confirm(self._task(task, default), requests)
        return [r.latencies_s for r in results]

    def _hurry(self, is_default: bool) -> float | None:
        """Let a trial take no longer than the run has time for: so many seconds, None if that is as
        much as usual.
        """
        limit_s = self.usual.timeout_s
        if self.options is None and self.until_s is not None:
            left_s = max(SHORTEST_LIMIT_S, self.until_s - monotonic())
            share_s = limit_s if is_default else RunOptions.within(self.budget_s).timeout_s
            limit_s = min(limit_s, share_s, round(left_s, 1))
        self.local.options = replace(self.usual, timeout_s=limit_s)
        return limit_s if limit_s < self.usual.timeout_s else None

    def close(self) -> None:
        """Stop all worker processes."""
        self.local.close()

    def _keep_proofs(self, genes: Sequence[Gene], results: Sequence[MeasureResult]) -> None:
        """Note whose templates' programs are right on the device, and whose are not."""
        if not isinstance(self.target, GpuTarget):
            return
        names: dict[bool, set[str]] = {True: set(), False: set()}
        for gene, result in zip(genes, results, strict=True):
            name = template_of(gene)
            if name is not None and result.stage != "build":
                names[result.stage == "ok"].add(name)
        cache = Settings.from_environment().cache
        keep_proofs(self.target, names[True], names[False], cache)

    def _task(self, task: TuningTask, default: Gene) -> MeasureTask:
        if task.hash not in self.known:
            (reference,) = self.requests(task, [default])
            self.known[task.hash] = MeasureTask.of(task.hash, task.dag, reference, task.setting)
        return self.known[task.hash]

    def requests(self, task: TuningTask, genes: Sequence[Gene]) -> list[bytes]:
        """What builders are asked for."""
        name, setting = kernel_name(task.name), task.setting
        return [make_request(task.dag, gene, self.target, name, setting) for gene in genes]

"""A budget in minutes is kept, whatever trials take, and what had no time to end is no failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from simulated_tuning import MACHINE, TARGET, make_scheduler
from tilewright.contract.gene import Gene
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.front.task_measurer import TaskMeasurer
from tilewright.measure.measurer import BatchFailedError, MeasureResult
from tilewright.measure.trial import RunOptions
from tilewright.records.database import Database
from tilewright.search import measuring as measuring_module
from tilewright.search import tuner as tuner_module
from tilewright.search.progress import Budget, Progress
from tilewright.search.strategies.table import STRATEGIES
from tilewright.search.tasks import UNFINISHED, AllFailedError, TuningTask
from tilewright.search.tuner import Tuner
from tilewright.target import Target
from workloads import given

pytestmark = pytest.mark.usefixtures("brief_search")


@dataclass
class SlowMachine:
    """A trial takes so many seconds of a clock of its own, a confirmation others. Genes at the
    numbers in `cut` have no time to end.
    """

    trial_s: float
    confirm_s: float
    cut: Sequence[int] = ()
    now_s: float = 1000.0
    count: int = 0
    measured: list[Gene] = field(default_factory=list)

    def measure(
        self, task: TuningTask, default: Gene, genes: Sequence[Gene], *_: Any
    ) -> list[MeasureResult]:
        results = []
        for gene in genes:
            self.now_s += self.trial_s
            self.count += 1
            self.measured.append(gene)
            is_cut = self.count - 1 in self.cut
            if is_cut:
                results.append(MeasureResult(UNFINISHED, "TimeoutError", "no answer within 3 s"))
            else:
                results.append(MeasureResult("ok", latencies_s=(1e-3 / self.count,)))
        return results

    def confirm(
        self, task: TuningTask, default: Gene, genes: Sequence[Gene]
    ) -> list[tuple[float, ...]]:
        self.now_s += self.confirm_s
        return [(1e-3 if gene == default else 5e-4,) for gene in genes]

    def close(self) -> None: ...


def tasks(n: int) -> list[TuningTask]:
    made = []
    for i in range(n):
        a = given(16, 8 * (i + 1), name="a")
        product = ops.matmul(a, given(8 * (i + 1), 16))
        made.append(TuningTask(f"gemm{i}", ComputeDAG([product])))
    return made


def tuned(
    monkeypatch: pytest.MonkeyPatch, file: Path, machine: SlowMachine, n: int, budget: Budget
) -> tuple[Tuner, list[Progress], float]:
    """A run by the machine's clock: the tuner, what was told, and the seconds that it took."""
    clock = SimpleNamespace(monotonic=lambda: machine.now_s, time=lambda: machine.now_s)
    for module in (tuner_module, measuring_module):
        monkeypatch.setattr(module, "time", clock)
    told: list[Progress] = []
    begun = machine.now_s
    with Database.open(file) as database:
        given = (tasks(n), database, MACHINE, machine, TARGET, make_scheduler)
        one = Tuner(*given, way=STRATEGIES["random"], begun=begun)
        machine.now_s += 0.5  # until it runs
        one.run(budget, told.append)
    return one, told, machine.now_s - begun


@pytest.mark.parametrize(
    ("minutes", "trial_s", "confirm_s", "n"),
    [
        (0.3, 1.0, 3.0, 4),
        (0.3, 2.5, 4.5, 1),
        (0.3, 2.5, 4.5, 4),
        (0.5, 1.0, 0.5, 1),
        (1.0, 3, 4, 4),
    ],
)
def test_minutes_are_kept(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    minutes: float,
    trial_s: float,
    confirm_s: float,
    n: int,
) -> None:
    """From a budget's beginning, which is before the run's."""
    machine = SlowMachine(trial_s, confirm_s)
    budget = Budget(minutes=minutes)
    one, told, took_s = tuned(monkeypatch, tmp_path / "t.db", machine, n, budget)
    assert took_s <= 60 * minutes + 5.0
    assert told[-1].elapsed_s == pytest.approx(took_s)
    assert told[-1].phase == "confirming"
    if all(not s.exhausted for s in one.searches):
        assert took_s >= 60 * minutes - max(5.0, 2 * confirm_s + 2 * trial_s)


def test_confirming_tells_of_each_task_before_and_after(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine = SlowMachine(0.05, 1.0)
    _, told, _ = tuned(monkeypatch, tmp_path / "t.db", machine, 3, Budget(trials=12))
    steps = [(p.task.name, p.task.confirmed) for p in told if p.phase == "confirming"]
    for name in ("gemm0", "gemm1", "gemm2"):
        mine = [confirmed for task, confirmed in steps if task == name]
        assert mine[0] is False and True in mine


def test_what_had_no_time_to_end_is_not_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine = SlowMachine(0.1, 0.1, cut=range(4, 8))
    one, _, _ = tuned(monkeypatch, tmp_path / "t.db", machine, 1, Budget(trials=12))
    assert one.trials == 12
    with Database.open(tmp_path / "t.db", readonly=True) as database:
        kept = {t.gene for t in database.trials()}
    cut = {machine.measured[i] for i in range(4, 8)}
    assert len(cut) == 4 and kept == set(machine.measured) - cut


def test_a_default_program_without_time_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine = SlowMachine(0.1, 0.1, cut=(0, 1))
    _, told, _ = tuned(monkeypatch, tmp_path / "t.db", machine, 1, Budget(trials=4))
    last = told[-1].task
    assert last.fault == "did not end: no answer within 3 s" and last.default_s is None


@pytest.mark.parametrize(
    ("budget_s", "repeats", "timeout_s"),
    [
        (None, 3, 10.0),
        (600.0, 3, 10.0),
        (60.0, 3, 10.0),
        (36.0, 1, 9.0),
        (18.0, 1, 4.5),
        (6.0, 1, 2),
    ],
)
def test_trials_follow_the_budget(budget_s: float | None, repeats: int, timeout_s: float) -> None:
    options = RunOptions.within(budget_s)
    assert (options.repeats, options.timeout_s) == (repeats, timeout_s)


@pytest.mark.parametrize("budget_s", [None, 18.0])
def test_only_a_short_run_takes_a_timeout_for_want_of_time(
    budget_s: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    measurer = TaskMeasurer(Target.parse("cpu:icelake-server cores=2"), budget_s=budget_s)
    late = MeasureResult("timeout", "TimeoutError", "no answer within 3 s (run)")
    monkeypatch.setattr(measurer.local, "measure", lambda *_: [late])
    (task,) = tasks(1)
    default, other = Gene("[]", "{}"), Gene("[]", '{"a":1}')
    found = [measurer.measure(task, default, [gene], None)[0].stage for gene in (default, other)]
    assert found == ["timeout", "timeout" if budget_s is None else UNFINISHED]
    measurer.until_s = None if budget_s is None else 0.0
    (last,) = measurer.measure(task, default, [default], None)
    assert last.stage == ("timeout" if budget_s is None else UNFINISHED)
    assert measurer.local.options.timeout_s == (10.0 if budget_s is None else 2.0)
    measurer.close()


def test_a_short_run_does_not_end_over_a_batch_without_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measurer = TaskMeasurer(Target.parse("cpu:icelake-server cores=2"), budget_s=18.0)
    stages = iter(["timeout", "run"])

    def failing(*_: object) -> list[MeasureResult]:
        raise BatchFailedError("all alike", [MeasureResult(next(stages), "X", "x")] * 8)

    monkeypatch.setattr(measurer.local, "measure", failing)
    (task,) = tasks(1)
    genes = [Gene("[]", f'{{"a":{n}}}') for n in range(8)]
    found = measurer.measure(task, Gene("[]", "{}"), genes, None)
    assert {r.stage for r in found} == {UNFINISHED}
    with pytest.raises(AllFailedError, match="all alike"):
        measurer.measure(task, Gene("[]", "{}"), genes, None)
    measurer.close()

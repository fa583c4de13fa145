"""One candidate's trial in this process: gate, early stop, timing."""

from __future__ import annotations

import mmap
from dataclasses import replace

import fault_builds
import numpy as np
import pytest
from native_kernels import fill_in, object_code, scale_artifact

from tilewright.contract.surroundings import ALONE, AMONG_OTHERS, Setting
from tilewright.ground.errors import RunError, WrongAnswer
from tilewright.measure.gate import Tolerance
from tilewright.measure.host_trial import HostTask
from tilewright.measure.inputs import InputKind
from tilewright.measure.trial import Floats, RunOptions, Spent, once, run_trial
from tilewright.runtime import Artifact, Packing
from tilewright.target import Target
from tilewright.testing import DeviceSuite

pytestmark = pytest.mark.cpu

QUICK = RunOptions(repeats=2, min_repeat_ms=1)


def loaded(reference: Artifact | None = None, setting: Setting = ALONE) -> HostTask:
    artifact = reference or fault_builds.candidate("good")
    kinds = [InputKind()] * (len(artifact.inputs) + len(artifact.packings))
    return HostTask(artifact, kinds, Tolerance(), seed=0, setting=setting)


class TestCpu(DeviceSuite):
    def make(self) -> Target:
        return Target.parse("cpu")


def test_figures_are_of_one_call_not_of_all_that_fill_a_repeat() -> None:
    timing = loaded().run(fault_builds.candidate("good"), QUICK)
    assert 0 < min(timing.latencies_s) < QUICK.min_repeat_ms * 1e-3


@pytest.mark.parametrize(("setting", "start"), [(ALONE, 16), (AMONG_OTHERS, 0)])
def test_inputs_begin_where_a_callers_arrays_or_other_programs_outputs_do(
    setting: Setting, start: int
) -> None:
    reference = fault_builds.candidate("good")
    task = HostTask(reference, [InputKind()], Tolerance(), seed=0, setting=setting)
    (given, *_) = task.bind(reference, []).memory
    assert given.address % mmap.PAGESIZE == start
    assert task.run(reference, QUICK).latencies_s


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("sloppy", "of 1000 elements"),
        ("nan", "got nan"),
    ],
)
def test_wrong_answers(kind: str, message: str) -> None:
    with pytest.raises(WrongAnswer, match=message):
        loaded().run(fault_builds.candidate(kind), QUICK)


def test_a_candidate_that_needs_what_is_not_here_cannot_run() -> None:
    with pytest.raises(RunError, match="no_such_math"):
        loaded().run(fault_builds.candidate("missing symbol"), QUICK)


def test_too_much_scratch_is_refused() -> None:
    with pytest.raises(RunError, match="needs 1125899906842624 bytes of scratch"):
        loaded().run(replace(fault_builds.candidate("good"), scratch_bytes=1 << 50), QUICK)


SECOND_RUN_WRONG = """
@calls = internal global i32 0
define void @kernel(ptr %buffers, ptr %params, ptr %scratch) {
  %n = load i32, ptr @calls
  %m = add i32 %n, 1
  store i32 %m, ptr @calls
  %first = icmp eq i32 %n, 0
  br i1 %first, label %copy, label %bad
copy:
  %x = load ptr, ptr %buffers
  %xv = load float, ptr %x
  %d = fmul float %xv, 2.0
  %v = fadd float %d, 1.0
  %ys = getelementptr ptr, ptr %buffers, i64 1
  %y = load ptr, ptr %ys
  store float %v, ptr %y
  ret void
bad:
  %zs = getelementptr ptr, ptr %buffers, i64 1
  %z = load ptr, ptr %zs
  store float 0.0, ptr %z
  ret void
}
"""


def test_an_answer_that_goes_wrong_later_is_found() -> None:
    artifact = replace(
        fault_builds.candidate("good", 1), object_code=object_code(fill_in(SECOND_RUN_WRONG))
    )
    with pytest.raises(WrongAnswer, match="after further runs, output y differs"):
        loaded(fault_builds.candidate("good", 1)).run(artifact, QUICK)


def test_a_slow_first_run_ends_the_trial() -> None:
    task = loaded()
    slow = fault_builds.candidate("slow", us=20_000)
    timing = task.run(slow, replace(QUICK, best_s=1e-3))
    assert timing.stopped_early
    assert len(timing.latencies_s) == 1
    assert timing.latencies_s[0] > 0.02
    patient = task.run(slow, replace(QUICK, best_s=15e-3))
    assert not patient.stopped_early
    assert len(patient.latencies_s) == 1
    assert len(task.run(slow, QUICK).latencies_s) == 2


@pytest.mark.parametrize("setting", [ALONE, AMONG_OTHERS])
def test_constants_are_packed_whatever_caches_hold(setting: Setting) -> None:
    plain = scale_artifact(1000)
    (w,) = plain.constants
    # The same memory order through a packing that is not the identity: a split of one dimension.
    packing = Packing(w, ((10, 100),), (0, 1))
    packed = replace(plain, constants=(replace(w, shape=(10, 100)),), packings=(packing,))
    task = loaded(plain, setting)
    timing = task.run(packed, QUICK)
    assert all(t > 0 for t in timing.latencies_s)
    held = task.nbytes
    task.run(packed, QUICK)
    assert task.nbytes == held  # packed once
    swapped = Packing(w, ((10, 100),), (1, 0))
    wrong = replace(packed, constants=(replace(w, shape=(100, 10)),), packings=(swapped,))
    with pytest.raises(WrongAnswer):
        task.run(wrong, QUICK)


class Steady:
    """A candidate every run of which takes `seconds`; it counts them."""

    setting = ALONE

    def __init__(self, seconds: float) -> None:
        self.seconds, self.runs = seconds, 0

    def poison(self) -> None: ...

    def check(self, when: str) -> None: ...

    def bench(self, count: int) -> Floats:
        self.runs += count
        return np.full(count, self.seconds)

    def bench_within(self, budget_s: float) -> Floats:
        return self.bench(max(1, int(budget_s / self.seconds)))


class Held(Steady):
    """One whose first run takes `first_s`."""

    def __init__(self, first_s: float, seconds: float) -> None:
        super().__init__(seconds)
        self.first_s = first_s

    def bench(self, count: int) -> Floats:
        taken = super().bench(count)
        if self.runs == count:
            taken[0] = self.first_s
        return taken


@pytest.mark.parametrize("first_s", [4e-3, 10e-3])
def test_a_first_run_held_up_for_milliseconds_does_not_condemn(first_s: float) -> None:
    held = Held(first_s, 1e-3)
    timing = run_trial(held, replace(QUICK, best_s=1e-3), Spent(), once)
    assert not timing.stopped_early
    assert timing.latencies_s == [1e-3, 1e-3]


@pytest.mark.parametrize(
    ("first_s", "seconds", "found", "runs"),
    [(10e-3, 5.5e-3, 5.5e-3, 1 + 4), (5e-3, 8e-3, 5e-3, 1 + 3), (30e-3, 1e-3, 30e-3, 1)],
)
def test_a_candidate_that_stays_slow_counts_with_its_shortest_run(
    first_s: float, seconds: float, found: float, runs: int
) -> None:
    held = Held(first_s, seconds)
    timing = run_trial(held, replace(QUICK, best_s=1e-3), Spent(), once)
    assert timing.stopped_early
    assert timing.latencies_s == [found]
    assert held.runs == runs


@pytest.mark.parametrize(
    ("seconds", "figures", "runs"),
    [(1e-3, 3, 1 + 10 + 3 * 20), (0.1, 3, 1 + 1 + 3), (0.4, 3, 1 + 3), (0.7, 2, 1 + 2), (5, 1, 2)],
)
def test_long_runs_are_few(seconds: float, figures: int, runs: int) -> None:
    candidate = Steady(seconds)
    timing = run_trial(candidate, RunOptions(repeats=3, min_repeat_ms=20), Spent(), once)
    assert timing.latencies_s == [seconds] * figures
    assert candidate.runs == runs


class Machine:
    """Runs take `slowness` times as long as usual; the next of `changes` holds from the next
    turn or figure on.
    """

    def __init__(self, *changes: float) -> None:
        self.slowness, self.changes = 1.0, list(changes)


class Shared(Steady):
    """A candidate on such a machine."""

    def __init__(self, seconds: float, machine: Machine) -> None:
        super().__init__(seconds)
        self.machine = machine

    def bench(self, count: int) -> Floats:
        return super().bench(count) * self.machine.slowness

    def bench_within(self, budget_s: float) -> Floats:
        if self.machine.changes:
            self.machine.slowness = self.machine.changes.pop(0)
        return super().bench_within(budget_s)


@pytest.mark.parametrize(
    "changes",
    [(1.0,), (2.0,), (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 4.0), (9.0,) * 9 + (1.0,), (1.0,) * 5 + (9.0,)],
)
def test_a_figure_is_relative_to_the_reference(changes: tuple[float, ...]) -> None:
    machine = Machine(*changes)
    candidate, reference = Shared(2e-3, machine), Shared(1e-3, machine)
    options = RunOptions(reference_s=1e-3)
    found = run_trial(candidate, options, Spent(), once, reference).latencies_s
    assert found == pytest.approx([2e-3])


@pytest.mark.parametrize(
    ("seconds", "repeats", "turns"),
    [(2e-3, 3, 6), (2e-3, 1, 5), (15e-3, 3, 4), (0.09, 3, 3), (0.9, 3, 2), (1.0, 3, 1)],
)
def test_turns_of_long_runs_are_few(seconds: float, repeats: int, turns: int) -> None:
    candidate, reference = Steady(seconds), Steady(2e-4)
    options = RunOptions(repeats=repeats, reference_s=2e-4)
    found = run_trial(candidate, options, Spent(), once, reference).latencies_s
    assert found == pytest.approx([seconds])
    warm_up = seconds < 0.25
    assert candidate.runs == 1 + warm_up + turns


@pytest.mark.parametrize(
    ("reference_s", "runs"), [(1e-5, 2), (1e-4, 2), (5e-4, 5), (1e-3, 10), (1e-2, 10)]
)
def test_turns_are_long_enough_for_shared_caches(reference_s: float, runs: int) -> None:
    candidate, reference = Steady(0.999e-3), Steady(reference_s)
    options = RunOptions(repeats=1, min_repeat_ms=0.1, reference_s=reference_s)
    run_trial(candidate, options, Spent(), once, reference)
    assert candidate.runs == 1 + 10 + 3 * runs


@pytest.mark.parametrize(
    ("best_s", "figures", "turns"), [(1.5e-3, 1, 3), (1.7e-3, 3, 6), (None, 3, 6)]
)
def test_little_is_enough_of_what_is_not_near_the_best(
    best_s: float | None, figures: int, turns: int
) -> None:
    options = RunOptions(best_s=best_s)
    assert run_trial(Steady(2e-3), options, Spent(), once).latencies_s == [2e-3] * figures
    machine = Machine(2.0)
    candidate, reference = Shared(2e-3, machine), Shared(2e-4, machine)
    paced = replace(options, reference_s=2e-4, min_repeat_ms=40)
    found = run_trial(candidate, paced, Spent(), once, reference).latencies_s
    assert found == pytest.approx([2e-3])
    assert candidate.runs == 1 + 1 + turns


@pytest.mark.parametrize(("around", "figure"), [(ALONE, 5e-3), (Setting(1 << 20), 1e-3)])
def test_a_figure_with_other_data_between_is_of_the_calls_left_alone(
    around: Setting, figure: float
) -> None:
    class Disturbed(Steady):
        setting = around

        def bench_within(self, budget_s: float) -> Floats:
            return np.array([5e-3, 5e-3, 1e-3, 5e-3, 1e-3])

    found = run_trial(Disturbed(1e-3), RunOptions(), Spent(), once).latencies_s
    assert found == pytest.approx([figure] * 3)


def test_turns_of_a_networks_task_read_other_data_between_calls() -> None:
    asked: set[tuple[str, float]] = set()

    class Noted(Shared):
        setting = Setting(1 << 20)

        def bench_within(self, budget_s: float) -> Floats:
            asked.add(("reference" if self is reference else "candidate", budget_s))
            return super().bench_within(budget_s)

    machine = Machine(2.0)
    candidate, reference = Noted(2e-3, machine), Noted(1e-3, machine)
    options = RunOptions(reference_s=1e-3)
    found = run_trial(candidate, options, Spent(), once, reference).latencies_s
    assert found == pytest.approx([2e-3])
    assert asked == {("reference", 20e-3), ("candidate", 20e-3)}


def test_a_slow_machine_ends_no_trial_of_a_good_candidate() -> None:
    machine = Machine(4.0)
    machine.slowness = 4.0
    candidate, reference = Shared(2e-3, machine), Shared(1e-3, machine)
    options = RunOptions(repeats=1, min_repeat_ms=2, best_s=1.9e-3, reference_s=1e-3)
    timing = run_trial(candidate, options, Spent(), once, reference)
    assert not timing.stopped_early
    assert timing.latencies_s == pytest.approx([2e-3])


def test_few_long_runs_are_compared_with_a_short_reference() -> None:
    machine = Machine()
    candidate, reference = Shared(5.0, machine), Shared(1e-3, machine)
    options = RunOptions(reference_s=1e-3)
    assert run_trial(candidate, options, Spent(), once, reference).latencies_s == [5.0]


def test_the_references_outputs_are_not_taken_for_the_candidates() -> None:
    bad = replace(
        fault_builds.candidate("good", 1), object_code=object_code(fill_in(SECOND_RUN_WRONG))
    )
    with pytest.raises(WrongAnswer, match="after further runs, output y differs"):
        loaded(fault_builds.candidate("good", 1)).run(bad, replace(QUICK, reference_s=1e-6))


def test_options_are_checked() -> None:
    with pytest.raises(RunError, match="repeats must be at least 1"):
        RunOptions(repeats=0)
    assert RunOptions.from_json(QUICK.to_json()) == QUICK


def test_constant_names_of_another_task() -> None:
    other = replace(scale_artifact(1000), target=str(Target.parse("cpu")))
    renamed = Packing.identity(replace(other.packings[0].source, name="weight"))
    with pytest.raises(RunError, match=r"constants \[weight: float32\[1000\]\]"):
        loaded(scale_artifact(1000)).run(replace(other, packings=(renamed,)), QUICK)

"""Figures of the report from records made by hand: curves, time, rankings, limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from sample_tuning import CEILINGS, MACHINE, line

from tilewright.records import CeilingsRow, RunRow, TrialLine, WorkloadRow
from tilewright.report.clock import Clock
from tilewright.report.history import ModelHistory
from tilewright.report.tasks import (
    PrintedProgram,
    Roofline,
    TaskHistory,
    failures,
    rank_correlation,
    regret,
)


def task(
    lines: Sequence[TrialLine],
    name: str = "w0",
    flops: int = 1000,
    program: PrintedProgram | None = None,
    ceilings: CeilingsRow | None = None,
) -> TaskHistory:
    return TaskHistory(
        WorkloadRow(name, name, "{}", "s", (), flops),
        tuple(lines),
        np.array([x.created_at for x in lines]),
        0.0,
        (("net", 1),),
        program,
        Roofline(ceilings),
    )


# ---- the clock ----------------------------------------------------------------------------------


def test_the_clock_stands_still_between_runs() -> None:
    clock = Clock([(1000.0, 1030.0), (100.0, 150.0), (140.0, 160.0)])
    assert clock.total == 90.0
    read = clock.at([50.0, 100.0, 130.0, 500.0, 1010.0, 9999.0])
    assert read.tolist() == [0.0, 0.0, 30.0, 60.0, 70.0, 90.0]


def test_steps_begin_anew_with_a_run() -> None:
    clock = Clock([(0.0, 50.0), (100.0, 130.0)])
    # the 20 s after the last trial of the first run are not the second run's first trial's
    assert clock.steps([10.0, 30.0, 105.0, 106.0]).tolist() == [10.0, 20.0, 5.0, 1.0]


def test_trials_without_a_recorded_run_make_runs_of_their_own() -> None:
    run = RunRow(MACHINE.fingerprint, 0.0, 0, "evolution", 50.0)
    times = (10.0, 40.0, 1000.0, 1020.0, 5000.0)
    lines = [line(i, 1e-3, at, build_s=1.0, run_s=2.0) for i, at in enumerate(times)]
    clock = Clock.of([run], lines)
    # the run; 3 s of work before the third trial, 20 s on to the fourth; 3 s for the last
    assert clock.total == 50.0 + 23.0 + 3.0
    assert clock.at([1000.0]).tolist() == [53.0]


def test_a_clock_without_trials_shows_nothing() -> None:
    clock = Clock.of([], [])
    assert clock.total == 0.0
    assert clock.at([5.0]).tolist() == [0.0]
    assert clock.steps([]).tolist() == []


# ---- tasks --------------------------------------------------------------------------------------


def test_the_best_trial_is_the_fastest_correct_one() -> None:
    one = task([line(1, 4.0, 0.0, origin="default"), line(2, None, 1.0), line(3, 2.0, 2.0)])
    assert (one.best_s, one.default_s, one.failed) == (2.0, 4.0, 1)
    assert one.best is not None and one.best.id == 3
    assert one.improvements.tolist() == [0, 2]


def test_a_confirmed_latency_is_the_one_to_believe() -> None:
    lucky = line(1, 1.0, 0.0, latency_s=3.0, confirmed=True)
    one = task([lucky, line(2, 2.0, 1.0)])
    assert one.best_s == 3.0
    assert one.latency_s.tolist() == [3.0, 3.0], "no unconfirmed figure counts for faster"
    assert one.improvements.tolist() == [0]


def test_a_task_of_failures_has_no_best() -> None:
    one = task([line(1, None, 0.0), line(2, None, 1.0)])
    assert (one.best, one.best_s, one.default_s, one.failed) == (None, None, None, 2)
    assert one.improvements.tolist() == [] and math.isinf(one.cost_s)
    assert one.roofline_fraction is None and one.rank_correlation is None


def test_only_figures_of_turns_make_a_speed_up() -> None:
    default = line(1, 4.0, 0.0, origin="default")
    lucky = task([default, line(2, 2.0, 1.0)])
    assert (lucky.best_s, lucky.default_s, lucky.speedup) == (2.0, 4.0, None)
    sure = task([replace(default, confirmed=True), line(2, 2.0, 1.0, confirmed=True)])
    assert sure.speedup == 2.0
    assert task([default, line(2, 5.0, 1.0)]).speedup == 1.0, "the untuned program itself"


def test_a_models_speed_up_counts_what_is_not_confirmed_as_untuned() -> None:
    lucky = task([line(1, 4.0, 0.0, origin="default"), line(2, 1.0, 1.0)], "a")
    pair = [line(3, 4.0, 2.0, origin="default"), line(4, 2.0, 3.0)]
    sure = task([replace(x, confirmed=True) for x in pair], "b")
    model = ModelHistory("net", (lucky, sure), (1, 1))
    assert (model.default_s, model.best_s) == (8.0, 6.0)
    assert model.speedup == pytest.approx(8 / 6)
    assert model.curve.latency_s.tolist() == [8.0, 6.0]
    hoped = ModelHistory("net", (lucky, task(pair, "b")), (1, 1))
    assert (hoped.best_s, hoped.speedup) == (3.0, None)


def test_the_spread_is_that_of_the_best_programs_figures() -> None:
    assert replace(task([line(1, 1.0, 0.0)]), figures_s=(1.0, 1.1, 0.9)).spread == pytest.approx(
        0.2
    )
    assert task([line(1, 1.0, 0.0)]).spread is None


def test_what_was_predicted_is_compared_with_what_was_measured() -> None:
    one = task(
        [
            line(1, 3.0, 0.0, predicted=0.1),
            line(2, 2.0, 0.0, predicted=0.2),
            line(3, 1.0, 0.0, predicted=0.15),
            line(4, 1.5, 0.0, predicted=0.0, round=1),
            line(5, None, 0.0, predicted=9.0),  # failed
            line(6, 0.5, 0.0),  # not predicted
        ]
    )
    score, share, number = one.predicted
    assert score.tolist() == [0.1, 0.2, 0.15, 0.0]
    assert share.tolist() == pytest.approx([0.5 / 3, 0.25, 0.5, 0.5 / 1.5])
    assert number.tolist() == [0, 1, 2, 3]
    # ranks 1 3 2 0 against 0 1 3 2: 1 - 6 (1 + 4 + 1 + 4) / (4 * 15)
    assert one.rank_correlation == pytest.approx(0.0)
    assert one.regret == pytest.approx(1.0), "the one liked best took twice as long as the fastest"


def test_a_rank_correlation_is_spearmans() -> None:
    x = np.arange(50.0)
    assert rank_correlation(x, np.exp(x)) == pytest.approx(1.0)
    assert rank_correlation(x, -x) == pytest.approx(-1.0)
    tied = rank_correlation(np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    assert tied == pytest.approx(np.sqrt(3) / 2)
    assert rank_correlation(x[:2], x[:2]) is None
    assert rank_correlation(np.ones(9), np.arange(9.0)) is None
    assert regret(x, x) == 0.0
    assert regret(-x, x + 1) == pytest.approx(50 / 5 - 1), "the tenth liked best: 1 to 5 of 50"


def test_equal_failures_are_counted_together() -> None:
    crash = {"message": "signal 11\ndetails of one"}
    rows = failures(
        [
            task([line(1, None, 0.0, **crash), line(2, 1.0, 0.0)]),
            task([line(3, None, 0.0, message="signal 11\nof another"), line(4, None, 0.0)], "w1"),
        ]
    )
    assert [(r.error, r.message, r.trials, r.tasks) for r in rows] == [
        ("RunError", "signal 11\ndetails of one", 2, 2),
        ("RunError", "crashed", 1, 1),
    ]


# ---- models -------------------------------------------------------------------------------------


def test_a_models_curve_begins_when_all_tasks_ran() -> None:
    first = task(
        [line(1, 4.0, 10.0, origin="default"), line(3, 5.0, 30.0), line(4, 3.0, 40.0)], "a"
    )
    second = task([line(2, 1.0, 20.0, origin="default"), line(5, 0.5, 50.0)], "b")
    model = ModelHistory("net", (first, second), (2, 10))
    assert (model.default_s, model.best_s, model.trials) == (18.0, 11.0, 5)
    assert model.curve.at_s.tolist() == [20.0, 40.0, 50.0]
    assert model.curve.trials.tolist() == [2, 4, 5]
    assert model.curve.latency_s.tolist() == [18.0, 16.0, 11.0]


def test_a_model_with_a_task_that_never_ran_has_no_latency() -> None:
    broken = task([line(2, None, 20.0)], "b")
    model = ModelHistory("net", (task([line(1, 4.0, 10.0)]), broken), (1, 1))
    assert (model.best_s, model.default_s) == (None, None)
    assert not len(model.curve.at_s)


# ---- limits -------------------------------------------------------------------------------------


def test_a_task_is_limited_by_its_operations_or_its_bytes() -> None:
    roofline = Roofline(CEILINGS)  # 4e11 operations a second; 64 KiB at 4e11, 1 MiB at 1e11 B/s
    assert roofline.least_s(4_000_000, 4_000) == 1e-5
    assert roofline.limit(4_000_000, 4_000) == "compute"
    assert roofline.least_s(4, 1 << 21) == (1 << 21) / 1e11
    assert roofline.limit(4, 1 << 21) == "memory"
    # between two sizes: the faster one's rate, so that it stays a limit
    assert roofline.least_s(0, 1 << 19) == (1 << 19) / 4e11
    one = task([line(1, 2e-5, 0.0)], "w", 4_000_000, PrintedProgram(least_bytes=4_000), CEILINGS)
    assert (one.least_s, one.roofline_fraction) == (1e-5, 0.5)


def test_without_measured_limits_there_is_no_roofline() -> None:
    one = task([line(1, 2e-5, 0.0)], "w", 4_000_000, PrintedProgram(least_bytes=4_000))
    assert (one.least_s, one.roofline_fraction) == (None, None)


def test_a_program_in_winograds_form_counts_with_its_own_operations() -> None:
    program = PrintedProgram(least_bytes=4_000, own_flops=1_000_000)
    one = task([line(1, 2e-5, 0.0)], "w", 4_000_000, program, CEILINGS)
    assert one.is_winograd and one.flops == 1_000_000
    assert one.least_s == 2.5e-6


def test_a_program_of_fewer_bits_is_limited_by_its_instruction() -> None:
    program = PrintedProgram(least_bytes=4_000, gain=16.0)
    one = task([line(1, 2e-5, 0.0)], "w", 40_000_000, program, CEILINGS)
    assert one.least_s == 1e-4 / 16
    assert one.roofline.limit(one.flops, one.least_bytes, one.gain) == "compute"
    assert one.roofline.limit(4_000, 4_000) == "compute"
    assert one.roofline.limit(4_000, 4_000, one.gain) == "memory"

"""Tuning runs that are killed at random moments, and runs that share a database."""

from __future__ import annotations

import multiprocessing
import random
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.context import ForkServerContext
from pathlib import Path
from signal import SIGKILL

import pytest

from simulated_tuning import MACHINE, Run
from tilewright.records.database import Database
from tilewright.records.rows import Trial

TRIALS = 72
UNIT = 4  # trials a round: six rounds for each of three tasks
KILLS = 20


@pytest.fixture(scope="module")
def processes() -> Iterator[ForkServerContext]:
    """Starts a process in milliseconds, from a server that has the package loaded."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tilewright.search.tuner"])
    yield context


def recorded(file: Path) -> list[Trial]:
    """All trials in the order of insertion, without what a clock measured."""
    with Database.open(file) as database:
        return [replace(t, created_at=0.0) for t in database.trials()]


def keys(file: Path) -> list[tuple[str, str]]:
    trials = recorded(file)
    assert {t.machine for t in trials} <= {MACHINE.fingerprint}
    return [(t.workload_hash, t.gene.hash) for t in trials]


def alone(processes: ForkServerContext, file: Path, seed: int = 0) -> list[Trial]:
    """What an undisturbed run records."""
    run = Run(processes, (file, seed, TRIALS))
    run.finish()
    trials = recorded(file)
    defaults = sum(t.origin == "default" for t in trials)
    # default programs are measured twice, each other one once, in the order of the records
    assert run.measured == keys(file)[:defaults] + keys(file)
    return trials


def measures_nothing(processes: ForkServerContext, file: Path, seed: int) -> bool:
    """Whether the same command finds all its trials in the records."""
    run = Run(processes, (file, seed, TRIALS))
    run.finish()
    return not run.measured and run.trials == TRIALS


@pytest.mark.thorough
def test_a_run_killed_at_random_moments_ends_as_an_undisturbed_one(
    processes: ForkServerContext, tmp_path: Path
) -> None:
    expected = alone(processes, tmp_path / "alone.db")
    file = tmp_path / "killed.db"
    command = (file, 0, TRIALS)
    chance = random.Random(3)
    Database.open(file).close()
    kept = [0]
    for _ in range(KILLS):
        before = keys(file)
        run = Run(processes, command)
        for _ in range(chance.randrange(2 * UNIT)):
            assert run.event()
            run.go()
        assert run.event()
        if chance.random() < 0.5:
            run.go()  # the kill then strikes a little later: in the records, in the search
        run.kill()
        assert run.process.exitcode == -SIGKILL
        assert not set(before) & set(run.measured)
        kept.append(len(keys(file)))
        assert keys(file)[: kept[-2]] == before
    assert len(set(kept)) > KILLS // 4  # many got on, and
    assert len(set(kept)) < KILLS  # some struck a round that was then lost
    before = keys(file)
    last = Run(processes, command)
    last.finish()
    assert last.trials == TRIALS
    assert before + last.measured == keys(file)
    assert recorded(file) == expected
    assert len(set(keys(file))) == len(expected)
    assert measures_nothing(processes, file, 0)


def together(processes: ForkServerContext, *commands: tuple[object, ...]) -> list[Run]:
    """Run commands at the same time; both have announced a trial before one of them goes on."""
    runs = [Run(processes, command) for command in commands]
    for run in runs:
        assert run.event()
    threads = []
    for run in runs:
        run.go()
        threads.append(threading.Thread(target=run.finish))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert [run.process.exitcode for run in runs] == [0, 0]
    return runs


@pytest.mark.thorough
def test_two_seeds_at_once_are_what_each_is_alone(
    processes: ForkServerContext, tmp_path: Path
) -> None:
    apart = [alone(processes, tmp_path / f"{seed}.db", seed) for seed in (0, 1)]
    file = tmp_path / "shared.db"
    runs = together(processes, (file, 0, TRIALS), (file, 1, TRIALS))
    assert [run.trials for run in runs] == [TRIALS, TRIALS]
    assert max(Counter(keys(file)).values()) == 1
    assert set(keys(file)) == {(t.workload_hash, t.gene.hash) for trials in apart for t in trials}
    assert len(keys(file)) < sum(map(len, apart))  # they did meet
    assert all(measures_nothing(processes, file, seed) for seed in (0, 1))


def test_one_command_run_twice_at_once_searches_as_one(
    processes: ForkServerContext, tmp_path: Path
) -> None:
    """Each measures other latencies; the recorded ones count for both."""
    file = tmp_path / "shared.db"
    runs = together(processes, (file, 0, TRIALS, 0.0), (file, 0, TRIALS, 0.01))
    assert [run.trials for run in runs] == [TRIALS, TRIALS]
    assert max(Counter(keys(file)).values()) == 1
    assert {key for run in runs for key in run.measured} == set(keys(file))
    sizes = Counter((t.workload_hash, t.round) for t in recorded(file) if t.origin != "default")
    assert max(sizes.values()) <= UNIT
    assert measures_nothing(processes, file, 0)

"""Timings are repeated while other processes hold the cores, within a budget."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tilewright.measure.quiet import Pace, Patience, undisturbed, waited_s
from tilewright.target import Target


class Machine:
    """A clock that every timing moves by `took_s`; threads wait for `waits` seconds during each.
    `slow` are the slowdowns before the first and after each timing.
    """

    def __init__(
        self, waits: list[float], took_s: float = 0.1, slow: tuple[float, ...] = (0.0,) * 9
    ) -> None:
        self.now = self.waited = 0.0
        self.calls = 0
        self._waits: Iterator[float] = iter(waits)
        self._took_s = took_s
        self._slow = iter(slow)

    def time(self) -> int:
        self.now += self._took_s
        self.waited += next(self._waits)
        self.calls += 1
        return self.calls

    def best(self, patience: Patience, limit_s: float = 1e9) -> int:
        return undisturbed(
            self.time,
            patience,
            lambda: next(self._slow),
            limit_s,
            lambda: self.waited,
            lambda: self.now,
        )


def test_a_quiet_timing_counts_at_once_and_earns_patience() -> None:
    patience = Patience(left_s=0.0, share=0.2)
    assert Machine([0.005]).best(patience) == 1
    assert abs(patience.left_s - 0.02) < 1e-9


def test_a_disturbed_timing_is_repeated_until_it_is_left_alone() -> None:
    patience = Patience(left_s=1.0)
    assert Machine([0.09, 0.05, 0.0]).best(patience) == 3
    assert abs(patience.left_s - (1.0 + 3 * 0.02 - 2 * 0.1)) < 1e-9, "two timings were in vain"


def test_calls_together_take_no_longer_than_the_limit() -> None:
    machine = Machine([0.09] * 9)
    machine.best(Patience(), limit_s=0.35)
    assert machine.calls == 3


def test_a_machine_that_is_slower_before_or_after_disturbs() -> None:
    machine = Machine([0.0] * 4, slow=(1.0, 0.0, 1.0, 0.1, 0.1))
    assert machine.best(Patience(left_s=1.0)) == 4


@pytest.mark.cpu
def test_work_that_takes_twice_its_least_is_a_slowdown_of_one() -> None:
    pace = Pace(replace(Target.parse("cpu"), cores=1))
    assert min(pace.slowdown() for _ in range(5)) >= 0.0
    pace._least /= 2
    assert pace.slowdown() >= 0.8


@pytest.mark.cpu
@pytest.mark.parametrize("cores", [1, 2])
def test_an_empty_region_takes_some_time(cores: int) -> None:
    assert Pace(replace(Target.parse("cpu"), cores=cores)).region_s() > 0.0


def test_without_quiet_the_least_disturbed_counts_when_patience_ends() -> None:
    machine = Machine([0.09, 0.03, 0.08, 0.07])
    patience = Patience(left_s=0.25, share=0.0)
    assert machine.best(patience) == 2
    assert machine.calls == 3
    assert machine.best(patience) == 4, "none left for a second try"


def test_what_takes_longer_than_the_patience_is_not_repeated() -> None:
    assert Machine([9.0], took_s=10.0).best(Patience()) == 1


def test_threads_that_share_a_core_wait() -> None:
    core = min(os.sched_getaffinity(0))
    before = waited_s()
    busy = [threading.Thread(target=_compute, args=(core,)) for _ in range(2)]
    for thread in busy:
        thread.start()
    seen = False
    while not seen and any(thread.is_alive() for thread in busy):
        seen = waited_s() > before
    for thread in busy:
        thread.join()
    assert seen


def _compute(core: int) -> None:
    os.sched_setaffinity(0, [core])  # of this thread
    hashlib.sha256(bytes(100 << 20))  # without Python's lock

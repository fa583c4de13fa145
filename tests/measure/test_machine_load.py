"""Who else uses the machine, from counters that are given."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tilewright.measure.load import LoadWatch, Reading, read_counters

QUIET = Reading(0.0, 0.0, 0.0, 0.0)


def watch(*readings: Reading | None, cores: int = 2) -> LoadWatch:
    found = iter(readings)
    return LoadWatch(range(cores), lambda: next(found))


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (Reading(10.0, 20.0, 0.0, 10.0), "another program takes 1.0 of 2 cores"),
        (Reading(10.0, 19.5, 0.0, 19.0), ""),
        (Reading(10.0, 8.0, 6.0, 8.0), "the hypervisor withholds 0.6 of 2 cores"),
        (
            Reading(10.0, 9.0, 3.0, 4.0),
            "another program takes 0.5 of 2 cores, the hypervisor withholds 0.3 of 2 cores",
        ),
        (Reading(10.0, 8.0, 0.0, 9.0), ""),  # counters of processes run ahead a little
        (None, ""),
    ],
)
def test_the_reason_is_what_others_take(after: Reading | None, reason: str) -> None:
    assert watch(QUIET, after).look() == reason


def test_a_look_is_about_the_time_since_the_last_one() -> None:
    busy, quiet = Reading(4.0, 8.0, 0.0, 4.0), Reading(8.0, 16.0, 0.0, 12.0)
    one = watch(QUIET, busy, Reading(4.1, 8.0, 0.0, 4.0), quiet)
    assert [bool(one.look()) for _ in range(3)] == [True, True, False]


def test_unknown_counters_are_no_load() -> None:
    assert watch(None, None).look() == ""
    assert watch(None, QUIET).look() == ""
    busy = Reading(10.0, 20.0, 0.0, 0.0)
    late = watch(QUIET, busy, None, busy)
    assert [bool(late.look()) for _ in range(3)] == [True, False, False]


def proc(folder: Path, busy: Sequence[int], processes: dict[int, tuple[int, int]]) -> Path:
    """A folder like /proc: `busy` ticks of each core, and of processes parent and ticks."""
    total = " ".join(["cpu", str(sum(busy))] + ["0"] * 9)
    cores = [f"cpu{i} {n} 0 0 900 50 0 0 7 0 0" for i, n in enumerate(busy)]
    (folder / "stat").write_text("\n".join([total, *cores, "intr 5", "btime 1", ""]))
    for pid, (parent, ticks) in processes.items():
        (folder / str(pid)).mkdir()
        line = f"{pid} (a name) with S {parent} {pid} {pid} 0 -1 0 0 0 0 0 {ticks} 1 2 3 20 0 1"
        (folder / str(pid) / "stat").write_text(line.replace(") with", " with)"))
    return folder


def test_own_time_is_that_of_all_descendants(tmp_path: Path) -> None:
    me = os.getpid()
    family = {1: (0, 500), me: (1, 100), 900001: (me, 20), 900002: (900001, 7), 900003: (1, 90)}
    second = os.sysconf("SC_CLK_TCK")
    found = read_counters([0, 2], proc(tmp_path, [300, 400, 50], family))
    assert found is not None
    assert found.working_s == 350 / second
    assert found.stolen_s == 14 / second
    assert found.own_s == (100 + 20 + 7 + 3 * 6) / second


@pytest.mark.parametrize("text", [None, "", "cpu0 nonsense", "cpu0 1 2", "cpu9 1 2 3 4 5 6 7 8"])
def test_where_the_system_does_not_say_nothing_is_known(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "stat").write_text(text)
    assert read_counters([0], tmp_path) is None


def test_this_machine_answers() -> None:
    assert isinstance(LoadWatch().look(), str)

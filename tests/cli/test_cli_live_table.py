"""The live table at several widths: names give way, then columns; no number is ever cut."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console

from tilewright.ground.text import shortened
from tilewright.progress.display import live_view
from tilewright.progress.snapshot import Snapshot
from tilewright.progress.table import COLUMNS, MOST, TaskTable
from tilewright.search.measuring import Shares
from tilewright.search.progress import Budget, TaskResult

NAMES = (
    "conv_batch_normalization_relu_1x56x56x64_256_1x1",
    "conv_batch_normalization_add_relu_1x14x14x256_1024_1x1",
    "conv_batch_normalization_relu_1x112x112x64_7x7",
    "max_pool",
    "gemm_1x2048_1000",
)


def snapshot() -> Snapshot:
    """A moment of a run of ResNet-50."""
    rows = tuple(
        TaskResult(
            name=name,
            weight=float(1 + number),
            flops=231_211_008,
            default_s=6.32e-3 / 4**number,
            best_s=4.31e-3 / 4.1**number,
            trials=144 >> number,
            errors=3 * (number == 1),
            confirmed=number % 2 == 0,
        )
        for number, name in enumerate(NAMES)
    )
    return Snapshot(
        tasks=rows,
        current=1,
        trials=768,
        elapsed_s=325.0,
        budget=Budget(minutes=10.0),
        shares=Shares(search=40.0, train=20.0, build=90.0, run=150.0, other=25.0),
        load="another program takes 1.0 of 2 cores",
    )


def shown(width: int, height: int = 24) -> str:
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=False)
    with console.capture() as capture:
        console.print(live_view(snapshot(), console, 5.0))
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


@pytest.mark.parametrize("width", [80, 60])
def test_the_live_table_is_readable(golden: Callable[[str, str], None], width: int) -> None:
    golden(f"live/{width}.txt", shown(width))


@pytest.mark.parametrize("width", range(24, 140, 4))
def test_no_number_is_cut_at_any_width(width: int) -> None:
    lines = shown(width).splitlines()
    assert max(map(len, lines)) <= width
    cells = dict(COLUMNS)
    headings = [heading for heading in cells if heading in lines[0].split()]
    assert "best" in headings
    for row, line in zip(snapshot().tasks, lines[1:], strict=False):
        wanted = " ".join(cells[heading](row) for heading in headings)
        assert line.split()[-len(wanted.split()) :] == wanted.split()


def test_a_low_terminal_shows_fewer_tasks_and_all_lines() -> None:
    lines = shown(80, 10).splitlines()
    assert len(lines) <= 10
    assert "… and 2 more tasks" in lines[4]
    assert lines[-1] == "busy machine: another program takes 1.0 of 2 cores"


def test_wide_terminals_show_whole_names() -> None:
    text = shown(132)
    assert all(name in text for name in NAMES)
    assert all(heading in text for heading, _ in COLUMNS)


def test_the_summary_lists_every_task() -> None:
    console = Console(file=io.StringIO(), width=100)
    with console.capture() as capture:
        console.print(TaskTable(snapshot().tasks))
    assert len(capture.get().splitlines()) == 1 + len(NAMES)


def test_many_tasks_are_summed_up_in_one_row() -> None:
    console = Console(file=io.StringIO(), width=100)
    rows = [replace(row, best_s=1e-3, weight=1.0) for row in snapshot().tasks for _ in range(8)]
    with console.capture() as capture:
        console.print(TaskTable(rows))
    lines = capture.get().splitlines()
    assert len(lines) == 1 + MOST + 1
    assert lines[-1].strip() == "… and 24 more tasks, 60% of the latency"
    unknown = replace(rows[0], best_s=None)
    with console.capture() as capture:
        console.print(TaskTable([unknown, *rows]))
    assert capture.get().splitlines()[-1].strip() == "… and 25 more tasks"


def test_names_keep_both_ends() -> None:
    assert shortened("conv_relu_64x64", 9) == "conv…4x64"
    assert shortened("conv", 4) == "conv"
    assert [len(shortened("x" * 20, most)) for most in (1, 2, 3, 19)] == [1, 2, 3, 19]

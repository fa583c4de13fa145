"""The suite of half an hour on CudaDevice: graphs, clocks and samples are the driver's, which is
libcuda.cpp here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="module")
def lines(fake_driver: Callable[[str], dict[str, Any]]) -> list[dict[str, Any]]:
    """What cuda_suite_program.py found."""
    found: list[dict[str, Any]] = fake_driver("cuda_suite_program.py")["lines"]
    return found


def of(lines: list[dict[str, Any]], step: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["step"] == step]


def test_rungs_and_programs_are_right(lines: list[dict[str, Any]]) -> None:
    assert len(of(lines, "ladder")) == 3
    for step in ("ladder", "verify", "quick", "final"):
        assert of(lines, step)
        assert {line["verdict"] for line in of(lines, step)} == {"right"}, of(lines, step)


def test_figures_are_the_devices(lines: list[dict[str, Any]]) -> None:
    """With the clock of the multiply-adds before each."""
    (clock,) = of(lines, "clock")
    assert len(clock["fma_s"]) == 2 and clock["is_plausible"]
    (turn,) = of(lines, "turns")
    assert len(turn["quantiles"]["templates"]) == 5 and turn["clock_mhz"] is not None
    assert all(line["seconds"] and min(line["seconds"]) > 0 for line in of(lines, "final"))
    (peaks,) = of(lines, "peaks")
    assert peaks["fma_flops"] > 0

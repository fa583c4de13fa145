"""The benchmark of random programs of templates: what it counts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.deadline import Deadline
from benchmarks.sass import disassembler
from benchmarks.template_candidates import TemplateFigures, measured, rows
from benchmarks.template_problems import Problem, drawn

from benchmarks import gpu_candidates, template_candidates
from devices import at_hand, tools
from tilewright.contract.gene import Gene
from tilewright.ground.errors import ScheduleError, WrongAnswer
from tilewright.schedule.templates.tensor_cores import TENSOR_CORES

RESULTS = Path(gpu_candidates.__file__).parent / "results" / "gpu_candidates.json"
NEVER = gpu_candidates.NEVER
NAME = TENSOR_CORES.name


@tools("g++")
def test_a_program_is_checked_and_counted() -> None:
    at_hand(disassembler)
    figures = measured(NAME, 1, TemplateFigures(), NEVER)
    assert (figures.sampled, figures.invalid, figures.wrong) == (1, 0, 0), figures.failures
    assert len(figures.interpreted_s) == len(figures.emulated_s) == 1
    assert len(figures.nvrtc_s) == len(figures.registers) == len(template_candidates.ARCHITECTURES)
    head, row = rows({NAME: vars(figures)})
    assert len(head) == len(row) and row[:4] == [NAME, "1", "0%", "0"]


def test_slices_make_up_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Gene] = []

    def checked(problem: Problem, gene: Gene, seed: int, figures: TemplateFigures) -> None:
        seen.append(gene)
        if seed == 0:
            raise ScheduleError("no such row")
        if seed == 1:
            raise WrongAnswer("one element")

    monkeypatch.setattr(template_candidates, "checked", checked)
    measured(NAME, 3, TemplateFigures(), NEVER)
    ends = iter((False, False, True))
    monkeypatch.setattr(Deadline, "passed", property(lambda self: next(ends)))
    first = measured(NAME, 3, TemplateFigures(), NEVER)
    assert first.sampled == 2
    monkeypatch.setattr(Deadline, "passed", False)
    whole = measured(NAME, 3, TemplateFigures.of({**vars(first), "commit": "some"}), NEVER)
    assert (whole.sampled, whole.invalid, whole.wrong) == (3, 1, 1)
    assert whole.failures == ["0: ScheduleError: no such row", "1: WrongAnswer: one element"]
    assert seen[:3] == seen[3:]


def test_problems_are_drawn_again_by_their_seed() -> None:
    (one, gene), (other, again) = (drawn(TENSOR_CORES, np.random.default_rng(5)) for _ in "ab")
    assert gene == again and str(one.dag) == str(other.dag)
    for name, array in one.arrays.items():
        np.testing.assert_array_equal(array, other.arrays[name])


def test_published_programs_are_right() -> None:
    for entry in json.loads(RESULTS.read_text())["templates"].values():
        assert entry["sampled"] >= 20 and entry["wrong"] == entry["invalid"] == 0

"""Random contractions with something before and after them, by random rows of GPUs' templates."""

from __future__ import annotations

import numpy as np
import pytest
from template_problems import drawn

from devices import tools
from tilewright.build.compile import build_nest
from tilewright.runtime.emulated import EmulatedDevice
from tilewright.schedule.templates import ON_GPUS
from tilewright.target import Target

SEEDS, EMULATED = range(6), range(100, 102)


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ON_GPUS)
def test_the_interpreter_gives_what_the_mathematics_does(name: str, seed: int) -> None:
    problem, gene = drawn(ON_GPUS[name], np.random.default_rng([31, seed]))
    problem.interpreted(problem.program(gene))


@tools("g++")
@pytest.mark.no_cover
@pytest.mark.parametrize("seed", EMULATED)
@pytest.mark.parametrize("name", ON_GPUS)
def test_so_does_the_emulation(name: str, seed: int) -> None:
    problem, gene = drawn(ON_GPUS[name], np.random.default_rng([31, seed]))
    artifact = build_nest(problem.dag, gene, Target.parse("emulated"), "candidate")
    problem.run(artifact, EmulatedDevice(seed=seed))

"""Random contractions with something before and after them, by random rows of GPUs' templates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from template_problems import drawn

from devices import tools
from tilewright.build.compile import build_nest
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import VerifyError, WrongAnswer
from tilewright.nest.nodes import Seq
from tilewright.runtime.emulated import EmulatedDevice
from tilewright.schedule.templates import ON_CPUS, ON_GPUS, ORDINARY, TEMPLATES, Template
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.testing import SpaceSuite

(REGISTERS,), THREADS = ON_CPUS, ORDINARY[0]

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


class TemplateSuite(SpaceSuite):
    """What a template must pass: a space of it alone."""

    target: str
    template: Template
    rows = 3

    def space(self) -> Space:
        a, b = placeholder((20, 17), name="a"), placeholder((17, 33), name="b")
        dag = ComputeDAG([ops.relu(ops.matmul(a, b))])
        return Space(dag, Target.parse(self.target), rules=(), templates=[self.template])


class TestRegisters(TemplateSuite):
    target, template = "cpu:icelake-server cores=2", REGISTERS


class TestThreads(TemplateSuite):
    target, template = "cuda:h200", THREADS


def test_the_suite_finds_a_wrong_template(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(TestRegisters):
        """Its programs store nothing."""

        template = replace(REGISTERS, body=lambda anchor, numbers: Seq(()))

    monkeypatch.setitem(TEMPLATES, REGISTERS.name, Wrong.template)
    with pytest.raises((VerifyError, WrongAnswer)):
        Wrong().test_random_programs_are_right()

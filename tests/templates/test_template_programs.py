"""Random contractions with something before and after them, by random rows of GPUs' templates."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from template_problems import drawn

from devices import tools
from tilewright.build.compile import build_nest
from tilewright.expr import nodes
from tilewright.expr import operators as ops
from tilewright.expr.contraction.groups import alike
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.index.extents import ceildiv
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import VerifyError, WrongAnswer
from tilewright.nest import nodes as nest_nodes
from tilewright.nest.gpu.task_map import repeat
from tilewright.nest.nodes import Seq
from tilewright.runtime.emulated import EmulatedDevice
from tilewright.schedule.templates import ON_CPUS, ON_GPUS, ORDINARY, TEMPLATES, Template, template
from tilewright.schedule.templates.anchor import Anchor
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.testing import SpaceSuite

REGISTERS, THREADS = ON_CPUS[0], ORDINARY[0]

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


class TestOnCpus(TemplateSuite):
    target = "cpu:icelake-server cores=2"

    @pytest.fixture(autouse=True, params=ON_CPUS, ids=lambda template: template.name)
    def each(self, request: pytest.FixtureRequest) -> None:
        self.template = request.param


class TestThreads(TemplateSuite):
    target, template = "cuda:h200", THREADS


def test_the_suite_finds_a_wrong_template(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(TemplateSuite):
        """Its programs store nothing."""

        target = TestOnCpus.target
        template = replace(REGISTERS, body=lambda anchor, numbers: Seq(()))

    monkeypatch.setitem(TEMPLATES, REGISTERS.name, Wrong.template)
    with pytest.raises((VerifyError, WrongAnswer)):
        Wrong().test_random_programs_are_right()


def test_the_template_of_the_page_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/templates.md shows a body; with imports and a line for the rest it is a template."""
    page = (Path(__file__).parents[2] / "docs" / "templates.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```python\n(def body.*?)```", page, re.DOTALL)
    names = {**vars(nodes), **vars(nest_nodes), **vars(template), "Anchor": Anchor}
    names |= {"ceildiv": ceildiv, "repeat": repeat}
    exec(shown, names)

    class Shown(TemplateSuite):
        target = TestOnCpus.target
        template = Template(
            "matmul.shown.1", {"width": (8, 16, 48)}, lambda anchor, n: [],
            lambda anchor, target: [(8,), (48,)], names["body"], alike(["float32"]),
            lambda anchor: "", plain=True,
        )  # fmt: skip

    monkeypatch.setitem(TEMPLATES, Shown.template.name, Shown.template)
    Shown().test_random_programs_are_right()

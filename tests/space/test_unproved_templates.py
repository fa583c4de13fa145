"""What was never right on a device is neither a default program nor the reference of others."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from benchmarks.bolt_problems import convolution, product

from tilewright.expr.dag import ComputeDAG
from tilewright.ground.errors import ScheduleError
from tilewright.nest.nodes import Instruction, walk
from tilewright.schedule.templates import ON_CPUS, TEMPLATES, templates_of
from tilewright.space.default import default_of
from tilewright.space.space import Sketch, Space
from tilewright.space.templates import unproved
from tilewright.target import CpuTarget, Target

H100, A100 = Target.parse("cuda:h100"), Target.parse("cuda:a100")
DAGS = {
    "product": product(4096, 4096, 4096, dtype="bfloat16").dag,
    "convolution": convolution(1, 56, 56, 64, 64, (3, 3)).dag,
    "layer": product(129, 264, 200, "relu", True).dag,
}
ON_HOPPER = {
    "product": "matmul.warp_specialized.1",
    "convolution": "matmul.warpgroups.1",
}


@cache
def default(name: str, target: str) -> Sketch:
    space = Space(DAGS[name], Target.parse(target))
    return space.sketches[int(default_of(space).sketch[0])]


def proved(target: Target, *names: str) -> str:
    return f"{target} proved={'+'.join(names)}"


@pytest.mark.parametrize("target", ["cuda:h100", "cuda:a100", "emulated"])
@pytest.mark.parametrize("name", DAGS)
def test_nothing_with_instructions_is_a_default_that_never_ran(name: str, target: str) -> None:
    found = default(name, target)
    assert not any(isinstance(node, Instruction) for node in walk(found.program.body))
    assert found.serves_unmeasured
    names = unproved(DAGS[name], Target.parse(target))
    assert names and all("threads" not in n for n in names)


@pytest.mark.parametrize("name", ON_HOPPER)
def test_once_right_it_is(name: str) -> None:
    target = proved(H100, ON_HOPPER[name])
    found = default(name, target)
    assert found.variant[0] == ON_HOPPER[name]
    assert found.variant[0] not in unproved(DAGS[name], Target.parse(target))


def test_a_proof_is_of_one_template() -> None:
    found = default("product", proved(H100, "matmul.tensor_cores.1"))
    assert found.variant[0] == "matmul.tensor_cores.1"
    assert not default("product", proved(H100, "matmul.warpgroups_split.1")).is_listed


def test_a_space_of_nothing_else_has_no_default() -> None:
    dag: ComputeDAG = DAGS["product"]
    hopper = Space(dag, H100, ())
    hopper.sketches = tuple(s for s in hopper.sketches if not s.serves_unmeasured)
    with pytest.raises(ScheduleError, match=r"no program of .* was ever right on cuda:h100"):
        default_of(hopper)


@pytest.mark.parametrize("name", TEMPLATES)
def test_plain_templates_have_no_instructions(name: str) -> None:
    """And all others have: they serve once they were right."""
    template = TEMPLATES[name]
    target = Target.parse("cpu:haswell") if template in ON_CPUS else H100
    dag = product(256, 256, 8192, dtype="float32" if template.plain else "bfloat16").dag
    sketches = Space(dag, target, (), templates=templates_of(target, asked=True)).sketches
    (sketch, *_) = (s for s in sketches if s.variant[0] == name)
    has_any = any(isinstance(node, Instruction) for node in walk(sketch.program.body))
    assert has_any != template.plain
    assert sketch.serves_unmeasured == template.plain or isinstance(target, CpuTarget)
    right = replace(H100, proved=frozenset({name}))  # type: ignore[call-arg]
    assert template.serves_unmeasured(right)

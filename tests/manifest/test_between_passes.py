"""Between any two passes of code generation, the nests of the manifest's smaller workloads are
valid: every access is inside of its buffer. On a GPU, until threads are merged.
"""

from __future__ import annotations

import numpy as np
import pytest
from manifest_cases import WORKLOADS

from tilewright.codegen.passes import cpu_passes, gpu_passes, passed
from tilewright.nest.verify import verify
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.space.space import Space
from tilewright.target import CpuTarget, Target

SMALL = ("C1D", "GMM", "GRD", "T2D", "CAP", "NRM", "odd_matmul", "argmax", "concat", "transpose",
         "bert_norm", "half_matmul", "attention", "lstm_step")  # fmt: skip
MERGING = [name for name, _ in gpu_passes()].index("virtual threads")


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("target", ["cpu:icelake-server cores=2", "cpu:haswell", "cuda:h100"])
def test_nests_are_valid_between_any_two_passes(name: str, target: str) -> None:
    dag, machine = WORKLOADS[name](), Target.parse(target)
    space = Space(dag, machine)
    passes = cpu_passes(machine) if isinstance(machine, CpuTarget) else gpu_passes()[:MERGING]
    drawn = space.sample(np.random.default_rng(5), 3)
    for number, row in zip(drawn.sketch, drawn.rows, strict=True):
        program = lower(State(dag).replay(space.trace(int(number), row)), name).program
        for step in passes:
            program = passed(program, [step])
            verify(program)

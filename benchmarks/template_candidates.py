"""Random programs of templates: are they right, how long do they take to compile, what is in them?

    python -m benchmarks.gpu_candidates --templates [--candidates N] [--json FILE]

Problems and rows are those of `template_problems`. Each program is interpreted and emulated, both
must give what the interpreter gives for the untransformed program; and its CUDA source is compiled
by NVRTC for the architectures that have such instructions. Of the machine code are counted the
registers of a thread, programs that keep something in memory (spilled, or not in registers at all),
and how much of the main loop multiplies.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

import numpy as np

from benchmarks.deadline import Deadline
from benchmarks.sass import PRODUCTS, Sass
from benchmarks.template_problems import Problem, drawn
from tilewright.build.compile import build_nest
from tilewright.contract.gene import Gene
from tilewright.ground.errors import BuildError, RunError, ScheduleError, VerifyError, WrongAnswer
from tilewright.runtime.emulated import EmulatedDevice
from tilewright.runtime.nvrtc import compile_cuda
from tilewright.schedule.templates import ON_GPUS, WITH_WARPGROUPS
from tilewright.schedule.trace import template_of

ARCHITECTURES = ("sm_80", "sm_90")
ONLY = {t.name: ("sm_90",) for t in WITH_WARPGROUPS}
SEED = 17
FIGURES = ("interpreted_s", "emulated_s", "nvrtc_s")


@dataclass
class TemplateFigures:
    """What was found of one template so far. Lists have one entry a program, and one an
    architecture where there are several; `products` are shares of the main loop's instructions.
    """

    sampled: int = 0
    invalid: int = 0
    wrong: int = 0
    failures: list[str] = field(default_factory=list)
    interpreted_s: list[float] = field(default_factory=list)
    emulated_s: list[float] = field(default_factory=list)
    nvrtc_s: list[float] = field(default_factory=list)
    registers: list[int] = field(default_factory=list)
    products: list[float] = field(default_factory=list)
    spilled: int = 0
    in_memory: int = 0

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> TemplateFigures:
        """Those of a template's entry in a results file; of an empty one, nothing yet."""
        return cls(**{f.name: entry[f.name] for f in fields(cls) if f.name in entry})

    def fail(self, i: int, error: Exception) -> None:
        self.failures.append(f"{i}: {type(error).__name__}: {error}"[:500])

    def timed(self, name: str, start: float) -> float:
        """Note the seconds since `start`; returns the time."""
        now = time.perf_counter()
        getattr(self, name).append(round(now - start, 4))
        return now


def measured(
    name: str, candidates: int, figures: TemplateFigures, deadline: Deadline
) -> TemplateFigures:
    """The figures with as many candidates more as the deadline admits."""
    for i in range(figures.sampled, candidates):
        if deadline.passed:
            break
        figures.sampled = i + 1
        try:
            problem, gene = drawn(ON_GPUS[name], np.random.default_rng([SEED, i]))
            checked(problem, gene, i, figures)
        except (ScheduleError, BuildError) as error:
            figures.invalid += 1
            figures.fail(i, error)
        except (VerifyError, RunError, WrongAnswer) as error:
            figures.wrong += 1
            figures.fail(i, error)
    return figures


def checked(problem: Problem, gene: Gene, seed: int, figures: TemplateFigures) -> None:
    """One program. Raises what is wrong with it."""
    device = EmulatedDevice(seed)
    program = problem.program(gene)
    artifact = build_nest(problem.dag, gene, device.target, "candidate")
    start = time.perf_counter()
    problem.interpreted(program)
    start = figures.timed("interpreted_s", start)
    problem.run(artifact, device)
    figures.timed("emulated_s", start)
    architectures = ONLY.get(template_of(gene) or "", ARCHITECTURES)
    for binary, report in map(partial(_compiled, figures, artifact.object_code), architectures):
        code = Sass.of(binary)
        loop = code.main_loop
        if loop:
            made = sum(loop[opcode] for opcode in PRODUCTS)
            figures.products.append(round(made / loop.total(), 4))
        figures.registers.append(report.registers)
        figures.spilled += report.spill_bytes > 0
        figures.in_memory += code.opcodes["LDL"] + code.opcodes["STL"] > 0


def _compiled(figures: TemplateFigures, source: bytes, architecture: str) -> Any:
    start = time.perf_counter()
    found = compile_cuda(source.decode(), architecture)
    figures.timed("nvrtc_s", start)
    return found


def rows(templates: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The cells of a table: its head, then a row for every template."""
    heads = ["", "sampled", "invalid", "wrong", "interpreted s", "emulated s", "NVRTC s"]
    found = [[*heads, "registers", "spilled", "in memory", "products in the loop"]]
    for name, t in templates.items():
        programs = max(len(t["nvrtc_s"]), 1)
        cells = [name, str(t["sampled"]), f"{t['invalid'] / t['sampled']:.0%}", str(t["wrong"])]
        cells += [f"{_median(t[figure]):.2f}" for figure in FIGURES]
        cells += [f"{_median(t['registers']):.0f}"]
        cells += [f"{t[count] / programs:.0%}" for count in ("spilled", "in_memory")]
        found.append([*cells, f"{_median(t['products']):.0%}"])
    return found


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if values else 0.0

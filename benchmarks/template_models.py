"""Contractions of whole networks: which templates take them, and are their programs right?

    python -m benchmarks.template_models [--models resnet50,bert] [--target cuda:h100]
                                         [--json FILE] [--minutes N]

Networks are in half precision, at batch 1, and cut into tasks as the target runs them. Of each task
with a contraction, and of each template that takes it, the row that the estimate puts first is
interpreted at the task's own shape: it must give what the interpreter gives for the untransformed
program. Values are -1, 0 and 1, so that sums are exact.

  right    programs within the tolerance of measurements
  exact    those of them that are equal at every element: what follows a contraction may round
  no row   templates that take the task, but have no row that is worth a try on the target
  refused  why templates do not take it

Tasks that FILE has are not run again: a slice ends after `--minutes` with the task at hand, and the
next one goes on there. Interpreting a task takes a minute or two.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Column, Table

import tilewright as tw
from benchmarks.bolt_gpu import half_file
from benchmarks.deadline import Deadline
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES
from benchmarks.operators import reported
from benchmarks.provenance import kept_file, provenance
from benchmarks.reuse_records import Results, keep_results, read_results
from benchmarks.suite.build import best_or_some, rows_of_templates
from benchmarks.template_problems import Problem
from benchmarks.turns import chosen
from tilewright.cli.console import output
from tilewright.cost.candidates import Population
from tilewright.expr.contraction.groups import Contraction, contraction_of, sums
from tilewright.expr.dag import ComputeDAG
from tilewright.front.machine import as_target
from tilewright.front.models import Model
from tilewright.ground.errors import ScheduleError, VerifyError, WrongAnswer
from tilewright.ground.text import NONE
from tilewright.schedule.producers import matched
from tilewright.schedule.templates import ON_GPUS, Template
from tilewright.space.space import Space
from tilewright.target import Target

MODELS = {"resnet50": CASES["resnet50-b1"], "bert": CASES["bert-base-b1"]}
SEED = 3


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit status."""
    line = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    line.add_argument("--models", default=",".join(MODELS), help="(%(default)s)")
    line.add_argument("--target", default="cuda:h100", help="(%(default)s)")
    line.add_argument("--folder", type=Path, default=Path("networks"), help="of ONNX files")
    line.add_argument("--json", type=kept_file, help="where results are kept, and read from first")
    line.add_argument("--minutes", type=float, default=math.inf, help="of this slice (no limit)")
    options = line.parse_args(words)
    return reported(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """What the file lacks."""
    deadline, target = Deadline.after(options.minutes), as_target(options.target)
    results = read_results(options.json, {"targets": {}})
    models = results["targets"].setdefault(options.target, {})
    for name in chosen(options.models, MODELS):
        onnx_file(MODELS[name], options.folder)
        model = tw.load(half_file(MODELS[name], options.folder))
        tasks = models.setdefault(name, {})
        for task, entry in entries(model, target, tasks, deadline):
            tasks[task] = {**entry, **provenance()}
            keep_results(options.json, results, summary(results))
            output().print(f"{name} {task}: {_sentence(entry)}", highlight=False, soft_wrap=True)
    shown = Table(*(Column(head, overflow="fold") for head in HEAD), box=None)
    for cells in rows(results):
        shown.add_row(*cells)
    output().print(shown, summary(results))
    return any(count["wrong"] for those in summary(results).values() for count in those.values())


# ---- tasks --------------------------------------------------------------------------------------


def entries(
    model: Model, target: Target, known: Mapping[str, Results], deadline: Deadline
) -> Iterator[tuple[str, Results]]:
    """The tasks of a network that are not known, as long as there is time."""
    for task in model.for_target(target).partition.tasks:
        if task.name not in known and not deadline.passed:
            yield task.name, {"calls": task.weight, **measured(task.dag, target)}


def contractions(dag: ComputeDAG) -> list[str]:
    """The shapes (batch, rows, columns and depth) of the stages that sum products of factors which
    move along different axes.
    """
    every = (contraction_of(dag, stage) for stage in sums(dag))
    found = [g for g in every if isinstance(g, Contraction) and (g.rows or g.columns)]
    return ["x".join(str(g.size(a)) for a in (g.batch, g.rows, g.columns, g.depth)) for g in found]


def measured(dag: ComputeDAG, target: Target) -> Results:
    """What templates make of a task; nothing where it has no contraction."""
    found: Results = {"contractions": contractions(dag)}
    found |= {"programs": {}, "no_row": [], "refused": {}}
    if not found["contractions"]:
        return found
    space, problem = Space(dag, target), Problem.of(dag, np.random.default_rng(SEED))
    listed = rows_of_templates(space)
    for name, template in ON_GPUS.items():
        refusal = refusal_of(dag, template)
        if refusal:
            found["refused"][name] = refusal
        elif name in listed:
            found["programs"][name] = checked(problem, space, listed[name])
        else:
            found["no_row"].append(name)
    return found


def refusal_of(dag: ComputeDAG, template: Template) -> str:
    """Why a template does not take a task; "" where it does."""
    try:
        matched(dag, template)
    except ScheduleError as error:
        return str(error).removeprefix(f"{template.name}: ")
    return ""


def checked(problem: Problem, space: Space, rows: Population) -> Results:
    """The program of the best of a template's rows: its numbers, the seconds of interpreting it,
    and whether it is `exact`; else what is `wrong` with it.
    """
    (best,) = best_or_some(space, rows, 1, True)
    expected, started = problem.expected, time.perf_counter()
    try:
        got = problem.interpreted(problem.program(best.gene))
    except (ScheduleError, VerifyError, WrongAnswer) as error:
        return {"numbers": best.numbers, "wrong": f"{type(error).__name__}: {error}"[:500]}
    seconds = round(time.perf_counter() - started, 2)
    return {"numbers": best.numbers, "seconds": seconds, "exact": np.array_equal(got, expected)}


# ---- figures ------------------------------------------------------------------------------------


def summary(results: Mapping[str, Any]) -> dict[str, dict[str, dict[str, int]]]:
    """Counts by target and network. A contraction has a template where one's program is right;
    `calls` are those of kernels with a contraction.
    """
    return {
        target: {name: _counts(list(tasks.values())) for name, tasks in models.items()}
        for target, models in results["targets"].items()
    }


def _counts(tasks: Sequence[Results]) -> dict[str, int]:
    programs = [p for task in tasks for p in task["programs"].values()]
    done = [task for task in tasks if _right(task)]
    return {
        "tasks": len(tasks),
        "contractions": sum(len(task["contractions"]) for task in tasks),
        "with_template": sum(len(task["contractions"]) for task in done),
        "calls": sum(task["calls"] for task in tasks if task["contractions"]),
        "calls_with_template": sum(task["calls"] for task in done),
        "programs": len(programs),
        "exact": sum(p.get("exact", False) for p in programs),
        "wrong": sum("wrong" in p for p in programs),
    }


def _right(task: Results) -> list[str]:
    return [name for name, p in task["programs"].items() if "wrong" not in p]


def _otherwise(task: Results) -> str:
    """What else became of templates, those of one reason together."""
    wrong = {n: f"WRONG: {p['wrong']}" for n, p in task["programs"].items() if "wrong" in p}
    reasons = {**wrong, **dict.fromkeys(task["no_row"], "no row"), **task["refused"]}
    found: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        found.setdefault(reason, []).append(name)
    return "; ".join(f"{_listed(names)}: {reason}" for reason, names in found.items()) or NONE


def _listed(templates: Sequence[str]) -> str:
    """Their names without what all have."""
    if len(templates) == len(ON_GPUS):
        return "all"
    return ", ".join(name.split(".")[1] for name in templates) or NONE


def _sentence(task: Results) -> str:
    if not task["contractions"]:
        return "no contraction"
    return f"right: {_listed(_right(task))}; otherwise: {_otherwise(task)}"


HEAD = ("target", "network", "task", "calls", "shape", "right", "refused, wrong or without a row")


def rows(results: Mapping[str, Any]) -> list[list[str]]:
    """The cells of a table: a row for every task with a contraction."""
    return [
        [target, name, task, str(entry["calls"]), ", ".join(entry["contractions"]),
         _listed(_right(entry)), _otherwise(entry)]
        for target, models in results["targets"].items()
        for name, tasks in models.items()
        for task, entry in tasks.items()
        if entry["contractions"]
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())

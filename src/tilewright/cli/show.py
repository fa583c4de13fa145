"""`tilewright show`: read the program of any record, layer by layer."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tilewright.cli.console import output, remark
from tilewright.cli.options import DEFAULT_DB, TargetSpec
from tilewright.cli.parts import database as databases
from tilewright.cli.parts import inspection, words
from tilewright.cli.records import DatabaseName, print_summary
from tilewright.ground.text import duration, points_line, rate

if TYPE_CHECKING:
    from tilewright.front.inspection import RecordedProgram


class Layer(Enum):
    """The printed forms of a program, in the order in which one becomes the next."""

    SKETCH = "sketch"
    TRACE = "trace"
    NEST = "nest"
    IR = "ir"


TITLES = {
    Layer.SKETCH: "sketch: the program with its decisions open",
    Layer.TRACE: "trace: the steps that schedule it",
    Layer.NEST: "nest: the loops they give",
    Layer.IR: "ir: the code they become, LLVM IR or a device's C",
}


def show(
    db: DatabaseName = DEFAULT_DB,
    task: Annotated[
        str | None,
        typer.Argument(
            metavar="TASK",
            help="A task: its name, the beginning of it (t2), a part that no other has, the "
            "beginning of its hash, or its number in `tilewright records`. Without it, tasks are "
            "listed.",
            show_default=False,
        ),
    ] = None,
    layer: Annotated[
        list[Layer] | None,
        typer.Option(
            metavar="LAYER",
            help="Print this layer: sketch, trace, nest or ir. May be repeated.",
            show_default="nest",
        ),
    ] = None,
    trial: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="The number of a trial, instead of a task's best.",
            show_default=False,
        ),
    ] = None,
    target: TargetSpec = None,
) -> None:
    """Read the program of a record: what it is, and its loop nest; other layers on demand.

    On a terminal each layer waits for Enter. Every form is made anew from the recorded steps.

    Example: tilewright show tuning.db max_pool --layer sketch --layer ir
    """
    console = output()
    with databases.Database.open(db, create=False, readonly=True) as database:
        if task is None and trial is None:
            flops = {w.hash: w.flops for w in database.workloads()}
            print_summary(console, database.summary(), flops)
            console.print(f"Show one with: tilewright show {db} TASK", soft_wrap=True)
            return
        program = inspection.find_program(database, task, trial, target)
    print_head(console, program, db)
    for number, one in enumerate(layer or [Layer.NEST]):
        if number and console.is_terminal and not typer.confirm(f"{one.value}?", default=True):
            return
        console.print(f"\n── {TITLES[one]}", style="bold")
        console.print(program.layers.text(one.value), soft_wrap=True, end="")


def print_head(console: Console, program: RecordedProgram, db: str) -> None:
    """Which record this is."""
    trial, workload = program.trial, program.workload
    if program.note:
        remark(program.note)
    console.print(f"{workload.name} ({workload.hash[:8]})", style="bold")
    console.print(f"trial {trial.id} of {db}, measured on {program.machine}", soft_wrap=True)
    structure = words.sketch_words(program.layers.sketch_name)
    console.print(f"{structure}; {words.origin_words(trial.origin)}", soft_wrap=True)
    if program.sizes:
        console.print(f"one program for {', '.join(map(str, program.sizes))}", soft_wrap=True)
    if program.reused is not None:
        source = program.reused
        is_own = source.hash == workload.hash
        other = f"{source.name} (workload {source.hash[:8]})"
        whom = "another machine's programs" if is_own else other
        console.print(f"reused {whom}", soft_wrap=True)
    for reader, (maker, is_one) in program.layers.chained.items():
        how = "in the loops of" if is_one else "before"
        console.print(f"{maker} is computed {how} {reader}, which reads it", soft_wrap=True)
    if trial.ok:
        speed = rate(workload.flops, trial.latency_s)
        confirmed = " (confirmed in turns)" if trial.confirmed_s else ""
        mean = ", a mean over sizes" if program.sizes else ""
        console.print(f"{duration(trial.latency_s)}, {speed} GFLOP/s{mean}{confirmed}")
        if program.points_s:
            console.print(points_line(program.points_s), soft_wrap=True)
    else:
        text = f"failed in {trial.stage} with {trial.error}: {trial.message}"
        console.print(text, soft_wrap=True)

"""`tilewright tune`: search for fast programs of one or more models."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.console import Console

import tilewright as tw
from tilewright import arguments
from tilewright.cli.console import output
from tilewright.cli.options import (
    DEFAULT_DB,
    Seed,
    Shapes,
    TargetSpec,
    each_shape,
    load_models,
    parse_objective,
    usage,
)
from tilewright.cli.progress import (
    Snapshot,
    display,
    doubt_line,
    share_line,
    summary_line,
    task_table,
)
from tilewright.text import clock, count, duration

INTERRUPTED = 130  # the exit status after Ctrl-C

Models: TypeAlias = Annotated[
    list[Path],
    typer.Argument(metavar="MODEL", help="ONNX model files; parts they share are tuned once."),
]
Minutes: TypeAlias = Annotated[
    float | None,
    typer.Option(
        callback=usage(arguments.minutes),
        help="Stop after so many minutes.",
        show_default="10, without --trials",
    ),
]
Trials: TypeAlias = Annotated[
    int | None,
    typer.Option(
        callback=usage(partial(arguments.count, "trials")),
        help="Stop after so many measured programs, in total over all runs.",
        show_default=False,
    ),
]
Patience: TypeAlias = Annotated[
    int | None,
    typer.Option(
        callback=usage(partial(arguments.count, "patience")),
        help="Stop when so many programs in a row made nothing better by a thousandth.",
        show_default=False,
    ),
]
NewRecords: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="FILE|URL",
        help="Where records go: a SQLite file (made if absent) or a postgresql:// URL.",
    ),
]
Goal: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="GOAL",
        help="What to make small. sum: the latencies' sum. requirement:0.02,0.1: the same, "
        "but nothing below these seconds (one number a model, and for each of its shapes) "
        "counts. geomean:0.04,0.2: the geometric mean against reference latencies. "
        "early-stopping: the sum, without tasks that stopped getting better.",
    ),
]
Strategy: TypeAlias = Annotated[
    str, typer.Option(help="How to search: evolution, random, or exhaustive (tiny spaces only).")
]
Runner: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="COMMAND",
        help="Measure on another machine: a command that carries standard input and output to "
        "tilewright-runner there, such as 'ssh pi@board tilewright-runner'. Name the machine "
        "with --target.",
    ),
]


def tune(
    models: Models,
    shape: Shapes = None,
    minutes: Minutes = None,
    trials: Trials = None,
    patience: Patience = None,
    db: NewRecords = DEFAULT_DB,
    target: TargetSpec = None,
    objective: Goal = "sum",
    strategy: Strategy = "evolution",
    seed: Seed = 0,
    runner: Runner = None,
) -> None:
    """Search for fast programs and record everything measured.

    Cuts each model into tasks (kernels), measures an untuned program of each one, then spends its
    time where the models gain most. Every program's output is checked before it counts.

    Stopping (Ctrl-C, or a crash) loses nothing that was recorded: the same command goes on.

    Example: tilewright tune resnet50.onnx --minutes 10 --db tuning.db
    """
    console = output()
    loaded = load_models(models, shape)
    goal = parse_objective(objective, sum(len(each_shape(m)) for m in loaded))
    interrupted = False
    with display(console) as show:
        try:
            tw.tune(
                loaded,
                minutes=minutes,
                trials=trials,
                patience=patience,
                db=db,
                objective=goal,
                target=target,
                strategy=strategy,
                seed=seed,
                runner=runner,
                callbacks=[show],
            )
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        console.print("Stopped.", style="bold")
    if show.last is not None:
        report(console, show.last, db)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def report(console: Console, snapshot: Snapshot, db: str) -> None:
    """What a run reached."""
    console.print(task_table(snapshot))
    console.print(summary_line(snapshot), style="bold")
    if doubt := doubt_line(snapshot):
        console.print(doubt, highlight=False)
    if snapshot.busy:
        console.print(f"The machine was {snapshot.busy}.", style="yellow", highlight=False)
    line = f"{count(snapshot.trials, 'trial')} in {clock(snapshot.elapsed_s)}"
    if snapshot.default_programs_s:
        line += f"; default programs took {duration(snapshot.default_programs_s)}"
    if shares := share_line(snapshot):
        line += f"; {shares}"
    console.print(line)
    console.print(
        f"Records: {db}. The same command goes on from here; use them with --db {db}.",
        soft_wrap=True,
    )

"""`tilewright tune`: search for fast programs of one or more models."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from rich.console import Console

import tilewright as tw
from tilewright.cli.console import output
from tilewright.cli.interrupts import exit_status
from tilewright.cli.options import (
    DEFAULT_DB,
    Chains,
    Constants,
    Limits,
    Math,
    Quiet,
    Seed,
    ShapesOfModels,
    TargetSpec,
    each_shape,
    load_models,
    parse_objective,
    usage,
)
from tilewright.cli.parts import progress
from tilewright.contract import arguments
from tilewright.front.machine import as_target
from tilewright.ground.text import count

if TYPE_CHECKING:
    from tilewright.progress import Display, Snapshot

Models: TypeAlias = Annotated[
    list[Path],
    typer.Argument(
        metavar="MODEL",
        help="ONNX model files; parts they share are tuned once.",
        show_default=False,
    ),
]
Minutes: TypeAlias = Annotated[
    float | None,
    typer.Option(
        metavar="MINUTES",
        callback=usage(arguments.minutes),
        help="Stop after so many minutes.",
        show_default="10, without --trials and --strategy reuse-all",
    ),
]
Trials: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        callback=usage(partial(arguments.count, "trials")),
        help="Stop after so many searched programs, in total over all runs; untuned ones do not "
        "count.",
        show_default=False,
    ),
]
Patience: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N",
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
    str,
    typer.Option(
        metavar="NAME",
        callback=usage(partial(arguments.one_of, "strategy", known=arguments.STRATEGIES)),
        help="How to search: evolution (learns which programs are worth measuring), templates (all "
        "programs of nests written by hand, at most a few hundred a task; a task without one is "
        "searched by evolution), profile (measures the few programs that guidelines for this "
        "machine suggest, at most 24 a task: it ends in minutes), reuse (searches tasks whose "
        "shapes alone differ near each other's good programs, and near recorded ones: a dozen "
        "programs each, by what was learnt, far fewer in all), reuse-all (the same with everything "
        "that ETO's published tuner enumerates, tens to hundreds each, for devices of which the "
        "estimate says little; without a budget it ends with its plan), random, beam (one decision "
        "after another), or exhaustive (tiny spaces only). See `tilewright plan`, too.",
    ),
]
Runner: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COMMAND",
        help="Measure on another machine: a command that carries standard input and output to "
        "tilewright-runner there, such as 'ssh pi@board tilewright-runner'. Name the machine "
        "with --target. May be repeated, for several equal machines.",
        show_default=False,
    ),
]
Cluster: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="auto|HOST:PORT",
        help="Measure on all machines of a Ray cluster at once; auto: the one that this machine "
        "is of. Needs tilewright[cluster]; see docs/cluster.md.",
        show_default=False,
    ),
]
OfMachines: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Of machines of several kinds, those to tune for: a part of their description, which "
        "is listed when there is no such.",
        show_default="the most",
    ),
]


def tune(
    context: typer.Context,
    models: Models,
    shape: ShapesOfModels = None,
    constant: Constants = None,
    limit: Limits = None,
    chains: Chains = True,
    math: Math = "float32",
    minutes: Minutes = None,
    trials: Trials = None,
    patience: Patience = None,
    db: NewRecords = DEFAULT_DB,
    target: TargetSpec = None,
    objective: Goal = "sum",
    strategy: Strategy = "evolution",
    seed: Seed = 0,
    runner: Runner = None,
    cluster: Cluster = None,
    machine: OfMachines = None,
    quiet: Quiet = False,
) -> None:
    """Search for fast programs and record everything measured.

    Cuts each model into tasks (kernels), measures an untuned program of each one, then spends its
    time where the models gain most. Every program's output is checked before it counts.

    Stopping (Ctrl-C, SIGTERM, or a crash) loses nothing that was recorded: the same command goes
    on.

    Example: tilewright tune resnet50.onnx --minutes 10 --db tuning.db
    """
    begun = context.obj or time.monotonic()
    console = output(quiet)
    commands = None if runner is None else [arguments.command_words(command) for command in runner]
    chosen = as_target(None if cluster else target)  # whose machines know what theirs is
    loaded = load_models(models, shape, constant, limit, chains, math, chosen)
    if minutes is not None:  # what a user waits for counts, the loading of modules and models too
        minutes = max(0.0, minutes - (time.monotonic() - begun) / 60)
    goal = parse_objective(objective, sum(len(each_shape(m)) for m in loaded))
    with _shown(console, db) as show:
        tw.tune(
            loaded,
            minutes=minutes,
            trials=trials,
            patience=patience,
            db=db,
            objective=goal,
            target=target if cluster else chosen,
            strategy=strategy,
            seed=seed,
            runner=commands,
            cluster=cluster,
            machine=machine,
            callbacks=[show],
            progress=False,
        )


@contextmanager
def _shown(console: Console, db: str) -> Iterator[Display]:
    """Show a run and, even where it was interrupted, what it reached."""
    interrupt = None
    with progress.display(console) as show:
        try:
            yield show
        except KeyboardInterrupt as caught:
            interrupt = caught
    with suppress(*() if interrupt is None else (OSError,)):  # the terminal may be what has gone
        if interrupt is not None:
            console.print("Stopped.", style="bold")
        if show.last is not None:
            report(console, show.last, db)
    if interrupt is not None:
        raise typer.Exit(exit_status(interrupt))


def report(console: Console, snapshot: Snapshot, db: str) -> None:
    """What a run reached, and where the records are."""
    progress.print_summary(console, snapshot)
    budget = snapshot.budget.trials
    if budget is not None and snapshot.trials >= budget:
        more = f"The budget of {count(budget, 'trial')} is spent: to go on, raise --trials"
    else:
        more = "The same command goes on from here"
    console.print(f"Records: {db}. {more}; use them with --db {db}.", soft_wrap=True)

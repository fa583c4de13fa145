"""`tilewright advise`: what shapes, activations and depth of a model cost on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from time import monotonic
from typing import Annotated, TypeAlias

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import tilewright as tw
from tilewright.cli.console import output, print_json
from tilewright.cli.options import (
    Chains,
    Constants,
    Json,
    Limits,
    Math,
    ModelFile,
    Records,
    Shapes,
    load_model,
    usage,
)
from tilewright.cli.parts import advice
from tilewright.contract import arguments
from tilewright.front.machine import as_target
from tilewright.ground.text import NONE, clock, count, duration

NEARLY_FREE = 0.1  # of a task's time, for a 1x1 convolution more
Minutes: TypeAlias = Annotated[
    float | None,
    typer.Option(
        metavar="MINUTES",
        callback=usage(arguments.minutes),
        help="Begin no task after so many minutes; those that cost most come first.",
        show_default=False,
    ),
]


def advise(
    model: ModelFile,
    db: Records = None,
    shape: Shapes = None,
    constant: Constants = None,
    limit: Limits = None,
    chains: Chains = True,
    math: Math = "float32",
    minutes: Minutes = None,
    json: Json = False,
) -> None:
    """Measure what in a model costs time here, for those who design it.

    Of each kernel of the model: what its activation takes (measured without it), what channels
    take that are no whole vectors (measured with more), what a 1x1 convolution behind it would
    take, and what float32 takes more than bfloat16 and bytes. Variants run their untuned programs;
    with --db the best ones where it has both. The two take turns; what differs by no more than from
    turn to turn is "not told apart".

    Example: tilewright advise resnet50.onnx --minutes 3
    """
    console = output(quiet=json)
    loaded = load_model(model, shape, constant, limit, chains, math, as_target(None))
    with _progress(console) as told:
        found = tw.advise(loaded, db=db, minutes=minutes, told=told)
    if json:
        print_json(
            {
                "model": str(model),
                "findings": [
                    asdict(f) | {"cost_s": f.cost_s, "share": f.share, "told_apart": f.told_apart}
                    for f in found.findings
                ],
                "left": list(found.left),
                "busy": found.busy,
            }
        )
        return
    titles = {
        advice.ACTIVATION: "activations: the task with and without",
        advice.SHAPE: "channels that are no whole vectors: the contraction alone, and with whole "
        "ones for as many operations",
        advice.DEEPER: "a 1x1 convolution more: the task without and with",
        advice.BITS: "fewer bits (--math bfloat16, or a quantised model): the task in float32 and "
        "with contractions of them",
    }
    for question in advice.QUESTIONS:
        if mine := found.of(question):
            print_findings(console, titles[question], mine)
    if not found.findings:
        console.print("There is nothing to advise: no activations, and no contractions.")
    if found.busy:
        console.print(f"The machine was {found.busy}.", style="yellow")
    if found.left:
        console.print(f"No time for {count(len(found.left), 'task')}: give it more --minutes.")


def print_findings(console: Console, title: str, findings: Sequence[tw.Finding]) -> None:
    """One row a finding: what it costs a call is the difference of the two times before it."""
    table = Table(box=None, header_style="bold", pad_edge=False, title=title, title_justify="left")
    for heading in ("task", "change"):
        table.add_column(heading)
    for heading in ("as it is", "changed", "costs a call", "±", "calls", "a run", "of the task"):
        table.add_column(heading, justify="right", no_wrap=True)
    for f in findings:
        most = (f.call_s + f.spread_s) / f.usual_s
        free = f.question == advice.DEEPER and most <= NEARLY_FREE
        cost = ("not told apart", duration(f.spread_s), f"{f.calls:g}", NONE, NONE)
        if f.told_apart:
            sign = "-" if f.call_s < 0 else ""
            each, run = (f"{sign}{duration(abs(s))}" for s in (f.call_s, f.cost_s))
            cost = (each, duration(f.spread_s), f"{f.calls:g}", run, f"{f.share:.0%}")
        table.add_row(
            f.task,
            f"{f.change}{' (nearly free)' if free else ''}",
            duration(f.usual_s),
            duration(f.equal_work_s),
            *cost,
        )
    console.print(table)
    console.print()


@contextmanager
def _progress(console: Console) -> Iterator[Callable[[int, int, str], None]]:
    """What hears how far it is, and shows that: a bar on a terminal, elsewhere a line a task."""
    begun = monotonic()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        row = bar.add_task("", total=None)

        def told(done: int, total: int, name: str) -> None:
            bar.update(row, completed=done, total=total, description=name)
            if name and not console.is_terminal:
                console.print(
                    f"{clock(monotonic() - begun):>6}  task {done + 1} of {total} · {name}"
                )

        yield told

"""`tilewright records` and `tilewright export`: what a database holds, and how to carry it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from tilewright.cli.console import output
from tilewright.cli.options import DEFAULT_DB
from tilewright.inspection import import_records
from tilewright.records.database import Database
from tilewright.records.rows import Summary
from tilewright.text import NONE, count, duration, rate

SHOWN_HASH = 8

DatabaseName = Annotated[
    str, typer.Argument(metavar="DB", help="A SQLite file or a postgresql:// URL.")
]


def records(
    db: DatabaseName = DEFAULT_DB,
    source: Annotated[
        Path | None,
        typer.Option(
            "--import",
            metavar="FILE",
            help="First merge records that `tilewright export` wrote (the database is made if "
            "absent). What is there already stays as it is.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Summarise a records database: tasks, best latencies, machines, models, failures.

    Example: tilewright records tuning.db
    """
    console = output()
    reading = source is None
    with Database.open(db, create=not reading, readonly=reading) as database:
        if source is not None:
            done = import_records(database, source)
            console.print(
                f"Imported {count(done.trials, 'new trial')} from {source} "
                f"({done.known_trials} were known).",
                soft_wrap=True,
            )
        print_summary(console, database.summary(), {w.hash: w.flops for w in database.workloads()})


def export(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write; .gz compresses it.")
    ],
    db: Annotated[str, typer.Option(metavar="FILE|URL", help="The database.")] = DEFAULT_DB,
) -> None:
    """Write all records as JSON lines, to carry to another database or to read elsewhere.

    Read them back with: tilewright records OTHER.db --import FILE

    Example: tilewright export records.jsonl.gz --db tuning.db
    """
    with Database.open(db, create=False, readonly=True) as database:
        written = database.export(file)
    output().print(f"Wrote {count(written, 'trial')} to {file}.", soft_wrap=True)


def print_summary(console: Console, summary: Summary, flops: dict[str, int]) -> None:
    """Tasks by name, then machines, models and failures."""
    console.print(
        f"{count(summary.trials, 'trial')} of {count(summary.workloads, 'task')}, "
        f"{summary.failed} failed",
        style="bold",
    )
    if summary.coverage:
        console.print(_tasks(summary, flops))
    for machine in summary.machines:
        console.print(f"machine {machine.fingerprint[:SHOWN_HASH]}: {machine}")
    for model in summary.models:
        calls = sum(task.weight for task in model.tasks)
        console.print(
            f"model {model.name}: {count(len(model.tasks), 'task')}, {count(calls, 'call')}"
        )
    for line in summary.errors:
        console.print(f"failed in {line.stage}: {count(line.trials, 'trial')} with {line.error}")


def _tasks(summary: Summary, flops: dict[str, int]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("no.", justify="right")
    table.add_column("task", overflow="ellipsis", no_wrap=True, max_width=48)
    table.add_column("hash", no_wrap=True)
    table.add_column("machine", no_wrap=True)
    for heading in ("best", "GFLOP/s", "trials", "failed"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("last", no_wrap=True)
    for number, line in enumerate(summary.coverage, 1):
        table.add_row(
            str(number),
            line.name,
            line.workload_hash[:SHOWN_HASH],
            line.machine[:SHOWN_HASH],
            duration(line.best_s),
            rate(flops.get(line.workload_hash, 0), line.best_s),
            str(line.trials),
            str(line.failed) if line.failed else NONE,
            f"{datetime.fromtimestamp(line.last_at):%Y-%m-%d %H:%M}",
        )
    return table

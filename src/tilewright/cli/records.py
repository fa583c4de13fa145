"""`tilewright records` and `tilewright export`: what a database holds, and how to carry it."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from rich.console import Console
from rich.table import Table

from tilewright.cli.console import output, print_json
from tilewright.cli.options import DEFAULT_DB, Json
from tilewright.cli.parts import database as databases
from tilewright.cli.parts import inspection
from tilewright.ground.errors import InputError
from tilewright.ground.text import NONE, count, duration, rate, trials

if TYPE_CHECKING:
    from tilewright.records.answers import Summary
    from tilewright.records.database import Database
    from tilewright.records.exchange import ImportedRecords

SHOWN_HASH = 8

DatabaseName: TypeAlias = Annotated[
    str, typer.Argument(metavar="DB", help="A SQLite file or a postgresql:// URL.")
]


Imports: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--import",
        metavar="FILE",
        help="First add records that `tilewright export` wrote (the database is made if absent). "
        "What is there already stays as it is.",
        show_default=False,
    ),
]
Merges: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--merge",
        metavar="FILE|URL",
        help="First add the records of another database (this one is made if absent). What is "
        "there already stays as it is.",
        show_default=False,
    ),
]
Deletes: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--delete",
        metavar="TASK",
        help="First drop all trials of a task, named as for `tilewright show`.",
        show_default=False,
    ),
]
Prunes: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--prune",
        min=1,
        metavar="N",
        help="First drop all trials but the N fastest of every task on every machine, default "
        "programs and what was confirmed. A search goes on from what is left.",
        show_default=False,
    ),
]
Renames: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--rename",
        metavar="MODEL=NAME",
        help="First give a model another name to be shown by.",
        show_default=False,
    ),
]


def records(
    db: DatabaseName = DEFAULT_DB,
    source: Imports = None,
    other: Merges = None,
    task: Deletes = None,
    keep: Prunes = None,
    renamed: Renames = None,
    json: Json = False,
) -> None:
    """Summarise a records database: tasks, best latencies, machines, models, failures.

    A task's program is "tuned", found by a search, or "measured", the untuned one, which nothing
    that was measured beat.

    Example: tilewright records tuning.db
    """
    console = output(quiet=json)
    asked = [o is not None for o in (source, other, task, keep, renamed)]
    if sum(asked) > 1:
        raise InputError("give one of --import, --merge, --delete, --prune and --rename")
    is_new = source is not None or other is not None
    with databases.Database.open(db, create=is_new, readonly=not any(asked)) as database:
        done = ""
        if source is not None:
            done = _added(inspection.import_records(database, source), str(source))
        elif other is not None:
            with databases.Database.open(other, create=False, readonly=True) as theirs:
                done = _added(database.merge(theirs), theirs.name)
        elif task is not None:
            line = inspection.find_task(database, task)
            dropped = database.delete(line.workload_hash)
            done = f"Deleted {count(dropped, 'trial')} of {line.name}."
        elif keep is not None:
            done = f"Deleted {count(database.prune(keep), 'trial')}."
        elif renamed is not None:
            done = rename(database, renamed)
        if done:
            console.print(done, soft_wrap=True)
        flops = {w.hash: w.flops for w in database.workloads()}
        summary = database.summary()
    print_summary(console, summary, flops)
    if json:
        print_json(facts(summary, flops))


def _added(done: ImportedRecords, source: str) -> str:
    return (
        f"Imported {count(done.trials, 'new trial')} from {source} "
        f"({done.known_trials} were known)."
    )


def rename(database: Database, text: str) -> str:
    """Carry out `MODEL=NAME`, and say what was done; raises InputError for anything else."""
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise InputError(f"--rename {text!r} is not MODEL=NAME; for example model=detector")
    known = database.summary().models
    fits = [m for m in known if m.name == old or m.hash.startswith(old)]
    if len(fits) != 1:
        listed = "".join(f"\n  {m.name} ({m.hash[:SHOWN_HASH]})" for m in known)
        raise InputError(f"no single model is called {old!r}; {database.name} has{listed}")
    database.rename(fits[0].hash, new)
    return f"{fits[0].name} is called {new} now."


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
    with databases.Database.open(db, create=False, readonly=True) as database:
        written = database.export(file)
    output().print(f"Wrote {count(written, 'trial')} to {file}.", soft_wrap=True)


def print_summary(console: Console, summary: Summary, flops: dict[str, int]) -> None:
    """Tasks by name, then machines, models and failures."""
    total = trials(summary.trials - summary.defaults, summary.defaults)
    console.print(
        f"{total} of {count(summary.workloads, 'task')}, {summary.failed} failed", style="bold"
    )
    if summary.coverage:
        console.print(_tasks(summary, flops))
    for machine in summary.machines:
        console.print(f"machine {machine}")
    for model in summary.models:
        calls = sum(task.weight for task in model.tasks)
        console.print(
            f"model {model.name}: {count(len(model.tasks), 'task')}, {count(calls, 'call')}"
        )
    for line in summary.errors:
        console.print(f"failed in {line.stage}: {count(line.trials, 'trial')} with {line.error}")


def facts(summary: Summary, flops: dict[str, int]) -> dict[str, Any]:
    """The same for JSON; times in seconds, `last_at` in seconds of Unix time."""
    return {
        "trials": summary.trials,
        "searched": summary.trials - summary.defaults,
        "default": summary.defaults,
        "failed": summary.failed,
        "tasks": [
            {
                "name": line.name,
                "hash": line.workload_hash,
                "machine": line.machine,
                "program": line.program,
                "best_s": line.best_s,
                "flops": flops.get(line.workload_hash, 0),
                "trials": line.trials,
                "default": line.defaults,
                "failed": line.failed,
                "last_at": line.last_at,
            }
            for line in summary.coverage
        ],
        "machines": [asdict(machine) for machine in summary.machines],
        "models": [asdict(model) for model in summary.models],
        "errors": [asdict(line) for line in summary.errors],
    }


def _tasks(summary: Summary, flops: dict[str, int]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("no.", justify="right")
    table.add_column("task", overflow="ellipsis", no_wrap=True, max_width=48)
    table.add_column("hash", no_wrap=True)
    table.add_column("machine", no_wrap=True)
    for heading in ("program", "best", "GFLOP/s", "trials", "failed"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("last", no_wrap=True)
    for number, line in enumerate(summary.coverage, 1):
        table.add_row(
            str(number),
            line.name,
            line.workload_hash[:SHOWN_HASH],
            line.machine[:SHOWN_HASH],
            line.program,
            duration(line.best_s),
            rate(flops.get(line.workload_hash, 0), line.best_s),
            str(line.trials),
            str(line.failed) if line.failed else NONE,
            f"{datetime.fromtimestamp(line.last_at):%Y-%m-%d %H:%M}",
        )
    return table

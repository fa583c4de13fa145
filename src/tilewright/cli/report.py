"""`tilewright report`: one page about a tuning database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tilewright.cli.console import output
from tilewright.cli.options import DEFAULT_DB
from tilewright.cli.parts import inspection
from tilewright.cli.records import DatabaseName
from tilewright.ground.text import count, size, trials


def report(
    db: DatabaseName = DEFAULT_DB,
    out: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")
    ] = Path("report.html"),
    machine: Annotated[
        str | None,
        typer.Option(
            metavar="HASH",
            help="The beginning of a machine's fingerprint, as `tilewright records` prints it.",
            show_default="the one measured last",
        ),
    ] = None,
) -> None:
    """Write one HTML page about what was tuned; it opens in any browser, without a network.

    Shows where the next gain is (what each kernel adds to a run, and how far it is above the
    machine's limits), how latency fell over time and trials, which task got how much time, how
    well the cost model predicted, what failed, how the runs were started, and every task's best
    program as loop nest and LLVM IR. What `bench --db` measured stands beside the estimate.
    Needs: pip install 'tilewright[report]'

    Example: tilewright report tuning.db -o report.html
    """
    history = inspection.write_report(db, out, machine)
    output().print(
        f"Wrote {out} ({size(out.stat().st_size)}): "
        f"{trials(history.searched, history.trials - history.searched)} of "
        f"{count(len(history.tasks), 'task')}.",
        soft_wrap=True,
    )

"""What the commands record beside trials: how a run was started, what a whole network took."""

from __future__ import annotations

import shutil
from pathlib import Path

from typer.testing import Result

from cli_models import TRIALS, cli
from tilewright.front.inspection import write_report
from tilewright.records.database import Database
from tilewright.records.rows import MEASURED, RUN


def test_a_run_keeps_how_it_was_started(tuned: tuple[Path, Result]) -> None:
    with Database.open(tuned[0], readonly=True) as database:
        started = {run.started_at for run in database.runs()}
        facts = [row.facts for row in database.facts(RUN) if row.at in started]
    assert facts[0]["trials"] == TRIALS and facts[0]["tasks"] == 1
    assert "minutes" not in facts[0] and facts[0]["command"] and facts[0]["llvmlite"]


def test_bench_keeps_what_it_measured(
    tuned: tuple[Path, Result], model: Path, tmp_path: Path
) -> None:
    db = tmp_path / "copy.db"
    shutil.copy(tuned[0], db)
    done = cli("bench", model, "--db", db, "--seconds", "0.1", "--no-peer")
    assert done.exit_code == 0, done.output
    with Database.open(db, readonly=True) as database:
        *_, row = database.facts(MEASURED)  # of several, if others timed it before
    (net,) = write_report(db, tmp_path / "r.html").models
    assert net.measured == {k: v for k, v in row.facts.items() if k != "network"}
    assert net.measured.keys() == {"untuned", "tuned"}

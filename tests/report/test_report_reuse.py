"""The page and `show` say near whose programs a task's search began, where it did."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from page_reader import Page, read_page
from sample_tuning import MACHINE, fill, tasks

from cli_models import cli
from tilewright.front.inspection import find_program, write_report
from tilewright.records import Database, ReuseRow
from tilewright.records.rows import FOREIGN

GEMM, SOFTMAX, HOPELESS = tasks()
BRIDGE = "b0" * 32


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One softmax reused the other, and that a task which has no trials any more. The product's
    first plan did not begin, its second began with another machine's programs.
    """
    file = tmp_path_factory.mktemp("reuse") / "tuning.db"
    with Database.open(file) as database:
        fill(database)
        database.add_workload(replace(SOFTMAX.row, hash=BRIDGE, name="bridge_<4x64>"))
        some = tuple(t.id for t in database.trials() if t.id is not None)[:2]
        for position, (task, source) in enumerate(
            ((SOFTMAX.hash, BRIDGE), (HOPELESS.hash, SOFTMAX.hash), (GEMM.hash, SOFTMAX.hash))
        ):
            step = ReuseRow(
                MACHINE.fingerprint, "p", 0, position, task, "reuse", source, 12, 5.0, some
            )
            database.keep(replace(step, trials=()) if task == GEMM.hash else step)
        database.keep(replace(step, plan="q", kind=FOREIGN, source_hash=GEMM.hash))
    return file


@pytest.fixture(scope="module")
def page(db: Path) -> Page:
    write_report(db, db.with_name("report.html"))
    return read_page(db.with_name("report.html").read_text(encoding="utf-8"))


def test_the_page_names_what_was_reused(page: Page) -> None:
    text = " ".join(page.text.split())
    assert f"reused programs of softmax (workload {SOFTMAX.hash[:8]})." in text
    assert f"reused programs of bridge_<4x64> (workload {BRIDGE[:8]})." in text
    assert "Its search reused programs of it from another machine." in text
    assert text.count("Its search reused") == 3, "the third step has not begun"
    links = [attributes.get("href") for tag, attributes in page.elements if tag == "a"]
    assert links.count(f"#task-{SOFTMAX.hash[:12]}") == 1 + links.count(f"#task-{GEMM.hash[:12]}")
    assert f"#task-{BRIDGE[:12]}" not in links, "it has no section"


def test_show_names_what_was_reused(db: Path) -> None:
    bridge = f"bridge_<4x64> (workload {BRIDGE[:8]})"
    for task, source in (("softmax", bridge), ("gemm", "another machine's programs")):
        result = cli("show", db, task, "--layer", "sketch")
        assert result.exit_code == 0, result.output
        lines = [line for line in result.output.splitlines() if line.startswith("reused")]
        assert lines == [f"reused {source}"]
    with Database.open(db, readonly=True) as database:
        program = find_program(database, "hopeless", target="cpu:icelake-server cores=2")
    assert program.reused is not None and program.reused.hash == SOFTMAX.hash

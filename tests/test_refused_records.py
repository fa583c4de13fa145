"""A record that gives no program never stands in the way: the next best serves, with a note."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from cli_models import check_error, cli, save_classifier
from tilewright.contract.gene import Gene
from tilewright.front.kernels import MOST_REFUSED
from tilewright.front.machine import host_target, machine_of
from tilewright.front.tuning_tasks import tasks_of
from tilewright.records.database import Database
from tilewright.records.rows import ModelRow, ModelTask, Trial

pytestmark = pytest.mark.cpu

GOOD = "[]"
BAD = (
    '[["compute_inline","max_pool"]]',
    "null",
    "[[[",
    "[" * 100_000,
    f"[{'[],' * 1_000_000}[]]",
    f'[["split","matmul","i",[{"9" * 4000}]]]',
    '"a"',
    '[["split","matmul","j",["a"]]]',
    '[["stream"]]',
    # a legal step, but nothing that can be lowered
    '[["annotate","relu","i0","block"],["scope","matmul","shared"]]',
    '[["compute_at","matmul","relu",1],["scope","matmul","shared"],["compute_root","matmul"]]',
)


def by_hand(trace: str) -> Gene:
    """The gene of concrete steps, as JSON has them."""
    return Gene(f'{{"sketch":"","steps":{trace}}}')


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_classifier(tmp_path_factory.mktemp("refused") / "classifier.onnx")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))


def save_records(model: Path, db: Path, *traces: str) -> str:
    """Records of the model's task, every trace faster than the one before; returns its name."""
    machine = machine_of(host_target())
    (task,) = tasks_of(tw.load(model))
    with Database.open(db) as database:
        database.add_machine(machine)
        database.add_workload(task.row)
        database.add_model(ModelRow("m", "classifier", (ModelTask(task.hash, 1),)))
        trials = [
            Trial(
                workload_hash=task.hash,
                machine=machine.fingerprint,
                gene=by_hand(trace),
                round=0,
                seed=0,
                latencies_s=(1e-3 / (n + 1),),
            )
            for n, trace in enumerate(traces)
        ]
        database.add_trials(trials)
    return task.name


def check_result(model: Path, net: Callable[[Any], Any]) -> None:
    x = np.random.default_rng(0).standard_normal((2, 24)).astype(np.float32)
    np.testing.assert_allclose(net(x), tw.compile(tw.load(model))(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_the_next_best_record_is_compiled(model: Path, tmp_path: Path, bad: str) -> None:
    db = tmp_path / "tuning.db"
    name = save_records(model, db, GOOD, bad)
    notes: list[str] = []
    check_result(model, tw.compile(tw.load(model), db, notes=notes.append))
    (note,) = notes
    assert note.startswith(f"{name}: trial 2 of {db} cannot be used (")
    assert note.endswith("; using trial 1") and "\n" not in note and len(note) < 500
    with pytest.warns(UserWarning, match="1 of 1 programs are not the best recorded.*trial 2 of"):
        tw.compile(tw.load(model), db)


def test_without_a_good_record_the_default_program_is_compiled(model: Path, tmp_path: Path) -> None:
    db = tmp_path / "tuning.db"
    name = save_records(model, db, *BAD)
    notes: list[str] = []
    check_result(model, tw.compile(tw.load(model), db, notes=notes.append))
    listed = ", ".join(str(len(BAD) - n) for n in range(MOST_REFUSED))
    assert notes[0].startswith(f"{name}: trials {listed} of {db} cannot be used (")
    assert notes[0].endswith("; using the default program")


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("compile", ()),
        ("run", ()),
        ("bench", ("--seconds", 0, "--no-peer")),
    ],
)
def test_commands_say_it_in_a_note(
    model: Path, tmp_path: Path, command: str, options: tuple[object, ...]
) -> None:
    db = tmp_path / "tuning.db"
    name = save_records(model, db, GOOD, BAD[0])
    result = cli(command, model, "--db", db, *options)
    assert result.exit_code == 0, result.output
    assert f"note: {name}: trial 2 of" in " ".join(result.output.split())


def test_show_and_report_pass_it_over(model: Path, tmp_path: Path) -> None:
    db, page = tmp_path / "tuning.db", tmp_path / "page.html"
    name = save_records(model, db, GOOD, BAD[0])
    result = cli("show", db, name)
    assert result.exit_code == 0, result.output
    assert "trial 1 of" in result.output and "for relu.i0" in result.output
    assert f"note: {name}: trial 2 of {db} gives no program: no stage 'max_pool'" in result.output
    check_error(cli("show", db, "--trial", 2), f"{name}: trial 2 of {db} gives no program")
    assert cli("report", db, "-o", page).exit_code == 0
    assert "cannot print the program" in page.read_text()


def test_show_of_a_task_without_a_program_is_one_line(model: Path, tmp_path: Path) -> None:
    db = tmp_path / "tuning.db"
    name = save_records(model, db, BAD[0], BAD[1])
    check_error(cli("show", db, name), f"{name}: trial 1 of {db} gives no program", "no other")


# ---- import ---------------------------------------------------------------------------------


def spoiled(lines: list[str], record: str, **changes: object) -> list[str]:
    """The lines of an export with fields of the last row of a kind changed."""
    number = max(n for n, line in enumerate(lines) if f'"record":"{record}"' in line)
    row = {**json.loads(lines[number]), **changes}
    return [*lines[:number], json.dumps(row), *lines[number + 1 :]]


def as_trace(text: str) -> dict[str, object]:
    return {"producer": by_hand(text).producer}


def minimum_for_maximum(lines: list[str]) -> list[str]:
    (line,) = (line for line in lines if '"record":"workload"' in line)
    dag = json.loads(line)["dag"]
    assert '"max"' in dag
    return spoiled(lines, "workload", dag=dag.replace('"max"', '"min"'))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda t: spoiled(t, "trial", **as_trace(BAD[0])), "line 5: trial .*no stage 'max_pool'"),
        (lambda t: spoiled(t, "trial", **as_trace(BAD[2])), "line 5: trial .*is not JSON"),
        (lambda t: spoiled(t, "trial", **as_trace(BAD[3])), "line 5: trial .*is not JSON"),
        (lambda t: spoiled(t, "trial", decisions="7"), "line 5: trial .*decisions are an object"),
        (lambda t: spoiled(t, "workload", between_bytes=7), "line 3: workload .*: its DAG's hash"),
        (lambda t: spoiled(t, "workload", dag="{}"), "line 3: workload .*not the JSON of a DAG"),
        (lambda t: spoiled(t, "workload", dag="[" * 9999), "line 3: workload .*not the JSON"),
        (minimum_for_maximum, "line 3: workload .*: its DAG's hash is"),
        (lambda t: spoiled(t, "workload", flops=-5), "line 3: workload .*flops must be from 0"),
        (lambda t: spoiled(t, "workload", flops=10**26), "line 3: workload .*flops must be from"),
        (lambda t: spoiled(t, "model", tasks=[["w", -7]]), "line 4: workload w: .*weight must"),
        (lambda t: spoiled(t, "model", tasks=[["w", True]]), "line 4: 'tasks' must be pairs"),
        (lambda t: [*t[:2], "[" * 100_000], "line 3: maximum recursion depth"),
    ],
)
def test_records_that_only_look_right_are_not_imported(
    model: Path,
    tmp_path: Path,
    spoil: Callable[[list[str]], list[str]],
    message: str,
) -> None:
    here, there, file = (tmp_path / n for n in ("here.db", "there.db", "records.jsonl"))
    save_records(model, there, GOOD)
    assert cli("export", file, "--db", there).exit_code == 0
    lines = file.read_text().splitlines()
    file.write_text("\n".join(spoil(lines)) + "\n")
    result = cli("records", here, "--import", file)
    check_error(result, f"cannot import {file}")
    assert re.search(message, " ".join(result.stderr.split())), result.stderr
    with Database.open(here, readonly=True) as database:
        assert not list(database.trials())
    file.write_text("\n".join(lines) + "\n")
    assert "1 new trial" in cli("records", here, "--import", file).output

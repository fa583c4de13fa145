"""What is told of programs with sizes: ranges, programs by size, times at each point."""

from __future__ import annotations

from pathlib import Path

import pytest

import tilewright as tw
from cli_models import cli
from tilewright.contract.gene import Gene
from tilewright.contract.sizes import Size
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Var
from tilewright.expr.operators import matmul, relu
from tilewright.expr.tensors import placeholder
from tilewright.front.inspection import RecordedProgram, find_program, plan_of, sizes_of
from tilewright.front.machine import as_target, machine_of
from tilewright.front.precision import gain_of, multiplied
from tilewright.records.database import Database
from tilewright.records.rows import Trial
from tilewright.schedule.by_size import by_size, programs_of
from tilewright.search.tasks import TuningTask
from tilewright.space.default import default_of

SIZES = (Size("S", 1, 40, ((32, 1.0), (4, 3.0))),)


def dense() -> ComputeDAG:
    x = placeholder((Var("S"), 12), name="x")
    return ComputeDAG([relu(matmul(x, placeholder((12, 16), name="w", constant=True)))], SIZES)


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TuningTask, Gene]:
    """A database whose best program is one by size."""
    path = tmp_path_factory.mktemp("sized") / "sized.db"
    target, task = as_target(None), TuningTask("dense", dense())
    space = task.space(target)
    found = default_of(space)
    default = space.gene(found.sketch[0], found.rows[0])
    gene = by_size("S", (16,), (default, default))
    machine = machine_of(target)
    with Database.open(path) as database:
        database.add_machine(machine)
        database.add_workload(task.row)
        for one, points in ((default, (9e-6, 3e-6)), (gene, (8e-6, 1e-6))):
            mean = (points[0] + 3 * points[1]) / 4
            origin = "default" if one is default else "tile"
            database.add_trials(
                [
                    Trial(
                        task.hash,
                        machine.fingerprint,
                        one,
                        0,
                        0,
                        (mean,),
                        points_s=points,
                        origin=origin,
                    )
                ]
            )
    return path, task, gene


def test_programs_by_size_are_shown_with_their_ranges(tuned: tuple[Path, TuningTask, Gene]) -> None:
    path, task, gene = tuned
    assert [where for where, _ in programs_of(gene)] == ["S < 16", "16 <= S"]
    program = find_program_of(path)
    assert program.trial.gene == gene
    assert program.points_s == (("S = 32", 8e-6), ("S = 4", 1e-6))
    assert program.layers.sketch_name.count(" where ") == 2
    assert program.layers.text("trace").startswith("where S < 16\n")
    assert "where 16 <= S\n" in program.layers.text("sketch")
    assert "S < 16" in program.layers.text("nest")
    shown = cli("show", path, task.name).output
    assert "one program for S in 1..40" in shown
    assert "8 µs at S = 32, 1 µs at S = 4" in shown
    assert "a mean over sizes" in shown
    assert shown.count("where S < 16") == shown.count("where 16 <= S") == 1


def find_program_of(path: Path) -> RecordedProgram:
    with Database.open(path, create=False, readonly=True) as database:
        return find_program(database)


def test_the_page_tells_ranges_and_times(tuned: tuple[Path, TuningTask, Gene]) -> None:
    path, _, _ = tuned
    out = path.with_suffix(".html")
    assert cli("report", path, "-o", out).exit_code == 0
    page = out.read_text()
    assert "one program for S in 1..40" in page
    assert "8 µs at S = 32, 1 µs at S = 4" in page
    assert "cannot print" not in page
    by_hand = round(sum(w / 4 * 4 * (12 * n + 12 * 16 + 16 * n) for n, w in ((32, 1), (4, 3))))
    assert f"{by_hand:,} bytes at least" in page


def test_plans_tell_ranges_and_times(tuned: tuple[Path, TuningTask, Gene]) -> None:
    path, _, _ = tuned
    given = tw.Task(list(dense().outputs), "dense", SIZES)
    plan = plan_of(given, path)
    assert plan.sizes == SIZES
    assert plan.kernels[0].points_s == (("S = 32", 8e-6), ("S = 4", 1e-6))
    assert sizes_of([given], as_target(None)) == ["S in 1..40, timed at 32, 4"]
    assert plan_of(given).kernels[0].points_s == ()


def test_a_gpu_has_plans_with_sizes() -> None:
    given = tw.Task(list(dense().outputs), "dense", SIZES)
    assert plan_of(given, target=as_target("opencl:pocl")).sizes == SIZES


def test_precision_is_that_of_the_greatest_sizes() -> None:
    (found,) = multiplied(dense(), as_target(None))
    assert found.flops == 2 * 40 * 12 * 16
    assert gain_of(dense(), as_target(None)) == 1.0

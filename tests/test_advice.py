"""Advice: which questions are asked of a model's tasks, what their figures say, and how it ends."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import tilewright as tw
from cli_models import check_error, cli, save_classifier
from tilewright.cli.advise import print_findings
from tilewright.contract.gene import Gene
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.rewrites.what_if import activations, deepened, without
from tilewright.expr.tensors import placeholder
from tilewright.front.advice import ACTIVATION, BITS, DEEPER, SHAPE, TURNS, Adviser, Finding
from tilewright.front.machine import machine_of
from tilewright.ground.errors import RunError
from tilewright.measure.measurer import MeasureResult
from tilewright.records.database import Database
from tilewright.records.rows import Trial
from tilewright.search.disturbance import Disturbance
from tilewright.search.tasks import TuningTask
from tilewright.target import CpuTarget
from workloads import given

TARGET = CpuTarget.of("cpu:icelake-server cores=2")


def convolution(channels: int) -> ComputeDAG:
    w = placeholder((3, 3, 16, channels), name="w", constant=True)
    return ComputeDAG([ops.relu(ops.conv2d(given(1, 8, 8, 16, name="x"), w, padding=1))])


@dataclass
class Counting:
    """Takes a microsecond for a million operations; `broken` names outputs whose programs fail."""

    measured: list[tuple[str, Gene]] = field(default_factory=list)
    broken: frozenset[str] = frozenset()

    def measure(
        self,
        task: TuningTask,
        default: Gene,
        genes: Sequence[Gene],
        best_s: float | None,
        default_s: float | None = None,
    ) -> list[MeasureResult]:
        self.measured += [(task.dag.outputs[0].name, gene) for gene in genes]
        if task.dag.outputs[0].name in self.broken:
            raise RunError("broken")
        return [MeasureResult("ok", latencies_s=(task.dag.useful_flops * 1e-12,)) for _ in genes]

    def confirm(
        self, task: TuningTask, default: Gene, genes: Sequence[Gene]
    ) -> list[tuple[float, ...]]:
        raise AssertionError("nothing is confirmed")

    def close(self) -> None:
        pass


def test_every_question_is_asked_of_a_convolution() -> None:
    machine = Counting()
    task = TuningTask("conv", convolution(20), 3.0)
    found = Adviser(TARGET, machine).advise([task])
    (activation,), (shape,), (deeper,) = map(found.of, (ACTIVATION, SHAPE, DEEPER))
    assert {f.task for f in found.findings} == {"conv"} and found.left == ()
    # of 3 calls: a maximum for each of 1 x 8 x 8 x 20 elements
    assert activation.cost_s == pytest.approx(3 * 64 * 20 * 1e-12)
    assert shape.change == "1x8x8x20x3x3x16 -> 1x8x8x32x3x3x16"
    assert shape.work == 32 / 20 and shape.cost_s == pytest.approx(0.0)
    assert deeper.cost_s == pytest.approx(3 * 2 * 64 * 20 * 20 * 1e-12)
    assert 0.0 < deeper.share < 0.2
    names = [name for name, _ in machine.measured]
    assert names[:3] == names[3:6], "the sides take turns"
    assert len(names) == TURNS * (3 + 2 + 2)


def test_fewer_bits_are_asked_about_where_there_are_instructions() -> None:
    task = TuningTask("conv", convolution(16), 2.0)
    rows = {
        "cpu:icelake-server cores=2": ["of bytes"],
        "cpu:graniterapids cores=2": ["of bfloat16", "of bytes"],
        "cpu:x86-64 cores=2": [],
    }
    for target, wanted in rows.items():
        found = Adviser(CpuTarget.of(target), Counting()).advise([task]).of(BITS)
        assert sorted(f.change for f in found) == wanted


@dataclass
class Noisy(Counting):
    """The same, each turn of it longer or shorter by what is next."""

    noise: tuple[float, ...] = (0.0,)

    def measure(
        self,
        task: TuningTask,
        default: Gene,
        genes: Sequence[Gene],
        best_s: float | None,
        default_s: float | None = None,
    ) -> list[MeasureResult]:
        turn = len(self.measured)
        (found,) = super().measure(task, default, genes, best_s, default_s)
        factor = 1.0 + self.noise[turn % len(self.noise)]
        return [replace(found, latencies_s=(found.latencies_s[0] * factor,))]


@pytest.mark.parametrize(
    ("noise", "apart"),
    [((0.0,), True), ((0.0, 0.001, -0.001), True), ((0.3, 0.0, -0.2, 0.1, -0.3, 0.2, 0.4), False)],
)
def test_noise_is_not_told_as_advice(noise: tuple[float, ...], apart: bool) -> None:
    """A ReLU takes a three hundredth of the convolution."""
    task = TuningTask("conv", convolution(16), 3.0)
    found = Adviser(TARGET, Noisy(noise=noise)).advise([task])
    (activation,) = found.of(ACTIVATION)
    assert activation.told_apart is apart
    assert apart == (abs(activation.call_s) > activation.spread_s)


def test_one_turn_of_a_busy_moment_spoils_nothing() -> None:
    spoilt = [0.0] * 15
    spoilt[4] = 5.0
    task = TuningTask("conv", convolution(16), 3.0)
    machine = Noisy(noise=tuple(spoilt))
    (activation,) = Adviser(TARGET, machine).advise([task]).of(ACTIVATION)
    assert activation.told_apart and activation.spread_s < activation.call_s / 100


def test_columns_add_up() -> None:
    """As it is less changed is what a call costs, times the calls what a run does."""
    text = io.StringIO()
    shape = Finding("t", SHAPE, "7 -> 8", 3.0, 7.22e-6, 28.1e-6 / 2, 2.667, 0.1e-6)
    noise = Finding("u", ACTIVATION, "without relu", 2.0, 3e-6, 2.9e-6, spread_s=0.5e-6)
    print_findings(Console(file=text, width=160), "title", [shape, noise])
    (row,) = (line for line in text.getvalue().splitlines() if "7 -> 8" in line)
    cells = [float(c) for c in re.findall(r"([\d.]+) [µn]s", row)]
    usual, changed, each, spread, run = cells
    assert usual - changed == pytest.approx(each, abs=0.01) and spread == 100
    assert run == pytest.approx(3 * each, abs=0.03)
    (row,) = (line for line in text.getvalue().splitlines() if "without relu" in line)
    assert "not told apart" in row and row.split()[-2:] == ["–", "–"] and "500 ns" in row


def test_a_busy_machine_is_told_of() -> None:
    busy = Disturbance(lambda: "another program takes 1.0 of 2 cores")
    found = Adviser(TARGET, Counting(), None, busy).advise([TuningTask("conv", convolution(16))])
    assert found.busy.endswith("of the time: another program takes 1.0 of 2 cores")
    assert Adviser(TARGET, Counting()).advise([TuningTask("conv", convolution(16))]).busy == ""


def test_costly_tasks_come_first_and_time_may_run_out() -> None:
    tasks = [TuningTask("small", convolution(16)), TuningTask("large", convolution(256))]
    told: list[tuple[int, int, str]] = []
    adviser = Adviser(TARGET, Counting())
    found = adviser.advise(tasks, minutes=1e-9, told=lambda *step: told.append(step))
    assert told == [(0, 2, "large")] and found.left == ("small",)
    assert {f.task for f in found.findings} == {"large"}
    assert found.of(SHAPE) == []


def test_a_variant_that_fails_is_left_out_and_the_task_itself_must_run() -> None:
    task = TuningTask("conv", convolution(16))
    (output,) = task.dag.outputs
    found = Adviser(TARGET, Counting(broken=frozenset(["deeper"]))).advise([task])
    assert [f.question for f in found.findings] == [ACTIVATION, BITS]
    with pytest.raises(RunError, match="broken"):
        Adviser(TARGET, Counting(broken=frozenset([output.name]))).advise([task])


def test_records_count_where_both_sides_have_one(tmp_path: Path) -> None:
    task = TuningTask("conv", convolution(16))
    space = task.space(TARGET)
    some = space.sample(np.random.default_rng(0), 8)
    gene = space.gene(int(some.sketch[0]), some.rows[0])
    machine = machine_of(TARGET)
    with Database.open(tmp_path / "t.db") as database:
        database.add_machine(machine)
        database.add_workload(task.row)
        database.add_trials([Trial(task.hash, machine.fingerprint, gene, 0, 0, (1e-6,))])
        only_one = Counting()
        Adviser(TARGET, only_one, database).advise([task])
        assert gene not in [g for _, g in only_one.measured]
        for dag in (deepened(task.dag), *_without(task.dag)):
            assert dag is not None
            variant = TuningTask("variant", dag)
            drawn = variant.space(TARGET).sample(np.random.default_rng(0), 1)
            theirs = variant.space(TARGET).gene(int(drawn.sketch[0]), drawn.rows[0])
            database.add_workload(variant.row)
            database.add_trials([Trial(variant.hash, machine.fingerprint, theirs, 0, 0, (1e-6,))])
        both = Counting()
        Adviser(TARGET, both, database).advise([task])
        assert gene in [g for _, g in both.measured]


def _without(dag: ComputeDAG) -> list[ComputeDAG]:
    return [without(dag, *pair) for pair in activations(dag)]


def test_less_than_nothing_is_nothing() -> None:
    one = Finding("t", ACTIVATION, "without relu", 1.0, 1e-3, 1.1e-3)
    assert one.cost_s < 0.0 and one.share == pytest.approx(-0.1)


@pytest.mark.cpu
def test_the_command_prints_tables_and_json(tmp_path: Path) -> None:
    model = tmp_path / "classifier.onnx"
    save_classifier(model)
    plain = cli("advise", model)
    assert plain.exit_code == 0, plain.output
    assert "activations: the task with and without" in plain.output
    assert "channels that are no whole vectors" in plain.output
    assert "1x1" not in plain.output, "a matrix is no image"
    assert "0:00  task 1 of 1 · " in plain.output, "progress, where nobody sees a bar"
    told = json.loads(cli("advise", model, "--json", "--minutes", 1).output)
    assert {f["question"] for f in told["findings"]} - {BITS} == {ACTIVATION, SHAPE}
    assert all(f["usual_s"] > 0 and f["changed_s"] > 0 for f in told["findings"])
    assert told["left"] == []
    assert tw.advise(tw.load(model)).findings
    check_error(cli("advise", tmp_path / "none.onnx"), "none.onnx")
    assert cli("advise", model, "--minutes", -1).exit_code == 2

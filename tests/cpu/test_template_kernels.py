"""Programs of the template of products in registers, as users get them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilewright as tw
from tilewright.expr import operators as ops
from tilewright.front.machine import host_target, machine_of
from tilewright.front.tuning_tasks import tasks_of
from tilewright.ground.errors import ScheduleError
from tilewright.measure.trial import RunOptions
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT, Trial
from tilewright.schedule.producers import matched, template_gene
from tilewright.schedule.templates import REGISTERS

pytestmark = pytest.mark.cpu


def model(file: Path) -> Path:
    """A convolution in windows, one that is a product, and a dense layer, batch 2."""
    rng = np.random.default_rng(0)

    def given(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(rng.standard_normal(shape, np.float32) / 8, name)

    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "w1"], ["c"]),
        helper.make_node("GlobalAveragePool", ["c"], ["d"]),
        helper.make_node("Flatten", ["d"], ["e"]),
        helper.make_node("Gemm", ["e", "w2", "b2"], ["y"], transB=1),
    ]
    weights = [given("w0", 24, 8, 3, 3), given("b0", 24), given("w1", 70, 24, 1, 1),
               given("w2", 33, 70), given("b2", 33)]  # fmt: skip
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 8, 9, 9])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "small", [x], [y], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), file)
    return file


def record(db: Path, path: Path) -> int:
    """As if a program of the template were the best of every task that it computes."""
    target = host_target()
    machine, count = machine_of(target), 0
    with Database.open(db) as database:
        database.add_machine(machine)
        for task in tasks_of(tw.load(path)):
            try:
                anchor = matched(task.dag, REGISTERS)
            except ScheduleError:
                continue
            row = next(iter(REGISTERS.rows(anchor, target)))
            gene = template_gene(REGISTERS.name, row)
            database.add_workload(task.row)
            database.add_trials([Trial(task.hash, machine.fingerprint, gene, 0, 0, (1e-6,))])
            count += 1
    return count


def test_a_network_and_its_library_have_packed_constants(tmp_path: Path) -> None:
    path, db = model(tmp_path / "small.onnx"), tmp_path / "t.db"
    assert record(db, path) == 3
    x = np.random.default_rng(1).standard_normal((2, 8, 9, 9), np.float32)
    net = tw.compile(tw.load(path), db)
    (found,), (expected,) = net(x), tw.compile(tw.load(path))(x)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    net.save(tmp_path / "small.so")
    np.testing.assert_array_equal(tw.load_library(tmp_path / "small.so")(x)[0], found)


def test_templates_are_tuned_and_the_best_is_compiled(tmp_path: Path) -> None:
    x = tw.placeholder((60, 48), name="x")
    w = tw.placeholder((48, 70), name="w", constant=True)
    task, db = tw.Task([ops.relu(ops.dense(x, w))], "dense"), tmp_path / "t.db"
    quick = RunOptions(repeats=1, min_repeat_ms=1)
    found = tw.tune(task, trials=3, strategy="templates", db=db, options=quick, progress=False)
    assert found.tasks[0].trials == 3 and not found.tasks[0].errors
    with Database.open(db, readonly=True) as database:
        (one,) = tasks_of(task)
        trials = list(database.trials(one.hash, machine_of(host_target()).fingerprint))
    measured = [t for t in trials if t.origin != DEFAULT]
    assert len(measured) == 3 and all(REGISTERS.name in t.gene.text for t in measured)

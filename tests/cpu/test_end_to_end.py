"""From a task to a tuned, compiled, right function: real builders, runners and records.

tw.tune(task, trials=16, db=…) → records → tw.compile(task, db=…) → the best record's program
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilewright as tw
from tilewright import operators as ops
from tilewright.build import build
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.evaluate import Array
from tilewright.front.kernels import kernel_name
from tilewright.front.machine import host_target, machine_of
from tilewright.front.tuning_tasks import tasks_of
from tilewright.ground.errors import TilewrightError
from tilewright.measure.task import tolerance_of
from tilewright.measure.trial import RunOptions
from tilewright.records.database import Database
from tilewright.records.rows import Trial
from tilewright.runtime.device import DeviceFunction
from tilewright.runtime.function import CompiledFunction
from tilewright.schedule.trace import steps_of
from tilewright.search.progress import Progress

pytestmark = pytest.mark.cpu

TRIALS = 16
QUICK = RunOptions(repeats=2, min_repeat_ms=2)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled artifacts of a test are its own."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))


def matmul(name: str = "gemm", n: int = 48) -> tw.Task:
    a, b = tw.placeholder((n, 40), name="a"), tw.placeholder((40, 56), name="b")
    return tw.Task([a, b, ops.matmul(a, b)], name)


def conv(name: str = "conv") -> tw.Task:
    x = tw.placeholder((1, 8, 8, 16), name="x")
    w = tw.placeholder((3, 3, 16, 24), name="w", constant=True)
    return tw.Task([x, w, ops.relu(ops.conv2d(x, w, padding=1))], name)


def values(dag: ComputeDAG, seed: int = 0) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {
        t.name: rng.standard_normal(t.shape).astype(t.dtype.numpy)
        for t in (*dag.inputs, *dag.constants)
    }


def test_equal_work_under_other_names_keeps_its_own_names() -> None:
    x = np.arange(40, dtype=np.float32)
    for name in ("left", "right"):
        a = tw.placeholder((40,), name=name)
        task = tw.Task(
            [a, tw.compute((40,), lambda i, a=a: a[i] * 2.0, name=f"{name}_out")], "twice"
        )
        (y,) = tw.compile(task).run({name: x})
        np.testing.assert_array_equal(y, 2 * x)


def check_result(task: tw.Task, function: CompiledFunction | DeviceFunction) -> None:
    """The compiled function equals the math."""
    arrays = values(task.dag)
    if task.dag.constants:
        function.prepare({t.name: arrays[t.name] for t in task.dag.constants})
    (got,) = function(*(arrays[t.name] for t in task.dag.inputs))
    (expected,) = task.dag.evaluate(arrays, float64=True).values()
    limits = tolerance_of(task.dag).limits(expected, "float32")
    assert (np.abs(got - expected) <= limits).all()


def recorded(db: Path) -> list[Trial]:
    with Database.open(db, create=False, readonly=True) as database:
        return list(database.trials())


@dataclass(frozen=True)
class Tuned:
    task: tw.Task
    db: Path
    result: tw.TuneResult


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    """A convolution with records of this machine."""
    task, folder = conv(), tmp_path_factory.mktemp("tuned")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEWRIGHT_CACHE", str(folder / "cache"))
        result = tw.tune(task, trials=TRIALS, db=folder / "t.db", options=QUICK)
    return Tuned(task, folder / "t.db", result)


def test_a_tuned_task_compiles_to_its_best_record(tuned: Tuned) -> None:
    task, db, result = tuned.task, tuned.db, tuned.result
    (row,) = result.tasks
    assert (result.trials, row.trials, row.errors) == (TRIALS, TRIALS, 0)
    assert row.default_s and row.best_s and 0 < row.best_s <= row.default_s
    assert result.latency_s == row.best_s
    trials = recorded(db)
    assert len(trials) == TRIALS + 1
    assert all(t.ok and t.latencies_s and t.build_s > 0 and t.run_s > 0 for t in trials)
    assert all(t.region_s is not None and t.region_s > 0 for t in trials)
    assert [t for t in trials if t.confirmed_s], "the winner is measured again in fresh processes"

    notes: list[str] = []
    function = tw.compile(task, db=db, notes=notes.append)
    assert not notes
    with Database.open(db, readonly=True) as database:
        best = database.best(tasks_of(task)[0].hash, machine_of(host_target()).fingerprint)
        (ceilings,) = database.ceilings()
        (run,) = database.runs()
    assert best is not None and best.latency_s is not None
    assert ceilings.machine == run.machine == best.machine
    assert 1e8 < ceilings.flops_per_s < 1e14 and max(ceilings.bytes_per_s) < 1e14
    assert run.run_s > 0 and run.build_s > 0
    name = f"{kernel_name(task.name)}_0"
    wanted = build(task.dag, steps_of(best.gene), host_target(), name)
    assert function.artifact == wanted
    check_result(task, function)


def test_inputs_are_taken_in_the_order_of_the_tasks_tensors() -> None:
    a, b = tw.placeholder((24, 24)), tw.placeholder((24, 24))
    x, y = np.random.default_rng(0).standard_normal((2, 24, 24)).astype(np.float32)
    product = ops.matmul(a, b)
    for tensors, given in (([a, b, product], (x, y)), ([b, a, product], (y, x))):
        (got,) = tw.compile(tw.Task(tensors))(*given)
        np.testing.assert_allclose(got, x @ y, rtol=1e-4, atol=1e-4)


def test_compiling_never_needs_records(tuned: Tuned) -> None:
    notes: list[str] = []
    check_result(matmul(), tw.compile(matmul(), notes=notes.append))
    assert not notes
    check_result(matmul(), tw.compile(matmul(), db=tuned.db, notes=notes.append))
    assert len(notes) == 1 and "gemm" in notes[0]


def test_a_run_cut_short_goes_on_where_it_was(tmp_path: Path) -> None:
    db = tmp_path / "t.db"

    def interrupt(progress: Progress) -> None:
        if progress.trials >= TRIALS // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tw.tune(matmul(), trials=TRIALS, db=db, options=QUICK, callbacks=[interrupt])
    first = recorded(db)
    assert TRIALS // 2 < len(first) <= TRIALS
    result = tw.tune(matmul(), trials=TRIALS, db=db, options=QUICK)
    trials = recorded(db)
    assert result.trials == TRIALS and len(trials) == TRIALS + 1
    assert [t.latencies_s for t in trials[: len(first)]] == [t.latencies_s for t in first]
    assert len({t.gene for t in trials}) == len(trials)
    again = tw.tune(matmul(), trials=TRIALS, db=db, options=QUICK)
    assert again.trials == TRIALS and len(recorded(db)) == TRIALS + 1


# ---- several models ---------------------------------------------------------------------------


def dense_model(name: str, widths: tuple[int, ...], seed: int) -> onnx.ModelProto:
    """Dense layers with ReLU between; weights by `seed`."""
    rng = np.random.default_rng(seed)
    nodes, weights, last = [], [], "x"
    for i, (k, n) in enumerate(pairwise(widths)):
        scale = rng.standard_normal((k, n)).astype(np.float32) / np.sqrt(k).astype(np.float32)
        weights.append(numpy_helper.from_array(scale, f"{name}_w{i}"))
        nodes.append(helper.make_node("MatMul", [last, f"{name}_w{i}"], [f"{name}_m{i}"]))
        nodes.append(helper.make_node("Relu", [f"{name}_m{i}"], [f"{name}_r{i}"]))
        last = f"{name}_r{i}"
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (16, widths[0]))
    y = helper.make_tensor_value_info(last, TensorProto.FLOAT, (16, widths[-1]))
    graph = helper.make_graph(nodes, name, [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.thorough
def test_equal_tasks_of_two_networks_are_tuned_once(tmp_path: Path) -> None:
    protos = [dense_model("one", (32, 48, 48, 48), 0), dense_model("two", (48, 48, 64), 1)]
    models = [tw.load(p.SerializeToString()) for p in protos]
    db = tmp_path / "t.db"
    result = tw.tune(models, trials=24, db=db, options=QUICK)
    assert sorted(t.weight for t in result.tasks) == [1.0, 1.0, 3.0]
    assert result.trials == 24 and sum(t.trials for t in result.tasks) == 24
    with Database.open(db, readonly=True) as database:
        assert sorted(m.name for m in database.models()) == ["one", "two"]
    rng = np.random.default_rng(2)
    for proto, model in zip(protos, models, strict=True):
        notes: list[str] = []
        network = tw.compile(model, db=db, notes=notes.append)
        assert not notes
        x = rng.standard_normal((16, model_width(proto))).astype(np.float32)
        expected = x
        for w in proto.graph.initializer:
            expected = np.maximum(expected @ numpy_helper.to_array(w), 0)
        (got,) = network(x)
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


def model_width(proto: onnx.ModelProto) -> int:
    return int(proto.graph.input[0].type.tensor_type.shape.dim[1].dim_value)


def trials_by_model(result: tw.TuneResult) -> Counter[str]:
    return Counter({t.name: t.trials for t in result.tasks})


@pytest.mark.thorough
def test_a_model_within_its_latency_requirement_gets_no_trials(tmp_path: Path) -> None:
    goal = tw.LatencyRequirement((1.0, 1e-9))
    models = [matmul("quick"), conv("slow")]
    result = tw.tune(models, trials=24, db=tmp_path / "t.db", objective=goal, options=QUICK)
    assert trials_by_model(result) == {"quick": 0, "slow": 24}


@pytest.mark.thorough
def test_a_geometric_mean_spends_on_both_models(tmp_path: Path) -> None:
    goal = tw.GeomeanSpeedup((1e-3, 1e-5))
    models = [matmul("first", 300), conv("second")]
    result = tw.tune(models, trials=24, db=tmp_path / "t.db", objective=goal, options=QUICK)
    spent = trials_by_model(result)
    assert spent.total() == 24 and min(spent.values()) >= 4


# ---- what goes wrong --------------------------------------------------------------------------


def test_a_target_that_cannot_run_here_is_named(tmp_path: Path) -> None:
    on_x86 = host_target().architecture == "x86_64"
    other, named = ("cortex-a53", "aarch64") if on_x86 else ("haswell", "x86_64")
    with pytest.raises(TilewrightError, match=f"compiled for .*{named}"):
        tw.tune(matmul(), trials=8, db=tmp_path / "t.db", target=f"cpu:{other}")


def test_a_runner_that_does_not_start_is_named(tmp_path: Path) -> None:
    with pytest.raises(TilewrightError, match="no-such-runner"):
        tw.tune(matmul(), trials=8, db=tmp_path / "t.db", runner="/no-such-runner --fast")


@pytest.mark.thorough
def test_a_batch_that_fails_alike_stops_the_run_and_is_recorded(tmp_path: Path) -> None:
    db = tmp_path / "t.db"
    hopeless = RunOptions(repeats=1, min_repeat_ms=0.1, timeout_s=1e-4)
    with pytest.raises(tw.RunError, match="failed alike, in stage"):
        tw.tune(matmul(), trials=64, db=db, options=hopeless)
    trials = recorded(db)
    assert len(trials) >= 8
    assert all(not t.ok and t.error and t.message for t in trials)


@pytest.mark.parametrize("bad", ["corrupt", "folder"])
def test_a_database_that_cannot_be_used_is_named(bad: str, tmp_path: Path) -> None:
    db = tmp_path / "t.db"
    if bad == "corrupt":
        db.write_bytes(b"not a database" * 100)
    else:
        db = tmp_path / "missing" / "t.db"
    with pytest.raises(tw.RecordsError, match=r"t\.db"):
        tw.tune(matmul(), trials=4, db=db)


def test_an_unknown_strategy_or_target_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(tw.InputError, match=r"known: .*evolution"):
        tw.tune(matmul(), trials=4, db=tmp_path / "t.db", strategy="luck")
    with pytest.raises(tw.TargetError, match="known: "):
        tw.tune(matmul(), trials=4, db=tmp_path / "t.db", target="cpu:abacus")


def test_a_wrong_array_is_named_with_what_was_wanted() -> None:
    function = tw.compile(matmul())
    a, b = np.zeros((48, 40), np.float32), np.zeros((40, 56), np.float64)
    with pytest.raises(tw.InputError, match=r"b must be float32 of shape \(40, 56\)"):
        function(a, b)

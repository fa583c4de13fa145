"""Tasks with sizes: the points they are measured at, the gate and the clock at each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from tilewright.build.compile import build_request, make_request
from tilewright.contract.artifact import Artifact
from tilewright.contract.sizes import Size, Sizes, points_of
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Expr, Extent, Var, select
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import InputError, RunError, WrongAnswer
from tilewright.measure.inputs import Place
from tilewright.measure.measurer import LocalMeasurer
from tilewright.measure.sized_trial import SizedTask
from tilewright.measure.task import MeasureTask
from tilewright.measure.trial import RunOptions
from tilewright.target import Target

TARGET = Target.parse("cpu cores=2")
S = Var("S")
ROWS = Size("S", 1, 32)
QUICK = RunOptions(repeats=2, min_repeat_ms=1)


def product(rows: Extent = S, sizes: Sizes = (ROWS,), more: Expr | float = 0.0) -> ComputeDAG:
    """x·w + more, of x [rows, 24]."""
    x, w = placeholder((rows, 24), name="x"), placeholder((24, 16), name="w", constant=True)
    k = reduce_axis(24, "k")
    y = compute((rows, 16), lambda i, j: sum_over(x[i, k] * w[k, j], k), name="p")
    return ComputeDAG([compute((rows, 16), lambda i, j: y[i, j] + more, name="y")], sizes)


def columns(length: Extent = S, sizes: Sizes = (ROWS,)) -> ComputeDAG:
    """2·x of x [3, length], whose rows lie apart."""
    x = placeholder((3, length), name="x")
    return ComputeDAG([compute((3, length), lambda i, j: x[i, j] * 2.0, name="y")], sizes)


def request(dag: ComputeDAG) -> bytes:
    return make_request(dag, None, TARGET, "kernel")


def artifact(dag: ComputeDAG) -> Artifact:
    return Artifact.from_bytes(build_request(request(dag)))


def loaded(dag: ComputeDAG) -> SizedTask:
    task = MeasureTask.of("t", dag, request(dag))
    reference = artifact(dag)
    return SizedTask(reference, task.inputs, task.tolerance, task.seed, task.setting, task.places)


def points(*sizes: Size) -> list[tuple[Mapping[str, int], float]]:
    return [(p.values, p.weight) for p in points_of(sizes)]


def test_points_are_far_apart_and_the_ends_are_checked() -> None:
    found = points(ROWS)
    assert [value["S"] for value, _ in found] == [32, 8, 2, 1, 31]
    assert [weight for _, weight in found] == pytest.approx([1 / 7, 2 / 7, 4 / 7, 0, 0])
    assert points(Size("S", 7, 7)) == [({"S": 7}, 1.0)]
    assert points(Size("P", 0, 3)) == [({"P": 3}, 1.0), ({"P": 0}, 0.0), ({"P": 2}, 0.0)]
    assert points() == []


def test_points_that_are_said_have_their_weights() -> None:
    said = Size("S", 1, 32, ((4, 1.0), (32, 3.0)))
    assert points(said)[:2] == [({"S": 32}, 0.75), ({"S": 4}, 0.25)]
    both = points(said, Size("B", 1, 64))
    assert [tuple(v.values()) for v, _ in both] == [
        (32, 64), (4, 16), (4, 4), (4, 1), (1, 1), (31, 63),
    ]  # fmt: skip
    assert sum(weight for _, weight in both) == pytest.approx(1.0)


@pytest.mark.parametrize("point", [(0, 1.0), (33, 1.0), (4, 0.0), (4, -1.0), (4, float("nan"))])
def test_points_outside_of_a_range_or_without_weight_are_refused(point: tuple[int, float]) -> None:
    with pytest.raises(InputError, match=r"size S in 1\.\.32 is not measured at"):
        Size("S", 1, 32, (point,))


def test_a_task_is_one_of_numbers_at_each_point() -> None:
    task = MeasureTask.of("t", product(), b"")
    assert [part.dag.inputs[0].shape for part in task.parts] == [(n, 24) for n in (32, 8, 2, 1, 31)]
    assert len(task.probes) == len(task.points) == 5
    assert [p.shapes["y"] for p in task.places] == [(n, 16) for n in (32, 8, 2, 1, 31)]
    assert [Place.from_json(p.to_json()) for p in task.places] == list(task.places)


def test_inputs_are_right_at_every_point() -> None:
    data, index = placeholder((S, 4), name="data"), placeholder((10,), "int64", name="index")
    picked = compute((10, 4), lambda i, j: data[index[i], j], name="picked")
    task = MeasureTask.of("t", ComputeDAG([picked], (Size("S", 3, 32),)), b"")
    kinds = dict(zip((t.name for t in task.dag.inputs), task.inputs, strict=True))
    assert (kinds["index"].low, kinds["index"].high) == (0, 3)
    assert all(part.inputs == task.inputs for part in task.parts)


@pytest.mark.cpu
@pytest.mark.parametrize("dag", [product(), columns(), product(sizes=(Size("S", 0, 32),))])
def test_a_candidate_is_timed_at_all_points_together(dag: ComputeDAG) -> None:
    task = loaded(dag)
    timing = task.run(artifact(dag), QUICK)
    assert len(timing.latencies_s) == 2 and min(timing.latencies_s) > 0
    paced = task.run(artifact(dag), replace(QUICK, reference_s=task.reference_s))
    assert len(paced.latencies_s) == 1
    assert task.nbytes > 0


@pytest.mark.cpu
def test_a_candidate_that_is_wrong_at_one_point_is_found() -> None:
    wrong = artifact(product(more=select(S >= 31, select(S < 32, 1.0, 0.0), 0.0)))
    with pytest.raises(WrongAnswer, match="at S = 31: output y differs from the reference"):
        loaded(product()).run(wrong, QUICK)


@pytest.mark.cpu
@pytest.mark.parametrize("make", [product, columns])
def test_a_candidate_that_goes_beyond_a_size_is_found(
    make: Callable[[Extent, Sizes], ComputeDAG],
) -> None:
    """The program of all that is in memory, whatever the size is."""
    right = artifact(make(S, (ROWS,)))
    in_memory = max(right.outputs[0].shape[0] if make is product else right.outputs[0].shape[1], 32)
    wide = replace(artifact(make(in_memory, ())), sizes=right.sizes)
    with pytest.raises(RunError, match=r"at S = 8: kernel_\w+ wrote y beyond its sizes"):
        loaded(make(S, (ROWS,))).run(wide, QUICK)


@pytest.mark.cpu
def test_through_a_runner() -> None:
    dag = product()
    task = MeasureTask.of("t", dag, request(dag))
    with LocalMeasurer(options=QUICK) as measurer:
        (right,) = measurer.measure(task, [request(dag)])
        (wrong,) = measurer.measure(task, [request(product(more=1.0))])
        (confirmed,) = measurer.confirm(task, [request(dag)], processes=1)
    assert right.stage == confirmed.stage == "ok"
    assert (wrong.stage, wrong.error) == ("check", "WrongAnswer")
    assert "at S = 32: output y" in wrong.message


def test_a_wrong_reference_is_told_with_its_point() -> None:
    task = MeasureTask.of("t", product(), b"")
    values = [e.astype(np.float32) for part in task.parts for e in part.expected]
    task.check_reference([v.tobytes() for v in values])
    values[1] += 1
    with pytest.raises(WrongAnswer, match=r"reference program of t at S = 8 is wrong: output y"):
        task.check_reference([v.tobytes() for v in values])

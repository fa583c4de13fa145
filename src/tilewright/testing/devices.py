"""What a back end must pass: what emits code for a kind of target, the device that runs it, and the
trials that check and time candidates there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tilewright.build.compile import compile_lowered
from tilewright.contract.artifact import Array, Artifact
from tilewright.contract.surroundings import ALONE, Setting
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import InputError, RunError, WrongAnswer
from tilewright.measure.inputs import make_inputs
from tilewright.measure.task import input_kinds, tolerance_of
from tilewright.measure.trial import RunOptions
from tilewright.measure.trial_task import FixedTask, trial_task_of
from tilewright.runtime import aligned_empty
from tilewright.runtime.devices import loaded
from tilewright.schedule.lower import Lowered
from tilewright.schedule.producers import lowered_of
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.testing.programs import Arrays, checked, run_on

SIZE = 256


def mapped(size: int = SIZE, added: float = 1.0) -> ComputeDAG:
    """y = 2 x + `added`; of more elements than SIZE, those behind repeat the first."""
    x = placeholder((min(size, SIZE),), name="x")
    return ComputeDAG([compute((size,), lambda i: x[i % SIZE] * 2.0 + added, name="y")])


def _product() -> ComputeDAG:
    """A contraction and what follows it, of odd extents, with a constant."""
    a, b = placeholder((27, 13), name="a"), placeholder((13, 19), name="b", constant=True)
    return ComputeDAG([ops.relu(ops.matmul(a, b))])


def _row_sums() -> ComputeDAG:
    x, k = placeholder((6, 96), name="x"), reduce_axis(96, "k")
    return ComputeDAG([compute((6,), lambda i: sum_over(x[i, k] * x[i, k], k), name="s")])


def _reversed() -> ComputeDAG:
    """The second stage reads what the first wrote, wherever."""
    x, k = placeholder((48, 3), name="x"), reduce_axis(3, "k")
    y = compute((48,), lambda i: sum_over(x[i, k], k), name="y")
    return ComputeDAG([compute((48,), lambda i: y[i] + y[47 - i], name="z")])


def _halves() -> ComputeDAG:
    """Two outputs of two types."""
    x = placeholder((5, 40), "float16", name="x")
    return ComputeDAG([ops.relu(x, name="y"), ops.cast_to(x, dtype="float32", name="z")])


PROGRAMS: dict[str, Callable[[], ComputeDAG]] = {
    "map": mapped,
    "product": _product,
    "row sums": _row_sums,
    "reversed": _reversed,
    "halves": _halves,
}

FAULTS: list[tuple[ComputeDAG, type[Exception], str]] = [
    (mapped(added=1.5), WrongAnswer, "y differs from the reference at 256 of 256 elements"),
    (mapped(200), WrongAnswer, r"56 of 256 elements; at \(200,\) expected .*, got nan"),
    (mapped(SIZE + 1), RunError, r"wrote outside y \(1024 bytes\)"),
]
"""Programs that claim to be `mapped()`, and what is said of them."""


class DeviceSuite:
    """For kinds of targets: `make` gives the one whose device is here, as `target_at_hand` does.

    A device that is none of its target's back end, and one whose code is made in another way, is
    put in its place by what overrides `build`.
    """

    rows = 1
    """Random programs of each computation."""
    options = RunOptions(repeats=2, min_repeat_ms=1, timeout_s=60)

    def make(self) -> Target:
        raise NotImplementedError

    def build(self, lowered: Lowered) -> Artifact:
        """Code of a program."""
        return compile_lowered(lowered, self.make())[0]

    def some(self, dag: ComputeDAG, rows: int) -> list[Lowered]:
        """Random programs of a computation."""
        space = Space(dag, self.make())
        drawn = space.sample(np.random.default_rng(0), rows)
        genes = [space.gene(int(k), row) for k, row in zip(drawn.sketch, drawn.rows, strict=True)]
        return [lowered_of(dag, gene, "program") for gene in genes]

    def artifact(self, dag: ComputeDAG) -> Artifact:
        """Any program of it."""
        return self.build(self.some(dag, 1)[0])

    def run(self, lowered: Lowered, arrays: Arrays) -> dict[str, Array]:
        return run_on(self.make(), self.build(lowered), arrays)

    def task(self, reference: Artifact, setting: Setting = ALONE) -> FixedTask:
        """Trials of `mapped()`."""
        kinds, tolerance = input_kinds(mapped()), tolerance_of(mapped())
        return trial_task_of(self.make())(reference, kinds, tolerance, seed=0, setting=setting)

    def test_facts_are_read_back(self) -> None:
        assert Target.parse(str(self.make())) == self.make()

    @pytest.mark.parametrize("name", PROGRAMS)
    def test_programs_equal_the_mathematics(self, name: str) -> None:
        dag = PROGRAMS[name]()
        for lowered in self.some(dag, self.rows):
            checked(dag, lowered, self.run)

    def test_a_function_keeps_its_results_and_takes_constants_anew(self) -> None:
        dag = _product()
        function = loaded(self.artifact(dag), self.make())
        rng = np.random.default_rng(0)
        a, b = (rng.integers(-4, 5, (3, *s)).astype("float32") for s in ((27, 13), (13, 19)))
        with pytest.raises(InputError, match=r"prepare\(\) with the constants first: b"):
            function(a[0])
        found = []
        for one, constant in zip(a, b, strict=True):
            function.prepare({"b": constant})
            found.append((function(one)[0], np.maximum(one @ constant, 0)))
        for y, expected in found:
            np.testing.assert_array_equal(y, expected)
        given = aligned_empty(y.shape, y.dtype)
        assert function(a[2], out=[given])[0] is given
        np.testing.assert_array_equal(given, y)

    def test_calls_are_checked_and_timed(self) -> None:
        function, x = loaded(self.artifact(mapped()), self.make()), np.zeros(SIZE, np.float32)
        for wrong, says in (
            ([x.astype(np.float64)], r"x must be float32 of shape \(256,\), got float64"),
            ([x[:9]], r"got float32 of shape \(9,\)"),
            ([x, x], "2 inputs given, 1 needed"),
            ({"z": x}, "missing x; unknown z; wanted: x"),
        ):
            with pytest.raises(InputError, match=says):
                function.run(wrong)
        with pytest.raises(InputError, match="0 output arrays given, 1 needed"):
            function(x, out=[])
        seconds = function.bench((x,), 3)
        assert seconds.shape == (3,) and (seconds > 0).all()

    def test_what_is_no_code_is_refused(self) -> None:
        broken = replace(self.artifact(mapped()), object_code=b"nothing of the kind")
        with pytest.raises(RunError):
            loaded(broken, self.make())

    def test_a_right_candidate_is_timed(self) -> None:
        good = self.artifact(mapped())
        task = self.task(good)
        x = make_inputs(good.inputs, input_kinds(mapped()), 0)["x"]
        (data,) = task.values_at([[0, 255, 5]])
        np.testing.assert_array_equal(np.frombuffer(data, np.float32), (2 * x + 1)[[0, 255, 5]])
        timing = task.run(good, self.options)
        assert len(timing.latencies_s) == 2 and min(timing.latencies_s) > 0
        assert set(timing.spent_s) == {"load", "bind", "first", "check", "time", "unload"}
        assert not timing.stopped_early and not task.spoilt
        assert task.nbytes > 2 * x.nbytes
        slow = task.run(good, replace(self.options, best_s=1e-12))
        assert slow.stopped_early and len(slow.latencies_s) == 1

    def test_other_data_passes_between_runs_of_a_network(self) -> None:
        good = self.artifact(mapped())
        assert min(self.task(good, Setting(5000)).run(good, self.options).latencies_s) > 0

    def test_wrong_candidates_are_found(self) -> None:
        good = self.artifact(mapped())
        task = self.task(good)
        with pytest.raises(RunError, match=r"has inputs \[x: float32\[9\]\].*the task has"):
            task.run(self.artifact(mapped(9)), self.options)
        assert not task.spoilt
        for dag, error, says in FAULTS:
            bad = replace(self.artifact(dag), inputs=good.inputs, outputs=good.outputs)
            with pytest.raises(error, match=says):
                task.run(bad, self.options)

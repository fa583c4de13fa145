"""The interpreter: results, lanes against single iterations, what it must refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from nest_programs import ZERO, copy, gemm, loops, stencil, variables

from tilewright.expr.dtypes import FLOAT32, INT64, dtype
from tilewright.expr.nodes import Tensor, Var, binary, call, cast, const, select
from tilewright.expr.tensors import placeholder, table
from tilewright.ground.errors import InputError, VerifyError
from tilewright.nest.nodes import Alloc, For, If, Kind, Node, Program, Store, seq
from tilewright.nest.reference import interpret as module
from tilewright.nest.reference.interpret import interpret


def random(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("m", [8, 10])
def test_gemm(m: int) -> None:
    a, b = random((m, 6)), random((6, 12), 1)
    got = interpret(gemm(m), {"A": a}, {"B": b})["C"]
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, a @ b, rtol=1e-5, atol=1e-6)


def test_windows_with_halos_are_private_to_an_iteration() -> None:
    x = random((10,))
    wide = np.pad(x, 1)
    got = interpret(stencil(10), {"x": x})["y"]
    np.testing.assert_allclose(got, wide[:-2] + wide[1:-1] + wide[2:], rtol=1e-6)


@pytest.mark.parametrize("program", [gemm(10), stencil(10)])
def test_one_iteration_at_a_time_gives_the_same_bits(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = {t.name: random(t.shape) for t in program.inputs}
    constants = {t.name: random(t.shape, 1) for t in program.constants}
    together = interpret(program, inputs, constants)
    monkeypatch.setattr(module, "LANES_AT_ONCE", 0)
    alone = interpret(program, inputs, constants)
    for name in together:
        np.testing.assert_array_equal(together[name], alone[name])


@pytest.mark.parametrize("program", [gemm(10), stencil(10)])
def test_a_shuffled_parallel_loop_gives_the_same_bits(program: Program) -> None:
    inputs = {t.name: random(t.shape) for t in program.inputs}
    constants = {t.name: random(t.shape, 1) for t in program.constants}
    expected = interpret(program, inputs, constants)
    got = interpret(program, inputs, constants, rng=np.random.default_rng(5))
    for name in expected:
        np.testing.assert_array_equal(got[name], expected[name])


def test_shuffling_shows_a_race() -> None:
    x, y = placeholder((8,), name="x"), Tensor("y", (1,), FLOAT32)
    i = Var("i")
    body = For(i, 8, Store(y, (const(0, INT64),), x[i]), Kind.PARALLEL)
    program = Program("race", (x,), (), (), (y,), body)
    values = np.arange(8, dtype=np.float32)
    assert interpret(program, {"x": values})["y"][0] == 7
    seen = {
        float(interpret(program, {"x": values}, rng=np.random.default_rng(s))["y"][0])
        for s in range(8)
    }
    assert len(seen) > 1


def test_a_recurrence_runs_in_order() -> None:
    x, y = placeholder((6,), name="x"), Tensor("y", (6,), FLOAT32)
    i = Var("i")
    value = x[i] + select(i >= 1, y[i - 1], ZERO)
    program = Program("scan", (x,), (), (), (y,), For(i, 6, Store(y, (i,), value)))
    values = random((6,))
    got = interpret(program, {"x": values})["y"]
    np.testing.assert_array_equal(got, np.cumsum(values, dtype=np.float32))


def test_the_last_write_wins() -> None:
    x, y = placeholder((4, 3), name="x"), Tensor("y", (3,), FLOAT32)
    i, j = variables("i j")
    body = loops(Store(y, (j,), x[i, j]), (i, 4), (j, 3))
    values = random((4, 3))
    got = interpret(Program("last", (x,), (), (), (y,), body), {"x": values})["y"]
    np.testing.assert_array_equal(got, values[-1])


@pytest.mark.parametrize(
    ("op", "reference"), [("sum", np.sum), ("max", np.max), ("min", np.min), ("prod", np.prod)]
)
def test_reductions(op: str, reference: object) -> None:
    x, y = placeholder((5, 7), name="x"), Tensor("y", (5,), FLOAT32)
    i, k = variables("i k")
    start = {"sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}[op]
    nest = seq(Store(y, (i,), const(start, FLOAT32)), For(k, 7, Store(y, (i,), x[i, k], op)))
    program = Program("reduce", (x,), (), (), (y,), For(i, 5, nest))
    values = random((5, 7))
    got = interpret(program, {"x": values})["y"]
    np.testing.assert_allclose(got, reference(values, axis=1), rtol=1e-5)  # type: ignore[operator]


def test_narrow_storage_rounds_after_every_update() -> None:
    half = dtype("float16")
    x, y = placeholder((64,), "float16", name="x"), Tensor("y", (1,), half)
    k, at = Var("k"), (const(0, INT64),)
    body = seq(Store(y, at, ZERO), For(k, 64, Store(y, at, x[k], "sum")))
    values = np.full(64, 1 / 3, np.float16)
    expected = np.float16(0)
    for v in values:
        expected = np.float16(np.float32(expected) + np.float32(v))
    got = interpret(Program("half", (x,), (), (), (y,), body), {"x": values})["y"]
    assert got[0] == expected


def test_dtypes_tables_casts_and_gathers() -> None:
    weights = np.array([10.0, 20.0, 30.0], np.float32)
    t = table(weights, name="T")
    i = Var("i")
    index, y = placeholder((4,), "int32", name="index"), Tensor("y", (4,), dtype("int8"))
    where = binary("min", binary("max", cast(INT64, index[i]), 0), 2)
    value = cast("int8", call("neg", t[where]) * 0.55)
    program = Program("look_up", (index,), (), (t,), (y,), For(i, 4, Store(y, (i,), value)))
    got = interpret(program, {"index": np.array([-5, 0, 1, 9], np.int32)})["y"]
    assert got.dtype == np.int8
    np.testing.assert_array_equal(got, [-5, -5, -11, -16])


def test_a_branch_that_is_not_taken_reads_nothing() -> None:
    i = Var("i")
    x, y = placeholder((4,), name="x"), Tensor("y", (6,), FLOAT32)
    body = For(i, 6, Store(y, (i,), select(i < 4, x[i], ZERO)))
    got = interpret(Program("pad", (x,), (), (), (y,), body), {"x": np.ones(4, np.float32)})["y"]
    np.testing.assert_array_equal(got, [1, 1, 1, 1, 0, 0])


def test_scalars() -> None:
    x, y = placeholder((), name="x"), Tensor("y", (), FLOAT32)
    program = Program("double", (x,), (), (), (y,), Store(y, (), x[()] * 2.0))
    assert interpret(program, {"x": np.float32(3)})["y"] == 6


@pytest.mark.parametrize("shift", [-1, 1])
def test_a_read_out_of_bounds_is_refused(shift: int) -> None:
    with pytest.raises(VerifyError, match=r"copy: y\[i\] = x\[.*dimension 0 of x is outside 0..3"):
        interpret(copy(Var("i") + shift), {"x": random((4,))})


def test_a_window_is_a_bound_too() -> None:
    x, y = placeholder((8,), name="x"), Tensor("y", (8,), FLOAT32)
    w, (t, u) = Tensor("w", (2,), FLOAT32), variables("t u")
    fill = For(u, 2, Store(w, (t * 2 + u,), x[t * 2 + u]))
    read = For(u, 2, Store(y, (t * 2 + u,), w[t * 2 + u + 1]))
    body = For(t, 4, Alloc(w, (t * 2,), seq(fill, read)))
    with pytest.raises(VerifyError, match="index 2 of dimension 0 of w is outside"):
        interpret(Program("window", (x,), (), (), (y,), body), {"x": random((8,))})


def test_a_read_before_the_write_is_refused() -> None:
    x, y, w = placeholder((4,), name="x"), Tensor("y", (4,), FLOAT32), Tensor("w", (4,), FLOAT32)
    i = Var("i")
    fill = For(i, 4, If(i < 3, Store(w, (i,), x[i])))
    body = Alloc(w, (const(0, INT64),), seq(fill, For(i, 4, Store(y, (i,), w[i]))))
    with pytest.raises(VerifyError, match=r"w at \[3\] of its window is read before it is written"):
        interpret(Program("hole", (x,), (), (), (y,), body), {"x": random((4,))})


def test_an_update_of_an_uninitialised_element_is_refused() -> None:
    program = gemm()
    body = program.body
    assert isinstance(body, For)
    only_update: Node = replace(body, body=body.body.body[1])  # type: ignore[union-attr]
    with pytest.raises(VerifyError, match=r"C\[.*\+= .*: C at \[0, 0\] is read before"):
        interpret(replace(program, body=only_update), {"A": random((8, 6))}, {"B": random((6, 12))})


def test_an_output_that_stays_unwritten_is_refused() -> None:
    program = copy(Var("i"))
    assert isinstance(program.body, For)
    short = replace(program, body=replace(program.body, extent=3))
    with pytest.raises(VerifyError, match=r"never writes y\[3\] and 0 elements more"):
        interpret(short, {"x": random((4,))})


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({}, r"no array for input x; given: \[\]"),
        ({"x": np.ones(5, np.float32)}, r"input x must be float32 \(4,\), got float32 \(5,\)"),
        ({"x": np.ones(4)}, "got float64"),
    ],
)
def test_wrong_arrays(arrays: dict[str, np.ndarray], says: str) -> None:
    with pytest.raises(InputError, match=says):
        interpret(copy(Var("i")), arrays)

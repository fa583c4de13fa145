"""Passes before C is written: the order of loops, and padding that is computed along."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from gpu_cases import CASES

from tilewright.codegen.clike import emit
from tilewright.codegen.clike.cuda import Cuda
from tilewright.codegen.passes import gpu_passes, passed
from tilewright.codegen.passes.loop_order import running_first
from tilewright.codegen.passes.padding import without_padding_guards
from tilewright.codegen.passes.simplify import simplified
from tilewright.expr.dtypes import FLOAT32, dtype
from tilewright.expr.nodes import Const, Read, Tensor, Var, as_expr
from tilewright.expr.tensors import placeholder
from tilewright.nest.marks import marks
from tilewright.nest.nodes import Alloc, For, If, Kind, Node, Program, Scope, Store, seq, walk
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.space.space import Space
from tilewright.target import Target
from workloads import OPERATORS

A100 = Target.parse("cuda:a100")
INT32 = dtype("int32")
I, J, K, T = (Var(name) for name in "ijkt")  # noqa: E741
S, U, X = Kind.SERIAL, Kind.UNROLLED, Kind.THREAD_X
OUT = Tensor("out", (27,), FLOAT32)
IN = placeholder((27, 8), name="in")


def loops(node: Node) -> list[str]:
    """The variables of all loops, outermost first."""
    return [n.var.name for n in walk(node) if isinstance(n, For)]


def guards(node: Node) -> int:
    return sum(isinstance(n, If) for n in walk(node))


def nest(body: Node, *around: tuple[Var, int, Kind]) -> Node:
    for var, extent, kind in reversed(around):
        body = For(var, extent, body, kind)
    return body


# ---- random candidates -------------------------------------------------------------------------


def candidates(name: str, seed: int, count: int) -> list[Program]:
    """Programs of one operator, padded tiles among them."""
    dag = OPERATORS[name]()
    space = Space(dag, A100)
    population = space.sample(np.random.default_rng(seed), 64)
    tiled = [i for i in range(len(population)) if population.sketch[i] == population.sketch.max()]
    traces = [space.trace(int(population.sketch[i]), population.rows[i]) for i in tiled[:count]]
    return [lower(State(dag).replay(trace), "candidate").program for trace in traces]


@pytest.mark.parametrize("name", ["GMM", "C2D", "T2D", "CAP"])
def test_results_stay_with_running_loops_outside(name: str) -> None:
    rng = np.random.default_rng(4)
    for program in candidates(name, 1, 3):
        tensors = (*program.inputs, *program.constants)
        arrays = {t.name: rng.random(t.shape, np.float32) for t in tensors}
        changed = replace(program, body=running_first(simplified(program.body)))
        verify(changed)
        found = interpret(changed, arrays, arrays)
        for key, value in interpret(program, arrays, arrays).items():
            np.testing.assert_allclose(found[key], value, 1e-5, 1e-5)


@pytest.mark.parametrize("name", ["GMM", "C2D", "DIL", "DEP", "CAP"])
def test_all_accesses_stay_inside_without_guards(name: str) -> None:
    """Interval arithmetic of the verifier agrees; what they compute, the devices' tests check."""
    for program in candidates(name, 2, 6):
        body = simplified(program.body)
        changed = without_padding_guards(body)
        assert guards(changed) <= guards(body)
        verify(replace(program, body=changed))


@pytest.mark.parametrize("name", CASES)
def test_nests_stay_valid_until_threads_are_merged(name: str) -> None:
    program = CASES[name].lowered().program
    for step in gpu_passes()[: [name for name, _ in gpu_passes()].index("virtual threads")]:
        program = passed(program, [step])
        verify(program)


# ---- the order of loops ------------------------------------------------------------------------


def product(value: Read) -> For:
    """i (unrolled), k (running), j (unrolled): C[i, j] += …"""
    update = Store(Tensor("C", (4, 2), FLOAT32), (I, J), value, "sum")
    found = nest(If(K < 7, update), (I, 4, U), (K, 8, S), (J, 2, U))
    assert isinstance(found, For)
    return found


def test_running_loops_come_first() -> None:
    changed = running_first(nest(product(Read(IN, (I, K))), (T, 32, X)))
    assert loops(changed) == ["t", "k", "i", "j"]
    assert running_first(changed) == changed


def test_the_pragma_stays_outside() -> None:
    changed = running_first(replace(product(Read(IN, (I, K))), marks=marks(unroll_step=64)))
    steps = [n.mark("unroll_step") for n in walk(changed) if isinstance(n, For)]
    assert loops(changed) == ["k", "i", "j"] and steps == [64, 0, 0]


def test_what_reads_itself_keeps_its_order() -> None:
    node = product(Read(Tensor("C", (4, 2), FLOAT32), (as_expr(0), J)))
    assert running_first(node) == node


def test_several_statements_keep_their_order() -> None:
    tile = Tensor("C", (4,), FLOAT32)
    start = Store(tile, (I,), Const(0.0, FLOAT32))
    update = nest(Store(tile, (I,), Read(IN, (I, K)), "sum"), (K, 8, S))
    node = nest(seq(start, update), (I, 4, U))
    assert running_first(node) == node


# ---- padding -----------------------------------------------------------------------------------


def rows(operand: Tensor) -> tuple[Program, Node]:
    """out[r] = Σ_k operand[r, k] for 27 rows in tiles of 4; `operand` is shared or an input."""
    row = T * 4 + I
    tile = Tensor("C", (4,), FLOAT32)
    update = If(row < 27, Store(tile, (row,), Read(operand, (row, K)), "sum"))
    body = seq(
        nest(If(row < 27, Store(tile, (row,), Const(0.0, FLOAT32))), (I, 4, U)),
        nest(update, (K, 8, S), (I, 4, U)),
        nest(If(row < 27, Store(OUT, (row,), Read(tile, (row,)))), (I, 4, U)),
    )
    node: Node = For(T, 7, Alloc(tile, (T * 4,), body), X)
    if operand is not IN:
        node = Alloc(operand, (as_expr(0), as_expr(0)), node, Scope.SHARED)
    return Program("p", (IN,), (), (), (OUT,), node), node


def test_only_what_leaves_the_thread_is_guarded() -> None:
    program, node = rows(Tensor("s", (28, 8), FLOAT32))
    changed = without_padding_guards(node)
    assert guards(node) == 3 and guards(changed) == 1
    assert "if" in emit(program, Cuda()).ir


@pytest.mark.parametrize("operand", [IN, Tensor("s", (27, 8), FLOAT32)])
def test_what_is_not_there_is_not_read(operand: Tensor) -> None:
    """27 rows only: the update keeps its condition."""
    _, node = rows(operand)
    assert guards(without_padding_guards(node)) == 2


def test_integers_of_nobody_are_no_divisors() -> None:
    counts = Tensor("n", (28, 8), INT32)
    row = T * 4 + I
    share = Const(7, INT32) // Read(counts, (row, K))
    whole = Tensor("C", (4,), INT32)
    update = nest(If(row < 27, Store(whole, (row,), share, "sum")), (I, 4, U))
    node: Node = For(T, 7, Alloc(whole, (T * 4,), For(K, 8, update)), X)
    node = Alloc(counts, (as_expr(0), as_expr(0)), node, Scope.SHARED)
    assert without_padding_guards(node) == node


def test_elements_that_another_statement_writes_are_kept() -> None:
    """Rows from 20 on are another statement's."""
    row, tile, shared = T * 4 + I, Tensor("C", (4,), FLOAT32), Tensor("s", (28, 8), FLOAT32)
    first = If(row < 20, Store(tile, (row,), Read(shared, (row, as_expr(0)))))
    second = If(row >= 20, Store(tile, (row,), Read(shared, (row, as_expr(1)))))
    body = nest(seq(first, second), (I, 4, U))
    node: Node = For(T, 7, Alloc(tile, (T * 4,), body), X)
    node = Alloc(shared, (as_expr(0), as_expr(0)), node, Scope.SHARED)
    assert without_padding_guards(node) == node

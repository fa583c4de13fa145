"""Bugs planted into a program of tensor cores: interpreter and emulation find them.

Each is put into the nest, and again into the CUDA source. Errors are what a reader of the template
would make: a wait or a barrier too few, another stage, rows in another order, zeros or guards that
are missing, places that only those know who write them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from template_problems import Problem

from devices import tools
from planted import Bug, Change, broken, edited, on, waiting_less, without
from tilewright.build.compile import build_nest
from tilewright.contract.artifact import Artifact
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Expr, Read, Select, Var
from tilewright.expr.reference import static_shape
from tilewright.expr.tensors import placeholder
from tilewright.expr.traversal import substitute
from tilewright.ground.errors import RunError, VerifyError, WrongAnswer
from tilewright.nest.instructions import COMMIT, COPY, WAIT
from tilewright.nest.nodes import (
    EMPTY,
    Barrier,
    If,
    Instruction,
    Node,
    Program,
    Store,
)
from tilewright.nest.verify import verify
from tilewright.runtime.emulated import EmulatedDevice
from tilewright.schedule.producers import template_gene
from tilewright.target import Target

GENE = template_gene("matmul.tensor_cores.1", (64, 64, 32, 32, 32, 3))
ROWS, COLUMNS, DEPTH = 60, 56, 136  # a tile that is not full, five steps in a ring of three
K, THREAD = Var("k"), Var("thread")


@cache
def problem(computed: bool = False) -> Problem:
    """A product; with a factor that comes through registers, if it is computed."""
    a = placeholder((ROWS, DEPTH), "float16", name="a")
    b = placeholder((DEPTH, COLUMNS), "float16", name="b")
    dag = ComputeDAG([ops.matmul(ops.relu(a) if computed else a, b, name="y")])
    rng = np.random.default_rng(8)
    return Problem(
        dag, {t.name: rng.integers(-3, 4, static_shape(t)).astype(np.float16) for t in dag.inputs}
    )


# ---- changes of a nest ----------------------------------------------------------------------


def no_barrier(n: Node) -> Node:
    return EMPTY if isinstance(n, Barrier) else n


def at_stage(read: Read, move: Callable[[Expr], Expr]) -> Read:
    stage, *rest = read.indices
    return replace(read, indices=(move(stage), *rest))


def next_stage(n: Instruction) -> Node:
    (read,) = n.operands
    assert isinstance(read, Read)
    return replace(n, operands=(at_stage(read, partial(substitute, values={"k": K + 1})),))


def overwritten(n: Instruction) -> Node:
    """The copy goes to the stage that is used."""
    assert n.result is not None
    return replace(n, result=at_stage(n.result, partial(substitute, values={"k": K + 1})))


def lanes_moved(tensor: str, by: int) -> Change:
    """Lanes that point to rows of a tile take others' rows."""

    def moved(n: Instruction) -> Node:
        (read,) = n.operands
        assert isinstance(read, Read)
        if read.tensor.name != tensor:
            return n
        stage, row, column = read.indices
        other = THREAD // 32 * 32 + (THREAD + by) % 32
        values = {"thread": other}
        return replace(
            n, operands=(replace(read, indices=(stage, substitute(row, values), column)),)
        )

    return on("ldmatrix", moved)


def not_turned(n: Instruction) -> Node:
    return replace(n, name=n.name.removesuffix(".trans"))


def unfilled(n: Instruction) -> Node:
    return replace(n, operands=tuple(e.a if isinstance(e, Select) else e for e in n.operands))


def no_guard(n: Node) -> Node:
    return n.body if isinstance(n, If) and isinstance(n.body, Store) else n


def uncleared(n: Node) -> Node:
    return EMPTY if isinstance(n, Store) and n.tensor.name == "sums.part" else n


# ---- changes of a source ---------------------------------------------------------------------


BUGS: dict[str, Bug] = {
    "a wait too short": Bug(
        on(WAIT, waiting_less),
        edited(r"wait_group<1>", "wait_group<2>"),
        "is used before a wait for what makes it",
    ),
    "no wait": Bug(
        without(WAIT), edited(r"tw_cp_async_wait_group<1>\(\);", ""), "is used before a wait"
    ),
    "no groups": Bug(
        without(COMMIT),
        edited(r"tw_cp_async_commit_group\(\);", ""),
        "is used before a wait",
    ),
    "no barrier": Bug(
        no_barrier, edited(r"__syncthreads\(\);", ""), "a barrier is missing", is_static=True
    ),
    "the next stage": Bug(
        on("ldmatrix", next_stage),
        edited(r"k % 3", "(k + 1) % 3", "tw_ldmatrix"),
        "is used before a wait",
    ),
    "a stage in use": Bug(
        on(COPY, lambda n: overwritten(n) if n.result is not None else n),
        edited(r"\(k \+ 2\) % 3", "(k + 3) % 3", "tw_cp_async"),
        "is used before a wait",
        is_static=True,
    ),
    "rows of another matrix": Bug(
        lanes_moved("left.tile", 8), edited(r"thread % 16 \* 32", "(thread + 8) % 16 * 32")
    ),
    "rows of another lane": Bug(
        lanes_moved("right.tile", 1), edited(r"thread % 16 \* 64", "(thread + 1) % 16 * 64")
    ),
    "columns for rows": Bug(on("ldmatrix", not_turned), edited(r"_trans\(", "(", "tw_ldmatrix")),
    "no zeros": Bug(
        on(COPY, unfilled), edited(r", [^,]* < \d+\);", ", true);", "tw_cp_async"), "is outside",
        is_static=True,
    ),
    "zeros from a piece too far on": Bug(
        None, edited(r"k \* 4 \+ thread % 4 < 9", "k * 4 + thread % 4 < 10")
    ),
    "no guard": Bug(
        no_guard, edited(r"< 60\) \{", "< 64) {", "if ("), "is outside", is_static=True
    ),
    "a guard of a row too many": Bug(None, edited(r"< 60\) \{", "< 61) {", "if (")),
    "sums that begin anywhere": Bug(uncleared, None, "is read before it is written"),
    "a swizzle that only writers know": Bug(
        None, edited(r", 3, 6, [37]\)", ", 3, 6, 0)", "tw_ldmatrix")
    ),
    "a swizzle of every second row": Bug(
        None, edited(r", 3, 6, 7\)", ", 3, 7, 7)", "tw_ldmatrix")
    ),
}  # fmt: skip


@pytest.mark.parametrize("computed", [False, True])
def test_the_program_is_right(computed: bool) -> None:
    found = problem(computed)
    found.interpreted(found.program(GENE))


IN_NESTS = [name for name, bug in BUGS.items() if bug.nest is not None]


def with_bug(name: str, computed: bool = False) -> Program:
    return broken(problem(computed).program(GENE), BUGS[name])


@pytest.mark.parametrize("name", IN_NESTS)
def test_the_interpreter_finds(name: str) -> None:
    bug = BUGS[name]
    error = VerifyError if bug.message else WrongAnswer
    with pytest.raises(error, match=bug.message or None):
        problem().interpreted(with_bug(name))


@pytest.mark.parametrize("name", IN_NESTS)
def test_the_verifier_finds(name: str) -> None:
    if BUGS[name].is_static:
        with pytest.raises(VerifyError, match=r"no barrier between|outside 0\.\."):
            verify(with_bug(name))
    else:
        verify(with_bug(name))


@pytest.mark.parametrize("name", ["no barrier", "the next stage"])
def test_they_are_found_in_what_comes_through_registers(name: str) -> None:
    with pytest.raises(VerifyError, match=r"a barrier is missing|is used before a wait"):
        problem(computed=True).interpreted(with_bug(name, computed=True))


@cache
def artifact() -> Artifact:
    return build_nest(problem().dag, GENE, Target.parse("emulated"), "product")


@tools("g++")
def test_the_emulation_finds_nothing_in_it() -> None:
    problem().run(artifact(), EmulatedDevice(seed=4))


@tools("g++")
@pytest.mark.parametrize("name", [name for name, bug in BUGS.items() if bug.source is not None])
def test_the_emulation_finds(name: str) -> None:
    edit = BUGS[name].source
    assert edit is not None
    source = edit(artifact().object_code.decode())
    with pytest.raises((RunError, WrongAnswer)) as found:
        problem().run(replace(artifact(), object_code=source.encode()), EmulatedDevice(seed=4))
    assert "g++ rejects" not in str(found.value)

"""Bugs planted into a program whose loads are a warp's of their own: phases, bytes, boxes.

Each is put into the nest, where the interpreter finds it whatever the order in which warps run, and
into the CUDA source, where the emulation does in one of a few orders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from template_problems import Problem

from devices import tools
from planted import Bug, Change, broken, changed, edited, on, waiting_less, without
from tilewright.build.compile import build_nest
from tilewright.contract.artifact import Artifact
from tilewright.contract.gene import Gene
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import DTYPES, FLOAT32
from tilewright.expr.nodes import Binary, Const, Expr, Read, Tensor, Var, cast
from tilewright.expr.reference import static_shape
from tilewright.expr.tensors import View, placeholder
from tilewright.expr.traversal import substitute
from tilewright.ground.errors import RunError, VerifyError, WrongAnswer
from tilewright.nest.instructions import (
    ARRIVE,
    BULK_COPY,
    EXPECT,
    GROUP_WAIT,
    INIT,
    PHASE_WAIT,
    PROXY_FENCE,
    WGMMA,
)
from tilewright.nest.nodes import EMPTY, Barrier, For, If, Instruction, Node, Store
from tilewright.nest.verify import verify
from tilewright.runtime.emulated import EmulatedDevice
from tilewright.schedule.producers import template_gene
from tilewright.schedule.templates import WARP_SPECIALIZED
from tilewright.target import Target

ROWS, COLUMNS, DEPTH = 72, 96, 456  # tiles that are not full, eight steps in a ring of three
K = Var("k")
FLOAT16 = DTYPES["float16"]
SEEDS = range(4)


@cache
def problem(turned: bool = False) -> Problem:
    """A product, whose factors may lie the other way round."""
    a = placeholder((DEPTH, ROWS) if turned else (ROWS, DEPTH), "float16", name="a")
    b = placeholder((COLUMNS, DEPTH) if turned else (DEPTH, COLUMNS), "float16", name="b")
    dag = ComputeDAG([ops.matmul(a, b, transpose_a=turned, transpose_b=turned, name="y")])
    rng = np.random.default_rng(5)
    return Problem(
        dag, {t.name: rng.integers(-3, 4, static_shape(t)).astype(np.float16) for t in dag.inputs}
    )


def gene(groups: int = 1) -> Gene:
    return template_gene(WARP_SPECIALIZED.name, (64 * groups, 128, 64, groups, 3))


# ---- changes of a nest ----------------------------------------------------------------------


def of(tensor: str, change: Callable[[Instruction], Node]) -> Callable[[Instruction], Node]:
    """A change of instructions whose results are in a tensor."""
    return lambda n: change(n) if n.result is not None and n.result.tensor.name == tensor else n


def gone(n: Instruction) -> Node:
    return EMPTY


def number(move: Callable[[Expr], Expr]) -> Callable[[Instruction], Node]:
    """The number of an instruction changed."""
    return lambda n: replace(n, operands=(*n.operands[:-1], move(n.operands[-1])))


def of_stage(values: dict[str, Expr]) -> Callable[[Instruction], Node]:
    """The result of another stage."""

    def change(n: Instruction) -> Node:
        assert n.result is not None
        stage, *rest = n.result.indices
        return replace(n, result=replace(n.result, indices=(substitute(stage, values), *rest)))

    return change


def by_all(n: Node) -> Node:
    """Every thread of the loading warp copies."""
    return If(n.cond.a >= 128, n.body) if isinstance(n, If) and is_loader(n) else n


def is_loader(n: If) -> bool:
    return any(isinstance(b, Instruction) and b.name == EXPECT for b in parts(n.body))


def parts(n: Node) -> tuple[Node, ...]:
    return getattr(n, "body", ()) if isinstance(getattr(n, "body", ()), tuple) else ()


def arriving_first(n: Node) -> Node:
    """Stages are given back before the products that read them are waited for: the current one."""
    match n:
        case If(cond, Instruction(name, Read() as result)) if name == ARRIVE:
            (stage,) = result.indices
            now = replace(result, indices=(substitute(stage, {"k": K + 1}),))
            return If(of_warps(cond), Instruction(ARRIVE, now))
    return n


def unguarded(n: Node) -> Node:
    """A stage is given back in the first step, too."""
    match n:
        case If(cond, Instruction(name) as arrive) if name == ARRIVE:
            return If(of_warps(cond), arrive)
    return n


def of_warps(cond: Expr) -> Expr:
    """The condition of a warp's first thread, in every step."""
    assert isinstance(cond, Binary)
    return cond.a


def no_barrier(n: Node) -> Node:
    return EMPTY if isinstance(n, Barrier) else n


def shifted(n: Instruction) -> Node:
    """The box begins a column too far on."""
    box, phase = n.operands
    assert isinstance(box, Read)
    *outer, column = box.indices
    return replace(n, operands=(replace(box, indices=(*outer, column + 1)), phase))


def stored_early(n: Node) -> Node:
    """Sums are stored without a wait for the last products."""
    return without(GROUP_WAIT)(n)


BUGS: dict[str, Bug] = {
    "no wait for a full stage": Bug(
        on(PHASE_WAIT, of("full", gone)),
        edited(r"tw_mbarrier_try_wait_parity\(full .*", ""),
        "which has not waited for its phase",
    ),
    "no wait for an empty stage": Bug(
        on(PHASE_WAIT, of("empty", gone)),
        edited(r"tw_mbarrier_try_wait_parity\(empty .*", ""),
        "is filled again, and warp 0 may still read it",
    ),
    "the other phase of a full stage": Bug(
        on(PHASE_WAIT, of("full", number(lambda e: 1 - e))),
        edited(r"k / 3 % 2\)", "(k / 3 + 1) % 2)", "(full"),
        "nobody ends the phase that it waits for",
    ),
    "the other phase of an empty stage": Bug(
        on(PHASE_WAIT, of("empty", number(lambda e: 1 - e))),
        edited(r"\(k / 3 \+ 1\) % 2\)", "k / 3 % 2)", "(empty"),
        "nobody ends the phase that it waits for",
    ),
    "a phase that never changes": Bug(
        on(PHASE_WAIT, of("empty", number(lambda e: Const(1, e.dtype)))),
        edited(r"\(k / 3 \+ 1\) % 2\)", "1)", "(empty"),
        "nobody ends the phase that it waits for",
    ),
    "bytes of one factor": Bug(
        on(EXPECT, number(lambda e: Const(8192, e.dtype))),
        edited("24576", "8192"),
        "which has not waited for its phase",
    ),
    "no bytes": Bug(
        on(EXPECT, lambda n: Instruction(ARRIVE, n.result)),
        edited(r"arrive_expect_tx\((.*), \d+\)", r"arrive(\1)"),
        "which has not waited for its phase",
    ),
    "an arrival of each thread": Bug(
        lambda n: If(K > 0, n.body) if isinstance(n, If) and n.body in arrivals(n) else n,
        edited(r"thread % 32 == 0 && ", ""),
        "more arrivals than",
    ),
    "an arrival too early": Bug(
        arriving_first,
        lambda text: edited(r" && k >= 1", "")(
            edited(r"\(k \+ 2\) % 3", "k % 3", "arrive(empty")(text)
        ),
        "while an instruction reads it|may still read it|can be over before",
    ),
    "an arrival in the first step": Bug(
        unguarded, edited(r" && k >= 1", ""), "nobody ends the phase that it waits for; 1 are over"
    ),
    "no arrival": Bug(
        without(ARRIVE),
        edited(r"tw_mbarrier_arrive\(.*", ";"),
        "nobody ends the phase that it waits for",
    ),
    "a stage for the next": Bug(
        on(BULK_COPY, of("left.tile", of_stage({"k": K + 1}))),
        edited(r"left_tile \+ k % 3", "left_tile + (k + 1) % 3", "bulk"),
        "is used by warp|may still read it|is filled while|before it is written",
    ),
    "all threads copy": Bug(
        by_all, edited(r"thread == 128", "thread >= 128"), "more arrivals than the 1"
    ),
    "no initialisation": Bug(without(INIT), edited(r"tw_mbarrier_init\(.*", ""), "has not begun"),
    "too few arrivals wanted": Bug(
        on(INIT, of("empty", number(lambda e: Const(1, e.dtype)))),
        edited(r"init\((empty.*), 4\)", r"init(\1, 1)"),
        "more arrivals than|can be over before|may still read it",
    ),
    "no barrier after the initialisation": Bug(no_barrier, None, "it has not begun"),
    "no fence after the initialisation": Bug(
        without(PROXY_FENCE), None, "a fence is missing after a thread initialised"
    ),
    "a box elsewhere": Bug(
        on(BULK_COPY, of("left.tile", shifted)), edited(r"k \* 64, full", "k * 64 + 1, full")
    ),
    "products that nobody waits for": Bug(
        stored_early,
        edited(r"tw_wgmma_wait_group<\d>\(\);", ""),
        "is filled while an instruction reads it",
    ),
    "a wait for products too short": Bug(
        on(GROUP_WAIT, waiting_less),
        edited(r"wait_group<1>", "wait_group<2>"),
        "may still read it|is used before a wait|while an instruction reads it",
    ),
}


def arrivals(n: If) -> list[Node]:
    return [n.body] if isinstance(n.body, Instruction) and n.body.name == ARRIVE else []


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("turned", [False, True])
def test_the_program_is_right(turned: bool, groups: int) -> None:
    found = problem(turned)
    found.interpreted(found.program(gene(groups)))


@pytest.mark.parametrize("name", BUGS)
def test_the_interpreter_finds(name: str) -> None:
    bug = BUGS[name]
    with pytest.raises(VerifyError if bug.message else WrongAnswer, match=bug.message or None):
        problem().interpreted(broken(problem().program(gene()), bug))


@cache
def artifact() -> Artifact:
    return build_nest(problem().dag, gene(), Target.parse("emulated"), "product")


@tools("g++")
@pytest.mark.no_cover
def test_the_emulation_finds_nothing_in_it() -> None:
    for seed in SEEDS:
        problem().run(artifact(), EmulatedDevice(seed=seed))


@tools("g++")
@pytest.mark.no_cover
@pytest.mark.parametrize("name", [name for name, bug in BUGS.items() if bug.source is not None])
def test_the_emulation_finds(name: str) -> None:
    edit = BUGS[name].source
    assert edit is not None
    source = replace(artifact(), object_code=edit(artifact().object_code.decode()).encode())

    def run() -> None:
        for seed in SEEDS:
            problem().run(source, EmulatedDevice(seed=seed))

    with pytest.raises((RunError, WrongAnswer)) as found:
        run()
    assert "g++ rejects" not in str(found.value)


# ---- refused before anything runs -------------------------------------------------------------


def viewed(change: Callable[[View], View]) -> Change:
    """Boxes of another view."""

    def moved(n: Instruction) -> Node:
        box, phase = n.operands
        assert isinstance(box, Read) and isinstance(box.tensor.source, View)
        tensor = replace(box.tensor, source=change(box.tensor.source))
        return replace(n, operands=(replace(box, tensor=tensor), phase))

    return on(BULK_COPY, moved)


def from_a_tile(n: Instruction) -> Node:
    """What a box is copied to is where it is copied from."""
    assert n.result is not None
    return replace(n, operands=(n.result, n.operands[1]))


def read_by_threads(n: Node) -> Node:
    """A thread reads an element of a tile by itself."""
    if not isinstance(n, Store) or n.tensor.name != "sums.part":
        return n
    tile, zero = Tensor("left.tile", (3, 64, 64), FLOAT16), Const(0, K.dtype)
    return replace(n, value=cast(FLOAT32, Read(tile, (zero, zero, zero))))


def half_a_group(n: Node) -> Node:
    return If(n.cond.a < 100, n.body) if isinstance(n, If) and multiplies(n) else n


def multiplies(n: If) -> bool:
    return any(isinstance(b, Instruction) and b.name.startswith(WGMMA) for b in parts(n.body))


def of_float32(n: Node) -> Node:
    return replace(n, extent=96) if isinstance(n, For) and n.var.name == "thread" else n


REFUSED: dict[str, tuple[Change, str]] = {
    "rows that are not aligned": (
        viewed(lambda v: replace(v, strides=(v.strides[0], v.strides[1] + 1, 1))),
        "do not begin at multiples of 16 bytes",
    ),
    "columns apart": (
        viewed(lambda v: replace(v, strides=(*v.strides[:2], 2))),
        "do not begin at multiples of 16 bytes",
    ),
    "memory that is not there": (
        viewed(lambda v: replace(v, offset=v.offset + 8)), "reaches beyond"
    ),
    "a tile that a thread reads": (read_by_threads, "left.tile is for instructions with phases"),
    "a part of a group": (half_a_group, "not every thread of 128 comes to this instruction"),
    "fewer threads than a group": (of_float32, "not every thread of 128 comes"),
    "no view": (
        on(BULK_COPY, from_a_tile), "is no view of 3 dimensions",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_the_verifier_refuses(name: str) -> None:
    change, message = REFUSED[name]
    program = problem().program(gene())
    with pytest.raises(VerifyError, match=message):
        verify(replace(program, body=changed(program.body, change)))


def test_a_stage_has_a_loop_for_each_role() -> None:
    """What one warp does is in a loop of its own, and so is what the others do."""
    text = artifact().object_code.decode()
    loops = [line.strip() for line in text.splitlines() if "for (int k = 0" in line]
    assert len(loops) == 2
    first, second = text.index("if (thread == 128)"), text.index("if (thread < 128)")
    assert first < text.index("tw_mbarrier_arrive_expect_tx(full") < second
    assert second < text.index("tw_mbarrier_try_wait_parity(full") < text.index("wait_group<0>")
    assert text.count("if (thread < 128)") == 1, "what follows the loop is under the same condition"

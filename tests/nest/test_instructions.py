"""Instructions in nests: what they do, what is refused before and while running, how they look."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from warp_programs import (
    COMMIT,
    LAST,
    E,
    F,
    S,
    T,
    X,
    Y,
    alloc,
    copied,
    product,
    program,
    read,
    through_shared,
    turned,
    wait,
    warp,
)

from tilewright.expr.dtypes import FLOAT32, dtype
from tilewright.expr.nodes import Const, Tensor, Var, select
from tilewright.expr.reference import static_shape
from tilewright.ground.errors import VerifyError
from tilewright.nest.instructions import BULK_COPY, INSTRUCTIONS, MBARRIER, PROXY_FENCE, WGMMA
from tilewright.nest.nodes import (
    Barrier,
    For,
    If,
    Instruction,
    Kind,
    Node,
    Program,
    Scope,
    Store,
    seq,
)
from tilewright.nest.print import nest_text
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.reference.lanes import Array
from tilewright.nest.verify import verify

U = Var("u")
ROWS = np.arange(32 * 8, dtype=np.float16).reshape(32, 8)
IN_SHARED = Instruction("cp.async.16", read(S, T, 0), (read(X, T, 0),))


def drawn(tensor: Tensor) -> Array:
    """Small integers, of which every sum is exact; rows that differ, for x."""
    if tensor == X:
        return ROWS.copy()
    rng = np.random.default_rng(len(tensor.name))
    return rng.integers(-8, 9, static_shape(tensor)).astype(tensor.dtype.numpy)


def run(p: Program) -> Array:
    verify(p)
    (found,) = interpret(p, {t.name: drawn(t) for t in p.inputs}).values()
    return found


# ---- what they do ---------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["float16", "bfloat16"])
def test_mma_adds_a_product(element: str) -> None:
    p = product(element)
    a, b = (drawn(t).astype(np.float32) for t in p.inputs)
    np.testing.assert_array_equal(run(p), 1 + a @ b.T)


def test_ldmatrix_deals_out_rows_of_four_matrices() -> None:
    found = run(through_shared(turned("ldmatrix.x4")))
    for lane in range(32):
        expected = [ROWS[8 * i + lane // 4, lane % 4 * 2 + e] for i in range(4) for e in range(2)]
        np.testing.assert_array_equal(found[lane], expected)


def test_ldmatrix_deals_out_their_columns() -> None:
    found = run(through_shared(turned("ldmatrix.x4.trans")))
    for lane in range(32):
        expected = [ROWS[8 * i + lane % 4 * 2 + e, lane // 4] for i in range(4) for e in range(2)]
        np.testing.assert_array_equal(found[lane], expected)


def test_lanes_may_point_to_rows_in_any_order() -> None:
    reversed_rows = run(through_shared(turned("ldmatrix.x4", 31 - T)))
    np.testing.assert_array_equal(reversed_rows[5], ROWS[30 - 8 * np.arange(4)][:, 2:4].ravel())


@pytest.mark.parametrize("size", [4, 8, 16])
@pytest.mark.parametrize("element", ["float16", "float32", "int8"])
def test_copies_arrive_and_are_zero_where_nothing_is(size: int, element: str) -> None:
    p = copied(size, element=element)
    expected = drawn(p.inputs[0])
    expected[LAST:] = 0
    np.testing.assert_array_equal(run(p), expected[::-1])


def test_a_copy_of_zeros_has_no_place() -> None:
    zeros = replace(IN_SHARED, operands=(Const(0.0, FLOAT32),))
    p = through_shared(seq(Barrier(), zeros, COMMIT, wait(0), Barrier(), turned("ldmatrix.x4")))
    np.testing.assert_array_equal(run(p), np.zeros((32, 8)))
    assert nest_text(zeros) == "cp.async.16(s[t, 0], 0.0)\n"


def test_a_wait_leaves_the_last_groups() -> None:
    """Two groups, of the columns 0 to 3 and 4 to 7: after a wait for all but one, the first is
    there.
    """
    copies = [Instruction("cp.async.8", read(S, T, c), (read(X, T, c),)) for c in (0, 4)]

    def used(column: int) -> Program:
        show = For(E, 8, Store(Y, (T, E), S[31 - T, column]))
        body = seq(copies[0], COMMIT, copies[1], COMMIT, wait(1), Barrier(), show)
        return program((X,), Y, alloc(S, warp(body), Scope.SHARED))

    found = interpret(used(3), {"x": ROWS})["y"]
    np.testing.assert_array_equal(found, ROWS[::-1, 3:4].repeat(8, axis=1))
    with pytest.raises(VerifyError, match="s is used before a wait for what makes it"):
        interpret(used(4), {"x": ROWS})


def test_a_warp_is_32_neighbours_of_a_block() -> None:
    """64 threads: each warp has matrices of its own."""
    x, y = (replace(t, shape=(64, 8)) for t in (X, Y))
    s = replace(S, shape=(64, 8))
    load = Instruction("ldmatrix.x4", read(F, 0), (read(s, T, 0),))
    body = seq(
        For(E, 8, Store(s, (T, E), x[T, E])),
        Barrier(),
        load,
        For(E, 8, Store(y, (T, E), F[E])),
    )
    p = program((x,), y, alloc(s, warp(alloc(F, body), 64), Scope.SHARED))
    rows = np.arange(64 * 8, dtype=np.float16).reshape(64, 8)
    verify(p)
    found = interpret(p, {"x": rows})["y"]
    np.testing.assert_array_equal(found[37, :2], rows[32 + 1, 2:4])


# ---- refused before running ------------------------------------------------------------------


S48, Y48 = replace(S, shape=(48, 8)), replace(Y, shape=(48, 8))
REFUSED: dict[str, tuple[Node, str]] = {
    "unknown": (Instruction("mma.m8n8k4"), "no such instruction; known: mma.m16n8k16, ldmatrix"),
    "no operand": (
        Instruction("ldmatrix.x4", read(F, 0)),
        r"ldmatrix.x4\(f\[0\]\) inside loops t: it has 1 operands and 1 results",
    ),
    "no result": (
        Instruction("ldmatrix.x4", None, (read(S, T, 0),)),
        "it has 1 operands and 1 results",
    ),
    "a result of a commit": (
        Instruction("cp.async.commit_group", read(F, 0)),
        "it has 0 operands and 0 results",
    ),
    "arithmetic": (
        replace(IN_SHARED, operands=(read(X, T, 0) + read(X, T, 0),)),
        "is no operand of it",
    ),
    "a border that is not 0": (
        replace(IN_SHARED, operands=(select(T < 3, read(X, T, 0), Const(1.0, FLOAT32)),)),
        "is no operand of it",
    ),
    "a condition of ldmatrix": (
        replace(
            turned("ldmatrix.x4"),
            operands=(select(T < 3, read(S, T, 0), Const(0.0, FLOAT32)),),
        ),
        "is no operand of it",
    ),
    "a number for a place": (replace(IN_SHARED, operands=(Const(1.0, FLOAT32),)), "no operand"),
    "zeros for a place": (
        replace(turned("ldmatrix.x4"), operands=(Const(0.0, FLOAT32),)),
        "is no operand of it",
    ),
    "a place for a number": (
        Instruction("cp.async.wait_group", None, (read(X, T, 0),)),
        "is no operand of it",
    ),
    "to an input": (
        Instruction("cp.async.16", read(X, T, 0), (read(X, T, 0),)),
        "x is an input, a constant or a table",
    ),
    "outside": (
        replace(IN_SHARED, operands=(read(X, T + 1, 0),)),
        r"x: index t \+ 1 of dimension 0 is in 1\.\.32, outside 0\.\.31",
    ),
    "a run that ends outside": (
        replace(IN_SHARED, operands=(read(X, T, 4),)),
        r"x: index 11 of dimension 1 is in 11\.\.11, outside 0\.\.7",
    ),
    "a result that ends outside": (
        replace(IN_SHARED, result=read(S, T, 1)),
        r"s: index 8 .* of dimension 1 is in 8\.\.8",
    ),
    "a condition that admits too much": (
        replace(IN_SHARED, operands=(select(T < 40, read(X, T * 2, 0), Const(0.0, FLOAT32)),)),
        r"x: index t \* 2 of dimension 0 is in 0\.\.62",
    ),
    "ldmatrix of memory": (
        replace(turned("ldmatrix.x4"), operands=(read(X, T, 0),)),
        "x is not shared storage",
    ),
    "ldmatrix to shared memory": (
        Instruction("ldmatrix.x4", read(S, T, 0), (read(S, T, 0),)),
        "s is not local storage",
    ),
    "a copy to registers": (
        Instruction("cp.async.16", read(F, 0), (read(X, T, 0),)),
        "f is not shared storage",
    ),
    "a copy within shared memory": (
        replace(IN_SHARED, operands=(read(S, T, 0),)),
        "s is not an input or an output",
    ),
    "some threads": (If(T < 16, turned("ldmatrix.x4")), "not every thread of 32 comes to"),
    "some threads' data": (
        If(read(X, 0, 0).eq(0.0), turned("ldmatrix.x4")),
        "not every thread of 32 comes to this instruction",
    ),
    "some threads' groups": (If(T < 16, COMMIT), "not every thread of the block comes to"),
    "some threads' waits": (If(T < 16, wait(0)), "not every thread of the block comes to"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_verifier_refuses(name: str) -> None:
    node, message = REFUSED[name]
    with pytest.raises(VerifyError, match=message):
        verify(through_shared(node))


def test_a_thread_may_copy_alone() -> None:
    verify(
        through_shared(
            seq(If(T < 16, IN_SHARED), COMMIT, wait(0), Barrier(), turned("ldmatrix.x4"))
        )
    )


@pytest.mark.parametrize(
    ("sums", "left", "right", "message"),
    [
        ("float32", "float16", "bfloat16", "it makes float32 .*, not float32 of float16, bfloat16"),
        ("int32", "float16", "float16", "it makes float32 .*, not int32 of float16, float16"),
        ("float32", "int16", "int16", "operands are float16 or bfloat16, not int16, int16"),
    ],
)
def test_dtypes_of_fragments(sums: str, left: str, right: str, message: str) -> None:
    c, a, b = (Tensor(n, (8,), dtype(d)) for n, d in zip("cab", (sums, left, right), strict=True))
    mma = Instruction("mma.m16n8k16", read(c, 0), (read(a, 0), read(b, 0)))
    p = through_shared(alloc(a, alloc(b, alloc(c, mma))))
    with pytest.raises(VerifyError, match=message):
        verify(p)


def test_a_copy_keeps_the_dtype() -> None:
    x = replace(X, dtype=dtype("bfloat16"))
    copy = replace(IN_SHARED, operands=(read(x, T, 0),))
    p = replace(through_shared(copy), inputs=(x,))
    show = For(E, 8, Store(Y, (T, E), Const(0.0, FLOAT32)))
    body = alloc(S, warp(seq(copy, show)), Scope.SHARED)
    with pytest.raises(VerifyError, match=r"it makes bfloat16 of .* not float16 of bfloat16"):
        verify(replace(p, body=body))


def test_a_half_warp_is_none() -> None:
    x = replace(X, shape=(48, 8))
    body = seq(
        For(E, 8, Store(S48, (T, E), x[T, E])), Barrier(),
        Instruction("ldmatrix.x4", read(F, 0), (read(S48, T, 0),)),
        For(E, 8, Store(Y48, (T, E), F[E])),
    )  # fmt: skip
    p = program((x,), Y48, alloc(S48, warp(alloc(F, body), 48), Scope.SHARED))
    with pytest.raises(VerifyError, match="48 threads are no whole warps"):
        verify(p)
    with pytest.raises(VerifyError, match="not every thread of 32 comes here"):
        interpret(p, {"x": np.zeros((48, 8), np.float16)})


def test_not_in_a_cooperative_loop() -> None:
    copy = replace(IN_SHARED, result=read(S, U, 0), operands=(read(X, U, 0),))
    inner = For(U, 32, copy, Kind.THREAD_X)
    with pytest.raises(VerifyError, match="an instruction inside a cooperative loop"):
        verify(through_shared(inner))


# ---- refused while running -------------------------------------------------------------------


def ran(p: Program) -> None:
    interpret(p, {t.name: drawn(t) for t in p.inputs})


def test_runs_are_aligned_to_their_size() -> None:
    copy = replace(IN_SHARED, name="cp.async.8", operands=(read(X, T, 2),))
    p = through_shared(seq(copy, COMMIT, wait(0), Barrier(), turned("ldmatrix.x4")))
    verify(p)
    with pytest.raises(VerifyError, match="8 bytes of x are not aligned to their size"):
        ran(p)


ORDERS: dict[str, tuple[list[Node], str]] = {
    "no wait": ([COMMIT, Barrier()], "s is used before a wait for what makes it"),
    "no group": ([wait(0), Barrier()], "s is used before a wait for what makes it"),
    "a wait for all but it": ([COMMIT, wait(1), Barrier()], "s is used before a wait"),
    "no barrier": ([COMMIT, wait(0)], "s is read where another thread wrote: a barrier is missing"),
    "a barrier before the wait": (
        [COMMIT, Barrier(), wait(0)],
        "s is read where another thread wrote: a barrier is missing",
    ),
}


@pytest.mark.parametrize("name", ORDERS)
def test_what_copies_make_is_there_after_a_wait_and_a_barrier(name: str) -> None:
    order, message = ORDERS[name]
    with pytest.raises(VerifyError, match=message):
        ran(copied(16, order=order))


def test_nobody_writes_where_a_copy_is_under_way() -> None:
    over = Store(S, (T, E), Const(0.0, FLOAT32))
    p = through_shared(seq(IN_SHARED, COMMIT, For(E, 8, over), wait(0), turned("ldmatrix.x4")))
    with pytest.raises(VerifyError, match="s is used before a wait for what makes it"):
        ran(p)


def test_a_warp_reads_what_its_threads_wrote_after_a_barrier() -> None:
    p = through_shared(turned("ldmatrix.x4", 31 - T), barrier=False)
    for check in (verify, ran):
        with pytest.raises(VerifyError, match="barrier"):
            check(p)


def test_a_fragment_must_be_there() -> None:
    show = For(E, 8, Store(Y, (T, E), F[E]))
    p = program((X,), Y, alloc(S, warp(alloc(F, seq(turned("ldmatrix.x4"), show))), Scope.SHARED))
    with pytest.raises(VerifyError, match=r"s at .* is read before it is written"):
        ran(p)


# ---- how they look ---------------------------------------------------------------------------


def test_they_print_like_calls() -> None:
    assert nest_text(turned("ldmatrix.x4.trans")) == "ldmatrix.x4.trans(f[0], s[t, 0])\n"
    assert nest_text(seq(COMMIT, wait(1))) == ("cp.async.commit_group()\ncp.async.wait_group(1)\n")
    copy = replace(IN_SHARED, operands=(select(T < 20, read(X, T, 0), Const(0.0, FLOAT32)),))
    assert nest_text(copy) == "cp.async.16(s[t, 0], select(t < 20, x[t, 0], 0.0))\n"
    mma = Instruction("mma.m16n8k16", read(F, 0), (read(F, 0), read(F, 4)))
    assert nest_text(mma) == "mma.m16n8k16(f[0], f[0], f[4])\n"


def test_all_are_tested() -> None:
    """Here, those of Hopper in `test_warpgroups` and `templates/test_planted_phases`."""
    hopper = WGMMA, PROXY_FENCE, MBARRIER, BULK_COPY
    of_warps = {n for n in INSTRUCTIONS if not n.startswith(hopper)}
    assert of_warps == {
        "mma.m16n8k16", "ldmatrix.x4", "ldmatrix.x4.trans", "cp.async.4", "cp.async.8",
        "cp.async.16", "cp.async.commit_group", "cp.async.wait_group",
    }  # fmt: skip

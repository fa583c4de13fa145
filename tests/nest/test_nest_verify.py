"""The verifier: sound programs pass; each broken invariant is named with its node."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from nest_programs import ZERO, copy, gemm, loops, stencil, variables

from tilewright.contract.sizes import Size
from tilewright.expr.dtypes import BOOL, FLOAT32, INT64
from tilewright.expr.nodes import (
    Binary,
    Expr,
    Read,
    Tensor,
    Var,
    binary,
    cast,
    const,
    select,
)
from tilewright.expr.tensors import placeholder, reduce_axis, table
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import VerifyError
from tilewright.nest.marks import marks
from tilewright.nest.nodes import Alloc, For, Hoist, If, Kind, Node, Program, Store, seq
from tilewright.nest.verify import verify

IV, JV = Var("i"), Var("j")
X = placeholder((4,), name="x")
Y = Tensor("y", (4,), FLOAT32)


def program(
    body: Node, *, outputs: tuple[Tensor, ...] = (Y,), inputs: tuple[Tensor, ...] = (X,)
) -> Program:
    return Program("test", inputs, (), (), outputs, body)


def over(body: Node, extent: int = 4) -> Node:
    return For(IV, extent, body)


@pytest.mark.parametrize("sound", [gemm(8), gemm(10), gemm(7, tile=5), stencil(10), stencil(8)])
def test_sound_programs_pass(sound: Program) -> None:
    verify(sound)


def test_dilated_reads_under_a_modulo_pass() -> None:
    """A transposed convolution's zero insertion: x[(j - 2) // 3] where (j - 2) % 3 == 0."""
    u = IV - 2
    inside = (u >= 0) & (u < 10) & (u % 3).eq(0)
    y = Tensor("y", (14,), FLOAT32)
    verify(program(over(Store(y, (IV,), select(inside, X[u // 3], ZERO)), 14), outputs=(y,)))


def test_nested_conditions_narrow_windows() -> None:
    """Window [2t, 2t + 4) of a stage with extent 7; the guard stands outside, the read inside."""
    y, w = Tensor("y", (7,), FLOAT32), Tensor("w", (4,), FLOAT32)
    x = placeholder((7,), name="x")
    t, u, r = variables("t u r")
    at = t * 2 + u
    fill = For(u, 4, If(at < 7, Store(w, (at,), x[at])))
    out = t * 2 + r
    use = For(r, 2, If(out < 7, Store(y, (out,), w[out])))
    verify(program(For(t, 4, Alloc(w, (t * 2,), seq(fill, use))), inputs=(x,), outputs=(y,)))


def test_clamped_gathers_pass() -> None:
    index = placeholder((4,), "int32", name="index")
    where = binary("min", binary("max", cast(INT64, index[IV]), 0), 3)
    verify(program(over(Store(Y, (IV,), X[where])), inputs=(X, index)))


def test_sketches_pass_when_symbolic() -> None:
    tile, position = Var("tile"), Var("position")
    w = Tensor("w", (tile,), FLOAT32)
    inner = Hoist((IV,), (position >= 1,), For(JV, tile, Store(w, (IV * tile + JV,), ZERO)))
    use = For(JV, tile, Store(Y, (IV * tile + JV,), w[IV * tile + JV]))
    nest = For(IV, 4 // tile, Alloc(w, (IV * tile,), seq(inner, use)), Kind.PARALLEL, position > 0)
    verify(program(nest), symbolic=True)
    with pytest.raises(VerifyError, match="a concrete program has int extents, not 4 // tile"):
        verify(program(nest))


STORE = Store(Y, (IV,), X[IV])
W, ORIGIN, STREAMED = Tensor("w", (4,), FLOAT32), const(0, INT64), marks(streamed=1)

BROKEN: list[tuple[Callable[[], Program], str]] = [
    (lambda: copy(IV + 1), r"y\[i\] = x\[i \+ 1\] inside loops i: x: .* 1\.\.4, outside 0"),
    (lambda: copy(IV - 1), r"x: index i - 1 of dimension 0 is in -1\.\.2, outside 0\.\.3"),
    (lambda: program(over(STORE, 5)), r"y: index i of dimension 0 is in 0\.\.4, outside 0\.\.3"),
    (lambda: program(over(Store(Y, (IV, IV), X[IV]))), "y has 1 dimensions, 2 indices"),
    (lambda: program(over(Store(Y, (IV,), Read(X, (IV, IV))))), "x has 1 dimensions, 2 indices"),
    (lambda: program(over(over(STORE))), "a loop around it has the same variable"),
    (lambda: program(STORE), "i is not a loop around it"),
    (lambda: program(over(Store(Y, (IV,), X[JV]))), "j is not a loop around it"),
    (lambda: program(over(Store(X, (IV,), ZERO)), outputs=()), "x is an input, a constant"),
    (lambda: program(over(Store(Y, (IV,), placeholder((4,), name="z")[IV]))), "z is not declared"),
    (lambda: program(over(STORE), outputs=(Y, Tensor("z", (4,), FLOAT32))), "never written"),
    (lambda: program(over(STORE), inputs=(X, X)), "used twice in the interface"),
    (
        lambda: program(over(Store(Y, (IV,), replace(X, shape=(8,))[IV]))),
        r"x: float32\[8\] is declared as x: float32\[4\]",
    ),
    (lambda: program(over(Store(Y, (IV,), const(1, INT64)))), "a int64 value into float32"),
    (
        lambda: program(over(Store(Y, (IV,), Binary("add", X[IV], const(1, INT64))))),
        r"operands of one operation have different dtypes: x\[i\]: float32, 1: int64",
    ),
    (
        lambda: program(over(Store(Y, (Var("i", BOOL),), X[IV]))),
        "the index i is bool, not int64",
    ),
    (lambda: program(over(If(IV, STORE))), "the condition i is int64, not bool"),
    (lambda: program(over(Store(Y, (IV,), X[IV], "mean"))), "unknown reduction 'mean'"),
    (
        lambda: program(over(Store(Y, (IV,), sum_over(X[reduce_axis(4)], reduce_axis(4))))),
        "not reductions in a value",
    ),
    (lambda: program(For(IV, 0, STORE)), "0 is below 1"),
    (lambda: program(For(IV, Var("t"), STORE)), "int extents, not t"),
    (lambda: program(For(IV, 4, STORE, when=IV < 1)), "a concrete program has no `when`"),
    (lambda: program(For(IV, 4, STORE, marks=(("fast", 1),))), "it cannot be marked 'fast'"),
    (lambda: program(For(IV, 4, STORE, marks=marks(streamed=1))), "cannot be marked 'streamed'"),
    (lambda: program(For(IV, 4, STORE, marks=marks(unroll_step=Var("t")))), "int extents, not t"),
    (lambda: program(over(replace(STORE, marks=marks(streamed=2)))), "streamed: it is at most 1"),
    (
        lambda: program(
            over(Alloc(W, (ORIGIN,), seq(Store(W, (IV,), ZERO, marks=STREAMED), STORE)))
        ),
        "streamed: only an output can have it, not w",
    ),
    (lambda: program(over(Hoist((IV,), (IV < 1,), STORE))), "a concrete program has no hoist"),
    (lambda: program(over(Alloc(Y, (IV,), STORE))), "a tensor of that name is in scope"),
    (
        lambda: program(over(Alloc(Tensor("w", (4,), FLOAT32), (), STORE))),
        "0 offsets for 1 dimensions",
    ),
    (
        lambda: Program("test", (X,), (), (replace(X, name="t"),), (Y,), over(STORE)),
        "its values are missing",
    ),
]


@pytest.mark.parametrize(("broken", "says"), BROKEN)
def test_each_broken_invariant_is_named(broken: Callable[[], Program], says: str) -> None:
    with pytest.raises(VerifyError, match=says):
        verify(broken())


def test_a_table_of_another_shape_is_refused() -> None:
    t = replace(table(np.ones(3, np.float32), name="t"), shape=(4,))
    with pytest.raises(VerifyError, match="its values are missing or of another shape"):
        verify(Program("test", (X,), (), (t,), (Y,), over(STORE)))


def test_a_store_outside_of_its_window_is_refused() -> None:
    w, y = Tensor("w", (2,), FLOAT32), Tensor("y", (8,), FLOAT32)
    t, u = variables("t u")
    fill = For(u, 3, Store(w, (t * 2 + u,), ZERO))
    use = For(u, 2, Store(y, (t * 2 + u,), w[t * 2 + u]))
    nest = For(t, 4, Alloc(w, (t * 2,), seq(fill, use)))
    with pytest.raises(
        VerifyError, match=r"w: index t \* 2 \+ u - \(t \* 2\) of dimension 0 is in 0\.\.2"
    ):
        verify(program(nest, outputs=(y,)))


def test_unreachable_accesses_are_not_bounded() -> None:
    verify(program(over(seq(STORE, If(IV > 7, Store(Y, (IV + 9,), ZERO))))))


def test_message_names_the_loops() -> None:
    nest = loops(Store(Y, (IV + JV,), X[IV]), (JV, 2), (IV, 4))
    with pytest.raises(VerifyError, match=r"program test: y\[i \+ j\] = x\[i\] inside loops j > i"):
        verify(program(nest))


SIZE = Size("S", 1, 40)
S = Var("S")
ROWS, HALF = placeholder((S,), name="x"), Tensor("y", ((S + 1) // 2,), FLOAT32)


def sized(body: Node, *outputs: Tensor, sizes: tuple[Size, ...] = (SIZE,)) -> Program:
    return Program("test", (ROWS,), (), (), outputs, body, sizes)


def tiles(y: Tensor, guard: Expr | None, at: Expr, read: Expr) -> Node:
    """y[at] = x[read] over tiles of 4 of a size."""
    store = Store(y, (at,), ROWS[read])
    return For(IV, (S + 3) // 4, For(JV, 4, store if guard is None else If(guard, store)))


AT = IV * 4 + JV
WHOLE = Tensor("y", (S,), FLOAT32)
SOUND = {
    "tiles": (tiles(WHOLE, AT < S, AT, AT), WHOLE),
    "a loop of its own": (For(IV, S, Store(WHOLE, (IV,), ROWS[IV])), WHOLE),
    "backwards": (For(IV, S, Store(WHOLE, (IV,), ROWS[S - 1 - IV])), WHOLE),
    "every second": (For(IV, (S + 1) // 2, Store(HALF, (IV,), ROWS[IV * 2])), HALF),
    "a neighbour": (
        For(IV, S, Store(WHOLE, (IV,), select(IV + 1 < S, ROWS[IV + 1], ZERO))),
        WHOLE,
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_programs_with_sizes_pass(name: str) -> None:
    body, y = SOUND[name]
    verify(sized(body, y))


UNSOUND = {
    "no guard": (tiles(WHOLE, None, AT, AT), "may be outside 0..S - 1"),
    "beyond what is live": (tiles(WHOLE, AT < 40, AT, AT), "may be outside 0..S - 1"),
    "one further": (For(IV, S, Store(WHOLE, (IV,), ROWS[IV + 1])), "may be outside 0..S - 1"),
    "before the first": (For(IV, S, Store(WHOLE, (IV,), ROWS[IV - 1])), "may be outside 0..S - 1"),
    "an unknown size": (For(IV, Var("T"), Store(WHOLE, (IV,), ROWS[IV])), "has int extents, not T"),
    "a loop called as a size": (For(S, 4, Store(WHOLE, (S,), ROWS[S])), "a size has the same name"),
    "a dot of a size": (
        For(IV, S, Store(WHOLE, (IV,), ROWS[IV]), Kind.DOT),
        "a dot loop has a constant extent",
    ),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_unsound_programs_with_sizes_fail(name: str) -> None:
    body, message = UNSOUND[name]
    with pytest.raises(VerifyError, match=re.escape(message)):
        verify(sized(body, WHOLE))


def test_a_size_is_there_once() -> None:
    with pytest.raises(VerifyError, match="one is there twice"):
        verify(sized(SOUND["tiles"][0], WHOLE, sizes=(SIZE, SIZE)))

"""The verifier: sound programs pass; each broken invariant is named with its node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from nest_programs import ZERO, copy, gemm, loops, stencil, variables

from tilewright.expr.dtypes import BOOL, FLOAT32, INT64
from tilewright.expr.index.intervals import UNBOUNDED, Interval
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
from tilewright.nest.facts import Facts
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


A, B, C = Var("a"), Var("b"), Var("c")
THIRD = (A * 2 + (A * 2 + B) // 3) % 4  # (A * 8 + B) % 12 // 3
FACTS = Facts.of({"a": Interval(0, 9), "b": Interval(0, 2)})


@pytest.mark.parametrize(
    ("facts", "e", "bounds"),
    [
        (FACTS, A + B, Interval(0, 11)),
        (FACTS.assume(A + B < 10), A + B, Interval(0, 9)),
        (FACTS.assume(A + B < 10), A + B + 1, Interval(1, 10)),
        (FACTS.assume(A + B < 10), 20 - A - B, Interval(11, 20)),
        (FACTS.assume(A + B < 10), (A + B) // 2, Interval(0, 4)),
        (FACTS.assume(A + B < 2), A, Interval(0, 1)),
        (FACTS.assume(A * 3 >= 7), A, Interval(3, 9)),
        (FACTS.assume((A < 5) & (A > B)), A, Interval(1, 4)),
        (FACTS.assume(~((A >= 5) | (A < 2))), A, Interval(2, 4)),
        (FACTS.assume(A < 5, holds=False), A, Interval(5, 9)),
        (FACTS.assume((A < 5) & (B < 1), holds=False), A, Interval(0, 9)),
        (FACTS.assume((A - B).eq(3)), A, Interval(3, 5)),
        (FACTS.assume((A - B).eq(3)), B, Interval(0, 2)),
        (FACTS, select(A < 4, A + 6, A - 4), Interval(0, 9)),
        (FACTS.assume(A * 4 + B < 9), A * 2 + B, Interval(0, 5)),
        (FACTS.assume(A * 2 + B * 3 < 9), A * 4 + B * 6 + 1, Interval(1, 17)),
        (FACTS.assume((A + B < 4) & (A - B >= 2)), A * 2, Interval(4, 6)),
        (FACTS, A + (A + B) // 2 - (A * 3) // 2, Interval(0, 1)),
        (FACTS.assume(A * 3 + B < 9), A + (A + B) // 2, Interval(0, 4)),
        (FACTS.assume(B * 2 + A // 2 >= 1), B + (A + 2) // 4, Interval(1, 4)),
        (FACTS.assume(B * 2 - A // 2 >= 1), B * 4 - A, Interval(1, 8)),
        (FACTS.assume((A * 3 + B) % 14 < 7), (A * 3 + B) // 2 % 7, Interval(0, 3)),
        (FACTS.assume((A * 8 + B) % 12 < 7), THIRD, Interval(0, 2)),
        (FACTS.assume(((A * 8 + B) % 12 + C * 3).eq(9)), THIRD + C, Interval(3, 3)),
        (FACTS, (A * 5 + B) // 3 % 4 - (A * 5 + B) // 4 % 3, Interval(0, 1)),
    ],
)
def test_facts_bound_expressions(facts: Facts, e: Expr, bounds: Interval) -> None:
    assert facts.bounds(e) == bounds


def test_what_forms_cannot_show_is_tried() -> None:
    """The quotient of a row by its image, whose digits are written one by one."""
    half, thread = Var("half"), Var("thread")
    facts = Facts.of({"half": Interval(0, 1), "thread": Interval(0, 31)})
    facts = facts.assume(half * 8 + thread // 4 < 4)
    e = half * 4 + thread // 8
    assert facts.tried(e) == Interval(0, 1)
    assert facts.tried(e * 0 + 3) == Interval(3, 3)
    assert facts.tried(Var("unbounded")) == UNBOUNDED
    wide = Facts.of({"thread": Interval(0, 1 << 40)})
    assert wide.tried(thread) == UNBOUNDED
    never = facts.assume(thread > 20).tried(thread)
    assert never.within(0, 0), "no value satisfies all conditions"


def test_facts_that_contradict_are_impossible() -> None:
    assert FACTS.assume(A > 9).impossible
    assert FACTS.assume((A + B < 3) & (A >= 4)).impossible
    assert not FACTS.assume(A > 8).impossible


@pytest.mark.parametrize("seed", range(30))
def test_facts_are_sound(seed: int) -> None:
    """Every value that satisfies random conditions lies within the bounds."""
    rng = np.random.default_rng(seed)
    a, b = np.meshgrid(np.arange(10), np.arange(3))
    facts, holds = FACTS, np.ones(a.shape, np.bool_)
    for _ in range(2):
        p, q, limit = (int(v) for v in rng.integers(-3, 4, 3))
        facts = facts.assume(A * p + B * q < limit * 2)
        holds &= a * p + b * q < limit * 2
    p, q = (int(v) for v in rng.integers(-3, 4, 2))
    values = ((a * p + b * q) // 2)[holds]
    bounds = facts.bounds((A * p + B * q) // 2)
    tried = facts.tried((A * p + B * q) // 2)
    if values.size:
        assert tried == Interval(int(values.min()), int(values.max()))
    if values.size and not facts.impossible:
        assert bounds.lo is not None
        assert bounds.hi is not None
        assert bounds.lo <= values.min()
        assert values.max() <= bounds.hi
    assert not (facts.impossible and values.size)


def test_message_names_the_loops() -> None:
    nest = loops(Store(Y, (IV + JV,), X[IV]), (JV, 2), (IV, 4))
    with pytest.raises(VerifyError, match=r"program test: y\[i \+ j\] = x\[i\] inside loops j > i"):
        verify(program(nest))

"""Lives of shared storage, slots, and what is found when they are wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.nodes import Read, Tensor, Var, as_expr
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import VerifyError
from tilewright.nest.gpu.barriers import with_barriers
from tilewright.nest.gpu.lifetimes import shared_lives, shared_slots, with_slots
from tilewright.nest.nodes import Alloc, Barrier, For, Kind, Node, Program, Scope, Store, seq, walk
from tilewright.nest.print import nest_text
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify

B, K, T = Var("b"), Var("k"), Var("t")
X = placeholder((3, 8), name="x")
Y = Tensor("y", (3, 8), FLOAT32)
ZERO = (as_expr(0),)


def shared(name: str, body: Node, slot: int | None = None) -> Alloc:
    return Alloc(Tensor(name, (8,), FLOAT32), ZERO, body, Scope.SHARED, slot)


def threads(store: Store, name: str) -> Node:
    """The block's threads make one store each."""
    return For(Var(name), 8, store, Kind.THREAD_X)


def element(name: str, thread: str) -> Read:
    """What the opposite thread wrote."""
    return Read(Tensor(name, (8,), FLOAT32), (7 - Var(thread),))


def fill(name: str, thread: str) -> Node:
    tensor, t = Tensor(name, (8,), FLOAT32), Var(thread)
    return threads(Store(tensor, (t,), Read(X, (B, t))), thread)


def use(name: str, thread: str, reduce: str | None) -> Node:
    t = Var(thread)
    return threads(Store(Y, (B, t), element(name, thread), reduce), thread)


def program(body: Node) -> Program:
    """One kernel of three blocks."""
    return Program("p", (X,), (), (), (Y,), For(B, 3, body, Kind.BLOCK))


def one_after_the_other(repeat: int = 1) -> Node:
    """y = reverse of x, then the same is added, through two tensors, several times."""
    second = shared("v", seq(fill("v", "t2"), use("v", "t3", "sum")))
    both = shared("u", seq(fill("u", "t0"), use("u", "t1", None), second))
    return both if repeat == 1 else For(K, repeat, both)


@pytest.mark.parametrize("repeat", [1, 3])
def test_one_after_the_other_shares_bytes(repeat: int) -> None:
    """A barrier separates the last use of u from the first write of v, and back in a loop."""
    plain = program(one_after_the_other(repeat))
    assert shared_slots(plain.body) == {"u": 0, "v": 0}
    changed = replace(plain, body=with_barriers(with_slots(plain.body)))
    verify(changed)
    assert nest_text(changed.body).count("# shared, slot 0") == 2
    barriers = sum(isinstance(n, Barrier) for n in walk(changed.body))
    assert barriers == (3 if repeat == 1 else 4)
    x = np.arange(24, dtype=np.float32).reshape(3, 8)
    np.testing.assert_array_equal(interpret(changed, {"x": x})["y"], 2 * x[:, ::-1])


def test_without_the_barrier_between_lives() -> None:
    """Both the verifier and the interpreter see it."""
    plain = program(one_after_the_other())
    kept = replace(plain, body=with_slots(with_barriers(plain.body)))
    with pytest.raises(VerifyError, match=r"no barrier between the read of u.* write of v"):
        verify(kept)
    x = np.ones((3, 8), np.float32)
    with pytest.raises(VerifyError, match="the bytes of u are in use by other threads"):
        interpret(kept, {"x": x})


def needed_together(slot: int | None = None) -> Node:
    """u is read after v was written."""
    second = shared("v", seq(fill("v", "t2"), use("v", "t1", None), use("u", "t3", "sum")), slot)
    return shared("u", seq(fill("u", "t0"), second), slot)


def test_what_is_needed_together_shares_nothing() -> None:
    assert shared_slots(program(needed_together()).body) == {}


def test_tensors_of_one_slot_must_not_meet() -> None:
    plain = program(needed_together(slot=0))
    changed = replace(plain, body=with_barriers(plain.body))
    with pytest.raises(VerifyError, match="u and v live in the same bytes"):
        verify(changed)
    with pytest.raises(VerifyError, match=r"u at .* is read before it is written"):
        interpret(changed, {"x": np.ones((3, 8), np.float32)})


def test_a_loop_inside_the_allocation_is_one_life() -> None:
    """The next iteration reads what an earlier one wrote."""
    inner = For(K, 2, seq(use("u", "t1", None), fill("v", "t2"), use("v", "t3", "sum")))
    body = program(shared("u", shared("v", seq(fill("u", "t0"), inner)))).body
    lives = shared_lives(body)
    assert lives["u"][1] == lives["v"][1]
    assert shared_slots(body) == {}


def test_three_in_a_row_take_two_slots() -> None:
    """v is made of u, w of v: w may lie where u was."""

    def link(name: str, of: str, thread: str) -> Node:
        tensor, t = Tensor(name, (8,), FLOAT32), Var(thread)
        return threads(Store(tensor, (t,), element(of, thread)), thread)

    last = shared("w", seq(link("w", "v", "t2"), use("w", "t3", None)))
    body = shared("u", seq(fill("u", "t0"), shared("v", seq(link("v", "u", "t1"), last))))
    assert shared_slots(program(body).body) == {"u": 0, "w": 0}

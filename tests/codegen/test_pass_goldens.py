"""What each pass makes of small nests, as golden files: the nest before, and after whoever acts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from emulated_dots import AMX
from kernel_nests import P, S, U, V, gemm, nest, tile, under

from tilewright.codegen.passes import cpu_passes
from tilewright.expr.dtypes import FLOAT32, INT32
from tilewright.expr.nodes import Const, Select, Tensor, Var, as_expr, cast
from tilewright.expr.tensors import placeholder
from tilewright.nest.marks import marks
from tilewright.nest.nodes import Alloc, For, If, Kind, Node, Store, seq
from tilewright.nest.print import nest_text
from tilewright.target import CpuTarget

I, J, K = (Var(name) for name in "ijk")  # noqa: E741
ZERO = Const(0.0, FLOAT32)
X, W = placeholder((1100,), name="x"), placeholder((3,), name="w")
Y = Tensor("y", (1100,), FLOAT32)


def packing() -> Node:
    """A copy in vectors shorter than a register, under what always holds."""
    at = I * 4 + J
    inside = If((at < 100) & (K < 1), Store(Y, (at + K,), X[at + K]))
    return nest([("i", 25, S)], For(K, 1, nest([("j", 4, V)], inside)))


def windows() -> Node:
    """The sum of three neighbours, each computed in a vector loop's own storage."""
    own = Tensor("own", (3,), FLOAT32)
    fill = nest([("k", 3, S)], Store(own, (I + K,), X[I + K] * 2.0))
    total = nest([("k", 3, S)], Store(Y, (I,), own[I + K], "sum"))
    return nest([("i", 16, V)], Alloc(own, (I,), seq(fill, total)))


def convolution() -> Node:
    """y[i] = Σ over k < 3 of w[k]·x[i + k - 1] over 22 elements in tiles of 4, padded by one."""
    i = tile("i", 22, 4)
    at = i.index + K
    inside = Select((at >= 1) & (at < 23), X[at - 1], ZERO)
    update = under(i.guards, Store(Y, (i.index,), inside * W[K], "sum"))
    return nest([i.loop(0, P), ("k", 3, S), i.loop(1, U)], update)


def transposed_convolution() -> Node:
    """Only every second of the elements read is no zero."""
    value = Select(((I + K) % 2).eq(0), X[(I + K) // 2], ZERO) * W[K]
    return nest([("i", 4, S), ("k", 3, S), ("j", 2, U)], Store(Y, (J,), value, "sum"))


def pragma() -> Node:
    """A loop that may be written out as long as that is no more than 8 statements."""
    body = nest([("j", 5, S), ("k", 4, S)], Store(Y, (I * 20 + J * 4 + K,), X[I]))
    return replace(For(I, 5, body), marks=marks(unroll_step=8))


def long_vector() -> Node:
    """A vector loop of 68 registers and a rest."""
    return nest([("i", 1100, V)], Store(Y, (I,), X[I]))


def accumulator() -> Node:
    """Storage small enough for registers, whose loops are written out for it."""
    acc = Tensor("acc", (3,), FLOAT32)
    body = seq(
        nest([("j", 3, S)], Store(acc, (J,), ZERO)),
        nest([("k", 9, S), ("j", 3, S)], Store(acc, (J,), X[K * 3 + J], "sum")),
        nest([("j", 3, S)], Store(Y, (J,), acc[J])),
    )
    return Alloc(acc, (as_expr(0),), body)


def product_of_bytes() -> Node:
    """Sums of 24 rows and 16 columns over 32 dots, which tile registers multiply."""
    a, b = placeholder((24, 128), dtype="uint8", name="a"), placeholder((32, 16, 4), dtype="int8")
    q, c = Var("q"), Tensor("c", (24, 16), INT32)
    term = cast("int32", a[I, K * 4 + q]) * cast("int32", b[K, J, q])
    loops = [("k", 32, S), ("i", 24, U), ("j", 16, V), ("q", 4, Kind.DOT)]
    return nest(loops, Store(c, (I, J), term, "sum"))


CASES: dict[str, Callable[[], Node]] = {
    "matmul": lambda: gemm(4, 20, 8, 2, 16).body,
    "packing": packing,
    "windows": windows,
    "convolution": convolution,
    "transposed_convolution": transposed_convolution,
    "pragma": pragma,
    "long_vector": long_vector,
    "accumulator": accumulator,
    "product_of_bytes": product_of_bytes,
}
MACHINES = {"product_of_bytes": AMX}
"""Where another one than the usual machine has what a pass is for."""


def changes(node: Node, target: CpuTarget) -> Iterator[tuple[str, Node]]:
    """The passes that change the nest, with what each makes of it."""
    for label, run in cpu_passes(target):
        before, node = node, run(node)
        if node != before:
            yield label, node


@pytest.mark.parametrize("name", CASES)
def test_passes(name: str, golden: Callable[[str, str], None], target: CpuTarget) -> None:
    node, target = CASES[name](), MACHINES.get(name, target)
    text = nest_text(node)
    for label, after in changes(node, target):
        text += f"\n---- {label}\n\n{nest_text(after)}"
    golden(f"passes/{name}.txt", text)


def test_every_pass_acts_on_some_nest(target: CpuTarget) -> None:
    acting = {
        label
        for name, make in CASES.items()
        for label, _ in changes(make(), MACHINES.get(name, target))
    }
    assert acting == {label for label, _ in cpu_passes(target)}

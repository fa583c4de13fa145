"""Swizzled rows: CuTe's layouts, and no two threads of a fragment or a copy in one bank."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from cute import layouts

from devices import tools
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import dtype
from tilewright.expr.evaluate import evaluate
from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Const, Expr, Read, Tensor
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import VerifyError
from tilewright.nest.gpu.swizzle import Swizzle, conflicts
from tilewright.nest.nodes import For, Instruction, Kind, Node, accessed, bodies
from tilewright.nest.reference.lanes import Array
from tilewright.schedule.templates.anchor import Anchor, anchor_of
from tilewright.schedule.templates.tensor_cores import TENSOR_CORES

# ---- what it is -----------------------------------------------------------------------------

ATOMS = {
    (bits, kind): f"GMMA::Layout_K_SW{bits}_Atom<{name}>"
    for bits in (32, 64, 128)
    for kind, name in (("float16", "half_t"), ("float32", "float"), ("int8", "int8_t"))
}
"""By the bytes of a row and what its elements are."""


@pytest.fixture(scope="module")
def atoms(tmp_path_factory: pytest.TempPathFactory) -> list[list[int]]:
    """Where CuTe's headers have the elements of every atom, rows after rows."""
    folder = tmp_path_factory.mktemp("atoms")
    shown = (f"as_position_independent_swizzle_layout({name}{{}})" for name in ATOMS.values())
    return layouts(folder, ("cute/atom/mma_traits_sm90_gmma.hpp",), shown)


@tools("g++")
@pytest.mark.parametrize("number", range(len(ATOMS)))
def test_rows_of_up_to_128_bytes_are_as_in_cute(atoms: list[list[int]], number: int) -> None:
    size, kind = list(ATOMS)[number]
    element = dtype(kind)
    rows = Tensor("s", (8, size // element.bytes), element)
    places = Swizzle.of(rows)(np.arange(8 * size // element.bytes))
    np.testing.assert_array_equal(places, atoms[number])


@pytest.mark.parametrize("row", [8, 16, 32, 64, 128, 256])
def test_every_element_has_a_place_in_its_piece(row: int) -> None:
    at = np.arange(16 * row)
    places = Swizzle.of(Tensor("s", (16, row), dtype("float16")))(at)
    assert sorted(places) == at.tolist()
    np.testing.assert_array_equal(places % 8, at % 8)
    np.testing.assert_array_equal(places // row, at // row)
    assert all(Swizzle.of(Tensor("s", (16, row), dtype("float16")))(int(i)) == p for i, p in
               zip(at[:: row // 8], places[:: row // 8], strict=True))  # fmt: skip


@pytest.mark.parametrize("row", [4, 12, 24, 40, 96])
def test_other_rows_cannot_be_swizzled(row: int) -> None:
    with pytest.raises(VerifyError, match="s is swizzled: its rows are 1, 2, 4, … pieces of 16"):
        Swizzle.of(Tensor("s", (8, row), dtype("float16")))


def test_conflicts_are_counted_by_eight_threads() -> None:
    line = np.arange(8) * 16
    assert conflicts(line) == 0
    assert conflicts(line * 8) == 7, "eight rows of a line each, one column"
    assert conflicts(np.zeros(8, np.int64)) == 0, "one piece for all"
    assert conflicts(np.concatenate([line, line * 2])) == 1


# ---- what it is for --------------------------------------------------------------------------


def anchor(by_depth: bool) -> Anchor:
    """A product whose factors' memory runs along the depth, or along rows and columns."""
    a, b = (
        placeholder((256, 512) if by_depth else (512, 256), "float16", name=name) for name in "ab"
    )
    return anchor_of(ComputeDAG([ops.matmul(a, b, transpose_a=not by_depth, transpose_b=by_depth)]))


def accesses(node: Node, loops: tuple[For, ...] = ()) -> Iterator[tuple[Instruction, list[For]]]:
    """The instructions of a nest, with the loops around each within those of threads."""
    if isinstance(node, Instruction):
        yield node, list(loops)
    inner = (*loops, node) if isinstance(node, For) and node.kind is not Kind.BLOCK else loops
    for b in bodies(node):
        yield from accesses(b, inner)


def number(e: Expr | int) -> int:
    found = simplify(e) if not isinstance(e, int) else Const(e, dtype("int64"))
    assert isinstance(found, Const)
    return int(found.value)


def places(read: Read, loops: list[For]) -> Array:
    """Byte addresses: a row for what threads do at once."""
    others = [loop for loop in loops if loop.kind is not Kind.THREAD_X]
    (threads,) = (number(loop.extent) for loop in loops if loop.kind is Kind.THREAD_X)
    grids = np.ix_(*(np.arange(min(number(loop.extent), 3)) for loop in others), np.arange(threads))
    names = [*(loop.var.name for loop in others), "thread"]
    env = dict(zip(names, grids, strict=True))
    at: Array = np.zeros((), np.int64)
    for index, extent in zip(read.indices, read.tensor.shape, strict=True):
        at = at * number(extent) + evaluate(index, env)
    shape = tuple(number(e) for e in read.tensor.shape)
    swizzle = Swizzle.of(Tensor(read.tensor.name, shape, read.tensor.dtype))
    return np.broadcast_to(swizzle(at), [g.size for g in grids]) * read.tensor.dtype.bytes


ROWS = [
    dict(zip(TENSOR_CORES.options, row, strict=True))
    for row in product(*(TENSOR_CORES.options[p] for p in TENSOR_CORES.options))
]


@pytest.mark.parametrize("by_depth", [True, False])
def test_fragments_and_copies_of_the_template_meet_in_no_bank(by_depth: bool) -> None:
    """By all rows of its space but those that differ in the number of stages only."""
    found, seen = anchor(by_depth), 0
    for n in ROWS:
        legal = all(number(c) for c in TENSOR_CORES.legal(found, n))
        if n["stages"] != 3 or not legal:
            continue
        kinds = set()
        for node, loops in accesses(TENSOR_CORES.body(found, n)):
            for read in (e for e in accessed(node) if isinstance(e, Read)):
                if read.tensor.name.endswith(".tile"):
                    assert conflicts(places(read, loops)) == 0, (n, node)
                    kinds.add((node.name, read.tensor.name))
        assert len(kinds) == 4, "a copy and a fragment of each factor"
        seen += 1
    assert seen > 80

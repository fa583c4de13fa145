"""Task mappings: the paper's examples, random products, and NVIDIA's fragments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from cute import layouts as evaluated

from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Const, Expr, Tensor, Var, const
from tilewright.expr.traversal import substitute
from tilewright.ground.errors import ScheduleError
from tilewright.nest.gpu.task_map import TaskMap, custom, repeat, spatial
from tilewright.nest.instructions import LEFT, RIGHT, SUMS
from tilewright.nest.nodes import For, Kind, Node, Seq, Store

WORKER = Var("w")
PRODUCTS, SLICE = 2000, 250


def mark(*task: Expr | int) -> Store:
    """A statement that shows which task it is."""
    indices = tuple(const(t, WORKER.dtype) if isinstance(t, int) else t for t in task)
    return Store(Tensor("task", (1,) * len(task), WORKER.dtype), indices, const(1, WORKER.dtype))


def run(node: Node, values: dict[str, int]) -> Iterator[tuple[int, ...]]:
    """The tasks that statements are of, in the order in which they run."""
    known: dict[str, Expr] = {n: const(v, WORKER.dtype) for n, v in values.items()}

    def number(e: Expr | int) -> int:
        found = e if isinstance(e, int) else simplify(substitute(e, known))
        return found if isinstance(found, int) else int(value_of(found))

    match node:
        case For(var, extent, body):
            for i in range(number(extent)):
                yield from run(body, {**values, var.name: i})
        case Seq(body):
            for each in body:
                yield from run(each, values)
        case Store():
            yield tuple(map(number, node.indices))


def value_of(e: Expr) -> float:
    assert isinstance(e, Const)
    return e.value


def looped(mapping: TaskMap, worker: int) -> list[tuple[int, ...]]:
    return list(run(mapping.nest(WORKER, mark), {"w": worker}))


def test_cooperative_loading() -> None:
    """Figure 8: 64 x 8 elements by 128 threads."""
    load = repeat(4, 1) * spatial(16, 8)
    assert (load.shape, load.workers) == ((64, 8), 128)
    for w in range(128):
        assert load.tasks(w) == [(i * 16 + w // 8, w % 8) for i in range(4)]
    assert looped(load, 17) == load.tasks(17)


def test_the_two_basic_mappings() -> None:
    """Figure 11."""
    assert repeat(2, 2).tasks(0) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [spatial(2, 2).tasks(w) for w in range(4)] == [[(0, 0)], [(0, 1)], [(1, 0)], [(1, 1)]]


def test_products() -> None:
    """Figure 12: not commutative, associative, and an order of columns."""
    one, other = repeat(1, 3) * spatial(2, 1), spatial(2, 1) * repeat(1, 3)
    assert [one.tasks(w) for w in range(2)] == [[(w, j) for j in range(3)] for w in range(2)]
    assert one.tasks(1) == other.tasks(1), "dimensions that do not meet"
    one, other = repeat(2, 1) * spatial(2, 1), spatial(2, 1) * repeat(2, 1)
    assert (one.tasks(1), other.tasks(1)) == ([(1, 0), (3, 0)], [(2, 0), (3, 0)])
    a, b, c = spatial(2, 2), repeat(1, 2), spatial(3, 1)
    assert ((a * b) * c).tasks(7) == (a * (b * c)).tasks(7)
    by_columns = repeat(2, 2, order=(1, 0))
    assert by_columns.tasks(0) == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert by_columns.tasks(0) == (repeat(1, 2) * repeat(2, 1)).tasks(0)
    assert spatial(2, 3, order=(1, 0)).tasks(1) == [(1, 0)]


def test_matrix_products_of_threads_and_warps() -> None:
    """Section 5.1.2, and figure 13: sixteen products by four warps, four each."""
    threads = spatial(4, 2) * repeat(2, 2) * spatial(4, 8) * repeat(4, 4)
    assert (threads.shape, threads.workers) == ((128, 128), 256)
    assert Counter(t for w in range(256) for t in threads.tasks(w)) == Counter(np.ndindex(128, 128))
    warps = spatial(2, 2) * repeat(2, 2)
    assert warps.tasks(2) == [(2, 0), (2, 1), (3, 0), (3, 1)]


def drawn(rng: np.random.Generator, rank: int) -> TaskMap:
    """A mapping that is no product, with few tasks."""
    extents = [int(e) for e in rng.integers(1, 4, rank)]
    order = rng.permutation(rank).tolist() if rng.random() < 0.5 else None
    match int(rng.integers(5)):
        case 0 | 1:
            return repeat(*extents, order=order)
        case 2 | 3:
            return spatial(*extents, order=order)
    shift = int(rng.integers(4))  # a line of tasks, begun elsewhere
    line = [1] * (rank - 1)
    return custom((*line, 4), 4, lambda w: [(*(0 for _ in line), (w + shift) % 4)])


@pytest.mark.parametrize("first", range(0, PRODUCTS, SLICE))
def test_random_products(first: int) -> None:
    """Associative, every task once, the order of the definition, and loops that equal it."""
    for seed in range(first, first + SLICE):
        rng = np.random.default_rng([31, seed])
        rank = int(rng.integers(1, 4))
        a, b, c = (drawn(rng, rank) for _ in range(3))
        whole = a * b * c
        workers, shape = whole.workers, b.shape
        assert isinstance(workers, int)
        done = Counter(task for w in range(workers) for task in whole.tasks(w))
        assert done == Counter(np.ndindex(*whole.shape))  # type: ignore[arg-type]
        w = int(rng.integers(workers))
        assert whole.tasks(w) == (a * (b * c)).tasks(w)
        both = a * b
        inner = b.workers
        mine = w % both.workers if isinstance(both.workers, int) else 0
        assert isinstance(inner, int)
        assert both.tasks(mine) == [
            tuple(t * s + u for t, s, u in zip(task, shape, own, strict=True))  # type: ignore[operator]
            for task in a.tasks(mine // inner)
            for own in b.tasks(mine % inner)
        ]
        assert looped(whole, w) == whole.tasks(w)


def test_extents_may_be_decisions() -> None:
    rows, warps = Var("rows"), Var("warps")
    mapping = spatial(warps, 1) * repeat(rows, 1, kind=Kind.UNROLLED) * spatial(8, 4)
    decided = mapping.at({"rows": 2, "warps": 4})
    assert (decided.shape, decided.workers) == ((64, 4), 128)
    node = mapping.nest(WORKER, mark)
    assert isinstance(node, For) and node.kind is Kind.UNROLLED
    values = {"w": 101, "rows": 2, "warps": 4}
    assert list(run(node, values)) == decided.tasks(101)
    with pytest.raises(ScheduleError, match="is not decided"):
        mapping.tasks(0)


def test_workers_that_differ_in_a_projected_dimension_do_the_same() -> None:
    """The four columns of warps read the same rows of a factor."""
    rows = (spatial(2, 4) * repeat(2, 3)).project(1)
    assert (rows.shape, rows.workers) == ((4, 1), 8)
    assert rows.tasks(0) == rows.tasks(3) == [(0, 0)] * 3 + [(1, 0)] * 3
    assert looped(rows, 5) == rows.tasks(5)
    shifted = custom((1, 4), 4, lambda w: [(0, (w + 1) % 4)]).project(1)
    assert shifted.shape == (1, 1) and shifted.tasks(2) == [(0, 0)]


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ScheduleError, match="mappings of 2, 1 dimensions"):
        spatial(2, 2) * repeat(3)
    with pytest.raises(ScheduleError, match="extents are 1 or more, not 2, 0"):
        repeat(2, 0)
    with pytest.raises(ScheduleError, match="the order of 2 dimensions is not 0, 0"):
        spatial(2, 2, order=(0, 0))
    with pytest.raises(ScheduleError, match="worker 4 is none of 4"):
        spatial(4).tasks(4)


# ---- fragments ------------------------------------------------------------------------------

FRAGMENTS = {
    "SM80_16x8x16_F32F16F16F32_TN>::ALayout": LEFT,
    "SM80_16x8x16_F32F16F16F32_TN>::BLayout": RIGHT,
    "SM80_16x8x16_F32F16F16F32_TN>::CLayout": SUMS,
    "SM80_16x8x16_F32BF16BF16F32_TN>::ALayout": LEFT,
    "SM80_16x8x16_F32BF16BF16F32_TN>::BLayout": RIGHT,
    "SM80_16x8x16_F32BF16BF16F32_TN>::CLayout": SUMS,
    "SM80_16x8x8_F32TF32TF32F32_TN>::ALayout": repeat(2, 2, order=(1, 0)) * spatial(8, 4),
    "SM80_16x8x8_F32TF32TF32F32_TN>::BLayout": repeat(1, 2) * spatial(8, 4),
    "SM80_16x8x8_F32TF32TF32F32_TN>::CLayout": SUMS,
}


@pytest.fixture(scope="module")
def layouts(tmp_path_factory: pytest.TempPathFactory) -> list[list[int]]:
    """What CuTe's headers say of every fragment: for each lane and register, the element's number,
    columns after columns.
    """
    shown = (f"MMA_Traits<{name}{{}}" for name in FRAGMENTS)
    folder = tmp_path_factory.mktemp("cute")
    return evaluated(folder, ("cute/atom/mma_traits_sm80.hpp",), shown)


@pytest.mark.parametrize("number", range(len(FRAGMENTS)))
def test_fragments_are_nvidias(layouts: list[list[int]], number: int) -> None:
    mapping = list(FRAGMENTS.values())[number]
    rows = mapping.shape[0]
    assert isinstance(rows, int) and mapping.workers == 32
    places = sorted((lane, n, row + column * rows) for (row, column), lane, n in mapping.places())
    assert [element for _, _, element in places] == layouts[number]

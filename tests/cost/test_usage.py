"""What candidates take, as columns, is what is counted on the loops of each concrete program."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import pytest
from benchmarks.cases import ALL, SMALL

from slow_features import Place, Slow, places
from tilewright.cost.candidates import Population, concatenate
from tilewright.cost.extractor import BLOCK, FeatureExtractor
from tilewright.cost.usage import usage_of
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Extent, Tensor
from tilewright.expr.traversal import free_vars
from tilewright.nest.gpu.workers import kernels, thread_counts
from tilewright.nest.nodes import THREADS, Alloc, Kind, Node, Program, Scope, walk
from tilewright.schedule.state import State
from tilewright.space.space import Space
from tilewright.target import CpuTarget, Target
from workloads import given, weight

pytestmark = pytest.mark.no_cover

H100 = Target.parse("cuda:h100")
ROWS = {"cpu": 2, "gpu": 4}  # of each sketch
TILE = (Kind.VECTOR, Kind.UNROLLED)
DAGS = {name: case.dag for name, case in SMALL.items()} | {
    "unpadded": lambda: ComputeDAG([ops.conv2d(given(1, 9, 9, 8), weight(3, 3, 8, 24))]),
    "1x1": lambda: ComputeDAG([ops.conv2d(given(4, 14, 14, 32), weight(1, 1, 32, 48))]),
    "ResNet": ALL["C2D-2-b16"].dag,
    "MobileNet": ALL["DEP-2-b1"].dag,
    "GEMM": ALL["GMM-2-b1"].dag,
}


@dataclass(frozen=True)
class Counted:
    """What a statement of so many iterations takes."""

    iterations: int
    blocks: int
    threads: int
    bytes: int


def on_cpu(dag: ComputeDAG, p: Place, target: Target) -> Counted:
    """A statement's cache blocks, register tiles, and the bytes of all blocks near the core."""
    s = Slow(State(dag), p, target.line_bytes, {})
    running = [i for i, loop in enumerate(s.loops) if loop.kind not in TILE]
    reducing = [i for i in running if s.reduces[i]]
    spatial = [i for i in running if not s.reduces[i]]
    step = [*reducing[:1], *running[-1:], -1][0]
    blocks = prod(s.extents[i] for i in spatial if not reducing or i < step)
    tiles = prod(s.extents[i] for i in spatial)
    return Counted(s.total, blocks, tiles, blocks * s.level_bytes(step + 1))


def on_gpu(kernel: Node, p: Place) -> Counted:
    """A statement's iterations, and what its kernel takes."""
    found = list(places(kernel))
    blocks = max(extents(q, (Kind.BLOCK,)) for q in found)
    threads = prod(thread_counts(kernel).values())
    combined = {q.store.tensor.dtype.compute for q in found if combines(q)}
    shared = shared_bytes(kernel) + threads * sum(t.bytes for t in combined)
    return Counted(iterations(p), blocks, blocks * threads, blocks * shared)


def extents(p: Place, kinds: tuple[Kind, ...]) -> int:
    return prod(number(loop.extent) for loop in p.loops if loop.kind in kinds)


def number(extent: Extent) -> int:
    assert isinstance(extent, int)
    return extent


def iterations(p: Place) -> int:
    """Those of all workers; what is stored for a block is dealt out to its threads anew."""
    again = {loop.kind for loop in p.loops[p.own :]}
    outer = {loop.kind for loop in p.loops[: p.own]}
    anew = again & outer & set(THREADS)
    gone = anew | ({Kind.VIRTUAL} if anew else set())
    inner = (number(loop.extent) for loop in p.loops[p.own :])
    return prod(inner) * prod(
        number(loop.extent) for loop in p.loops[: p.own] if loop.kind not in gone
    )


def combines(p: Place) -> bool:
    """Whether threads reduce into one element."""
    moving = {name for index in p.store.indices for name in free_vars(index)}
    threads = {loop.var.name for loop in p.loops[p.own :] if loop.kind in THREADS}
    return p.store.reduce is not None and bool(threads - moving)


def shared_bytes(kernel: Node) -> int:
    """Of tensors that lie in the same bytes the largest counts."""
    slots: dict[object, int] = {}
    for node in walk(kernel):
        if isinstance(node, Alloc) and node.scope is Scope.SHARED:
            place = node.tensor.name if node.slot is None else node.slot
            slots[place] = max(slots.get(place, 0), size(node.tensor))
    return sum(slots.values())


def size(tensor: Tensor) -> int:
    return prod(map(number, tensor.shape)) * tensor.dtype.bytes


def counted(dag: ComputeDAG, program: Program, target: Target) -> list[Counted]:
    """Its statements of most iterations."""
    if isinstance(target, CpuTarget):
        found = [on_cpu(dag, p, target) for p in places(program.body)]
    else:
        found = [on_gpu(k, p) for k in kernels(program.body) for p in places(k)]
    most = max(c.iterations for c in found)
    return [c for c in found if c.iterations == most]


def some_of_every_sketch(space: Space, n: int) -> Population:
    """Valid random candidates, `n` of each sketch."""
    drawn = space.sample(np.random.default_rng(0), 16 * n * len(space.sketches))
    found = [drawn[np.flatnonzero(drawn.sketch == k)[:n]] for k in range(len(space.sketches))]
    assert {len(some) for some in found} == {n}
    return concatenate(found)


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
@pytest.mark.parametrize("name", DAGS)
def test_usage_is_that_of_the_concrete_loops(name: str, kind: str, target: Target) -> None:
    space = Space(DAGS[name](), target if kind == "cpu" else H100)
    population = some_of_every_sketch(space, ROWS[kind])
    usage = usage_of(FeatureExtractor(space), population)
    columns = np.stack([usage.blocks, usage.threads, usage.bytes], axis=1)
    for k, row, found in zip(population.sketch, population.rows, columns, strict=True):
        program = space.concrete(int(k), row)
        expected = [
            (c.blocks, c.threads, c.bytes) for c in counted(space.dag, program, space.target)
        ]
        assert tuple(found) in expected, (space.sketches[k].name, space.gene(int(k), row))


def test_usage_of_many_candidates_is_each_ones_own(target: Target) -> None:
    """Tables are made for so many at once, and equal statements share a column."""
    space = Space(DAGS["1x1"](), target)
    extractor = FeatureExtractor(space)
    drawn = space.sample(np.random.default_rng(1), 2 * BLOCK + 7)
    many = usage_of(extractor, drawn)
    some = np.arange(0, len(drawn), 97)
    few = usage_of(extractor, drawn[some])
    assert len(many.blocks) == len(drawn) and (many.blocks > 0).all()
    for name in ("blocks", "threads", "bytes"):
        assert (getattr(many[some], name) == getattr(few, name)).all()
    assert len(usage_of(extractor, drawn[:0]).bytes) == 0

"""Windows of attached stages against every index that their consumers really read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.evaluate import evaluate
from tilewright.expr.nodes import Tensor, call, select
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import sum as sum_over
from tilewright.expr.traversal import reads, substitute
from tilewright.schedule.bounds import Bounds, infer_bounds, loop_var, outside
from tilewright.schedule.state import State
from tilewright.schedule.steps import ComputeAt, Reorder, Split, Step

N = 36


@dataclass(frozen=True)
class Case:
    """p[i] = f(x[i]) over N elements and the stages that read it; `exact` where no element of a
    window is superfluous.
    """

    make: Callable[[Tensor], list[Tensor]]
    exact: bool = True


def one(extent: int, index: Callable[[Any], Any]) -> Callable[[Tensor], list[Tensor]]:
    """y[i] = p[index(i)]."""
    return lambda p: [compute((extent,), lambda i: p[index(i)] * 2.0, name="y")]


def window(extent: int, index: Callable[[Any, Any], Any], size: int = 3) -> Any:
    """y[i] = Σ p[index(i, r)] over r < size."""
    r = reduce_axis(size, "r")
    return lambda p: [compute((extent,), lambda i: sum_over(p[index(i, r)], r), name="y")]


def two_consumers(p: Tensor) -> list[Tensor]:
    """a and b read p; y reads both."""
    a = compute((N - 4,), lambda i: p[i + 1] * 2.0, name="a")
    b = compute((N - 4,), lambda i: p[i + 4] + 1.0, name="b")
    return [compute((N - 4,), lambda i: a[i] + b[i], name="y")]


CASES: dict[str, Case] = {
    "plain": Case(one(N, lambda i: i)),
    "shifted": Case(one(N - 5, lambda i: i + 5)),
    "backwards": Case(one(N, lambda i: N - 1 - i)),
    "halo": Case(window(N - 2, lambda i, r: i + r)),
    "stride": Case(window(17, lambda i, r: i * 2 + r)),
    "gaps": Case(window(12, lambda i, r: i * 3 + r, 2)),
    "dilation": Case(window(N - 8, lambda i, r: i + r * 4)),
    "stride and dilation": Case(window(14, lambda i, r: i * 2 + r * 3)),
    "flipped kernel": Case(window(N - 2, lambda i, r: i + 2 - r)),
    "flipped stride": Case(window(11, lambda i, r: N - 1 - i * 3 - r)),
    "quarter": Case(one(4 * N, lambda i: i // 4), exact=False),
    "quarter, shifted": Case(one(4 * N - 3, lambda i: (i + 3) // 4), exact=False),
    "two thirds": Case(one(54, lambda i: i * 2 // 3), exact=False),
    "remainder": Case(one(3 * N, lambda i: i % N), exact=False),
    "two reads": Case(lambda p: [compute((N - 6,), lambda i: p[i] - p[i + 6], name="y")]),
    "either branch": Case(
        lambda p: [compute((N - 3,), lambda i: select(i < 9, p[i], p[i + 3]), name="y")],
        exact=False,
    ),
    "several consumers": Case(two_consumers),
    "whole row": Case(
        lambda p: [
            compute((5,), lambda i: max_over(p[reduce_axis(N, "r")], reduce_axis(N, "r")), name="y")
        ]
    ),
}


def scheduled(case: Case, tiles: tuple[int, ...], level: int) -> State:
    """y tiled, everything else computed inside it at tile level `level`."""
    x = placeholder((N,), name="x")
    p = compute((N,), lambda i: call("tanh", x[i]), name="p")
    state = State(ComputeDAG(case.make(p)))
    steps: list[Step] = [Split("y", "i", tiles)]
    spatial = [(f"i.{n}",) for n in range(len(tiles) + 1)]
    reduction = tuple(a.name for a in state["y"].compute.reduce_axes)
    steps.append(Reorder("y", (*spatial, *((reduction,) if reduction else ()))))
    steps += [ComputeAt(s, "y", level) for s in reversed(list(state.stages)) if s != "y"]
    return state.replay(steps)


def places(state: State, bounds: Bounds, inside: str) -> Iterator[dict[str, int]]:
    """Values of the loops around an attached stage."""
    at = state[inside].attach
    assert at is not None
    names = [v for v, live in outside(state, at).items() if live]
    extents = loop_extents(state, bounds)
    for values in product(*(range(extents[v]) for v in names)):
        yield dict(zip(names, values, strict=True))


def loop_extents(state: State, bounds: Bounds) -> dict[str, int]:
    return {
        loop_var(s.name, leaf).name: int(bounds[s.name].extents[leaf])  # type: ignore[arg-type]
        for s in state.stages.values()
        for leaf in s.leaves
    }


def indices_read(state: State, bounds: Bounds, around: dict[str, int]) -> set[int]:
    """Elements of p that the consumers read in one run of the loops inside."""
    extents = loop_extents(state, bounds)
    found: set[int] = set()
    for consumer in state.consumers("p"):
        own = {loop_var(consumer.name, leaf).name for leaf in consumer.leaves} - set(around)
        b = bounds[consumer.name]
        axes = {a.name: a.extent for a in consumer.axes}
        for values in product(*(range(extents[v]) for v in sorted(own))):
            env = {**around, **dict(zip(sorted(own), values, strict=True))}
            position = {n: int(evaluate(e, env)) for n, e in b.values.items()}
            if any(not 0 <= position[n] < extent for n, extent in axes.items()):
                continue  # a padded iteration: guarded
            for read in reads(consumer.compute.body):
                if read.tensor.name == "p":
                    index = int(evaluate(substitute(read.indices[0], b.values), env))
                    if 0 <= index < N:
                        found.add(index)
    return found


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("tiles", "level"), [((4,), 0), ((2, 3), 0), ((2, 3), 1), ((5,), 0)])
def test_windows_hold_what_is_read(name: str, tiles: tuple[int, ...], level: int) -> None:
    state = scheduled(CASES[name], tiles, level)
    bounds = infer_bounds(state)
    (base,), (span,) = bounds["p"].base, bounds["p"].shape
    assert isinstance(span, int) and 1 <= span <= N
    widest = 0
    for around in places(state, bounds, "p"):
        wanted = indices_read(state, bounds, around)
        start = int(evaluate(base, around))
        assert all(start <= i < start + span for i in wanted), (around, start, span, wanted)
        if wanted:
            widest = max(widest, max(wanted) - min(wanted) + 1)
    if CASES[name].exact:
        assert widest == span


def test_a_root_stage_computes_everything() -> None:
    state = State(ComputeDAG(CASES["halo"].make(compute_p())))
    bounds = infer_bounds(state)
    assert bounds["p"].shape == (N,) and bounds["y"].extents == {"i": N - 2, "r": 3}


def compute_p() -> Tensor:
    x = placeholder((N,), name="x")
    return compute((N,), lambda i: call("tanh", x[i]), name="p")


def test_padded_splits_round_up_inside_out() -> None:
    x = placeholder((13,), name="x")
    state = State(ComputeDAG([compute((13,), lambda i: x[i] * 2.0, name="y")]))
    state.apply(Split("y", "i", (3, 4)))
    extents = infer_bounds(state)["y"].extents
    assert [extents[f"i.{n}"] for n in range(3)] == [2, 3, 4]
    state = State(state.dag).apply(Split("y", "i", (2, 100)))
    extents = infer_bounds(state)["y"].extents
    assert [extents[f"i.{n}"] for n in range(3)] == [1, 1, 13]


def test_aligned_divisions_need_no_spare_element() -> None:
    """Tiles of 8 read exactly 2 of the elements that 4 consecutive indices share."""
    state = scheduled(CASES["quarter"], (8,), 0)
    assert infer_bounds(state)["p"].shape == (2,)
    state = scheduled(CASES["quarter"], (6,), 0)
    assert infer_bounds(state)["p"].shape == (3,)

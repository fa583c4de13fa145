"""Traces that nobody wrote: good ones of small workloads, changed at random.

    traces = good_traces(rng, WORKLOADS["dense"]())      of the spaces of several targets, by hand
    text = mutated(rng, traces, others)                  JSON, perhaps

A change is of a number, a name, the order, a step (dropped, doubled, from another trace or another
workload), a type, or of the text itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from random_schedules import one, random_schedule

from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import compute, placeholder
from tilewright.ground.errors import ScheduleError
from tilewright.schedule.trace import trace_to_json
from tilewright.space.space import Space
from tilewright.target import Target

Rows: TypeAlias = list[Any]
"""A trace as JSON has it: one list a step."""

TARGETS = tuple(
    map(Target.parse, ("cpu:icelake-server cores=2", "cpu:cortex-a53", "cuda:a100", "opencl:mali"))
)
SAMPLED = 3  # traces of each target's space
BY_HAND = 6


def _given(*shape: int, name: str = "x") -> Any:
    return placeholder(shape, name=name)


def _weight(*shape: int, name: str = "w") -> Any:
    return placeholder(shape, name=name, constant=True)


def _attention() -> ComputeDAG:
    q, k, v = (_given(3, 4, name=n) for n in "qkv")
    scores = ops.matmul(q, ops.transpose(k, (1, 0), name="turned"), name="scores")
    return ComputeDAG([ops.matmul(ops.softmax(scores, name="p"), v, name="attended")])


def _two_outputs() -> ComputeDAG:
    x = _given(3, 5)
    half = compute((3, 5), lambda i, j: x[i, j] * 0.5 + 1.0, name="half")
    total = ops.reduce_sum(half, 1, name="total")
    return ComputeDAG([compute((3, 5), lambda i, j: half[i, j] - total[i], name="rest"), total])


WORKLOADS: dict[str, Callable[[], ComputeDAG]] = {
    "dense": lambda: ComputeDAG(
        [ops.relu(ops.dense(_given(4, 6), _weight(6, 10), _weight(10, name="b"), name="mm"))]
    ),
    "matmul": lambda: ComputeDAG(
        [ops.matmul(_given(5, 4, name="a"), ops.transpose(_given(9, 4, name="b"), (1, 0)))]
    ),
    "conv": lambda: ComputeDAG(
        [ops.relu(ops.conv(_given(1, 5, 5, 2), _weight(3, 3, 2, 9), padding=1, name="c"))]
    ),
    "strided": lambda: ComputeDAG(
        [ops.conv(_given(1, 7, 3), _weight(3, 3, 5), stride=2, padding=1, dilation=2, name="c")]
    ),
    "depthwise": lambda: ComputeDAG(
        [ops.depthwise_conv(_given(1, 4, 4, 6), _weight(3, 3, 6, 1), padding=1, name="d")]
    ),
    "transposed": lambda: ComputeDAG(
        [ops.conv_transpose(_given(1, 3, 3, 2), _weight(4, 4, 2, 3), stride=2, padding=1)]
    ),
    "norm": lambda: ComputeDAG([ops.matrix_norm(_given(2, 6, 16))]),
    "softmax": lambda: ComputeDAG([ops.softmax(_given(3, 10), 1, name="s")]),
    "attention": _attention,
    "two outputs": _two_outputs,
}


def good_traces(rng: np.random.Generator, dag: ComputeDAG) -> list[Rows]:
    """Traces that can all be replayed on the DAG."""
    found = []
    for target in TARGETS:
        space = Space(dag, target, templates=())  # those have no steps
        try:
            population = space.sample(rng, SAMPLED)
        except ScheduleError:
            continue  # too small for a GPU
        found += [
            space.trace(int(s), row)
            for s, row in zip(population.sketch, population.rows, strict=True)
        ]
    found += [random_schedule(rng, dag).trace for _ in range(BY_HAND)]
    return [json.loads(trace_to_json(trace)) for trace in found if trace]


# ---- places in a trace ----------------------------------------------------------------------


def _places(value: Any, kind: type, inside: Any = None, at: int = 0) -> Iterator[tuple[Any, int]]:
    """(list, position) of every value of a type, the names of steps left out."""
    if isinstance(value, list):
        for i, part in enumerate(value):
            yield from _places(part, kind, value, i)
    elif type(value) is kind and inside is not None:
        yield inside, at


def _fields(rows: Rows, kind: type) -> list[tuple[Any, int]]:
    return [(part, at) for row in rows for part, at in _places(row, kind) if part is not row or at]


def _set(rng: np.random.Generator, rows: Rows, kind: type, value: Any) -> None:
    places = _fields(rows, kind)
    if places:
        part, at = one(rng, places)
        part[at] = value


Change: TypeAlias = Callable[[np.random.Generator, Rows, Sequence[Rows], Sequence[Rows]], None]
"""`change(rng, rows, same, others)`: traces of the same workload, and of others."""


def _number(rng: np.random.Generator, rows: Rows, *_: Sequence[Rows]) -> None:
    _set(rng, rows, int, one(rng, (0, 1, 1, 2, 2, 3, 4, 5, 7, 8, 16, 64, 2**31 - 1, 2**31, -1)))


def _name(rng: np.random.Generator, rows: Rows, same: Sequence[Rows], *_: Sequence[Rows]) -> None:
    part, at = one(rng, _fields(one(rng, same), str))
    _set(rng, rows, str, part[at])


def _kind(rng: np.random.Generator, rows: Rows, *_: Sequence[Rows]) -> None:
    words = ("vector", "vector", "unrolled", "serial", "parallel", "block", "thread.x", "shared")
    _set(rng, rows, str, one(rng, words))


def _annotated(rng: np.random.Generator, rows: Rows, *_: Sequence[Rows]) -> None:
    """One more vector or unrolled loop, somewhere."""
    leaves = [r[1:3] for r in rows if r[0] in ("split", "annotate") and len(r) > 2]
    if leaves:
        stage, leaf = one(rng, leaves)
        leaf = f"{leaf}.{int(rng.integers(3))}" if rng.random() < 0.7 else leaf
        rows.append(["annotate", stage, leaf, one(rng, ("vector", "vector", "unrolled"))])


def _attached(rng: np.random.Generator, rows: Rows, *_: Sequence[Rows]) -> None:
    stages = sorted({r[1] for r in rows if len(r) > 1 and isinstance(r[1], str)})
    if stages:
        level = int(rng.integers(6))
        rows.append(["compute_at", one(rng, stages), one(rng, stages), level])


def _dropped(rng: np.random.Generator, rows: Rows, *_: Sequence[Rows]) -> None:
    del rows[int(rng.integers(len(rows)))]


def _doubled(rng: np.random.Generator, rows: Rows, *_: Sequence[Rows]) -> None:
    rows.insert(int(rng.integers(len(rows) + 1)), json.loads(json.dumps(one(rng, rows))))


def _swapped(rng: np.random.Generator, rows: Rows, *_: Sequence[Rows]) -> None:
    i, j = int(rng.integers(len(rows))), int(rng.integers(len(rows)))
    rows[i], rows[j] = rows[j], rows[i]


def _inserted(
    rng: np.random.Generator, rows: Rows, same: Sequence[Rows], *_: Sequence[Rows]
) -> None:
    rows.insert(int(rng.integers(len(rows) + 1)), json.loads(json.dumps(one(rng, one(rng, same)))))


def _spliced(
    rng: np.random.Generator, rows: Rows, same: Sequence[Rows], *_: Sequence[Rows]
) -> None:
    tail = one(rng, same)
    rows[int(rng.integers(1, len(rows) + 1)) :] = tail[int(rng.integers(len(tail))) :]


def _foreign(
    rng: np.random.Generator, rows: Rows, same: Sequence[Rows], others: Sequence[Rows]
) -> None:
    rows[int(rng.integers(len(rows))) :] = one(rng, others)


def _typed(rng: np.random.Generator, rows: Rows, *_: Sequence[Rows]) -> None:
    row = one(rng, rows)
    wrong = (None, 1.5, float("nan"), True, "x", [], {}, [[1]], -(2**70), "\0", {"a": [1]})
    row[int(rng.integers(len(row)))] = one(rng, wrong)


def _shortened(rng: np.random.Generator, rows: Rows, *_: Sequence[Rows]) -> None:
    one(rng, rows).pop()


def _nested(rng: np.random.Generator, rows: Rows, *_: Sequence[Rows]) -> None:
    row = one(rng, rows)
    at = int(rng.integers(len(row)))
    for _level in range(one(rng, (1, 2, 50))):
        row[at] = [row[at]]


CHANGES: tuple[tuple[Change, float], ...] = (
    (_number, 8), (_name, 4), (_kind, 2), (_annotated, 5), (_attached, 5), (_dropped, 4),
    (_doubled, 1), (_swapped, 3), (_inserted, 3), (_spliced, 1), (_foreign, 0.5), (_typed, 1),
    (_shortened, 0.5), (_nested, 0.5),
)  # fmt: skip
_WEIGHTS = np.array([w for _, w in CHANGES]) / sum(w for _, w in CHANGES)


def mutated(rng: np.random.Generator, same: Sequence[Rows], others: Sequence[Rows]) -> str:
    """One of the traces `same` with a change, or two or three."""
    rows: Rows = json.loads(json.dumps(one(rng, same)))
    for _ in range(one(rng, (1, 1, 1, 1, 2, 2, 3))):
        change = CHANGES[int(rng.choice(len(CHANGES), p=_WEIGHTS))][0]
        if not all(isinstance(row, list) and row for row in rows) or not rows:
            break
        change(rng, rows, same, others)
    text = json.dumps(rows)
    if rng.random() < 0.01:
        return "[" * 5000 + text
    return text[: int(rng.integers(len(text)))] if rng.random() < 0.01 else text

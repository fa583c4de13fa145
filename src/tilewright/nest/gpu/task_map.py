"""Task mappings: which worker does which tasks, in which order (Hidet, ASPLOS 2023, section 5.1).

    load = repeat(4, 1) * spatial(16, 8)       64 x 8 elements by 128 threads, four by each
    load.tasks(17)                             [(2, 1), (18, 1), (34, 1), (50, 1)]
    load.nest(thread, body)                    for i in range(4): body(i * 16 + thread // 8, …)

A mapping has a task shape and a number of workers; it gives each worker a list of tasks. `repeat`
gives one worker a whole grid, `spatial` each of as many workers one task, `custom` what a function
says. In a product `f * g` every task of `f` is a grid of those of `g`, every worker of `f` a group
of those of `g`:

    tasks(w) = [t * shape of g + u  for t in f.tasks(w // workers of g)
                                    for u in g.tasks(w % workers of g)]

That is associative and not commutative. Extents are ints or expressions over decisions; workers are
threads, warps, blocks, or lanes, of which a mapping says who holds which element of a fragment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import Protocol, Self, TypeAlias

from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Const, Expr, Extent, Var, as_expr
from tilewright.expr.traversal import substitute
from tilewright.ground.errors import ScheduleError
from tilewright.nest.nodes import For, Kind, Node, seq

Task: TypeAlias = tuple[Extent, ...]
Body: TypeAlias = Callable[..., Node]
"""The statements of one task, given its index in every dimension."""


class SimpleMap(Protocol):
    """A mapping that is no product."""

    @property
    def shape(self) -> Task: ...

    @property
    def workers(self) -> Extent: ...

    def tasks(self, worker: int) -> list[tuple[int, ...]]:
        """Those of one worker, in order; extents are ints."""
        ...

    def nest(self, worker: Expr, name: str, body: Callable[[Task], Node]) -> Node:
        """`body` of each of these, in order; loops are called `name0`, `name1`, …"""
        ...

    def at(self, values: Mapping[str, int]) -> SimpleMap:
        """The same with values for decisions."""
        ...

    def project(self, dimension: int) -> SimpleMap:
        """The same with index 0 in a dimension, which has one element then."""
        ...


@dataclass(frozen=True)
class _Grid:
    """A grid of tasks, in row-major order of its dimensions in `order` (the last one is the
    quickest). Those `projected` are gone through, but are not part of a task.
    """

    extents: Task
    order: tuple[int, ...]
    projected: frozenset[int] = frozenset()

    @property
    def shape(self) -> Task:
        return tuple(1 if d in self.projected else e for d, e in enumerate(self.extents))

    def project(self, dimension: int) -> Self:
        return replace(self, projected=self.projected | {dimension})

    def at(self, values: Mapping[str, int]) -> Self:
        return replace(self, extents=tuple(_bound(e, values) for e in self.extents))

    def _task(self, indices: Mapping[int, Extent]) -> Task:
        """The task of an index in each dimension."""
        kept = range(len(self.extents))
        return tuple(0 if d in self.projected else indices[d] for d in kept)


@dataclass(frozen=True)
class Repeat(_Grid):
    """All tasks of the grid by one worker, whose loops are of a `kind`."""

    kind: Kind = Kind.SERIAL

    @property
    def workers(self) -> Extent:
        return 1

    def tasks(self, worker: int) -> list[tuple[int, ...]]:
        ranges = [range(_int(self.extents[d])) for d in self.order]
        every = (dict(zip(self.order, found, strict=True)) for found in product(*ranges))
        return [tuple(map(_int, self._task(indices))) for indices in every]

    def nest(self, worker: Expr, name: str, body: Callable[[Task], Node]) -> Node:
        looped = [d for d in self.order if self.extents[d] != 1]
        names = {d: Var(f"{name}{i}") for i, d in enumerate(looped)}
        inside = body(self._task({d: names.get(d, 0) for d in self.order}))
        return reduce(
            lambda node, d: For(names[d], self.extents[d], node, self.kind), looped[::-1], inside
        )


@dataclass(frozen=True)
class Spatial(_Grid):
    """One task of the grid by each worker."""

    @property
    def workers(self) -> Extent:
        return _product(self.extents)

    def tasks(self, worker: int) -> list[tuple[int, ...]]:
        return [tuple(map(_int, self._digits(worker)))]

    def nest(self, worker: Expr, name: str, body: Callable[[Task], Node]) -> Node:
        return body(self._digits(worker))

    def _digits(self, worker: Extent) -> Task:
        """A worker's number in the grid."""
        rest = [self.extents[d] for d in self.order]
        return self._task(dict(zip(self.order, digits(worker, rest), strict=True)))


@dataclass(frozen=True)
class Custom:
    """What a function says: as many tasks for every worker, as ints or as expressions of it."""

    shape: Task
    workers: Extent
    function: Callable[[Extent], Sequence[Task]]

    def tasks(self, worker: int) -> list[tuple[int, ...]]:
        return [tuple(map(_int, task)) for task in self.function(worker)]

    def nest(self, worker: Expr, name: str, body: Callable[[Task], Node]) -> Node:
        return seq(*(body(tuple(task)) for task in self.function(worker)))

    def at(self, values: Mapping[str, int]) -> Custom:
        shape = tuple(_bound(e, values) for e in self.shape)
        return replace(self, shape=shape, workers=_bound(self.workers, values))

    def project(self, dimension: int) -> Custom:
        def function(worker: Extent) -> list[Task]:
            return [_put(task, dimension, 0) for task in self.function(worker)]

        return Custom(_put(self.shape, dimension, 1), self.workers, function)


@dataclass(frozen=True)
class TaskMap:
    """A product of mappings, the outermost first. Raises ScheduleError where they have not the same
    number of dimensions.
    """

    factors: tuple[SimpleMap, ...]

    def __post_init__(self) -> None:
        ranks = [len(f.shape) for f in self.factors]
        if len(set(ranks)) != 1:
            raise ScheduleError(
                f"mappings of {', '.join(map(str, ranks))} dimensions do not go together"
            )

    def __mul__(self, inner: TaskMap) -> TaskMap:
        return TaskMap((*self.factors, *inner.factors))

    @property
    def shape(self) -> Task:
        """The number of tasks in every dimension."""
        shapes = zip(*(f.shape for f in self.factors), strict=True)
        return tuple(_product(extents) for extents in shapes)

    @property
    def workers(self) -> Extent:
        return _product(f.workers for f in self.factors)

    def tasks(self, worker: int) -> list[tuple[int, ...]]:
        """Those of one worker, in order. Raises ScheduleError for a worker that is not there, or
        extents that are not decided (`at`).
        """
        if not 0 <= worker < _int(self.workers):
            raise ScheduleError(f"worker {worker} is none of {self.workers}")
        found = [(0,) * len(self.shape)]
        for factor, digit in zip(self.factors, self._digits(worker), strict=True):
            own = factor.tasks(_int(digit))
            shape = tuple(map(_int, factor.shape))
            found = [
                tuple(t * s + u for t, s, u in zip(task, shape, inner, strict=True))
                for task in found
                for inner in own
            ]
        return found

    def nest(self, worker: Expr, body: Body, name: str = "t") -> Node:
        """The loops of one worker, whose number is an expression; their variables begin with
        `name`.
        """

        def inside(number: int, task: Task) -> Node:
            if number == len(self.factors):
                return body(*task)
            factor = self.factors[number]

            def next_(own: Task) -> Node:
                pairs = zip(task, factor.shape, own, strict=True)
                return inside(number + 1, tuple(_plus(_times(t, s), u) for t, s, u in pairs))

            return factor.nest(as_expr(workers[number]), f"{name}{number}.", next_)

        workers = self._digits(worker)
        return inside(0, (0,) * len(self.shape))

    def at(self, values: Mapping[str, int]) -> TaskMap:
        """The same with values for decisions."""
        return TaskMap(tuple(f.at(values) for f in self.factors))

    def project(self, *dimensions: int) -> TaskMap:
        """The same with index 0 in these dimensions: workers that differ there only do the same
        tasks.
        """
        return TaskMap(
            tuple(reduce(lambda f, d: f.project(d), dimensions, f) for f in self.factors)
        )

    def places(self) -> Iterator[tuple[tuple[int, ...], int, int]]:
        """Every task, who does it, and as which of his tasks: of a fragment, an element, the lane
        that holds it and the number of the register.
        """
        for worker in range(_int(self.workers)):
            for number, task in enumerate(self.tasks(worker)):
                yield task, worker, number

    def _digits(self, worker: Extent) -> Task:
        """A worker's number in every factor."""
        return digits(worker, [f.workers for f in self.factors])


def repeat(
    *extents: Extent, order: Sequence[int] | None = None, kind: Kind = Kind.SERIAL
) -> TaskMap:
    """One worker, who does a grid of tasks: row by row, or by the dimensions in `order`, the last
    one the quickest.
    """
    return TaskMap((Repeat(*_grid(extents, order), kind=kind),))


def spatial(*extents: Extent, order: Sequence[int] | None = None) -> TaskMap:
    """As many workers as a grid has tasks, numbered row by row, or by the dimensions in `order`."""
    return TaskMap((Spatial(*_grid(extents, order)),))


def custom(
    shape: Sequence[Extent], workers: Extent, function: Callable[[Extent], Sequence[Task]]
) -> TaskMap:
    """A worker's tasks are what a function says of its number, an int or an expression."""
    return TaskMap((Custom(tuple(shape), workers, function),))


def digits(number: Extent, extents: Sequence[Extent]) -> Task:
    """A number as digits, the first one the most significant, which is not limited."""
    found: list[Extent] = []
    for place, extent in enumerate(extents):
        rest = _product(extents[place + 1 :])
        if extent == 1:
            found.append(0)
            continue
        digit = number if rest == 1 else number // rest
        is_first = all(e == 1 for e in extents[:place])
        found.append(digit if is_first else digit % extent)
    return tuple(found)


def _grid(extents: Sequence[Extent], order: Sequence[int] | None) -> tuple[Task, tuple[int, ...]]:
    dimensions = tuple(range(len(extents)))
    if any(isinstance(e, int) and e < 1 for e in extents):
        raise ScheduleError(f"extents are 1 or more, not {', '.join(map(str, extents))}")
    if order is not None and sorted(order) != list(dimensions):
        raise ScheduleError(
            f"the order of {len(extents)} dimensions is not {', '.join(map(str, order))}"
        )
    return tuple(extents), dimensions if order is None else tuple(order)


def _put(task: Sequence[Extent], dimension: int, value: Extent) -> Task:
    return tuple(value if d == dimension else t for d, t in enumerate(task))


def _product(extents: Iterable[Extent]) -> Extent:
    found: Extent = 1
    for extent in extents:
        found = _times(found, extent)
    return found


def _times(a: Extent, b: Extent) -> Extent:
    if a == 0 or b == 0:
        return 0
    return b if a == 1 else a if b == 1 else a * b


def _plus(a: Extent, b: Extent) -> Extent:
    return b if a == 0 else a if b == 0 else a + b


def _bound(extent: Extent, values: Mapping[str, int]) -> Extent:
    """An extent with values for decisions, an int where they are all of them."""
    if isinstance(extent, int):
        return extent
    known = {name: Const(value, Var(name).dtype) for name, value in values.items()}
    found = simplify(substitute(extent, dict(known)))
    return int(found.value) if isinstance(found, Const) else found


def _int(extent: Extent) -> int:
    if not isinstance(extent, int):
        raise ScheduleError(f"{extent} is not decided")
    return extent

"""Decisions: the free parameters of a sketch, each a few integer columns of the candidate matrix.

    TileFactors("conv.f", "conv", 256, (S, S, S, TILE))  columns conv.f#1, conv.f#2, conv.f#3
    Choice("conv.unroll", "conv", "pragma", (0, 16, 64)) column  conv.unroll
    Rows("conv.tiles", "conv", ((6, 64), (12, 32)))      columns conv.tiles#1, conv.tiles#2

A decision owns its set of valid values (`table`, one row a value), so sampling is uniform over
valid values, and cardinality, encoding, neighbours and mutation follow from it. All of them work
on whole columns: `[n]` or `[n, k]` int64 arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, Protocol, TypeAlias

import numpy as np

from tilewright.contract.gene import variables as named_variables
from tilewright.cost.candidates import Ints
from tilewright.expr.nodes import Var
from tilewright.nest.nodes import Kind

INNERMOST_LIMIT = 64  # elements of one register-tile axis (a reduction has no such limit)
WASTE = 16  # an axis may be exceeded by a sixteenth of its extent
SHORT = 7  # from which extent on it may be by one
NEARER = 4.0

Mutation: TypeAlias = Callable[[np.random.Generator, Ints], Ints]
"""Neighbours of rows (`[n, k]`): valid, and different where possible."""


class Decision(Protocol):
    """What every kind of decision offers. `stage` is the DAG node it belongs to (crossover)."""

    @property
    def name(self) -> str: ...

    @property
    def stage(self) -> str: ...

    @property
    def is_choice(self) -> bool:
        """Whether its values are options, each worth a try of its own."""
        ...

    @property
    def mutations(self) -> Mapping[str, Mutation]:
        """The changes that a search may make to it, by name: the one that it is for ("tile",
        "parallel", "pragma", "location" or "thread") comes first. How often each is tried depends
        on the target (`Backend.mutations`).
        """
        ...

    @property
    def columns(self) -> tuple[str, ...]: ...

    def __hash__(self) -> int: ...

    @property
    def table(self) -> Ints:
        """All valid values, `[cardinality, len(columns)]`, sorted, unique."""
        ...

    def mutate(self, rng: np.random.Generator, rows: Ints) -> Ints:
        """Its usual mutation."""
        ...


def variables(decision: Decision) -> tuple[Var, ...]:
    """The decision variables, one a column."""
    return tuple(Var(c) for c in decision.columns)


def sample(decision: Decision, rng: np.random.Generator, n: int) -> Ints:
    """`n` values, uniform over the valid ones; `[n, k]`."""
    table = decision.table
    return table[rng.integers(0, len(table), n)]


def encode(decision: Decision, rows: Ints) -> Ints:
    """Index of every row in the table, -1 where the row is not a valid value."""
    table = decision.table
    keys, weights, most = _keys(decision)
    at = np.minimum(keys.searchsorted(np.clip(rows, 0, most) @ weights), len(table) - 1)
    return np.where((table[at] == rows).all(axis=1), at, -1)


@lru_cache(maxsize=4096)
def _keys(decision: Decision) -> tuple[Ints, Ints, int]:
    """Of its table: one ascending number a row (its columns as digits), the weights of the digits,
    and the largest digit, one more than occurs.
    """
    table = decision.table
    base = int(table.max()) + 2
    weights = base ** np.arange(table.shape[1] - 1, -1, -1, dtype=np.int64)
    return table @ weights, weights, base - 1


@lru_cache(maxsize=4096)
def divisors(n: int) -> tuple[int, ...]:
    """Divisors of n, ascending."""
    small = [d for d in range(1, int(n**0.5) + 1) if n % d == 0]
    return tuple(sorted({*small, *(n // d for d in small)}))


def slack(extent: int, lanes: int = 0, by_one: bool = False) -> int:
    """How far tiles may run over an axis: by a share of it, with `lanes` as far as leaves the last
    vector partly filled, and short axes by one where asked to.
    """
    return max(extent // WASTE, int(by_one and extent >= SHORT), lanes - 1)


@lru_cache(maxsize=1024)
def tile_table(
    extent: int, levels: int, innermost: int, slack: int, lanes: int, within: int
) -> Ints:
    """All inner tile lengths `[m, levels - 1]` of an axis of `extent`.

    The outermost length is inferred: ceil(extent / product). A tiling exceeds the extent by at most
    `slack`, and by less than one innermost tile. With `lanes` (the axis runs along a vector) the
    innermost length is a multiple of that, a divisor below it, or the whole extent. With `within`
    (a divisor of the extent) the inner tiles together divide that, so that none crosses a multiple.
    """
    found = []
    for total in range(extent, extent + min(slack, innermost - 1) + 1):
        rows = _factorisations(total, levels - 1, innermost)
        inner, last = rows.prod(axis=1), rows[:, -1]
        valid = (total - extent < last) & (last <= extent) & (-(-extent // inner) * inner == total)
        if within:
            valid &= within % inner == 0
        if lanes:
            whole = (last == extent) | ((last < lanes) & (extent % last == 0))
            valid &= whole | (last % lanes == 0)
        found.append(rows[valid])
    return np.unique(np.concatenate(found), axis=0)


def _factorisations(total: int, parts: int, innermost: int) -> Ints:
    """Ways to write a divisor of `total` as `parts` factors, the last at most `innermost`;
    `[m, parts]`.
    """
    last = np.array([d for d in divisors(total) if d <= innermost], np.int64)
    rows, rest = last[:, None], total // last
    for _ in range(parts - 1):
        factors = {n: np.array(divisors(n), np.int64) for n in set(rest.tolist())}
        options = [factors[n] for n in rest.tolist()]
        counts = [len(o) for o in options]
        rows = np.column_stack([np.concatenate(options), np.repeat(rows, counts, axis=0)])
        rest = np.repeat(rest, counts) // rows[:, 0]
    return rows


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a tiling, of spatial ("S") or reduction axes ("R"): how its loops run, the most
    iterations that one has, and as how many lanes these run, if it is the innermost.
    """

    letter: str
    kind: Kind = Kind.SERIAL
    most: int | None = None
    lanes: int = 0


S, R = Level("S"), Level("R")
TILE = Level("S", Kind.UNROLLED, INNERMOST_LIMIT)


@dataclass(frozen=True)
class TileFactors:
    """Tile lengths of one axis, a column for each of its `levels` but the outermost, whose length
    is inferred. They may run over the axis by `slack`. `within` is for an axis that is divided by
    that number somewhere (groups of channels), else 0.
    """

    name: str
    stage: str
    extent: int
    levels: tuple[Level, ...]
    slack: int = 0
    within: int = 0
    is_choice: ClassVar[bool] = False

    @property
    def threads(self) -> int:
        """The level that is bound to a GPU's threads, else 0."""
        return next((i for i, x in enumerate(self.levels) if x.kind is Kind.THREAD_X), 0)

    @property
    def mutations(self) -> Mapping[str, Mutation]:
        rebinding: dict[str, Mutation] = {"thread": self.rebind} if self.threads else {}
        return {"tile": self.mutate, **rebinding}

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return named_variables(self.name, len(self.levels) - 1)

    @cached_property
    def table(self) -> Ints:
        *outer, last = self.levels
        most = last.most or self.extent
        every = tile_table(self.extent, len(self.levels), most, self.slack, last.lanes, self.within)
        for i, level in enumerate(outer):
            if level.most is not None:
                lengths = every[:, i - 1] if i else -(-self.extent // every.prod(axis=1))
                every = every[lengths <= level.most]
        return every

    def mutate(self, rng: np.random.Generator, rows: Ints) -> Ints:
        """Move a factor from one level to another (paper §5.1).

        Where the result is no valid value (or the level has no factor to move), any other value
        is drawn.
        """
        n, k = rows.shape
        source = rng.integers(0, k + 1, n)
        target = (source + rng.integers(1, k + 1, n)) % (k + 1)
        return self._moved(rng, rows, source, target)

    def rebind(self, rng: np.random.Generator, rows: Ints) -> Ints:
        """The same, but out of the level of threads or into it."""
        n, k = rows.shape
        here = np.full(n, self.threads)
        there = (here + rng.integers(1, k + 1, n)) % (k + 1)
        out = rng.random(n) < 0.5
        return self._moved(rng, rows, np.where(out, here, there), np.where(out, there, here))

    def _moved(self, rng: np.random.Generator, rows: Ints, source: Ints, target: Ints) -> Ints:
        """A random factor of level `source` in `target` (`[n]`)."""
        outer = -(-self.extent // rows.prod(axis=1))
        full = np.column_stack([outer, rows])
        each = np.arange(len(rows))
        factor = _random_divisor(rng, full[each, source])
        full[each, source] //= factor
        full[each, target] *= factor
        moved = full[:, 1:]
        failed = (encode(self, moved) < 0) | (moved == rows).all(axis=1)
        moved[failed] = another(self, rng, rows[failed])
        return moved


def another(decision: Decision, rng: np.random.Generator, rows: Ints) -> Ints:
    """A uniform value other than each of `rows` (`[n, k]`), or itself where it is the only one."""
    table = decision.table
    m = len(table)
    if m == 1:
        return rows.copy()
    there: Ints = (encode(decision, rows) + rng.integers(1, m, len(rows))) % m
    return table[there]


def _random_divisor(rng: np.random.Generator, values: Ints) -> Ints:
    """A random divisor > 1 of every value (1 where the value is 1)."""
    unique, inverse = np.unique(values, return_inverse=True)
    u = rng.random(len(values))
    options = [np.array(divisors(int(v))[1:] or (1,)) for v in unique]
    lengths = np.array([len(o) for o in options])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    pick = starts[inverse] + (u * lengths[inverse]).astype(np.int64)
    chosen: Ints = np.concatenate(options)[pick].astype(np.int64)
    return chosen


@dataclass(frozen=True)
class Choice:
    """One of a few ints, which the `mutation` of that name changes: `ordered` options to an
    adjacent one, others to any other.
    """

    name: str
    stage: str
    mutation: str
    options: tuple[int, ...]
    ordered: bool = False
    is_choice: ClassVar[bool] = True

    @property
    def mutations(self) -> Mapping[str, Mutation]:
        return {self.mutation: self.mutate}

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return named_variables(self.name, None)

    @cached_property
    def table(self) -> Ints:
        return np.array(sorted(set(self.options)), np.int64)[:, None]

    def mutate(self, rng: np.random.Generator, rows: Ints) -> Ints:
        """Another option: the next or previous one when `ordered`."""
        table = self.table
        m = len(table)
        if not self.ordered or m == 1:
            return another(self, rng, rows)
        at = encode(self, rows)
        step = np.where(rng.random(len(rows)) < 0.5, -1, 1)
        there = at + step
        return table[np.where((there < 0) | (there >= m), at - step, there)]


@dataclass(frozen=True)
class Rows:
    """Several numbers together, one of the rows of `values`, which all have as many."""

    name: str
    stage: str
    values: tuple[tuple[int, ...], ...]
    is_choice: ClassVar[bool] = False

    @property
    def mutations(self) -> Mapping[str, Mutation]:
        return {"tile": self.mutate}

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return named_variables(self.name, len(self.values[0]))

    @cached_property
    def table(self) -> Ints:
        return np.unique(np.array(self.values, np.int64), axis=0)

    def mutate(self, rng: np.random.Generator, rows: Ints) -> Ints:
        """Another row; one that differs in a number more is drawn NEARER times less often."""
        table = self.table
        if len(table) == 1:
            return rows.copy()
        differ = (table[encode(self, rows), None] != table[None]).sum(2)
        weight = np.where(differ > 0, NEARER**-differ, 1e-30)
        drawn = np.log(rng.random(weight.shape)) / weight
        there: Ints = table[drawn.argmax(axis=1)]
        return there

"""What a loop carries may change its extents from step to step: they are sizes of a run then.

    Loop(n, true) {y = concat(x, row)}     x has S rows: S = 1, then S + 1 after each step

A step is imported with the extents of the first one, then again with a size for each extent that
it changes, one for those that change alike, until it says what the sizes are after it. How large
they become follows from how often the loop runs at most; where data decide that, the user limits
it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from tilewright.contract.sizes import Size, Sizes
from tilewright.expr.index.extents import sub
from tilewright.expr.nodes import Extent, Shape, Var
from tilewright.expr.sizes import least, most, simplified
from tilewright.expr.text import extent_text
from tilewright.graph.builder import BodyBuilder
from tilewright.graph.ir import Growth, Value
from tilewright.graph.onnx.ops.call import Rejected
from tilewright.graph.onnx.region import SubgraphImporter

ROUNDS = 8
"""So often a step is imported before its extents are given up."""

LONGEST = 1 << 12
"""Steps that are followed to see how large extents become that do not change by as much in each;
of more, a limit says it."""

SETTLED = 64
"""Steps after which extents that nothing limits stay as they are, or never will."""

NODES = 128
"""What a size costs an import, as of so many nodes: it is asked about wherever an extent is."""

LARGEST = 1 << 31
"""Elements along a dimension."""

Range: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Step:
    """A step of a loop: its graph, its results, the carried ones first, whether it goes on before
    all, and how sizes change with it.
    """

    body: BodyBuilder
    after: Value
    results: Sequence[Value]
    growth: tuple[Growth, ...] = ()


@dataclass(frozen=True)
class _Alike:
    """Extents that change alike: in these dimensions of carried values, by number, which are
    `start` at first; a step makes `after` of them.
    """

    places: tuple[tuple[int, int], ...]
    start: Extent
    after: Extent


@dataclass
class GrowingStep:
    """Finds the step of a loop that carries `start` at first, and gives results of these `names`.

    `imported` writes a step into a body for these extents of carried values; `longest` says how
    often the loop runs at most, None where data decide.
    """

    region: SubgraphImporter
    start: Sequence[Value]
    names: Sequence[str]
    imported: Callable[[BodyBuilder, Sequence[Shape]], Step]
    longest: Callable[[Step], int | None]
    alike: Sequence[_Alike] = ()
    ranges: list[Range] = field(default_factory=list)

    def found(self) -> Step:
        """The step. Raises Rejected for types that change, and extents that nothing limits."""
        for _ in range(ROUNDS):
            body = BodyBuilder(f"{self.region.name}.step", self.region.builder.sizes)
            sizes = self._sizes(body)
            shapes = self._shapes(sizes)
            step = self.imported(body, shapes)
            self._check_types(step.results)
            before = [a.places for a in self.alike]
            self.alike = self._changed(shapes, step.results)
            if not self.alike:
                return step
            steps = self.longest(step)
            if before == [a.places for a in self.alike]:
                rows = zip(self.alike, sizes, strict=True)
                growth = tuple(Growth(s, a.start, a.after, self._reason(a)) for a, s in rows)
                ranges = self._followed(growth, body.sizes, steps)
                ends = zip(self.ranges, ranges, strict=True)
                if all(a <= c and d <= b for (a, b), (c, d) in ends):
                    self.region.importer.nodes_left -= NODES * len(growth)
                    return replace(step, growth=growth)
                self.ranges = ranges
            else:
                self.ranges = [self._guess(a, shapes, body.sizes, steps) for a in self.alike]
        raise Rejected("the extents of what it carries change otherwise from step to step")

    def _sizes(self, body: BodyBuilder) -> list[Size]:
        """New ones, which `body` knows."""
        found = []
        for a, (low, high) in zip(self.alike, self.ranges, strict=True):
            found.append(replace(body.new_size(self._name(a), high), least=low))
            body.sizes += (found[-1],)
        return found

    def _shapes(self, sizes: Sequence[Size]) -> list[Shape]:
        """Of the carried values, with these sizes."""
        found = [list(v.extents) for v in self.start]
        for a, size in zip(self.alike, sizes, strict=True):
            for i, d in a.places:
                found[i][d] = Var(size.name)
        return [tuple(shape) for shape in found]

    def _check_types(self, results: Sequence[Value]) -> None:
        for before, after in zip(self.start, results, strict=False):
            if (before.rank, before.dtype) != (after.rank, after.dtype):
                raise Rejected(f"a step turns {before} into {after}: its type must stay the same")

    def _changed(self, shapes: Sequence[Shape], results: Sequence[Value]) -> list[_Alike]:
        """What is a size already, and what a step changes besides."""
        number = {place: k for k, a in enumerate(self.alike) for place in a.places}
        found: dict[tuple[int | None, Extent, Extent], list[tuple[int, int]]] = {}
        for i, (first, shape, result) in enumerate(zip(self.start, shapes, results, strict=False)):
            rows = zip(first.extents, shape, result.extents, strict=True)
            for d, (start, before, after) in enumerate(rows):
                if (i, d) in number or before != after:
                    found.setdefault((number.get((i, d)), start, after), []).append((i, d))
        return [_Alike(tuple(places), *key[1:]) for key, places in found.items()]

    def _guess(
        self, alike: _Alike, shapes: Sequence[Shape], sizes: Sizes, steps: int | None
    ) -> Range:
        """The range of a size, if each step adds as much as the one that was imported."""
        i, d = alike.places[0]
        more = most(simplified(sub(alike.after, shapes[i][d]), sizes), sizes)
        low = min(least(alike.start, sizes), least(alike.after, sizes))
        high = most(alike.start, sizes)
        if more > 0:
            high = self._limited(alike, None if steps is None else high + more * steps)
        return max(0, low), high

    def _followed(self, growth: Sequence[Growth], sizes: Sizes, steps: int | None) -> list[Range]:
        """The ranges of sizes that change so, from the first step to the last."""
        own = [g.size.name for g in growth]
        others = tuple(s for s in sizes if s.name not in own)
        found = [(least(g.start, others), most(g.start, others)) for g in growth]
        added = [simplified(sub(g.after, Var(g.size.name)), sizes) for g in growth]
        if steps is not None and all(isinstance(n, int) and n >= 0 for n in added):
            rows = zip(self.alike, found, added, strict=True)
            return [(a, self._limited(e, b + most(n, ()) * steps)) for e, (a, b), n in rows]
        steps = None if steps is None or steps > LONGEST else steps
        if steps is None:
            limits = map(self._limit, self.alike)
            found = [(a, b if n is None else n) for (a, b), n in zip(found, limits, strict=True)]
        for _ in range(SETTLED if steps is None else steps):
            ends = zip(own, found, strict=True)
            now = (*others, *(Size(name, a, max(1, b)) for name, (a, b) in ends))
            before, found = found, []
            for a, g, (low, high) in zip(self.alike, growth, before, strict=True):
                greatest = max(high, most(g.after, now))
                is_open = steps is None and greatest > high
                high = self._limited(a, None if is_open else greatest)
                found.append((max(0, min(low, least(g.after, now))), high))
            if found == before:
                return found
        return found if steps is not None else [(0, high) for _, high in found]

    def _limited(self, alike: _Alike, high: int | None) -> int:
        """The most that a size may be, `high` or less if the user says so. Raises Rejected where
        nothing says it.
        """
        limit = self._limit(alike)
        known = [n for n in (high, limit) if n is not None]
        if not known or min(known) > LARGEST:
            start, after = map(extent_text, (alike.start, alike.after))
            name, d = self.start[alike.places[0][0]].name, alike.places[0][1]
            how = "often it does so depends on data" if high is None else "large it becomes"
            raise Rejected(
                f"a step makes dimension {d} of {name}, {start} at first, {after}, and nothing "
                f"says how {how}",
                None,
                self._name(alike),
            )
        return min(known)

    def _name(self, alike: _Alike) -> str:
        """What a limit of it is called: a result of the loop."""
        return self.names[alike.places[0][0]] or self.region.name

    def _limit(self, alike: _Alike) -> int | None:
        return self.region.importer.limits.get(self._name(alike))

    def _reason(self, alike: _Alike) -> str:
        """Why a run may end; "" where no user limits the size."""
        name, limit = self._name(alike), self._limit(alike)
        if limit is None:
            return ""
        allowed = f"limits={{{name!r}: {limit}}} allows"
        return f"{self.region.label}: {name} grows beyond the {limit} that {allowed}"

"""Programs by size: each range of a size has one of its own, in one kernel.

    by_size("S", (32,), (short, long))     the gene: `short` where S < 32, else `long`
    joined("S", (32,), lowered)            the nest:  if S < 32: …      if S >= 32: …

A constant that two of them read in different layouts, or transformed differently, is there twice.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from tilewright.contract.gene import Gene, compact, parsed
from tilewright.expr.nodes import Expr, Read, Tensor, Var, binary
from tilewright.ground.errors import ScheduleError
from tilewright.nest.fuse import Prologue, fused
from tilewright.nest.nodes import If, Node, seq
from tilewright.schedule.lower import Layout, Lowered
from tilewright.schedule.state import Mapped

KEY = "by_size"
MOST_PROGRAMS = 3


def by_size(size: str, bounds: Sequence[int], genes: Sequence[Gene]) -> Gene:
    """The gene of `genes[k]` where the size is below `bounds[k]`, of the last one elsewhere."""
    programs = [json.loads(gene.text) for gene in genes]
    return Gene(compact({KEY: size, "below": list(bounds), "programs": programs}))


def genes_of(below: object, programs: object) -> tuple[tuple[int, ...], tuple[Gene, ...]]:
    """What a producer says. Raises ScheduleError for what `by_size` does not write."""
    if not isinstance(below, list) or not isinstance(programs, list):
        raise ScheduleError("programs by size are a list, with a list of bounds")
    is_right = all(type(b) is int and b > 0 for b in below) and below == sorted(set(below))
    if not is_right or not len(below) + 1 == len(programs) <= MOST_PROGRAMS:
        raise ScheduleError(
            f"{len(programs)} programs by size need one bound less, growing, and are at most "
            f"{MOST_PROGRAMS}; got {compact(below):.60}"
        )
    genes = tuple(Gene.of(compact(program)) for program in programs)
    if any(gene.key == KEY for gene in genes):
        raise ScheduleError("a program by size is none of programs by size")
    return tuple(below), genes


def programs_of(gene: Gene) -> list[tuple[str, Gene]]:
    """The programs of a gene, each with where it runs, as text: `S < 32`, `32 <= S`; "" where it is
    no gene of programs by size. Raises ScheduleError for what `by_size` does not write.
    """
    match parsed(gene.producer, "the producer is"):
        case {"by_size": str() as size, "below": below, "programs": programs}:
            bounds, genes = genes_of(below, programs)
            lows = ("", *(f"{b} <= " for b in bounds))
            highs = (*(f" < {b}" for b in bounds), "")
            ranges = zip(lows, highs, genes, strict=True)
            return [(f"{low}{size}{high}", one) for low, high, one in ranges]
    return [("", gene)]


def joined(size: str, bounds: Sequence[int], parts: Sequence[Lowered]) -> Lowered:
    """One program of several, of one DAG. Raises ScheduleError for a size that it has not."""
    first = parts[0].program
    if size not in {s.name for s in first.sizes}:
        raise ScheduleError(f"{first.name} has no size {size}")
    constants: dict[str, Tensor] = {}
    layouts: dict[str, Layout] = {}
    mapped: dict[str, Mapped] = {}
    found: list[Node] = []
    for k, part in enumerate(parts):
        named: dict[str, Tensor] = {}
        for constant in part.program.constants:
            name = constant.name
            layout, made = part.layouts.get(name), part.mapped.get(name)
            if name in constants and (layout, made) != (layouts.get(name), mapped.get(name)):
                splits = tuple((d,) for d in constant.shape)
                layout = layout or Layout(constant, splits, tuple(range(constant.rank)))
                named[name] = replace(constant, name=f"{name}.{k}")
            tensor = named.get(name, constant)
            constants[tensor.name] = tensor
            if layout is not None:
                layouts[tensor.name] = layout
            if made is not None:
                mapped[tensor.name] = made
        found.append(If(_between(size, [0, *bounds][k], [*bounds, None][k]), _reading(part, named)))
    program = replace(
        first,
        constants=tuple(constants.values()),
        tables=tuple({t.name: t for part in parts for t in part.program.tables}.values()),
        body=seq(*found),
    )
    return Lowered(program, layouts, mapped, max(part.rounding for part in parts))


def _between(size: str, low: int, high: int | None) -> Expr:
    above = Var(size) >= low
    return above if high is None else binary("and", above, Var(size) < high)


def _reading(part: Lowered, named: dict[str, Tensor]) -> Node:
    """A part's nest, that reads constants under other names."""

    def other(tensor: Tensor) -> Prologue:
        return lambda *indices: Read(tensor, indices)

    return fused(part.program.body, {name: other(t) for name, t in named.items()}, {})

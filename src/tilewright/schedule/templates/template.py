"""What a template is: a nest of a few numbers, in which a contraction is a product of matrices.

    TENSOR_CORES.refusal(anchor)                          why it does not take it, or ""
    TENSOR_CORES.options["block_m"]                       the numbers that a parameter may be
    TENSOR_CORES.rows(anchor, target)                     those worth a try, one of each a row
    TENSOR_CORES.body(anchor, {"block_m": 128, …})        the nest, with ints or with decisions

Options are the hardware's, not the problem's: extents need not divide (Hidet, ASPLOS 2023, section
4.3). A gene names the template and its numbers (`schedule.producers`) and knows no target; the
space asks for the rows of its target and makes a decision of them (`space.templates`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np

from tilewright.expr.contraction.groups import Pair, refused
from tilewright.expr.evaluate import ColumnProgram
from tilewright.expr.nodes import Expr, Extent, Var
from tilewright.nest.nodes import Node
from tilewright.schedule.lower import Layout
from tilewright.schedule.templates.anchor import Anchor
from tilewright.target import Target

Numbers: TypeAlias = Mapping[str, Extent]
Row: TypeAlias = tuple[int, ...]
Options: TypeAlias = Mapping[str, tuple[int, ...]]


def _as_given(anchor: Anchor, numbers: Numbers) -> dict[str, Layout]:
    return {}


@dataclass(frozen=True)
class Template:
    """A template by its `name`, which ends with its version: records name it.

    `options` has the numbers of each parameter; `legal` is what they must satisfy together, and
    `rows` has what is worth a try of that, a number of each parameter in order. `body` is the nest
    over the anchor's own tensors. `factors` are the dtypes that it multiplies, `misfit` says why
    it does not take an anchor of these ("": it does). `layouts` says how constants are packed, by
    name. The nest is another one for each value of `structural`
    parameters, which are never decisions. A `plain` one is loops and stores alone; what has
    instructions of the hardware must have been right on a device before it serves unmeasured.
    """

    name: str
    options: Options
    legal: Callable[[Anchor, Numbers], Sequence[Expr]]
    rows: Callable[[Anchor, Target], Iterable[Row]]
    body: Callable[[Anchor, Numbers], Node]
    factors: Collection[Pair]
    misfit: Callable[[Anchor], str]
    layouts: Callable[[Anchor, Numbers], dict[str, Layout]] = _as_given
    structural: tuple[str, ...] = ()
    plain: bool = False

    def refusal(self, anchor: Anchor) -> str:
        """Why it has no nest for an anchor; "" where it has."""
        return refused(anchor.left.dtype, anchor.right.dtype, self.factors) or self.misfit(anchor)

    def serves_unmeasured(self, target: Target) -> bool:
        """Whether a program of it may run on a target before anybody measured that one."""
        return self.plain or target.has_passed(self.name)


def rows_where(options: Options, tests: Callable[[Numbers], Sequence[Expr]]) -> list[Row]:
    """All rows of options that satisfy `tests`."""
    rows = np.array(list(product(*options.values())), np.int64)
    conditions = tests({name: Var(name) for name in options})
    values = ColumnProgram(conditions).run(dict(zip(options, rows.T, strict=True)))
    valid = np.ones(len(rows), bool)
    for condition in conditions:
        valid &= values[condition]
    return [tuple(row) for row in rows[valid].tolist()]

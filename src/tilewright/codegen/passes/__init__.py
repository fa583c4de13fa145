"""Nest to nest: from what a schedule wrote to loops that code generation writes as they stand.

Each pass takes a valid concrete nest and returns one with the same results (`PASSES` in order):
the first decide what a register tile is, the others separate its cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from tilewright.codegen.passes.copies import accumulator_copies
from tilewright.codegen.passes.guards import hoisted_guards
from tilewright.codegen.passes.join import joined
from tilewright.codegen.passes.lane_storage import with_lane_storage
from tilewright.codegen.passes.matrices import with_tiles
from tilewright.codegen.passes.simplify import simplified
from tilewright.codegen.passes.size import BUDGET, statement_count
from tilewright.codegen.passes.tiles import tiled
from tilewright.codegen.passes.unroll import unrolled
from tilewright.codegen.passes.version import versioned
from tilewright.codegen.passes.zero_terms import with_zero_terms, without_zero_terms
from tilewright.ground.errors import BuildError
from tilewright.nest.nodes import Node, Program
from tilewright.target import CpuTarget

Pass: TypeAlias = tuple[str, Callable[[Node, CpuTarget], Node]]

SHAPING: tuple[Pass, ...] = (
    ("lane storage", lambda node, _: with_lane_storage(node)),
    ("simplify", lambda node, _: simplified(node)),
    ("join", lambda node, target: joined(node, target.vector_bits)),
    ("tiles", tiled),
)
SPLITTING: tuple[Pass, ...] = (
    ("zero terms", lambda node, _: without_zero_terms(node)),
    ("guards", lambda node, _: hoisted_guards(node)),
    ("versions", lambda node, target: versioned(node, target.vector_bits)),
    ("zero terms again", lambda node, target: with_zero_terms(node, target.vector_bits)),
    ("matrices", with_tiles),
    ("unroll", unrolled),
    ("simplify again", lambda node, _: simplified(node)),
)
PASSES = (*SHAPING, *SPLITTING)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A program after all passes; `copies` are the partial accumulators of reduced tensors."""

    program: Program
    copies: Mapping[str, int]


def prepared(program: Program, target: CpuTarget) -> Prepared:
    """The program as it will be written. Raises BuildError when that is too much code."""
    body = program.body
    for _, run in SHAPING:
        body = run(body, target)
    copies = accumulator_copies(body, target.vector_bits)
    for _, run in SPLITTING:
        body = run(body, target)
    size = statement_count(body, target.vector_bits)
    if size > BUDGET.program:
        raise BuildError(
            f"{program.name} would become {size} statements, more than {BUDGET.program}; "
            "unroll less or use smaller tiles"
        )
    return Prepared(replace(program, body=body), copies)

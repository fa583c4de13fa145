"""Nest to nest: from what a schedule wrote to loops that code generation writes as they stand.

Each pass takes a valid concrete nest and returns one with the same results (`PASSES` in order).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tilewright.codegen.passes.guards import hoisted_guards
from tilewright.codegen.passes.join import joined
from tilewright.codegen.passes.simplify import simplified
from tilewright.codegen.passes.tiles import tiled
from tilewright.codegen.passes.unroll import unrolled
from tilewright.codegen.passes.version import versioned
from tilewright.codegen.passes.zero_terms import with_zero_terms, without_zero_terms
from tilewright.nest.nodes import Node, Program
from tilewright.target import Target

PASSES: tuple[tuple[str, Callable[[Node, Target], Node]], ...] = (
    ("simplify", lambda node, _: simplified(node)),
    ("join", lambda node, target: joined(node, target.vector_bits)),
    ("tiles", tiled),
    ("zero terms", lambda node, _: without_zero_terms(node)),
    ("guards", lambda node, _: hoisted_guards(node)),
    ("versions", lambda node, target: versioned(node, target.vector_bits)),
    ("zero terms again", lambda node, target: with_zero_terms(node, target.vector_bits)),
    ("unroll", lambda node, target: unrolled(node, target.vector_bits)),
    ("simplify again", lambda node, _: simplified(node)),
)


def prepared(program: Program, target: Target) -> Program:
    """The program after all passes."""
    body = program.body
    for _, run in PASSES:
        body = run(body, target)
    return replace(program, body=body)

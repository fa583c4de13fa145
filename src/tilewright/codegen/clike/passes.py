"""Nest to nest: from what a schedule wrote to loops that a C printer writes as they stand.

Each pass takes the program with a concrete nest and returns a nest with the same results. It is
valid up to the virtual threads: from then on, windows of private storage begin where loops inside
of their allocation say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from tilewright.codegen.clike.loop_order import running_first
from tilewright.codegen.clike.padding import without_padding_guards
from tilewright.codegen.clike.roles import by_role
from tilewright.codegen.clike.virtual import sunk
from tilewright.codegen.passes.guards import hoisted_guards
from tilewright.codegen.passes.simplify import simplified
from tilewright.codegen.rewrite import rebuilt
from tilewright.nest.gpu.workers import Team, is_for_workers
from tilewright.nest.nodes import Node, Program, Store, bodies, walk

Pass: TypeAlias = tuple[str, Callable[[Program], Node]]

NOBODY = Team()


def private_guards(node: Node, team: Team = NOBODY) -> Node:
    """Conditions moved outwards, within what one thread does alone."""
    if team.is_predicated(node):
        return node
    together = any(isinstance(n, Store) and team.combined(n) for n in walk(node))
    if not together and not is_for_workers(node):
        return hoisted_guards(node)
    inner = team.entering(node, {})
    return rebuilt(node, tuple(private_guards(b, inner) for b in bodies(node)))


PASSES: tuple[Pass, ...] = (
    ("simplify", lambda program: simplified(program.body)),
    ("padding guards", lambda program: without_padding_guards(program, program.body)),
    ("running loops first", lambda program: running_first(program.body)),
    ("virtual threads", lambda program: sunk(program.body)),
    ("roles", lambda program: by_role(program.body)),
    ("guards", lambda program: private_guards(program.body)),
)


def prepared(program: Program) -> Program:
    """The program as it will be written."""
    for _, run in PASSES:
        program = replace(program, body=run(program))
    return program

"""Lives of shared storage, and which tensors may lie in the same bytes.

    alloc s: # shared                 s is used up when t is first written:
      fill s; use s                     alloc s: … # shared, slot 0
      alloc t: # shared         ->        …
        fill t; use t                     alloc t: … # shared, slot 0

A life is from a tensor's first access to its last, in the order of the statements; a loop inside of
the allocation repeats, so a life that touches it is all of the loop. Tensors whose lives do not
meet share a *slot*: as many bytes as the largest of them takes. Lives are intervals, so taking the
first free slot needs as few as possible. Barriers between the lives are `barriers`' to place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeAlias

from tilewright.expr.nodes import Expr, Read
from tilewright.expr.traversal import reads
from tilewright.nest.nodes import (
    WORKERS,
    Alloc,
    For,
    Hoist,
    If,
    Instruction,
    Node,
    Scope,
    Seq,
    Store,
    bodies,
    expressions,
    walk,
)

Life: TypeAlias = tuple[int, int]
"""The numbers of the first and the last statement that touch a tensor."""


def with_slots(body: Node) -> Node:
    """The nest with a slot in every shared allocation that has bytes in common with another."""
    found = shared_slots(body)
    return _marked(body, found) if found else body


def shared_slots(body: Node) -> dict[str, int]:
    """The shared tensors that have bytes in common with others, and where."""
    found: dict[str, int] = {}
    for kernel in _roots(body):
        lives = shared_lives(kernel)
        if len(lives) > 1:
            found |= _slots(lives, len(set(found.values())))
    return found


def shared_lives(kernel: Node) -> dict[str, Life]:
    """The life of every shared tensor of one root nest."""
    lives = _Lives()
    lives.visit(kernel)
    return lives.found


def first_overlap(kernel: Node) -> tuple[str, str] | None:
    """Two tensors of one slot that are alive at once, or None."""
    lives = shared_lives(kernel)
    slots: dict[int, list[str]] = {}
    for n in walk(kernel):
        if isinstance(n, Alloc) and n.slot is not None and n.tensor.name in lives:
            slots.setdefault(n.slot, []).append(n.tensor.name)
    for names in slots.values():
        ordered = sorted(names, key=lambda name: lives[name])
        for a, b in pairwise(ordered):
            if lives[a][1] >= lives[b][0]:
                return a, b
    return None


def _roots(node: Node) -> Iterator[Node]:
    """The root nests: allocations around them belong to the device."""
    match node:
        case Seq(body):
            for b in body:
                yield from _roots(b)
        case Alloc(scope=Scope.LOCAL):
            yield from _roots(node.body)
        case _:
            yield node


def _slots(lives: dict[str, Life], first: int) -> dict[str, int]:
    """The slots of tensors that share one, numbered from `first` on."""
    taken: list[list[str]] = []
    for name in sorted(lives, key=lambda name: lives[name]):
        free = (slot for slot in taken if lives[slot[-1]][1] < lives[name][0])
        slot = next(free, None)
        if slot is None:
            taken.append([name])
        else:
            slot.append(name)
    shared = [slot for slot in taken if len(slot) > 1]
    return {name: number for number, slot in enumerate(shared, first) for name in slot}


def _marked(node: Node, slots: dict[str, int]) -> Node:
    match node:
        case Seq(body):
            return Seq(tuple(_marked(b, slots) for b in body))
        case Alloc(tensor) if node.scope is Scope.SHARED:
            return replace(node, body=_marked(node.body, slots), slot=slots.get(tensor.name))
        case For() | If() | Alloc() | Hoist():
            return replace(node, body=_marked(node.body, slots))
    return node


@dataclass(slots=True)
class _Lives:
    """Counts statements; `depth` is how many loops that repeat are around an allocation."""

    found: dict[str, Life] = field(default_factory=dict)
    number: int = 0
    _loops: list[int] = field(default_factory=list)
    _depth: dict[str, int] = field(default_factory=dict)

    def visit(self, node: Node) -> None:
        self.touch(expressions(node))
        match node:
            case Alloc(tensor) if node.scope is Scope.SHARED:
                self._depth[tensor.name] = len(self._loops)
            case Store(tensor) | Instruction(_, Read(tensor)):
                self.lives(tensor.name, self.number)
        self.number += 1
        repeats = isinstance(node, For) and node.kind not in WORKERS and node.extent != 1
        if repeats:
            self._loops.append(self.number)
        for b in bodies(node):
            self.visit(b)
        if repeats:
            self.close(self._loops.pop())

    def touch(self, exprs: tuple[Expr, ...]) -> None:
        for e in exprs:
            for read in reads(e):
                self.lives(read.tensor.name, self.number)

    def lives(self, name: str, number: int) -> None:
        if name in self._depth:
            first, _ = self.found.get(name, (number, number))
            self.found[name] = first, number

    def close(self, start: int) -> None:
        """The end of a loop that began at statement `start`: what was allocated outside of it and
        touched within lives through all iterations.
        """
        for name, (first, last) in self.found.items():
            if self._depth[name] <= len(self._loops) and last >= start:
                self.found[name] = min(first, start), self.number
        self.number += 1

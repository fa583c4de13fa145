"""Bugs that are planted into nests and sources: changes by what they are made to."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from tilewright.expr.nodes import Const, as_expr
from tilewright.nest.nodes import EMPTY, Alloc, For, If, Instruction, Node, Program, Seq, seq

Change = Callable[[Node], Node]
Edit = Callable[[str], str]


def changed(node: Node, change: Change) -> Node:
    """The nest with `change` made to every node, those of its body first."""
    match node:
        case Seq(body):
            return change(seq(*(changed(n, change) for n in body)))
        case For() | If() | Alloc():
            return change(replace(node, body=changed(node.body, change)))
    return change(node)


def on(kind: str, change: Callable[[Instruction], Node]) -> Change:
    """A change of the instructions whose names begin so."""
    return lambda n: change(n) if isinstance(n, Instruction) and n.name.startswith(kind) else n


def without(*names: str) -> Change:
    return lambda n: EMPTY if isinstance(n, Instruction) and n.name in names else n


def waiting_less(n: Instruction) -> Node:
    (left,) = n.operands
    assert isinstance(left, Const)
    return replace(n, operands=(as_expr(int(left.value) + 1),))


def edited(pattern: str, new: str, where: str = "", count: int = 0) -> Edit:
    """Replaces in the lines that have `where`; something must be replaced."""

    def edit(text: str) -> str:
        made, lines = 0, []
        for line in text.splitlines():
            if where in line and not (count and made >= count):
                line, found = re.subn(pattern, new, line)
                made += found
            lines.append(line)
        assert made, f"{pattern} is nowhere in\n{text}"
        return "\n".join(lines) + "\n"

    return edit


@dataclass(frozen=True)
class Bug:
    """`nest` is the change of the nest, which the interpreter finds, for the reason `message` (a
    wrong answer, if it is empty); `source` that of the source. `is_static`: it is found before
    anything runs.
    """

    nest: Change | None
    source: Edit | None
    message: str = ""
    is_static: bool = False


def broken(program: Program, bug: Bug) -> Program:
    """The program with the bug, which changes something."""
    assert bug.nest is not None
    found = replace(program, body=changed(program.body, bug.nest))
    assert found != program
    return found

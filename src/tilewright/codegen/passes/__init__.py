"""Nest to nest: from what a schedule wrote to loops that code generation writes as they stand.

Each pass takes a valid concrete nest and returns one with the same results, in the order of a table
for each kind of target. On a CPU the first decide what a register tile is, the others separate its
cases. On a GPU a nest is valid up to the virtual threads: from then on, windows of private storage
begin where loops inside of their allocation say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from tilewright.codegen.passes.guards import hoisted_guards, private_guards
from tilewright.codegen.passes.join import joined
from tilewright.codegen.passes.loop_order import running_first
from tilewright.codegen.passes.matrices import with_tiles
from tilewright.codegen.passes.padding import without_padding_guards
from tilewright.codegen.passes.roles import by_role
from tilewright.codegen.passes.simplify import simplified
from tilewright.codegen.passes.size import BUDGET, accumulator_copies, statement_count
from tilewright.codegen.passes.tiles import tiled
from tilewright.codegen.passes.unroll import unrolled
from tilewright.codegen.passes.varying import at_most, varying_storage
from tilewright.codegen.passes.version import versioned
from tilewright.codegen.passes.virtual import sunk, with_lane_storage
from tilewright.codegen.passes.zero_terms import with_zero_terms, without_zero_terms
from tilewright.codegen.rewrite import guarded
from tilewright.contract.sizes import Sizes
from tilewright.expr.nodes import Shape
from tilewright.expr.sizes import ranges_of, sure_elements, varying_strides
from tilewright.expr.traversal import free_vars
from tilewright.ground.errors import BuildError
from tilewright.nest.nodes import If, Node, Program, Seq, bodies, seq
from tilewright.target import CpuTarget

Pass: TypeAlias = tuple[str, Callable[[Node], Node]]


def gpu_passes(sizes: Sizes = (), varying: frozenset[str] = frozenset()) -> tuple[Pass, ...]:
    """Those for the threads of a GPU, of a nest with these sizes and tensors that vary."""
    return (
        ("simplify", partial(simplified, ranges=ranges_of(sizes))),
        ("padding guards", partial(without_padding_guards, sizes=sizes, varying=varying)),
        ("running loops first", running_first),
        ("virtual threads", sunk),
        ("roles", by_role),
        ("guards", private_guards),
    )


def cpu_passes(
    target: CpuTarget, sizes: Sizes = (), varying: frozenset[str] = frozenset()
) -> tuple[Pass, ...]:
    """Those for the registers of a CPU, of a nest with these sizes and tensors that vary."""
    bits, ranges = target.vector_bits, ranges_of(sizes)
    simplify = partial(simplified, ranges=ranges)
    return (
        ("lane storage", with_lane_storage),
        ("simplify", simplify),
        ("join", partial(joined, vector_bits=bits)),
        ("tiles", partial(tiled, target=target, varying=varying, sizes=ranges)),
        ("zero terms", without_zero_terms),
        ("guards", hoisted_guards),
        ("versions", each(partial(versioned, vector_bits=bits, sizes=ranges), sizes)),
        ("zero terms again", partial(with_zero_terms, vector_bits=bits, sizes=ranges)),
        ("matrices", partial(with_tiles, target=target)),
        ("unroll", each(partial(unrolled, target=target), sizes)),
        ("simplify again", simplify),
    )


def each(run: Callable[[Node], Node], sizes: Sizes) -> Callable[[Node], Node]:
    """A pass with a budget, which each of several programs by size has for itself."""
    names = {size.name for size in sizes}

    def of_each(node: Node) -> Node:
        programs = [n for n in bodies(node) if isinstance(n, If) and free_vars(n.cond) <= names]
        if not isinstance(node, Seq) or len(programs) < len(bodies(node)):
            return run(node)
        return seq(*(guarded([one.cond], run(one.body)) for one in programs))

    return of_each


SHAPED = 4
"""So many passes decide what a register tile is."""


def passed(program: Program, passes: Iterable[Pass]) -> Program:
    """The program after some passes."""
    for _, run in passes:
        program = replace(program, body=run(program.body))
    return program


@dataclass(frozen=True, slots=True)
class Prepared:
    """A program after all passes; `copies` are the partial accumulators of reduced tensors, `sure`
    the elements of arrays that are there whatever the sizes are, `pitches` the strides of these
    where sizes say them.
    """

    program: Program
    copies: Mapping[str, int]
    sure: Mapping[str, int] = field(default_factory=dict)
    pitches: Mapping[str, Shape] = field(default_factory=dict)


def prepared(program: Program, target: CpuTarget) -> Prepared:
    """A CPU's program as it will be written. Raises BuildError when that is too much code."""
    arrays, sizes = (*program.inputs, *program.outputs), program.sizes
    sure = {t.name: sure_elements(t, sizes) for t in arrays}
    pitches = {t.name: varying_strides(t, sizes) for t in arrays}
    passes = cpu_passes(target, program.sizes, varying_storage(program.body))
    program = at_most(program, target.vector_bits)
    shaped = passed(program, passes[:SHAPED])
    written = passed(shaped, passes[SHAPED:])
    size = statement_count(written.body, target.vector_bits)
    if size > BUDGET.program:
        raise BuildError(
            f"{program.name} would become {size} statements, more than {BUDGET.program}; "
            "unroll less or use smaller tiles"
        )
    copies = accumulator_copies(shaped.body, target.vector_bits)
    return Prepared(written, copies, sure, pitches)

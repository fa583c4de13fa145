"""Loops that stay loops: one body for all steps.

    Loop(n, c) {body}   →   a node that holds the body; data may decide how often it runs

What a loop carries may change its extents (`growth.py`), rows that it stacks may be as many as data
say (`rows.py`). A sequence that each step appends one element to is an array of such rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilewright.expr.index.extents import minimum, plain
from tilewright.expr.nodes import Extent, Shape
from tilewright.expr.sizes import most
from tilewright.graph.builder import BodyBuilder
from tilewright.graph.ir import Array, Loop, Node, Value, live_nodes, sizes_read
from tilewright.graph.onnx.growth import GrowingStep, Step
from tilewright.graph.onnx.ops.call import Known, Rejected, Rows
from tilewright.graph.onnx.region import SubgraphImporter
from tilewright.graph.onnx.rows import Ends
from tilewright.graph.passes.fold_constants import evaluate

ENDLESS = 2**31
"""Trip counts from here on mean that the condition ends a loop."""

LONGEST_COURSE = 1 << 14
"""Steps that are followed to see where a condition ends a loop: a few seconds."""


def tensor(value: Known) -> Value:
    """What is no sequence, and there. Raises Rejected for anything else."""
    if not isinstance(value, Value):
        raise Rejected("an input of it is no tensor")
    return value


@dataclass(frozen=True)
class Course:
    """How often a loop runs: as `trips` says, None for any number, while a `condition` is true."""

    region: SubgraphImporter
    trips: Value | None
    condition: Value
    start: Sequence[Value]

    @property
    def count(self) -> Extent | None:
        """The trip count, if it is known, but for sizes."""
        if self.trips is None:
            return None
        if self.trips.constant is not None:
            return int(self.trips.constant.item())
        extents = self.region.builder.vectors.get(self.trips)
        return None if extents is None else plain(extents.item())

    @property
    def is_counted(self) -> bool:
        """Whether data say how often it runs."""
        return self.trips is not None and self.count is None

    def of(self, step: Step) -> tuple[Extent | None, bool]:
        """How many steps it takes, None where data decide, and whether a condition may end it."""
        count, ends = self.count, (step.after, self.condition)
        count = None if isinstance(count, int) and count >= ENDLESS else count
        conditional = not all(v.constant is not None and v.constant.all() for v in ends)
        begins = self.condition.constant is not None and bool(self.condition.constant.all())
        if not (conditional and begins) or self.is_counted:
            return count, conditional
        steps = self._followed(step)
        if steps is None:
            return count, True
        return steps if count is None else minimum(steps, count), False

    def longest(self, step: Step) -> int | None:
        """How many it takes at most."""
        count, _ = self.of(step)
        return None if count is None else most(count, self.region.builder.sizes)

    def _followed(self, step: Step) -> int | None:
        """How many steps a loop takes whose condition after one follows from the number of the step
        and from carried values that do, too, and begin with constants; None for any other, and for
        a course that is longer than `LONGEST_COURSE`.
        """
        number, _, *carried = step.body.inputs
        pairs = list(zip(carried, step.results, self.start, strict=False))
        wanted = [step.after]
        while True:
            nodes = live_nodes(step.body.nodes, wanted)
            read = {*wanted, *(v for node in nodes for v in node.inputs)}
            followed = [p for p in pairs if p[0] in read]
            missing = [result for _, result, _ in followed if result not in wanted]
            if not missing:
                break
            wanted += missing
        begin = {v: first.constant for v, _, first in followed if first.constant is not None}
        follows = read.intersection(step.body.inputs) <= {number, *begin}
        if not follows or len(begin) < len(followed):
            return None
        if any(node.control or sizes_read(node) for node in nodes):
            return None
        known: dict[Value, Array] = dict(begin)
        for count in range(1, LONGEST_COURSE + 1):
            known[number] = np.asarray(count - 1, np.int64)
            made = _evaluated(nodes, known)
            if not made(step.after).all():
                return count
            known = {v: made(result) for v, result, _ in followed}
        return None


def _evaluated(nodes: Sequence[Node], known: Mapping[Value, Array]) -> Callable[[Value], Array]:
    """What a value is, once `nodes` are evaluated in turn."""
    found = dict(known)

    def array(value: Value) -> Array:
        return found[value] if value.constant is None else value.constant

    for node in nodes:
        given = tuple(replace(v, constant=array(v)) for v in node.inputs)
        found[node.output] = evaluate(replace(node, inputs=given))
    return array


@dataclass(frozen=True)
class LoopNode:
    """A `Loop` node that carries what it is `given`; tensors, and sequences at `lists`."""

    region: SubgraphImporter
    course: Course
    given: Sequence[Known]
    lists: Sequence[int]

    @staticmethod
    def of(region: SubgraphImporter, inputs: Sequence[Known]) -> LoopNode:
        """Raises Rejected for an input that is left out."""
        lists = [i for i, v in enumerate(inputs[2:]) if isinstance(v, tuple | Rows)]
        start = [tensor(v) for i, v in enumerate(inputs[2:]) if i not in lists]
        condition = region.constant(np.array(True)) if inputs[1] is None else tensor(inputs[1])
        trips = None if inputs[0] is None else tensor(inputs[0])
        return LoopNode(region, Course(region, trips, condition, start), inputs[2:], lists)

    @property
    def tensors(self) -> list[int]:
        """The positions of what is no sequence."""
        return [i for i in range(len(self.given)) if i not in self.lists]

    def imported(self, body: BodyBuilder, shapes: Sequence[Shape]) -> Step:
        """A step, for these extents of carried tensors. The condition that it begins with is true.
        Its results are the carried tensors, rows that are stacked, and what it appends.
        """
        region, onnx_body = self.region, self.region.attributes["body"]
        number, _ = body.input("t", (), "int64"), body.input("going", (), "bool")
        pairs = zip(self.course.start, shapes, strict=True)
        carried = iter([body.carry(v, s) for v, s in pairs])
        known = [
            Rows(None, place=i) if i in self.lists else next(carried)
            for i in range(len(self.given))
        ]
        given = [number, region.constant(np.array(True)), *known]
        after, *found = region.within(body, onnx_body, given)
        rows = found[len(self.given) :]
        results = [*(found[i] for i in self.tensors), *rows]
        appended = [_appended(found[i], i) for i in self.lists]
        return Step(body, body.reshape(tensor(after), ()), [*map(tensor, results), *appended])

    def results(self) -> Sequence[Known]:
        """What the node gives. Raises Rejected for what is no loop, or needs a limit."""
        region, course, start = self.region, self.course, self.course.start
        output, carried = region.node.output, len(self.given)
        named = [output[i] if i < len(output) else "" for i in range(carried)]
        kept = [named[i] for i in self.tensors]
        step = GrowingStep(region, start, kept, self.imported, course.longest).found()
        stacked = len(step.results) - len(start) - len(self.lists)
        rows = [output[i] if i < len(output) else "" for i in range(carried, carried + stacked)]
        rows += [named[i] for i in self.lists]
        made = self._made(step, rows)
        tensors, found = iter(made[: len(start)]), made[len(start) :]
        lists = dict(zip(self.lists, found[stacked:], strict=True))
        return [
            *(self._extended(i, lists[i]) if i in lists else next(tensors) for i in range(carried)),
            *found[:stacked],
        ]

    def _made(self, step: Step, names: Sequence[str]) -> list[Value | None]:
        """The carried tensors after the last step, and the arrays of rows that have names."""
        region, course, start, body = self.region, self.course, self.course.start, step.body
        pairs = zip(step.results[len(start) :], names, strict=True)
        stacked = [v for v, name in pairs if name]
        count, conditional = course.of(step)
        ends = Ends(region, count, course.trips if course.is_counted else None)
        if stacked and (count is None or conditional):
            deciding = (course.trips, course.condition, step.after)
            decisive = next((v for v in deciding if v and not v.is_constant), None)
            ends = ends.limited(next(filter(None, names)), decisive, conditional)
        if not conditional:
            body.inputs.pop(1)
        if ends.count == 0 and stacked:
            raise Rejected("it never runs, so that its outputs have no shape")
        if ends.count is None and ends.trips is None and not conditional:
            raise Rejected("nothing ends it")
        flags = [region.builder.reshape(course.condition, ())] if conditional else []
        taken = ends.steps(body, 2 + len(start))
        carried = [*([step.after] if conditional else []), *step.results[: len(start)], *taken]
        what = Loop(
            body.finish([*carried, *stacked]),
            ends.count,
            len(carried),
            0,
            (False,) * len(stacked),
            ends.trips is not None,
            conditional,
            step.growth,
        )
        first = [] if ends.trips is None else [ends.trips]
        none = [region.constant(np.array(0, np.int64)) for _ in taken]
        given = [*first, *flags, *start, *none, *body.captured]
        made = list(region.builder.control(what, given, region.name))
        found = iter(ends.rows(made[: len(carried)], made[len(carried) :]))
        kept = made[conditional : conditional + len(start)]
        return [*kept, *(next(found) if n else None for n in names)]

    def _extended(self, i: int, rows: Value | None) -> Known:
        """A sequence with what the loop appended to it; None where nobody reads it."""
        before, builder = self.given[i], self.region.builder
        if rows is None or not before:
            return None if rows is None else Rows(rows)
        if isinstance(before, tuple):
            return Rows(builder.joined([builder.stacked(before, 0), rows], 0))
        assert isinstance(before, Rows), "it is one of the lists"
        return Rows(builder.joined([before.array(builder), rows], 0))


def _appended(value: Known, place: int) -> Value:
    """What a step appended to a sequence that it carries. Raises Rejected where it does anything
    else with it.
    """
    if not isinstance(value, Rows) or value.rows or value.place != place or len(value.more) != 1:
        raise Rejected("a step does more with a sequence than to append one element")
    return value.more[0]

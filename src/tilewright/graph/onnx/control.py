"""ONNX operators about other nodes.

    If(true) {a} {b}        →  a
    If(c) {a} {b}           →  a choice between two graphs; of one that cannot be taken, an error
    Loop(3, true) {body}    →  body, body, body
    Loop(n, c) {body}       →  a loop
    Scan(x) {body}          →  a loop over rows of x; few of them: the body for each
    Gradient(a){y}          →  the derivative of y by a, as nodes

What is known now leaves nothing behind, except that a body runs more than a few times: then, as
where a condition or a trip count depends on data, it becomes a graph of its own. A body whose
shapes change from step to step can only be written out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import onnx

from tilewright.expr.nodes import Extent
from tilewright.expr.operators.shapes import number
from tilewright.expr.sizes import most
from tilewright.graph.builder import BodyBuilder, GraphBuilder
from tilewright.graph.ir import Branches, Loop, Refusal, Value
from tilewright.graph.onnx.gradient import gradients
from tilewright.graph.onnx.loops import LoopNode, tensor
from tilewright.graph.onnx.ops.call import Known, Rejected
from tilewright.graph.onnx.region import SubgraphImporter
from tilewright.ground.errors import ExprError

WRITTEN_OUT = 4
"""Bodies that run no more often than this are written out, if their course is known."""

MOST_ITERATIONS = 4096
"""A longer loop would become a program that nobody wants to wait for."""


Branch: TypeAlias = tuple[BodyBuilder, list[Value]]
"""A graph of its own, and its results."""


def if_(region: SubgraphImporter, inputs: Sequence[Known]) -> Sequence[Known]:
    """The branch that a constant condition chooses, or a choice between both."""
    attributes, condition = region.attributes, tensor(inputs[0])
    names = ("then", "else")
    if condition.constant is not None:
        return region.run(attributes[f"{names[not condition.constant.item()]}_branch"], ())
    found = [_branch(region, name, attributes[f"{name}_branch"]) for name in names]
    taken = [b for b in found if not isinstance(b, str)]
    if not taken:
        raise Rejected(
            f"{found[0]}; {found[1]}; where its condition ({condition}) is known at compile time, "
            f"only one branch is compiled",
            condition,
        )
    branches = [_refusal(region, b, taken[0][1]) if isinstance(b, str) else b for b in found]
    bodies, results = zip(*branches, strict=True)
    for i, (a, b) in enumerate(zip(*results, strict=True)):
        if (a.rank, a.dtype) != (b.rank, b.dtype):
            raise Rejected(f"its branches give {a} and {b}, which differ in type", condition)
        if a.extents != b.extents:
            wish = next((n for n in region.node.output[i : i + 1] if n), region.name)
            results[0][i], results[1][i] = _of_one_type(region.builder, bodies, (a, b), wish)
    around = tuple(dict.fromkeys(v for b in bodies for v in b.captured))
    for body in bodies:
        body.share(around)
    then, otherwise = (b.finish(r) for b, r in branches)
    return region.builder.control(Branches(then, otherwise), [condition, *around], region.name)


def _of_one_type(
    around: GraphBuilder, bodies: Sequence[BodyBuilder], values: Sequence[Value], name: str
) -> list[Value]:
    """What either branch gives, with sizes for the extents in which they differ: the one that is
    taken says what they are.
    """
    found = list(values)
    for axis, extents in enumerate(zip(*(v.extents for v in values), strict=True)):
        if extents[0] != extents[1]:
            ends = (most(e, b.sizes) for e, b in zip(extents, bodies, strict=True))
            size = around.new_size(name, max(ends))
            pairs = zip(bodies, found, extents, strict=True)
            found = [b.renamed(value, axis, e, size) for b, value, e in pairs]
    return found


def _branch(region: SubgraphImporter, name: str, graph: onnx.GraphProto) -> Branch | str:
    """A branch, or why it cannot be taken."""
    body, noted = BodyBuilder(f"{region.name}.{name}", region.builder.sizes), list[str]()
    try:
        with region.attempt(noted):
            return body, [tensor(v) for v in region.within(body, graph, ())]
    except (Rejected, ExprError) as refusal:
        reasons = [reason.removeprefix(f"{region.label}: ") for reason in noted]
        return f"its {name} branch cannot be taken: {'; '.join(reasons) or refusal}"


def _refusal(region: SubgraphImporter, reason: str, results: Sequence[Value]) -> Branch:
    """In place of a branch whose results would be like `results`."""
    region.note(f"{reason}; a run that takes it ends in an error")
    body = BodyBuilder(f"{region.name}.refused", region.builder.sizes)
    why = Refusal(f"{region.label}: {reason}", tuple(results))
    return body, list(body.control(why, (), body.name))


def loop(region: SubgraphImporter, inputs: Sequence[Known]) -> Sequence[Known]:
    """Few steps of a known course are written out; else it is a loop, if it can be one. What cannot
    be one could still be written out if its course were known: the refusal says so.
    """
    course = [tensor(v) for v in inputs[:2] if v is not None]
    is_known = all(v.is_constant for v in course)
    count = None if inputs[0] is None else tensor(inputs[0]).constant
    few = count is not None and count.item() <= WRITTEN_OUT

    def looped() -> Sequence[Known]:
        return LoopNode.of(region, inputs).results()

    written: Way = partial(_loop_written_out, region, inputs)
    ways = [looped] if not is_known else [written, looped] if few else [looped, written]
    try:
        return _first(region, *ways)
    except Rejected as error:
        if is_known:
            raise
        open_ = next(v for v in course if not v.is_constant)
        raise Rejected(str(error), open_, error.unlimited) from error


Way: TypeAlias = Callable[[], Sequence[Known]]


def _first(region: SubgraphImporter, *ways: Way) -> Sequence[Known]:
    """The result of the first way that works; the last one's refusal counts, if none asked for a
    limit.
    """
    *others, last = ways
    asked: Rejected | None = None
    for way in others:
        try:
            with region.attempt():
                return way()
        except (Rejected, ExprError) as error:
            asked = error if isinstance(error, Rejected) and error.unlimited else asked
    if asked is None:
        return last()
    try:
        with region.attempt():
            return last()
    except (Rejected, ExprError):
        raise asked from None


def _check_carried(start: Sequence[Value], results: Sequence[Value]) -> None:
    for before, after in zip(start, results, strict=False):
        if (before.extents, before.dtype) != (after.extents, after.dtype):
            raise Rejected(f"a step turns {before} into {after}: its type must stay the same")


def _loop_written_out(region: SubgraphImporter, inputs: Sequence[Known]) -> Sequence[Known]:
    """The body as often as the trip count and the condition say, both known at import."""
    body = region.attributes["body"]
    trips = MOST_ITERATIONS + 1 if inputs[0] is None else int(_known(inputs[0], "trip count"))
    going = True if inputs[1] is None else bool(_known(inputs[1], "condition"))
    carried = list(inputs[2:])
    stacked: list[list[Known]] = [[] for _ in range(len(body.output) - 1 - len(carried))]
    number = 0
    while going and number < trips:
        if number == MOST_ITERATIONS:
            raise Rejected(f"it has more than {MOST_ITERATIONS} iterations")
        given = [region.constant(np.array(number, np.int64)), region.constant(np.array(True))]
        condition, *results = region.run(body, [*given, *carried])
        carried, parts = results[: len(carried)], results[len(carried) :]
        for column, part in zip(stacked, parts, strict=True):
            column.append(part)
        number += 1
        if number < trips or inputs[0] is None:
            going = bool(_known(condition, "condition after an iteration"))
    if any(not column for column in stacked):
        raise Rejected("it never runs, so that its outputs have no shape")
    return [*carried, *(_stacked(region, column, 0) for column in stacked)]


def scan(region: SubgraphImporter, inputs: Sequence[Known]) -> Sequence[Known]:
    """The body for every slice of the scanned inputs (opset 9 and newer)."""
    attributes = region.attributes
    if region.scope.opset < 9:
        raise Rejected("that of opset 8, over batches, is not supported; export with a newer opset")
    count = int(attributes["num_scan_inputs"])
    outputs = len(attributes["body"].output) - len(inputs) + count

    def per(what: str, number: int) -> list[int]:
        return list(attributes.get(f"scan_{what}") or [0] * number)

    scanned = [tensor(v) for v in inputs[-count:]]
    axes = zip(per("input_axes", count), scanned, strict=True)
    found = _Scan(
        region,
        attributes["body"],
        list(inputs[:-count]),
        scanned,
        [a % v.rank for a, v in axes],
        per("input_directions", count),
        per("output_axes", outputs),
        per("output_directions", outputs),
    )
    few = isinstance(found.length, int) and found.length <= WRITTEN_OUT
    ways = [] if few else [found.looped]
    return _first(region, *ways, found.written_out)


@dataclass(frozen=True)
class _Scan:
    """A `Scan` node: what is carried, and for each scanned input and each output that is made of
    slices its dimension, and whether the last slice comes first.
    """

    region: SubgraphImporter
    body: onnx.GraphProto
    carried: Sequence[Known]
    scanned: Sequence[Value]
    axes: Sequence[int]
    backwards: Sequence[int]
    out_axes: Sequence[int]
    out_backwards: Sequence[int]

    @property
    def length(self) -> Extent:
        return self.scanned[0].extents[self.axes[0]]

    def looped(self) -> Sequence[Known]:
        """One body for all slices; the scanned dimension becomes the leading one."""
        builder, start = self.region.builder, [tensor(v) for v in self.carried]
        pairs = zip(self.scanned, self.axes, strict=True)
        arrays = [builder.transpose(v, _moved(v.rank, a, 0)) for v, a in pairs]
        body = BodyBuilder(f"{self.region.name}.step", self.region.builder.sizes)
        body.input("t", (), "int64")
        given = [*map(body.carry, start), *map(body.row, arrays)]
        results = [tensor(v) for v in self.region.within(body, self.body, given)]
        _check_carried(start, results)
        backwards = tuple(map(bool, (*self.backwards, *self.out_backwards)))
        what = Loop(body.finish(results), self.length, len(start), len(arrays), backwards)
        made = builder.control(what, [*start, *arrays, *body.captured], self.region.name)
        rows = zip(made[len(start) :], self.out_axes, strict=True)
        placed = [builder.transpose(v, _moved(v.rank, 0, a % v.rank)) for v, a in rows]
        return [*made[: len(start)], *placed]

    def written_out(self) -> Sequence[Known]:
        """The body once for every slice."""
        length = number(self.length, "the number of its steps")
        if length > MOST_ITERATIONS:
            raise Rejected(f"it has more than {MOST_ITERATIONS} iterations")
        carried = list(self.carried)
        columns: list[list[Known]] = [[] for _ in self.out_axes]
        for step in range(length):
            rows = zip(self.scanned, self.axes, self.backwards, strict=True)
            parts = [
                self.region.builder.take(v, length - 1 - step if b else step, a) for v, a, b in rows
            ]
            results = self.region.run(self.body, [*carried, *parts])
            carried = list(results[: len(carried)])
            for column, part in zip(columns, results[len(carried) :], strict=True):
                column.append(part)
        found = zip(columns, self.out_axes, self.out_backwards, strict=True)
        return [*carried, *(_stacked(self.region, c[::-1] if b else c, a) for c, a, b in found)]


def _moved(rank: int, source: int, target: int) -> list[int]:
    """The permutation that makes dimension `source` dimension `target`."""
    order = [d for d in range(rank) if d != source]
    order.insert(target, source)
    return order


def gradient(region: SubgraphImporter, inputs: Sequence[Known]) -> Sequence[Known]:
    """Derivatives of the value `y` of this graph by the values `xs`, at these very values."""
    attributes = region.attributes
    xs, zs = ([n.decode() for n in attributes.get(k) or ()] for k in ("xs", "zs"))
    values = [tensor(region.named(n)) for n in xs]
    if list(inputs) != [*values, *(region.named(n) for n in zs)]:
        raise Rejected("it asks for derivatives at other values than those that its y was made of")
    if any(v.is_constant for v in values):
        raise Rejected("it asks for derivatives by what is known: how y is made of it is not kept")
    y = tensor(region.named(attributes["y"].decode()))
    return list(gradients(region.builder, y, values))


def _known(value: Known, what: str) -> Any:
    found = tensor(value)
    if found.constant is None:
        raise Rejected(f"its {what} ({found}) must be known at compile time", found)
    return found.constant.item()


def _stacked(region: SubgraphImporter, parts: Sequence[Known], axis: int) -> Value:
    """Equal shapes joined along a new dimension."""
    tensors = [tensor(p) for p in parts]
    at = axis % (tensors[0].rank + 1)
    known = [t.constant for t in tensors if t.constant is not None]
    if len(known) == len(tensors):
        return region.constant(np.stack(known, at))
    return region.builder.stacked(tensors, at)


CONTROL: dict[tuple[str, str], Callable[[SubgraphImporter, Sequence[Known]], Sequence[Known]]] = {
    ("", "If"): if_,
    ("", "Loop"): loop,
    ("", "Scan"): scan,
    ("ai.onnx.preview.training", "Gradient"): gradient,
}
"""By domain and type."""

"""ONNX operators about other nodes.

    If(true) {a} {b}        →  a
    If(c) {a} {b}           →  a choice between two graphs
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
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

import numpy as np
import onnx

from tilewright.errors import ExprError
from tilewright.graph.builder import BodyBuilder, GraphBuilder
from tilewright.graph.gradient import gradients
from tilewright.graph.ir import Array, Choice, Loop, Value
from tilewright.graph.onnx_ops.call import Known, Rejected

WRITTEN_OUT = 4
"""Bodies that run no more often than this are written out, if their course is known."""

ENDLESS = 2**31
"""Trip counts from here on mean that the condition ends a loop."""

MOST_ITERATIONS = 4096
"""A longer loop would become a program that nobody wants to wait for."""


class Region(Protocol):
    """Where a control-flow node stands: it runs the node's subgraphs."""

    @property
    def builder(self) -> GraphBuilder: ...

    def constant(self, array: Array) -> Value: ...

    def run(self, graph: onnx.GraphProto, inputs: Sequence[Known]) -> Sequence[Known]: ...

    def within(
        self, body: BodyBuilder, graph: onnx.GraphProto, inputs: Sequence[Known]
    ) -> Sequence[Known]: ...

    def attempt(self) -> AbstractContextManager[None]: ...

    def named(self, name: str) -> Known: ...


def if_(region: Region, node: onnx.NodeProto, inputs: Sequence[Known]) -> Sequence[Known]:
    """The branch that a constant condition chooses, or a choice between both."""
    attributes, condition = _attributes(node), _tensor(inputs[0])
    names = ("then_branch", "else_branch")
    if condition.constant is not None:
        return region.run(attributes[names[not condition.constant.item()]], ())
    bodies = [BodyBuilder(f"{_name(node)}.{side}") for side in ("then", "else")]
    results: list[list[Value]] = []
    try:
        for body, name in zip(bodies, names, strict=True):
            results.append([_tensor(v) for v in region.within(body, attributes[name], ())])
    except Rejected as refusal:
        raise Rejected(
            f"{str(refusal) or 'a branch cannot be taken'}; where its condition ({condition}) is "
            f"known at compile time, only one branch is compiled",
            condition,
        ) from None
    for a, b in zip(*results, strict=True):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            raise Rejected(f"its branches give {a} and {b}, which differ in type", condition)
    around = tuple(dict.fromkeys(v for b in bodies for v in b.captured))
    for body in bodies:
        body.share(around)
    then, otherwise = (b.finish(r) for b, r in zip(bodies, results, strict=True))
    return region.builder.control(Choice(then, otherwise), [condition, *around], _name(node))


def loop(region: Region, node: onnx.NodeProto, inputs: Sequence[Known]) -> Sequence[Known]:
    """Few steps of a known course are written out; else it is a loop, if it can be one. What cannot
    be one could still be written out if its course were known: the refusal says so.
    """
    course = [_tensor(v) for v in inputs[:2] if v is not None]
    is_known = all(v.is_constant for v in course)
    count = None if inputs[0] is None else _tensor(inputs[0]).constant
    few = count is not None and count.item() <= WRITTEN_OUT
    try:
        return _first(
            region,
            [lambda: _loop_written_out(region, node, inputs)] if is_known and few else [],
            [lambda: _loop_node(region, node, inputs)],
            [lambda: _loop_written_out(region, node, inputs)] if is_known and not few else [],
        )
    except Rejected as error:
        if is_known:
            raise
        open_ = next(v for v in course if not v.is_constant)
        raise Rejected(str(error), open_) from error


Way: TypeAlias = Callable[[], Sequence[Known]]


def _first(region: Region, *ways: Sequence[Way]) -> Sequence[Known]:
    """The result of the first way that works; the last one's refusal counts."""
    *others, last = [way for listed in ways for way in listed]
    for way in others:
        try:
            with region.attempt():
                return way()
        except (Rejected, ExprError):
            continue
    return last()


def _loop_node(region: Region, node: onnx.NodeProto, inputs: Sequence[Known]) -> Sequence[Known]:
    """One body for all steps. The condition that a step begins with is true."""
    onnx_body, start = _attributes(node)["body"], [_tensor(v) for v in inputs[2:]]
    condition = region.constant(np.array(True)) if inputs[1] is None else _tensor(inputs[1])
    trips = None if inputs[0] is None else _tensor(inputs[0])
    body = BodyBuilder(f"{_name(node)}.step")
    number, going = body.input("t", (), "int64"), body.input("going", (), "bool")
    carried = [body.carry(v) for v in start]
    given = [number, region.constant(np.array(True)), *carried]
    after, *results = (_tensor(v) for v in region.within(body, onnx_body, given))
    after = body.reshape(after, ())
    conditional = not all(v.constant is not None and v.constant.all() for v in (after, condition))
    if not conditional:
        body.inputs.remove(going)
    _check_carried(start, results)
    names = list(node.output) + [""] * (len(results) - len(node.output))
    stacked = [v for v, name in zip(results, names, strict=True) if name][len(start) :]
    count = None if trips is None or trips.constant is None else int(trips.constant.item())
    count = None if count is not None and count >= ENDLESS else count
    counted = trips is not None and trips.constant is None
    if any(names[len(start) :]) and (count is None or conditional):
        decisive = next((v for v in (trips, condition, after) if v and not v.is_constant), None)
        raise Rejected(
            "it stacks a row a step, but how many steps it takes depends on data, and so does the "
            "shape of its result",
            decisive,
        )
    if count == 0 and stacked:
        raise Rejected("it never runs, so that its outputs have no shape")
    if count is None and not counted and not conditional:
        raise Rejected("nothing ends it")
    flags = [region.builder.reshape(condition, ())] if conditional else []
    what = Loop(
        body.finish([*([after] if conditional else []), *results[: len(start)], *stacked]),
        count,
        len(start) + conditional,
        0,
        (False,) * len(stacked),
        counted,
        conditional,
    )
    first = [trips] if counted and trips is not None else []
    made = list(
        region.builder.control(what, [*first, *flags, *start, *body.captured], _name(node))
    )[conditional:]
    rows = iter(made[len(start) :])
    return [*made[: len(start)], *(next(rows) if n else None for n in names[len(start) :])]


def _check_carried(start: Sequence[Value], results: Sequence[Value]) -> None:
    for before, after in zip(start, results, strict=False):
        if (before.shape, before.dtype) != (after.shape, after.dtype):
            raise Rejected(f"a step turns {before} into {after}: its type must stay the same")


def _loop_written_out(
    region: Region, node: onnx.NodeProto, inputs: Sequence[Known]
) -> Sequence[Known]:
    """The body as often as the trip count and the condition say, both known at import."""
    body = _attributes(node)["body"]
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


def scan(region: Region, node: onnx.NodeProto, inputs: Sequence[Known]) -> Sequence[Known]:
    """The body for every slice of the scanned inputs (opset 9 and newer)."""
    attributes = _attributes(node)
    first = _tensor(inputs[-int(attributes["num_scan_inputs"])])
    length = first.shape[_per(attributes, "scan_input_axes", 1)[0] % first.rank]
    return _first(
        region,
        [lambda: _scan_node(region, node, inputs)] if length > WRITTEN_OUT else [],
        [lambda: _scan_written_out(region, node, inputs)],
    )


def _scan_node(region: Region, node: onnx.NodeProto, inputs: Sequence[Known]) -> Sequence[Known]:
    """One body for all slices; the scanned dimension becomes the leading one."""
    attributes, builder = _attributes(node), region.builder
    onnx_body, count = attributes["body"], int(attributes["num_scan_inputs"])
    start, arrays = [_tensor(v) for v in inputs[:-count]], [_tensor(v) for v in inputs[-count:]]
    outputs = len(onnx_body.output) - len(start)
    axes = _per(attributes, "scan_input_axes", count)
    scanned = [_leading(builder, v, a % v.rank) for v, a in zip(arrays, axes, strict=True)]
    body = BodyBuilder(f"{_name(node)}.step")
    body.input("t", (), "int64")
    given = [*(body.carry(v) for v in start), *(body.row(v) for v in scanned)]
    results = [_tensor(v) for v in region.within(body, onnx_body, given)]
    _check_carried(start, results)
    backwards = [
        *_per(attributes, "scan_input_directions", count),
        *_per(attributes, "scan_output_directions", outputs),
    ]
    what = Loop(
        body.finish(results), scanned[0].shape[0], len(start), count, tuple(map(bool, backwards))
    )
    made = builder.control(what, [*start, *scanned, *body.captured], _name(node))
    out_axes = _per(attributes, "scan_output_axes", outputs)
    pairs = zip(made[len(start) :], out_axes, strict=True)
    return [*made[: len(start)], *(_placed(builder, v, a % v.rank) for v, a in pairs)]


def _leading(builder: GraphBuilder, x: Value, axis: int) -> Value:
    """`x` with dimension `axis` as the first."""
    return builder.transpose(x, (axis, *(d for d in range(x.rank) if d != axis)))


def _placed(builder: GraphBuilder, x: Value, axis: int) -> Value:
    """`x` with its first dimension as dimension `axis`."""
    order = list(range(1, x.rank))
    order.insert(axis, 0)
    return builder.transpose(x, order)


def _scan_written_out(
    region: Region, node: onnx.NodeProto, inputs: Sequence[Known]
) -> Sequence[Known]:
    """The body once for every slice."""
    attributes = _attributes(node)
    body, count = attributes["body"], int(attributes["num_scan_inputs"])
    carried, scanned = list(inputs[:-count]), [_tensor(v) for v in inputs[-count:]]
    outputs = len(body.output) - len(carried)
    axes = _per(attributes, "scan_input_axes", count)
    out_axes = _per(attributes, "scan_output_axes", outputs)
    backwards = _per(attributes, "scan_input_directions", count)
    out_backwards = _per(attributes, "scan_output_directions", outputs)
    axes = [a % v.rank for a, v in zip(axes, scanned, strict=True)]
    length = scanned[0].shape[axes[0]]
    if length > MOST_ITERATIONS:
        raise Rejected(f"it has more than {MOST_ITERATIONS} iterations")
    columns: list[list[Known]] = [[] for _ in range(outputs)]
    for number in range(length):
        rows = zip(scanned, axes, backwards, strict=True)
        parts = [_row(region, v, a, length - 1 - number if b else number) for v, a, b in rows]
        results = region.run(body, [*carried, *parts])
        carried = list(results[: len(carried)])
        for column, part in zip(columns, results[len(carried) :], strict=True):
            column.append(part)
    found = zip(columns, out_axes, out_backwards, strict=True)
    return [*carried, *(_stacked(region, c[::-1] if b else c, a) for c, a, b in found)]


def gradient(region: Region, node: onnx.NodeProto, inputs: Sequence[Known]) -> Sequence[Known]:
    """Derivatives of the value `y` of this graph by the values `xs`, at these very values."""
    attributes = _attributes(node)
    xs, zs = ([n.decode() for n in attributes.get(k) or ()] for k in ("xs", "zs"))
    values = [_tensor(region.named(n)) for n in xs]
    if list(inputs) != [*values, *(region.named(n) for n in zs)]:
        raise Rejected("it asks for derivatives at other values than those that its y was made of")
    y = _tensor(region.named(attributes["y"].decode()))
    return list(gradients(region.builder, y, values))


def _name(node: onnx.NodeProto) -> str:
    return node.name or next(filter(None, node.output), node.op_type)


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def _per(attributes: dict[str, Any], name: str, count: int) -> list[int]:
    return list(attributes.get(name) or [0] * count)


def _known(value: Known, what: str) -> Any:
    tensor = _tensor(value)
    if tensor.constant is None:
        raise Rejected(f"its {what} ({tensor}) must be known at compile time", tensor)
    return tensor.constant.item()


def _tensor(value: Known) -> Value:
    if not isinstance(value, Value):
        raise Rejected("an input of it is no tensor")
    return value


def _row(region: Region, x: Value, axis: int, at: int) -> Value:
    """`x[.., at, ..]` without that dimension."""
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    if x.constant is not None:
        return region.constant(np.ascontiguousarray(x.constant.take(at, axis)))
    part = region.builder.emit(
        "strided_slice",
        x,
        starts=(at,),
        stops=(at + 1,),
        steps=(1,),
        axes=(axis,),
        name=f"{x.name}.at",
    )
    return region.builder.reshape(part, shape)


def _stacked(region: Region, parts: Sequence[Known], axis: int) -> Value:
    """Equal shapes joined along a new dimension."""
    tensors = [_tensor(p) for p in parts]
    at = axis % (tensors[0].rank + 1)
    if all(t.constant is not None for t in tensors):
        return region.constant(
            np.stack([t.constant for t in tensors if t.constant is not None], at)
        )
    shape = (*tensors[0].shape[:at], 1, *tensors[0].shape[at:])
    widened = [region.builder.reshape(t, shape) for t in tensors]
    return widened[0] if len(widened) == 1 else region.builder.emit("concat", *widened, axis=at)


CONTROL: dict[
    tuple[str, str], Callable[[Region, onnx.NodeProto, Sequence[Known]], Sequence[Known]]
] = {
    ("", "If"): if_,
    ("", "Loop"): loop,
    ("", "Scan"): scan,
    ("ai.onnx.preview.training", "Gradient"): gradient,
}
"""By domain and type."""

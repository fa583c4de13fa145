"""ONNX operators about other nodes, done at import so that nothing of them remains.

    If(true) {a} {b}        →  a
    Loop(3, true) {body}    →  body, body, body
    Scan(x) {body}          →  body for every slice of x
    Gradient(a){y}          →  the derivative of y by a, as nodes

A condition or trip count that depends on data is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import onnx

from tilewright.graph.builder import GraphBuilder
from tilewright.graph.gradient import gradients
from tilewright.graph.ir import Array, Value
from tilewright.graph.onnx_ops.call import Known, Rejected

MOST_ITERATIONS = 4096
"""A longer loop would become a program that nobody wants to wait for."""


class Region(Protocol):
    """Where a control-flow node stands: it runs the node's subgraphs."""

    @property
    def builder(self) -> GraphBuilder: ...

    def constant(self, array: Array) -> Value: ...

    def run(self, graph: onnx.GraphProto, inputs: Sequence[Known]) -> Sequence[Known]: ...

    def named(self, name: str) -> Known: ...


def if_(region: Region, node: onnx.NodeProto, inputs: Sequence[Known]) -> Sequence[Known]:
    """The branch that a constant condition chooses."""
    attributes = _attributes(node)
    taken = _known(inputs[0], "condition")
    return region.run(attributes["then_branch" if bool(taken) else "else_branch"], ())


def loop(region: Region, node: onnx.NodeProto, inputs: Sequence[Known]) -> Sequence[Known]:
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
    """The body once for every slice of the scanned inputs (opset 9 and newer)."""
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
        "slice", x, starts=(at,), stops=(at + 1,), steps=(1,), axes=(axis,), name=f"{x.name}.at"
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

"""Random nests of `If`, `Loop` and `Scan` as ONNX models, and an interpreter to compare with.

    model, inputs = random_nest(seed)
    outputs = interpret(model.graph, inputs)

Values are int64 and small (sums are taken modulo 7), so that results are exact and may be trip
counts. Whatever can be seen is read by anything: results are what the bodies around carry, count or
capture, as often as what is computed on the spot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from graph_reference import Array
from onnx import TensorProto, helper, numpy_helper

node = helper.make_node
Shape = tuple[int, ...]
Kind = tuple[bool, Shape]
"""Whether a value is a bool (else int64), and its shape."""

NUMBER, TRUTH = (False, ()), (True, ())


@dataclass
class _Body:
    """A graph that is being written: its nodes, what is defined in it and what it sees."""

    rng: np.random.Generator
    names: list[int]
    seen: dict[str, Kind]
    nodes: list[onnx.NodeProto] = field(default_factory=list)

    def new(self, kind: Kind) -> str:
        self.names[0] += 1
        name = f"v{self.names[0]}"
        self.seen[name] = kind
        return name

    def inner(self, *kinds: Kind) -> tuple[_Body, list[str]]:
        """A body within this one, with inputs of `kinds`."""
        body = _Body(self.rng, self.names, dict(self.seen))
        return body, [body.new(k) for k in kinds]

    def pick(self, *kinds: Kind) -> str:
        """A value of one of `kinds`; those defined last are likelier."""
        found = [n for n, k in self.seen.items() if k in kinds]
        return found[-1 - min(int(self.rng.geometric(0.3)) - 1, len(found) - 1)]

    def made(self, kind: Kind, op: str, *inputs: str, **attributes: Any) -> str:
        name = self.new(kind)
        self.nodes.append(node(op, list(inputs), [name], **attributes))
        return name

    def kinds(self, most: int = 3, least: int = 0) -> list[Kind]:
        """Of some values, which may be the same."""
        there = [k for k in dict.fromkeys(self.seen.values()) if len(k[1]) < 3]
        count = int(self.rng.integers(least, most + 1))
        return [there[i] for i in self.rng.integers(len(there), size=count)]

    def graph(self, inputs: list[str], results: list[Kind]) -> onnx.GraphProto:
        """The body, that returns values of these kinds, whoever made them."""
        outputs = [self.made(k, "Identity", self.pick(k)) for k in results]
        return helper.make_graph(self.nodes, "body", self.infos(inputs), self.infos(outputs))

    def infos(self, names: list[str]) -> list[onnx.ValueInfoProto]:
        types = [(n, *self.seen[n]) for n in names]
        kinds = (TensorProto.INT64, TensorProto.BOOL)
        return [helper.make_tensor_value_info(n, kinds[b], s) for n, b, s in types]

    def fill(self, depth: int) -> None:
        """Write a few nodes, and bodies down to `depth`."""
        for _ in range(self.rng.integers(1, 4)):
            plain = [self.mixed, self.mixed, self.turned, self.compared]
            plain[self.rng.integers(len(plain))]()
            if depth and self.rng.random() < 0.8:
                nested = [self.choice, self.loop, self.loop, self.scan]
                nested[self.rng.integers(len(nested))](depth - 1)

    def mixed(self) -> None:
        shapes = [k for k in dict.fromkeys(self.seen.values()) if not k[0]]
        kind = shapes[self.rng.integers(len(shapes))]
        total = self.made(kind, "Add", self.pick(kind), self.pick(kind, NUMBER))
        self.made(kind, "Mod", total, "seven")

    def turned(self) -> None:
        """The same memory in another shape."""
        self.made((False, (1,)), "Unsqueeze", self.pick(NUMBER), "axis")
        self.made(NUMBER, "Squeeze", self.pick((False, (1,))), "axis")

    def compared(self) -> None:
        self.made(TRUTH, "Less", self.pick(NUMBER), self.pick(NUMBER))

    def choice(self, depth: int) -> None:
        kinds, bodies = self.kinds(least=1), []
        for _ in range(2):
            body, _ = self.inner()
            body.fill(depth)
            bodies.append(body.graph([], kinds))
        given, results = self.pick(TRUTH), [self.new(k) for k in kinds]
        self.nodes.append(
            node("If", [given], results, then_branch=bodies[0], else_branch=bodies[1])
        )

    def loop(self, depth: int) -> None:
        carried = self.kinds()
        start = [self.pick(k) for k in carried]
        body, inputs = self.inner(NUMBER, TRUTH, *carried)
        body.fill(depth)
        if self.rng.random() < 0.5:  # of known length
            rows = body.kinds(2, least=0 if carried else 1)
            course, after, length = ["five", ""], inputs[1], 5
        else:
            if not carried:  # a loop that returns nothing is none
                carried, start = [NUMBER], [self.pick(NUMBER)]
                inputs.append(body.new(NUMBER))
            rows, length, after = [], 0, body.pick(TRUTH)
            course = [self.pick(NUMBER), self.pick(TRUTH) if self.rng.random() < 0.5 else ""]
        graph = body.graph(inputs, [*carried, *rows])
        graph.output.insert(0, body.infos([body.made(TRUTH, "Identity", after)])[0])
        graph.node.append(body.nodes[-1])
        results = [self.new(k) for k in carried]
        results += [self.new((b, (length, *s))) for b, s in rows]
        self.nodes.append(node("Loop", [*course, *start], results, body=graph))

    def scan(self, depth: int) -> None:
        arrays = [n for n, (_, s) in self.seen.items() if s]
        length = self.seen[arrays[self.rng.integers(len(arrays))]][1][0]
        fitting = [n for n in arrays if self.seen[n][1][0] == length]
        scanned = [fitting[i] for i in self.rng.integers(len(fitting), size=2)]
        carried = self.kinds(2)
        start = [self.pick(k) for k in carried]
        slices = [(self.seen[n][0], self.seen[n][1][1:]) for n in scanned]
        body, inputs = self.inner(*carried, *slices)
        body.fill(depth)
        rows = body.kinds(2, least=1)
        graph = body.graph(inputs, [*carried, *rows])
        results = [self.new(k) for k in carried]
        results += [self.new((b, (length, *s))) for b, s in rows]
        ways = {
            "scan_input_directions": self.rng.integers(2, size=2).tolist(),
            "scan_output_directions": self.rng.integers(2, size=len(rows)).tolist(),
        }
        self.nodes.append(
            node("Scan", [*start, *scanned], results, body=graph, num_scan_inputs=2, **ways)
        )


def random_nest(seed: int) -> tuple[onnx.ModelProto, list[dict[str, Array]]]:
    """A model, and two sets of inputs for it."""
    rng = np.random.default_rng(seed)
    kinds: dict[str, Kind] = {
        "a": NUMBER,
        "b": NUMBER,
        "c": TRUTH,
        "o": (False, (1,)),
        "x": (False, (5,)),
        "y": (False, (6, 2)),
    }
    body = _Body(rng, [0], dict(kinds))
    body.fill(2)
    made = [n for n in body.seen if n not in kinds]
    outputs = [body.made(body.seen[n], "Identity", n) for n in made[-12:]]
    graph = helper.make_graph(
        body.nodes, f"nest{seed}", body.infos(list(kinds)), body.infos(outputs)
    )
    fixed = {"five": np.array(5), "seven": np.array(7), "axis": np.array([0])}
    graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in fixed.items())
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model, [
        {
            n: np.array(rng.random(s) < 0.5) if b else np.array(rng.integers(7, size=s))
            for n, (b, s) in kinds.items()
        }
        for _ in range(2)
    ]


def interpret(
    graph: onnx.GraphProto, given: Mapping[str, Array], outer: Mapping[str, Array] | None = None
) -> list[Array]:
    """The outputs of `graph`, which sees what is `outer`, as ONNX defines its operators."""
    known: dict[str, Any] = {**(outer or {}), **given, "": None}
    known |= {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    for each in graph.node:
        operands = [known[n] for n in each.input]
        attributes = {a.name: helper.get_attribute_value(a) for a in each.attribute}
        results = _OPERATORS[each.op_type](operands, attributes, known)
        known.update(zip(each.output, results, strict=True))
    return [known[o.name] for o in graph.output]


def _call(body: onnx.GraphProto, arrays: list[Any], known: Mapping[str, Array]) -> list[Array]:
    return interpret(body, dict(zip([i.name for i in body.input], arrays, strict=True)), known)


def _loop(operands: list[Any], attributes: dict[str, Any], known: dict[str, Any]) -> list[Array]:
    trips, going, *carried = operands
    columns: list[list[Array]] = []
    t = 0
    while t < trips and (going is None or going):
        going, *results = _call(attributes["body"], [np.array(t), np.array(True), *carried], known)
        columns.append(results[len(carried) :])
        carried, t = results[: len(carried)], t + 1
    return [*carried, *map(np.stack, zip(*columns, strict=True))]


def _scan(operands: list[Any], attributes: dict[str, Any], known: dict[str, Any]) -> list[Array]:
    count = len(operands) - attributes["num_scan_inputs"]
    carried, arrays = operands[:count], operands[count:]
    backwards = attributes["scan_input_directions"]
    arrays = [a[::-1] if b else a for a, b in zip(arrays, backwards, strict=True)]
    columns: list[list[Array]] = []
    for rows in zip(*arrays, strict=True):
        results = _call(attributes["body"], [*carried, *rows], known)
        carried, made = results[:count], results[count:]
        columns.append(made)
    stacked = map(np.stack, zip(*columns, strict=True))
    turned = zip(stacked, attributes["scan_output_directions"], strict=True)
    return [*carried, *(a[::-1] if b else a for a, b in turned)]


_OPERATORS: dict[str, Any] = {
    "Add": lambda v, a, k: [v[0] + v[1]],
    "Mod": lambda v, a, k: [v[0] % v[1]],
    "Less": lambda v, a, k: [v[0] < v[1]],
    "Identity": lambda v, a, k: v,
    "Unsqueeze": lambda v, a, k: [v[0][None]],
    "Squeeze": lambda v, a, k: [v[0][0]],
    "If": lambda v, a, k: _call(a["then_branch" if v[0] else "else_branch"], [], k),
    "Loop": _loop,
    "Scan": _scan,
}

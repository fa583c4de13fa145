"""Names in an ONNX model: what they stand for, who reads them, and how messages call a node.

    NameScope(opset=17, used={"w", "y"}, weights={"w": array})
    node_label(node)  →  "Conv (node conv1)"

Every graph, subgraph and definition has names of its own; a subgraph also sees those around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import onnx

from tilewright.graph.ir import Array, Value
from tilewright.graph.onnx.ops import UNSUPPORTED
from tilewright.graph.onnx.ops.call import Known

STANDARD = ("", "ai.onnx")

BLOCKED = "com.microsoft.nchwc"
"""Convolutions whose weights lie in blocks as wide as the vectors of one machine."""

Nodes: TypeAlias = Iterable[onnx.NodeProto]


@dataclass
class NameScope:
    """The names of one graph, subgraph or definition, and what they stand for.

    `used` are names that something in it reads; `parent` is the scope around a subgraph; `inside`
    says in messages where its nodes come from, `outermost` is the model's node around all of them.
    A subgraph that becomes a graph of its own reads what is around it through `capture`.
    """

    opset: int
    used: frozenset[str]
    values: dict[str, Known] = field(default_factory=dict)
    weights: dict[str, onnx.TensorProto | Array] = field(default_factory=dict)
    parent: NameScope | None = None
    inside: str = ""
    outermost: onnx.NodeProto | None = None
    capture: Callable[[Value], Value] | None = None

    def find(self, name: str) -> NameScope | None:
        """The scope that defines `name`."""
        if name in self.values or name in self.weights:
            return self
        return None if self.parent is None else self.parent.find(name)


def subgraphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """The graphs that `node` holds."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def names_used(nodes: Nodes, outputs: Iterable[str]) -> frozenset[str]:
    """Names that `nodes` read, also inside their subgraphs, and `outputs`."""
    found = set(outputs)
    for node in nodes:
        found.update(node.input)
        for graph in subgraphs(node):
            found |= names_used(graph.node, [o.name for o in graph.output])
    return frozenset(found - {""})


def names_read(node: onnx.NodeProto) -> set[str]:
    """Names that `node` takes from the graph it stands in: inputs, and what its subgraphs see."""
    found = set(node.input)
    for graph in subgraphs(node):
        inner = {*(i.name for i in graph.input), *(t.name for t in graph.initializer)}
        inner.update(made for n in graph.node for made in n.output)
        found.update(o.name for o in graph.output if o.name not in inner)
        for n in graph.node:
            found |= names_read(n) - inner
    return found - {""}


def node_key(node: onnx.NodeProto) -> tuple[str, str]:
    """Domain and type; the standard domain is ""."""
    return ("" if node.domain in STANDARD else node.domain), node.op_type


def node_name(node: onnx.NodeProto) -> str:
    """The node's name, or that of its first output."""
    return node.name or next(filter(None, node.output), "?")


def node_type(node: onnx.NodeProto) -> str:
    """The node's type, with its domain where that is not the standard one."""
    return f"{node.domain}.{node.op_type}" if node.domain not in STANDARD else node.op_type


def node_label(node: onnx.NodeProto) -> str:
    """What messages call the node."""
    return f"{node_type(node)} (node {node_name(node)})"


def unknown_type(node: onnx.NodeProto) -> str:
    """Why nothing can be done about a node of this type."""
    if node.domain == BLOCKED:
        return (
            "onnxruntime's optimiser wrote it for one kind of CPU; save the model without that: "
            "ORT_ENABLE_EXTENDED instead of ORT_ENABLE_ALL"
        )
    known = UNSUPPORTED.get(node.op_type) if node.domain in STANDARD else None
    return known or "unknown operator"

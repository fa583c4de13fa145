"""Where a control-flow node stands: what `onnx_control` sees of the import.

region = Region(importer, scope, node)
region.run(branch, ())        the branch's nodes go into the graph around the node
region.within(body, graph, values)   they go into a graph of their own
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import onnx

from tilewright.graph.builder import BodyBuilder, GraphBuilder
from tilewright.graph.ir import Array, Value
from tilewright.graph.onnx.ops.call import Known, Rejected
from tilewright.graph.onnx.scope import NameScope, names_used, node_label, node_name
from tilewright.ground.errors import ExprError

if TYPE_CHECKING:
    from tilewright.graph.onnx.importing import Importer


class Noted(Rejected):
    """A node whose definition or subgraph was refused; the reason is in the list."""

    def __init__(self) -> None:
        super().__init__("")


@dataclass(frozen=True)
class SubgraphImporter:
    """What `onnx_control` sees of the importer: it runs subgraphs of `node`."""

    importer: Importer
    scope: NameScope
    node: onnx.NodeProto

    @property
    def name(self) -> str:
        return node_name(self.node)

    @property
    def attributes(self) -> dict[str, Any]:
        return {a.name: onnx.helper.get_attribute_value(a) for a in self.node.attribute}

    @property
    def builder(self) -> GraphBuilder:
        return self.importer.builder

    def constant(self, array: Array) -> Value:
        """A value known now."""
        return self.importer.constant(f"{self.node.op_type}.c", array)

    def named(self, name: str) -> Known:
        """What a name of the graph around the node stands for."""
        if self.scope.find(name) is None:
            raise Rejected(f"{name} is not defined")
        return self.importer.value(name, self.scope)

    @property
    def label(self) -> str:
        """What messages call the node."""
        return f"{self.scope.inside}{node_label(self.node)}"

    def note(self, remark: str) -> None:
        """Have the user told of what may surprise."""
        self.importer.remarks.append(f"{self.label}: {remark}")

    @contextmanager
    def attempt(self, forgotten: list[str] | None = None) -> Iterator[None]:
        """What is noted within is forgotten when the attempt ends in a refusal."""
        importer = self.importer
        noted, refused = len(importer.problems), dict(importer.refused)
        try:
            yield
        except (Rejected, ExprError):
            if forgotten is not None:
                forgotten += importer.problems[noted:]
            del importer.problems[noted:]
            importer.refused = refused
            raise

    def within(
        self, body: BodyBuilder, graph: onnx.GraphProto, inputs: Sequence[Known]
    ) -> Sequence[Known]:
        """The outputs of a subgraph whose nodes go to `body`."""
        outer = self.importer.builder
        self.importer.builder = body
        try:
            return self.run(graph, inputs, body.capture)
        finally:
            self.importer.builder = outer

    def run(
        self,
        graph: onnx.GraphProto,
        inputs: Sequence[Known],
        capture: Callable[[Value], Value] | None = None,
    ) -> Sequence[Known]:
        """The outputs of a subgraph, which sees the names around it."""
        outputs = [o.name for o in graph.output]
        inner = NameScope(
            self.scope.opset,
            names_used(graph.node, outputs),
            dict(zip([i.name for i in graph.input], inputs, strict=False)),
            {t.name: t for t in graph.initializer},
            self.scope,
            f"{self.label}: ",
            self.scope.outermost or self.node,
            capture,
        )
        return self.importer.body(graph.node, outputs, inner)

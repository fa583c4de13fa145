"""ONNX model → operator graph.

    graph = load("resnet50.onnx", shapes={"x": (1, 3, 224, 224)})

Nodes are taken in order. For each, the first of these that can: evaluate it, when all its inputs
are known (`onnx_fold`; `Shape` always gives a constant); hand it to the translator of its type
(`onnx_ops`), which emits graph operators; run its subgraphs, or make loops and branches of them
(`onnx_control`); take its definition node by node (`onnx_functions`). What cannot be taken
is collected, so that one error lists all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper

from tilewright.errors import ExprError, UnsupportedModel
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.dtypes import dtype as as_dtype
from tilewright.graph.builder import BodyBuilder, GraphBuilder
from tilewright.graph.ir import Array, Graph, Value
from tilewright.graph.onnx_control import CONTROL
from tilewright.graph.onnx_file import Shapes, Source, naming, opset_of, read_model, title_of
from tilewright.graph.onnx_fold import fold, fold_empty, static_shape
from tilewright.graph.onnx_functions import definition
from tilewright.graph.onnx_ops import TRANSLATORS, UNSUPPORTED
from tilewright.graph.onnx_ops.call import Call, Known, Rejected

STANDARD = ("", "ai.onnx")


def load(
    source: Source, shapes: Shapes | None = None, constants: Mapping[str, Array] | None = None
) -> Graph:
    """Import an ONNX model given as a path, as bytes or as a ModelProto.

    `shapes` gives values to symbolic input dimensions; `constants` are inputs whose values are
    known now (a shape, axes, repeats): they are no inputs of the graph. Raises UnsupportedModel
    for a file that cannot be read, missing weights, a dimension without a value, and for operators
    that are not supported: then the message lists every such node with its type and the reason.
    """
    model, weights = read_model(source, shapes, constants)
    stem = Path(source).stem if isinstance(source, (str, Path)) else model.graph.name
    with naming(title_of(source, model)):
        return _Importer(model, weights, stem or "model").run()


@dataclass
class Scope:
    """The names of one graph, subgraph or definition, and what they stand for.

    `used` are names that something in it reads; `parent` is the scope around a subgraph; `inside`
    says in messages where its nodes come from, `outermost` is the model's node around all of them.
    A subgraph that becomes a graph of its own reads what is around it through `capture`.
    """

    opset: int
    used: frozenset[str]
    values: dict[str, Known] = field(default_factory=dict)
    weights: dict[str, onnx.TensorProto | Array] = field(default_factory=dict)
    parent: Scope | None = None
    inside: str = ""
    outermost: onnx.NodeProto | None = None
    capture: Callable[[Value], Value] | None = None

    def find(self, name: str) -> Scope | None:
        """The scope that defines `name`."""
        if name in self.values or name in self.weights:
            return self
        return None if self.parent is None else self.parent.find(name)


class _Importer:
    """The state of one import."""

    def __init__(self, model: onnx.ModelProto, weights: dict[str, Array], name: str) -> None:
        """`weights` are those that the model does not hold itself; they are taken out."""
        self.model = model
        self.weights: dict[str, onnx.TensorProto | Array] = {
            **{t.name: t for t in model.graph.initializer},
            **weights,
        }
        weights.clear()
        self.functions = {(f.domain, f.name): f for f in model.functions}
        self.builder = GraphBuilder(name)
        self.problems: list[str] = []
        self.refused: dict[str, str] = {}
        self.unknown: set[Value] = set()

    def run(self) -> Graph:
        graph = self.model.graph
        scope = Scope(
            opset_of(self.model.opset_import),
            _used(graph.node, [o.name for o in graph.output]),
            weights=self.weights,
        )
        for info in graph.input:
            if info.name not in scope.weights:
                self._input(info, scope)
        self.nodes(graph.node, scope)
        outputs = []
        for info in graph.output:
            value = self.value(info.name, scope) if scope.find(info.name) else None
            if isinstance(value, Value):
                outputs.append(value)
            elif scope.find(info.name):
                self.problems.append(f"output {info.name} is no tensor")
        if self.problems:
            found = list(dict.fromkeys(self.problems))
            raise UnsupportedModel(
                f"{len(found)} {'thing is' if len(found) == 1 else 'things are'} not supported:\n  "
                + "\n  ".join(found),
                self.refused,
                self._unknown_inputs(),
            )
        return self.builder.build(outputs, [o.name for o in graph.output])

    def _unknown_inputs(self) -> tuple[str, ...]:
        """Inputs that decide the values which had to be known."""
        made = {v: n for n in self.builder.nodes for v in n.outputs}
        waiting, found = list(self.unknown), set[Value]()
        while waiting:
            value = waiting.pop()
            if value in made:
                waiting.extend(v for v in made[value].inputs if not v.is_constant)
            else:
                found.add(value)
        return tuple(v.name for v in self.builder.inputs if v in found)

    def value(self, name: str, scope: Scope) -> Known:
        """What `name` stands for; weights are converted when first used."""
        if name in scope.values:
            return scope.values[name]
        if name in scope.weights:
            found = scope.weights[name]
            if isinstance(found, onnx.TensorProto):
                found = onnx.numpy_helper.to_array(found)
            scope.values[name] = self.constant(name, found)
            return scope.values[name]
        assert scope.parent is not None, f"{name} is not defined"
        outer = self.value(name, scope.parent)
        if scope.capture is None or outer is None:
            return outer
        if isinstance(outer, tuple):
            return tuple(map(scope.capture, outer))
        return scope.capture(outer)

    def constant(self, name: str, array: Array) -> Value:
        """A value known now."""
        fixed = np.ascontiguousarray(array)
        return self.builder.constant(name, fixed.reshape(array.shape))

    def _input(self, info: onnx.ValueInfoProto, scope: Scope) -> None:
        tensor = info.type.tensor_type
        try:
            name = as_dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)).name
        except (ExprError, KeyError, ValueError):
            kind = str(info.type.WhichOneof("value"))
            if kind == "tensor_type":
                kind = onnx.TensorProto.DataType.Name(tensor.elem_type)
            self.refused[info.name] = f"type {kind}"
            self.problems.append(
                f"input {info.name}: type {kind}; known types: {', '.join(DTYPES)}"
            )
            return
        shape = [d.dim_value for d in tensor.shape.dim]
        value = self.builder.input(info.name, shape, name)
        # An array without elements has no unknown ones.
        empty = np.empty(shape, as_dtype(name).numpy)
        scope.values[info.name] = value if value.elements else self.constant(info.name, empty)

    # ---- nodes --------------------------------------------------------------------------------

    def nodes(self, nodes: Iterable[onnx.NodeProto], scope: Scope) -> None:
        """Take all of `nodes`; a refusal is noted and the node's outputs stay undefined."""
        for node in nodes:
            if not all(not n or scope.find(n) for n in node.input):
                if not self._is_known(node, scope):
                    self._refuse(node, scope, _unknown(node))
                continue
            try:
                inputs = [self.value(n, scope) if n else None for n in node.input]
                results = self._node(node, inputs, scope)
                names = [(n, r) for n, r in zip(node.output, results, strict=False) if n]
                scope.values.update(names)
            except (Rejected, ExprError) as reason:
                self._refuse(node, scope, str(reason))
                if isinstance(reason, Rejected) and reason.value is not None:
                    self.unknown.add(reason.value)

    def _is_known(self, node: onnx.NodeProto, scope: Scope) -> bool:
        """Whether a node of this type may be taken, for all that its type says."""
        if (node.domain, node.op_type) in self.functions:
            return True
        if node.domain in STANDARD and node.op_type in TRANSLATORS:
            return True
        if _key(node) in CONTROL or _key(node) in (("", "Shape"), ("", "Size")):
            return True
        try:
            return (
                definition(node, scope.opset, self.functions, [None] * len(node.input)) is not None
            )
        except Rejected:
            return True

    def _node(self, node: onnx.NodeProto, inputs: Sequence[Known], scope: Scope) -> Sequence[Known]:
        arrays = self._evaluate(node, inputs, scope)
        if arrays is not None:
            named = zip(node.output, arrays, strict=False)
            return [self.constant(n or "unused", a) for n, a in named]
        local = (node.domain, node.op_type) in self.functions
        if node.domain in STANDARD and not local and node.op_type in TRANSLATORS:
            try:
                return self._translate(node, inputs, scope)
            except Rejected as refusal:
                # Definitions cover what is rare: statistics returned, odd attributes.
                body = definition(node, scope.opset, self.functions, inputs)
                if body is None or refusal.value is not None:
                    raise
                return self._define(node, body, inputs, scope)
        if _key(node) in CONTROL and not local:
            return CONTROL[_key(node)](_Region(self, scope, node), node, inputs)
        body = definition(node, scope.opset, self.functions, inputs)
        if body is None:
            raise Rejected(_unknown(node))
        return self._define(node, body, inputs, scope)

    def _evaluate(
        self, node: onnx.NodeProto, inputs: Sequence[Known], scope: Scope
    ) -> list[Array] | None:
        first = inputs[0] if inputs else None
        if node.op_type in ("Shape", "Size") and isinstance(first, Value):
            return [static_shape(node, first.shape)]
        values = [v for v in inputs if isinstance(v, Value)]
        if len(values) != sum(v is not None for v in inputs):
            return None  # a sequence
        if any(v.constant is None for v in values):
            if any(v.elements == 0 for v in values):
                return fold_empty(node, inputs, scope.opset)
            return None
        return fold(
            node, [v.constant if isinstance(v, Value) else None for v in inputs], scope.opset
        )

    def _translate(
        self, node: onnx.NodeProto, inputs: Sequence[Known], scope: Scope
    ) -> Sequence[Known]:
        call = Call(
            op_type=node.op_type,
            name=next((n for n in node.output if n), node.name),
            opset=scope.opset,
            inputs=tuple(inputs),
            attributes={a.name: onnx.helper.get_attribute_value(a) for a in node.attribute},
            used_outputs=tuple(bool(n) and n in scope.used for n in node.output),
            builder=self.builder,
        )
        result = TRANSLATORS[node.op_type](call)
        return (result,) if isinstance(result, Value) else result

    def _define(
        self,
        node: onnx.NodeProto,
        body: onnx.FunctionProto,
        inputs: Sequence[Known],
        scope: Scope,
    ) -> Sequence[Known]:
        """The outputs of `node` by its definition."""
        used = [o for o, n in zip(body.output, node.output, strict=False) if n in scope.used]
        given = dict.fromkeys(body.input) | dict(zip(body.input, inputs, strict=False))
        opset = opset_of(body.opset_import) if body.opset_import else scope.opset
        inside = f"{scope.inside}{_label(node)}: "
        outermost = scope.outermost or node
        inner = Scope(
            opset, _used(body.node, used), dict(given), inside=inside, outermost=outermost
        )
        return self.body(body.node, body.output[: len(node.output)], inner)

    def body(
        self, nodes: Iterable[onnx.NodeProto], outputs: Sequence[str], scope: Scope
    ) -> Sequence[Known]:
        """Take `nodes` in `scope`, and return what `outputs` are then.

        Raises Rejected when one that is read is not there; what is missing was noted.
        """
        self.nodes(nodes, scope)
        results: list[Known] = []
        for name in outputs:
            if scope.find(name):
                results.append(self.value(name, scope))
            elif name in scope.used and self.problems:
                raise _Noted
            else:
                results.append(None)
        return results

    def _refuse(self, node: onnx.NodeProto, scope: Scope, reason: str) -> None:
        if not reason:
            return
        outermost = scope.outermost or node
        self.refused[_name(outermost)] = f"{_type(outermost)}: {reason}"
        self.problems.append(f"{scope.inside}{_label(node)}: {reason}")


class _Noted(Rejected):
    """A node whose definition or subgraph was refused; the reason is in the list."""

    def __init__(self) -> None:
        super().__init__("")


@dataclass(frozen=True)
class _Region:
    """What `onnx_control` sees of the importer: it runs subgraphs of `node`."""

    importer: _Importer
    scope: Scope
    node: onnx.NodeProto

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

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """What is noted within is forgotten when the attempt ends in a refusal."""
        importer = self.importer
        noted, refused = len(importer.problems), dict(importer.refused)
        try:
            yield
        except (Rejected, ExprError):
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
        inner = Scope(
            self.scope.opset,
            _used(graph.node, outputs),
            dict(zip([i.name for i in graph.input], inputs, strict=False)),
            {t.name: t for t in graph.initializer},
            self.scope,
            f"{self.scope.inside}{_label(self.node)}: ",
            self.scope.outermost or self.node,
            capture,
        )
        return self.importer.body(graph.node, outputs, inner)


def _used(nodes: Iterable[onnx.NodeProto], outputs: Iterable[str]) -> frozenset[str]:
    """Names that `nodes` read, also inside their subgraphs, and `outputs`."""
    found = set(outputs)
    for node in nodes:
        found.update(node.input)
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                found |= _used(graph.node, [o.name for o in graph.output])
    return frozenset(found - {""})


def _key(node: onnx.NodeProto) -> tuple[str, str]:
    return ("" if node.domain in STANDARD else node.domain), node.op_type


def _name(node: onnx.NodeProto) -> str:
    return node.name or next(iter(node.output), "?")


def _type(node: onnx.NodeProto) -> str:
    return f"{node.domain}.{node.op_type}" if node.domain not in STANDARD else node.op_type


def _label(node: onnx.NodeProto) -> str:
    return f"{_type(node)} (node {_name(node)})"


def _unknown(node: onnx.NodeProto) -> str:
    known = UNSUPPORTED.get(node.op_type) if node.domain in STANDARD else None
    return known or "unknown operator"

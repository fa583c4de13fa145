"""ONNX model → operator graph.

    graph = load("resnet50.onnx", shapes={"x": (1, 3, 224, 224)})

Nodes are taken in order. One whose inputs are all known is evaluated (`onnx_fold`); `Shape` gives
a constant; every other node is handed to the translator of its type (`onnx_ops`), which emits
graph operators. What cannot be translated is collected, so that one error lists all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper

from tilewright.errors import ExprError, UnsupportedModel
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.dtypes import dtype as as_dtype
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Array, Graph, Value
from tilewright.graph.onnx_file import Shapes, Source, opset_of, read_model
from tilewright.graph.onnx_fold import fold, static_shape
from tilewright.graph.onnx_ops import TRANSLATORS
from tilewright.graph.onnx_ops.call import Call, Rejected


def load(source: Source, shapes: Shapes | None = None) -> Graph:
    """Import an ONNX model given as a path, as bytes or as a ModelProto.

    `shapes` gives values to symbolic input dimensions. Raises UnsupportedModel for a file that
    cannot be read, missing weights, a dimension without a value, and for operators that are not
    supported: then the message lists every such node with its type and the reason.
    """
    model, weights = read_model(source, shapes)
    stem = Path(source).stem if isinstance(source, (str, Path)) else model.graph.name
    return _Importer(model, weights, stem or "model").run()


class _Importer:
    """The state of one import: ONNX names and what they stand for."""

    def __init__(self, model: onnx.ModelProto, weights: dict[str, Array], name: str) -> None:
        """`weights` are those that the model does not hold itself; they are taken out."""
        self.graph = model.graph
        self.opset = opset_of(model)
        self.builder = GraphBuilder(name)
        self.values: dict[str, Value | None] = {"": None}
        self.problems: list[str] = []
        self.refused: dict[str, str] = {}
        self.weights: dict[str, onnx.TensorProto | Array] = {
            **{t.name: t for t in model.graph.initializer},
            **weights,
        }
        weights.clear()
        self.used = {n for node in model.graph.node for n in node.input} | {
            o.name for o in model.graph.output
        }

    def run(self) -> Graph:
        for info in self.graph.input:
            if info.name not in self.weights:
                self._input(info)
        for node in self.graph.node:
            self._node(node)
        outputs = [self.value(o.name) for o in self.graph.output if self.defined(o.name)]
        if self.problems:
            raise UnsupportedModel(
                f"{self.builder.name}: {len(self.problems)} things are not supported:\n  "
                + "\n  ".join(self.problems),
                refused=self.refused,
            )
        return self.builder.build(outputs, [o.name for o in self.graph.output])

    def defined(self, name: str) -> bool:
        """Whether `name` was computed; false after a node that could not be translated."""
        return name in self.values or name in self.weights

    def value(self, name: str) -> Value:
        """What `name` stands for; weights are converted when first used."""
        if name not in self.values:
            found = self.weights[name]
            if isinstance(found, onnx.TensorProto):
                found = onnx.numpy_helper.to_array(found)
            self.values[name] = self._constant(name, found)
        value = self.values[name]
        assert value is not None, "an empty name is no value"
        return value

    def _constant(self, name: str, array: Array) -> Value:
        fixed = np.ascontiguousarray(array)
        return self.builder.constant(name, fixed.reshape(array.shape))

    def _input(self, info: onnx.ValueInfoProto) -> None:
        tensor = info.type.tensor_type
        number = tensor.elem_type
        try:
            name = as_dtype(onnx.helper.tensor_dtype_to_np_dtype(number)).name
        except (ExprError, KeyError):
            kind = onnx.TensorProto.DataType.Name(number)
            self.refused[info.name] = f"type {kind}"
            self.problems.append(
                f"input {info.name}: type {kind}; known types: {', '.join(DTYPES)}"
            )
            return
        shape = [d.dim_value for d in tensor.shape.dim]
        self.values[info.name] = self.builder.input(info.name, shape, name)

    def _node(self, node: onnx.NodeProto) -> None:
        """Translate or evaluate `node`; a refusal is noted and its outputs stay undefined."""
        known = node.domain in ("", "ai.onnx") and node.op_type in TRANSLATORS
        if not all(not n or self.defined(n) for n in node.input):
            if not known:
                self._refuse(node, "unknown operator")
            return
        try:
            inputs = [self.value(n) if n else None for n in node.input]
            arrays = self._evaluate(node, inputs)
            if arrays is not None:
                for name, array in zip(node.output, arrays, strict=False):
                    self.values[name] = self._constant(name, array)
            elif known:
                results = self._translate(node, inputs)
                self.values.update(zip(node.output, results, strict=False))
            else:
                self._refuse(node, "unknown operator")
        except (Rejected, ExprError) as reason:
            self._refuse(node, str(reason))

    def _evaluate(self, node: onnx.NodeProto, inputs: Sequence[Value | None]) -> list[Array] | None:
        if node.op_type in ("Shape", "Size") and inputs[0] is not None:
            shape = static_shape(node, inputs[0].shape)
            assert shape is not None, f"{node.op_type} has a static result"
            return [shape]
        if any(v is not None and v.constant is None for v in inputs):
            return None
        return fold(node, [None if v is None else v.constant for v in inputs], self.opset)

    def _translate(self, node: onnx.NodeProto, inputs: Sequence[Value | None]) -> Sequence[Value]:
        call = Call(
            op_type=node.op_type,
            name=next((n for n in node.output if n), node.name),
            opset=self.opset,
            inputs=tuple(inputs),
            attributes={a.name: onnx.helper.get_attribute_value(a) for a in node.attribute},
            used_outputs=tuple(bool(n) and n in self.used for n in node.output),
            builder=self.builder,
        )
        result = TRANSLATORS[node.op_type](call)
        return (result,) if isinstance(result, Value) else result

    def _refuse(self, node: onnx.NodeProto, reason: str) -> None:
        domain = f"{node.domain}." if node.domain not in ("", "ai.onnx") else ""
        name = node.name or next(iter(node.output), "?")
        self.refused[name] = f"{domain}{node.op_type}: {reason}"
        self.problems.append(f"{domain}{node.op_type} (node {name}): {reason}")

"""Run graphs and partitions with NumPy, and build small ONNX models, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.shape_inference
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from tilewright.expr.dtypes import DTYPES
from tilewright.expr.nodes import Expr, Var
from tilewright.expr.reference import static_shape
from tilewright.expr.sizes import extent_at
from tilewright.graph.ir import Branches, Control, Graph, Node, Refusal, Selection, Value, verify
from tilewright.graph.partition import Partition
from tilewright.graph.passes.fold_constants import evaluate
from tilewright.graph.selections import selected
from tilewright.ground.errors import RunError

Array = np.ndarray[Any, Any]


def run_graph(graph: Graph, inputs: Mapping[str, Array]) -> list[Array]:
    """Outputs of `graph`, node by node, each by the reference semantics of its math."""
    verify(graph)
    return _run(graph, [inputs[v.name] for v in graph.inputs], {})


def _run(graph: Graph, arrays: Sequence[Array], sizes: dict[str, int]) -> list[Array]:
    """`sizes` are those found so far; inputs give more of them, and so do selections."""
    known: dict[Value, Array] = dict(zip(graph.inputs, arrays, strict=True))
    for value, array in known.items():
        pairs = zip(value.extents, array.shape, strict=True)
        sizes |= {e.name: n for e, n in pairs if isinstance(e, Var)}
    for node in graph.nodes:
        if node.control is not None:
            given = [known[v] if v.constant is None else v.constant for v in node.inputs]
            known.update(zip(node.outputs, _control(node.control, given, sizes), strict=True))
            continue
        operands = tuple(
            v if v.is_constant else Value(v.name, known[v].shape, v.dtype, known[v])
            for v in node.inputs
        )
        attributes = {k: _at(a, sizes) for k, a in node.attributes.items()}
        output = Value(node.output.name, _at(node.output.extents, sizes), node.output.dtype)
        if 0 in output.extents or any(0 in v.extents for v in operands):
            arrays = [known[v] if v.constant is None else v.constant for v in node.inputs]
            known[node.output] = _of_nothing(node, output, arrays)
        else:
            known[node.output] = evaluate(Node(node.op, operands, attributes, output))
    return [known[v] if v.constant is None else v.constant for v in graph.outputs]


def _of_nothing(node: Node, output: Value, arrays: list[Array]) -> Array:
    """What has no elements, or is made of something that has none."""
    if node.op == "concat":
        return np.concatenate(arrays, node.attributes["axis"])
    assert 0 in output.extents or node.op == "reduce_sum", f"{node} of nothing"
    return np.zeros(output.shape, DTYPES[output.dtype].numpy)


def _at(attribute: Any, sizes: Mapping[str, int]) -> Any:
    """An attribute, or extents, at these values of the sizes."""
    if isinstance(attribute, tuple):
        return tuple(_at(a, sizes) for a in attribute)
    return extent_at(attribute, sizes) if isinstance(attribute, Expr) else attribute


def _selected(what: Selection, given: list[Array], sizes: dict[str, int]) -> list[Array]:
    """What a library function finds, and a size with it."""
    count, found = selected(what.kind, given, _at(what.numbers, sizes))
    if what.reason and not 0 <= count <= _at(what.limit, sizes):
        raise RunError(what.reason)
    if what.size is not None:
        sizes[what.size.name] = count
    return found


def _control(what: Control, given: list[Array], sizes: dict[str, int]) -> list[Array]:
    """The results of a loop or a choice, as `ir` defines them."""
    if isinstance(what, Selection):
        return _selected(what, given, sizes)
    if isinstance(what, Refusal):
        raise RunError(what.reason)
    if isinstance(what, Branches):
        return _run(what.then if given[0] else what.otherwise, given[1:], sizes)
    trips = int(given.pop(0)) if what.counted else _at(what.trips, sizes)
    carried, rest = given[: what.carried], given[what.carried :]
    scanned, captured = rest[: what.scanned], rest[what.scanned :]
    columns: list[list[Array]] = [[] for _ in range(what.stacked)]
    t = 0
    sizes |= {g.size.name: _at(g.start, sizes) for g in what.growth}
    while (trips is None or t < trips) and (not what.conditional or carried[0]):
        pairs = zip(scanned, what.backwards, strict=False)
        rows = [a[-1 - t if back else t] for a, back in pairs]
        results = _run(what.body, [np.array(t), *carried, *rows, *captured], sizes)
        carried = results[: what.carried]
        after = {g.size.name: _at(g.after, sizes) for g in what.growth}
        for g in what.growth:
            if g.reason and after[g.size.name] > g.size.most:
                raise RunError(g.reason)
        sizes |= after
        for column, row in zip(columns, results[what.carried :], strict=True):
            column.append(row)
        t += 1
    backwards = what.backwards[what.scanned :]
    turned = [c[::-1] if b else c for c, b in zip(columns, backwards, strict=True)]
    rows = zip(turned, what.body.outputs[what.carried :], strict=True)
    return [*carried, *(np.stack(c) if c else _none(v, sizes) for c, v in rows)]


def _none(row: Value, sizes: Mapping[str, int]) -> Array:
    """No rows."""
    return np.empty((0, *_at(row.extents, sizes)), DTYPES[row.dtype].numpy)


def run_partition(
    partition: Partition, inputs: Mapping[str, Array], sizes: Mapping[str, int] | None = None
) -> list[Array]:
    """Outputs of a partitioned graph: each call by its DAG, at these values of the sizes, views by
    reshaping.
    """
    values = sizes or {}
    known: dict[Value, Array] = {v: inputs[v.name] for v in partition.graph.inputs}

    def get(value: Value) -> Array:
        if value.constant is not None:
            return value.constant
        return known[partition.root(value)].reshape([extent_at(e, values) for e in value.extents])

    for call in partition.subgraphs:
        dag = partition.task(call.key).dag
        numbers = zip(dag.sizes, call.sizes, strict=True)
        dag = dag.at({s.name: extent_at(e, values) for s, e in numbers})
        given = zip((*dag.inputs, *dag.constants), (*call.inputs, *call.constants), strict=True)
        arrays = {t.name: get(v).reshape(static_shape(t)) for t, v in given}
        result = dag.evaluate(arrays)[dag.outputs[0].name]
        known[call.output] = result.reshape(_at(call.output.extents, values))
    return [get(v) for v in partition.graph.outputs]


def run_onnx(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    """Outputs of the model by onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, dict(inputs))


def make_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[int | str]],
    weights: Mapping[str, Array] | None = None,
    outputs: Sequence[str] = ("y",),
    opset: int = 17,
    dtypes: Mapping[str, int] | None = None,
) -> onnx.ModelProto:
    """A model of `nodes`; inputs are float32 unless `dtypes` says so; outputs are inferred."""
    kinds = dict(dtypes or {})
    graph = helper.make_graph(
        list(nodes),
        "test",
        [
            helper.make_tensor_value_info(n, kinds.get(n, TensorProto.FLOAT), list(s))
            for n, s in inputs.items()
        ],
        [helper.make_empty_tensor_value_info(n) for n in outputs],
        [numpy_helper.from_array(a, n) for n, a in (weights or {}).items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    for info in inferred.graph.output:
        if not info.type.tensor_type.HasField("shape"):
            # Not inferred for every composite operator; those tested keep the input's type.
            info.type.CopyFrom(inferred.graph.input[0].type)
    return inferred


def random_inputs(graph: Graph, seed: int = 0) -> dict[str, Array]:
    """Signed random values for every input of `graph`."""
    rng = np.random.default_rng(seed)
    return {v.name: rng.standard_normal(v.shape).astype(v.dtype) for v in graph.inputs}

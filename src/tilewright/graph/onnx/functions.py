"""Operators that are made of others: the definitions in a model, and those in ONNX's own schemas.

    definition(node, opset, functions, types)  →  FunctionProto, its attributes filled in

A definition lists nodes over formal inputs. Some depend on the call (on which inputs it has, on
their types): ONNX writes those for one node at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import onnx
import onnx.defs

from tilewright.expr.nodes import Shape
from tilewright.expr.text import extent_text
from tilewright.graph.ir import Value
from tilewright.graph.onnx.ops.call import Known, Rejected, Rows, numpy_dtype

Functions = Mapping[tuple[str, str], onnx.FunctionProto]


def definition(
    node: onnx.NodeProto, opset: int, functions: Functions, inputs: Sequence[Known]
) -> onnx.FunctionProto | None:
    """What `node` is made of; None for a primitive operator, or one that ONNX does not know."""
    local = functions.get((node.domain, node.op_type))
    if local is not None:
        defaults = {a.name: a for a in local.attribute_proto}
        return _bound(local, node, defaults)
    schema = _schema(node, opset)
    if schema is None:
        return None
    body = onnx.FunctionProto()
    if schema.has_function:
        body.ParseFromString(
            schema.get_function_with_opset_version(_newest(schema.function_opset_versions, opset))
        )
    elif schema.has_context_dependent_function:
        _check_inputs(schema, inputs)
        types = [_type(v).SerializeToString() for v in inputs]
        body.ParseFromString(
            schema.get_context_dependent_function_with_opset_version(
                _newest(schema.context_dependent_function_opset_versions, opset),
                node.SerializeToString(),
                types,
            )
        )
    else:
        return None
    if not body.node:
        raise Rejected("ONNX has no definition of it for these inputs")
    defaults = {
        name: a.default_value for name, a in schema.attributes.items() if a.default_value.name
    }
    return _bound(body, node, defaults)


def is_defined(node: onnx.NodeProto, opset: int) -> bool:
    """Whether ONNX's schema of `node` may have a definition of it."""
    schema = _schema(node, opset)
    return schema is not None and bool(schema.has_function or schema.has_context_dependent_function)


def _schema(node: onnx.NodeProto, opset: int) -> Any:
    """What ONNX knows of the operator; None for one that it does not know, or not in `opset`."""
    try:
        if node.domain in ("", "ai.onnx"):
            return onnx.defs.get_schema(node.op_type, opset)
        return onnx.defs.get_schema(node.op_type, node.domain)  # the newest
    except onnx.defs.SchemaError:
        return None


def _newest(versions: Iterable[int], opset: int) -> int:
    """The newest of `versions` that is not after `opset`, else the oldest."""
    listed = sorted(versions)
    return max((v for v in listed if v <= opset), default=listed[0])


def _check_inputs(schema: Any, inputs: Sequence[Known]) -> None:
    """Refuse what has no type where one is needed: ONNX's own code would read it all the same."""
    optional = onnx.defs.OpSchema.FormalParameterOption.Optional
    for position, value in enumerate(inputs):
        formal = schema.inputs[min(position, len(schema.inputs) - 1)]
        if not value and (value is not None or formal.option != optional):
            raise Rejected(f"its input {formal.name} is missing, or a sequence without elements")
    if len(inputs) < schema.min_input:
        raise Rejected(f"it has {len(inputs)} inputs of at least {schema.min_input}")


def _type(value: Known) -> onnx.TypeProto:
    """An ONNX type with its shape; an untyped one for an input that is left out."""
    if isinstance(value, Value):
        return _tensor_type(value, value.extents)
    if isinstance(value, Rows):
        rows = value.rows
        element = onnx.TypeProto() if rows is None else _tensor_type(rows, rows.extents[1:])
        return onnx.helper.make_sequence_type_proto(element)
    if value:  # a sequence, whose elements have one type
        return onnx.helper.make_sequence_type_proto(_type(value[0]))
    return onnx.TypeProto()


def _tensor_type(like: Value, extents: Shape) -> onnx.TypeProto:
    kind = onnx.helper.np_dtype_to_tensor_dtype(numpy_dtype(like))
    shape = [e if isinstance(e, int) else extent_text(e) for e in extents]
    return onnx.helper.make_tensor_type_proto(kind, shape)


def _bound(
    function: onnx.FunctionProto,
    node: onnx.NodeProto,
    defaults: Mapping[str, onnx.AttributeProto],
) -> onnx.FunctionProto:
    """`function` with the attributes of `node` in place of references to them."""
    given = {**defaults, **{a.name: a for a in node.attribute}}
    bound = onnx.FunctionProto()
    bound.CopyFrom(function)
    _bind(bound.node, given)
    return bound


def _bind(nodes: Iterable[onnx.NodeProto], given: Mapping[str, onnx.AttributeProto]) -> None:
    for node in nodes:
        kept = []
        for attribute in node.attribute:
            if attribute.ref_attr_name:
                source = given.get(attribute.ref_attr_name)
                if source is None:
                    continue
                name = attribute.name
                attribute = onnx.AttributeProto()
                attribute.CopyFrom(source)
                attribute.name = name
            for graph in (attribute.g, *attribute.graphs):
                _bind(graph.node, given)
            kept.append(attribute)
        copies = [onnx.AttributeProto.FromString(a.SerializeToString()) for a in kept]
        del node.attribute[:]
        node.attribute.extend(copies)

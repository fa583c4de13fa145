"""Set a model's weights aside, so that checks and rewrites see small messages.

    small, weights = set_aside(model, folder, "net.onnx")   {"conv1.weight": float32[64, 3, 7, 7]}

ONNX's checker, shape inference and inliner serialise the model they are given, weights and all,
often more than once. Here large initializers become inputs of the same type; small ones, which
shapes may depend on, stay. The weights are in memory once, and the limit of 2 GiB on a message
does not concern them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from math import prod
from pathlib import Path

import onnx
import onnx.checker
import onnx.external_data_helper
import onnx.numpy_helper
from onnx import TensorProto

from tilewright.graph.ir import Array
from tilewright.graph.onnx.limits import ADDRESSABLE
from tilewright.graph.onnx.scope import subgraphs
from tilewright.ground.errors import UnsupportedModel
from tilewright.ground.text import one_line

# Bytes. Weights up to here stay in the model; shapes, pads, scales and axes are far smaller.
SMALL = 4096

KNOWN_TYPES = frozenset(TensorProto.DataType.values()) - {TensorProto.UNDEFINED}


def tensors(model: onnx.ModelProto) -> Iterator[TensorProto]:
    """Every tensor that the model holds: initializers, and those in attributes of nodes."""
    yield from model.graph.initializer
    yield from _tensors_of(model.graph.node)
    for function in model.functions:
        yield from _tensors_of(function.node)


def _tensors_of(nodes: Iterable[onnx.NodeProto]) -> Iterator[TensorProto]:
    for node in nodes:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
        for graph in subgraphs(node):
            yield from graph.initializer
            yield from _tensors_of(graph.node)


def set_aside(
    model: onnx.ModelProto,
    folder: Path | None,
    where: str,
    others: Iterable[TensorProto] = (),
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A copy of `model` without its large initializers, and those as arrays by name; `others` are
    initializers that are no longer in it.

    `folder` is where files of external data are; the copy keeps no external data. Raises
    UnsupportedModel, which calls the model `where`, for a tensor whose data do not fit its shape.
    """
    small = onnx.ModelProto()
    for field, value in model.ListFields():
        if field.name != "graph":
            _copy(small, field.name, value)
    for field, value in model.graph.ListFields():
        if field.name != "initializer":
            _copy(small.graph, field.name, value)
    for tensor in tensors(small):
        if tensor.data_location == TensorProto.EXTERNAL:
            _load(tensor, folder, where)
    listed = {i.name for i in small.graph.input}
    weights: dict[str, Array] = {}
    for tensor in chain(model.graph.initializer, others):
        if tensor.data_type == TensorProto.STRING:
            small.graph.initializer.append(tensor)
            continue
        array = _array(tensor, folder, where)
        if array.nbytes <= SMALL:
            small.graph.initializer.append(
                tensor
                if tensor.data_location != TensorProto.EXTERNAL
                else onnx.numpy_helper.from_array(array, tensor.name)
            )
            continue
        weights[tensor.name] = array
        if tensor.name not in listed:
            info = onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            small.graph.input.append(info)
    return small, weights


def _copy(target: object, name: str, value: object) -> None:
    """Set a field of a message, whatever kind of field it is."""
    field = getattr(target, name)
    if hasattr(field, "CopyFrom"):
        field.CopyFrom(value)
    elif hasattr(field, "extend"):
        field.extend(value)
    else:
        setattr(target, name, value)


def _load(tensor: TensorProto, folder: Path | None, where: str) -> None:
    """Put data from a file beside the model into the tensor."""
    try:
        onnx.external_data_helper.load_external_data_for_tensor(tensor, str(folder))
    except (onnx.checker.ValidationError, ValueError, OSError, RuntimeError) as error:
        raise UnsupportedModel(_unreadable(tensor, where, error)) from error


def _array(tensor: TensorProto, folder: Path | None, where: str) -> Array:
    """The tensor's values, whose number is that of its shape."""
    if not isinstance(tensor.name, str):
        raise UnsupportedModel(_unreadable(tensor, where, "its name is no UTF-8 text"))
    if tensor.data_type not in KNOWN_TYPES:
        raise UnsupportedModel(_unreadable(tensor, where, f"no data type {tensor.data_type}"))
    if any(n < 0 for n in tensor.dims) or prod(tensor.dims) > ADDRESSABLE:
        raise UnsupportedModel(_unreadable(tensor, where, f"no shape {list(tensor.dims)}"))
    if tensor.data_location == TensorProto.EXTERNAL:
        outside, tensor = tensor, TensorProto()
        tensor.CopyFrom(outside)
        _load(tensor, folder, where)
    try:
        if not tensor.HasField("raw_data"):  # whose size is seen below, without a copy
            onnx.checker.check_tensor(tensor)
        array: Array = onnx.numpy_helper.to_array(tensor)
    except (onnx.checker.ValidationError, ValueError, TypeError, KeyError) as error:
        raise UnsupportedModel(_unreadable(tensor, where, error)) from error
    return array


def _unreadable(tensor: TensorProto, where: str, reason: object) -> str:
    return f"{where}: cannot read weight {tensor.name}: {one_line(reason)}"

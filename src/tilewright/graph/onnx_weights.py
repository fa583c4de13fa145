"""Set a model's weights aside, so that checks and rewrites see small messages.

    small, weights = set_aside(model, folder)      {"conv1.weight": float32[64, 3, 7, 7], ...}

ONNX's checker, shape inference and inliner serialise the model they are given, weights and all,
often more than once. Here large initializers become inputs of the same type; small ones, which
shapes may depend on, stay. The weights are in memory once, and the limit of 2 GiB on a message
does not concern them.
"""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.checker
import onnx.external_data_helper
import onnx.numpy_helper
from onnx import TensorProto

from tilewright.errors import UnsupportedModel
from tilewright.graph.ir import Array

# Bytes. Weights up to here stay in the model; shapes, pads, scales and axes are far smaller.
SMALL = 4096


def set_aside(
    model: onnx.ModelProto, folder: Path | None
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A copy of `model` without its large initializers, and those as arrays by name.

    `folder` is where files of external data are; the copy keeps no external data. Raises
    UnsupportedModel for a tensor whose data do not fit its shape.
    """
    small = onnx.ModelProto()
    for field, value in model.ListFields():
        if field.name != "graph":
            _copy(small, field.name, value)
    for field, value in model.graph.ListFields():
        if field.name != "initializer":
            _copy(small.graph, field.name, value)
    listed = {i.name for i in small.graph.input}
    weights: dict[str, Array] = {}
    for tensor in model.graph.initializer:
        outside = tensor.data_location == TensorProto.EXTERNAL
        if tensor.data_type == TensorProto.STRING or (not outside and tensor.ByteSize() <= SMALL):
            small.graph.initializer.append(tensor)
            continue
        array = _array(tensor, folder)
        if array.nbytes <= SMALL:
            small.graph.initializer.append(onnx.numpy_helper.from_array(array, tensor.name))
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


def _array(tensor: TensorProto, folder: Path | None) -> Array:
    try:
        if tensor.data_location == TensorProto.EXTERNAL:
            outside, tensor = tensor, TensorProto()
            tensor.CopyFrom(outside)
            onnx.external_data_helper.load_external_data_for_tensor(tensor, str(folder))
        elif not tensor.HasField("raw_data"):  # whose size is seen below, without a copy
            onnx.checker.check_tensor(tensor)
        array: Array = onnx.numpy_helper.to_array(tensor)
    except (onnx.checker.ValidationError, ValueError, OSError) as error:
        raise UnsupportedModel(f"cannot read weight {tensor.name}: {error}") from error
    return array

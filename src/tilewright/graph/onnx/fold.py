"""Evaluate ONNX nodes whose inputs are all known, at import.

    computed(graph, allowance)                  →  [array, ...]
    fold(node, [array, ...], opset, allowance)  →  [array, ...]

Shape-computing subgraphs vanish this way, since shapes are known. What has a translator is computed
as it would be at run time, by the math of the operators that it becomes. The reference evaluator of
the `onnx` package does the rest, and what is a function of NumPy: it serves here and nowhere else,
nothing that runs after import reaches it. How large a result is going to be, ONNX's shape inference
says first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import onnx.defs
import onnx.shape_inference
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tilewright.expr.dtypes import dtype
from tilewright.expr.index.extents import product
from tilewright.expr.nodes import Shape
from tilewright.expr.tensors import canonical
from tilewright.graph.ir import Array, Graph
from tilewright.graph.onnx.limits import Allowance
from tilewright.graph.onnx.ops.call import Rejected, numpy_dtype
from tilewright.graph.onnx.weights import SMALL
from tilewright.graph.passes.fold_constants import fold_constants
from tilewright.graph.passes.write_out import write_out
from tilewright.ground.errors import UnsupportedModel
from tilewright.ground.text import one_line

# Nodes that must not be evaluated once and for all, or that have no values.
NEVER = frozenset(
    (
        *("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli"),
        *("Multinomial", "Optional", "SequenceEmpty", "If", "Loop", "Scan", "ImageDecoder"),
        *("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"),
    )
)
# Nodes that are a function of NumPy, whatever the type; the others, unless that is a narrow float,
# which NumPy computes with as it is. They make up shape-computing subgraphs, or take much data.
MOVED = frozenset(("Concat", "Expand", "Gather", "Slice", "Tile", "Where"))
COMPUTED = frozenset(("Add", "DequantizeLinear", "MatMul", "Mul", "Sub"))
# Nodes whose translators handle constants at once, without copying data through the evaluator.
FREE = frozenset(("Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"))

# Nodes that the evaluator computes element by element in Python: large ones are none for it.
SLOW = frozenset(
    (
        *("AveragePool", "Col2Im", "Conv", "ConvTranspose", "DeformConv", "GridSample", "LpPool"),
        *("LRN", "MaxPool", "MaxUnpool", "Resize", "RoiAlign", "Upsample"),
        *("GatherElements", "GatherND", "ScatterElements", "ScatterND", "GRU", "LSTM", "RNN"),
    )
)
LARGEST_SLOW = 1 << 14  # elements

# Nodes whose results can be any number of times as large as their inputs: never evaluated blindly.
GROWING = frozenset(
    (
        *("AffineGrid", "CenterCropPad", "Col2Im", "ConstantOfShape", "DFT", "Expand", "EyeLike"),
        *("BlackmanWindow", "HammingWindow", "HannWindow", "MelWeightMatrix", "MaxUnpool"),
        *("OneHot", "Pad", "Range", "Resize", "STFT", "Tile", "Upsample"),
    )
)


def is_numpy(op_type: str, inputs: Sequence[Array | None]) -> bool:
    """Whether evaluating a node is calling a function of NumPy, which says what it should."""
    kinds = [dtype(a.dtype) for a in inputs if a is not None]
    narrow = any(k.is_float and k != k.compute for k in kinds)
    return op_type in MOVED or (op_type in COMPUTED and not narrow)


def is_kept(op_type: str, inputs: Sequence[Array | None]) -> bool:
    """Whether a node on constants stays one for now: weights of bytes may be multiplied as such."""
    first = inputs[0] if inputs else None
    is_weight = first is not None and first.dtype.itemsize == 1 and first.ndim > 1
    return op_type == "DequantizeLinear" and is_weight


def computed(graph: Graph, allowance: Allowance) -> list[Array] | None:
    """The outputs of a graph without inputs; None where they take too long, or too much memory."""
    try:
        values = fold_constants(write_out(graph), replace(allowance)).outputs
    except UnsupportedModel:
        return None
    arrays = [v.constant for v in values if v.constant is not None]
    return arrays if len(arrays) == len(values) else None


def fold(
    node: onnx.NodeProto, inputs: Sequence[Array | None], opset: int, allowance: Allowance
) -> list[Array] | None:
    """The outputs of `node` on `inputs` (None for one left out), or None when it cannot be known.

    A node that the evaluator does not know is left to the translators, which report it by name.
    Raises Rejected when the evaluation fails, or would take more memory than there is for it.
    """
    if node.op_type in NEVER | FREE or node.domain not in ("", "ai.onnx"):
        return None
    if any(a.HasField("g") or a.graphs for a in node.attribute):
        return None
    shown, known = _shown(node, inputs)
    sizes = _result_sizes(shown, known, opset)
    if sizes is None and node.op_type in GROWING:
        raise Rejected("how large its result is cannot be told before it is computed")
    if node.op_type in SLOW and max((a.size for a in known.values()), default=0) > LARGEST_SLOW:
        return None
    for elements, itemsize in sizes or ():
        if node.op_type in SLOW and elements > LARGEST_SLOW:
            return None
        operands = sum(a.nbytes for a in known.values())
        refusal = allowance.refusal("its result", elements * itemsize, operands)
        if refusal:
            raise Rejected(refusal)
    return _evaluated(shown, known, opset)


def _shown(
    node: onnx.NodeProto, inputs: Sequence[Array | None]
) -> tuple[onnx.NodeProto, dict[str, Array]]:
    """A copy of `node`, where inputs that a definition's caller leaves out are, and the others."""
    shown = onnx.NodeProto()
    shown.CopyFrom(node)
    present = [n if a is not None else "" for n, a in zip(node.input, inputs, strict=True)]
    del shown.input[:]
    shown.input.extend(present)
    return shown, {n: a for n, a in zip(present, inputs, strict=True) if a is not None}


def evaluated(
    node: onnx.NodeProto, inputs: Sequence[Array | None], opset: int
) -> list[Array] | None:
    """What the reference evaluator makes of a node on `inputs`; None if it does not know the
    operator.
    """
    return _evaluated(*_shown(node, inputs), opset)


def _evaluated(node: onnx.NodeProto, known: Mapping[str, Array], opset: int) -> list[Array] | None:
    """What the reference evaluator makes of a node; None if it does not know the operator."""
    try:
        evaluator = ReferenceEvaluator(node, opsets={"": opset})
    except (NotImplementedError, RuntimeError, ImportError):
        return None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise Rejected(f"its attributes do not fit it: {one_line(error)}") from error
    try:
        results: Any = evaluator.run(None, {"": None, **known})
    except MemoryError as error:
        raise Rejected("there is not enough memory to evaluate it") from error
    except (
        *(ArithmeticError, AssertionError, AttributeError, ImportError, LookupError),
        *(RuntimeError, TypeError, ValueError),
    ) as error:
        raise Rejected(f"evaluating it on its constant inputs failed: {one_line(error)}") from error
    if not all(isinstance(r, (np.ndarray, np.generic)) for r in results):
        return None
    return [np.asarray(r) for r in results]


def _result_sizes(
    node: onnx.NodeProto, known: Mapping[str, Array], opset: int
) -> list[tuple[int, int]] | None:
    """Elements of each result and bytes of one, as far as can be told; None if nothing can."""
    if node.op_type == "Range":
        return _range_size([known[n] for n in node.input if n in known])
    try:
        schema: Any = onnx.defs.get_schema(node.op_type, opset)
        found = onnx.shape_inference.infer_node_outputs(
            schema,
            node,
            {
                n: helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
                for n, a in known.items()
            },
            {n: numpy_helper.from_array(a, n) for n, a in known.items() if a.nbytes <= SMALL},
            opset_imports=[helper.make_opsetid("", opset)],
        )
    except (
        *(onnx.defs.SchemaError, onnx.shape_inference.InferenceError),
        *(LookupError, RuntimeError, TypeError, ValueError),
    ):
        return None
    sizes = []
    for info in found.values():
        tensor = info.tensor_type
        dims = tensor.shape.dim
        if not tensor.HasField("shape") or not all(d.HasField("dim_value") for d in dims):
            return None
        sizes.append((math.prod(d.dim_value for d in dims), _itemsize(tensor.elem_type)))
    return sizes


def _itemsize(elem_type: int) -> int:
    """Bytes of an element; 8 for a type that says nothing."""
    if elem_type == TensorProto.UNDEFINED:
        return 8
    return int(helper.tensor_dtype_to_np_dtype(elem_type).itemsize)


def _range_size(ends: Sequence[Array]) -> list[tuple[int, int]] | None:
    """Of `Range`, whose three inputs are numbers."""
    if len(ends) != 3 or any(a.size != 1 for a in ends):
        return None
    start, stop, step = (float(a.item()) for a in ends)
    steps = (stop - start) / step if step else math.nan
    return [(math.ceil(max(steps, 0.0)), ends[0].itemsize)] if math.isfinite(steps) else None


def fold_empty(
    node: onnx.NodeProto, inputs: Sequence[Any], opset: int, allowance: Allowance
) -> list[Array] | None:
    """The outputs of `node`, if they are empty because one of its inputs is; else None.

    Inputs that are not known may be anything, integers apart, which may be axes or a shape:
    Rejected is raised for those.
    """
    if node.domain not in ("", "ai.onnx"):
        return None
    for v in inputs:
        if v is not None and v.constant is None and "int" in v.dtype:
            raise Rejected(f"{v} must be known at compile time, as another input is empty", v)
    # One zero, seen as the whole array: nothing is allocated to learn a shape.
    arrays = [
        None
        if v is None
        else np.broadcast_to(np.zeros((), numpy_dtype(v)), v.shape)
        if v.constant is None
        else v.constant
        for v in inputs
    ]
    if any(elements for elements, _ in _result_sizes(*_shown(node, arrays), opset) or ()):
        return None
    results = fold(node, arrays, opset, allowance)
    return results if results and all(r.size == 0 for r in results) else None


def static_shape(node: onnx.NodeProto, shape: Shape) -> Array:
    """The output of a `Shape` or `Size` node on a value of this shape: whole numbers, or objects
    where it is over sizes.
    """
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type == "Shape":
        chosen = shape[attributes.get("start", 0) : attributes.get("end", len(shape))]
        return np.array(chosen, _kind(chosen))
    count = canonical(product(shape))
    return np.array(count, _kind((count,)))


def _kind(extents: Shape) -> type:
    """Of an array of extents: objects where one is over sizes."""
    return np.int64 if all(isinstance(e, int) for e in extents) else object

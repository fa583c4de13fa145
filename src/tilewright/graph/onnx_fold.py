"""Evaluate ONNX nodes whose inputs are all known, at import.

    fold(node, [array, ...], opset)  →  [array, ...]

The reference evaluator of the `onnx` package serves here and nowhere else: nothing that runs
after import reaches it. Shape-computing subgraphs vanish this way, since shapes are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from tilewright.graph.ir import Array
from tilewright.graph.onnx_ops.call import Rejected, numpy_dtype

# Nodes that must not be evaluated once and for all, or that have no values.
NEVER = frozenset(
    (
        *("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli"),
        *("Multinomial", "Optional", "SequenceEmpty", "If", "Loop", "Scan"),
    )
)
# Nodes whose translators handle constants at once, without copying data through the evaluator.
FREE = frozenset(("Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"))


def fold(node: onnx.NodeProto, inputs: Sequence[Array | None], opset: int) -> list[Array] | None:
    """The outputs of `node` on `inputs` (None for one left out), or None when it cannot be known.

    A node that the evaluator does not know is left to the translators, which report it by name.
    Raises Rejected when the evaluation fails.
    """
    if node.op_type in NEVER | FREE or node.domain not in ("", "ai.onnx"):
        return None
    if any(a.HasField("g") or a.graphs for a in node.attribute):
        return None
    shown = onnx.NodeProto()
    shown.CopyFrom(node)
    # An input of a definition may be left out by its caller.
    present = [n if a is not None else "" for n, a in zip(node.input, inputs, strict=True)]
    del shown.input[:]
    shown.input.extend(present)
    try:
        evaluator = ReferenceEvaluator(shown, opsets={"": opset})
    except (NotImplementedError, RuntimeError):
        return None
    try:
        results: Any = evaluator.run(None, dict(zip(present, inputs, strict=True)))
    except (TypeError, ValueError, RuntimeError, AttributeError, IndexError) as error:
        raise Rejected(f"evaluating it on its constant inputs failed: {error}") from error
    if not all(isinstance(r, (np.ndarray, np.generic)) for r in results):
        return None
    return [np.asarray(r) for r in results]


def fold_empty(node: onnx.NodeProto, inputs: Sequence[Any], opset: int) -> list[Array] | None:
    """The outputs of `node`, if they are empty because one of its inputs is; else None.

    Inputs that are not known may be anything, integers apart, which may be axes or a shape:
    Rejected is raised for those.
    """
    for v in inputs:
        if v is not None and v.constant is None and "int" in v.dtype:
            raise Rejected(f"{v} must be known at compile time, as another input is empty", v)
    arrays = [
        None
        if v is None
        else np.zeros(v.shape, numpy_dtype(v))
        if v.constant is None
        else v.constant
        for v in inputs
    ]
    results = fold(node, arrays, opset)
    return results if results and all(r.size == 0 for r in results) else None


def static_shape(node: onnx.NodeProto, shape: tuple[int, ...]) -> Array:
    """The output of a `Shape` or `Size` node on a value of this shape."""
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type == "Shape":
        chosen = shape[attributes.get("start", 0) : attributes.get("end", len(shape))]
        return np.array(chosen, np.int64)
    return np.array(int(np.prod(shape, dtype=np.int64)), np.int64)

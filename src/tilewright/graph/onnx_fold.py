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
from tilewright.graph.onnx_ops.call import Rejected

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
    names = [n for n in node.input if n]
    known = [a for a in inputs if a is not None]
    try:
        evaluator = ReferenceEvaluator(node, opsets={"": opset})
    except (NotImplementedError, RuntimeError):
        return None
    try:
        results: Any = evaluator.run(None, dict(zip(names, known, strict=True)))
    except (TypeError, ValueError, RuntimeError, AttributeError, IndexError) as error:
        raise Rejected(f"evaluating it on its constant inputs failed: {error}") from error
    if not all(isinstance(r, (np.ndarray, np.generic)) for r in results):
        return None
    return [np.asarray(r) for r in results]


def static_shape(node: onnx.NodeProto, shape: tuple[int, ...]) -> Array | None:
    """The output of a `Shape` or `Size` node on a value of this shape; None for other nodes."""
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type == "Shape":
        chosen = shape[attributes.get("start", 0) : attributes.get("end", len(shape))]
        return np.array(chosen, np.int64)
    if node.op_type == "Size":
        return np.array(int(np.prod(shape, dtype=np.int64)), np.int64)
    return None

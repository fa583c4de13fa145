"""The nine light models of the onnx package, as they are and with random weights.

Their weights are constants (`ConstantOfShape`), so equal numbers hide wrong indexing. `randomised`
replaces each weight by seeded random values of a scale that suits the node that reads it.
"""

from __future__ import annotations

from math import prod, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.backend.test
from onnx import numpy_helper

Array = np.ndarray[Any, Any]

FOLDER = Path(onnx.backend.test.__file__).parent / "data" / "light"
NAMES = (
    *("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50"),
    *("shufflenet", "squeezenet", "vgg19", "zfnet512"),
)


def path_of(name: str) -> Path:
    return FOLDER / f"light_{name}.onnx"


def bundled_case(name: str) -> tuple[Array, Array]:
    """The input that the onnx package feeds the model, and the output it expects."""
    tensor = onnx.load_tensor(FOLDER / f"light_{name}_output_0.pb")
    x = np.arange(prod((1, 3, 224, 224))).reshape(1, 3, 224, 224) / prod((1, 3, 224, 224))
    return x.astype(np.float32), numpy_helper.to_array(tensor)


def randomised(name: str, seed: int = 0) -> onnx.ModelProto:
    """The model with random weights; its weights become initializers."""
    model = onnx.load(path_of(name))
    rng = np.random.default_rng(seed)
    shapes = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    readers = {i: (n, at) for n in model.graph.node for at, i in enumerate(n.input)}
    kept = []
    for node in model.graph.node:
        if node.op_type != "ConstantOfShape":
            kept.append(node)
            continue
        shape = tuple(int(d) for d in shapes[node.input[0]])
        values = weight(rng, shape, *_reader(readers, node.output[0]))
        if _scales_a_branch(readers, node.output[0]):
            values *= np.float32(0.3)
        model.graph.initializer.append(numpy_helper.from_array(values, node.output[0]))
    del model.graph.node[:]
    model.graph.node.extend(kept)
    model.ir_version = 8
    return model


def _reader(readers: dict[str, tuple[onnx.NodeProto, int]], name: str) -> tuple[str, int]:
    """Type of the node that reads a weight, and the position there; through an Unsqueeze."""
    node, at = readers[name]
    return _reader(readers, node.output[0]) if node.op_type == "Unsqueeze" else (node.op_type, at)


def _scales_a_branch(readers: dict[str, tuple[onnx.NodeProto, int]], name: str) -> bool:
    """Whether it scales the end of a residual branch; a small factor keeps the sums' size."""
    node, at = readers[name]
    if (node.op_type, at) != ("BatchNormalization", 1):
        return False
    return node.output[0] in readers and readers[node.output[0]][0].op_type == "Sum"


def weight(rng: np.random.Generator, shape: tuple[int, ...], reader: str, at: int) -> Array:
    """Values that keep activations near one: He's scale, and batch norms near the identity."""
    match reader, at:
        case ("Conv", 1):
            values = rng.standard_normal(shape) * sqrt(2 / prod(shape[1:]))
        case ("Gemm", 1):
            values = rng.standard_normal(shape) * sqrt(1 / shape[1])
        case ("BatchNormalization", 1) | ("Mul", _):
            values = rng.uniform(0.6, 1.2, shape)
        case ("BatchNormalization", 4):
            values = rng.uniform(0.7, 1.4, shape)
        case _:
            values = rng.normal(0, 0.1, shape)
    return values.astype(np.float32)

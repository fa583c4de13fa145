"""ResNet-50 v1.5 as an ONNX model with seeded random weights.

    model = resnet50(batch=1, seed=0)                       onnx.ModelProto, 25.6 M parameters
    python -m benchmarks.models.resnet50 resnet50.onnx      the same, saved

He et al. 2015 (arXiv 1512.03385), with the stride on each block's 3x3 convolution (version 1.5).
Weights have He's scale, batch norms their own statistics, so activations keep a sensible size
through all layers and no error hides behind equal or vanishing numbers.
"""

from __future__ import annotations

import argparse
from math import sqrt
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# (blocks, channels inside a block, stride of the first block)
STAGES = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))
EXPANSION = 4
CLASSES = 1000
OPSET = 17


class ResNetBuilder:
    """Collects nodes and weights; every method returns the name of its result."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def weight(self, name: str, values: np.ndarray[Any, Any]) -> str:
        self.weights.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def node(self, op: str, inputs: list[str], name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def conv(
        self, x: str, name: str, shape: tuple[int, int, int], stride: int, gain: float = 1.0
    ) -> str:
        """Convolution and batch norm of scale `gain`; `shape` is (outputs, inputs, kernel)."""
        outputs, inputs, kernel = shape
        scale = sqrt(2 / (inputs * kernel * kernel))
        values = self.rng.standard_normal((outputs, inputs, kernel, kernel)) * scale
        y = self.node(
            "Conv",
            [x, self.weight(f"{name}.weight", values)],
            f"{name}.conv",
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[kernel // 2] * 4,
        )
        statistics = {
            "scale": gain * self.rng.uniform(0.6, 1.2, outputs),
            "bias": self.rng.normal(0, 0.1, outputs),
            "mean": self.rng.normal(0, 0.2, outputs),
            "variance": self.rng.uniform(0.7, 1.4, outputs),
        }
        given = [self.weight(f"{name}.{k}", v) for k, v in statistics.items()]
        return self.node("BatchNormalization", [y, *given], f"{name}.bn", epsilon=1e-5)

    def block(self, x: str, name: str, inputs: int, channels: int, stride: int) -> str:
        """1x1, 3x3 and 1x1 convolutions around a shortcut; a small gain keeps the sum's size."""
        outputs = channels * EXPANSION
        y = self.relu(self.conv(x, f"{name}.a", (channels, inputs, 1), 1), f"{name}.a")
        y = self.relu(self.conv(y, f"{name}.b", (channels, channels, 3), stride), f"{name}.b")
        y = self.conv(y, f"{name}.c", (outputs, channels, 1), 1, gain=0.4)
        if inputs != outputs or stride != 1:
            x = self.conv(x, f"{name}.shortcut", (outputs, inputs, 1), stride)
        return self.relu(self.node("Add", [y, x], f"{name}.add"), name)

    def relu(self, x: str, name: str) -> str:
        return self.node("Relu", [x], f"{name}.relu")


def resnet50(batch: int | str = 1, seed: int = 0, image: int = 224) -> onnx.ModelProto:
    """The model: x float32[batch, 3, image, image] → y float32[batch, 1000] (logits).

    `image` must be a multiple of 32; a name as `batch` leaves it open.
    """
    b = ResNetBuilder(seed)
    y = b.relu(b.conv("x", "stem", (64, 3, 7), 2), "stem")
    y = b.node("MaxPool", [y], "pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    inputs = 64
    for stage, (blocks, channels, stride) in enumerate(STAGES, 1):
        for number in range(blocks):
            step = stride if number == 0 else 1
            y = b.block(y, f"stage{stage}.{number}", inputs, channels, step)
            inputs = channels * EXPANSION
    y = b.node("GlobalAveragePool", [y], "average")
    y = b.node("Flatten", [y], "features", axis=1)
    values = b.rng.standard_normal((CLASSES, inputs)) / sqrt(inputs)
    w, bias = b.weight("fc.weight", values), b.weight("fc.bias", b.rng.normal(0, 0.1, CLASSES))
    b.node("Gemm", [y, w, bias], "y", transB=1)
    graph = helper.make_graph(
        b.nodes,
        "resnet50",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, image, image])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, CLASSES])],
        b.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = 8
    return model


def main() -> None:
    """Save the model where the command line says."""
    parser = argparse.ArgumentParser(description="Write ResNet-50 v1.5 with random weights.")
    parser.add_argument("path", help="the .onnx file to write")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    onnx.save(resnet50(options.batch, options.seed), options.path)


if __name__ == "__main__":
    main()

"""A detector in the manner of YOLOv8-n (Ultralytics 2023).

image float32[n, 3, h, w] -> boxes float32[n, cells, 4], scores float32[n, 80, cells]
with_suppression(model)      image float32[1, 3, h, w] -> found float32[count, 6]

Cells are those of three grids, 8, 16 and 32 pixels apart; a box is two corners, each side's
distance from its cell the mean of 16 bins (Li et al. 2020, arXiv 2006.04388).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn
from torch.nn.functional import interpolate

WIDTHS, DEPTHS = (16, 32, 64, 128, 256), (1, 2, 2, 1)
CLASSES, BINS = 80, 16
STRIDES = (8, 16, 32)
USUAL = -7.0
"""Of a class's logit: few of the cells have anything."""
MOST, OVERLAP, LEAST = 100, 0.7, 0.25
"""Boxes of a class, what two of them may share, the least score."""


def conv(inputs: int, outputs: int, kernel: int = 1, stride: int = 1) -> nn.Module:
    """A padded convolution, its batch norm and SiLU."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm2d(outputs),
        nn.SiLU(),
    )


class Split(nn.Module):
    """Half of the channels go through pairs of convolutions; what each gives is joined."""

    def __init__(self, inputs: int, outputs: int, depth: int, adds: bool) -> None:
        super().__init__()
        half = outputs // 2
        self.adds = adds
        self.first = conv(inputs, outputs)
        self.pairs = nn.ModuleList(
            nn.Sequential(conv(half, half, 3), conv(half, half, 3)) for _ in range(depth)
        )
        self.last = conv((2 + depth) * half, outputs)

    def forward(self, x: Tensor) -> Tensor:
        parts = list(self.first(x).chunk(2, dim=1))
        for pair in self.pairs:
            y = pair(parts[-1])
            parts.append(parts[-1] + y if self.adds else y)
        z: Tensor = self.last(torch.cat(parts, dim=1))
        return z


class Pooled(nn.Module):
    """Maxima of three sizes beside what they are of."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.last = conv(channels, channels // 2), conv(2 * channels, channels)
        self.pool = nn.MaxPool2d(5, 1, 2)

    def forward(self, x: Tensor) -> Tensor:
        parts = [self.first(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        y: Tensor = self.last(torch.cat(parts, dim=1))
        return y


class Head(nn.Module):
    """Boxes and scores of a grid."""

    def __init__(self, channels: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.sides = self._branch(channels, 64, 4 * BINS)
        self.classes = self._branch(channels, CLASSES, CLASSES)
        self.bins: Tensor
        self.register_buffer("bins", torch.arange(float(BINS)))

    @staticmethod
    def _branch(inputs: int, wide: int, outputs: int) -> nn.Module:
        return nn.Sequential(
            conv(inputs, wide, 3), conv(wide, wide, 3), nn.Conv2d(wide, outputs, 1)
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        height, width = x.shape[-2:]
        bins = self.sides(x).view(x.shape[0], 4, BINS, -1).softmax(2)
        far = torch.einsum("nsbc,b->nsc", bins, self.bins)
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        at = torch.stack([columns, rows]).view(2, -1) + 0.5
        boxes = self.stride * torch.cat([at - far[:, :2], at + far[:, 2:]], dim=1)
        scores = (self.classes(x) + USUAL).flatten(2).sigmoid()
        return boxes.transpose(1, 2), scores


class Detector(nn.Module):
    """Backbone, two ways through the pyramid, heads."""

    def __init__(self) -> None:
        super().__init__()
        b, c, d = WIDTHS[2:]
        self.stem = conv(3, WIDTHS[0], 3, 2)
        self.stages = nn.ModuleList(
            nn.Sequential(conv(inputs, outputs, 3, 2), Split(outputs, outputs, depth, True))
            for (inputs, outputs), depth in zip(pairwise(WIDTHS), DEPTHS, strict=True)
        )
        self.pooled = Pooled(d)
        self.up = nn.ModuleList([Split(c + d, c, 1, False), Split(b + c, b, 1, False)])
        self.steps = nn.ModuleList([conv(b, b, 3, 2), conv(c, c, 3, 2)])
        self.down = nn.ModuleList([Split(b + c, c, 1, False), Split(c + d, d, 1, False)])
        self.heads = nn.ModuleList(map(Head, (b, c, d), STRIDES))

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        found = [self.stem(image)]
        for part in self.stages:
            found.append(part(found[-1]))
        wide = self.pooled(found[-1])
        middle = self.up[0](torch.cat([interpolate(wide, scale_factor=2.0), found[-2]], dim=1))
        narrow = self.up[1](torch.cat([interpolate(middle, scale_factor=2.0), found[-3]], dim=1))
        middle = self.down[0](torch.cat([self.steps[0](narrow), middle], dim=1))
        wide = self.down[1](torch.cat([self.steps[1](middle), wide], dim=1))
        features = zip(self.heads, (narrow, middle, wide), strict=True)
        boxes, scores = zip(*(head(x) for head, x in features), strict=True)
        return torch.cat(boxes, dim=1), torch.cat(scores, dim=2)


def make() -> nn.Module:
    """The network."""
    return Detector()


def with_suppression(model: onnx.ModelProto) -> onnx.ModelProto:
    """The exported network, and behind it the boxes that stay when those go that share more than
    OVERLAP with a better one of their class: corners, score and class of each, as they are found.
    """
    graph = model.graph
    boxes, scores = (o.name for o in graph.output)
    constants = {
        "most": np.int64([MOST]), "overlap": np.float32([OVERLAP]), "least": np.float32([LEAST]),
        "class_at": np.int64([1]), "box_at": np.int64([0, 2]),
    }  # fmt: skip
    graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in constants.items())
    graph.node.extend(
        helper.make_node(op, inputs.split(), [output], **attributes)
        for op, inputs, output, attributes in (
            ("NonMaxSuppression", f"{boxes} {scores} most overlap least", "kept", {}),
            ("Gather", "kept box_at", "places", {"axis": 1}),
            ("GatherND", f"{boxes} places", "corners", {}),
            ("GatherND", f"{scores} kept", "score", {}),
            ("Gather", "kept class_at", "number", {"axis": 1}),
            ("Cast", "number", "class", {"to": TensorProto.FLOAT}),
            ("Unsqueeze", "score class_at", "beside", {}),
            ("Concat", "corners beside class", "found", {"axis": 1}),
        )
    )
    del graph.output[:]
    graph.output.append(helper.make_tensor_value_info("found", TensorProto.FLOAT, ("count", 6)))
    return model

"""Which products and networks of fewer bits are benchmarked, each an ONNX file.

    case = NARROW["GMM-512-512-512:bytes"]
    case.file(folder)               written where it is missing
    case.inputs()                   seeded arrays, in the order of the file's inputs

Kinds: `bfloat16` (a float32 file, in which only factors are rounded), `int32` (MatMulInteger),
`bytes` (QLinearMatMul, QLinearConv), `qdq` and `dynamic` (networks by onnxruntime's quantisers).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.cases import ALL
from benchmarks.models.export import onnx_file, path_of
from benchmarks.models.table import CASES
from tilewright.contract.artifact import Array

BFLOAT16, INT32, BYTES, QDQ, DYNAMIC = "bfloat16", "int32", "bytes", "qdq", "dynamic"
KINDS = (BFLOAT16, INT32, BYTES, QDQ, DYNAMIC)
OPSET, IR_VERSION = 17, 8
# [M, K] x [K, N] of transformers at a length of 128, and of one token.
PRODUCTS = ((128, 768, 768), (128, 768, 3072), (128, 3072, 768), (1, 1024, 1024))
# height, width, channels, filters, kernel, stride, padding: ResNet-50's.
LAYERS = (
    (56, 56, 64, 256, 1, 1, 0), (56, 56, 256, 64, 1, 1, 0), (56, 56, 64, 64, 3, 1, 1),
    (14, 14, 256, 256, 3, 1, 1),
)  # fmt: skip
NETWORKS = {
    BFLOAT16: ("resnet50-b1", "mobilenet-v2-b1", "bert-base-b1", "gpt2-b1"),
    QDQ: ("resnet50-b1", "mobilenet-v2-b1", "bert-base-b1"),
    DYNAMIC: ("bert-base-b1",),
}


@dataclass(frozen=True)
class NarrowCase:
    """A product, a convolution (`shape` as in `benchmarks.cases`) or a network of one kind."""

    subject: str
    kind: str
    shape: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return self.of(self.kind)

    def of(self, kind: str) -> str:
        """The name of the case of another kind."""
        return f"{self.subject}:{kind}"

    @property
    def math(self) -> str:
        """What our importer is told to multiply in."""
        return BFLOAT16 if self.kind == BFLOAT16 else "float32"

    @property
    def rank(self) -> int:
        """Spatial dimensions of its images."""
        return 2 * (len(self.shape) == 7) if self.shape else CASES[self.subject].network.rank

    def path(self, folder: Path) -> Path:
        """Where the file is, or will be; what this module makes is named by what it says, too."""
        stem = self.subject
        if not self.shape:
            whole = path_of(CASES[self.subject], folder)
            if self.kind == BFLOAT16:
                return whole
            stem = whole.stem
        digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
        return folder / f"{stem}-{self.kind}-{digest}.onnx"

    def file(self, folder: Path) -> Path:
        """The file; written where it is missing, whole or not at all."""
        path = self.path(folder)
        whole = None if self.shape else onnx_file(CASES[self.subject], folder)
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(".partial")
            if whole is None:
                self._write(partial)
            else:
                self._quantise(whole, partial)
            partial.replace(path)
        return path

    def inputs(self) -> tuple[Array, ...]:
        """Seeded arrays."""
        if not self.shape:
            return CASES[self.subject].inputs()
        rng = np.random.default_rng(0)
        shape = _input_of(self.shape)
        if self.kind == BFLOAT16:
            return (rng.standard_normal(shape, np.float32),)
        return (rng.integers(0, 256, shape, np.uint8),)

    def weights(self) -> Array:
        """Of a product [K, N], of a convolution [filters, channels, kernel, kernel]; seeded."""
        shape, rng = _weights_of(self.shape), np.random.default_rng(1)
        if self.kind == BFLOAT16:
            return rng.standard_normal(shape, np.float32)
        return rng.integers(-128, 128, shape).astype(np.int8)

    def _quantise(self, whole: Path, path: Path) -> None:
        """By onnxruntime: bytes unsigned, weights signed, a scale a channel."""
        from onnxruntime.quantization import (
            QuantFormat,
            QuantType,
            quantize_dynamic,
            quantize_static,
        )

        if self.kind == DYNAMIC:
            quantize_dynamic(whole, path, weight_type=QuantType.QInt8)
            return
        case = CASES[self.subject]
        feeds = iter([dict(zip(case.input_shapes(), case.inputs(), strict=True))])
        quantize_static(
            whole,
            path,
            SimpleNamespace(get_next=lambda: next(feeds, None)),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )

    def _write(self, path: Path) -> None:
        """A node whose weights are constants."""
        import onnx
        from onnx import TensorProto, helper, numpy_helper

        is_image = len(self.shape) == 7
        window: dict[str, Any] = {}
        if is_image:
            stride, pad = self.shape[5:]
            window = {"strides": [stride] * 2, "pads": [pad] * 4}
        # One scale of a product's weights: OpenVINO reads no more.
        scales = (self.shape[3],) if is_image else ()
        values: dict[str, Any] = {"w": self.weights()}
        given, result, names = TensorProto.UINT8, TensorProto.UINT8, ["x", "w"]
        op = "Conv" if is_image else "MatMul"
        if self.kind == BFLOAT16:
            given = result = TensorProto.FLOAT
        elif self.kind == INT32:
            op, result = f"{op}Integer", TensorProto.INT32
            values["zx"], names = np.uint8(117), ["x", "w", "zx"]
        else:
            op, names = f"QLinear{op}", ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy"]
            values |= {
                "sx": np.float32(0.02), "zx": np.uint8(117), "sw": np.full(scales, 0.01, "f4"),
                "zw": np.zeros(scales, np.int8), "sy": np.float32(5), "zy": np.uint8(128),
            }  # fmt: skip
        graph = helper.make_graph(
            [helper.make_node(op, names, ["y"], **window)],
            self.subject,
            [helper.make_tensor_value_info("x", given, _input_of(self.shape))],
            [helper.make_tensor_value_info("y", result, None)],
            [numpy_helper.from_array(np.asarray(v), k) for k, v in values.items()],
        )
        opsets = [helper.make_opsetid("", OPSET)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION), path)


def _input_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """[M, K], or an image [1, channels, height, width]."""
    return shape[:2] if len(shape) == 3 else (1, shape[2], *shape[:2])


def _weights_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """[K, N], or [filters, channels, kernel, kernel]."""
    return shape[1:] if len(shape) == 3 else (shape[3], shape[2], shape[4], shape[4])


def _table() -> dict[str, NarrowCase]:
    published = [c.shape for c in ALL.values() if c.operator in ("GMM", "C2D") and c.batch == 1]
    products = [s for s in published if len(s) == 3] + list(PRODUCTS)
    layers = [s for s in published if len(s) == 7] + list(LAYERS)
    cases = []
    for shape in dict.fromkeys((*products, *layers)):
        kinds = (BFLOAT16, INT32, BYTES) if len(shape) == 3 else (BFLOAT16, BYTES)
        letters = "GMM" if len(shape) == 3 else "C2D"
        name = "-".join([letters, *map(str, shape)])
        cases += [NarrowCase(name, kind, shape) for kind in kinds]
    cases += [NarrowCase(name, kind) for kind, names in NETWORKS.items() for name in names]
    return {case.name: case for case in cases}


NARROW = _table()

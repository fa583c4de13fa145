"""Networks whose shapes vary, as one ONNX file each: what is given, over which ranges.

    case = SHAPED["bert-base:64"]
    case.file(folder)               written by PyTorch's exporter where it is missing
    case.inputs()                   seeded arrays of this case's sizes

A case is a network of `benchmarks.models.table` at values of its sizes, or a decoder of
`benchmarks.models.decoders` that reads a token more than its cache has.
"""

from __future__ import annotations

import hashlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import onnx
from numpy.random import Generator

from benchmarks.models import decoders
from benchmarks.models.export import OPSET
from benchmarks.models.llama import LLAMA
from benchmarks.models.table import CASES
from tilewright.contract.artifact import Array

Values = Mapping[str, int]


class ShapedFile(ABC):
    """A network as a file, whose inputs vary in `ranges`. It is loaded with `fixed` shapes, too,
    and for a range with a `state`.
    """

    name: str
    ranges: Mapping[str, tuple[int, int]]
    fixed: Mapping[str, int]
    state: str | None
    step: ClassVar[int] = 1
    """Dimensions are multiples of it."""

    def file(self, folder: Path) -> Path:
        """The file; written where it is missing, whole or not at all."""
        digest = hashlib.sha256(self._source.read_bytes()).hexdigest()[:8]
        path = folder / f"{self.name}-shaped-{digest}.onnx"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(".partial")
            self._export(partial)
            partial.replace(path)
        return path

    def numbers(self, values: Values) -> Values:
        """All dimensions that these sizes make numbers."""
        return values

    @property
    def _source(self) -> Path:
        """What the file is made from."""
        return Path(__file__)

    @abstractmethod
    def _export(self, path: Path) -> None: ...

    @property
    @abstractmethod
    def rank(self) -> int:
        """Spatial dimensions of its images."""

    @abstractmethod
    def inputs(self, values: Values) -> dict[str, Array]:
        """Seeded arrays of these sizes by name, in the order of the file."""


@dataclass(frozen=True)
class ShapedNetwork(ShapedFile):
    """A network of the table whose inputs have `axes` that vary in `ranges`."""

    name: str
    case: str
    axes: Mapping[str, Mapping[int, str]]
    ranges: Mapping[str, tuple[int, int]]
    draw: Callable[[Generator, Values], tuple[Array, ...]]
    outputs: tuple[str, ...] = ("output",)
    fixed: ClassVar[Mapping[str, int]] = {}
    state: ClassVar[str | None] = None

    @property
    def rank(self) -> int:
        return CASES[self.case].network.rank

    def inputs(self, values: Values) -> dict[str, Array]:
        drawn = self.draw(np.random.default_rng(1), values)
        return dict(zip(CASES[self.case].network.inputs, drawn, strict=True))

    def _export(self, path: Path) -> None:
        import torch

        case = CASES[self.case]
        middle = {size: (least + most) // 2 for size, (least, most) in self.ranges.items()}
        inputs = tuple(map(torch.from_numpy, self.draw(np.random.default_rng(0), middle)))
        torch.onnx.export(
            case.module(),
            inputs,
            path,
            dynamo=False,
            input_names=list(case.network.inputs),
            output_names=list(self.outputs),
            opset_version=OPSET,
            dynamic_axes={name: dict(axes) for name, axes in self.axes.items()},
        )


@dataclass(frozen=True)
class ShapedDetector(ShapedNetwork):
    """A network that finds boxes, and suppresses those that better ones overlap."""

    step: ClassVar[int] = 32

    @property
    def _source(self) -> Path:
        return Path(__file__).with_name("yolo.py")

    def _export(self, path: Path) -> None:
        from benchmarks.models.yolo import with_suppression

        super()._export(path)
        onnx.save(with_suppression(onnx.load(path)), path)


@dataclass(frozen=True)
class CachedNetwork(ShapedFile):
    """A decoder of one text that reads a token a call, and keeps its cache."""

    decoder: decoders.Decoder
    fixed: ClassVar[Mapping[str, int]] = {"batch": 1, "seq": 1}
    state: ClassVar[str | None] = "cache"
    rank: ClassVar[int] = 0

    @property
    def name(self) -> str:
        return self.decoder.name

    @property
    def ranges(self) -> Mapping[str, tuple[int, int]]:
        return {"past": (0, self.decoder.positions - 1)}

    @property
    def _source(self) -> Path:
        return Path(sys.modules[type(self.decoder).__module__].__file__ or "")

    def numbers(self, values: Values) -> Values:
        return {**values, "total": values["past"] + 1} if not self.decoder.frames else values

    def inputs(self, values: Values) -> dict[str, Array]:
        return self.decoder.inputs(1, values["past"])

    def _export(self, path: Path) -> None:
        path.write_bytes(self.decoder.model().SerializeToString())


@dataclass(frozen=True)
class ShapedCase:
    """A network at values of its sizes."""

    network: ShapedNetwork | CachedNetwork
    values: Values

    @property
    def name(self) -> str:
        return f"{self.network.name}:{'x'.join(map(str, self.values.values()))}"

    def inputs(self) -> dict[str, Array]:
        """Seeded arrays by name, in the order of the file."""
        return self.network.inputs(self.values)

    def near(self, count: int) -> list[ShapedCase]:
        """So many other cases, each dimension of the next one a step less, or more where less is
        out of its range.
        """

        def moved(name: str, steps: int) -> int:
            less = self.values[name] - steps * self.network.step
            in_range = less >= self.network.ranges[name][0]
            return less if in_range else self.values[name] + steps * self.network.step

        return [
            replace(self, values={name: moved(name, k) for name in self.values})
            for k in range(1, count + 1)
        ]

    def shapes(self, is_static: bool) -> dict[str, Any]:
        """What the network is loaded with: of this case alone, or of its range."""
        given = self.network.numbers(self.values) if is_static else self.network.ranges
        return {**self.network.fixed, **given}


def _text(rng: Generator, values: Values) -> tuple[Array, ...]:
    """Tokens, a mask whose last eighth is padding, types."""
    shape = values.get("batch", 1), values["seq"]
    ends = np.arange(shape[1]) < shape[1] - shape[1] // 8
    mask = np.broadcast_to(ends, shape).astype(np.int64)
    return rng.integers(0, 30522, shape), mask, rng.integers(0, 2, shape)


def _image(rng: Generator, values: Values) -> tuple[Array, ...]:
    return (rng.standard_normal((1, 3, values["height"], values["width"]), np.float32),)


TEXT = ("ids", "mask", "types")
BERT = ShapedNetwork(
    "bert-base", "bert-base-b1", {name: {1: "seq"} for name in TEXT}, {"seq": (1, 512)}, _text
)
BATCHES = ShapedNetwork(
    "bert-batches",
    "bert-base-b1",
    {name: {0: "batch", 1: "seq"} for name in TEXT},
    {"batch": (1, 8), "seq": (1, 256)},
    _text,
)
SIDES_VARY: dict[str, Any] = {"axes": {"image": {2: "height", 3: "width"}}, "draw": _image}
ANY, MULTIPLES = ({"height": ends, "width": ends} for ends in ((96, 640), (64, 640)))
IMAGES = tuple(
    ShapedNetwork(name, f"{name}-b1", ranges=ANY, **SIDES_VARY)
    for name in ("resnet50", "mobilenet-v2", "unet")
)
DETECTOR = ShapedDetector(
    "yolo", "yolo-b1", ranges=MULTIPLES, outputs=("boxes", "scores"), **SIDES_VARY
)
CACHES = {
    CachedNetwork(decoders.GPT2): (16, 256, 1000),
    CachedNetwork(decoders.WHISPER): (16, 424),
    CachedNetwork(LLAMA): (16, 1000),
}
BATCHED = tuple((batch, length) for batch in (1, 3, 8) for length in (7, 37, 128, 256))
LENGTHS = (1, 7, 16, 33, 64, 100, 128, 197, 256, 384, 511, 512)
SIDES = ((96, 96), (160, 224), (224, 224), (333, 200), (480, 640), (640, 640))
DETECTED = ((320, 320), (480, 640), (640, 640))
SHAPED = {
    case.name: case
    for case in (
        *(ShapedCase(BERT, {"seq": n}) for n in LENGTHS),
        *(ShapedCase(BATCHES, {"batch": b, "seq": n}) for b, n in BATCHED),
        *(ShapedCase(net, {"height": h, "width": w}) for net in IMAGES for h, w in SIDES),
        *(ShapedCase(DETECTOR, {"height": h, "width": w}) for h, w in DETECTED),
        *(ShapedCase(net, {"past": n}) for net, lengths in CACHES.items() for n in lengths),
    )
}

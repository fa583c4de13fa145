"""Which networks are benchmarked, with which inputs, at which batch sizes.

    case = CASES["resnet50-b1"]
    case.inputs()                   seeded arrays, in the order of the module's arguments
    case.module()                   the PyTorch module with its weights (imports PyTorch)

A network is a file of this folder whose `make()` builds the module; its inputs are named here, so
that what runs ONNX files alone needs no PyTorch.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from tilewright.contract.artifact import Array

if TYPE_CHECKING:
    from torch import nn

# An input's values for a batch size.
Draw = Callable[[Generator, int], Array]


def floats(*shape: int) -> Draw:
    """Standard normal float32 values `[batch, *shape]`."""
    return lambda rng, batch: rng.standard_normal((batch, *shape), np.float32)


def tokens(vocabulary: int, length: int) -> Draw:
    """Token numbers, int64 `[batch, length]`."""
    return lambda rng, batch: rng.integers(0, vocabulary, (batch, length), np.int64)


def mask(length: int, padding: int) -> Draw:
    """int64 `[batch, length]`: 1 for tokens, 0 for the last `padding` places."""

    def draw(rng: Generator, batch: int) -> Array:
        return np.tile((np.arange(length) < length - padding).astype(np.int64), (batch, 1))

    return draw


@dataclass(frozen=True)
class Network:
    """An architecture: the module of this folder that builds it, its inputs by name.

    `rank` is the number of spatial dimensions of its images, 0 if it has none. `make` is given the
    `options`; a `folded` one is deployed without batch norms. One that is not `published` runs
    where it is asked for by name. A `traced` one is exported by tracing, which keeps operators
    whole and takes a hundredth of the time: for what has no control flow.
    """

    name: str
    file: str
    inputs: dict[str, Draw]
    rank: int = 2
    batches: tuple[int, ...] = (1,)
    published: bool = True
    options: tuple[str | float, ...] = ()
    folded: bool = False
    traced: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether it is no part of a network."""
        return self.file not in ("chains", "edges")

    def draw(self, batch: int, seed: int) -> tuple[Array, ...]:
        """All inputs for a batch size."""
        rng = np.random.default_rng(seed)
        return tuple(one(rng, batch) for one in self.inputs.values())


@dataclass(frozen=True)
class NetworkCase:
    """A network at a batch size."""

    network: Network
    batch: int

    @property
    def name(self) -> str:
        return f"{self.network.name}-b{self.batch}"

    def inputs(self) -> tuple[Array, ...]:
        """Seeded inputs."""
        return self.network.draw(self.batch, seed=1)

    def input_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every input by name."""
        names = self.network.inputs
        return {name: x.shape for name, x in zip(names, self.inputs(), strict=True)}

    def module(self) -> nn.Module:
        """The module in inference mode, the same weights for all batch sizes."""
        from benchmarks.models.weights import CALIBRATION_BATCH, folded, initialised

        architecture = importlib.import_module(f"benchmarks.models.{self.network.file}")
        samples = self.network.draw(CALIBRATION_BATCH, seed=0)
        made = initialised(partial(architecture.make, *self.network.options), samples)
        return folded(made) if self.network.folded else made


def bert(name: str, length: int, published: bool = True) -> Network:
    """BERT-base for texts of that length, an eighth of which is padding."""
    ids, types = tokens(30522, length), tokens(2, length)
    inputs = {"ids": ids, "mask": mask(length, padding=length // 8), "types": types}
    return Network(name, "bert", inputs, rank=0, published=published)


def chain(
    name: str,
    inputs: dict[str, Draw],
    batches: tuple[int, ...],
    *options: str | int,
    file: str = "chains",
) -> Network:
    """Contractions back to back."""
    return Network(name, file, inputs, 0, batches, published=False, options=options)


def image_chain(kind: str, size: int, *sizes: int, batches: tuple[int, ...]) -> Network:
    """The same of images of that size; `sizes` begin with their channels."""
    name = "-".join(map(str, (kind, size, *sizes)))
    found = chain(name, {"x": floats(sizes[0], size, size)}, batches, kind, *sizes)
    return replace(found, rank=2)


def channels_last(network: Network) -> Network:
    """The same chain of images whose channels come last."""
    inputs = {name: _last(draw) for name, draw in network.inputs.items()}
    options = ("channels_last", *network.options)
    return replace(network, name=f"{network.name}-last", inputs=inputs, options=options)


def _last(draw: Draw) -> Draw:
    return lambda rng, batch: np.ascontiguousarray(np.moveaxis(draw(rng, batch), 1, -1))


# Tables 1 and 2 of the paper, blocks of MobileNet-V2, attention and an MLP of BERT.
GEMM_CHAINS = tuple(
    chain(f"gemms-{k}-{n}-{last}", {"x": floats(k)}, (m,), "gemms", k, n, last)
    for m, n, k, last in (
        (2464, 1, 4, 4), (16384, 64, 256, 16), (32768, 128, 576, 64), (128320, 32, 96, 96)
    )
)  # fmt: skip
IMAGE_CHAINS = (
    *(
        image_chain("conv_pointwise", *sizes, batches=(4,))
        for sizes in (
            (224, 3, 48, 2), (112, 48, 48, 2), (56, 48, 48, 1),
            (224, 3, 64, 2), (112, 64, 64, 2), (56, 64, 64, 1),
        )
    ),
    *(
        image_chain("block", *sizes, batches=(1, 16))
        for sizes in (
            (112, 16, 24, 2), (56, 24, 24, 1), (56, 24, 32, 2),
            (28, 32, 32, 1), (14, 64, 64, 1), (7, 160, 160, 1),
        )
    ),
)  # fmt: skip
HEADS, HEAD_SIZE = 12, 64
TEXT_CHAINS = (
    *(
        chain(
            f"attention-{length}",
            dict.fromkeys(("q", "k", "v"), floats(HEADS, length, HEAD_SIZE)),
            (1,),
            "attention",
        )
        for length in (128, 384, 512, 1024, 4096)
    ),
    chain("mlp-768", {"x": floats(768)}, (128,), "mlp", 768),
)
CHAINS = (*GEMM_CHAINS, *IMAGE_CHAINS, *TEXT_CHAINS)
# Batch norm and ReLU before a convolution: of DenseNet-121 and a pre-activation ResNet-50.
NORMS = (
    image_chain("norm_conv", 56, 256, 128, 1, batches=(1,)),
    image_chain("norm_conv", 56, 256, 64, 1, batches=(1,)),
)


def edge(
    kind: str, *options: str | int, batch: int = 1, sized: bool = False, **draws: Draw
) -> Network:
    """What moves data, named by its options and the shape of its inputs. The module of a `sized`
    one is made for its channels, or its rows' length.
    """
    shape = next(iter(draws.values()))(np.random.default_rng(0), 1).shape[1:]
    name = "-".join((kind, *map(str, options), "x".join(map(str, shape))))
    made_for = (kind, shape[0], *options) if sized else (kind, *options)
    return replace(chain(name, draws, (batch,), *made_for, file="edges"), traced=True)


def edge_of(
    kind: str, *options: str | int, of: tuple[int, ...], batch: int = 1, sized: bool = False
) -> Network:
    """The same of one input `[batch, *of]`."""
    return edge(kind, *options, batch=batch, sized=sized, x=floats(*of))


# What moves data, by what is hard about it: shapes of vision networks and transformers.
TO_LAST, TO_FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
EDGES: dict[str, tuple[Network, ...]] = {
    "transposes": (
        *(
            edge("transposed_sum", batch=m, x=floats(n), y=floats(n))
            for m, n in ((1024, 1024), (2048, 2048), (1000, 1000), (4096, 512))
        ),
        *(
            edge_of("permuted", *TO_LAST, of=s)
            for s in ((64, 56, 56), (256, 28, 28), (3, 224, 224))
        ),
        *(
            edge_of("permuted", *TO_FIRST, of=s)
            for s in ((56, 56, 64), (28, 28, 256), (224, 224, 3))
        ),
        edge_of("permuted", *TO_FIRST, of=(640, 640, 3)),
        edge_of("permuted", 0, 2, 1, 3, of=(384, 12, 64)),
        edge_of("permuted", *TO_LAST, of=(384, 12, 64)),
        edge_of("depth_to_space", 2, of=(64, 112, 112)),
        edge_of("space_to_depth", 2, of=(16, 224, 224)),
        edge_of("windows", 7, of=(56, 56, 96)),
        edge_of("permuted_gelu", *TO_LAST, of=(384, 56, 56)),
    ),
    "layouts": (
        edge_of("depthwise", 3, 2, of=(144, 56, 56), sized=True),
        edge_of("depthwise", 3, 1, of=(32, 112, 112), sized=True),
        edge_of("depthwise", 5, 2, of=(240, 28, 28), sized=True),
        edge_of("depthwise", 5, 1, of=(672, 14, 14), sized=True),
        edge_of("pointwise", 96, of=(24, 112, 112), sized=True),
        edge_of("pointwise", 96, of=(16, 112, 112), sized=True),
        edge_of("max_pool", 3, 2, 1, of=(64, 112, 112)),
        edge_of("average_pool", 2, 2, of=(128, 56, 56)),
        edge_of("global_pool", of=(1280, 7, 7)),
        edge_of("global_pool", of=(2048, 7, 7)),
        edge_of("conv_transpose", 32, 2, 2, of=(64, 28, 28), sized=True),
        edge_of("conv1d", 64, 5, of=(64, 1000), sized=True),
        edge_of("resize", "bilinear", of=(64, 56, 56)),
        edge_of("resize", "nearest", of=(128, 40, 40)),
        edge("concat", x=floats(128, 40, 40), y=floats(128, 40, 40)),
        edge_of("channel_shuffle", 2, of=(116, 28, 28)),
    ),
    "rows": (
        edge_of("softmax", of=(50257,)),
        edge_of("softmax", of=(50257,), batch=8),
        edge_of("softmax", of=(4096,), batch=64),
        edge_of("log_softmax", of=(32000,), batch=32),
        edge_of("layer_norm", of=(768,), batch=384, sized=True),
        edge_of("layer_norm", of=(4096,), sized=True),
        edge_of("layer_norm", of=(16384,), batch=16, sized=True),
        edge_of("rms_norm", of=(4096,), batch=512, sized=True),
        edge_of("instance_norm", of=(64, 112, 112), sized=True),
        edge_of("norm", of=(3_000_000,)),
        edge_of("sum", of=(4_000_000,)),
    ),
    "functions": (
        edge_of("gelu", of=(3072,), batch=384),
        edge_of("gelu", "tanh", of=(3072,), batch=1024),
        edge_of("silu", of=(96, 112, 112)),
        edge_of("sigmoid", of=(3, 640, 640)),
        edge_of("tanh", of=(4096,), batch=64),
        edge_of("exp", of=(1_000_000,)),
        edge_of("hardswish", of=(240, 28, 28)),
        edge_of("softplus", of=(256, 38, 38)),
        edge_of("mish", of=(256, 38, 38)),
    ),
    "strides": (
        edge_of("max_pool", 2, 2, of=(64, 112, 112)),
        edge_of("average_pool", 3, 2, 1, of=(240, 28, 28)),
        edge_of("slices", of=(3, 640, 640)),
        edge_of("every_second", of=(4096,), batch=4096),
        edge_of("rotary", 384, 64, of=(12, 384, 64)),
    ),
    "orders": (
        edge_of("prefix_sums", of=(48_000,)),
        edge_of("prefix_sums", of=(240_000,)),
        edge_of("largest", 300, of=(8_400,)),
        edge_of("largest", 300, of=(24_000,)),
        edge_of("largest", 5, of=(1_000,)),
        edge_of("sorted", of=(20_000,)),
        edge_of("scattered", 20_000, 10_000, of=(10_000,)),
        edge_of("scattered", 20_000, 10_000, "rows", of=(10_000, 8)),
        replace(edge_of("spectrum", of=(4_096,)), traced=False),
    ),
}


def repvgg(size: str, activation: str = "relu", deepened: float = 0) -> Network:
    """RepVGG as in Bolt's section 4.3: `deepened` layers have a 1x1 convolution more (inf: all)."""
    kind = "repvgg" if not deepened else "repvggaug" if deepened == inf else f"repvggaug{deepened}"
    name = "-".join((kind, size.lower(), *(() if activation == "relu" else (activation,))))
    return Network(
        name, "repvgg", {"image": floats(3, 224, 224)}, published=False,
        options=(size, activation, deepened), folded=True,
    )  # fmt: skip


REPVGG = (
    *(repvgg("A0", activation) for activation in ("relu", "gelu", "hardswish", "softplus")),
    *(repvgg(size) for size in ("A1", "B0")),
    *(repvgg(size, "relu", inf) for size in ("A0", "A1", "B0")),
    *(repvgg(size, "hardswish", inf) for size in ("A0", "A1", "B0")),
    repvgg("A0", "hardswish", 3),
)
"""Of Bolt's tables 4 to 6."""
LENGTHS = (16, 32, 64, 96, 192, 256, 384)  # of BERT besides 128
NETWORKS = (
    Network("resnet50", "resnet", {"image": floats(3, 224, 224)}, batches=(1, 16)),
    Network("mobilenet-v2", "mobilenet_v2", {"image": floats(3, 224, 224)}, batches=(1, 16)),
    Network("resnet3d-18", "resnet3d", {"clip": floats(3, 16, 112, 112)}, rank=3),
    Network("dcgan", "dcgan", {"noise": floats(100, 1, 1)}),
    bert("bert-base", 128),
    Network("inception-v3", "inception_v3", {"image": floats(3, 299, 299)}),
    Network("gpt2", "gpt2", {"ids": tokens(50257, 128)}, rank=0),
    Network("resnet50", "resnet", {"image": floats(3, 224, 224)}, batches=(4, 8), published=False),
    Network("ppocr-det", "ppocr_det", {"image": floats(3, 320, 320)}, published=False),
    Network("unet", "unet", {"image": floats(3, 224, 224)}, published=False, traced=True),
    Network("yolo", "yolo", {"image": floats(3, 640, 640)}, published=False, traced=True),
    Network("tiny", "tiny", {"image": floats(3, 8, 8)}, published=False),
    *REPVGG,
    *(bert(f"bert-base-{length}", length, published=False) for length in LENGTHS),
    *CHAINS,
    *NORMS,
    *(network for networks in EDGES.values() for network in networks),
    *map(channels_last, (*IMAGE_CHAINS, *NORMS)),
)

CASES = {
    case.name: case
    for network in NETWORKS
    for case in (NetworkCase(network, batch) for batch in network.batches)
}
PUBLISHED = tuple(case.name for case in CASES.values() if case.network.published)

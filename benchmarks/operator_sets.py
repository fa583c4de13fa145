"""The workloads of ETO's evaluation (table 2 and section 7): operators of networks, and pairs.

    for name, case, frequency in SETS["ResNet50"]: case.dag()
    for target, source in pairs("C2D"): ...         target may reuse a program of source

A set has the different operators of one or several networks, without what surrounds them, and how
often the networks run each. Batches are 1 but for the two "-L" sets; images 224 x 224; layouts
channels-last; a bias is no part of an operator. The shapes follow from:

ResNet50      He et al. 2015, arXiv 1512.03385. Version 1, the stride on a block's first 1x1
              convolution, as GluonCV's resnet50_v1, the paper's: `models/resnet.py` is version 1.5
              (strides on the 3x3 ones), which has 23 different convolutions.
MobileNetV2   Sandler et al. 2018, arXiv 1801.04381. The classifier is a 1x1 convolution, as
              GluonCV's, the paper's "+1"; in `models/mobilenet_v2.py` it is a matrix product.
ResNeSt50     Zhang et al. 2020, arXiv 2004.08955: 2 splits of 1 group, a stem of three 3x3
              convolutions, strides in average pooling. Convolutions of the attention are of 1 x 1
              pixels.
1D-IR         github.com/hanxuh-hub/1D-Inception-ResNet-V2-Model. Its comments say lengths of 35,
              17 and 8, which inputs of 299 have (as the 2D network's 299 x 299). It leaves the
              input's channels open: 3, the 2D network's.
R2P1D         R(2+1)D-18, Tran et al. 2018, arXiv 1711.11248: clips of 16 x 112 x 112, t * s * s
              windows split into 1 * s * s and t * 1 * 1 with M_i channels between.
DCGAN         Radford et al. 2015, arXiv 1511.06434: the generator of `models/dcgan.py`.
BERT-Base     Devlin et al. 2018, arXiv 1810.04805: 128 tokens. Products of an encoder's layer:
              dense layers [batch, length, k] x [k, n] of constant weights, and those of the
              attention [batch * heads, m, k] x [batch * heads, k, n].
BERT-L        Base and Large of batches 1 and 16 and 64 and 128 tokens. With 64 tokens both products
              of the attention are of one shape.

Counts of operators are all the paper's. Types are not: its BMM are of one type, ours of two, as
constant weights are one for the batch, and packed before anything runs. Its C2D of MobileNetV2 and
ResNeSt50 are of two types, by their sketches, ours of one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import permutations
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np

from benchmarks.cases import (
    BATCHES,
    CASES,
    Case,
    conv1d,
    conv2d,
    conv3d,
    depthwise,
    grouped,
    matmul,
    transposed,
)
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.reference import static_shape
from tilewright.expr.tensors import placeholder
from tilewright.schedule.state import State
from tilewright.search.reuse.family import (
    Family,
    Nest,
    Operator,
    bridge,
    bridges,
    comparable,
    major_stage,
)
from tilewright.space.derivation import Derivation, Verdict
from tilewright.space.rules.winograd import WINOGRAD
from tilewright.target import Target

MOST_FLOP = 2e9  # of an operator of a pair, that a trial takes milliseconds
MOST_BYTES = 2**28  # that it reads, for the same reason: norms hardly compute


class Entry(NamedTuple):
    """An operator of a set; `frequency` is how often the set's networks run it."""

    name: str
    case: Case
    frequency: int


@dataclass(frozen=True)
class Bridge:
    """The operator of another nest in the family of a case."""

    name: str
    case: Case
    nest: Nest

    def dag(self) -> ComputeDAG:
        """The computation to tune."""
        return bridge(self.case.dag(), self.nest)


Workload: TypeAlias = Case | Bridge
Row: TypeAlias = tuple[int, Callable[..., Tensor], tuple[int, ...]]
"""Frequency, the function that makes an operator, and its arguments behind the batch."""


def dense(n: int, length: int, ci: int, co: int) -> Tensor:
    """A layer of constant weights on every token."""
    x = placeholder((n, length, ci), name="x")
    return ops.dense(x, placeholder((ci, co), name="w", constant=True))


def attention(n: int, heads: int, rows: int, columns: int, depth: int) -> Tensor:
    """A product of two activations for every head."""
    return matmul(n * heads, rows, columns, depth)


def in_space(n: int, d: int, size: int, ci: int, co: int, k: int, s: int) -> Tensor:
    """A convolution with windows of 1 x k x k."""
    x = placeholder((n, d, size, size, ci), name="x")
    w = placeholder((1, k, k, ci, co), name="w", constant=True)
    return ops.conv3d(x, w, stride=(1, s, s), padding=(0, k // 2, k // 2))


def in_time(n: int, d: int, size: int, ci: int, co: int, k: int, s: int) -> Tensor:
    """A convolution with windows of k x 1 x 1."""
    x = placeholder((n, d, size, size, ci), name="x")
    w = placeholder((k, 1, 1, ci, co), name="w", constant=True)
    return ops.conv3d(x, w, stride=(s, 1, 1), padding=(k // 2, 0, 0))


OPERATORS: dict[Callable[..., Tensor], str] = {
    conv1d: "C1D", conv2d: "C2D", conv3d: "C3D", in_space: "C3D", in_time: "C3D", dense: "BMM",
    attention: "BMM", grouped: "GRP", depthwise: "DEP", transposed: "T2D",
}  # fmt: skip
"""The paper's names of operators."""

# frequency, (rows and columns, input channels, output channels, window, stride); padded to half
# a window
RESNET50 = (
    (1, (224, 3, 64, 7, 2)),
    (1, (56, 64, 64, 1, 1)), (3, (56, 64, 64, 3, 1)), (4, (56, 64, 256, 1, 1)),
    (2, (56, 256, 64, 1, 1)),
    (1, (56, 256, 128, 1, 2)), (1, (56, 256, 512, 1, 2)), (4, (28, 128, 128, 3, 1)),
    (4, (28, 128, 512, 1, 1)), (3, (28, 512, 128, 1, 1)),
    (1, (28, 512, 256, 1, 2)), (1, (28, 512, 1024, 1, 2)), (6, (14, 256, 256, 3, 1)),
    (6, (14, 256, 1024, 1, 1)), (5, (14, 1024, 256, 1, 1)),
    (1, (14, 1024, 512, 1, 2)), (1, (14, 1024, 2048, 1, 2)), (3, (7, 512, 512, 3, 1)),
    (3, (7, 512, 2048, 1, 1)), (2, (7, 2048, 512, 1, 1)),
)  # fmt: skip
MOBILENET_V2 = (
    (1, (224, 3, 32, 3, 2)), (1, (112, 32, 16, 1, 1)),
    (1, (112, 16, 96, 1, 1)), (1, (56, 96, 24, 1, 1)), (2, (56, 24, 144, 1, 1)),
    (1, (56, 144, 24, 1, 1)), (1, (28, 144, 32, 1, 1)), (3, (28, 32, 192, 1, 1)),
    (2, (28, 192, 32, 1, 1)), (1, (14, 192, 64, 1, 1)), (4, (14, 64, 384, 1, 1)),
    (3, (14, 384, 64, 1, 1)), (1, (14, 384, 96, 1, 1)), (3, (14, 96, 576, 1, 1)),
    (2, (14, 576, 96, 1, 1)), (1, (7, 576, 160, 1, 1)), (3, (7, 160, 960, 1, 1)),
    (2, (7, 960, 160, 1, 1)), (1, (7, 960, 320, 1, 1)), (1, (7, 320, 1280, 1, 1)),
    (1, (1, 1280, 1000, 1, 1)),
)  # fmt: skip
RESNEST50 = (
    (1, (224, 3, 32, 3, 2)), (1, (112, 32, 32, 3, 1)), (1, (112, 32, 64, 3, 1)),
    (1, (56, 64, 64, 1, 1)), (4, (56, 64, 256, 1, 1)), (2, (56, 256, 64, 1, 1)),
    (3, (1, 64, 32, 1, 1)), (3, (1, 32, 128, 1, 1)),
    (1, (56, 256, 128, 1, 1)), (1, (28, 256, 512, 1, 1)), (4, (28, 128, 512, 1, 1)),
    (3, (28, 512, 128, 1, 1)), (4, (1, 128, 64, 1, 1)), (4, (1, 64, 256, 1, 1)),
    (1, (28, 512, 256, 1, 1)), (1, (14, 512, 1024, 1, 1)), (6, (14, 256, 1024, 1, 1)),
    (5, (14, 1024, 256, 1, 1)), (6, (1, 256, 128, 1, 1)), (6, (1, 128, 512, 1, 1)),
    (1, (14, 1024, 512, 1, 1)), (1, (7, 1024, 2048, 1, 1)), (3, (7, 512, 2048, 1, 1)),
    (2, (7, 2048, 512, 1, 1)), (3, (1, 512, 256, 1, 1)), (3, (1, 256, 1024, 1, 1)),
)  # fmt: skip

# frequency, (rows and columns, channels, stride); windows of 3 x 3
MOBILENET_V2_DEPTHWISE = (
    (1, (112, 32, 1)), (1, (112, 96, 2)), (1, (56, 144, 1)), (1, (56, 144, 2)), (2, (28, 192, 1)),
    (1, (28, 192, 2)), (4, (14, 384, 1)), (2, (14, 576, 1)), (1, (14, 576, 2)), (3, (7, 960, 1)),
)  # fmt: skip
# frequency, (rows and columns, input channels, output channels); 3 x 3, one group a split
RESNEST50_GROUPED = (
    (3, (56, 64, 128)), (1, (56, 128, 256)), (3, (28, 128, 256)), (1, (28, 256, 512)),
    (5, (14, 256, 512)), (1, (14, 512, 1024)), (2, (7, 512, 1024)),
)  # fmt: skip
SPLITS = 2

# frequency, (length, input channels, output channels, window, stride, padding)
INCEPTION_RESNET_1D = (
    (1, (299, 3, 32, 3, 2, 0)), (1, (149, 32, 32, 3, 1, 0)), (1, (147, 32, 64, 3, 1, 1)),
    (1, (73, 64, 80, 1, 1, 0)), (1, (73, 80, 192, 3, 1, 0)),
    # mixed 5b, then 10 blocks of 320 channels
    (1, (35, 192, 96, 1, 1, 0)), (1, (35, 192, 48, 1, 1, 0)), (1, (35, 48, 64, 5, 1, 2)),
    (2, (35, 192, 64, 1, 1, 0)), (1, (35, 64, 96, 3, 1, 1)), (1, (35, 96, 96, 3, 1, 1)),
    (30, (35, 320, 32, 1, 1, 0)), (10, (35, 32, 32, 3, 1, 1)), (10, (35, 32, 48, 3, 1, 1)),
    (10, (35, 48, 64, 3, 1, 1)), (10, (35, 128, 320, 1, 1, 0)),
    # mixed 6a, then 20 blocks of 1088 channels
    (1, (35, 320, 384, 3, 2, 0)), (1, (35, 320, 256, 1, 1, 0)), (1, (35, 256, 256, 3, 1, 1)),
    (1, (35, 256, 384, 3, 2, 0)),
    (20, (17, 1088, 192, 1, 1, 0)), (20, (17, 1088, 128, 1, 1, 0)), (20, (17, 128, 160, 7, 1, 3)),
    (20, (17, 160, 192, 1, 1, 0)), (20, (17, 384, 1088, 1, 1, 0)),
    # mixed 7a, then 10 blocks of 2080 channels
    (3, (17, 1088, 256, 1, 1, 0)), (1, (17, 256, 384, 3, 2, 0)), (1, (17, 256, 288, 3, 2, 0)),
    (1, (17, 256, 288, 3, 1, 1)), (1, (17, 288, 320, 3, 2, 0)),
    (20, (8, 2080, 192, 1, 1, 0)), (10, (8, 192, 224, 3, 1, 1)), (10, (8, 224, 256, 1, 1, 0)),
    (10, (8, 448, 2080, 1, 1, 0)), (1, (8, 2080, 1536, 1, 1, 0)),
)  # fmt: skip

# frequency, (frames, rows and columns, input channels, output channels, window, stride)
R2PLUS1D_IN_SPACE = (
    (1, (16, 112, 3, 45, 7, 2)), (4, (16, 56, 64, 144, 3, 1)),
    (1, (16, 56, 64, 230, 3, 2)), (1, (8, 28, 128, 230, 3, 1)), (2, (8, 28, 128, 288, 3, 1)),
    (1, (8, 28, 128, 460, 3, 2)), (1, (4, 14, 256, 460, 3, 1)), (2, (4, 14, 256, 576, 3, 1)),
    (1, (4, 14, 256, 921, 3, 2)), (1, (2, 7, 512, 921, 3, 1)), (2, (2, 7, 512, 1152, 3, 1)),
)  # fmt: skip
R2PLUS1D_IN_TIME = (
    (1, (16, 56, 45, 64, 3, 1)), (4, (16, 56, 144, 64, 3, 1)),
    (1, (16, 28, 230, 128, 3, 2)), (1, (8, 28, 230, 128, 3, 1)), (2, (8, 28, 288, 128, 3, 1)),
    (1, (8, 14, 460, 256, 3, 2)), (1, (4, 14, 460, 256, 3, 1)), (2, (4, 14, 576, 256, 3, 1)),
    (1, (4, 7, 921, 512, 3, 2)), (1, (2, 7, 921, 512, 3, 1)), (2, (2, 7, 1152, 512, 3, 1)),
)  # fmt: skip
# those of shortcuts: (frames, rows, columns, input channels, output channels, window, stride,
# padding)
R2PLUS1D_SHORTCUTS = (
    (1, (16, 56, 56, 64, 128, 1, 2, 0)), (1, (8, 28, 28, 128, 256, 1, 2, 0)),
    (1, (4, 14, 14, 256, 512, 1, 2, 0)),
)  # fmt: skip

# frequency, (rows, columns, input channels, output channels, window, stride, padding)
DCGAN = (
    (1, (1, 1, 100, 512, 4, 1, 0)), (1, (4, 4, 512, 256, 4, 2, 1)), (1, (8, 8, 256, 128, 4, 2, 1)),
    (1, (16, 16, 128, 64, 4, 2, 1)), (1, (32, 32, 64, 3, 4, 2, 1)),
)  # fmt: skip

BERTS = {"BERT-Base": (12, 768), "BERT-Large": (24, 1024)}  # layers, width
HEAD = 64  # channels of a head
LENGTHS = (64, 128)


def square(rows: Iterable[tuple[int, tuple[int, ...]]]) -> list[Row]:
    """Convolutions of square images."""
    return [(f, conv2d, (size, size, ci, co, k, s, k // 2)) for f, (size, ci, co, k, s) in rows]


def bert(name: str, length: int) -> list[Row]:
    """The products of an encoder."""
    layers, width = BERTS[name]
    heads, inner = width // HEAD, 4 * width
    return [
        (4 * layers, dense, (length, width, width)),
        (layers, dense, (length, width, inner)),
        (layers, dense, (length, inner, width)),
        (layers, attention, (heads, length, length, HEAD)),
        (layers, attention, (heads, length, HEAD, length)),
    ]


def entries(network: str, rows: Iterable[Row], batch: int = 1) -> list[Entry]:
    """The different operators of a network."""
    frequencies: Counter[tuple[Callable[..., Tensor], tuple[int, ...]]] = Counter()
    for frequency, make, shape in rows:
        frequencies[make, shape] += frequency
    found: list[Entry] = []
    numbers: Counter[str] = Counter()
    for (make, shape), frequency in frequencies.items():
        operator = OPERATORS[make]
        name = f"{network}-{operator}-{numbers[operator]}-b{batch}"
        numbers[operator] += 1
        found.append(Entry(name, Case(name, operator, shape, batch, make), frequency))
    return found


NETWORKS: dict[str, list[Row]] = {
    "ResNet50": square(RESNET50),
    "MobileNetV2": [
        *square(MOBILENET_V2),
        *((f, depthwise, (x, x, c, 3, s, 1)) for f, (x, c, s) in MOBILENET_V2_DEPTHWISE),
    ],
    "ResNeSt50": [
        *square(RESNEST50),
        *((f, grouped, (x, x, ci, co, 3, 1, 1, SPLITS)) for f, (x, ci, co) in RESNEST50_GROUPED),
    ],
    "1D-IR": [(f, conv1d, shape) for f, shape in INCEPTION_RESNET_1D],
    "R2P1D": [
        *((f, in_space, shape) for f, shape in R2PLUS1D_IN_SPACE),
        *((f, in_time, shape) for f, shape in R2PLUS1D_IN_TIME),
        *((f, conv3d, shape) for f, shape in R2PLUS1D_SHORTCUTS),
    ],
    "DCGAN": [(f, transposed, shape) for f, shape in DCGAN],
    "BERT-Base": bert("BERT-Base", 128),
}
SETS: dict[str, list[Entry]] = {
    **{name: entries(name, rows) for name, rows in NETWORKS.items()},
    "ResNet50-L": [e for b in BATCHES for e in entries("ResNet50", NETWORKS["ResNet50"], b)],
    "BERT-L": [
        entry
        for name in BERTS
        for batch in BATCHES
        for length in LENGTHS
        for entry in entries(f"{name}-{length}", bert(name, length), batch)
    ],
}


def at_batches(name: str, operator: str) -> list[Case]:
    """The operators of a network, of one kind, at all batches."""
    rows = [row for row in NETWORKS[name] if OPERATORS[row[1]] == operator]
    return [entry.case for batch in BATCHES for entry in entries(name, rows, batch)]


def published(operator: str) -> list[Case]:
    """The benchmark's cases of an operator."""
    return [case for case in CASES.values() if case.operator == operator]


PAIR_TYPES: dict[str, list[Case]] = {
    "C1D": at_batches("1D-IR", "C1D"),
    "C2D": at_batches("ResNet50", "C2D"),
    "C3D": at_batches("R2P1D", "C3D"),
    "BMM": [entry.case for entry in SETS["BERT-L"]],
    "GRP": [*at_batches("ResNeSt50", "GRP"), *published("GRD")],
    "DEP": at_batches("MobileNetV2", "DEP"),
    "T2D": [*at_batches("DCGAN", "T2D"), *published("T2D")],
    "CAP": published("CAP"),
    "WIN": [case for case in at_batches("ResNet50", "C2D") if case.shape[4:6] == (3, 1)],
    "FRB": published("NRM"),
}
"""The operators, without bridges, of which figures 7 and 8 pair those of one type."""


def by_family(cases: Iterable[Case]) -> dict[Family, dict[Nest, Case]]:
    """Cases by family and nest, the first where several have one."""
    found: dict[Family, dict[Nest, Case]] = defaultdict(dict)
    for case in cases:
        operator = Operator.of(case.dag())
        found[operator.family].setdefault(operator.nest, case)
    return found


def with_bridges(members: dict[Nest, Case], kind: str) -> dict[Nest, Workload]:
    """The operators of one family and those one hop between them."""
    first = next(iter(members.values()))
    return {
        **members,
        **{n: Bridge(f"{kind}-{'x'.join(map(str, n))}", first, n) for n in bridges(members)},
    }


def pairs(kind: str, count: int = 8, seed: int = 0) -> list[tuple[Workload, Workload]]:
    """`count` random pairs (target, source) of a type, or all that there are.

    Nests of a pair are comparable, and both operators within the limits above; those of "WIN" have
    a program in Winograd's form.
    """
    found = [
        (target, source)
        for members in by_family(PAIR_TYPES[kind]).values()
        for (a, target), (b, source) in permutations(with_bridges(members, kind).items(), 2)
        if comparable(a, b)
    ]
    known: dict[str, bool] = {}
    chosen: list[tuple[Workload, Workload]] = []
    for i in np.random.default_rng(seed).permutation(len(found)):
        if len(chosen) == count:
            break
        for workload in found[i]:
            if workload.name not in known:
                known[workload.name] = _suits(workload.dag(), kind)
        if all(known[workload.name] for workload in found[i]):
            chosen.append(found[i])
    return chosen


def _suits(dag: ComputeDAG, kind: str) -> bool:
    read = sum(prod(static_shape(t)) * t.dtype.bits // 8 for t in (*dag.inputs, *dag.constants))
    small = dag.useful_flops <= MOST_FLOP and read <= MOST_BYTES
    return small and (kind != "WIN" or has_winograd(dag))


def has_winograd(dag: ComputeDAG) -> bool:
    """Whether the space has programs that compute the major stage in Winograd's form."""
    derivation = Derivation(State(dag), major_stage(dag).name, Target.parse("cpu"))
    return WINOGRAD.condition(derivation) is not Verdict.NO

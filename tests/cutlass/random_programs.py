"""Random programs of CUTLASS's templates, run in the emulation: are they right?

    programs = [draw(np.random.default_rng([seed, i]), NAMES[i % 4]) for i in range(12)]
    Batch.of(programs, seed).wrong()            wrong elements of each

Each is a template with random parameters, of those that its conditions allow, for one of four
architectures; a random problem with ragged extents; and a random epilogue. What it gives is
compared with the mathematics in float64; a value that is not a number is a wrong one. Several
programs share a compilation, since most of what g++ reads is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilewright.build.native import native_artifact
from tilewright.contract.artifact import Array, Artifact, BufferSpec, Launch, Packing
from tilewright.cutlass.architectures import ARCHITECTURES
from tilewright.cutlass.genes import TEMPLATES
from tilewright.cutlass.parameters import FIELDS, Parameters, valid
from tilewright.cutlass.template import Match
from tilewright.expr import operators as ops
from tilewright.expr.contraction.factors import NoMatch
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder
from tilewright.runtime.device import DeviceFunction
from tilewright.runtime.emulated import EmulatedDevice
from tilewright.target import Target

EMULATED = Target.parse("emulated")
NAMES = tuple(t.name for t in TEMPLATES)
WHERE = ("sm_75", "sm_80", "sm_86", "sm_90")
DRAWS = 20_000  # rows of parameters, of which few are valid

# What a parameter is drawn from, powers of two beyond what short lists have.
VALUES: Mapping[str, tuple[int, ...]] = {
    "block_m": (32, 64, 128, 256), "block_n": (32, 64, 128, 256), "block_k": (32, 64),
    "warp_m": (16, 32, 64, 128), "warp_n": (16, 32, 64, 128), "stages": (2, 3, 4, 5),
    "swizzle": (1, 2, 4, 8), "align": (1, 2, 4, 8), "pad": (0, 1), "block_n1": (32, 64, 128),
    "warp_m1": (16, 32, 64), "warp_n1": (16, 32, 64, 128), "shared": (0, 1),
}  # fmt: skip


@dataclass(frozen=True)
class Random:
    """One program: what it computes, by which template's match, with which parameters."""

    dag: ComputeDAG
    match: Match
    parameters: Parameters

    def artifact(self, name: str) -> Artifact:
        """For the emulation."""
        program = self.match.program(self.parameters, name)
        return native_artifact(self.dag, program, EMULATED, name)

    def __str__(self) -> str:
        p = ", ".join(f"{f}={v}" for f, v in zip(FIELDS, self.parameters.values, strict=True))
        return f"{self.match.template} for {self.match.architecture.name} of {self.dag!r}: {p}"


# ---- problems -------------------------------------------------------------------------------


def _given(shape: Sequence[int], name: str, dtype: str, constant: bool = False) -> Tensor:
    return placeholder(tuple(shape), dtype, name=name, constant=constant)


def _extent(rng: np.random.Generator, most: int) -> int:
    """From 1 on; small and round ones are more frequent."""
    n = int(rng.integers(1, most + 1))
    return max(8, n // 8 * 8) if rng.random() < 0.4 else n


def epilogue(
    rng: np.random.Generator, y: Tensor, dtype: str, columns: int, reduces: bool = False
) -> Tensor:
    """A few operations on every element, random ones; of some the columns are reduced, if
    `reduces`.
    """
    shape = [e for e in y.shape if isinstance(e, int)]
    if rng.random() < 0.5:
        y = ops.add(y, _given([columns], "bias", dtype, constant=bool(rng.random() < 0.7)))
    activations: tuple[Callable[[Tensor], Tensor], ...] = (
        ops.relu, ops.gelu, ops.hard_swish, ops.softplus, ops.tanh, ops.sigmoid
    )  # fmt: skip
    for _ in range(int(rng.integers(0, 3))):
        y = activations[int(rng.integers(len(activations)))](y)
    if rng.random() < 0.3:
        y = ops.add(y, _given(shape, "residual", dtype))
    if rng.random() < 0.2:
        y = ops.multiply(y, _given([*shape[:-1], 1], "scale", dtype))
    if reduces and rng.random() < 0.3:
        reduced: tuple[Callable[..., Tensor], ...] = (
            ops.reduce_sum, ops.reduce_mean, ops.reduce_max, ops.reduce_min
        )  # fmt: skip
        y = reduced[int(rng.integers(len(reduced)))](y, [-1], keepdims=bool(rng.random() < 0.5))
        return ops.relu(y) if rng.random() < 0.5 else y
    if rng.random() < 0.2:
        y = ops.cast_to(y, "float32")
    if rng.random() < 0.15:
        y = ops.transpose(y, tuple(reversed(range(len(shape)))))
    return y


def gemm(rng: np.random.Generator, dtype: str) -> Tensor:
    """A matrix product, of one matrix or a batch, operands in either order."""
    m, n, k = (_extent(rng, most) for most in (200, 200, 150))
    batch = [int(rng.integers(1, 4)) for _ in range(int(rng.integers(0, 3)))]
    across, along = bool(rng.random() < 0.3), bool(rng.random() < 0.5)
    a = [*batch, k, m] if across else [*batch, m, k]
    b = [*(batch if rng.random() < 0.7 else []), *((n, k) if along else (k, n))]
    y = ops.batch_matmul(
        _given(a, "a", dtype),
        _given(b, "b", dtype, constant=bool(rng.random() < 0.5)),
        transpose_a=across,
        transpose_b=along,
    )
    return epilogue(rng, y, dtype, n, reduces=True)


def _image(rng: np.random.Generator, dtype: str) -> tuple[Tensor, int]:
    """An image with channels last in the mathematics, and its channels."""
    channels = int(rng.choice([3, 4, 8, 16, 24, 46, 64]))
    n, h, w = int(rng.integers(1, 4)), int(rng.integers(5, 14)), int(rng.integers(5, 14))
    if rng.random() < 0.2:
        return ops.transpose(_given([n, channels, h, w], "x", dtype), (0, 2, 3, 1)), channels
    return _given([n, h, w, channels], "x", dtype), channels


def _convolved(rng: np.random.Generator, x: Tensor, shape: Sequence[int], dtype: str) -> Tensor:
    return ops.conv(
        x,
        _given(shape, "w", dtype, constant=True),
        stride=int(rng.integers(1, 3)),
        padding=int(rng.integers(0, 3)),
        dilation=int(rng.integers(1, 3)),
    )


def conv(rng: np.random.Generator, dtype: str) -> Tensor:
    """A convolution."""
    x, channels = _image(rng, dtype)
    outputs = _extent(rng, 150)
    kernel = [int(rng.integers(1, 4)), int(rng.integers(2, 4))]
    y = _convolved(rng, x, [*kernel, channels, outputs], dtype)
    return epilogue(rng, y, dtype, outputs, reduces=True)


def b2b_gemm(rng: np.random.Generator, dtype: str) -> Tensor:
    """Two matrix products."""
    m, k = _extent(rng, 300), _extent(rng, 120)
    n0, n1 = int(rng.integers(1, 129)), int(rng.integers(1, 129))
    y = ops.matmul(_given([m, k], "a", dtype), _given([k, n0], "w", dtype, constant=True))
    y = _between(rng, y, dtype, n0)
    y = ops.matmul(y, _given([n0, n1], "w1", dtype, constant=True), name="second")
    return epilogue(rng, y, dtype, n1)


def b2b_conv(rng: np.random.Generator, dtype: str) -> Tensor:
    """A convolution and a 1 x 1 convolution."""
    x, channels = _image(rng, dtype)
    n0, n1 = int(rng.integers(1, 129)), int(rng.integers(1, 129))
    y = _between(rng, _convolved(rng, x, [3, 3, channels, n0], dtype), dtype, n0)
    y = ops.conv(y, _given([1, 1, n0, n1], "w1", dtype, constant=True), name="second")
    return epilogue(rng, y, dtype, n1)


def _between(rng: np.random.Generator, y: Tensor, dtype: str, columns: int) -> Tensor:
    if rng.random() < 0.6:
        y = ops.add(y, _given([columns], "b0", dtype, constant=True))
    return ops.relu(y) if rng.random() < 0.6 else ops.sigmoid(y)


PROBLEMS: Mapping[str, Callable[[np.random.Generator, str], Tensor]] = {
    "cutlass.gemm": gemm, "cutlass.conv": conv, "cutlass.b2b_gemm": b2b_gemm,
    "cutlass.b2b_conv": b2b_conv,
}  # fmt: skip


def draw(rng: np.random.Generator, template: str, where: str | None = None) -> Random:
    """A random program of a template, for a random architecture unless one is given."""
    found = {t.name: t for t in TEMPLATES}[template]
    while True:
        architecture = ARCHITECTURES[where or WHERE[int(rng.integers(len(WHERE)))]]
        types = sorted(architecture.instructions, reverse=True)
        dtype = types[int(rng.random() < 0.25 and len(types) > 1)]
        dag = ComputeDAG([PROBLEMS[template](rng, dtype)])
        match = found.match(dag, architecture)
        if isinstance(match, NoMatch):  # a window of one element in one direction, and the like
            continue
        rows = np.column_stack([rng.choice(v, DRAWS) for v in VALUES.values()]).astype(np.int64)
        if template in ("cutlass.gemm", "cutlass.conv"):
            rows[:, list(VALUES).index("block_n1") :] = 0
        else:  # tiles that hold all columns are rare among random ones
            rows[: DRAWS // 2, FIELDS.index("warp_n")] = rows[: DRAWS // 2, FIELDS.index("block_n")]
            for one, other in (("warp_n1", "block_n1"), ("warp_m1", "warp_m")):
                rows[: DRAWS // 2, FIELDS.index(one)] = rows[: DRAWS // 2, FIELDS.index(other)]
        good = rows[valid(match.conditions(Parameters(*rows.T)), DRAWS)]
        if len(good):
            chosen = good[int(rng.integers(len(good)))]
            return Random(dag, match, Parameters(*map(int, chosen)))


# ---- running --------------------------------------------------------------------------------


def together(artifacts: Sequence[Artifact]) -> Artifact:
    """One function of several: all buffers side by side, all launches one after the other."""
    groups: list[list[BufferSpec]] = [[], [], []]
    packings: list[Packing] = []
    for i, one in enumerate(artifacts):
        for group, specs in zip(groups, (one.inputs, one.constants, one.outputs), strict=True):
            group += [replace(s, name=f"{i}.{s.name}") for s in specs]
        packings += [replace(p, source=replace(p.source, name=f"{i}.{p.source.name}"))
                     for p in one.packings]  # fmt: skip
    places = {s.name: i for i, s in enumerate(s for group in groups for s in group)}
    launches: list[Launch] = []
    scratch = 0
    for i, one in enumerate(artifacts):
        where = [places[f"{i}.{s.name}"] for s in one.buffers]
        for launch in one.launches:
            arguments = tuple(where[a] if a >= 0 else a - scratch for a in launch.arguments)
            launches.append(replace(launch, arguments=arguments))
        scratch += -(-one.scratch_bytes // 512) * 512
    return Artifact(
        "together", str(EMULATED), b"", *map(tuple, groups), tuple(packings), scratch,
        launches=tuple(launches),
    )  # fmt: skip


@dataclass
class Batch:
    """Compiled programs with their arguments and right answers; `wrong` runs them."""

    programs: Sequence[Random]
    function: DeviceFunction
    inputs: list[Array]
    constants: dict[str, Array]
    expected: list[Array]

    @staticmethod
    def of(programs: Sequence[Random], seed: int = 0) -> Batch:
        """Compiles all in one."""
        artifacts = [p.artifact(f"k{i}") for i, p in enumerate(programs)]
        whole = together(artifacts)
        function = DeviceFunction(whole, EmulatedDevice(seed), artifacts)
        rng = np.random.default_rng(seed)
        inputs: list[Array] = []
        constants: dict[str, Array] = {}
        expected = []
        for i, program in enumerate(programs):
            dag = program.dag
            values = {t.name: values_of(rng, t) for t in (*dag.inputs, *dag.constants)}
            inputs += [values[t.name] for t in dag.inputs]
            constants |= {f"{i}.{t.name}": values[t.name] for t in dag.constants}
            expected.append(dag.evaluate(values, float64=True)[dag.outputs[0].name])
        if constants:
            function.prepare(constants)
        return Batch(programs, function, inputs, constants, expected)

    def wrong(self) -> list[int]:
        """Wrong elements of every program."""
        found = self.function(*self.inputs)
        pairs = zip(self.programs, found, self.expected, strict=True)
        return [wrong_elements(p, got, want) for p, got, want in pairs]


def values_of(rng: np.random.Generator, tensor: Tensor) -> Array:
    """Small multiples of an eighth, whose products narrow floats sum with few roundings."""
    shape = [e for e in tensor.shape if isinstance(e, int)]
    values: Array = (rng.integers(-8, 9, shape) / 16).astype(tensor.dtype.numpy)
    return values


def wrong_elements(program: Random, got: Array, want: Array) -> int:
    """How many elements differ by more than roundings of the result and of a middle value do."""
    unit = {"float16": 2.0**-11, "bfloat16": 2.0**-8}[program.match.dtype]
    scale = np.abs(want) + np.sqrt(np.mean(want**2)) + 1.0
    difference = np.abs(got.astype(np.float64) - want)
    return int(np.count_nonzero(~(difference <= 8 * unit * scale)))

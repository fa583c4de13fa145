"""Random small contractions with something before and after them, and random rows of templates.

    problem, gene = drawn(template, np.random.default_rng(7))     a program of the template
    problem.interpreted(problem.program(gene))                    right, or WrongAnswer
    problem.run(artifact, EmulatedDevice(seed=1))

A product, a convolution or a summation over several axes, at odd extents; its factors transposed,
padded, cut, joined, reshaped, computed or as they are, given or constant; behind it what adds,
scales, activates, converts and moves elements. Values are -1, 0 and 1 where the mathematics allows
it, so that sums are exact in any order and few results are small beside their errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from tilewright.contract.artifact import Array, Artifact, BufferSpec
from tilewright.contract.gene import Gene
from tilewright.expr import operators as ops
from tilewright.expr.contraction.factors import NoMatch
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.index.extents import ceildiv
from tilewright.expr.nodes import Tensor
from tilewright.expr.reference import static_shape
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import ScheduleError
from tilewright.measure.gate import OutputGate
from tilewright.measure.task import tolerance_of
from tilewright.nest.nodes import Program
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify
from tilewright.runtime.device import Device, DeviceFunction
from tilewright.schedule.lower import lower
from tilewright.schedule.producers import lowered_of, matched
from tilewright.schedule.state import State
from tilewright.schedule.templates import Template
from tilewright.schedule.templates.anchor import anchor_of
from tilewright.space.space import Space
from tilewright.target import Target

ROWS = (1, 2, 7, 8, 16, 17, 24, 31, 32, 40, 64, 65, 96, 100, 130)
DEPTHS = (1, 2, 5, 8, 16, 17, 24, 32, 33, 40, 64, 72, 90, 100, 136)
BATCHES = (1, 2, 3)
ALIGNED = {"rows": (8, 16, 24, 40, 64, 96, 104), "depths": (64, 136, 264)}
"""Of products whose factors have rows of whole pieces of 16 bytes, and several stages of depth."""
SUMS = (  # of two factors; extents by letter
    "ik,jk->ij", "ki,kj->ij", "ik,kj->ji", "bik,bjk->bij", "bki,bkj->jbi", "abk,kc->cab",
    "ikl,klj->ij", "ikl,ljk->ij", "kij,kl->ijl", "ak,kbc->bac", "abkl,cklb->bac",
)  # fmt: skip
LETTERS = {"a": 5, "b": 3, "c": 24, "i": 33, "j": 40, "k": 24, "l": 6}
EXACT = ("relu", "negative", "absolute")
ROUNDED = ("tanh", "sigmoid", "gelu")
TILE, MOST_BLOCKS = 64, 6
"""Interpreting blocks takes a second or so."""
DTYPES = ("float16", "float16", "bfloat16", "float32")
H200 = Target.parse("cuda:h200")
MOST_DRAWS, MOST_ROWS = 400, 1 << 16
"""Draws of rows and of problems after which a template is taken to have no program."""
T = TypeVar("T")


@dataclass(frozen=True)
class Problem:
    """A DAG with its inputs and constants by name."""

    dag: ComputeDAG
    arrays: Mapping[str, Array]

    @classmethod
    def of(cls, dag: ComputeDAG, rng: np.random.Generator) -> Problem:
        """With random values of -1, 0 and 1."""
        arrays = {
            t.name: rng.integers(-1, 2, static_shape(t)).astype(t.dtype.numpy)
            for t in (*dag.inputs, *dag.constants)
        }
        return cls(dag, arrays)

    @cached_property
    def expected(self) -> Array:
        """The right output: the interpreter's, of the program that nobody scheduled."""
        plain = lower(State(self.dag), "plain").program
        (found,) = interpret(plain, self.arrays, self.arrays).values()
        return found

    @cached_property
    def gate(self) -> OutputGate:
        """What an output must be."""
        (output,) = self.dag.outputs
        spec = BufferSpec(output.name, static_shape(output), output.dtype.name)
        return OutputGate(spec, self.expected, tolerance_of(self.dag))

    def program(self, gene: Gene) -> Program:
        """Raises ScheduleError, and VerifyError."""
        program = lowered_of(self.dag, gene, "candidate").program
        verify(program)
        return program

    def interpreted(self, program: Program) -> Array:
        """The output, which is right. Raises WrongAnswer, and VerifyError."""
        (found,) = interpret(program, self.arrays, self.arrays).values()
        self.gate.check(found)
        return found

    def run(self, artifact: Artifact, device: Device) -> None:
        """Raises RunError, and WrongAnswer."""
        fn = DeviceFunction(artifact, device)
        fn.prepare({p.source.name: self.arrays[p.source.name] for p in artifact.packings})
        (found,) = fn(*(self.arrays[s.name] for s in artifact.inputs))
        self.gate.check(found)


def drawn(template: Template, rng: np.random.Generator) -> tuple[Problem, Gene]:
    """A problem that a template takes, and one of its programs. Raises ScheduleError where it takes
    none of many.
    """
    for _ in range(MOST_DRAWS):
        problem = drawn_problem(rng, DTYPES[int(rng.integers(len(DTYPES)))])
        try:
            gene = drawn_gene(template, problem.dag, rng)
        except ScheduleError:
            continue
        if gene is not None:
            return problem, gene
    raise ScheduleError(f"{template.name} takes none of {MOST_DRAWS} random problems")


def drawn_problem(rng: np.random.Generator, dtype: str) -> Problem:
    """Factors are of `dtype`; few blocks have all of it."""
    while True:
        draw = _Draw(rng, dtype)
        dag = ComputeDAG([draw.after(draw.contraction())])
        anchor = anchor_of(dag)
        if isinstance(anchor, NoMatch):
            continue
        blocks = anchor.batch * ceildiv(anchor.rows, TILE) * ceildiv(anchor.columns, TILE)
        if blocks <= MOST_BLOCKS:
            return Problem.of(dag, rng)


def drawn_gene(template: Template, dag: ComputeDAG, rng: np.random.Generator) -> Gene | None:
    """A row of the template's space, all as likely; None where there is none. Raises ScheduleError,
    which says why, where the template does not take the DAG.
    """
    matched(dag, template)
    space = Space(dag, H200)
    numbers = [k for k, s in enumerate(space.sketches) if template.name in s.variant]
    every = space.listed(numbers[0], MOST_ROWS) if numbers else space.nobody
    if not len(every):
        return None
    return space.gene(numbers[0], every.rows[int(rng.integers(len(every)))])


class _Draw:
    def __init__(self, rng: np.random.Generator, dtype: str) -> None:
        self.rng, self.dtype = rng, dtype
        self.names = 0

    def one(self, options: Sequence[T]) -> T:
        return options[int(self.rng.integers(len(options)))]

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def given(self, shape: Sequence[int], dtype: str = "") -> Tensor:
        """An input or a constant."""
        self.names += 1
        constant = self.chance(0.4)
        name = f"{'w' if constant else 'x'}{self.names}"
        return placeholder(tuple(shape), dtype or self.dtype, name=name, constant=constant)

    def name(self, of: str) -> str:
        self.names += 1
        return f"{of}{self.names}"

    # ---- contractions -----------------------------------------------------------------------

    def contraction(self) -> Tensor:
        kind = self.one(("product", "product", "product", "conv", "conv", "transposed", "sum"))
        return {
            "product": self.product,
            "conv": self.convolution,
            "transposed": self.transposed_convolution,
            "sum": self.summation,
        }[kind]()

    def product(self) -> Tensor:
        rows, depths = ROWS, DEPTHS
        if self.chance(0.4):
            rows, depths = ALIGNED["rows"], ALIGNED["depths"]
        m, n, k = self.one(rows), self.one(rows), self.one(depths)
        batch = [self.one(BATCHES)] if self.chance(0.3) else []
        ta, tb = self.chance(0.4), self.chance(0.4)
        a = self.factor([*batch, *((k, m) if ta else (m, k))])
        own = batch if self.chance(0.7) else []
        b = self.factor([*own, *((n, k) if tb else (k, n))])
        return ops.batch_matmul(a, b, transpose_a=ta, transpose_b=tb, name="product")

    def convolution(self) -> Tensor:
        rank = self.one((1, 2, 2))
        groups = self.one((1, 1, 1, 2))
        depth, outputs = self.one((1, 3, 8, 16)), self.one((6, 8, 24, 40)) * groups
        kernel = [self.one((1, 2, 3)) for _ in range(rank)]
        x = self.factor([self.one((1, 2)), *(self.one((6, 7, 9)) for _ in kernel), depth * groups])
        w = self.factor([*kernel, depth, outputs])
        options: dict[str, Any] = {
            "stride": self.one((1, 1, 2)),
            "dilation": self.one((1, 1, 2)),
            "padding": self.one((0, 1, 1, 2)),
        }
        return ops.conv(x, w, groups=groups, name="conv", **options)

    def transposed_convolution(self) -> Tensor:
        depth, outputs = self.one((3, 8, 16)), self.one((6, 8, 24))
        x, w = self.factor([1, 4, 5, depth]), self.factor([3, 3, depth, outputs])
        return ops.conv_transpose(x, w, stride=self.one((1, 2)), padding=1, name="conv")

    def summation(self) -> Tensor:
        equation = self.one(SUMS)
        left, right = equation.partition("->")[0].split(",")
        a, b = (self.factor([LETTERS[x] for x in term]) for term in (left, right))
        return ops.einsum(equation, a, b, name="sum")

    # ---- before -----------------------------------------------------------------------------

    def factor(self, shape: Sequence[int]) -> Tensor:
        """Given so, or made of what is given."""
        made = self.one(
            (None, None, None, self.turned, self.padded, self.cut, self.joined, self.reshaped,
             self.converted)
        )  # fmt: skip
        t = self.given(shape) if made is None else made(shape)
        if self.chance(0.25):
            t = self.activated(t)
        return t

    def turned(self, shape: Sequence[int]) -> Tensor:
        order = self.rng.permutation(len(shape)).tolist()
        source = [0] * len(shape)
        for d, extent in zip(order, shape, strict=True):
            source[d] = extent
        return ops.transpose(self.given(source), order, name=self.name("turned"))

    def padded(self, shape: Sequence[int]) -> Tensor:
        pads = [(int(self.rng.integers(2)), int(self.rng.integers(3))) for _ in shape]
        pads = [p if e > sum(p) else (0, 0) for e, p in zip(shape, pads, strict=True)]
        inner = [e - sum(p) for e, p in zip(shape, pads, strict=True)]
        return ops.pad(self.given(inner), pads, name=self.name("padded"))

    def cut(self, shape: Sequence[int]) -> Tensor:
        steps = [self.one((1, 1, 2)) for _ in shape]
        starts = [int(self.rng.integers(3)) for _ in shape]
        ends = [f + s * e for f, s, e in zip(starts, steps, shape, strict=True)]
        given = self.given([e + int(self.rng.integers(2)) for e in ends])
        return ops.strided_slice(given, starts, ends, steps, name=self.name("cut"))

    def joined(self, shape: Sequence[int]) -> Tensor:
        axis = int(self.rng.integers(len(shape)))
        if shape[axis] < 2:
            return self.given(shape)
        first = int(self.rng.integers(1, shape[axis]))
        parts = [
            self.given([*shape[:axis], extent, *shape[axis + 1 :]])
            for extent in (first, shape[axis] - first)
        ]
        return ops.concat(parts, axis, name=self.name("joined"))

    def reshaped(self, shape: Sequence[int]) -> Tensor:
        flat = [int(np.prod(shape[:2])), *shape[2:]]
        return ops.reshape(self.given(flat), tuple(shape), name=self.name("reshaped"))

    def converted(self, shape: Sequence[int]) -> Tensor:
        return ops.cast_to(self.given(shape, "float32"), self.dtype, name=self.name("converted"))

    # ---- after ------------------------------------------------------------------------------

    def after(self, t: Tensor) -> Tensor:
        steps = (
            self.activated, self.activated, self.biased, self.biased, self.residual, self.scaled,
            self.stored, self.moved, self.reshaped_after,
        )  # fmt: skip
        for _ in range(self.one((0, 1, 2, 3))):
            t = self.one(steps)(t)
        return t

    def activated(self, t: Tensor) -> Tensor:
        kind = self.one((*EXACT, *ROUNDED))
        activate = getattr(ops, kind)
        found: Tensor = activate(t, name=self.name(kind))
        return found

    def biased(self, t: Tensor) -> Tensor:
        shape = [e if self.chance(0.5) else 1 for e in static_shape(t)]
        return ops.add(t, self.given(shape, t.dtype.name), name=self.name("biased"))

    def residual(self, t: Tensor) -> Tensor:
        return ops.add(self.given(static_shape(t), t.dtype.name), t, name=self.name("residual"))

    def scaled(self, t: Tensor) -> Tensor:
        return ops.multiply(t, self.one((0.5, 2.0)), name=self.name("scaled"))

    def stored(self, t: Tensor) -> Tensor:
        return ops.cast_to(
            t, self.one(("float32", "float16", self.dtype)), name=self.name("stored")
        )

    def reshaped_after(self, t: Tensor) -> Tensor:
        """An axis in two, or two in one."""
        shape, at = list(static_shape(t)), int(self.rng.integers(t.rank))
        if at and self.chance(0.5):
            shape[at - 1 : at + 1] = [shape[at - 1] * shape[at]]
        else:
            parts = [d for d in range(1, shape[at] + 1) if shape[at] % d == 0]
            inner = self.one(parts)
            shape[at : at + 1] = [shape[at] // inner, inner]
        return ops.reshape(t, shape, name=self.name("reshaped"))

    def moved(self, t: Tensor) -> Tensor:
        order = self.rng.permutation(t.rank).tolist()
        return ops.transpose(t, order, name=self.name("moved"))

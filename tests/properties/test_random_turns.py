"""Random permutations with arithmetic and edges around them: any program is the mathematics."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.contract.artifact import Array
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.reference import static_shape
from tilewright.expr.rewrites.memory_order import in_memory_order
from tilewright.expr.tensors import placeholder
from tilewright.nest.verify import verify
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.space.space import Space
from tilewright.testing import HOST, Backend, compiled, interpreted

EXTENTS = (1, 2, 3, 4, 5, 7, 8, 16, 17, 24, 33, 40)
MOST = 1 << 15  # elements
PROGRAMS = 3  # of one space

pytestmark = pytest.mark.no_cover


class Drawn:
    """A DAG of one output; values are small integers, so that all is exact."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng([37, seed])
        self.names = 0

    def name(self) -> str:
        self.names += 1
        return f"t{self.names}"

    def shape(self, rank: int) -> tuple[int, ...]:
        while True:
            found = tuple(self.rng.choice(EXTENTS, rank).tolist())
            if np.prod(found) <= MOST:
                return found

    def given(self, *shape: int, constant: bool = False) -> Tensor:
        return placeholder(shape, name=self.name(), constant=constant)

    def turned(self, t: Tensor) -> Tensor:
        return ops.transpose(t, self.rng.permutation(t.rank).tolist(), name=self.name())

    def changed(self, t: Tensor) -> Tensor:
        """Arithmetic, another operand, a border, a part, an activation."""
        shape = static_shape(t)
        kind = int(self.rng.integers(5))
        if kind == 0:
            return ops.add(t, self.given(*shape), name=self.name())
        if kind == 1:
            other = [n if self.rng.random() < 0.5 else 1 for n in shape]
            return ops.multiply(t, self.given(*other), name=self.name())
        if kind == 2:
            pads = [(int(self.rng.integers(2)), int(self.rng.integers(3))) for _ in shape]
            return ops.pad(t, pads, name=self.name())
        if kind == 3:
            steps = [int(self.rng.integers(1, 3)) for _ in shape]
            return ops.strided_slice(t, [0] * t.rank, shape, steps, name=self.name())
        return ops.relu(t, name=self.name())

    def permutations(self) -> ComputeDAG:
        t = self.given(*self.shape(int(self.rng.integers(2, 6))))
        for _ in range(int(self.rng.integers(1, 4))):
            t = self.turned(t) if self.rng.random() < 0.6 else self.changed(t)
        return ComputeDAG([self.turned(t)])

    def image(self) -> ComputeDAG:
        """A window over an image with its channels first on both sides."""
        channels, size = int(self.rng.choice((3, 8, 17))), int(self.rng.choice((7, 12, 20)))
        t = ops.transpose(self.given(1, channels, size, size), (0, 2, 3, 1), name=self.name())
        stride, kind = int(self.rng.integers(1, 3)), int(self.rng.integers(4))
        options = {"stride": stride, "padding": int(self.rng.integers(2))}
        if kind == 0:
            w = self.given(3, 3, 1, channels, constant=True)
            t = ops.conv(t, w, groups=channels, name=self.name(), **options)
        elif kind == 1:
            t = ops.conv(t, self.given(1, 1, channels, 8, constant=True), name=self.name())
        else:
            pool = ops.max_pool if kind == 2 else ops.avg_pool
            t = pool(t, kernel=(3, 3), name=self.name(), **options)
        if self.rng.random() < 0.5:
            t = ops.relu(t, name=self.name())
        return ComputeDAG([ops.transpose(t, (0, 3, 1, 2), name=self.name())])

    def arrays(self, dag: ComputeDAG) -> dict[str, Array]:
        tensors = (*dag.inputs, *dag.constants)
        return {
            t.name: self.rng.integers(-4, 5, static_shape(t)).astype(np.float32) for t in tensors
        }


def check(dag: ComputeDAG, drawn: Drawn, run: Backend) -> None:
    """Random programs of the space equal the mathematics."""
    arrays = drawn.arrays(dag)
    (expected,) = dag.evaluate(arrays, float64=True).values()
    space = Space(dag, HOST)
    population = space.sample(drawn.rng, PROGRAMS)
    for row, sketch in zip(population.rows, population.sketch, strict=True):
        trace = space.trace(int(sketch), row)
        lowered = lower(State(dag).replay(trace), "turn")
        verify(lowered.program)
        (found,) = run(lowered, arrays).values()
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=str(trace))


@pytest.mark.parametrize("run", [interpreted, compiled])
@pytest.mark.parametrize("seed", range(16))
def test_random_permutations(seed: int, run: Backend) -> None:
    drawn = Drawn(seed)
    check(drawn.permutations(), drawn, run)


@pytest.mark.parametrize("seed", range(100, 112))
def test_images_in_the_order_of_memory(seed: int) -> None:
    """Reordered stages are the same mathematics, and any of their programs is."""
    drawn = Drawn(seed)
    dag = drawn.image()
    turned = in_memory_order(dag)
    arrays = drawn.arrays(dag)
    (expected,), (found,) = dag.evaluate(arrays).values(), turned.evaluate(arrays).values()
    np.testing.assert_array_equal(found, expected)
    for stage in turned.stages:
        assert static_shape(stage)[1] not in (20, 12, 7), f"{stage.name} has its channels last"
    check(turned, drawn, compiled)

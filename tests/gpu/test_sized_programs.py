"""Programs with sizes on devices: a launch has as many blocks as the sizes of a call make."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from gpu_cases import tiled

from device_calls import Array, SizedProgram
from devices import at_hand
from tilewright.build.compile import compile_lowered
from tilewright.codegen.clike import emit
from tilewright.codegen.clike.cuda import Cuda
from tilewright.codegen.clike.opencl import OpenclC
from tilewright.contract.artifact import Artifact
from tilewright.contract.sizes import Size
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Var, select
from tilewright.expr.sizes import shape_at
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import RunError
from tilewright.nest.print import program_text
from tilewright.nest.verify import verify
from tilewright.runtime.device import Device, DeviceFunction
from tilewright.runtime.emulated import EmulatedDevice
from tilewright.runtime.nvrtc import compile_cuda
from tilewright.runtime.opencl import OpenclDevice
from tilewright.schedule.lower import lower
from tilewright.schedule.producers import lowered_of
from tilewright.schedule.state import State
from tilewright.space.default import default_gene
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.testing import packed

S, T = Var("S"), Var("T")
ROWS, COLUMNS = Size("S", 1, 40), Size("T", 1, 50)


def product(rows: int = 200) -> ComputeDAG:
    x, w = placeholder((S, 64), name="A"), placeholder((64, 48), name="B")
    return ComputeDAG([ops.relu(ops.matmul(x, w, name="C"), name="D")], (Size("S", 1, rows),))


def elements() -> ComputeDAG:
    return ComputeDAG([ops.relu(placeholder((4, S, T), name="x"))], (ROWS, COLUMNS))


def scores() -> ComputeDAG:
    x, y, k = placeholder((2, S, 16), name="x"), placeholder((2, T, 16), name="y"), reduce_axis(16)
    c = compute((2, S, T), lambda b, i, j: sum_over(x[b, i, k] * y[b, j, k], k), name="c")
    return ComputeDAG([c], (ROWS, COLUMNS))


def depth() -> ComputeDAG:
    x, y, k = placeholder((24, S), name="x"), placeholder((S, 40), name="y"), reduce_axis(S)
    c = compute((24, 40), lambda i, j: sum_over(x[i, k] * y[k, j], k), name="c")
    return ComputeDAG([c], (Size("S", 1, 70),))


def softmax() -> ComputeDAG:
    return ComputeDAG([ops.softmax(placeholder((8, S), name="x"))], (Size("S", 1, 70),))


def row_sums() -> ComputeDAG:
    """Threads share the sum of a row; how many rows there are varies."""
    x, k = placeholder((3, S, 96), name="x"), reduce_axis(96)
    y = compute((3, S), lambda b, i: sum_over(x[b, i, k], k), name="y")
    return ComputeDAG([y], (ROWS,))


def convolution() -> ComputeDAG:
    h, w = Var("H"), Var("W")
    x, f = placeholder((h, w, 4), name="x"), placeholder((3, 3, 4, 16), name="w", constant=True)
    r, s, c = reduce_axis(3, "r"), reduce_axis(3, "s"), reduce_axis(4, "c")
    p = compute(
        (h + 2, w + 2, 4),
        lambda i, j, k: select((i >= 1) & (i <= h) & (j >= 1) & (j <= w), x[i - 1, j - 1, k], 0.0),
        name="p",
    )
    y = compute(
        (h, w, 16), lambda i, j, k: sum_over(p[i + r, j + s, c] * f[r, s, c, k], (r, s, c)),
        name="y",
    )  # fmt: skip
    return ComputeDAG([y], (Size("H", 1, 13), Size("W", 2, 15)))


DAGS: dict[str, Callable[[], ComputeDAG]] = {
    "product": product,
    "elements": elements,
    "scores": scores,
    "depth": depth,
    "softmax": softmax,
    "row_sums": row_sums,
    "convolution": convolution,
}


def points(dag: ComputeDAG) -> list[dict[str, int]]:
    """The ends of the ranges, and what lies between."""
    parts = [(s.name, s.least, s.most) for s in dag.sizes]
    some = [{n: lo + (hi - lo) * k // 7 for n, lo, hi in parts} for k in (0, 1, 3, 5, 7)]
    return [*some, {n: hi - 1 for n, _, hi in parts}]


def arrays_of(dag: ComputeDAG, sizes: Mapping[str, int]) -> dict[str, Array]:
    rng = np.random.default_rng(0)
    given = (*dag.inputs, *dag.constants)
    return {t.name: rng.integers(-3, 4, shape_at(t, sizes)).astype("f4") for t in given}


def check(dag: ComputeDAG, device: Device, drawn: int) -> None:
    """The default program and some others, at all points."""
    space, rng = Space(dag, device.target), np.random.default_rng(0)
    found = space.sample(rng, drawn)
    genes = [space.gene(*one) for one in zip(found.sketch, found.rows, strict=True)]
    for gene in (default_gene(space), *genes):
        lowered = lowered_of(dag, gene, "sized")
        verify(lowered.program)
        run = SizedProgram(lowered, device)
        for sizes in points(dag):
            arrays = arrays_of(dag, sizes)
            try:
                got = run({**arrays, **packed(lowered, arrays)}, sizes)
                for name, value in dag.at(sizes).evaluate(arrays).items():
                    np.testing.assert_allclose(got[name], value, 1e-4, 1e-4)
            except Exception as error:
                error.add_note(f"{sizes}\n{gene.text}\n{program_text(lowered.program)}")
                raise


@pytest.mark.parametrize("name", DAGS)
def test_opencl_equals_the_math_at_every_size(name: str, opencl: OpenclDevice) -> None:
    check(DAGS[name](), opencl, 2)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n == "scores" else pytest.mark.thorough) for n in DAGS],
)
def test_emulation_equals_the_math_at_every_size(name: str) -> None:
    """Which checks bounds, barriers and what nobody wrote to shared memory."""
    check(DAGS[name](), at_hand(EmulatedDevice), 0)


@pytest.mark.parametrize("name", DAGS)
def test_cuda_sources_compile(name: str) -> None:
    dag = DAGS[name]()
    gene = default_gene(Space(dag, Target.parse("cuda:a100")))
    binary, report = compile_cuda(emit(lowered_of(dag, gene, "sized").program, Cuda()).ir, "sm_80")
    assert binary[:4] == b"\x7fELF" and report.spill_bytes == 0


def hand_made() -> tuple[Artifact, Artifact]:
    """Tiles of 16 x 16, for OpenCL and CUDA."""
    lowered = lower(State(product()).replay(tiled()), "kernel")
    verify(lowered.program)
    targets = map(Target.parse, ("opencl:pocl", "emulated"))
    found = tuple(compile_lowered(lowered, target)[0] for target in targets)
    return found[0], found[1]


def test_blocks_are_counted_by_sizes() -> None:
    (launch,) = hand_made()[0].launches
    assert launch.blocks == 13 * 3 and launch.sizes == (0,)
    assert [launch.at((n,)) for n in (1, 16, 17, 200)] == [
        (3, [1]), (3, [16]), (6, [17]), (39, [200]),
    ]  # fmt: skip


def test_threads_wait_at_the_ends_of_loops_where_compilers_part_them() -> None:
    """PoCL 3.1 took threads that met a condition in the last iteration straight to where it is met
    again behind the loop; the others did not get there.
    """
    opencl, cuda = (artifact.object_code.decode() for artifact in hand_made())
    assert opencl.count(OpenclC.barrier) == cuda.count(Cuda.barrier) + 1


def test_accumulators_of_padding_are_unguarded() -> None:
    """Only what leaves a thread, or is not in memory, is tested."""
    text = hand_made()[1].object_code.decode()
    updates = [line for line in text.splitlines() if "+=" in line]
    assert updates and text.count("< S") == 2, text


def test_a_kernel_is_no_function() -> None:
    artifact = hand_made()[1]
    with pytest.raises(RunError, match=r"kernel has sizes \(S in 1..200\), which a device's progr"):
        DeviceFunction(artifact, at_hand(EmulatedDevice))

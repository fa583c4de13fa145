"""The search space of a GPU: its candidates are verified programs that equal their math."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_cases import CASES, Case, gemm_relu, tiled

from tilewright.build.compile import build_nest
from tilewright.contract.artifact import Artifact
from tilewright.contract.gene import Gene
from tilewright.cost.candidates import Population
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cost.features import INDEX
from tilewright.cost.resources import resources, runs_on
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.evaluate import ColumnProgram
from tilewright.expr.nodes import as_expr
from tilewright.nest.gpu.workers import kernels, thread_counts
from tilewright.nest.nodes import Alloc, Kind, Scope, Store, walk
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify
from tilewright.runtime.device import Device, DeviceFunction
from tilewright.runtime.emulated import EmulatedDevice
from tilewright.runtime.opencl import OpenclDevice
from tilewright.schedule.lower import lower
from tilewright.schedule.producers import lowered_of
from tilewright.schedule.state import State
from tilewright.space.space import Space
from tilewright.target import GpuTarget, Target
from workloads import OPERATORS, attention, conv_layer, product

A100 = Target.parse("cuda:a100")
T4 = Target.parse("cuda:t4")
MALI = Target.parse("opencl:mali")
DAGS = {**OPERATORS, "CONV": conv_layer, "TBS": attention}


@pytest.mark.parametrize("name", DAGS)
def test_candidates_equal_the_math(name: str) -> None:
    dag = DAGS[name]()
    space = Space(dag, A100)
    for sketch in space.sketches:
        verify(sketch.program, symbolic=True)
    rng = np.random.default_rng(5)
    population = space.sample(rng, 64)
    arrays = {t.name: rng.random(t.shape, np.float32) for t in (*dag.inputs, *dag.constants)}
    expected = dag.evaluate(arrays)
    for i in range(2):
        gene = space.gene(int(population.sketch[i]), population.rows[i])
        program = lowered_of(dag, Gene.of(gene.text), "candidate").program
        verify(program)
        found = interpret(program, arrays, arrays)
        for key, value in expected.items():
            np.testing.assert_allclose(found[key], value, 1e-3, 1e-4)


@pytest.mark.parametrize("name", ["GMM", "C2D", "NRM", "CONV"])
def test_candidates_run(name: str, opencl: OpenclDevice) -> None:
    dag = DAGS[name]()
    space = Space(dag, opencl.target)
    rng = np.random.default_rng(6)
    population = space.sample(rng, 64)
    arrays = {t.name: rng.random(t.shape, np.float32) for t in (*dag.inputs, *dag.constants)}
    gene = space.gene(int(population.sketch[0]), population.rows[0])
    run(dag, build_nest(dag, gene, opencl.target, "candidate"), opencl, arrays)


def run(dag: ComputeDAG, artifact: Artifact, device: Device, arrays: dict[str, np.ndarray]) -> None:
    """The outputs on a device are those of the math."""
    fn = DeviceFunction(artifact, device)
    fn.prepare({p.source.name: arrays[p.source.name] for p in artifact.packings})
    found = fn(*(arrays[s.name] for s in artifact.inputs))
    expected = dag.evaluate(arrays)
    for spec, array in zip(artifact.outputs, found, strict=True):
        np.testing.assert_allclose(array, expected[spec.name], 1e-3, 1e-4)


@pytest.mark.parametrize("name", ["DEP", "CONV", "TBS"])
def test_candidates_stay_in_bounds(name: str) -> None:
    """Under the emulation: padding is never read, not even by a vector load."""
    dag, device = DAGS[name](), EmulatedDevice(seed=1)
    space = Space(dag, device.target)
    rng = np.random.default_rng(0)
    population = space.sample(rng, 64)
    arrays = {t.name: rng.random(t.shape, np.float32) for t in (*dag.inputs, *dag.constants)}
    gene = space.gene(int(population.sketch[0]), population.rows[0])
    run(dag, build_nest(dag, gene, device.target, "candidate"), device, arrays)


@pytest.mark.parametrize("target", [A100, MALI])
def test_resources_are_those_of_the_lowered_program(target: GpuTarget) -> None:
    """Threads and shared bytes as columns equal what concrete programs take, within the limits."""
    dag = conv_layer()
    space = Space(dag, target)
    population = space.sample(np.random.default_rng(7), 128)
    assert len(population) > 64
    for sketch, at in space.groups(population):
        names = [n for n in sketch.resources if n[1] in ("threads", "shared")]
        amounts = [as_expr(sketch.resources[n]) for n in names]
        columns = ColumnProgram(amounts, sketch.definitions).run(
            sketch.environment(population.rows[at])
        )
        for i in range(4):
            row = population.rows[at[i]]
            program = space.concrete(int(population.sketch[at[i]]), row)
            found: dict[tuple[str, str], int] = {}
            for kernel in kernels(program.body):
                threads = thread_counts(kernel).get(Kind.THREAD_X, 1)
                allocs = [n for n in walk(kernel) if isinstance(n, Alloc)]
                shared = sum(
                    int(np.prod(n.tensor.shape)) * n.tensor.dtype.bytes
                    for n in allocs
                    if n.scope is Scope.SHARED
                )
                assert threads <= target.threads and shared <= target.most_shared_bytes
                root = [n for n in walk(kernel) if isinstance(n, Store)][-1].tensor.name
                found |= {(root, "threads"): threads, (root, "shared"): shared}
            values = {
                n: int(np.broadcast_to(columns[e], len(at))[i])
                for n, e in zip(names, amounts, strict=True)
            }
            assert values == found


def test_shared_bytes_of_a_schedule_count_slots() -> None:
    """Stages one after the other: s and u have the same bytes."""
    case = CASES["chain"]
    state = State(case.dag()).replay(case.trace)
    amounts = resources(lower(state, "p").program, MALI)
    assert amounts["y", "shared"] == 2 * 48 * 4


@pytest.mark.parametrize(("target", "runs"), [(A100, True), (MALI, False), (T4, False)])
def test_a_block_has_what_its_launch_may_ask_for(target: GpuTarget, runs: bool) -> None:
    """100 KB of shared memory are more than arrays of a CUDA kernel may have."""
    case = Case(lambda: gemm_relu(32, 32, 1600), tiled(k=(100, 8)))
    program = case.lowered().program
    assert resources(program, target)["D", "shared"] == 2 * 16 * 800 * 4
    assert runs_on(program, target) == runs


def test_candidates_take_more_than_a_block_has_without_asking() -> None:
    for target in (A100, MALI):
        space = Space(product(512, 512, 512), target)
        sizes = FeatureExtractor(space).extract(space.sample(np.random.default_rng(0), 512))[0]
        most = np.exp2(sizes[:, INDEX["shared_bytes"]]).max() - 1.0
        assert (most > 48 << 10) == (target is A100) and most < target.most_shared_bytes + 1


def test_a_few_candidates_are_found_where_few_are_valid() -> None:
    """Of a layer of BERT one draw of fifty is valid on a GPU."""
    space = Space(product(128, 3072, 768), Target.parse("cuda:h100"))
    drawn = space.draw(np.random.default_rng(0), 4096)
    tiled = [s.is_listed for s in space.sketches].index(False)
    share = space.satisfied(Population(drawn, np.full(len(drawn), tiled))).mean()
    assert 0 < share < 0.05
    for seed in range(32):
        found = space.sample(np.random.default_rng(seed), 1)
        assert len(found) == 1 and space.valid(found).all()

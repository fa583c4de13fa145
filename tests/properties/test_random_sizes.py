"""Random DAGs with sizes × random rows of the space at the most × random values: compiled,
interpreted and the static program of those values by the same gene are equal to the math.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from random_sized_dags import SizedCase, convolution_case, random_sized_case
from test_random_programs import compare

from device_calls import SizedProgram
from devices import at_hand
from kernel_calls import called
from tilewright.build.compile import compile_lowered, compile_request, make_request
from tilewright.contract.artifact import Artifact
from tilewright.contract.gene import Gene
from tilewright.contract.sizes import Point
from tilewright.cost import estimate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.expr.serialize import dag_from_json, dag_to_json, workload_hash
from tilewright.ground.errors import ScheduleError, VerifyError
from tilewright.nest.print import program_text
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify
from tilewright.runtime.cpu import LoadedKernel
from tilewright.runtime.device import Device
from tilewright.runtime.emulated import EmulatedDevice
from tilewright.runtime.opencl import OpenclDevice
from tilewright.schedule.by_size import by_size
from tilewright.schedule.producers import lowered_of
from tilewright.schedule.state import State
from tilewright.space.default import default_gene
from tilewright.space.space import Sketch, Space
from tilewright.target import Target
from tilewright.testing import interpreted, packed

pytestmark = pytest.mark.no_cover

TARGET = Target.parse("cpu cores=2")
SEEDS, ROWS, POINTS = 6, 1, 1


def check_gene(case: SizedCase, gene: Gene, rng: np.random.Generator, counts: Counter[str]) -> None:
    """One gene at several values."""
    dag = case.dag
    try:
        lowered = lowered_of(dag, gene, "sized")
    except ScheduleError:
        counts["refused"] += 1
        return
    counts["programs"] += 1
    program = lowered.program
    try:
        verify(program)
        artifact, _ = compile_lowered(lowered, TARGET)
        with LoadedKernel(artifact) as kernel:
            for values in case.points(rng, POINTS):
                arrays = case.arrays(values)
                static = dag.at(values)
                expected = static.evaluate(arrays)
                given = {**arrays, **packed(lowered, arrays)}
                found = [
                    interpret(program, arrays, packed(lowered, arrays), sizes=values),
                    called(kernel, program, given, values),
                ]
                try:
                    found.append(interpreted(lowered_of(static, gene, "static"), arrays))
                except ScheduleError:
                    counts["static refused"] += 1
                for outputs in found:
                    for name, value in expected.items():
                        compare(outputs[name], value, case.is_exact)
    except Exception as error:
        error.add_note(f"{gene.text}\n{program_text(program)}")
        raise


@pytest.mark.parametrize("seed", range(SEEDS))
def test_programs_with_sizes_are_the_math_at_every_value(seed: int) -> None:
    counts: Counter[str] = Counter()
    check_seed(seed, counts)
    assert counts["programs"] and not counts["refused"], counts


@pytest.mark.parametrize(("side", "stride"), [(None, 1), (7, 1), (None, 2)])
def test_a_convolution_of_images_of_any_size(side: int | None, stride: int) -> None:
    """By its default program, and by that of images of one size."""
    case, counts = convolution_case(stride=stride), Counter[str]()
    dag = case.dag if side is None else case.dag.at({"H": side, "W": side})
    gene = default_gene(Space(dag, TARGET))
    check_gene(case, gene, np.random.default_rng(0), counts)
    assert counts["programs"], counts


@pytest.mark.parametrize(
    "number", [0, *(pytest.param(n, marks=pytest.mark.thorough) for n in (2, 4))]
)
def test_winograds_form_of_images_of_any_size(number: int) -> None:
    """Two programs of a sketch by size, their tiles a grid that may overrun the image."""
    case, counts = replace(convolution_case(48, 48), is_exact=False), Counter[str]()
    space, rng = Space(case.dag, TARGET), np.random.default_rng(0)
    drawn = space.sample(rng, 200)
    sketches = [k for k, s in enumerate(space.sketches) if "winograd" in s.rules]
    assert len(sketches) == 6
    rows = drawn.rows[drawn.sketch == sketches[number]]
    first, second = (space.gene(sketches[number], row) for row in rows[:2])
    assert "winograd_grid" in first.text
    check_gene(case, by_size("W", (9,), (first, second)), rng, counts)
    assert counts["programs"] and not counts["refused"], counts


def at_numbers(space: Space, point: Point) -> FeatureExtractor:
    """Of the same candidates, each a schedule of the DAG of these numbers."""
    assert space.sized is not None
    numbers, found = space.sized.at(point.values), copy(space)
    found.sketches = tuple(
        replace(s, state=State(numbers).replay(s.state.trace), sized=None)
        if isinstance(s, Sketch)
        else s
        for s in space.sketches
    )
    found.sized = None
    return FeatureExtractor(found)


@pytest.mark.parametrize("seed", range(SEEDS + 1))
def test_estimates_over_sizes_are_those_of_numbers(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for conditions of padding, which numbers decide before a program runs."""
    rng = np.random.default_rng(seed)
    case = random_sized_case(rng) if seed < SEEDS else convolution_case()
    space = Space(case.dag, TARGET)
    drawn, extractor = space.sample(rng, 200), FeatureExtractor(space)
    points = [Point(values) for values in case.points(rng, 2)]
    asking = extractor.latencies_at(points, drawn)
    monkeypatch.setattr(estimate, "ASKED_CYCLES", 0.0)
    for point, asked, found in zip(
        points, asking, extractor.latencies_at(points, drawn), strict=True
    ):
        expected = at_numbers(space, point).latency(drawn)
        np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=str(point))
        assert (asked >= found).all(), point


def test_the_default_program_of_a_request_has_sizes() -> None:
    dag = random_sized_case(np.random.default_rng(0)).dag
    artifact = Artifact.from_bytes(compile_request(make_request(dag, None, TARGET, "sized")))
    assert artifact.sizes == dag.sizes


@pytest.mark.parametrize("seed", range(SEEDS))
def test_programs_on_opencl(seed: int) -> None:
    check_on_device(seed, at_hand(OpenclDevice), 2)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(1, SEEDS))]
)
def test_programs_in_the_emulation(seed: int) -> None:
    """Other programs of the same DAGs, whose every access is checked."""
    check_on_device(seed, at_hand(EmulatedDevice), 1)


def check_on_device(seed: int, device: Device, count: int) -> None:
    """Random candidates at several values are the math. A program that is refused as a static one
    is refused with sizes.
    """
    rng = np.random.default_rng(seed)
    case = random_sized_case(rng)
    space = Space(case.dag, device.target)
    drawn = space.sample(rng, count)
    for one in zip(drawn.sketch, drawn.rows, strict=True):
        gene = space.gene(*one)
        lowered = lowered_of(case.dag, gene, "sized")
        try:
            verify(lowered_of(case.dag.heaviest, gene, "static").program)
        except VerifyError:
            continue
        try:
            verify(lowered.program)
            run = SizedProgram(lowered, device)
            for values in case.points(rng, 2):
                arrays = case.arrays(values)
                found = run({**arrays, **packed(lowered, arrays)}, values)
                for name, value in case.dag.at(values).evaluate(arrays).items():
                    compare(found[name], value, case.is_exact)
        except Exception as error:
            error.add_note(f"{gene.text}\n{program_text(lowered.program)}")
            raise


def check_seed(seed: int, counts: Counter[str]) -> None:
    rng = np.random.default_rng(seed)
    case = random_sized_case(rng)
    again = dag_from_json(dag_to_json(case.dag))
    assert again.sizes == case.dag.sizes and workload_hash(again) == workload_hash(case.dag)
    space = Space(case.dag, TARGET)
    population = space.sample(rng, 2 * ROWS)
    genes = [space.gene(*one) for one in zip(population.sketch, population.rows, strict=True)]
    for i, gene in enumerate(genes[:ROWS]):
        size = case.dag.sizes[-1]
        if seed % 2 and size.least < size.most:
            bound = int(rng.integers(size.least + 1, size.most + 1))
            gene = by_size(size.name, (bound,), (gene, genes[ROWS + i]))
        try:
            check_gene(case, gene, rng, counts)
        except Exception as error:
            error.add_note(f"seed {seed}, row {i}")
            raise

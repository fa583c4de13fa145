"""Random DAGs × random rows of their spaces: verified, and equal to the math.

A program is named by (seed, row); `check_program(seed, row)` repeats one. A shard of the run fails
unless every kind of program in REQUIRED occurred in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from program_tags import ALSO, REQUIRED, tags
from random_dags import Case, random_case

from kernel_calls import poisoned
from tilewright.contract.artifact import Array
from tilewright.cost.candidates import Population
from tilewright.cost.extractor import FeatureExtractor
from tilewright.nest.print import program_text
from tilewright.nest.verify import verify
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.schedule.trace import trace_from_json, trace_to_json
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.testing import Backend, compiled, interpreted, shuffled

pytestmark = pytest.mark.no_cover

ROWS = 8  # candidates of one DAG
SHARDS = 2
FEATURES = 4  # of so many DAGs one is asked for features, too: that takes all sketches of its space
TARGETS = (
    Target.parse("cpu:icelake-server cores=2"),
    Target.parse("cpu:cortex-a53"),
    Target.parse("cpu:haswell cores=1 vector_registers=6"),
)


def space_of(seed: int) -> tuple[Case, Space, Population]:
    """The DAG, the space and the candidates of one seed."""
    rng = np.random.default_rng(seed)
    case = random_case(rng, seed // SHARDS)
    space = Space(case.dag, TARGETS[seed % len(TARGETS)])
    return case, space, space.sample(rng, ROWS)


def check_program(
    case: Case, space: Space, sketch: int, row: Array, backend: Backend, expected: dict[str, Array]
) -> set[str]:
    """Replay, lower, verify and run one candidate; returns what it exercised."""
    trace = trace_from_json(trace_to_json(space.trace(sketch, row)))
    state = State(case.dag).replay(trace)
    lowered = lower(state, "program")
    try:
        verify(lowered.program)
        found = backend(lowered, case.arrays)
        for name, value in expected.items():
            compare(found[name], value, case.is_exact)
    except Exception as error:
        error.add_note(f"{trace_to_json(trace)}\n{program_text(lowered.program)}")
        raise
    return tags(state, lowered.program)


def compare(found: Array, expected: Array, exact: bool) -> None:
    """Equal; up to rounding when the math rounds."""
    assert found.shape == expected.shape and found.dtype == expected.dtype
    if exact:
        np.testing.assert_array_equal(found, expected)
    else:
        scale = float(np.abs(expected[np.isfinite(expected)]).max(initial=1.0))
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5 * scale)


def check_seed(seed: int, backend: Backend, counts: Counter[str]) -> None:
    """All candidates of one random DAG."""
    case, space, population = space_of(seed)
    expected = case.dag.evaluate(case.arrays)
    for i in range(len(population)):
        sketch, row = int(population.sketch[i]), population.rows[i]
        try:
            # one candidate of each DAG with its parallel loops in a random order
            run = shuffled if backend is interpreted and i == 0 else backend
            counts.update(check_program(case, space, sketch, row, run, expected))
        except Exception as error:
            error.add_note(f"seed {seed}, row {i}, sketch {space.sketches[sketch].name}")
            raise
        counts["programs"] += 1
    if seed // SHARDS % FEATURES == 0:
        features, owner = FeatureExtractor(space).extract(population)
        assert np.isfinite(features).all() and set(owner) == set(range(len(population))), seed


def missing(counts: Counter[str], kinds: Sequence[str] = REQUIRED) -> list[str]:
    """The required kinds that no program has had. Some are rare: a change of the generator must not
    make a small run miss one by chance, so it goes on for a while.
    """
    return [tag for tag in kinds if not counts[tag]]


@pytest.mark.parametrize("shard", range(SHARDS))
def test_interpreted_programs_equal_the_math(
    shard: int, request: pytest.FixtureRequest, record_property: Any
) -> None:
    wanted = -(-request.config.getoption("--programs") // SHARDS)
    counts, kinds = Counter[str](), (*REQUIRED, *ALSO)
    seed = shard
    while counts["programs"] < wanted or (
        missing(counts, kinds) and counts["programs"] < 4 * wanted
    ):
        check_seed(seed, interpreted, counts)
        seed += SHARDS
    record_property("counts", dict(counts))
    assert not missing(counts, kinds), counts


@pytest.mark.cpu
@pytest.mark.parametrize("shard", range(2))
def test_compiled_programs_equal_the_math(shard: int, request: pytest.FixtureRequest) -> None:
    wanted = request.config.getoption("--programs") // 20
    backend = (poisoned, compiled)[shard]  # small storage is in memory, or on the stack
    counts: Counter[str] = Counter()
    seed = 200_000 + shard
    while counts["programs"] < wanted or (missing(counts) and counts["programs"] < 4 * wanted):
        check_seed(seed, backend, counts)
        seed += 2
    assert not missing(counts), counts

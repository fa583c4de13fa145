"""Random DAGs × random schedules written by hand: every transform step keeps the meaning.

Illegal steps must raise ScheduleError and change nothing (checked in `random_schedule`). Whether
all of a stage was computed that is stored further out is known in the end, and said by `lower`.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from program_tags import REQUIRED, tags
from random_dags import random_case
from random_schedules import random_schedule
from test_random_programs import compare

from tilewright.ground.errors import ScheduleError
from tilewright.nest.print import program_text
from tilewright.nest.verify import verify
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import STEPS
from tilewright.schedule.trace import trace_from_json, trace_to_json
from tilewright.testing import interpreted

pytestmark = pytest.mark.no_cover

SHARDS = 4
SCHEDULES = 4  # of one DAG


def check_seed(seed: int, counts: Counter[str]) -> None:
    """Random schedules of one random DAG."""
    rng = np.random.default_rng(seed)
    case = random_case(rng, seed // SHARDS)
    expected = case.dag.evaluate(case.arrays)
    for _ in range(SCHEDULES):
        state = random_schedule(rng, case.dag)
        text = trace_to_json(state.trace)
        try:
            lowered = lower(state, "program")
        except ScheduleError:
            assert any(s.store is not None for s in state.stages.values()), text
            continue
        try:
            verify(lowered.program)
            found = interpreted(lowered, case.arrays)
            for name, value in expected.items():
                compare(found[name], value, case.is_exact)
            again = lower(State(case.dag).replay(trace_from_json(text)), "program")
            assert again == lowered
        except Exception as error:
            error.add_note(f"seed {seed}\n{text}\n{program_text(lowered.program)}")
            raise
        counts.update(tags(state, lowered.program))
        counts.update(step.name for step in state.trace)
        counts["programs"] += 1


@pytest.mark.parametrize("shard", range(SHARDS))
def test_scheduled_programs_equal_the_math(shard: int, request: pytest.FixtureRequest) -> None:
    wanted = request.config.getoption("--programs") // 8
    # for GPUs' threads, of what no random DAG has (`test_online_softmax`, `test_forms`), and whole
    # schedules
    steps = STEPS.keys() - {"scope", "online_softmax", "form"}
    counts: Counter[str] = Counter()

    def missing() -> list[str]:
        return [name for name in (*REQUIRED, *steps) if not counts[name]]

    seed = shard
    # some kinds are rare, as in `test_random_programs`
    while counts["programs"] < wanted or (missing() and counts["programs"] < 4 * wanted):
        check_seed(seed, counts)
        seed += SHARDS
    assert not missing(), counts

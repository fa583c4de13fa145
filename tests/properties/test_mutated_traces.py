"""Two thousand mutated traces: refused with ScheduleError, or a program that computes the math.

Nothing else may happen: no other exception, no program that the verifier refuses (but for a GPU's
rules of threads, which are its alone), no wrong number in the interpreter or in compiled code.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from mutated_traces import WORKLOADS, good_traces, mutated
from test_random_programs import compare

from kernel_calls import poisoned
from tilewright.contract.artifact import Array
from tilewright.expr.dag import ComputeDAG
from tilewright.ground.errors import BuildError, ScheduleError, VerifyError
from tilewright.nest.gpu.workers import is_for_workers
from tilewright.nest.nodes import Alloc, For, If, Kind, walk
from tilewright.nest.print import program_text
from tilewright.nest.verify import verify
from tilewright.schedule.lower import Lowered, lower
from tilewright.schedule.state import State
from tilewright.schedule.trace import trace_from_json
from tilewright.testing import Arrays, interpreted

pytestmark = [pytest.mark.cpu, pytest.mark.no_cover]

TRACES = 200  # of each of the ten workloads
COMPILED = 12  # programs of each workload, those with something inside vector loops first


def arrays_of(dag: ComputeDAG) -> dict[str, Array]:
    rng = np.random.default_rng(1)
    given = (*dag.inputs, *dag.constants)
    shapes = {t.name: tuple(int(e) for e in t.shape) for t in given}
    return {n: rng.integers(-3, 4, shape).astype(np.float32) for n, shape in shapes.items()}


def lowered_or_refused(dag: ComputeDAG, text: str) -> Lowered | None:
    """The program of a trace; None where it is refused as it should be."""
    try:
        return lower(State(dag).replay(trace_from_json(text)), "program")
    except ScheduleError as error:
        assert str(error)
        return None


def results(lowered: Lowered, arrays: Arrays) -> dict[str, Array]:
    """What a verified program computes, nothing where threads of a GPU would break a rule."""
    try:
        verify(lowered.program)
        return interpreted(lowered, arrays)
    except VerifyError:
        if not is_for_workers(lowered.program.body):
            raise
        return {}


def check(found: Arrays, expected: Arrays) -> None:
    for name, value in found.items():
        compare(value, expected[name], exact=False)


def rank(lowered: Lowered) -> int:
    """How much there is to go wrong in compiled code: storage or guards inside vector loops."""
    loops = [n for n in walk(lowered.program.body) if isinstance(n, For) and n.kind is Kind.VECTOR]
    inside = [n for loop in loops for n in walk(loop.body)]
    return 2 * any(isinstance(n, Alloc) for n in inside) + any(isinstance(n, If) for n in inside)


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_mutated_trace_is_refused_or_right(name: str) -> None:
    rng = np.random.default_rng(sorted(WORKLOADS).index(name))
    dag = WORKLOADS[name]()
    same = good_traces(rng, dag)
    others = good_traces(rng, WORKLOADS["dense" if name != "dense" else "conv"]())
    arrays = arrays_of(dag)
    expected = dag.evaluate(arrays)
    counts: Counter[str] = Counter()
    programs: dict[str, Lowered] = {}
    for _ in range(TRACES):
        text = mutated(rng, same, others)
        try:
            lowered = lowered_or_refused(dag, text)
            counts["legal" if lowered else "refused"] += 1
            program = "" if lowered is None else program_text(lowered.program)
            if lowered is not None and program not in programs:
                programs[program] = lowered
                check(results(lowered, arrays), expected)
        except Exception as error:
            error.add_note(f"{name}: {text[:2000]}")
            raise
    native = [p for p in programs.values() if not is_for_workers(p.program.body)]
    for lowered in sorted(native, key=rank, reverse=True)[:COMPILED]:
        try:
            check(poisoned(lowered, arrays), expected)
            counts["compiled"] += 1
        except BuildError:
            counts["not compiled"] += 1
        except Exception as error:
            error.add_note(f"{name}:\n{program_text(lowered.program)}")
            raise
    assert counts["legal"] > TRACES // 8 and counts["refused"] > TRACES // 4, counts
    assert counts["compiled"] > COMPILED // 2, counts

"""Every operator family, compiled for this machine and run: equal to the math.

`--native-rows` sets how many random programs an operator gets, besides its default program.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator

import pytest
from native_worker import Job, NativeWorker
from operator_tensors import CONTRACTIONS, NORMS, OPERATORS, PAPER, POOLING

from tilewright.target import Target

pytestmark = pytest.mark.cpu

# Other registers than this machine's widest: masks and gathers are written differently there.
NARROWER = ("cpu:haswell cores=2", "cpu:x86-64-v2 cores=2")
NARROWER_ROWS = 2


@pytest.fixture(scope="module")
def worker() -> Iterator[NativeWorker]:
    with NativeWorker() as started:
        yield started


@pytest.mark.parametrize("name", OPERATORS)
def test_programs_compute_what_the_expression_says(
    name: str, worker: NativeWorker, request: pytest.FixtureRequest
) -> None:
    rows = request.config.getoption("--native-rows")
    check(worker, Job(name, rows=rows), programs=rows + 1)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the targets are x86 CPUs")
@pytest.mark.parametrize("target", NARROWER)
@pytest.mark.parametrize("name", [*PAPER, *CONTRACTIONS, *POOLING, *NORMS])
def test_programs_for_narrower_registers(name: str, target: str, worker: NativeWorker) -> None:
    if Target.parse(target).vector_bits > Target.parse("cpu").vector_bits:
        pytest.skip(f"this machine has no {Target.parse(target).vector_bits}-bit registers")
    job = Job(name, target, NARROWER_ROWS, seed=1, default=False)
    check(worker, job, programs=NARROWER_ROWS)


def check(worker: NativeWorker, job: Job, programs: int) -> None:
    """All programs of a job are right, and there are as many as asked for."""
    found = worker.check(job)
    wrong = {label: message for label, message in found.items() if message}
    assert not wrong, "\n".join(f"{label}\n    {message}" for label, message in wrong.items())
    assert len(found) == programs

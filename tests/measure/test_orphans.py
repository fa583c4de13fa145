"""No process outlives its use: not after a fault, and none the measurer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from fault_builds import FAULTS, request
from test_measurer import BUILD, OPTIONS, make_task

from processes import children, processes_with
from tilewright.measure.measurer import LocalMeasurer

pytestmark = pytest.mark.cpu

BUILDERS = 2


@pytest.fixture(scope="module")
def mark(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An entry of the environment that only these tests' workers have."""
    return f"TILEWRIGHT_TEST_MARK={tmp_path_factory.mktemp('mark')}"


@pytest.fixture(scope="module")
def measurer(mark: str, worker_env: Mapping[str, str]) -> Iterator[LocalMeasurer]:
    env = {**worker_env, **dict([mark.split("=", 1)])}
    others = children()
    with LocalMeasurer(
        build=BUILD, builders=BUILDERS, options=OPTIONS, build_timeout_s=2, env=env
    ) as measurer:
        yield measurer
    assert processes_with(mark) == set()
    assert children() <= others


def workers(measurer: LocalMeasurer) -> set[int | None]:
    return {measurer.runner.worker.pid, *(w.pid for w in measurer._builders.workers)} - {None}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_costs_one_trial_and_leaves_no_process(
    measurer: LocalMeasurer, mark: str, kind: str
) -> None:
    results = measurer.measure(make_task(), [request(k) for k in ("good", kind, "good")])
    assert [(r.stage, r.error) for r in results] == [("ok", None), FAULTS[kind], ("ok", None)]
    assert processes_with(mark) == workers(measurer)
    assert len(workers(measurer)) <= 1 + BUILDERS
    assert workers(measurer) <= children()


def test_confirmations_share_processes_that_no_search_uses(
    measurer: LocalMeasurer, mark: str
) -> None:
    kinds = ("good", "killed", "wrong")
    for _ in range(2):
        confirmed = measurer.confirm(make_task(), [request(k) for k in kinds], processes=2)
        assert [r.stage for r in confirmed] == ["ok", "run", "check"]
        assert len(processes_with(mark) - workers(measurer)) <= 2

"""Tuning on a Ray cluster of this machine, which the tests start and stop: what dies in the middle
costs what it was measuring.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tilewright as tw
from cli_models import check_error, cli, save_classifier
from simulated_hosts import BUILT, noted, use_simulated
from tilewright.expr.dag import ComputeDAG
from tilewright.front.cluster import joined
from tilewright.ground.errors import InputError, RunError
from tilewright.measure.task import MeasureTask
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT, Trial

TRIALS = 120
PATIENCE_S = 60.0
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def log_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cluster") / "measured"


@pytest.fixture(scope="module")
def nodes(log_file: Path) -> Iterator[Any]:
    """A head without cores, and two nodes of one core each; all on the loopback device."""
    pytest.importorskip("ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIMULATED_LOG", str(log_file))
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        patch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))
        patch.setenv("RAY_health_check_period_ms", "500")
        patch.setenv("RAY_health_check_failure_threshold", "2")
        import ray
        from ray.cluster_utils import Cluster

        patch.setattr(ray._private.ray_constants, "ENABLE_RAY_CLUSTER", False)
        try:
            cluster = Cluster(
                initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
            )
            for _ in range(2):
                cluster.add_node(num_cpus=1)
        except (OSError, RuntimeError) as error:  # no loopback device, no shared memory …
            pytest.skip(f"Ray does not start on this machine: {error}")
        yield cluster
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch, log_file: Path, nodes: Any) -> Path:
    use_simulated(monkeypatch)
    log_file.unlink(missing_ok=True)
    return log_file


def gemm() -> tw.Task:
    a, b = tw.placeholder((48, 32), name="a"), tw.placeholder((32, 48), name="b")
    return tw.Task([a, b, tw.operators.matmul(a, b)], "gemm")


def trials_of(db: Path | str) -> list[Trial]:
    with Database.open(db, readonly=True) as database:
        return [t for t in database.trials() if t.origin != DEFAULT]


def check_whole(db: Path | str, log: Path, lost: int = 0, trials: int = TRIALS) -> None:
    """As many trials as asked for are recorded, each once; each was measured once, but at most so
    many that were lost with who measured them.
    """
    recorded = trials_of(db)
    assert len(recorded) in (trials, trials - 1)  # one may be the default program, proposed again
    assert len({t.gene.hash for t in recorded}) == len(recorded)
    measured = Counter(program for _, program in noted(log))
    assert len(recorded) <= len(measured) + 1
    assert sum(n - 1 for n in measured.values()) <= lost
    assert len(measured) <= len(recorded) + lost


def once(trials: int, act: Callable[[], None]) -> Callable[[tw.Progress], None]:
    """Acts when so many trials were told."""
    done: list[bool] = []

    def observe(progress: tw.Progress) -> None:
        if progress.trials >= trials and not done:
            done.append(True)
            act()

    return observe


def test_both_machines_measure_and_every_program_once(
    simulated: Path, nodes: Any, tmp_path: Path
) -> None:
    seen: list[tw.Progress] = []
    result = tw.tune(
        gemm(), trials=TRIALS, db=tmp_path / "t.db", cluster=nodes.address, callbacks=[seen.append]
    )
    assert result.trials == TRIALS
    check_whole(tmp_path / "t.db", simulated)
    assert len({pid for pid, _ in noted(simulated)}) == 2
    assert any("of 2 machines measure" in p.machines for p in seen)
    assert any("it has no cores for Ray" in p.machines for p in seen)
    again = tw.tune(gemm(), trials=TRIALS, db=tmp_path / "t.db", cluster=nodes.address)
    assert again.trials == TRIALS
    check_whole(tmp_path / "t.db", simulated)


@pytest.mark.parametrize("dies", [False, True])
def test_a_machine_that_does_not_measure_builds(
    dies: bool, simulated: Path, nodes: Any, tmp_path: Path
) -> None:
    file = simulated.with_name(simulated.name + BUILT)
    file.unlink(missing_ok=True)
    builder = nodes.add_node(num_cpus=1, resources={"builder": 1})

    def kill() -> None:
        if dies:
            os.kill(noted(file)[-1][0], signal.SIGKILL)

    try:
        result = tw.tune(
            gemm(), trials=TRIALS, db=tmp_path / "t.db", cluster=nodes.address,
            callbacks=[once(30, kill)],
        )  # fmt: skip
    finally:
        nodes.remove_node(builder)
    assert result.trials == TRIALS
    check_whole(tmp_path / "t.db", simulated)
    built, measured = noted(file), noted(simulated)
    assert {pid for pid, _ in built}.isdisjoint(pid for pid, _ in measured)
    assert len(built) > 20
    assert {program for _, program in measured} & {program for _, program in built}


def test_an_actor_that_is_killed_costs_what_it_was_measuring(
    simulated: Path, nodes: Any, tmp_path: Path
) -> None:
    def kill() -> None:
        os.kill(noted(simulated)[-1][0], signal.SIGKILL)

    result = tw.tune(
        gemm(), trials=TRIALS, db=tmp_path / "t.db", cluster=nodes.address,
        callbacks=[once(30, kill)],
    )  # fmt: skip
    assert result.trials == TRIALS
    check_whole(tmp_path / "t.db", simulated, lost=8)


@pytest.mark.thorough
def test_a_machine_whose_actor_died_has_another(simulated: Path, nodes: Any) -> None:
    with joined(nodes.address) as cluster:
        for lane in cluster.lanes(None, None, None):
            one = MeasureTask.of("gemm", ComputeDAG(gemm().dag.outputs), b"default")
            before = len(noted(simulated))
            lane.measurer.local.measure(one, [b"x"])
            ((first, _),) = noted(simulated)[before:]
            os.kill(first, signal.SIGKILL)
            with pytest.raises(RunError, match=r"died|unavailable"):
                lane.measurer.local.measure(one, [b"y"] * 200)
            lane.answers()
            lane.measurer.local.measure(one, [b"z"])
            assert noted(simulated)[-1][0] != first
            assert noted(simulated)[-1][1] not in {p for _, p in noted(simulated)[:-1]}
            break


def driver(address: str, db: Path | str, seed: int = 0) -> subprocess.Popen[str]:
    words = [sys.executable, HERE / "simulated_hosts.py", address, db, TRIALS, seed]
    return subprocess.Popen(
        list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(what: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_driver_that_is_killed_goes_on(simulated: Path, nodes: Any, tmp_path: Path) -> None:
    db = tmp_path / "t.db"
    Database.open(db).close()
    one = driver(nodes.address, db)
    wait_for(lambda: len(trials_of(db)) > 20)
    one.kill()
    one.communicate()
    kept = trials_of(db)
    before = noted(simulated)
    assert len(kept) < TRIALS
    result = tw.tune(gemm(), trials=TRIALS, db=db, cluster=nodes.address)
    assert result.trials == TRIALS
    lost = len({program for _, program in before}) - len(kept)
    check_whole(db, simulated, lost=lost + 16)
    assert {t.gene.hash for t in kept} <= {t.gene.hash for t in trials_of(db)}


@pytest.mark.thorough
@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_two_drivers_share_machines_and_records(
    backend: str, simulated: Path, nodes: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    is_file = backend == "sqlite"
    db: Path | str = tmp_path / "t.db" if is_file else request.getfixturevalue("postgresql")
    Database.open(db).close()
    runs = [driver(nodes.address, db, seed) for seed in (3, 4)]
    for run in runs:
        out, error = run.communicate(timeout=PATIENCE_S)
        assert run.returncode == 0, error
        assert out.split() == ["done", str(TRIALS)]
    recorded = trials_of(db)
    assert len({(t.workload_hash, t.machine, t.gene.hash) for t in recorded}) == len(recorded)
    assert TRIALS < len(recorded) <= 2 * TRIALS
    pids = {pid for pid, _ in noted(simulated)}
    assert len(pids) <= 4  # the second one's, where the first ended and took its own with it


def test_a_node_that_dies_costs_what_it_was_measuring(
    simulated: Path, nodes: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    def remove() -> None:
        nodes.remove_node(list(nodes.worker_nodes)[-1], allow_graceful=False)

    with caplog.at_level(logging.WARNING, "tilewright"):
        result = tw.tune(
            gemm(), trials=TRIALS, db=tmp_path / "t.db", cluster=nodes.address,
            callbacks=[once(30, remove), lambda p: seen.append(p.machines)],
        )  # fmt: skip
    assert result.trials == TRIALS
    check_whole(tmp_path / "t.db", simulated, lost=8)
    assert any("is gone: " in text for text in caplog.messages)
    assert "away: " in seen[-1]


@pytest.mark.thorough
def test_a_cluster_that_is_gone_is_one_error(simulated: Path, nodes: Any, tmp_path: Path) -> None:
    db = tmp_path / "t.db"
    Database.open(db).close()
    address = nodes.address
    one = driver(address, db)
    wait_for(lambda: len(trials_of(db)) > 10)
    nodes.remove_node(nodes.head_node, allow_graceful=False)
    for node in list(nodes.worker_nodes):
        nodes.remove_node(node, allow_graceful=False)
    _, error = one.communicate(timeout=PATIENCE_S)
    assert one.returncode == 1
    assert error.startswith(f"error: no Ray cluster answers at '{address}'"), error
    assert len(error.strip().splitlines()) == 1
    assert len(trials_of(db)) > 10


@pytest.mark.parametrize("address", ["127.0.0.1:9", "nowhere", "nowhere.invalid:6379", ":"])
def test_where_no_cluster_is(address: str, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    model = save_classifier(tmp_path / "m.onnx")
    words = ("tune", model, "--trials", 1, "--db", tmp_path / "t.db", "--cluster", address)
    check_error(cli(*words), f"no Ray cluster answers at '{address}'", "ray start --head")


def test_without_ray_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    model = save_classifier(tmp_path / "m.onnx")
    words = ("tune", model, "--trials", 1, "--db", tmp_path / "t.db", "--cluster", "auto")
    check_error(cli(*words), "pip install 'tilewright[cluster]'")
    assert not (tmp_path / "t.db").exists()


def test_what_does_not_go_together(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not both"):
        tw.tune(gemm(), trials=1, db=tmp_path / "t.db", cluster="auto", runner="cat")
    with pytest.raises(InputError, match="chooses among several"):
        tw.tune(gemm(), trials=1, db=tmp_path / "t.db", machine="cortex")

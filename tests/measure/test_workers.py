"""Worker processes: faults are explained, cost one request, and leave no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import fault_builds
import pytest

from tilewright.ground.errors import RunError
from tilewright.measure.gate import Tolerance
from tilewright.measure.inputs import InputKind
from tilewright.measure.pools import BuilderPool, Built, RunnerClient, TaskSpec
from tilewright.measure.protocol import PROTOCOL
from tilewright.measure.trial import RunOptions
from tilewright.measure.workers import RequestFailure, Worker, WorkerFailureError

pytestmark = pytest.mark.cpu

QUICK = RunOptions(repeats=1, min_repeat_ms=0.1, timeout_s=10)
GOOD = fault_builds.candidate("good").to_bytes()
TASK = TaskSpec("t", GOOD, (InputKind(),), Tolerance(), probes=((),))
RUNNER = f"{sys.executable} -m tilewright.measure.runner"


@pytest.fixture(scope="module")
def runner() -> Iterator[RunnerClient]:
    with RunnerClient() as client:
        yield client


def failure_of(runner: RunnerClient, kind: str, options: RunOptions = QUICK) -> RequestFailure:
    with pytest.raises(WorkerFailureError) as caught:
        runner.run(TASK, fault_builds.candidate(kind).to_bytes(), options)
    return caught.value.failure


def group_is_gone(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return True
    return False


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("segfault", "SIGSEGV", "outside its buffers"),
        ("writes behind", "SIGSEGV", "outside its buffers"),
        ("illegal instruction", "SIGILL", "an instruction this CPU does not have"),
    ],
)
def test_a_crash_costs_one_request(
    runner: RunnerClient, kind: str, error: str, message: str
) -> None:
    assert runner.run(TASK, GOOD, QUICK).latencies_s
    pid, starts = runner.worker.pid, runner.worker.starts
    failure = failure_of(runner, kind)
    assert (failure.stage, failure.error) == ("run", error)
    assert message in failure.message
    assert pid is not None
    assert group_is_gone(pid)
    assert runner.run(TASK, GOOD, QUICK).latencies_s
    assert runner.worker.starts == starts + 1


def test_a_process_may_start_before_its_first_request() -> None:
    with RunnerClient() as early:
        early.worker.launch()
        early.worker.launch()
        pid = early.worker.pid
        assert pid is not None and not early.worker.facts
        assert early.run(TASK, GOOD, QUICK).latencies_s
        assert (early.worker.pid, early.worker.starts) == (pid, 1)
    with RunnerClient() as killed:
        killed.worker.launch()
        process = killed.worker._process
        killed.worker.kill()
        assert process is not None and process.wait()
        assert killed.run(TASK, GOOD, QUICK).latencies_s
        assert killed.worker.starts == 2


def test_an_endless_loop_ends_at_the_time_limit(runner: RunnerClient) -> None:
    failure = failure_of(runner, "endless loop", replace(QUICK, timeout_s=0.3))
    assert (failure.stage, failure.error) == ("timeout", "TimeoutError")
    assert "0.3 s" in failure.message
    assert runner.run(TASK, GOOD, QUICK).latencies_s


def test_errors_keep_the_process(runner: RunnerClient) -> None:
    runner.run(TASK, GOOD, QUICK)
    starts = runner.worker.starts
    assert failure_of(runner, "wrong").stage == "check"
    assert failure_of(runner, "wrong").error == "WrongAnswer"
    assert failure_of(runner, "missing symbol").error == "RunError"
    with pytest.raises(WorkerFailureError, match="not a compiled artifact"):
        runner.run(TASK, b"nonsense", QUICK)
    assert runner.worker.starts == starts


def test_a_runner_killed_between_requests_costs_nothing(runner: RunnerClient) -> None:
    runner.run(TASK, GOOD, QUICK)
    pid = runner.worker.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # dead, and not reaped yet
    assert runner.run(TASK, GOOD, QUICK).latencies_s


def test_a_runner_killed_over_a_request_is_explained(runner: RunnerClient) -> None:
    runner.run(TASK, GOOD, QUICK)
    pid = runner.worker.pid
    killer = subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -9 {pid}"])
    failure = failure_of(runner, "endless loop")
    killer.wait()
    assert (failure.stage, failure.error) == ("run", "SIGKILL")
    assert "memory ran out" in failure.message


def test_what_native_code_prints_stays_out_of_the_protocol(runner: RunnerClient) -> None:
    # It computes nothing, so it is found wrong: the answer arrived whole.
    assert failure_of(runner, "prints").stage == "check"


def test_dropped_tasks_are_loaded_again() -> None:
    with RunnerClient(f"{RUNNER} --task-bytes 1") as small:
        other = replace(TASK, name="other")
        for task in (TASK, other, TASK, other):
            assert small.run(task, GOOD, QUICK).latencies_s
        assert small.worker.starts == 1


def test_a_reference_that_fails_is_named(runner: RunnerClient) -> None:
    crash = fault_builds.candidate("segfault").to_bytes()
    with pytest.raises(RunError, match="the reference program of bad failed: SIGSEGV"):
        runner.load(replace(TASK, name="bad", reference=crash))


def test_a_remote_runner_is_any_command(tmp_path: Path) -> None:
    """A shell in another folder with another environment stands for `ssh board`."""
    console = Path(sys.executable).with_name("tilewright-runner")
    command = f"env -i PATH=/usr/bin:/bin BOARD=1 sh -c 'cd {tmp_path} && {console}; exit $?'"
    with RunnerClient(command) as remote:
        assert remote.facts["cores"] >= 1
        assert remote.facts["protocol"] == PROTOCOL
        assert remote.run(TASK, GOOD, QUICK).latencies_s
        # The shell survives the runner and reports 128 + 11.
        assert failure_of(remote, "segfault").error == "SIGSEGV"
        loop = failure_of(remote, "endless loop", replace(QUICK, timeout_s=0.3))
        assert loop.stage == "timeout"
        assert remote.run(TASK, GOOD, QUICK).latencies_s


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["no-such-program"], "cannot start the worker 'no-such-program'"),
        (["sh", "-c", "echo Welcome to the board; sleep 5"], "login shell"),
        (["sh", "-c", "echo no route to host >&2; exit 255"], "it printed: no route to host"),
        ([sys.executable, "-c", "FAKE"], "does not speak protocol"),
    ],
)
def test_commands_that_are_no_runner(command: list[str], message: str) -> None:
    fake = """
    import sys
    body = b'{"type": "hello", "protocol": 99}'
    sys.stdout.buffer.write(b"TWP1" + len(body).to_bytes(4, "little") + body)
    sys.stdout.flush()
    sys.stdin.read()
    """
    command = [textwrap.dedent(fake) if part == "FAKE" else part for part in command]
    with RunnerClient(command) as client, pytest.raises(RunError, match=message):
        client.run(TASK, GOOD, QUICK)


def test_a_runner_without_an_alarm_clock_is_killed_by_the_client() -> None:
    code = """
    import sys, time
    body = b'{"type": "hello", "protocol": 5, "version": "1"}'
    sys.stdout.buffer.write(b"TWP1" + len(body).to_bytes(4, "little") + body)
    sys.stdout.flush()
    time.sleep(60)
    """
    worker = Worker([sys.executable, "-c", textwrap.dedent(code)], "run")
    worker.start()
    pid = worker.pid
    assert pid is not None
    with pytest.raises(WorkerFailureError, match=r"no answer within 0\.1 s"):
        worker.request({"type": "run"}, [], timeout_s=0.1)
    assert group_is_gone(pid)


def test_builders(worker_env: Mapping[str, str]) -> None:
    kinds = ["good", "compile error", "builder crash", "good", "bug", "builder hang", "good"]
    kinds.append("builder abort")
    requests = [fault_builds.request(k) for k in kinds]
    with BuilderPool("fault_builds:build", 2, timeout_s=2, env=worker_env) as pool:
        outcomes = dict(pool.build(requests))
        pids = [w.pid for w in pool.workers]
    for index in (0, 3, 6):
        outcome = outcomes[index]
        assert isinstance(outcome, Built)
        assert outcome.artifact == GOOD
        assert outcome.build_s > 0
    assert outcomes[1] == RequestFailure("build", "BuildError", "invalid IR in candidate 0")
    assert isinstance(outcomes[2], RequestFailure)
    assert (outcomes[2].stage, outcomes[2].error) == ("build", "SIGSEGV")
    assert isinstance(outcomes[4], RequestFailure)
    assert (outcomes[4].error, outcomes[4].message[:30]) == (
        "KeyError",
        "'missing' (at fault_builds.py:",
    )
    assert isinstance(outcomes[5], RequestFailure)
    assert (outcomes[5].stage, outcomes[5].error) == ("timeout", "TimeoutError")
    assert isinstance(outcomes[7], RequestFailure)
    assert outcomes[7].error == "SIGABRT"
    assert outcomes[7].message.endswith("it printed: LLVM ERROR: cannot select")
    assert all(pid is None or group_is_gone(pid) for pid in pids)


def test_a_build_function_that_does_not_exist() -> None:
    with BuilderPool("tilewright.nowhere:build", 1) as pool:
        ((_, outcome),) = pool.build([b""])
    assert isinstance(outcome, RequestFailure)
    assert "no build function 'tilewright.nowhere:build'" in outcome.message


def test_builder_memory_is_limited(worker_env: Mapping[str, str]) -> None:
    limited = BuilderPool("fault_builds:hoard", 1, memory_bytes=2 << 30, env=worker_env)
    with limited as pool:
        ((_, outcome),) = pool.build([b""])
    assert isinstance(outcome, RequestFailure)
    assert outcome.error in ("MemoryError", "_ArrayMemoryError")


def test_an_interrupted_request_leaves_a_clean_worker(runner: RunnerClient) -> None:
    runner.run(TASK, GOOD, QUICK)
    pid = runner.worker.pid
    assert pid is not None
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        runner.run(TASK, fault_builds.candidate("endless loop").to_bytes(), QUICK)
    assert group_is_gone(pid)
    assert runner.run(TASK, GOOD, QUICK).latencies_s


def test_closing_a_pool_does_not_wait_for_a_build(worker_env: Mapping[str, str]) -> None:
    pool = BuilderPool("fault_builds:build", 1, timeout_s=600, env=worker_env)
    hangs = pool.build([fault_builds.request("good"), *[fault_builds.request("builder hang")] * 3])
    assert isinstance(next(iter(hangs))[1], Built)
    pid = pool.workers[0].pid
    assert pid is not None
    pool.close()  # with a test's patience: the builds end after ten minutes
    assert group_is_gone(pid)


PARENT = """
import sys, threading, time
import fault_builds
from tilewright.measure.pools import BuilderPool
from test_workers import QUICK, TASK, RunnerClient
pool = BuilderPool("fault_builds:build", 1, timeout_s=600)
hang = lambda: list(pool.build([fault_builds.request("builder hang")]))
threading.Thread(target=hang, daemon=True).start()
runner = RunnerClient()
runner.run(TASK, fault_builds.candidate("good").to_bytes(), QUICK)
while pool.workers[0].pid is None:
    time.sleep(0.01)
print(runner.worker.pid, pool.workers[0].pid, flush=True)
from dataclasses import replace
loop = fault_builds.candidate("endless loop").to_bytes()
runner.run(TASK, loop, replace(QUICK, timeout_s=600))
"""


def test_no_worker_survives_a_killed_parent(worker_env: Mapping[str, str]) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], env={**os.environ, **worker_env}, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    pids = [int(word) for word in parent.stdout.readline().split()]
    assert len(pids) == 2
    time.sleep(0.3)  # let the endless loop begin
    assert not any(group_is_gone(pid) for pid in pids)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert wait_until(lambda: all(group_is_gone(pid) for pid in pids))

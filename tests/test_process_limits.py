"""Limits that others set are kept, and named where they are too low."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cli_models import save_classifier
from tilewright.cli.app import explanation
from tilewright.ground.errors import RunError
from tilewright.ground.process_limits import lower_limit, shortage
from tilewright.measure.workers import Worker, worker_command
from tilewright.records import Database

SOMEBODY = 65_533  # a user without processes
GIVEN = {"v": 4_000_000, "n": 64, "t": 120, "f": 100_000, "c": 0, "s": 4096, "d": 4_000_000}


def in_child(attempt: Callable[[], object]) -> str:
    """What `attempt` says of itself in a process that ends with it."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            said = str(attempt())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(child, 0)
    return said


@pytest.mark.parametrize(
    ("limits", "wanted", "found"),
    [
        ((1 << 40, 1 << 40), 1 << 33, (1 << 33, 1 << 33)),
        ((1 << 34, 1 << 40), 1 << 33, (1 << 33, 1 << 33)),
        ((1 << 32, 1 << 40), 1 << 33, (1 << 32, 1 << 32)),
        ((1 << 32, 1 << 32), 1 << 33, (1 << 32, 1 << 32)),
        ((1 << 32, resource.RLIM_INFINITY), 1 << 33, (1 << 32, 1 << 32)),
        (None, 1 << 33, (1 << 33, 1 << 33)),
    ],
)
def test_the_lowest_limit_counts(
    limits: tuple[int, int] | None, wanted: int, found: tuple[int, int]
) -> None:
    def attempt() -> object:
        if limits:
            resource.setrlimit(resource.RLIMIT_AS, limits)
        lower_limit(resource.RLIMIT_AS, wanted)
        return resource.getrlimit(resource.RLIMIT_AS)

    assert in_child(attempt) == str(found)


@pytest.mark.cpu
def test_a_model_is_tuned_under_the_limits_of_others(tmp_path: Path) -> None:
    model = save_classifier(tmp_path / "m.onnx")
    limits = " && ".join(f"ulimit -{option} {number}" for option, number in GIVEN.items())
    program = "from tilewright.cli import main; main()"
    arguments = ["tune", str(model), "--trials", "1", "--db", str(tmp_path / "r.db")]
    done = subprocess.run(
        ["bash", "-c", f'{limits} && exec "$@"', "_", sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with Database.open(tmp_path / "r.db") as database:
        assert database.summary().trials == 2 and not database.summary().errors


def start(*command: str) -> object:
    worker = Worker(command or worker_command("builder", "none:at_all"), "build")
    worker.start()
    return "started"


def few_files() -> object:
    resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
    return start()


def little_memory() -> object:
    resource.setrlimit(resource.RLIMIT_AS, (20 << 20, 20 << 20))
    return start(sys.executable, "-S", "-c", "print(len(bytes(1 << 30)))")


def little_disk(folder: Path) -> Callable[[], object]:
    def attempt() -> object:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        return Database.open(folder / "r.db")

    return attempt


def few_threads() -> object:
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    os.setuid(SOMEBODY)  # no limit binds root
    try:
        threading.Thread(target=time.sleep, args=(0,)).start()
    except RuntimeError as error:
        return explanation(error)
    return "started"


def test_too_few_files_are_named() -> None:
    said = in_child(few_files)
    assert said.startswith("RunError: cannot start the worker")
    assert said.endswith("this process may have 8 open files: raise that limit (ulimit -n)")


def test_too_little_memory_is_named() -> None:
    said = in_child(little_memory)
    assert said.startswith("RunError: cannot ") and "Traceback" not in said
    assert said.endswith("may have 21.0 MB of address space: raise that limit (ulimit -v)")


def test_too_small_a_file_is_named(tmp_path: Path) -> None:
    said = in_child(little_disk(tmp_path))
    assert said.startswith("RecordsError: records database ")
    assert said.endswith("this process may have 20 kB in one file: raise that limit (ulimit -f)")


def test_too_few_threads_are_named() -> None:
    if os.geteuid():
        pytest.skip("needs the right to become a user without processes")
    assert in_child(few_threads) == (
        "can't start new thread; this process may have 1 processes and threads: raise that limit "
        "(ulimit -u)"
    )


def test_spent_time_is_named() -> None:
    def attempt() -> object:
        resource.setrlimit(resource.RLIMIT_CPU, (1, 2))
        try:
            return start(sys.executable, "-S", "-c", "while True: pass")
        except RunError as error:
            return error

    said = in_child(attempt)
    assert "crashed with SIGXCPU: it took all the CPU time that it may take" in said
    assert said.endswith(
        "this process may have 1 seconds of CPU time: raise that limit (ulimit -t)"
    )


def test_what_no_limit_explains_is_left_alone() -> None:
    assert in_child(lambda: repr(shortage("no route to host"))) == "''"
    assert in_child(lambda: repr(shortage(OSError(errno.ENOENT, "no such file")))) == "''"
    assert in_child(lambda: repr(shortage(signal.SIGKILL.name))) == "''"


def test_too_many_open_files_are_no_fault_of_a_database(tmp_path: Path) -> None:
    def attempt() -> object:
        limit = len(list(Path("/proc/self/fd").iterdir())) + 1
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        taken = []
        try:
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            pass
        return Database.open(tmp_path / "r.db")

    said = in_child(attempt)
    assert "Too many open files" in said or "cannot be opened" in said
    assert said.endswith("open files: raise that limit (ulimit -n)")

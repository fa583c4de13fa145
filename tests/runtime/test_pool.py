"""The pool of threads: every step once, whoever is late; forks, ends of the process, callbacks."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from native_kernels import scale_artifact

from devices import tools
from tilewright.runtime import CompiledFunction
from tilewright.runtime.host import host_architecture
from tilewright.runtime.native import SOURCE, native

pytestmark = pytest.mark.cpu

HERE = Path(__file__).parent
WORK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 3)
PARALLEL = ctypes.CFUNCTYPE(
    None, WORK, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p
)


@pytest.fixture
def busy() -> Iterator[None]:
    """Another program that never rests."""
    loop = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        loop.kill()
        loop.wait()


def built(folder: Path, name: str, *options: str) -> Path:
    """One of the C programs of the folder `pool`."""
    program = folder / name
    command = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{SOURCE}", *options]
    source = HERE / "pool" / f"{name}.c"
    subprocess.run([*command, source, "-o", program, "-pthread"], check=True)
    return program


@tools("gcc")
@pytest.mark.parametrize("cores", [1, 2, 4])
def test_every_step_is_taken_once(cores: int, tmp_path: Path, busy: None) -> None:
    """By four callers at once, beside a busy loop, with threads stopped at random places."""
    program = built(tmp_path, "stress", "-O2", f"-DTW_TEST_CORES={cores}")
    done = subprocess.run([program, "4", "5000", "1"], capture_output=True, text=True, check=False)
    assert done.stdout == "ok 20000\n", done.stdout + done.stderr


@tools("gcc")
def test_no_thread_reads_what_another_writes(tmp_path: Path) -> None:
    program = built(tmp_path, "stress", "-O1", "-g", "-fsanitize=thread", "-DTW_TEST_CORES=3")
    done = subprocess.run([program, "3", "500", "2"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("ok 1500\n", "")


@tools("gcc")
@pytest.mark.parametrize("where", ["caller", "worker", "fork"])
def test_the_process_may_end_inside_a_region(where: str, tmp_path: Path) -> None:
    program = built(tmp_path, "ends", "-O2", "-DTW_TEST_CORES=4")
    done = subprocess.run([program, where], timeout=60, check=False)
    assert done.returncode == 7


@tools("gcc")
def test_what_a_cache_may_still_hold_comes_first(tmp_path: Path) -> None:
    """Of a loop that goes through the same large constant again at once: its last steps."""
    program = built(tmp_path, "turns", "-O1", "-Wno-unused-function")
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "0 1 0 0 1 0 0 0 0 0", "0-3 3-6 6-9 9-10 ", "9-10 6-9 3-6 0-3 "
    ]  # fmt: skip


@tools("gcc")
def test_loops_are_shared_while_that_pays(tmp_path: Path) -> None:
    """Arguments: spans of time, per mille of their time alone that they take so, and alone."""
    program = built(tmp_path, "worth", "-O1")

    def ways(*spans: int) -> str:
        words = [str(program), *map(str, spans)]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()

    assert ways(30, 550, 1000) == "0" * 30  # a quiet machine
    assert ways(60, 1270, 2000).count("1") == 5  # busy on all cores: tries are ever more seldom
    beside = ways(60, 1130, 1000)  # busy on a core that a worker wants
    assert beside.startswith("0111") and beside.count("0") == 5
    assert ways(60, 1130, 1000, 120, 550, 1000).endswith("0" * 60)  # and quiet again


def parallel(work: object, total: int) -> None:
    PARALLEL(native(host_architecture()).parallel)(work, None, total, 1, 2, None)


def test_an_exception_in_a_callback_does_not_end_the_region(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    ignored: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: ignored.append(found.exc_type))

    def step(context: int | None, begin: int, end: int, member: int) -> None:
        seen.extend(range(begin, end))
        if begin == 3:
            raise ValueError("in a step")

    parallel(WORK(step), 10)
    assert sorted(seen) == list(range(10))
    assert ignored == [ValueError]


def test_a_forked_process_has_threads_of_its_own() -> None:
    fn = CompiledFunction(scale_artifact(1000))
    x = np.arange(1000, dtype=np.float32)
    fn.prepare({"w": x})
    expected = fn(x)[0]
    for _ in range(3):
        child = os.fork()
        if child == 0:
            right = all((fn(x)[0] == expected).all() for _ in range(50))
            os._exit(0 if right else 1)
        assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(fn(x)[0], expected)

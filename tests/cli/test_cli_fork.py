"""A process that called, compiled and tuned may be forked, and its child does the same."""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

import tilewright as tw
from cli_models import cli, save_classifier

PATIENCE_S = 300.0


def forked(work: Callable[[], None]) -> int:
    """Exit status of a child that does `work`; it is killed when it hangs."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        done, code = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(code)
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.cpu
def test_a_forked_process_calls_compiles_and_tunes(
    tuned: tuple[Path, Result], model: Path, tmp_path: Path
) -> None:
    net = tw.compile(tw.load(model), db=tuned[0])
    x = np.ones((2, 24), np.float32)
    (expected,) = net(x)

    def call() -> None:
        np.testing.assert_array_equal(net(x)[0], expected)

    def compile_and_tune() -> None:
        call()
        other = save_classifier(tmp_path / "other.onnx", batch=7)
        assert tw.compile(tw.load(other))(np.ones((7, 24), np.float32))[0].shape == (7, 40)
        result = cli("tune", other, "--trials", 2, "--db", tmp_path / "child.db")
        assert result.exit_code == 0, result.output

    assert forked(call) == 0
    assert forked(compile_and_tune) == 0
    call()

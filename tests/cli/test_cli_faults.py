"""Whatever goes wrong is one line: terminals, encodings, signals, and defects of our own."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_cli_progress import progress

import tilewright as tw
from cli_models import check_error, cli
from tilewright.cli.console import complain, output, tolerate_encodings
from tilewright.ground.errors import InputError

MAIN = "from tilewright.cli import main; main()"


def program(
    *arguments: str, before: str = "", **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """The command line in a process of its own; `before` runs first."""
    options = {"stdout": subprocess.PIPE, "env": os.environ, **options}
    command = [sys.executable, "-c", f"{before}\n{MAIN}", *arguments]
    return subprocess.run(command, stderr=subprocess.PIPE, check=False, **options)


# ---- defects ------------------------------------------------------------------------------------


def test_a_defect_is_one_line_that_says_so(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("a\nb")

    monkeypatch.setattr(tw, "load", broken)
    result = cli("run", model)
    check_error(result, "KeyError", "defect of Tilewright", "--traceback")
    assert result.stderr.count("\n") == 1
    for command in (("--traceback", "run", model), ("run", model, "--traceback")):
        assert isinstance(cli(*command).exception, KeyError)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (MemoryError("46 GiB"), "out of memory: 46 GiB"),
        (OSError(28, "No space left on device", "t.db"), "t.db: No space left on device"),
        (tw.VerifyError("store outside"), "store outside (this is a defect"),
    ],
)
def test_other_ends(
    model: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, text: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(tw, "load", broken)
    check_error(cli("run", model), f"error: {text}")


# ---- input --------------------------------------------------------------------------------------


def test_minutes_without_end(model: Path) -> None:
    result = cli("tune", model, "--minutes", "inf")
    assert result.exit_code == 2
    assert "is a finite number" in result.stderr
    assert cli("tune", model, "--minutes", "nan").exit_code == 2


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("'x", "No closing quotation"),
        ("", "the runner command is empty"),
        ("cat", "does not speak protocol"),
    ],
)
def test_runners_that_are_none(model: Path, tmp_path: Path, command: str, part: str) -> None:
    db = tmp_path / "new.db"
    result = cli("tune", model, "--trials", 1, "--db", db, "--runner", command)
    check_error(result, part)


@pytest.mark.cpu
def test_arrays_that_are_no_numbers(model: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "objects.npz", x=np.array([{}], object))
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1<<60,), }".replace(
        b"1<<60", b"1152921504606846976"
    )
    start = b"\x93NUMPY\x01\x00" + (len(header) + 1).to_bytes(2, "little") + header + b"\n"
    (tmp_path / "huge.npy").write_bytes(start)
    for name, part in (("objects.npz", "holds Python objects"), ("huge.npy", "huge.npy")):
        check_error(cli("run", model, "--input", f"x={tmp_path / name}"), part)


def test_an_operator_that_is_none() -> None:
    check_error(cli("ops", "zzzz"), "no ONNX operator's name contains 'zzzz'")


# ---- output -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "printed"),
    [("ascii", "12 us - \\xe9 \\udcff\n"), ("utf-8", "12 µs – é \\udcff\n")],
)
def test_an_encoding_that_lacks_characters(
    monkeypatch: pytest.MonkeyPatch, encoding: str, printed: str
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    tolerate_encodings()
    output().print("12 µs – é \udcff")
    stream.seek(0)
    assert stream.read() == printed


def test_what_a_terminal_would_obey_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    complain("runner: \x1b[2J\x1b]0;title\x07 done")
    assert capsys.readouterr().err == "error: runner: \\x1b[2J\\x1b]0;title\\x07 done\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_output_that_is_full() -> None:
    for command in (("ops", "Relu"), ("--version",)):
        with Path("/dev/full").open("wb") as full:
            done = program(*command, stdout=full)
        assert done.returncode == 1
        assert done.stderr == b"error: standard output: No space left on device\n"


def test_python_without_docstrings() -> None:
    done = program("ops", env=os.environ | {"PYTHONOPTIMIZE": "2"})
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: LightGBM does not load where docstrings are left out")
    assert done.stderr.count(b"\n") == 1


def test_a_warning_is_a_note(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def warned(*_: object, **__: object) -> None:
        warnings.warn("the output is not what it seems", stacklevel=1)
        raise InputError("enough")

    monkeypatch.setattr(tw, "load", warned)
    result = cli("compile", model)
    assert result.stderr.splitlines() == [
        "note: the output is not what it seems", "error: enough"
    ]  # fmt: skip


# ---- signals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_signals_end_a_run_like_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, model: Path, tmp_path: Path, name: str
) -> None:
    number = signal.Signals[name]
    usual = signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
    inherited = signal.signal(number, usual)

    def killed(*_: object, callbacks: Any, **__: object) -> None:
        callbacks[0](progress())
        os.kill(os.getpid(), number)
        raise AssertionError("not interrupted")

    monkeypatch.setattr(tw, "tune", killed)
    try:
        result = cli("tune", model, "--db", tmp_path / "t.db")
        assert signal.getsignal(number) is usual
    finally:
        signal.signal(number, inherited)
    assert result.exit_code == 128 + number
    assert "Stopped." in result.output
    assert "estimated latency 12 ms" in result.output


def test_ctrl_c_while_modules_are_loaded() -> None:
    before = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "tilewright.cli.app":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""
    done = program("ops", before=before)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")

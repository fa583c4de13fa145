"""Where the interpreter's layout is not known, calls go through ctypes, and do the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.runtime import interpreter
from tilewright.runtime.interpreter import IS_KNOWN, has_known_layout

pytestmark = pytest.mark.cpu

FORCED = """
import sysconfig, sys
variable = sysconfig.get_config_var
sysconfig.get_config_var = lambda name: 1 if name == "Py_GIL_DISABLED" else variable(name)
import pytest
status = pytest.main(["-v", "-p", "no:xdist", "-p", "no:cacheprovider", *sys.argv[1:]])
from tilewright.runtime import function, interpreter
assert not interpreter.IS_KNOWN and not function.QUICK
sys.exit(status)
"""


def test_this_interpreter_is_known() -> None:
    assert IS_KNOWN
    assert has_known_layout()


@pytest.mark.parametrize("name", ["COUNT", "TYPE", "DATA", "RANK", "EXTENTS", "BASE", "DTYPE"])
def test_a_field_elsewhere_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """As in an interpreter whose objects begin with one word more; what is read is in the array."""
    other = {"COUNT": interpreter.TYPE, "EXTENTS": interpreter.DATA}.get(name, interpreter.FLAGS)
    monkeypatch.setattr(interpreter, name, other)
    assert not has_known_layout()


def test_calls_do_the_same_without_it() -> None:
    """All tests of compiled functions, in an interpreter that claims to have no lock."""
    tests = Path(__file__).with_name("test_function.py")
    done = subprocess.run(
        [sys.executable, "-c", FORCED, str(tests), "-k", "not threads_share"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout

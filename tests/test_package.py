"""The names that the package offers, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tilewright as tw


def test_every_public_name_exists() -> None:
    for name in tw.__all__:
        assert getattr(tw, name) is not None
    assert set(tw.__all__) == {*tw._MODULE_OF, *tw._SUBMODULES}
    with pytest.raises(AttributeError, match="no attribute 'relu6'"):
        _ = tw.relu6


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, tilewright; print([m for m in ('numpy', 'onnx') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

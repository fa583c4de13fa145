"""The names that the package offers, and what importing it costs."""

from __future__ import annotations

import builtins
import subprocess
import sys

import pytest

import tilewright as tw


def test_every_public_name_exists() -> None:
    for name in tw.__all__:
        assert getattr(tw, name) is not None
    offered = {*tw._MODULE_OF, *tw._SUBMODULES}
    assert set(tw.__all__) == offered - set(dir(builtins))
    assert offered - set(tw.__all__) == {"abs", "compile", "max", "min", "round", "sum"}
    with pytest.raises(AttributeError, match="no attribute 'relu6'"):
        _ = tw.relu6


def test_a_star_import_replaces_nothing_of_pythons() -> None:
    names: dict[str, object] = {}
    exec("from tilewright import *", names)
    assert names["tune"] is tw.tune
    assert not {n for n in names if n in dir(builtins) and not n.startswith("__")}


def test_dir_lists_what_is_offered() -> None:
    listed = {n for n in dir(tw) if not n.startswith("__")}
    assert listed == {*tw._MODULE_OF, *tw._SUBMODULES}


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, tilewright; print([m for m in ('numpy', 'onnx') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

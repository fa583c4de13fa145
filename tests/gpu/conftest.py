"""The devices of the tests: OpenCL's is any driver (.ci/run installs PoCL, which runs on the CPU);
under NVIDIA's bindings there is a driver of ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devices import at_hand
from tilewright.runtime.opencl import OpenclDevice

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def opencl() -> OpenclDevice:
    return at_hand(OpenclDevice)


@pytest.fixture(scope="session")
def fake_driver(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """Runs a program of this folder with libcuda.cpp; returns what it found (results.json)."""
    folder = tmp_path_factory.mktemp("cuda")
    options = ["-std=c++17", "-O1", "-shared", "-fPIC", "-o", str(folder / "libcuda.so.1")]
    subprocess.run(["g++", *options, str(HERE / "libcuda.cpp")], check=True)

    paths = [
        str(HERE.parents[1]),
        str(HERE.parent),
        os.environ.get("PYTHONPATH"),
    ]  # benchmarks are there
    own = {
        "LD_LIBRARY_PATH": str(folder),
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
    }

    def run(program: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, str(HERE / program), str(folder)],
            capture_output=True,
            text=True,
            env={**os.environ, **own},
        )
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads((folder / "results.json").read_text())
        return found

    return run

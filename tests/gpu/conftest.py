"""The OpenCL device of the tests: any driver; .ci/run installs PoCL, which runs on the CPU."""

from __future__ import annotations

import pytest

from devices import at_hand
from tilewright.runtime.opencl import OpenclDevice


@pytest.fixture(scope="session")
def opencl() -> OpenclDevice:
    return at_hand(OpenclDevice)

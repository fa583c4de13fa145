"""The OpenCL device of the tests: any driver; .ci/run installs PoCL, which runs on the CPU."""

from __future__ import annotations

import pytest

from tilewright.errors import TargetError
from tilewright.runtime.opencl import OpenclDevice


@pytest.fixture(scope="session")
def opencl() -> OpenclDevice:
    try:
        return OpenclDevice()
    except TargetError as error:
        pytest.skip(str(error))

"""Devices and tools that a test needs: .ci/run installs them; elsewhere such a test is skipped."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TypeVar

import pytest

from tilewright.errors import TargetError

Opened = TypeVar("Opened")


def at_hand(make: Callable[[], Opened]) -> Opened:
    """What `make` opens; the test is skipped, and says why, where there is no such device."""
    try:
        return make()
    except TargetError as error:
        pytest.skip(str(error))


def tools(*names: str) -> pytest.MarkDecorator:
    """A mark that skips a test, and says why, where one of these commands is not installed."""
    missing = [name for name in names if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not found")

"""Devices and tools that a test needs.

`make test` is to run on any machine, so a test is skipped, and says why, where they are missing.
`.ci/run` installs all that Debian has, or fails.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TypeVar

import pytest

from tilewright.ground.errors import TargetError

Opened = TypeVar("Opened")


def at_hand(make: Callable[[], Opened]) -> Opened:
    """What `make` opens. Where there is no such device, the error says so, and the way out."""
    try:
        return make()
    except TargetError as error:
        pytest.skip(str(error))


def tools(*names: str) -> pytest.MarkDecorator:
    """A mark of tests that call these commands."""
    missing = [name for name in names if shutil.which(name) is None]
    reason = f"{', '.join(missing)} not found: bash .ci/run installs what tests need"
    return pytest.mark.skipif(bool(missing), reason=reason)

"""Devices that a test needs: .ci/run installs what opens them; elsewhere such a test is skipped."""

from __future__ import annotations

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

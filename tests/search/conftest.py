"""What tests of runs share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tilewright.search.strategies import profiler, table
from tilewright.space import default


@pytest.fixture(scope="module")
def brief_search() -> Iterator[None]:
    """A search that looks at few programs, for tests of what a run measures, records and takes up
    again, whatever it proposes.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "PER_TRIAL", 16)
        patch.setattr(table, "SMALLEST_POPULATION", 64)
        patch.setattr(default, "SAMPLES", 128)
        patch.setattr(default, "PARENTS", 16)
        patch.setattr(profiler, "SAMPLES", 32)
        patch.setattr(profiler, "STEPS", 3)
        yield

"""Steps of plans of reuse; how databases keep them is in `DatabaseSuite`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.ground.errors import RecordsError
from tilewright.records import ReuseRow
from tilewright.testing.databases import HERE, REUSED


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "bridge"}, "step 1 of plan plan is of kind 'bridge', which is none of"),
        ({"source_hash": None}, "a reuse needs a source workload"),
        ({"kind": "search"}, "a search has no source workload"),
        ({"kind": "recorded", "source_hash": None, "trials": (1,)}, r"trials \(1,\) of no source"),
        ({"position": -1}, "a number that is below 0"),
        ({"seed": 2**63}, "a number that is below 0"),
        ({"programs": -1}, "a number that is below 0"),
        ({"trials": (0,)}, "a number that is below 0"),
        ({"seconds": float("nan")}, "a time that is no length of time"),
        ({"begun_at": -1.0}, "a time that is no length of time"),
    ],
)
def test_what_is_no_step_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordsError, match=message):
        replace(REUSED, **changes)
    assert ReuseRow(HERE, "plan", 1, 0, "w0", "recorded", "w1", 0, 0.0).trials == ()

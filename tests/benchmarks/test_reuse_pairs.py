"""One pair on a simulated device: what each side begins with, measures and is compared by."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.cases import Case, conv2d
from benchmarks.reuse_pairs import SIDES, Pair, rows
from benchmarks.reuse_records import own_database, tuned
from simulated_device import simulate


def case(channels: int) -> Case:
    return Case(f"tiny-{channels}", "C2D", (8, 8, channels, 16, 1, 1, 0), 1, conv2d)


def test_all_sides_begin_with_the_sources_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = simulate(monkeypatch)
    target, source = case(16), case(32)
    for one in (target, source):
        tuned(one, own_database(one.name, tmp_path), 32)
    batches.clear()
    found = Pair(target, source, tmp_path).measured()
    assert tuple(found) == SIDES
    assert found["reuse"].trials == 12 == found["search"].trials
    assert 3 <= found["topk"].trials <= 9 and found["default"].trials == 0
    assert found["topk"].origin in ("carried", "default")
    # the source is not searched again; each side measures the untuned program twice
    assert sum(batches) == sum(one.trials + 2 for side, one in found.items() if side != "default")
    sides = {side: vars(one) for side, one in found.items()}
    (kind, every) = rows({"pairs": {"a < b": {"type": "C2D", **sides}}})
    assert kind[:2] == ["C2D", "1"] and every[0] == "all" and kind[2:] == every[2:]

"""One pair on a simulated device: what each side begins with, measures and is compared by."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.cases import Case, conv2d
from benchmarks.reuse_pairs import HEAD, SIDES, Pair, estimates, rows
from benchmarks.reuse_records import Bench
from simulated_device import simulate


def case(channels: int) -> Case:
    return Case(f"tiny-{channels}", "C2D", (8, 8, channels, 16, 1, 1, 0), 1, conv2d)


@pytest.mark.thorough
def test_all_sides_begin_with_the_sources_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = simulate(monkeypatch)
    target, source = case(16), case(32)
    bench = Bench(tmp_path)
    for one in (target, source):
        bench.searched(one)
    batches.clear()
    found = Pair(target, source, bench).measured()
    assert tuple(found) == SIDES
    assert found["reuse"].trials == 12 == found["search"].trials
    assert 3 <= found["topk"].trials <= 9 and found["default"].trials == 0
    assert found["topk"].origin in ("carried", "default")
    assert found["all"].trials > 12 and 0.2 < found["all"].expected / found["all"].trials < 5
    # the source is not searched again; each side measures the untuned program twice
    assert sum(batches) == sum(one.trials + 2 for side, one in found.items() if side != "default")
    both = {"type": "C2D", **{side: vars(one) for side, one in found.items()}}
    without = {side: of for side, of in both.items() if side != "all"}
    (kind, every) = rows({"pairs": {"a < b": both, "c < d": without}})
    assert kind[:2] == ["C2D", "2"] and every[0] == "all pairs" and kind[2:] == every[2:]
    assert kind[HEAD.index("of all")] == str(found["all"].trials)
    (estimate,) = estimates({"pairs": {"a < b": both, "c < d": without}})
    assert estimate == found["all"].expected / found["all"].trials

"""Coverage of ranges: what is held and kept, which pairs count, from usage made up by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.cases import Case, conv2d
from benchmarks.reuse_ranges import RANGES, Searched, main, ranges, rows, searches, share, summary
from benchmarks.reuse_records import Bench, task_of
from simulated_device import simulate

from tilewright.cost.usage import Usage
from tilewright.records.database import Database
from tilewright.search.reuse.family import Operator
from tilewright.target import Target

CPU = Target.parse("cpu:icelake-server cores=2")
RULES = frozenset({("tile",)})


def case(size: int, channels: int, window: int = 1, batch: int = 1) -> Case:
    shape = (size, size, channels, 16, window, 1, window // 2)
    return Case(f"C2D-{size}x{channels}x{window}", "C2D", shape, batch, conv2d)


def usage(*programs: tuple[float, float, float]) -> Usage:
    return Usage(*np.array(programs, float).T)


def one(of: Case, best: Usage, good: Usage, rules: frozenset[tuple[str, ...]] = RULES) -> Searched:
    random = usage((1, 1, 1), (8, 64, 512), (8, 64, 512e3), (1e9, 1e9, 1e9))
    return Searched(of.name, Operator.of(of.dag()), rules, best, good, random)


def test_ranges_are_equations_1_to_3() -> None:
    here, there = (Operator.of(case(8, c).dag()) for c in (16, 32))  # r1 = 2, r2 = 1/2
    found = ranges(here, there, CPU)
    assert tuple(found) == RANGES
    assert found["blocks"].blocks == (0.5, 2.0)
    assert found["threads"].threads == (0.5, 1.0) == found["bytes"].bytes
    assert found["published"].blocks == (0.5, 2.0) and found["published"].bytes == (0.5, 1.0)
    assert found["tiles"].threads == found["ours"].threads


def test_a_pair_is_held_by_one_program_in_all_ranges() -> None:
    source = one(case(8, 16), usage((8, 64, 512)), usage((8, 64, 512)))
    # one program has the blocks, another the threads, none has both
    target = one(case(8, 32), usage((8, 900, 512)), usage((8, 900, 512), (900, 64, 512)))
    found = share(target, source, CPU)
    assert found.is_dominating
    assert found.held["blocks"] and found.held["threads"] and found.held["tiles"]
    assert not found.held["published"] and not found.held["ours"]
    assert found.kept["blocks"] == 0.5 and found.kept["published"] == 0.25


def test_pairs_are_of_one_family_and_the_sources_rules_suffice() -> None:
    like = usage((8, 64, 512))
    few = one(case(8, 16), like, like)
    more = one(case(8, 32), like, like, RULES | {("split",)})
    neither = one(case(4, 64), like, like)
    found = summary([few, more, neither], CPU)
    types = found["types"]
    assert list(types) == ["C2D", "all"] and types["C2D"] == types["all"]
    # few < more, few < neither, neither < few, neither < more
    assert types["all"]["all"]["pairs"] == 4
    assert types["all"]["dominating"]["pairs"] == 1
    assert types["all"]["dominating"]["held"]["ours"] == 1.0
    assert rows(found)[0][:3] == ["C2D", "dominating", "1"]


@pytest.mark.thorough
def test_own_searches_are_read_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate(monkeypatch)
    small, large, bench = case(8, 16), case(8, 32), Bench(tmp_path)
    for each in (small, large):
        bench.searched(each)
    with Database.open(tmp_path / "reuse.db") as database:
        bench.run(database, [task_of(large)], 8)
    assert [found.name for found in searches(bench)] == [small.name, large.name]
    words = ["reuse_ranges", "--folder", str(tmp_path), "--json", str(tmp_path / "r.json")]
    monkeypatch.setattr("sys.argv", words)
    assert main() == 0
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["provenance"]["commit"] and found["operators"] == 2
    assert all(0 <= found["types"]["all"]["all"]["kept"][r] <= 1 for r in RANGES)


def test_an_empty_folder_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["reuse_ranges", "--folder", str(tmp_path)])
    assert main() == 1

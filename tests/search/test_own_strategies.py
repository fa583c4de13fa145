"""A strategy of one's own: a class that is given to `tune`, and what is said of its mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from made_up_latencies import simulate
from tilewright.cost.candidates import Population
from tilewright.ground.errors import InputError, ScheduleError
from tilewright.records.database import Database
from tilewright.search.strategies.memory import Candidate
from tilewright.search.strategies.table import RandomStrategy
from tilewright.space.space import Space

pytestmark = pytest.mark.usefixtures("brief_search")


class Mine:
    """Random candidates."""

    def __init__(self, space: Space, extractor: Any, model: Any) -> None:
        self.random = RandomStrategy(space)

    def ask(self, rng: np.random.Generator, n: int) -> Any:
        return self.random.ask(rng, n)

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        self.random.tell(batch, latencies)


def task() -> tw.Task:
    a, b = tw.placeholder((16, 16), name="a"), tw.placeholder((16, 16), name="b")
    return tw.Task([a, b, tw.operators.matmul(a, b)], "gemm")


def tuned(strategy: Any, db: Path) -> tw.TuneResult:
    return tw.tune(task(), trials=6, db=db, strategy=strategy)


@pytest.mark.parametrize(
    ("strategy", "name"),
    [(Mine, "Mine"), (lambda *given: Mine(*given), "<lambda>")],
    ids=["class", "function"],
)
def test_a_class_or_function_makes_the_strategy(
    strategy: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate(monkeypatch)
    assert tuned(strategy, tmp_path / "t.db").trials == 6
    with Database.open(tmp_path / "t.db", readonly=True) as database:
        assert [run.strategy for run in database.runs()] == [name]
        assert database.summary().trials == 7
    assert tuned(strategy, tmp_path / "t.db").trials == 6
    with Database.open(tmp_path / "t.db", readonly=True) as database:
        assert database.summary().trials == 7, "the same rounds again, from the records"


class NoTell:
    def __init__(self, *_: Any) -> None: ...

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        return []


class GivesRows(Mine):
    def ask(self, rng: np.random.Generator, n: int) -> Any:
        return self.random.space.sample(rng, n)


class GivesNumbers(Mine):
    def ask(self, rng: np.random.Generator, n: int) -> Any:
        return [1, 2]


class GivesNothing(Mine):
    def ask(self, rng: np.random.Generator, n: int) -> Any:
        return None


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        (NoTell, "a strategy has the methods ask.*NoTell has no tell"),
        (lambda *_: None, "a strategy has the methods ask.*; None has no ask"),
        (GivesRows, "the strategy GivesRows gives, when asked, no list of candidates.*Population"),
        (GivesNumbers, r"GivesNumbers gives, when asked, no list of candidates.*\[1, 2\]"),
        (GivesNothing, "GivesNothing gives, when asked, no list of candidates.*None"),
        (3, "unknown strategy 3; known: evolution"),
    ],
)
def test_a_mistake_names_the_strategy(
    strategy: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate(monkeypatch)
    with pytest.raises(InputError, match=message):
        tuned(strategy, tmp_path / "t.db")


@pytest.mark.parametrize(
    ("rows", "sketch"),
    [
        (np.zeros(3), np.zeros((3, 5))),
        (np.zeros((3, 5)), np.zeros(2)),
        (np.zeros((3, 5)), np.zeros((3, 1))),
        (np.zeros(5), 0),
    ],
)
def test_a_population_is_rows_and_then_sketches(rows: Any, sketch: Any) -> None:
    with pytest.raises(ScheduleError, match=r"Population\(rows, sketch\) takes a matrix"):
        Population(rows, sketch)

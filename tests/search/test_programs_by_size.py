"""Programs by size: which programs are taken for which ranges, and when a task proposes them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tilewright.contract.gene import Gene
from tilewright.contract.sizes import Size, Sizes, points_of
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Var
from tilewright.expr.tensors import compute, placeholder
from tilewright.ground.errors import ScheduleError
from tilewright.records.rows import Trial
from tilewright.schedule.by_size import by_size
from tilewright.schedule.producers import lowered_of
from tilewright.search.model.cost_model import GradientBoostedModel
from tilewright.search.strategies.table import STRATEGIES
from tilewright.search.tasks import TaskSearch, TuningTask
from tilewright.space.by_size import combined
from tilewright.space.default import default_gene
from tilewright.space.space import Space
from tilewright.target import Target

TARGET = Target.parse("cpu cores=2")
ROWS: Sizes = (Size("S", 1, 512, tuple((n, 1.0) for n in (512, 128, 32, 8, 2))),)
LONG, SHORT, MIDDLE, BAD = (Gene(f'{{"sketch":"{n}","steps":[]}}') for n in "lsmb")
TIMES = {
    LONG: (100.0, 30.0, 20.0, 20.0, 20.0),
    MIDDLE: (130.0, 32.0, 8.0, 9.0, 9.0),
    SHORT: (300.0, 60.0, 15.0, 2.0, 1.0),
    BAD: (400.0, 400.0, 400.0, 400.0, 400.0),
}


def ranges(gene: Gene) -> tuple[list[int], list[Gene]]:
    said = json.loads(gene.producer)
    return said["below"], [Gene.of(json.dumps(p, separators=(",", ":"))) for p in said["programs"]]


def test_each_range_has_the_program_that_is_best_there() -> None:
    found = combined(ROWS, TIMES)
    assert found is not None
    gene, seconds = found
    assert ranges(gene) == ([16, 64], [SHORT, MIDDLE, LONG])
    assert seconds == pytest.approx((100 + 30 + 8 + 2 + 1) / 5)


def test_one_more_program_must_save_its_share() -> None:
    nearly = {LONG: (100.0, 30.0, 5.0, 2.0, 1.5), SHORT: (300.0, 90.0, 4.0, 1.5, 1.0)}
    assert combined(ROWS, nearly) is None
    two = combined(ROWS, {k: v for k, v in TIMES.items() if k != MIDDLE})
    assert two is not None and ranges(two[0]) == ([64], [SHORT, LONG])


def test_nothing_to_combine() -> None:
    assert combined(ROWS, {}) is None
    assert combined(ROWS, {LONG: TIMES[LONG]}) is None
    assert combined((Size("S", 7, 7),), {LONG: (1.0,), SHORT: (2.0,)}) is None
    assert combined((), TIMES) is None


def test_ranges_are_of_the_size_that_varies_most() -> None:
    both = (Size("B", 1, 4, ((4, 1.0), (1, 1.0))), *ROWS)
    assert [tuple(p.values.values()) for p in points_of(both) if p.weight] == [
        (4, 512), (1, 128), (1, 32), (1, 8), (1, 2),
    ]  # fmt: skip
    found = combined(both, TIMES)
    assert found is not None and json.loads(found[0].producer)["by_size"] == "S"


@pytest.mark.parametrize(
    ("below", "count", "message"),
    [
        ([64, 16], 3, "growing"),
        ([16], 3, "one bound less"),
        ([], 1, ""),
        ([1, 2, 3], 4, "at most 3"),
        ([0], 2, "growing"),
    ],
)
def test_texts_that_no_search_writes(below: list[int], count: int, message: str) -> None:
    dag = scaled()
    (one,) = some_genes(TuningTask("t", dag).space(TARGET), 1)
    gene = by_size("S", below, [one] * count)
    if message:
        with pytest.raises(ScheduleError, match=message):
            lowered_of(dag, gene, "t")
    else:
        assert lowered_of(dag, gene, "t").program.sizes == ROWS
    with pytest.raises(ScheduleError, match="is none of programs by size"):
        lowered_of(dag, by_size("S", [8], [by_size("S", [], [one]), one]), "t")
    with pytest.raises(ScheduleError, match="has no size T"):
        lowered_of(dag, by_size("T", [8], [one, one]), "t")


def some_genes(space: Space, count: int) -> list[Gene]:
    found = space.sample(np.random.default_rng(0), 64)
    genes = [space.gene(*one) for one in zip(found.sketch, found.rows, strict=True)]
    return list(dict.fromkeys(genes))[:count]


def scaled(sizes: Sizes = ROWS) -> ComputeDAG:
    x = placeholder((Var("S"), 24), name="x")
    return ComputeDAG([compute((Var("S"), 24), lambda i, j: x[i, j] * 2.0, name="y")], sizes)


def test_default_programs_by_size_are_those_of_cpus() -> None:
    """A copy of few rows needs no threads; where all sizes are near each other one program does."""
    wide, narrow = (scaled((Size("S", least, 65536),)) for least in (1, 60000))
    space = TuningTask("t", wide).space(TARGET)
    low, high = ranges(default_gene(space))[1]
    assert low != high and all(space.row_of(gene) is not None for gene in (low, high))
    assert default_gene(TuningTask("t", narrow).space(TARGET)).key == "sketch"
    for_gpu = TuningTask("t", wide).space(Target.parse("cuda:a100"))
    assert default_gene(for_gpu).key == "sketch"


def test_a_task_proposes_them_once_and_knows_them_again() -> None:
    task = TuningTask("t", scaled())
    space = task.space(TARGET)

    def search() -> TaskSearch:
        make = STRATEGIES["random"].make
        return TaskSearch.start(task, space, GradientBoostedModel(seed=0), make)

    one = search()
    first, second = one.propose(0, 2)
    trials = [
        Trial("w", "m", c.gene, 0, 0, latencies_s=(60.0,), points_s=TIMES[t])
        for c, t in ((first, LONG), (second, SHORT))
    ]
    one.see(trials)
    one.tell([first, second], [36.0, 75.0])
    proposed = one.propose(0, 4)
    assert [c.origin for c in proposed[:2]] == ["by_size", "sample"]
    assert ranges(proposed[0].gene) == ([64], [second.gene, first.gene])
    assert [c.origin for c in one.propose(0, 4)].count("by_size") == 0
    again = search().candidate(Trial("w", "m", proposed[0].gene, 1, 0, (30.0,), origin="by_size"))
    assert again == proposed[0]


def test_what_a_default_program_by_size_is_made_of_is_measured_next() -> None:
    task = TuningTask("t", scaled())
    space = task.space(TARGET)
    parts = some_genes(space, 2)
    search = TaskSearch.start(task, space, GradientBoostedModel(seed=0), STRATEGIES["random"].make)
    search.default = by_size("S", (32,), parts)
    proposed = search.propose(0, 3)
    assert [c.gene for c in proposed[:2]] == parts
    assert [c.origin for c in proposed] == ["by_size", "by_size", "sample"]

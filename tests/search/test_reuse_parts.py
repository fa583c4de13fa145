"""Programs of chains from the records of their parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simulated_tuning import MACHINE, TARGET, SimulatedMachine, make_scheduler
from tilewright.contract.gene import Gene
from tilewright.cost.extractor import FeatureExtractor
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.serialize import workload_hash
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT, Trial
from tilewright.search.progress import Budget
from tilewright.search.reuse.carry import Carrier
from tilewright.search.reuse.parts import Parts, divisions
from tilewright.search.tasks import PARTS, TuningTask
from tilewright.search.tuner import Tuner
from tilewright.space.default import default_gene, default_of
from workloads import given, weight

SIZE, CHANNELS, HIDDEN = 12, 8, 48


def expanded(name: str = "conv") -> ComputeDAG:
    """A 1 x 1 convolution, clipped."""
    y = ops.conv2d(given(1, SIZE, SIZE, CHANNELS), weight(1, 1, CHANNELS, HIDDEN), name=name)
    return ComputeDAG([ops.clip(y, 0.0, 6.0)])


def filtered(name: str = "depthwise") -> ComputeDAG:
    """A depthwise convolution, clipped."""
    x = given(1, SIZE, SIZE, HIDDEN)
    y = ops.depthwise_conv(x, weight(3, 3, HIDDEN, 1), padding=1, name=name)
    return ComputeDAG([ops.clip(y, 0.0, 6.0)])


def block() -> ComputeDAG:
    """Both, back to back; names are others than those of the parts."""
    x = given(1, SIZE, SIZE, CHANNELS)
    y = ops.clip(ops.conv2d(x, weight(1, 1, CHANNELS, HIDDEN), name="first"), 0.0, 6.0, name="mid")
    y = ops.depthwise_conv(y, weight(3, 3, HIDDEN, 1, name="v"), padding=1, name="second")
    return ComputeDAG([ops.clip(y, 0.0, 6.0, name="last")])


WHOLE = TuningTask("block", block())
TASKS = (TuningTask("expanded", expanded()), TuningTask("filtered", filtered()))


def record(database: Database, task: TuningTask, seconds: float) -> Gene:
    """The untuned program, and another one that took `seconds`, as if both had been measured."""
    space = task.space(TARGET)
    drawn = space.sample(np.random.default_rng(1), 64)
    gene = space.gene(int(drawn.sketch[0]), drawn.rows[0])
    database.add_machine(MACHINE)
    database.add_workload(task.row)
    untuned = float(FeatureExtractor(space).latency(default_of(space))[0])
    fingerprint = MACHINE.fingerprint
    database.add_trials(
        [
            Trial(task.hash, fingerprint, default_gene(space), 0, 0, (untuned,), origin=DEFAULT),
            Trial(task.hash, fingerprint, gene, 0, 0, (seconds,)),
        ]
    )
    return gene


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path / "run.db") as opened:
        yield opened


def test_a_chain_is_divided_where_its_parts_are() -> None:
    cuts = list(divisions(WHOLE.dag))
    hashes = [workload_hash(task.dag) for task in TASKS]
    assert [list(map(workload_hash, dags)) for dags in cuts].count(hashes) == 1
    assert len(cuts) > 1, "before the clip and after the border, too"
    assert not list(divisions(expanded()))


def test_parts_make_up_a_program_of_the_whole(database: Database) -> None:
    genes = [record(database, task, 1e-6) for task in TASKS]
    found = Parts(database, MACHINE, TARGET).program(WHOLE)
    assert found is not None
    assert (found.sources, found.seconds) == (("expanded", "filtered"), pytest.approx(2e-6))
    assert found.usual == pytest.approx(1.0), "untuned programs took what the estimate said"
    space = WHOLE.space(TARGET)
    program = space.row_of(found.gene)
    assert program is not None and space.valid(program).all()
    assert "chain" not in space.sketches[int(program.sketch[0])].rules
    values = found.gene.values
    for gene, (theirs, mine) in zip(
        genes, (("conv", "first"), ("depthwise", "second")), strict=True
    ):
        own = {n: v for n, v in gene.values.items() if n.startswith(f"{theirs}.")}
        assert own and all(values[n.replace(theirs, mine, 1)] == v for n, v in own.items())


def test_a_part_without_records_is_no_part(database: Database) -> None:
    record(database, TASKS[0], 1e-6)
    assert Parts(database, MACHINE, TARGET).program(WHOLE) is None
    assert Parts(database, MACHINE, TARGET).program(TASKS[0]) is None, "nothing to be divided"


@pytest.mark.parametrize("seconds", [1e-9, 1.0])
def test_an_untuned_chain_takes_it_where_that_promises(database: Database, seconds: float) -> None:
    """Against what the chain's own untuned program is expected to take."""
    for task in TASKS:
        record(database, task, seconds)
    found = Carrier(database, MACHINE, TARGET).program(WHOLE)
    if seconds == 1.0:
        assert found is None
    else:
        assert found is not None and found.source == "expanded, filtered"


def test_a_search_begins_with_it(database: Database) -> None:
    for task in TASKS:
        record(database, task, 1e-6)
    task = replace(WHOLE)
    tuner = Tuner([task], database, MACHINE, SimulatedMachine(), TARGET, make_scheduler)
    tuner.run(Budget(trials=8))
    trials = [t for t in database.trials(task.hash) if t.origin != DEFAULT]
    composed = Parts(database, MACHINE, TARGET).program(task)
    assert composed is not None and trials[0].gene == composed.gene
    assert [t.origin for t in trials].count(PARTS) == 1

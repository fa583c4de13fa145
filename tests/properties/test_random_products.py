"""Random contractions by the template of products in registers: any of its programs is right."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from random_dags import Case, random_contraction
from test_random_programs import TARGETS, compare

from tilewright.contract.gene import Gene
from tilewright.cost.extractor import FeatureExtractor
from tilewright.expr.dag import ComputeDAG
from tilewright.ground.errors import ScheduleError
from tilewright.nest.print import program_text
from tilewright.nest.verify import verify
from tilewright.schedule.producers import lowered_of, maker_of, matched, template_gene
from tilewright.schedule.templates import REGISTERS
from tilewright.space.space import Space
from tilewright.testing import Backend, compiled, interpreted

pytestmark = pytest.mark.no_cover

ROWS = 4  # of any options, for one problem
SMALL = {"down": (1, 2, 3, 8), "across": (1, 2, 3, 8)}  # there are few tiles
KINDS = ("left packed", "right packed", "constant packed", "panels", "windows", "batch")


def rows(rng: np.random.Generator, dag: ComputeDAG) -> list[Gene]:
    """Genes of random numbers, all that are legal."""
    found = []
    while len(found) < ROWS:
        numbers = [int(rng.choice(SMALL.get(n, o))) for n, o in REGISTERS.options.items()]
        gene = template_gene(REGISTERS.name, tuple(numbers))
        try:
            maker_of(dag, gene)
        except ScheduleError:
            continue
        found.append(gene)
    return found


def check(case: Case, gene: Gene, run: Backend) -> set[str]:
    """Make, verify and run one program; returns what it has."""
    lowered = lowered_of(case.dag, Gene.of(gene.text), "program")
    try:
        verify(lowered.program)
        (found,) = run(lowered, case.arrays).values()
        (expected,) = case.dag.evaluate(case.arrays).values()
        compare(found, expected, case.is_exact)
    except Exception as error:
        error.add_note(f"{gene.text}\n{program_text(lowered.program)}")
        raise
    text, anchor = program_text(lowered.program), matched(case.dag, REGISTERS)
    has = (
        "left.packed" in text,
        "right.packed" in text,
        bool(lowered.layouts),
        "for panel " in text,
        len(anchor.groups.depth) > 1,
        bool(anchor.groups.batch),
    )
    return {kind for kind, is_so in zip(KINDS, has, strict=True) if is_so}


@pytest.mark.parametrize(("run", "problems"), [(interpreted, 60), (compiled, 36)])
def test_any_row_computes_the_contraction(run: Backend, problems: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(problems):
        rng = np.random.default_rng(seed)
        case = random_contraction(rng, seed)
        try:
            matched(case.dag, REGISTERS)
        except ScheduleError:
            continue
        for gene in rows(rng, case.dag):
            seen.update(check(case, gene, run))
            seen["programs"] += 1
    assert seen["programs"] > 2 * problems, seen
    assert not [kind for kind in KINDS if not seen[kind]], seen


@pytest.mark.parametrize("target", TARGETS, ids=[t.name for t in TARGETS])
def test_offered_rows_are_few_and_scored(target: object) -> None:
    for seed in range(24):
        case = random_contraction(np.random.default_rng(seed), seed)
        try:
            space = Space(case.dag, target, (), templates=[REGISTERS])  # type: ignore[arg-type]
        except ScheduleError:  # no template computes it
            continue
        everyone = space.enumerate(1000)
        assert 1 <= len(everyone) <= 200, seed
        assert np.isfinite(FeatureExtractor(space).latency(everyone)).all(), seed
        sketch, row = int(everyone.sketch[-1]), everyone.rows[-1]
        check(case, space.gene(sketch, row), interpreted)

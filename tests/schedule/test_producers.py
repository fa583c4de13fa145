"""Genes whose producer is a template, and those that no search writes."""

from __future__ import annotations

import pytest

from tilewright.contract.gene import Gene, compact
from tilewright.expr.nodes import Var
from tilewright.ground.errors import ScheduleError
from tilewright.nest.bind import bind
from tilewright.nest.print import program_text
from tilewright.schedule.producers import lowered_of, maker_of, template_gene
from tilewright.schedule.trace import template_of
from workloads import product

NAME, ROW = "matmul.registers.1", (6, 32, 2, 1, 256, 3)
FREE = (Var("t#1"), Var("t#2"), 2, 1, 256, 3)


def test_numbers_may_be_decisions() -> None:
    """Decided or given, they make the same program; while they are variables, it is symbolic."""
    dag = product(20, 300, 70)
    given = template_gene(NAME, ROW)
    decided = Gene(template_gene(NAME, FREE).producer, '{"t":[6,32]}')
    assert Gene.of(decided.text) == decided and decided.key == "template"
    assert template_of(given) == template_of(decided) == NAME
    program = lowered_of(dag, given, "p").program
    assert program_text(lowered_of(dag, decided, "p").program) == program_text(program)
    symbolic = maker_of(dag, decided, {v.name: v for v in FREE[:2] if isinstance(v, Var)})("p")
    bound = bind(symbolic.program, decided.values)
    assert program_text(bound) == program_text(program)


@pytest.mark.parametrize(
    ("producer", "decisions", "message"),
    [
        ({"template": "matmul.none.1", "numbers": []}, {}, "no template 'matmul.none.1'; known:"),
        ({"template": NAME, "numbers": [6, 32]}, {}, f"{NAME} has the parameters tile_m, tile_n"),
        ({"template": NAME, "numbers": "6"}, {}, "numbers must be a list, each a number from 0"),
        ({"template": NAME, "numbers": [6.5]}, {}, r"each a number .*, not \[6.5\]"),
        ({"template": NAME, "numbers": ["t#1"]}, {"u": [6]}, r"decision that has a value, not \["),
        ({"template": NAME, "numbers": ["t#1"]}, {"t": [-1]}, "must have numbers from 0 to"),
        ({"template": NAME}, {}, r'a producer is \{"sketch"'),
        ({"template": 3, "numbers": [6]}, {}, r'a producer is \{"sketch"'),
        (
            {"sketch": "", "steps": [["template", NAME, [6]]]},
            {},
            "unknown schedule step 'template'",
        ),
    ],
    ids=str,
)
def test_a_gene_that_no_search_writes_is_refused(
    producer: object, decisions: object, message: str
) -> None:
    with pytest.raises(ScheduleError, match=message):
        maker_of(product(64, 64, 64), Gene(compact(producer), compact(decisions)))

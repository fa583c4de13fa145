"""A trace may come from anybody: what is not one raises ScheduleError, whatever it is."""

from __future__ import annotations

import json

import pytest

from tilewright.contract.gene import Gene
from tilewright.expr.nodes import Var
from tilewright.ground.errors import ScheduleError
from tilewright.schedule import steps
from tilewright.schedule.trace import (
    gene_of,
    sketch_to_json,
    steps_of,
    trace_from_json,
    trace_to_json,
)

SPLIT = ["split", "C", "i", [4, 8]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("[[[", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[" * 900 + "]" * 900, "step 1 of the trace is"),
        ("9" * 5000, "is not JSON"),
        ("null", "a trace is a list of steps, not null"),
        ('"a"', "a trace is a list of steps"),
        ('{"split": 1}', "a trace is a list of steps"),
        ("[null]", "step 1 of the trace is null"),
        ("[[]]", r"step 1 of the trace is \[\]"),
        ('["split"]', "step 1 of the trace is"),
        ('[["dance","C"]]', "unknown schedule step 'dance'; known: split"),
        (json.dumps([SPLIT, ["mark", "C"]]), "step 2 of the trace: mark has the fields stage, key"),
        ('[["stream","C"]]', "unknown schedule step 'stream'"),
        ('[["storage_align","C","i",8,1]]', "unknown schedule step 'storage_align'"),
        ('[["mark","C","unroll_step","much"]]', "value of mark must be a number"),
        ('[["compute_root","C","D"]]', "compute_root has the fields stage, not"),
        ('[["split","C","i",["a"]]]', r'lengths of split must be a list.* not \["a"\]'),
        ('[["split","C","i",[NaN]]]', "lengths of split must be"),
        ('[["split","C","i",[4.0]]]', "lengths of split must be"),
        ('[["split","C","i",[true]]]', "lengths of split must be"),
        ('[["split","C","i",[-4]]]', "lengths of split must be"),
        ('[["split","C","i",[99999999999999999999]]]', "lengths of split must be"),
        ('[["split","C","i",4]]', "lengths of split must be"),
        ('[["split",null,"i",[4]]]', "stage of split must be text, not null"),
        ('[["reorder","C",[["i"],"j"]]]', "levels of reorder must be a list, each a list, each"),
        ('[["rfactor","C","k",4,1]]', "outer of rfactor must be true or false"),
        ('[["follow_split","C","i","D","j",[2]]]', "parts of follow_split must be a number"),
    ],
)
def test_what_is_no_trace_is_refused(text: str, message: str) -> None:
    with pytest.raises(ScheduleError, match=message) as caught:
        trace_from_json(text)
    assert len(str(caught.value)) < 400


def test_fields_with_defaults_may_be_left_out() -> None:
    assert trace_from_json('[["rfactor","C","k",4]]') == [steps.RFactor("C", "k", 4)]


def test_a_trace_is_what_was_written() -> None:
    trace = [
        steps.Split("C", "i", (4, 8)),
        steps.Reorder("C", (("i.0",), ("i.1", "i.2"))),
        steps.RFactor("C", "k", 4, outer=True),
        steps.CacheRead("A", ("C",)),
    ]
    assert trace_from_json(trace_to_json(trace)) == trace


def test_a_gene_is_a_sketch_with_its_decisions() -> None:
    tile, factor = Var("C.i#1"), Var("C.align")
    free = [
        steps.Split("C", "i", (tile, 8)),
        steps.Mark("C", "align", factor * 2),
    ]
    gene = Gene(sketch_to_json("tiled", free), '{"C.i":[4],"C.align":4}')
    assert steps_of(gene) == [steps.Split("C", "i", (4, 8)), steps.Mark("C", "align", 8)]
    assert Gene.of(gene.text) == gene
    assert steps_of(gene_of(steps_of(gene))) == steps_of(gene)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "the gene is not JSON"),
        ("[]", "a gene is"),
        ('{"producer":[],"decisions":[]}', "a gene is"),
        ('{"producer":[],"decisions":{}}', "a producer is"),
        ('{"producer":{"sketch":"","steps":{}},"decisions":{}}', "a trace is a list"),
        ('{"producer":{"sketch":"","steps":[]},"decisions":{"a":-1}}', "decision 'a' must have"),
        ('{"producer":{"sketch":"","steps":[]},"decisions":{"a":[true]}}', "decision 'a'"),
        (
            '{"producer":{"sketch":"","steps":[["split","C","i",["C.i#1"]]]},"decisions":{}}',
            "lengths of split must be a list.* a decision that has a value",
        ),
        (
            '{"producer":{"sketch":"","steps":[["rfactor","C","k",["floordiv",4,0]]]},'
            '"decisions":{}}',
            "factor of rfactor must be",
        ),
    ],
)
def test_what_is_no_gene_is_refused(text: str, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        steps_of(Gene.of(text))

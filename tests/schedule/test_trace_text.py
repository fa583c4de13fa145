"""A trace may come from anybody: what is not one raises ScheduleError, whatever it is."""

from __future__ import annotations

import json

import pytest

from tilewright.errors import ScheduleError
from tilewright.schedule import steps
from tilewright.schedule.trace import trace_from_json, trace_to_json

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
        ('[["pragma","C","much"]]', "value of mark must be a number"),
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


def test_steps_of_earlier_versions_are_read_as_todays() -> None:
    text = (
        '[["pragma","C",16],["stream","C",1],["storage_align","A.C","d0",8,4],'
        '["bind","C","i","block"]]'
    )
    assert trace_from_json(text) == [
        steps.Mark("C", "unroll_step", 16),
        steps.Mark("C", "streamed", 1),
        steps.Mark("A.C", "align", 8),
        steps.Annotate("C", "i", "block"),
    ]

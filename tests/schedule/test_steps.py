"""Transform steps: the nest before and after as golden text; what is illegal and what is said."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from step_cases import CASES, IN_ROWS, TILED, attention, blur, matmul, matmul_relu, two_readers

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Var
from tilewright.expr.tensors import compute, placeholder
from tilewright.ground.errors import ScheduleError
from tilewright.nest.print import program_text
from tilewright.nest.verify import verify
from tilewright.schedule import steps
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import STEPS
from tilewright.schedule.trace import read_steps, trace_from_json, trace_to_json


@pytest.mark.parametrize("name", CASES)
def test_nest_before_and_after(name: str, golden: Callable[[str, str], None]) -> None:
    case = CASES[name]
    state = case.before()
    before = program_text(lower(state, "before").program)
    lowered = lower(state.apply(case.step), "after")
    verify(lowered.program)
    text = f"{before}\n# {trace_to_json([case.step])}\n\n{program_text(lowered.program)}"
    for layout in lowered.layouts.values():
        text += f"\n# {layout.source.name}: splits {layout.splits}, order {layout.permutation}\n"
    golden(f"steps/{name}.txt", text)


def test_every_step_has_a_case() -> None:
    assert {c.step.name for c in CASES.values()} == set(STEPS)


@pytest.mark.parametrize("name", CASES)
def test_traces_round_trip_and_replay_identically(name: str) -> None:
    case = CASES[name]
    state = case.before().apply(case.step)
    text = trace_to_json(state.trace)
    trace = trace_from_json(text)
    assert trace == state.trace
    assert trace_to_json(trace) == text
    again = State(case.dag()).replay(trace)
    assert lower(again, "p") == lower(state, "p")
    assert repr(again.stages) == repr(state.stages)


def test_copies_are_independent() -> None:
    state = State(matmul()).replay(TILED)
    before = program_text(lower(state, "p").program)
    state.copy().apply(steps.Fuse("C", ("i.0", "j.0"))).apply(steps.Annotate("C", "k", "unrolled"))
    assert program_text(lower(state, "p").program) == before
    assert len(state.trace) == len(TILED)


# ---- binding --------------------------------------------------------------------------------


def test_decisions_are_bound_to_ints() -> None:
    t = Var("T")
    text = trace_to_json([steps.Split("C", "i", (t, t * 2)), steps.Parallel("C", Var("p"))])
    assert text == '[["split","C","i",["T",["mul","T",2]]],["parallel","C","p"]]'
    bound = read_steps(json.loads(text), {"T": 2, "p": 1})
    assert bound == [steps.Split("C", "i", (2, 4)), steps.Parallel("C", 1)]
    with pytest.raises(
        ScheduleError, match=r"lengths of split must be .* a decision that has a va"
    ):
        read_steps(json.loads(text), {"p": 1})
    with pytest.raises(ScheduleError, match="has no text"):
        trace_to_json([steps.Parallel("C", t % 2)])


def test_unknown_steps_in_a_trace_are_named() -> None:
    with pytest.raises(ScheduleError, match="unknown schedule step 'spilt'; known: split, "):
        trace_from_json('[["spilt","C","i",[4]]]')


# ---- illegal steps --------------------------------------------------------------------------

ATTACHED = (steps.ComputeAt("C", "D", 1),)
SPLIT_I = (steps.Split("C", "i", (4,)),)

ILLEGAL: dict[str, tuple[Callable[[], ComputeDAG], tuple[steps.Step, ...], steps.Step, str]] = {
    "unknown stage": (matmul, (), steps.Split("X", "i", (2,)), r"no stage 'X'; stages: C"),
    "unknown loop": (
        matmul, SPLIT_I, steps.Split("C", "i", (2,)),
        r"stage C has no loop 'i'; it has \['i.0', 'i.1', 'j', 'k'\]",
    ),
    "split by zero": (
        matmul, (), steps.Split("C", "i", (0,)), r"C: split lengths of i must be positive: \(0,\)"
    ),
    "no zeros to skip": (
        matmul, (), steps.SkipZeros("C"), r"C: no unsplit reduction axis has zeros to skip"
    ),
    "follow nothing": (
        matmul_relu, (), steps.FollowSplit("D", "i0", "C", "i", 2), r"C.i was not split"
    ),
    "follow too far": (
        matmul_relu, SPLIT_I, steps.FollowSplit("D", "i0", "C", "i", 3),
        r"cannot follow a split in 2 with 3 parts",
    ),
    "no such level": (
        matmul_relu, SPLIT_I, steps.FollowFusedSplit("D", "i0", "C", ("i",), 2),
        r"C.i has no inner tile level 2",
    ),
    "bind to nobody": (
        matmul, (), steps.Annotate("C", "i", "warp"), r"cannot annotate a loop 'warp'; known"
    ),
    "bind a reduction to blocks": (
        matmul, (), steps.Annotate("C", "k", "block"), r"C: the reduction k can be bound"
    ),
    "bind to blocks inside": (
        matmul_relu, (steps.ComputeAt("C", "D", 0),), steps.Annotate("C", "i", "block"),
        r"C is computed in D, inside its blocks",
    ),
    "no such scope": (
        matmul_relu, (), steps.SetScope("C", "warp"), r"no scope is called 'warp'; known: l"
    ),
    "share a root": (
        matmul_relu, (), steps.SetScope("C", "shared"), r"C is computed at the root"
    ),
    "fuse both kinds": (matmul, (), steps.Fuse("C", ("j", "k")), r"C: cannot fuse spatial with"),
    "fuse apart": (
        matmul, TILED, steps.Fuse("C", ("i.0", "i.1")), r"C: loops \['i.0', 'i.1'\] are not adjac"
    ),
    "fuse a target": (
        matmul_relu, ATTACHED, steps.Fuse("D", ("i0", "i1")), r"D: fuse before attaching stages"
    ),
    "fuse parallel": (
        matmul, (steps.Parallel("C", 2),), steps.Fuse("C", ("i", "j")),
        r"C: fuse before making its loops parallel",
    ),
    "reorder some": (
        matmul, (), steps.Reorder("C", (("k",), ("i",))), r"C: the order \['k', 'i'\] is not of"
    ),
    "reorder a target": (
        matmul_relu, ATTACHED, steps.Reorder("D", (("i1", "i0"),)),
        r"D: C is computed at tile level 1, 1 levels would be left",
    ),
    "reduction in front": (
        matmul, (steps.Parallel("C", 1),), steps.Reorder("C", (("k",), ("i",), ("j",))),
        r"C: the reduction k cannot be parallel",
    ),
    "attach an output": (
        matmul_relu, (), steps.ComputeAt("D", "C", 0), r"D is an output; it cannot be attached"
    ),
    "attach to itself": (
        matmul_relu, (), steps.ComputeAt("C", "C", 0), r"C cannot be computed inside itself"
    ),
    "attach in a circle": (
        blur, (steps.CacheWrite("y"), steps.ComputeAt("P", "y.local", 0)),
        steps.ComputeAt("y.local", "P", 0), r"y.local cannot be computed inside itself",
    ),
    "rfactor by nothing": (
        matmul, (), steps.RFactor("C", "k", 0), r"C: a factor of 0 does not suit k"
    ),
    "rfactor by too much": (
        matmul, (), steps.RFactor("C", "k", 2**20), r"C: a factor of 1048576 does not suit k"
    ),
    "too large an alignment": (
        matmul_relu, (), steps.Mark("C", "align", 2**20), r"align: it is at most 1024, not 1048576"
    ),
    "attach too deep": (
        matmul_relu, (), steps.ComputeAt("C", "D", 2), r"D has tile levels 0..1, not 2"
    ),
    "attach elsewhere": (
        blur, (steps.CacheWrite("y"),), steps.ComputeAt("P", "y", 0),
        r"P cannot be computed at y: its consumer y.local is outside",
    ),
    "attach too late": (
        blur,
        (steps.CacheWrite("y"), steps.Split("y", "i", (5,)),
         steps.Reorder("y", (("i.0",), ("i.1",))), steps.ComputeAt("y.local", "y", 0)),
        steps.ComputeAt("P", "y", 1),
        r"P cannot be computed at tile level 1 of y: its consumer y.local runs at level 0 already",
    ),
    "detach a consumer": (
        blur,
        (steps.CacheWrite("y"), steps.ComputeAt("y.local", "y", 0), steps.ComputeAt("P", "y", 0)),
        steps.ComputeRoot("y.local"),
        r"P cannot be computed at y: its consumer y.local is outside",
    ),
    "attach what is parallel": (
        matmul_relu, (steps.Parallel("C", 1),), steps.ComputeAt("C", "D", 0), r"C runs in parallel"
    ),
    "keep further inside": (
        two_readers, (*IN_ROWS, steps.StoreAt("p", "y", 0), steps.ComputeAt("p", "a", 0)),
        steps.StoreAt("p", "a", 0), r"p cannot be computed at a: its consumer b is outside",
    ),
    "compute outside of storage": (
        two_readers,
        (steps.Split("y", "j", (2,)), steps.ComputeAt("b", "y", 1), steps.ComputeAt("a", "y", 1),
         steps.StoreAt("p", "y", 1)),
        steps.ComputeAt("p", "y", 0),
        r"p is stored in y, tile level 1; it cannot be computed at level 0 of y",
    ),
    "read before it is computed": (
        two_readers,
        (steps.ComputeAt("b", "y", 0), steps.ComputeAt("a", "y", 1), steps.StoreAt("p", "y", 0)),
        steps.ComputeAt("p", "a", 0),
        r"p cannot be computed at a: its consumer b is outside",
    ),
    "no softmax": (
        matmul, (), steps.OnlineSoftmax("C", 2), r"C is no sum of products with a softmax of its"
    ),
    "uneven chunks": (
        attention, (), steps.OnlineSoftmax("y", 3), r"y: chunks of 3 do not divide k, which has 8"
    ),
    "inline a reduction": (
        matmul_relu, (), steps.ComputeInline("C"), r"C is a reduction or an output; it cannot be"
    ),
    "inline an output": (
        matmul_relu, (), steps.ComputeInline("D"), r"D is a reduction or an output"
    ),
    "inline a target": (
        blur, (steps.CacheRead("x", ("P",)), steps.ComputeAt("x.P", "P", 0)),
        steps.ComputeInline("P"), r"P has stages attached; it cannot be inlined",
    ),
    "cache late": (
        matmul, SPLIT_I, steps.CacheWrite("C"), r"C: cache_write must come before other steps"
    ),
    "cache for nobody": (matmul, (), steps.CacheRead("A", ()), r"cache_read of A names no reader"),
    "cache unread": (
        matmul_relu, (), steps.CacheRead("A", ("D",)), r"none of \('D',\) reads A"
    ),
    "pack dots longer than a sum": (
        matmul, (), steps.PackRead("C", "B", "k", "j", 8), r"C: dots of 8 terms, where k has 6"
    ),
    "widen floats": (
        matmul, (), steps.WidenRead("C", "A"), r"C does not multiply A once, as bytes"
    ),
    "cache what is attached": (
        blur, (steps.ComputeAt("P", "y", 0),), steps.CacheRead("P", ("y",)),
        r"P is attached already; copy it before that",
    ),
    "cache what is packed": (
        matmul, (steps.LayoutRewrite("C", "B"),), steps.CacheRead("B", ("C",)),
        r"B has its layout rewritten; copy it before that",
    ),
    "factor a spatial axis": (
        matmul, (), steps.RFactor("C", "i", 2), r"C: rfactor needs an unsplit reduction axis, not i"
    ),
    "factor late": (
        matmul, SPLIT_I, steps.RFactor("C", "k", 2), r"C: rfactor needs an unsplit reduction axis"
    ),
    "factor above attached": (
        blur, (steps.ComputeAt("P", "y", 0),), steps.RFactor("y", "r", 3),
        r"P is attached; factor y before that",
    ),
    "annotate parallel": (
        matmul, (), steps.Annotate("C", "i", "parallel"), r"cannot annotate a loop 'parallel'"
    ),
    "parallel reduction": (
        matmul, (), steps.Parallel("C", 3), r"C: the reduction k cannot be parallel"
    ),
    "parallel inside": (
        matmul_relu, ATTACHED, steps.Parallel("C", 1), r"C is computed in D, not at the root"
    ),
    "align an output": (
        matmul, (), steps.Mark("C", "align", 8), r"C cannot be marked align: only scratch with rows"
    ),
    "align elements": (
        blur, (), steps.Mark("P", "align", 8), r"only scratch with rows can have it, not P"
    ),
    "stream what is read": (
        matmul_relu, (), steps.Mark("C", "streamed", 1), r"C cannot be marked streamed: only an out"
    ),
    "stream twice over": (
        matmul, (), steps.Mark("C", "streamed", 2), r"streamed: it is at most 1, not 2"
    ),
    "mark with anything": (
        matmul, (), steps.Mark("C", "fast", 1), r"no mark is called 'fast'; known: unroll_step, str"
    ),
    "rewrite an input": (
        matmul, (), steps.LayoutRewrite("C", "A"), r"C reads no constant 'A' to rewrite"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal_steps_are_refused_and_change_nothing(name: str) -> None:
    dag, prelude, step, message = ILLEGAL[name]
    state = State(dag()).replay(prelude)
    before = repr((state.stages, state.trace))
    with pytest.raises(ScheduleError, match=message):
        state.apply(step)
    assert repr((state.stages, state.trace)) == before


def test_constants_read_twice_keep_their_layout() -> None:
    w = placeholder((4, 4), name="w", constant=True)
    x = placeholder((4, 4), name="x")
    twice = compute((4, 4), lambda i, j: x[i, j] * w[i, j] + w[j, i], name="y")
    with pytest.raises(ScheduleError, match="w is read in several places; its layout stays"):
        State(ComputeDAG([twice])).apply(steps.LayoutRewrite("y", "w"))
    rows = placeholder((4,), "int64", name="rows")
    gathered = compute((4, 4), lambda i, j: x[i, j] * w[rows[i], j], name="y")
    with pytest.raises(ScheduleError, match="w is indexed by data; its layout stays"):
        State(ComputeDAG([gathered])).apply(steps.LayoutRewrite("y", "w"))


def test_a_dimension_at_a_shifted_place_stays_whole_in_a_layout() -> None:
    x, w = placeholder((2, 4), name="x"), placeholder((3, 4), name="w", constant=True)
    y = compute((2, 4), lambda i, j: x[i, j] * w[i + 1, j], name="y")
    state = State(ComputeDAG([y])).apply(steps.Split("y", "j", (2,)))
    state.apply(steps.Reorder("y", (("j.0",), ("i",), ("j.1",))))
    layout = lower(state.apply(steps.LayoutRewrite("y", "w")), "k").layouts["w"]
    assert (layout.splits, layout.packed_shape) == (((3,), (2, 2)), (3, 2, 2))

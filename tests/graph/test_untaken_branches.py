"""Branches that cannot be taken for the shapes given: the one that is taken decides."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from graph_reference import Array, make_model, run_graph
from onnx import helper
from test_onnx_control import BOOL, FLOAT, INT, node, subgraph, with_output

import tilewright as tw
from devices import tools
from tilewright.graph.onnx.importing import load
from tilewright.graph.passes import simplify
from tilewright.ground.errors import RunError, UnsupportedModel

MISFITS = {
    "reshape": ([node("Reshape", ["x", "odd"], ["b"], name="bad")], "cannot take the shape"),
    "turn": ([node("Transpose", ["x"], ["b"], name="bad", perm=[2, 0, 1])], "permutation"),
    "product": ([node("MatMul", ["x", "x"], ["b"], name="bad")], "reduce over"),
    "operator": ([node("RandomNormalLike", ["x"], ["b"], name="bad")], "it is random"),
    "unknown": ([node("Magic", ["x"], ["b"], name="bad", domain="com.example")], "unknown op"),
}


def model(kind: str, condition: str, bad: str = "else_branch") -> onnx.ModelProto:
    """relu(x), or what does not fit, where the condition is `known`, from a `shape`, or `data`."""
    branches = {
        "then_branch": subgraph([node("Relu", ["x"], ["a"])], {}, {"a": (FLOAT, 2)}),
        bad: subgraph(MISFITS[kind][0], {}, {"b": (FLOAT, 2)}),
    }
    if bad == "then_branch":
        good = subgraph([node("Relu", ["x"], ["a"])], {}, {"a": (FLOAT, 2)})
        branches["else_branch"] = good
    weights = {"odd": np.array([5, -1])}
    nodes = [node("If", ["c"], ["p"], name="choice", **branches), node("Neg", ["p"], ["y"])]
    inputs: dict[str, tuple[int, ...]] = {"x": (2, 3)}
    if condition == "known":
        weights["c"] = np.array(bad == "else_branch")
    elif condition == "shape":
        chain = [node("Size", ["x"], ["n"]), node("Equal", ["n", "whole"], ["c"])]
        weights["whole"] = np.array(6 if bad == "else_branch" else 7)
        nodes = [*chain, *nodes]
    else:
        inputs["c"] = ()
    made = make_model(nodes, inputs, weights, dtypes={"c": BOOL})
    made.opset_import.append(helper.make_opsetid("com.example", 1))
    return with_output(made, {"y": (FLOAT, 2)})


def x23() -> Array:
    return np.random.default_rng(0).standard_normal((2, 3)).astype(np.float32)


@pytest.mark.parametrize("bad", ["then_branch", "else_branch"])
@pytest.mark.parametrize("condition", ["known", "shape"])
@pytest.mark.parametrize("kind", MISFITS)
def test_a_known_condition_leaves_one_branch(kind: str, condition: str, bad: str) -> None:
    graph = load(model(kind, condition, bad))
    assert [n.op for n in graph.nodes] == ["relu", "negative"]


@pytest.mark.parametrize("kind", MISFITS)
def test_within_a_function_of_the_model(kind: str) -> None:
    made = model(kind, "shape")
    domain, imports = "com.example", list(made.opset_import)
    body = [n for n in made.graph.node if n.op_type in ("Size", "Equal", "If")]
    function = helper.make_function(
        domain, "Chosen", ["x", "whole", "odd"], ["p"], body, imports
    )  # fmt: skip
    call = node("Chosen", ["x", "whole", "odd"], ["p"], domain=domain)
    kept = [call, made.graph.node[-1]]
    copies = [onnx.NodeProto.FromString(n.SerializeToString()) for n in kept]
    del made.graph.node[:]
    made.graph.node.extend(copies)
    made.functions.append(function)
    assert [n.op for n in load(made).nodes] == ["relu", "negative"]


@pytest.mark.parametrize("kind", MISFITS)
def test_a_branch_that_is_taken_is_refused_with_its_reason(kind: str) -> None:
    with pytest.raises(UnsupportedModel, match=MISFITS[kind][1]):
        load(model(kind, "data"), constants={"c": np.array(False)})


@pytest.mark.cpu
@pytest.mark.parametrize("bad", ["then_branch", "else_branch"])
@pytest.mark.parametrize("kind", ["reshape", "operator", "unknown"])
def test_a_run_that_takes_it_ends_in_an_error(kind: str, bad: str) -> None:
    with pytest.warns(UserWarning, match="choice.*branch cannot be taken.*a run that takes it"):
        loaded = tw.load(model(kind, "data", bad))
    net, x = tw.compile(loaded), x23()
    good = bad == "else_branch"
    for _ in range(2):
        (y,) = net(x, np.array(good))
        np.testing.assert_array_equal(y, -np.maximum(x, 0))
        with pytest.raises(RunError, match=rf"If \(node choice\).*bad.*{MISFITS[kind][1]}"):
            net(x, np.array(not good))
    for measure in (net.function.bench, net.profile):
        with pytest.raises(RunError, match="choice"):
            measure([x, np.array(not good)], 1)


@pytest.mark.parametrize("kind", MISFITS)
def test_a_graph_of_a_choice_has_both_branches(kind: str) -> None:
    with pytest.warns(UserWarning, match=MISFITS[kind][1]):
        graph = simplify(load(model(kind, "data")))
    x = {"x": x23(), "c": np.array(True)}
    np.testing.assert_array_equal(run_graph(graph, x)[0], -np.maximum(x23(), 0))
    with pytest.raises(RunError, match=MISFITS[kind][1]):
        run_graph(graph, {**x, "c": np.array(False)})
    assert "refuse" in str(graph)


@pytest.mark.cpu
def test_within_a_loop_and_a_branch() -> None:
    """The error comes in the step that takes the branch, or not at all."""
    inner = node(
        "If", ["odd"], ["next"], name="inner",
        then_branch=subgraph([node("Reshape", ["h", "seven"], ["a"])], {}, {"a": (FLOAT, 2)}),
        else_branch=subgraph([node("Add", ["h", "x"], ["b"])], {}, {"b": (FLOAT, 2)}),
    )  # fmt: skip
    body = subgraph(
        [node("Less", ["last", "i"], ["odd"]), inner, node("Identity", ["go"], ["go_on"])],
        {"i": (INT, 0), "go": (BOOL, 0), "h": (FLOAT, 2)},
        {"go_on": (BOOL, 0), "next": (FLOAT, 2)},
    )
    made = make_model(
        [node("Loop", ["n", "", "x"], ["y"], body=body)],
        {"x": (2, 3), "n": (), "last": ()},
        {"seven": np.array([7, 1])},
        dtypes={"n": INT, "last": INT},
    )
    with pytest.warns(UserWarning, match="inner"):
        net = tw.compile(tw.load(with_output(made, {"y": (FLOAT, 2)})))
    x = x23()
    np.testing.assert_allclose(net(x, np.array(5), np.array(9))[0], x * 6, rtol=1e-6)
    with pytest.raises(RunError, match="inner"):
        net(x, np.array(5), np.array(2))


def test_two_branches_that_cannot_be_taken_are_refused() -> None:
    made = model("reshape", "data")
    other = subgraph(MISFITS["product"][0], {}, {"b": (FLOAT, 2)})
    next(a for a in made.graph.node[0].attribute if a.name == "then_branch").g.CopyFrom(other)
    with pytest.raises(UnsupportedModel, match=r"then branch.*else branch.*cannot take the shape"):
        load(made)


C_PROGRAM = """
#include <stdio.h>
#include "{name}.h"
int main(void) {{
  float x[6] = {{1, -2, 3, -4, 5, -6}}, y[6];
  {name}_context *net;
  if ({name}_create(&net, 0) != TILEWRIGHT_OK) return 1;
  for (unsigned char c = 0; c < 2; c++) {{
    int status = {name}_call(net, x, &c, y);
    printf("%d %s\\n", status, {name}_message(status));
  }}
  {name}_destroy(net);
  return 0;
}}
"""


@pytest.mark.cpu
@tools("gcc")
def test_a_library_says_so_too(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="choice"):
        loaded = tw.load(model("reshape", "data"))
    net = tw.compile(loaded)
    net.save(tmp_path / "net.so")
    back, x = tw.load_library(tmp_path / "net.so"), x23()
    np.testing.assert_array_equal(back(x, np.array(True))[0], -np.maximum(x, 0))
    with pytest.raises(RunError, match="choice"):
        back(x, np.array(False))
    program = tmp_path / "main.c"
    program.write_text(C_PROGRAM.format(name="net"))
    gcc = shutil.which("gcc")
    assert gcc is not None
    words = [gcc, program, tmp_path / "net.so", "-Wl,-rpath,$ORIGIN", "-o", tmp_path / "main"]
    subprocess.run(list(map(str, words)), check=True)
    said = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    first, second = said.splitlines()
    assert first.startswith("16 ") and "If (node choice)" in first
    assert second == "0 success"

"""How other runtimes are called, and other batches: what is said where ours is not called so."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tilewright as tw
from tilewright.ground.errors import InputError

pytestmark = pytest.mark.cpu

X = np.zeros((2, 3), np.float32)


@pytest.fixture(scope="module")
def net() -> Any:
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 3]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "small", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return tw.compile(tw.load(model, shapes={"n": 2}))


@pytest.fixture(scope="module")
def function() -> Any:
    a = tw.placeholder((2, 3), name="x")
    return tw.compile(tw.Task([a, tw.operators.relu(a)], "relu"))


@pytest.mark.parametrize(
    "given",
    [(None, {"x": X}), (["y"], {"x": X}), (None,), (3,), (object(),)],
    ids=["onnxruntime", "names first", "none", "number", "object"],
)
def test_run_says_how_it_is_called(net: Any, function: Any, given: tuple[Any, ...]) -> None:
    for one in (net, function):
        with pytest.raises(InputError, match=r"run takes the inputs first, run\(\{'x': x\}\) or"):
            one.run(*given)


def test_one_array_is_no_sequence_of_inputs(net: Any, function: Any) -> None:
    for one in (net, function):
        with pytest.raises(InputError, match=r"not an array: call the network itself"):
            one.run(X)


def test_inputs_may_be_any_sequence_or_mapping(net: Any) -> None:
    for given in ([X], (X,), {"x": X}, {"x": X}.values()):
        assert net.run(given)[0].shape == (2, 3)


def test_another_batch_names_the_way_out(net: Any, function: Any) -> None:
    other = np.zeros((4, 3), np.float32)
    with pytest.raises(InputError) as caught:
        net(other)
    assert str(caught.value).endswith(
        "got float32 of shape (4, 3); a network takes several shapes when it is loaded for them, "
        "shapes=[{'x': (2, 3)}, {'x': (4, 3)}]"
    )
    with pytest.raises(InputError, match=r"got float32 of shape \(4, 3\)$"):
        function(other)
    with pytest.raises(InputError, match=r"got float32 of shape \(6,\)$"):
        net(np.zeros(6, np.float32))


def test_results_show_themselves(net: Any, function: Any) -> None:
    line = "small: x: float32[2, 3] -> y: float32[2, 3] on cpu:"
    assert repr(net).startswith(f"Network({line}")
    assert str(net).startswith(line) and "1 kernel calls of 1 kernels" in str(net)
    assert repr(function).startswith("CompiledFunction(") and "x: float32[2, 3]" in repr(function)
    profile = net.profile([X], runs=1)
    assert repr(profile).startswith("Profile(") and " a run of 1 kernel, the longest " in repr(
        profile
    )
    for one in (net, profile):
        assert one._repr_html_().startswith("<pre>") and "&gt;" in net._repr_html_()

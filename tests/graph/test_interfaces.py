"""What a compiled network says of itself, and how it travels: names, shapes, pickles."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from graph_reference import make_model
from onnx import helper

import tilewright as tw
from devices import tools
from tilewright.contract.artifact import BufferSpec
from tilewright.runtime.device import DeviceFunction

pytestmark = pytest.mark.cpu

RNG = np.random.default_rng(0)
W = RNG.standard_normal((24, 40)).astype(np.float32)


def model() -> onnx.ModelProto:
    """y = relu(x · w) + b for x of [batch, 24]."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Add", ["r", "b"], ["y"]),
    ]
    return make_model(nodes, {"x": ("batch", 24), "b": (40,)}, {"w": W})


def inputs(rows: int) -> dict[str, np.ndarray]:
    return {
        "x": RNG.standard_normal((rows, 24)).astype(np.float32),
        "b": RNG.standard_normal(40).astype(np.float32),
    }


def check(outputs: list[np.ndarray], given: Mapping[str, np.ndarray]) -> None:
    (y,) = outputs
    expected = np.maximum(given["x"] @ W, 0) + given["b"]
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)


@pytest.fixture(scope="module")
def network() -> object:
    return tw.compile(tw.load(model(), shapes={"x": (2, 24)}))


@pytest.fixture(scope="module")
def several() -> object:
    return tw.compile(tw.load(model(), shapes=[{"x": (n, 24)} for n in (2, 3)]))


def matmul() -> tw.Task:
    a = tw.placeholder((8, 24), name="a")
    b = tw.placeholder((24, 40), name="b", constant=True)
    return tw.Task([a, b, tw.operators.matmul(a, b)], "product")


def test_inputs_and_outputs_have_names_shapes_and_dtypes(network) -> None:
    x, b, y = (
        BufferSpec("x", (2, 24), "float32"),
        BufferSpec("b", (40,), "float32"),
        BufferSpec("y", (2, 40), "float32"),
    )
    assert (network.inputs, network.outputs) == ((x, b), (y,))
    assert (network.function.inputs, network.function.outputs) == ((x, b), (y,))


def test_the_inputs_of_a_task_are_in_its_order() -> None:
    a, b = tw.placeholder((8, 24), name="a"), tw.placeholder((24, 40), name="b")
    product = tw.operators.matmul(a, b)
    function = tw.compile(tw.Task([b, a, product]))
    assert [s.name for s in function.inputs] == ["b", "a"]
    x, y = np.ones((8, 24), np.float32), np.ones((24, 40), np.float32)
    assert function(a=x, b=y)[0][0, 0] == function(y, a=x)[0][0, 0] == 24


def test_inputs_by_keyword(network, several) -> None:
    for rows, net in ((2, network), (2, several), (3, several)):
        given = inputs(rows)
        check(net(**given), given)
        check(net(given["x"], b=given["b"]), given)
    given = inputs(2)
    with pytest.raises(tw.InputError, match="given by position and by name: x"):
        network(given["x"], **given)
    with pytest.raises(tw.InputError, match="missing b; unknown bias; wanted: b"):
        network(given["x"], bias=given["b"])
    with pytest.raises(tw.InputError, match="missing x; wanted: x, b"):
        network(b=given["b"])
    with pytest.raises(tw.InputError, match="no network for"):
        several(b=given["b"])


def test_reprs_are_one_short_line(network, several) -> None:
    loaded = tw.load(model(), shapes={"x": (2, 24)})
    assert repr(loaded) == "Model(test: 1 kernel call of 1 task)"
    both = tw.load(model(), shapes=[{"x": (n, 24)} for n in (2, 3)])
    assert repr(both) == "ModelSet(test: test[2x24,40], test[3x24,40])"
    interface = "test: x: float32[2, 24], b: float32[40] -> y: float32[2, 40] on cpu:"
    assert repr(network).startswith(f"Network({interface}")
    assert repr(network.function).startswith(f"CompiledFunction({interface}")
    assert repr(several) == "NetworkSet(test: x [2, 24], b [40]; x [3, 24], b [40])"


# ---- pickles ----------------------------------------------------------------------------------


def call(net, given):
    """What a worker process does."""
    return net(**given)


def test_another_process_runs_a_pickled_network(network) -> None:
    given = inputs(2)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        check(pool.apply(call, (network, given)), given)


def test_a_pickled_network_is_the_same(network) -> None:
    network.threads = 1
    again = pickle.loads(pickle.dumps(network))
    network.threads = None
    given = inputs(2)
    check(again(**given), given)
    assert (str(again), repr(again), again.threads) == (str(network), repr(network), 1)
    assert all(a % 64 == 0 for a in again.constants.addresses)


def test_shapes_share_their_weights_in_a_pickle_as_well(several) -> None:
    again = pickle.loads(pickle.dumps(several))
    for rows in (2, 3):
        given = inputs(rows)
        check(again(**given), given)
    for net in (several, again):
        places = [set(n.constants.addresses) for n in net.networks]
        assert places[0] & places[1]


def test_a_pickled_function_keeps_its_order_and_its_constants() -> None:
    function = tw.compile(matmul())
    x = np.ones((8, 24), np.float32)
    with pytest.raises(tw.InputError, match=r"call prepare.* first: b"):
        pickle.loads(pickle.dumps(function))(x)
    function.prepare({"b": W})
    (y,) = pickle.loads(pickle.dumps(function))(x)
    np.testing.assert_allclose(y, x @ W, rtol=1e-4, atol=1e-4)


@tools("gcc")
def test_a_pickled_library_is_loaded_again(network, several, tmp_path: Path) -> None:
    for name, net, all_rows in (("one", network, (2,)), ("two", several, (2, 3))):
        net.save(tmp_path / f"{name}.so")
        again = pickle.loads(pickle.dumps(tw.load_library(tmp_path / f"{name}.so")))
        for rows in all_rows:
            given = inputs(rows)
            check(again(**given), given)
        assert "x" in repr(again) and "object at" not in repr(again)


def test_a_function_on_a_device_says_that_it_cannot_be_pickled(network) -> None:
    function = object.__new__(DeviceFunction)
    function.artifact, function._inputs = network.artifact, network.function._inputs
    function.name = network.name
    with pytest.raises(TypeError, match=r"DeviceFunction\(test: .* cannot be pickled"):
        pickle.dumps(function)

"""One model for several input shapes: dispatch, shared weights, errors."""

from __future__ import annotations

import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from graph_reference import make_model
from onnx import helper

import tilewright as tw
from devices import tools
from tilewright.network.variants import NetworkSet
from tilewright.runtime.constants import ConstantPool, shared_offsets

EXAMPLE = Path(__file__).parents[2] / "examples" / "c" / "main.c"
CHECKS = Path(__file__).with_name("library_shapes.c")
W = np.random.default_rng(0).standard_normal((24, 40)).astype(np.float32)


def model() -> onnx.ModelProto:
    """y = relu(x · w) for x of [batch, 24]."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
    return make_model(nodes, {"x": ("batch", 24)}, {"w": W})


def test_one_assignment_makes_a_model_and_several_a_set() -> None:
    one = tw.load(model(), shapes={"x": (2, 24)})
    assert one.name == "test"
    several = tw.load(model(), shapes=[{"x": (2, 24)}, {"x": (3, 24)}])
    assert [m.name for m in several.models] == ["test[2x24]", "test[3x24]"]
    with pytest.raises(tw.InputError, match="the same shapes twice"):
        tw.load(model(), shapes=[{"x": (2, 24)}, {"x": (2, 24)}])
    with pytest.raises(tw.InputError, match="at least one"):
        tw.load(model(), shapes=[])


@pytest.mark.cpu
def test_the_inputs_shapes_pick_the_network() -> None:
    nets = tw.compile(tw.load(model(), shapes=[{"x": (2, 24)}, {"x": (3, 24)}]))
    for rows in (3, 2):
        x = np.random.default_rng(rows).standard_normal((rows, 24)).astype(np.float32)
        for (y,) in (nets(x), nets.run([x]), nets.run({"x": x})):
            np.testing.assert_allclose(y, np.maximum(x @ W, 0), rtol=1e-4, atol=1e-5)
    with pytest.raises(tw.InputError) as caught:
        nets(np.zeros((5, 24), np.float32))
    assert str(caught.value) == (
        "no network for x [5, 24]; there are: x [2, 24]; x [3, 24]. To add one, give its shapes "
        "to load: shapes=[{'x': (...)}, ...]"
    )
    with pytest.raises(tw.InputError, match=r"no network for x \(no array\); there are"):
        nets.run({"z": np.zeros((2, 24), np.float32)})
    with pytest.raises(tw.InputError, match=r"no network for x \[2, 24\], input 1 \[1\]; there"):
        nets(np.zeros((2, 24), np.float32), np.zeros(1))


def check_like_a_network(nets: Any, name: str) -> None:
    """What is asked of a network may be asked of a set."""
    assert [(s.name, s.shape) for s in nets.inputs] == [("x", (2, 24))]
    assert [(s.name, s.shape) for s in nets.outputs] == [("y", (2, 40))]
    assert nets.name == name
    assert name in repr(nets) and "x [5, 24]" in repr(nets) and "\n" not in repr(nets)
    assert "net_" not in repr(nets) + repr(nets.networks[0])
    usual = nets.threads
    nets.threads = 1
    assert nets.threads == 1 and {n.threads for n in nets.networks} == {1}
    nets.threads = None
    assert nets.threads == usual
    x = np.zeros((5, 24), np.float32)
    for given in ([x], {"x": x}):
        assert nets.profile(given, runs=1).kernels
    with pytest.raises(tw.InputError, match="run takes the inputs first"):
        nets.run(None, {"x": x})


@pytest.mark.cpu
@tools("gcc")
def test_a_set_is_a_network_like_any_other(saved: tuple[NetworkSet, Path]) -> None:
    nets, path = saved
    check_like_a_network(nets, "test")
    check_like_a_network(tw.load_library(path), "test")
    check_like_a_network(pickle.loads(pickle.dumps(nets)), "test")


@pytest.mark.cpu
@tools("gcc")
def test_the_c_example_walks_all_shapes(tmp_path: Path) -> None:
    nets = tw.compile(tw.load(model(), shapes=[{"x": (2, 24)}, {"x": (5, 24)}]))
    nets.save(tmp_path / "model.so")
    flags = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{tmp_path}")
    program = tmp_path / "main"
    words = ("gcc", *flags, EXAMPLE, tmp_path / "model.so", "-Wl,-rpath,$ORIGIN", "-o", program)
    built = subprocess.run(words, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    shown = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    lines = shown.splitlines()
    assert len(lines[0].split()) == 7, "no features after the target's name"
    assert [line.split(",")[0] for line in lines[1:]] == [
        *("input x: float32[2", "output y: float32[2"),
        *("input x: float32[5", "output y: float32[5"),
    ]
    x = np.random.default_rng(0).standard_normal((5, 24)).astype(np.float32)
    x.tofile(tmp_path / "x.bin")
    subprocess.run([program, "1", tmp_path / "x.bin", tmp_path / "y.bin"], check=True)
    y = np.fromfile(tmp_path / "y.bin", np.float32).reshape(5, 40)
    np.testing.assert_array_equal(y, nets(x)[0])


@pytest.mark.cpu
def test_weights_of_one_packing_are_stored_once() -> None:
    nets = tw.compile(tw.load(model(), shapes=[{"x": (n, 24)} for n in (2, 3, 4, 6, 8, 12)]))
    packings = [n.artifact.packings[0] for n in nets.networks]
    layouts = [(p.splits, p.permutation) for p in packings]
    stored = [n.constants.addresses[0] for n in nets.networks]
    pairs = set(zip(stored, layouts, strict=True))
    assert len(set(stored)) == len(set(layouts)) == len(pairs), "one array a layout"
    assert len(pairs) < len(layouts), "some batches were expected to want one layout of the weight"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[NetworkSet, Path]:
    nets = tw.compile(tw.load(model(), shapes=[{"x": (2, 24)}, {"x": (5, 24)}]))
    path = tmp_path_factory.mktemp("saved") / "rows.so"
    assert nets.save(path) == path.with_name("rows.h")
    return nets, path


@pytest.mark.cpu
@tools("gcc")
def test_a_library_has_all_shapes(saved: tuple[NetworkSet, Path]) -> None:
    nets, path = saved
    library = tw.load_library(path)
    for rows in (5, 2):
        x = np.random.default_rng(rows).standard_normal((rows, 24)).astype(np.float32)
        for form in ([x], {"x": x}):
            np.testing.assert_array_equal(library.run(form)[0], nets(x)[0])
    with pytest.raises(tw.InputError, match=r"no network for x \[3, 24\]; there are: x \[2, 24\]"):
        library(np.zeros((3, 24), np.float32))


@pytest.mark.cpu
@tools("gcc")
def test_a_library_has_shared_weights_once(saved: tuple[NetworkSet, Path]) -> None:
    nets, path = saved
    starts, size = shared_offsets([n.constants for n in nets.networks])
    first, second = (n.constants for n in nets.networks)
    assert (starts[0] == starts[1]) == (first.addresses == second.addresses)
    assert size == len({*first.addresses, *second.addresses}) * first.specs[0].bytes
    assert path.read_bytes().count(first.arrays[0].tobytes()) == 1


@pytest.mark.cpu
@tools("gcc")
def test_c_programs_choose_the_shape(saved: tuple[NetworkSet, Path]) -> None:
    path = saved[1]
    program = path.with_name("shapes")
    flags = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{path.parent}")
    words = ("gcc", *flags, CHECKS, path, "-Wl,-rpath,$ORIGIN", "-lm", "-o", program)
    built = subprocess.run(words, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([program], check=False)
    assert done.returncode == 0, f"line {done.returncode} of {CHECKS.name}"
    assert "in_x  x: float32[2, 24] or [5, 24]" in path.with_name("rows.h").read_text()


@pytest.mark.cpu
@tools("gcc")
def test_a_library_takes_networks_that_belong_together(tmp_path: Path) -> None:
    one, other = (tw.compile(tw.load(model(), shapes={"x": (n, 24)})) for n in (2, 5))
    with pytest.raises(tw.BuildError, match=r"two kernels are called net_test; compile the netw"):
        NetworkSet([one, other], "test").save(tmp_path / "both.so")
    renamed = model()
    renamed.graph.output[0].name = renamed.graph.node[1].output[0] = "z"
    third = tw.compile(tw.load(renamed, shapes={"x": (3, 24)}))
    with pytest.raises(tw.BuildError, match=r"the same inputs and outputs but for their shapes"):
        NetworkSet([one, third], "test").save(tmp_path / "both.so")
    assert not list(tmp_path.iterdir())


def test_a_pool_shares_what_is_equal_in_every_byte() -> None:
    pool = ConstantPool()
    first = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert pool.shared(first) is first
    assert pool.shared(first.copy()) is first
    others = (
        first.reshape(3, 2),
        first.view(np.int32),
        first + np.float32(1),
        np.float32(0) * first,
    )
    for other in others:
        assert pool.shared(np.ascontiguousarray(other)) is not first
    zero = np.zeros((), np.float32)
    assert pool.shared(zero) is zero
    assert pool.shared(np.full((), -0.0, np.float32)) is not zero
    del first, other
    again = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert pool.shared(again) is again, "the pool keeps no array alive"

"""Networks with sizes: one for a range of shapes; every call finds its sizes in its inputs."""

from __future__ import annotations

import mmap
import pickle
import resource
import subprocess
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_reference import run_graph
from sized_networks import SizedNetwork

import tilewright as tw
from devices import at_hand, tools
from tilewright.contract.artifact import Artifact
from tilewright.contract.cache import ArtifactCache
from tilewright.contract.formulas import computed
from tilewright.contract.sizes import Size
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.index.extents import add, floordiv
from tilewright.expr.nodes import Tensor, Var, as_expr, call, select
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import sum as sum_over
from tilewright.front.kernels import build_all
from tilewright.front.models import LazyGraph, Model, ModelSet
from tilewright.front.tuning_tasks import tasks_of
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Graph
from tilewright.ground.errors import BuildError, InputError
from tilewright.network.kept import CompiledNetworks, keep, kept
from tilewright.network.link import linked
from tilewright.network.plan import Plan
from tilewright.runtime import function
from tilewright.runtime.buffers import aligned_empty
from tilewright.runtime.opencl import OpenclDevice
from tilewright.schedule.by_size import by_size

pytestmark = pytest.mark.cpu

S, P, H, W = Var("S"), Var("P"), Var("H"), Var("W")
LENGTH, PAST = Size("S", 1, 70), Size("P", 0, 19)
SIDES = Size("H", 2, 13), Size("W", 1, 15)
LARGE = (Size("S", 1, 30),)


def dense(x: Tensor, columns: int, name: str) -> Tensor:
    """x[..., k] · w + b, not less than 0."""
    rows, terms = x.shape[0], x.shape[1]
    w = placeholder((terms, columns), name=f"{name}_w", constant=True)
    b, k = placeholder((columns,), name=f"{name}_b", constant=True), reduce_axis(terms, "k")
    c = compute((rows, columns), lambda i, j: sum_over(x[i, k] * w[k, j], k), name=f"{name}_c")
    return compute((rows, columns), lambda i, j: call("exp", c[i, j] * 0.1) + b[j], name=name)


def softmax(x: Tensor, name: str) -> Tensor:
    k, m = reduce_axis(x.shape[-1], "k"), reduce_axis(x.shape[-1], "m")
    top = compute(x.shape[:-1], lambda b, i: max_over(x[b, i, k], k), name=f"{name}_top")
    e = compute(x.shape, lambda b, i, j: call("exp", x[b, i, j] - top[b, i]), name=f"{name}_e")
    total = compute(x.shape[:-1], lambda b, i: sum_over(e[b, i, m], m), name=f"{name}_total")
    return compute(x.shape, lambda b, i, j: e[b, i, j] / total[b, i], name=name)


def product() -> SizedNetwork:
    """Two layers, one after the other."""
    x = placeholder((S, 24), name="x")
    t = dense(x, 40, "t")
    y = dense(placeholder(t.shape, name="t"), 17, "y")
    return SizedNetwork([ComputeDAG([t], (LENGTH,)), ComputeDAG([y], (LENGTH,))])


def attention(heads: int) -> SizedNetwork:
    """softmax(q · k) · v, each step a kernel."""
    q, k, v = (placeholder((heads, S, 8), name=n) for n in "qkv")
    d, t = reduce_axis(8, "d"), reduce_axis(S, "t")
    shape = (heads, S, S)
    scores = compute(shape, lambda b, i, j: sum_over(q[b, i, d] * k[b, j, d], d), name="scores")
    p = softmax(placeholder(shape, name="scores"), "p")
    odds = placeholder(shape, name="p")
    y = compute((heads, S, 8), lambda b, i, c: sum_over(odds[b, i, t] * v[b, t, c], t), name="y")
    return SizedNetwork([ComputeDAG([t], (LENGTH,)) for t in (scores, p, y)], ["y", "p"])


def cached() -> SizedNetwork:
    """Rows joined to those of a cache, summed where a mask over all of them says so."""
    past, new = placeholder((2, P, 8), name="past"), placeholder((2, S, 8), name="new")
    total = add(P, S)
    rows = compute(
        (2, total, 8), lambda b, i, c: select(as_expr(i) < P, past[b, i, c], new[b, i - P, c]),
        name="rows",
    )  # fmt: skip
    mask, t = placeholder((S, total), name="mask"), reduce_axis(total, "t")
    given = placeholder(rows.shape, name="rows")
    y = compute((2, S, 8), lambda b, i, c: sum_over(mask[i, t] * given[b, t, c], t), name="y")
    return SizedNetwork([ComputeDAG([t], (PAST, LENGTH)) for t in (rows, y)], ["y", "rows"])


def convolution() -> SizedNetwork:
    """3 x 3, both sides of the image a size, and every second row and column of it."""
    x = placeholder((2, H, W, 4), name="x")
    w = placeholder((3, 3, 4, 16), name="w", constant=True)
    r, s, c = reduce_axis(3, "r"), reduce_axis(3, "s"), reduce_axis(4, "c")

    def padded(b: Any, i: Any, j: Any, k: Any) -> Any:
        inside = (i >= 1) & (i <= H) & (j >= 1) & (j <= W)
        return select(inside, x[b, i - 1, j - 1, k], 0.0)

    p = compute((2, add(H, 2), add(W, 2), 4), padded, name="p")
    full = compute(
        (2, H, W, 16),
        lambda b, i, j, k: sum_over(p[b, i + r, j + s, c] * w[r, s, c, k], (r, s, c)),
        name="full",
    )
    whole = placeholder(full.shape, name="full")
    halved = (2, floordiv(add(H, 1), 2), floordiv(add(W, 1), 2), 16)
    half = compute(halved, lambda b, i, j, k: whole[b, i * 2, j * 2, k], name="half")
    return SizedNetwork([ComputeDAG([full], SIDES), ComputeDAG([half], SIDES)])


def joined() -> SizedNetwork:
    """Two tensors, one after the other, along rows and along columns."""
    a, b = placeholder((S, 5), name="a"), placeholder((P, 5), name="b")
    rows = (add(S, P), 5)
    y = compute(rows, lambda i, j: select(as_expr(i) < S, a[i, j], b[i - S, j]), name="y")
    c, d = placeholder((5, S), name="c"), placeholder((5, P), name="d")
    columns = (5, add(S, P))
    z = compute(columns, lambda i, j: select(as_expr(j) < S, c[i, j], d[i, j - S]), name="z")
    both = (LENGTH, PAST)
    return SizedNetwork([ComputeDAG([y], both), ComputeDAG([z], both)], ["y", "z"])


def alike() -> SizedNetwork:
    """One kernel for two tensors, whose sizes differ in name only."""
    other, dags = Size("other", LENGTH.least, LENGTH.most), []
    for size, x, y in ((LENGTH, "a", "y"), (other, "b", "z")):
        t = placeholder((3, Var(size.name)), name=x)
        double = compute(t.shape, lambda i, j, t=t: t[i, j] * 2.0, name=y)
        dags.append(ComputeDAG([double], (size,)))
    return SizedNetwork(dags, ["y", "z"])


def chain() -> SizedNetwork:
    """Steps that only the next one reads, and the caller, who gets copies of them."""
    dags = []
    for source, result in ("xa", "ab", "bc", "cd"):
        t = placeholder((3, S), name=source)
        step = compute(t.shape, lambda i, j, t=t: t[i, j] * 2.0 + 1.0, name=result)
        dags.append(ComputeDAG([step], (LENGTH,)))
    return SizedNetwork(dags, ["a", "b", "d"])


NETWORKS = {
    "chain": chain,
    "product": product,
    "heads": lambda: attention(3),
    "cached": cached,
    "convolution": convolution,
    "joined": joined,
    "alike": alike,
}


@cache
def network(name: str) -> SizedNetwork:
    return NETWORKS[name]()


def points(net: SizedNetwork) -> list[Mapping[str, int]]:
    """The ends of the ranges, and what lies around the tiles of a program."""
    ends = [{s.name: s.least for s in net.sizes}, {s.name: s.most for s in net.sizes}]
    near = [{s.name: min(s.most, max(s.least, n)) for s in net.sizes} for n in (1, 2, 5, 8, 15, 17)]
    rng = np.random.default_rng(0)
    some = [{s.name: int(rng.integers(s.least, s.most + 1)) for s in net.sizes} for _ in range(4)]
    return [*ends, *near, *some]


@pytest.mark.parametrize("name", NETWORKS)
def test_one_network_computes_all_sizes(name: str) -> None:
    net = network(name)
    for seed, point in enumerate(points(net)):
        net.check(point, seed)
    assert len(net.network.function._frames) == 1


def test_a_new_length_takes_the_way_of_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of Python looks at arrays, whatever their sizes."""
    net = network("cached")
    net.check({"P": 3, "S": 4})

    def never(*_: Any) -> Any:
        raise AssertionError("arrays that fit are Python's to check")

    monkeypatch.setattr(function, "checked", never)
    for point in points(net):
        inputs = net.inputs(point)
        for y, wanted in zip(net.network(*inputs), net.expected(point, inputs), strict=True):
            np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-4)


def test_results_in_use_stay_as_they_are() -> None:
    net = network("heads")
    kept = []
    for n in (5, 70, 1, 33):
        inputs = net.inputs({"S": n}, seed=n)
        kept.append((net.network(*inputs), net.expected({"S": n}, inputs)))
    for results, wanted in kept:
        for y, reference in zip(results, wanted, strict=True):
            np.testing.assert_allclose(y, reference, rtol=1e-4, atol=1e-4)


def test_memory_is_flat_and_results_are_used_again() -> None:
    net = network("heads")
    rng, seen = np.random.default_rng(0), set()
    inputs = {n: net.inputs({"S": n}) for n in range(1, 71)}
    for _ in range(500):
        y, p = net.network(*inputs[int(rng.integers(1, 71))])
        seen |= {y.ctypes.data, p.ctypes.data}
        del y, p
    assert len(seen) == 2 and len(net.network.function._frames) == 1


def test_no_call_waits_for_pages_that_were_touched() -> None:
    rows = (Size("S", 1, 40_000),)
    x, a = (placeholder((S, 64), name=name) for name in "xa")
    net = SizedNetwork(
        [ComputeDAG([dense(x, 64, "a")], rows), ComputeDAG([dense(a, 64, "y")], rows)]
    )
    (x_array,) = net.inputs({"S": 40_000})
    net.network.touch()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    (y,) = net.network(x_array)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    assert faults * mmap.PAGESIZE < y.nbytes / 4


def test_any_array_is_taken_as_by_other_networks() -> None:
    torch = pytest.importorskip("torch")
    net, point = network("heads"), {"S": 19}
    inputs = net.inputs(point)
    wanted = net.expected(point, inputs)
    columns = [np.asfortranarray(a) for a in inputs]
    for found in (net.network(*columns), net.network(q=inputs[0], k=columns[1], v=inputs[2])):
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-4, atol=1e-4)
    tensors = net.network(*map(torch.from_numpy, inputs))
    assert tuple(tensors[1].shape) == (3, 19, 19)
    np.testing.assert_allclose(tensors[1].numpy(), wanted[1], rtol=1e-4, atol=1e-4)
    assert net.network.function.bench(inputs, 3).shape == (3,)
    assert [s.kernel for s in net.network.artifact.steps].count("copy") == 1
    assert net.network.profile(inputs, 2).latency_s > 0


def test_threads_call_with_different_sizes() -> None:
    net, wrong = network("cached"), []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(40):
            point = {"P": int(rng.integers(0, 20)), "S": int(rng.integers(1, 71))}
            inputs = net.inputs(point, seed)
            found = net.network(*inputs)
            for y, wanted in zip(found, net.expected(point, inputs), strict=True):
                if y.shape != wanted.shape or not np.allclose(y, wanted, 1e-3, 1e-3):
                    wrong.append(point)

    workers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_it_goes_to_another_process_as_others_do() -> None:
    net, point = network("cached"), {"P": 2, "S": 7}
    inputs = net.inputs(point)
    again = pickle.loads(pickle.dumps(net.network))
    for y, wanted in zip(again(*inputs), net.expected(point, inputs), strict=True):
        np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-4)


def floats(*shape: int) -> np.ndarray[Any, Any]:
    return np.ones(shape, np.float32)


WRONG = {
    "too long": ([floats(2, 3, 8), floats(2, 71, 8), floats(71, 74)],
                 "new: dimension 1, S, is 71; it must be in 1..70"),
    "none": ([floats(2, 3, 8), floats(2, 0, 8), floats(0, 3)],
             "new: dimension 1, S, is 0; it must be in 1..70"),
    "another row": ([floats(2, 3, 8), floats(2, 5, 8), floats(4, 8)],
                    "mask: dimension 0 is 4, where S is 5, as other inputs say"),
    "not the sum": ([floats(2, 3, 8), floats(2, 5, 8), floats(5, 9)],
                    r"mask: dimension 1 is 9, where P \+ S is 8, as other inputs say"),
    "a fixed extent": ([floats(3, 3, 8), floats(2, 5, 8), floats(5, 8)],
                       r"past must be float32 of shape \(2, P, 8\), got float32 of shape \(3, 3"),
    "another rank": ([floats(2, 3, 8), floats(2, 5), floats(5, 8)],
                     r"new must be float32 of shape \(2, S, 8\), got float32 of shape \(2, 5\)"),
    "another type": ([floats(2, 3, 8).astype("f8"), floats(2, 5, 8), floats(5, 8)],
                     r"past must be float32 of shape \(2, P, 8\), got float64"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_inputs_that_do_not_fit_are_told_in_a_line(case: str) -> None:
    net = network("cached").network
    inputs, message = WRONG[case]
    with pytest.raises(InputError, match=message) as told:
        net(*inputs)
    assert "\n" not in str(told.value)
    assert str(net.inputs[2]) == "mask: float32[S, P + S]"


def test_given_arrays_have_the_extents_of_the_call() -> None:
    net, point = network("cached"), {"P": 2, "S": 7}
    inputs = net.inputs(point)
    wrong = [aligned_empty(s, np.dtype("f4")) for s in ((2, 8, 8), (2, 9, 8))]
    with pytest.raises(
        InputError, match=r"y must be float32 of shape \(2, 7, 8\), got .*\(2, 8, 8\)"
    ):
        net.network(*inputs, out=wrong)


def test_a_size_that_no_input_has_is_refused() -> None:
    x = placeholder((add(S, P), 4), name="x")
    y = compute(x.shape, lambda i, j: x[i, j] * 2.0, name="y")
    with pytest.raises(BuildError, match="no input has the size S"):
        SizedNetwork([ComputeDAG([y], (LENGTH, PAST))])


@tools("cc")
def test_a_library_takes_all_sizes(tmp_path: Path) -> None:
    """The C program checks shapes and values; here the library is loaded."""
    net, path = network("joined"), tmp_path / "joined.so"
    header = net.network.save(path)
    assert f"out_z  {net.network.outputs[1]}\n     S in 1..70" in header.read_text()
    source, program = Path(__file__).with_name("library_sizes.c"), tmp_path / "main"
    flags = ["-std=c11", "-Wall", "-Werror", f"-I{tmp_path}", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(["cc", *flags, source, path, "-o", program], check=True)
    assert subprocess.run([program], check=False).returncode == 0
    library = tw.load_library(path)
    for point in points(net)[:6]:
        inputs = net.inputs(point)
        for y, wanted in zip(library(*inputs), net.expected(point, inputs), strict=True):
            np.testing.assert_array_equal(y, wanted)
    with pytest.raises(InputError, match=r"a: dimension 0, S, is 71; it must be in 1\.\.70"):
        library(floats(71, 5), floats(2, 5), floats(5, 71), floats(5, 2))


def encoder(batch: Any, sizes: tuple[Size, ...]) -> Graph:
    """A product with weights, attention of two heads, a residual."""
    rng, b = np.random.default_rng(0), GraphBuilder("encoder", sizes)
    x = b.input("x", (batch, S, 16), "float32")
    qkv = [
        b.emit("matmul", x, b.constant(n, rng.standard_normal((16, 16)).astype("f4") * 0.3))
        for n in "qkv"
    ]
    heads = [b.reshape(t, (batch, S, 2, 8)) for t in qkv]
    q, k, v = (b.emit("transpose", t, permutation=(0, 2, 1, 3)) for t in heads)
    scores = b.emit("matmul", q, b.emit("transpose", k, permutation=(0, 1, 3, 2)))
    mixed = b.emit("matmul", b.emit("softmax", scores, axis=-1), v)
    back = b.reshape(b.emit("transpose", mixed, permutation=(0, 2, 1, 3)), (batch, S, 16))
    y = b.emit("add", back, x)
    return b.build([y, b.emit("reduce_mean", y, axes=(1,), keepdims=False)], ["y", "mean"])


@pytest.mark.parametrize("batch", [1, pytest.param(2, marks=pytest.mark.thorough), Var("B")])
def test_a_graph_with_sizes_is_compiled_as_others_are(batch: Any) -> None:
    sizes = (Size("S", 1, 40), *([Size("B", 1, 4)] if batch == Var("B") else []))
    graph = encoder(batch, sizes)
    net = tw.compile(Model("encoder", LazyGraph(graph)))
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 16, 33, 40):
        point = {"S": n, "B": 1 + n % 4}
        at = graph.at({s.name: point[s.name] for s in sizes})
        x = rng.standard_normal(at.inputs[0].shape).astype("f4")
        wanted = run_graph(at, {"x": x})
        for found in (net(x), net(x=x)):
            for y, reference in zip(found, wanted, strict=True):
                assert y.shape == reference.shape
                np.testing.assert_allclose(y, reference, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("bounds", [(), (9,)])
def test_any_program_of_a_task_serves_a_network(bounds: tuple[int, ...]) -> None:
    """And any two by size, which read constants in a layout each."""
    graph, target = encoder(1, LARGE), tw.Target.parse("cpu")
    model, rng = Model("encoder", LazyGraph(graph)), np.random.default_rng(0)
    tasks = tasks_of(model)
    genes = []
    for space in (t.space(target) for t in tasks):
        drawn = space.sample(rng, 1 + len(bounds))
        found = [space.gene(*one) for one in zip(drawn.sketch, drawn.rows, strict=True)]
        genes.append(by_size("S", bounds, found) if bounds else found[0])
    kernels = build_all(tasks, genes, target)
    twice = [k for k in kernels.values() if len(k.packings) > len(k.sources)]
    assert bool(twice) == bool(bounds)
    net = linked(model.partition, kernels, target)
    for n in (1, 8, 30):
        x = rng.standard_normal((1, n, 16)).astype("f4")
        wanted = run_graph(graph.at({"S": n}), {"x": x})
        for y, reference in zip(net(x), wanted, strict=True):
            np.testing.assert_allclose(y, reference, rtol=1e-3, atol=1e-4)


def test_it_is_kept_in_the_cache_of_the_user(tmp_path: Path) -> None:
    net, cache = network("cached"), ArtifactCache(tmp_path)
    plan = Plan((), net.network.memory)
    assert keep(cache, "0" * 64, CompiledNetworks((net.network,), (plan,)))
    again = kept(cache, "0" * 64, net.network._target)
    assert again is not None and again.networks[0].artifact == net.network.artifact
    inputs = net.inputs({"P": 4, "S": 9})
    for y, wanted in zip(again.networks[0](*inputs), net.network(*inputs), strict=True):
        np.testing.assert_array_equal(y, wanted)


def test_a_set_may_have_a_network_for_a_range(tmp_path: Path) -> None:
    """An exact shape goes first."""
    graphs = encoder(1, (Size("S", 1, 20),)), encoder(1, LARGE).at({"S": 9})
    models = tuple(Model(f"encoder{i}", LazyGraph(g)) for i, g in enumerate(graphs))
    nets = tw.compile(ModelSet("encoder", models))
    for n, number in ((5, 0), (9, 1), (20, 0)):
        x = np.full((1, n, 16), 0.5, np.float32)
        assert nets.network_for([x]) is nets.networks[number]
        assert nets(x)[0].shape == (1, n, 16)
    with pytest.raises(InputError, match=r"x: dimension 1, S, is 21; it must be in 1\.\.20"):
        nets(np.zeros((1, 21, 16), np.float32))
    with pytest.raises(
        InputError, match=r"no network for x \[1, 5, 17\]; there are: x \[1, S, 16\]"
    ):
        nets(np.zeros((1, 5, 17), np.float32))


@pytest.mark.thorough
def test_a_range_that_no_memory_holds_is_told_with_its_bytes() -> None:
    net = tw.compile(Model("encoder", LazyGraph(encoder(1, (Size("S", 1, 1 << 30),)))))
    with pytest.raises(tw.RunError, match=r"encoder needs .* of memory a call; smaller ranges"):
        net(np.zeros((1, 5, 16), np.float32))


@cache
def on_opencl(name: str) -> SizedNetwork:
    return network(name).on(at_hand(OpenclDevice).target)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=() if n in ("joined", "cached") else pytest.mark.thorough)
        for n in NETWORKS
    ],
)
def test_a_device_computes_all_sizes(name: str) -> None:
    """Rows that lie apart are copied in and out by kernels."""
    net = on_opencl(name)
    again = Artifact.from_bytes(net.network.artifact.to_bytes())
    assert again == net.network.artifact
    for seed, point in enumerate(points(net)):
        inputs = net.inputs(point, seed)
        wanted = net.expected(point, inputs)
        given = [np.empty_like(y) for y in wanted]
        for found in (net.network(*inputs), net.network(*inputs, out=given)):
            for y, reference in zip(found, wanted, strict=True):
                assert y.shape == reference.shape
                np.testing.assert_allclose(y, reference, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("case", WRONG)
def test_a_device_tells_what_does_not_fit_in_the_same_line(case: str) -> None:
    inputs, message = WRONG[case]
    with pytest.raises(InputError, match=message) as told:
        on_opencl("cached").network(*inputs)
    assert "\n" not in str(told.value)


def test_a_model_runs_on_a_device_at_every_length() -> None:
    at_hand(OpenclDevice)
    sizes = (Size("S", 1, 40), Size("B", 1, 4))
    graph = encoder(Var("B"), sizes)
    net = tw.compile(Model("encoder", LazyGraph(graph)), target="opencl")
    rng = np.random.default_rng(0)
    for n in (1, 7, 16, 33, 40):
        at = graph.at({"S": n, "B": 1 + n % 4})
        x = rng.standard_normal(at.inputs[0].shape).astype("f4")
        for y, reference in zip(net(x), run_graph(at, {"x": x}), strict=True):
            assert y.shape == reference.shape
            np.testing.assert_allclose(y, reference, rtol=1e-3, atol=1e-4)
    assert net.profile([x], 2).latency_s > 0 and net.function.bench([x], 2).shape == (2,)
    again = pickle.loads(pickle.dumps(net))
    np.testing.assert_array_equal(again(x)[0], net(x)[0])


def test_a_batch_of_texts_is_one_network() -> None:
    """A batch and a length are rows to most kernels, and no array is copied for them."""
    graph = encoder(Var("B"), (Size("B", 1, 4), Size("S", 1, 40)))
    net = tw.compile(Model("encoder", LazyGraph(graph)), target="cpu cores=2")
    assert "copy" not in [s.kernel for s in net.artifact.steps]
    assert "B * S" in [s.name for s in net.artifact.derived]
    rng = np.random.default_rng(0)
    for batch, length in ((1, 1), (3, 7), (4, 40), (2, 33)):
        at = graph.at({"S": length, "B": batch})
        x = rng.standard_normal(at.inputs[0].shape).astype("f4")
        for y, reference in zip(net(x), run_graph(at, {"x": x}), strict=True):
            np.testing.assert_allclose(y, reference, rtol=1e-3, atol=1e-4)


def test_a_model_compiles_for_cuda() -> None:
    net = tw.compile(Model("encoder", LazyGraph(encoder(2, LARGE))), target="cuda:a100")
    launches = net.artifact.launches

    def blocks(length: int) -> list[int]:
        values = [length]
        for formula in net.artifact.formulas:
            values.append(computed(formula, values))
        return [launch.at(values)[0] for launch in launches]

    most = [launch.blocks for launch in launches]
    assert all(launch.sizes for launch in launches) and blocks(30) == most
    assert sum(n < m for n, m in zip(blocks(1), most, strict=True)) > 3

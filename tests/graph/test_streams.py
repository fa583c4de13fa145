"""Streams: states of models that are appended in place from one call to the next."""

from __future__ import annotations

import pickle
import subprocess
import threading
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from benchmarks.models.decoders import Decoder
from graph_reference import make_model
from onnx import helper

import tilewright as tw
from devices import tools
from tilewright.ground.errors import InputError, RunError, UnsupportedModel
from tilewright.network.executor import Network
from tilewright.runtime.stream import Stream

pytestmark = pytest.mark.cpu

Array = np.ndarray[Any, Any]
WIDTH, HEADS, MOST, LONGEST = 8, 2, 20, 4
STATES = {"past.key": "present.key", "past.value": "present.value"}
SHAPES: dict[str, Any] = {"batch": 1, "seq": (1, LONGEST), "past": (0, MOST)}


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


@cache
def attending(turned: bool = False) -> onnx.ModelProto:
    """Attention to all that came before; `turned` keys are kept as columns."""
    size, rng = WIDTH // HEADS, np.random.default_rng(0)
    known = {w: rng.standard_normal((WIDTH, WIDTH)).astype("f4") / 3 for w in ("wq", "wk", "wv")}
    key_axis = 3 if turned else 2
    nodes = []
    for name in "qkv":
        nodes += [
            node("MatMul", f"x w{name}", f"{name}1"),
            node("Reshape", f"{name}1 split", f"{name}2"),
        ]
    order = [0, 2, 3, 1] if turned else [0, 2, 1, 3]
    nodes += [
        node("Transpose", "q2", "q", perm=[0, 2, 1, 3]),
        node("Transpose", "k2", "k", perm=order),
        node("Transpose", "v2", "v", perm=[0, 2, 1, 3]),
        node("Concat", "past.key k", "present.key", axis=key_axis),
        node("Concat", "past.value v", "present.value", axis=2),
    ]
    if not turned:
        nodes.append(node("Transpose", "present.key", "columns", perm=[0, 1, 3, 2]))
    nodes += [
        node("MatMul", f"q {'present.key' if turned else 'columns'}", "scores"),
        node("Softmax", "scores", "shares", axis=-1),
        node("MatMul", "shares present.value", "mixed"),
        node("Transpose", "mixed", "rows", perm=[0, 2, 1, 3]),
        node("Reshape", "rows whole", "y"),
    ]
    known |= {"split": np.array([0, 0, HEADS, size]), "whole": np.array([0, 0, WIDTH])}
    shape = ("batch", HEADS, size, "past") if turned else ("batch", HEADS, "past", size)
    value = ("batch", HEADS, "past", size)
    inputs = {"x": ("batch", "seq", WIDTH), "past.key": shape, "past.value": value}
    return make_model(nodes, inputs, known, ("y", *STATES.values()))


class Reference:
    """onnxruntime with caches that it returns, and the network without a state with its own."""

    def __init__(self, model: onnx.ModelProto, states: Mapping[str, str], plain: Network) -> None:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        self.plain, self.states = plain, states
        specs = {s.name: s for s in plain.inputs}
        empty = {n: tuple(0 if d else e for e, d in zip(s.shape, s.varying, strict=True))
                 for n, s in specs.items() if n in states}  # fmt: skip
        self.start = {n: np.zeros(shape, np.float32) for n, shape in empty.items()}
        self.reset()

    def reset(self) -> None:
        self.cache = self.start

    def __call__(self, given: Mapping[str, Array]) -> Array:
        """The first output; both sides agree about all."""
        inputs = {**self.cache, **given}
        wanted = self.session.run(None, inputs)
        for y, reference in zip(self.plain.run(inputs), wanted, strict=True):
            np.testing.assert_allclose(y, reference, rtol=2e-4, atol=2e-4)
        names = [o.name for o in self.session.get_outputs()]
        results = dict(zip(names, wanted, strict=True))
        self.cache = {n: results[r] for n, r in self.states.items()}
        return wanted[0]

    def rewind(self, rows: int, axes: Mapping[str, int]) -> None:
        self.cache = {
            n: np.take(a, range(a.shape[axes.get(n, 2)] - rows), axes.get(n, 2))
            for n, a in self.cache.items()
        }


@cache
def networks(turned: bool = False) -> tuple[Network, Network]:
    """With a state, and as ONNX says."""
    model = attending(turned)
    kept = tw.load(model, shapes=SHAPES, state=STATES)
    return tw.compile(kept), tw.compile(tw.load(model, shapes=SHAPES))


def fresh(network: Network, *held: Mapping[str, Array]) -> Stream:
    """A stream whose memory is NaN, which whoever reads beyond its rows gives back."""
    found = network.stream(*held)
    for array in found._arrays[sum(map(len, held)) :]:
        array.fill(np.nan)
    return found


def steps(seed: int, length: int = 0) -> Iterator[Array]:
    """Inputs of 1 to LONGEST tokens each, until a stream is full."""
    rng = np.random.default_rng(seed)
    while length <= MOST:
        tokens = int(rng.integers(1, LONGEST + 1))
        yield rng.standard_normal((1, tokens, WIDTH)).astype("f4")
        length += tokens


def close(found: Array, wanted: Array) -> None:
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("turned", [False, True], ids=["rows", "columns"])
def test_a_stream_is_the_network_with_its_results_given_back(turned: bool) -> None:
    network, plain = networks(turned)
    assert [s.name for s in network.inputs] == ["x"]
    assert [s.name for s in network.outputs] == ["y"]
    reference = Reference(attending(turned), STATES, plain)
    stream = fresh(network)
    for seed in range(3):
        stream.reset()
        reference.reset()
        assert stream.length == 0 and stream.capacity == MOST + LONGEST
        for x in steps(seed):
            before = stream.length
            close(stream(x)[0], reference({"x": x}))
            assert stream.length == before + x.shape[1]
        with pytest.raises(InputError, match=rf"stream is full: past.key has {stream.length} rows"):
            stream(x)


def test_rows_that_are_taken_back_are_written_again() -> None:
    network, plain = networks()
    reference, stream = Reference(attending(), STATES, plain), fresh(network)
    rng = np.random.default_rng(7)
    for x in steps(5):
        close(stream(x)[0], reference({"x": x}))
        rows = int(rng.integers(0, min(3, stream.length) + 1))
        stream.rewind(rows)
        reference.rewind(rows, {})
        if stream.length > MOST - LONGEST:
            break
    close(stream(x)[0], reference({"x": x}))
    with pytest.raises(InputError, match="cannot take back 99 rows of a stream of"):
        stream.rewind(99)
    with pytest.raises(InputError, match="rows is a whole number"):
        stream.rewind(-1)


def test_a_state_from_elsewhere() -> None:
    network, plain = networks()
    reference, stream = Reference(attending(), STATES, plain), fresh(network)
    rng = np.random.default_rng(3)
    for length in (0, 1, MOST):
        rows = {n: rng.standard_normal((1, HEADS, length, 4)).astype("f4") for n in STATES}
        x = rng.standard_normal((1, 2, WIDTH)).astype("f4")
        stream.fill(rows)
        assert stream.length == length
        close(stream(x)[0], reference({"x": x, **rows}))
    rows["past.key"] = rows["past.key"][:, :, 1:]
    with pytest.raises(InputError, match="states have 19, 20 rows; all have as many, at most 24"):
        stream.fill(rows)
    with pytest.raises(InputError, match=r"states: missing past\.value"):
        stream.fill({"past.key": rows["past.key"]})
    with pytest.raises(InputError, match=r"past\.key must be float32 of shape"):
        stream.fill({**rows, "past.key": np.ones((1, 3, 2, 4), np.float32)})


def test_streams_of_one_network_do_not_meet() -> None:
    """In turns, and from several threads at once."""
    network, plain = networks()
    streams = [fresh(network) for _ in range(4)]
    references = [Reference(attending(), STATES, plain) for _ in streams]
    wanted = [[(x, r({"x": x})) for x in steps(n)] for n, r in enumerate(references)]
    for turn in zip(*wanted, strict=False):
        for stream, (x, y) in zip(streams, turn, strict=True):
            close(stream(x)[0], y)
    wrong: list[int] = []

    def work(n: int) -> None:
        for _ in range(20):
            streams[n].reset()
            for x, y in wanted[n]:
                if not np.allclose(streams[n](x)[0], y, 2e-4, 2e-4):
                    wrong.append(n)

    workers = [threading.Thread(target=work, args=(n,)) for n in range(len(streams))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong
    assert len({id(s.constants) for s in streams}) == 1


def test_a_call_copies_nothing_of_the_state() -> None:
    """What is appended are the new rows, and nothing else of it changes."""
    network, plain = networks()
    kernels = [s.kernel for s in network.artifact.steps]
    assert kernels.count("append") == 2 and "copy" not in kernels
    assert "append" not in [s.kernel for s in plain.artifact.steps]
    stream = fresh(network)
    x = np.ones((1, 3, WIDTH), np.float32)
    stream(x)
    rows = [a.copy() for a in stream._arrays]
    stream(x[:, :1])
    for before, array in zip(rows, stream._arrays, strict=True):
        changed = (before != array) & ~(np.isnan(before) & np.isnan(array))
        assert changed[:, :, 3].all() and changed.sum() == array[:, :, 3].size
    assert stream.bench({"x": x}, 3).shape == (3,) and stream.length == 4


def test_networks_with_a_state_go_where_others_do(tmp_path: Path) -> None:
    network, plain = networks()
    reference = Reference(attending(), STATES, plain)
    wanted = [(x, reference({"x": x})) for x in steps(1)]
    again = tw.compile(tw.load(attending(), shapes=SHAPES, state=STATES))
    library = tw.load_library(network.save(tmp_path / "net.so").with_suffix(".so"))
    for one in (pickle.loads(pickle.dumps(network)), again, library):
        stream = one.stream()
        for x, y in wanted:
            close(stream(x=x)[0], y)
    with pytest.raises(RunError, match="stays in its process"):
        pickle.dumps(stream)


@tools("cc")
def test_a_context_of_a_library_is_a_stream(tmp_path: Path) -> None:
    network, plain = networks()
    reference = Reference(attending(), STATES, plain)
    wanted = [(x, reference({"x": x})) for x in steps(2)]
    parts = [np.array([len(wanted)]), *(p for x, y in wanted for p in ([x.shape[1]], x, y))]
    np.concatenate([np.ravel(p).astype("f4") for p in parts]).tofile(tmp_path / "steps")
    path, program = tmp_path / "net.so", tmp_path / "main"
    assert "has, none at first: past.key, past.value" in network.save(path).read_text()
    source = Path(__file__).with_name("library_streams.c")
    flags = ["-std=c11", "-Wall", "-Werror", f"-I{tmp_path}", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(["cc", *flags, source, path, "-lm", "-o", program], check=True)
    assert subprocess.run([program], cwd=tmp_path, check=False).returncode == 0


def test_a_network_with_a_state_is_called_by_streams() -> None:
    network, plain = networks()
    x = np.ones((1, 1, WIDTH), np.float32)
    with pytest.raises(InputError, match=r"keeps past.key .* s = net.stream\(\)"):
        network(x)
    with pytest.raises(InputError, match="keeps no state: load the model with state='cache'"):
        plain.stream()
    with pytest.raises(InputError, match="inputs: unknown y"):
        network.stream(y=x)
    with pytest.raises(InputError, match=r"x: seq is 5; it must be in 1\.\.4"):
        network.stream(x=np.ones((1, 5, WIDTH), np.float32))
    stream = network.stream(x=x)
    assert not stream.inputs
    stream()
    stream()
    assert stream.length == 2


@pytest.mark.parametrize(
    ("shapes", "states", "message"),
    [
        ({}, {"past.kex": "present.key"}, "inputs of test are kept, and names past.kex; it has x"),
        ({}, {"past.key": "z"}, "outputs of test are kept, and names z; it has y, present.key"),
        ({}, {"past.key": "present.key", "past.value": "present.key"}, "names one twice"),
        ({}, {"x": "y"}, "state x is kept if its result is a concatenation of it with new rows"),
        ({}, {"past.key": "present.value"}, "state past.key is kept if its result"),
        ({"batch": (1, 2)}, STATES, "has batch for dimension 0, which is one number in a stream"),
        ({"past": 7}, STATES, "grows along dimension 2, which is 7: give it a range from 0 on"),
        ({"past": (1, 7)}, STATES, "empty at first, and past is never 0: give it a range from 0"),
    ],
)
def test_what_is_not_kept_is_told_in_a_line(
    shapes: dict[str, Any], states: dict[str, str], message: str
) -> None:
    with pytest.raises((InputError, UnsupportedModel), match=message) as caught:
        tw.load(attending(), shapes={**SHAPES, **shapes}, state=states)
    assert "\n" not in str(caught.value)


def test_a_state_that_something_else_reads_or_that_grows_otherwise_is_refused() -> None:
    inputs = {"x": (2, "seq"), "p": (2, "past"), "o": (2, "past")}
    read = [node("Concat", "p x", "q", axis=1), node("ReduceSum", "p", "y")]
    both = [node("Concat", "p x", "q", axis=1), node("Concat", "o x x", "y", axis=1)]
    twice = [node("Concat", "p q1", "q", axis=1), node("Concat", "o x", "y", axis=1),
             node("Concat", "x x", "q1", axis=1)]  # fmt: skip
    twice = [twice[2], *twice[:2]]
    ranges = {"seq": (1, 3), "past": (0, 5)}
    for nodes, states, message in (
        (read, {"p": "q"}, "state p is read by reduce_sum y, besides being appended to"),
        (both, {"o": "y"}, "state o is joined with 2 values; one is appended in place"),
        (twice, {"p": "q", "o": "y"}, "states p and o do not grow alike"),
    ):
        model = make_model(nodes, inputs, outputs=("q", "y"))
        with pytest.raises(UnsupportedModel, match=message):
            tw.load(model, shapes=ranges, state=states)


def test_arguments_that_cannot_be() -> None:
    for state in (7, "caches", {}, {"past.key": 3}):
        with pytest.raises(InputError, match="state is 'cache', or a mapping of names such as"):
            tw.load(attending(), shapes=SHAPES, state=state)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="state belongs to one network"):
        tw.load(attending(), shapes=[SHAPES], state=STATES)  # type: ignore[call-overload]
    renamed = make_model([node("Identity", "x", "y")], {"x": (2,)})
    with pytest.raises(InputError, match="no input of test has the name of a cache; name the pai"):
        tw.load(renamed, state="cache")


def test_names_of_exporters_are_known() -> None:
    inputs = dict.fromkeys(("past_key_values.0.key", "past_1", "cached_2"), (1, "past", 2))
    outputs = ("present.0.key", "present_1", "new_cached_2")
    nodes = [node("Concat", f"{n} x", o, axis=1) for n, o in zip(inputs, outputs, strict=True)]
    model = make_model(
        [*nodes, node("Neg", "x", "y")], {"x": (1, 1, 2), **inputs}, outputs=(*outputs, "y")
    )
    graph = tw.load(model, shapes={"past": (0, 3)}, state="cache").graph
    assert [(s.value.name, s.result) for s in graph.states] == [*zip(inputs, outputs, strict=True)]
    assert graph.output_names == ("y",)


@pytest.mark.thorough
@pytest.mark.parametrize("frames", [0, 10], ids=["gpt2", "whisper"])
def test_decoders_with_caches_are_onnxruntimes(frames: int) -> None:
    decoder = Decoder("small", 2, 2, 16, 50, MOST + LONGEST, frames)
    model = decoder.model()
    plain = tw.compile(tw.load(model, shapes=SHAPES))
    network = tw.compile(tw.load(model, shapes=SHAPES, state="cache"))
    reference = Reference(model, decoder.states, plain)
    given = decoder.inputs(1, 0)
    held = {name: given[name] for name in decoder.crossed}
    stream = fresh(network, held)
    rng = np.random.default_rng(0)
    for past in (*range(0, MOST, 3), MOST):  # a cache that comes from elsewhere
        reference(decoder.inputs(1 + past % LONGEST, past, seed=past))
    for _ in range(2):
        stream.reset()
        reference.reset()
        while stream.length <= MOST:
            tokens = int(rng.integers(1, LONGEST + 1))
            new: dict[str, Array] = {"ids": rng.integers(0, 50, (1, tokens))}
            if not frames:
                new["attention_mask"] = np.ones((1, stream.length + tokens), np.int64)
            close(stream.run(new)[0], reference({**new, **held}))
    if not frames:
        stream.reset()
        wrong = {"ids": new["ids"][:, :1], "attention_mask": np.ones((1, 2), np.int64)}
        with pytest.raises(
            InputError, match=r"attention_mask: dimension 1 is 2, where past \+ seq is 1"
        ):
            stream.run(wrong)

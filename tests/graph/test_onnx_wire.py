"""Reading a model piece by piece is what protobuf reads, whatever the bytes are."""

from __future__ import annotations

import io
import random
import tracemalloc
from pathlib import Path

import numpy as np
import onnx
import pytest
from google.protobuf.message import DecodeError
from graph_reference import make_model
from onnx import helper

from tilewright.graph.onnx import wire as onnx_wire
from tilewright.graph.onnx.file import read_model
from tilewright.graph.onnx.wire import pieces
from tilewright.ground.errors import UnsupportedModel


@pytest.fixture(autouse=True)
def _small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_wire, "LARGE", 64)


def sample() -> onnx.ModelProto:
    """Weights of several sizes, a name of several bytes, and text that looks like a field."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["t"]),
        helper.make_node("Add", ["t", "b"], ["u"]),
        helper.make_node("Mul", ["u", "é"], ["y"]),
    ]
    rng = np.random.default_rng(0)
    sizes = {"w": (6, 8), "b": (8,), "é": (4, 8)}
    weights = {n: rng.standard_normal(s).astype(np.float32) for n, s in sizes.items()}
    model = make_model(nodes, {"x": (4, 6)}, weights)
    model.graph.doc_string = "\x2a\x10" * 40
    model.graph.initializer[0].doc_string = "\x3a" * 200
    return model


def whole(data: bytes) -> onnx.ModelProto | None:
    """What pieces make up; None for what is no message."""
    try:
        model, large = pieces(io.BytesIO(data))
        model.graph.initializer.extend(list(large))
    except DecodeError:
        return None
    return _sorted(model)


def plain(data: bytes) -> onnx.ModelProto | None:
    try:
        return _sorted(onnx.load_model_from_string(data))
    except DecodeError:
        return None


def _sorted(model: onnx.ModelProto) -> onnx.ModelProto:
    tensors = sorted(model.graph.initializer, key=lambda t: t.SerializeToString())
    model.graph.ClearField("initializer")
    if tensors:
        model.graph.initializer.extend(tensors)
    return model


def text(model: onnx.ModelProto | None) -> bytes | None:
    return None if model is None else model.SerializeToString(deterministic=True)


def test_large_weights_come_one_by_one() -> None:
    data = sample().SerializeToString()
    model, large = pieces(io.BytesIO(data))
    assert [t.name for t in model.graph.initializer] == ["b"]
    assert [t.name for t in large] == ["w", "é"]
    assert text(whole(data)) == text(plain(data))


def test_a_graph_in_two_parts_is_one() -> None:
    model = sample()
    parts = [onnx.ModelProto(), onnx.ModelProto()]
    parts[0].CopyFrom(model)
    del parts[0].graph.initializer[1:]
    parts[1].graph.initializer.extend(model.graph.initializer[1:])
    data = b"".join(p.SerializeToString() for p in parts)
    assert text(whole(data)) == text(plain(data)) == text(_sorted(model))


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_are_what_protobuf_takes_them_for(seed: int) -> None:
    draw = random.Random(seed)
    data = sample().SerializeToString()
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(draw.randint(1, 3)):
            match draw.randrange(3):
                case 0:
                    damaged[draw.randrange(len(damaged))] = draw.randrange(256)
                case 1:
                    del damaged[draw.randrange(1, len(damaged)) :]
                case _:
                    at = draw.randrange(len(damaged))
                    damaged[at:at] = draw.randbytes(draw.randint(1, 12))
        assert text(whole(bytes(damaged))) == text(plain(bytes(damaged)))


def test_a_weight_that_is_no_message_is_refused(tmp_path: Path) -> None:
    data = bytearray(sample().SerializeToString())
    at = data.index("é".encode()) + 1
    data[at] = 0xFF
    with pytest.raises(UnsupportedModel, match=r"UTF-8|no ONNX model"):
        read_model(bytes(data))


def test_weights_of_a_file_are_in_memory_once(tmp_path: Path) -> None:
    weights = {f"w{i}": np.zeros((256, 1024), np.float32) for i in range(8)}
    nodes = [helper.make_node("MatMul", ["x", n], [f"y{n}"]) for n in weights]
    nodes.append(helper.make_node("Sum", [f"y{n}" for n in weights], ["y"]))
    onnx.save(make_model(nodes, {"x": (2, 256)}, weights), tmp_path / "net.onnx")
    tracemalloc.start()
    found = read_model(tmp_path / "net.onnx")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    total = sum(a.nbytes for a in found.weights.values())
    assert total == 8 << 20 and total <= peak < 1.4 * total

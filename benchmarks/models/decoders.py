"""Decoders with a cache, as exporters write them: GPT-2 and Whisper's, with random weights.

    model = GPT2.model()                ids int64[batch, seq], past_key_values.N.key and .value
                                        float32[batch, heads, past, d], attention_mask
                                        int64[batch, past + seq]
                                        -> logits float32[batch, seq, 50257], present.N.key …
    model = WHISPER.model()             no mask; a second attention of each layer reads
                                        past_key_values.N.encoder.key, [batch, heads, 1500, d]

GPT-2 small is Radford et al. 2019, Whisper base Radford et al. 2022. Layers normalise first;
attention is written out, its mask computed of the length of the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tilewright.contract.artifact import Array

OPSET, IR_VERSION = 18, 9
FAR = -1e9
"""What is added to scores that do not count."""


@dataclass(frozen=True)
class Decoder:
    """An architecture. With `frames`, there is a second attention to so many of an encoder."""

    name: str
    layers: int
    heads: int
    width: int
    vocabulary: int
    positions: int
    frames: int = 0

    @property
    def head_size(self) -> int:
        return self.width // self.heads

    @property
    def cached_heads(self) -> int:
        """Heads of keys and values."""
        return self.heads

    @property
    def states(self) -> dict[str, str]:
        """The output that each input of the cache becomes."""
        kind = ".decoder" if self.frames else ""
        return {
            f"past_key_values.{i}{kind}.{part}": f"present.{i}{kind}.{part}"
            for i in range(self.layers)
            for part in ("key", "value")
        }

    @property
    def crossed(self) -> tuple[str, ...]:
        """The inputs that an encoder gives."""
        layers = range(self.layers if self.frames else 0)
        return tuple(f"past_key_values.{i}.encoder.{p}" for i in layers for p in ("key", "value"))

    def inputs(self, seq: int, past: int, seed: int = 1) -> dict[str, Array]:
        """Seeded arrays for one text, in the order of the model."""
        rng = np.random.default_rng(seed)
        given: dict[str, Array] = {"ids": rng.integers(0, self.vocabulary, (1, seq))}
        if not self.frames:
            given["attention_mask"] = np.ones((1, past + seq), np.int64)
        states, crossed = list(self.states), list(self.crossed)
        while states:
            for names, rows in ((states, past), (crossed, self.frames)):
                for name in names[:2]:
                    shape = (1, self.cached_heads, rows, self.head_size)
                    given[name] = rng.standard_normal(shape, np.float32)
                del names[:2]
        return given

    def model(self, seed: int = 0) -> onnx.ModelProto:
        """The network as an ONNX model with dynamic axes."""
        return Writer(self, np.random.default_rng(seed)).model()


GPT2 = Decoder("gpt2-cache", 12, 12, 768, 50257, 1024)
WHISPER = Decoder("whisper-base", 6, 8, 512, 51865, 448, 1500)


@dataclass
class Writer:
    """Writes the nodes of a decoder, in order."""

    decoder: Decoder
    rng: np.random.Generator
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: dict[str, Array] = field(default_factory=dict)
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    outputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    opsets: list[onnx.OperatorSetIdProto] = field(default_factory=list)

    def model(self) -> onnx.ModelProto:
        d = self.decoder
        self.inputs.append(info("ids", ("batch", "seq"), TensorProto.INT64))
        words = self.weight("words", d.vocabulary, d.width)
        x = self.node("Add", self.node("Gather", words, "ids"), self.places())
        mask = self.mask()
        for i in range(d.layers):
            x = self.layer(x, f"layers.{i}", i, mask)
        head = self.node("Transpose", words, perm=[1, 0])
        self.node("MatMul", self.norm(x, "norm"), head, output="logits")
        return self.written(("batch", "seq", d.vocabulary))

    def written(self, shape: Sequence[int | str]) -> onnx.ModelProto:
        """The model of all nodes, whose first output is `logits`."""
        logits = info("logits", shape)
        graph = helper.make_graph(
            self.nodes, self.decoder.name, self.inputs, [logits, *self.outputs],
            [numpy_helper.from_array(a, name) for name, a in self.weights.items()],
        )  # fmt: skip
        opsets = [helper.make_opsetid("", OPSET), *self.opsets]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)

    def node(self, op: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """The output of a new node."""
        name = output or f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def constant(self, value: Any, dtype: Any = np.int64) -> str:
        name = f"constant_{len(self.weights)}"
        self.weights[name] = np.array(value, dtype)
        return name

    def weight(self, name: str, terms: int, *more: int) -> str:
        """Values that keep the variance of what they are multiplied with."""
        values = self.rng.standard_normal((terms, *more), np.float32)
        self.weights[name] = values / np.float32(sqrt(more[-1] if name == "words" else terms))
        return name

    def linear(self, x: str, name: str, outputs: int, terms: int = 0) -> str:
        product = self.node("MatMul", x, self.weight(name, terms or self.decoder.width, outputs))
        self.weights[f"{name}.bias"] = self.rng.standard_normal(outputs).astype(np.float32) / 50
        return self.node("Add", product, f"{name}.bias")

    def norm(self, x: str, name: str) -> str:
        width = self.decoder.width
        self.weights[f"{name}.scale"] = self.rng.uniform(0.6, 1.2, width).astype(np.float32)
        self.weights[f"{name}.bias"] = self.rng.standard_normal(width).astype(np.float32) / 10
        return self.node("LayerNormalization", x, f"{name}.scale", f"{name}.bias", axis=-1)

    def places(self) -> str:
        """The rows of the table of places that tokens behind the cache have."""
        shape = self.node("Shape", "ids")
        cache = self.node("Shape", next(iter(self.decoder.states)))
        past = self.node("Gather", cache, self.constant(2), output="past_length")
        seq = self.node("Gather", shape, self.constant(1))
        total = self.node("Add", past, seq, output="total_length")
        self.node("Range", past, total, self.constant(1), output="rows")
        table = self.weight("places", self.decoder.positions, self.decoder.width)
        return self.node("Gather", table, "rows")

    def mask(self) -> str:
        """What is added to scores: float32[seq, past + seq], for a masked text
        [batch, 1, seq, past + seq].
        """
        columns = self.node("Range", self.constant(0), "total_length", self.constant(1))
        rows = self.node("Unsqueeze", "rows", self.constant([1]))
        seen = self.node("LessOrEqual", columns, rows)
        far, near = self.constant(FAR, np.float32), self.constant(0, np.float32)
        causal = self.node("Where", seen, near, far)
        if self.decoder.frames:
            return causal
        self.inputs.append(info("attention_mask", ("batch", "total"), TensorProto.INT64))
        kept = self.node("Cast", "attention_mask", to=TensorProto.FLOAT)
        wide = self.node("Unsqueeze", kept, self.constant([1, 2]))
        hidden = self.node("Sub", self.constant(1, np.float32), wide)
        return self.node("Add", causal, self.node("Mul", hidden, far))

    def layer(self, x: str, name: str, number: int, mask: str) -> str:
        d = self.decoder
        qkv = self.linear(self.norm(x, f"{name}.norm1"), f"{name}.qkv", 3 * d.width)
        parts = [f"{name}.{part}" for part in "qkv"]
        self.nodes.append(helper.make_node("Split", [qkv], parts, axis=-1, num_outputs=3))
        q, k, v = map(self.heads, parts)
        key, value = list(d.states.items())[2 * number : 2 * number + 2]
        k, v = self.grown(k, *key), self.grown(v, *value)
        x = self.node("Add", x, self.attention(q, k, v, f"{name}.out", mask))
        if d.frames:
            q = self.heads(self.linear(self.norm(x, f"{name}.norm2"), f"{name}.query", d.width))
            k, v = d.crossed[2 * number : 2 * number + 2]
            shape = ("batch", d.heads, d.frames, d.head_size)
            self.inputs += [info(n, shape) for n in (k, v)]
            x = self.node("Add", x, self.attention(q, k, v, f"{name}.crossed"))
        wide = self.linear(self.norm(x, f"{name}.norm3"), f"{name}.widen", 4 * d.width)
        narrow = self.linear(self.gelu(wide), f"{name}.narrow", d.width, 4 * d.width)
        return self.node("Add", x, narrow)

    def heads(self, x: str) -> str:
        """[batch, seq, width] as [batch, heads, seq, d]."""
        shape = self.constant([0, 0, self.decoder.heads, self.decoder.head_size])
        return self.node("Transpose", self.node("Reshape", x, shape), perm=[0, 2, 1, 3])

    def grown(self, rows: str, past: str, present: str) -> str:
        """The cache with new rows behind it."""
        d, extents = self.decoder, ("batch", self.decoder.heads)
        self.inputs.append(info(past, (*extents, "past", d.head_size)))
        self.outputs.append(info(present, (*extents, "total", d.head_size)))
        return self.node("Concat", past, rows, output=present, axis=2)

    def attention(self, q: str, k: str, v: str, name: str, mask: str = "") -> str:
        d = self.decoder
        scores = self.node("MatMul", q, self.node("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.node("Mul", scores, self.constant(d.head_size**-0.5, np.float32))
        scores = self.node("Add", scores, mask) if mask else scores
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), v)
        rows = self.node("Transpose", mixed, perm=[0, 2, 1, 3])
        joined = self.node("Reshape", rows, self.constant([0, 0, d.width]))
        return self.linear(joined, name, d.width)

    def gelu(self, x: str) -> str:
        """GPT-2's with tanh, Whisper's with erf."""
        one, half = (self.constant(v, np.float32) for v in (1, 0.5))
        if self.decoder.frames:
            inner = self.node("Mul", x, self.constant(sqrt(0.5), np.float32))
            curve = self.node("Erf", inner)
        else:
            cube = self.node("Pow", x, self.constant(3, np.float32))
            small = self.node("Mul", cube, self.constant(0.044715, np.float32))
            inner = self.node("Add", x, small)
            curve = self.node(
                "Tanh", self.node("Mul", inner, self.constant(sqrt(2 / np.pi), np.float32))
            )
        return self.node("Mul", self.node("Mul", x, half), self.node("Add", curve, one))


def info(name: str, shape: Sequence[int | str], kind: int = TensorProto.FLOAT) -> Any:
    """Of an input or output."""
    return helper.make_tensor_value_info(name, kind, shape)

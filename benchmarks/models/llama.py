"""Decoders of the Llama family with weights of 4 bits, as onnxruntime's model builder writes them.

    model = LLAMA.model()               ids int64[batch, seq], attention_mask int64[batch, total],
                                        past_key_values.N.key and .value
                                        float32[batch, kv_heads, past, d]
                                        -> logits float32[batch, seq, 32000], present.N.key …

Touvron et al. 2023; sizes as of TinyLlama (Zhang et al. 2024). Products are MatMulNBits in blocks
of 32 with accuracy_level 4, attention is GroupQueryAttention, which turns queries and keys itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from benchmarks.models.decoders import Decoder, Writer, info

BLOCK, BITS, LEVEL = 32, 4, 4
OURS, EPSILON = "com.microsoft", 1e-5
DEVIATION = sqrt((16**2 - 1) / 12)
"""Of the numbers of 4 bits, all alike."""


@dataclass(frozen=True)
class Llama(Decoder):
    """`kv_heads` of keys and values are shared by the heads; layers widen to `inner`."""

    kv_heads: int = 1
    inner: int = 0

    @property
    def cached_heads(self) -> int:
        return self.kv_heads

    def model(self, seed: int = 0) -> onnx.ModelProto:
        return _LlamaWriter(self, np.random.default_rng(seed)).model()


LLAMA = Llama("llama-int4", 22, 32, 2048, 32000, 2048, kv_heads=4, inner=5632)


class _LlamaWriter(Writer):
    """Writes the nodes in order."""

    decoder: Llama

    def model(self) -> onnx.ModelProto:
        d = self.decoder
        self.opsets.append(helper.make_opsetid(OURS, 1))
        self.inputs.append(info("ids", ("batch", "seq"), TensorProto.INT64))
        self.inputs.append(info("attention_mask", ("batch", "total"), TensorProto.INT64))
        self.lengths()
        total = self.node("Gather", self.weight("words", d.vocabulary, d.width), "ids")
        x = self.node("SimplifiedLayerNormalization", total, self.scale("norm"), epsilon=EPSILON)
        for i in range(d.layers):
            x, total = self.added(self.attended(x, i), total, f"layers.{i}.norm2")
            x, total = self.added(self.widened(x, f"layers.{i}"), total, f"layers.{i}.norm3")
        self.linear(x, "head", d.vocabulary, output="logits")
        return self.written(("batch", "seq", d.vocabulary))

    def lengths(self) -> None:
        """The position of the last token, and how many there are."""
        count = self.node("ReduceSum", "attention_mask", self.constant([1]), keepdims=0)
        last = self.node("Sub", count, self.constant(1))
        self.node("Cast", last, to=TensorProto.INT32, output="last")
        shape = self.node("Shape", "attention_mask")
        whole = self.node("Gather", shape, self.constant(1))
        self.node("Cast", whole, to=TensorProto.INT32, output="length")
        angles = np.outer(
            np.arange(self.decoder.positions), 1e4 ** -np.linspace(0, 1, self.pairs, endpoint=False)
        )
        for name, table in (("cos", np.cos(angles)), ("sin", np.sin(angles))):
            self.weights[name] = table.astype(np.float32)

    @property
    def pairs(self) -> int:
        return self.decoder.head_size // 2

    def scale(self, name: str) -> str:
        values = self.rng.uniform(0.6, 1.2, self.decoder.width)
        self.weights[f"{name}.scale"] = values.astype(np.float32)
        return f"{name}.scale"

    def added(self, x: str, total: str, name: str) -> tuple[str, str]:
        """The sum, normalised and as it is."""
        y, whole = f"{name}.y", f"{name}.sum"
        given = [x, total, self.scale(name)]
        self.nodes.append(
            helper.make_node(
                "SkipSimplifiedLayerNormalization", given, [y, "", "", whole], domain=OURS,
                epsilon=EPSILON,
            )
        )  # fmt: skip
        return y, whole

    def linear(self, x: str, name: str, outputs: int, terms: int = 0, output: str = "") -> str:
        depth = terms or self.decoder.width
        shape = (outputs, depth // BLOCK, BLOCK * BITS // 8)
        self.weights[f"{name}.w"] = self.rng.integers(0, 256, shape, np.uint8)
        scales = self.rng.uniform(0.8, 1.2, outputs * depth // BLOCK) / (DEVIATION * sqrt(depth))
        self.weights[f"{name}.s"] = scales.astype(np.float32)
        sizes: dict[str, Any] = {"K": depth, "N": outputs, "block_size": BLOCK, "bits": BITS}
        return self.node(
            "MatMulNBits", x, f"{name}.w", f"{name}.s", output=output, domain=OURS,
            accuracy_level=LEVEL, **sizes,
        )  # fmt: skip

    def attended(self, x: str, number: int) -> str:
        d, name = self.decoder, f"layers.{number}"
        wide = (d.heads + 2 * d.kv_heads) * d.head_size
        states = list(d.states.items())[2 * number : 2 * number + 2]
        (past_key, key), (past_value, value) = states
        for past, present in states:
            self.inputs.append(info(past, ("batch", d.kv_heads, "past", d.head_size)))
            self.outputs.append(info(present, ("batch", d.kv_heads, "total", d.head_size)))
        given = [self.linear(x, f"{name}.qkv", wide), "", "", past_key, past_value]
        self.nodes.append(
            helper.make_node(
                "GroupQueryAttention", [*given, "last", "length", "cos", "sin"],
                [f"{name}.mixed", key, value], domain=OURS, num_heads=d.heads,
                kv_num_heads=d.kv_heads, do_rotary=1,
            )
        )  # fmt: skip
        return self.linear(f"{name}.mixed", f"{name}.out", d.width)

    def widened(self, x: str, name: str) -> str:
        """Half of it gates the other half."""
        d = self.decoder
        gate, up = (self.linear(x, f"{name}.{part}", d.inner) for part in ("gate", "up"))
        gated = self.node("Mul", self.node("Mul", gate, self.node("Sigmoid", gate)), up)
        return self.linear(gated, f"{name}.down", d.width, d.inner)

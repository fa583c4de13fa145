"""One step of ONNX's recurrent operators: what their cells compute from gates and states.

    lstm(weights, gates, [h, c])  →  [h, c] after the step

Gates are products with the step's input, which are there for all times; a cell adds the products
with the last state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from tilewright.graph.builder import BodyBuilder
from tilewright.graph.ir import Value
from tilewright.graph.onnx.ops.call import OperatorCall

Cell: TypeAlias = Callable[["CellWeights", Value, Sequence[Value]], list[Value]]
"""Gates of the input at one time, the states before → the states after; the first is h."""
# Name → graph operator, and its attributes with ONNX's defaults for alpha and beta.
ACTIVATIONS: dict[str, tuple[str, dict[str, float]]] = {
    "relu": ("relu", {}),
    "tanh": ("tanh", {}),
    "sigmoid": ("sigmoid", {}),
    "softsign": ("softsign", {}),
    "softplus": ("softplus", {}),
    "leakyrelu": ("leaky_relu", {"alpha": 0.01}),
    "thresholdedrelu": ("thresholded_relu", {"alpha": 1.0}),
    "hardsigmoid": ("hard_sigmoid", {"alpha": 0.2, "beta": 0.5}),
    "elu": ("elu", {"alpha": 1.0}),
    "affine": ("affine", {"alpha": 1.0, "beta": 0.0}),
}


@dataclass(frozen=True)
class Activation:
    """An activation with its parameters; `limit` clips what it is applied to."""

    op: str
    values: tuple[tuple[str, float], ...]
    limit: float | None

    def __call__(self, call: OperatorCall, x: Value) -> Value:
        values = dict(self.values)
        if self.limit is not None:
            x = call.emit("clip", x, low=-self.limit, high=self.limit)
        if self.op == "affine":
            scaled = call.emit("multiply", x, call.literal(values["alpha"], x))
            return call.emit("add", scaled, call.literal(values["beta"], x))
        return call.emit(self.op, x, **values)


def _activation(call: OperatorCall, name: str) -> tuple[str, dict[str, float]]:
    if name.lower() not in ACTIVATIONS:
        call.reject(f"activation {name!r} is not supported; known: {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name.lower()]


def chosen(
    call: OperatorCall,
    n: int,
    defaults: Sequence[str],
    *,
    activations: Sequence[str] = (),
    activation_alpha: Sequence[float] = (),
    activation_beta: Sequence[float] = (),
    clip: float | None = None,
) -> list[Activation]:
    """Those of direction `n`; alphas and betas are listed for those that have them, in order."""
    count = len(defaults)
    names = activations[n * count : (n + 1) * count] or defaults
    before = sum("alpha" in _activation(call, a)[1] for a in activations[: n * count])
    given = {"alpha": activation_alpha, "beta": activation_beta}
    found = []
    for name in names:
        op, usual = _activation(call, name)
        values = {k: given[k][before] if before < len(given[k]) else v for k, v in usual.items()}
        before += bool(usual)
        found.append(Activation(op, tuple(values.items()), clip))
    return found


@dataclass(frozen=True)
class CellWeights:
    """What a step needs: weights [directions, gates · hidden, ..], without the first dimension
    where there is one direction; biases [directions, 1, gates · hidden] or [gates · hidden].

    `call` emits into the graph that the step belongs to; `flag` is the cell's own attribute:
    `linear_before_reset` of a GRU, `input_forget` of an LSTM. What meets weights is rounded to 8
    bits first if they are `quantised`, those of a direction at a time by their own range.
    """

    call: OperatorCall
    w: Value
    r: Value
    bias: tuple[Value, Value] | None
    peepholes: Value | None
    activations: Sequence[Activation]
    hidden: int
    flag: bool = False
    quantised: bool = False

    def part(self, x: Value, gate: int, count: int = 1) -> Value:
        """Columns of `count` gates from `gate` on, of the last dimension."""
        low = gate * self.hidden
        return self.call.cut(x, x.rank - 1, low, low + count * self.hidden)

    def rows(self, weights: Value, gate: int, count: int = 1) -> Value:
        """The weights of `count` gates from `gate` on."""
        low = gate * self.hidden
        return self.call.cut(weights, weights.rank - 2, low, low + count * self.hidden)

    def times(self, x: Value, weights: Value) -> Value:
        """`x` @ `weights`'."""
        order = (1, 0) if weights.rank == 2 else (0, 2, 1)
        if self.quantised:
            x = self.rounded(x, tuple(range(weights.rank - 2, x.rank)))
        return self.call.emit("matmul", x, self.call.builder.transpose(weights, order))

    def rounded(self, x: Value, over: Sequence[int]) -> Value:
        """`x` to the nearest of 256 numbers, 0 among them, that are spread over its range."""
        emit, zero = self.call.emit, self.call.literal(0.0, x)
        low = emit("minimum", emit("reduce_min", x, axes=tuple(over), keepdims=True), zero)
        high = emit("maximum", emit("reduce_max", x, axes=tuple(over), keepdims=True), zero)
        step = emit("divide", emit("subtract", high, low), self.call.literal(255.0, x))
        step = emit("where", emit("equal", step, zero), self.call.literal(1.0, x), step)
        before = emit("round_half_even", emit("divide", emit("negative", low), step))
        q = emit("add", emit("round_half_even", emit("divide", x, step)), before)
        q = emit("clip", q, low=0.0, high=255.0)
        return emit("multiply", emit("subtract", q, before), step)

    def apply(self, number: int, x: Value) -> Value:
        """Activation `number` of `x`."""
        return self.activations[number](self.call, x)

    def within(self, body: BodyBuilder) -> CellWeights:
        """The same for steps that are emitted into `body`."""
        bias = self.bias and (body.capture(self.bias[0]), body.capture(self.bias[1]))
        return replace(
            self,
            call=replace(self.call, builder=body),
            r=body.capture(self.r),
            bias=bias,
            peepholes=None if self.peepholes is None else body.capture(self.peepholes),
        )


def rnn(d: CellWeights, gates: Value, states: Sequence[Value]) -> list[Value]:
    total = d.call.emit("add", gates, d.times(states[0], d.r))
    return [d.apply(0, total)]


def gru(d: CellWeights, gates: Value, states: Sequence[Value]) -> list[Value]:
    """Gates z, r, h. The reset gate comes before the product with R, or after it."""
    emit, h = d.call.emit, states[0]
    both = d.apply(0, emit("add", d.part(gates, 0, 2), d.times(h, d.rows(d.r, 0, 2))))
    z, r = d.part(both, 0), d.part(both, 1)
    last = d.rows(d.r, 2)
    bias = None if d.bias is None else d.part(d.bias[1], 2)
    if d.flag:
        inner = d.times(h, last)
        inner = emit("multiply", r, inner if bias is None else emit("add", inner, bias))
    else:
        inner = d.times(emit("multiply", r, h), last)
        inner = inner if bias is None else emit("add", inner, bias)
    new = d.apply(1, emit("add", d.part(gates, 2), inner))
    return [emit("add", new, emit("multiply", z, emit("subtract", h, new)))]


def lstm(d: CellWeights, gates: Value, states: Sequence[Value]) -> list[Value]:
    """Gates i, o, f, c; peepholes i, o, f."""
    emit = d.call.emit
    h, c = states
    total = emit("add", gates, d.times(h, d.r))
    if _is_plain_lstm(d):
        all_gates = _activated(d, total)
        i, o, forget, fresh = (d.part(all_gates, n) for n in range(4))
        new = emit("add", emit("multiply", forget, c), emit("multiply", i, fresh))
        return [emit("multiply", o, emit("tanh", new)), new]

    def gate(number: int, cell: Value) -> Value:
        x = d.part(total, number)
        if d.peepholes is not None:
            x = emit("add", x, emit("multiply", d.part(d.peepholes, number), cell))
        return d.apply(0, x)

    i = gate(0, c)
    if d.flag:
        forget = emit("subtract", d.call.literal(1.0, i), i)
    else:
        forget = gate(2, c)
    new = emit(
        "add", emit("multiply", forget, c), emit("multiply", i, d.apply(1, d.part(total, 3)))
    )
    return [emit("multiply", gate(1, new), d.apply(2, new)), new]


def _is_plain_lstm(d: CellWeights) -> bool:
    """Whether all gates can be activated at once, where the product leaves its registers."""
    usual = [Activation(op, (), None) for op in ("sigmoid", "tanh", "tanh")]
    return d.peepholes is None and not d.flag and list(d.activations) == usual


def _activated(d: CellWeights, total: Value) -> Value:
    """sigmoid of the gates i, o, f and tanh(x) = 2 · sigmoid(2 x) - 1 of the last."""
    emit = d.call.emit
    last = np.repeat([0.0, 0.0, 0.0, 1.0], d.hidden)
    scale = d.call.literal(1.0 + last, total)
    s = emit("sigmoid", emit("multiply", total, scale))
    return emit("subtract", emit("multiply", s, scale), d.call.literal(last, total))

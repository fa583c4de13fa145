"""ONNX's recurrent operators, unrolled over time: sequences have a known length.

    h = tanh(x[t] @ W' + h @ R' + b)  for every t

What depends on the input alone is one matrix product for all times. Sequences that are shorter than
the others keep their last state, and give zeros afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tilewright.graph.ir import Value
from tilewright.graph.onnx_ops.call import Call, Translator

Activation: TypeAlias = Callable[[Value], Value]
Cell: TypeAlias = Callable[["Direction", Value, Sequence[Value]], list[Value]]
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
class Direction:
    """One direction of a recurrent node: its weights [gates · hidden, ..] and activations."""

    call: Call
    w: Value
    r: Value
    bias: tuple[Value, Value] | None
    peepholes: Value | None
    activations: Sequence[Activation]
    hidden: int

    def part(self, x: Value, gate: int, count: int = 1) -> Value:
        """Columns of `count` gates from `gate` on, of the last dimension."""
        low = gate * self.hidden
        return cut(self.call, x, x.rank - 1, low, low + count * self.hidden)

    def times(self, x: Value, weights: Value) -> Value:
        """`x` @ `weights`'."""
        return self.call.emit("matmul", x, self.call.builder.transpose(weights, (1, 0)))


def cut(call: Call, x: Value, axis: int, low: int, high: int) -> Value:
    """`x[low:high]` along `axis`."""
    if (low, high) == (0, x.shape[axis]):
        return x
    if x.constant is not None:
        return call.literal(x.constant[(slice(None),) * axis + (slice(low, high),)])
    return call.emit("slice", x, starts=(low,), stops=(high,), steps=(1,), axes=(axis,))


def rnn(d: Direction, gates: Value, states: Sequence[Value]) -> list[Value]:
    total = d.call.emit("add", gates, d.times(states[0], d.r))
    return [d.activations[0](total)]


def gru(d: Direction, gates: Value, states: Sequence[Value]) -> list[Value]:
    """Gates z, r, h. The reset gate comes before the product with R, or after it."""
    emit, h = d.call.emit, states[0]
    rows = cut(d.call, d.r, 0, 0, 2 * d.hidden)
    both = emit("add", d.part(gates, 0, 2), d.times(h, rows))
    f, g = d.activations[:2]
    z, r = f(d.part(both, 0)), f(d.part(both, 1))
    last = cut(d.call, d.r, 0, 2 * d.hidden, 3 * d.hidden)
    bias = None if d.bias is None else d.part(d.bias[1], 2)
    if d.call.attribute("linear_before_reset", 0):
        inner = d.times(h, last)
        inner = emit("mul", r, inner if bias is None else emit("add", inner, bias))
    else:
        inner = d.times(emit("mul", r, h), last)
        inner = inner if bias is None else emit("add", inner, bias)
    new = g(emit("add", d.part(gates, 2), inner))
    return [emit("add", new, emit("mul", z, emit("sub", h, new)))]


def lstm(d: Direction, gates: Value, states: Sequence[Value]) -> list[Value]:
    """Gates i, o, f, c; peepholes i, o, f."""
    emit = d.call.emit
    h, c = states
    total = emit("add", gates, d.times(h, d.r))
    f, g, last = d.activations[:3]

    def gate(number: int, cell: Value) -> Value:
        x = d.part(total, number)
        if d.peepholes is not None:
            x = emit("add", x, emit("mul", d.part(d.peepholes, number), cell))
        return f(x)

    i = gate(0, c)
    if d.call.attribute("input_forget", 0):
        forget = emit("sub", d.call.literal(1.0, i), i)
    else:
        forget = gate(2, c)
    new = emit("add", emit("mul", forget, c), emit("mul", i, g(d.part(total, 3))))
    return [emit("mul", gate(1, new), last(new)), new]


def recurrent(cell: Cell, defaults: Sequence[str], states: int) -> Translator:
    """A node whose `cell` has the activations `defaults` and `states` states."""

    def translate(call: Call) -> Sequence[Value]:
        x, w, r, lengths = call.input(0), call.input(1), call.input(2), call.optional(4)
        batch_first = bool(call.attribute("layout", 0))
        if batch_first:
            x = call.builder.transpose(x, (1, 0, 2))
        names = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
        ways = names[call.attribute("direction", b"forward").decode()]
        results = []
        for n, backwards in enumerate(ways):
            d = _direction(call, n, defaults, w, r)
            start = [_initial(call, 5 + s, n, x, d, batch_first) for s in range(states)]
            results.append(_unrolled(call, d, cell, x, start, lengths, backwards))
        return _outputs(call, results, batch_first)

    return translate


def _row(call: Call, x: Value, n: int) -> Value:
    """`x[n]`."""
    return call.builder.reshape(cut(call, x, 0, n, n + 1), x.shape[1:])


def _direction(call: Call, n: int, defaults: Sequence[str], w: Value, r: Value) -> Direction:
    hidden = r.shape[-1]
    both, peepholes = call.optional(3), call.optional(7)
    bias = None
    if both is not None:
        row, half = _row(call, both, n), both.shape[1] // 2
        bias = (cut(call, row, 0, 0, half), cut(call, row, 0, half, 2 * half))
    listed = [a.decode() for a in call.attribute("activations") or ()]
    chosen = listed[n * len(defaults) : (n + 1) * len(defaults)] or list(defaults)
    before = sum("alpha" in _activation(call, a)[1] for a in listed[: n * len(defaults)])
    return Direction(
        call,
        _row(call, w, n),
        _row(call, r, n),
        bias,
        None if peepholes is None else _row(call, peepholes, n),
        _activations(call, chosen, before),
        hidden,
    )


def _activation(call: Call, name: str) -> tuple[str, dict[str, float]]:
    if name.lower() not in ACTIVATIONS:
        call.reject(f"activation {name!r} is not supported; known: {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name.lower()]


def _activations(call: Call, names: Sequence[str], before: int) -> list[Activation]:
    """Functions; alphas and betas are listed for those activations that have them, in order."""
    limit = call.attribute("clip")
    found: list[Activation] = []
    for name in names:
        op, defaults = _activation(call, name)
        values = dict(defaults)
        for key in values:
            listed = call.attribute(f"activation_{key}") or ()
            if before < len(listed):
                values[key] = float(listed[before])
        before += bool(defaults)

        def apply(x: Value, op: str = op, values: dict[str, float] = values) -> Value:
            if limit is not None:
                x = call.emit("clip", x, low=-float(limit), high=float(limit))
            if op == "affine":
                scaled = call.emit("mul", x, call.literal(values["alpha"], x))
                return call.emit("add", scaled, call.literal(values["beta"], x))
            return call.emit(op, x, **values)

        found.append(apply)
    return found


def _initial(call: Call, position: int, n: int, x: Value, d: Direction, batch_first: bool) -> Value:
    given = call.optional(position)
    if given is None:
        return call.literal(np.zeros((x.shape[1], d.hidden)), x)
    return _row(call, call.builder.transpose(given, (1, 0, 2)) if batch_first else given, n)


def _unrolled(
    call: Call,
    d: Direction,
    cell: Cell,
    x: Value,
    states: list[Value],
    lengths: Value | None,
    backwards: bool,
) -> tuple[Value, list[Value]]:
    """h at every time [time, 1, batch, hidden], and the states after the last one."""
    emit, time = call.emit, x.shape[0]
    gates = d.times(x, d.w)
    if d.bias is not None:
        gates = emit("add", gates, d.bias[0])
        # The recurrent bias of the GRU's last gate is scaled by its reset gate.
        ours = d.bias[1]
        if cell is gru:
            kept = d.part(ours, 0, 2)
            ours = emit("concat", kept, call.literal(np.zeros(d.hidden), x), axis=0)
        gates = emit("add", gates, ours)
    if lengths is not None and lengths.constant is not None and (lengths.constant == time).all():
        lengths = None
    rows: list[Value] = [x] * time
    for t in range(time)[:: -1 if backwards else 1]:
        new = cell(d, _row(call, gates, t), states)
        shown = new[0]
        if lengths is not None:
            running = emit("gt", lengths, call.literal(t, lengths))
            column = call.builder.reshape(running, (x.shape[1], 1))
            new = [emit("where", column, a, b) for a, b in zip(new, states, strict=True)]
            shown = emit("where", column, shown, call.literal(0.0, shown))
        states = new
        rows[t] = call.builder.reshape(shown, (1, 1, *shown.shape))
    return rows[0] if time == 1 else emit("concat", *rows, axis=0), states


def _outputs(
    call: Call, results: Sequence[tuple[Value, list[Value]]], batch_first: bool
) -> list[Value]:
    """Y [time, directions, batch, hidden], then each state [directions, batch, hidden]."""
    whole = [y for y, _ in results]
    joined = [whole[0] if len(whole) == 1 else call.emit("concat", *whole, axis=1)]
    for states in zip(*(s for _, s in results), strict=True):
        parts = [call.builder.reshape(s, (1, *s.shape)) for s in states]
        joined.append(parts[0] if len(parts) == 1 else call.emit("concat", *parts, axis=0))
    if batch_first:
        orders = [(2, 0, 1, 3), *[(1, 0, 2)] * (len(joined) - 1)]
        pairs = zip(joined, orders, strict=True)
        joined = [call.builder.transpose(v, order) for v, order in pairs]
    return joined


RECURRENT: dict[str, Translator] = {
    "GRU": recurrent(gru, ("sigmoid", "tanh"), states=1),
    "LSTM": recurrent(lstm, ("sigmoid", "tanh", "tanh"), states=2),
    "RNN": recurrent(rnn, ("tanh",), states=1),
}

"""ONNX's recurrent operators: a loop over time whose body is one step.

    gates = x @ W' + b                       one product for all times
    loop (t):  h = tanh(gates[t] + h @ R')   a step; longer cells have more kernels

Both directions of a bidirectional node run side by side, in one step of one loop: all values of a
step have a leading dimension for them, and the second one's input is in reverse order. Very short
sequences are written out step by step. Sequences that are shorter than the others keep their last
state, and give zeros afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tilewright.expr.index.extents import mul
from tilewright.expr.nodes import Extent
from tilewright.expr.operators.movement import END
from tilewright.expr.operators.shapes import numbers
from tilewright.graph.builder import BodyBuilder
from tilewright.graph.ir import Loop, Value
from tilewright.graph.onnx.ops.call import Known, OperatorCall, Translator
from tilewright.graph.onnx.ops.recurrent_cells import Cell, CellWeights, chosen, gru, lstm, rnn
from tilewright.graph.passes.write_out import unrolled

LONGEST_WRITTEN_OUT = 2  # steps: their kernels read the gates where they are, without a loop


WAYS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


LSTM_ACTIVATIONS = ("sigmoid", "tanh", "tanh")


def recurrent(
    cell: Cell, defaults: Sequence[str], quantised: bool = False
) -> Callable[..., Sequence[Known]]:
    """A node whose `cell` has the activations `defaults`; for `quantised` see `CellWeights`."""

    def translate(
        call: OperatorCall,
        x: Value,
        w: Value,
        r: Value,
        bias: Value | None = None,
        lengths: Value | None = None,
        h: Value | None = None,
        c: Value | None = None,
        peepholes: Value | None = None,
        *,
        direction: str = "forward",
        layout: bool = False,
        linear_before_reset: bool = False,
        input_forget: bool = False,
        hidden_size: int = 0,
        output_sequence: bool = False,
        **activations: Any,
    ) -> Sequence[Known]:
        if x.rank != 3:
            call.reject(f"its input {x} is no sequence: it must have 3 dimensions")
        if direction not in WAYS:
            call.reject(f"direction {direction!r} is not known; known: {', '.join(WAYS)}")
        ways = WAYS[direction]
        listed = [chosen(call, n, defaults, **activations) for n in range(len(ways))]
        together = all(a == listed[0] for a in listed)
        sides = [range(len(ways))] if together else [range(n, n + 1) for n in range(len(ways))]
        starts = [h, c] if cell is lstm else [h]
        if layout:
            x = call.builder.transpose(x, (1, 0, 2))
            starts = [s and call.builder.transpose(s, (1, 0, 2)) for s in starts]
        flag = input_forget if cell is lstm else linear_before_reset
        results = []
        for side in sides:
            weights = _weights(call, side, w, r, bias, peepholes)
            activated = replace(weights, activations=listed[side.start])
            d = replace(activated, flag=flag, quantised=quantised)
            first = [_initial(call, s, side, x, d) for s in starts]
            backwards = tuple(ways[n] for n in side)
            results.append(_Sequence(call, d, cell, x, lengths, backwards).run(first))
        return _outputs(call, results, layout)

    return translate


def _side(call: OperatorCall, x: Value, side: range) -> Value:
    """The part of `x` [directions, ..] that is of these; without that dimension if it is one."""
    part = call.cut(x, 0, side.start, side.stop)
    return part if len(side) > 1 else call.builder.reshape(part, part.shape[1:])


def _weights(
    call: OperatorCall, side: range, w: Value, r: Value, both: Value | None, peepholes: Value | None
) -> CellWeights:
    w, r = (_side(call, v, side) for v in (w, r))
    bias = None
    if both is not None:
        half = both.shape[1] // 2
        parts = [call.cut(both, 1, low, low + half) for low in (0, half)]
        bias = (_wide(call, parts[0], side), _wide(call, parts[1], side))
    found = None if peepholes is None else _wide(call, peepholes, side)
    return CellWeights(call, w, r, bias, found, (), r.shape[-1])


def _wide(call: OperatorCall, x: Value, side: range) -> Value:
    """`x` [directions, n] such that it meets [directions, batch, n]."""
    part = _side(call, x, side)
    return part if part.rank == 1 else call.builder.reshape(part, (len(side), 1, part.shape[1]))


def _initial(
    call: OperatorCall, given: Value | None, side: range, x: Value, d: CellWeights
) -> Value:
    if given is not None:
        return _side(call, given, side)
    lead = (len(side),) if len(side) > 1 else ()
    shape = (*lead, x.extents[1], d.hidden)
    if x.varies:
        return call.emit("broadcast_to", call.literal(0.0, x), shape=shape)
    return call.literal(np.zeros(numbers(shape, x.name)), x)


@dataclass(frozen=True)
class _Sequence:
    """One direction, or two side by side, over the input `x` [time, batch, features].

    `backwards` says which of them begin with the last time. Two take their inputs in the order of
    their steps, since one of them is then reversed as a whole; one alone is read backwards.
    """

    call: OperatorCall
    d: CellWeights
    cell: Cell
    x: Value
    lengths: Value | None
    backwards: tuple[bool, ...]

    @property
    def both(self) -> bool:
        return len(self.backwards) > 1

    @property
    def time(self) -> Extent:
        """How many steps."""
        return self.x.extents[0]

    @property
    def reverse(self) -> bool:
        """Whether the first step takes the last row."""
        return self.backwards == (True,)

    def run(self, states: list[Value]) -> tuple[Value | None, list[Value]]:
        """h at every time [time, directions, batch, hidden] if it is used, and the last states
        [directions, batch, hidden].
        """
        gates, running = self.gates(), self.running()
        shown = self.call.used_outputs[:1] != (False,)
        y, states = self.looped(gates, running, states, shown)
        count, batch = len(self.backwards), self.x.extents[1]
        wide = [self.call.builder.reshape(s, (count, batch, self.d.hidden)) for s in states]
        return (None if y is None else self.in_time(y)), wide

    def gates(self) -> Value:
        """What depends on the input alone, with biases: a row for every step."""
        d, x, emit = self.d, self.x, self.call.emit
        time, batch, features = self.time, *x.extents[1:]
        if self.both:
            x = emit("concat", x, self.reversed(x, 0), axis=0)
            x = self.call.builder.reshape(x, (2, mul(time, batch), features))
        gates = d.times(x, d.w)
        if d.bias is not None:
            gates = emit("add", gates, self.bias(d.bias))
        if self.both:
            gates = self.call.builder.reshape(gates, (2, time, batch, gates.extents[-1]))
            gates = self.call.builder.transpose(gates, (1, 0, 2, 3))
        return gates

    def bias(self, parts: tuple[Value, Value]) -> Value:
        """Both biases; the recurrent one of the GRU's last gate is scaled by its reset gate."""
        first, second = parts
        if self.cell is gru:
            kept = self.d.part(second, 0, 2)
            shape = (*kept.shape[:-1], self.d.hidden)
            zeros = self.call.literal(np.zeros(shape), self.x)
            second = self.call.emit("concat", kept, zeros, axis=kept.rank - 1)
        return self.call.emit("add", first, second)

    def running(self) -> Value | None:
        """For every step, whether a sequence still runs [time, (directions,) batch, 1]."""
        lengths, time, batch = self.lengths, self.time, self.x.extents[1]
        if lengths is None:
            return None
        if lengths.constant is not None and (lengths.constant == time).all():
            return None
        steps = self.call.builder.reshape(self.call.steps(time, lengths), (time, 1, 1))
        if self.both:
            steps = self.call.builder.stacked([steps, self.reversed(steps, 0)], 1)
        row = self.call.builder.reshape(lengths, (batch, 1))
        return self.call.emit("greater", row, steps)

    def step(
        self, d: CellWeights, gates: Value, running: Value | None, states: Sequence[Value]
    ) -> tuple[Value, list[Value]]:
        """What is shown of a step, and the states after it."""
        new = self.cell(d, gates, states)
        if running is None:
            return new[0], new
        emit = d.call.emit
        shown = emit("where", running, new[0], d.call.literal(0.0, new[0]))
        pairs = zip(new, states, strict=True)
        return shown, [emit("where", running, a, b) for a, b in pairs]

    def looped(
        self, gates: Value, running: Value | None, states: list[Value], shown: bool
    ) -> tuple[Value | None, list[Value]]:
        """One loop, node or written out; the rows are left out when nobody reads them."""
        name = self.call.name or self.call.op_type
        body = BodyBuilder(f"{name}.step", self.call.builder.sizes)
        body.input("t", (), "int64")
        inner = [body.carry(s) for s in states]
        scanned = [v for v in (gates, running) if v is not None]
        rows = [body.row(v) for v in scanned]
        row, after = self.step(self.d.within(body), rows[0], rows[1] if running else None, inner)
        graph = body.finish([*after, row] if shown else after)
        backwards = (self.reverse,) * (len(scanned) + shown)
        loop = Loop(graph, self.time, len(states), len(scanned), backwards)
        given = [*states, *scanned, *body.captured]
        if isinstance(self.time, int) and self.time <= LONGEST_WRITTEN_OUT:
            results = unrolled(self.call.builder, loop, given)
        else:
            results = list(self.call.builder.control(loop, given, name))
        return (results[-1] if shown else None), results[: len(states)]

    def in_time(self, y: Value) -> Value:
        """`y`, in the order of steps, as [time, directions, batch, hidden]."""
        shape = (self.time, len(self.backwards), self.x.extents[1], self.d.hidden)
        y = self.call.builder.reshape(y, shape)
        if not self.both:
            return y
        ahead, back = (self.call.cut(y, 1, n, n + 1) for n in (0, 1))
        return self.call.emit("concat", ahead, self.reversed(back, 0), axis=1)

    def reversed(self, x: Value, axis: int) -> Value:
        """`x` in reverse order along `axis`."""
        if x.extents[axis] == 1:
            return x
        return self.call.builder.sliced(x, (-1,), (-END,), (-1,), (axis,), self.call.name)


def _outputs(
    call: OperatorCall, results: Sequence[tuple[Value | None, list[Value]]], batch_first: bool
) -> list[Value | None]:
    """Y [time, directions, batch, hidden], then each state [directions, batch, hidden]."""
    whole = [y for y, _ in results if y is not None]
    joined = [call.joined(whole, 1) if whole else None]
    joined += [call.joined(states, 0) for states in zip(*(s for _, s in results), strict=True)]
    if batch_first:
        orders = [(2, 0, 1, 3), *[(1, 0, 2)] * (len(joined) - 1)]
        pairs = zip(joined, orders, strict=True)
        joined = [None if v is None else call.builder.transpose(v, order) for v, order in pairs]
    return joined


def dynamic_quantize_lstm(
    call: OperatorCall,
    x: Value,
    w: Value,
    r: Value,
    bias: Value | None,
    lengths: Value | None,
    h: Value | None,
    c: Value | None,
    peepholes: Value | None,
    w_scale: Value,
    w_zero: Value,
    r_scale: Value,
    r_zero: Value,
    **options: Any,
) -> Sequence[Known]:
    """onnxruntime's LSTM of integer weights, which quantises what they are multiplied with."""
    weights = (
        _dequantised(call, w, w_scale, w_zero, "W"),
        _dequantised(call, r, r_scale, r_zero, "R"),
    )
    translate = recurrent(lstm, LSTM_ACTIVATIONS, quantised=True)
    return translate(call, x, *weights, bias, lengths, h, c, peepholes, **options)


def _dequantised(call: OperatorCall, q: Value, scale: Value, zero: Value, what: str) -> Value:
    """Weights [directions, in, 4 · hidden], whose scale and zero point are one a direction or one a
    column, as ONNX has them: [directions, 4 · hidden, in].
    """
    call.table(*q.shape)
    array = call.known(q, what).astype(np.float32)
    s = call.known(scale, f"{what}_scale").reshape(len(array), 1, -1)
    z = call.known(zero, f"{what}_zero_point").reshape(len(array), 1, -1)
    return call.literal(((array - z.astype(np.float32)) * s).transpose(0, 2, 1))


RECURRENT: dict[str, Translator] = {
    "GRU": recurrent(gru, ("sigmoid", "tanh")),
    "LSTM": recurrent(lstm, LSTM_ACTIVATIONS),
    "RNN": recurrent(rnn, ("tanh",)),
}

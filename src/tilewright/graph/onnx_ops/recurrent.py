"""ONNX's recurrent operators: a loop over time whose body is one step.

    gates = x @ W' + b                       one product for all times
    loop (t):  h = tanh(gates[t] + h @ R')   a step; longer cells have more kernels

Both directions of a bidirectional node run side by side, in one step of one loop: all values of a
step have a leading dimension for them, and the second one's input is in reverse order. Very short
sequences are written out step by step. Sequences that are shorter than the others keep their last
state, and give zeros afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.graph.builder import BodyBuilder
from tilewright.graph.ir import Loop, Value
from tilewright.graph.onnx_ops.call import Call, Known, Translator
from tilewright.graph.onnx_ops.recurrent_cells import (
    ACTIVATIONS,
    Cell,
    Chosen,
    Weights,
    cut,
    gru,
    lstm,
    rnn,
)

LONGEST_WRITTEN_OUT = 2  # steps: their kernels read the gates where they are, without a loop


def recurrent(cell: Cell, defaults: Sequence[str], states: int) -> Translator:
    """A node whose `cell` has the activations `defaults` and `states` states."""

    def translate(call: Call) -> Sequence[Known]:
        x = call.input(0)
        if x.rank != 3:
            call.reject(f"its input {x} is no sequence: it must have 3 dimensions")
        batch_first = bool(call.attribute("layout", 0))
        if batch_first:
            x = call.builder.transpose(x, (1, 0, 2))
        names = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
        direction = call.attribute("direction", b"forward").decode()
        if direction not in names:
            call.reject(f"direction {direction!r} is not known; known: {', '.join(names)}")
        ways = names[direction]
        listed = [_activations(call, n, defaults) for n in range(len(ways))]
        together = all(a == listed[0] for a in listed)
        sides = [range(len(ways))] if together else [range(n, n + 1) for n in range(len(ways))]
        results = []
        for side in sides:
            d = _weights(call, side, listed[side.start])
            start = [_initial(call, 5 + s, side, x, d, batch_first) for s in range(states)]
            backwards = tuple(ways[n] for n in side)
            results.append(_Sequence(call, d, cell, x, backwards).run(start))
        return _outputs(call, results, batch_first)

    return translate


def _side(call: Call, x: Value, side: range) -> Value:
    """The part of `x` [directions, ..] that is of these; without that dimension if it is one."""
    part = cut(call, x, 0, side.start, side.stop)
    return part if len(side) > 1 else call.builder.reshape(part, part.shape[1:])


def _weights(call: Call, side: range, activations: Sequence[Chosen]) -> Weights:
    both, peepholes = call.optional(3), call.optional(7)
    w, r = (_side(call, call.input(i), side) for i in (1, 2))
    bias = None
    if both is not None:
        half = both.shape[1] // 2
        parts = [cut(call, both, 1, low, low + half) for low in (0, half)]
        bias = (_wide(call, parts[0], side), _wide(call, parts[1], side))
    found = None if peepholes is None else _wide(call, peepholes, side)
    return Weights(call, w, r, bias, found, activations, r.shape[-1])


def _wide(call: Call, x: Value, side: range) -> Value:
    """`x` [directions, n] such that it meets [directions, batch, n]."""
    part = _side(call, x, side)
    return part if part.rank == 1 else call.builder.reshape(part, (len(side), 1, part.shape[1]))


def _activation(call: Call, name: str) -> tuple[str, dict[str, float]]:
    if name.lower() not in ACTIVATIONS:
        call.reject(f"activation {name!r} is not supported; known: {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name.lower()]


def _activations(call: Call, n: int, defaults: Sequence[str]) -> list[Chosen]:
    """Those of direction `n`; alphas and betas are listed for those that have them, in order."""
    listed = [a.decode() for a in call.attribute("activations") or ()]
    chosen = listed[n * len(defaults) : (n + 1) * len(defaults)] or list(defaults)
    before = sum("alpha" in _activation(call, a)[1] for a in listed[: n * len(defaults)])
    limit = call.attribute("clip")
    found: list[Chosen] = []
    for name in chosen:
        op, usual = _activation(call, name)
        values = dict(usual)
        for key in values:
            given = call.attribute(f"activation_{key}") or ()
            if before < len(given):
                values[key] = float(given[before])
        before += bool(usual)
        found.append(Chosen(op, tuple(values.items()), None if limit is None else float(limit)))
    return found


def _initial(
    call: Call, position: int, side: range, x: Value, d: Weights, batch_first: bool
) -> Value:
    given = call.optional(position)
    if given is None:
        lead = (len(side),) if len(side) > 1 else ()
        return call.literal(np.zeros((*lead, x.shape[1], d.hidden)), x)
    return _side(call, call.builder.transpose(given, (1, 0, 2)) if batch_first else given, side)


@dataclass(frozen=True)
class _Sequence:
    """One direction, or two side by side, over the input `x` [time, batch, features].

    `backwards` says which of them begin with the last time. Two take their inputs in the order of
    their steps, since one of them is then reversed as a whole; one alone is read backwards.
    """

    call: Call
    d: Weights
    cell: Cell
    x: Value
    backwards: tuple[bool, ...]

    @property
    def both(self) -> bool:
        return len(self.backwards) > 1

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
        y: Value | None
        if self.x.shape[0] <= LONGEST_WRITTEN_OUT:
            y, states = self.written_out(gates, running, states)
        else:
            y, states = self.looped(gates, running, states, shown)
        count, batch = len(self.backwards), self.x.shape[1]
        wide = [self.call.builder.reshape(s, (count, batch, self.d.hidden)) for s in states]
        return (self.in_time(y) if shown and y is not None else None), wide

    def gates(self) -> Value:
        """What depends on the input alone, with biases: a row for every step."""
        d, x, emit = self.d, self.x, self.call.emit
        time, batch, features = x.shape
        if self.both:
            x = emit("concat", x, self.reversed(x, 0), axis=0)
            x = self.call.builder.reshape(x, (2, time * batch, features))
        gates = d.times(x, d.w)
        if d.bias is not None:
            gates = emit("add", gates, self.bias(d.bias))
        if self.both:
            gates = self.call.builder.reshape(gates, (2, time, batch, gates.shape[-1]))
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
        lengths, (time, batch, _) = self.call.optional(4), self.x.shape
        if lengths is None:
            return None
        if lengths.constant is not None and (lengths.constant == time).all():
            return None
        steps = np.arange(time).reshape(time, 1, 1)
        if self.both:
            steps = np.stack([steps, steps[::-1]], 1)
        row = self.call.builder.reshape(lengths, (batch, 1))
        return self.call.emit("greater", row, self.call.literal(steps, lengths))

    def step(
        self, d: Weights, gates: Value, running: Value | None, states: Sequence[Value]
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
        """One loop node; the rows are left out when nobody reads them."""
        body = BodyBuilder(f"{self.call.name or self.call.op_type}.step")
        body.input("t", (), "int64")
        inner = [body.carry(s) for s in states]
        rows = [body.row(v) for v in (gates, running) if v is not None]
        d = self.d.within(body)
        row, after = self.step(d, rows[0], rows[1] if running is not None else None, inner)
        graph = body.finish([*after, row] if shown else after)
        scanned = [v for v in (gates, running) if v is not None]
        results = self.call.builder.control(
            Loop(
                graph,
                self.x.shape[0],
                len(states),
                len(scanned),
                (self.reverse,) * (len(scanned) + shown),
            ),
            [*states, *scanned, *body.captured],
            self.call.name or self.call.op_type,
        )
        return (results[-1] if shown else None), list(results[: len(states)])

    def written_out(
        self, gates: Value, running: Value | None, states: list[Value]
    ) -> tuple[Value, list[Value]]:
        """All steps one after the other."""
        rows: dict[int, Value] = {}
        for t in range(self.x.shape[0])[:: -1 if self.reverse else 1]:
            given, goes = (v and _row(self.call, v, t) for v in (gates, running))
            assert given is not None, "there are always gates"
            row, states = self.step(self.d, given, goes, states)
            rows[t] = self.call.builder.reshape(row, (1, *row.shape))
        ordered = [rows[t] for t in sorted(rows)]
        y = ordered[0] if len(ordered) == 1 else self.call.emit("concat", *ordered, axis=0)
        return y, states

    def in_time(self, y: Value) -> Value:
        """`y`, in the order of steps, as [time, directions, batch, hidden]."""
        time, batch, _ = self.x.shape
        y = self.call.builder.reshape(y, (time, len(self.backwards), batch, self.d.hidden))
        if not self.both:
            return y
        ahead, back = (cut(self.call, y, 1, n, n + 1) for n in (0, 1))
        return self.call.emit("concat", ahead, self.reversed(back, 0), axis=1)

    def reversed(self, x: Value, axis: int) -> Value:
        """`x` in reverse order along `axis`."""
        n = x.shape[axis]
        if n == 1:
            return x
        ends = {"starts": (n - 1,), "stops": (-n - 1,)}
        return self.call.emit("strided_slice", x, **ends, steps=(-1,), axes=(axis,))


def _row(call: Call, x: Value, n: int) -> Value:
    """`x[n]`."""
    return call.builder.reshape(cut(call, x, 0, n, n + 1), x.shape[1:])


def _outputs(
    call: Call, results: Sequence[tuple[Value | None, list[Value]]], batch_first: bool
) -> list[Value | None]:
    """Y [time, directions, batch, hidden], then each state [directions, batch, hidden]."""
    whole = [y for y, _ in results if y is not None]
    joined: list[Value | None] = [None]
    if whole:
        joined = [whole[0] if len(whole) == 1 else call.emit("concat", *whole, axis=1)]
    for states in zip(*(s for _, s in results), strict=True):
        joined.append(states[0] if len(states) == 1 else call.emit("concat", *states, axis=0))
    if batch_first:
        orders = [(2, 0, 1, 3), *[(1, 0, 2)] * (len(joined) - 1)]
        pairs = zip(joined, orders, strict=True)
        joined = [None if v is None else call.builder.transpose(v, order) for v, order in pairs]
    return joined


RECURRENT: dict[str, Translator] = {
    "GRU": recurrent(gru, ("sigmoid", "tanh"), states=1),
    "LSTM": recurrent(lstm, ("sigmoid", "tanh", "tanh"), states=2),
    "RNN": recurrent(rnn, ("tanh",), states=1),
}

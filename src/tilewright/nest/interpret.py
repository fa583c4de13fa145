"""Interpreter: the reference semantics of a concrete program, in NumPy.

    interpret(program, {"A": a}, {"B": b}) -> {"C": c}

Arithmetic is done in the compute dtypes and stored in the storage dtypes. Every buffer starts
uninitialised: reading an element that nothing wrote, an index outside of a buffer or window, and
an output element that is never written raise VerifyError, which names the statement.

Loops whose iterations are independent (`lockstep`) run side by side as `Lanes`; the others run
one iteration at a time. With `rng`, parallel loops run one iteration at a time in a random order:
a correct program gives the same result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, NoReturn, TypeAlias

import numpy as np

from tilewright.errors import InputError, VerifyError
from tilewright.expr.evaluate import BINARY, CALLS
from tilewright.expr.nodes import (
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Read,
    Reduce,
    Select,
    Tensor,
    Var,
)
from tilewright.expr.tensors import Table
from tilewright.nest.lanes import Array, Lanes
from tilewright.nest.lockstep import lockstep_loops
from tilewright.nest.nodes import Alloc, For, Hoist, If, Kind, Node, Program, Seq, Store, bodies
from tilewright.nest.print import nest_text

LANES_AT_ONCE = 1 << 18
UPDATES: dict[str, np.ufunc] = {
    "sum": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


@dataclass(frozen=True, slots=True)
class Buffer:
    """Storage of one tensor, or of one window a lane: flat elements, and which were written.

    `slot` and `offsets` are the names under which lanes hold their window's number and start.
    """

    tensor: Tensor
    shape: tuple[int, ...]
    data: Array
    written: Array
    slot: str | None = None
    offsets: tuple[str, ...] = ()


Buffers: TypeAlias = Mapping[str, Buffer]


def interpret(
    program: Program,
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array] | None = None,
    *,
    rng: np.random.Generator | None = None,
) -> dict[str, Array]:
    """Run `program` and return its outputs by name, in their storage dtypes.

    Raises InputError for a missing array or one of another shape or dtype, VerifyError where the
    program reads or writes what it must not.
    """
    buffers: dict[str, Buffer] = {}
    for t in program.inputs:
        buffers[t.name] = _given(t, inputs, "input")
    for t in program.constants:
        buffers[t.name] = _given(t, constants or {}, "constant")
    for t in program.tables:
        assert isinstance(t.source, Table)
        buffers[t.name] = _given(t, {t.name: t.source.values}, "table")
    for t in program.outputs:
        buffers[t.name] = _fresh(t, 1)
    with np.errstate(all="ignore"):
        _Interpreter(program, rng).run(program.body, buffers, Lanes.single())
    return {t.name: _finished(program, buffers[t.name]) for t in program.outputs}


def _given(tensor: Tensor, arrays: Mapping[str, Array], role: str) -> Buffer:
    if tensor.name not in arrays:
        raise InputError(f"no array for {role} {tensor.name}; given: {sorted(arrays)}")
    array = np.asarray(arrays[tensor.name])
    if array.shape != tensor.shape or array.dtype != tensor.dtype.numpy:
        raise InputError(
            f"{role} {tensor.name} must be {tensor.dtype} {tensor.shape}, got {array.dtype} "
            f"{array.shape}"
        )
    return Buffer(tensor, _shape(tensor), array.reshape(-1), np.ones(array.size, np.bool_))


def _fresh(tensor: Tensor, windows: int, slot: str = "", offsets: tuple[str, ...] = ()) -> Buffer:
    size = prod(_shape(tensor)) * windows
    data = np.zeros(size, tensor.dtype.numpy)
    return Buffer(tensor, _shape(tensor), data, np.zeros(size, np.bool_), slot or None, offsets)


def _shape(tensor: Tensor) -> tuple[int, ...]:
    shape = tuple(e for e in tensor.shape if isinstance(e, int))
    if len(shape) != tensor.rank:
        raise VerifyError(f"{tensor.name} has the symbolic shape {tensor.shape}; it must be ints")
    return shape


def _finished(program: Program, buffer: Buffer) -> Array:
    if not buffer.written.all():
        missing = int(np.flatnonzero(~buffer.written)[0])
        where = tuple(int(i) for i in np.unravel_index(missing, buffer.shape))
        raise VerifyError(
            f"program {program.name} never writes {buffer.tensor.name}{list(where)} and "
            f"{int((~buffer.written).sum()) - 1} elements more"
        )
    return buffer.data.reshape(buffer.shape)


class _Interpreter:
    def __init__(self, program: Program, rng: np.random.Generator | None) -> None:
        self.program = program
        self.rng = rng
        self.lockstep = lockstep_loops(program.body, parallel=rng is None)
        self.widths: dict[int, int] = {}
        self._measure(program.body)

    def _measure(self, node: Node) -> int:
        """Most iterations of the innermost statement under `node`, kept for every loop."""
        inner = max((self._measure(b) for b in bodies(node)), default=1)
        if isinstance(node, For):
            if not isinstance(node.extent, int):
                raise VerifyError(f"program {self.program.name}: {nest_text(node)} is symbolic")
            inner *= node.extent
            self.widths[id(node)] = inner
        return inner

    def run(self, node: Node, buffers: Buffers, lanes: Lanes) -> None:
        match node:
            case Seq(body):
                for n in body:
                    self.run(n, buffers, lanes)
            case For():
                self.loop(node, buffers, lanes)
            case If(cond, body):
                where = _Place(self.program, node, buffers)
                test = np.broadcast_to(where.value(cond, lanes), (lanes.count,))
                if test.any():
                    self.run(body, buffers, lanes if test.all() else lanes.where(test))
            case Alloc(tensor, offset, body):
                where = _Place(self.program, node, buffers)
                slot = f"{tensor.name}:window"
                starts = {f"{slot}.{d}": where.value(e, lanes) for d, e in enumerate(offset)}
                inside = lanes.setting({slot: np.arange(lanes.count), **starts})
                buffer = _fresh(tensor, lanes.count, slot, tuple(starts))
                self.run(body, {**buffers, tensor.name: buffer}, inside)
            case Store():
                _Place(self.program, node, buffers).store(node, lanes)
            case Hoist():
                raise VerifyError(f"program {self.program.name} is symbolic: it has a hoist")

    def loop(self, node: For, buffers: Buffers, lanes: Lanes) -> None:
        assert isinstance(node.extent, int)
        if self.rng is not None and node.kind is Kind.PARALLEL:
            self.shuffled(node, buffers, lanes, self.rng)
        elif id(node) in self.lockstep and lanes.count * self.widths[id(node)] <= LANES_AT_ONCE:
            self.run(node.body, buffers, lanes.spread(node.var.name, node.extent))
        else:
            for i in range(node.extent):
                self.run(node.body, buffers, lanes.setting({node.var.name: i}))

    def shuffled(self, node: For, buffers: Buffers, lanes: Lanes, rng: np.random.Generator) -> None:
        """A perfect nest of parallel loops, its iterations in a random order."""
        region = [node]
        while isinstance(region[-1].body, For) and region[-1].body.kind is Kind.PARALLEL:
            region.append(region[-1].body)
        names = [n.var.name for n in region]
        extents = tuple(n.extent for n in region if isinstance(n.extent, int))
        for number in rng.permutation(prod(extents)):
            index = np.unravel_index(number, extents)
            self.run(region[-1].body, buffers, lanes.setting(dict(zip(names, index, strict=True))))


@dataclass(frozen=True, slots=True)
class _Place:
    """A statement with the buffers it sees: evaluates expressions for all lanes at once."""

    program: Program
    node: Node
    buffers: Buffers

    def fail(self, problem: str) -> NoReturn:
        text = nest_text(self.node).splitlines()[0].strip()
        raise VerifyError(f"program {self.program.name}: {text}: {problem}")

    def store(self, node: Store, lanes: Lanes) -> None:
        buffer, at = self.element(node.tensor, node.indices, lanes)
        value = np.broadcast_to(self.value(node.value, lanes), (lanes.count,))
        if node.reduce is None:
            buffer.data[at] = value.astype(buffer.data.dtype)
            buffer.written[at] = True
            return
        self.check_written(buffer, at)
        update = UPDATES[node.reduce]
        if buffer.data.dtype == value.dtype:
            update.at(buffer.data, at, value)
            return
        # Narrow storage rounds after every single update, as the loop would.
        for i, v in zip(np.broadcast_to(at, (lanes.count,)), value, strict=True):
            old = buffer.data[i].astype(value.dtype)
            buffer.data[i] = update(old, v).astype(buffer.data.dtype)

    def value(self, e: Expr, lanes: Lanes) -> Array:
        """Values of `e`: one a lane, or one for all of them."""
        match e:
            case Const(value, kind):
                return np.asarray(value, kind.compute.numpy)
            case Var(name):
                return lanes.get(name)
            case Read(tensor, indices):
                return self.read(tensor, indices, lanes)
            case Select(cond, a, b):
                return self.choose(cond, a, b, lanes)
            case Binary(op, a, b):
                found = BINARY[op](self.value(a, lanes), self.value(b, lanes))
            case Call(fn, args):
                found = CALLS[fn](*(self.value(x, lanes) for x in args))
            case Cast(to, x):
                found = self.value(x, lanes)
                if to.compute.numpy == np.bool_:
                    return np.not_equal(found, 0)
            case Reduce():
                self.fail("a nest has loops and updates, not reductions in a value")
        return np.asarray(found).astype(e.dtype.compute.numpy, copy=False)

    def choose(self, cond: Expr, a: Expr, b: Expr, lanes: Lanes) -> Array:
        """A select; each branch is evaluated only in the lanes that take it."""
        test = np.broadcast_to(self.value(cond, lanes), (lanes.count,))
        if test.all():
            return self.value(a, lanes)
        if not test.any():
            return self.value(b, lanes)
        found = np.empty(lanes.count, a.dtype.compute.numpy)
        found[test] = self.value(a, lanes.where(test))
        found[~test] = self.value(b, lanes.where(~test))
        return found

    def read(self, tensor: Tensor, indices: tuple[Expr, ...], lanes: Lanes) -> Array:
        buffer, at = self.element(tensor, indices, lanes)
        self.check_written(buffer, at)
        found: Array = buffer.data[at].astype(tensor.dtype.compute.numpy, copy=False)
        return found

    def check_written(self, buffer: Buffer, at: Array) -> None:
        known = buffer.written[at]
        if not known.all():
            first = int(np.broadcast_to(at, known.shape)[~known].flat[0]) % prod(buffer.shape)
            where = tuple(int(i) for i in np.unravel_index(first, buffer.shape))
            window = " of its window" if buffer.slot else ""
            self.fail(f"{buffer.tensor.name} at {list(where)}{window} is read before it is written")

    def element(
        self, tensor: Tensor, indices: tuple[Expr, ...], lanes: Lanes
    ) -> tuple[Buffer, Any]:
        """The buffer of `tensor` and the flat positions of the element in each lane."""
        buffer = self.buffers.get(tensor.name)
        if buffer is None:
            self.fail(f"{tensor.name} is not declared here")
        if len(indices) != len(buffer.shape):
            self.fail(f"{tensor.name} has {len(buffer.shape)} dimensions, {len(indices)} indices")
        flat: Array = lanes.get(buffer.slot) if buffer.slot else np.zeros(lanes.count, np.int64)
        for d, (index, extent) in enumerate(zip(indices, buffer.shape, strict=True)):
            at = self.value(index, lanes)
            local = at - lanes.get(buffer.offsets[d]) if buffer.offsets else at
            if local.min() < 0 or local.max() >= extent:
                wrong = int(local.min()) if local.min() < 0 else int(local.max())
                self.fail(
                    f"index {wrong} of dimension {d} of {tensor.name} is outside 0..{extent - 1}"
                )
            flat = flat * extent + local
        return buffer, flat

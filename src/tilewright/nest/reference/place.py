"""A statement in its place: what its expressions are, and what it stores, for all lanes at once.

    where = StatementPlace(program, store, buffers)
    where.value(store.value, lanes)        one value a lane, or one for all of them
    where.store(store, lanes)

Every access is checked: that it is inside of its buffer, that somebody wrote what it reads, and
that no other thread's access could overtake it. VerifyError names the statement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, NoReturn, TypeAlias

import numpy as np

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
from tilewright.ground.errors import VerifyError
from tilewright.nest.nodes import Kind, Node, Program, Store
from tilewright.nest.print import nest_text
from tilewright.nest.reference.lanes import Array, Lanes
from tilewright.nest.reference.memory import CheckedBuffer, threads

UPDATES: dict[str, np.ufunc] = {
    "sum": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}
Buffers: TypeAlias = Mapping[str, CheckedBuffer]
Known: TypeAlias = dict[tuple[int, int], tuple[Lanes, Array]]
"""Values of nodes in some lanes, by their ids."""


@dataclass(frozen=True, slots=True)
class StatementPlace:
    """A statement with the buffers it sees: evaluates expressions for all lanes at once."""

    program: Program
    node: Node
    buffers: Buffers

    def fail(self, problem: str) -> NoReturn:
        text = nest_text(self.node).splitlines()[0].strip()
        raise VerifyError(f"program {self.program.name}: {text}: {problem}")

    def store(self, node: Store, lanes: Lanes, combined: tuple[Kind, ...] = ()) -> None:
        """`combined` are the thread dimensions whose threads reduce to one result."""
        known: Known = {}
        buffer, at = self.element(node.tensor, node.indices, lanes, known)
        value = np.broadcast_to(self.value(node.value, lanes, known), (lanes.count,))
        self.writing(buffer, at, threads(lanes, combined))
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

    def writing(self, buffer: CheckedBuffer, at: Array, thread: Array) -> None:
        """Note that each `thread` writes an element. It must be nobody else's, nor on its way."""
        self.arrived(buffer, at)
        if buffer.lent is not None and buffer.lent[at].any():
            self.fail(f"{buffer.tensor.name} is written while an instruction reads it")
        if buffer.unfenced is not None:
            buffer.unfenced[at] = True
        if buffer.since is not None and not buffer.since.writing(at, thread):
            self.fail(f"threads race for an element of {buffer.tensor.name}: a barrier is missing")
        self.overwrite(buffer)

    def reading(self, buffer: CheckedBuffer, at: Array, thread: Array) -> None:
        """Note that each `thread` reads an element. Nobody else wrote it since the last barrier."""
        self.arrived(buffer, at)
        self.check_written(buffer, at)
        if buffer.since is not None and not buffer.since.reading(at, thread):
            name = buffer.tensor.name
            self.fail(f"{name} is read where another thread wrote: a barrier is missing")

    def arrived(self, buffer: CheckedBuffer, at: Array) -> None:
        if buffer.copying is not None and buffer.copying[at].any():
            self.fail(f"{buffer.tensor.name} is used before a wait for what makes it")

    def overwrite(self, buffer: CheckedBuffer) -> None:
        """A store ends the lives of what was in the same bytes."""
        for name, other in buffer.sharing.items():
            if name == buffer.tensor.name:
                continue
            if other.since is not None and other.since.touched:
                self.fail(f"the bytes of {name} are in use by other threads: a barrier is missing")
            other.written.fill(False)

    def value(self, e: Expr, lanes: Lanes, known: Known | None = None) -> Array:
        """Values of `e`: one a lane, or one for all of them. `known` are those of parts that were
        looked at before, while memory stayed the same.
        """
        known = {} if known is None else known
        key = (id(e), id(lanes))
        if key not in known:
            known[key] = lanes, self._value(e, lanes, known)  # which keeps lanes, and their id
        return known[key][1]

    def _value(self, e: Expr, lanes: Lanes, known: Known) -> Array:
        match e:
            case Const(value, kind):
                return np.asarray(value, kind.compute.numpy)
            case Var(name):
                return lanes.get(name)
            case Read(tensor, indices):
                return self.read(tensor, indices, lanes, known)
            case Select(cond, a, b):
                return self.choose(cond, a, b, lanes, known)
            case Binary(op, a, b):
                found = BINARY[op](self.value(a, lanes, known), self.value(b, lanes, known))
            case Call(fn, args):
                found = CALLS[fn](*(self.value(x, lanes, known) for x in args))
            case Cast(to, x):
                found = self.value(x, lanes, known)
                if to.compute.numpy == np.bool_:
                    return np.not_equal(found, 0)
            case Reduce():
                self.fail("a nest has loops and updates, not reductions in a value")
        return np.asarray(found).astype(e.dtype.compute.numpy, copy=False)

    def choose(self, cond: Expr, a: Expr, b: Expr, lanes: Lanes, known: Known) -> Array:
        """A select; each branch is evaluated only in the lanes that take it."""
        test = np.broadcast_to(self.value(cond, lanes, known), (lanes.count,))
        if test.all():
            return self.value(a, lanes, known)
        if not test.any():
            return self.value(b, lanes, known)
        found = np.empty(lanes.count, a.dtype.compute.numpy)
        found[test] = self.value(a, lanes.where(test), known)
        found[~test] = self.value(b, lanes.where(~test), known)
        return found

    def read(self, tensor: Tensor, indices: tuple[Expr, ...], lanes: Lanes, known: Known) -> Array:
        buffer, at = self.element(tensor, indices, lanes, known)
        self.reading(buffer, at, threads(lanes))
        found: Array = buffer.data[at].astype(tensor.dtype.compute.numpy, copy=False)
        return found

    def check_written(self, buffer: CheckedBuffer, at: Array) -> None:
        known = buffer.written[at]
        if not known.all():
            first = int(np.broadcast_to(at, known.shape)[~known].flat[0]) % prod(buffer.shape)
            where = tuple(int(i) for i in np.unravel_index(first, buffer.shape))
            window = " of its window" if buffer.slot else ""
            self.fail(f"{buffer.tensor.name} at {list(where)}{window} is read before it is written")

    def element(
        self,
        tensor: Tensor,
        indices: tuple[Expr, ...],
        lanes: Lanes,
        known: Known | None = None,
    ) -> tuple[CheckedBuffer, Any]:
        """The buffer of `tensor` and the flat positions of the element in each lane."""
        buffer = self.buffers.get(tensor.name)
        if buffer is None:
            self.fail(f"{tensor.name} is not declared here")
        if len(indices) != len(buffer.shape):
            self.fail(f"{tensor.name} has {len(buffer.shape)} dimensions, {len(indices)} indices")
        flat: Array = lanes.get(buffer.slot) if buffer.slot else np.zeros(lanes.count, np.int64)
        for d, (index, extent) in enumerate(zip(indices, buffer.shape, strict=True)):
            at = self.value(index, lanes, known)
            local = at - lanes.get(buffer.offsets[d]) if buffer.offsets else at
            if local.min() < 0 or local.max() >= extent:
                wrong = int(local.min()) if local.min() < 0 else int(local.max())
                self.fail(
                    f"index {wrong} of dimension {d} of {tensor.name} is outside 0..{extent - 1}"
                )
            flat = flat * extent + local
        return buffer, flat

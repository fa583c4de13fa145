"""What an interpreted program has written where, and which threads were there.

    buffer = CheckedBuffer.fresh(tensor, 4)     nothing is written yet
    buffer.written[at], buffer.data[at]         by flat numbers of elements

Shared storage remembers the threads since the last barrier, so that an access that another
thread's could overtake is found whatever order the lanes run in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from tilewright.expr.nodes import Tensor
from tilewright.ground.errors import InputError, VerifyError
from tilewright.nest.nodes import THREADS, Kind
from tilewright.nest.reference.lanes import Array, Lanes

MOST_THREADS = 1 << 16  # of one dimension of a block
NOBODY, SEVERAL = -1, -2
# Names under which lanes hold their block and their thread in each dimension.
BLOCK, VIRTUAL = ":block", ":virtual"
THREAD = {kind: f":{kind.value}" for kind in THREADS}


@dataclass(frozen=True, slots=True)
class Since:
    """The threads that wrote and read each element of shared storage since the last barrier."""

    writer: Array
    reader: Array

    @classmethod
    def barrier(cls, size: int) -> Since:
        return cls(np.full(size, NOBODY), np.full(size, NOBODY))

    @property
    def touched(self) -> bool:
        """Whether any thread was here."""
        return bool((self.writer != NOBODY).any() or (self.reader != NOBODY).any())

    def forget(self) -> None:
        """A barrier."""
        self.writer.fill(NOBODY)
        self.reader.fill(NOBODY)

    def reading(self, at: Array, thread: Array) -> bool:
        """Note reads; False where another thread wrote the element."""
        if ((self.writer[at] != NOBODY) & (self.writer[at] != thread)).any():
            return False
        old = self.reader[at]
        self.reader[at] = np.where((old == NOBODY) | (old == thread), thread, SEVERAL)
        self.reader[at[self.reader[at] != thread]] = SEVERAL
        return True

    def writing(self, at: Array, thread: Array) -> bool:
        """Note writes; False where another thread read or wrote the element."""
        for known in (self.writer[at], self.reader[at]):
            if ((known != NOBODY) & (known != thread)).any():
                return False
        self.writer[at] = thread
        return bool((self.writer[at] == thread).all())


@dataclass(frozen=True, slots=True)
class CheckedBuffer:
    """Storage of one tensor, or of one window a lane: flat elements, and which were written.

    `slot` and `offsets` are the names under which lanes hold their window's number and start.
    `since` is what threads did to shared storage since the last barrier, `copying` the elements of
    it that copies are on their way to, `lent` those that an instruction still reads, `unfenced`
    those written since the last fence between threads and such instructions; `sharing` all buffers
    that lie in the same bytes.
    """

    tensor: Tensor
    shape: tuple[int, ...]
    data: Array
    written: Array
    slot: str | None = None
    offsets: tuple[str, ...] = ()
    since: Since | None = None
    copying: Array | None = None
    lent: Array | None = None
    unfenced: Array | None = None
    sharing: dict[str, CheckedBuffer] = field(default_factory=dict)

    @classmethod
    def given(cls, tensor: Tensor, arrays: Mapping[str, Array], role: str) -> CheckedBuffer:
        """A caller's array. Raises InputError where it is missing, or another than `tensor`."""
        if tensor.name not in arrays:
            raise InputError(f"no array for {role} {tensor.name}; given: {sorted(arrays)}")
        array = np.asarray(arrays[tensor.name])
        if array.shape != tensor.shape or array.dtype != tensor.dtype.numpy:
            raise InputError(
                f"{role} {tensor.name} must be {tensor.dtype} {tensor.shape}, got {array.dtype} "
                f"{array.shape}"
            )
        return cls(tensor, _shape(tensor), array.reshape(-1), np.ones(array.size, np.bool_))

    @classmethod
    def fresh(
        cls, tensor: Tensor, windows: int = 1, slot: str | None = None, offsets: Sequence[str] = ()
    ) -> CheckedBuffer:
        """Storage that nothing wrote."""
        shape = _shape(tensor)
        size = prod(shape) * windows
        data = np.zeros(size, tensor.dtype.numpy)
        return cls(tensor, shape, data, np.zeros(size, np.bool_), slot, tuple(offsets))

    def finished(self, program: str) -> Array:
        """The array. Raises VerifyError where an element of it was never written."""
        if not self.written.all():
            missing = int(np.flatnonzero(~self.written)[0])
            where = tuple(int(i) for i in np.unravel_index(missing, self.shape))
            raise VerifyError(
                f"program {program} never writes {self.tensor.name}{list(where)} and "
                f"{int((~self.written).sum()) - 1} elements more"
            )
        return self.data.reshape(self.shape)


def _shape(tensor: Tensor) -> tuple[int, ...]:
    shape = tuple(e for e in tensor.shape if isinstance(e, int))
    if len(shape) != tensor.rank:
        raise VerifyError(f"{tensor.name} has the symbolic shape {tensor.shape}; it must be ints")
    return shape


def threads(lanes: Lanes, combined: tuple[Kind, ...] = ()) -> Array:
    """The number of the thread that each lane is; a combined dimension counts as thread 0."""
    number = np.zeros(lanes.count, np.int64)
    for kind, name in THREAD.items():
        number = number * MOST_THREADS
        if kind not in combined and lanes.has(name):
            number = number + lanes.get(name)
    return number * MOST_THREADS + (lanes.get(VIRTUAL) if lanes.has(VIRTUAL) else 0)


def along_x(lanes: Lanes) -> Array:
    """The number of the thread that each lane is, within its row of the block."""
    x = THREAD[Kind.THREAD_X]
    return lanes.get(x) if lanes.has(x) else np.zeros(lanes.count, np.int64)

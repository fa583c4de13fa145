"""What the shapes of a tiled stage cost, by the tables of its statement (ETO, section 5.1).

    requested_lines(a, inside, 32, shapes)     cache lines that one block asks for,      [n]
    shared_requests(a, warp)                   requests of one block to shared memory,   [n]
    statements, registers = unrolled(a, ...)   what an unroll limit comes to,            [n], [n]

`a` is the `Analysis` of the stage's update. All of them look at its reads only, and take every
datum as asked for once by whom it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tilewright.cost.analysis import Analysis, Number
from tilewright.cost.candidates import Bools, Floats, Ints
from tilewright.nest.nodes import Kind, Scope

BANKS, WORD_BYTES = 32, 4  # of shared memory
WRITTEN_OUT = (Kind.UNROLLED, Kind.VECTOR)
CHUNK = 1 << 21  # threads looked at together


def operands(a: Analysis) -> list[int]:
    """The accesses that read: where some are fetched into shared memory, only those."""
    read = [b for b in range(a.B) if a.accesses[b].kind == "read"]
    shared = [b for b in read if a.accesses[b].scope is Scope.SHARED]
    return shared or read


def spans(a: Analysis, b: int, iterations: Floats, shape: Sequence[Number]) -> list[Floats]:
    """How many indices of each dimension access b reaches while loop i makes `iterations[i]`,
    `[n]` each; there are as many as `shape` says.
    """
    found = []
    for d, extent in zip(a.accesses[b].dimensions, shape, strict=True):
        span = np.ones(a.n)
        for i, moves in a.moves(d).items():
            span += moves * (iterations[i] - 1.0)
        found.append(np.minimum(span, extent))
    return found


def reached(a: Analysis, b: int, iterations: Floats) -> Floats:
    """How many elements that are of the tensor, which may be a copy filled by one load; `[n]`."""
    found = np.ones(a.n)
    for span in spans(a, b, iterations, a.shape(b)):
        found = found * span
    return found


def running(a: Analysis, loops: Bools) -> Floats:
    """Iterations `[L, n]` of those `loops`, and one of each other."""
    return np.where(loops[:, None], a.extents, 1.0)


def requested_lines(
    a: Analysis, inside: Bools, line_bytes: int, shapes: Mapping[str, Sequence[int]]
) -> Floats:
    """Cache lines that a block asks for, its loops being those `inside`, and the input that it
    needs being asked for at once: the BShape cost, of one block.

    What lies in a row is one stretch; stretches begin where the distance between two of them may
    let them begin within a line, anywhere there equally often. `shapes` has those of tensors whose
    copies are accessed.
    """
    total, iterations = np.zeros(a.n), running(a, inside)
    for b in operands(a):
        shape: Sequence[Number] = shapes.get(a.accesses[b].tensor.name) or a.shape(b)
        stretch, count, step = np.ones(a.n), np.ones(a.n), np.zeros(a.n)
        whole, distance = np.ones(a.n, bool), np.ones(a.n)
        for span, extent in reversed(list(zip(spans(a, b, iterations, shape), shape, strict=True))):
            broken = ~whole & (span > 1)
            step = np.where(broken & (step == 0), distance, step)
            stretch = np.where(whole, stretch * span, stretch)
            count = np.where(whole, count, count * span)
            whole = whole & (span >= extent)
            distance = distance * extent
        apart = np.gcd((step * a.bytes[b]).astype(np.int64), line_bytes)  # gcd(0, x) = x
        # the mean of ceil((j + q) / m) over j < m is (q + m - 1) / m
        pieces = np.ceil(stretch * a.bytes[b] / apart)
        total += count * (pieces * apart + line_bytes - apart) / line_bytes
    return total


def shared_requests(a: Analysis, warp: int) -> Floats:
    """Separate requests of the threads of a block to shared memory: the TShape cost.

    Every datum that a thread needs of what was fetched is loaded once by it. A warp's load of one
    is as many requests as there are different words of one bank among it; the same word for several
    threads is one answer.
    """
    threads = [i for i, loop in enumerate(a.loops) if loop.kind is Kind.THREAD_X]
    private = np.array([i > max(threads, default=-1) for i in range(a.L)])
    virtual = a.of_kind(Kind.VIRTUAL)
    total, grid = np.zeros(a.n), a.extents[threads].astype(np.int64)
    for b in operands(a):
        data = reached(a, b, running(a, private))
        for i in virtual:
            data = data * np.where(i in a.reached[b].loops, a.extents[i], 1.0)
        steps = np.stack([np.broadcast_to(a.stride(b, i), a.n) for i in threads])
        words = steps * a.bytes[b] / WORD_BYTES
        keys = np.concatenate([grid, np.where(grid > 1, words * 1024, 0).astype(np.int64)])
        _, first, column = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        total += data * _warp_requests(grid[:, first], words[:, first], warp)[column.ravel()]
    return total


def _warp_requests(grid: Ints, words: Floats, warp: int) -> Floats:
    """Requests for one word of every thread, `[m]`: `grid` `[threads' loops, m]` are threads along
    each loop, `words` between neighbours.
    """
    number = grid.prod(0)
    most = -(-int(number.max(initial=1)) // warp) * warp
    share = max(1, CHUNK // most)
    found = [np.zeros(0)]
    for start in range(0, grid.shape[1], share):
        some = slice(start, start + share)
        found.append(_degrees(grid[:, some], words[:, some], number[some], most, warp).sum(1))
    return np.concatenate(found)


def _degrees(grid: Ints, words: Floats, number: Ints, most: int, warp: int) -> Ints:
    """In how many requests each warp's load is answered, `[m, warps]`."""
    thread = np.arange(most)[None, :]
    rest, address = thread.repeat(len(number), 0), np.zeros((len(number), most))
    for extents, steps in zip(grid[::-1], words[::-1], strict=True):
        address += rest % extents[:, None] * steps[:, None]
        rest = rest // extents[:, None]
    word = np.where(thread < number[:, None], np.floor(address), -1.0).astype(np.int64)
    word = np.sort(word.reshape(len(number), -1, warp), axis=2)
    new = word >= 0
    new[..., 1:] &= word[..., 1:] != word[..., :-1]
    flat = np.arange(new.shape[0] * new.shape[1]).reshape(*new.shape[:2], 1) * BANKS
    hits = np.bincount((flat + word % BANKS)[new], minlength=new.shape[0] * new.shape[1] * BANKS)
    most_hits: Ints = hits.reshape(*new.shape[:2], BANKS).max(axis=2)
    return most_hits


def unrolled(a: Analysis, limit: Floats, partly: bool) -> tuple[Floats, Floats]:
    """Statements that a thread has in a row where `limit` of them may be written out, and registers
    for its sums and what they read (ETO, GetS). Two limits of as many statements are the same.

    A reduction loop around the tile is written out where all fits, or `partly` as far as it fits.
    """
    tile = np.array([loop.kind in WRITTEN_OUT for loop in a.loops])
    spatial = np.array([not loop.reduce for loop in a.loops])
    virtual = np.array([loop.kind is Kind.VIRTUAL for loop in a.loops])
    sums = running(a, (tile | virtual) & spatial).prod(0)
    iterations = running(a, tile)
    statements, open_ = iterations.prod(0), np.ones(a.n, bool)
    for i in _around_tile(a):
        whole = a.extents[i]
        room = np.maximum(1.0, limit // statements)
        copies = np.array([*map(_fitting, whole, room)]) if partly else (room >= whole) * whole
        iterations[i] = np.where(open_, np.maximum(copies, 1.0), 1.0)
        statements = statements * iterations[i]
        open_ = open_ & (iterations[i] == whole)
    return statements, sums + sum(reached(a, b, iterations) for b in operands(a))


def _around_tile(a: Analysis) -> Iterator[int]:
    """The reduction loops of a stage that its pragma may write out, inner ones first: no level
    after which more is fetched.
    """
    for i in range(a.L - 1, -1, -1):
        loop = a.loops[i]
        if loop.reduce and loop.kind is Kind.SERIAL and not loop.name.endswith(".0"):
            yield i


def _fitting(whole: float, room: float) -> float:
    """The most iterations of a loop that divide it and fit."""
    return next(float(n) for n in range(int(min(whole, room)), 0, -1) if whole % n == 0)

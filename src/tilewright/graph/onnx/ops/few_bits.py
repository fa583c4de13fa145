"""Products with weights of 2, 4 and 8 bits that stay packed.

    MatMulNBits(a, b, s)              →  packed_dense(a, words, s)
    MatMul(x, DequantizeLinear(int4)) →  packed_dense(x, words, s)

    MatMulNBits(…, accuracy_level=4)  →  byte_dense(rounded a, words, s)

    GatherBlockQuantized(w, i, s)     →  numbers of gather(w, i) times those of gather(s, i)

Words are 32 bits where blocks are whole ones. Numbers that lie around the middle of their range are
stored as signed ones, so that nothing has to be subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from tilewright.expr.operators.shapes import number
from tilewright.graph.ir import Array, Value
from tilewright.graph.onnx.ops.call import OperatorCall
from tilewright.graph.passes.rounded import byte_product

BITS = (2, 4, 8)
BYTES = 4  # accuracy_level: activations may be rounded to bytes


def packed(numbers: Array, bits: int) -> Array:
    """Numbers [..., n], modulo 2**bits, in words of 32 bits if they are whole, else in shorter
    ones; the first is in the lowest bits. n is a multiple of what a byte holds.
    """
    low = numbers.astype(np.uint8) & np.uint8((1 << bits) - 1)
    per = 8 // bits
    pieces = low.reshape(*low.shape[:-1], low.shape[-1] // per, per)
    octets = pieces[..., 0].copy()
    for i in range(1, per):
        octets |= pieces[..., i] << np.uint8(i * bits)
    return _widened(octets, bits)


def unpacked(octets: Array, bits: int) -> Array:
    """The numbers [..., n] in bytes [..., n * bits / 8]."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    pieces = (octets[..., None] >> shifts) & np.uint8((1 << bits) - 1)
    return pieces.reshape(*octets.shape[:-1], octets.shape[-1] * len(shifts))


def _widened(octets: Array, bits: int) -> Array:
    """Bytes as words of more; numbers of 8 bits are no parts of words."""
    size = next(n for n in (4, 2, 1) if octets.shape[-1] % n == 0) if bits < 8 else 1
    return np.ascontiguousarray(octets).view(f"<u{size}")


@dataclass(frozen=True, slots=True)
class Weights:
    """(q - zero) * scale of numbers q [n, blocks, length], which are in words [n, blocks, w]."""

    words: Array
    scale: Value
    zero: Array
    bits: int
    signed: bool = False

    def times(self, call: OperatorCall, x: Value, in_bytes: bool = False) -> Value:
        """x [..., blocks * length] times these; x may be rounded to bytes."""
        words, zero, signed = self.words, self.zero, self.signed
        if in_bytes:
            known = words, self.scale, zero, self.bits, signed
            found = byte_product(call.builder, x, *known)
            if found is not None:
                return found
        middle = 1 << (self.bits - 1)
        if not signed and (zero == middle).all():
            # Turning the highest bit of each number takes the middle of the range from it.
            every = sum(middle << i for i in range(0, words.itemsize * 8, self.bits))
            words, signed = words ^ words.dtype.type(every), True
            zero = np.zeros_like(zero)
        zeros = [call.literal(zero)] if zero.any() else []
        operands = (x, call.literal(words), self.scale, *zeros)
        return call.emit("packed_dense", *operands, bits=self.bits, signed=signed)


def _count(call: OperatorCall, size: int, what: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of an input, of which it has as many elements."""
    if size != prod(shape):
        call.reject(f"its {what} have {size} elements, not {' * '.join(map(str, shape))}")
    return shape


def _check(call: OperatorCall, bits: int, block: int) -> None:
    if bits not in BITS:
        call.reject(f"bits={bits} is not supported; known: {', '.join(map(str, BITS))}")
    if block < 16 or block & (block - 1):
        call.reject(f"block_size={block} is no power of two from 16 on")


def _zeros(call: OperatorCall, given: Array, rows: int, blocks: int, bits: int) -> Array:
    """Zero points [rows, blocks]: floats, or packed in bytes, a row in whole ones."""
    what = "zero points"
    if given.dtype != np.uint8:
        return given.reshape(_count(call, given.size, what, (rows, blocks)))
    octets = given.reshape(_count(call, given.size, what, (rows, -(-blocks * bits // 8))))
    return unpacked(octets, bits)[:, :blocks]


def matmul_nbits(
    call: OperatorCall,
    a: Value,
    b: Value,
    scales: Value,
    zero_points: Value | None = None,
    g_idx: Value | None = None,
    bias: Value | None = None,
    *,
    K: int,
    N: int,
    block_size: int,
    bits: int = 4,
    accuracy_level: int = 0,
    weight_prepacked: int = 0,
) -> Value:
    """a [..., K] times weights [N, K] in blocks along K, in float32; or in bytes where the model
    says that it may be so.
    """
    _check(call, bits, block_size)
    if weight_prepacked:
        call.reject("its weights are in the order of one machine")
    if a.extents[-1:] != (K,):
        call.reject(f"{a} does not end in K = {K}")
    blocks = -(-K // block_size)
    shape = (N, blocks, block_size * bits // 8)
    octets = call.known(b, "weights")
    octets = octets.reshape(_count(call, octets.size, "weights", shape))
    scales = call.builder.reshape(scales, _count(call, scales.elements, "scales", (N, blocks)))
    zeros = np.full((N, blocks), 1 << (bits - 1), np.uint8)
    points = call.constant(zero_points, "zero points")
    if points is not None:
        zeros = _zeros(call, points, N, blocks, bits)
    order = call.constant(g_idx, "group indices")
    rest = blocks * block_size - K
    if order is not None and not np.array_equal(order, np.arange(K) // block_size):
        groups = order.reshape(_count(call, order.size, "group indices", (K,)))
        places = _places(call, groups, blocks, 32 // bits)
        a = call.emit("pad", a, pads=_behind(a, 1))
        a = call.emit("gather", a, call.literal(places.reshape(-1)), axis=a.rank - 1)
        numbers = unpacked(octets, bits).reshape(N, blocks * block_size)[:, :K]
        words = packed(np.pad(numbers, ((0, 0), (0, 1)))[:, places], bits)
    else:
        a = call.emit("pad", a, pads=_behind(a, rest)) if rest else a
        words = _widened(octets, bits)
    y = Weights(words, scales, zeros, bits).times(call, a, accuracy_level == BYTES)
    return y if bias is None else call.emit("add", y, bias)


def _behind(x: Value, count: int) -> tuple[tuple[int, int], ...]:
    """Paddings of so many elements behind the last dimension."""
    return (*((0, 0),) * (x.rank - 1), (0, count))


def _places(call: OperatorCall, groups: Array, blocks: int, per: int) -> Array:
    """Rows of weights by group [blocks, length]; what is left of a length, a multiple of `per`, is
    one behind the last row.
    """
    if groups.min() < 0 or groups.max() >= blocks:
        call.reject(f"group indices are outside the {blocks} blocks")
    counts = np.bincount(groups, minlength=blocks)
    found = np.full((blocks, -(-int(counts.max()) // per) * per), groups.size)
    for group, row in enumerate(found):
        row[: counts[group]] = np.flatnonzero(groups == group)
    return found


# ---- rows of few bits --------------------------------------------------------------------------


def gather_block_quantized(
    call: OperatorCall,
    data: Value,
    indices: Value,
    scales: Value,
    zero_points: Value | None = None,
    *,
    bits: int = 4,
    block_size: int = 128,
    gather_axis: int = 0,
    quantize_axis: int = 1,
) -> Value:
    """Rows of a table that stays packed, zeros where there is none, as floats: (q - zero) * scale
    in blocks along the last dimension.
    """
    if call.axis(gather_axis, data.rank) or call.axis(quantize_axis, data.rank) != data.rank - 1:
        call.reject("it takes other than rows, or its blocks are not along the last dimension")
    table, kind = call.known(data, "data"), call.few.types.get(data)
    bits = 8 if kind else bits  # a byte an element where these are a tensor's own
    _check(call, bits, block_size)
    columns = table.shape[-1] * 8 // bits
    blocks = -(-columns // block_size)
    shape = (*table.shape[:-1], blocks)
    scales = call.builder.reshape(scales, _count(call, scales.elements, "scales", shape))
    zeros = np.full(shape, 0 if kind else 1 << (bits - 1), table.dtype)
    points = call.constant(zero_points, "zero points")
    if points is not None:
        zeros = _zeros(call, points, prod(shape[:-1]), blocks, bits).reshape(shape)

    def rows(x: Value) -> Value:
        return call.emit("gather", x, indices, axis=0)

    def each(x: Value) -> Value:
        """A block's number for each of its columns."""
        block = call.literal(np.arange(columns) // block_size)
        return call.emit("gather", call.cast(x, scales.dtype), block, axis=x.rank - 1)

    numbers = call.cast(_numbers(call, rows(data), bits), scales.dtype)
    if zeros.any():
        numbers = call.emit("subtract", numbers, each(rows(call.literal(zeros))))
    y = call.emit("multiply", numbers, each(rows(scales)))
    if indices.is_constant:
        call.check_indices(indices, table.shape[:1], data)
        return y
    there = [
        call.emit("greater_equal", indices, call.literal(-len(table), indices)),
        call.emit("less", indices, call.literal(len(table), indices)),
    ]
    inside = call.emit("logical_and", *there)
    inside = call.builder.reshape(inside, (*indices.extents, *(1,) * (data.rank - 1)))
    return call.emit("where", inside, y, call.literal(0.0, y))


def _numbers(call: OperatorCall, octets: Value, bits: int) -> Value:
    """The numbers [..., n] in bytes [..., n * bits / 8], the first in the lowest bits."""
    if bits == 8:
        return octets
    word = call.builder.reshape(call.cast(octets, "int32"), (*octets.extents, 1))
    shifts = np.arange(0, 8, bits)
    low, high = (call.literal(shifts + n, word) for n in (0, bits))
    above = call.emit("shift_left", call.emit("shift_right", word, high), call.literal(bits, word))
    numbers = call.emit("subtract", call.emit("shift_right", word, low), above)
    columns = number(octets.extents[-1], octets.name) * len(shifts)
    return call.builder.reshape(numbers, (*octets.extents[:-1], columns))


# ---- tensors of few bits ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dequantised:
    """What a DequantizeLinear of a constant of few bits was given."""

    x: Array
    scale: Array
    zero: Array
    axis: int
    block: int
    bits: int
    signed: bool

    def weights(self, call: OperatorCall, turned: bool) -> Weights | None:
        """It, [k, n] or `turned` [n, k], as weights; None where they have no blocks of whole bytes
        along k.
        """
        x, along = (self.x, 0) if turned else (self.x.T, 1)
        columns, depth = x.shape
        each = self.scale.ndim == 1 and self.axis == along
        whole = each or self.scale.size == 1
        length = depth if whole else self.block
        if (not whole and self.axis == along) or not length or length * self.bits % 8:
            return None
        blocks = depth // length

        def table(value: Array) -> Array:
            grid = value.reshape(-1, 1) if whole or value.size == 1 else value
            grid = grid if whole or turned else grid.T
            return np.ascontiguousarray(np.broadcast_to(grid, (columns, blocks)))

        return Weights(
            packed(x.reshape(columns, blocks, length), self.bits),
            call.literal(table(self.scale)),
            table(self.zero),
            self.bits,
            signed=self.signed,
        )


def dequantised(
    call: OperatorCall, y: Value, x: Value, scale: Value, zero: Value | None, axis: int, block: int
) -> Value:
    """`y`, the floats of `x`; noted where `x` is a known matrix of few bits."""
    kind, less = call.few.types.get(x), np.zeros(1, np.int8) if zero is None else zero.constant
    if kind and x.constant is not None and x.rank == 2 and less is not None:
        known = scale.constant
        if known is not None and -2 <= axis < 2:
            bits = int(kind[-1])
            found = Dequantised(x.constant, known, less, axis % 2, block, bits, kind[0] == "i")
            call.few.floats[y] = found
    return y


def packed_product(call: OperatorCall, a: Value, b: Value) -> Value | None:
    """The product of matrices, whose second is made of few bits; None where it is not, or is not
    in blocks along the sum.
    """
    node = call.builder.maker(b)
    turned = node is not None and node.op == "transpose"
    found = call.few.floats.get(node.inputs[0] if node is not None and turned else b)
    if found is None or a.rank < 1 or a.extents[-1] != b.shape[0]:
        return None
    weights = found.weights(call, turned)
    return None if weights is None else weights.times(call, a)

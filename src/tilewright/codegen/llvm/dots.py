"""Dot instructions: all iterations of a dot loop in one step.

    for j (vector, 16): for q (dot, 4): C[j] += int32(A[q]) * int32(B[j, q])
        A: 4 bytes in every lane    B: 64 bytes    vpdpbusd

Which there are is the target's (`target.dots`); each adds exactly what the loop would.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.codegen.llvm.addresses import splat
from tilewright.codegen.llvm.arithmetic import apply
from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.module import Module
from tilewright.codegen.llvm.types import SsaValue, compute_type, constant, shuffle_mask, vector
from tilewright.expr.contraction.groups import narrow_factors
from tilewright.expr.dtypes import DTYPES, INT16, INT32
from tilewright.expr.index.affine import Affine
from tilewright.expr.nodes import Read
from tilewright.nest.nodes import For, Store
from tilewright.target import CpuTarget
from tilewright.target.dots import Dot, dot_of

# By the bits of a register: a tail of a vector loop takes a narrower one.
NAMES = {
    ("vpdpbusd", 512): "llvm.x86.avx512.vpdpbusd.512",
    ("vpdpbusd", 256): "llvm.x86.avx512.vpdpbusd.256",
    ("vpdpbusd", 128): "llvm.x86.avx512.vpdpbusd.128",
    ("vdpbf16ps", 512): "llvm.x86.avx512bf16.dpbf16ps.512",
    ("vdpbf16ps", 256): "llvm.x86.avx512bf16.dpbf16ps.256",
    ("vdpbf16ps", 128): "llvm.x86.avx512bf16.dpbf16ps.128",
    ("vpmaddwd", 512): "llvm.x86.avx512.pmaddw.d.512",
    ("vpmaddwd", 256): "llvm.x86.avx2.pmadd.wd",
    ("vpmaddwd", 128): "llvm.x86.sse2.pmadd.wd",
    ("usdot", 128): "llvm.aarch64.neon.usdot.v4i32.v16i8",
}
ELEMENTS = {"vpmaddwd": "i16", "vdpbf16ps": "bfloat"}
NARROWEST = 4  # lanes of a sum
BYTES = 4  # of a lane


@dataclass(frozen=True, slots=True)
class Dots:
    """What a dot loop multiplies, where its first iteration reads, and by which instruction."""

    dot: Dot
    factors: tuple[tuple[Read, Affine], ...]


def factors_of(node: For, target: CpuTarget) -> tuple[Dot, tuple[Read, Read]] | None:
    """The two reads that a dot loop multiplies, and by which instruction; None where the target has
    none for it.
    """
    store = node.body
    assert isinstance(store, Store)
    reads = narrow_factors(store.value)
    if store.reduce != "sum" or reads is None:
        return None
    dot = dot_of(target, *(read.tensor.dtype.name for read in reads))
    return None if dot is None or dot.length != node.extent else (dot, reads)


def dot_product(
    b: Builder, m: Module, dot: Dot, sums: SsaValue, x: SsaValue, y: SsaValue
) -> SsaValue:
    """`sums` plus `dot.length` products a lane; a factor is so many elements for each of its lanes,
    or for all of them.
    """
    if dot.words:
        x, y = (v if v.dtype == INT16 else _words(b, v) for v in (x, y))
    elif dot.name == "vpdpbusd" and x.dtype.kind == "int":  # the first is the unsigned one
        x, y = y, x
    count = max(sums.lanes, NARROWEST)
    element = ELEMENTS.get(dot.name, "i8")
    x, y = (_lanes(b, v, dot.length, sums.lanes, count, element) for v in (x, y))
    whole = compute_type(sums.dtype, count)
    kind = vector(element, dot.length * count)
    name = NAMES[dot.name, 32 * count]
    if dot.words:
        fn = m.declare(name, whole, [kind, kind])
        text = f"call {whole} {fn}({kind} {x.text}, {kind} {y.text})"
        terms = SsaValue(b.pure(text, x.text, y.text), INT32, count)
        return apply(b, "add", sums, _resized(b, terms, sums.lanes))
    wide = _resized(b, sums, count)
    fn = m.declare(name, whole, [whole, kind, kind])
    text = f"call {whole} {fn}({wide}, {kind} {x.text}, {kind} {y.text})"
    found = SsaValue(b.pure(text, wide.text, x.text, y.text), sums.dtype, count)
    return _resized(b, found, sums.lanes)


def dot4(
    b: Builder, m: Module, dot: Dot | None, total: SsaValue, x: SsaValue, y: SsaValue
) -> SsaValue:
    """`total` plus four products a lane, of the unsigned bytes of `x` and the signed ones of `y`:
    by an instruction for bytes, or for words, if there is one for so many lanes.
    """
    lanes = total.lanes
    if dot is None or lanes == 1 or (dot.name, 32 * max(lanes, NARROWEST)) not in NAMES:
        for shift in range(0, 32, 8):
            total = apply(b, "add", total, apply(b, "mul", *_octets(b, x, y, shift)))
        return total
    if dot.length == BYTES:
        octets, pairs = vector("i8", BYTES * lanes), ((x, DTYPES["uint8"]), (y, DTYPES["int8"]))
        factors = (
            SsaValue(b.pure(f"bitcast {v} to {octets}", v.text), kind, BYTES * lanes)
            for v, kind in pairs
        )
        return dot_product(b, m, dot, total, *factors)
    for odd in (False, True):
        total = dot_product(b, m, dot, total, *_halves(b, x, y, odd))
    return total


def _octets(b: Builder, x: SsaValue, y: SsaValue, shift: int) -> tuple[SsaValue, SsaValue]:
    """One byte a lane of each, as int32."""
    above, mask, moved, last = (constant(n, INT32, x.lanes) for n in (24 - shift, 255, shift, 24))
    unsigned = apply(b, "and", apply(b, "lshr", x, moved), mask)
    return unsigned, apply(b, "ashr", apply(b, "shl", y, above), last)


def _halves(b: Builder, x: SsaValue, y: SsaValue, odd: bool) -> list[SsaValue]:
    """Every other byte of each, as words of 16 bits."""
    kind = vector("i16", 2 * x.lanes)
    wide = [SsaValue(b.pure(f"bitcast {v} to {kind}", v.text), INT16, 2 * x.lanes) for v in (x, y)]
    eight = constant(8, INT16, 2 * x.lanes)
    low = apply(b, "lshr", wide[0], eight)
    high = wide[1]
    if not odd:
        low = apply(b, "and", wide[0], constant(255, INT16, 2 * x.lanes))
        high = apply(b, "shl", high, eight)
    return [low, apply(b, "ashr", high, eight)]


def _resized(b: Builder, x: SsaValue, lanes: int) -> SsaValue:
    """The first lanes, and any others behind them."""
    if x.lanes == lanes:
        return x
    order = shuffle_mask([i if i < x.lanes else -1 for i in range(lanes)])
    text = f"shufflevector {x}, {x.type} poison, {order}"
    return SsaValue(b.pure(text, x.text), x.dtype, lanes)


def _words(b: Builder, x: SsaValue) -> SsaValue:
    """Bytes as words of the same value."""
    how = "sext" if x.dtype.kind == "int" else "zext"
    text = f"{how} {x} to {vector('i16', x.lanes)}"
    return SsaValue(b.pure(text, x.text), INT16, x.lanes)


def _lanes(b: Builder, x: SsaValue, length: int, lanes: int, count: int, element: str) -> SsaValue:
    """A factor of `lanes` lanes, or of one that all have, in a register of `count`."""
    whole = vector(element, length * count)
    if x.lanes == length * lanes:
        x = _resized(b, x, length * count)
        if x.dtype.bits == 16 and element == "bfloat":
            x = x._replace(text=b.pure(f"bitcast {x} to {whole}", x.text))
        return x
    packed = b.pure(f"bitcast {x} to i32", x.text)
    wide = splat(b, SsaValue(packed, INT32), count)
    text = f"bitcast {vector('i32', count)} {wide} to {whole}"
    return SsaValue(b.pure(text, wide), x.dtype, length * count)

"""Products of weights of few bits as machine code: right, and in whole vectors."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import tilewright as tw
from tilewright import operators as ops
from tilewright.codegen.llvm.functions import emit
from tilewright.codegen.passes import prepared
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.space.default import default_gene
from tilewright.space.space import Space
from tilewright.target import Target

BLOCKS, LENGTH, COLUMNS = 4, 32, 64


def product_of(rows: int, bits: int, signed: bool, zeros: bool) -> list[Tensor]:
    word = "uint32" if bits < 8 else "uint8"
    per = (32 if bits < 8 else 8) // bits
    x = tw.placeholder((rows, BLOCKS * LENGTH), name="x")
    shape = (COLUMNS, BLOCKS, LENGTH // per)
    w = tw.placeholder(shape, name="w", dtype=word, constant=True)
    tables = [tw.placeholder((COLUMNS, BLOCKS), name="s", constant=True)]
    if zeros:
        table = tw.placeholder((COLUMNS, BLOCKS), name="z", dtype="uint8", constant=True)
        tables.append(table)
    y = ops.packed_dense(x, w, *tables, bits=bits, signed=signed, name="y")
    return [x, w, *tables, y]


CASES = list(product((1, 3, 9), (2, 4, 8), (True, False), (True, False)))


@pytest.mark.parametrize("rows, bits, signed, zeros", CASES)
def test_compiled_is_as_defined(rows: int, bits: int, signed: bool, zeros: bool) -> None:
    _, w, s, *z, _ = tensors = product_of(rows, bits, signed, zeros)
    rng = np.random.default_rng([rows, bits])
    words = rng.integers(0, 256, (COLUMNS, BLOCKS, LENGTH * bits // 8)).astype(np.uint8)
    each = words[..., None] >> np.arange(0, 8, bits, dtype=np.uint8) & ((1 << bits) - 1)
    q = each.reshape(COLUMNS, BLOCKS, LENGTH).astype(np.float64)
    if signed:
        q = np.where(q >= 1 << (bits - 1), q - (1 << bits), q)
    known = {w.name: words.view(w.dtype.numpy)}
    known[s.name] = rng.uniform(0.5, 1.5, (COLUMNS, BLOCKS)).astype(np.float32)
    if z:
        known[z[0].name] = rng.integers(0, 1 << bits, (COLUMNS, BLOCKS)).astype(np.uint8)
        q -= known[z[0].name][..., None]
    weights = (q * known[s.name][..., None]).reshape(COLUMNS, -1)
    given = rng.standard_normal((rows, BLOCKS * LENGTH)).astype(np.float32)
    function = tw.compile(tw.Task(tensors))
    function.prepare(known)
    expected = given @ weights.T
    assert np.abs(function(given) - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("rows, bits", list(product((1, 9), (2, 4))))
def test_numbers_are_taken_out_of_whole_vectors(rows: int, bits: int) -> None:
    target = Target.parse("cpu:icelake-server cores=1")
    space = Space(ComputeDAG(product_of(rows, bits, signed=True, zeros=False)[-1:]), target)
    found = space.row_of(default_gene(space))
    program = space.concrete(int(found.sketch[0]), found.rows[0])
    ir = emit(prepared(program, target), target, 0).ir
    lines = [line for line in ir.splitlines() if "ashr" in line or "sitofp" in line]
    assert lines and all("<16 x i32>" in line for line in lines)


def bytes_of(rows: int, bits: int, zeros: bool) -> list[Tensor]:
    x = tw.placeholder((rows, BLOCKS * LENGTH), name="x")
    step = tw.placeholder((rows, BLOCKS), name="step")
    shape = (COLUMNS, BLOCKS // 2, 2)
    words = [
        tw.placeholder(shape, name=f"w{v}", dtype="uint32", constant=True)
        for v in range(LENGTH * bits // 32)
    ]
    tables = [tw.placeholder((COLUMNS, BLOCKS // 2), name="s", constant=True), *words]
    if zeros:
        shape = (COLUMNS, BLOCKS // 2)
        tables.append(tw.placeholder(shape, name="z", dtype="uint8", constant=True))
    q = ops.byte_words(x, step)
    middle = 1 << (bits - 1)
    y = ops.byte_dense(q, step, ops.byte_totals(q), *tables, bits=bits, middle=middle, name="y")
    return [x, step, *tables, y]


BYTE_CASES = list(product((1, 3, 9), (2, 4, 8), (True, False)))


@pytest.mark.parametrize("rows, bits, zeros", BYTE_CASES)
def test_bytes_are_as_defined(rows: int, bits: int, zeros: bool) -> None:
    """Activations in bytes; a block of weights has two chunks of these."""
    _, _, s, *words, _ = tensors = bytes_of(rows, bits, zeros)
    words, z = words[: len(words) - zeros], words[len(words) - zeros :]
    rng, pieces = np.random.default_rng([rows, bits]), 8 // bits
    n = rng.integers(0, 1 << bits, (COLUMNS, BLOCKS, LENGTH)).astype(np.uint8)
    parts = n.reshape(COLUMNS, BLOCKS, -1, pieces, 4)
    octets = sum(parts[..., p, :] << np.uint8(p * bits) for p in range(pieces)).astype(np.uint8)
    table = octets.view("<u4").reshape(COLUMNS, BLOCKS // 2, 2, -1)
    known = {w.name: np.ascontiguousarray(table[..., v]) for v, w in enumerate(words)}
    known[s.name] = rng.uniform(0.5, 1.5, s.shape).astype(np.float32)
    zero = np.full(s.shape, 1 << (bits - 1), np.uint8)
    if z:
        known[z[0].name] = zero = rng.integers(0, 1 << bits, s.shape).astype(np.uint8)
    weights = (n - np.repeat(zero, 2, 1)[..., None].astype(float)) * np.repeat(known[s.name], 2, 1)[
        ..., None
    ]
    x = rng.standard_normal((rows, BLOCKS * LENGTH)).astype(np.float32)
    step = np.abs(x.reshape(rows, BLOCKS, LENGTH)).max(2) / np.float32(127)
    x[0, :LENGTH], step[0, 0] = 0, 0
    function = tw.compile(tw.Task(tensors))
    function.prepare(known)
    with np.errstate(invalid="ignore"):
        q = np.nan_to_num(np.rint(x.reshape(rows, BLOCKS, LENGTH) / step[..., None]))
    expected = np.einsum("rbk,rb,cbk->rc", q, step, weights)
    assert np.abs(function(x, step) - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize(
    "spec, instruction",
    [
        ("cpu:icelake-server cores=1", "vpdpbusd"),
        ("cpu:haswell cores=1", "pmadd.wd"),
        ("cpu:cortex-a53 cores=1", "mul <4 x i32>"),
    ],
)
def test_bytes_are_multiplied_by_what_the_cpu_has(spec: str, instruction: str) -> None:
    target = Target.parse(spec)
    space = Space(ComputeDAG(bytes_of(9, 4, zeros=False)[-1:]), target)
    found = space.row_of(default_gene(space))
    program = space.concrete(int(found.sketch[0]), found.rows[0])
    assert instruction in emit(prepared(program, target), target, 0).ir

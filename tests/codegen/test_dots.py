"""Dots and products of tiles: what they compute is what their loops say, to the last bit, by the
instructions of this machine and by those of others.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulated_dots import AMX, emulate
from kernel_runs import close, run

from devices import tools
from tilewright.codegen import compile_program
from tilewright.codegen.passes import prepared
from tilewright.contract.surroundings import ALONE, AMONG_OTHERS, Setting
from tilewright.cost.extractor import FeatureExtractor
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.intrinsics import maximum, minimum
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import cast, compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import RunError
from tilewright.nest.nodes import For, Kind, Program, walk
from tilewright.nest.reference.interpret import interpret
from tilewright.runtime.host import check_targets, needed_features
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import Annotate, LayoutRewrite, Reorder, Split
from tilewright.space.default import default_gene
from tilewright.space.space import Space
from tilewright.target import CpuTarget, Target

pytestmark = pytest.mark.cpu

ISAS = {
    "avx2": "cpu:haswell cores=1 features=+avx2",
    "avx-vnni": "cpu:alderlake cores=1 features=+avx2,+avxvnni",
    "avx512": "cpu:skylake-avx512 cores=1 features=+avx512bw,+avx512vl,-prefer-256-bit",
    "host": "cpu cores=1",
}


def matmul(m: int, n: int, k: int, left: str = "uint8", right: str = "int8") -> Tensor:
    """Sums of products of bytes in int32, or of bfloat16 in float32."""
    kind = "float32" if left == "bfloat16" else "int32"
    a = placeholder((m, k), name="A", dtype=left)
    b = placeholder((k, n), name="B", dtype=right, constant=True)
    r = reduce_axis(k, "k")
    return compute(
        (m, n), lambda i, j: sum_over(cast(kind, a[i, r]) * cast(kind, b[r, j]), r), name="C"
    )


def conv(size: int, c: int, o: int, stride: int) -> Tensor:
    """A 3 x 3 convolution of an image of bytes, channels last, without a border."""
    x = placeholder((size, size, c), name="X", dtype="uint8")
    w = placeholder((3, 3, c, o), name="W", dtype="int8", constant=True)
    r, s, d = reduce_axis(3, "r"), reduce_axis(3, "s"), reduce_axis(c, "d")
    out = (size - 3) // stride + 1

    def body(h: Any, v: Any, j: Any) -> Any:
        element = x[h * stride + r, v * stride + s, d]
        return sum_over(cast("int32", element) * cast("int32", w[r, s, d, j]), (r, s, d))

    return compute((out, out, o), body, name="C")


def chain(m: int, k: int, n: int, columns: int) -> Tensor:
    """A product of bytes, of whose sums bytes are made that the next one multiplies."""
    first = matmul(m, n, k)
    narrow = compute(
        (m, n),
        lambda i, j: cast("uint8", minimum(maximum(first[i, j] // 64, 0), 255)),
        name="Q",
        dtype="uint8",
    )
    d = placeholder((n, columns), name="D", dtype="int8", constant=True)
    r = reduce_axis(n, "r")
    return compute(
        (m, columns),
        lambda i, j: sum_over(cast("int32", narrow[i, r]) * cast("int32", d[r, j]), r),
        name="E",
    )


def product(
    batch: int, m: int, n: int, k: int, left: str, right: str, turned: bool = False
) -> Tensor:
    """Products of two inputs, the second one by rows of the depth or `turned`."""
    kind = "float32" if left == "bfloat16" else "int32"
    a = placeholder((batch, m, k), name="A", dtype=left)
    b = placeholder((batch, n, k) if turned else (batch, k, n), name="B", dtype=right)
    r = reduce_axis(k, "k")

    def body(z: Any, i: Any, j: Any) -> Any:
        other = b[z, j, r] if turned else b[z, r, j]
        return sum_over(cast(kind, a[z, i, r]) * cast(kind, other), r)

    return compute((batch, m, n), body, name="C")


def gram(n: int, k: int) -> Tensor:
    """Products of all rows of one input."""
    a = placeholder((n, k), name="A", dtype="bfloat16")
    r = reduce_axis(k, "k")
    return compute(
        (n, n),
        lambda i, j: sum_over(cast("float32", a[i, r]) * cast("float32", a[j, r]), r),
        name="C",
    )


def narrowed(m: int, n: int, k: int) -> Tensor:
    """A product of float32 inputs that are made narrow, the second one turned."""
    a, b = placeholder((m, k), name="A"), placeholder((n, k), name="B")
    x = compute((m, k), lambda i, c: a[i, c] * 0.5, name="X", dtype="bfloat16")
    y = compute((k, n), lambda c, j: b[j, c], name="Y", dtype="bfloat16")
    r = reduce_axis(k, "k")
    return compute(
        (m, n),
        lambda i, j: sum_over(cast("float32", x[i, r]) * cast("float32", y[r, j]), r),
        name="C",
    )


def bytes_of(program: Program, seed: int) -> dict[str, np.ndarray[Any, Any]]:
    """Random bytes, the ends of their ranges among them."""
    rng = np.random.default_rng(seed)
    found = {}
    for t in (*program.inputs, *program.constants):
        shape = tuple(int(d) for d in t.shape)
        if t.dtype.is_float:
            found[t.name] = rng.standard_normal(shape).astype(t.dtype.numpy)
            continue
        info = np.iinfo(t.dtype.name)
        values = rng.integers(info.min, info.max + 1, shape)
        values[rng.random(shape) < 0.2] = info.min
        values[rng.random(shape) < 0.2] = info.max
        found[t.name] = values.astype(t.dtype.name)
    return found


def check(program: Program, target: Target, seed: int = 0) -> None:
    arrays = bytes_of(program, seed)
    (wanted,) = interpret(program, arrays, arrays).values()
    (got,) = run(program, arrays, target).values()
    if wanted.dtype == np.float32:
        close(got, wanted)
    else:
        np.testing.assert_array_equal(got, wanted)


def drawn(output: Tensor, target: CpuTarget, count: int, seed: int) -> list[Program]:
    """Programs of the space of a computation, as they come."""
    space = Space(ComputeDAG((output,)), target)
    rows = space.sample(np.random.default_rng(seed), count)
    return [space.concrete(int(s), row) for s, row in zip(rows.sketch, rows.rows, strict=True)]


OUTPUTS = {
    "odd": lambda: matmul(13, 37, 43),
    "signed": lambda: matmul(16, 32, 40, "int8", "int8"),
    "unsigned": lambda: matmul(7, 18, 24, "uint8", "uint8"),
    "words": lambda: matmul(13, 37, 43, "int16", "int16"),
    "halves": lambda: matmul(16, 32, 64, "bfloat16", "bfloat16"),
    "odd halves": lambda: matmul(13, 37, 43, "bfloat16", "bfloat16"),
    "row": lambda: matmul(1, 48, 64),
    "square": lambda: matmul(48, 64, 128),
    "image": lambda: conv(9, 16, 32, 1),
    "chain": lambda: chain(16, 32, 48, 24),
    "strided": lambda: conv(12, 8, 20, 2),
    "scores": lambda: product(3, 32, 48, 64, "bfloat16", "bfloat16", turned=True),
    "weighted": lambda: product(3, 32, 16, 64, "bfloat16", "bfloat16"),
    "odd scores": lambda: product(2, 13, 37, 43, "bfloat16", "bfloat16", turned=True),
    "two inputs": lambda: product(1, 32, 48, 64, "uint8", "int8"),
    "odd inputs": lambda: product(2, 13, 37, 43, "uint8", "int8"),
    "turned inputs": lambda: product(2, 17, 35, 42, "int8", "uint8", turned=True),
    "gram": lambda: gram(32, 48),
    "narrowed": lambda: narrowed(32, 48, 64),
}


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name", OUTPUTS)
def test_programs_of_the_space(isa: str, name: str) -> None:
    target = CpuTarget.of(ISAS[isa])
    try:
        check_targets(isa, [(str(target), needed_features(str(target)))], 62)
    except RunError as error:  # this CPU lacks an instruction, which the error names
        pytest.skip(str(error))
    for seed, program in enumerate(drawn(OUTPUTS[name](), target, 3, len(name))):
        check(program, target, seed)


@tools("gcc")
@pytest.mark.parametrize("name", OUTPUTS)
def test_programs_for_a_machine_with_tiles(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By definition of the instructions, on any machine."""
    emulate(tmp_path, monkeypatch)
    for seed, program in enumerate(drawn(OUTPUTS[name](), AMX, 3, len(name))):
        check(program, AMX, seed)


FACTORS = [("uint8", "int8"), ("int8", "uint8"), ("bfloat16", "bfloat16")]


def tiled(output: Tensor, rows: int, columns: int, steps: int) -> Program:
    """A product in register tiles of this size."""
    state = State(ComputeDAG((output,)))
    state.apply(Split("C", "i", (rows,)))
    state.apply(Split("C", "j", (columns,)))
    length = 2 if output.dtype.is_float else 4
    state.apply(Split("C", "k", (steps, length)))
    state.apply(Reorder("C", (("i.0", "j.0"), ("k.0",), ("k.1",), ("i.1", "j.1"), ("k.2",))))
    state.apply(Annotate("C", "i.1", "unrolled"))
    state.apply(Annotate("C", "j.1", "vector"))
    state.apply(Annotate("C", "k.2", "dot"))
    state.apply(LayoutRewrite("C", "B"))
    return lower(state, "product").program


@tools("gcc")
@pytest.mark.parametrize("signs", FACTORS, ids="x".join)
@pytest.mark.parametrize(
    ("shape", "tile"),
    [
        ((32, 32, 64), (32, 32, 16)),  # four tiles of sums
        ((16, 64, 256), (16, 64, 16)),  # a row of tiles
        ((48, 16, 256), (48, 16, 32)),  # a column of tiles, two steps of the depth, twice
        ((30, 16, 48), (30, 16, 12)),  # two tiles of 15 rows, a depth of 12
        ((40, 48, 64), (32, 32, 16)),  # whole tiles, and rests
        ((12, 9, 64), (12, 9, 16)),  # fewer columns than a tile has
    ],
)
def test_tiles(
    signs: tuple[str, str],
    shape: tuple[int, int, int],
    tile: tuple[int, int, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    emulate(tmp_path, monkeypatch)
    program = tiled(matmul(*shape, *signs), *tile)
    assert "tdpb" in compile_program(program, AMX).ir
    check(program, AMX)


def test_a_product_too_small_for_tiles_is_made_of_dots() -> None:
    ir = compile_program(tiled(matmul(3, 32, 64), 3, 32, 16), AMX).ir
    assert "tdpb" not in ir and "vpdpbusd" in ir


def test_loops_are_dots_where_a_target_has_them() -> None:
    """Without the instruction, and where a copy of a factor serves few outputs, there are none."""

    def kinds(spec: str, output: Tensor) -> set[Kind]:
        programs = drawn(output, CpuTarget.of(spec), 2, 0)
        return {n.kind for p in programs for n in walk(p.body) if isinstance(n, For)}

    assert Kind.DOT in kinds(ISAS["avx2"], matmul(16, 32, 64))
    assert Kind.DOT not in kinds("cpu:x86-64 cores=1", matmul(16, 32, 64))
    assert Kind.DOT not in kinds(ISAS["avx2"], matmul(16, 32, 3))
    assert Kind.DOT in kinds(ISAS["avx2"], product(1, 16, 32, 64, "uint8", "int8"))
    assert Kind.DOT not in kinds(ISAS["avx2"], product(1, 2, 32, 64, "uint8", "int8"))


def test_the_byte_that_all_lanes_share_is_a_word_in_memory_where_words_are_multiplied() -> None:
    """So that no register tile widens it again."""

    def rules(isa: str, *types: str) -> set[bool]:
        space = Space(ComputeDAG((matmul(16, 32, 64, *types),)), CpuTarget.of(ISAS[isa]))
        return {"widen_factor" in sketch.name for sketch in space.sketches}

    assert rules("avx2", "uint8", "int8") == rules("avx512", "int8", "int8") == {True}
    assert rules("avx2", "int16", "int8") == rules("avx-vnni", "uint8", "int8") == {False}


def narrow(sums: Tensor) -> Tensor:
    """Bytes made of sums."""
    return compute(
        tuple(int(d) for d in sums.shape),
        lambda *i: cast("uint8", minimum(maximum(sums[i] // 64, 0), 255)),
        name="Q",
    )


def pointwise(size: int, depth: int, columns: int) -> Tensor:
    """A 1 x 1 convolution of an image of bytes, channels last."""
    x = placeholder((size, size, depth), name="X", dtype="uint8")
    w = placeholder((depth, columns), name="W", dtype="int8", constant=True)
    d = reduce_axis(depth, "d")
    return compute(
        (size, size, columns),
        lambda h, v, c: sum_over(cast("int32", x[h, v, d]) * cast("int32", w[d, c]), d),
        name="C",
    )


@pytest.mark.parametrize(
    "sums", [pointwise(56, 64, 256), pointwise(28, 128, 512)], ids=["large", "small"]
)
def test_what_runs_untuned_multiplies_images_in_whole_tiles(sums: Tensor) -> None:
    """Rows of a tile lie along one dimension of an image: those of two are no tile's, and no sum
    of so many vectors stays in registers. Loops of a consumer around do not hide a tile's depth.
    """
    space = Space(ComputeDAG((narrow(sums),)), AMX)
    found = space.row_of(default_gene(space))
    program = space.concrete(int(found.sketch[0]), found.rows[0])
    loops = [n for n in walk(prepared(program, AMX).program.body) if isinstance(n, For)]
    tiles = [loop for loop in loops if loop.kind is Kind.TILE]
    inside = [n for tile in tiles for n in walk(tile) if isinstance(n, For) and n.kind is Kind.DOT]
    assert {loop.extent for loop in tiles} == {16}
    assert len(inside) == sum(loop.kind is Kind.DOT for loop in loops)


@pytest.mark.parametrize("fused", [False, True])
def test_rows_left_over_that_fill_no_tiles_are_priced(fused: bool) -> None:
    """Of 128 rows 45 at a time leave 38, which are no tiles, whatever is kept of the sums."""
    sums = matmul(128, 64, 64)
    space = Space(ComputeDAG((narrow(sums) if fused else sums,)), AMX)
    gene = default_gene(space)
    assert ("fusion" in space.sketches[int(space.row_of(gene).sketch[0])].name) == fused

    def priced(rows: int) -> float:
        values = json.loads(gene.decisions) | {"C.i": [1, 1, rows], "C.j": [1, 1, 16], "C.k": [16]}
        found = space.row_of(replace(gene, decisions=json.dumps(values)))
        return float(FeatureExtractor(space).latency(found)[0])

    assert priced(45) > priced(32)


def test_rows_of_tiles_that_begin_anywhere_are_priced() -> None:
    """A caller's rows lie across two lines each: few of them are loaded for many packed columns."""

    def priced(rows: int, columns: int, setting: Setting) -> float:
        space = Space(ComputeDAG((matmul(64, 64, 128),)), AMX, setting=setting)
        gene = default_gene(space)
        values = {"C.i": [1, 1, rows], "C.j": [1, 1, columns], "C.k": [16]}
        decisions = json.dumps(json.loads(gene.decisions) | values)
        found = space.row_of(replace(gene, decisions=decisions))
        return float(FeatureExtractor(space).latency(found)[0])

    high, wide = (64, 16), (16, 64)
    more = [priced(*high, setting) / priced(*wide, setting) for setting in (AMONG_OTHERS, ALONE)]
    assert more[1] > 1.001 * more[0]

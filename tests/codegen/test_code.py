"""What the written code looks like: register tiles without memory, stable names, clear errors."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from kernel_nests import Conv, P, S, U, V, conv2d, gemm, nest, streamed
from kernel_runs import loop_bodies

from assembly import assembly
from tilewright.codegen import Kernel, compile_program
from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.machine import compile_ir
from tilewright.codegen.llvm.prefetch import INTO_SECOND_LEVEL, TO_BE_WRITTEN
from tilewright.expr.dtypes import FLOAT32, FLOAT64
from tilewright.expr.nodes import Const, Select, Tensor, Var, call
from tilewright.expr.tensors import placeholder, table
from tilewright.ground.errors import BuildError
from tilewright.nest.nodes import Alloc, Kind, Program, Store, seq
from tilewright.target import Target

AVX512 = Target.parse("cpu:icelake-server cores=2")
AVX2 = Target.parse("cpu:haswell cores=2")
ARM = Target.parse("cpu:cortex-a53 cores=2")
ZERO = Const(0.0, FLOAT32)
I, J, K, M, N = (Var(name) for name in "ijkmn")  # noqa: E741


def fused(body: list[str]) -> int:
    return sum(x.startswith(("vfmadd", "fmla")) for x in body)


@pytest.mark.parametrize(
    ("program", "target", "rows", "vectors"),
    [
        (gemm(60, 256, 512, 6, 64, packed=True), AVX512, 6, 4),
        (gemm(60, 256, 512, 4, 64), AVX512, 4, 4),
        (gemm(56, 256, 512, 14, 32, packed=True), AVX512, 14, 2),
        (gemm(61, 250, 512, 6, 64, packed=True), AVX512, 6, 4),  # with tails
        (gemm(60, 256, 512, 6, 16, packed=True), AVX2, 6, 2),
        (gemm(60, 256, 512, 8, 8, packed=True), ARM, 8, 2),
        (conv2d(Conv(14, 14, 64, 64), 1, 14, 32), AVX512, 14, 2),
        (conv2d(Conv(14, 14, 64, 64), 1, 14, 32, attach_pad=True), AVX512, 14, 2),
    ],
)
def test_a_register_tile_stays_in_registers(
    program: Program, target: Target, rows: int, vectors: int
) -> None:
    """The full tile's loop loads its operands once, multiplies, and touches nothing else."""
    kernel = compile_program(program, target)
    tiles = [b for b in loop_bodies(kernel.ir, target) if fused(b) >= rows * vectors]
    assert tiles
    body = max(tiles, key=lambda b: fused(b) % (rows * vectors) == 0)
    steps = fused(body) // (rows * vectors)
    assert fused(body) == steps * rows * vectors
    assert not [x for x in body if "rsp" in x or "[sp" in x or x.startswith(("st", "vmovups\t%z"))]
    loads = [x for x in body if "(" in x or "[" in x]
    if target is not ARM:  # one load brings several broadcast operands there
        assert len(loads) <= steps * (rows + vectors)


@pytest.mark.parametrize(("outer", "copies"), [(U, 2), (S, 1)])
def test_known_elements_of_tables_are_numbers(outer: Kind, copies: int) -> None:
    """y[i] = Σ_j x[j]·t[j, i]: a known zero costs nothing and no known element is loaded."""
    x, y = placeholder((3, 16), name="x"), Tensor("y", (2, 16), FLOAT32)
    t = table(np.array([[1, 0], [0, 0.5], [-4, 0]], np.float32), name="t")
    fill = nest([("i", 2, U), ("n", 16, V)], Store(y, (I, N), ZERO))
    update = Store(y, (I, N), x[J, N] * t[J, I], "sum")
    body = seq(fill, nest([("i", 2, outer), ("j", 3, U), ("n", 16, V)], update))
    ir = compile_program(Program("transform", (x,), (), (t,), (y,), body), AVX512).ir
    zeros, loads = (3, 0) if outer is U else (0, 3)
    assert ir.count("= call <16 x float> @llvm.fma") == 3 * copies - zeros
    assert ir.count("= load float,") == loads


def depthwise(rows: int, vectors: int = 33) -> Program:
    """y[h, c] += x[h + r, c] * w[r, c] for tiles of `rows` and r < 3 written out."""
    x = placeholder((64, vectors * 16), name="x")
    w = placeholder((3, vectors * 16), name="w")
    y = Tensor("y", (60, vectors * 16), FLOAT32)
    at, c = I * rows + J, M * 16 + N
    update = Store(y, (at, c), x[at + K, c] * w[K, c], "sum")
    fill = Store(y, (at, c), ZERO)
    body = seq(
        nest([("j", rows, U), ("n", 16, V)], fill),
        nest([("k", 3, U), ("j", rows, U), ("n", 16, V)], update),
    )
    body = nest([("i", 60 // rows, S), ("m", vectors, S)], body)
    return Program("dw", (x, w), (), (), (y,), body)


def test_values_that_find_no_register_are_loaded_again() -> None:
    """30 sums leave no room for 32 rows of x until their next use; nothing goes to the stack."""
    for rows in (30, 10):
        kernel = compile_program(depthwise(rows), AVX512)
        tile = max(loop_bodies(kernel.ir, AVX512), key=fused)
        assert not [x for x in tile if "rsp" in x]
        assert ("fence" in kernel.ir) == (rows == 30)


def test_lines_that_meet_in_one_cache_set_are_not_loaded_again() -> None:
    """Rows of 4096 bytes: they would push each other out of the first-level cache."""
    assert "fence" not in compile_program(depthwise(30, vectors=64), AVX512).ir


def test_accumulators_have_no_memory() -> None:
    assert "alloca [" not in compile_program(gemm(12, 128, 32, 6, 64), replace(AVX512, cores=1)).ir


def test_an_accumulator_without_an_allocation_is_stored_once() -> None:
    ir = compile_program(gemm(6, 64, 32, 6, 64, local=False), AVX512).ir
    assert ir.count("store <16 x float>") == 24


def streams(program: Program) -> tuple[int, int]:
    """Stores past the caches, and those of whole vectors that are not."""
    kernel = compile_program(streamed(program, "C"), AVX512)
    past = kernel.ir.count("!nontemporal")
    assert assembly(kernel.ir, AVX512).count("vmovntps") == past
    assert "fence" in kernel.ir
    return past, kernel.ir.count("store <16 x float>") - past


def test_whole_aligned_vectors_of_a_streamed_output_pass_the_caches_by() -> None:
    assert streams(gemm(6, 64, 32, 6, 64)) == (24, 0)
    assert streams(gemm(6, 68, 32, 6, 68)) == (4 + 4, 12 + 4)  # rows 0 and 4 begin a line
    assert "nontemporal" not in compile_program(gemm(6, 64, 32, 6, 64), AVX512).ir


def test_part_sums_do_not_pass_the_caches_by() -> None:
    """A reduction loop outside the tile's loops: the sums so far are read again."""
    x, y = placeholder((4, 64), name="x"), Tensor("y", (8, 64), FLOAT32)
    fill = nest([("i", 8, S), ("m", 4, U), ("n", 16, V)], Store(y, (I, M * 16 + N), ZERO))
    update = Store(y, (I, M * 16 + N), x[K, M * 16 + N], "sum")
    body = seq(fill, nest([("k", 4, S), ("i", 8, S), ("m", 4, U), ("n", 16, V)], update))
    program = streamed(Program("sums", (x,), (), (), (y,), body), "y")
    assert "nontemporal" not in compile_program(program, AVX512).ir
    assert "nontemporal" in compile_program(streamed(replace(program, body=fill), "y"), AVX512).ir


def test_the_next_panel_of_a_constant_is_prefetched_in_equal_shares() -> None:
    """Ten passes of 128 iterations over a panel of 128 KB: 103 bytes, or two lines, at a time."""
    program = gemm(60, 256, 512, 6, 64, packed=True)
    kernel = compile_program(program, AVX512, prefetch=1 << 16)
    tile = max(loop_bodies(kernel.ir, AVX512), key=fused)
    assert sum(x.startswith("prefetch") for x in tile) == 2
    found = re.search(
        r"getelementptr i8, ptr %t\d+, i64 (%s\d+)\n.*, i64 131072\n.*prefetch", kernel.ir
    )
    assert found is not None and f"add nsw i64 {found[1]}, 103" in kernel.ir


def test_what_follows_a_constant_is_prefetched_where_every_pass_reads_it_as_a_whole() -> None:
    ir = compile_program(gemm(60, 64, 512, 6, 64, packed=True), AVX512, prefetch=1).ir
    assert re.search(r"getelementptr i8, ptr %t\d+, i64 131072\n.*llvm.prefetch", ir)


def test_few_passes_and_small_constants_are_not_prefetched() -> None:
    few = gemm(18, 256, 512, 6, 64, packed=True)
    assert INTO_SECOND_LEVEL not in compile_program(few, AVX512, prefetch=1).ir
    many = gemm(60, 256, 512, 6, 64, packed=True)
    assert INTO_SECOND_LEVEL not in compile_program(many, AVX512, prefetch=1 << 20).ir
    assert INTO_SECOND_LEVEL not in compile_program(many, AVX512).ir


@pytest.mark.parametrize("local", (True, False))
def test_the_lines_that_a_long_reduction_writes_at_its_end_are_asked_for(local: bool) -> None:
    """Six rows of four lines, once a tile and outside of the loop over k."""
    program = gemm(12, 128, 512, 6, 64, local=local)
    kernel = compile_program(program, replace(AVX512, cores=1))
    assert kernel.ir.count(TO_BE_WRITTEN) == 24
    tile = max(loop_bodies(kernel.ir, AVX512), key=fused)
    assert not any(x.startswith("prefetch") for x in tile)


def test_what_a_short_reduction_writes_is_not_prefetched() -> None:
    assert TO_BE_WRITTEN not in compile_program(gemm(12, 128, 32, 6, 64), AVX512).ir


def test_rows_of_an_input_that_is_passed_over_once_are_prefetched() -> None:
    """13 rows of 512 floats by 512 iterations: 52 bytes, or a line, at a time."""
    target = replace(AVX512, l2_bytes=1 << 20)
    kernel = compile_program(gemm(13 * 40, 32, 512, 13, 32), target)
    tile = max(loop_bodies(kernel.ir, target), key=fused)
    assert sum(x.startswith("prefetch") for x in tile) == 1
    found = re.search(
        r"getelementptr i8, ptr %t\d+, i64 (%s\d+)\n.*, i64 26624\n.*prefetch", kernel.ir
    )
    assert found is not None and f"add nsw i64 {found[1]}, 52" in kernel.ir


@pytest.mark.parametrize(
    "program",
    [
        gemm(13 * 39, 32, 512, 13, 32),  # smaller than the cache
        gemm(13 * 40, 64, 512, 13, 32),  # passed over twice
        gemm(13 * 40, 32, 512, 1, 32),  # one stream
    ],
    ids=["small", "twice", "one row"],
)
def test_other_inputs_are_not_prefetched(program: Program) -> None:
    target = replace(AVX512, l2_bytes=1 << 20)
    assert INTO_SECOND_LEVEL not in compile_program(program, target).ir


def kernel_of(program: Program, target: Target = AVX512) -> Kernel:
    return compile_program(program, target)


def test_names_are_symbols_and_differ_by_content() -> None:
    one, other = gemm(6, 64, 32, 6, 64), gemm(6, 64, 33, 6, 64)
    names = [replace(p, name="2 GEMM·a/b") for p in (one, other, one)]
    entries = [kernel_of(p).entry for p in names]
    assert entries[0] == entries[2] != entries[1]
    assert all(e.startswith("k_2_GEMM_a_b_") and e.isascii() and e.isidentifier() for e in entries)


def test_code_is_the_same_in_every_process() -> None:
    """Hash randomisation must not reach the code: caches are keyed by it."""
    script = (
        "from kernel_nests import *; from tilewright.codegen import compile_program\n"
        "from tilewright.target import Target\n"
        "p = conv2d(Conv(7, 5, 3, 20), 2, 3, 16, attach_pad=True)\n"
        "print(compile_program(p, Target.parse('cpu:icelake-server')).entry)"
    )
    found = set()
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", script], cwd=Path(__file__).parent, env=env,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found.add(run.stdout)
    assert len(found) == 1


def test_parallel_loops_need_the_pool_of_threads() -> None:
    program = gemm(60, 256, 32, 6, 64)
    assert kernel_of(program).externals == ("tw_parallel",)
    assert kernel_of(program, replace(AVX512, cores=1)).externals == ()


def unary(fn: str, dtype: str) -> Program:
    x = placeholder((64,), dtype, name="x")
    y = Tensor("y", (64,), x.dtype)
    return Program("f", (x,), (), (), (y,), nest([("i", 64, V)], Store(y, (I,), call(fn, x[I]))))


def test_externals_name_library_functions() -> None:
    assert kernel_of(unary("exp", "float32")).externals == ()
    assert kernel_of(unary("exp", "float64")).externals == ("_ZGVeN8v_exp",)
    assert kernel_of(unary("exp", "float64"), AVX2).externals == ("_ZGVdN4v_exp",)
    assert kernel_of(unary("exp", "float64"), ARM).externals == ("exp",)
    assert kernel_of(unary("tanh", "float64")).externals == ("tanh",)


@pytest.mark.parametrize(
    "cpu", ["cortex-a72", "neoverse-v1", "apple-m1", "x86-64", "haswell", "znver4"]
)
def test_every_named_cpu_compiles(cpu: str) -> None:
    target = Target.parse(f"cpu:{cpu} cores=2")
    for program in (
        conv2d(Conv(7, 5, 3, 20), 2, 3, 16),
        gemm(13, 37, 9, 4, 16, dtype=placeholder((1,), "float16").dtype),
    ):
        kernel = compile_program(program, target)
        assert kernel.object_code[:4] == (
            b"\xcf\xfa\xed\xfe" if "apple" in target.triple else b"\x7fELF"
        )


def test_scratch_is_what_all_threads_need() -> None:
    """32 KB and more leaves the stack: one block, and one a thread inside a parallel loop."""
    x, y = placeholder((8, 9000), name="x"), Tensor("y", (8, 9000), FLOAT32)
    own = Tensor("own", (9000,), FLOAT32)
    body = seq(
        nest([("j", 9000, V)], Store(own, (J,), x[I, J])),
        nest([("k", 9000, V)], Store(y, (I, K), own[Const(8999, J.dtype) - K])),
    )
    body = Alloc(own, (Const(0, J.dtype),), body)
    for kind, blocks in ((P, 2), (S, 1)):
        program = Program("own", (x,), (), (), (y,), nest([("i", 8, kind)], body))
        assert kernel_of(program).scratch_bytes == blocks * 36032  # 9000 floats in whole lines


# ---- errors ----------------------------------------------------------------------------------


def test_a_symbolic_program_is_refused() -> None:
    n = Var("n")
    x, y = placeholder((64,), name="x"), Tensor("y", (64,), FLOAT32)
    symbolic = nest([("i", 1 << 40, S)], Store(y, (I,), x[I]))
    program = Program("s", (x,), (), (), (y,), replace(symbolic, extent=n))
    with pytest.raises(BuildError, match="loop i has the symbolic extent"):
        compile_program(program, AVX512)


def test_lanes_that_write_one_element_are_refused() -> None:
    x, y = placeholder((64,), name="x"), Tensor("y", (1,), FLOAT32)
    body = nest([("i", 16, V)], Store(y, (Const(0, I.dtype),), x[I]))
    with pytest.raises(BuildError, match="writes one element of y from several lanes"):
        compile_program(Program("s", (x,), (), (), (y,), body), AVX512)


def test_math_on_integers_is_refused() -> None:
    with pytest.raises(BuildError, match="exp needs float operands, not int32"):
        compile_program(unary("exp", "int32"), AVX512)


def test_llvms_message_is_kept() -> None:
    with pytest.raises(BuildError, match="LLVM rejects the generated IR"):
        compile_ir("define nonsense", AVX512)


def test_an_unknown_triple_is_refused() -> None:
    with pytest.raises(BuildError, match="no code generator for 'pdp11-dec-none'"):
        compile_ir("", replace(AVX512, triple="pdp11-dec-none"))


# ---- the builder -----------------------------------------------------------------------------


def test_what_does_not_change_leaves_the_loop() -> None:
    b = Builder("f", ["ptr %a", "i64 %n"])
    with b.loop("8") as i:
        inside = b.pure(f"mul i64 {i}, %n", i)
        outside = b.pure("shl i64 %n, 3")
        assert b.pure("shl i64 %n, 3") == outside
    assert (b.depth[inside], b.depth[outside]) == (1, 0)


def test_nothing_leaves_a_branch() -> None:
    b = Builder("f", ["i64 %n", "i1 %c"])
    with b.branch("%c"):
        inside = b.pure("udiv i64 7, %n")
    assert b.depth[inside] == 1
    assert b.pure("udiv i64 7, %n") != inside  # it does not exist where the branch was not taken


def test_an_unchanged_value_is_not_carried() -> None:
    b = Builder("f", ["ptr %a"])
    x = b.here("load double, ptr %a, align 8")
    with b.loop("8"):
        phi = b.phi("double", x)
        assert b.finish_phi(phi, phi.name) == x
    b.do(f"store double {phi.name}, ptr %a, align 8")
    text = b.text("define void", "nounwind")
    assert "phi double" not in text and f"store double {x}" in text


def test_a_budget_bounds_hoisted_vectors() -> None:
    b = Builder("f", ["ptr %a"], vector_budget=2)
    with b.loop("8"):
        depths = [
            b.depth[b.load(f"load <4 x float>, ptr %a, align {4 << k}", k, 0)] for k in range(4)
        ]
    assert depths == [0, 0, 1, 1]
    assert FLOAT64.bits == 64


@pytest.mark.parametrize("target", [AVX512, AVX2, ARM], ids=lambda t: t.cpu)
def test_a_transposing_copy_gathers_nothing(target: Target) -> None:
    """Four columns of 16 rows: every row's four elements are loaded once, then shuffled."""
    x, y = placeholder((16, 8), name="x"), Tensor("y", (4, 16), FLOAT32)
    body = nest([("k", 4, U), ("j", 16, V)], Store(y, (K, J), x[J, K + 4]))
    kernel = compile_program(Program("f", (x,), (), (), (y,), body), target)
    assert kernel.ir.count("load <4 x float>") == 16
    assert "gather" not in kernel.ir and "load float" not in kernel.ir


def test_terms_under_conditions_known_at_compile_time_stay_fused() -> None:
    """A border's tile: what is outside adds nothing, what is inside is one multiply-add."""
    x, w = placeholder((64,), name="x"), placeholder((4, 16), name="w")
    y = Tensor("y", (16,), FLOAT32)
    zero = Const(0.0, FLOAT32)
    term = Select(K >= 1, Select(K < 3, x[K * 16 + J] * w[K, J], zero), zero)
    body = nest([("k", 4, U), ("j", 16, V)], Store(y, (J,), term, "sum"))
    ir = compile_program(Program("f", (x, w), (), (), (y,), body), AVX512).ir
    assert ir.count("call <16 x float> @llvm.fma") == 2
    assert "fadd" not in ir

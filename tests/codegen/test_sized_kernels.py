"""Kernels with sizes: one compiled program at every value, against the interpreter."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from kernel_runs import HOST, check_sizes, random_arrays
from sized_nests import Axis, product, softmax

from tilewright.build.compile import compile_lowered
from tilewright.codegen.llvm.functions import emit
from tilewright.codegen.passes import prepared
from tilewright.codegen.passes.size import statement_count
from tilewright.contract.sizes import Size
from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.nodes import Read, Tensor, Var
from tilewright.expr.sizes import stored_shape
from tilewright.ground.errors import InputError, RunError
from tilewright.nest.nodes import For, If, Kind, Program, Store
from tilewright.nest.print import program_text
from tilewright.nest.reference.interpret import interpret
from tilewright.runtime.cpu import LoadedKernel
from tilewright.runtime.function import CompiledFunction
from tilewright.schedule.lower import Lowered
from tilewright.target import CpuTarget, Target

TARGETS = ("cpu cores=1", "cpu cores=2", "cpu:haswell cores=1")


def around(size: Size, *tiles: int) -> list[dict[str, int]]:
    """Values at which something begins or ends."""
    found = {size.least, 1, size.most, *(t + d for t in tiles for d in (-1, 0, 1))}
    return [{size.name: v} for v in sorted(found) if size.least <= v <= size.most]


ROWS, DEPTH, WIDTH = Size("S", 1, 50), Size("K", 1, 100), Size("N", 1, 150)
S, K, N = Var("S"), Var("K"), Var("N")


def rows(order: str = "ji,k,ij", kinds: str = "su") -> Program:
    i = Axis("i", S, (6,), kinds)
    return product(i, Axis("j", 64, (32,), "pv"), Axis("k", 24, (), "s"), (ROWS,), order)


CASES = {
    "rows": (lambda: rows(), around(ROWS, 6, 12)),
    "parallel rows": (lambda: rows("ij,k,ij", "pu"), around(ROWS, 6, 12)),
    "two levels of rows": (
        lambda: product(
            Axis("i", S, (3, 4), "psu"), Axis("j", 32, (32,), "sv"), Axis("k", 24, (), "s"),
            (ROWS,), "ij,i,k,ij",
        ),
        around(ROWS, 4, 12),
    ),
    "a sum": (
        lambda: product(
            Axis("i", 12, (6,), "pu"), Axis("j", 32, (32,), "sv"), Axis("k", K, (32,), "ss"),
            (DEPTH,), "ij,k,k,ij",
        ),
        around(DEPTH, 32, 64),
    ),
    "a sum, rows between": (
        lambda: product(
            Axis("i", 24, (2, 6), "psu"), Axis("j", 32, (32,), "sv"), Axis("k", K, (32,), "ss"),
            (DEPTH,), "ij,k,i,k,ij",
        ),
        around(DEPTH, 32, 64),
    ),
    "along the vector": (
        lambda: product(
            Axis("i", 12, (6,), "pu"), Axis("j", N, (64,), "sv"), Axis("k", 24, (), "s"),
            (WIDTH,), "ij,k,ij",
        ),
        around(WIDTH, 16, 48, 64, 128),
    ),
    "one vector tile": (
        lambda: product(
            Axis("i", 6, (6,), "su"), Axis("j", N, (160,), "sv"), Axis("k", 24, (), "s"),
            (WIDTH,), "ij,k,ij",
        ),
        around(WIDTH, 16, 48, 64, 128),
    ),
    "rows and depth": (
        lambda: product(
            Axis("i", S, (6,), "pu"), Axis("j", 32, (32,), "sv"), Axis("k", K, (16,), "ss"),
            (ROWS, DEPTH), "ij,k,k,ij",
        ),
        [{"S": s, "K": k} for s in (1, 6, 7, 50) for k in (1, 15, 16, 17, 100)],
    ),
    "all three": (
        lambda: product(
            Axis("i", S, (4,), "pu"), Axis("j", N, (32,), "sv"), Axis("k", K, (16,), "ss"),
            (ROWS, DEPTH, WIDTH), "ij,k,k,ij",
        ),
        [{"S": s, "K": k, "N": n} for s in (1, 4, 50) for k in (1, 17) for n in (1, 32, 33, 150)],
    ),
    "no rows": (
        lambda: product(
            Axis("i", S, (6,), "pu"), Axis("j", 32, (32,), "sv"), Axis("k", 24, (), "s"),
            (replace(ROWS, least=0),), "ij,k,ij",
        ),
        around(replace(ROWS, least=0), 6),
    ),
    "softmax": (lambda: softmax(WIDTH, 5, 64), around(WIDTH, 16, 64, 128)),
    "half of a size": (
        lambda: product(
            Axis("i", (S + 1) // 2, (4,), "pu"), Axis("j", 32, (32,), "sv"), Axis("k", 24, (), "s"),
            (ROWS,), "ij,k,ij",
        ),
        around(ROWS, 4, 8, 10),
    ),
    "rows around columns": (
        lambda: product(
            Axis("i", S, (12,), "pu"), Axis("j", 256, (64,), "sv"), Axis("k", 24, (), "s"),
            (ROWS,), "i,j,k,ij",
        ),
        around(ROWS, 12, 24),
    ),
}  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_a_compiled_program_is_the_interpreted_one_at_every_size(name: str, target: str) -> None:
    make, values = CASES[name]
    check_sizes(make(), values, Target.parse(target))


@pytest.mark.parametrize("name", ["rows", "a sum, rows between", "along the vector", "softmax"])
def test_passes(name: str, golden: Callable[[str, str], None], target: CpuTarget) -> None:
    program = CASES[name][0]()
    written = prepared(program, target).program
    text = f"{program_text(program)}\n---- as it is written\n\n{program_text(written)}"
    golden(f"passes/sizes_{name.replace(', ', '_').replace(' ', '_')}.txt", text)


def test_accumulators_stay_in_registers_and_masks_outside_of_sums() -> None:
    host = Target.parse("cpu:icelake-server cores=1")
    assert isinstance(host, CpuTarget)
    tiles = ("rows", "half of a size", "rows around columns")
    for name in (*tiles, "a sum", "a sum, rows between", "along the vector"):
        ir = emit(prepared(CASES[name][0](), host), host).ir
        sums = [b for b in innermost(ir) if any("llvm.fma" in line for line in b)]
        assert sums, name
        for body in sums:
            assert not any("store" in line or "icmp sle <" in line for line in body), name


def test_no_pragma_unrolls_a_loop_that_a_size_bounds() -> None:
    """A version for each number of rows would be all the code there may be."""
    i, j = Var("i"), Var("j")
    x, y = Tensor("X", (S, 16), FLOAT32), Tensor("Y", (S, 16), FLOAT32)
    row = For(j, 16, If(i < S, Store(y, (i, j), Read(x, (i, j)))), Kind.VECTOR)
    loop = For(i, 50, row, marks=(("unroll_step", 512),))
    program = Program("copy", (x,), (), (), (y,), loop, (ROWS,))
    assert statement_count(prepared(program, HOST).program.body, 512) == 1
    check_sizes(program, around(ROWS), HOST)


def innermost(ir: str) -> list[list[str]]:
    """The blocks of IR that jump back to themselves."""
    blocks = [block.splitlines() for block in re.split(r"\n(?=\w+:)", ir)]
    return [b for b in blocks if any(f"label %{b[0][:-1]}," in x for x in b if " br " in x)]


WRONG = {
    "none": ({}, "size S is not given; it must be in 1..50"),
    "zero": ({"S": 0}, "size S is 0; it must be in 1..50"),
    "too many": ({"S": 51}, "size S is 51; it must be in 1..50"),
    "no int": ({"S": 3.0}, "size S is 3.0; it must be in 1..50"),
    "a bool": ({"S": True}, "size S is True; it must be in 1..50"),
    "unknown": ({"S": 3, "T": 3}, "there is no size T; known: S in 1..50"),
}


@pytest.mark.parametrize("why", WRONG)
def test_wrong_sizes_are_refused_in_one_line(why: str) -> None:
    sizes, message = WRONG[why]
    program = rows()
    artifact, _ = compile_lowered(Lowered(program, {}), HOST)
    with LoadedKernel(artifact) as kernel, pytest.raises(InputError) as refused:
        kernel(0, 0, sizes=sizes)
    assert str(refused.value) == message
    with pytest.raises(InputError) as refused:
        interpret(program, {}, sizes=sizes)
    assert str(refused.value) == message


def test_a_kernel_without_sizes_takes_none() -> None:
    program = product(Axis("i", 6, (6,), "su"), Axis("j", 32, (32,), "sv"), Axis("k", 4, (), "s"),
                      (), "ij,k,ij")  # fmt: skip
    artifact, _ = compile_lowered(Lowered(program, {}), HOST)
    assert "sizes" not in artifact.header()
    with LoadedKernel(artifact) as kernel, pytest.raises(InputError, match="there is no size S"):
        kernel(0, 0, sizes={"S": 3})


def test_arrays_of_other_shapes_are_no_arguments_of_the_interpreter() -> None:
    arrays = random_arrays(rows(), sizes={"S": 7})
    with pytest.raises(InputError, match=r"input A must be float32 \(8, 24\)"):
        interpret(rows(), arrays, sizes={"S": 8})


def test_a_function_says_where_sizes_go() -> None:
    artifact, _ = compile_lowered(Lowered(rows(), {}), HOST)
    with pytest.raises(RunError, match=r"has sizes \(S in 1..50\), which a LoadedKernel takes"):
        CompiledFunction(artifact)


@pytest.mark.parametrize("ends", [(3, 2), (-1, 4), (0, 0)])
def test_a_range_is_not_empty(ends: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="size S cannot be in"):
        Size("S", *ends)


@pytest.mark.parametrize(("most", "stored"), [(100, 112), (128, 144), (512, 528), (16, 16)])
def test_rows_are_a_fixed_pitch_apart(most: int, stored: int) -> None:
    sizes = (Size("N", 1, most),)
    assert stored_shape(Tensor("x", (3, N), FLOAT32), sizes) == (3, stored)
    assert stored_shape(Tensor("x", (N,), FLOAT32), sizes) == (most,)
    assert stored_shape(Tensor("x", (N, 128), FLOAT32), sizes) == (most, 128)

"""The machine code of template programs: tensor cores, asynchronous copies, nothing in memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.sass import Sass, disassembler, faults, products_of

from devices import at_hand
from tilewright.build.compile import build_nest
from tilewright.contract.artifact import CodeReport
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder
from tilewright.schedule.producers import template_gene
from tilewright.schedule.templates import TEMPLATES
from tilewright.schedule.templates.tensor_cores import TENSOR_CORES
from tilewright.schedule.templates.warp_specialized import WARP_SPECIALIZED
from tilewright.schedule.templates.warpgroups import WARPGROUPS
from tilewright.target import Target

ROWS = [(128, 128, 32, 64, 64, 4), (64, 128, 64, 32, 64, 3)]
TEXT = """
.L_x_0:
        /*0000*/              @!P0 LDG.E R1, [R2.64] ;
        /*0010*/               @P0 BRA `(.L_x_0) ;
.L_x_1:
        /*0020*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
.L_x_2:
        /*0030*/                   LDSM.16.M88.4 R4, [R5] ;
        /*0040*/                   HMMA.16816.F32 R8, R4, R6, R8 ;
        /*0050*/              @!P1 BRA `(.L_x_2) ;
        /*0060*/               @P0 BRA `(.L_x_1) ;
        /*0070*/                   EXIT ;
.L_x_3:
"""


def given(*shape: int, name: str, dtype: str) -> Tensor:
    return placeholder(shape, dtype, name=name)


def product(dtype: str, computed: bool = False) -> ComputeDAG:
    a, b = given(500, 1000, name="a", dtype=dtype), given(1000, 776, name="b", dtype=dtype)
    y = ops.matmul(ops.relu(a) if computed else a, b)
    return ComputeDAG([ops.relu(ops.add(y, given(776, name="bias", dtype=dtype)))])


def test_the_main_loop_is_the_innermost_that_multiplies() -> None:
    code = Sass.parsed(TEXT)
    assert code.opcodes["BRA"] == 3 and code.opcodes["EXIT"] == 1
    assert code.main_loop == {"LDSM": 1, "HMMA": 1, "BRA": 1}
    assert not Sass.parsed("/*0000*/ EXIT ;").main_loop


@pytest.mark.parametrize("target", ["cuda:a100", "cuda:h100"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("row", ROWS)
def test_tensor_cores_work_on_what_copies_bring(
    row: tuple[int, ...], dtype: str, target: str
) -> None:
    at_hand(disassembler)
    gene = template_gene(TENSOR_CORES.name, row)
    artifact = build_nest(product(dtype), gene, Target.parse(target), "product")
    code = Sass.of(artifact.object_code)
    numbers = dict(zip(TENSOR_CORES.options, row, strict=True))
    loop = code.main_loop
    products = numbers["warp_m"] * numbers["warp_n"] * numbers["block_k"] // (16 * 8 * 16)
    assert loop["HMMA"] == products, "all products of a step of depth, none elsewhere"
    assert code.opcodes["HMMA"] == products
    assert loop["LDSM"] and loop["LDGSTS"] and loop["BAR"] == loop["DEPBAR"] == 1
    assert not loop["FFMA"] and not loop["LDG"] and not loop["STS"]
    assert not code.opcodes["STL"] and not code.opcodes["LDL"]
    assert artifact.report is not None and artifact.report.spill_bytes == 0


@pytest.mark.parametrize("row", [(128, 256, 64, 2, 3), (64, 128, 64, 1, 4)])
@pytest.mark.parametrize("computed", [False, True])
def test_warpgroups_begin_all_products_of_a_step_before_they_wait(
    row: tuple[int, ...], computed: bool
) -> None:
    """The assembler would make them wait for each, did registers not allow otherwise."""
    at_hand(disassembler)
    gene = template_gene(WARPGROUPS.name, row)
    artifact = build_nest(product("bfloat16", computed), gene, Target.parse("cuda:h100"), "product")
    code = Sass.of(artifact.object_code)
    n = dict(zip(WARPGROUPS.options, row, strict=True))
    loop = code.main_loop
    products = n["block_m"] // (64 * n["groups"]) * (n["block_n"] // 128) * (n["block_k"] // 16)
    assert loop["HGMMA"] == code.opcodes["HGMMA"] == products
    assert loop["WARPGROUP"] == 2, "one arrival, one wait"
    assert loop["LDGSTS"] and not loop["LDSM"] and not loop["FFMA"]
    assert bool(loop["STS"]) == computed
    assert not code.opcodes["STL"] and not code.opcodes["LDL"]


@pytest.mark.parametrize("row", [(128, 256, 64, 2, 4), (64, 128, 64, 1, 6)])
def test_a_warp_of_its_own_copies_boxes(row: tuple[int, ...]) -> None:
    """Loops are apart, and the one that multiplies has neither addresses of memory nor copies."""
    at_hand(disassembler)
    gene = template_gene(WARP_SPECIALIZED.name, row)
    artifact = build_nest(product("bfloat16"), gene, Target.parse("cuda:h100"), "product")
    code = Sass.of(artifact.object_code)
    n = dict(zip(WARP_SPECIALIZED.options, row, strict=True))
    loop = code.main_loop
    products = n["block_m"] // (64 * n["groups"]) * (n["block_n"] // 128) * (n["block_k"] // 16)
    assert loop["HGMMA"] == code.opcodes["HGMMA"] == products
    assert loop["WARPGROUP"] == 2 and loop["SYNCS"], "products are waited for, stages, too"
    boxes = 1 + n["block_n"] // 64
    assert code.opcodes["UTMALDG"] == boxes, "left by depth, right by 64 columns"
    absent = ("UTMALDG", "LDGSTS", "LDG", "STS", "BAR", "FFMA")
    assert not any(loop[name] for name in absent)
    assert not code.opcodes["LDGSTS"] and not code.opcodes["STL"] and not code.opcodes["LDL"]
    assert artifact.report is not None and artifact.report.spill_bytes == 0


GROUPS = """
        /*0010*/                   MOV R3, RZ ;
.L_x_1:
        /*0020*/                   WARPGROUP.ARRIVE ;
        /*0030*/                   HGMMA.64x128x16.F32 R24, gdesc[UR4], R24 ;
        /*0040*/                   HGMMA.64x128x16.F32 R24, gdesc[UR8], R24, gsb0 ;
        /*0050*/                   WARPGROUP.DEPBAR.LE gsb0, 0x1 ;
        /*0060*/                   IADD R3, R3, 0x1 ;
        /*0070*/               @P0 BRA `(.L_x_1) ;
        /*0080*/                   WARPGROUP.DEPBAR.LE gsb0, 0x0 ;
        /*0090*/                   FADD R4, R24, R87 ;
"""
CLEAN = CodeReport(100, 0, 1024)


@pytest.mark.parametrize(
    ("old", "new", "report", "said"),
    [
        ("", "", CLEAN, []),
        ("", "", replace(CLEAN, spill_bytes=8), ["8 bytes of a thread are spilled"]),
        ("", "", replace(CLEAN, warnings=("C7510: slow",)), ["C7510: slow"]),
        ("", "", replace(CLEAN, warnings=("C1: of something else",)), []),
        ("R3, R3, 0x1", "R3, R87, 0x1", CLEAN, ["IADD R3, R87, 0x1 touches sums before the last"]),
        ("R3, R3, 0x1", "R3, R88, 0x1", CLEAN, []),
        ("WARPGROUP.ARRIVE", "MOV R30, RZ", CLEAN, ["MOV R30, RZ touches sums before the last"]),
        ("gdesc[UR4], R24", "gdesc[UR4], R24, gsb0", CLEAN,
         ["2 products in 2 groups, not a multiple of 2 in each", "2 waits for 2 groups"]),
        ("WARPGROUP.DEPBAR.LE gsb0, 0x1", "NOP", CLEAN, ["1 waits for 1 groups"]),
    ],
)  # fmt: skip
def test_what_is_slow_or_wrong_is_found(
    old: str, new: str, report: CodeReport, said: list[str]
) -> None:
    found = faults(Sass.parsed(GROUPS.replace(old, new) if old else GROUPS), report, 2)
    assert len(found) == len(said)
    for one, start in zip(found, said, strict=True):
        assert one.startswith(start)


@pytest.mark.parametrize("name", ["matmul.warpgroups.1", "matmul.warp_specialized.1"])
@pytest.mark.parametrize("columns", [776, 40])
def test_templates_of_warpgroups_pass_the_audit(name: str, columns: int) -> None:
    """Also where no column of a block's second tile is stored, of which nothing is left then."""
    at_hand(disassembler)
    template, target = TEMPLATES[name], Target.parse("cuda:h100")
    a, b = (
        given(*s, name=n, dtype="bfloat16") for n, s in (("a", (500, 1000)), ("b", (1000, columns)))
    )
    dag = ComputeDAG([ops.relu(ops.matmul(a, b))])
    for row in ((64, 256, 64, 1, 3), (128, 128, 64, 2, 6)):
        artifact = build_nest(dag, template_gene(name, row), target, "product")
        assert artifact.report is not None
        numbers = dict(zip(template.options, row, strict=True))
        code = Sass.of(artifact.object_code)
        assert not faults(code, artifact.report, products_of(numbers))
        assert faults(code, artifact.report, 3 * products_of(numbers))


def test_a_computed_factor_comes_through_registers() -> None:
    """It is loaded before the products and stored after them."""
    at_hand(disassembler)
    gene = template_gene(TENSOR_CORES.name, ROWS[0])
    artifact = build_nest(product("float16", computed=True), gene, Target.parse("cuda:a100"), "p")
    code = Sass.of(artifact.object_code)
    assert code.main_loop["LDG"] and code.main_loop["STS"] and code.main_loop["LDGSTS"]
    names = [name for name, _ in code.lines]
    first, last = names.index("HMMA"), len(names) - names[::-1].index("HMMA")
    assert not {"LDG", "STS"} & set(names[first:last]) and not code.opcodes["STL"]
    barrier = names.index("BAR")
    assert names[barrier:first].count("LDG") == names[last:].count("STS") > 0

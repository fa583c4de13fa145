"""Products of warpgroups: their sums and windows are NVIDIA's, and what is left out is found."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from cute import layouts as evaluated
from cute import printed

from planted import Change, changed, on, waiting_less, without
from tilewright.codegen import compile_program
from tilewright.codegen.clike.wgmma import WINDOW
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import VerifyError
from tilewright.nest.gpu.swizzle import Swizzle
from tilewright.nest.instructions import (
    GROUP_COLUMNS,
    GROUP_COMMIT,
    GROUP_WAIT,
    PROXY_FENCE,
    WAIT,
    Window,
    group_sums,
)
from tilewright.nest.nodes import For, Node, Program
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify
from tilewright.schedule.producers import lowered_of, template_gene
from tilewright.target import Target

FLOAT16 = DTYPES["float16"]
ROWS, COLUMNS, DEPTH = 70, 90, 330  # of which one block has 64 x 128, in six steps


def product(left_turned: bool = False, right_turned: bool = False) -> ComputeDAG:
    """relu(a b) of halves; a turned factor is stored the other way round."""

    def factor(rows: int, columns: int, turned: bool, name: str) -> Tensor:
        shape = (columns, rows) if turned else (rows, columns)
        found = placeholder(shape, "float16", name=name)
        return ops.transpose(found, (1, 0)) if turned else found

    a = factor(ROWS, DEPTH, left_turned, "a")
    b = factor(DEPTH, COLUMNS, right_turned, "b")
    return ComputeDAG([ops.relu(ops.matmul(a, b))])


def program(dag: ComputeDAG, stages: int = 4) -> Program:
    gene = template_gene("matmul.warpgroups.1", (64, 128, 64, 1, stages))
    return lowered_of(dag, gene, "product").program


def run(dag: ComputeDAG, candidate: Program) -> None:
    """The results are the mathematics', exactly: they are small integers."""
    rng = np.random.default_rng(7)
    given = {t.name: rng.integers(-1, 2, t.shape).astype(np.float16) for t in dag.inputs}
    (found,) = interpret(candidate, given).values()
    (expected,) = dag.evaluate(given).values()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("left_turned", [False, True])
@pytest.mark.parametrize("right_turned", [False, True])
@pytest.mark.parametrize("stages", [3, 4])
def test_either_way_round(left_turned: bool, right_turned: bool, stages: int) -> None:
    dag = product(left_turned, right_turned)
    candidate = program(dag, stages)
    verify(candidate)
    run(dag, candidate)


PLANTED: dict[str, tuple[Change, str]] = {
    "no fence": (without(PROXY_FENCE), "a fence is missing after threads wrote"),
    "no commit": (without(GROUP_COMMIT), "while an instruction reads it"),
    "a wait for products too short": (
        on(GROUP_WAIT, waiting_less),
        "while an instruction reads it",
    ),
    "a wait for copies too short": (on(WAIT, waiting_less), "before a wait for what makes it"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_bugs_are_found(name: str) -> None:
    change, message = PLANTED[name]
    dag = product()
    candidate = program(dag)
    broken = replace(candidate, body=changed(candidate.body, change))
    with pytest.raises(VerifyError, match=message):
        run(dag, broken)


def test_a_group_comes_as_a_whole_and_takes_windows_of_tiles() -> None:
    candidate = program(product())

    def fewer(node: Node) -> Node:
        if isinstance(node, For) and node.var.name == "thread":
            return replace(node, extent=64)
        return node

    with pytest.raises(VerifyError, match="64 threads are no whole"):
        verify(replace(candidate, body=changed(candidate.body, fewer)))


# ---- NVIDIA's -------------------------------------------------------------------------------

MAJORS = {True: "K", False: "MN"}


@pytest.fixture(scope="module")
def layouts(tmp_path_factory: pytest.TempPathFactory) -> list[list[int]]:
    """What CuTe's headers say: of every number of columns which element each sum of a thread is,
    then of windows of 64 x 64 in both directions where every element is.
    """
    sums = (
        f"MMA_Traits<SM90_64x{n}x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>>::CLayout{{}}"
        for n in GROUP_COLUMNS
    )
    windows = (
        "as_position_independent_swizzle_layout(tile_to_shape("
        f"GMMA::Layout_{major}_SW128_Atom<half_t>{{}}, Shape<_64, _64>{{}}))"
        for major in MAJORS.values()
    )
    folder = tmp_path_factory.mktemp("cute")
    return evaluated(folder, ("cute/atom/mma_traits_sm90_gmma.hpp",), (*sums, *windows))


@pytest.mark.parametrize("number", range(len(GROUP_COLUMNS)))
def test_sums_are_nvidias(layouts: list[list[int]], number: int) -> None:
    mapping = group_sums(GROUP_COLUMNS[number])
    places = sorted((w, n, row + column * 64) for (row, column), w, n in mapping.places())
    assert [element for _, _, element in places] == layouts[number]


@pytest.mark.parametrize("by_depth", [True, False])
def test_windows_are_nvidias(layouts: list[list[int]], by_depth: bool) -> None:
    """64 x 64 of a tile, in swizzled rows of 128 bytes."""
    window = Window(64, 64, by_depth)
    tile = Tensor("tile", (64, 64) if by_depth else (1, 64, 64), FLOAT16)
    steps = np.array([64, 1] if by_depth else [64 * 64, 64, 1])
    places = Swizzle.of(tile)(window.offsets() @ steps)
    assert places.reshape(-1).tolist() == layouts[len(GROUP_COLUMNS) + (not by_depth)]


DESCRIPTORS = """
#define __device__
#define __forceinline__ inline
static unsigned tw_shared_address(const void* at) {{ return (unsigned)(size_t)at; }}
{ours}
// Of a window at the address 0 of a tile of so many rows (or columns), 64 elements deep.
template <GMMA::Major major, class Atom, int rows, int outer>
unsigned long theirs() {{
    using Order = cute::conditional_t<major == GMMA::Major::K, Step<_1, _2>, Step<_2, _1>>;
    auto layout = tile_to_shape(Atom{{}}, Shape<Int<rows>, _64>{{}}, Order{{}});
    auto tile = make_tensor(make_smem_ptr((half_t*)0), layout);
    auto window = local_tile(tile, Shape<Int<outer>, _16>{{}}, make_coord(0, 0));
    return uint64_t(GMMA::make_gmma_desc<major>(window));
}}
template <GMMA::Major major, class Atom, int rows, int outer, int step>
void both() {{
    printf("%lu", theirs<major, Atom, rows, outer>());
    for (size_t at : {{0, 32, 1024, 16384, 98304 + 64, 226 * 1024}})
        printf(" %lu", (unsigned long)tw_window((const void*)at, step));
    printf("\\n");
}}
"""
PLACES = (0, 32, 1024, 16384, 98304 + 64, 226 * 1024)  # of windows, in bytes
ROWS_OF_TILES = (64, 128, 256)
FACTORS = [
    (turned, rows, outer)
    for turned in (False, True)
    for rows in ROWS_OF_TILES
    for outer in (64, 128)  # of the left factor, and of the right one
    if outer <= rows
]


def steps_of_windows(is_left: bool, turned: bool, rows: int) -> int:
    """What the code of a kernel gives the wrapper of such a tile."""
    turns = (turned, False) if is_left else (False, not turned)
    numbers = (rows, 128, 64, 1, 3) if is_left else (64, rows, 64, 1, 3)
    if is_left and rows == 256:
        numbers = (rows, 128, 64, 2, 3)
    dag = product(*turns)
    gene = template_gene("matmul.warpgroups.1", numbers)
    lowered = lowered_of(dag, gene, "product").program
    text = compile_program(lowered, Target.parse("cuda:h100")).object_code.decode()
    found = set(re.findall(r"tw_wgmma_m64n128k16<(\d), (\d), (\d+), (\d+)>\(", text))
    ((left, right, *steps),) = found
    assert (left, right)[not is_left] == str(int(turned))
    return int(steps[not is_left])


@pytest.fixture(scope="module")
def descriptors(tmp_path_factory: pytest.TempPathFactory) -> list[list[int]]:
    """CuTe's of every form of a window, and ours at each place."""
    calls = []
    for turned, rows, outer in FACTORS:
        step = steps_of_windows(outer == 64, turned, rows)
        major = MAJORS[not turned]
        atom = f"GMMA::Layout_{major}_SW128_Atom<half_t>"
        calls.append(f"both<GMMA::Major::{major}, {atom}, {rows}, {outer}, {step}>();")
    for bits in (32, 64, 128):
        for major in MAJORS.values():
            atom = f"GMMA::Layout_{major}_SW{bits}_Atom<half_t>"
            calls.append(f"both<GMMA::Major::{major}, {atom}, 64, 64, 16>();")
    folder = tmp_path_factory.mktemp("descriptors")
    code = DESCRIPTORS.format(ours=WINDOW)
    return printed(folder, ("cute/atom/mma_traits_sm90_gmma.hpp",), code, calls)


def test_descriptors_are_nvidias(descriptors: list[list[int]]) -> None:
    """Of both factors either way round, in tiles of every width, wherever they begin. How far it is
    from 64 elements to the next is said of more than 64 only.
    """
    forms = len(FACTORS)
    for (turned, _, outer), (theirs, *ours) in zip(FACTORS, descriptors[:forms], strict=True):
        said = ~(0x3FFF << 16) if turned and outer == 64 else -1
        found = [one - (at >> 4) & said for one, at in zip(ours, PLACES, strict=True)]
        assert found == [theirs & said] * len(PLACES)
    others = [theirs for theirs, *_ in descriptors[forms:]]
    swizzles = [theirs >> 62 for theirs in others]
    assert swizzles == [3, 3, 2, 2, 1, 1], "32, 64 and 128 bytes: ours is the last"

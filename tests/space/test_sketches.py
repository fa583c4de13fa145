"""Sketch sets: golden text for the ten operators and the paper's figure 5, and what must not
change them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor, select
from tilewright.expr.tensors import compute, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.expr.text import extent_text
from tilewright.nest.nodes import Alloc, For, Kind, Node, Store, bodies
from tilewright.schedule.state import Stage
from tilewright.space.decisions import Decision
from tilewright.space.space import Sketch, Space
from tilewright.target import Target
from workloads import (
    OPERATORS,
    attention,
    conv_layer,
    figure5_input1,
    figure5_input2,
    given,
    weight,
)

MARKS = {Kind.VECTOR: "~", Kind.UNROLLED: "*"}


def stage_text(stage: Stage) -> str:
    """Tile levels between bars; `~` marks the vector loop, `*` unrolled ones."""
    levels = [
        " ".join(leaf + MARKS.get(stage.kinds.get(leaf, Kind.SERIAL), "") for leaf in group)
        for group in stage.groups
    ]
    text = f"{stage.name}: {' | '.join(levels)}"
    if stage.attach is not None:
        text += f"   at {stage.attach.target}, level {extent_text(stage.attach.level)}"
    if stage.packed:
        text += f"   packs {', '.join(stage.packed)}"
    return text


def role(decision: Decision) -> str:
    """The mutation that a decision is for."""
    return next(iter(decision.mutations))


def sketch_text(sketch: Sketch) -> str:
    """Name, loops of every stage, decisions with the number of their values."""
    lines = [sketch.name, *(f"  {stage_text(s)}" for s in sketch.stages.values())]
    lines += [f"  {d.name}: {role(d)}, {len(d.table)} values" for d in sketch.decisions]
    return "\n".join(lines)


def space_text(dag: ComputeDAG, target: Target) -> str:
    return "\n\n".join(sketch_text(s) for s in Space(dag, target).sketches) + "\n"


def prologue() -> ComputeDAG:
    """Scale, shift and ReLU of an image, and a 1 x 1 convolution with bias."""
    x = given(2, 14, 14, 24)
    scaled = ops.add(ops.multiply(x, weight(24, name="s")), weight(24, name="t"))
    kernels, bias = weight(1, 1, 24, 32), weight(32, name="b")
    return ComputeDAG([ops.conv2d(ops.relu(scaled, name="relu"), kernels, bias, name="conv")])


MADE: dict[str, Callable[[], ComputeDAG]] = {
    **OPERATORS,
    "ConvLayer": conv_layer,
    "figure5_1": figure5_input1,
    "figure5_2": figure5_input2,
    "prologue": prologue,
}


@pytest.mark.parametrize("name", MADE)
def test_sketches(name: str, target: Target, golden: Callable[[str, str], None]) -> None:
    golden(f"sketches/{name}.txt", space_text(MADE[name](), target))


def skeletons(dag: ComputeDAG, target: Target) -> set[tuple[str, ...]]:
    """The stages of every sketch as text, without decisions."""
    return {
        tuple(stage_text(s) for s in sketch.stages.values())
        for sketch in Space(dag, target).sketches
    }


def test_figure5_input1_has_the_papers_sketch(target: Target) -> None:
    """Sketch 1: C tiled SSRSRS inside the tiles of D."""
    tiles = "i.0 j.0 | i.1 j.1 | k.0 | i.2 j.2 | k.1 | i.3* j.3~"
    found = skeletons(figure5_input1(), target)
    assert any(s[0].startswith(f"C: {tiles}   at D, level") for s in found)
    # the untiled consumer comes too: rule 3 without rule 4
    assert any(s[0] == f"C: {tiles}" for s in found)


def test_figure5_input2_has_the_papers_sketches(target: Target) -> None:
    """Sketch 2: B inlined, C at the root, E cached and tiled; sketch 3: E factored along k."""
    sketches = Space(figure5_input2(), target).sketches
    stages = {s.name: list(s.stages) for s in sketches}
    assert all("B" not in names for names in stages.values())
    cached = [s for s in sketches if "E.local" in s.stages and "C" in s.stages]
    tiles = "i.0 j.0 | i.1 j.1 | k.0 | i.2 j.2 | k.1 | i.3* j.3~"
    assert any(
        s.state["C"].attach is None
        and stage_text(s.state["E.local"]).startswith(f"E.local: {tiles}   at E, level")
        for s in cached
    )
    factored = [s for s in sketches if "E.rf" in s.stages and "C" in s.stages]
    assert any(
        s.state["C"].attach is None
        and stage_text(s.state["E.rf"]) == "E.rf: i | j | k.r | k.f~"
        and stage_text(s.state["E"]) == "E: i | j | k.f~"
        for s in factored
    )


@pytest.mark.parametrize(("per_group", "vector"), [(32, "c"), (24, "rc"), (8, "rc")])
def test_groups_of_whole_vectors_are_tiled_one_by_one(
    per_group: int, vector: str, target: Target
) -> None:
    x, w = given(1, 6, 6, 64), weight(2, 2, 16, 4 * per_group)
    space = Space(ComputeDAG([ops.conv2d(x, w, groups=4, name="conv")]), target)
    for sketch in space.sketches:
        kinds = next(s for s in sketch.stages.values() if s.compute.reduce_axes).kinds
        assert [leaf.split(".")[0] for leaf, k in kinds.items() if k is Kind.VECTOR] == [vector]
    tiles = next(d for d in space.decisions if d.name == "conv.c").table.prod(axis=1)
    assert (per_group % tiles == 0).all() == (vector == "c")


def test_a_permuted_operand_that_is_reused_is_copied(target: Target) -> None:
    rows, columns = given(32, 24), given(40, 24, name="y")
    turned = ops.transpose(columns, (1, 0), name="turned")
    sketches = Space(ComputeDAG([ops.matmul(rows, turned, name="c")]), target).sketches
    tiled = [s for s in sketches if "turned_tiles" in s.name]
    places = {s.name.rpartition("turned: ")[2] for s in sketches if s not in tiled}
    assert places == {"at c", "at c.local", "inline", "root"} and tiled


@pytest.mark.parametrize(("rows", "is_copied"), [(1, False), (2, True)])
def test_a_permuted_operand_that_is_used_once_is_not(
    rows: int, is_copied: bool, target: Target
) -> None:
    turned = ops.transpose(given(40, 24, name="y"), (1, 0), name="turned")
    product = ops.matmul(given(rows, 24), turned, name="c")
    sketches = Space(ComputeDAG([product]), target).sketches
    assert any("turned" in s.stages for s in sketches) == is_copied


def iterations(node: Node, stage: str, around: int = 1) -> int:
    """How often a concrete nest stores to a stage."""
    if isinstance(node, Store):
        return around if node.tensor.name == stage else 0
    if isinstance(node, For):
        assert isinstance(node.extent, int)
        around *= node.extent
    return sum(iterations(b, stage, around) for b in bodies(node))


def test_a_prologue_is_computed_once_in_panels_without_gaps(target: Target) -> None:
    space = Space(prologue(), target)
    population = space.sample(np.random.default_rng(0), 256)
    seen = set()
    for number, row in zip(population.sketch, population.rows, strict=True):
        sketch = space.sketches[number]
        program = space.concrete(number, row)
        if "If(" in repr(program.body):
            continue  # tiles reach beyond the image
        seen.add(sketch.name)
        assert iterations(program.body, "relu") == 2 * 14 * 14 * 24
        panel = next((x for x in allocations(program.body) if x.name == "relu"), None)
        if "panels" in sketch.name and panel is not None:
            image, height, width, _ = panel.shape
            assert width == 14 or image == height == 1
            assert height == 14 or image == 1
    assert len(seen) == len(space.sketches)


def allocations(node: Node) -> list[Tensor]:
    """The scratch tensors of a nest."""
    own = [node.tensor] if isinstance(node, Alloc) else []
    return own + [t for b in bodies(node) for t in allocations(b)]


def test_few_uses_and_what_constants_make_are_no_prologue(target: Target) -> None:
    narrow = ops.dense(ops.relu(given(64, 24), name="relu"), weight(24, 8))
    decoded = ops.dense(given(64, 24), ops.multiply(weight(24, 32), 0.5, name="half"))
    for y in (narrow, decoded):
        for sketch in Space(ComputeDAG([y]), target).sketches:
            assert not {"relu", "half"} & set(sketch.stages)


def test_a_permuted_weight_is_inlined(target: Target) -> None:
    turned = ops.transpose(weight(40, 24), (1, 0), name="turned")
    sketches = Space(ComputeDAG([ops.matmul(given(32, 24), turned)]), target).sketches
    assert all("turned" not in s.name and "turned" not in s.stages for s in sketches)


def test_names_and_producers_are_unique(target: Target) -> None:
    for make in (*MADE.values(), attention):
        sketches = Space(make(), target).sketches
        assert len({s.name for s in sketches}) == len(sketches)
        assert len({s.producer for s in sketches}) == len(sketches)


def test_renaming_stages_keeps_the_sketches(target: Target) -> None:
    def layer(conv: str, out: str) -> ComputeDAG:
        y = ops.conv2d(given(1, 8, 8, 6), weight(3, 3, 6, 8), padding=1, name=conv)
        return ComputeDAG([ops.relu(y, name=out)])

    one = space_text(layer("conv", "relu"), target)
    other = space_text(layer("zzz", "aaa"), target)
    assert other.replace("zzz", "conv").replace("aaa", "relu") == one


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 2, 0), (2, 3, 0, 1), (0, 2, 1, 3)])
def test_permuting_spatial_axes_keeps_the_sketches(order: tuple[int, ...], target: Target) -> None:
    assert summary(permuted(order), target) == summary(permuted((0, 1, 2, 3)), target)


def permuted(order: tuple[int, ...]) -> ComputeDAG:
    """A padded convolution with ReLU whose output axes n, h, w, c stand in this order."""
    x, w = given(2, 8, 10, 6), weight(3, 3, 6, 12)
    padded = ops.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    rh, rw, rc = reduce_axis(3, "rh"), reduce_axis(3, "rw"), reduce_axis(6, "rc")
    extents, names = (2, 8, 10, 12), ("n", "h", "w", "c")
    shape = tuple(extents[d] for d in order)

    def logical(index: tuple[object, ...]) -> dict[str, object]:
        return {names[d]: index[k] for k, d in enumerate(order)}

    def body(*index: object) -> object:
        at = logical(index)
        value = padded[at["n"], at["h"] + rh, at["w"] + rw, rc]  # type: ignore[operator]
        return sum_over(value * w[rh, rw, rc, at["c"]], (rh, rw, rc))

    conv: Tensor = compute(shape, body, name="conv")
    relu = compute(shape, lambda *i: select(conv[i] > 0.0, conv[i], 0.0), name="relu")
    return ComputeDAG([relu])


def summary(dag: ComputeDAG, target: Target) -> list[tuple[str, list[str]]]:
    """Names of the sketches with the roles of their decisions.

    Which axis runs along the vector follows from the strides, so tile tables may differ.
    """
    return [(s.name, sorted(map(role, s.decisions))) for s in Space(dag, target).sketches]


def test_a_single_number_is_no_operand_to_pack(target: Target) -> None:
    number, a = given(name="s"), given(8, 4, name="a")
    b = compute((4, 8), lambda k, j: number[()], name="b")
    k = reduce_axis(4, "k")
    c = compute((8, 8), lambda i, j: sum_over(a[i, k] * b[k, j], k), name="c")
    space = Space(ComputeDAG([c]), target)
    assert all("packs" not in sketch_text(s) for s in space.sketches)


@pytest.mark.parametrize("target", ["cpu:icelake-server cores=2", "cuda:h100"])
@pytest.mark.parametrize("make", [lambda x, y, n: ops.relu(ops.matmul(x, y, name=n), name="end"),
                                  lambda x, y, n: ops.matmul(x, y, name=n),
                                  lambda x, _, n: ops.reduce_sum(x, name=n)])  # fmt: skip
@pytest.mark.parametrize("name", ["mm.local", "mm.rf", "mm.local.rf"])
def test_what_a_stage_is_does_not_hang_on_its_name(
    make: Callable[[Tensor, Tensor, str], Tensor], name: str, target: str
) -> None:
    """A DAG may call its stages as steps call those that they make."""

    def sketches(called: str) -> list[str]:
        x, y = given(48, 4096), weight(4096, 64)
        space = Space(ComputeDAG([make(x, y, called)]), Target.parse(target))
        return [sketch_text(sketch).replace(called, "C") for sketch in space.sketches]

    assert sketches(name) == sketches("mm")

"""Programs made readable again: sketches found from traces, records found by name."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.build.layers import Layers
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.front.inspection import find_program, find_task
from tilewright.ground.errors import InputError
from tilewright.records.answers import Coverage
from tilewright.records.database import Database
from tilewright.schedule.trace import gene_of, steps_of
from tilewright.space.space import Space
from tilewright.target import Target


def matmul_relu() -> tw.Task:
    A = tw.placeholder((48, 64), name="A")
    B = tw.placeholder((64, 96), name="B", constant=True)
    k = tw.reduce_axis(64, "k")
    C = tw.compute((48, 96), lambda i, j: tw.sum(A[i, k] * B[k, j], k), name="C")
    D = tw.compute((48, 96), lambda i, j: tw.maximum(C[i, j], 0), name="D")
    return tw.Task([A, B, D], "matmul_relu")


def test_a_tensor_alone_is_a_task() -> None:
    x = tw.placeholder((4, 8), name="x")
    y = tw.compute((4, 8), lambda i, j: tw.maximum(x[i, j], 0), name="y")
    assert str(tw.Task(y).dag) == str(tw.Task([x, y]).dag)
    with pytest.raises(tw.InputError, match="at least one computed tensor"):
        tw.Task(x)


def test_it_is_told_which_contractions_share_their_loops(target: Target) -> None:
    a = tw.placeholder((32, 16), name="a")
    wide = ops.matmul(a, tw.placeholder((16, 32), name="v", constant=True), name="first")
    y = ops.matmul(ops.relu(wide), tw.placeholder((32, 8), name="w", constant=True), name="second")
    space = Space(ComputeDAG([y]), target)
    population = space.sample(np.random.default_rng(0), 60)
    told = set()
    for number, row in zip(population.sketch, population.rows, strict=True):
        layers = Layers(space.dag, space.gene(int(number), row), target, "pair")
        chained = "of first" in layers.sketch_name
        assert layers.chained == {"second": ("first", chained)}
        told.add(chained)
    assert told == {True, False}


def test_layers_of_a_program(target: Target) -> None:
    space = Space(matmul_relu().dag, target)
    row = space.sample(np.random.default_rng(3), 1)
    gene = space.gene(int(row.sketch[0]), row.rows[0])
    layers = Layers(space.dag, gene, target, "demo")
    by_hand = Layers(space.dag, gene_of(steps_of(gene)), target, "demo")
    assert by_hand.text("nest") == layers.text("nest")
    assert by_hand.text("sketch").startswith("sketch plain loops\ndecisions\n\nprogram demo")
    assert layers.text("trace").count("\n") == len(layers.steps)
    assert layers.text("sketch").startswith(f"sketch {space.sketches[row.sketch[0]].name}")
    assert "program demo" in layers.text("nest")
    assert "define void @demo" in layers.text("ir")
    with pytest.raises(tw.InputError, match="unknown layer 'asm'"):
        layers.text("asm")


def test_an_empty_database_has_no_programs(tmp_path: Path) -> None:
    with (
        Database.open(tmp_path / "empty.db") as database,
        pytest.raises(tw.InputError, match="holds no trials"),
    ):
        find_program(database)


def test_a_task_is_named_by_a_part_that_only_it_has() -> None:
    names = ("t1_conv_relu", "t2_max_pool", "t10_conv_relu", "t11_conv")
    lines = [Coverage(f"{i}f", n, "m", 1, 0, 0.1, 0.0, 1, "measured") for i, n in enumerate(names)]
    database: Any = SimpleNamespace(
        name="tuning.db", summary=lambda: SimpleNamespace(coverage=tuple(lines))
    )
    asked = ("max_pool", "t1", "t11_conv", "2f", "3")
    assert [find_task(database, task).name for task in asked] == [
        "t2_max_pool", "t1_conv_relu", "t11_conv", "t10_conv_relu", "t10_conv_relu",
    ]  # fmt: skip
    with pytest.raises(InputError) as caught:
        find_task(database, "relu")
    assert str(caught.value).splitlines() == [
        "several tasks fit 'relu'; name one, or its number:",
        "  1 t1_conv_relu (0f)",
        "  3 t10_conv_relu (2f)",
    ]
    with pytest.raises(InputError, match="no task fits 'lstm'"):
        find_task(database, "lstm")

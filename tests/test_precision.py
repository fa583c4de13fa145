"""In which precision contractions run, by which instruction, and why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper, save

import tilewright as tw
from cli_models import cli
from tilewright.expr.tensors import cast, compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.front.precision import gain_of, multiplied
from tilewright.target import Target

AMX = (
    "cpu:sapphirerapids features=+avx512f,+avx512bw,+avx512vl,+avx512vnni,+avx512bf16,"
    "+amx-tile,+amx-int8,+amx-bf16,-prefer-256-bit"
)
AVX2 = "cpu:haswell features=+avx2"


def product(left: str, right: str, turned: bool = False) -> Any:
    kind = "int32" if "int" in left else "float32"
    a = placeholder((256, 64) if turned else (64, 256), name="A", dtype=left)
    b = placeholder((256, 64), name="B", dtype=right, constant=True)
    k = reduce_axis(256, "k")

    def term(i: Any, j: Any) -> Any:
        x = a[k, i] if turned else a[i, k]
        return sum_over(cast(kind, x) * cast(kind, b[k, j]), k)

    return tw.Task([a, b, compute((64, 64), term, name="C")]).dag


@pytest.mark.parametrize(
    ("types", "spec", "how", "gain"),
    [
        (("uint8", "int8"), AMX, "uint8 x int8 by tdpbusd", 32.0),
        (("bfloat16", "bfloat16"), AMX, "bfloat16 by tdpbf16ps", 16.0),
        (("uint8", "int8"), f"{AVX2},+avxvnni", "uint8 x int8 by vpdpbusd", 4.0),
        (("int8", "int8"), AVX2, "int8 by vpmaddwd", 4 / 3),
        (("bfloat16", "bfloat16"), AVX2, "bfloat16, term by term: haswell has no instr", 1.0),
        (("float32", "float32"), AMX, "float32", 1.0),
        (("uint8", "int8"), "cuda:h100", "uint8 x int8, term by term: h100 has no", 1.0),
    ],
)
def test_each_pair_of_types_has_its_instruction(
    types: tuple[str, str], spec: str, how: str, gain: float
) -> None:
    dag, target = product(*types), Target.parse(spec)
    (found,) = multiplied(dag, target)
    assert found.how.startswith(how) and found.gain == pytest.approx(gain)
    assert gain_of(dag, target) == pytest.approx(max(gain, 1.0))


def test_factors_that_do_not_lie_along_the_sum_are_said() -> None:
    (found,) = multiplied(product("uint8", "int8", turned=True), Target.parse(AMX))
    assert found.how == "uint8 x int8, term by term: factors do not lie along the sum"


def test_plan_says_it_of_each_group(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    shapes = {"v": (64, 32, 1, 1), "d": (64, 1, 3, 3), "s": (32, 3, 1, 1)}
    weights = {n: rng.standard_normal(shape).astype(np.float32) for n, shape in shapes.items()}
    nodes = [
        helper.make_node("Conv", ["x", "s"], ["a"]),
        helper.make_node("Conv", ["a", "v"], ["b"]),
        helper.make_node("Conv", ["b", "d"], ["y"], pads=[1] * 4, group=64),
    ]
    ends = [
        helper.make_tensor_value_info(name, 1, shape)
        for name, shape in (("x", (1, 3, 16, 16)), ("y", (1, 64, 16, 16)))
    ]
    kept = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], kept)
    file = tmp_path / "g.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    words = ("--db", tmp_path / "a.db", "--target", AMX)
    told = cli("plan", file, *words, "--math", "bfloat16", "--no-chains")
    assert told.exit_code == 0, told.output
    lines = [x for x in told.stdout.splitlines() if x.startswith("Multiplied in ")]
    assert sorted(x.partition(": t")[0] for x in lines) == [
        "Multiplied in bfloat16 by tdpbf16ps",
        "Multiplied in float32: depthwise",
        "Multiplied in float32: short sums",
    ]
    plain = cli("plan", file, *words, "--no-chains").stdout
    assert "bfloat16" not in plain and "Multiplied in float32: depthwise" in plain

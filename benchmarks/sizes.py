"""What it costs that one kernel serves a range of sizes: its time beside static programs' own.

    python -m benchmarks.sizes [CASE …] [--turns 40] [--json FILE]

A case is a computation with a size. The untuned program of one point is built once with the size,
and once for each of the case's values, by the same gene; both are timed in turns, each time on the
same arrays. A figure is the ratio of the least times, with those of code and of compiling.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tilewright.build.compile import build_nest
from tilewright.contract.artifact import Artifact
from tilewright.contract.gene import Gene
from tilewright.contract.sizes import Size
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Expr, Extent, Tensor, Var, call, select
from tilewright.expr.sizes import shape_at
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import sum as sum_over
from tilewright.front.machine import host_target
from tilewright.runtime.buffers import address, aligned_empty
from tilewright.runtime.cpu import LoadedKernel, pointer_array
from tilewright.space.default import default_gene
from tilewright.space.space import Space
from tilewright.target import Target

TURNS = 40
CALLS_S = 0.002  # of one turn


@dataclass(frozen=True)
class SizedCase:
    """A computation with sizes, the values whose untuned program serves all, and those timed."""

    make: Callable[[], Tensor]
    sizes: tuple[Size, ...]
    point: Mapping[str, int]
    values: tuple[Mapping[str, int], ...]

    def dag(self) -> ComputeDAG:
        return ComputeDAG([self.make()], self.sizes)


def product(rows: Extent, terms: Extent, columns: Extent) -> Tensor:
    """max(A·B + bias, 0)."""
    is_weight = isinstance(terms, int) and isinstance(columns, int)
    a, b = placeholder((rows, terms), name="a"), placeholder((terms, columns), constant=is_weight)
    bias, k = placeholder((columns,), name="bias"), reduce_axis(terms, "k")
    c = compute((rows, columns), lambda i, j: sum_over(a[i, k] * b[k, j], k), name="c")
    return compute((rows, columns), lambda i, j: relu(c[i, j] + bias[j]), name="y")


def relu(x: Expr) -> Expr:
    return select(x > 0.0, x, 0.0)


def softmax(rows: int, width: Extent) -> Tensor:
    x, k, m = placeholder((rows, width)), reduce_axis(width, "k"), reduce_axis(width, "m")
    top = compute((rows,), lambda i: max_over(x[i, k], k), name="top")
    e = compute((rows, width), lambda i, j: call("exp", x[i, j] - top[i]), name="e")
    total = compute((rows,), lambda i: sum_over(e[i, m], m), name="total")
    return compute((rows, width), lambda i, j: e[i, j] / total[i], name="y")


def convolution(height: Extent, width: Extent, channels: int) -> Tensor:
    """3 x 3, padded by 1, channels last."""
    x = placeholder((height, width, channels))
    w = placeholder((3, 3, channels, channels), name="w", constant=True)
    r, s, c = reduce_axis(3, "r"), reduce_axis(3, "s"), reduce_axis(channels, "c")

    def padded(i: Expr, j: Expr, k: Expr) -> Expr:
        inside = (i >= 1) & (i <= height) & (j >= 1) & (j <= width)
        return select(inside, x[i - 1, j - 1, k], 0.0)

    p = compute((height + 2, width + 2, channels), padded, name="p")
    return compute(
        (height, width, channels),
        lambda i, j, k: sum_over(p[i + r, j + s, c] * w[r, s, c, k], (r, s, c)),
        name="y",
    )


def along(name: str, *values: int) -> tuple[Mapping[str, int], ...]:
    return tuple({name: v} for v in values)


ROWS, TERMS, COLUMNS = Size("S", 1, 512), Size("K", 1, 512), Size("N", 1, 512)
HEIGHT, WIDTH = Size("H", 8, 61), Size("W", 8, 61)
CASES = {
    "rows": SizedCase(
        lambda: product(Var("S"), 768, 768), (ROWS,), {"S": 128},
        along("S", 1, 5, 16, 31, 64, 100, 197, 256, 384, 511),
    ),
    "sum": SizedCase(
        lambda: product(96, Var("K"), 64), (TERMS,), {"K": 128}, along("K", 16, 100, 300, 509)
    ),
    "columns": SizedCase(
        lambda: product(96, 64, Var("N")), (COLUMNS,), {"N": 512},
        along("N", 16, 100, 128, 300, 500),
    ),
    "softmax": SizedCase(
        lambda: softmax(768, Var("S")), (ROWS,), {"S": 512}, along("S", 16, 64, 100, 128, 300, 500)
    ),
    "convolution": SizedCase(
        lambda: convolution(Var("H"), Var("W"), 64), (HEIGHT, WIDTH), {"H": 56, "W": 56},
        tuple({"H": n, "W": n} for n in (14, 28, 40, 56, 61)),
    ),
}  # fmt: skip


class Timed:
    """A kernel with arrays, as they lie for it."""

    def __init__(
        self, artifact: Artifact, arrays: Mapping[str, np.ndarray], sizes: Mapping
    ) -> None:
        self.kernel = LoadedKernel(artifact)
        self.sizes = sizes if artifact.sizes else {}
        self.buffers = []
        for spec in (*artifact.inputs, *artifact.constants, *artifact.outputs):
            room = aligned_empty(spec.shape, np.dtype(spec.dtype), len(self.buffers))
            room.fill(np.nan)
            self.buffers.append(room)
        packings = dict(zip((c.name for c in artifact.constants), artifact.packings, strict=True))
        for spec, room in zip((*artifact.inputs, *artifact.constants), self.buffers, strict=False):
            packing = packings.get(spec.name)
            array = arrays[spec.name if packing is None else packing.source.name]
            array = array if packing is None else packing.apply(array)
            room[tuple(map(slice, array.shape))] = array
        self.scratch = aligned_empty((max(64, artifact.scratch_bytes),), np.dtype(np.uint8), 0)
        self.pointers = pointer_array([address(b) for b in self.buffers])
        self.count = 1
        self.count = max(1, int(CALLS_S / self.seconds()))

    def seconds(self) -> float:
        """The least of some calls."""
        where = ctypes.addressof(self.pointers), address(self.scratch)
        return float(self.kernel.bench(*where, self.count, sizes=self.sizes).min())

    def output(self, shape: Sequence[int]) -> np.ndarray:
        return self.buffers[-1][tuple(map(slice, shape))]


def measured(case: SizedCase, target: Target, turns: int) -> dict:
    """Ratios by values, and what building took. Raises AssertionError where results differ."""
    dag = case.dag()
    gene = default_gene(Space(dag.at(case.point), target, sized=dag))
    started = time.perf_counter()
    sized = build_nest(dag, gene, target, "sized")
    built_s = time.perf_counter() - started
    rows = [_row(dag, gene, sized, values, target, turns) for values in case.values]
    return {"rows": rows, "code_bytes": len(sized.object_code), "build_s": built_s}


def _row(
    dag: ComputeDAG, gene: Gene, sized: Artifact, values: Mapping, target: Target, turns: int
) -> dict:
    rng = np.random.default_rng(0)
    arrays = {
        t.name: rng.standard_normal(shape_at(t, values)).astype("f4")
        for t in (*dag.inputs, *dag.constants)
    }
    started = time.perf_counter()
    static = build_nest(dag.at(values), gene, target, "static")
    built_s = time.perf_counter() - started
    sides = [Timed(sized, arrays, values), Timed(static, arrays, values)]
    least = [float("inf")] * 2
    for _ in range(turns):
        least = [min(best, side.seconds()) for best, side in zip(least, sides, strict=True)]
    shape = shape_at(dag.outputs[0], values)
    found, expected = (side.output(shape) for side in sides)
    assert np.abs(found - expected).max() <= 1e-4 * np.abs(expected).max(), values
    return {
        "values": dict(values),
        "static_us": 1e6 * least[1],
        "ratio": least[0] / least[1],
        "static_bytes": len(static.object_code),
        "static_build_s": built_s,
    }


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    target, found = host_target(), {}
    for name in options.cases or CASES:
        found[name] = measured(CASES[name], target, options.turns)
        print(f"{name}: {found[name]['code_bytes'] / 1000:.1f} kB, {found[name]['build_s']:.2f} s")
        for row in found[name]["rows"]:
            at = ", ".join(f"{n} = {v}" for n, v in row["values"].items())
            print(f"  {at:16} {row['static_us']:9.1f} µs static   {row['ratio']:.2f} with sizes")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

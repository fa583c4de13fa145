"""Bolt's figures and tables on a GPU, in half precision: templates, libraries, our own sketches.

    python -m benchmarks.bolt_gpu --minutes 9 --json bolt_gpu.json
    python -m benchmarks.bolt_gpu --device emulated --parts 8a,9,table1     every path, small sizes

Of every computation all programs of its templates' short lists are built, checked against PyTorch
and timed by the device's clock, in graphs; the fastest counts. PyTorch (cuBLAS, cuDNN with its
algorithms tried, channels last) is timed in a graph, too. Parts, with what each row has:

    8a      products: templates, PyTorch, the profile of the sketches' space (SIMT)
    8b      3 x 3 convolutions of ResNet-50, batch 32: the same
    9       bias and activation in the same kernel, and in a kernel of their own
    table1  two products, table2 two convolutions: in one kernel, and in two
    table3  channels that are no multiple of 8: as they are, and padded
    10      whole networks at batch 32, tuned by their profile (--networks has their ONNX files)

The JSON file is written after every row, and rows that it has are not run again (--anew: they are).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import tilewright as tw
from benchmarks.bolt_problems import (
    ACTIVATIONS,
    CONV_PAIRS,
    CONVOLUTIONS,
    PADDED,
    PAIRS,
    PRODUCTS,
    Problem,
    convolution,
    convolutions,
    pointwise,
    product,
    products,
)
from benchmarks.comparison import mean
from benchmarks.deadline import Deadline
from benchmarks.models.table import CASES, NetworkCase
from benchmarks.provenance import kept_file
from benchmarks.report import Part as Shown
from benchmarks.report import Table, show, told
from benchmarks.reuse_records import keep_results
from benchmarks.slices import reported
from benchmarks.torch_graphs import Torch
from tilewright.build.compile import build_request, compile_request, make_request
from tilewright.cli.console import complain, output
from tilewright.contract.artifact import Array, Artifact
from tilewright.contract.gene import Gene
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cutlass import offered
from tilewright.expr.dag import ComputeDAG
from tilewright.front.machine import as_target
from tilewright.ground.errors import TilewrightError
from tilewright.ground.text import NONE, duration
from tilewright.runtime.device import Device, DeviceFunction
from tilewright.runtime.devices import open_device
from tilewright.search.strategies.profiler import PROGRAMS, profile_of
from tilewright.space.space import Space

RESULTS = Path(__file__).parent / "results" / "bolt_gpu.json"
BATCH = 32
SKETCHES = 24
TUNING_MINUTES = 20  # of a network, at most
Row: TypeAlias = "dict[str, Any]"

NETWORKS = ("repvgg-a0-b1", "resnet50-b1")


# ---- programs ----------------------------------------------------------------------------------

TIMED = 10  # figures of a program, of which the median counts
# Of the largest output: half precision has 11 bits, and two contractions round twice.
TOLERANCE = 1e-2


@dataclass(frozen=True)
class Found:
    """A program that was timed, how many were, and how many could not be built or run."""

    seconds: float
    gene: Gene
    programs: int
    failed: int


class WrongError(RuntimeError):
    """A program's output is not what is expected."""


@dataclass(frozen=True)
class Lab:
    """A device, and processes that build for it."""

    device: Device
    pool: ProcessPoolExecutor

    @staticmethod
    @contextmanager
    def open(device: Device) -> Iterator[Lab]:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(os.cpu_count(), context) as pool:
            yield Lab(device, pool)

    def templates(self, dag: ComputeDAG) -> list[Gene]:
        """What templates offer, the most promising first."""
        return offered(dag, self.device.target)

    def sketches(self, dag: ComputeDAG, most: int = PROGRAMS) -> list[Gene]:
        """The profile of the space that is derived from the mathematics."""
        space = Space(dag, self.device.target)
        found = profile_of(space, FeatureExtractor(space), most).population
        return [space.gene(int(k), row) for k, row in zip(found.sketch, found.rows, strict=True)]

    def best(
        self,
        dag: ComputeDAG,
        genes: Sequence[Gene],
        arrays: Mapping[str, Array],
        expected: Array | None = None,
    ) -> Found | None:
        """The fastest of some programs; None where none can be built and run.

        Raises WrongError for an output that is not as `expected` (None: that of the first).
        """
        target = self.device.target
        requests = [make_request(dag, gene, target, "program") for gene in genes]
        found: list[tuple[float, Gene]] = []
        for gene, built in zip(
            genes, self.pool.map(built_or_none, requests, chunksize=1), strict=True
        ):
            if built is None:
                continue
            try:
                output, seconds = self.timed(dag, Artifact.from_bytes(built), arrays)
            except TilewrightError as error:
                print(f"{gene.text}: {error}", file=sys.stderr)
                continue
            expected = output if expected is None else expected
            check(output, expected, gene.text)
            found.append((seconds, gene))
        if not found:
            return None
        seconds, gene = min(found, key=lambda pair: pair[0])
        return Found(seconds, gene, len(found), len(genes) - len(found))

    def timed(
        self, dag: ComputeDAG, artifact: Artifact, arrays: Mapping[str, Array]
    ) -> tuple[Array, float]:
        """The first output, and the seconds of a run."""
        function = DeviceFunction(artifact, self.device)
        if dag.constants:
            function.prepare({t.name: arrays[t.name] for t in dag.constants})
        inputs = [arrays[t.name] for t in dag.inputs]
        output: Array = function(*inputs)[0]
        return output, float(np.median(function.bench(inputs, TIMED)))


def check(output: Array, expected: Array, what: str) -> None:
    """Raises WrongError unless an output is as expected; NaN never is."""
    wanted = expected.astype(np.float32)
    difference = np.abs(output.astype(np.float32) - wanted.reshape(output.shape))
    limit = TOLERANCE * float(np.abs(wanted).max())
    if not (difference <= limit).all():
        wrong = np.count_nonzero(~(difference <= limit))
        raise WrongError(f"{what} is wrong at {wrong} of {output.size} elements")


def random_arrays(dag: ComputeDAG, seed: int = 0) -> dict[str, Array]:
    """Inputs and constants, whose sums stay of the size of one."""
    rng = np.random.default_rng(seed)
    found: dict[str, Array] = {}
    for tensor in (*dag.inputs, *dag.constants):
        shape = tuple(int(e) for e in tensor.shape if isinstance(e, int))
        depth = int(np.prod(shape[:-1])) if tensor.name.startswith("w") else 1
        values = rng.standard_normal(shape, np.float32) / np.float32(depth) ** np.float32(0.5)
        found[tensor.name] = values.astype(tensor.dtype.numpy)
    return found


def built_or_none(request: bytes) -> bytes | None:
    """An artifact's bytes, or None with the reason on standard error (in a process of the pool)."""
    try:
        return build_request(request)
    except TilewrightError as error:
        print(str(error)[:300], file=sys.stderr)
        return None


# ---- parts ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bench:
    """What parts run on."""

    lab: Lab
    torch: Torch
    small: bool
    networks: Path
    deadline: Deadline

    def shrunk(self, shape: Sequence[int]) -> list[int]:
        """Sizes for the emulation."""
        return [min(n, 72) for n in shape] if self.small else list(shape)

    def templates(self, problem: Problem, keep: Callable[[Gene], bool] | None = None) -> Row:
        """The best template of a problem, and PyTorch."""
        arrays = random_arrays(problem.dag)
        expected, torch_s = self.torch.problem(problem, arrays)
        genes = [g for g in self.lab.templates(problem.dag) if keep is None or keep(g)]
        found = self.lab.best(problem.dag, genes[: 2 if self.small else None], arrays, expected)
        return {"torch_s": torch_s, **_row(found)}

    def sketches(self, problem: Problem) -> Row:
        """The best of the space's own profile."""
        genes = self.lab.sketches(problem.dag, 1 if self.small else SKETCHES)
        return _row(self.lab.best(problem.dag, genes, random_arrays(problem.dag)), "simt")

    def default(self, problem: Problem) -> float:
        """Seconds of the default program."""
        target = self.lab.device.target
        built = compile_request(make_request(problem.dag, None, target, "program"))
        arrays = random_arrays(problem.dag)
        return self.lab.timed(problem.dag, Artifact.from_bytes(built), arrays)[1]


def _row(found: Found | None, name: str = "templates") -> Row:
    if found is None:
        return {f"{name}_s": None}
    gene = json.loads(found.gene.text)
    kind = "native" if found.gene.key == "native" else "sketch"
    return {
        f"{name}_s": found.seconds,
        f"{name}_program": {kind: gene["producer"][kind], **gene["decisions"]},
        f"{name}_programs": found.programs,
        f"{name}_failed": found.failed,
    }


Rows: TypeAlias = "Iterator[tuple[str, Callable[[], Row]]]"
"""Names, and what measures each."""
Part: TypeAlias = "Callable[[Bench], Rows]"


def products_alone(bench: Bench) -> Rows:
    for name, shape in PRODUCTS.items():
        m, n, k = bench.shrunk(shape)
        yield name, partial(_alone, bench, product(m, n, k), 2 * m * n * k)


def convolutions_alone(bench: Bench) -> Rows:
    for name, (size, c, o) in CONVOLUTIONS.items():
        n, size, c, o = (1, 7, 16, 16) if bench.small else (BATCH, size, c, o)
        problem = convolution(n, size, size, c, o, (3, 3))
        yield name, partial(_alone, bench, problem, 2 * n * size * size * c * o * 9)


def _alone(bench: Bench, problem: Problem, flops: int) -> Row:
    return {"flops": flops, **bench.templates(problem), **bench.sketches(problem)}


def epilogues(bench: Bench) -> Rows:
    m, n, k = bench.shrunk((1280, 3072, 768))
    size, c = (7, 16) if bench.small else (56, 64)
    images = 1 if bench.small else BATCH
    kinds: dict[str, tuple[Callable[..., Problem], tuple[int, ...]]] = {
        "product": (lambda **how: product(m, n, k, **how), (m, n)),
        "convolution": (
            lambda **how: convolution(images, size, size, c, c, (3, 3), **how),
            (images, size, size, c),
        ),
    }

    def row(make: Callable[..., Problem], shape: tuple[int, ...], activation: str) -> Row:
        plain = bench.templates(make())
        fused = bench.templates(make(activation=activation, biased=True))
        after_s = bench.default(pointwise(shape, activation))
        if plain["templates_s"] is None or fused["templates_s"] is None:
            return fused
        return {**fused, "apart_s": plain["templates_s"] + after_s, "after_s": after_s}

    for kind, (make, shape) in kinds.items():
        for activation in ACTIVATIONS:
            yield f"{kind} {activation}", partial(row, make, shape, activation)


def pairs_of_products(bench: Bench) -> Rows:
    for name, (m, first, second) in PAIRS.items():
        m = min(m, 200) if bench.small else m
        parts = [product(m, *sizes, activation="relu") for sizes in (first, second)]
        yield name, partial(_pair, bench, products(m, first, second), parts)


def pairs_of_convolutions(bench: Bench) -> Rows:
    like: dict[str, Any] = {"activation": "relu", "biased": True}
    for name, (size, c, o, stride) in CONV_PAIRS.items():
        n, size = (1, 8) if bench.small else (BATCH, size)
        after = -(-size // stride)
        parts = [
            convolution(n, size, size, c, o, (3, 3), stride, **like),
            convolution(n, after, after, o, o, (1, 1), **like),
        ]
        yield name, partial(_pair, bench, convolutions(n, size, c, o, stride), parts)


def _pair(bench: Bench, whole: Problem, parts: Sequence[Problem]) -> Row:
    """In one kernel, and in two."""
    found = bench.templates(whole)
    apart = [bench.templates(part)["templates_s"] for part in parts]
    return {**found, "apart_s": None if None in apart else sum(apart)}


def padding(bench: Bench) -> Rows:
    def row(sizes: tuple[int, int, int, int, int, tuple[int, int]]) -> Row:
        n, height, width, c, o, kernel = sizes
        problem = convolution(*sizes)
        padded = bench.templates(problem, _is_padded)
        as_it_is = bench.templates(problem, lambda g: not _is_padded(g))["templates_s"]
        aligned = convolution(n, height, width, -(-c // 8) * 8, o, kernel)
        aligned_s = bench.templates(aligned)["templates_s"]
        return {**padded, "apart_s": as_it_is, "aligned_s": aligned_s}

    for name, sizes in PADDED.items():
        small = (2, 7, 9, *sizes[3:]) if bench.small else sizes
        yield name, partial(row, small)


def _is_padded(gene: Gene) -> bool:
    return bool(json.loads(gene.text)["decisions"]["pad"])


def networks(bench: Bench) -> Rows:
    for name in NETWORKS:
        case = replace(CASES[name], batch=BATCH)
        file = half_file(case, bench.networks)
        if file is None:
            complain(f"{name}: no ONNX file of it in {bench.networks}: left out")
            continue
        yield case.name, partial(_network, bench, file, case)


def half_file(case: NetworkCase, folder: Path) -> Path | None:
    """The network in half precision, made of its ONNX file; None where there is none."""
    made = folder / f"{case.name}-half.onnx"
    if not made.exists():
        import onnx
        from onnxruntime.transformers.float16 import convert_float_to_float16

        from benchmarks.models.export import path_of

        file = path_of(case, folder)
        if not file.exists():
            return None
        onnx.save(convert_float_to_float16(onnx.load(file)), made)
    return made


def _network(bench: Bench, file: Path, case: NetworkCase) -> Row:
    target = bench.lab.device.target
    inputs = [x.astype(np.float16) for x in case.inputs()]
    model = tw.load(file)
    untuned = tw.compile(model, target=target)
    untuned_s = float(np.median(untuned.function.bench(inputs, 10)))
    db = file.with_suffix(".db")
    started = time.monotonic()
    minutes = min(TUNING_MINUTES, bench.deadline.minutes - 0.5)
    run = tw.tune(model, strategy="profile", minutes=minutes, db=db, target=target)
    tuning_s = time.monotonic() - started
    net = tw.compile(model, db, target=target)
    (found, *_) = net(*inputs)
    module = case.module().to(bench.torch.device).half()
    given = [bench.torch.torch.from_numpy(x).to(bench.torch.device) for x in inputs]
    if case.network.rank == 2:
        module = module.to(memory_format=bench.torch.torch.channels_last)
        given = [x.contiguous(memory_format=bench.torch.torch.channels_last) for x in given]
    expected, torch_s = bench.torch.timed(lambda: module(*given))
    check(found, expected, case.name)
    return {
        "templates_s": float(np.median(net.function.bench(inputs, 10))),
        "untuned_s": untuned_s,
        "torch_s": torch_s,
        "tuning_s": tuning_s,
        "tasks": len(run.tasks),
        "trials": sum(task.trials for task in run.tasks),
    }


PARTS: Mapping[str, Part] = {
    "8a": products_alone,
    "8b": convolutions_alone,
    "9": epilogues,
    "table1": pairs_of_products,
    "table2": pairs_of_convolutions,
    "table3": padding,
    "10": networks,
}


# ---- running --------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit status."""
    line = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    line.add_argument("--parts", default=",".join(PARTS), help="(%(default)s)")
    line.add_argument("--device", default="cuda", help="a target (%(default)s)")
    line.add_argument("--networks", type=Path, default=Path("networks"), help="of ONNX files")
    line.add_argument("--json", type=kept_file, default=str(RESULTS), help="(%(default)s)")
    line.add_argument("--minutes", type=float, default=9.0, help="of this slice (%(default)s)")
    line.add_argument("--anew", action="store_true", help="without what the file has")
    options = line.parse_args(words)
    return reported(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """What the file lacks."""
    wanted = options.parts.split(",")
    unknown = [part for part in wanted if part not in PARTS]
    if unknown:
        raise ValueError(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    deadline = Deadline.after(options.minutes)
    device = open_device(as_target(options.device))
    known: Row = {}
    if options.json.exists() and not options.anew:
        known = json.loads(options.json.read_text())
    rows: dict[str, Row] = known.get("rows", {})
    with Lab.open(device) as lab:
        is_cuda = device.target.kind == "cuda"
        bench = Bench(lab, Torch(is_cuda), not is_cuda, options.networks, deadline)
        for part in wanted:
            for name, measure in PARTS[part](bench):
                if name in rows.get(part, {}):
                    continue
                if deadline.passed:
                    output().print("out of time")
                    break
                started = time.monotonic()
                rows.setdefault(part, {})[name] = row = measure()
                keep_results(options.json, known | {"rows": rows}, summary(rows), device.target)
                output().print(
                    f"{part} {name}: {line_of(row)} ({time.monotonic() - started:.1f} s)"
                )
    show(output(), parts({"rows": rows}))
    return 0


def line_of(row: Row) -> str:
    """A row for people."""
    times = ("templates", "torch", "simt", "apart", "aligned", "untuned")
    found = [f"{t} {duration(row[f'{t}_s'])}" for t in times if row.get(f"{t}_s")]
    return ", ".join(found) or "no program"


RATIOS = {"torch": "of PyTorch", "simt": "of SIMT", "apart": "of apart", "untuned": "of untuned"}


def summary(rows: Mapping[str, Mapping[str, Row]]) -> dict[str, dict[str, float]]:
    """Geometric means of speed-ups, and the worst ones, by part."""
    found: dict[str, dict[str, float]] = {}
    for part, those in rows.items():
        for other, words in RATIOS.items():
            ratios = [
                r[f"{other}_s"] / r["templates_s"]
                for r in those.values()
                if r.get("templates_s") and r.get(f"{other}_s")
            ]
            if ratios:
                mine = found.setdefault(part, {})
                mine[f"{words}, geometric mean"] = round(mean(ratios), 3)
                mine[f"{words}, worst"] = round(min(ratios), 3)
    return found


TITLES = {
    "8a": "figure 8a", "8b": "figure 8b", "9": "figure 9", "table1": "table 1",
    "table2": "table 2", "table3": "table 3", "10": "figure 10",
}  # fmt: skip


def parts(found: Mapping[str, Any]) -> list[Shown]:
    """Means of each part, and every row: how many times faster templates are."""
    means = {TITLES[part]: of for part, of in summary(found["rows"]).items()}
    cells = [
        [f"{TITLES[part]}: {name}", duration(row["templates_s"]), *_ratios(row)]
        for part, those in found["rows"].items()
        for name, row in those.items()
        if row["templates_s"]
    ]
    return [*told({"parts": means}), Table(["", "templates", *RATIOS.values()], cells)]


def _ratios(row: Row) -> list[str]:
    others = (row.get(f"{name}_s") for name in RATIOS)
    return [f"{s / row['templates_s']:.2f}" if s else NONE for s in others]


if __name__ == "__main__":
    sys.exit(main())

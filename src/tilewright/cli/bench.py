"""`tilewright bench`: time a model, untuned, tuned and against onnxruntime, kernel by kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from rich.console import Console
from rich.table import Table

import tilewright as tw
from tilewright.cli.arrays import random_words, read_inputs
from tilewright.cli.console import output, print_json, remark
from tilewright.cli.options import (
    EXTRA,
    Chains,
    Constants,
    InputFiles,
    Json,
    Limits,
    Math,
    ModelFile,
    Records,
    Seed,
    Shapes,
    TargetSpec,
    batch_shapes,
    each_shape,
    load_model,
    parse_constants,
)
from tilewright.cli.parts import compilation, inspection
from tilewright.cli.peers import PEER, Peer, onnxruntime_peer
from tilewright.cli.timing import CallTimes, interleaved
from tilewright.contract.artifact import Array
from tilewright.contract.deviation import difference
from tilewright.front.machine import as_target, host_target
from tilewright.ground.errors import InputError
from tilewright.ground.text import NONE, count, duration, factor, rate
from tilewright.runtime.profile import Profile

PERCENTILES = (50, 90, 99)


Seconds: TypeAlias = Annotated[
    float,
    typer.Option(min=0.0, metavar="SECONDS", help="How long to measure, all programs together."),
]
Threads: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="How many threads a call may use, ours and onnxruntime's.",
        show_default="all cores",
    ),
]
Batch: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="How many items a call takes: the leading dimension of every input, where that is "
        "symbolic. The throughput is then told in items.",
        show_default=False,
    ),
]
WithPeer: TypeAlias = Annotated[
    bool, typer.Option(help="Time onnxruntime as well, if it is installed.")
]
WithProfile: TypeAlias = Annotated[
    bool, typer.Option("--profile", help="Show the time of every kernel as well.")
]


def bench(
    model: ModelFile,
    db: Records = None,
    shape: Shapes = None,
    constant: Constants = None,
    limit: Limits = None,
    chains: Chains = True,
    math: Math = "float32",
    inputs: InputFiles = None,
    target: TargetSpec = None,
    seconds: Seconds = 10.0,
    threads: Threads = None,
    batch: Batch = None,
    seed: Seed = 0,
    peer: WithPeer = True,
    profile: WithProfile = False,
    json: Json = False,
) -> None:
    """Time a model on random inputs, or on given ones.

    Programs take turns in one process, so that all of them meet the same moments of a busy machine.
    With --db, the tuned program is timed beside the untuned one. p90 is the time that nine of ten
    calls did not exceed; the throughput is that of one call after another. On a GPU, a call copies
    its inputs there and its outputs back; --profile shows the kernels' own times.

    Example: tilewright bench resnet50.onnx --db tuning.db
    """
    console = output(quiet=json)
    shapes = [*(shape or ()), *(batch_shapes(model, batch) if batch is not None else ())]
    chosen = as_target(target)
    cores = host_target().cores
    if threads is not None and threads > cores:
        raise InputError(f"--threads {threads}: there are {count(cores, 'core')}")
    loaded = load_model(model, shapes, constant, limit, chains, math, chosen)
    other = onnxruntime_peer(model, threads or cores) if peer else None
    if peer and other is None:
        console.print(f"onnxruntime is not installed (pip install '{EXTRA}'): not compared.")
    variants = each_shape(loaded)
    timed = _Bench(
        db=db,
        target=chosen,
        spec=target,
        other=other,
        known=parse_constants(constant),
        files=tuple(inputs or ()),
        seed=seed,
        seconds=seconds / len(variants),
        threads=threads,
        batch=batch,
        profile=profile,
    )
    told = []
    for one in variants:
        if one is not loaded:
            console.print(one.name, style="bold")
        told.append(timed.run(console, one))
    if json:
        print_json(_head(model, timed) | {"networks": told})


def _head(model: Path, timed: _Bench) -> dict[str, Any]:
    return {
        "model": str(model),
        "db": timed.db,
        "target": timed.spec or "cpu",
        "threads": timed.threads,
        "batch": timed.batch,
    }


@dataclass(frozen=True)
class _Bench:
    """What is the same for every shape. `known` are inputs that are constants for us, but not for
    the other; `files` are inputs to read.
    """

    db: str | None
    target: tw.Target
    spec: str | None
    other: Peer | None
    known: Mapping[str, Array]
    files: Sequence[str]
    seed: int
    seconds: float
    threads: int | None
    batch: int | None
    profile: bool

    def run(self, console: Console, model: tw.Model) -> dict[str, Any]:
        """Time the programs of a model; print the table, and the last one's kernels if asked.

        Returns the same for JSON.
        """
        untuned = tw.compile(model, target=self.target, progress=True)
        tuned = plan = None
        if self.db is not None:
            found = compilation.compiled(model, self.db, self.target, progress=True)
            compilation.tell(found.notes, found.warnings, remark)
            (tuned,), (plan,) = found.networks, found.plans
        net = untuned if tuned is None else tuned
        if self.threads is not None:
            untuned.threads = net.threads = self.threads
        specs, limits = untuned.artifact.inputs, model.facts.index_limits
        arrays, random = read_inputs(self.files, specs, self.seed, limits)
        if random and self.files:
            words = random_words(specs, random, limits)
            console.print(f"Random values (seed {self.seed}) for {words}.")
        programs: dict[str, Callable[[], list[Array]]] = {"untuned": lambda: untuned.run(arrays)}
        if tuned is not None:
            programs["tuned"] = lambda: net.run(arrays)
        if self.other is not None:
            other = self.other
            programs[PEER] = lambda: other({**arrays, **self.known})
        results = {name: program() for name, program in programs.items()}
        timings = interleaved(programs, self.seconds)
        if self.db is not None and plan is not None and self.threads is None:
            medians = {name: timing.median_s for name, timing in timings.items()}
            inspection.keep_measured(self.db, plan, medians, self.target)
        print_timings(console, timings, results, self.batch)
        told: dict[str, Any] = {
            "name": model.name,
            "inputs": {s.name: list(arrays[s.name].shape) for s in specs},
            "random_inputs": random,
            "programs": [
                facts(name, timing, results, self.batch) for name, timing in timings.items()
            ],
        }
        if self.profile:
            profile = net.profile(arrays)
            print_profile(console, profile)
            told["kernels"] = [
                {"name": k.kernel, "calls": k.calls, "seconds": k.seconds, "flops": k.flops}
                for k in profile.kernels
            ]
        return told


def facts(
    name: str, timing: CallTimes, results: Mapping[str, list[Array]], batch: int | None
) -> dict[str, Any]:
    """What JSON tells of a program; `results` are all programs' outputs."""
    theirs = results.get(PEER)
    gap = None if theirs is None or name == PEER else difference(results[name], theirs)[0]
    return {
        "name": name,
        "calls": len(timing.calls_s),
        "least_s": timing.least_s,
        "mean_s": timing.mean_s,
        **{f"p{p}_s": timing.percentile_s(p) for p in PERCENTILES},
        "per_second": (batch or 1) / timing.mean_s,
        "largest_difference": gap,
    }


def print_timings(
    console: Console,
    timings: Mapping[str, CallTimes],
    results: Mapping[str, list[Array]],
    batch: int | None = None,
) -> None:
    """One row a program; compared with onnxruntime where it took part."""
    theirs = timings.get(PEER)
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("program")
    per_second = "runs/s" if batch is None else "items/s"
    names = ["median" if p == 50 else f"p{p}" for p in PERCENTILES]
    for heading in (*names, "minimum", "calls", per_second):
        table.add_column(heading, justify="right")
    if theirs is not None:
        table.add_column(f"speed of {PEER}", justify="right")
        table.add_column("largest difference", justify="right")
    for name, timing in timings.items():
        row = [name, *(duration(timing.percentile_s(p)) for p in PERCENTILES)]
        row += [duration(timing.least_s), str(len(timing.calls_s))]
        throughput = (batch or 1) / timing.mean_s
        row.append(f"{throughput:,.0f}" if throughput >= 100 else f"{throughput:.3g}")
        if theirs is not None:
            worst = NONE if name == PEER else f"{difference(results[name], results[PEER])[0]:.2g}"
            row += [factor(theirs.median_s, timing.median_s), worst]
        table.add_row(*row)
    console.print(table)


def print_profile(console: Console, profile: Profile) -> None:
    """One row a kernel, the longest first, then the sum against the whole run."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("kernel", overflow="ellipsis", no_wrap=True, max_width=60)
    for heading in ("calls", "time", "GFLOP/s", "share"):
        table.add_column(heading, justify="right", no_wrap=True)
    for k in profile.kernels:
        share = f"{profile.share(k):.1%}"
        speed = rate(k.flops, k.seconds)
        table.add_row(k.kernel, str(k.calls), duration(k.seconds), speed, share)
    console.print()
    console.print(table)
    console.print(
        f"{duration(profile.kernels_s)} in kernels, {duration(profile.latency_s)} a run "
        f"({profile.runs} runs)",
        style="bold",
    )

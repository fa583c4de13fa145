"""`tilewright bench`: time a model, untuned, tuned and against onnxruntime, kernel by kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import tilewright as tw
from tilewright.cli.arrays import difference, read_inputs
from tilewright.cli.console import output, remark
from tilewright.cli.options import (
    EXTRA,
    Constants,
    ModelFile,
    Records,
    Seed,
    Shapes,
    TargetSpec,
    each_shape,
    load_model,
    parse_constants,
)
from tilewright.cli.peers import Peer, onnxruntime_peer
from tilewright.cli.timing import Timing, interleaved
from tilewright.machine import host_target
from tilewright.runtime.artifact import Array
from tilewright.runtime.profile import Profile
from tilewright.text import NONE, duration, factor, rate

PEER = "onnxruntime"


def bench(
    model: ModelFile,
    db: Records = None,
    shape: Shapes = None,
    constant: Constants = None,
    target: TargetSpec = None,
    seconds: Annotated[
        float, typer.Option(min=0.0, help="How long to measure, all programs together.")
    ] = 10.0,
    seed: Seed = 0,
    peer: Annotated[
        bool, typer.Option(help="Time onnxruntime as well, if it is installed.")
    ] = True,
    profile: Annotated[
        bool, typer.Option("--profile", help="Show the time of every kernel as well.")
    ] = False,
) -> None:
    """Time a model on random inputs.

    Programs take turns in one process, so that all of them meet the same moments of a busy machine.
    With --db, the tuned program is timed beside the untuned one. On a GPU, a call copies its inputs
    there and its outputs back; --profile shows the kernels' own times.

    Example: tilewright bench resnet50.onnx --db tuning.db
    """
    console = output()
    loaded = load_model(model, shape, constant)
    other = onnxruntime_peer(model, host_target().cores) if peer else None
    if peer and other is None:
        console.print(f"onnxruntime is not installed (pip install '{EXTRA}'): not compared.")
    known = parse_constants(constant)
    variants = each_shape(loaded)
    for one in variants:
        if one is not loaded:
            console.print(one.name, style="bold", markup=False)
        bench_one(console, one, db, target, other, known, seconds / len(variants), seed, profile)


def bench_one(
    console: Console,
    model: tw.Model,
    db: str | None,
    target: str | None,
    other: Peer | None,
    known: Mapping[str, Array],
    seconds: float,
    seed: int,
    profile: bool,
) -> None:
    """Time the programs of a model and print the table, and the last one's kernels if asked.

    `known` are inputs that are constants for us, but not for the other.
    """
    net = untuned = tw.compile(model, target=target)
    arrays, _ = read_inputs((), untuned.artifact.inputs, seed)
    programs: dict[str, Callable[[], list[Array]]] = {"untuned": lambda: untuned.run(arrays)}
    if db is not None:
        net = tuned = tw.compile(model, db, target=target, notes=remark)
        programs["tuned"] = lambda: tuned.run(arrays)
    if other is not None:
        programs[PEER] = lambda: other({**arrays, **known})
    results = {name: program() for name, program in programs.items()}
    print_timings(console, interleaved(programs, seconds), results)
    if profile:
        print_profile(console, net.profile(arrays))


def print_timings(
    console: Console, timings: Mapping[str, Timing], results: Mapping[str, list[Array]]
) -> None:
    """One row a program; compared with onnxruntime where it took part."""
    theirs = timings.get(PEER)
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("program")
    for heading in ("median", "minimum", "calls"):
        table.add_column(heading, justify="right")
    if theirs is not None:
        table.add_column(f"speed of {PEER}", justify="right")
        table.add_column("largest difference", justify="right")
    for name, timing in timings.items():
        row = [name, duration(timing.median_s), duration(timing.least_s), str(len(timing.calls_s))]
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

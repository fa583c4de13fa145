"""`tilewright compile`: check that a model compiles, and print what it becomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.console import Console
from rich.table import Table

from tilewright.cli.console import output
from tilewright.cli.options import (
    Chains,
    Constants,
    Limits,
    Math,
    ModelFile,
    Quiet,
    Records,
    Shapes,
    TargetSpec,
    each_shape,
    load_model,
    protect,
)
from tilewright.cli.parts import compilation, inspection
from tilewright.contract.artifact import BufferSpec
from tilewright.front.machine import as_target
from tilewright.ground.errors import InputError
from tilewright.ground.text import NONE, count, duration, points_line, rate, sentence, size, some
from tilewright.network.executor import Network
from tilewright.network.plan import PROGRAM_KINDS, Plan
from tilewright.network.variants import NetworkSet
from tilewright.runtime.headers import missing
from tilewright.runtime.host import host_architecture
from tilewright.runtime.library import refuse_library
from tilewright.target import CpuTarget, Target

Library: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE.so",
        help="Write a shared library with the weights, for C and tilewright.load_library, and "
        "its header FILE.h. Needs a C compiler for the target.",
        show_default=False,
    ),
]
Fallbacks: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--fallback",
        metavar="TARGET",
        help="With -o: an older CPU (cpu:x86-64-v3) for which the library has the network once "
        "more, for machines that lack what the code before it uses. Repeatable: the first that "
        "fits runs.",
        show_default=False,
    ),
]


def compile(
    model: ModelFile,
    db: Records = None,
    shape: Shapes = None,
    constant: Constants = None,
    limit: Limits = None,
    chains: Chains = True,
    math: Math = "float32",
    target: TargetSpec = None,
    save: Library = None,
    fallback: Fallbacks = None,
    quiet: Quiet = False,
) -> None:
    """Compile a model and print its plan: kernels, where each comes from, memory.

    A program is "tuned", found by a search; "measured", the untuned one, which nothing that was
    measured beat; or "default", the same without a record.

    Code for this machine or its device is loaded as well, to see that it can be; code for another
    is built only.

    Example: tilewright compile resnet50.onnx --db tuning.db -o resnet50.so
    """
    console = output(quiet)
    chosen = as_target(target)
    if fallback and save is None:
        raise InputError("--fallback is for a library: name its file with --output")
    older = [_older(chosen, as_target(spec)) for spec in fallback or ()]
    if save is not None:
        needed = [save, refuse_library(save)]
        inspection.refuse_saving(save, chosen)
        protect(needed, model, db)
    loaded = load_model(model, shape, constant, limit, chains, math, chosen)
    variants = each_shape(loaded)
    others = [
        NetworkSet(compilation.compiled(loaded, db, t, progress=not quiet).networks, loaded.name)
        for t in older
    ]
    # The plans have the notes.
    found = compilation.compiled(loaded, db, chosen, progress=not quiet, is_own=True)
    networks, plans = found.networks, found.plans
    write = NetworkSet(networks, loaded.name).save
    # Before anything is printed, for who reads that may stop reading.
    header = None if save is None else write(save, fallbacks=others)
    for one, network, plan in zip(variants, networks, plans, strict=True):
        if one is not loaded:
            console.print(one.name, style="bold", markup=False)
        print_plan(console, plan)
        if plan.sizes:
            _print_interface(console, network)
    at_hand = chosen.backend.device is not None and target is not None and ":" not in target
    if at_hand or (isinstance(chosen, CpuTarget) and chosen.architecture == host_architecture()):
        for network in networks:
            _ = network.function  # loads it
        console.print("Compiled and loaded.", style="green")
    else:
        console.print(f"Compiled for {chosen.name} ({chosen.generation}); not loaded here.")
    if save is not None:
        console.print(f"Saved to {save} and {header}.", soft_wrap=True)


def _older(target: Target, fallback: Target) -> Target:
    """A fallback on as many cores."""
    if isinstance(target, CpuTarget) and isinstance(fallback, CpuTarget):
        return replace(fallback, cores=target.cores)
    return fallback


def _print_interface(console: Console, network: Network) -> None:
    """The arrays that a network takes and gives, with the names of what varies."""
    sides = (", ".join(map(_named, side)) for side in (network.inputs, network.outputs))
    console.print(" -> ".join(sides), soft_wrap=True, markup=False, highlight=False)


def _named(spec: BufferSpec) -> str:
    """An array with its extents."""
    return f"{spec.name} [{', '.join(spec.dims)}]"


def template_lines(plan: Plan, lacking: str | None) -> Iterator[str]:
    """What was decided about contractions, a line a reason; that templates are not installed
    (`lacking` says what is) is one for all.
    """
    is_told = False
    for verdict, pairs in plan.verdicts.items():
        if lacking is None or lacking not in verdict:
            yield f"Back to back, {verdict}: {some(pairs)}"
        else:
            is_told = True
    for reason, names in plan.untemplated.items():
        if reason != lacking:
            yield f"Contractions that no template computes ({reason}): {some(names)}"
        else:
            is_told = True
    if is_told:
        yield f"Templates are not tried: {lacking}"


def print_plan(console: Console, plan: Plan) -> None:
    """Kernels by what they cost, then the sums."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("kernel", overflow="ellipsis", no_wrap=True, max_width=44)
    for heading in ("calls", "MFLOP", "program", "a call", "GFLOP/s", "code", "scratch"):
        table.add_column(heading, justify="right", no_wrap=True)
    for k in plan.kernels:
        table.add_row(
            k.name,
            str(k.calls),
            f"{k.flops / 1e6:.1f}" if k.flops else NONE,
            k.program,
            duration(k.latency_s),
            rate(k.flops, k.latency_s),
            size(k.code_bytes),
            size(k.scratch_bytes) if k.scratch_bytes else NONE,
        )
    console.print(table)
    kinds = Counter(k.program for k in plan.kernels)
    told = ", ".join(f"{kinds[kind]} {kind}" for kind in PROGRAM_KINDS if kinds[kind])
    console.print(
        f"{count(plan.calls, 'call')} of {count(len(plan.kernels), 'kernel')}: {told}",
        style="bold",
    )
    if plan.sizes:
        ranges = ", ".join(map(str, plan.sizes))
        console.print(f"One network for {ranges}; memory is for the most.", soft_wrap=True)
    for k in plan.kernels:
        if k.points_s:
            console.print(f"{k.name}: {points_line(k.points_s)}", soft_wrap=True, highlight=False)
    console.print(sentence(str(plan.memory)), soft_wrap=True)
    for told in template_lines(plan, missing()):
        console.print(told, soft_wrap=True, markup=False, highlight=False)
    if plan.latency_s is not None:
        mean = ", a mean over sizes" if plan.sizes else ""
        console.print(f"Sum of the recorded latencies{mean}: {duration(plan.latency_s)}")
    for note in plan.notes:
        console.print(f"note: {note}", soft_wrap=True)

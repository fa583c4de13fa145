"""`tilewright run`: run a model on arrays from files, or on random ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
import typer

import tilewright as tw
from tilewright.artifact import Array
from tilewright.cli.arrays import input_file, random_words, read_inputs, write_outputs
from tilewright.cli.check import Run, verdict
from tilewright.cli.console import FAILED, output, print_json, remark
from tilewright.cli.options import (
    Chains,
    Constants,
    InputFiles,
    Json,
    ModelFile,
    Quiet,
    Records,
    Seed,
    Shapes,
    TargetSpec,
    each_shape,
    load_model,
    parse_constants,
)
from tilewright.cli.outputs import protect
from tilewright.cli.parts import compilation
from tilewright.deviation import ATOL, NARROW_RTOL, RTOL, GivenTolerance
from tilewright.files import refuse_output
from tilewright.machine import as_target, host_target
from tilewright.network.variants import NetworkSet

if TYPE_CHECKING:
    from tilewright.network.executor import Network

Saved: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--output",
        metavar="FILE.npz|FILE.npy",
        help="Save the outputs, by name.",
        show_default=False,
    ),
]
Checked: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Compare the outputs with onnxruntime's. If they differ, the first node of the "
        "model that does is named, and the exit status is 1.",
    ),
]
RelativeTolerance: TypeAlias = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        metavar="SHARE",
        help="With --check: the difference that is none, as a share of an output's largest value.",
        show_default=f"{RTOL:g}; {NARROW_RTOL:g} in 16 bits; integers must be equal",
    ),
]
AbsoluteTolerance: TypeAlias = Annotated[
    float,
    typer.Option(min=0.0, metavar="VALUE", help="With --check: what is allowed beyond that."),
]


def run(
    model: ModelFile,
    inputs: InputFiles = None,
    save: Saved = None,
    db: Records = None,
    shape: Shapes = None,
    constant: Constants = None,
    chains: Chains = True,
    target: TargetSpec = None,
    seed: Seed = 0,
    check: Checked = False,
    rtol: RelativeTolerance = None,
    atol: AbsoluteTolerance = ATOL,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a model once and describe its outputs.

    Inputs not given are random: floats of a normal distribution; integers that are valid indices
    where they index something, else 0 or 1.

    Example: tilewright run resnet50.onnx --input x=image.npy --output y.npz --db tuning.db
    """
    console = output(quiet or json)
    if save is not None:
        refuse_output(save, (".npz", ".npy"))
        protect([save], model, db, [input_file(text)[1] for text in inputs or ()])
    chosen = as_target(target)
    loaded = load_model(model, shape, constant, chains)
    networks, call = compiled(loaded, db, chosen, progress=not quiet)
    # The first network that the given arrays fit.
    for network, one in zip(networks, each_shape(loaded), strict=True):
        specs, limits = network.artifact.inputs, one.facts.index_limits
        arrays, random = read_inputs(inputs or (), specs, seed, limits)
        if all(arrays[s.name].shape == s.shape for s in specs):
            break
    outputs = call(arrays)
    names = [s.name for s in network.artifact.outputs]
    if save is not None:  # before anything is printed, for who reads that may stop reading
        write_outputs(save, names, outputs)
    if random:
        console.print(f"Random values (seed {seed}) for {random_words(specs, random, limits)}.")
    for name, array in zip(names, outputs, strict=True):
        console.print(describe(name, array), soft_wrap=True)
    if save is not None:
        console.print(f"Saved to {save}.", soft_wrap=True)
    told: dict[str, Any] = {"model": str(model), "seed": seed, "random_inputs": random}
    told["outputs"] = [facts(n, a) for n, a in zip(names, outputs, strict=True)]
    agrees = True
    if check:
        compared = Run(model, specs, arrays, parse_constants(constant), host_target().cores)
        found = verdict(compared, names, outputs, GivenTolerance(rtol, atol), db, target)
        agrees, told["check"] = found.agrees, found.facts()
        for line in found.lines(bool(random)):
            console.print(line, soft_wrap=True)
    if json:
        print_json(told)
    if not agrees:
        raise typer.Exit(FAILED)


def compiled(
    loaded: tw.Model | tw.ModelSet, db: str | None, target: tw.Target, progress: bool
) -> tuple[Sequence[Network], Callable[[Mapping[str, Array]], list[Array]]]:
    """A model's networks, one a shape, and the call that takes arrays of any of these."""
    found = compilation.compiled(loaded, db, target, progress=progress, is_own=True)
    compilation.tell(found.notes, found.warnings, remark)
    if isinstance(loaded, tw.ModelSet):
        return found.networks, NetworkSet(found.networks, loaded.name).run
    return found.networks, found.networks[0].run


def describe(name: str, array: Array) -> str:
    """`y: float32[1, 1000] from -3.1 to 4.2, mean 0.01`."""
    found = facts(name, array)
    head = f"{name}: {array.dtype}[{', '.join(map(str, array.shape))}]"
    if not array.size:
        return head
    text = f"{head} from {found['least']:.4g} to {found['largest']:.4g}, mean {found['mean']:.4g}"
    odd = found["not_finite"]
    return f"{text}; {odd} not finite" if odd else text


def facts(name: str, array: Array) -> dict[str, Any]:
    """The same as numbers; an empty array has none of them."""
    head = {"name": name, "dtype": str(array.dtype), "shape": list(array.shape)}
    if not array.size:
        return head
    values = np.asarray(array, np.float64)
    return head | {
        "least": float(values.min()),
        "largest": float(values.max()),
        "mean": float(values.mean()),
        "not_finite": int(np.count_nonzero(~np.isfinite(values))),
    }

"""`tilewright run`: run a model on arrays from files, or on random ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import tilewright as tw
from tilewright.cli.arrays import difference, read_inputs, write_outputs
from tilewright.cli.console import output, remark
from tilewright.cli.options import (
    EXTRA,
    Constants,
    ModelFile,
    Records,
    Seed,
    Shapes,
    TargetSpec,
    load_model,
    parse_constants,
)
from tilewright.cli.peers import onnxruntime_peer
from tilewright.errors import InputError
from tilewright.machine import host_target
from tilewright.runtime.artifact import Array


def run(
    model: ModelFile,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NAME=FILE.npy|FILE.npz",
            help="An input from a file; may be repeated. Inputs not given are random.",
            show_default=False,
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="FILE.npz|FILE.npy",
            help="Save the outputs, by name.",
            show_default=False,
        ),
    ] = None,
    db: Records = None,
    shape: Shapes = None,
    constant: Constants = None,
    target: TargetSpec = None,
    seed: Seed = 0,
    check: Annotated[
        bool, typer.Option("--check", help="Compare the outputs with onnxruntime's.")
    ] = False,
) -> None:
    """Run a model once and describe its outputs.

    Example: tilewright run resnet50.onnx --input x=image.npy --output y.npz --db tuning.db
    """
    console = output()
    loaded = load_model(model, shape, constant)
    if isinstance(loaded, tw.ModelSet):
        nets = tw.compile(loaded, db, target=target, notes=remark)
        networks, call = nets.networks, nets.run
    else:
        net = tw.compile(loaded, db, target=target, notes=remark)
        networks, call = (net,), net.run
    # The first network that the given arrays fit.
    for network in networks:
        specs = network.artifact.inputs
        arrays, random = read_inputs(inputs or (), specs, seed)
        if all(arrays[s.name].shape == s.shape for s in specs):
            break
    if random:
        console.print(f"Random values (seed {seed}) for {', '.join(random)}.")
    outputs = call(arrays)
    names = [s.name for s in network.artifact.outputs]
    for name, array in zip(names, outputs, strict=True):
        console.print(describe(name, array), markup=False, soft_wrap=True)
    if save is not None:
        write_outputs(save, names, outputs)
        console.print(f"Saved to {save}.", soft_wrap=True)
    if check:
        peer = onnxruntime_peer(model, host_target().cores)
        if peer is None:
            raise InputError(f"--check needs onnxruntime: pip install '{EXTRA}'")
        worst, relative = difference(outputs, peer(arrays | parse_constants(constant)))
        console.print(
            f"Largest difference from onnxruntime: {worst:.3g} ({relative:.2g} of the largest "
            "value)"
        )


def describe(name: str, array: Array) -> str:
    """`y: float32[1, 1000] from -3.1 to 4.2, mean 0.01`."""
    head = f"{name}: {array.dtype}[{', '.join(map(str, array.shape))}]"
    if not array.size:
        return head
    values = np.asarray(array, np.float64)
    text = f"{head} from {values.min():.4g} to {values.max():.4g}, mean {values.mean():.4g}"
    odd = int(np.count_nonzero(~np.isfinite(values)))
    return f"{text}; {odd} not finite" if odd else text

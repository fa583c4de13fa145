"""`tilewright run`: run a model on arrays from files, or on random ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
import typer
from rich.console import Console

import tilewright as tw
from tilewright.cli.arrays import input_file, random_words, read_inputs, write_outputs
from tilewright.cli.check import Run, verdict
from tilewright.cli.console import FAILED, output, print_json, remark
from tilewright.cli.options import (
    Chains,
    Constants,
    InputFiles,
    Json,
    Limits,
    Math,
    ModelFile,
    Quiet,
    Records,
    Seed,
    Shapes,
    TargetSpec,
    each_shape,
    load_model,
    parse_constants,
    parse_limits,
    protect,
)
from tilewright.cli.parts import compilation
from tilewright.contract.artifact import Array
from tilewright.contract.deviation import ATOL, NARROW_RTOL, RTOL, GivenTolerance
from tilewright.front.machine import as_target, host_target
from tilewright.ground.errors import InputError
from tilewright.ground.files import refuse_output
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
    limit: Limits = None,
    chains: Chains = True,
    math: Math = "float32",
    target: TargetSpec = None,
    seed: Seed = 0,
    check: Checked = False,
    rtol: RelativeTolerance = None,
    atol: AbsoluteTolerance = ATOL,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a model once and describe its outputs; of several shapes each, or those that inputs fit.

    Inputs not given are random: floats of a normal distribution; integers that are valid indices
    where they index something, else 0 or 1.

    Example: tilewright run resnet50.onnx --input x=image.npy --output y.npz --db tuning.db
    """
    console = output(quiet or json)
    if save is not None:
        refuse_output(save, (".npz", ".npy"))
        protect([save], model, db, [input_file(text)[1] for text in inputs or ()])
    chosen = as_target(target)
    loaded = load_model(model, shape, constant, limit, chains, math, chosen)
    networks, call = compiled(loaded, db, chosen, progress=not quiet)
    fitting = _fitting(networks, each_shape(loaded), inputs or (), seed)
    _refuse_several(save, len(fitting))
    told: list[dict[str, Any]] = []
    agrees = True
    for one in fitting:
        if len(fitting) > 1:
            console.print(one.name, style="bold")
        outputs = call(one.arrays)
        names = [s.name for s in one.network.outputs]
        if save is not None:  # before anything is printed, for who reads that may stop reading
            write_outputs(save, names, outputs)
        one.describe(console, seed, outputs)
        told.append({"model": str(model), "seed": seed, "random_inputs": one.random})
        told[-1]["outputs"] = [facts(n, a) for n, a in zip(names, outputs, strict=True)]
        if check:
            compared = one.compared(model, constant, limit)
            result = verdict(compared, names, outputs, _allowed(rtol, atol, loaded), db, target)
            agrees, told[-1]["check"] = agrees and result.agrees, result.facts()
            for line in result.lines(bool(one.random)):
                console.print(line, soft_wrap=True)
    if save is not None:
        console.print(f"Saved to {save}.", soft_wrap=True)
    if json:
        print_json(told[0] if len(told) == 1 else {"model": str(model), "networks": told})
    if not agrees:
        raise typer.Exit(FAILED)


def _refuse_several(save: Path | None, runs: int) -> None:
    if save is not None and runs > 1:
        raise InputError(
            f"--output holds the outputs of one run, not of {runs}: give one --shape, or the "
            "inputs of one"
        )


def _allowed(rtol: float | None, atol: float, loaded: tw.Model | tw.ModelSet) -> GivenTolerance:
    """Factors of bfloat16 are values of 16 bits."""
    narrow = rtol is None and any(m.facts.is_narrow for m in each_shape(loaded))
    return GivenTolerance(NARROW_RTOL if narrow else rtol, atol)


@dataclass(frozen=True)
class _Ready:
    """A network of the model and what it is run on; `random` names inputs that were made up, whose
    integers `limits` bound.
    """

    name: str
    network: Network
    limits: Mapping[str, int]
    arrays: dict[str, Array]
    random: list[str]

    @property
    def fits(self) -> bool:
        """Whether the arrays have the network's shapes."""
        return all(s.takes(self.arrays[s.name].shape) for s in self.network.inputs)

    def describe(self, console: Console, seed: int, outputs: Sequence[Array]) -> None:
        """Print what was made up, and a line an output."""
        if self.random:
            words = random_words(self.network.inputs, self.random, self.limits)
            console.print(f"Random values (seed {seed}) for {words}.")
        for spec, array in zip(self.network.outputs, outputs, strict=True):
            console.print(describe(spec.name, array), soft_wrap=True)

    def compared(
        self, model: Path, constants: Sequence[str] | None, limits: Sequence[str] | None
    ) -> Run:
        """The same for onnxruntime."""
        known, bounds, threads = (
            parse_constants(constants),
            parse_limits(limits),
            host_target().cores,
        )
        return Run(model, self.network.inputs, self.arrays, known, bounds, threads)


def _fitting(
    networks: Sequence[Network], models: Sequence[tw.Model], inputs: Sequence[str], seed: int
) -> list[_Ready]:
    """Those that the given arrays fit; where they fit none, the first says what is wrong."""
    ready = []
    for network, part in zip(networks, models, strict=True):
        limits = part.facts.index_limits
        ready.append(
            _Ready(part.name, network, limits, *read_inputs(inputs, network.inputs, seed, limits))
        )
    return [one for one in ready if one.fits] or ready[:1]


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

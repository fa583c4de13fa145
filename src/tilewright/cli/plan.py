"""`tilewright plan`: which tasks of models reuse which, before a minute is spent."""

from __future__ import annotations

from functools import partial
from typing import Annotated, TypeAlias

import typer

import tilewright as tw
from tilewright.cli.console import output
from tilewright.cli.options import (
    DEFAULT_DB,
    Chains,
    Constants,
    Limits,
    Math,
    ShapesOfModels,
    TargetSpec,
    load_models,
    usage,
)
from tilewright.cli.parts import inspection
from tilewright.cli.tune import Models, NewRecords
from tilewright.contract import arguments
from tilewright.front.machine import as_target
from tilewright.ground.text import some

Strategy: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        callback=usage(partial(arguments.one_of, "strategy of a plan", known=arguments.PLANNED)),
        help="Of which strategy of `tilewright tune`: reuse, reuse-all, whose plan takes some "
        "seconds an operator, or profile.",
    ),
]


def plan(
    models: Models,
    shape: ShapesOfModels = None,
    constant: Constants = None,
    limit: Limits = None,
    chains: Chains = True,
    math: Math = "float32",
    db: NewRecords = DEFAULT_DB,
    target: TargetSpec = None,
    strategy: Strategy = arguments.PLANNED[0],
) -> None:
    """Show what `tilewright tune --strategy reuse` would do: who is searched, who reuses whom, and
    in which precision contractions run, by which instruction.

    Tasks whose shapes alone differ are one tree: the first is searched, each below near the good
    programs of the one above it. Numbers are programs to be measured.

    Example: tilewright plan resnet50.onnx
    """
    chosen = as_target(target)
    loaded = load_models(models, shape, constant, limit, chains, math, chosen)
    output().print(
        str(tw.plan(loaded, db=db, target=chosen, strategy=strategy)),
        highlight=False,
        soft_wrap=True,
    )
    for said in inspection.sizes_of(loaded, chosen):
        output().print(f"One network for {said}", highlight=False, soft_wrap=True)
    for how, names in inspection.precisions(loaded, chosen).items():
        output().print(f"Multiplied in {how}: {some(names)}", highlight=False, soft_wrap=True)

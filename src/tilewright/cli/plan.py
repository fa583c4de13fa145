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
    Math,
    ShapesOfModels,
    TargetSpec,
    load_models,
    usage,
)
from tilewright.cli.reuse import REUSE
from tilewright.cli.tune import Models, NewRecords
from tilewright.contract import arguments
from tilewright.front.machine import as_target

Reuse: TypeAlias = Annotated[
    str,
    typer.Option(
        REUSE,
        metavar="[MODE]",
        callback=usage(partial(arguments.one_of, "reuse", known=arguments.MODES)),
        help="How to reuse, as of `tilewright tune`: ranked, or all, whose plan takes some seconds "
        "an operator.",
    ),
]
Profile: TypeAlias = Annotated[
    bool,
    typer.Option("--profile", help="Of `tilewright tune --profile` instead."),
]


def plan(
    models: Models,
    shape: ShapesOfModels = None,
    constant: Constants = None,
    chains: Chains = True,
    math: Math = "float32",
    db: NewRecords = DEFAULT_DB,
    target: TargetSpec = None,
    reuse: Reuse = arguments.MODES[0],
    profile: Profile = False,
) -> None:
    """Show what `tilewright tune --reuse` would do: who is searched, who reuses whom.

    Tasks whose shapes alone differ are one tree: the first is searched, each below near the good
    programs of the one above it. Numbers are programs to be measured.

    Example: tilewright plan resnet50.onnx
    """
    chosen = as_target(target)
    loaded = load_models(models, shape, constant, chains, math)
    output().print(
        str(tw.plan(loaded, db=db, target=chosen, reuse=reuse, profile=profile)),
        highlight=False,
        soft_wrap=True,
    )

"""Options that several commands share, and what their text means.

parse_shapes(["x=1,3,224,224"], models)      {"x": (1, 3, 224, 224)} for every model
parse_objective("requirement:0.02,0.1", 2)   LatencyRequirement((0.02, 0.1))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
import typer

import tilewright as tw
from tilewright.cli.console import remark
from tilewright.cli.parts import inspection
from tilewright.contract.arguments import Given, Range
from tilewright.contract.artifact import Array
from tilewright.front.machine import math_of
from tilewright.ground.errors import InputError, UnsupportedModel
from tilewright.ground.files import database_files, refuse_output
from tilewright.ground.text import one_line
from tilewright.target import Target

if TYPE_CHECKING:
    from tilewright.search.objectives import Objective

DEFAULT_DB = "tuning.db"
NUMBER = r"0*[1-9]\d{0,18}"  # as far as 64 bits reach
POINT = rf"{NUMBER}(x\d{{1,9}}(\.\d{{1,9}})?)?"
SIZE = re.compile(rf"{NUMBER}|\d{{1,19}}\.\.{NUMBER}(@{POINT}(\+{POINT})*)?", re.ASCII)
MOST_AXES = 64  # of NumPy's arrays
SHOWN = 80  # characters of a wrong option
EXTRA = "tilewright[demo]"  # what brings onnxruntime

ModelFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="MODEL", help="An ONNX model file.", show_default=False)
]
SHAPE_HELP = (
    "For models with symbolic dimensions: the shape of an input, x=1,3,224,224, or the value of "
    "a dimension, batch=4; seq=1..512 is a range, for one network of all these, "
    "seq=1..512@64+128x4 one that is tuned at 64 and, of four times the weight, at 128. May be "
    "repeated; "
    "what is given again gets a second value, beside the first."
)
Shapes: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--shape",
        metavar="NAME=N,N,...",
        help=SHAPE_HELP,
        show_default=False,
    ),
]
ShapesOfModels: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--shape",
        metavar="NAME=N,N,...",
        help=f"{SHAPE_HELP} MODEL:NAME=... is for one of several models (MODEL: the file's name "
        "without .onnx).",
        show_default=False,
    ),
]
Constants: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--constant",
        metavar="NAME=N,N,...",
        help="An input whose value is known now, so that shapes and branches may depend on it: "
        "sr=16000. It is no input of what is compiled then. May be repeated.",
        show_default=False,
    ),
]
Limits: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=N",
        help="How many there may be, at most, where data decide it and nothing else limits it: "
        "frames=4096, by the name that the error says. May be repeated.",
        show_default=False,
    ),
]
TargetSpec: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="TARGET",
        help="What to compile for: cpu (this machine), opencl or cuda (its device), or one by "
        "name, cpu:NAME with LLVM's name of a CPU (cpu:cortex-a53), cuda:a100, opencl:mali; "
        "optionally with facts: 'cpu:cortex-a53 cores=4'.",
        show_default="this machine",
    ),
]
Records: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="FILE|URL",
        help="Records of earlier tuning: a SQLite file or a postgresql:// URL. Without it, and "
        "for tasks it does not hold, the untuned default programs are used.",
        show_default=False,
    ),
]
Seed: TypeAlias = Annotated[
    int, typer.Option(min=0, metavar="N", help="Seed of everything random.")
]
Chains: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--chains/--no-chains",
        help="Whether contractions that follow each other may share a kernel. Records of the one "
        "cut are no records of the other.",
        show_default=True,
    ),
]
Math: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="float32|bfloat16|int8|auto",
        help="What contractions with known weights multiply: bfloat16 is faster where the CPU "
        "has instructions for it (AMX), and rounds factors to 8 bits. Sums stay float32. int8: "
        "bytes times weights of 2, 4 or 8 bits. auto: bfloat16 where the target is faster at it.",
    ),
]
InputFiles: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=FILE.npy|FILE.npz",
        help="An input from a file; may be repeated. Inputs not given are random.",
        show_default=False,
    ),
]
Quiet: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but notes and errors.")
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON, with times in seconds, instead of text.")
]


def usage(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The callback of an option whose value `check` takes: what it refuses is wrong usage."""

    def checked(value: Any) -> Any:
        try:
            return None if value is None else check(value)
        except InputError as error:
            raise typer.BadParameter(str(error)) from None

    return checked


def load_model(
    file: Path,
    shapes: Sequence[str] | None,
    constants: Sequence[str] | None,
    limits: Sequence[str] | None,
    chains: bool,
    math: str,
    target: Target,
) -> tw.Model | tw.ModelSet:
    """The model of a command that takes one."""
    (model,) = load_models([file], shapes, constants, limits, chains, math, target)
    return model


def load_models(
    files: Sequence[Path],
    shapes: Sequence[str] | None,
    constants: Sequence[str] | None,
    limits: Sequence[str] | None,
    chains: bool,
    math: str,
    target: Target,
) -> list[tw.Model | tw.ModelSet]:
    """Import every model with the shapes given for it; "auto" is what is faster on a target."""
    if math == "auto":
        math, why = math_of(target)
        remark(f"--math auto is {math}: {why}")
    known = {"constants": parse_constants(constants), "limits": parse_limits(limits)}
    read = partial(tw.load, **known, chains=chains, math=math)
    given = [parse_shape(text) for text in shapes or ()]
    stems = [file.stem for file in files]
    for stem, name, _ in given:
        if stem is not None and stem not in stems:
            raise InputError(f"--shape {stem}:{name}=... names no model; given: {', '.join(stems)}")
    models: list[tw.Model | tw.ModelSet] = []
    for file, stem in zip(files, stems, strict=True):
        mine = assignments([(name, dims) for which, name, dims in given if which in (None, stem)])
        try:
            if len(mine) > 1:
                models.append(read(file, shapes=mine))
            else:
                models.append(read(file, shapes=mine[0] if mine else None))
        except UnsupportedModel as error:
            ways = [f"--shape {name}=N" for name in error.open]
            ways += [f"--shape {name}=N,N,..." for name in error.unsized]
            ways += [f"--limit {name}=N" for name in error.unlimited]
            ways += [f"--constant {name}=VALUE" for name in error.unknown_inputs]
            raise UnsupportedModel(error.advised(ways)) from error
    return models


def batch_shapes(file: Path, batch: int) -> list[str]:
    """What `--shape` has to say so that every input of a model has `batch` items.

    The leading dimension counts them. Raises InputError where it is fixed or cannot be given; of a
    file that is no model nothing is said here.
    """
    try:
        inputs = [i for i in inspection.model_inputs(file) if i.type.tensor_type.shape.dim]
    except UnsupportedModel:
        return []
    found: list[str] = []
    fixed: dict[str, int] = {}
    for info in inputs:
        lead, *rest = info.type.tensor_type.shape.dim
        if lead.dim_value > 0:
            fixed[info.name] = lead.dim_value
        elif lead.dim_param.isidentifier():
            found.append(f"{lead.dim_param}={batch}")
        elif all(d.dim_value > 0 for d in rest):
            sizes = [batch, *(d.dim_value for d in rest)]
            found.append(f"{info.name}={','.join(map(str, sizes))}")
        else:
            raise InputError(
                f"--batch {batch}: the dimensions of input {info.name} have no names; give its "
                f"shape instead: --shape {info.name}=N,N,..."
            )
    if not found and set(fixed.values()) != {batch}:
        listed = ", ".join(f"{name} {n}" for name, n in fixed.items()) or "none"
        raise InputError(
            f"--batch {batch}: {file} has no symbolic batch (leading dimensions: {listed}); "
            "export it with one"
        )
    return list(dict.fromkeys(found))


def assignments(given: Sequence[tuple[str, Given]]) -> list[dict[str, Given]]:
    """One assignment of shapes for each time that an input is named.

    x=1,8 x=4,8 z=3  →  {x: (1, 8), z: (3,)} and {x: (4, 8), z: (3,)}. Raises InputError when two
    inputs are named several times, but not equally often.
    """
    shapes: dict[str, list[Given]] = {}
    for name, dims in given:
        shapes.setdefault(name, []).append(dims)
    count = max(map(len, shapes.values()), default=0)
    odd = [name for name, listed in shapes.items() if len(listed) not in (1, count)]
    if odd:
        counts = ", ".join(f"{name} {len(listed)}" for name, listed in shapes.items())
        raise InputError(
            f"--shape names an input once, or as often as the others ({count} times): {counts}"
        )
    return [
        {name: listed[i if len(listed) > 1 else 0] for name, listed in shapes.items()}
        for i in range(count)
    ]


def each_shape(model: tw.Model | tw.ModelSet) -> tuple[tw.Model, ...]:
    """The models of a command that treats every shape by itself."""
    return model.models if isinstance(model, tw.ModelSet) else (model,)


def parse_shape(text: str) -> tuple[str | None, str, Given]:
    """(model or None, input or dimension, sizes) from `[MODEL:]NAME=N,N,...`, of which each may be
    a range, `LEAST..MOST`, with points, `LEAST..MOST@N+NxWEIGHT`; raises InputError.
    """
    name, equals, dims = text.rpartition("=")
    stem, colon, inner = name.partition(":")
    if colon:
        name = inner
    sizes = [d.strip() for d in dims.split(",")] if dims.strip() else []
    is_shape = len(sizes) <= MOST_AXES and all(SIZE.fullmatch(d) for d in sizes)
    if not equals or not name or not is_shape:
        raise InputError(
            f"--shape {one_line(text, SHOWN)!r} is not NAME=N,N,...; for example x=1,3,224,224 or "
            "batch=4, or seq=1..512 for a range"
        )
    return (stem if colon else None), name, tuple(map(_extent, sizes))


def _extent(text: str) -> int | Range:
    least, dots, rest = text.partition("..")
    if not dots:
        return int(least)
    most, _, points = rest.partition("@")
    pairs = [point.partition("x") for point in points.split("+") if point]
    return Range(int(least), int(most), tuple((int(n), float(w or 1)) for n, _, w in pairs))


def parse_constants(given: Sequence[str] | None) -> dict[str, Array]:
    """Arrays from `NAME=N` (a scalar) and `NAME=N,N,...` (a vector); raises InputError.

    Whole numbers are int64, others float32, `true` and `false` bools.
    """
    found: dict[str, Array] = {}
    for text in given or ():
        name, equals, listed = text.rpartition("=")
        words = [w.strip() for w in listed.split(",")]
        try:
            if all(w in ("true", "false") for w in words):
                values = np.array([w == "true" for w in words])
            elif all(w.lstrip("-").isdecimal() for w in words):
                values = np.array([int(w) for w in words], np.int64)
            else:
                values = np.array([float(w) for w in words], np.float32)
        except (ValueError, OverflowError):
            equals = ""
        if not equals or not name:
            raise InputError(
                f"--constant {one_line(text, SHOWN)!r} is not NAME=N,N,...; for example sr=16000"
            )
        found[name] = values if "," in listed else values.reshape(())
    return found


def parse_limits(given: Sequence[str] | None) -> dict[str, int]:
    """Whole numbers from `NAME=N`; raises InputError."""
    found = {}
    for text in given or ():
        name, equals, number = text.rpartition("=")
        if not equals or not name or not number.strip().isdecimal():
            raise InputError(
                f"--limit {one_line(text, SHOWN)!r} is not NAME=N; for example frames=4096"
            )
        found[name] = int(number)
    return found


def parse_objective(text: str, models: int) -> Objective:
    """The objective that `text` names, for so many models. Raises InputError."""
    kind, _, rest = text.partition(":")
    numbers = _numbers(text, rest)
    match kind:
        case "sum" if not numbers:
            return tw.TotalLatency()
        case "requirement" | "geomean":
            if len(numbers) != models or min(numbers, default=0.0) <= 0:
                raise InputError(
                    f"--objective {kind} needs one positive latency in seconds for each model, "
                    f"{models} here: {kind}:{','.join(['0.02'] * models)}"
                )
            limits = tuple(numbers)
            return (
                tw.LatencyRequirement(limits)
                if kind == "requirement"
                else (tw.GeomeanSpeedup(limits))
            )
        case "early-stopping" if not numbers:
            return tw.EarlyStopping()
    raise InputError(
        f"unknown objective {text!r}; known: sum, requirement:SECONDS,..., geomean:SECONDS,..., "
        "early-stopping"
    )


def _numbers(text: str, rest: str) -> list[float]:
    try:
        return [float(part) for part in rest.split(",")] if rest else []
    except ValueError:
        raise InputError(f"--objective {text!r}: {rest!r} is not a list of numbers") from None


def protect(
    outputs: Sequence[Path], model: Path, db: str | None = None, inputs: Sequence[Path] = ()
) -> None:
    """Raise InputError when an output is a file that the command reads: the model, one of its
    weights, the records or an input.

    Raises UnsupportedModel for a model that cannot be read.
    """
    replaced = [file for file in outputs if file.exists()]
    if not replaced:
        return
    needed = {
        "the model": [model],
        "weights of the model": inspection.weight_files(model),
        "the database": [] if db is None else database_files(db),
        "an input": list(inputs),
    }
    for file in replaced:
        refuse_output(file, (), needed)

"""The cases of ONNX's backend test-suite, and what one of them says of Tilewright.

    for case in collect():
        outcome = run(case)        Outcome("passed", "", folded=False, constants=("axes",))

A case is a model with inputs and the outputs it must give. Kinds: "node" (one operator, some also
`_expanded` into its definition), "simple", "pytorch-converted", "pytorch-operator" and "light" (the
nine networks, whose data are in the onnx package).

Shapes must be known at import. Where an operator needs the *values* of an input then (a shape,
axes, repeats, k), the case's data for that input are given to `load` as constants;
`Outcome.constants` names them. A case that needs all of its inputs so is evaluated at import, which
proves nothing about kernels: it counts as passed, and `folded` says so.

Two cases fail on purpose: test_resize_downsample_scales_{linear,cubic}_align_corners take corners
from the fraction `scale * extent`, where PyTorch, whose exports have them, and onnxruntime take the
whole number of outputs.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.backend.test
from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests

import tilewright as tw

Array = np.ndarray[Any, Any]
Data = list[tuple[list[Any], list[Any]]]

FOLDER = Path(onnx.backend.test.__file__).parent / "data"
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "light")

# The goal's types: floats of 16, 32 and 64 bits, integers of 8 to 64 and bool.
TYPES = frozenset(
    getattr(TensorProto, name)
    for name in (
        *("FLOAT16", "FLOAT", "DOUBLE", "BOOL", "INT8", "INT16", "INT32", "INT64"),
        *("UINT8", "UINT16", "UINT32", "UINT64"),
    )
)
EXCLUDED = {
    "random": """
        Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike
    """,
    "training": "Adagrad Adam Gradient Momentum",
    "sequence": """
        ConcatFromSequence SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert
        SequenceLength SequenceMap SplitToSequence
    """,
    "optional": "Optional OptionalGetElement OptionalHasElement",
    "string": "RegexFullMatch StringConcat StringNormalizer StringSplit",
    "image decoding": "ImageDecoder",
    "control flow": "If Loop Scan",
}


@dataclass(frozen=True)
class Case:
    """One test. `operator` is the one it is about; `excluded` says why the goal leaves it out."""

    name: str
    kind: str
    operator: str
    excluded: str
    rtol: float
    atol: float
    load: Callable[[], tuple[onnx.ModelProto, Data]]


@dataclass(frozen=True)
class Outcome:
    """`status` is "passed", "failed" or "unsupported"."""

    status: str
    reason: str
    folded: bool = False
    constants: tuple[str, ...] = ()


def collect() -> list[Case]:
    """All cases, by kind and name."""
    found = [c for kind in KINDS for c in (_light() if kind == "light" else _bundled(kind))]
    return sorted(found, key=lambda c: (KINDS.index(c.kind), c.name))


def _bundled(kind: str) -> Iterator[Case]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # the suite makes its data anew, infinities among them
        cases = load_model_tests(kind=kind)
    bases = {c.name: c for c in cases}
    for case in cases:
        if kind == "node":
            base = bases.get(case.name.split("_expanded")[0], case)
            operator = _operator(base.model, base.name)
            model, load = case.model, functools.partial(_in_memory, case.model, case.data_sets)
        else:
            folder = Path(case.model_dir)
            operator = case.name.removeprefix("test_")
            model, load = onnx.load(folder / "model.onnx"), functools.partial(_stored, folder)
        yield Case(case.name, kind, operator, _excluded(model), case.rtol, case.atol, load)


def _operator(model: onnx.ModelProto, name: str) -> str:
    types = sorted({n.op_type for n in model.graph.node})
    return types[0] if len(types) == 1 else f"({name.removeprefix('test_')})"


def _in_memory(model: onnx.ModelProto, data: Data) -> tuple[onnx.ModelProto, Data]:
    return model, data


def _stored(folder: Path) -> tuple[onnx.ModelProto, Data]:
    def tensors(part: Path, stem: str) -> list[Any]:
        files = sorted(part.glob(f"{stem}_*.pb"), key=lambda f: int(f.stem.split("_")[-1]))
        return [onnx.load_tensor(f) for f in files]

    parts = sorted(folder.glob("test_data_set_*"))
    return onnx.load(folder / "model.onnx"), [
        (tensors(p, "input"), tensors(p, "output")) for p in parts
    ]


def _light() -> Iterator[Case]:
    for file in sorted((FOLDER / "light").glob("light_*.onnx")):
        name = file.stem
        yield Case(f"test_{name}", "light", name, "", 1e-3, 1e-4, functools.partial(_dummy, file))


def _dummy(file: Path) -> tuple[onnx.ModelProto, Data]:
    """The input is a ramp from 0 to 1, as the onnx package's own runner makes it."""
    shape = (1, 3, 224, 224)
    x = (np.arange(prod(shape)).reshape(shape) / prod(shape)).astype(np.float32)
    expected = onnx.load_tensor(file.with_name(f"{file.stem}_output_0.pb"))
    return onnx.load(file), [([x], [expected])]


def _excluded(model: onnx.ModelProto) -> str:
    """Why the goal does not count the case; empty when it does."""
    used = {n.op_type for n in model.graph.node}
    for reason, operators in EXCLUDED.items():
        if used & set(operators.split()):
            return f"{reason} operator"
    for node in model.graph.node:
        if any(a.name == "training_mode" and a.i for a in node.attribute):
            return "training operator"
        if node.op_type == "Dropout" and len(node.input) > 2:
            return "training operator"
    for info in (*model.graph.input, *model.graph.output):
        if not info.type.HasField("tensor_type"):
            return f"{info.type.WhichOneof('value').removesuffix('_type')} input or output"
        if info.type.tensor_type.elem_type not in TYPES:
            return f"type {TensorProto.DataType.Name(info.type.tensor_type.elem_type)}"
    return ""


# ---- running one case -------------------------------------------------------------------------


def run(case: Case) -> Outcome:
    """Import, compile untuned, run and compare."""
    model, data = case.load()
    outcome = Outcome("failed", "the case has no data")
    for inputs, expected in data:
        outcome = _run_once(case, model, inputs, expected)
        if outcome.status != "passed":
            break
    return outcome


def _run_once(
    case: Case, model: onnx.ModelProto, inputs: Sequence[Any], expected: Sequence[Any]
) -> Outcome:
    weights = {t.name for t in model.graph.initializer}
    names = [i.name for i in model.graph.input if i.name not in weights]
    try:
        arrays = {n: _array(x) for n, x in zip(names, inputs, strict=True)}
        wanted = [_array(y) for y in expected]
    except (TypeError, ValueError) as error:
        return Outcome("unsupported", f"the data are no tensors: {error}")
    try:
        loaded, constants = _load(model, arrays)
        net = tw.compile(loaded)
        found = net.run({n: a for n, a in arrays.items() if n not in constants})
    except tw.UnsupportedModel as error:
        return Outcome("unsupported", str(error))
    except tw.TilewrightError as error:
        return Outcome("failed", f"{type(error).__name__}: {error}")
    problem = difference(found, wanted, case.rtol, case.atol)
    folded = not loaded.partition.graph.nodes
    status = "failed" if problem else "passed"
    return Outcome(status, problem, folded, tuple(sorted(constants)))


def _load(model: onnx.ModelProto, arrays: dict[str, Array]) -> tuple[tw.Model, set[str]]:
    """The imported model, and the inputs whose values it was given."""
    constants: set[str] = set()
    while True:
        try:
            given = {n: arrays[n] for n in constants}
            open_shapes = {n: a.shape for n, a in arrays.items() if n not in constants}
            return tw.load(model, shapes=open_shapes, constants=given), constants
        except tw.UnsupportedModel as error:
            if not set(error.unknown_inputs) - constants:
                raise
            constants |= set(error.unknown_inputs)


def _array(value: Any) -> Array:
    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    if not isinstance(value, (np.ndarray, np.generic)):
        raise TypeError(type(value).__name__)
    return np.asarray(value)


def difference(found: Sequence[Array], expected: Sequence[Array], rtol: float, atol: float) -> str:
    """What is wrong with `found`, in a few words; empty when nothing is."""
    if len(found) != len(expected):
        return f"{len(found)} outputs instead of {len(expected)}"
    for number, (y, want) in enumerate(zip(found, expected, strict=True)):
        if (y.shape, y.dtype) != (want.shape, want.dtype):
            return (
                f"output {number} is {y.dtype}{list(y.shape)} instead of "
                f"{want.dtype}{list(want.shape)}"
            )
        narrow = want.dtype == ml_dtypes.bfloat16
        kind = np.float64 if want.dtype.kind == "f" or narrow else want.dtype
        a, b = y.astype(kind), want.astype(kind)
        # As ONNX's own runner: two units in the last place of bfloat16.
        close = np.isclose(a, b, max(rtol, 2**-6) if narrow else rtol, atol, equal_nan=True)
        if not close.all():
            first = tuple(int(i) for i in np.argwhere(~close)[0])
            return (
                f"output {number}: {np.count_nonzero(~close)} of {close.size} values are wrong; "
                f"at {list(first)} {a[first]} instead of {b[first]}"
            )
    return ""

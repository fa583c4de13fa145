"""Tilewright: a search-based tensor-program compiler.

    import tilewright as tw
    model = tw.load("resnet50.onnx")                  # or tw.Task([A, B, C])
    result = tw.tune(model, minutes=10, db="tuning.db")
    net = tw.compile(model, db="tuning.db")
    (y,) = net(x)

Names are imported when first used, so that `import tilewright` takes no time.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tilewright.version import __version__ as __version__

# Module of every public name.
_EXPORTS: dict[str, tuple[str, ...]] = {
    "tilewright.api": ("TaskResult", "TuneResult", "compile", "tune"),
    "tilewright.errors": (
        "BuildError",
        "ExprError",
        "InputError",
        "RecordsError",
        "RunError",
        "ScheduleError",
        "TargetError",
        "TilewrightError",
        "UnsupportedModel",
        "VerifyError",
        "WrongAnswer",
    ),
    "tilewright.expr.intrinsics": (
        "abs",
        "ceil",
        "cos",
        "erf",
        "exp",
        "floor",
        "fma",
        "isinf",
        "isnan",
        "log",
        "maximum",
        "minimum",
        "power",
        "round",
        "sigmoid",
        "sin",
        "sqrt",
        "tanh",
        "trunc",
    ),
    "tilewright.expr.nodes": ("Tensor", "cast", "select"),
    "tilewright.expr.tensors": (
        "compute",
        "max",
        "min",
        "placeholder",
        "prod",
        "reduce_axis",
        "sum",
        "table",
    ),
    "tilewright.models": ("Model", "ModelSet", "Task", "load"),
    "tilewright.runtime.library": ("load_library",),
    "tilewright.search.objectives": (
        "EarlyStopping",
        "GeomeanSpeedup",
        "LatencyRequirement",
        "TotalLatency",
    ),
    "tilewright.target": ("Target",),
}
_MODULE_OF = {name: module for module, names in _EXPORTS.items() for name in names}
_SUBMODULES = {"operators": "tilewright.expr.operators"}

__all__ = [
    "BuildError",
    "EarlyStopping",
    "ExprError",
    "GeomeanSpeedup",
    "InputError",
    "LatencyRequirement",
    "Model",
    "ModelSet",
    "RecordsError",
    "RunError",
    "ScheduleError",
    "Target",
    "TargetError",
    "Task",
    "TaskResult",
    "Tensor",
    "TilewrightError",
    "TotalLatency",
    "TuneResult",
    "UnsupportedModel",
    "VerifyError",
    "WrongAnswer",
    "abs",
    "cast",
    "ceil",
    "compile",
    "compute",
    "cos",
    "erf",
    "exp",
    "floor",
    "fma",
    "isinf",
    "isnan",
    "load",
    "load_library",
    "log",
    "max",
    "maximum",
    "min",
    "minimum",
    "operators",
    "placeholder",
    "power",
    "prod",
    "reduce_axis",
    "round",
    "select",
    "sigmoid",
    "sin",
    "sqrt",
    "sum",
    "table",
    "tanh",
    "trunc",
    "tune",
]


def __getattr__(name: str) -> Any:
    """Import a public name at its first use (PEP 562)."""
    if name in _MODULE_OF:
        value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    elif name in _SUBMODULES:
        value = importlib.import_module(_SUBMODULES[name])
    else:
        raise AttributeError(f"module 'tilewright' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


if TYPE_CHECKING:
    from tilewright.api import TaskResult, TuneResult, compile, tune
    from tilewright.errors import (
        BuildError,
        ExprError,
        InputError,
        RecordsError,
        RunError,
        ScheduleError,
        TargetError,
        TilewrightError,
        UnsupportedModel,
        VerifyError,
        WrongAnswer,
    )
    from tilewright.expr import operators
    from tilewright.expr.intrinsics import (
        abs,
        ceil,
        cos,
        erf,
        exp,
        floor,
        fma,
        isinf,
        isnan,
        log,
        maximum,
        minimum,
        power,
        round,
        sigmoid,
        sin,
        sqrt,
        tanh,
        trunc,
    )
    from tilewright.expr.nodes import Tensor, cast, select
    from tilewright.expr.tensors import (
        compute,
        max,
        min,
        placeholder,
        prod,
        reduce_axis,
        sum,
        table,
    )
    from tilewright.models import Model, ModelSet, Task, load
    from tilewright.runtime.library import load_library
    from tilewright.search.objectives import (
        EarlyStopping,
        GeomeanSpeedup,
        LatencyRequirement,
        TotalLatency,
    )
    from tilewright.target import Target

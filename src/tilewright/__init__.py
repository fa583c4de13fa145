"""Tilewright: a search-based tensor-program compiler.

    import tilewright as tw
    model = tw.load("resnet50.onnx")                  # or tw.Task([A, B, C])
    result = tw.tune(model, minutes=10, db="tuning.db")
    net = tw.compile(model, db="tuning.db")
    (y,) = net(x)

The logger "tilewright" tells how tuning goes on (`tilewright.ground`). Names are imported when
first used, so that `import tilewright` takes no time.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tilewright.ground import __version__ as __version__

# Module of every public name.
_EXPORTS: dict[str, tuple[str, ...]] = {
    "tilewright.front.advice": ("Advice", "Finding", "advise"),
    "tilewright.front.api": ("TuneResult", "plan", "tune"),
    "tilewright.front.compilation": ("compile",),
    "tilewright.ground.errors": (
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
    "tilewright.front.models": ("Model", "ModelSet", "Task", "load"),
    "tilewright.runtime.library": ("load_library",),
    "tilewright.contract.artifact": ("BufferSpec",),
    "tilewright.search.objectives": (
        "EarlyStopping",
        "GeomeanSpeedup",
        "LatencyRequirement",
        "TotalLatency",
    ),
    "tilewright.search.progress": ("Progress", "TaskResult"),
    "tilewright.target": ("Target",),
}
_MODULE_OF = {name: module for module, names in _EXPORTS.items() for name in names}
_SUBMODULES = {"operators": "tilewright.expr.operators"}

# Without what would replace Python's own in `from tilewright import *`: abs, compile, max, min,
# round, sum.
__all__ = [
    "Advice",
    "BufferSpec",
    "BuildError",
    "EarlyStopping",
    "ExprError",
    "Finding",
    "GeomeanSpeedup",
    "InputError",
    "LatencyRequirement",
    "Model",
    "ModelSet",
    "Progress",
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
    "advise",
    "cast",
    "ceil",
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
    "maximum",
    "minimum",
    "operators",
    "placeholder",
    "plan",
    "power",
    "prod",
    "reduce_axis",
    "select",
    "sigmoid",
    "sin",
    "sqrt",
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
    special = [name for name in globals() if name.startswith("__")]
    return sorted([*special, *_MODULE_OF, *_SUBMODULES])


if TYPE_CHECKING:
    from tilewright.contract.artifact import BufferSpec
    from tilewright.expr import operators
    from tilewright.expr.intrinsics import abs as abs
    from tilewright.expr.intrinsics import (
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
        sigmoid,
        sin,
        sqrt,
        tanh,
        trunc,
    )
    from tilewright.expr.intrinsics import round as round
    from tilewright.expr.nodes import Tensor, cast, select
    from tilewright.expr.tensors import (
        compute,
        placeholder,
        prod,
        reduce_axis,
        table,
    )
    from tilewright.expr.tensors import max as max
    from tilewright.expr.tensors import min as min
    from tilewright.expr.tensors import sum as sum
    from tilewright.front.api import TuneResult, plan, tune
    from tilewright.front.compilation import compile as compile
    from tilewright.front.models import Model, ModelSet, Task, load
    from tilewright.ground.errors import (
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
    from tilewright.runtime.library import load_library
    from tilewright.search.objectives import (
        EarlyStopping,
        GeomeanSpeedup,
        LatencyRequirement,
        TotalLatency,
    )
    from tilewright.search.progress import Progress, TaskResult
    from tilewright.target import Target

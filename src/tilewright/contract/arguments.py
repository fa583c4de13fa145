"""What the public functions are given, checked before anything is done with it.

    minutes(10)                      10.0
    count("trials", 64)              64
    shapes({"x": [1, 224]})          {"x": (1, 224)}
    shapes({"batch": 4})             {"batch": (4,)}

The command line has its options checked here, too, so that both say the same. Everything raises
InputError, which names the argument, what it may be, and what it was.
"""

from __future__ import annotations

import math
import operator
import os
import shlex
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from tilewright.ground.errors import InputError
from tilewright.target import Target

PLANNED = ("reuse", "reuse-all", "profile")
"""The strategies that have a plan."""
STRATEGIES = ("evolution", "templates", *PLANNED, "random", "beam", "exhaustive")
"""The names of all."""


def minutes(value: Any) -> float:
    """A time limit in minutes."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value < 0:
        raise InputError(f"minutes is a finite number, 0 or more, such as 10; got {value!r}")
    return float(value)


def command_words(text: str) -> list[str]:
    """A runner's command split as a shell would."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"runner command {text!r}: {error}") from None
    if not words:
        raise InputError("the runner command is empty: leave it out to measure here")
    return words


ELSEWHERE = {
    "n_trials": "trials=100",
    "timeout": "minutes=10",
    "time_limit": "minutes=10",
    "storage": "db='tuning.db'",
    "study_name": "db='tuning.db'",
    "sampler": "strategy='evolution'",
    "show_progress_bar": "progress=True",
    "direction": "objective=..., which is always made small",
    "n_jobs": "nothing: kernels are built on all cores, and timed one at a time",
}
"""What is called otherwise in other tuners, and here."""


def refuse_unknown(function: str, given: Collection[str], known: Collection[str]) -> None:
    """Raise TypeError for keywords that a function does not have, with those that may be meant."""
    for name in given:
        near = get_close_matches(name, known, 1)
        ours = ELSEWHERE.get(name) or (f"{near[0]}=" if near else "")
        hint = f"say {ours}" if ours else f"it has {', '.join(known)}"
        raise TypeError(f"{function}() has no argument {name!r}: {hint}")


def count(name: str, value: Any, least: int = 1) -> int:
    """A whole number from `least` on."""
    number = _whole(value)
    if number is None or number < least:
        raise InputError(f"{name} is a whole number, {least} or more; got {value!r}")
    return number


def one_of(name: str, value: Any, known: Collection[str]) -> str:
    """One of some names."""
    if not isinstance(value, str) or value not in known:
        raise InputError(f"unknown {name} {value!r}; known: {', '.join(known)}")
    return value


def function(name: str, value: Any) -> Any:
    """Something to call."""
    if not callable(value):
        raise InputError(f"{name} is a function, not {described(value)}")
    return value


def database(value: Any) -> str | Path:
    """Where records are."""
    if not isinstance(value, (str, os.PathLike)) or not str(value):
        raise InputError(
            f"db is the path of a SQLite file or a postgresql:// URL, not {described(value)}"
        )
    is_target = isinstance(value, str) and value.partition(" ")[0].partition(":")[0] in Target.kinds
    if is_target and not Path(str(value)).exists():
        raise InputError(f"db is a file or URL of records, not {value!r}; target={value!r}?")
    return value if isinstance(value, str) else Path(value)


def file(name: str, value: Any) -> Path:
    """The path of a file."""
    if not isinstance(value, (str, os.PathLike)) or not str(value):
        raise InputError(f"{name} is the path of a file, not {described(value)}")
    return Path(value)


class Range(NamedTuple):
    """Of a dimension that varies, and the points at which it is measured (see `Size`)."""

    least: int
    most: int
    points: tuple[tuple[int, float], ...] = ()


Given: TypeAlias = tuple[int | Range, ...]
"""A shape as it is given: whole numbers, and the least and the most of what varies."""


def shapes(value: Any) -> dict[str, Given]:
    """Shapes by the names of inputs."""
    if not isinstance(value, Mapping):
        raise InputError(
            f"shapes is a mapping such as {{'x': (1, 3, 224, 224)}}, or a sequence of them, not "
            f"{described(value)}"
        )
    return {name: shape(name, dims) for name, dims in value.items()}


def shape(name: Any, dims: Any) -> Given:
    """The shape of the input `name`; of a dimension, its one size, or its range."""
    is_listed = isinstance(dims, Sequence) and not isinstance(dims, (str, bytes))
    is_one = _whole(dims) is not None or (is_listed and any(isinstance(d, Mapping) for d in dims))
    if is_one or not (is_listed or hasattr(dims, "__array__")):
        listed = [dims]
    else:
        listed = list(dims)
    found = tuple(n for d in listed if (n := _extent(d)) is not None)
    if not isinstance(name, str) or len(found) < len(listed):
        raise InputError(
            f"the shape of input {name} is a sequence of whole numbers such as (1, 3, 224, 224), "
            f"or of ranges, (1, (1, 512)), which may have points, (1, 512, {{64: 1, 128: 4}}), the "
            f"size of a dimension a whole number; got {dims!r}"
        )
    return found


def limits(value: Any) -> dict[str, int]:
    """How many there may be, at most, of what data decide, by the names of values."""
    if not isinstance(value, Mapping):
        raise InputError(f"limits is a mapping such as {{'boxes': 100}}, not {described(value)}")
    return {str(name): count(f"the limit of {name}", most) for name, most in value.items()}


def fixed(shapes: Mapping[str, Given]) -> dict[str, tuple[int, ...]]:
    """Shapes of a module that is exported with them. Raises InputError for ranges."""
    for name, dims in shapes.items():
        if any(isinstance(d, Range) for d in dims):
            raise InputError(
                f"the shape of {name} is {dims}, with a range: ranges are for ONNX models; export "
                f"the module to one with dynamic shapes"
            )
    return {name: tuple(d for d in dims if isinstance(d, int)) for name, dims in shapes.items()}


CACHE = "cache"


def states(value: Any) -> None:
    """Raise InputError for what names no states."""
    pairs = list(value.items()) if isinstance(value, Mapping) else []
    if value != CACHE and not (pairs and all(isinstance(n, str) for p in pairs for n in p)):
        raise InputError(
            f"state is {CACHE!r}, or a mapping of names such as {{'past.key': 'present.key'}}; got "
            f"{value!r:.80}"
        )


def _extent(value: Any) -> int | Range | None:
    """A whole number, or a range: the least, the most, and perhaps weights by values; None if it is
    neither.
    """
    if isinstance(value, Range):
        return value
    if isinstance(value, tuple | list) and len(value) in (2, 3):
        least, most = map(_whole, value[:2])
        points = value[2] if len(value) == 3 else {}
        weights = points.values() if isinstance(points, Mapping) else [None]
        are_points = all(isinstance(w, Real) for w in weights) and None not in map(_whole, points)
        if least is None or most is None or not are_points:
            return None
        return Range(least, most, tuple((int(n), float(w)) for n, w in points.items()))
    found = _whole(value)
    return None if found is None or found < 0 else found


def _whole(value: Any) -> int | None:
    """The integer that `value` is; None if it is none."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def described(value: Any) -> str:
    """A value of a wrong type, briefly."""
    kind = type(value)
    module = kind.__module__.partition(".")[0]
    prefix = "" if module == "builtins" else f"{module}."
    return "None" if value is None else f"{prefix}{kind.__name__}"

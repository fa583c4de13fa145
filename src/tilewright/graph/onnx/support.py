"""Which operators of ONNX's default domain and of onnxruntime's are supported, for people to read.

operators() -> [Operator("Abs", 1, 24, "kernels", ""), ..., Operator("NonZero", 1, 24, "", "…")]
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import onnx.defs

from tilewright.graph.onnx.control import CONTROL
from tilewright.graph.onnx.ops import (
    DOMAINS,
    LIMITS,
    ONNXRUNTIME,
    THEIR_LIMITS,
    TRANSLATORS,
    UNSUPPORTED,
)

IMPORT_ONLY = ("Constant", "Shape", "Size")


@dataclass(frozen=True, slots=True)
class OnnxOperator:
    """`first` and `last` are opsets; `how` it is taken, empty when it is not; `note` says why,
    or what of it is missing."""

    name: str
    first: int
    last: int
    how: str
    note: str


def operators() -> list[OnnxOperator]:
    """Every operator of the default domain, by name; then those of onnxruntime's that we have."""
    versions: defaultdict[str, list[Any]] = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            versions[schema.name].append(schema)
    standard = [_operator(name, versions[name]) for name in sorted(versions)]
    return standard + [
        OnnxOperator(f"{ONNXRUNTIME}.{name}", 1, 1, "kernels", THEIR_LIMITS.get(name, ""))
        for name in sorted(DOMAINS[ONNXRUNTIME])
    ]


def _operator(name: str, schemas: list[Any]) -> OnnxOperator:
    schemas = sorted(schemas, key=lambda s: s.since_version)
    newest = schemas[-1]
    last = newest.since_version - 1 if newest.deprecated else onnx.defs.onnx_opset_version()
    how, note = _how(name, newest), LIMITS.get(name, "")
    if not how:
        note = UNSUPPORTED.get(name, "no translator, and ONNX does not define it by others")
    return OnnxOperator(name, schemas[0].since_version, last, how, note)


def _how(name: str, schema: Any) -> str:
    if name in UNSUPPORTED:
        return ""
    if name in TRANSLATORS:
        return "kernels"
    if ("", name) in CONTROL:
        return "control flow"
    if name in IMPORT_ONLY:
        return "at import"
    if schema.has_function or schema.has_context_dependent_function:
        return "by its definition"
    return ""

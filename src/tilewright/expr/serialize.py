"""DAGs as JSON text, and hashes that recognise equal and similar workloads.

    dag_from_json(dag_to_json(dag))   an equal DAG
    workload_hash(dag)                the same for any names of tensors and axes
    structure_hash(dag)               the same for any shapes, too; extents(dag) = (512, 512, 512)

Two DAGs of one workload hash have the same tensors, stages and axes in the same order, so a
record's trace is replayed on the DAG it was stored with and its buffers are matched by position.

An expression is an int (int64 literal), a string (int64 variable) or a list: [op, a, b],
["call", fn, x...], ["cast", dtype, x], ["select", c, a, b], ["read", tensor number, i...],
["reduce", op, [[axis, extent]...], body], ["const", dtype, value] or ["var", dtype, name]. Where
parts are so often used again that it would be long, it is ["with", [part...], expression], in which
["part", number] stands for one; parts may have those before them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from tilewright.contract.sizes import Size
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import INT64, DType, dtype
from tilewright.expr.nodes import (
    Axis,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Extent,
    Read,
    Reduce,
    Select,
    Tensor,
    Var,
)
from tilewright.expr.reference import compute_of, sizes
from tilewright.expr.tensors import Compute, Placeholder, Table
from tilewright.expr.traversal import PerNode, children, shared, walk
from tilewright.ground.errors import ExprError

VERSION = 1
LONGEST_BODY = 2048
"""Nodes that are written out, each as often as it is used."""
Json: TypeAlias = Any
"""What `json.loads` returns."""


def dag_to_json(dag: ComputeDAG) -> str:
    """The DAG as one line of JSON; hints must be JSON values."""
    encoder = _Encoder(dag)
    return json.dumps(encoder.document(), separators=(",", ":"))


def dag_from_json(text: str) -> ComputeDAG:
    """The DAG that `dag_to_json` wrote. Raises ExprError for text it did not write."""
    try:
        document = json.loads(text)
        if document["version"] != VERSION:
            raise ExprError(f"DAG format {document['version']} is not {VERSION}; export it anew")
        tensors: list[Tensor] = []
        for entry in document["tensors"]:
            tensors.append(_decode_tensor(entry, tensors))
        sizes = tuple(Size.of(*fields) for fields in document.get("sizes", ()))
        return ComputeDAG([tensors[n] for n in document["outputs"]], sizes)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as cause:
        raise ExprError(f"not the JSON of a DAG: {cause!r}") from cause


def workload_hash(dag: ComputeDAG) -> str:
    """32 hexadecimal digits naming the computation.

    Made from shapes, ranges of sizes, dtypes, expressions with their literals, which placeholders
    are constant, and tables' contents; not from names, hints or the values of constants.
    """
    return _digest(_Anonymous(dag).document())


def structure_hash(dag: ComputeDAG) -> str:
    """32 hexadecimal digits shared by DAGs that differ only in extents, literals and tables; those
    of a DAG with sizes are those of the DAG at some values.
    """
    return _digest(_Structure(dag).document())


def extents(dag: ComputeDAG) -> tuple[int, ...]:
    """The extents of all stages' axes, spatial before reduction, in the DAG's order."""
    found: list[int] = []
    for stage in dag.stages:
        compute = compute_of(stage)
        found += sizes((*compute.axes, *compute.reduce_axes))
    return tuple(found)


def _digest(document: Json) -> str:
    text = json.dumps(document, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class _Encoder:
    """A DAG as a JSON document, tensors numbered in topological order."""

    def __init__(self, dag: ComputeDAG) -> None:
        self.dag = dag
        self.tensors = _numbered(dag)
        self.numbers = {t.name: n for n, t in enumerate(self.tensors)}

    def document(self) -> Json:
        return {
            "version": VERSION,
            "tensors": [self.tensor(t) for t in self.tensors],
            "outputs": [self.numbers[t.name] for t in self.dag.outputs],
            **({"sizes": sizes} if (sizes := self.sizes()) else {}),
        }

    def sizes(self) -> Json:
        return [[s.name, *s.range] for s in self.dag.sizes]

    def tensor(self, t: Tensor) -> Json:
        entry: dict[str, Json] = {
            "name": t.name,
            "shape": self.extents(t.shape),
            "dtype": t.dtype.name,
        }
        match t.source:
            case Placeholder(constant):
                entry["constant"] = constant
            case Table(values):
                entry["table"] = self.table(values)
            case Compute(axes, body, hints):
                entry["axes"] = [a.name for a in axes]
                entry["body"] = self.body(body)
                if hints:
                    entry["hints"] = [list(h) for h in hints]
        return entry

    def table(self, values: np.ndarray[Any, Any]) -> Json:
        return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()

    def extents(self, shape: Sequence[Extent]) -> Json:
        return [e if isinstance(e, int) else self.expr(e) for e in shape]

    def axis(self, axis: Axis) -> Json:
        return [axis.name, *self.extents([axis.extent])]

    def variable(self, name: str) -> Json:
        return name

    def literal(self, value: int | float | bool, kind: DType) -> Json:
        if kind == INT64:
            return int(value)
        if isinstance(value, float) and not math.isfinite(value):
            return ["const", kind.name, repr(value)]
        return ["const", kind.name, value]

    def body(self, body: Expr) -> Json:
        size = PerNode[int](lambda e, ask: 1 + sum(map(ask, children(e))))
        if size(body) <= LONGEST_BODY:
            return self.expr(body)
        body = shared(body)
        uses = Counter(id(c) for e in walk(body) for c in children(e))
        parts: list[Json] = []

        def written(e: Expr, ask: Callable[[Expr], Json]) -> Json:
            found = self._node(e, ask)
            if uses[id(e)] < 2 or not children(e):
                return found
            parts.append(found)
            return ["part", len(parts) - 1]

        whole = PerNode(written)(body)
        return ["with", parts, whole]

    def expr(self, e: Expr) -> Json:
        return self._node(e, self.expr)

    def _node(self, e: Expr, operand: Callable[[Expr], Json]) -> Json:
        match e:
            case Const(value, kind):
                return self.literal(value, kind)
            case Var(name, kind):
                named = self.variable(name)
                return named if kind == INT64 else ["var", kind.name, named]
            case Read(tensor, indices):
                return ["read", self.numbers[tensor.name], *map(operand, indices)]
            case Binary(op, a, b):
                return [op, operand(a), operand(b)]
            case Call(fn, args):
                return ["call", fn, *map(operand, args)]
            case Cast(to, x):
                return ["cast", to.name, operand(x)]
            case Select(cond, a, b):
                return ["select", operand(cond), operand(a), operand(b)]
            case Reduce(op, axes, body):
                return ["reduce", op, [self.axis(a) for a in axes], operand(body)]


class _Anonymous(_Encoder):
    """Without names: an axis is its position in its stage."""

    def __init__(self, dag: ComputeDAG) -> None:
        super().__init__(dag)
        self.axes: dict[str, str] = {}
        self.ranges = {s.name: f"size {n}" for n, s in enumerate(dag.sizes)}

    def sizes(self) -> Json:
        return [s.range for s in self.dag.sizes]

    def tensor(self, t: Tensor) -> Json:
        if isinstance(t.source, Compute):
            every = (*t.source.axes, *t.source.reduce_axes)
            self.axes = {a.name: str(n) for n, a in enumerate(every)}
        entry: dict[str, Json] = super().tensor(t)
        return {k: v for k, v in entry.items() if k not in ("name", "axes", "hints")}

    def axis(self, axis: Axis) -> Json:
        return [self.variable(axis.name), *self.extents([axis.extent])]

    def variable(self, name: str) -> Json:
        return self.ranges.get(name) or self.axes[name]


class _Structure(_Anonymous):
    """Also without numbers: ranks and operations only."""

    def extents(self, shape: Sequence[Extent]) -> Json:
        return ["?"] * len(shape)

    def sizes(self) -> Json:
        return []

    def variable(self, name: str) -> Json:
        return self.literal(0, INT64) if name in self.ranges else super().variable(name)

    def table(self, values: np.ndarray[Any, Any]) -> Json:
        return "?"

    def literal(self, value: int | float | bool, kind: DType) -> Json:
        return ["const", kind.name, "?"]


def _numbered(dag: ComputeDAG) -> list[Tensor]:
    """Placeholders and tables, then stages, each in the DAG's order."""
    return [*dag.inputs, *dag.constants, *dag.tables, *dag.stages]


def _decode_tensor(entry: Mapping[str, Json], tensors: Sequence[Tensor]) -> Tensor:
    decoder, kind = _Decoder(tensors), dtype(entry["dtype"])
    shape = tuple(map(decoder.extent, entry["shape"]))
    source: Placeholder | Table | Compute
    if "constant" in entry:
        source = Placeholder(bool(entry["constant"]))
    elif "table" in entry:
        data = np.frombuffer(base64.b64decode(entry["table"]), kind.numpy)
        data = data.reshape(entry["shape"])
        source = Table(data)
    else:
        axes = tuple(Axis(n, e) for n, e in zip(entry["axes"], shape, strict=True))
        hints = tuple((str(k), _hint(v)) for k, v in entry.get("hints", ()))
        source = Compute(axes, shared(decoder.expr(entry["body"])), hints)
    return Tensor(str(entry["name"]), shape, kind, source)


def _hint(value: Json) -> Any:
    """A hint as the user wrote it: JSON has no tuples."""
    return tuple(value) if isinstance(value, list) else value


class _Decoder:
    """Reads the expression of one tensor."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.tensors = tensors
        self.parts: list[Expr] = []

    def expr(self, e: Json) -> Expr:
        match e:
            case bool():
                raise ExprError("a bare bool in the JSON of a DAG")
            case int():
                return Const(e, INT64)
            case str():
                return Var(e)
            case ["const", kind, value]:
                return Const(float(value) if isinstance(value, str) else value, dtype(kind))
            case ["var", kind, name]:
                return Var(name, dtype(kind))
            case ["read", number, *indices]:
                return Read(self.tensors[number], self.exprs(indices))
            case ["call", fn, *args]:
                return Call(fn, self.exprs(args))
            case ["cast", to, x]:
                return Cast(dtype(to), self.expr(x))
            case ["select", cond, a, b]:
                return Select(*self.exprs((cond, a, b)))
            case ["reduce", op, axes, body]:
                reduced = tuple(Axis(name, self.extent(e), reduce=True) for name, e in axes)
                return Reduce(op, reduced, self.expr(body))
            case ["part", int(number)]:
                return self.parts[number]
            case ["with", parts, body]:
                for part in parts:
                    self.parts.append(self.expr(part))
                return self.expr(body)
            case [str() as op, a, b]:
                return Binary(op, *self.exprs((a, b)))
        raise ExprError(f"unknown expression in the JSON of a DAG: {e!r}")

    def extent(self, e: Json) -> Extent:
        return e if isinstance(e, int) else self.expr(e)

    def exprs(self, parts: Sequence[Json]) -> tuple[Expr, ...]:
        return tuple(map(self.expr, parts))

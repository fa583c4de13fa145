"""Evaluation of expressions with NumPy: one expression over arrays, or many over columns.

    evaluate(A[i, k] * B[k, j], {"i": i, "k": k, "j": j}, {"A": a, "B": b}) -> array
    values = ColumnProgram([a := T * 4, b := ceildiv(512, T)]).run({"T": [1, 2, 3]})
    values[a], values[b]                                     -> [4, 8, 12], [512, 256, 171]

`evaluate` is the reference semantics of an element's expression; variables are integer arrays
that broadcast against one another. `ColumnProgram` compiles integer expressions over decision
variables once into a list of NumPy calls, for thousands of candidates at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any, NoReturn, TypeAlias

import numpy as np

from tilewright.expr.dtypes import BOOL, DTYPES, FLOAT64, INT64, DType
from tilewright.expr.nodes import (
    NARROWING,
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
from tilewright.expr.traversal import PerNode
from tilewright.ground.errors import ExprError

Array: TypeAlias = np.ndarray[Any, Any]
Column: TypeAlias = Array | int
Reader: TypeAlias = Callable[[Tensor, tuple[Array, ...]], Array]
Checked: TypeAlias = tuple[Array, Array | None]
"""Values, and where they come from a read out of range (None: nowhere)."""

BINARY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "min": np.minimum,
    "max": np.maximum,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
}
COMMUTATIVE = frozenset({"add", "mul", "min", "max", "eq", "ne", "and", "or"})
_erf = np.frompyfunc(math.erf, 1, 1)


def _fma(a: Array, b: Array, c: Array) -> Array:
    return np.add(np.multiply(a, b, dtype=np.float64), c)


def _shift(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn` by fewer bits than there are; by more, or a negative number, only the sign is left."""

    def shifted(x: Array, count: Array) -> Array:
        values = np.asarray(x)
        bits = 8 * values.dtype.itemsize
        known = (count >= 0) & (count < bits)
        rest = np.zeros((), values.dtype)
        if fn is np.right_shift and values.dtype.kind == "i":
            rest = values >> (bits - 1)
        return np.where(known, fn(x, np.where(known, count, 0)), rest).astype(values.dtype)

    return shifted


def _dot4(total: Array, a: Array, b: Array) -> Array:
    pairs = [((a >> n) & 255, ((b >> n & 255) ^ 128) - 128) for n in (0, 8, 16, 24)]
    found: Array = total
    for x, y in pairs:
        found = found + x * y
    return found


def _sortable(x: Array) -> Array:
    integer = np.dtype(f"int{8 * x.dtype.itemsize}")
    bits = (x + 0).view(integer)  # -0 + 0 is +0
    greatest = np.iinfo(integer).max
    keys = np.where(bits < 0, bits ^ greatest, bits)
    return np.where(np.isnan(x), greatest, keys).astype(integer)


CALLS: dict[str, Callable[..., Any]] = {
    "neg": np.negative,
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "erf": lambda x: np.asarray(_erf(x), np.float64),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sin": np.sin,
    "cos": np.cos,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
    "pow": np.power,
    "fma": _fma,
    "not": np.logical_not,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "bitand": np.bitwise_and,
    "bitor": np.bitwise_or,
    "bitxor": np.bitwise_xor,
    "shl": _shift(np.left_shift),
    "shr": _shift(np.right_shift),
    "sortable": _sortable,
    "dot4": _dot4,
    **{narrow: partial(np.asarray, dtype=DTYPES[narrow].numpy) for narrow in NARROWING},
}


def evaluate(
    e: Expr,
    env: Mapping[str, Array | int],
    read: Reader | Mapping[str, Array] | None = None,
    *,
    float64: bool = False,
) -> Array:
    """Values of `e` (no reduction inside), broadcast over the variables' arrays in `env`.

    `read` gives tensor elements: arrays by tensor name, or a function of a tensor and its index
    arrays. With `float64` every float is computed in float64. A select reads nothing out of range
    on the branch not taken; a read out of range elsewhere raises ExprError. Minimum and maximum
    propagate NaN.
    """
    reader = read if callable(read) else array_reader(read or {})
    with np.errstate(all="ignore"):
        return np.asarray(_Evaluator(env, reader, float64).value(e))


def array_reader(arrays: Mapping[str, Array]) -> Reader:
    """A reader of whole arrays by tensor name."""

    def read(tensor: Tensor, indices: tuple[Array, ...]) -> Array:
        if tensor.name not in arrays:
            raise ExprError(f"no values for tensor {tensor.name}; given: {sorted(arrays)}")
        found: Array = arrays[tensor.name][indices]
        return found

    return read


def working_dtype(kind: DType, float64: bool) -> np.dtype[np.generic]:
    """The NumPy dtype arithmetic on `kind` is done in."""
    return FLOAT64.numpy if float64 and kind.is_float else kind.compute.numpy


class _Evaluator:
    """Values of nodes, each computed once. A read out of range gives an element that is in range,
    and what it is `wrong` for is carried along: a select drops it with the branch not taken.
    """

    def __init__(self, env: Mapping[str, Array | int], read: Reader, float64: bool) -> None:
        self.env = env
        self.read = read
        self.float64 = float64
        self.visit = PerNode(self._compute)
        self._faults: list[tuple[str, int, int, Array, Array]] = []

    def value(self, e: Expr) -> Array:
        """Values of an expression. Raises ExprError where they depend on a read out of range."""
        found, wrong = self.visit(e)
        if wrong is not None and wrong.any():
            self._fail(wrong)
        return found

    def _fail(self, wrong: Array) -> NoReturn:
        met = (outside & wrong for *_, outside in self._faults)
        where, fault = next((m, f) for m, f in zip(met, self._faults, strict=True) if m.any())
        name, d, extent, index, _ = fault
        raise ExprError(
            f"{name}: index {np.broadcast_to(index, where.shape)[where][0]} of dimension {d} is "
            f"outside 0..{extent - 1}; guard the access with tw.select"
        )

    def _compute(self, e: Expr, _: Callable[[Expr], Checked]) -> Checked:
        match e:
            case Const(value, kind):
                found = np.asarray(value, kind.compute.numpy)  # what the program holds
                wrong: Array | None = None
            case Var(name, kind):
                if name not in self.env:
                    raise ExprError(f"no value for variable {name}; given: {sorted(self.env)}")
                return np.asarray(self.env[name], kind.numpy), None
            case Read():
                return self._element(e)
            case Binary(op, a, b):
                (x, wrong_x), (y, wrong_y) = self.visit(a), self.visit(b)
                found, wrong = BINARY[op](x, y), _either(wrong_x, wrong_y)
            case Call("sortable", (x,)):  # of the very number, however exactly others are kept
                held, wrong = self.visit(x)
                found = CALLS["sortable"](self._convert(held, x.dtype.numpy))
            case Call(fn, args):
                values, faults = zip(*map(self.visit, args), strict=True)
                found, wrong = CALLS[fn](*values), reduce(_either, faults)
            case Cast(_, x):
                found, wrong = self.visit(x)
            case Select(cond, a, b):
                return self._select(cond, a, b)
            case Reduce():
                raise ExprError("a reduction is evaluated by its ComputeDAG, not by evaluate()")
        target = working_dtype(e.dtype, self.float64)
        return (found if found.dtype == target else self._convert(found, target)), wrong

    def _convert(self, x: Array, target: np.dtype[np.generic]) -> Array:
        return np.not_equal(x, 0) if target == np.bool_ else np.asarray(x).astype(target)

    def _select(self, cond: Expr, a: Expr, b: Expr) -> Checked:
        test, wrong = self.visit(cond)
        if test.all():
            found, other = self.visit(a)
            return found, _either(wrong, other)
        if not test.any():
            found, other = self.visit(b)
            return found, _either(wrong, other)
        (x, wrong_x), (y, wrong_y) = self.visit(a), self.visit(b)
        taken = None if wrong_x is None else wrong_x & test
        left = None if wrong_y is None else wrong_y & ~test
        return np.where(test, x, y), _either(wrong, _either(taken, left))

    def _element(self, e: Read) -> Checked:
        where: list[Array] = []
        wrong: Array | None = None
        for d, index in enumerate(e.indices):
            at, fault = self.visit(index)
            extent = e.tensor.shape[d]
            if not isinstance(extent, int):
                raise ExprError(
                    f"{e.tensor.name} has a symbolic extent; evaluate a concrete program"
                )
            wrong = _either(wrong, fault)
            if at.size and (at.min() < 0 or at.max() >= extent):
                outside = (at < 0) | (at >= extent)
                self._faults.append((e.tensor.name, d, extent, at, outside))
                wrong, at = _either(wrong, outside), np.clip(at, 0, extent - 1)
            where.append(at)
        found = self.read(e.tensor, tuple(where))
        return self._convert(found, working_dtype(e.tensor.dtype, self.float64)), wrong


def _either(a: Array | None, b: Array | None) -> Array | None:
    """Where one of two is wrong."""
    return b if a is None else a if b is None else a | b


class Values:
    """Columns by expression: `values[e]` for an expression that they were made for (that object,
    not one that is equal); a number stands for itself.
    """

    def __init__(self, numbers: Mapping[int, int], columns: Sequence[Column]) -> None:
        """`numbers` gives the place in `columns` by the expression's id."""
        self._numbers, self._columns = numbers, columns

    def __getitem__(self, e: Extent) -> Column:
        return e if isinstance(e, int) else self._columns[self._numbers[id(e)]]

    def table(self, n: int) -> Array:
        """All columns side by side, int64 `[columns, n]`."""
        found = np.empty((len(self._columns), n), np.int64)
        for row, column in zip(found, self._columns, strict=True):
            row[:] = column
        return found


class ColumnProgram:
    """Many int64 or bool expressions over decision variables, compiled into NumPy calls.

    Equal subexpressions are computed once; storage of dead values is handed on. `operations` is
    the number of calls one run makes, `variables` the columns it needs. `definitions` gives the
    variables that stand for expressions over others.
    """

    def __init__(
        self, exprs: Sequence[Extent], definitions: Mapping[str, Expr] | None = None
    ) -> None:
        graph = _ExpressionGraph(definitions or {})
        self._exprs = [e for e in exprs if not isinstance(e, int)]  # alive: their ids name them
        results = [graph.visit(e) for e in self._exprs]
        self.variables = tuple(graph.variables)
        self.operations = len(graph.operations)
        slots = {node: i for i, node in enumerate((*graph.literals, *graph.variables.values()))}
        self._inputs = [(slots[node], name) for name, node in graph.variables.items()]
        self._steps = _allocate(graph.operations, results, slots)
        self._initial: list[Any] = [None] * (1 + max(slots.values(), default=0))
        for node, value in graph.literals.items():
            self._initial[slots[node]] = value
        place = {node: i for i, node in enumerate(dict.fromkeys(results))}
        self._results = [slots[node] for node in place]
        self._numbers = {id(e): place[node] for e, node in zip(self._exprs, results, strict=True)}
        self._literals = {place[k]: int(v) for k, v in graph.literals.items() if k in place}

    def number(self, e: Extent) -> tuple[int, bool]:
        """The value of an expression that is the same for all columns, and True; of another a
        number that only equal expressions share, and False.
        """
        if isinstance(e, int):
            return int(e), True
        number = self._numbers[id(e)]
        return self._literals.get(number, number), number in self._literals

    def run(self, columns: Mapping[str, Column]) -> Values:
        """Values of the expressions: a column [n] each, a Python number where none varies.

        `columns` gives an int64 column [n] or an int by variable name. A division by zero gives 0.
        """
        values = list(self._initial)
        for slot, name in self._inputs:
            if name not in columns:
                raise ExprError(f"no column for {name}; given: {sorted(columns)}")
            values[slot] = columns[name]
        with np.errstate(all="ignore"):
            for fn, out, a, b, c in self._steps:
                if c < 0:
                    values[out] = fn(values[a], values[b])
                else:
                    values[out] = fn(values[a], values[b], values[c])
        found = (values[slot] for slot in self._results)
        return Values(
            self._numbers,
            [x.item() if isinstance(x, _NUMPY) and x.ndim == 0 else x for x in found],
        )


_NUMPY = (np.generic, np.ndarray)
Operation: TypeAlias = tuple[Callable[..., Any], int, int, int]
"""A NumPy function and the numbers of its operands; the third is -1 for two of them."""


class _ExpressionGraph:
    """Expressions as numbered nodes without duplicates: literals, variables, operations."""

    def __init__(self, definitions: Mapping[str, Expr]) -> None:
        self._definitions = definitions
        self.literals: dict[int, int | float | bool] = {}
        self.variables: dict[str, int] = {}
        self.operations: dict[int, Operation] = {}
        self._numbers: dict[Any, int] = {}
        self._visited: dict[int, tuple[Expr, int]] = {}

    def visit(self, e: Expr) -> int:
        """The number of the node that computes `e`."""
        hit = self._visited.get(id(e))
        if hit is None:
            hit = self._visited[id(e)] = (e, self._node(e))
        return hit[1]

    def _node(self, e: Expr) -> int:
        match e:
            case Const(value, _):
                return self._literal(value)
            case Var(name, _) if name in self._definitions:
                return self.visit(self._definitions[name])
            case Var(name, _):
                return self.variables.setdefault(name, self._number(name))
            case Binary(op, a, b):
                return self._binary(op, self.visit(a), self.visit(b))
            case Select(cond, a, b):
                return self._select(self.visit(cond), self.visit(a), self.visit(b))
            case Call("neg", (x,)):
                return self._binary("sub", self._literal(0), self.visit(x))
            case Call("not", (x,)):
                return self._binary("ne", self.visit(x), self._literal(True))
            case Call("abs", (x,)):
                inner = self.visit(x)
                minus = self._binary("sub", self._literal(0), inner)
                return self._binary("max", inner, minus)
            case Cast(kind, x) if kind == BOOL:
                return self._binary("ne", self.visit(x), self._literal(0))
            case Cast(kind, x) if kind == INT64 and not x.dtype.is_float:
                return self._binary("add", self.visit(x), self._literal(np.int64(0)))
        raise ExprError(f"{type(e).__name__} {e} cannot be evaluated over columns")

    def _number(self, key: Any) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _literal(self, value: Any) -> int:
        node = self._number((type(value), value))
        self.literals[node] = value
        return node

    def _binary(self, op: str, a: int, b: int) -> int:
        if op in COMMUTATIVE and a > b:
            a, b = b, a
        if a in self.literals and b in self.literals:
            x, y = self.literals[a], self.literals[b]
            if not (op in ("div", "floordiv", "mod") and y == 0):
                return self._literal(BINARY[op](x, y).item())
        return self._operation(BINARY[op], a, b, -1)

    def _select(self, cond: int, a: int, b: int) -> int:
        if cond in self.literals:
            return a if self.literals[cond] else b
        return a if a == b else self._operation(np.where, cond, a, b)

    def _operation(self, fn: Callable[..., Any], a: int, b: int, c: int) -> int:
        node = self._number((fn, a, b, c))
        self.operations[node] = (fn, a, b, c)
        return node


def _allocate(
    operations: Mapping[int, Operation], results: Sequence[int], slots: dict[int, int]
) -> list[tuple[Callable[..., Any], int, int, int, int]]:
    """Steps `(function, output slot, operand slots)`; a slot is reused after its last use.

    `slots` holds those of literals and variables and receives the others. Reuse keeps the
    columns in a fast cache: hundreds of temporaries would not fit.
    """
    last = {node: step for step, (_, *args) in enumerate(operations.values()) for node in args}
    last.update(dict.fromkeys((*slots, *results, -1), len(operations)))
    free: list[int] = []
    total = len(slots)
    steps = []
    for step, (node, (fn, a, b, c)) in enumerate(operations.items()):
        dying = [slots[x] for x in {a, b, c} if last[x] == step]
        free.extend(dying)
        if free:
            slots[node] = free.pop()
        else:
            slots[node], total = total, total + 1
        steps.append((fn, slots[node], slots[a], slots[b], slots[c] if c >= 0 else -1))
    return steps

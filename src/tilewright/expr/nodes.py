"""Expression nodes: the mathematics of one tensor element.

    e ::= Const(value, dtype) | Var(name, dtype) | Read(tensor, indices)
        | Binary(op, a, b) | Call(fn, args) | Cast(dtype, x) | Select(cond, a, b)
        | Reduce(op, axes, body)                     (only as the whole body of a compute)

Nodes are frozen values: equal structure means equal (`==`), so they can be dictionary keys. An
expression is a graph: a part that is used again is one object in all its places, and what works on
expressions takes as long as these have different parts.
`a < b`, `a + b`, `a // b`, `a & b` build nodes; equality of *values* is `a.eq(b)`. Index
arithmetic is int64. `//` and `%` round towards minus infinity (as Python and ONNX `Mod` do).
Integers wrap around, int64 too: indices never come near its ends, values read from tensors may.

An `Extent` is an int or an int64 expression over decision variables: a sketch keeps its tile
sizes as variables, a concrete program has ints. `Tensor` values compare by name, shape and dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tilewright.expr.dtypes import BOOL, DTYPES, FLOAT32, INT32, INT64, DType, dtype
from tilewright.expr.hashing import HashedOnce, hashed_once
from tilewright.ground.errors import ExprError

if TYPE_CHECKING:
    from tilewright.expr.tensors import Source

ARITHMETIC = ("add", "sub", "mul", "div", "floordiv", "mod", "min", "max")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
LOGICAL = ("and", "or")
MATH = (
    "neg", "abs", "exp", "log", "sqrt", "tanh", "erf", "sigmoid", "sin", "cos",
    "floor", "ceil", "round", "trunc", "pow", "fma", "not", "isnan", "isinf",
    "bitand", "bitor", "bitxor", "shl", "shr",
    "float16", "bfloat16", "sortable", "dot4",
)  # fmt: skip
ROUNDINGS = ("floor", "ceil", "round", "trunc")
NARROWING = ("float16", "bfloat16")
BITS = ("bitand", "bitor", "bitxor", "shl", "shr")
REDUCTIONS = ("sum", "max", "min", "prod")
# By NumPy's names: operators, and functions that have another name here.
NUMPY_OPERATORS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "floor_divide": "floordiv",
    "remainder": "mod", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
}  # fmt: skip
NUMPY_FUNCTIONS = {
    "absolute": "abs", "fabs": "abs", "rint": "round", "power": "power", "float_power": "power",
    "maximum": "maximum", "minimum": "minimum", "fmax": "maximum", "fmin": "minimum",
}  # fmt: skip


def _operator(op: str) -> Callable[[Any, Any], Expr]:
    """The method of an operator."""
    return lambda left, right: binary(op, left, right)


def _reflected(op: str) -> Callable[[Any, Any], Expr]:
    """The method of an operator whose right operand is the object."""
    return lambda right, left: binary(op, left, right)


class Operand(HashedOnce):
    """Operator overloads shared by expressions, axes and scalars-to-be."""

    __slots__ = ()

    __add__, __radd__ = _operator("add"), _reflected("add")
    __sub__, __rsub__ = _operator("sub"), _reflected("sub")
    __mul__, __rmul__ = _operator("mul"), _reflected("mul")
    __truediv__, __rtruediv__ = _operator("div"), _reflected("div")
    __floordiv__, __rfloordiv__ = _operator("floordiv"), _reflected("floordiv")
    __mod__, __rmod__ = _operator("mod"), _reflected("mod")
    __lt__, __le__ = _operator("lt"), _operator("le")
    __gt__, __ge__ = _operator("gt"), _operator("ge")
    eq, ne = _operator("eq"), _operator("ne")  # of values: `==` compares structure
    __and__, __or__ = _operator("and"), _operator("or")

    def __neg__(self) -> Expr:
        return call("neg", self)

    def __invert__(self) -> Expr:
        return call("not", self)

    def __bool__(self) -> bool:
        raise ExprError("an expression has no truth value; use tw.select, & and | instead")

    def __float__(self) -> float:
        raise ExprError(
            "an expression is no number yet: use tw.exp and the like, not those of math"
        )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's arithmetic with its numbers; an ExprError for its other functions."""
        op = NUMPY_OPERATORS.get(ufunc.__name__)
        if op is None or method != "__call__" or options:
            raise _numpy_refused(ufunc.__name__)
        if any(isinstance(x, np.ndarray) and x.ndim for x in inputs):
            return ufunc(*(_held(x) if isinstance(x, Operand) else x for x in inputs))
        return binary(op, *(x if isinstance(x, Operand) else x.item() for x in inputs))


def _held(x: Operand) -> np.ndarray[Any, Any]:
    """The expression as what an array of objects has in it."""
    held = np.empty((), object)
    held[()] = x
    return held


def _numpy_refused(name: str) -> ExprError:
    ours = NUMPY_FUNCTIONS.get(name, name if name in MATH else "")
    instead = f"use tw.{ours}" if ours else f"there are tw.{', tw.'.join(MATH[1:10])} and others"
    return ExprError(f"np.{name} takes numbers, not expressions: {instead}")


@dataclass(frozen=True, slots=True, eq=False)
class Const(Operand):
    """A literal. `value` is a Python int, float or bool.

    Two literals are equal when they are the same number: 0.0 differs from -0.0, NaN is itself.
    """

    value: int | float | bool
    dtype: DType

    __bool__ = Operand.__bool__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const) or self.dtype != other.dtype:
            return False
        if self.dtype.is_float:
            return repr(self.value) == repr(other.value)
        return self.value == other.value

    @property
    def held(self) -> int | float | bool:
        """The number that the dtype holds: the nearest one."""
        with np.errstate(over="ignore"):
            return float(self.dtype.numpy.type(self.value)) if self.dtype.is_float else self.value

    def __hash__(self) -> int:
        return hash((repr(self.value) if self.dtype.is_float else self.value, self.dtype.name))


@hashed_once
@dataclass(frozen=True, slots=True)
class Var(Operand):
    """An index variable (an axis, a loop) or a decision variable."""

    name: str
    dtype: DType = INT64


@hashed_once
@dataclass(frozen=True, slots=True)
class Read(Operand):
    """One element of a tensor; one int64 index a dimension."""

    tensor: Tensor
    indices: tuple[Expr, ...]

    @property
    def dtype(self) -> DType:
        return self.tensor.dtype.compute


@hashed_once
@dataclass(frozen=True, slots=True)
class Binary(Operand):
    """`op` is one of ARITHMETIC, COMPARISONS or LOGICAL; both operands have one dtype."""

    op: str
    a: Expr
    b: Expr

    @property
    def dtype(self) -> DType:
        return self.a.dtype if self.op in ARITHMETIC else BOOL


@hashed_once
@dataclass(frozen=True, slots=True)
class Call(Operand):
    """A math intrinsic of MATH, elementwise, on operands of one dtype.

    Those on bits take integers; a shift by as many bits as there are, or more, leaves the sign
    of a signed integer shifted right, else 0. Those of NARROWING round a float32 to the nearest
    value of a narrower type, which may be infinite. "sortable" of a float is an integer of as many
    bits: in the same order, equal where the floats are equal, and the greatest one for NaN.
    """

    fn: str
    args: tuple[Expr, ...]

    @property
    def dtype(self) -> DType:
        if self.fn == "sortable":
            return DTYPES[f"int{self.args[0].dtype.bits}"]
        return BOOL if self.fn in ("not", "isnan", "isinf") else self.args[0].dtype


@hashed_once
@dataclass(frozen=True, slots=True)
class Cast(Operand):
    """Conversion; float to int truncates towards zero, anything to bool is `!= 0`."""

    dtype: DType
    x: Expr


@hashed_once
@dataclass(frozen=True, slots=True)
class Select(Operand):
    """`a` where `cond` holds, else `b`; the branch not taken is not evaluated (no read)."""

    cond: Expr
    a: Expr
    b: Expr

    @property
    def dtype(self) -> DType:
        return self.a.dtype


@hashed_once
@dataclass(frozen=True, slots=True)
class Axis(Operand):
    """A named iteration `0 <= name < extent`; reduction axes are reduced over."""

    name: str
    extent: Extent
    reduce: bool = False

    @property
    def var(self) -> Var:
        return Var(self.name)


@hashed_once
@dataclass(frozen=True, slots=True)
class Reduce(Operand):
    """`op` of REDUCTIONS of `body` over `axes`."""

    op: str
    axes: tuple[Axis, ...]
    body: Expr

    @property
    def dtype(self) -> DType:
        return self.body.dtype


Expr: TypeAlias = Const | Var | Read | Binary | Call | Cast | Select | Reduce
Extent: TypeAlias = int | Expr
Shape: TypeAlias = tuple[Extent, ...]


@hashed_once
@dataclass(frozen=True, slots=True)
class Tensor(HashedOnce):
    """A named array. `source` says how its values arise; None for storage made by a schedule.

    `A[i, j]` is a `Read`. Names are unique within one program.
    """

    name: str
    shape: Shape
    dtype: DType
    source: Source | None = field(default=None, compare=False, repr=False)

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __getitem__(self, indices: Any) -> Read:
        index = indices if isinstance(indices, tuple) else (indices,)
        if len(index) != self.rank:
            raise ExprError(f"{self.name} has {self.rank} dimensions, {len(index)} indices given")
        return Read(self, tuple(as_expr(i, INT64) for i in index))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        raise ExprError(
            f"{self.name} is a tensor, which np.{ufunc.__name__} cannot take: compute its "
            f"elements, tw.compute(shape, lambda i, j: …), or see tw.operators"
        )


def as_expr(x: Any, like: DType | None = None) -> Expr:
    """Turn a Python or NumPy scalar, an Axis or an expression into an expression.

    `like` is the dtype a bare Python number takes.
    """
    if isinstance(x, (Const, Var, Read, Binary, Call, Cast, Select, Reduce)):
        return x
    if isinstance(x, Axis):
        return x.var
    if isinstance(x, Tensor) and x.rank == 0:
        return Read(x, ())
    if isinstance(x, np.generic):
        return Const(x.item(), dtype(x.dtype))
    if isinstance(x, bool):
        return Const(x, BOOL if like is None else like)
    if isinstance(x, int):
        return const(x, INT64 if like is None else like)
    if isinstance(x, float):
        if like is not None and not like.is_float:
            raise ExprError(f"the float {x} meets {like}; cast one of them")
        return Const(x, FLOAT32 if like is None else like)
    raise ExprError(f"cannot use {type(x).__name__} {x!r} in an expression")


def const(value: int | float | bool, like: DType) -> Const:
    """A literal of dtype `like`. Raises ExprError for an integer that it cannot hold."""
    if like.is_float:
        return Const(float(value), like)
    if like == BOOL:
        return Const(bool(value), like)
    if like.wrapped(int(value)) != value:
        raise ExprError(f"the number {value} is none of {like}; cast one of them")
    return Const(int(value), like)


def pair(a: Any, b: Any) -> tuple[Expr, Expr]:
    """Both operands as expressions of one dtype; bare Python numbers adapt to the other side."""
    if not isinstance(a, Operand) and isinstance(b, Operand):
        right = as_expr(b)
        return as_expr(a, right.dtype), right
    left = as_expr(a)
    right = as_expr(b, left.dtype if not isinstance(b, Operand) else None)
    if left.dtype != right.dtype:
        raise ExprError(f"operands have dtypes {left.dtype} and {right.dtype}; cast one of them")
    return left, right


def binary(op: str, a: Any, b: Any) -> Expr:
    """Build a Binary, folding the trivial int64 cases (x+0, x*1, x*0, two literals)."""
    x, y = pair(a, b)
    if x.dtype == INT64 and op in ARITHMETIC:
        folded = _fold_index(op, x, y)
        if folded is not None:
            return folded
    if op == "div" and not x.dtype.is_float:
        raise ExprError("use // for integer division")
    if op in LOGICAL and x.dtype != BOOL:
        raise ExprError(f"{op} needs bool operands, not {x.dtype}")
    return Binary(op, x, y)


INTEGER_RULES: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "min": min,
    "max": max,
}


def _fold_index(op: str, x: Expr, y: Expr) -> Expr | None:
    a = int(x.value) if isinstance(x, Const) else None
    b = int(y.value) if isinstance(y, Const) else None
    if op in ("floordiv", "mod") and b == 0:
        raise ExprError("integer division by zero")
    if a is not None and b is not None and op in INTEGER_RULES:
        return Const(INT64.wrapped(INTEGER_RULES[op](a, b)), INT64)
    match op, a, b:
        case ("add", 0, _) | ("mul", 1, _):
            return y
        case ("add" | "sub", _, 0) | ("mul" | "floordiv", _, 1):
            return x
        case ("mul", 0, _) | ("mul", _, 0) | ("mod", _, 1):
            return Const(0, INT64)
    return None


def call(fn: str, *args: Any) -> Expr:
    """Build a Call; bare Python numbers take the dtype of the first expression operand."""
    if fn not in MATH:
        raise ExprError(f"unknown intrinsic {fn!r}; known: {', '.join(MATH)}")
    like = next((as_expr(a).dtype for a in args if isinstance(a, Operand)), FLOAT32)
    exprs = tuple(as_expr(a, like) for a in args)
    if len({e.dtype for e in exprs}) != 1:
        raise ExprError(f"{fn} has operands of dtypes {[str(e.dtype) for e in exprs]}")
    if fn == "neg" and isinstance(exprs[0], Const):
        kind, value = exprs[0].dtype, exprs[0].value
        return Const(-value if kind.is_float else kind.wrapped(-int(value)), kind)
    if fn in BITS and like.kind not in ("int", "uint"):
        raise ExprError(f"{fn} needs integer operands, not {like}")
    if fn == "sortable" and not like.is_float:
        raise ExprError(f"sortable needs a float operand, not {like}")
    if fn == "dot4" and like != INT32:
        raise ExprError(f"dot4 needs int32 operands, not {like}")
    if fn == "not" and like != BOOL:
        raise ExprError(f"not needs a bool operand, not {like}")
    return Call(fn, exprs)


def select(cond: Any, a: Any, b: Any) -> Expr:
    """`a` where `cond` holds, else `b`."""
    test = as_expr(cond)
    if test.dtype != BOOL:
        raise ExprError(f"the condition of a select is {test.dtype}, not bool")
    x, y = pair(a, b)
    return Select(test, x, y)


def cast(to: str | DType, x: Any) -> Expr:
    """Convert `x` to dtype `to`: in its compute type, rounded to what it can hold."""
    wanted = dtype(to)
    target, e = wanted.compute, as_expr(x)
    if e.dtype != target:
        known = _converted(e, target) if isinstance(e, Const) else None
        e = Cast(target, e) if known is None else known
    return e if target == wanted or _is_within(e, wanted) else Call(wanted.name, (e,))


def _converted(e: Const, to: DType) -> Const | None:
    """A literal in another type; None where the conversion does not keep its (whole) number."""
    value = e.held
    if to == BOOL:
        return Const(value != 0, to)
    if to.is_float:
        return Const(float(value), to) if e.dtype.is_float or value == float(value) else None
    if e.dtype.is_float and not isfinite(value):
        return None
    whole = int(value)
    return Const(whole, to) if to.wrapped(whole) == whole else None


def _is_within(e: Expr, narrow: DType) -> bool:
    """Whether all values of a float32 expression are surely values of a narrower float type."""
    match e:
        case Read(tensor, _):
            return tensor.dtype == narrow
        case Const(value, _):
            with np.errstate(over="ignore"):
                return value != value or float(narrow.numpy.type(value)) == value
        case Call(fn, args) if fn in ("neg", "abs", *ROUNDINGS):
            return _is_within(args[0], narrow)
        case Call(fn, _):
            return fn == narrow.name
        case Binary("min" | "max", a, b) | Select(_, a, b):
            return _is_within(a, narrow) and _is_within(b, narrow)
        case Cast(_, x):
            return x.dtype == BOOL
    return False

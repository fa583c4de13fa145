"""Random small DAGs over all dtypes, with values and literals of their whole ranges.

    case = random_numbers(np.random.default_rng(7))    case.dag, case.arrays, case.expected

Every operation is done twice: written down as an expression, and at once by NumPy on whole arrays.
That is the reference: it knows no expression, and nothing that simplifies one. Floats have NaN and
infinities among them, no denormals (kernels take these for zero), and no operation that rounds in
other ways than NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import DTYPES, DType, dtype
from tilewright.expr.nodes import Expr, Tensor, binary, call, cast, const, select
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import min as min_over
from tilewright.expr.tensors import prod as prod_over
from tilewright.expr.tensors import sum as sum_over

Array = np.ndarray[Any, Any]
ROWS, COLUMNS = 5, 19
KINDS = tuple(DTYPES)
FLOATS = (0.0, 1.0, -1.0, 0.5, -1.5, 3.0, 7.0, 100.0, 3.14159, 65504.0, 70000.0, -70000.0, 1e30,
          3.4e38, float("inf"), float("-inf"), float("nan"))  # fmt: skip


@dataclass(frozen=True)
class NumbersCase:
    """A DAG with values of its inputs, and what NumPy makes of them, by the names of outputs."""

    dag: ComputeDAG
    arrays: Mapping[str, Array]
    expected: Mapping[str, Array]


@dataclass(frozen=True)
class Both:
    """An element's expression at `[i, j]`, and the array of all of them."""

    expr: Expr
    array: Array

    @property
    def kind(self) -> DType:
        return self.expr.dtype


def bounds_of(kind: DType) -> tuple[int, int]:
    """The least and greatest integer."""
    info = np.iinfo(kind.numpy)
    return int(info.min), int(info.max)


@dataclass
class Builder:
    """Tensors made so far with their values, and the random choices that make more."""

    rng: np.random.Generator
    tensors: list[tuple[Tensor, Array]] = field(default_factory=list)
    arrays: dict[str, Array] = field(default_factory=dict)

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def among(self, options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    # ---- values -------------------------------------------------------------------------------

    def number(self, kind: DType) -> int | float | bool:
        """Any number of a type: often small, often near an end of its range."""
        if kind.is_float:
            return float(self.among(FLOATS))
        if kind.kind == "bool":
            return self.chance(0.5)
        low, high = bounds_of(kind)
        if self.chance(0.3):
            return int(self.among((low, low + 1, high, high - 1)))
        if self.chance(0.5):
            return int(self.rng.integers(max(low, -7), 8))
        if self.chance(0.3) and kind.bits == 64:
            return int(self.among((6364136223846793005, 1442695040888963407, 2**62, 2**61 - 1)))
        return int(self.rng.integers(low, high, endpoint=True, dtype=kind.numpy))

    def values(self, kind: DType, shape: tuple[int, ...]) -> Array:
        found = [self.number(kind) for _ in range(int(np.prod(shape)))]
        with np.errstate(all="ignore"):
            return np.array(found).astype(kind.numpy).reshape(shape)

    def given(self, kind: DType, shape: tuple[int, ...] = (ROWS, COLUMNS)) -> tuple[Tensor, Array]:
        name = f"p{len(self.arrays)}"
        values = self.arrays[name] = self.values(kind, shape)
        constant = self.chance(0.2)
        return placeholder(shape, kind.name, name=name, constant=constant), values

    def tensor(self, name: str) -> tuple[Tensor, Array]:
        """One of a storage type: one that was made, or another input."""
        kind = dtype(name)
        made = [t for t in self.tensors if t[0].dtype == kind and t[0].shape == (ROWS, COLUMNS)]
        if made and self.chance(0.7):
            return made[-1] if self.chance(0.5) else made[int(self.rng.integers(len(made)))]
        self.tensors.append(self.given(kind))
        return self.tensors[-1]

    def element(self, i: Expr, j: Expr, name: str) -> Both:
        """A tensor's own element, a literal's, or (rarely) one beside it, where that is inside."""
        tensor, values = self.tensor(name)
        wide = values.astype(tensor.dtype.compute.numpy)
        if self.chance(0.85):
            return Both(tensor[i, j], wide)
        shift, fill = int(self.rng.integers(-3, 4)), self.number(tensor.dtype.compute)
        at = j + shift
        literal = const(fill, tensor.dtype.compute)
        outside = np.full((ROWS, COLUMNS), fill, wide.dtype)
        for column in range(COLUMNS):
            if 0 <= column + shift < COLUMNS:
                outside[:, column] = wide[:, column + shift]
        return Both(select((at >= 0) & (at < COLUMNS), tensor[i, at], literal), outside)

    # ---- expressions --------------------------------------------------------------------------

    def tree(self, i: Expr, j: Expr, kind: DType, depth: int) -> Both:
        """A random expression of a compute type."""
        with np.errstate(all="ignore"):
            found = self._tree(i, j, kind, depth)
        assert found.array.dtype == kind.numpy and found.kind == kind, (found.expr, kind)
        return found

    def _tree(self, i: Expr, j: Expr, kind: DType, depth: int) -> Both:
        names = [n for n, d in DTYPES.items() if d.compute == kind]
        if depth == 0:
            if kind.name == "int64" and self.chance(0.15):
                axis, n = (i, ROWS) if self.chance(0.5) else (j, COLUMNS)
                along = np.arange(n).reshape((-1, 1) if axis is i else (1, -1))
                return Both(axis, np.broadcast_to(along, (ROWS, COLUMNS)).astype(np.int64))
            if self.chance(0.3):
                value = self.number(kind)
                return Both(const(value, kind), np.full((ROWS, COLUMNS), value, kind.numpy))
            return self.element(i, j, self.among(names))
        rules: list[Callable[..., Both]] = [self.chosen, self.converted]
        if kind.name == "bool":
            rules += [self.compared, self.compared, self.of_bools]
        elif kind.is_float:
            rules += [self.of_floats, self.of_floats, self.rounded]
        else:
            rules += [self.of_integers] * 4 + [self.of_bits]
        return self.among(rules)(i, j, kind, depth - 1)

    def chosen(self, i: Expr, j: Expr, kind: DType, depth: int) -> Both:
        cond = self.tree(i, j, dtype("bool"), depth)
        a, b = self.tree(i, j, kind, depth), self.tree(i, j, kind, depth)
        return Both(select(cond.expr, a.expr, b.expr), np.where(cond.array, a.array, b.array))

    def converted(self, i: Expr, j: Expr, kind: DType, depth: int) -> Both:
        source = dtype(self.among(KINDS)).compute
        x = self.tree(i, j, source, depth)
        if source.is_float and kind.kind in ("int", "uint"):
            # What a float beyond int32 (int64 for the wide types) becomes is undefined everywhere;
            # what fits there wraps around.
            limit = const(2.0 ** (31 if kind.bits < 32 or kind.name == "int32" else 62), source)
            inside = np.isfinite(x.array) & (np.abs(x.array) < limit.value)
            fits = call("abs", x.expr) < limit
            x = Both(
                select(fits, x.expr, const(1.0, source)),
                np.where(inside, x.array, source.numpy.type(1)),
            )
        array = x.array != 0 if kind.name == "bool" else x.array.astype(kind.numpy)
        return Both(cast(kind, x.expr), array)

    def rounded(self, i: Expr, j: Expr, kind: DType, depth: int) -> Both:
        """Rounded to a narrower type; a float32 for once."""
        x = self.tree(i, j, kind, depth)
        if kind.name != "float32":
            fn, numpy = self.among((("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc),
                                    ("round", np.rint)))  # fmt: skip
            return Both(call(fn, x.expr), numpy(x.array))
        narrow = dtype(self.among(("float16", "bfloat16")))
        array = x.array.astype(narrow.numpy).astype(np.float32)
        return Both(cast(narrow, x.expr), array)

    def compared(self, i: Expr, j: Expr, kind: DType, depth: int) -> Both:
        source = dtype(self.among([k for k in KINDS if k != "bool"])).compute
        a, b = self.tree(i, j, source, depth), self.tree(i, j, source, depth)
        op, numpy = self.among((
            ("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal),
            ("eq", np.equal), ("ne", np.not_equal),
        ))  # fmt: skip
        return Both(binary(op, a.expr, b.expr), numpy(a.array, b.array))

    def of_bools(self, i: Expr, j: Expr, kind: DType, depth: int) -> Both:
        a, b = self.tree(i, j, kind, depth), self.tree(i, j, kind, depth)
        op, numpy = self.among((
            ("and", np.logical_and), ("or", np.logical_or), ("min", np.minimum),
            ("max", np.maximum), ("add", np.add), ("mul", np.multiply),
        ))  # fmt: skip
        if self.chance(0.2):
            return Both(call("not", a.expr), ~a.array)
        return Both(binary(op, a.expr, b.expr), numpy(a.array, b.array))

    def of_floats(self, i: Expr, j: Expr, kind: DType, depth: int) -> Both:
        a, b = self.tree(i, j, kind, depth), self.tree(i, j, kind, depth)
        if self.chance(0.2):
            fn, numpy = self.among((("neg", np.negative), ("abs", np.abs)))
            return Both(call(fn, a.expr), numpy(a.array))
        op, numpy = self.among((
            ("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("min", np.minimum),
            ("max", np.maximum),
        ))  # fmt: skip
        return Both(binary(op, a.expr, b.expr), numpy(a.array, b.array))

    def of_integers(self, i: Expr, j: Expr, kind: DType, depth: int) -> Both:
        a, b = self.tree(i, j, kind, depth), self.tree(i, j, kind, depth)
        if self.chance(0.15):
            fn, numpy = self.among((("neg", np.negative), ("abs", np.abs)))
            return Both(call(fn, a.expr), numpy(a.array))
        if self.chance(0.4):
            value = self.number(kind) or 3
            b = Both(const(value, kind), np.full((ROWS, COLUMNS), value, kind.numpy))
        op, numpy = self.among((
            ("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("min", np.minimum),
            ("max", np.maximum), ("floordiv", np.floor_divide), ("mod", np.remainder),
        ))  # fmt: skip
        if op in ("floordiv", "mod") and not b.array.all():
            one = const(1, kind)
            b = Both(
                select(b.expr.eq(0), one, b.expr),
                np.where(b.array == 0, b.array.dtype.type(1), b.array),
            )
        return Both(binary(op, a.expr, b.expr), numpy(a.array, b.array).astype(kind.numpy))

    def of_bits(self, i: Expr, j: Expr, kind: DType, depth: int) -> Both:
        a, b = self.tree(i, j, kind, depth), self.tree(i, j, kind, depth)
        fn, numpy = self.among((
            ("bitand", np.bitwise_and), ("bitor", np.bitwise_or), ("bitxor", np.bitwise_xor)
        ))  # fmt: skip
        return Both(call(fn, a.expr, b.expr), numpy(a.array, b.array))

    # ---- stages -------------------------------------------------------------------------------

    def add(self, tensor: Tensor, array: Array) -> None:
        assert array.dtype == tensor.dtype.numpy, (tensor, array.dtype)
        self.tensors.append((tensor, array))

    def name(self) -> str:
        return f"s{len(self.tensors)}"

    def elementwise(self) -> None:
        """A tree, stored in a type of its own."""
        storage = dtype(self.among(KINDS))
        depth = int(self.among((1, 2, 2, 3)))
        found: list[Both] = []

        def body(i: Expr, j: Expr) -> Expr:
            found.append(self.tree(i.var, j.var, storage.compute, depth))
            return found[-1].expr

        made = compute((ROWS, COLUMNS), body, name=self.name(), dtype=storage)
        with np.errstate(all="ignore"):
            self.add(made, found[-1].array.astype(storage.numpy))

    def picked(self) -> None:
        """Rows or columns at places that data give: clamped, or the remainder of a hash."""
        x, values = self.tensor(self.among(KINDS))
        found: list[Both] = []

        def body(i: Expr, j: Expr) -> Expr:
            place = self.tree(i.var, j.var, dtype("int64"), int(self.among((0, 1, 2))))
            if self.chance(0.5):
                at = binary("min", binary("max", place.expr, 0), COLUMNS - 1)
                where = np.clip(place.array, 0, COLUMNS - 1)
            else:
                at, where = place.expr % COLUMNS, place.array % COLUMNS
            found.append(Both(at, where))
            return x[i, at]

        made = compute((ROWS, COLUMNS), body, name=self.name(), dtype=x.dtype)
        self.add(made, np.take_along_axis(values, found[-1].array, 1))

    def reduced(self) -> None:
        """A row's sum, product, least or greatest number; floats are not summed here."""
        x, values = self.tensor(self.among(KINDS))
        k = reduce_axis(COLUMNS, "k")
        kind = x.dtype
        rules: list[tuple[Any, Any]] = [(max_over, np.max), (min_over, np.min)]
        if kind.kind in ("int", "uint"):
            rules += [(sum_over, np.sum), (prod_over, np.prod)]
        over, numpy = self.among(rules)
        made = compute((ROWS,), lambda i: over(x[i, k], k), name=self.name(), dtype=kind)
        with np.errstate(all="ignore"):
            array = numpy(values, axis=1).astype(kind.numpy)
        self.tensors.append((made, array))

    def masked_sum(self) -> None:
        """Sums of products where a mask says so: small whole floats there, anything elsewhere."""
        limit = int(self.rng.integers(1, COLUMNS + 1))
        w, weights = self.given(dtype("float32"), (COLUMNS, 7))
        x, values = self.given(dtype("float32"))
        shift = int(self.rng.integers(-2, 3))
        index = np.arange(COLUMNS)
        by_data = self.chance(0.3)
        m, mask = self.given(dtype("bool"), (COLUMNS,))
        counts = (index + shift >= 0) & (index + shift < COLUMNS) & (index < limit)
        counts = counts & mask if by_data else counts
        places = np.clip(index + shift, 0, COLUMNS - 1)
        values[:, places[counts]] = self.rng.integers(-4, 5, (ROWS, int(counts.sum())))
        weights[counts] = self.rng.integers(-4, 5, (int(counts.sum()), 7))
        k = reduce_axis(COLUMNS, "k")

        def body(i: Expr, o: Expr) -> Expr:
            at = k + shift
            inside = (at >= 0) & (at < COLUMNS) & (k < limit)
            inside = inside & m[k] if by_data else inside
            return sum_over(select(inside, x[i, at] * w[k, o], 0.0), k)

        made = compute((ROWS, 7), body, name=self.name())
        array = values[:, places[counts]] @ weights[counts]
        self.tensors.append((made, array.astype(np.float32)))


STAGES: tuple[Callable[[Builder], None], ...] = (
    Builder.elementwise, Builder.elementwise, Builder.elementwise, Builder.elementwise,
    Builder.picked, Builder.reduced, Builder.masked_sum,
)  # fmt: skip


def random_numbers(rng: np.random.Generator) -> NumbersCase:
    """One to four stages; the last is an output, at times another one, too."""
    b = Builder(rng)
    made: list[tuple[Tensor, Array]] = []
    for _ in range(int(rng.integers(1, 5))):
        b.among(STAGES)(b)
        made.append(b.tensors[-1])
    outputs = [made[-1]]
    if len(made) > 1 and b.chance(0.4):
        outputs.append(made[int(rng.integers(len(made) - 1))])
    dag = ComputeDAG([t for t, _ in outputs])
    expected = {t.name: values for t, (_, values) in zip(dag.outputs, outputs, strict=True)}
    used = {t.name for t in (*dag.inputs, *dag.constants)}
    return NumbersCase(dag, {n: a for n, a in b.arrays.items() if n in used}, expected)

"""Compiled kernels against NumPy and the interpreter: register tiles, tails, padding, dtypes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from kernel_nests import Conv, P, S, U, V, conv2d, gemm, nest, streamed, tile, under
from kernel_runs import HOST, check, close, random_arrays, run

from tilewright.codegen import compile_program
from tilewright.codegen.llvm.prefetch import INTO_SECOND_LEVEL
from tilewright.expr.dtypes import DTYPES, FLOAT32, INT64, DType
from tilewright.expr.nodes import Cast, Const, Expr, Select, Tensor, Var, as_expr, binary, call
from tilewright.expr.tensors import placeholder, table
from tilewright.nest.nodes import Alloc, Kind, Node, Program, Store, seq
from tilewright.target import Target

pytestmark = pytest.mark.cpu

ZERO = Const(0.0, FLOAT32)
TWO_CORES = Target.parse("cpu cores=2")
INT32 = DTYPES["int32"]


@pytest.mark.parametrize(
    ("m", "n", "k", "rows", "columns", "options"),
    [
        (12, 128, 16, 6, 64, {}),
        (12, 128, 16, 6, 64, {"packed": True}),
        (13, 130, 17, 6, 64, {}),  # a tail in every dimension
        (13, 131, 17, 4, 48, {"k_inner": 4}),
        (7, 5, 3, 2, 3, {}),  # less than a register
        (17, 19, 23, 5, 7, {"local": False}),
        (31, 29, 37, 1, 16, {"k_inner": 8}),  # one row: partial accumulators
        (5, 33, 100, 3, 33, {"k_inner": 16}),
    ],
)
def test_gemm(m: int, n: int, k: int, rows: int, columns: int, options: dict[str, int]) -> None:
    program = gemm(m, n, k, rows, columns, **options)
    arrays = random_arrays(program)
    b = arrays["B"]
    if options.get("packed"):
        b = b.transpose(1, 0, 2).reshape(k, n)
    close(run(program, arrays)["C"], np.maximum(arrays["A"].astype(np.float64) @ b, 0))


@pytest.mark.parametrize("columns", [128, 130])
def test_a_streamed_output_is_complete_when_the_call_returns(columns: int) -> None:
    program = streamed(gemm(64, columns, 5, 4, 64), "C")
    for seed in range(20):
        check(program, TWO_CORES, seed=seed)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_gemm_in_other_floats(dtype: str) -> None:
    program = gemm(9, 35, 21, 4, 16, dtype=DTYPES[dtype])
    check(program, tolerance={"float64": 1e-12, "float16": 2e-3, "bfloat16": 1e-2}[dtype])


@pytest.mark.parametrize("k_inner", [1, 7, 16])
@pytest.mark.parametrize("m", [52, 49])
def test_rows_fetched_ahead_of_their_use(m: int, k_inner: int) -> None:
    """The last block's successor lies behind the input."""
    target = replace(HOST, l2_bytes=1 << 13)
    program = gemm(m, 32, 64, 13, 32, k_inner=k_inner)
    assert INTO_SECOND_LEVEL in compile_program(program, target).ir
    check(program, target)


def test_what_the_next_panel_is_made_of_is_prefetched() -> None:
    target = replace(HOST, l2_bytes=1 << 14)
    program = conv2d(Conv(40, 8, 64, 32, kernel=1, pad=0), 2, 8, 32, attach_pad=True)
    assert INTO_SECOND_LEVEL in compile_program(program, target).ir
    check(program, target)
    part = conv2d(Conv(40, 8, 64, 32, kernel=1, pad=0), 2, 4, 32, attach_pad=True)
    assert INTO_SECOND_LEVEL not in compile_program(part, target).ir  # with gaps


@pytest.mark.parametrize("cores", [HOST, TWO_CORES])
@pytest.mark.parametrize(
    ("sizes", "tiles", "options"),
    [
        (Conv(7, 7, 5, 32), (1, 7, 32), {}),
        (Conv(7, 7, 5, 32), (3, 2, 16), {}),  # padding meets tails
        (Conv(7, 9, 4, 19), (2, 4, 8), {"c_inner": 2}),
        (Conv(7, 7, 5, 32), (3, 2, 16), {"attach_pad": True}),  # windows with a halo
        (Conv(9, 8, 3, 16, kernel=3, stride=2), (2, 2, 16), {}),
        (Conv(9, 8, 3, 16, kernel=3, stride=2), (2, 2, 16), {"attach_pad": True}),
        (Conv(6, 6, 7, 24, kernel=5, pad=2), (2, 3, 24), {}),
        (Conv(5, 5, 6, 40, kernel=1, pad=0), (5, 1, 8), {"f_panels": 5}),
    ],
)
def test_conv2d(
    sizes: Conv, tiles: tuple[int, int, int], options: dict[str, int], cores: Target
) -> None:
    program = conv2d(sizes, *tiles, **options)
    arrays = random_arrays(program)
    close(run(program, arrays, cores)["Y"], convolved(sizes, arrays))


def convolved(s: Conv, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """The convolution, in float64."""
    packed = arrays["W"].astype(np.float64)  # [panels, ry, rx, c, lanes]
    w = np.moveaxis(packed, 0, -2).reshape(*packed.shape[1:4], -1)[..., : s.f]
    x = np.pad(arrays["X"], ((s.pad, s.pad), (s.pad, s.pad), (0, 0)))
    oh, ow = s.out
    total = np.zeros((oh, ow, s.f))
    for ry in range(s.kernel):
        for rx in range(s.kernel):
            rows = slice(ry, ry + (oh - 1) * s.stride + 1, s.stride)
            columns = slice(rx, rx + (ow - 1) * s.stride + 1, s.stride)
            total += x[rows, columns] @ w[ry, rx]
    return np.maximum(total + arrays["bias"], 0)


def softmax(rows: int, columns: int, vector: int) -> Program:
    """Row maxima and sums reduced along vector lanes, attached to the rows."""
    x = placeholder((rows, columns), name="x")
    y = Tensor("y", (rows, columns), FLOAT32)
    top, total = Tensor("top", (1,), FLOAT32), Tensor("total", (1,), FLOAT32)
    i = Var("i")
    parts: list[Node] = []
    for stage in ("m", "s", "o"):
        j = tile(stage, columns, vector)
        element = call("exp", x[i, j.index] - top[i])
        statement: Node = {
            "m": Store(top, (i,), x[i, j.index], "max"),
            "s": Store(total, (i,), element, "sum"),
            "o": Store(y, (i, j.index), element / total[i]),
        }[stage]
        parts.append(nest([j.loop(0), j.loop(1, V)], under(j.guards, statement)))
    low = Store(top, (i,), Const(float("-inf"), FLOAT32))
    body = seq(low, parts[0], Store(total, (i,), ZERO), parts[1], parts[2])
    body = Alloc(top, (i,), Alloc(total, (i,), body))
    return Program("softmax", (x,), (), (), (y,), nest([("i", rows, P)], body))


@pytest.mark.parametrize(("columns", "vector"), [(64, 16), (37, 16), (100, 64), (5, 8)])
def test_softmax(columns: int, vector: int) -> None:
    check(softmax(7, columns, vector))


def test_reductions_pass_nan_on() -> None:
    program = softmax(2, 37, 16)
    arrays = {"x": np.zeros((2, 37), np.float32)}
    arrays["x"][1, 35] = np.nan
    y = run(program, arrays)["y"]
    assert np.isfinite(y[0]).all() and np.isnan(y[1]).all()


@pytest.mark.parametrize("op", ["sum", "max", "min", "prod"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
def test_reductions_along_lanes(op: str, dtype: str) -> None:
    kind = DTYPES[dtype].compute
    x, y = placeholder((3, 45), dtype, name="x"), Tensor("y", (3,), kind)
    start = {"sum": 0, "prod": 1, "max": -100, "min": 100}[op]
    start = abs(start) if kind.kind == "uint" and op != "max" else max(start, -100)
    first = Const(
        float(start) if kind.is_float else 0 if kind.kind == "uint" and op == "max" else start, kind
    )
    i, j = Var("i"), tile("j", 45, 20)
    update = under(j.guards, Store(y, (i,), x[i, j.index], op))
    body = seq(Store(y, (i,), first), nest([j.loop(0), j.loop(1, V)], update))
    check(Program("reduce", (x,), (), (), (y,), nest([("i", 3, S)], body)))


PLACES: dict[str, Callable[[Expr], Expr]] = {
    "twice": lambda i: i // 2,
    "three times": lambda i: i // 3,
    "two runs in turns": lambda i: i % 2 * 70 + i // 2,
    "four runs": lambda i: i % 4 * 20 + i // 4,
    "many runs": lambda i: i % 8 * 9 + i // 8,
    "backwards in pairs": lambda i: i + 1 - i % 2 * 2,
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "float16"])
@pytest.mark.parametrize("place", PLACES)
def test_lanes_whose_places_are_known(place: str, dtype: str) -> None:
    """Runs of neighbours are loaded and shuffled, the last one up to a buffer's end; conditions of
    all lanes, or of each, and sums of a part of the lanes.
    """
    kind = DTYPES[dtype]
    x, y = placeholder((3, 140), kind, name="x"), Tensor("y", (3, 70), kind.compute)
    z, i, j = Tensor("z", (3,), kind.compute), Var("i"), Var("j")
    read = x[i, PLACES[place](j)]
    zero = Const(0.0 if kind.is_float else 0, kind.compute)
    for value in (read, Select(i < 2, read, zero), Select(j < 41, read, zero)):
        store = nest([("i", 3, S), ("j", 70, V)], Store(y, (i, j), value))
        check(Program("places", (x,), (), (), (y,), store))
    total = seq(Store(z, (i,), zero), nest([("j", 37, V)], Store(z, (i,), read, "sum")))
    check(Program("sums", (x,), (), (), (z,), nest([("i", 3, S)], total)))


def test_argmin_in_two_stages() -> None:
    """The least value, then the least index that has it."""
    x, y = placeholder((4, 50), name="x"), Tensor("y", (4,), INT64)
    least = Tensor("least", (1,), FLOAT32)
    i, j, k = Var("i"), Var("j"), Var("k")
    index = Select(x[i, k].eq(least[i]), k, as_expr(1 << 40))
    body = seq(
        Store(least, (i,), Const(float("inf"), FLOAT32)),
        nest([("j", 50, V)], Store(least, (i,), x[i, j], "min")),
        Store(y, (i,), Const(1 << 40, INT64)),
        nest([("k", 50, V)], Store(y, (i,), index, "min")),
    )
    program = Program("argmin", (x,), (), (), (y,), nest([("i", 4, S)], Alloc(least, (i,), body)))
    arrays = random_arrays(program)
    np.testing.assert_array_equal(run(program, arrays)["y"], arrays["x"].argmin(axis=1))


@pytest.mark.parametrize("left", ["int8", "uint8"])
def test_quantised_matmul(left: str) -> None:
    """Narrow operands are multiplied and summed in int32."""
    a = placeholder((5, 30), left, name="a")
    b = placeholder((30, 21), "int8", name="b")
    c = Tensor("c", (5, 21), INT32)
    i, j, k = Var("i"), Var("j"), Var("k")
    product = Cast(INT32, a[i, k]) * Cast(INT32, b[k, j])
    body = seq(
        nest([("j", 21, V)], Store(c, (i, j), Const(0, INT32))),
        nest([("k", 30, S), ("j", 21, V)], Store(c, (i, j), product, "sum")),
    )
    program = Program("quantised", (a, b), (), (), (c,), nest([("i", 5, P)], body))
    arrays = random_arrays(program)
    expected = arrays["a"].astype(np.int32) @ arrays["b"].astype(np.int32)
    np.testing.assert_array_equal(run(program, arrays)["c"], expected)


def elementwise(value: Expr, x: Tensor, n: int, kind: DType = FLOAT32) -> Program:
    y = Tensor("y", (n,), kind)
    return Program("map", (x,), (), (), (y,), nest([("i", n, V)], Store(y, (Var("i"),), value)))


I = Var("i")  # noqa: E741
X = placeholder((200,), name="x")


@pytest.mark.parametrize(
    ("index", "n"),
    [
        (I * 2, 37),  # two loads and a shuffle
        (I * 3 + 1, 37),
        (I * 4, 50),
        (I * 5, 40),  # a gather
        (as_expr(199) - I, 40),  # backwards
        (I // 3, 45),
        (I % 7, 45),
        (I * 7 % 19, 45),  # not linear in the lanes
        (binary("min", I, as_expr(9)), 45),
        (as_expr(3), 20),  # the same for all lanes
    ],
)
def test_vector_reads(index: Expr, n: int) -> None:
    check(elementwise(X[index] + 1.0, X, n))


@pytest.mark.parametrize("dtype", ["float16", "int8", "float64", "bool"])
@pytest.mark.parametrize("stride", [1, 2, 3, 5])
def test_strided_reads_of_other_widths(dtype: str, stride: int) -> None:
    x = placeholder((120,), dtype, name="x")
    check(elementwise(x[I * stride], x, 23, DTYPES[dtype]))


@pytest.mark.parametrize("shift", [0, 3])
@pytest.mark.parametrize("dtype", ["float32", "int32", "float16", "uint8"])
@pytest.mark.parametrize(
    ("rows", "columns", "tile"), [(32, 16, 4), (24, 12, 6), (13, 9, 3), (64, 32, 16)]
)
def test_transpose_by_strided_loads(
    rows: int, columns: int, tile: int, dtype: str, shift: int
) -> None:
    """Neighbouring columns of a tile come from one transposed load where they exist."""
    x = placeholder((rows, columns + shift), dtype, name="x")
    y = Tensor("y", (columns, rows), DTYPES[dtype])
    o, i, j = Var("o"), Var("i"), Var("j")
    column = o * tile + i
    store = Store(y, (column, j), x[j, column + shift])
    loops = [("o", columns // tile, P), ("i", tile, U), ("j", rows, V)]
    check(Program("transpose", (x,), (), (), (y,), nest(loops, store)))


@pytest.mark.parametrize(("rows", "columns"), [(16, 32), (13, 19)])
def test_transpose(rows: int, columns: int) -> None:
    """Vector stores that are strided."""
    x, y = placeholder((rows, columns), name="x"), Tensor("y", (columns, rows), FLOAT32)
    i, j = Var("i"), Var("j")
    body = nest([("i", rows, P), ("j", columns, V)], Store(y, (j, i), x[i, j]))
    check(Program("transpose", (x,), (), (), (y,), body))


@pytest.mark.parametrize(
    "value",
    [
        Select(I < 20, X[I + 180], Const(0.0, FLOAT32)),  # a read that must not happen
        Select(I >= 11, X[I - 11], Const(-1.0, FLOAT32)),
        Select((I % 2).eq(0), X[I // 2], X[I + 100]),
        Select(X[I] > 0.0, X[I] * 2.0, call("exp", X[I])),
        Select(call("not", X[I] > 0.5), ZERO, X[I]),
        binary("max", X[I], X[I + 1]) + binary("min", X[I], Const(0.25, FLOAT32)),
        Cast(FLOAT32, I * 3 - 7) * X[I],
        Cast(FLOAT32, Cast(INT32, X[I] * 10.0)),
        call("pow", X[I], Const(2.0, FLOAT32)) - call("abs", X[I]),
    ],
)
def test_vector_values(value: Expr) -> None:
    check(elementwise(value, X, 61))


def test_a_scalar_condition_guards_a_whole_row() -> None:
    """Rows outside the input are zero; reading them would fault."""
    x, y = placeholder((4, 40), name="x"), Tensor("y", (8, 40), FLOAT32)
    i, j = Var("i"), Var("j")
    inside = (i >= 2) & (i < 6)
    value = Select(inside, x[i - 2, j], ZERO)
    body = nest([("i", 8, S), ("j", 40, V)], Store(y, (i, j), value))
    check(Program("rows", (x,), (), (), (y,), body))


def test_integer_division_rounds_down_and_never_traps() -> None:
    n = 40
    a, b = (placeholder((n,), "int32", name=name) for name in "ab")
    outs = [Tensor(name, (n,), INT32) for name in ("quotient", "remainder")]
    statements = [
        Store(outs[0], (I,), binary("floordiv", a[I], b[I])),
        Store(outs[1], (I,), binary("mod", a[I], b[I])),
    ]
    body = nest([("i", n, V)], seq(*statements))
    program = Program("divide", (a, b), (), (), tuple(outs), body)
    arrays = random_arrays(program)
    arrays["a"][:3], arrays["b"][:3] = (-(2**31), 5, -7), (-1, 0, 2)
    got = run(program, arrays)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(got["quotient"], arrays["a"] // arrays["b"])
        np.testing.assert_array_equal(got["remainder"], arrays["a"] % arrays["b"])


def test_float_remainder_has_the_divisors_sign() -> None:
    x = placeholder((200,), name="x")
    check(elementwise(binary("mod", x[I], x[I + 50]), x, 50))


def test_two_outputs_and_a_table() -> None:
    """Several results of one nest; a table is part of the object file."""
    x = placeholder((6, 10), name="x")
    weights = table(np.linspace(-1, 1, 10, dtype=np.float32), name="weights")
    double, total = Tensor("double", (6, 10), FLOAT32), Tensor("total", (6,), FLOAT32)
    i, j = Var("i"), Var("j")
    body = seq(
        nest([("j", 10, V)], Store(double, (i, j), x[i, j] * 2.0)),
        Store(total, (i,), ZERO),
        nest([("j", 10, V)], Store(total, (i,), x[i, j] * weights[j], "sum")),
    )
    check(Program("both", (x,), (), (weights,), (double, total), nest([("i", 6, P)], body)))


@pytest.mark.parametrize("outer", [U, S])
def test_sums_of_products_with_known_elements(outer: Kind) -> None:
    """Zeros, several known factors, known factors alone, and a term under a condition."""
    x, y = placeholder((3, 16), name="x"), Tensor("y", (2, 2, 16), FLOAT32)
    t = table(np.array([[1, 0], [0, 0.5], [-4, 3]], np.float32), name="t")
    i, j, k, n = (Var(name) for name in "ijkn")
    near = Select(i * 2 + k < j + 2, x[k, n], ZERO)
    loops = [("i", 2, outer), ("j", 2, U), ("k", 3, U), ("n", 16, V)]
    body = seq(
        nest([("i", 2, S), ("j", 2, U), ("n", 16, V)], Store(y, (i, j, n), ZERO)),
        nest(loops, Store(y, (i, j, n), near * t[k, i] * t[k, j], "sum")),
        nest(loops, Store(y, (i, j, n), t[k, i] * t[k, j], "sum")),
    )
    check(Program("products", (x,), (), (t,), (y,), body))


def test_a_large_allocation_lives_in_scratch() -> None:
    """More than the stack takes, one block for all threads, another for each."""
    n = 24 * 1024
    x, y = placeholder((n,), name="x"), Tensor("y", (4, n), FLOAT32)
    shared, own = Tensor("shared", (n,), FLOAT32), Tensor("own", (n,), FLOAT32)
    i = Var("i")
    inner = Alloc(
        own,
        (as_expr(0),),
        seq(
            nest([("j", n, V)], Store(own, (Var("j"),), shared[Var("j")] * Cast(FLOAT32, i))),
            nest([("k", n, V)], Store(y, (i, Var("k")), own[as_expr(n - 1) - Var("k")])),
        ),
    )
    fill = nest([("f", n, V)], Store(shared, (Var("f"),), x[Var("f")] + 1.0))
    body = Alloc(shared, (as_expr(0),), seq(fill, nest([("i", 4, P)], inner)))
    check(Program("blocks", (x,), (), (), (y,), body), TWO_CORES)


def test_unrolled_scalar_guards_that_are_not_aligned() -> None:
    """A tile that starts anywhere: its guard is a branch in each iteration."""
    x, y = placeholder((50,), name="x"), Tensor("y", (23,), FLOAT32)
    a, b = Var("a"), Var("b")
    at = a * 5 + b * 3
    body = nest([("a", 4, S), ("b", 4, U)], under([at < 23], Store(y, (at,), x[at])))
    zero = nest([("z", 23, V)], Store(y, (Var("z"),), ZERO))
    check(Program("gaps", (x,), (), (), (y,), seq(zero, body)))


@pytest.mark.parametrize("target", ["cpu cores=1", "cpu:haswell cores=1"])
@pytest.mark.parametrize("kind", [S, U])
def test_what_a_condition_reads_is_there_only_where_those_around_hold(
    target: str, kind: Kind
) -> None:
    """The last lanes of a sum of some elements are beyond the array, and not read."""
    n, k = 17, Var("k") * 8 + Var("j")
    x, y = placeholder((n,), name="x"), Tensor("y", (1,), FLOAT32)
    for term in (x[k] * x[k], x[k]):
        positive = Select(binary("gt", x[k] - 1.0, ZERO), term, ZERO)
        store = Store(y, (as_expr(0),), Select(k < n, positive, ZERO), "sum")
        body = nest([("k", 3, kind), ("j", 8, V)], store)
        zero = Store(y, (as_expr(0),), ZERO)
        check(Program("positive", (x,), (), (), (y,), seq(zero, body)), Target.parse(target))

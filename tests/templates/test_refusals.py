"""What templates refuse, and why."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Expr, Tensor
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import ScheduleError
from tilewright.nest.nodes import Program
from tilewright.schedule.producers import lowered_of, template_gene
from tilewright.schedule.templates import WARP_SPECIALIZED
from tilewright.schedule.templates.anchor import Anchor, anchor_of
from tilewright.schedule.templates.tensor_cores import TENSOR_CORES
from tilewright.space.space import Space
from tilewright.target import Target

ROW = (64, 64, 32, 32, 32, 3)


def given(*shape: int, name: str = "x", dtype: str = "float16") -> Tensor:
    return placeholder(shape, dtype, name=name)


A, B = given(40, 24, name="a"), given(24, 48, name="b")


def product(a: Tensor = A, b: Tensor = B) -> Tensor:
    return ops.matmul(a, b)


def by_template(
    dag: ComputeDAG, name: str = TENSOR_CORES.name, row: tuple[int, ...] = ROW
) -> Program:
    return lowered_of(dag, template_gene(name, row), "program").program


def largest() -> ComputeDAG:
    k = reduce_axis(24, "k")
    return ComputeDAG([compute((40,), lambda i: max_over(A[i, k], k), name="m")])


def sums() -> ComputeDAG:
    k = reduce_axis(24, "k")
    return ComputeDAG([compute((40,), lambda i: sum_over(A[i, k], k), name="s")])


def two_outputs() -> ComputeDAG:
    y = product()
    return ComputeDAG([ops.relu(y, name="r"), ops.tanh(y, name="t")])


def two_readers() -> ComputeDAG:
    y = product()
    return ComputeDAG([ops.add(y, ops.transpose(product(ops.relu(A), B), (0, 1)), name="sum")])


def mirrored() -> ComputeDAG:
    """Every element of the output takes two of the product."""
    y = product()
    return ComputeDAG([compute((40, 48), lambda i, j: y[i, j] + y[39 - i, j], name="m")])


def used_twice() -> ComputeDAG:
    y = product()
    return ComputeDAG([compute((40, 96), lambda i, j: y[i, j % 48], name="m")])


def diagonal() -> ComputeDAG:
    y = product(A, given(24, 40, name="square"))
    return ComputeDAG([compute((40,), lambda i: y[i, i], name="d")])


def chain() -> ComputeDAG:
    return ComputeDAG([product(product(), given(48, 8, name="c"))])


def of(left: str, right: str) -> ComputeDAG:
    """The product of factors of these dtypes."""
    a, b = given(40, 24, name="a", dtype=left), given(24, 48, name="b", dtype=right)
    k = reduce_axis(24, "k")
    return ComputeDAG([compute((40, 48), lambda i, j: sum_over(a[i, k] * b[k, j], k), name="y")])


def integers() -> ComputeDAG:
    a, b = given(40, 24, name="a", dtype="int8"), given(24, 48, name="b", dtype="int8")
    return ComputeDAG([product(a, b)])


def squares() -> ComputeDAG:
    """Every row is a product of its own."""
    x, k = given(3, 40, name="x"), reduce_axis(40, "k")
    return ComputeDAG([compute((3,), lambda i: sum_over(x[i, k] * x[i, k], k), name="s")])


REFUSED: dict[str, tuple[Callable[[], ComputeDAG], str]] = {
    "two outputs": (two_outputs, "there are several outputs"),
    "two products": (chain, "2 stages reduce, not one"),
    "two products added": (two_readers, "2 stages reduce, not one"),
    "no sum": (largest, "m is no sum"),
    "no product": (sums, "s is no sum of products"),
    "nothing reduced": (lambda: ComputeDAG([ops.relu(A)]), "0 stages reduce, not one"),
    "float32": (lambda: of("float32", "float32"), "factors are float32, not both float16 or both"),
    "a vector": (
        lambda: ComputeDAG([product(A, given(24, 1, name="v"))]),
        "it has 1 rows and 40 columns for each of 1",
    ),
    "a vector of each": (squares, "it has 1 rows and 1 columns for each of 3"),
    "two dtypes": (lambda: of("float16", "bfloat16"), "factors are bfloat16 and float16, not both"),
    "integers": (integers, "is summed in int32"),
    "two places of a product": (mirrored, "is read at other than one place"),
    "a diagonal": (diagonal, "is not read element by element"),
    "an element used twice": (used_twice, "not read element by element"),
    "a softmax in front": (
        lambda: ComputeDAG([product(ops.softmax(A, name="p"))]),
        "3 stages reduce, not one",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_product_of_halves_is_refused(name: str) -> None:
    make, message = REFUSED[name]
    with pytest.raises(ScheduleError, match=f"^{TENSOR_CORES.name}: .*{message}"):
        by_template(make())


@pytest.mark.parametrize("name", REFUSED)
def test_no_sketch_offers_it(name: str) -> None:
    make, _ = REFUSED[name]
    dag = make()
    space = Space(dag, Target.parse("cuda:a100"))
    assert not any(TENSOR_CORES.name in s.variant for s in space.sketches)


@pytest.mark.parametrize("along", ["rows", "depth", "both"])
def test_a_gathered_factor_has_no_rows_in_memory(along: str) -> None:
    at, k = given(64, 64, name="at", dtype="int64"), reduce_axis(64, "k")
    x, b = given(64, 64), given(64, 64, name="b")

    def gathered(i: Expr) -> Expr:
        row = i if along == "depth" else at[i, 0]
        return x[row, k if along == "rows" else at[i, k]]

    y = compute((64, 64), lambda i, j: sum_over(gathered(i) * b[k, j], k), name="y")
    anchor = anchor_of(ComputeDAG([y]))
    assert isinstance(anchor, Anchor)
    assert anchor.left.view is None and anchor.left.piece == 1
    assert anchor.right.view is not None
    assert "left factor is not in rows" in WARP_SPECIALIZED.refusal(anchor)


def test_values_are_among_the_options() -> None:
    dag = ComputeDAG([product()])
    with pytest.raises(ScheduleError, match="block_m is one of 64, 128, 256, not 48"):
        by_template(dag, row=(48, 64, 32, 32, 32, 3))
    with pytest.raises(ScheduleError, match="has the parameters block_m, block_n"):
        by_template(dag, row=(64, 64, 32))
    with pytest.raises(ScheduleError, match=r"has no program of \{'block_m': 64, .*'warp_n': 128"):
        by_template(dag, row=(64, 64, 32, 32, 128, 3))


def test_names_have_versions() -> None:
    dag = ComputeDAG([product()])
    for name in ("matmul.tensor_cores", "matmul.tensor_cores.0", "wmma.1"):
        with pytest.raises(ScheduleError, match=f"no template '{name}'; known: matmul"):
            by_template(dag, name)

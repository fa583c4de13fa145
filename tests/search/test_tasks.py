"""Which recorded workloads teach the model before the first trial."""

from __future__ import annotations

from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import placeholder
from tilewright.search.tasks import TuningTask, nearest


def product(n: int) -> TuningTask:
    a, b = placeholder((n, n), name="a"), placeholder((n, n), name="b")
    return TuningTask(f"product{n}", ComputeDAG([ops.matmul(a, b)]))


def softmax(n: int) -> TuningTask:
    return TuningTask(f"softmax{n}", ComputeDAG([ops.softmax(placeholder((n, n), name="x"))]))


def test_the_same_structure_then_the_size_says_what_is_near() -> None:
    rows = [t.row for t in (softmax(2048), *map(product, (16, 64, 256, 1024)), softmax(64))]
    found = nearest(rows, [product(128), product(64)], 5)
    # 64³ is to be tuned; 256³ and 16³ are 8 and 64 times away; of the others the larger has more
    # nearly as many operations as the products.
    assert [r.name for r in found] == [
        "product256",
        "product16",
        "product1024",
        "softmax2048",
        "softmax64",
    ]
    assert nearest(rows, [product(200)], 1) == [rows[3]]
    assert nearest(rows, [product(64)], 0) == []
    assert nearest([], [product(64)], 3) == []


def test_near_to_any_of_the_tasks_is_near() -> None:
    rows = [product(n).row for n in (8, 32, 900)]
    found = nearest(rows, [product(1000), softmax(512), product(9)], 2)
    assert [r.name for r in found] == ["product900", "product8"]

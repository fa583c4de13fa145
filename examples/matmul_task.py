"""Tune one operator written as math: a matrix multiplication with ReLU.

    python examples/matmul_task.py [--trials 64] [--db matmul.db]

No schedule is written anywhere: Tilewright derives the space of programs from the two `compute`
lines, measures some of them and keeps the fastest one whose output is right.
"""

import argparse
import time

import numpy as np

import tilewright as tw

N = 512


def matmul_relu(n: int = N) -> tw.Task:
    """D = max(A·B, 0). B is constant, as a weight is: its layout may be changed beforehand."""
    A = tw.placeholder((n, n), name="A")
    B = tw.placeholder((n, n), name="B", constant=True)
    k = tw.reduce_axis(n, "k")
    C = tw.compute((n, n), lambda i, j: tw.sum(A[i, k] * B[k, j], k), name="C")
    D = tw.compute((n, n), lambda i, j: tw.maximum(C[i, j], 0), name="D")
    return tw.Task([A, B, D], name="matmul_relu")


def main() -> None:
    parser = argparse.ArgumentParser(description="Tune a matrix multiplication with ReLU.")
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--db", default="matmul.db")
    options = parser.parse_args()

    task = matmul_relu()
    result = tw.tune(task, trials=options.trials, db=options.db)
    (tuned,) = result.tasks
    print(f"untuned {tuned.default_s * 1e3:.2f} ms, best {tuned.best_s * 1e3:.2f} ms, ", end="")
    print(f"{tuned.flops / tuned.best_s / 1e9:.0f} GFLOP/s after {tuned.trials} trials")

    fn = tw.compile(task, db=options.db)
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, N, N), dtype=np.float32)
    fn.prepare({"B": b})
    (d,) = fn(a)
    started = time.perf_counter()
    fn(a)
    print(f"one call from Python: {(time.perf_counter() - started) * 1e3:.2f} ms")
    np.testing.assert_allclose(d, np.maximum(a @ b, 0), rtol=1e-4, atol=1e-3)
    print("equal to NumPy")


if __name__ == "__main__":
    main()

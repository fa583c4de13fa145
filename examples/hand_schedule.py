"""Write a schedule by hand, look at its loop nest, compile and run it.

    python examples/hand_schedule.py

The steps are those that the search uses: what it finds can be read, changed and replayed.
"""

import numpy as np

import tilewright as tw
from tilewright.build import build
from tilewright.nest.print import program_text
from tilewright.runtime.function import CompiledFunction
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import Annotate, ComputeAt, FollowSplit, Parallel, Reorder, Split

N = 256


def matmul_relu(n: int = N) -> tw.Task:
    """D = max(A·B, 0)."""
    A = tw.placeholder((n, n), name="A")
    B = tw.placeholder((n, n), name="B")
    k = tw.reduce_axis(n, "k")
    C = tw.compute((n, n), lambda i, j: tw.sum(A[i, k] * B[k, j], k), name="C")
    D = tw.compute((n, n), lambda i, j: tw.maximum(C[i, j], 0), name="D")
    return tw.Task([A, B, D], name="by_hand")


def schedule(task: tw.Task) -> State:
    """C in register tiles of 8 rows by 32 columns, made where D needs them."""
    state = State(task.dag)
    state.apply(Split("C", "i", (8,)))  # i -> i.0, i.1 (8)
    state.apply(Split("C", "j", (32,)))  # j -> j.0, j.1 (32)
    state.apply(Reorder("C", (("i.0", "j.0"), ("k",), ("i.1", "j.1"))))
    state.apply(Annotate("C", "i.1", "unrolled"))
    state.apply(Annotate("C", "j.1", "vector"))
    state.apply(FollowSplit("D", "i", "C", "i", 2))  # D in the same tiles
    state.apply(FollowSplit("D", "j", "C", "j", 2))
    state.apply(Reorder("D", (("i.0",), ("j.0",), ("i.1",), ("j.1",))))
    state.apply(Annotate("D", "j.1", "vector"))
    state.apply(ComputeAt("C", "D", 1))  # inside D's tile: level 1 is the loop j.0
    state.apply(Parallel("D", 2))  # i.0 and j.0 are shared among the threads
    return state


def main() -> None:
    task = matmul_relu()
    state = schedule(task)
    print(program_text(lower(state, task.name).program))

    fn = CompiledFunction(build(task.dag, state.trace, tw.Target.parse("cpu"), task.name))
    a, b = np.random.default_rng(0).standard_normal((2, N, N), dtype=np.float32)
    np.testing.assert_allclose(fn(a, b)[0], np.maximum(a @ b, 0), rtol=1e-4, atol=1e-3)
    print("equal to NumPy")


if __name__ == "__main__":
    main()

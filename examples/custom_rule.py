"""Extend the search: a sketch rule and a hint of one's own, in one file.

    python examples/custom_rule.py [--trials 16] [--db custom.db]

The standard rules tile a matrix multiplication in six levels (SSRSRS: spatial, spatial, reduction,
…). The rule below reads the hint "example.levels" of a compute and tiles with that structure
instead; how long each tile is remains for the search to find. Nothing else has to be said: the
sketch is sampled, scored, measured and checked like any other.
"""

import argparse

import numpy as np

import tilewright as tw
from tilewright.front.inspection import find_program
from tilewright.records.database import Database
from tilewright.space.derivation import Derivation, Rule, Verdict
from tilewright.space.predicates import vector_axis
from tilewright.space.rules.ansor import multi_level_tile, structure_of

HINT = "example.levels"
N = 256


def wants_levels(d: Derivation) -> Verdict:
    """Whether the stage at hand carries the hint; then no other rule is tried on it."""
    hinted = d.working.compute.hint(HINT) is not None
    return Verdict.ONLY if hinted and d.working.name not in d.tiled else Verdict.NO


def tile_by_levels(d: Derivation) -> list[Derivation]:
    """Tile the stage as the hint says, then go on with the stage before it."""
    levels = d.working.compute.hint(HINT)
    multi_level_tile(d, structure_of(levels), vector_axis(d.state, d.working, d.target))
    d.variant = (*d.variant, f"{d.working.name} in levels {levels}")
    return [d.advance()]


LEVELS_RULE = Rule("levels_by_hint", wants_levels, tile_by_levels)


def hinted_matmul(n: int = N) -> tw.Task:
    """C = A·B with fewer tile levels than usual."""
    A = tw.placeholder((n, n), name="A")
    B = tw.placeholder((n, n), name="B", constant=True)
    k = tw.reduce_axis(n, "k")
    C = tw.compute(
        (n, n),
        lambda i, j: tw.sum(A[i, k] * B[k, j], k),
        name="C",
        hints={HINT: "SRSRS"},
    )
    return tw.Task([A, B, C], name="hinted_matmul")


def main() -> None:
    parser = argparse.ArgumentParser(description="Tune with a sketch rule of one's own.")
    parser.add_argument("--trials", type=int, default=16)
    parser.add_argument("--db", default="custom.db")
    options = parser.parse_args()

    task = hinted_matmul()
    (tuned,) = tw.tune(task, trials=options.trials, db=options.db, rules=[LEVELS_RULE]).tasks
    print(f"best of {tuned.trials} trials: {tuned.best_s * 1e6:.0f} µs")
    with Database.open(options.db) as database:
        print(find_program(database, "hinted_matmul").layers.nest)

    fn = tw.compile(task, db=options.db)
    a, b = np.random.default_rng(0).standard_normal((2, N, N), dtype=np.float32)
    fn.prepare({"B": b})
    np.testing.assert_allclose(fn(a)[0], a @ b, rtol=1e-4, atol=1e-3)
    print("equal to NumPy")


if __name__ == "__main__":
    main()

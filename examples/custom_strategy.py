"""A search strategy of one's own: simulated annealing, in one class.

    python examples/custom_strategy.py [--trials 24] [--db annealing.db]

A strategy is asked for candidates and told what they took. Spaces, neighbours, validity and what
was proposed before are the project's: docs/strategies.md lists what there is.
"""

import argparse
import math

import numpy as np

import tilewright as tw
from tilewright.cost.candidates import Population
from tilewright.search.strategies.memory import Candidate, ProposalMemory, as_population, unscored


class Annealing:
    """Neighbours of the current program, which a slower one may replace while it is hot."""

    def __init__(self, space, extractor, model):
        self.space, self.memory = space, ProposalMemory(space)
        self.current, self.heat = None, 0.5  # (seconds, candidate); a share of its time

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """Up to `n` programs that nobody proposed before: random ones until one is measured."""
        drawn = self.space.sample(rng, 16 * n)
        if self.current is not None:
            rows = np.repeat(as_population([self.current[1]]).rows, 16 * n, axis=0)
            drawn = Population(rows, np.full(16 * n, self.current[1].sketch))
            decisions = self.space.sketches[self.current[1].sketch].decisions
            chosen = rng.integers(0, len(decisions), 16 * n)
            for number, decision in enumerate(decisions):
                mine, span = np.flatnonzero(chosen == number), self.space.span(decision)
                rows[mine, span] = decision.mutate(rng, rows[mine, span])
            drawn = drawn[self.space.valid(drawn)]
        return self.memory.candidates(unscored(self.space.canonical(drawn)), n, with_score=False)

    def tell(self, batch: list[Candidate], latencies: list[float | None]) -> None:
        """Seconds of each, None for one that failed; the default program is told first."""
        self.memory.remember(batch)
        for candidate, latency in zip(batch, latencies, strict=True):
            worst = math.inf if self.current is None else self.current[0] * (1 + self.heat)
            if latency is not None and latency < worst:
                self.current, self.heat = (latency, candidate), self.heat * 0.9


def main() -> None:
    parser = argparse.ArgumentParser(description="Tune with a strategy of one's own.")
    parser.add_argument("--trials", type=int, default=24)
    parser.add_argument("--db", default="annealing.db")
    options = parser.parse_args()

    A = tw.placeholder((256, 64), name="A")
    k = tw.reduce_axis(256, "k")
    gram = tw.compute((64, 64), lambda i, j: tw.sum(A[k, i] * A[k, j], k), name="gram")
    task = tw.Task([A, gram], name="gram")
    print(tw.tune(task, trials=options.trials, db=options.db, strategy=Annealing))

    a = np.random.default_rng(0).standard_normal((256, 64), dtype=np.float32)
    np.testing.assert_allclose(tw.compile(task, db=options.db)(a)[0], a.T @ a, rtol=1e-4, atol=1e-3)
    print("equal to NumPy")


if __name__ == "__main__":
    main()

"""What spaces and strategies must pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tilewright.contract.artifact import Array
from tilewright.contract.gene import Gene
from tilewright.cost.extractor import FeatureExtractor
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import placeholder
from tilewright.schedule.producers import lowered_of
from tilewright.search.model.training_set import TrainingSet
from tilewright.search.strategies.memory import Candidate
from tilewright.search.strategies.table import STRATEGIES, Strategy
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.testing.programs import Backend, checked, interpreted, shuffled


class SpaceSuite:
    """For what puts programs into a space. Random rows of it must be programs that compute what the
    mathematics says, whatever order parallel loops run in.
    """

    rows = 16
    backends: Sequence[Backend] = (interpreted, shuffled)

    def space(self) -> Space:
        """The space; small tensors, for the interpreter is slow."""
        raise NotImplementedError

    def drawn(self, space: Space) -> list[tuple[int, list[int], Gene]]:
        """Random candidates: the number of their sketch, their row, their gene."""
        some = space.canonical(space.sample(np.random.default_rng(0), self.rows))
        pairs = zip(some.sketch.tolist(), some.rows, strict=True)
        return [(k, row.tolist(), space.gene(k, row)) for k, row in pairs]

    def test_random_programs_are_right(self) -> None:
        space = self.space()
        some = self.drawn(space)
        assert some, "the space has programs"
        for _, _, gene in some:
            lowered = lowered_of(space.dag, gene, "candidate")
            for backend in self.backends:
                checked(space.dag, lowered, backend)

    def test_genes_are_read_back(self) -> None:
        space = self.space()
        for sketch, row, gene in self.drawn(space):
            read = space.row_of(gene)
            assert read is not None and read.sketch.tolist() == [sketch]
            assert read.rows.tolist() == [row]

    def test_estimates_are_times(self) -> None:
        space = self.space()
        latency = FeatureExtractor(space).latency(space.sample(np.random.default_rng(2), 64))
        assert (np.isfinite(latency) & (latency > 0)).all()


class Untrained:
    """A cost model that has seen nothing."""

    trained = False

    def update(self, rows: TrainingSet) -> None:
        raise AssertionError("strategies do not train")

    def predict(self, features: Array, owner: Array, n: int) -> Array:
        raise AssertionError("an untrained model is not asked")


class StrategySuite:
    """For search strategies: `make` is what `tune(strategy=…)` takes."""

    make: Callable[..., Strategy]
    target = Target.parse("cpu:icelake-server cores=2")

    def small(self) -> Space:
        """A space of some hundred programs."""
        a, b = placeholder((4, 3), name="a"), placeholder((3, 2), name="b")
        return Space(ComputeDAG([ops.matmul(a, b)]), self.target)

    def tiny(self) -> Space:
        """A few dozen programs."""
        return Space(ComputeDAG([ops.relu(placeholder((6, 48), name="x"))]), self.target)

    def strategy(self, space: Space) -> Strategy:
        """One that has been told nothing."""
        return self.make(space, FeatureExtractor(space), Untrained())

    @staticmethod
    def told(strategy: Strategy, batch: Sequence[Candidate]) -> None:
        """Every third candidate fails."""
        seconds = [1e-3 + 1e-5 * len(c.gene.text) for c in batch]
        strategy.tell(batch, [None if i % 3 == 2 else s for i, s in enumerate(seconds)])

    def test_no_program_is_proposed_twice(self) -> None:
        strategy, rng = self.strategy(self.small()), np.random.default_rng(0)
        seen = []
        for _ in range(5):
            batch = strategy.ask(rng, 12)
            assert 0 < len(batch) <= 12
            seen += [c.gene for c in batch]
            self.told(strategy, batch)
        assert len(set(seen)) == len(seen)

    def test_candidates_are_valid_programs(self) -> None:
        space = self.small()
        for c in self.strategy(space).ask(np.random.default_rng(1), 16):
            assert space.gene(c.sketch, np.array(c.row)) == c.gene
            lowered_of(space.dag, c.gene, "program")
            assert c.origin and (c.predicted is None or np.isfinite(c.predicted))

    def test_recorded_programs_are_not_proposed_again(self) -> None:
        """After a restart: the records are told, in whatever rounds they were measured."""
        space = self.tiny()
        first = STRATEGIES["random"].make(space, FeatureExtractor(space), Untrained())
        known = first.ask(np.random.default_rng(2), 8)
        strategy = self.strategy(space)
        self.told(strategy, known)
        batch = strategy.ask(np.random.default_rng(3), 16)
        assert batch and not {c.gene for c in batch} & {c.gene for c in known}

    def test_proposals_repeat_by_seed_and_history(self) -> None:
        def run(seed: int) -> list[str]:
            strategy, genes = self.strategy(self.small()), []
            for number in range(3):
                batch = strategy.ask(np.random.default_rng([seed, number]), 6)
                self.told(strategy, batch)
                genes += [c.gene.text for c in batch]
            return genes

        assert run(4) == run(4)

    def test_a_tiny_space_is_exhausted(self) -> None:
        """Nearly all of it is proposed, and then nothing."""
        space = self.tiny()
        every = space.enumerate(1000)
        programs = {space.gene(int(every.sketch[i]), every.rows[i]) for i in range(len(every))}
        strategy, rng, seen = self.strategy(space), np.random.default_rng(5), set()
        for _ in range(200):
            if not (batch := strategy.ask(rng, 4)):
                break
            self.told(strategy, batch)
            seen |= {c.gene for c in batch}
        assert not strategy.ask(rng, 4), "it goes on proposing"
        share = len(seen) / len(programs)
        assert seen <= programs
        assert share >= 0.8, f"it proposed nothing after {share:.0%} of all, which ends the search"

    def test_more_is_proposed_before_the_last_is_told(self) -> None:
        """Where it has `expect`: batches are told in any order, and nothing is proposed twice."""
        strategy, rng = self.strategy(self.small()), np.random.default_rng(0)
        expect: Callable[[Sequence[Candidate]], None] | None = getattr(strategy, "expect", None)
        if expect is None:
            return
        batches = []
        for _ in range(3):
            batches.append(strategy.ask(rng, 12))
            expect(batches[-1])
        for batch in reversed(batches):
            self.told(strategy, batch)
        batches.append(strategy.ask(rng, 12))
        genes = [c.gene for batch in batches for c in batch]
        assert all(batches) and len(set(genes)) == len(genes)

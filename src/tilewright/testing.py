"""What extensions of one's own must pass: suites to subclass, and their parts.

    class TestMyStrategy(StrategySuite):            with pytest: its tests are inherited
        make = staticmethod(MyStrategy)

    class TestMyRule(SpaceSuite):                   a rule, a template, an operator, a form …
        def space(self):
            return Space(dag, target, rules=(MY_RULE, *CPU_RULES))

    checked(dag, lowered)                           one program, by the interpreter
    checked(dag, lowered, compiled)                 … and as native code of this machine

Nothing is timed, and all that is random is seeded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from tilewright.build.compile import compile_lowered, packing_of
from tilewright.contract.artifact import Array, BufferSpec
from tilewright.contract.gene import Gene
from tilewright.cost.extractor import FeatureExtractor
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.reference import static_shape
from tilewright.expr.tensors import placeholder
from tilewright.measure.gate import OutputGate
from tilewright.measure.inputs import make_inputs
from tilewright.measure.task import input_kinds, tolerance_of
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify
from tilewright.runtime import CompiledFunction
from tilewright.schedule.lower import Lowered
from tilewright.schedule.producers import lowered_of
from tilewright.search.model.training_set import TrainingSet
from tilewright.search.strategies.memory import Candidate
from tilewright.search.strategies.table import STRATEGIES, Strategy
from tilewright.space.space import Space
from tilewright.target import Target

HOST = Target.parse("cpu")
Arrays: TypeAlias = Mapping[str, Array]
Backend: TypeAlias = Callable[[Lowered, Arrays], dict[str, Array]]
"""Runs a lowered program on a DAG's inputs and constants by name; gives its outputs."""


def packed(lowered: Lowered, arrays: Arrays) -> dict[str, Array]:
    """The program's constants in the layouts that it wants."""
    packings = {t: packing_of(t, lowered) for t in lowered.program.constants}
    return {
        t.name: p.apply(arrays[p.source.name]).reshape(static_shape(t)) for t, p in packings.items()
    }


def interpreted(lowered: Lowered, arrays: Arrays) -> dict[str, Array]:
    """Every buffer starts uninitialised there, and every access is checked."""
    given = {t.name: arrays[t.name] for t in lowered.program.inputs}
    return interpret(lowered.program, given, packed(lowered, arrays))


def shuffled(lowered: Lowered, arrays: Arrays) -> dict[str, Array]:
    """Interpreted with the iterations of parallel loops in a random order."""
    given = {t.name: arrays[t.name] for t in lowered.program.inputs}
    rng = np.random.default_rng(0)
    return interpret(lowered.program, given, packed(lowered, arrays), rng=rng)


def compiled(lowered: Lowered, arrays: Arrays) -> dict[str, Array]:
    """Built for this machine, with prefetches of all constants, and run in this process."""
    artifact, _ = compile_lowered(lowered, HOST, prefetch=1)
    function = CompiledFunction(artifact)
    function.prepare({p.source.name: arrays[p.source.name] for p in artifact.packings})
    outputs = function.run({t.name: arrays[t.name] for t in lowered.program.inputs})
    return {t.name: y for t, y in zip(lowered.program.outputs, outputs, strict=True)}


def checked(
    dag: ComputeDAG, lowered: Lowered, backend: Backend = interpreted, seed: int = 0
) -> None:
    """Prove that a program stays within its buffers and writes all of its outputs, and compare it
    with `dag.evaluate` on random data. Raises VerifyError, and WrongAnswer.
    """
    verify(lowered.program)
    tensors = (*dag.inputs, *dag.constants)
    specs = [BufferSpec(t.name, static_shape(t), t.dtype.name) for t in (*tensors, *dag.outputs)]
    arrays = make_inputs(specs[: len(tensors)], input_kinds(dag), seed)
    expected, found = dag.evaluate(arrays), backend(lowered, arrays)
    for spec in specs[len(tensors) :]:
        gate = OutputGate(spec, expected[spec.name], tolerance_of(dag))
        gate.check(found[spec.name], lowered.rounding)


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
        some = space.sample(np.random.default_rng(0), self.rows)
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
        assert not strategy.ask(rng, 4)
        assert seen <= programs and len(seen) >= 0.8 * len(programs)

"""Programs of templates in a search: a short list by guidelines, measured one after the other.

    offered = NativePrograms.of(dag, target)
    offered.ask(16)            those not yet measured, the most promising first
    offered.tell(batch)        never offered again

They have no features: no model speaks of them, and the strategy of the task's own space does not
see them. The best of both kinds is the task's best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tilewright.expr.dag import ComputeDAG
from tilewright.gene import Gene
from tilewright.search.memory import NOWHERE, Candidate
from tilewright.target import Target

TEMPLATE = "template"
"""Where such a candidate comes from."""


@dataclass
class NativePrograms:
    """The programs that templates offer for a task, in order."""

    genes: Sequence[Gene] = ()
    told: set[Gene] = field(default_factory=set)

    @staticmethod
    def of(dag: ComputeDAG, target: Target) -> NativePrograms:
        """Those that the target's templates offer."""
        part = target.backend.templates
        return NativePrograms(() if part is None else tuple(part.load()(dag, target)))

    def ask(self, n: int) -> list[Candidate]:
        """Up to `n` that nobody was told of."""
        left = [gene for gene in self.genes if gene not in self.told]
        return [candidate(gene) for gene in left[:n]]

    def tell(self, batch: Sequence[Candidate]) -> None:
        """These are measured."""
        self.told.update(c.gene for c in batch)


def candidate(gene: Gene) -> Candidate:
    """A program that is in no space."""
    return Candidate(NOWHERE, (), gene, TEMPLATE)

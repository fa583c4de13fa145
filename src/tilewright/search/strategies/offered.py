"""Programs of a search that no strategy proposes, measured first, one after the other.

    offered = Offered.of(dag, target, composed)
    offered.ask(16)            those not yet measured, the most promising first
    offered.tell(batch)        never offered again

What the records of its parts make up (`reuse.parts`) is a candidate of the task's own space, which
the strategy is told of. Programs of templates, a short list by guidelines, have no features: no
model speaks of them, and the strategy does not see them. The best of all kinds is the task's best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tilewright.contract.gene import Gene
from tilewright.expr.dag import ComputeDAG
from tilewright.search.strategies.memory import NOWHERE, Candidate
from tilewright.target import Target

TEMPLATE, PARTS = "template", "parts"
"""Where such a candidate comes from."""


@dataclass
class Offered:
    """The programs that are offered for a task, in order."""

    candidates: Sequence[Candidate] = ()
    told: set[Gene] = field(default_factory=set)

    @staticmethod
    def of(dag: ComputeDAG, target: Target, first: Sequence[Candidate] = ()) -> Offered:
        """Those of `first`, then those of the target's templates."""
        part = target.backend.templates
        genes = [] if part is None else part.load()(dag, target)
        return Offered((*first, *map(of_template, genes)))

    def ask(self, n: int) -> list[Candidate]:
        """Up to `n` that nobody was told of."""
        return [one for one in self.candidates if one.gene not in self.told][:n]

    def tell(self, batch: Sequence[Candidate]) -> None:
        """These are measured."""
        self.told.update(c.gene for c in batch)


def of_template(gene: Gene) -> Candidate:
    """A program that is in no space."""
    return Candidate(NOWHERE, (), gene, TEMPLATE)

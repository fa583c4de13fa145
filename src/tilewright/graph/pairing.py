"""What stays together with a contraction in one kernel on a GPU: what a template computes with it.

    conv 3x3, relu  →  conv 1x1, relu         one group, the value between in registers
    matmul, square  →  sum of every row       one group, of whose product nothing is stored

Unlike a CPU's (`chaining.py`), a GPU's own sketches compute such a task in two kernels, so that it
is made only where a vendor's templates have one for both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.expr.dag import ComputeDAG
from tilewright.graph.access import NodeMath
from tilewright.graph.chaining import Link, is_contraction, linked
from tilewright.graph.dags import dag_of
from tilewright.graph.ir import Node, Value
from tilewright.target import Target
from tilewright.target.backend import Part


@dataclass(frozen=True, slots=True)
class Pairing:
    """The links of a graph that runs on `target`, whose templates take `pairs`; the other fields
    are those of `Chaining`.
    """

    target: Target
    pairs: Part
    math: Mapping[Node, NodeMath]
    readers: Mapping[Value, Sequence[Node]]
    returned: Collection[Value]

    longest = 2

    def joins(self, math: NodeMath) -> bool:
        return math.reduces

    def link(self, before: Sequence[Node], after: Sequence[Node]) -> Link | None:
        """What is to be said of two groups of nodes, the second of which reads the last value of
        the first; None where these are no two contractions and nothing to be joined.
        """
        link = linked(self, before, after)
        if link is not None and not link.refusal:
            refusal: Callable[[ComputeDAG, Target], str] = self.pairs.load()
            dag, _ = dag_of([*before, *after])
            link = replace(link, gain=float(link.value.bytes), refusal=refusal(dag, self.target))
        is_silent = link is not None and link.refusal and not is_contraction(self.math[link.second])
        return None if is_silent else link

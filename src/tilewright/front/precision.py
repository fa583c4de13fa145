"""In which precision the contractions of a workload run on a target, and by which instruction.

    multiplied(dag, target)       [Multiplied("bfloat16 by tdpbf16ps", 16.0, flops)]
    summary(tasks, target)        {"uint8 x int8 by vpdpbusd": ["t0", …], "float32: depthwise": […]}
    gain_of(dag, target)          how many times as fast as float32 its operations may be

Read off the math and the target's tables; which tiles a program has is its own affair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.expr.contraction.factors import Factor, NoMatch
from tilewright.expr.contraction.groups import (
    Contraction,
    contraction_of,
    narrow_factors,
    sums,
)
from tilewright.expr.dag import ComputeDAG, stage_flops
from tilewright.expr.tensors import is_constant
from tilewright.expr.traversal import reads
from tilewright.graph.passes.narrow import SHORTEST
from tilewright.schedule.state import State
from tilewright.search.tasks import TuningTask
from tilewright.space.predicates import dot_copy, dot_loop, element_expr
from tilewright.target import CpuTarget, Target
from tilewright.target.dots import dot_of, fastest


@dataclass(frozen=True, slots=True)
class Multiplied:
    """How one contraction of so many operations runs, in words, and at most how many times as fast
    as multiply-adds of float32.
    """

    how: str
    gain: float
    flops: int


def multiplied(dag: ComputeDAG, target: Target) -> list[Multiplied]:
    """Each contraction of a workload, in order; of sizes at their most."""
    dag = dag.heaviest
    state = State(dag)
    found = []
    for stage in sums(dag):
        product = contraction_of(dag, stage)
        factors = narrow_factors(element_expr(state[stage.name]))
        if factors is None:
            if not isinstance(product, NoMatch):
                types = dict.fromkeys((product.left.dtype.name, product.right.dtype.name))
                reason = _unnarrowed(product)
                found.append((" x ".join(types) + (reason and f": {reason}"), 1.0, stage))
            continue
        left, right = (read.tensor.dtype.name for read in factors)
        types = dict.fromkeys((left, right))
        how, gain = " x ".join(types), 1.0
        if not isinstance(target, CpuTarget) or dot_of(target, left, right) is None:
            how += f", term by term: {target.name} has no instruction for it"
        elif not (
            dot_loop(state, state[stage.name], target) or dot_copy(state, state[stage.name], target)
        ):
            how += ", term by term: factors do not lie along the sum"
        elif (best := fastest(target, left, right)) is not None:
            how, gain = f"{how} by {best[0]}", best[1]
        found.append((how, gain, stage))
    return [Multiplied(how, gain, stage_flops(stage)) for how, gain, stage in found]


def _unnarrowed(product: Contraction[Factor]) -> str:
    """Why factors are not rounded, whatever a user asks for; "" for no such reason."""
    if product.batch and not (product.rows and product.columns):
        return "depthwise"
    if max((product.extents[axis] for axis in product.depth), default=1) < SHORTEST:
        return "short sums"
    factors = (product.left.value, product.right.value)
    if not any(is_constant(read.tensor) for factor in factors for read in reads(factor)):
        return "no factor is known"
    return ""


def summary(tasks: Sequence[TuningTask], target: Target) -> dict[str, list[str]]:
    """Names of tasks by how their contractions run."""
    found: dict[str, list[str]] = {}
    for task in tasks:
        for how in dict.fromkeys(m.how for m in multiplied(task.dag, target)):
            found.setdefault(how, []).append(task.name)
    return found


def gain_of(dag: ComputeDAG, target: Target) -> float:
    """How many times as many operations a second as float32 a workload's may be."""
    parts = multiplied(dag, target)
    saved = sum(m.flops * (1.0 - 1.0 / m.gain) for m in parts if m.gain > 1.0)
    flops = dag.heaviest.useful_flops
    return flops / (flops - saved) if flops else 1.0

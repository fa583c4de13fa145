"""Cross-thread reduction: the threads of a block share out one sum (Ansor §4.3).

    s[i] = Σ_k …    ->    s.rf[i, f] = Σ_r …   thread f;   s[i] = Σ_f s.rf[i, f]   all threads

For reductions with fewer outputs than would keep the device busy, and for those of rows that are
read once, however many. Several rows may share a block: each has a row of threads.
"""

from __future__ import annotations

from tilewright.expr.index.extents import mul
from tilewright.expr.nodes import Axis, as_expr
from tilewright.schedule.state import Role
from tilewright.schedule.steps import Annotate, RFactor, Split, extent_int
from tilewright.space.decisions import divisors
from tilewright.space.derivation import Derivation, Rule, Verdict
from tilewright.space.predicates import has_data_reuse, has_more_reduction_parallel
from tilewright.target import GpuTarget

ROWS = (1, 2, 4, 8)


def _axis(d: Derivation) -> Axis | None:
    """The innermost reduction axis that threads can share: neighbours read neighbours."""
    found = [a for a in d.working.compute.reduce_axes if len(_factors(d, a)) > 0]
    return found[-1] if found else None


def _factors(d: Derivation, axis: Axis) -> tuple[int, ...]:
    assert isinstance(d.target, GpuTarget)
    most = d.target.threads
    return tuple(n for n in divisors(extent_int(axis.extent)) if 1 < n <= most)


def _can_share(d: Derivation) -> Verdict:
    stage = d.working
    assert isinstance(d.target, GpuTarget)
    if stage.relations or stage.attach is not None or stage.role is not Role.RESULT:
        return Verdict.NO
    axis = _axis(d)
    if axis is None:
        return Verdict.NO
    # Enough outputs fill the device with a thread each. Where these have no elements in common,
    # neighbours read different rows, though, and a row's own threads read neighbours.
    outputs = d.target.cores * d.target.warp
    streams = not has_data_reuse(stage) and extent_int(axis.extent) >= d.target.warp
    few = has_more_reduction_parallel(stage, outputs)
    return Verdict.APPLY if few or streams else Verdict.NO


def _share(d: Derivation) -> list[Derivation]:
    name, axis = d.working.name, _axis(d)
    assert axis is not None and isinstance(d.target, GpuTarget)
    count = d.choose(f"{name}.threads", name, "thread", _factors(d, axis))
    spatial = tuple(a.name for a in d.working.compute.axes)
    d.apply(RFactor(name, axis.name, count))
    if spatial:
        grid, loop = d.bound(name, spatial)
        rows = d.choose(f"{name}.rows", name, "thread", ROWS)
        d.apply(Split(name, loop, (rows,)))
        d.apply(*(Annotate(name, block, "block") for block in (*grid, f"{loop}.0")))
        d.apply(Annotate(name, f"{loop}.1", "thread.y"))
        d.constraints.append(as_expr(mul(count, rows)) <= d.target.threads)
    d.apply(Annotate(name, f"{axis.name}.f", "thread.x"))
    d.variant = (*d.variant, f"{name}: threads share {axis.name}")
    return [d.compute_next(name, len(d.working.groups) - 1)]


CROSS_THREAD_REDUCTION = Rule("cross_thread_reduction", _can_share, _share)

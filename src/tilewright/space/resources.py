"""What a candidate takes of its device: named amounts as expressions over the decisions.

    resources(sketch)    {"C.registers": …}                        a CPU
                         {"D.threads": …, "D.shared": …, …}        a GPU
    limits(sketch)       conditions that rows must satisfy
    runs_on(state, target)   whether a program, found elsewhere, runs here

Constraints, reuse tuning and reports read them; nothing is lowered for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tilewright.expr.dtypes import DType
from tilewright.expr.extents import add, ceildiv, maximum, mul
from tilewright.expr.nodes import Expr, Extent, as_expr, reads
from tilewright.nest.lifetimes import shared_slots
from tilewright.nest.nodes import THREADS, Kind, Scope
from tilewright.schedule.bounds import Bounds, infer_bounds
from tilewright.schedule.lower import lower
from tilewright.schedule.state import Stage, State
from tilewright.schedule.steps import extent_int
from tilewright.target import CpuTarget, GpuTarget, Target

Amounts: TypeAlias = dict[str, Extent]


def resources(state: State, bounds: Bounds, target: Target) -> Amounts:
    """Named amounts of one sketch."""
    measure = _cpu if isinstance(target, CpuTarget) else _gpu
    return measure(state, bounds, target)


def limits(amounts: Mapping[str, Extent], target: Target) -> list[Expr]:
    """The conditions under which the device has that much."""
    return [as_expr(amount) <= limit_of(name, target) for name, amount in amounts.items()]


def limit_of(name: str, target: Target) -> int:
    """The greatest amount of a resource, by the last word of its name."""
    if isinstance(target, CpuTarget):
        return target.vector_registers
    assert isinstance(target, GpuTarget)
    return {
        "threads": target.threads,
        "virtual": target.virtual,
        "shared": target.shared_bytes,
        "registers": target.thread_registers,
        "block_registers": target.registers,
    }[name.rpartition(".")[2]]


IMPOSSIBLE = ("threads", "shared")  # limits beyond which a program does not run at all


def runs_on(state: State, target: Target) -> bool:
    """Whether a device has what a concrete program takes. (A CPU has; to be short of registers is
    slow there.)
    """
    if not isinstance(target, GpuTarget):
        return True
    amounts = resources(state, infer_bounds(state), target)
    return all(
        extent_int(amount) <= limit_of(name, target)
        for name, amount in amounts.items()
        if name.endswith(IMPOSSIBLE)
    )


# ---- CPUs -----------------------------------------------------------------------------------


def _cpu(state: State, bounds: Bounds, target: Target) -> Amounts:
    """`<stage>.registers`: vector registers that a register tile takes, its accumulators, one
    row of the other operand and a broadcast. Only where tiles are decisions: code generation
    cuts a vector loop that nobody split. A reduction whose loops are all unrolled (Ansor's rule
    for constant tensors) carries no accumulators through a loop.
    """
    found: Amounts = {}
    for stage in state.stages.values():
        extents = bounds[stage.name].extents
        marked = [(leaf, k) for leaf, k in stage.kinds.items() if k is not Kind.SERIAL]
        running = set(stage.leaves) - {leaf for leaf, _ in marked}
        if not stage.relations or not any(stage.is_reduction(leaf) for leaf in running):
            continue
        rows: Extent = 1
        vectors: Extent = 1
        for leaf, kind in marked:
            if stage.is_reduction(leaf):
                continue
            if kind is Kind.VECTOR:
                vectors = ceildiv(extents[leaf], target.lanes(stage.tensor.dtype))
            else:
                rows = mul(rows, extents[leaf])
        found[f"{stage.name}.registers"] = add(add(mul(rows, vectors), vectors), 1)
    return found


# ---- GPUs -----------------------------------------------------------------------------------

SPARE_REGISTERS = 24  # of a thread: addresses, loop counters, operands in flight
REGISTER_BITS = 32


def _gpu(state: State, bounds: Bounds, target: Target) -> Amounts:
    """For every kernel, named after its root stage: `threads` of a block, `shared` bytes, `virtual`
    threads of each thread, `registers` of a thread (what it keeps privately and some to spare) and
    `block_registers` of all threads where the device says how many there are.
    """
    assert isinstance(target, GpuTarget)
    found: Amounts = {}
    for root in state.stages.values():
        if root.attach is not None:
            continue
        inside = [root, *_attached(state, root)]
        threads = _largest(inside, bounds, THREADS)
        virtual = _largest(inside, bounds, (Kind.VIRTUAL,))
        private: Extent = SPARE_REGISTERS
        shared: dict[str, Extent] = {}
        for stage in inside[1:]:
            size: Extent = stage.tensor.dtype.bytes
            for extent in bounds[stage.name].shape:
                size = mul(size, extent)
            if stage.scope is Scope.SHARED:
                shared[stage.name] = size
            else:
                words = ceildiv(size, REGISTER_BITS // 8)
                private = add(private, mul(words, virtual))
        found[f"{root.name}.threads"] = threads
        found[f"{root.name}.virtual"] = virtual
        combining = mul(threads, sum(t.bytes for t in _combined_types(inside)))
        found[f"{root.name}.shared"] = add(_shared_bytes(state, shared), combining)
        found[f"{root.name}.registers"] = private
        if target.registers:
            found[f"{root.name}.block_registers"] = mul(private, threads)
    return found


def _shared_bytes(state: State, sizes: Mapping[str, Extent]) -> Extent:
    """Bytes of the shared tensors of one kernel: of those with one slot, the largest counts."""
    together = any(
        sizes.keys() <= {r.tensor.name for r in reads(stage.compute.body)}
        for stage in state.stages.values()
    )
    slots = {} if together else shared_slots(lower(state, "kernel").program.body)
    places: dict[str | int, Extent] = {}
    for name, size in sizes.items():
        place = slots.get(name, name)
        places[place] = maximum(places[place], size) if place in places else size
    total: Extent = 0
    for size in places.values():
        total = add(total, size)
    return total


def _combined_types(stages: list[Stage]) -> set[DType]:
    """In which types threads are combined: each takes an element of shared memory a thread (but
    where shuffles do it, which depends on how many threads there are).
    """
    return {
        stage.tensor.dtype.compute
        for stage in stages
        if any(stage.is_reduction(leaf) and k in THREADS for leaf, k in stage.kinds.items())
    }


def _attached(state: State, stage: Stage) -> list[Stage]:
    """Stages computed inside `stage`, at any depth."""
    found = state.attached(stage.name)
    return [*found, *(inner for child in found for inner in _attached(state, child))]


def _largest(stages: list[Stage], bounds: Bounds, kinds: tuple[Kind, ...]) -> Extent:
    """Iterations of the loops of `kinds`: those of the outermost stage that has some."""
    for stage in stages:
        total: Extent = 1
        leaves = [leaf for leaf in stage.leaves if stage.kinds.get(leaf) in kinds]
        for leaf in leaves:
            total = mul(total, bounds[stage.name].extents[leaf])
        if leaves:
            return total
    return 1

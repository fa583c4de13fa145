"""From derived sketches to searchable ones on a GPU: what is left is bound to threads.

    z[i, j] = …    i@j = (i@j.0 * threads + i@j.1) * width + i@j.2       block | thread | vector

A stage that no rule scheduled is a kernel of its own with one thread for a few elements; both
numbers are decisions. Tiled stages get their unrolling pragma.
"""

from __future__ import annotations

from tilewright.expr.dtypes import DType
from tilewright.schedule.state import Stage
from tilewright.schedule.steps import Annotate, Reorder, Split
from tilewright.space.annotate import decide_unrolling
from tilewright.space.derivation import Derivation
from tilewright.target import GpuTarget

THREADS = (32, 64, 128, 256, 512)


def access_widths(dtype: DType) -> tuple[int, ...]:
    """Elements that a thread may take at once: up to 16 bytes, as many as one access has."""
    return (1, 2, 4, 8) if dtype.is_float and dtype.bits == 16 else (1, 2, 4)


def annotate_gpu(d: Derivation) -> list[Derivation]:
    """The sketch with every loop bound; nothing here varies the structure."""
    for stage in list(d.state.stages.values()):
        if stage.attach is None and not stage.relations:
            _bind(d, stage)
        if stage.name in d.tiled:
            decide_unrolling(d, stage)
    return [d]


def _bind(d: Derivation, stage: Stage) -> None:
    """One thread for a few neighbouring elements."""
    name, axes = stage.name, tuple(a.name for a in stage.compute.axes)
    if not axes:
        return
    assert isinstance(d.target, GpuTarget)
    grid, loop = d.bound(name, axes)
    most = tuple(n for n in THREADS if n <= d.target.threads) or (d.target.threads,)
    threads = d.choose(f"{name}.threads", name, "thread", most)
    widths = access_widths(stage.tensor.dtype)
    width = d.choose(f"{name}.width", name, "thread", widths)
    d.apply(Split(name, loop, (threads, width)))
    reductions = tuple(a.name for a in stage.compute.reduce_axes)
    levels = ((*grid, f"{loop}.0"), (f"{loop}.1",), reductions, (f"{loop}.2",))
    d.apply(Reorder(name, tuple(level for level in levels if level)))
    d.apply(*(Annotate(name, block, "block") for block in levels[0]))
    d.apply(Annotate(name, f"{loop}.1", "thread.x"))
    d.apply(Annotate(name, f"{loop}.2", "vector"))

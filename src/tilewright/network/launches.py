"""A network on a GPU: the launches of all its kernels in order.

    actions             KernelCall("t0_conv", (InterfaceBuffer(0), InterfaceBuffer(1), Slot(512)))
    kernel t0_conv      launches t0_conv_0(input 0, constant 1, scratch 0), …
    launches            t0_conv_0(buffer 0, buffer 1, scratch workspace + 0), …

Arguments keep the form of `artifact.Launch`: the network's buffers by position, and offsets
in one block of device memory, which holds the arena and behind it the kernels' own scratch. A copy
is a kernel like others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from tilewright.build import build
from tilewright.build.compile import build_nest
from tilewright.contract.artifact import Artifact, Launch, NetworkStep
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.index.extents import product
from tilewright.expr.operators import reshape
from tilewright.expr.tensors import canonical, compute, placeholder
from tilewright.network.entry import (
    Action,
    Copy,
    CopyRows,
    InterfaceBuffer,
    KernelCall,
    Place,
    Slot,
)
from tilewright.schedule.steps import Annotate, Split
from tilewright.space.default import default_gene
from tilewright.space.space import Space
from tilewright.target import Target

COPY_THREADS = 128
WORD_BYTES = 4


def copy_kernels(actions: Sequence[Action], target: Target) -> tuple[Artifact, ...]:
    """A kernel for every size that is copied, and for all rows that lie apart."""
    copies = {_copy_name(a): a for a in actions if isinstance(a, (Copy, CopyRows))}
    return tuple(
        _rows_kernel(name, a, target) if isinstance(a, CopyRows) else _copy_kernel(name, a, target)
        for name, a in copies.items()
    )


def _rows_kernel(name: str, copy: CopyRows, target: Target) -> Artifact:
    """That a place's number is below the product of extents which it is within needs no proof, and
    the verifier, which has none of products, can only try: in small ranges.
    """
    flat = (canonical(product(copy.extents)),)
    before, after = (flat, copy.extents) if copy.taken else (copy.extents, flat)
    x = placeholder(before, copy.dtype, name="x")
    dag = ComputeDAG([reshape(x, after, name="y")], copy.sizes)
    return build_nest(dag, default_gene(Space(dag, target)), target, name, checked=False)


def _copy_kernel(name: str, copy: Copy, target: Target) -> Artifact:
    size = copy.size
    assert isinstance(size, int), "of what varies, rows are copied"
    words = size % WORD_BYTES == 0
    dtype, count = ("int32", size // WORD_BYTES) if words else ("int8", size)
    x = placeholder((count,), dtype, name="x")
    dag = ComputeDAG([compute((count,), lambda i: x[i], name="y")])
    trace = (
        Split("y", "i", (min(COPY_THREADS, count),)),
        Annotate("y", "i.0", "block"),
        Annotate("y", "i.1", "thread.x"),
    )
    return build(dag, trace, target, name)


def _copy_name(copy: Copy | CopyRows) -> str:
    if isinstance(copy, Copy):
        return f"copy_{copy.size}"
    said = (copy.extents, copy.dtype, copy.taken, [(s.name, s.range) for s in copy.sizes])
    return f"copy_{hashlib.sha256(repr(said).encode()).hexdigest()[:16]}"


def launches_of(
    actions: Sequence[Action],
    steps: Sequence[NetworkStep],
    kernels: Sequence[Artifact],
    workspace: int,
) -> tuple[tuple[Launch, ...], tuple[NetworkStep, ...]]:
    """All launches, and what each one is; `steps` are those of the actions.

    `workspace` is the offset in scratch where the kernels' own scratch begins. The operations of a
    kernel are counted at its first launch.
    """
    by_name = {k.entry: k for k in kernels}
    launches: list[Launch] = []
    each: list[NetworkStep] = []
    for action, step in zip(actions, steps, strict=True):
        places: tuple[Place, ...]
        values: Sequence[int] = ()
        match action:
            case Copy() | CopyRows():
                name, places = _copy_name(action), (action.source, action.destination)
                values = [v.index for v in action.values] if isinstance(action, CopyRows) else ()
            case KernelCall(name, places, params):
                first = 0 if params is None else params.index
                values = range(first, first + len(by_name[name].sizes))
            case _:
                raise AssertionError("the linker refuses control flow")
        for i, launch in enumerate(by_name[name].launches):
            arguments = tuple(
                _position(places[a]) if a >= 0 else a - workspace for a in launch.arguments
            )
            sizes = tuple(values[n] for n in launch.sizes)
            launches.append(replace(launch, arguments=arguments, sizes=sizes))
            each.append(NetworkStep(step.kernel, 0 if i else step.flops))
    return tuple(launches), tuple(each)


def _position(place: Place) -> int:
    assert isinstance(place, (InterfaceBuffer, Slot)), "neither loops nor sizes"
    return place.index if isinstance(place, InterfaceBuffer) else -1 - place.offset

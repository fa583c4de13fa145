"""A network on a GPU: the launches of all its kernels in order.

    actions             KernelCall("t0_conv", (InterfaceBuffer(0), InterfaceBuffer(1), Slot(512)))
    kernel t0_conv      launches t0_conv_0(input 0, constant 1, scratch 0), …
    launches            t0_conv_0(buffer 0, buffer 1, scratch workspace + 0), …

Arguments keep the form of `artifact.Launch`: the network's buffers by position, and offsets
in one block of device memory, which holds the arena and behind it the kernels' own scratch. A copy
is a kernel like others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilewright.build import build
from tilewright.contract.artifact import Artifact, Launch, NetworkStep
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import compute, placeholder
from tilewright.network.entry import Action, Copy, InterfaceBuffer, KernelCall, Place, Slot
from tilewright.schedule.steps import Annotate, Split
from tilewright.target import Target

COPY_THREADS = 128
WORD_BYTES = 4


def copy_kernels(actions: Sequence[Action], target: Target) -> tuple[Artifact, ...]:
    """A kernel for every size that is copied."""
    sizes = dict.fromkeys(a.size for a in actions if isinstance(a, Copy))
    return tuple(_copy_kernel(size, target) for size in sizes if isinstance(size, int))


def _copy_kernel(size: int, target: Target) -> Artifact:
    words = size % WORD_BYTES == 0
    dtype, count = ("int32", size // WORD_BYTES) if words else ("int8", size)
    x = placeholder((count,), dtype, name="x")
    dag = ComputeDAG([compute((count,), lambda i: x[i], name="y")])
    trace = (
        Split("y", "i", (min(COPY_THREADS, count),)),
        Annotate("y", "i.0", "block"),
        Annotate("y", "i.1", "thread.x"),
    )
    return build(dag, trace, target, _copy_name(size))


def _copy_name(size: int) -> str:
    return f"copy_{size}"


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
        assert isinstance(action, (Copy, KernelCall)), "the linker refuses control flow"
        if isinstance(action, Copy):
            assert isinstance(action.size, int), "a GPU's networks have no sizes"
            name = _copy_name(action.size)
            places: tuple[Place, ...] = (action.source, action.destination)
        else:
            name, places = action.entry, action.places
        for i, launch in enumerate(by_name[name].launches):
            arguments = tuple(
                _position(places[a]) if a >= 0 else a - workspace for a in launch.arguments
            )
            launches.append(replace(launch, arguments=arguments))
            each.append(NetworkStep(step.kernel, 0 if i else step.flops))
    return tuple(launches), tuple(each)


def _position(place: Place) -> int:
    assert isinstance(place, (InterfaceBuffer, Slot)), "neither loops nor sizes"
    return place.index if isinstance(place, InterfaceBuffer) else -1 - place.offset

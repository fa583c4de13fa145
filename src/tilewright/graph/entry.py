"""The native entry point of a network: one LLVM function that calls every kernel in order.

    define void @resnet50(ptr %buffers, ptr %params, ptr %scratch) {
      …                                     pointers of inputs, constants and outputs
      store ptr %b12, ptr %args …           the kernel's own array of buffer pointers
      call void @t3_conv(ptr %args, ptr null, ptr %workspace)
      …

Intermediate values are at fixed offsets in `scratch`; the kernels' own scratch follows the arena.
Nothing of Python runs between two kernels.

Beside it stands `@resnet50_timed`, which does the same and takes the time before, between and
after the calls: `params` points there at one `struct timespec` (two int64: s, ns) for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tilewright.runtime.artifact import timed_entry


@dataclass(frozen=True, slots=True)
class Buffer:
    """Buffer number `index` of the network's interface."""

    index: int


@dataclass(frozen=True, slots=True)
class Slot:
    """Memory at `offset` bytes of the arena."""

    offset: int


Place: TypeAlias = Buffer | Slot


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A call of the kernel `entry` with its buffers in their order."""

    entry: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """`size` bytes from one place to another, which do not overlap."""

    source: Place
    destination: Place
    size: int


Action: TypeAlias = KernelCall | Copy


CLOCK_MONOTONIC = 1
STAMP_BYTES = 16


def entry_ir(name: str, buffers: int, actions: Sequence[Action], workspace: int) -> str:
    """The IR of the entry points of a network with `buffers` buffers.

    `workspace` is the offset in scratch where the kernels' own scratch begins.
    """
    calls = [a for a in actions if isinstance(a, KernelCall)]
    head = _prologue(buffers, actions, workspace, max((len(c.places) for c in calls), default=1))
    plain = [line for action in actions for line in _action(action)]
    timed = _stamp(0)
    for number, action in enumerate(actions, 1):
        timed += [*_action(action), *_stamp(number)]
    lines = [
        *(f"declare void @{e}(ptr, ptr, ptr)" for e in dict.fromkeys(c.entry for c in calls)),
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        "declare i32 @clock_gettime(i32, ptr)",
    ]
    for entry, body in ((timed_entry(name), timed), (name, plain)):
        lines.append(f"define void @{entry}(ptr %buffers, ptr %params, ptr %scratch) {{")
        lines += [*head, *body, "  ret void", "}"]
    return "\n".join([*lines, ""])


def _prologue(buffers: int, actions: Sequence[Action], workspace: int, widest: int) -> list[str]:
    """Every address that a call may need."""
    lines = [
        f"  %args = alloca [{widest} x ptr], align 16",
        f"  %workspace = getelementptr i8, ptr %scratch, i64 {workspace}",
    ]
    for i in range(buffers):
        lines.append(f"  %a{i} = getelementptr ptr, ptr %buffers, i64 {i}")
        lines.append(f"  %b{i} = load ptr, ptr %a{i}")
    lines += [f"  %s{i} = getelementptr ptr, ptr %args, i64 {i}" for i in range(widest)]
    slots = {p.offset for a in actions for p in _places(a) if isinstance(p, Slot)}
    return lines + [f"  %m{o} = getelementptr i8, ptr %scratch, i64 {o}" for o in sorted(slots)]


def _stamp(number: int) -> list[str]:
    at = STAMP_BYTES * number
    return [
        f"  %t{number} = getelementptr i8, ptr %params, i64 {at}",
        f"  call i32 @clock_gettime(i32 {CLOCK_MONOTONIC}, ptr %t{number})",
    ]


def _places(action: Action) -> tuple[Place, ...]:
    if isinstance(action, Copy):
        return (action.source, action.destination)
    return action.places


def _pointer(place: Place) -> str:
    return f"%b{place.index}" if isinstance(place, Buffer) else f"%m{place.offset}"


def _action(action: Action) -> list[str]:
    if isinstance(action, Copy):
        source, destination = _pointer(action.source), _pointer(action.destination)
        return [
            f"  call void @llvm.memcpy.p0.p0.i64(ptr {destination}, ptr {source}, "
            f"i64 {action.size}, i1 false)"
        ]
    stores = [f"  store ptr {_pointer(p)}, ptr %s{i}" for i, p in enumerate(action.places)]
    return [*stores, f"  call void @{action.entry}(ptr %args, ptr null, ptr %workspace)"]

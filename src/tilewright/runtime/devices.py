"""Which device runs a target's code: its backend says so.

    target_at_hand("opencl cores=2")                       the facts of the device that is here
    device = open_device(Target.parse("opencl:pocl"))      opened once a process
    function = loaded(artifact, target, parts)             on the CPU or on a device

A driver that is not installed is missed only here, when a device is asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from tilewright.contract.artifact import Artifact
from tilewright.ground.errors import TargetError
from tilewright.runtime.constants import Constants
from tilewright.runtime.device import Device, DeviceFunction
from tilewright.runtime.function import CompiledFunction
from tilewright.target import Target


def target_at_hand(spec: str) -> Target:
    """The target that `spec` names; one without a name is this machine's device, with the facts
    that the spec adds. Raises TargetError.
    """
    kind, *words = spec.split() or [""]
    found = Target.kinds.get(kind)
    if found is None or found.backend.device is None:
        return Target.parse(spec)
    return Target.parse(" ".join([str(_opened(kind).target), *words]))


def open_device(target: Target) -> Device:
    """The device of this machine that runs code for `target`. Raises TargetError without one."""
    return _opened(target.kind)


@functools.cache
def _opened(kind: str) -> Device:
    part = Target.kinds[kind].backend.device
    if part is None:
        known = ", ".join(k for k, t in Target.kinds.items() if t.backend.device is not None)
        raise TargetError(f"no device runs {kind!r}; known: {known}")
    device: Device = part.load()()
    return device


def loaded(
    artifact: Artifact,
    target: Target,
    parts: Sequence[Artifact] = (),
    arguments: Sequence[str] | None = None,
    *,
    constants: Constants | None = None,
    name: str | None = None,
) -> CompiledFunction | DeviceFunction:
    """The function, where its target runs; the arguments are those of `CompiledFunction`."""
    given = (parts, arguments)
    if target.backend.device is None:
        return CompiledFunction(artifact, *given, constants=constants, name=name)
    return DeviceFunction(artifact, open_device(target), *given, constants=constants, name=name)

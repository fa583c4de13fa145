"""What serves one kind of target: the record from which every layer asks its own part.

    Target.parse("cuda:h200").backend.estimate            Part("tilewright.cost.estimate_gpu:…")
    Target.parse("cuda:h200").backend.estimate.load()     the function itself

Targets are at the ground and most parts are above them, so the record names these. A part is loaded
on first use, by the layer that it belongs to: `space.rules.rules_of`, `cost.estimate.estimator_of`,
`cost.usage.meter_of`, `codegen.compile_program`, `build.compile.device_code`,
`runtime.devices.open_device`, `measure.trial_task.trial_task_of`, `space.space.natives_of`,
`graph.pairing.Pairing`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Part:
    """The place of an object: "package.module:NAME"."""

    place: str

    def load(self) -> Any:
        """The object; its module is imported when it is first asked for."""
        module, _, name = self.place.partition(":")
        return getattr(importlib.import_module(module), name)


@dataclass(frozen=True, slots=True)
class Backend:
    """The parts for one kind of target.

    `rules` derive its sketches, and `mutations` are how often the search tries each kind of change,
    by name (`space.decisions`). `estimate` prices a statement, `usage` says what it takes.
    `emitter` makes code of a loop nest, as C in a `dialect`, or in none. `assembler` makes of that
    what the driver loads, where it does not do so itself; `compiler` tells who makes machine code,
    and which version. `device` runs it, unless that is this process; `trial` checks and times
    candidates. `templates` names the programs that a vendor's templates offer for a computation,
    `pairs` says why they do not compute two contractions in one kernel ("" where they do). A kind
    that is `apart` leaves this machine's cores idle while its programs run.
    """

    rules: Part
    estimate: Part
    usage: Part
    mutations: Mapping[str, float]
    emitter: Part
    compiler: Part
    trial: Part
    dialect: Part | None = None
    assembler: Part | None = None
    device: Part | None = None
    templates: Part | None = None
    pairs: Part | None = None
    apart: bool = False

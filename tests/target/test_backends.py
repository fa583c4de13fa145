"""Every kind of target has a record whose parts are there, each in the layer that asks for it."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import fields

import pytest

from tilewright.build.compile import device_code
from tilewright.codegen.clike import dialect_of
from tilewright.codegen.clike.dialect import Dialect
from tilewright.cost.estimate import estimator_of
from tilewright.front.machine import compiler_of
from tilewright.ground.errors import BuildError, TargetError
from tilewright.measure.trial_task import TrialTask, trial_task_of
from tilewright.runtime.devices import open_device
from tilewright.space.rules import rules_of
from tilewright.target import GpuTarget, Part, Target

KINDS = {"cpu": "cpu:haswell", "cuda": "cuda:h100", "opencl": "opencl:mali", "emulated": "emulated"}
LAYERS = {  # where a part may be, and what it takes when it is called
    "rules": ("space", None),
    "estimate": ("cost", 2),
    "usage": ("cost", 1),
    "emitter": ("codegen", 3),
    "dialect": ("codegen", 0),
    "compiler": ("codegen runtime", 0),
    "assembler": ("runtime", 2),
    "device": ("runtime", 0),
    "trial": ("measure", 5),
    "templates": ("cutlass", 2),
    "pairs": ("cutlass", 2),
}


def test_every_kind_is_tested() -> None:
    assert KINDS.keys() == Target.kinds.keys()


@pytest.mark.parametrize("kind", Target.kinds)
def test_every_part_is_there(kind: str) -> None:
    """In its layer, and callable as the layer calls it."""
    backend = Target.kinds[kind].backend
    parts = {f.name: getattr(backend, f.name) for f in fields(backend)}
    mutations, apart = parts.pop("mutations"), parts.pop("apart")
    assert apart == (kind == "cuda"), "PoCL and the emulation run on the cores that build"
    assert parts.keys() == LAYERS.keys()
    for name, part in parts.items():
        if part is None:
            continue
        layers, arguments = LAYERS[name]
        assert isinstance(part, Part) and part.place.split(".")[:1] == ["tilewright"]
        assert part.place.split(".")[1] in layers.split(), part
        module, _, attribute = part.place.partition(":")
        found = part.load()
        assert found is getattr(importlib.import_module(module), attribute)
        if arguments is not None:
            inspect.signature(found).bind(*range(arguments))
    assert abs(sum(mutations.values()) - 1.0) < 1e-9 and min(mutations.values()) > 0.0


@pytest.mark.parametrize("kind", Target.kinds)
def test_every_layer_gets_its_part(kind: str) -> None:
    target = Target.parse(KINDS[kind])
    on_device = isinstance(target, GpuTarget)
    assert rules_of(target)[-1].name == "skip"
    assert callable(estimator_of(target))
    assert issubclass(trial_task_of(target), TrialTask)
    assert (target.backend.device is not None) is on_device
    if on_device:
        assert isinstance(dialect_of(target), Dialect)
    else:
        with pytest.raises(BuildError, match="not programmed in C"):
            dialect_of(target)
        with pytest.raises(TargetError, match="no device runs 'cpu'; known: cuda, opencl, emulat"):
            open_device(target)
    if target.backend.assembler is None:
        assert device_code(b"as it is", target) == (b"as it is", None)
    assert compiler_of(target)


def test_parts_are_loaded_when_they_are_asked_for() -> None:
    with pytest.raises(ModuleNotFoundError):
        Part("tilewright.no_such_module:NAME").load()
    with pytest.raises(AttributeError):
        Part("tilewright.target.gpu:NO_SUCH_NAME").load()

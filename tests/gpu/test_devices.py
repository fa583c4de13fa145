"""Devices with memory of their own pass their suite, which finds what a broken one does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gpu_cases import CASES

from devices import at_hand
from tilewright.contract.artifact import Array, Artifact
from tilewright.ground.errors import RunError
from tilewright.runtime.devices import open_device, target_at_hand
from tilewright.runtime.emulated import EmulatedDevice, EmulatedProgram
from tilewright.target import Target
from tilewright.testing import DeviceSuite


class HandWrittenToo(DeviceSuite):
    """Programs of ours that take what random ones seldom do."""

    kind: str
    rejects: str

    def make(self) -> Target:
        return at_hand(lambda: target_at_hand(self.kind))

    @pytest.mark.parametrize("name", CASES)
    def test_hand_written_programs_equal_the_math(self, name: str) -> None:
        CASES[name].check(CASES[name].artifact(self.make()), open_device(self.make()))

    def test_the_compilers_messages_are_kept(self) -> None:
        good = CASES["two_kernels"].artifact(self.make())
        with pytest.raises(RunError, match=self.rejects):
            open_device(self.make()).load(replace(good, object_code=b"__kernel nothing;"))


class TestOpencl(HandWrittenToo):
    kind, rejects = "opencl", "the OpenCL driver rejects kernel"


class TestEmulated(HandWrittenToo):
    kind, rejects = "emulated", r"(?s)g\+\+ rejects kernel: .*__kernel"


@pytest.mark.thorough
def test_the_suite_is_passed_on_a_driver_of_ours(
    fake_driver: Callable[[str], dict[str, Any]],
) -> None:
    assert fake_driver("cuda_device_suite.py") == {"failed": 0}


def torn(self: EmulatedDevice, buffer: Array, array: Array) -> None:
    """A download without its last bytes."""
    array.reshape(-1).view(np.uint8)[:-4] = buffer[:-4]


def once(
    self: EmulatedProgram, buffers: Sequence[Array], scratch: Array, values: Sequence[int] = ()
) -> None:
    """The first run's results, whatever is given."""
    if not self.executable.with_suffix(".data").exists():
        self.steps(buffers, scratch, values)


def mute(self: EmulatedDevice, artifact: Artifact, parts: Sequence[Artifact] = ()) -> Any:
    """Takes any code, and runs none."""
    return EmulatedProgram("program", ())


CALLS = "test_a_function_keeps_its_results_and_takes_constants_anew"


@pytest.mark.parametrize(
    ("part", "method", "wrong", "test"),
    [
        (EmulatedDevice, "download", torn, CALLS),
        (EmulatedProgram, "run", once, CALLS),
        (EmulatedDevice, "load", mute, "test_what_is_no_code_is_refused"),
        (EmulatedDevice, "upload", lambda *_: None, "test_wrong_candidates_are_found"),
    ],
)
def test_the_suite_finds_a_broken_device(
    part: type, method: str, wrong: Any, test: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = TestEmulated()
    suite.make()
    monkeypatch.setattr(part, method, wrong)
    with pytest.raises((AssertionError, pytest.fail.Exception, RunError)):
        getattr(suite, test)()

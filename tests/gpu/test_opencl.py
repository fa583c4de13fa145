"""Programs on an OpenCL device (PoCL on machines without a GPU)."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_cases import CASES

from tilewright.ground.errors import InputError, RunError
from tilewright.runtime.device import DeviceFunction
from tilewright.runtime.opencl import OpenclDevice
from tilewright.target import Target


@pytest.mark.parametrize("name", CASES)
def test_programs_run_and_equal_the_math(name: str, opencl: OpenclDevice) -> None:
    CASES[name].check(CASES[name].artifact(opencl.target), opencl)


def test_facts_of_a_device_round_trip(opencl: OpenclDevice) -> None:
    assert Target.parse(str(opencl.target)) == opencl.target


def test_a_run_is_timed(opencl: OpenclDevice) -> None:
    case = CASES["two_kernels"]
    fn = DeviceFunction(case.artifact(opencl.target), opencl)
    seconds = fn.bench(tuple(case.arrays().values()), 3)
    assert seconds.shape == (3,) and (seconds > 0).all()


def test_bad_input_is_named(opencl: OpenclDevice) -> None:
    fn = DeviceFunction(CASES["two_kernels"].artifact(opencl.target), opencl)
    with pytest.raises(InputError, match=r"x must be float32 of shape \(12,\), got float64"):
        fn(np.zeros(12))
    with pytest.raises(InputError, match="2 inputs given, 1 needed"):
        fn(np.zeros(12), np.zeros(12))


def test_the_drivers_log_is_kept(opencl: OpenclDevice) -> None:
    from dataclasses import replace

    broken = replace(CASES["two_kernels"].artifact(opencl.target), object_code=b"__kernel nothing")
    with pytest.raises(RunError, match="the OpenCL driver rejects kernel"):
        opencl.load(broken)

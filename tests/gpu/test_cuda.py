"""CUDA devices without a GPU: NVIDIA's bindings call a libcuda.so.1 of ours (libcuda.cpp), whose
kernels are the emulated ones. What the driver is asked for is real, what it does is not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tilewright.ground.errors import TargetError
from tilewright.runtime.cuda import (
    APART,
    GRAIN_S,
    MOST_APART,
    SIGMAS,
    CudaDevice,
    CudaProgram,
    beyond,
)
from tilewright.runtime.device import OtherData, Seconds
from tilewright.target import CudaTarget, Target
from tilewright.target.gpu import Residency

Results = dict[str, Any]


@pytest.fixture(scope="module")
def results(fake_driver: Callable[[str], Results]) -> Results:
    """What cuda_program.py found."""
    return fake_driver("cuda_program.py")


def test_facts_of_the_device(results: Results) -> None:
    target = Target.parse(results["target"])
    assert isinstance(target, CudaTarget)
    assert (target.name, target.architecture, target.cores) == ("nvidia-fake-t4", "sm_75", 40)
    assert (target.warp, target.threads, target.shared_bytes) == (32, 1024, 48 * 1024)
    assert (target.registers, target.l2_bytes) == (65536, 4 << 20)
    assert target.residency == Residency(1024, 16, 64 << 10, 0, 65536)
    assert target.most_shared_bytes == 64 << 10
    assert "optin" not in results["target"], "it has what others of its architecture have"


def test_functions_equal_the_math(results: Results) -> None:
    assert max(*results["two_kernels"], results["gemm"]) < 1e-4
    assert max(results["in_another_thread"]) < 1e-4, "the context is made current there"


def test_launches_become_a_graph_once(results: Results) -> None:
    """Three runs of two kernels; a single kernel needs no graph."""
    assert results["calls"] == {
        "cuLaunchKernel": 2,
        "cuStreamBeginCapture": 1,
        "cuGraphInstantiateWithFlags": 1,
        "cuGraphLaunch": 3,
    }
    assert results["graphs_of_one_launch"] == 0


def test_kernels_of_templates_get_their_grid_shared_memory_and_sizes(
    results: Results,
) -> None:
    found = results["template"]
    assert found["difference"] < 5e-3
    assert found["grid"] == [2, 1, 3], "two columns of tiles are walked together, a batch of 3"
    assert found["dynamic_bytes"] == 2 * (128 + 128) * 64 * 2 == 64 * 1024
    assert found["asked"] == 1
    assert (
        found["too_much"].startswith("RunError: ")
        and "1048576 bytes of shared" in (found["too_much"])
    )


def test_launches_take_the_sizes_of_a_call(results: Results) -> None:
    """A length that comes again has a graph; of no rows there is nothing to launch."""
    found = results["rows"]
    assert max(found["differences"]) < 1e-5
    assert found["calls"] == [[2, 0], [2, 0], [2, 1], [0, 0]]


def test_tensor_maps_are_made_of_the_arrays_of_a_call(results: Results) -> None:
    found = results["boxes"]
    assert found["difference"] == 0
    assert found["maps"] == [[0, [1, 70, 72], 64], [1, [1, 72, 200], 64]]
    assert "is not aligned to 16 bytes" in found["unaligned"]
    assert found["refused"].startswith("RunError: the driver makes no tensor map")


def test_kernels_are_allowed_the_shared_memory_of_their_launch(results: Results) -> None:
    found = results["deep"]
    assert found["difference"] < 1e-3
    assert found["dynamic_bytes"] > 48 << 10 and found["asked"] == 1


def test_runs_and_launches_are_timed(results: Results) -> None:
    assert len(results["seconds"]) == 4 and min(results["seconds"]) > 0
    assert set(results["profile"]) == {"kernel_0", "kernel_1"}
    # a launch's is a difference of two figures, of a clock that is a CPU's here
    assert min(results["profile"].values()) >= 0


class TimedGraphs(CudaProgram):
    """Graphs of runs that take `run_s` between data that passes in 20 µs, by a noisy clock."""

    def __init__(self, run_s: float, noise_s: float) -> None:
        self.run_s, self.noise_s, self.rng = run_s, noise_s, np.random.default_rng(0)
        self.device: Any = SimpleNamespace(enter=lambda: None, call=None)
        self._runs, self._copies, self._row_s = APART, 1, 1.0

    def _each(self, addresses: tuple[int, ...]) -> list[Any]:
        return ["run"]

    def _graph(self, addresses: tuple[int, ...], key: Any, work: Sequence[Any]) -> Any:
        return work

    def _in_a_row(self, enqueue: Any, count: int) -> Seconds:
        passed = sum(x != "run" for x in enqueue)
        took = 20e-6 * passed + self.run_s * (len(enqueue) - passed)
        return took + self.rng.normal(0, self.noise_s, count)

    def _enough(self, addresses: tuple[int, ...]) -> int:
        return 1

    def _runner(self, addresses: tuple[int, ...], copies: int) -> Any:
        return ["run"]


@pytest.mark.parametrize("run_s", [0.0, 1e-8, 2e-7, 1e-6, 3e-6, 1e-4])
@pytest.mark.parametrize("noise_s", [1e-9, 1e-6, 1e-5])
def test_a_difference_within_its_noise_is_no_figure(run_s: float, noise_s: float) -> None:
    """More runs make it stand out; what never does takes as long as without other data."""
    program = TimedGraphs(run_s, noise_s)
    other = OtherData(SimpleNamespace(address=1), 8, [])
    found = program.time([], SimpleNamespace(address=0), 20, other)  # type: ignore[arg-type]
    visible = MOST_APART * run_s > 6 * SIGMAS * noise_s
    if not visible and MOST_APART * run_s < noise_s:
        assert beyond(program._in_a_row([1] * 4, 9), program._in_a_row([1] * 4, 9), 4) is None
        assert program._runs == MOST_APART
    if visible:
        assert np.median(found) == pytest.approx(max(run_s, GRAIN_S), rel=0.5)
        assert found.min() >= GRAIN_S, "clipped after it is divided among the runs"


def test_memory_goes_back_to_the_pool(results: Results) -> None:
    assert results["freed"]


def test_the_drivers_errors_are_named(results: Results) -> None:
    errors = results["errors"]
    assert errors["memory"] == "RunError: cuMemAllocAsync failed: CUDA_ERROR_OUT_OF_MEMORY"
    assert errors["image"] == "RunError: cuModuleLoadData failed: CUDA_ERROR_NO_BINARY_FOR_GPU"
    assert errors["ordinal"].startswith("TargetError: CUDA device 1 is not here, which has 1")


def test_without_bindings_or_driver_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(TargetError, match=r"pip install 'tilewright\[cuda\]'.*cuda:a100"):
        CudaDevice()

    def no_library(flags: int) -> None:
        raise RuntimeError("Failed to dlopen libcuda.so")

    driver = SimpleNamespace(cuInit=no_library)
    monkeypatch.setitem(sys.modules, "cuda.bindings", SimpleNamespace(driver=driver))
    with pytest.raises(TargetError, match=r"NVIDIA's driver.*dlopen libcuda.so"):
        CudaDevice()

    driver.CUresult = SimpleNamespace(CUDA_SUCCESS=0)
    driver.cuInit = lambda flags: (SimpleNamespace(name="CUDA_ERROR_NO_DEVICE"),)
    with pytest.raises(TargetError, match=r"no CUDA device .*CUDA_ERROR_NO_DEVICE"):
        CudaDevice()

"""The emulation of CUDA: right programs pass, planted bugs are found."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gpu_cases import CASES

from tilewright.codegen.clike.cuda import Cuda
from tilewright.contract.artifact import Artifact
from tilewright.ground.errors import RunError
from tilewright.runtime.emulated import EmulatedDevice

DEVICE = EmulatedDevice(seed=3)


@pytest.mark.parametrize("name", ["gemm_half_padded", "rows_block", "rows_scaled", "chain"])
def test_shared_arrays_may_be_parts_of_what_the_launch_gives(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = CASES[name].artifact(DEVICE.target)
    monkeypatch.setattr(Cuda, "static_bytes", 0)
    given = CASES[name].artifact(DEVICE.target)
    (launch,) = given.launches
    assert launch.dynamic_bytes == launch.shared_bytes >= declared.launches[0].shared_bytes > 0
    CASES[name].check(given, DEVICE)


def test_a_block_may_have_more_shared_memory_than_arrays_of_a_kernel() -> None:
    """The case runs with all others, too."""
    artifact = CASES["gemm_deep"].artifact(DEVICE.target)
    assert artifact.launches[0].dynamic_bytes == 2 * 16 * 400 * 4 > 48 << 10
    broken = edited("gemm_deep", "] * B_C[", "] * B_C[6400 + ")
    with pytest.raises(RunError, match="AddressSanitizer: heap-buffer-overflow"):
        CASES["gemm_deep"].check(broken, DEVICE)


def edited(name: str, old: str, new: str) -> Artifact:
    """The program with a bug: `old` in its source replaced."""
    artifact = CASES[name].artifact(DEVICE.target)
    text = artifact.object_code.decode()
    assert old in text, text
    return replace(artifact, object_code=text.replace(old, new).encode())


def without_last_barrier(text: str) -> str:
    head, _, tail = text.rpartition("__syncthreads();")
    return head + tail


def test_a_missing_barrier_gives_a_wrong_answer() -> None:
    artifact = CASES["gemm"].artifact(DEVICE.target)
    broken = without_last_barrier(artifact.object_code.decode()).encode()
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        CASES["gemm"].check(replace(artifact, object_code=broken), DEVICE)


def test_a_wrong_bound_is_an_overflow() -> None:
    broken = edited("gemm", "C_k_0 < 2;", "C_k_0 < 3;")
    with pytest.raises(RunError, match="AddressSanitizer: heap-buffer-overflow"):
        CASES["gemm"].check(broken, DEVICE)


def test_a_wrong_index_of_shared_memory_is_an_overflow() -> None:
    broken = edited("gemm", "] * B_C[", " * 4] * B_C[")
    with pytest.raises(RunError, match=r"AddressSanitizer: global-buffer-overflow|out of bounds"):
        CASES["gemm"].check(broken, DEVICE)


def test_a_barrier_that_some_threads_miss_is_named() -> None:
    broken = edited("gemm", "__syncthreads();", "if (threadIdx.x > 1) __syncthreads();")
    with pytest.raises(RunError, match="not every thread of the block comes to a barrier"):
        CASES["gemm"].check(broken, DEVICE)


def test_a_shuffle_that_some_threads_miss_is_named() -> None:
    broken = edited("rows_warp", "lanes > 0;", "lanes > (threadIdx.x > 7 ? 8 : 0);")
    with pytest.raises(RunError, match="not every thread of a warp takes part in a shuffle"):
        CASES["rows_warp"].check(broken, DEVICE)

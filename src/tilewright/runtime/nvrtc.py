"""CUDA C++ to binary code with NVRTC; no GPU and no driver is needed.

    binary, report = compile_cuda(text, "sm_90")     registers, spills, shared memory
    binary, report = assembled(code, target)         the same for a CUDA target's code

Needs the extra `cuda` (`pip install 'tilewright[cuda]'`).
"""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path
from typing import Any

from tilewright.artifact import CodeReport
from tilewright.errors import BuildError
from tilewright.target import CudaTarget, Target

OPTIONS = ("--std=c++17", "--ptxas-options=-v", "--extra-device-vectorization")
INSTALL = (
    "compiling for CUDA needs NVRTC, though no GPU: pip install 'tilewright[cuda]' "
    "(cuda-bindings, nvidia-cuda-nvrtc, nvidia-cuda-runtime)"
)


def compile_cuda(text: str, architecture: str) -> tuple[bytes, CodeReport]:
    """The binary for one architecture and what the assembler says of it.

    Raises BuildError with the compiler's log, or with what to install.
    """
    nvrtc = _library()
    error, program = nvrtc.nvrtcCreateProgram(text.encode(), b"kernel.cu", 0, [], [])
    _check(nvrtc, error)
    try:
        options = [*OPTIONS, f"--gpu-architecture={architecture}", *_include_options()]
        encoded = [o.encode() for o in options]
        (error,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        log = _log(nvrtc, program)
        if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise BuildError(f"NVRTC rejects the kernel for {architecture}: {log}")
        error, size = nvrtc.nvrtcGetCUBINSize(program)
        _check(nvrtc, error)
        binary = bytearray(size)
        _check(nvrtc, nvrtc.nvrtcGetCUBIN(program, binary)[0])
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return bytes(binary), _report(log)


def assembled(code: bytes, target: Target) -> tuple[bytes, CodeReport]:
    """What the driver loads, from CUDA C++. Raises what `compile_cuda` does."""
    assert isinstance(target, CudaTarget)
    return compile_cuda(code.decode(), target.architecture)


def compiler() -> str:
    """Name and version, "NVRTC 13.0". Raises BuildError where it is missing."""
    nvrtc = _library()
    error, major, minor = nvrtc.nvrtcVersion()
    _check(nvrtc, error)
    return f"NVRTC {major}.{minor}"


@functools.cache
def _library() -> Any:
    try:
        from cuda.bindings import nvrtc
    except ImportError as error:
        raise BuildError(f"{INSTALL} ({error})") from error
    try:
        nvrtc.nvrtcVersion()
    except Exception as error:  # the bindings raise what they like where the library is missing
        raise BuildError(f"{INSTALL} ({error})") from error
    return nvrtc


@functools.cache
def _include_options() -> tuple[str, ...]:
    """Where cuda_fp16.h is, if its package is installed."""
    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    found = sorted(f for root in folders for f in Path(root).glob("*/include/cuda_fp16.h"))
    return tuple(f"--include-path={f.parent}" for f in found[:1])


def _check(nvrtc: Any, error: Any) -> None:
    if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise BuildError(f"NVRTC failed: {error}")


def _log(nvrtc: Any, program: Any) -> str:
    error, size = nvrtc.nvrtcGetProgramLogSize(program)
    _check(nvrtc, error)
    text = bytearray(size)
    _check(nvrtc, nvrtc.nvrtcGetProgramLog(program, text)[0])
    return bytes(text).rstrip(b"\0").decode()


def _report(log: str) -> CodeReport:
    """The greatest figures of all kernels."""

    def most(pattern: str) -> int:
        return max((int(n) for n in re.findall(pattern, log)), default=0)

    return CodeReport(
        registers=most(r"Used (\d+) registers"),
        spill_bytes=most(r"(\d+) bytes stack frame"),
        shared_bytes=most(r"(\d+) bytes smem"),
    )

"""CUDA C++ to binary code with NVRTC; no GPU and no driver is needed.

    binary, report = compile_cuda(text, "sm_90")     registers, spills, shared memory
    binary, report = assembled(code, target)         the same for a CUDA target's code

Code for `sm_90` is made for `sm_90a`, with the instructions of Hopper's tensor cores and memory
units; devices of compute capability 9.0 run both. Needs the extra `cuda`
(`pip install 'tilewright[cuda]'`).
"""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tilewright.contract.artifact import CodeReport
from tilewright.ground.errors import BuildError
from tilewright.target import CudaTarget, Target

OPTIONS = ("--std=c++17", "--ptxas-options=-v", "--extra-device-vectorization")
INSTALL = (
    "compiling for CUDA needs NVRTC, though no GPU: pip install 'tilewright[cuda]' "
    "(cuda-bindings, nvidia-cuda-nvrtc, nvidia-cuda-runtime)"
)
SPECIFIC = {"sm_90": "sm_90a"}  # with all instructions of these devices, and of no later ones
SAID = re.compile(r"^ptxas \w+\s*: \((C\d+)\) (.+?)\s*$", re.MULTILINE)  # its numbered messages
SHOWN_ERROR = 300  # characters of an error: those of templates run to thousands


class RejectedError(BuildError):
    """NVRTC rejects a program. The message has its first error, `log` is all that it says."""

    def __init__(self, architecture: str, log: str) -> None:
        super().__init__(f"NVRTC rejects the kernel for {architecture}: {first_error(log)}")
        self.log = log

    def __reduce__(self) -> tuple[Any, ...]:
        return BuildError, (str(self),)  # between processes the message is enough


def first_error(log: str) -> str:
    """The first line that tells of an error, as far as a message has room for it."""
    lines = [line.strip() for line in log.splitlines()]
    found = next((x for x in lines if "error" in x), lines[0] if lines else "it says nothing")
    return found if len(found) <= SHOWN_ERROR else f"{found[:SHOWN_ERROR]}…"


def compile_cuda(
    text: str, architecture: str, folders: Sequence[Path] = (), options: Sequence[str] = ()
) -> tuple[bytes, CodeReport]:
    """The binary for one architecture and what the assembler says of it. `folders` are searched for
    headers, after them that of CUDA's own types.

    Raises RejectedError with what the compiler says, BuildError with what to install.
    """
    nvrtc = _library()
    error, program = nvrtc.nvrtcCreateProgram(text.encode(), b"kernel.cu", 0, [], [])
    _check(nvrtc, error)
    try:
        built = SPECIFIC.get(architecture, architecture)
        given = [*OPTIONS, f"--gpu-architecture={built}", *options]
        given += [f"--include-path={folder}" for folder in folders]
        encoded = [o.encode() for o in (*given, *_include_options())]
        (error,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        log = _log(nvrtc, program)
        if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise RejectedError(architecture, log)
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
    """The greatest figures of all kernels, and what is said of their speed."""

    def most(pattern: str) -> int:
        return max((int(n) for n in re.findall(pattern, log)), default=0)

    return CodeReport(
        registers=most(r"Used (\d+) registers"),
        spill_bytes=most(r"(\d+) bytes spill stores"),
        shared_bytes=most(r"(\d+) bytes smem"),
        frame_bytes=most(r"(\d+) bytes stack frame"),
        warnings=_said(log),
    )


def _said(log: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{number}: {text}" for number, text in SAID.findall(log)))

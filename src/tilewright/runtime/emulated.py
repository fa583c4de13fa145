"""A CUDA device that is a CPU: kernels run as emulation/cuda_emulation.h describes.

    fn = DeviceFunction(artifact, EmulatedDevice(seed=1))     artifact built for "emulated"

Slow and thorough, for tests: bounds are checked, shared memory is poisoned, warps run in a random
order. Needs g++ with its address sanitizer.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tilewright.contract.artifact import Array, Artifact, Launch, TensorMap, numpy_dtype
from tilewright.ground.errors import RunError, TargetError
from tilewright.ground.files import own_folder
from tilewright.runtime.device import OtherData, Seconds
from tilewright.runtime.headers import INCLUDE, separated
from tilewright.runtime.headers import folders as template_folders
from tilewright.target.emulated import CUDA_ON_CPU

HEADERS = Path(__file__).parent / "emulation"
OPTIONS = (
    "-std=c++17", "-O1", "-w", "-fsanitize=address,bounds", "-fsanitize-sections=tw_shared",
    "-fno-sanitize-recover=all", "-ffp-contract=off",
)  # fmt: skip
# Kernels of templates run without the sanitizer, which knows neither their fibers' large stacks nor
# shared memory of a size given at the launch: memory that cannot be read lies behind every buffer.
# CUTLASS takes other ways with an old compiler of CUDA, or with none.
TEMPLATE_OPTIONS = (
    "-std=c++17", "-O1", "-w", "-fpermissive", "-ffp-contract=off", "-DTW_CUDA_HEADERS",
    "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0",
)  # fmt: skip
TEMPLATE_HEADER = '#include "tw_'
WRAPPERS = "#ifndef TW_EMULATION"  # of instructions, for devices that have them
TIMEOUT_S = 300

Bytes = npt.NDArray[np.uint8]


def compiler() -> str:
    """What makes machine code."""
    return "g++"


class EmulatedDevice:
    """Buffers are arrays of bytes. `seed` orders warps and blocks."""

    def __init__(self, seed: int = 0) -> None:
        if shutil.which("g++") is None:
            raise TargetError("the emulation of CUDA needs g++; on Debian: apt-get install g++")
        self.seed = seed
        self.target = CUDA_ON_CPU
        self.arrays = None  # its memory is the CPU's

    def allocate(self, size: int) -> Bytes:
        """A buffer of `size` bytes."""
        return np.full(size, 0xFF, np.uint8)

    def upload(self, array: Array, buffer: Bytes) -> None:
        buffer[: array.nbytes] = array.reshape(-1).view(np.uint8)

    def download(self, buffer: Bytes, array: Array) -> None:
        array.reshape(-1).view(np.uint8)[:] = buffer[: array.nbytes]

    def load(self, artifact: Artifact, parts: Sequence[Artifact] = ()) -> EmulatedProgram:
        """Compile the kernels with g++. Raises RunError with its messages."""
        program = EmulatedProgram(artifact.entry, artifact.launches)
        source = program.executable.with_suffix(".cpp")
        source.write_text(program_text(artifact, parts, self.seed))
        command = ["g++", *_options(source.read_text()), str(source), "-o", str(program.executable)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
        if done.returncode:
            lines = [x for x in done.stderr.splitlines() if "error" in x] or [done.stderr]
            raise RunError(f"g++ rejects {artifact.entry}: {chr(10).join(lines)[:2000]}")
        return program


def _options(text: str) -> list[str]:
    """How to compile a program. Raises BuildError where headers of templates are missing."""
    if TEMPLATE_HEADER not in text:
        return [*OPTIONS, f"-I{HEADERS}"]
    folders = (HEADERS / "shadow", HEADERS, *template_folders())
    return [*TEMPLATE_OPTIONS, *(f"-I{folder}" for folder in folders)]


def program_text(artifact: Artifact, parts: Sequence[Artifact], seed: int) -> str:
    """The kernels with a `main` that reads buffers, runs them and writes the buffers back."""
    first = 2  # where the numbers of a launch begin, after the file
    calls = ""
    for launch in artifact.launches:
        calls += f"    {_call(launch, len(artifact.buffers), first)}\n"
        first += 1 + len(launch.sizes)
    # A network's kernels of templates may be those of several of its parts.
    includes, spaces = separated(
        dict.fromkeys(one.object_code.decode() for one in (artifact, *parts))
    )
    uses = [f"using namespace p{i};" for i in range(len(spaces))]
    own = [f'{INCLUDE} "cuda_emulation.h"']
    if any(x.startswith(TEMPLATE_HEADER) for x in includes):
        own.append(f'{INCLUDE} "warp.h"')
    if any(WRAPPERS in text for text in spaces):
        own.append(f'{INCLUDE} "instructions.h"')
    return "\n".join([*own, *includes, *spaces, *uses, ""]) + (
        "int main(int, char** path) {\n"
        "    tw::Buffers buffers;\n    buffers.read(path[1]);\n"
        f"    tw::random_state = {seed + 1};\n"
        "    tw::read_faults();\n"
        f"{calls}    buffers.write(path[1]);\n}}\n"
    )


def _call(launch: Launch, scratch: int, number: int) -> str:
    """`scratch` is the position of the scratch memory, after all buffers; `number` that of the
    number of blocks among the arguments of the program, which sizes follow.
    """
    x, y = launch.threads
    arguments = [
        f"buffers({a})" if a >= 0 else f"buffers.part({scratch}, {-1 - a})"
        for a in launch.arguments
    ]
    arguments += [_tensor_map(one, arguments[one.argument]) for one in launch.maps]
    if launch.values:
        arguments.append(f"{{{', '.join(map(str, launch.values))}}}")
    arguments += [f"std::atoi(path[{number + 1 + i}])" for i in range(len(launch.sizes))]
    grid = ", ".join((f"std::atoi(path[{number}])", *map(str, launch.beyond)))
    call = f"{launch.kernel}({', '.join(arguments)})"
    return f"tw::launch({{{grid}}}, {x}, {y}, {launch.dynamic_bytes}, [&] {{ {call}; }});"


def _tensor_map(one: TensorMap, array: str) -> str:
    """`tw_tensor_map` of `instructions.h`."""
    size = numpy_dtype(one.dtype).itemsize
    shape = ", ".join(map(str, one.shape))
    strides = ", ".join(str(s * size) for s in one.strides)
    first = f"(const char*){array}.at + {one.offset * size}"
    rest = f"{{{shape}}}, {{{strides}}}, {one.rows}, {one.columns}"
    return f"tw_tensor_map{{{first}, {size}, {rest}}}"


class EmulatedProgram:
    """An executable, in a folder of its own; every run is a process of its own."""

    def __init__(self, entry: str, launches: Sequence[Launch]) -> None:
        self.executable = own_folder(self) / "kernels"
        self._entry, self._launches = entry, launches

    def run(self, buffers: Sequence[Bytes], scratch: Bytes, values: Sequence[int] = ()) -> None:
        """Run all kernels. Raises RunError with what the emulation found."""
        self.steps(buffers, scratch, values)

    def time(
        self,
        buffers: Sequence[Bytes],
        scratch: Bytes,
        count: int,
        other: OtherData | None = None,
        values: Sequence[int] = (),
    ) -> Seconds:
        """Seconds of each run: to go through a benchmark's code, not to compare."""
        return np.array([self.steps(buffers, scratch, values).sum() for _ in range(count)])

    def steps(
        self, buffers: Sequence[Bytes], scratch: Bytes, values: Sequence[int] = ()
    ) -> Seconds:
        """The same of each launch."""
        every = [*buffers, scratch]
        file = self.executable.with_suffix(".data")
        with file.open("wb") as out:
            for buffer in every:
                out.write(np.int64(buffer.size).tobytes() + buffer.tobytes())
        numbers = [n for launch in self._launches for n in _numbers(launch, values)]
        command = [str(self.executable), str(file), *map(str, numbers)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
        if done.returncode:
            raise RunError(f"{self._entry} fails in the emulation: {_finding(done.stderr)}")
        data = np.fromfile(file, np.uint8)
        start = 0
        for buffer in every:
            buffer[:] = data[start : start + buffer.size]
            start += buffer.size
        return np.array(done.stdout.split(), np.float64)


def _numbers(launch: Launch, values: Sequence[int]) -> tuple[int, ...]:
    """The blocks of a launch, then its sizes."""
    blocks, sizes = launch.at(values)
    return (blocks, *sizes)


def _finding(text: str) -> str:
    """The line that says what is wrong."""
    for line in text.splitlines():
        if line.startswith("emulation:") or "ERROR:" in line or "runtime error:" in line:
            return line.strip()
    return text.strip()[-500:] or "it crashed"

"""The first part: what is here, is the clock one, does everything load, is every template right?

    run(state, pack, device)            found["facts"], "clock", "verify", "loads", "races"

A program that fails may leave the device's context unusable: then the process ends with `FAULT`,
and whoever started it starts another.
"""

from __future__ import annotations

import itertools
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from benchmarks.gpu_peaks import LEAST_STEPS, fma_s
from benchmarks.suite.bench import Bench
from benchmarks.suite.cases import VERIFY
from benchmarks.suite.pack import Pack, Program
from benchmarks.suite.state import Row, State
from tilewright.errors import RunError, WrongAnswer
from tilewright.runtime.device import Device
from tilewright.target import Target

FAULT = 3
CLOCK_STEPS = tuple(LEAST_STEPS * 8**i for i in range(5))
LINEAR = 0.2  # by how much eight times the work may take more or less than eight times as long
LONG_S = 1e-4  # what is that long
SANITIZER = "compute-sanitizer"
SANITIZED_S = 60
NVIDIA_SMI = (
    "nvidia-smi", "--format=csv,noheader",
    "--query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit",
)  # fmt: skip


def run(state: State, pack: Pack, device: Device) -> None:
    """All steps that the state lacks. Raises OutOfTime."""
    is_gpu = device.target.kind == "cuda"
    state.once("facts", "facts", lambda: facts(device))
    state.once("clock", "clock", lambda: clock(device, CLOCK_STEPS if is_gpu else CLOCK_STEPS[:2]))
    names = [name for name in pack.cases if name in VERIFY]
    for name in names:
        state.once("verify", name, partial(verified, state, pack, device, name))
    for name in pack.cases:
        state.once("loads", name, partial(loads, state, pack, device, name, is_gpu))
    for name, number, template in one_each(pack, names):
        state.once("races", template, partial(races, state, pack, name, number))


def facts(device: Device) -> Row:
    """The device, its driver, and what runs here."""
    found = {
        "target": str(device.target),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    if shutil.which(NVIDIA_SMI[0]):
        found["nvidia-smi"] = bounded(NVIDIA_SMI, SANITIZED_S)[1].strip()
    return found


def clock(device: Device, steps: Sequence[int]) -> Row:
    """Seconds of a kernel by its steps; whether those of long ones are in proportion, and no more
    than this process saw go by.
    """
    started = time.perf_counter()
    seconds = [fma_s(device, n) for n in steps]
    elapsed_s = time.perf_counter() - started
    ratios = [b / a for a, b in itertools.pairwise(seconds) if a >= LONG_S]
    return {
        "seconds": dict(zip(map(str, steps), seconds, strict=True)),
        "is_linear": all(abs(r / 8 - 1) <= LINEAR for r in ratios),
        "is_plausible": sum(seconds) <= elapsed_s,
    }


def verified(state: State, pack: Pack, device: Device, name: str) -> Row:
    """Which programs of a case are wrong."""
    bench = Bench(device, VERIFY[name].problem().dag)
    found: Row = {"programs": 0, "wrong": [], "failed": []}
    for number, program in left(state, pack.programs(name), name, found):
        found["programs"] += 1
        try:
            bench.load(program.artifact).check()
        except WrongAnswer as error:
            found["wrong"].append(f"{program}: {error}")
        except RunError as error:
            failed(device, f"{program}: {error}", found, number)
    return found


def left(
    state: State, programs: Sequence[Program], name: str, found: Row
) -> Iterator[tuple[int, Program]]:
    """The programs of a case that are no faults; those are noted. Raises OutOfTime."""
    faults = state.faults(name)
    for number, program in enumerate(programs):
        if str(number) in faults:
            found["failed"].append(f"{program}: {faults[str(number)]}")
            continue
        state.beat(name, number)
        yield number, program


def failed(device: Device, what: str, found: Row, number: int) -> None:
    """Note a program that failed; the process ends where the device does nothing any more."""
    try:
        device.upload(np.zeros(1, np.uint8), device.allocate(1))
    except RunError:
        print(f"program {number}: {what}", file=sys.stderr)
        raise SystemExit(FAULT) from None
    found["failed"].append(what)


def loads(state: State, pack: Pack, device: Device, name: str, every: bool) -> Row:
    """Which programs of a case the device refuses to load; where that takes long, of the first."""
    programs = pack.programs(name)
    found: Row = {"programs": 0, "failed": []}
    for _, program in left(state, programs if every else programs[:1], name, found):
        found["programs"] += 1
        try:
            device.load(program.artifact)
        except RunError as error:
            found["failed"].append(f"{program}: {error}")
    return found


def one_each(pack: Pack, names: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """A program of every template: its case, its number, the template."""
    known: set[str] = set()
    for name in names:
        for number, program in enumerate(pack.programs(name)):
            if program.template not in known:
                known.add(program.template)
                yield name, number, program.template


def races(state: State, pack: Pack, name: str, number: int) -> Row:
    """What the race checker says of a program, which another process runs under it."""
    tool = shutil.which(SANITIZER)
    if tool is None:
        return {"skipped": f"no {SANITIZER} is here"}
    which = f"{name}/{number}"
    command = [tool, "--tool", "racecheck", sys.executable, "-m", "benchmarks.gpu_suite"]
    command += [str(pack.folder), "--device", Target.parse(pack.target).kind, "--one", which]
    status, text = bounded(command, min(SANITIZED_S, 60 * state.deadline.minutes))
    lines = text.splitlines()
    said = [line for line in lines if "RACECHECK" in line or "ERROR" in line] or lines
    return {"program": which, "status": status, "said": " ".join(said[-1:])}


def bounded(command: Sequence[str], seconds: float) -> tuple[int | None, str]:
    """The status of a command and what it prints; it ends in time, with all that it started, and
    has no status then.
    """
    output, errors = subprocess.PIPE, subprocess.STDOUT
    with subprocess.Popen(
        command, text=True, start_new_session=True, stdout=output, stderr=errors
    ) as child:
        try:
            text, _ = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return None, f"nothing in {seconds:.0f} s"
    return child.returncode, text


def one(pack: Pack, device: Device, which: str) -> None:
    """Run one program of a case that is verified. Raises WrongAnswer and RunError."""
    name, _, number = which.rpartition("/")
    bench = Bench(device, VERIFY[name].problem().dag)
    bench.load(pack.programs(name)[int(number)].artifact).check()

"""Are templates right, and is the clock one? What a program is left out for, too.

    begin(work)                     facts of the device, its clock
    verify(work, rows)              the first `rows` programs of each template in each case

Plain templates come first, then those of tensor cores, those of Hopper's units last.
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
from functools import cached_property

import numpy as np

from benchmarks.gpu_peaks import LEAST_STEPS, Peaks
from benchmarks.suite.bench import Bench, Loaded
from benchmarks.suite.cases import VERIFY
from benchmarks.suite.journal import FAILED, FAULT, RIGHT, WRONG, Journal, Line
from benchmarks.suite.ladder import is_out
from benchmarks.suite.pack import PEAKS, Pack, Program
from benchmarks.suite.watch import UNUSABLE
from tilewright.expr.dag import ComputeDAG
from tilewright.ground.errors import RunError, WrongAnswer
from tilewright.runtime.device import Device, Seconds

RUN_S, SLOW_S = 8.0, 120.0  # of loading a program and of its run; of one that is compiled first
SETUP_S = 120.0  # of a case: its arrays, and what is expected
WARM_S = 0.02  # of multiply-adds before a sample: clocks fall while the host works
CLOCK_STEPS = tuple(LEAST_STEPS * 8**i for i in range(5))
SAMPLES = {"quick": 3, "final": 10}  # by step
LONG_RUN_S = 20e-3  # by the host's clock, of which one sample is enough
QUANTILES = (0.0, 0.1, 0.5, 0.9, 1.0)
LINEAR = 0.2  # by how much eight times the work may take more or less than eight times as long
LONG_S = 1e-4  # what is that long
LANES = 2 * 128  # operations of a multiprocessor in a cycle
CHECKED_S = 60
NVIDIA_SMI = (
    "nvidia-smi", "--format=csv,noheader",
    "--query-gpu=name,driver_version,memory.total,clocks.sm,clocks.max.sm,power.limit",
)  # fmt: skip
HOPPER = "matmul.warp"  # how the names of templates begin that nothing else has the units for
LATER = (
    "", "matmul.threads", "matmul.tensor_cores", "cutlass", "matmul.warpgroups",
    "matmul.warp_specialized",
)  # fmt: skip


class Work:
    """A device at work on a pack, and what is found."""

    def __init__(
        self, journal: Journal, pack: Pack, device: Device, limit_s: float = RUN_S
    ) -> None:
        self.journal, self.pack, self.device = journal, pack, device
        self.is_gpu = device.target.kind == "cuda"
        self.limit_s = limit_s  # of a run, with what is done of it on the host
        self.load_s = RUN_S if self.is_gpu else SLOW_S

    @cached_property
    def peaks(self) -> Peaks | None:
        """Its small kernels, as they were packed or compiled now; None where a process ended at
        them.
        """
        if self.journal.is_broken(PEAKS):
            return None
        with self.journal.at(PEAKS, PEAKS, None, SLOW_S):
            packed = self.pack.programs(PEAKS) if PEAKS in self.pack.cases else []
            return Peaks(self.device, {p.template: p.artifact for p in packed} or None)

    def warm(self) -> None:
        """Bring the clock to what it is at work, and note it."""
        if self.is_gpu and self.peaks is not None:
            flops = self.peaks.warm(WARM_S)
            self.journal.clock_mhz = round(flops / (LANES * self.peaks.cores) / 1e6)

    def bench(self, name: str, dag: ComputeDAG) -> Bench:
        """A case's arrays."""
        with self.journal.at("setup", name, None, SETUP_S):
            return Bench(self.device, dag)

    def checked(self, step: str, name: str, program: Program, bench: Bench) -> Loaded | None:
        """A program that is right, with a sample of its time; None where it is not. Either is
        noted.
        """
        with self.journal.at(step, name, program, self.limit_s):
            verdict, why, seconds = RIGHT, "", np.zeros(0)
            loaded: Loaded | None = None
            try:
                loaded = self.loaded(step, name, program, bench)
                first_s = loaded.check()
                if step in SAMPLES:
                    self.warm()
                    seconds = loaded.seconds(1 if first_s > LONG_RUN_S else SAMPLES[step])
            except WrongAnswer as error:
                verdict, why, loaded = WRONG, str(error), None
            except RunError as error:
                verdict, why, loaded = FAILED, str(error), None
            self.journal.add(
                step, name, program, verdict=verdict, why=why, seconds=seconds.tolist(),
                quantiles=quantiles(seconds),
            )  # fmt: skip
        if verdict == FAILED:
            self._usable()
        return loaded

    def loaded(self, step: str, name: str, program: Program, bench: Bench) -> Loaded:
        """A program on the device. Raises RunError."""
        with self.journal.at(step, name, program, self.load_s):
            return bench.load(program.artifact)

    def ended(self, name: str) -> frozenset[str]:
        """The keys of programs of a case at which a process ended, whatever it did with them."""
        return frozenset(
            line["key"]
            for line in self.journal.lines
            if line["case"] == name and "key" in line and line.get("verdict") == FAULT
        )

    def _usable(self) -> None:
        """End the process where the device does nothing any more."""
        try:
            with self.journal.at("setup", "", None, RUN_S):
                self.device.upload(np.zeros(1, np.uint8), self.device.allocate(1))
        except RunError as error:
            print(f"the device is unusable: {error}", file=sys.stderr)
            raise SystemExit(UNUSABLE) from None

    def left(self, step: str, name: str, rows: slice) -> Iterator[Program]:
        """The programs of a case, of those rows of each template, of which nothing is known and
        whose templates are not out: plain ones first.
        """
        if self.journal.is_broken(name):
            return
        known = self.ended(name).union(self.journal.find(step, name))
        found: dict[str, list[Program]] = {}
        for program in self.pack.programs(name):
            found.setdefault(program.template, []).append(program)
        for template in sorted(found, key=_order):
            for program in found[template][rows]:
                is_known = program.key in known or self.journal.is_out(template)
                if not is_known and not is_out(program, self.journal):
                    yield program


def quantiles(seconds: Seconds) -> list[float]:
    """To four digits; none of nothing."""
    return [float(f"{q:.4g}") for q in np.quantile(seconds, QUANTILES)] if len(seconds) else []


def _order(template: str) -> int:
    found = [i for i, start in enumerate(LATER) if template.startswith(start)]
    return max(found) if template else -1


def begin(work: Work) -> None:
    """What is here."""
    journal, device = work.journal, work.device
    peaks = work.peaks
    if not journal.find("facts"):
        commit = work.pack.facts["commit"]
        journal.add("facts", "facts", commit=commit, **facts(device))
    if not journal.find("clock") and peaks is not None:
        steps = CLOCK_STEPS if work.is_gpu else CLOCK_STEPS[:2]
        with journal.at(PEAKS, PEAKS, None, SLOW_S):
            told = clock(peaks, steps)
        journal.add("clock", "clock", **told)


def facts(device: Device) -> Line:
    """The device, its driver, and what runs here."""
    found: Line = {
        "target": str(device.target),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    if device.target.kind == "cuda" and shutil.which(NVIDIA_SMI[0]):
        found["nvidia-smi"] = bounded(NVIDIA_SMI, CHECKED_S)[1].strip()
    return found


def clock(peaks: Peaks, steps: Sequence[int]) -> Line:
    """Seconds of a kernel by its steps; whether those of long ones are in proportion, and no more
    than this process saw go by.
    """
    started = time.perf_counter()
    seconds = [peaks.fma_s(n) for n in steps]
    elapsed_s = time.perf_counter() - started
    ratios = [b / a for a, b in itertools.pairwise(seconds) if a >= LONG_S]
    return {
        "fma_s": dict(zip(map(str, steps), seconds, strict=True)),
        "is_linear": all(abs(ratio / 8 - 1) <= LINEAR for ratio in ratios),
        "is_plausible": sum(seconds) <= elapsed_s,
    }


def verify(work: Work, rows: int) -> None:
    """The first programs of each template, at odd sizes, every element against float64: in all
    cases those that any device has the units for, then Hopper's. Raises OutOfTime.
    """
    names = [name for name in work.pack.cases if name in VERIFY]
    for is_hopper, name in itertools.product((False, True), names):
        bench: Bench | None = None
        for program in work.left("verify", name, slice(rows)):
            if program.template.startswith(HOPPER) == is_hopper:
                bench = bench or work.bench(name, VERIFY[name].problem().dag)
                work.checked("verify", name, program, bench)


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

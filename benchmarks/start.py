"""How long until a network runs, and how much memory that takes: ours, and onnxruntime's session.

    python -m benchmarks.start [--cases NAMES] [--rounds N] [--json FILE]

Everything is a process of its own, from its start to its end, imports included; wall seconds, and
seconds of CPU of the process and its children. *Cold* is the first compile, with an empty cache;
*warm* the next ones, which are loads. Peaks are those of the largest process that loads or
compiles, and (*run*) runs once. Warm compiles and sessions take turns; figures of several turns are
medians.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.comparison import Entry, Results, worst
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES
from benchmarks.slices import Bench, Suite
from benchmarks.slices import main as main_of

NETWORKS = ("mobilenet-v2-b1", "resnet50-b1", "bert-base-b1")
OURS = "import sys, tilewright as tw; net = tw.compile(sys.argv[1])"
OUR_RUN = (
    "\nimport numpy as np"
    "\nnet.run({s.name: np.ones(s.shape, s.dtype) for s in net.artifact.inputs})"
)
THEIRS = (
    "import sys, onnxruntime as ort; "
    "s = ort.InferenceSession(sys.argv[1], providers=['CPUExecutionProvider'])"
)
THEIR_RUN = (
    "\nimport numpy as np"
    "\nkinds = {'tensor(float)': 'float32', 'tensor(int64)': 'int64'}"
    "\ns.run(None, {i.name: np.ones(i.shape, kinds[i.type]) for i in s.get_inputs()})"
)

PEAK = (  # KiB; what a parent is told of its child counts pages of its own, too
    "\nimport resource"
    "\nown = next(x for x in open('/proc/self/status') if x.startswith('VmHWM')).split()[1]"
    "\nprint(max(int(own), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))"
)


@dataclass(frozen=True)
class Taken:
    """What a process took."""

    wall_s: float
    cpu_s: float
    memory_bytes: int

    @staticmethod
    def median(several: Sequence[Taken]) -> Taken:
        """Each figure's median."""
        return Taken(
            statistics.median(t.wall_s for t in several),
            statistics.median(t.cpu_s for t in several),
            round(statistics.median(t.memory_bytes for t in several)),
        )


def taken(code: str, words: Sequence[str], cache: Path) -> Taken:
    """Run Python on `code`. Raises RuntimeError when it fails."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", code + PEAK, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TILEWRIGHT_CACHE": str(cache)},
    )
    assert process.stdout is not None
    with process.stdout as told:
        last = told.read().split()[-1:]
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"exit status {process.returncode}: {' '.join(words)}")
    return Taken(wall_s, usage.ru_utime + usage.ru_stime, int(last[0]) * 1024)


def network(file: Path, turns: int) -> Mapping[str, Taken]:
    """The first compile of a network, and what takes turns after it."""
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        cache, words = Path(folder), [str(file)]
        found = {"cold": taken(OURS, words, cache)}
        several: dict[str, list[Taken]] = {"warm": [], "onnxruntime": []}
        for _ in range(turns):
            several["warm"].append(taken(OURS, words, cache))
            several["onnxruntime"].append(taken(THEIRS, words, cache))
        found |= {name: Taken.median(all_of) for name, all_of in several.items()}
        found["warm, run"] = taken(OURS + OUR_RUN, words, cache)
        found["onnxruntime, run"] = taken(THEIRS + THEIR_RUN, words, cache)
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        found["cold, run"] = taken(OURS + OUR_RUN, words, Path(folder))
    return found


@dataclass(frozen=True)
class StartBench(Bench):
    """Starts a network."""

    def case(self, name: str) -> Entry:
        file = onnx_file(CASES[name], self.options.folder)
        found = network(file, self.options.rounds)
        figures = {what: asdict(one) for what, one in found.items()}
        ratio = found["onnxruntime"].wall_s / found["warm"].wall_s
        return {"case": name, "taken": figures, "ratio_warm": ratio, **self.facts({}, {})}


@dataclass
class StartResults(Results):
    """Networks in the order of the list."""

    names = NETWORKS

    def summary(self) -> dict[str, Any]:
        """How the slowest start compares with onnxruntime's."""
        return {"cases": len(self.cases), "worst_warm": worst(self.sorted(), "ratio_warm")}


WHAT = ("cold", "warm", "onnxruntime", "cold, run", "warm, run", "onnxruntime, run")
HEAD = ("network", *(f"{what}, s" for what in WHAT), *(f"{what}, MB" for what in WHAT[3:]))


def row(entry: Entry) -> list[str]:
    """The figures of a network, as HEAD names them."""
    found = entry["taken"]
    known = [found[what].get("memory_bytes") for what in WHAT[3:]]
    peaks = ["" if peak is None else f"{peak / 1e6:.0f}" for peak in known]
    return [entry["case"], *(f"{found[what]['wall_s']:.2f}" for what in WHAT), *peaks]


SUITE = Suite(
    (__doc__ or "").splitlines()[0], NETWORKS, NETWORKS[0], "start", 0, 0, StartResults, StartBench,
    HEAD, row,
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main_of(suite=SUITE))

"""How long until a network runs, and how much memory that takes: ours, and onnxruntime's session.

    python -m benchmarks.start [--networks DIR] [--turns N] [--json FILE] [CASE ...]

Everything is a process of its own, from its start to its end, imports included; wall seconds, and
seconds of CPU of the process and its children. *Cold* is the first compile, with an empty cache;
*warm* the next ones, which are loads. Peaks are those of the largest process that loads or
compiles, and runs once. Warm compiles, sessions and commands take turns; figures of several turns
are medians.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES
from benchmarks.provenance import provenance, result_file

NETWORKS = ("mobilenet-v2-b1", "resnet50-b1", "bert-base-b1")
TURNS = 5
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
COMMAND = "from tilewright.cli import main; main()"
COMMANDS = {
    "--help": ("--help",),
    "--version": ("--version",),
    "unknown target": ("compile", "{file}", "--target", "cpu:i8008"),
    "unknown strategy": ("tune", "{file}", "--strategy", "guess"),
    "missing file": ("compile", "missing.onnx"),
    "bad shape": ("compile", "{file}", "--shape", "x=many"),
}


@dataclass(frozen=True)
class Taken:
    """What a process took."""

    wall_s: float
    cpu_s: float
    peak_bytes: int

    @staticmethod
    def median(several: Sequence[Taken]) -> Taken:
        """Each figure's median."""
        return Taken(
            statistics.median(t.wall_s for t in several),
            statistics.median(t.cpu_s for t in several),
            round(statistics.median(t.peak_bytes for t in several)),
        )

    def __str__(self) -> str:
        return (
            f"{self.wall_s:6.2f} s, CPU {self.cpu_s:6.2f} s, peak {self.peak_bytes / 1e6:6.0f} MB"
        )


def taken(code: str, words: Sequence[str], cache: Path, refused: bool = False) -> Taken:
    """Run Python on `code`. Raises RuntimeError when it fails, or does not where it should."""
    command = [sys.executable, "-c", code, *words]
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TILEWRIGHT_CACHE": str(cache)},
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if (process.returncode != 0) != refused:
        raise RuntimeError(f"exit status {process.returncode}: {' '.join(words)}")
    return Taken(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


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


def commands(file: Path, turns: int) -> Mapping[str, Taken]:
    """Help, and arguments that are refused."""
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        several: dict[str, list[Taken]] = {name: [] for name in COMMANDS}
        for _ in range(turns):
            for name, words in COMMANDS.items():
                given = [word.format(file=file) for word in words]
                several[name].append(taken(COMMAND, given, Path(folder), "--" not in name))
    return {name: Taken.median(all_of) for name, all_of in several.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cases", nargs="*", default=NETWORKS, metavar="CASE", help="networks")
    parser.add_argument("--networks", type=Path, default=Path("networks"), help="ONNX files")
    parser.add_argument("--turns", type=int, default=TURNS, help="of what is repeated")
    parser.add_argument("--json", type=result_file, help="also write the figures to this file")
    options = parser.parse_args()
    files = {name: onnx_file(CASES[name], options.networks) for name in options.cases}
    found = {name: network(file, options.turns) for name, file in files.items()}
    found["commands"] = commands(next(iter(files.values())), options.turns)
    for name, rows in found.items():
        print(name)
        for row, figures in rows.items():
            print(f"  {row:18} {figures}")
    if options.json:
        figures_of = {
            name: {row: asdict(figures) for row, figures in rows.items()}
            for name, rows in found.items()
        }
        commands_of = figures_of.pop("commands")
        told = {"benchmark": "start", **provenance(), "networks": figures_of}
        options.json.write_text(json.dumps({**told, "commands": commands_of}, indent=1))


if __name__ == "__main__":
    main()

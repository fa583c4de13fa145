"""Tilewright on a GPU against PyTorch on the published operators and subgraphs, and on GEMMs.

    python -m benchmarks.gpu_operators --trials 256 --json gpu.json --minutes 9       a slice
    python -m benchmarks.gpu_operators --cases 'GEMM-*'               1024 to 4096 squared
    python -m benchmarks.gpu_operators --device emulated --trials 2   every path without a GPU

Run it again until nothing is left: tuning resumes from the database, --missing measures what the
JSON file lacks. What is said of turns and comparisons in benchmarks.operators holds here, too,
except that arguments are on the device and every side is timed by the device's clock: the seconds
between events around each of many calls that follow one another. PyTorch (cuDNN, cuBLAS; float32
without TF32) runs in the fastest of its modes: eager, compiled, compiled with CUDA graphs. The
roofline is that of benchmarks/gpu_ceilings.py: plain float32 multiply-adds, or traffic, measured
at the start.

--device names a target: cuda, opencl, or emulated, which runs CUDA source on the CPU and takes the
small cases, as --small does elsewhere; peers of a device that is no CUDA device run on the CPU.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks import gpu_ceilings
from benchmarks.cases import CASES, GEMMS, SMALL
from benchmarks.operators import Machine, parser, reported, run
from benchmarks.roofline import traffic_of
from tilewright.cli.console import output
from tilewright.front.machine import as_target
from tilewright.runtime.devices import open_device

DEVICE = "cuda"
EMULATED = "emulated"
PEERS = ("torch",)


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit status."""
    line = parser(__doc__, "gpu_operators.db", PEERS)
    line.add_argument("--device", default=DEVICE, help="a target (%(default)s)")
    line.add_argument("--small", action="store_true", help="small cases")
    options = line.parse_args(words)
    return reported(lambda: run(options, output(), _machine(options)))


def _machine(options: argparse.Namespace) -> Machine:
    """The device. Raises TargetError when it is not here."""
    target = as_target(options.device)
    device = open_device(target)
    small = options.small or options.device == EMULATED
    return Machine(
        target,
        SMALL if small else {**CASES, **GEMMS},
        lambda cases: gpu_ceilings.measure(device, map(traffic_of, cases)),
    )


if __name__ == "__main__":
    sys.exit(main())

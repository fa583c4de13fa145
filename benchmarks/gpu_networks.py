"""Whole networks on a GPU: Tilewright against PyTorch.

    python -m benchmarks.gpu_networks --minutes 25 --slice 9 --json gpu_networks.json
    python -m benchmarks.gpu_networks --device emulated --trials 2     every path without a GPU

Run it again until nothing is left: tuning resumes from the database, --missing measures what the
JSON file lacks. The figures are those of benchmarks.networks; how sides are timed, and what
--device takes, is told in benchmarks/gpu_operators.py. `overhead` is the part of a run that passes
between kernels.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.gpu_operators import DEVICE, EMULATED, PEERS
from benchmarks.models.table import CASES
from benchmarks.networks import parser, run
from benchmarks.operators import reported
from tilewright.cli.console import output
from tilewright.front.machine import as_target

SMALL = ",".join(
    name
    for name, case in CASES.items()
    if not case.network.published and case.network.file != "bert"
)


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit status."""
    line = parser(__doc__, "gpu_networks.db", PEERS)
    line.add_argument("--device", default=DEVICE, help="a target (%(default)s)")
    options = line.parse_args(words)
    if options.device == EMULATED and options.models == line.get_default("models"):
        options.models = SMALL
    return reported(lambda: run(options, output(), as_target(options.device)))


if __name__ == "__main__":
    sys.exit(main())

"""The process of one side and one subject; started by `benchmarks.peers.process`.

    python -m benchmarks.peers.worker SIDE SUBJECT TARGET [DB]

Reads one JSON request a line from standard input, answers one line each:

    (when built)              {"mode": "compile, channels-last", "facts": {}}
    {"output": "y.npy"}       {}                      the result is saved, channels-last
    {"seconds": 0.05}         {"median_s": ..., "least_s": ..., "calls": ...}
    {"pace": {...}}           {"latencies": [...]}    seconds of every call of a Pace
    any failure               {"error": "..."}

Standard output is the protocol's alone: what libraries print goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.peers.paced import Pace, latencies
from benchmarks.peers.sides import SIDES
from benchmarks.peers.subjects import Side, subject_of
from tilewright.target import Target

WARM_S = 0.005  # calls that do not count wake threads and fill caches; at least one


def timed(side: Side, seconds: float) -> dict[str, float]:
    """Call for about `seconds`, at least once, after uncounted calls; figures of one call."""
    taken = _called(side.call, seconds) if side.clock is None else _clocked(side.clock, seconds)
    return {"median_s": median(taken), "least_s": min(taken), "calls": len(taken)}


def _clocked(clock: Callable[[int], Sequence[float]], seconds: float) -> list[float]:
    """By the device's clock, in batches that grow, as each has its own cost."""
    clock(1)
    taken: list[float] = []
    begun = time.perf_counter()
    while not taken or time.perf_counter() - begun < seconds:
        taken += clock(max(1, len(taken)))
    return taken


def _called(call: Callable[[], Any], seconds: float) -> list[float]:
    begun = time.perf_counter()
    call()
    while time.perf_counter() - begun < WARM_S:
        call()
    taken: list[float] = []
    begun = time.perf_counter()
    while not taken or time.perf_counter() - begun < seconds:
        started = time.perf_counter()
        call()
        taken.append(time.perf_counter() - started)
    return taken


def main() -> int:
    """Serve until standard input ends."""
    name, subject, target, *db = sys.argv[1:]
    with os.fdopen(os.dup(1), "w") as replies:
        os.dup2(2, 1)

        def reply(message: dict[str, Any]) -> None:
            print(json.dumps(message), file=replies, flush=True)

        # A peer may fail with any exception; the benchmark reports it and goes on without it.
        try:
            records = Path(db[0]) if db else None
            side = SIDES[name](subject_of(subject), Target.parse(target), records)
            reply({"mode": side.mode, "facts": dict(side.facts)})
            for line in sys.stdin:
                request = json.loads(line)
                if "output" in request:
                    np.save(request["output"], np.ascontiguousarray(side.output()))
                    reply({})
                elif "pace" in request:
                    reply({"latencies": latencies(side, Pace(**request["pace"]))})
                else:
                    reply(timed(side, request["seconds"]))
        except Exception as error:
            reply({"error": f"{type(error).__name__}: {error}"})
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Load many models in one process, and say of each what came of it.

    python hostile_worker.py FOLDER < cases        a JSON list of [file, only_import]

Prints a line before each file and one of JSON after it. The process may take 2 GiB more than it
has at its start, and ends with a signal when one file takes ten seconds of CPU time, or a minute.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import warnings
from pathlib import Path

import tilewright as tw
from tilewright.graph.onnx.importing import load as import_only

CPU_S, WALL_S = 10, 60
MORE_BYTES = 2 << 30


def main() -> None:
    cases = json.load(sys.stdin)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MORE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    warnings.simplefilter("always")
    for file, graph_only in cases:
        signal.setitimer(signal.ITIMER_PROF, CPU_S)
        signal.alarm(WALL_S)
        print(file, flush=True)
        with warnings.catch_warnings(record=True) as caught:
            result = outcome(Path(sys.argv[1]) / file, graph_only)
        result["warnings"] = [f"{w.category.__name__}: {w.message}" for w in caught]
        print(json.dumps(result), flush=True)


def outcome(file: Path, graph_only: bool) -> dict[str, object]:
    """What loading the file gives: the type of an exception and its text, both "" for none."""
    try:
        (import_only if graph_only else tw.load)(str(file))
    except Exception as error:
        kinds = [c.__name__ for c in type(error).__mro__]
        return {
            "error": type(error).__name__,
            "ours": "TilewrightError" in kinds,
            "says": str(error),
        }
    return {"error": "", "ours": True, "says": ""}


if __name__ == "__main__":
    main()

"""The scoreboard: what docs/performance.md says, in one file of one commit on one machine.

    python -m benchmarks.scoreboard                   two to three hours on two cores, quiet ones
    python -m benchmarks.scoreboard --minutes 60      a slice; the same again goes on there
    python -m benchmarks.scoreboard --quick --json FILE        every part in a few minutes

Every part is a script of this folder with a list of cases and a budget; how each measures is told
there, and short ones come before long ones, the networks first. Every case is in the file before
the next begins, and no case is measured by itself afterwards: a file of another commit, machine or
budget is refused. What ends slower than its default program is marked so.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import (
    chains,
    edges,
    load,
    native,
    networks,
    operators,
    scoreboard_page,
    search_speed,
    shapes,
    slices,
    start,
)
from benchmarks.cases import SHAPES
from benchmarks.deadline import Deadline
from benchmarks.models.narrow import BFLOAT16, NARROW, QDQ
from benchmarks.provenance import RESULTS, provenance, result_file
from benchmarks.report import Content
from tilewright.cli.console import output
from tilewright.front.machine import host_target

FILE = RESULTS / "scoreboard.json"
THREADS = 2
STAGES = "2,4"  # minutes of a network's tuning: ten minutes each made a board of over three hours
NARROW_CASES = [name for name, c in NARROW.items() if not c.shape and c.kind in (BFLOAT16, QDQ)]
LOADED = ",".join(
    f"{name}:{loops}:0"
    for name in ("mobilenet-v2-b1", "resnet50-b1", "bert-base-b1")
    for loops in (0, 1, 2)
)
EDGES = (
    "permuted-0-2-3-1-64x56x56-b1,transposed_sum-1024-b1024,depthwise-3-2-144x56x56-b1,"
    "channel_shuffle-2-116x28x28-b1,layer_norm-768-b384,softmax-4096-b64,gelu-3072-b384,"
    "hardswish-240x28x28-b1,max_pool-2-2-64x112x112-b1,rotary-384-64-12x384x64-b1,"
    "prefix_sums-48000-b1,largest-5-1000-b1"
)
LENGTHS = "bert-base:7,bert-base:16,bert-base:64,bert-base:128,bert-base:256,bert-base:512"
IMAGES = "mobilenet-v2:160x224,mobilenet-v2:224x224,mobilenet-v2:480x640"


@dataclass
class Board:
    """The file: a head, and each part as its script keeps it."""

    file: Path | None
    folder: Path
    console: Console
    found: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def open(file: Path | None, folder: Path, budget: str) -> Board:
        """What earlier slices found. Raises ValueError where the file is of another commit, machine
        or budget.
        """
        board = Board(file, folder, output())
        origin = provenance(replace(host_target(), cores=THREADS))
        known = json.loads(file.read_text()) if file is not None and file.exists() else {}
        if known:
            before = {**known["provenance"], "budget": known["budget"]}
            for what in ("commit", "machine", "fingerprint", "budget"):
                mine = {**origin, "budget": budget}[what]
                if before[what] != mine:
                    raise ValueError(
                        f"{file} is of {what} {before[what]} and this is {mine}: remove it to "
                        "measure all anew, or name another file"
                    )
        head = {"benchmark": "scoreboard", "budget": budget, "provenance": origin, "parts": {}}
        board.found = {**head, **known}
        return board

    def part(self, name: str) -> dict[str, Any]:
        """What is known of a part."""
        found: dict[str, Any] = self.found["parts"].get(name, {"cases": []})
        return found

    def keep(self, name: str) -> Callable[[dict[str, Any]], None]:
        """What keeps a part's content, on disk at once."""

        def keep(content: dict[str, Any]) -> None:
            self.found["parts"][name] = content
            self.found["summary"] = scoreboard_page.summary(self.found["parts"])
            if self.file is not None:
                partial = self.file.with_name(f"{self.file.name}.partial")
                partial.write_text(json.dumps(self.found, indent=1))
                partial.replace(self.file)

        return keep

    def db(self, name: str) -> str:
        """Where a part's records are: a board's own, so that nothing is known before it."""
        return str(self.folder / f"{name}.db")


@dataclass(frozen=True)
class Part:
    """Cases of a suite: about how many minutes they take on two cores, and the suite's words, of a
    whole board and of a quick one.
    """

    minutes: float
    suite: slices.Suite
    words: Sequence[str]
    quick: Sequence[str]

    def measure(self, board: Board, name: str, words: Sequence[str], deadline: Deadline) -> bool:
        """Measure what the board lacks; whether there was time for all."""
        given = ["--db", board.db(name), "--threads", str(THREADS), *words]
        names, bench = slices.begun(slices.parsed(given, self.suite), self.suite)
        results = type(self.suite.results(None)).of(board.part(name))
        results.keep = board.keep(name)
        return slices.measure(board.console, self.suite, bench, results, names, deadline)


OPERATORS = ",".join(f"{name}-{i}-b1" for name in SHAPES for i in (1, 3))
PARTS: dict[str, Part] = {
    "networks": Part(
        60, networks.SUITE, ["--cases", ",".join(networks.TEN), "--stages", STAGES],
        ["--cases", "dcgan-b1", "--stages", "0.2,0.4", "--rounds", "2"],
    ),
    "load": Part(
        5, load.SUITE,
        ["--cases", LOADED, "--db", "{folder}/networks.db", "--peers", "onnxruntime,openvino"],
        ["--cases", "ppocr-det-b1:1:0", "--rounds", "1", "--seconds", "0.1", "--calls", "2"],
    ),
    "start": Part(
        3, start.SUITE, ["--rounds", "3"],
        ["--cases", "mobilenet-v2-b1", "--rounds", "1"],
    ),
    "search_speed": Part(
        2, search_speed.SUITE, ["--trials", "256"], ["--cases", "trials", "--trials", "4"]
    ),
    "shapes": Part(
        8, shapes.SUITE, ["--cases", f"{LENGTHS},{IMAGES}", "--trials", "0"],
        ["--cases", "mobilenet-v2:160x224", "--trials", "0", "--rounds", "2"],
    ),
    "edges": Part(
        9, edges.SUITE, ["--cases", EDGES, "--trials", "32"],
        ["--cases", "largest-5-1000-b1", "--trials", "4", "--rounds", "2"],
    ),
    "chains": Part(
        9, chains.SUITE, ["--cases", chains.QUICK, "--trials", "48"],
        ["--cases", "gemms-4-1-4-b2464", "--trials", "4", "--rounds", "2"],
    ),
    "native": Part(
        21, native.SUITE,
        ["--cases", ",".join(NARROW_CASES), "--network-minutes", "2", "--trials", "1"],
        ["--cases", "GMM-128-128-128:bytes", "--trials", "4", "--rounds", "2"],
    ),
    "operators": Part(
        35, operators.SUITE, ["--cases", OPERATORS, "--trials", "128"],
        ["--cases", "GMM-0-b1", "--trials", "4", "--rounds", "2"],
    ),
}  # fmt: skip


def main(words: Sequence[str] | None = None, parts: Mapping[str, Part] = PARTS) -> int:
    """Run the benchmark; the exit status."""
    line = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    line.add_argument("--minutes", type=float, default=200, help="of this slice (%(default)s)")
    line.add_argument("--quick", action="store_true", help="every part in a few minutes")
    line.add_argument("--json", type=Path, default=FILE, help="(%(default)s)")
    line.add_argument("--folder", type=Path, default=Path("scoreboard"), help="of all records")
    line.add_argument("--networks", type=Path, default=Path("networks"), help="of ONNX files")
    options = line.parse_args(words)
    return slices.reported(lambda: run(options, parts))


def run(options: argparse.Namespace, parts: Mapping[str, Part]) -> int:
    """What the file lacks; 1 where a case failed or time was short."""
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        file = result_file(str(options.json))
    except argparse.ArgumentTypeError as error:
        raise ValueError(str(error)) from error
    board = Board.open(file, options.folder, "quick" if options.quick else "whole")
    deadline = Deadline.after(options.minutes)
    for name, part in parts.items():
        words = part.quick if options.quick else part.words
        given = [word.format(folder=options.folder) for word in words]
        board.console.print(f"{name}: about {part.minutes:g} minutes of a whole board")
        if not part.measure(board, name, [*given, "--folder", str(options.networks)], deadline):
            return 1
    for text in told(board.found):
        board.console.print(text, markup=False, highlight=False, soft_wrap=True)
    return 1 if any(part.get("failed") for part in board.found["parts"].values()) else 0


def told(found: Content) -> list[str]:
    """The summary, and what failed."""
    failed = [
        f"failed: {name}, {case}: {message}"
        for name, part in found["parts"].items()
        for case, message in part.get("failed", {}).items()
    ]
    return [*scoreboard_page.verdicts(found), *failed]


if __name__ == "__main__":
    sys.exit(main())

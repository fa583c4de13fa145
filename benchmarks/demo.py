"""The main job in a few minutes: tune ResNet-50 and compare it with onnxruntime.

    python -m benchmarks.demo --minutes 3             (make demo)

Makes ResNet-50 (batch 1, seeded random weights) in the folder demo/, and beside it the same with
any batch, for what the README does with it. Times it untuned, tunes it with live progress, then
times untuned, tuned and onnxruntime in turns on the same random image and compares the outputs.
Records are kept: run it again and the tuning goes on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from rich.console import Console
from rich.text import Text

import tilewright as tw
from benchmarks.models.resnet50 import resnet50
from tilewright.cli.bench import print_timings
from tilewright.cli.console import complain, output
from tilewright.cli.peers import PEER, onnxruntime_peer
from tilewright.cli.timing import CallTimes, interleaved
from tilewright.cli.tune import report
from tilewright.contract.artifact import Array
from tilewright.contract.deviation import difference
from tilewright.front.machine import host_target
from tilewright.ground.text import duration
from tilewright.progress import display

# Float32 sums in another order: more than this of the largest output is an error.
TOLERANCE = 1e-3


def main() -> int:
    """Run the demo; the exit status."""
    parser = argparse.ArgumentParser(description="Tune ResNet-50 and compare with onnxruntime.")
    parser.add_argument("--minutes", type=float, default=3.0, help="tuning time (%(default)s)")
    parser.add_argument("--folder", type=Path, default=Path("demo"), help="where files go")
    options = parser.parse_args()
    try:
        return demo(options.folder, options.minutes)
    except tw.TilewrightError as error:
        complain(str(error))
        return 1


def demo(folder: Path, minutes: float) -> int:
    """All of it, in the order of the docstring."""
    console = output()
    target = host_target()
    file, db = folder / "resnet50.onnx", folder / "tuning.db"
    for batch, path in ((1, file), ("n", folder / "resnet50-any-batch.onnx")):
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            onnx.save(resnet50(batch), path)
    heading(console, "ResNet-50", f", one image, on {target.cores} threads of {target.cpu}")
    model = tw.load(file)
    x = np.random.default_rng(0).standard_normal((1, 3, 224, 224)).astype(np.float32)

    heading(console, "\n1. Untuned:", " every kernel compiled from its default program")
    untuned = tw.compile(model)
    first = interleaved({"untuned": lambda: untuned(x)}, seconds=2.0)["untuned"]
    console.print(f"   {duration(first.median_s)} an image")

    heading(console, "\n2. Tuning", f" for {minutes:g} minutes (Ctrl-C ends it early)")
    tune(console, model, minutes, db)

    heading(console, "\n3. Comparison:", " all programs in turns, on the same image")
    tuned = tw.compile(model, db)
    peer = onnxruntime_peer(file, target.cores)
    programs: dict[str, Callable[[], list[Array]]] = {
        "untuned": lambda: untuned(x),
        "tuned": lambda: tuned(x),
    }
    if peer is not None:
        programs[PEER] = lambda: peer({"x": x})
    results = {name: program() for name, program in programs.items()}
    timings = interleaved(programs, seconds=15.0)
    print_timings(console, timings, results)
    status = verdict(console, timings, results)
    console.print(
        f"\nGo on with: .venv/bin/tilewright bench {file} --db {db}, or show {db}", style="dim"
    )
    return status


def heading(console: Console, what: str, more: str) -> None:
    """A line that begins in bold."""
    console.print(Text.assemble((what, "bold"), more))


def tune(console: Console, model: tw.Model, minutes: float, db: Path) -> None:
    """Tune with progress; an interrupt ends it and keeps what was measured."""
    with display(console) as show:
        try:
            tw.tune(model, minutes=minutes, db=db, callbacks=[show], progress=False)
        except KeyboardInterrupt:
            console.print("Stopped; what was measured is kept.")
    if show.last is not None:
        report(console, show.last, str(db))


def verdict(
    console: Console, timings: dict[str, CallTimes], results: dict[str, list[Array]]
) -> int:
    """The result in words; 1 if the outputs differ."""
    tuned = timings["tuned"].median_s
    gain = timings["untuned"].median_s / tuned
    text = f"\nTuned takes {duration(tuned)} an image, {gain:.2f} times faster than untuned"
    if PEER not in timings:
        console.print(f"{text}. Install onnxruntime to compare with it.")
        return 0
    theirs = timings[PEER].median_s
    worst, relative = difference(results["tuned"], results[PEER])
    console.print(f"{text}, {tuned / theirs:.2f} times the latency of {PEER}.", style="bold")
    console.print(
        f"Largest difference between the outputs: {worst:.2g}, {relative:.1g} of the largest value."
    )
    if relative <= TOLERANCE:
        return 0
    complain(f"the outputs differ by {relative:.2g} of the largest value; {TOLERANCE} is allowed")
    return 1


if __name__ == "__main__":
    sys.exit(main())

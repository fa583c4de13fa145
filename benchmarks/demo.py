"""The main job in a few minutes: tune ResNet-50 and compare it with onnxruntime.

    python -m benchmarks.demo --minutes 3             (make demo)

Makes ResNet-50 (batch 1, seeded random weights) in the folder demo/, and beside it the same with
any batch, for what the README does with it. Then it does what the README says first, and shows the
commands: `tilewright tune`, with live progress, and `tilewright bench`, which times untuned, tuned
and onnxruntime in turns on the same random image and compares the outputs. Records are kept: run it
again and the tuning goes on.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import onnx

from benchmarks.models.resnet50 import resnet50

COMMAND = "from tilewright.cli import main; main()"


def main() -> int:
    """Run the demo; the exit status."""
    parser = argparse.ArgumentParser(description="Tune ResNet-50 and compare with onnxruntime.")
    parser.add_argument("--minutes", type=float, default=3.0, help="tuning time (%(default)s)")
    parser.add_argument("--folder", type=Path, default=Path("demo"), help="where files go")
    options = parser.parse_args()
    folder = options.folder
    file, db = str(folder / "resnet50.onnx"), str(folder / "tuning.db")
    for batch, path in ((1, Path(file)), ("n", folder / "resnet50-any-batch.onnx")):
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            onnx.save(resnet50(batch), path)
    for words in (
        ["tune", file, "--minutes", f"{options.minutes:g}", "--db", db],
        ["bench", file, "--db", db],
    ):
        print(f"\n$ tilewright {' '.join(words)}\n", flush=True)
        status = subprocess.run([sys.executable, "-c", COMMAND, *words]).returncode
        if status:
            return status
    print(f"\nGo on with: .venv/bin/tilewright report {db} -o report.html, or show {db}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

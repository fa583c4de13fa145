"""All that a GPU says of templates: are their programs right, and how fast? Packed beforehand.

    python -m benchmarks.gpu_suite DIR --pack --rows 24         builds everything; needs no GPU
    OUT=FOLDER python -m benchmarks.gpu_suite DIR --minutes 9   on the GPU, again and again
    python -m benchmarks.gpu_suite --table FILE...              what was found
    python -m benchmarks.gpu_suite DIR --device emulated [--quick] [--drill]     small, on a CPU

[How to use half an hour of a GPU](../docs/gpu-half-hour.md) has the steps. On the GPU nothing is
made or searched, and what is worth most comes first:

    ladder     a dozen small kernels, of which each needs one thing more of the device
    verify     two programs of each template in each case at odd sizes, against float64
    speed      seven cases: eight programs by the estimate and eight others of each template, in
               turns with the ordinary sketches, CUTLASS, PyTorch and Triton
    verify     more programs
    speed      all cases in rounds of a few programs
    last       rows that `bolt_gpu` lacks

Every program has eight seconds, in a process that is ended then; after two faults a template is
out. What is found is a line in FOLDER/gpu_suite.jsonl at once. A run goes on from the lines of its
own card, those in DIR included.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from benchmarks.deadline import Deadline
from benchmarks.suite import ladder, speed, verify
from benchmarks.suite.cases import EMULATED, FIRST, QUICK, SPEED, VERIFY
from benchmarks.suite.journal import SUFFIX, Journal, OutOfTime, read
from benchmarks.suite.pack import CONTENTS, Pack
from benchmarks.suite.table import found, kept, lines, parts
from benchmarks.suite.watch import watch
from tilewright.ground.errors import RunError, TilewrightError
from tilewright.runtime.device import Device
from tilewright.runtime.devices import open_device, target_at_hand
from tilewright.target import MIB, Target

__all__ = ["main", "parts"]
FILE = f"gpu_suite{SUFFIX}"
RESULTS = Path(__file__).parent / "results"
MOST_BYTES = 48 * MIB
ROWS, VERIFIED = 24, 8  # of a template: of a case that is timed, of one that is verified
BEFORE = 2  # of these that are verified before anything is timed
EMULATION = "emulated"
CARD = "card: "
CARD_S = 60.0  # until a device has told its name


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit status."""
    given = list(sys.argv[1:] if words is None else words)
    options = _parser().parse_args(given)
    try:
        if options.table:
            journal = [line for file in options.table for line in read(file)]
            print("\n".join(lines(found(journal))))
            if options.json:
                options.json.write_text(json.dumps(kept(journal)) + "\n")
            return 0
        if options.folder is None:
            raise RunError("a folder of programs is missing: gpu_suite DIR, or --table FILE")
        is_small = options.device == EMULATION
        if options.pack or (is_small and not (options.folder / CONTENTS).exists()):
            _pack(options, is_small)
        return 0 if options.pack else _run(options)
    except TilewrightError as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    line = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    line.add_argument("folder", type=Path, nargs="?", help="of programs")
    line.add_argument("--pack", action="store_true", help="build them")
    line.add_argument("--target", default="cuda:h100", help="of --pack (%(default)s)")
    line.add_argument("--cases", default="*", help="of --pack: names and globs (all)")
    line.add_argument("--rows", type=int, default=ROWS, help="of a template (%(default)s)")
    line.add_argument("--anew", action="store_true", help="of --pack: without what there is")
    line.add_argument("--device", default="cuda", help="cuda or emulated (%(default)s)")
    line.add_argument("--quick", action="store_true", help="fewer cases when emulated")
    line.add_argument("--drill", action="store_true", help="of --pack: one hangs, one is wrong")
    line.add_argument("--out", type=Path, help="the folder of results ($OUT, or results/)")
    line.add_argument("--minutes", type=float, default=9.0, help="of this slice (%(default)s)")
    line.add_argument("--limit", type=float, default=verify.RUN_S, help="s a program (%(default)s)")
    line.add_argument("--table", type=Path, nargs="+", help="print what these files say")
    line.add_argument("--json", type=Path, help="of --table: keep what they say")
    for name in ("--worker", "--card"):
        line.add_argument(name, action="store_true", help=argparse.SUPPRESS)
    line.add_argument("--rung", help=argparse.SUPPRESS)
    return line


def _pack(options: argparse.Namespace, is_small: bool) -> None:
    """What makes programs is imported here only."""
    from benchmarks.suite.build import Amount, build, fit, open_pack
    from benchmarks.suite.drill import plant

    names = list(dict.fromkeys([*VERIFY, *FIRST, *SPEED]))
    amount = Amount(options.rows, VERIFIED)
    if is_small:
        names = list(QUICK if options.quick else EMULATED)
        amount = Amount(1, 1) if options.quick else Amount(2, 1)
    patterns = options.cases.split(",")
    names = [name for name in names if any(fnmatch.fnmatch(name, p) for p in patterns)]
    target = Target.parse(EMULATION if is_small else options.target)
    pack = open_pack(options.folder, target, is_small, options.anew)
    build(pack, names, amount)
    fit(pack, MOST_BYTES)
    if options.drill:
        plant(pack)


def _run(options: argparse.Namespace) -> int:
    """What is left to do on the device, or a part of it in a process of its own."""
    pack, deadline = Pack.read(options.folder), Deadline.after(options.minutes)
    file = (options.out or Path(os.environ.get("OUT") or RESULTS)) / FILE
    words = [str(options.folder), "--device", options.device, "--out", str(file.parent)]
    words += ["--limit", str(options.limit)]
    if options.card or options.rung or options.worker:
        device = _device(pack, options.device)
        card = f"{device.target.name}, {device.target.cores} cores"
        if options.card:
            print(f"{CARD}{card}")
            return 0
        known = sorted(options.folder.glob(f"*{SUFFIX}"))
        journal = Journal.open(file, known, card, deadline, pack.keys)
        if options.rung:
            ladder.step(pack, device, options.rung, journal)
            return 0
        return _work(verify.Work(journal, pack, device, options.limit))
    file.parent.mkdir(parents=True, exist_ok=True)
    card = _card(words)
    known = sorted(options.folder.glob(f"*{SUFFIX}"))
    ladder.climb(words, pack, Journal.open(file, known, card, deadline, pack.keys))
    status = watch(words, file, deadline)
    journal = Journal.open(file, known, card, deadline, pack.keys)
    if not status and not deadline.passed and options.device != EMULATION:
        _bolt(journal, file.parent)
    print("\n".join(lines(found(journal.lines))))
    return status


def _device(pack: Pack, kind: str) -> Device:
    """Raises RunError where the pack is for another one."""
    device = open_device(target_at_hand(kind))
    target, packed = device.target, Target.parse(pack.target)
    if (target.kind, target.generation) != (packed.kind, packed.generation):
        raise RunError(f"{pack.folder} is for {packed}; pack it for {target}")
    return device


def _card(words: Sequence[str]) -> str:
    """What the device is called, which another process asks it. Raises RunError."""
    command = [sys.executable, "-m", "benchmarks.gpu_suite", *words, "--card"]
    status, text = verify.bounded(command, CARD_S)
    told = [line for line in text.splitlines() if line.startswith(CARD)]
    if status or not told:
        raise RunError(f"no device: {text.strip() or status}")
    return told[-1].removeprefix(CARD)


def _work(work: verify.Work) -> int:
    """All that a process does on the device."""
    try:
        verify.begin(work)
        verify.verify(work, BEFORE)
        speed.first(work)
        verify.verify(work, VERIFIED)
        speed.run(work)
    except OutOfTime:
        print("out of time", flush=True)
    except Exception as error:  # whatever it is, it costs what it came out of, and no more
        traceback.print_exc()
        work.journal.leave(error)
        return 1
    return 0


def _bolt(journal: Journal, folder: Path) -> None:
    """The rows that `bolt_gpu` lacks, where what it needs is here."""
    minutes = f"{journal.deadline.minutes:.2f}"
    command = [sys.executable, "-m", "benchmarks.bolt_gpu", "--parts", "table2,10"]
    command += ["--minutes", minutes, "--json", str(folder / "bolt_gpu.json")]
    try:
        status = subprocess.run(command, timeout=60 * journal.deadline.minutes + 30).returncode
    except subprocess.TimeoutExpired:
        status = -signal.SIGKILL
    journal.add("bolt", "bolt_gpu", status=status)


if __name__ == "__main__":
    # whoever is told to end ends the processes that it started
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main())

"""All that a GPU says of templates: are their programs right, and how fast? Packed beforehand.

    python -m benchmarks.gpu_suite --pack DIR                  builds everything; needs no GPU
    python -m benchmarks.gpu_suite DIR --minutes 9 --json FILE           verifies, then times
    python -m benchmarks.gpu_suite DIR --device emulated [--quick]       both, small, on a CPU

A pack is for one target (--target cuda:h100) and has, of every case, all candidates of every
template and the default program of the ordinary sketches: at most 40 MiB, else the best by the
estimate. On the GPU nothing is made or searched.

First part: facts, the clock, a few programs of each template at odd sizes against float64, does
every program load, the race checker on one program a template. Second part: every program of a
case is checked at some elements and timed once; the best takes turns with the ordinary sketches'
and with PyTorch's fastest, in CUDA graphs. The ceiling is the traffic's, or the multiply-adds'
(`gpu_peaks`); of products in half precision the most operations a second that anything had.

Both go on where they stopped. A program that crashes or hangs is noted and left out.
"""

from __future__ import annotations

import argparse
import fnmatch
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.deadline import Deadline
from benchmarks.suite import speed, verify
from benchmarks.suite.cases import EMULATED, QUICK, SPEED, VERIFY
from benchmarks.suite.pack import CONTENTS, Pack
from benchmarks.suite.state import OutOfTime, State
from benchmarks.suite.table import lines
from benchmarks.suite.watch import watch
from tilewright.errors import TilewrightError
from tilewright.runtime.devices import open_device, target_at_hand
from tilewright.target import MIB, Target

RESULTS = Path(__file__).parent / "results" / "gpu_suite.json"
MOST_BYTES = 40 * MIB
ROWS, VERIFIED = 200, 8  # of a template: of a case that is timed, of one that is verified
EMULATION = "emulated"


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit status."""
    given = list(sys.argv[1:] if words is None else words)
    options = _parser().parse_args(given)
    is_small = options.device == EMULATION
    try:
        if options.pack or (is_small and not (options.folder / CONTENTS).exists()):
            _pack(options, is_small)
        if options.pack:
            return 0
        pack = Pack.read(options.folder)
        if options.one:
            verify.one(pack, open_device(target_at_hand(options.device)), options.one)
            return 0
        if options.json is None:
            options.json = options.folder / "results.json" if is_small else RESULTS
        state = State.open(options.json, Deadline.after(options.minutes))
        if options.worker:
            return _work(state, pack, options.device)
        if options.anew:
            state.file.unlink(missing_ok=True)
        words = [str(options.folder), "--device", options.device, "--json", str(options.json)]
        status = watch(words, state)
        print("\n".join(lines(State.open(options.json, state.deadline).found)))
        return status
    except TilewrightError as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    line = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    line.add_argument("folder", type=Path, help="of programs")
    line.add_argument("--pack", action="store_true", help="build them")
    line.add_argument("--target", default="cuda:h100", help="of --pack (%(default)s)")
    line.add_argument("--cases", default="*", help="of --pack: names and globs (all)")
    line.add_argument("--rows", type=int, default=ROWS, help="of a template (%(default)s)")
    line.add_argument("--device", default="cuda", help="cuda or emulated (%(default)s)")
    line.add_argument("--quick", action="store_true", help="fewer cases when emulated")
    line.add_argument("--json", type=Path, help=f"(results/{RESULTS.name}, or in the folder)")
    line.add_argument("--minutes", type=float, default=9.0, help="of this slice (%(default)s)")
    line.add_argument("--anew", action="store_true", help="without what there is")
    line.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    line.add_argument("--one", help=argparse.SUPPRESS)
    return line


def _pack(options: argparse.Namespace, is_small: bool) -> None:
    """What makes programs is imported here only."""
    from benchmarks.suite.build import Amount, build, fit, open_pack

    names = [*VERIFY, *SPEED]
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


def _work(state: State, pack: Pack, kind: str) -> int:
    """Both parts on the device."""
    device = open_device(target_at_hand(kind))
    target, packed = device.target, Target.parse(pack.target)
    if (target.kind, target.generation) != (packed.kind, packed.generation):
        print(f"{pack.folder} is for {packed}; pack it for {target}", file=sys.stderr)
        return 1
    machine = f"{target.name}, {target.cores} cores"
    more = {key: pack.facts[key] for key in ("commit", "compiler")}
    state.begin({"machine": machine, "packed": pack.target, "code": pack.facts["code"]}, **more)
    try:
        verify.run(state, pack, device)
        speed.run(state, pack, device)
    except OutOfTime:
        print("out of time", flush=True)
    return 0


if __name__ == "__main__":
    # whoever is told to end ends the processes that it started
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main())

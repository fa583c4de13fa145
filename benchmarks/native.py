"""Fewer bits against libraries: bfloat16 and bytes, in products, convolutions and networks.

    python -m benchmarks.native [--cases NAMES] [--trials 128] [--minutes 15] [--json FILE]
    python -m benchmarks.native --quick           a small case of each kind, 8 trials

Cases (benchmarks.models.narrow) are ONNX files with constant weights; a name ends in its kind:
bfloat16 (a float32 file: here `math="bfloat16"`, OpenVINO's bf16, PyTorch's autocast), int32
(MatMulInteger), bytes (QLinearMatMul, QLinearConv), qdq and dynamic (networks that onnxruntime
quantised). Each is tuned, then all sides take turns, each in a process of its own.

Outputs are compared first: `errors` are relative to the largest output of onnxruntime on the
float32 file (of integers, on the same file). A peer whose error is more than LIMITS allows, and
more than ALIKE times onnxruntime's on the narrow file, counts as `wrong`, and is no best peer;
where ours is, the case has failed. `instructions` are what the tuned and the untuned code multiply
by, as `objdump` reads it.

- ratio_best_peer, ratio_untuned     the best peer's time over tuned and untuned Tilewright's
- ratio_float32                      of networks: our untuned float32 form over the narrow one's

Databases are kept in --db, and results in the JSON file after every case: run it again until
nothing is left.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

import tilewright as tw
from benchmarks import chains
from benchmarks.chains import worst
from benchmarks.comparison import Entry, Results, mean, print_rows, ratio_text, ratios
from benchmarks.models.narrow import BFLOAT16, BYTES, DYNAMIC, INT32, KINDS, NARROW, QDQ, NarrowCase
from benchmarks.networks import BLOCK_S as NETWORK_S
from benchmarks.peers.process import SideError
from benchmarks.peers.sides import OURS, OWN, PEERS, UNTUNED
from benchmarks.provenance import provenance
from benchmarks.turns import compared, in_turns, least, medians, outputs, started
from tilewright.ground.text import duration
from tilewright.network.executor import Network
from tilewright.target import Target

FLOAT32, REFERENCE = "float32", "onnxruntime"
# Of the largest output: no bit of sums, a step of bytes; of networks what rounding may do to those
# with seeded weights.
LIMITS = {BFLOAT16: 0.1, INT32: 0.0, BYTES: 1 / 200, QDQ: 0.3, DYNAMIC: 0.3}
ALIKE = 1.25
MULTIPLIES = re.compile(r"\t(tdp\w+|vpdp\w+|vdpbf16ps|vpmaddwd|vfmadd|fmla|[us]+dot|[us]+mmla)")
QUICK = "GMM-128-128-128:*,C2D-14-14-256-256-3-1-1:*"


@dataclass(frozen=True)
class NativeBench(chains.Bench):
    """Measures a narrow case."""

    def case(self, name: str) -> Entry:
        """Tune, then time all sides. Raises SideError when Tilewright fails or is wrong; failed
        peers are left out.
        """
        case = NARROW[name]
        folder, db, wait = self.options.folder, self.options.db, self.options.wait
        file = case.file(folder)
        try:
            model = tw.load(file, math=case.math).for_target(self.target)
            if self.trials:
                tw.tune(model, trials=self.trials, db=db, target=self.target, progress=False)
            tuned = tw.compile(model, db=db if self.trials else None)
            programs = {OURS: tuned, UNTUNED: tw.compile(model)}
            executed = {name: instructions(network) for name, network in programs.items()}
        except tw.TilewrightError as error:
            raise SideError(f"{OURS}: {error}") from error
        subject = f"narrow:{case.name}:{folder}"
        whole = subject if case.shape else f"served:{case.subject}:{folder}"
        peers = [p for p in self.peers if p != "torch" or case.kind == BFLOAT16]
        with contextlib.ExitStack() as stack:
            sides = started(stack, (OURS, UNTUNED, *peers), subject, self.target, db, wait)
            exact = started(stack, (REFERENCE,), whole, self.target, db, wait)
            if not exact:
                raise SideError(f"{case.name} has no {REFERENCE} to compare outputs with")
            results = {**outputs(sides), FLOAT32: outputs(exact)[REFERENCE]}
            errors = compared(results, FLOAT32)
            allowed = max(LIMITS[case.kind], ALIKE * errors.get(REFERENCE, 0.0))
            wrong = [name for name, error in errors.items() if not error <= allowed]
            if {OURS, UNTUNED} & {*wrong}:
                raise SideError(f"errors are {errors} of the largest value")
            if not case.shape:
                (sides[FLOAT32],) = started(
                    stack, (UNTUNED,), whole, self.target, db, wait
                ).values()
            seconds = chains.BLOCK_S if case.shape else NETWORK_S
            blocks = in_turns(sides, self.options.rounds, seconds)
        return entry_of(
            case,
            medians(blocks),
            wrong,
            errors=errors,
            trials=self.trials,
            instructions=executed,
            modes={name: side.mode for name, side in sides.items() if side.mode},
            least_s=least(blocks),
            **{key: provenance(self.target)[key] for key in ("commit", "date")},
        )


def instructions(network: Network) -> dict[str, int]:
    """How often each instruction that multiplies is in a network's code."""
    found: Counter[str] = Counter()
    for part in network.kernels:
        with tempfile.NamedTemporaryFile(suffix=".o") as file:
            file.write(part.object_code)
            file.flush()
            command = ["objdump", "-d", "--no-show-raw-insn", file.name]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        found.update(MULTIPLIES.findall(done.stdout))
    return dict(found.most_common())


def entry_of(
    case: NarrowCase, seconds: Mapping[str, float], wrong: Sequence[str], **facts: Any
) -> Entry:
    """One measured case; `seconds` by side, `facts` are kept as they are."""
    peers = {name: s for name, s in seconds.items() if name not in (*OWN, FLOAT32)}
    mine, untuned, whole = seconds[OURS], seconds[UNTUNED], seconds.get(FLOAT32)
    best = min((s for name, s in peers.items() if name not in wrong), default=None)
    return {
        "case": case.name,
        "kind": case.kind,
        "network": not case.shape,
        "median_s": mine,
        "untuned_s": untuned,
        "float32_s": whole,
        "peers": peers,
        "wrong": list(wrong),
        "ratio_best_peer": None if best is None else best / mine,
        "ratio_untuned": None if best is None else best / untuned,
        "ratio_float32": None if whole is None else whole / untuned,
        **facts,
    }


@dataclass
class NativeResults(Results):
    """Results in the order of the table."""

    def sorted(self) -> list[Entry]:
        order = list(NARROW)
        return sorted(self.cases.values(), key=lambda e: order.index(e["case"]))

    def summary(self) -> dict[str, Any]:
        """By kind, operators and networks apart; None where there is nothing to compare with."""
        found = [e for e in self.sorted() if e["ratio_best_peer"] is not None]
        parts = {
            f"{kind}, {'networks' if network else 'operators'}": [
                e for e in found if e["kind"] == kind and e["network"] == network
            ]
            for kind in KINDS
            for network in (False, True)
        }
        return {
            "geomean_best_peer": mean(e["ratio_best_peer"] for e in found),
            "worst": worst(found, "ratio_best_peer"),
            "kinds": {
                part: {
                    "cases": len(entries),
                    "geomean_best_peer": mean(e["ratio_best_peer"] for e in entries),
                    "worst": worst(entries, "ratio_best_peer"),
                    "geomean_untuned": mean(e["ratio_untuned"] for e in entries),
                }
                for part, entries in parts.items()
                if entries
            },
            "worst_float32": worst([e for e in found if e["network"]], "ratio_float32"),
            **{f"geomean_{peer}": mean(ratios(found, peer)) for peer in PEERS},
        }


RATIOS = ("ratio_best_peer", "ratio_untuned", "ratio_float32")
HEAD = ("case", "ours", "untuned", *PEERS, "best peer / ours", "best peer / untuned", "of float32")


def row(entry: Entry) -> list[str]:
    """The figures of a case, as HEAD names them; a wrong peer's time stands in brackets."""
    times = {p: duration(entry["peers"].get(p)) for p in PEERS}
    return [
        entry["case"],
        duration(entry["median_s"]),
        duration(entry["untuned_s"]),
        *(f"({text})" if p in entry["wrong"] else text for p, text in times.items()),
        *(ratio_text(entry[key]) for key in RATIOS),
    ]


class NativeSuite(chains.Suite):
    """Narrow cases."""

    def results(self, file: Path | None) -> Results:
        return NativeResults.read(file)

    def bench(
        self, target: Target, options: argparse.Namespace, peers: Sequence[str], trials: int
    ) -> chains.Bench:
        return NativeBench(target, options, peers, trials)

    def sentence(self, entry: Entry) -> str:
        return ", ".join(f"{head} {text}" for head, text in zip(HEAD, row(entry), strict=True))

    def show(self, console: Console, entries: Iterable[Entry]) -> None:
        print_rows(console, HEAD, map(row, entries))


SUITE = NativeSuite(
    (__doc__ or "").splitlines()[0], tuple(NARROW), QUICK, "native", trials=128, quick_trials=8
)


if __name__ == "__main__":
    sys.exit(chains.main(suite=SUITE))

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

With `--device cpu:haswell`, code for an older CPU runs on this one, whose instructions the peers go
on using: then `ratio_float32` alone says something.

- ratio_best_peer, ratio_untuned     the best peer's time over tuned and untuned Tilewright's
- ratio_float32                      our untuned float32 form's time over the narrow one's

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tilewright as tw
from benchmarks.chains import BLOCK_S
from benchmarks.comparison import Entry, Results, having, mean, ratio_text, ratios, worst
from benchmarks.models.narrow import BFLOAT16, BYTES, DYNAMIC, INT32, KINDS, NARROW, QDQ, NarrowCase
from benchmarks.networks import BLOCK_S as NETWORK_S
from benchmarks.peers.process import SideError
from benchmarks.peers.sides import OURS, OWN, PEERS, UNTUNED
from benchmarks.slices import Bench, Suite
from benchmarks.slices import main as main_of
from benchmarks.turns import compared, in_turns, medians, outputs
from tilewright.ground.text import duration
from tilewright.network.executor import Network

FLOAT32, REFERENCE = "float32", "onnxruntime"
# Of the largest output: no bit of sums, a step of bytes; of networks what rounding may do to those
# with seeded weights.
LIMITS = {BFLOAT16: 0.1, INT32: 0.0, BYTES: 1 / 200, QDQ: 0.3, DYNAMIC: 0.3}
ALIKE = 1.25
MULTIPLIES = re.compile(r"\t(tdp\w+|vpdp\w+|vdpbf16ps|vpmaddwd|vfmadd|fmla|[us]+dot|[us]+mmla)")
QUICK = "GMM-128-128-128:*,C2D-14-14-256-256-3-1-1:*"


@dataclass(frozen=True)
class NativeBench(Bench):
    """Measures a narrow case."""

    def case(self, name: str) -> Entry:
        case, folder = NARROW[name], self.options.folder
        try:
            model = tw.load(case.file(folder), math=case.math).for_target(self.target)
            if self.trials:
                self.tune(model, **self.budget(case))
            records = self.options.db if self.trials else None
            tuned = tw.compile(model, db=records, target=self.target)
            programs = {OURS: tuned, UNTUNED: tw.compile(model, target=self.target)}
        except tw.TilewrightError as error:
            raise SideError(f"{OURS}: {error}") from error
        executed = {name: instructions(network) for name, network in programs.items()}
        subject = f"narrow:{case.name}:{folder}"
        whole = floats = f"served:{case.subject}:{folder}"
        if case.shape:
            NARROW[case.of(BFLOAT16)].file(folder)
            whole, floats = subject, f"exact:{case.of(BFLOAT16)}:{folder}"
        peers = [p for p in self.peers if p != "torch" or case.kind == BFLOAT16]
        with contextlib.ExitStack() as stack:
            sides = self.started(stack, (OURS, UNTUNED, *peers), subject)
            exact = self.started(stack, (REFERENCE,), whole)
            if not exact:
                raise SideError(f"{case.name} has no {REFERENCE} to compare outputs with")
            results = {**outputs(sides), FLOAT32: outputs(exact)[REFERENCE]}
            errors = compared(results, FLOAT32)
            allowed = max(LIMITS[case.kind], ALIKE * errors.get(REFERENCE, 0.0))
            wrong = [name for name, error in errors.items() if not error <= allowed]
            if {OURS, UNTUNED} & {*wrong}:
                raise SideError(f"errors are {errors} of the largest value")
            sides[FLOAT32] = self.side(stack, UNTUNED, floats)
            blocks = in_turns(sides, self.options.rounds, BLOCK_S if case.shape else NETWORK_S)
        facts = {"errors": errors, "instructions": executed, **self.facts(sides, blocks)}
        return entry_of(case, medians(blocks), wrong, **facts)

    def budget(self, case: NarrowCase) -> dict[str, Any]:
        """Minutes of a network, where they are limited."""
        limit = self.options.network_minutes
        return {} if case.shape or limit is None else {"minutes": limit, "trials": None}


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
    mine, untuned, floats = seconds[OURS], seconds[UNTUNED], seconds.get(FLOAT32)
    best = min((s for name, s in peers.items() if name not in wrong), default=None)
    return {
        "case": case.name,
        "kind": case.kind,
        "network": not case.shape,
        "median_s": mine,
        "untuned_s": untuned,
        "float32_s": floats,
        "peers": peers,
        "wrong": list(wrong),
        "ratio_best_peer": None if best is None else best / mine,
        "ratio_untuned": None if best is None else best / untuned,
        "ratio_float32": None if floats is None else floats / untuned,
        **facts,
    }


@dataclass
class NativeResults(Results):
    """Results in the order of the table."""

    names = tuple(NARROW)

    def summary(self) -> dict[str, Any]:
        """By kind, operators and networks apart; None where there is nothing to compare with."""
        found = having(self.sorted(), "ratio_best_peer")
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
                    "geomean_float32": mean(
                        e["ratio_float32"] for e in having(entries, "ratio_float32")
                    ),
                }
                for part, entries in parts.items()
                if entries
            },
            "worst_float32": worst(having(found, "ratio_float32"), "ratio_float32"),
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


class NativeSuite(Suite):
    """Narrow cases."""

    def arguments(self, line: argparse.ArgumentParser) -> None:
        limit = "of tuning a network (as many as its trials take)"
        line.add_argument("--network-minutes", type=float, help=limit)


SUITE = NativeSuite(
    (__doc__ or "").splitlines()[0], tuple(NARROW), QUICK, "native", 128, 8, NativeResults,
    NativeBench, HEAD, row,
)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main_of(suite=SUITE))

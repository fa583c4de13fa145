"""Comparing sides fairly: each in its own process, in turns, the others stopped.

    with contextlib.ExitStack() as stack:
        sides = started(stack, ("tilewright", "torch"), "operator:C2D-2-b1", target, db, wait)
        compared(outputs(sides), "tilewright")      {"torch": 3e-7} of the largest value
        medians(in_turns(sides, rounds=11))         {"tilewright": 1.2e-3, "torch": 1.9e-3}

In every round each side is called for `BLOCK_S` seconds or as told, at least once, in an order that
rotates. A figure is the median over the rounds of the median call of a round.
"""

from __future__ import annotations

import contextlib
import fnmatch
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.peers.process import Block, SideError, SideProcess
from benchmarks.peers.sides import OWN, PEERS, missing
from tilewright.cli.console import complain
from tilewright.contract.artifact import Array
from tilewright.contract.deviation import difference
from tilewright.target import Target

ROUNDS = 11
BLOCK_S = 0.04
# Float32 sums in another order: more than this of the largest output is an error.
TOLERANCE = 1e-3

Blocks = Mapping[str, Sequence[Block]]


def chosen(patterns: str, names: Iterable[str]) -> list[str]:
    """Those of `names` that comma-separated names and globs choose, in the order of `names`.

    Raises ValueError for a pattern that fits none.
    """
    known = list(names)
    wanted = [p.strip() for p in patterns.split(",") if p.strip()]
    for pattern in wanted:
        if not fnmatch.filter(known, pattern):
            raise ValueError(f"no case is called {pattern}; cases: {', '.join(known)}")
    return [n for n in known if any(fnmatch.fnmatchcase(n, p) for p in wanted)]


def installed(peers: str) -> list[str]:
    """The wanted peers that can run; a message names those that cannot.

    Raises ValueError for an unknown name.
    """
    wanted = [p.strip() for p in peers.split(",") if p.strip()]
    unknown = [p for p in wanted if p not in PEERS]
    if unknown:
        raise ValueError(f"unknown peers {', '.join(unknown)}; known: {', '.join(PEERS)}")
    absent = missing(wanted)
    if absent:
        complain(
            f"not installed: {', '.join(absent)}; the comparison goes on without "
            f"(pip install '.[peers]' installs all peers)"
        )
    return [p for p in wanted if p not in absent]


def started(
    stack: contextlib.ExitStack,
    names: Iterable[str],
    subject: str,
    target: Target,
    db: Path,
    wait: str,
) -> dict[str, SideProcess]:
    """A process for every side, all stopped; the stack ends them. A failed peer is left out.

    Raises SideError when one of Tilewright's own fails.
    """
    sides: dict[str, SideProcess] = {}
    for name in names:
        records = db if name in OWN else None
        try:
            sides[name] = stack.enter_context(SideProcess(name, subject, target, records, wait))
        except SideError as error:
            if name in OWN:
                raise
            complain(f"{subject} without {name}: {error}")
    return sides


def outputs(sides: Mapping[str, SideProcess]) -> dict[str, Array]:
    """Every side's result. Raises SideError when shapes differ."""
    found: dict[str, Array] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "output.npy"
        for name, side in sides.items():
            side.output(file)
            found[name] = np.load(file)
    shapes = {name: y.shape for name, y in found.items()}
    if len(set(shapes.values())) > 1:
        raise SideError(f"outputs have different shapes: {shapes}")
    return found


def compared(results: Mapping[str, Array], reference: str) -> dict[str, float]:
    """How far each other output is from the reference's, relative to the largest magnitude."""
    wanted = results[reference]
    return {name: difference([wanted], [y])[1] for name, y in results.items() if name != reference}


def outliers(differences: Mapping[str, float]) -> list[str]:
    """Peers further from Tilewright than TOLERANCE, where another peer agrees with it.

    Some sum millions of numbers naively. Raises SideError when none agrees: Tilewright is suspect.
    """
    wrong = [name for name, d in differences.items() if not d <= TOLERANCE]
    if wrong and len(wrong) == len(differences):
        raise SideError(
            f"outputs differ from Tilewright's by {dict(differences)} of the largest value; "
            f"{TOLERANCE} is allowed"
        )
    return wrong


def in_turns(
    sides: Mapping[str, SideProcess], rounds: int, seconds: float = BLOCK_S
) -> dict[str, list[Block]]:
    """Every side's block of every round."""
    names = list(sides)
    blocks: dict[str, list[Block]] = {name: [] for name in names}
    for turn in range(rounds):
        for i in range(len(names)):
            name = names[(turn + i) % len(names)]
            blocks[name].append(sides[name].time(seconds))
    return blocks


def medians(blocks: Blocks) -> dict[str, float]:
    """Seconds of a call: the median of the rounds."""
    return {name: median(b.median_s for b in found) for name, found in blocks.items()}


def least(blocks: Blocks) -> dict[str, float]:
    """Seconds of the quickest call of all."""
    return {name: min(b.least_s for b in found) for name, found in blocks.items()}

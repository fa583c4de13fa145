"""Results of compared cases: the JSON file that grows case by case, and its summary.

    results = Results.read(file)          what earlier runs measured; empty without a file
    results.put(entry); results.write()   replaces the case's entry; the file is whole or old
    results.summary()                     geometric means of best peer's time / Tilewright's

    {"machine": ..., "provenance": ..., "summary": {...}, "failed": {"case": "message"},
     "cases": [{"case", "median_s", "peers": {"torch": seconds}, "ratio_best_peer", ...}]}

Ratios are above 1 where Tilewright is faster.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean
from typing import Any, ClassVar, Self

from rich.console import Console

from benchmarks.commit import origins
from benchmarks.peers.sides import PEERS
from benchmarks.report import Table, show
from tilewright.ground.text import NONE

Entry = dict[str, Any]
HEAD = ("machine", "provenance")


@dataclass
class Results:
    """Everything measured so far. `file` None keeps it in memory only; `keep`, where there is one,
    gets what would be written. `names` have the order of the cases.
    """

    file: Path | None = None
    head: dict[str, Any] = field(default_factory=dict)
    cases: dict[str, Entry] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    keep: Callable[[dict[str, Any]], None] | None = None
    names: ClassVar[Collection[str]] = ()

    @classmethod
    def read(cls, file: Path | None) -> Self:
        """What the file holds. Raises ValueError when it is something else."""
        if file is None or not file.exists():
            return cls(file)
        try:
            return cls.of(json.loads(file.read_text()), file)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{file} is no result of this benchmark: {error!r}") from error

    @classmethod
    def of(cls, found: dict[str, Any], file: Path | None = None) -> Self:
        """What a file's content says. Raises KeyError and TypeError where it is something else."""
        cases = {entry["case"]: entry for entry in found["cases"]}
        head = {key: found[key] for key in HEAD if key in found}
        return cls(file, head, cases, dict(found.get("failed", {})))

    def begin(self, **head: Any) -> None:
        """Say where what is measured from now on comes from. Raises ValueError where the file holds
        cases of another machine: ratios of both are no comparison.
        """
        machine = head["provenance"]["machine"]
        held = {**self.head, "cases": list(self.cases.values())}
        others = {one.machine for one in origins(held)} - {machine}
        if self.cases and others:
            raise ValueError(
                f"{self.file} holds cases of {', '.join(sorted(others))} and this is {machine}: "
                "name another file, or remove it"
            )
        self.head = {**self.head, **head}

    def put(self, entry: Entry) -> None:
        """Keep a case's entry in place of an older one."""
        self.failed.pop(entry["case"], None)
        self.cases[entry["case"]] = entry

    def fail(self, case: str, message: str) -> None:
        """Keep why a case has no figures; an older entry goes."""
        self.cases.pop(case, None)
        self.failed[case] = message

    def write(self) -> None:
        """Write the file, whole or not at all."""
        if self.keep is not None:
            self.keep(self.to_json())
        if self.file is None:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        partial = self.file.with_name(f"{self.file.name}.partial")
        partial.write_text(json.dumps(self.to_json(), indent=1))
        partial.replace(self.file)

    def to_json(self) -> dict[str, Any]:
        """The file's contents."""
        return {
            **self.head,
            "cases": self.sorted(),
            "failed": self.failed,
            "summary": self.summary(),
        }

    def sorted(self) -> list[Entry]:
        """Entries in the order of the names; others behind them."""
        order = {name: i for i, name in enumerate(self.names)}
        return sorted(self.cases.values(), key=lambda e: order.get(e["case"], len(order)))

    def summary(self) -> dict[str, Any]:
        """Over all compared cases; None where there is nothing to compare with."""
        return compared_with_peers(self.sorted())


def compared_with_peers(entries: Sequence[Entry]) -> dict[str, Any]:
    """How entries compare with the best peer, and with each."""
    found = having(entries, "ratio_best_peer")
    return {
        "cases": len(entries),
        "compared": len(found),
        "at_least_par": sum(e["ratio_best_peer"] >= 1 for e in found),
        "geomean_best_peer": mean(e["ratio_best_peer"] for e in found),
        "worst": worst(found, "ratio_best_peer"),
        "slower_than_untuned": [e["case"] for e in entries if is_worse(e)],
        **{f"geomean_{peer}": mean(ratios(found, peer)) for peer in PEERS},
    }


def having(entries: Iterable[Entry], key: str) -> list[Entry]:
    """The entries of which a figure is known."""
    return [e for e in entries if e.get(key) is not None]


def worst(entries: Sequence[Entry], ratio: str) -> dict[str, Any] | None:
    """The case with the least of a ratio."""
    found = min(having(entries, ratio), key=lambda e: e[ratio], default=None)
    return found and {"case": found["case"], "ratio": found[ratio]}


WORSE = 1.02  # times the default program's time: beyond noise


def is_worse(entry: Entry) -> bool:
    """Whether tuning ended with a program that is slower than the default one."""
    untuned = entry.get("untuned_s")
    return untuned is not None and bool(entry["median_s"] > WORSE * untuned)


def ratios(entries: Iterable[Entry], peer: str) -> list[float]:
    """The peer's time over ours, where it took part."""
    return [e["peers"][peer] / e["median_s"] for e in entries if peer in e["peers"]]


def mean(values: Iterable[float]) -> float | None:
    """The geometric mean; None of nothing."""
    found = list(values)
    return geometric_mean(found) if found else None


def print_rows(console: Console, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table in a terminal."""
    show(console, [Table(head, rows)])


def ratio_text(value: float | None) -> str:
    """With two decimals."""
    return NONE if value is None else f"{value:.2f}"

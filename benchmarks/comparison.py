"""Results of compared cases: the JSON file that grows case by case, the table, the summary.

    results = Results.read(file)          what earlier runs measured; empty without a file
    results.put(entry); results.write()   replaces the case's entry; the file is whole or old
    results.summary()                     geometric means of best peer's time / Tilewright's

    {"machine": ..., "ceilings": ..., "provenance": ..., "summary": {...},
     "failed": {"case": "message"},
     "cases": [{"case", "median_s", "least_s", "mode", "peers": {"torch": seconds}, "modes",
                "differences", "ratio_best_peer", "gflops", "roofline_s", "roofline_limit",
                "roofline_before_s", "roofline_fraction", "trials", "curve": [[trial, seconds]],
                "commit", "date"}]}

Ratios are above 1 where Tilewright is faster.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean
from typing import Any, Self

from rich.console import Console
from rich.table import Table

from benchmarks.cases import ALL
from benchmarks.commit import origins
from tilewright.ground.text import NONE, duration

Entry = dict[str, Any]
HEAD = ("machine", "ceilings", "provenance")
ORDER = {name: i for i, name in enumerate(ALL)}


def entry_of(
    case: str,
    medians: Mapping[str, float],
    ours: str,
    flops: int,
    roofline_s: float,
    **facts: Any,
) -> Entry:
    """One measured case; `medians` are seconds by side, `facts` are kept as they are."""
    peers = {name: s for name, s in medians.items() if name != ours}
    mine = medians[ours]
    return {
        "case": case,
        "median_s": mine,
        "peers": peers,
        "ratio_best_peer": min(peers.values()) / mine if peers else None,
        "gflops": flops / mine / 1e9,
        "roofline_s": roofline_s,
        "roofline_fraction": roofline_s / mine,
        **facts,
    }


@dataclass
class Results:
    """Everything measured so far. `file` None keeps it in memory only."""

    file: Path | None = None
    head: dict[str, Any] = field(default_factory=dict)
    cases: dict[str, Entry] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path | None) -> Self:
        """What the file holds. Raises ValueError when it is something else."""
        if file is None or not file.exists():
            return cls(file)
        try:
            found = json.loads(file.read_text())
            cases = {entry["case"]: entry for entry in found["cases"]}
            head = {
                key: found[key] for key in ("machine", "ceilings", "provenance") if key in found
            }
            return cls(file, head, cases, dict(found.get("failed", {})))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{file} is no result of this benchmark: {error!r}") from error

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
        """Entries in the order of the published list."""
        return sorted(self.cases.values(), key=lambda e: ORDER.get(e["case"], len(ORDER)))

    def summary(self) -> dict[str, Any]:
        """Over all compared cases; None where there is nothing to compare with."""
        compared = [e for e in self.sorted() if e["ratio_best_peer"] is not None]
        worst = min(compared, key=lambda e: e["ratio_best_peer"], default=None)
        by_operator: dict[str, list[Entry]] = {}
        for entry in compared:
            by_operator.setdefault(operator_of(entry), []).append(entry)
        return {
            "geomean_best_peer": mean(e["ratio_best_peer"] for e in compared),
            "geomean_torch": mean(ratios(compared, "torch")),
            "at_least_par": sum(e["ratio_best_peer"] >= 1 for e in compared),
            "compared": len(compared),
            "worst": worst and {"case": worst["case"], "ratio": worst["ratio_best_peer"]},
            "operators": {
                name: mean(e["ratio_best_peer"] for e in group)
                for name, group in by_operator.items()
            },
        }


def operator_of(entry: Entry) -> str:
    """ "C2D" of "C2D-2-b1"."""
    name: str = entry["case"]
    return name.split("-", 1)[0]


def ratios(entries: Iterable[Entry], peer: str) -> list[float]:
    """The peer's time over ours, where it took part."""
    return [e["peers"][peer] / e["median_s"] for e in entries if peer in e["peers"]]


def mean(values: Iterable[float]) -> float | None:
    """The geometric mean; None of nothing."""
    found = list(values)
    return geometric_mean(found) if found else None


def print_rows(console: Console, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table; its first column has names, the others figures."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(head[0])
    for heading in head[1:]:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def print_cases(console: Console, entries: Iterable[Entry], peers: Iterable[str]) -> None:
    """One row a case: the median of each side, the ratio, rate and share of the roofline."""
    names = list(peers)
    print_rows(
        console,
        ("case", "tilewright", *names, "best peer / ours", "GFLOP/s", "% of roofline", "limit"),
        [
            (
                entry["case"],
                duration(entry["median_s"]),
                *(duration(entry["peers"].get(n)) for n in names),
                ratio_text(entry["ratio_best_peer"]),
                f"{entry['gflops']:.1f}",
                f"{100 * entry['roofline_fraction']:.0f}",
                entry["roofline_limit"],
            )
            for entry in entries
        ],
    )


def print_summary(console: Console, results: Results, peers: Iterable[str]) -> None:
    """Geometric means an operator and over all, failures."""
    names = list(peers)
    entries = results.sorted()
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("geometric mean", "cases", "best peer / ours", *(f"{n} / ours" for n in names)):
        table.add_column(heading, justify="left" if heading == "geometric mean" else "right")
    table.add_column("% of roofline", justify="right")
    groups = {o: [e for e in entries if operator_of(e) == o] for o in map(operator_of, entries)}
    for name, group in {**groups, "all": entries}.items():
        best = mean(e["ratio_best_peer"] for e in group if e["ratio_best_peer"] is not None)
        shares = mean(e["roofline_fraction"] for e in group)
        table.add_row(
            name,
            str(len(group)),
            ratio_text(best),
            *(ratio_text(mean(ratios(group, n))) for n in names),
            NONE if shares is None else f"{100 * shares:.0f}",
        )
    console.print(table)
    summary = results.summary()
    if summary["worst"]:
        console.print(
            f"at least on par with the best peer in {summary['at_least_par']} of "
            f"{summary['compared']} cases; worst: {summary['worst']['case']} "
            f"({summary['worst']['ratio']:.2f})"
        )
    for case, message in results.failed.items():
        console.print(f"failed: {case}: {message}", markup=False, soft_wrap=True)


def ratio_text(value: float | None) -> str:
    """With two decimals."""
    return NONE if value is None else f"{value:.2f}"

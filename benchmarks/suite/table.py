"""The suite's results as a table.

head, *each = cells(found)              of what `State` keeps
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.page_words import origin, table
from tilewright.text import NONE, duration

HEAD = (
    "case", "best template", "time", "TFLOP/s", "of PyTorch", "of sketches", "of ceiling",
    "programs", "wrong", "failed",
)  # fmt: skip
SINGLE = "float32"


def cells(found: Mapping[str, Any]) -> list[Sequence[str]]:
    """The head, then a row for every case. Ratios are how many times faster the best template (the
    sketches, where there is none) is; of the ceiling it has a share.
    """
    cases: Mapping[str, Any] = found.get("cases", {})
    peaks = found.get("peaks", {}).get("peaks", {})
    most = rates(cases, peaks)
    return [HEAD, *(_row(name, row, peaks, most) for name, row in cases.items())]


def rates(cases: Mapping[str, Any], peaks: Mapping[str, Any]) -> dict[str, float]:
    """Operations a second by dtype, at most: measured multiply-adds of float32, and for others the
    most that anything here had, PyTorch included.
    """
    most: dict[str, float] = {}
    for row in cases.values():
        for side in ("peer", "templates"):
            if row.get(f"{side}_s"):
                rate = row["flops"] / row[f"{side}_s"]
                most[row["dtype"]] = max(most.get(row["dtype"], 0.0), rate)
    if peaks:
        most[SINGLE] = peaks["fma_flops"]
    return most


def section(found: Mapping[str, Any]) -> str:
    """The section of docs/performance.md."""
    head, *rows = cells(found)
    said = "; ".join(summary(found)[:2])
    return (
        "## Templates on a GPU\n\n"
        "`python -m benchmarks.gpu_suite`: the best of all candidates of all templates of loop "
        "nests, each checked at some elements; how many times faster it is than PyTorch (cuBLAS, "
        "cuDNN; in CUDA graphs) and than the default program of the ordinary sketches, in turns, "
        "and its share of the ceiling: traffic, multiply-adds, or in half precision the most "
        f"operations a second that anything here had. Beforehand: {said}. {origin(found)}\n\n"
        f"{table(head, rows)}"
    )


def best_s(row: Mapping[str, Any]) -> float | None:
    """Seconds of the best template, of the sketches where there is none."""
    found: float | None = row.get("templates_s") or row.get("sketches_s")
    return found


def _row(
    name: str, row: Mapping[str, Any], peaks: Mapping[str, Any], most: Mapping[str, float]
) -> list[str]:
    seconds = best_s(row)
    finalists = row.get("finalists") or [[NONE]]
    traffic_s = peaks.get("traffic_s", {}).get(name, 0.0)
    ceiling_s = max(traffic_s, row["flops"] / most[row["dtype"]] if row["dtype"] in most else 0.0)
    sketches_s = row.get("sketches_s") if row.get("templates_s") else None
    return [
        name,
        finalists[0][0],
        duration(seconds),
        f"{row['flops'] / seconds / 1e12:.1f}" if seconds else NONE,
        ratio(row.get("peer_s"), seconds),
        ratio(sketches_s, seconds),
        ratio(ceiling_s or None, seconds),
        str(row["programs"]),
        str(len(row["wrong"])),
        str(len(row["failed"])),
    ]


def ratio(other_s: float | None, seconds: float | None) -> str:
    return f"{other_s / seconds:.2f}" if other_s and seconds else NONE


def lines(found: Mapping[str, Any]) -> list[str]:
    """The table in columns, and what else to know: what was verified, loaded, left out."""
    rows = cells(found)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    text = [
        "  ".join(
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return [*text, *summary(found)]


def summary(found: Mapping[str, Any]) -> list[str]:
    """The first part in a few lines."""
    verified = found.get("verify", {}).values()
    wrong = [what for row in verified for what in row["wrong"]]
    failed = [what for row in verified for what in row["failed"]]
    loads = found.get("loads", {}).values()
    text = [
        f"verified {sum(row['programs'] for row in verified)} programs in {len(verified)} cases: "
        f"{len(wrong)} wrong, {len(failed)} failed",
        f"loaded {sum(row['programs'] for row in loads)} programs: "
        f"{sum(len(row['failed']) for row in loads)} refused",
    ]
    if "clock" in found.get("clock", {}):
        told = found["clock"]["clock"]
        text.append(f"clock: linear {told['is_linear']}, plausible {told['is_plausible']}")
    text += [
        f"races of {template}: {row.get('skipped') or row['said']}"
        for template, row in found.get("races", {}).items()
    ]
    text += [
        f"fault: {name} {number}: {why}"
        for name, faults in found.get("faults", {}).items()
        for number, why in faults.items()
    ]
    return text + [f"wrong: {what}" for what in wrong] + [f"failed: {what}" for what in failed]

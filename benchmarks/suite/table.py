"""What was found, as a table.

found = found(lines)                 of journals: {"cases": {name: row}, "peaks": …, …}
head, *each = cells(found)
print("\\n".join(lines(found)))
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.report import Part, Table
from benchmarks.suite.journal import FAILED, FAULT, RIGHT, WRONG, Line
from tilewright.ground.text import NONE, duration

HEAD = (
    "case", "best template", "time", "TFLOP/s", "of PyTorch", "of Triton", "of CUTLASS",
    "of sketches", "of ceiling", "programs", "wrong", "failed",
)  # fmt: skip
SINGLE = "float32"
SIDES = ("templates", "sketches", "cutlass", "peer", "triton")
MEDIAN = 2  # of the quantiles
ONCE = ("facts", "clock", "peaks", "peer", "bolt")


def found(journal: Sequence[Line]) -> dict[str, Any]:
    """All lines of one card by what they are of; of several cards those of the one with most."""
    cards = Counter(line["card"] for line in journal)
    (card, _), *others = cards.most_common() or [("", 0)]
    result: dict[str, Any] = {"machine": card, "cases": {}, "others": [c for c, _ in others]}
    for line in (line for line in journal if line["card"] == card):
        step, case = line["step"], line["case"]
        if step in ONCE and case == step:
            result[step] = line
        elif step in ("quick", "final", "turns"):
            _measured(result["cases"].setdefault(case, _row_of_nothing()), line)
        else:
            result.setdefault(step, {})[line.get("key", case)] = line
    for row in result["cases"].values():
        row["programs"] = len(row.pop("keys"))
    return result


def _row_of_nothing() -> dict[str, Any]:
    return {"keys": set(), "wrong": [], "failed": [], "flops": 0, "dtype": "", "quick_s": {}}


def _measured(row: dict[str, Any], line: Line) -> None:
    what = f"{line.get('template')}: {line.get('row')}"
    if line["step"] == "turns" and line["verdict"] == RIGHT:
        medians = {f"{side}_s": q[MEDIAN] for side, q in line["quantiles"].items()}
        row |= {"flops": line["flops"], "dtype": line["dtype"], "best": line["best"], **medians}
        row["wrong_peers"] = line["wrong"]
    if "key" in line:
        row["keys"].add(line["key"])
    if line["verdict"] == WRONG:
        row["wrong"].append(f"{what}: {line['why']}")
    if line["verdict"] in (FAILED, FAULT):
        row["failed"].append(f"{what}: {line['why']}")
    if line["step"] == "quick" and line["verdict"] == RIGHT:
        row["quick_s"].setdefault(line["template"] or "sketches", []).append(min(line["seconds"]))


def cells(found: Mapping[str, Any]) -> list[Sequence[str]]:
    """The head, then a row for every case. Ratios are how many times faster the best template (the
    sketches, where there is none) is; of the ceiling it has a share.
    """
    cases: Mapping[str, Any] = found.get("cases", {})
    peaks = found.get("peaks", {})
    most = rates(cases, peaks)
    return [HEAD, *(_row(name, row, peaks, most) for name, row in cases.items())]


def rates(cases: Mapping[str, Any], peaks: Mapping[str, Any]) -> dict[str, float]:
    """Operations a second by dtype, at most: measured multiply-adds of float32, and for others the
    most that anything here had, PyTorch included.
    """
    most: dict[str, float] = {}
    for row in cases.values():
        for side in SIDES:
            if row.get(f"{side}_s"):
                rate = row["flops"] / row[f"{side}_s"]
                most[row["dtype"]] = max(most.get(row["dtype"], 0.0), rate)
    if peaks:
        most[SINGLE] = peaks["fma_flops"]
    return most


def kept(journal: Sequence[Line]) -> dict[str, Any]:
    """Lines with where they come from in front, for a JSON file."""
    known = found(journal)
    facts = known.get("facts", {})
    date = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(facts.get("at", 0.0)))
    head = {"machine": known["machine"], "commit": facts.get("commit", ""), "date": date}
    return {**head, "lines": [line for line in journal if line["card"] == known["machine"]]}


def parts(content: Mapping[str, Any]) -> list[Part]:
    """What `kept` says, for its page."""
    known = found(content["lines"])
    head, *rows = cells(known)
    return [f"Beforehand: {'; '.join(summary(known)[:2])}.", Table(head, rows)]


def best_s(row: Mapping[str, Any]) -> float | None:
    """Seconds of the best template, of the sketches where there is none."""
    found: float | None = row.get("templates_s") or row.get("sketches_s")
    return found


def _row(
    name: str, row: Mapping[str, Any], peaks: Mapping[str, Any], most: Mapping[str, float]
) -> list[str]:
    seconds = best_s(row)
    traffic_s = peaks.get("traffic_s", {}).get(name, 0.0)
    ceiling_s = max(traffic_s, row["flops"] / most[row["dtype"]] if row["dtype"] in most else 0.0)
    sketches_s = row.get("sketches_s") if row.get("templates_s") else None
    wrong = row.get("wrong_peers", ())
    peers = [
        f"({ratio(row.get(f'{side}_s'), seconds)})"
        if side in wrong
        else ratio(row.get(f"{side}_s"), seconds)
        for side in ("peer", "triton", "cutlass")
    ]
    return [
        name,
        row.get("best") or NONE,
        duration(seconds),
        f"{row['flops'] / seconds / 1e12:.1f}" if seconds else NONE,
        *peers,
        ratio(sketches_s, seconds),
        ratio(ceiling_s or None, seconds),
        str(row["programs"]),
        str(len(row["wrong"])),
        str(len(row["failed"])),
    ]


def ratio(other_s: float | None, seconds: float | None) -> str:
    return f"{other_s / seconds:.2f}" if other_s and seconds else NONE


def lines(found: Mapping[str, Any]) -> list[str]:
    """The table in columns, and what else to know: what was verified, what is out."""
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
    """The rest in a few lines."""
    verified = list(found.get("verify", {}).values())
    bad = {v: [x for x in verified if x["verdict"] == v] for v in (WRONG, FAILED, FAULT)}
    text = [
        f"verified {len(verified)} programs in {len({x['case'] for x in verified})} cases: "
        f"{len(bad[WRONG])} wrong, {len(bad[FAILED])} failed, {len(bad[FAULT])} did not end"
    ]
    ladder = found.get("ladder", {})
    if ladder:
        red = [f"{x['case']}: {x['why']}" for x in ladder.values() if x["verdict"] != RIGHT]
        text.append(f"{len(ladder) - len(red)} of {len(ladder)} small kernels work")
        text += [f"ladder: {what}" for what in red]
    if "clock" in found:
        told = found["clock"]
        text.append(f"clock: linear {told['is_linear']}, plausible {told['is_plausible']}")
    if found.get("others"):
        text.append(f"left out: figures of {', '.join(found['others'])}")
    text += [
        f"{x['verdict']}: {x['case']} {x['template']}: {x['row']}: {x['why']}"
        for those in bad.values()
        for x in those
    ]
    for case, row in found.get("cases", {}).items():
        text += [f"wrong: {case} {what}" for what in row["wrong"]]
        text += [f"failed: {case} {what}" for what in row["failed"]]
    return text

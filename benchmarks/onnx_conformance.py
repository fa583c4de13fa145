"""ONNX's own backend test-suite, run on untuned programs.

    python -m benchmarks.onnx_conformance [--filter GLOB] [--processes N] [--json FILE] [--verbose]

Prints per operator how many of its cases passed, failed (a wrong answer, a crash, an error of ours)
or are unsupported, with the reasons, then the two goals: at least 95 % of the simple and pytorch-*
cases, at least 85 % of the node cases whose inputs and outputs are float16/32/64, integer or bool
tensors and whose operator is not random, training, sequence, optional, string, image decoding or
control flow. What "given as constant" and "folded" mean is said in `benchmarks.onnx_cases`.

Every case runs in a worker process. A worker that crashes, or that spends more than a minute of CPU
time on one case, costs that case only.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import json
import multiprocessing
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

import onnx
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.onnx_cases import Case, Outcome, collect, run
from benchmarks.provenance import provenance, result_file

CPU_LIMIT_S = 60
GOALS = {"simple and pytorch": 0.95, "node": 0.85}
STATUSES = ("passed", "failed", "unsupported")
# One process for all platforms' sake would spawn; forked ones share the cases, which take seconds
# to make. Nothing was run before the fork, so that no thread pool exists.
FORK = multiprocessing.get_context("fork")


# ---- processes --------------------------------------------------------------------------------


def run_all(cases: Sequence[Case], processes: int) -> Iterator[tuple[Case, Outcome]]:
    """Cases with their outcomes, as they are done."""
    waiting = iter(cases)
    busy: dict[Connection, tuple[Any, Case]] = {}
    idle: list[tuple[Connection, Any]] = []
    while True:
        while len(busy) < processes and (case := next(waiting, None)) is not None:
            pipe, process = idle.pop() if idle else _start(cases)
            pipe.send(case.name)
            busy[pipe] = process, case
        if not busy:
            break
        for ready in wait(list(busy)):
            assert isinstance(ready, Connection)
            process, case = busy.pop(ready)
            try:
                yield case, ready.recv()
                idle.append((ready, process))
            except EOFError:
                process.join()
                yield case, Outcome("failed", _death(process.exitcode))
    for pipe, process in idle:
        pipe.send("")  # closing it would not do: workers forked later hold it, too
        process.join()


def _start(cases: Sequence[Case]) -> tuple[Connection, Any]:
    ours, theirs = FORK.Pipe()
    process = FORK.Process(target=_serve, args=(theirs, ours, cases), daemon=True)
    process.start()
    theirs.close()
    return ours, process


def _serve(pipe: Connection, other: Connection, cases: Sequence[Case]) -> None:
    other.close()
    named = {c.name: c for c in cases}
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        while name := pipe.recv():
            case = named[name]
            signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT_S)
            try:
                outcome = run(case)
            except Exception as error:  # a bug of ours: it costs this case
                outcome = Outcome("failed", f"{type(error).__name__}: {error}")
            signal.setitimer(signal.ITIMER_PROF, 0)
            pipe.send(outcome)


def _death(code: int | None) -> str:
    if code is not None and -code == signal.SIGPROF:
        return f"hung: more than {CPU_LIMIT_S} s of CPU time"
    return f"crashed: {signal.Signals(-code).name if code and code < 0 else f'exit status {code}'}"


# ---- results ----------------------------------------------------------------------------------


def entry(case: Case, outcome: Outcome) -> dict[str, Any]:
    """One line of the JSON file."""
    return {
        "case": case.name,
        "kind": case.kind,
        "operator": case.operator,
        "excluded": case.excluded,
        "status": outcome.status,
        "reason": outcome.reason,
        "folded": outcome.folded,
        "constants": list(outcome.constants),
    }


def summary(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Counts by kind, and the two goals."""
    kinds: dict[str, dict[str, int]] = {}
    for kind in dict.fromkeys(e["kind"] for e in entries):
        mine = [e for e in entries if e["kind"] == kind]
        kinds[kind] = {s: sum(e["status"] == s for e in mine) for s in STATUSES}
    counted = {
        "simple and pytorch": [
            e for e in entries if e["kind"] == "simple" or e["kind"].startswith("pytorch")
        ],
        "node": [e for e in entries if e["kind"] == "node" and not e["excluded"]],
    }
    goals = {}
    for name, mine in counted.items():
        passed = sum(e["status"] == "passed" for e in mine)
        goals[name] = {
            "passed": passed,
            "of": len(mine),
            "share": passed / len(mine) if mine else None,
            "goal": GOALS[name],
            "folded": sum(e["status"] == "passed" and e["folded"] for e in mine),
            "given_constants": sum(e["status"] == "passed" and bool(e["constants"]) for e in mine),
        }
    return {"kinds": kinds, "goals": goals}


def by_operator(entries: Sequence[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Cases of each operator by status, without zeros."""
    found: dict[str, dict[str, int]] = {}
    for operator in sorted({e["operator"] for e in entries if e["kind"] == "node"}):
        counts = Counter(e["status"] for e in entries if e["operator"] == operator)
        found[operator] = {s: counts[s] for s in STATUSES if counts[s]}
    return found


def table(entries: Sequence[dict[str, Any]]) -> Table:
    """One row an operator: cases by status, how many are out of the goal, the commonest reason."""
    shown = Table("operator", *STATUSES, "not counted", "folded", "reasons", box=None)
    for operator in sorted({e["operator"] for e in entries}):
        mine = [e for e in entries if e["operator"] == operator]
        counts = [sum(e["status"] == s for e in mine) for s in STATUSES]
        reasons = Counter(short(e["reason"]) for e in mine if e["reason"])
        text = "; ".join(f"{r} ({n})" if n > 1 else r for r, n in reasons.most_common(3))
        outside = sum(bool(e["excluded"]) for e in mine)
        folded = sum(e["folded"] for e in mine)
        shown.add_row(operator, *(str(n or "") for n in (*counts, outside, folded)), text)
    return shown


def missed(entry: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a case that does not pass."""
    kept = ("case", "kind", "operator", "excluded", "status")
    return {**{name: entry[name] for name in kept}, "reason": short(entry["reason"])}


def short(reason: str) -> str:
    """The first thing a refusal names, without the model's name."""
    lines = reason.splitlines()
    text = lines[1] if len(lines) > 1 and lines[0].endswith("supported:") else reason
    return " ".join(text.split())[:160]


def print_results(console: Console, entries: Sequence[dict[str, Any]]) -> None:
    console.print(table(entries))
    found = summary(entries)
    for kind, counts in found["kinds"].items():
        console.print(f"{kind}: " + ", ".join(f"{n} {s}" for s, n in counts.items()))
    for name, goal in found["goals"].items():
        if goal["share"] is not None:
            console.print(
                f"[bold]{name}: {goal['passed']} of {goal['of']} = {goal['share']:.1%}[/bold] "
                f"(goal {goal['goal']:.0%}); {goal['given_constants']} were given inputs as "
                f"constants, {goal['folded']} of these were evaluated at import"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--filter", default="*", help="names of cases or operators, as a glob")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=result_file, help="also write the figures to this file")
    parser.add_argument("--verbose", action="store_true", help="print cases that do not pass")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 170)
    cases = [
        c
        for c in collect()
        if fnmatch.fnmatch(c.name, options.filter) or fnmatch.fnmatch(c.operator, options.filter)
    ]
    entries = []
    # Drawn by hand: a drawing thread would be forked in the middle of a line.
    with Progress(console=console, auto_refresh=False, disable=not console.is_terminal) as bar:
        task = bar.add_task("cases", total=len(cases))
        for case, outcome in run_all(cases, options.processes):
            entries.append(entry(case, outcome))
            bar.update(task, advance=1, description=case.name.removeprefix("test_")[:40])
            bar.refresh()
            if options.verbose and outcome.status != "passed":
                text = f"{case.name}: {outcome.status}: {outcome.reason}"
                bar.console.print(text, markup=False, soft_wrap=True)
    order = {c.name: i for i, c in enumerate(cases)}
    entries.sort(key=lambda e: order[e["case"]])
    print_results(console, entries)
    if options.json:
        found = {
            "benchmark": "onnx_conformance",
            **provenance(),
            "onnx": onnx.__version__,
            **summary(entries),
            "operators": by_operator(entries),
            "not_passed": [missed(e) for e in entries if e["status"] != "passed"],
        }
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

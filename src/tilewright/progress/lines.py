"""A snapshot in sentences of one line.

summary_line(snapshot)      estimated latency 41.0 ms (untuned 74.2 ms, 1.81x)
state_line(snapshot, 0.0)   search · conv_relu · 30 of 90 trials · 0:20 · 0:40 left
"""

from __future__ import annotations

from tilewright.ground.text import clock, count, duration, factor, trials
from tilewright.progress.snapshot import Snapshot
from tilewright.search.tuner import CONFIRM_TASK_S

MOST_FAULTS = 3


def summary_line(snapshot: Snapshot) -> str:
    """`estimated latency 41.0 ms (untuned 74.2 ms, 1.81x)`; while nothing is confirmed, without
    the factor: figures of different moments do not compare.
    """
    best, default = snapshot.best_s, snapshot.default_s
    ran = sum(r.default_s is not None or r.best_s is not None for r in snapshot.tasks)
    if best is None or not ran:
        return f"estimated latency: {ran} of {count(len(snapshot.tasks), 'task')} measured"
    if not snapshot.confirmed:
        untuned = "" if default is None else f"untuned {duration(default)}, "
        return f"estimated latency {duration(best)} ({untuned}not confirmed yet)"
    line = f"estimated latency {duration(best)}"
    if default is not None:
        line += f" (untuned {duration(default)}, {factor(default, best)})"
    return line


def doubt_line(snapshot: Snapshot) -> str:
    """What is not confirmed, or not even measured, what that is in the estimated latency, and what
    to do about it.
    """
    total = snapshot.default_s or 0.0
    waiting = [r for r in snapshot.tasks if r.default_s and not r.confirmed]
    parts = []
    for rows, state in (
        (waiting, "not confirmed"),
        ([r for r in snapshot.tasks if r.default_s is None and not r.fault], "not measured"),
    ):
        share = sum(r.weight * (r.untuned_s or 0.0) for r in rows) / total if total else 0.0
        of_all = f" ({share:.0%} of the untuned latency)" if total else ""
        if rows:
            parts.append(f"{count(len(rows), 'task')} {state}{of_all}")
    if not parts:
        return ""
    counted = ": counted as untuned" if snapshot.confirmed else ""
    found = [r for r in waiting if r.best_s and r.default_s and r.best_s < r.default_s]
    more = f"; {clock(CONFIRM_TASK_S * len(found))} more confirm what was found" if found else ""
    return ", ".join(parts) + counted + more


def fault_lines(snapshot: Snapshot) -> list[str]:
    """Which untuned programs have no figure, and why."""
    failed = [r for r in snapshot.tasks if r.fault]
    lines = [f"The untuned program of {r.name} {r.fault}." for r in failed[:MOST_FAULTS]]
    if more := failed[MOST_FAULTS:]:
        lines.append(f"{count(len(more), 'more untuned program')} failed, too.")
    return lines


def load_line(snapshot: Snapshot) -> str:
    """That the machine is busy, and why."""
    return f"busy machine: {snapshot.load}" if snapshot.load else ""


def state_line(snapshot: Snapshot, since_s: float, ticking: bool = True) -> str:
    """Phase, task, trials and time; `since_s` is the snapshot's age."""
    parts = [defaults_line(snapshot) or snapshot.phase, snapshot.task.name]
    searched = str(snapshot.trials)
    if snapshot.budget.trials is not None:
        searched += f" of {snapshot.budget.trials}"
    parts.append(f"{searched} searched")
    if snapshot.errors:
        parts.append(f"{count(snapshot.errors, 'error')}")
    if ticking:
        parts.append(clock(snapshot.elapsed_s + since_s))
    if snapshot.machines:
        parts.append(snapshot.machines)
    if snapshot.left_s is not None:
        parts.append(f"{clock(max(0.0, snapshot.left_s - since_s))} left")
    return " · ".join(parts)


def defaults_line(snapshot: Snapshot) -> str:
    """When the search begins, as long as default programs are measured."""
    seconds = snapshot.defaults_take_s
    if seconds is None:
        return ""
    programs = count(snapshot.default_programs, "default program")
    takes = "takes" if snapshot.default_programs == 1 else "take"
    return f"{programs} {takes} about {clock(seconds)}, the search begins then"


def end_line(snapshot: Snapshot) -> str:
    """What was measured in which time; a search that did not begin says why."""
    line = f"{trials(snapshot.trials, snapshot.measured)} in {clock(snapshot.elapsed_s)}"
    if snapshot.default_programs_s:
        line += f"; default programs took {duration(snapshot.default_programs_s)}"
        if not snapshot.trials and snapshot.budget.minutes is not None:
            line += ", so no time was left to search: give it more minutes"
    if shares := share_line(snapshot):
        line += f"; {shares}"
    return line


def share_line(snapshot: Snapshot) -> str:
    """Where the wall time went, in percent."""
    shares = vars(snapshot.shares)
    total = sum(shares.values())
    if total <= 0:
        return ""
    parts = (f"{name} {100 * s / total:.0f} %" for name, s in shares.items() if s > 0)
    return f"time: {' · '.join(parts)}"

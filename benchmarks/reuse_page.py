"""The sections of docs/performance.md on reuse."""

from __future__ import annotations

from statistics import fmean

from benchmarks.page_words import Content, origin, table
from benchmarks.reuse_compiled import ARCHITECTURES
from benchmarks.reuse_compiled import HEAD as REUSE_COMPILED_HEAD
from benchmarks.reuse_compiled import rows as reuse_compiled_rows
from benchmarks.reuse_networks import HEAD as REUSE_NETWORKS_HEAD
from benchmarks.reuse_networks import rows as reuse_networks_rows
from benchmarks.reuse_pairs import HEAD as REUSE_PAIRS_HEAD
from benchmarks.reuse_pairs import estimates
from benchmarks.reuse_pairs import rows as reuse_pairs_rows
from benchmarks.reuse_ranges import HEAD as REUSE_RANGES_HEAD
from benchmarks.reuse_ranges import rows as reuse_ranges_rows
from benchmarks.reuse_sets import has_bridges
from benchmarks.reuse_sets import head as reuse_sets_head
from benchmarks.reuse_sets import rows as reuse_sets_rows


def place(found: Content) -> tuple[str, str]:
    """Where programs ran, if not on this machine's CPU, and what to add to a title."""
    if found["target"].startswith("cpu"):
        return "", ""
    where = f" for {found['target']}"
    if found["simulated"]:
        where += ", simulated: programs take what the estimate says, times a smooth factor up to "
        where += "30 % off that search does not know"
    return where, f": {found['target']}"


def source(found: Content) -> str:
    """Where the figures come from; a simulated machine is named as one."""
    head = found["provenance"]
    simulated = "simulated " if found.get("simulated") else ""
    return origin({**head, "machine": f"{simulated}{head['machine']}"})


def reuse_pairs(found: Content) -> str:
    """A dozen programs near a relative's."""
    where, title = place(found)
    ratios = estimates(found)
    expected = (
        f"The published planner expected {fmean(ratios):.2f} of what *all* measured on average, "
        f"{ratios[0]:.2f} to {ratios[-1]:.2f}, in {len(ratios)} pairs.\n\n"
        if ratios
        else ""
    )
    return (
        f"## Reuse between two operators{title}\n\n"
        f"`python -m benchmarks.reuse_pairs`{where}; ETO's figures 5, 7 and 8: throughput "
        "relative to what 128 trials from nothing find, geometric means over random pairs of a "
        "type. *reuse* measures a dozen programs near those of a relative, *search* as many that "
        "evolution proposes, *topk* the relative's best as they are, *all* is the published tuner, "
        "which some of the pairs have; all know the relative's records. *default* is untuned. The "
        "last columns: trials of reuse and of *all*, and what reuse reaches of the pairs that have "
        f"*all*. {source(found)}\n\n"
        f"{expected}{table(REUSE_PAIRS_HEAD, reuse_pairs_rows(found))}"
    )


def reuse_ranges(found: Content) -> str:
    """Where good programs lie, given a relative's."""
    return (
        "## Ranges of good programs\n\n"
        f"`python -m benchmarks.reuse_ranges`, ETO's section 3, from the searches of "
        f"{found['operators']} operators: per cent of pairs in which a program within 1/0.9 of an "
        "operator's best lies in the range that the best one of another gives / per cent of "
        "random programs that do. The first four ranges are the paper's, the others those of "
        f"reuse on CPUs. {source(found)}\n\n"
        f"{table(REUSE_RANGES_HEAD, reuse_ranges_rows(found))}"
    )


def reuse_sets(found: Content) -> str:
    """Sets of operators by a plan."""
    sides = found["summary"]["sides"]
    verdicts = [
        f"{side} reaches {mean['throughput']:.3f} of the throughput by {mean['fewer_trials']:.1f} "
        f"times fewer trials in {mean['less_time']:.1f} times less time"
        for side, mean in sides.items()
        if side != "own"
    ]
    text = f"In the geometric mean {'; '.join(verdicts)}.\n\n" if verdicts else ""
    where, title = place(found)
    bridges = (
        '; *bridges* is reuse as published (`strategy="reuse-all"`), with bridges of so many hops. '
        "The last columns: bridges that a plan uses of those it considered, programs that its "
        "reuses should take, and took"
        if has_bridges(found)
        else ""
    )
    return (
        f"## Reuse within sets of operators{title}\n\n"
        f"`python -m benchmarks.reuse_sets`{where}; ETO's figures 9 to 11: throughput relative to "
        f"searching each operator alone with {found['search']} trials (*own*), each operator as "
        "often as its networks run it. *search* has as many trials as *reuse*, from nothing, "
        f"divided by gradients; *selective* is Selective Tuning{bridges}. *search needs* says how "
        "many trials search from nothing takes to be as fast. Seconds count everything. "
        f"{source(found)}\n\n"
        f"{text}{_both(found)}{table(reuse_sets_head(found), reuse_sets_rows(found))}"
    )


def _both(found: Content) -> str:
    """Reuse beside a plain search of as many trials, for every set that has both."""
    rows = []
    for name, one in found["sets"].items():
        if {"reuse", "search"} <= set(one["sides"]):
            reuse, search = one["sides"]["reuse"], one["sides"]["search"]
            shares = [f"{side['throughput']:.3f}" for side in (reuse, search)]
            winner = "reuse" if reuse["throughput"] > search["throughput"] else "search"
            rows.append([name, str(len(one["operators"])), str(reuse["trials"]), *shares, winner])
    if not rows:
        return ""
    lost = sum(row[-1] == "search" for row in rows)
    return (
        f"A plain search of as many trials is ahead of reuse in {lost} of {len(rows)} sets:\n\n"
        f"{table(('set', 'operators', 'trials', 'reuse', 'search', 'ahead'), rows)}\n"
    )


def reuse_networks(found: Content) -> str:
    """Whole networks by reuse and by search."""
    return (
        "## Reuse within and between networks\n\n"
        "`python -m benchmarks.reuse_networks`: BERT-base at eight lengths of text, tuned together "
        "by reuse or with 64 trials a task; Inception-v3 by 200 trials where ResNet-50's records "
        "are, or 640 without. Networks take turns in processes of their own; a ratio above 1 "
        f"means that reuse is faster. {source(found)}\n\n"
        f"{table(REUSE_NETWORKS_HEAD, reuse_networks_rows(found))}"
    )


def reuse_compiled(found: Content) -> str:
    """Whether what reuse finds for NVIDIA GPUs compiles."""
    return (
        "## What reuse finds for GPUs compiles\n\n"
        "`python -m benchmarks.reuse_compiled`: the sets' operators, tuned by their plans on a "
        "simulated device; the best programs of each are compiled by NVRTC for "
        f"{' and '.join(ARCHITECTURES)}. *Spilled* are those that keep something of a thread in "
        f"memory; seconds are medians of CPU time. {source(found)}\n\n"
        f"{table(REUSE_COMPILED_HEAD, reuse_compiled_rows(found))}"
    )

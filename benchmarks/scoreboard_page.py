"""docs/performance.md, its figure, and the README's first number: all of the scoreboard's file.

page(board, links)           the text; board None: there is none yet
first_number(board)          the README's paragraph
draw(board, folder)          scoreboard.png and .svg; nothing without matplotlib
summary(parts)               the figures over all cases of a board's parts
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.comparison import Entry, having, is_worse, mean, ratio_text, worst
from benchmarks.report import Content, figure, origin, table
from tilewright.ground.text import duration

NAME = "scoreboard"
SHORT = 0.97  # of the best library's speed: what is less is listed
MOST_LISTED = 25
ABSENT = (
    "There is no scoreboard of a commit here yet: `python -m benchmarks.scoreboard` makes one in "
    "two to three hours on two cores."
)
WORDS = {
    "operators": "published operators and subgraphs, 128 trials each",
    "native": "networks in fewer bits, two minutes of tuning each",
    "edges": "small graphs that move data, 32 trials each",
    "chains": "contractions back to back, 48 trials each",
    "shapes": "networks for a range of shapes, untuned",
}


# ---- figures ------------------------------------------------------------------------------------


def entries(parts: Content, name: str) -> list[Entry]:
    """The cases of a part."""
    return list(parts.get(name, {}).get("cases", ()))


def summary(parts: Content) -> dict[str, Any]:
    """By part: how many cases, the geometric mean of the best peer over ours, the worst, and what
    ended slower than its default program.
    """
    found: dict[str, Any] = {}
    for name in ("networks", *WORDS):
        some = having(entries(parts, name), "ratio_best_peer")
        if some:
            found[name] = {
                "cases": len(some),
                "geomean_best_peer": mean(e["ratio_best_peer"] for e in some),
                "worst": worst(some, "ratio_best_peer"),
                "geomean_untuned": mean(u for e in some if (u := untuned_ratio(e))),
                "slower_than_untuned": [e["case"] for e in some if is_worse(e)],
            }
    best = best_precisions(parts)
    if ratios := [row["ratio"] for row in best.values() if row["ratio"] is not None]:
        least = min((n for n in best if best[n]["ratio"]), key=lambda n: best[n]["ratio"])
        named = {"case": least, "ratio": best[least]["ratio"]}
        found["best precision"] = {
            "cases": len(ratios), "geomean_best_peer": mean(ratios), "worst": named,
        }  # fmt: skip
    return found


def untuned_ratio(entry: Entry) -> float | None:
    """The best library's time over ours untuned."""
    if "untuned_s" not in entry:
        return None
    return float(entry["ratio_best_peer"] * entry["median_s"] / entry["untuned_s"])


def best_precisions(parts: Content) -> dict[str, dict[str, Any]]:
    """Of each network in fewer bits: our best time in any precision, the best library's in any of
    its own, and their ratio.
    """
    found: dict[str, dict[str, Any]] = {}
    narrow: dict[str, list[Entry]] = {}
    for entry in entries(parts, "native"):
        if entry["network"]:
            narrow.setdefault(entry["case"].partition(":")[0], []).append(entry)
    for entry in entries(parts, "networks"):
        if entry["case"] not in narrow:
            continue
        every = [entry, *narrow[entry["case"]]]
        ours = min(min(e["median_s"], e["untuned_s"]) for e in every)
        theirs = [s for e in every for n, s in e["peers"].items() if n not in e.get("wrong", ())]
        theirs += [s for s in (entry.get("default_openvino_s"),) if s]
        ratio = min(theirs) / ours if theirs else None
        found[entry["case"]] = {"ours_s": ours, "peer_s": min(theirs, default=None), "ratio": ratio}
    return found


def shortfalls(parts: Content) -> list[tuple[float, str, str]]:
    """Cases slower than the best library by more than noise, the worst first: ratio, part, case;
    under load, of the 95th percentiles.
    """
    found = [
        (e["ratio_best_peer"], name, e["case"])
        for name in ("networks", *WORDS)
        for e in having(entries(parts, name), "ratio_best_peer")
        if e["ratio_best_peer"] < SHORT
    ]
    found += [(ratio, "load", case) for case, ratio in loaded(parts).items() if ratio < SHORT]
    return sorted(found)


def loaded(parts: Content) -> dict[str, float]:
    """Of each case under load the best library's 95th percentile over ours."""
    return {e["case"]: e["ratio_p95"] for e in having(entries(parts, "load"), "ratio_p95")}


def verdicts(found: Content) -> list[str]:
    """A line for every part."""
    lines = [
        f"{name}: {figure(one['geomean_best_peer'])} of the best library in the geometric mean of "
        f"{one['cases']}, at least {figure(one['worst'])}"
        for name, one in found.get("summary", {}).items()
    ]
    cells = loaded(found["parts"])
    if cells:
        least = min(cells, key=lambda case: cells[case])
        lines.append(f"load: at 95 %, at least {cells[least]:.2f} of the best library ({least})")
    return lines


# ---- the page -----------------------------------------------------------------------------------


def page(board: Content | None, links: Mapping[str, str]) -> str:
    """docs/performance.md; `links` are the pages of the scripts by name."""
    listed = ", ".join(f"[{name}]({file})" for name, file in links.items())
    more = (
        f"What each script of `benchmarks` found: {listed}. A page of "
        "[findings](findings.md) says what was learnt.\n"
    )
    if board is None:
        return f"# Performance\n\n{ABSENT}\n\n{more}"
    parts = board["parts"]
    head = (
        f"# Performance\n\n`python -m benchmarks.scoreboard`: {origin(board['provenance'])} Two "
        "threads; every side in a process of its own, in turns; medians. A ratio above 1 means "
        "that Tilewright is faster than the best library (onnxruntime, OpenVINO in float32, "
        "PyTorch in its fastest mode). Machines differ: run it on yours.\n"
    )
    chunks = [head, "![Networks beside the best library](results/scoreboard.png)\n"]
    chunks += [_networks(parts), _short(board), _rest(board), _lacking(parts), more]
    return "\n".join(filter(None, chunks))


def _networks(parts: Content) -> str:
    """The networks, in float32 and in fewer bits."""
    narrow = {e["case"]: e for e in entries(parts, "native") if e["network"]}
    best = best_precisions(parts)
    rows = [_network(e, narrow, best) for e in entries(parts, "networks")]
    if not rows:
        return ""
    stages = list(dict.fromkeys(s for e in entries(parts, "networks") for s in e["stages"]))
    head = (
        "network", "untuned", *stages, "best library", "ratio", "bfloat16", "bytes",
        "ratio of the best of all",
    )  # fmt: skip
    return (
        "## Networks\n\nSeeded weights, one image or 128 tokens (b1) or sixteen images (b16). "
        "Float32 untuned and after minutes of tuning, fewer bits after two; a `*` is slower "
        "than untuned. The ratio is the best library's time over ours of float32; the last column "
        "compares our best precision with the libraries' best, OpenVINO's default included.\n\n"
        f"{table(head, rows)}\n{_costs(parts)}"
    )


def _network(entry: Entry, narrow: Mapping[str, Entry], best: Mapping[str, Any]) -> list[str]:
    name = entry["case"]
    peer = min(entry["peers"], key=lambda n: entry["peers"][n], default="")
    bits = [
        starred(narrow[f"{name}:{kind}"]) if f"{name}:{kind}" in narrow else ""
        for kind in ("bfloat16", "qdq")
    ]
    return [
        name,
        duration(entry["untuned_s"]),
        *(duration(s) for s in list(entry["stages"].values())[:-1]),
        starred(entry),
        f"{duration(entry['peers'].get(peer))} {peer}".strip(),
        ratio_text(entry["ratio_best_peer"]),
        *bits,
        ratio_text(best[name]["ratio"]) if name in best else "",
    ]


def starred(entry: Entry) -> str:
    """A time, marked where the default program is faster."""
    return duration(entry["median_s"]) + "*" * is_worse(entry)


def _costs(parts: Content) -> str:
    """What tuning, compiling and memory cost."""
    some = entries(parts, "networks")
    gains = [(e["untuned_s"] / s, stage) for e in some for stage, s in e.get("stages", {}).items()]
    stages = list(dict.fromkeys(stage for _, stage in gains))
    told = [
        f"{stage} {figure(mean(g for g, at in gains if at == stage))} times untuned"
        for stage in stages
    ]
    memory = [
        e["peak_memory_mib"] / (e["weights_mib"] + e["activations_mib"])
        for e in some
        if "weights_mib" in e
    ]
    compiled = [e["import_s"] + e["compile_s"] for e in some if "compile_s" in e]
    text = f"Tuning gains in the geometric mean: {', '.join(told)}. " if told else ""
    if memory and compiled:
        text += (
            f"Importing and compiling untuned takes {min(compiled):.1f} to {max(compiled):.1f} CPU "
            f"seconds, and at most {max(memory):.1f} times the memory of weights and activations.\n"
        )
    return text


def _short(board: Content) -> str:
    """Where it falls short."""
    found = shortfalls(board["parts"])
    failed = sum(len(part.get("failed", {})) for part in board["parts"].values())
    told = f" {failed} cases failed." if failed else ""
    if not found:
        return f"## Where it falls short\n\nNo case is below {SHORT} of the best library.{told}\n"
    rows = [[case, part, f"{ratio:.2f}"] for ratio, part, case in found[:MOST_LISTED]]
    more = len(found) - len(rows)
    rest = f"\n{more} more are on [its page](results/{NAME}.md).\n" if more else ""
    return (
        f"## Where it falls short\n\n{len(found)} cases are below {SHORT} of the best library."
        f"{told}\n\n{table(('case', 'part', 'best library / ours'), rows)}{rest}"
    )


def _rest(board: Content) -> str:
    """A line for every other part."""
    parts = board["parts"]
    lines = [
        f"- {WORDS[name]}: {figure(one['geomean_best_peer'])} in the geometric mean of "
        f"{one['cases']}, the worst {figure(one['worst'])}" + _untuned(one)
        for name, one in summary(parts).items()
        if name in WORDS
    ]
    cells = loaded(parts)
    if cells:
        won = sum(ratio >= 1 for ratio in cells.values())
        lines.append(
            f"- beside busy loops: the 95th percentile is at most the best library's in {won} of "
            f"{len(cells)} cells, the worst {min(cells.values()):.2f}"
        )
    for entry in entries(parts, "start"):
        cold, warm, other = (
            entry["taken"][what]["wall_s"] for what in ("cold", "warm", "onnxruntime")
        )
        lines.append(
            f"- {entry['case']} starts in {cold:.1f} s the first time, then in {warm:.1f}; "
            f"onnxruntime in {other:.1f}"
        )
    lines += [
        f"- a trial of {entry['case']} takes {entry['seconds_per_trial']:.2f} s"
        if "seconds_per_trial" in entry
        else f"- {entry['candidates_per_s'] / 1e3:.0f} thousand candidates a second "
        f"({entry['case']})"
        for entry in entries(parts, "search_speed")
    ]
    return "## Everything else\n\n" + "\n".join(lines) + "\n" if lines else ""


def _lacking(parts: Content) -> str:
    """What there was no time for."""
    found = [what for name, what in WORDS.items() if not entries(parts, name)]
    return f"Not measured as a whole in this run: {'; '.join(found)}.\n" if found else ""


def _untuned(one: Content) -> str:
    untuned, slower = one["geomean_untuned"], one["slower_than_untuned"]
    told = f"; untuned {untuned:.2f}" if untuned is not None else ""
    return told + (f"; slower than untuned: {', '.join(slower)}" if slower else "")


# ---- the README ---------------------------------------------------------------------------------


def first_number(board: Content | None) -> str:
    """The paragraph about what it gains."""
    one = next(
        (e for e in entries(board["parts"], "networks") if e["case"] == "resnet50-b1"), None
    ) if board else None  # fmt: skip
    if board is None or one is None:
        return (
            "**What it gains.** `make demo` says it of your machine: ResNet-50 untuned, after "
            "three minutes of\ntuning, and in onnxruntime. More is on the page of "
            "[performance](docs/performance.md).\n"
        )
    peers = ", ".join(f"{duration(s)} in {name}" for name, s in one["peers"].items())
    total = board["summary"]["networks"]
    return (
        f"**What it gains.** ResNet-50, one image, {board['provenance']['machine']}: "
        f"**{duration(one['median_s'])}** after\n{one['tuning_minutes']:.0f} minutes of tuning "
        f"({duration(one['untuned_s'])} untuned); {peers}. {total['cases']} networks\nare "
        f"{total['geomean_best_peer']:.2f} times as fast as the best library in the geometric "
        f"mean, {figure(total['worst'])} at worst:\n[performance](docs/performance.md) has them, "
        "and where it falls short.\n"
    )


# ---- the figure ---------------------------------------------------------------------------------


def bars(board: Content) -> list[tuple[str, float, float]]:
    """Of each network the best library's time over ours: untuned and tuned."""
    some = having(entries(board["parts"], "networks"), "ratio_best_peer")
    return [(e["case"], e["ratio_untuned"], e["ratio_best_peer"]) for e in some]


def draw(board: Content, folder: Path, kinds: Iterable[str] = ("png", "svg")) -> Sequence[Path]:
    """The figure: a bar a network, and a line where the best library is."""
    if importlib.util.find_spec("matplotlib") is None:
        print("no figure: pip install 'tilewright[report]'")
        return []
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = bars(board)[::-1]
    figure, axes = pyplot.subplots(figsize=(8, 0.8 + 0.4 * len(found)), layout="constrained")
    places = range(len(found))
    tuned = [ratio for _, _, ratio in found]
    axes.barh(places, tuned, color=["#2a7" if r >= 1 else "#c54" for r in tuned], label="tuned")
    axes.plot([r for _, r, _ in found], places, "k|", markersize=14, label="untuned")
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_yticks(places, [name for name, _, _ in found])
    axes.set(xlabel="times as fast as the best library", xlim=(0, None))
    axes.legend(loc="lower right")
    files = [folder / f"{NAME}.{kind}" for kind in kinds]
    for file in files:
        figure.savefig(file)
    pyplot.close(figure)
    return files

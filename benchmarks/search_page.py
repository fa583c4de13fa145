"""The sections of docs/performance.md on the search."""

from __future__ import annotations

from statistics import median

from benchmarks.page_words import Content, origin, table
from benchmarks.profiler import HEAD as PROFILER_HEAD
from benchmarks.profiler import rows as profiler_rows
from benchmarks.profiler import summary as profiler_summary
from benchmarks.provenance import RESULTS
from tilewright.ground.text import duration


def picture(stem: str, title: str) -> list[str]:
    """A link to what the benchmark's `--plot` drew, if it is there."""
    file = RESULTS / f"{stem}.png"
    return [f"![{title}](../benchmarks/results/{file.name})\n"] if file.is_file() else []


def search_speed(found: Content) -> str:
    """Candidates a second and the cost of a trial."""
    rates = ", ".join(
        f"{r / 1e3:.0f} thousand of {n}" for n, r in found["candidates_per_s"].items()
    )
    shares = ", ".join(f"{name} {share:.0%}" for name, share in found["shares"].items())
    return (
        "## Speed of the search\n\n"
        f"`python -m benchmarks.search_speed`. {origin(found)}\n\n"
        f"Candidates bred, checked, featurised and scored in a second on one thread: {rates}. "
        f"A trial of GMM-2-b1 takes {found['seconds_per_trial']:.3f} s of wall time: {shares}.\n"
    )


def convergence(found: Content) -> str:
    """When parts of the gain are reached."""
    parts = list(next(iter(found["cases"].values()))["median"]["part_s"])
    rows = [
        [
            name,
            str(len(case["runs"])),
            f"{case['median']['seconds_per_trial']:.3f}",
            f"{case['flops'] / case['runs'][0]['best_s'][0] / 1e9:.0f}",
            f"{case['flops'] / case['median']['best_s'] / 1e9:.0f}",
            *(f"{case['median']['part_s'][part]:.0f}" for part in parts),
        ]
        for name, case in found["cases"].items()
    ]
    head = ["case", "seeds", "s a trial", "untuned GFLOP/s", "best GFLOP/s"]
    head += [f"s to {float(part):.0%} of the gain" for part in parts]
    return (
        "## How soon good programs are found\n\n"
        f"`python -m benchmarks.convergence`, each run from an empty database, medians over seeds. "
        f"{origin(found)}\n\n{table(head, rows)}{_original(found)}"
    )


def _original(found: Content) -> str:
    """The published implementation's searches, as they were measured."""
    compared = [(name, c["original"]) for name, c in found["cases"].items() if "original" in c]
    if not compared:
        return ""
    head = (
        "case",
        "trials",
        "machine",
        "best",
        "s a trial",
        "ours at as many",
        "machine",
        "s a trial",
    )
    rows = [
        [
            name,
            str(one["trials"]),
            one["machine"],
            duration(one["best_s"]),
            f"{one['seconds_per_trial']:.2f}",
            duration(one["ours_s"]),
            found["machine"],
            f"{found['cases'][name]['median']['seconds_per_trial']:.3f}",
        ]
        for name, one in compared
    ]
    return (
        "\nThe original (tvm.auto_scheduler, which releases of TVM that can be installed today do "
        "not have) ran once, on the machine that is named: its times are not to be divided by "
        f"those of another.\n\n{table(head, rows)}"
    )


def ablation(found: Content) -> str:
    """What each part of the search is worth."""
    best = max(run["curve"][-1] for v in found["variants"].values() for run in v["runs"])
    trials = len(next(iter(found["variants"].values()))["median"])
    at = sorted({max(1, trials * part // 16) for part in (1, 2, 4, 8, 16)})
    rows = []
    for name, variant in found["variants"].items():
        sure = sorted(run["confirmed"] for run in variant["runs"])
        shares = [f"{variant['median'][n - 1] / best:.3f}" for n in at]
        rows.append(
            [name, *shares, f"{sure[len(sure) // 2]:.1f} ({sure[0]:.1f} to {sure[-1]:.1f})"]
        )
    head = ["variant", *(f"after {n}" for n in at), "confirmed GFLOP/s"]
    seeds = len(next(iter(found["variants"].values()))["runs"])
    return (
        "## What each part of the search is worth\n\n"
        f"`python -m benchmarks.ablation`, the paper's figure 7, on {found['case']}: throughput "
        f"relative to the best program of all after so many trials, medians of {seeds} seeds. "
        f"{origin(found)}\n\n{table(head, rows)}"
    )


def network_ablation(found: Content) -> str:
    """The same on whole networks."""
    parts = [
        "## What the parts of the search are worth on whole networks\n",
        "`python -m benchmarks.network_ablation`, the paper's figure 10, and what rewriting the "
        "layout of weights brings: speed relative to the untuned networks after so many trials, "
        "medians over seeds; `confirmed` compares what was found, measured again in turns.\n",
    ]
    for stem, figure in found["figures"].items():
        trials = len(next(iter(figure["variants"].values()))["median"])
        at = sorted({max(1, trials * part // 16) for part in (1, 2, 4, 8, 16)})
        rows = []
        for name, variant in figure["variants"].items():
            sure = [run["confirmed"] for run in variant["runs"]]
            spread = f"{median(sure):.3f} ({min(sure):.3f} to {max(sure):.3f})"
            rows.append([name, *(f"{variant['median'][n - 1]:.2f}" for n in at), spread])
        names = " and ".join(figure["models"])
        seeds = max(len(variant["runs"]) for variant in figure["variants"].values())
        parts.append(f"{names}, {seeds} seed{'s' * (seeds > 1)}: {origin(figure)}\n")
        parts.append(table([names, *(f"after {n}" for n in at), "confirmed"], rows))
        parts += picture(f"network_ablation-{stem}", f"Speed of {names} over trials")
    return "\n".join(parts)


def profiler(found: Content) -> str:
    """Networks by their profiles and by search."""
    reached = profiler_summary(found)
    verdict = (
        f"In the geometric mean profiles reach {reached['speed']:.3f} of the search's speed in "
        f"{reached['less_time']:.1f} times less time; the least is {reached['worst']:.3f}.\n\n"
        if reached
        else ""
    )
    return (
        "## Profiles\n\n"
        "`python -m benchmarks.profiler`: at most 24 programs a task by guidelines, all measured "
        "and nothing trained (`tune --strategy profile`, Bolt's section 3.2.2), against ten "
        "minutes of search for ResNet-50, for others by their number of tasks. Seconds of tuning "
        "are wall time; networks take turns in processes of their own. "
        f"{origin(found['provenance'])}\n\n"
        f"{verdict}{table(PROFILER_HEAD, profiler_rows(found))}"
    )


def cost_model(found: Content) -> str:
    """How well the model predicts."""
    names = ("rmse", "r2", "pairwise", "within", "recall", "top")
    titles = ("RMSE", "R²", "pairwise", "within tasks", "recall@30", "of each task's")
    rows = [
        [name, str(int(one["programs"])), *(f"{one[n]:.3f}" if n in one else "" for n in names)]
        for name, one in found["figure_11"].items()
    ]
    steps = [
        [f"{p['completion']:.0%}", f"{p['pairwise']:.3f}", f"{p['recall@10']:.3f}"]
        for p in found["figure_3"]
    ]
    return (
        "## How well the cost model predicts\n\n"
        f"`python -m benchmarks.cost_model` on {found['programs']} recorded programs of "
        f"{found['tasks']} tasks; training on all of them takes {found['train_s']:.2f} s. "
        f"{origin(found)}\n\n"
        f"Complete programs that the model was not trained on (figure 11):\n\n"
        f"{table(['test programs', 'number', *titles], rows)}\n"
        f"Incomplete programs, scored by what is decided of them (figure 3):\n\n"
        f"{table(['completion', 'pairwise', 'recall@10'], steps)}"
    )

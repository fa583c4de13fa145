"""docs/performance.md, written from the files in benchmarks/results.

    python -m benchmarks.page             write it anew after a benchmark's --json went there

Every figure of the page is read from those files; a benchmark without a file has no section.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import geometric_mean

from benchmarks.cases import SUBGRAPHS
from benchmarks.commit import number_of, origins
from benchmarks.comparison import mean, operator_of, ratios
from benchmarks.cutlass_page import bolt_gpu, cutlass_offline, cutlass_programs, cutlass_referee
from benchmarks.gpu_candidates import rows as candidate_rows
from benchmarks.hidet_page import hidet
from benchmarks.load_report import HEAD as LOAD_HEAD
from benchmarks.load_report import bars as load_bars
from benchmarks.load_report import rows as load_rows
from benchmarks.network_page import (
    chains,
    edges,
    native,
    networks,
    onnx_conformance,
    orders,
    prologues,
    repvgg,
    shapes,
    start,
)
from benchmarks.page_words import Content, budgets, mixture, origin, ratio, state, table
from benchmarks.parallel_call import lines as parallel_call_lines
from benchmarks.peers.sides import PEERS
from benchmarks.provenance import RESULTS
from benchmarks.reuse_page import (
    reuse_compiled,
    reuse_networks,
    reuse_pairs,
    reuse_ranges,
    reuse_sets,
)
from benchmarks.search_page import (
    ablation,
    convergence,
    cost_model,
    network_ablation,
    profiler,
    search_speed,
)
from benchmarks.suite.table import section as gpu_suite
from benchmarks.template_candidates import rows as template_rows
from benchmarks.template_models import rows as contraction_rows
from tilewright.ground.text import NONE, duration

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
CURVE = (0, 16, 64)  # trials at which a tuning curve is shown
INTRODUCTION = """\
# Performance

Written by `python -m benchmarks.page` from the files in `benchmarks/results`; each says on which
machine, from which commit and when it was measured. Commits are numbered from the repository's
first, and `git rev-list --count HEAD` says where it stands: what was measured hundreds of commits
ago need not be what the code does now. Times are medians. A ratio above 1 means that
Tilewright is faster. How a benchmark measures is said at the top of its module; run it on your
machine before you believe a figure: machines differ, and shared ones differ from hour to hour.
"""


def page(folder: Path = RESULTS) -> str:
    """The page's text from all results in `folder`."""
    found = results(folder)
    parts = [INTRODUCTION]
    lacking = [f"`{name}`" for name in SECTIONS if name not in found]
    if lacking:
        parts.append(
            f"To be made (anew), for no result is of a commit here: {', '.join(lacking)}.\n"
        )
    for name, content in found.items():
        parts += [SECTIONS[name](content), *filter(None, [mixture(content)])]
    return "\n".join(parts)


def results(folder: Path = RESULTS) -> dict[str, Content]:
    """What the files in `folder` hold, in the order of the page."""
    files = {name: folder / f"{name}.json" for name in SECTIONS}
    return {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}


def ages() -> list[str]:
    """How many commits ago each file was made."""
    now = number_of("HEAD")
    lines = []
    for name, content in results().items():
        for commit in sorted({one.commit for one in origins(content)}):
            then = number_of(commit)
            ago = "" if then is None or now is None else f", {now - then} commits ago"
            lines.append(f"{name}: {state(commit)}{ago}")
    return lines


# ---- operators ----------------------------------------------------------------------------------


def operators(found: Content) -> str:
    """The published operators and subgraphs against the libraries."""
    return (
        "## Operators and subgraphs\n\n"
        "`python -m benchmarks.operators --json benchmarks/results/operators.json`: the ten "
        "operators and two subgraphs of Ansor's appendix C, four shapes each, batch 1 and 16, "
        "float32, two threads. Sides take turns, each in a process of its own, called as its "
        "Python user calls it, with arrays that begin where NumPy's do; PyTorch runs in its "
        "fastest mode (eager or compiled, channels-last or not). The roofline is what "
        "multiply-adds, load ports and the bandwidth of the memory that the data fits in "
        f"allow, measured in turns with the sides.\n\n{_compared(found)}"
    )


def operators_avx2(found: Content) -> str:
    """The same on another machine."""
    return (
        "## Operators without AVX-512\n\n"
        "The cases of batch 1, 128 trials each from nothing, on a machine whose vectors have 256 "
        "bits: what was chosen by measurements on wider ones must hold there, too.\n\n"
        f"{_compared(found)}"
    )


def _compared(found: Content) -> str:
    """All figures of one file."""
    entries = found["cases"]
    single = [e for e in entries if operator_of(e) not in SUBGRAPHS]
    subgraphs = [e for e in entries if operator_of(e) in SUBGRAPHS]
    groups = {o: [e for e in entries if operator_of(e) == o] for o in map(operator_of, entries)}
    groups |= {"operators": single, "subgraphs": subgraphs}
    ceilings = found["ceilings"]
    ratio_names = ["best peer / ours", *(f"{p} / ours" for p in PEERS)]
    names = ["case", "ours", *PEERS, "best peer / ours", "GFLOP/s", "% of roofline"]
    return "\n".join(
        [
            f"{origin(found['provenance'])} {ceilings['fma_flops'] / 1e9:.0f} GFLOP/s of "
            f"multiply-adds, {ceilings['call_s'] * 1e6:.1f} µs for a call of an empty "
            "parallel region.\n",
            table(
                ["geometric mean", "cases", *ratio_names, "% of roofline"],
                (_mean_row(name, group) for name, group in groups.items() if group),
            ),
            _verdict("operators", single)
            + _verdict("subgraphs", subgraphs)
            + f"{budgets(entries).rstrip()}\n",
            table(
                [*names, "trials", *(f"GFLOP/s after {n}" for n in CURVE), "all"],
                map(_case_row, entries),
            ),
        ]
    )


def _mean_row(name: str, group: Sequence[Content]) -> list[str]:
    best = mean(e["ratio_best_peer"] for e in group if e["ratio_best_peer"] is not None)
    peers = (mean(ratios([dict(e) for e in group], p)) for p in PEERS)
    share = geometric_mean(e["roofline_fraction"] for e in group)
    return [name, str(len(group)), *map(ratio, (best, *peers)), f"{100 * share:.0f}"]


def _verdict(what: str, group: Sequence[Content]) -> str:
    compared = [e for e in group if e["ratio_best_peer"] is not None]
    if not compared:
        return ""
    par = [e for e in compared if e["ratio_best_peer"] >= 1 or e["roofline_fraction"] >= 0.85]
    worst = min(compared, key=lambda e: float(e["ratio_best_peer"]))
    return (
        f"Of {len(compared)} {what}, {len(par)} are at least as fast as the best peer or at 85 % "
        f"of their roofline; the worst is {worst['case']} ({worst['ratio_best_peer']:.2f}).\n"
    )


def _case_row(entry: Content) -> list[str]:
    flops = entry["gflops"] * entry["median_s"]
    curve = [(int(number), flops / seconds) for number, seconds in entry.get("curve", ())]
    reached = [
        max((rate for number, rate in curve if number <= limit), default=None)
        for limit in (*CURVE, float("inf"))
    ]
    return [
        entry["case"],
        duration(entry["median_s"]),
        *(duration(entry["peers"].get(p)) for p in PEERS),
        ratio(entry["ratio_best_peer"]),
        f"{entry['gflops']:.1f}",
        f"{100 * entry['roofline_fraction']:.0f}",
        str(entry.get("trials", "")),
        *("" if rate is None else f"{rate:.1f}" for rate in reached),
    ]


# ---- the CPU's template -------------------------------------------------------------------------


def cpu_template(found: Content) -> str:
    """All rows of the template against the sketches, and what it would change untuned."""
    head = ("case", "rows", "template", "sketches", "speed", "first row", "untuned with it")
    rows = [
        (
            e["case"],
            f"{e['measured_rows']} of {e['rows']}",
            duration(e["least_s"]["template"]),
            duration(e["least_s"]["sketches"]),
            f"{e['speed_of_template']:.2f}",
            f"{e['speed_of_first']:.2f}",
            f"{e['speed_untuned']:.2f}",
        )
        for e in found["cases"]
    ]
    return (
        "## The CPU's template of matrix products\n\n"
        "`python -m benchmarks.cpu_template --json benchmarks/results/cpu_template.json`: the best "
        "of the rows that half a minute had time for (`--strategy templates`) and the row that the "
        "estimate likes best, in terms of the speed of the sketches' best program after 128 "
        "trials; quickest calls of sides in turns, on a machine that others used, too. The last "
        "column says what default programs would gain if the template were one of the CPU's own "
        "rules. Windows of three (C2D-2, C2D-3) are multiplied with the zeros of their border; the "
        "sketches leave these out or have Winograd's form. "
        f"{origin(found['provenance'])}\n\n"
        f"{table(head, rows)}"
    )


# ---- load ---------------------------------------------------------------------------------------


def load(found: Content) -> str:
    """Latency beside other programs."""
    entries = found["cases"]
    demands = [*map(str, load_bars(entries))]
    demands += parallel_call_lines(found["machine"]["parallel_call"])
    return (
        "## Latency beside other programs\n\n"
        "`python -m benchmarks.load --json benchmarks/results/load.json`: networks beside busy "
        "loops, with pauses between calls, called by several threads and by two processes. Sides "
        "take turns, each in a process of its own; all use as many threads. Peers run in their "
        "default settings, OpenVINO in float32. "
        f"{origin(found['provenance'])}\n\n"
        f"{table(LOAD_HEAD, load_rows(entries))}\n"
        + "\n".join(f"- {line}" for line in demands)
        + "\n"
    )


def call_overhead(found: Content) -> str:
    """What a call costs beyond its kernel."""
    ways = list(next(iter(found["functions"].values()))["beyond_us"])
    rows = [
        [name, f"{one['kernel_us']:.2f}", *(f"{one['beyond_us'][w]:.2f}" for w in ways)]
        for name, one in found["functions"].items()
    ]
    return (
        "## What a call costs\n\n"
        f"`python -m benchmarks.call_overhead`, µs beyond the kernel. {origin(found)}\n\n"
        f"{table(['function', 'kernel', *(f'`{w}`' for w in ways)], rows)}"
    )


def gpu_candidates(found: Content) -> str:
    """Whether random programs for GPUs are right, and how long they take to compile."""
    head, *rows = candidate_rows(found["families"])
    templates = found.get("templates", {})
    return (
        "## Random programs for GPUs\n\n"
        "`python -m benchmarks.gpu_candidates`: run on PoCL against the NumPy interpreter, "
        "compiled by NVRTC for three architectures. *Redrawn* is the share of draws that the "
        "validity columns turn down before the sampler proposes a row, *invalid* that of proposed "
        "candidates which do not become source text, *spilled* that of compiled programs that keep "
        f"something of a thread in memory. Seconds are medians of CPU time. {origin(found)}\n\n"
        f"{table(head, rows)}" + (_template_candidates(templates) if templates else "")
    )


def _template_candidates(templates: Content) -> str:
    """The same of templates' programs."""
    head, *rows = template_rows(templates)
    latest = max(templates.values(), key=lambda entry: str(entry["date"]))
    return (
        "\n`python -m benchmarks.gpu_candidates --templates`: random contractions with something "
        "before and after them, at odd extents, by random rows of each template. Programs are "
        "interpreted and emulated, and compiled by NVRTC for sm_80 and sm_90 (warpgroups': sm_90). "
        "*Registers* is the median of a thread's; *spilled* and *in memory* are shares of compiled "
        "programs in whose machine code a thread keeps something in memory; *products in the "
        "loop* is the median "
        f"share of the main loop's instructions that multiply. {origin(latest)}\n\n"
        f"{table(head, rows)}"
    )


def template_models(found: Content) -> str:
    """The contractions of networks by templates."""
    heads = ("contractions", "with template", "calls", "with template", "programs", "exact")
    counts = [
        [target, name, *(str(n) for key, n in count.items() if key != "tasks")]
        for target, models in found["summary"].items()
        for name, count in models.items()
    ]
    without = [
        f"- {target}, {name}: {task}, {shape}, {calls} of its calls. {reason}\n"
        for target, name, task, calls, shape, right, reason in contraction_rows(found)
        if right == NONE
    ]
    return (
        "## Templates on whole networks\n\n"
        "`python -m benchmarks.template_models`: the different contractions of networks in half "
        "precision at batch 1, as a target's tasks have them, and the kernel calls that compute "
        "them. Of each template the row that the estimate puts first is interpreted at the task's "
        "own shape against the untransformed program, with values of -1, 0 and 1. *Exact* are "
        "those that are equal at every element, *wrong* those outside of the tolerance of "
        f"measurements. Nothing of it ran on a GPU. {origin(found['provenance'])}\n\n"
        f"{table(['target', 'network', *heads, 'wrong'], counts)}\n"
        f"Contractions without a template:\n\n{''.join(without) or 'none'}".rstrip()
        + "\n"
    )


SECTIONS: dict[str, Callable[[Content], str]] = {
    "operators": operators,
    "operators_avx2": operators_avx2,
    "networks": networks,
    "chains": chains,
    "prologues": prologues,
    "native": native,
    "shapes": shapes,
    "edges": edges,
    "orders": orders,
    "start": start,
    "cpu_template": cpu_template,
    "load": load,
    "convergence": convergence,
    "search_speed": search_speed,
    "ablation": ablation,
    "network_ablation": network_ablation,
    "reuse_pairs": reuse_pairs,
    "reuse_pairs_simulated": reuse_pairs,
    "reuse_ranges": reuse_ranges,
    "reuse_sets": reuse_sets,
    "reuse_sets_opencl": reuse_sets,
    "reuse_sets_simulated": reuse_sets,
    "reuse_compiled": reuse_compiled,
    "reuse_networks": reuse_networks,
    "profiler": profiler,
    "hidet": hidet,
    "repvgg": repvgg,
    "cost_model": cost_model,
    "call_overhead": call_overhead,
    "onnx_conformance": onnx_conformance,
    "gpu_candidates": gpu_candidates,
    "template_models": template_models,
    "cutlass_programs": cutlass_programs,
    "cutlass_offline": cutlass_offline,
    "cutlass_referee": cutlass_referee,
    "bolt_gpu": bolt_gpu,
    "gpu_suite": gpu_suite,
}

if __name__ == "__main__":
    PAGE.write_text(page())
    print("\n".join(ages()))
    print(f"wrote {PAGE}")

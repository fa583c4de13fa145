"""docs/performance.md, written from the files in benchmarks/results.

    python -m benchmarks.page             write it anew after a benchmark's --json went there

Every figure of the page is read from those files; a benchmark without a file has no section.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import geometric_mean, median

from benchmarks.cases import SUBGRAPHS
from benchmarks.chains import HEAD as CHAINS_HEAD
from benchmarks.chains import RATIOS as CHAINS_RATIOS
from benchmarks.chains import row as chain_row
from benchmarks.comparison import mean, operator_of, ratios
from benchmarks.cutlass_page import bolt_gpu, cutlass_offline, cutlass_programs, cutlass_referee
from benchmarks.edges import HEAD as EDGES_HEAD
from benchmarks.edges import row as edge_row
from benchmarks.gpu_candidates import rows as candidate_rows
from benchmarks.load_report import HEAD as LOAD_HEAD
from benchmarks.load_report import bars as load_bars
from benchmarks.load_report import rows as load_rows
from benchmarks.page_words import Content, origin, table
from benchmarks.parallel_call import lines as parallel_call_lines
from benchmarks.peers.sides import PEERS
from benchmarks.profiler import HEAD as PROFILER_HEAD
from benchmarks.profiler import rows as profiler_rows
from benchmarks.repvgg import HEAD as REPVGG_HEAD
from benchmarks.repvgg import rows as repvgg_rows
from benchmarks.reuse_page import (
    reuse_compiled,
    reuse_networks,
    reuse_pairs,
    reuse_ranges,
    reuse_sets,
)
from benchmarks.suite.table import section as gpu_suite
from benchmarks.template_candidates import rows as template_rows
from benchmarks.template_models import rows as contraction_rows
from tilewright.text import NONE, duration

ROOT = Path(__file__).parent
RESULTS = ROOT / "results"
PAGE = ROOT.parent / "docs" / "performance.md"
CURVE = (0, 16, 64)  # trials at which a tuning curve is shown
INTRODUCTION = """\
# Performance

Written by `python -m benchmarks.page` from the files in `benchmarks/results`; each says on which
machine, from which commit and when it was measured. Times are medians. A ratio above 1 means that
Tilewright is faster. How a benchmark measures is said at the top of its module; run it on your
machine before you believe a figure: machines differ, and shared ones differ from hour to hour.
"""


def page(folder: Path = RESULTS) -> str:
    """The page's text from all results in `folder`."""
    parts = [INTRODUCTION]
    for name, section in SECTIONS.items():
        file = folder / f"{name}.json"
        if file.exists():
            parts.append(section(json.loads(file.read_text())))
    return "\n".join(parts)


def picture(stem: str, title: str) -> list[str]:
    """A link to what the benchmark's `--plot` drew, if it is there."""
    file = RESULTS / f"{stem}.png"
    return [f"![{title}](../benchmarks/results/{file.name})\n"] if file.is_file() else []


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
            _verdict("operators", single) + _verdict("subgraphs", subgraphs),
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
    return [name, str(len(group)), *map(_ratio, (best, *peers)), f"{100 * share:.0f}"]


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
        _ratio(entry["ratio_best_peer"]),
        f"{entry['gflops']:.1f}",
        f"{100 * entry['roofline_fraction']:.0f}",
        str(entry.get("trials", "")),
        *("" if rate is None else f"{rate:.1f}" for rate in reached),
    ]


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


# ---- networks -----------------------------------------------------------------------------------


def networks(found: Content) -> str:
    """Whole networks against the libraries, and how soon each library was met."""
    entries, summary = found["cases"], found["summary"]
    head = ["network", "ours", "untuned", *PEERS, "best peer / ours", "minutes of tuning", "trials"]
    costs = ["kernel calls", "tasks", "import + compile, s", "memory, MiB", "of data", "error"]
    text = [
        "## Networks\n",
        "`python -m benchmarks.networks --json benchmarks/results/networks.json`: architectures in "
        "plain PyTorch with seeded weights, exported to ONNX; float32, two threads; sides in "
        "turns, each in a process of its own. PyTorch runs in its fastest mode.\n",
        f"{origin(found['provenance'])}\n",
        table(head, map(_network_row, entries)),
    ]
    if summary["worst"]:
        worst = summary["worst"]
        text.append(
            f"Faster than the best peer on {summary['faster_than_best_peer']} of "
            f"{summary['compared']} networks, by {summary['geomean_best_peer']:.2f} in the "
            f"geometric mean; the worst is {worst['case']} ({worst['ratio']:.2f}).\n"
        )
    text += [
        "What importing and compiling without records costs: CPU seconds, the memory by which the "
        "process grows at most (and in parts of weights and activations), and the largest "
        "difference from PyTorch's output, relative to its largest value.\n",
        table(["network", *costs], map(_cost_row, entries)),
        "Trials and seconds of tuning after which a network was as fast as each library:\n",
        table(["network", *PEERS], map(_match_row, entries)),
    ]
    return "\n".join(text)


def _network_row(entry: Content) -> list[str]:
    return [
        entry["case"],
        duration(entry["median_s"]),
        duration(entry["untuned_s"]),
        *(duration(entry["peers"].get(p)) for p in PEERS),
        _ratio(entry["ratio_best_peer"]),
        f"{entry['tuning_minutes']:.1f}",
        str(entry["trials"]),
    ]


def _cost_row(entry: Content) -> list[str]:
    data = entry["weights_mib"] + entry["activations_mib"]
    error = entry["max_rel_error"]
    return [
        entry["case"],
        str(entry["kernel_calls"]),
        str(entry["tasks"]),
        f"{entry['import_s'] + entry['compile_s']:.1f}",
        f"{entry['peak_memory_mib']:.0f}",
        f"{entry['peak_memory_mib'] / data:.1f}",
        "" if error is None else f"{error:.1g}",
    ]


def _match_row(entry: Content) -> list[str]:
    met = [entry["match"].get(p) for p in PEERS]
    shown = ["" if m is None else f"{m['trials']}, {m['seconds']:.0f} s" for m in met]
    return [entry["case"], *shown]


def chains(found: Content) -> str:
    """Contractions back to back."""
    return _in_one_kernel(
        found,
        "Contractions back to back",
        "chains",
        "the pairs of Bolt's tables 1 and 2, blocks of MobileNet-V2, attention of 12 heads of 64, "
        "an MLP of BERT",
        "contractions share a kernel",
    )


def prologues(found: Content) -> str:
    """Arithmetic and the contraction that it feeds."""
    return _in_one_kernel(
        found,
        "Arithmetic before contractions",
        "prologues",
        "batch norm, ReLU and a convolution (image, channels, outputs, window), scaled channels "
        "before a projection, GELU, a gate or bytes as numbers before a product",
        "both share a kernel",
    )


def _in_one_kernel(found: Content, title: str, name: str, cases: str, share: str) -> str:
    """Cases in one kernel and in several."""
    summary = found["summary"]
    told = [
        f"Of {summary['cases']} cases {summary['chained']} are cut so that {share}. "
        f"Sharing it is {summary['geomean_unchained']:.2f} as fast as kernels of their own "
        "in the geometric mean"
    ]
    if summary["chained"]:
        told.append(f", {summary['geomean_where_chained']:.2f} of these")
    told.append(f" (worst {_named(summary['worst_unchained'])}), untuned ")
    told.append(f"{summary['geomean_untuned']:.2f} (worst {_named(summary['worst_untuned'])}). ")
    if summary["geomean_best_peer"] is not None:
        told.append(
            f"The best peer takes {summary['geomean_best_peer']:.2f} times as long (worst "
            f"{_named(summary['worst_best_peer'])})."
        )
    return (
        f"## {title}\n\n"
        f"`python -m benchmarks.{name} --json benchmarks/results/{name}.json`: {cases}; float32, "
        "two threads, as many trials for either way, sides in turns. "
        f"{origin(found['provenance'])}\n\n"
        f"{table((*CHAINS_HEAD, *CHAINS_RATIOS), map(chain_row, found['cases']))}\n"
        f"{''.join(told)}\n"
    )


def _named(worst: Content) -> str:
    return f"{worst['ratio']:.2f}, {worst['case']}"


def edges(found: Content) -> str:
    """What moves data rather than multiplies."""
    summary = found["summary"]
    told = [f"{summary['cases']} cases. "]
    if summary["compared"]:
        told.append(
            f"At least as fast as the best peer in {summary['at_least_par']} of "
            f"{summary['compared']}; the best peer takes {summary['geomean_best_peer']:.2f} times "
            f"as long in the geometric mean (worst {_named(summary['worst'])}), untuned "
            f"{summary['geomean_untuned']:.2f} (worst {_named(summary['worst_untuned'])}). "
        )
    if summary["copy_share"]:
        least = summary["copy_share"]
        told.append(
            f"Transposes and functions reach {100 * least['ratio']:.0f} % of the bandwidth of a "
            f"copy of as many bytes at least ({least['case']})."
        )
    kinds = summary["kinds"].items()
    return (
        "## What moves data\n\n"
        "`python -m benchmarks.edges --json benchmarks/results/edges.json`: transposes, layouts, "
        "long rows, functions and strided reads as small ONNX graphs, arrays as ONNX has them "
        "(channels first); float32, two threads, sides in turns, called on the same arrays. The "
        "copy takes turns with them, called from Python, too. "
        f"{origin(found['provenance'])}\n\n"
        f"{table(('geometric mean', 'best peer / ours'), ((k, _ratio(r)) for k, r in kinds))}\n"
        f"{table(EDGES_HEAD, map(edge_row, found['cases']))}\n"
        f"{''.join(told).rstrip()}\n"
    )


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
    commits = ", ".join(sorted({entry["commit"] for entry in entries}))
    return (
        "## Latency beside other programs\n\n"
        "`python -m benchmarks.load --json benchmarks/results/load.json`: networks beside busy "
        "loops, with pauses between calls, called by several threads and by two processes. Sides "
        "take turns, each in a process of its own; all use as many threads. Peers run in their "
        "default settings, OpenVINO in float32. "
        f"{origin(found['provenance'])} Cells: commit {commits}.\n\n"
        f"{table(LOAD_HEAD, load_rows(entries))}\n"
        + "\n".join(f"- {line}" for line in demands)
        + "\n"
    )


# ---- the search ---------------------------------------------------------------------------------


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
    """When parts of the gain are reached; the original beside it."""
    parts = list(next(iter(found["cases"].values()))["median"]["part_s"])
    rows = [
        [
            name,
            str(len(case["runs"])),
            f"{case['median']['seconds_per_trial']:.3f}",
            f"{case['flops'] / case['runs'][0]['best_s'][0] / 1e9:.0f}",
            f"{case['flops'] / case['median']['best_s'] / 1e9:.0f}",
            *(f"{case['median']['part_s'][part]:.0f}" for part in parts),
            *(
                f"{case['original'][key]:.2f}" if "original" in case else ""
                for key in ("speed", "time")
            ),
        ]
        for name, case in found["cases"].items()
    ]
    head = ["case", "seeds", "s a trial", "untuned GFLOP/s", "best GFLOP/s"]
    head += [f"s to {float(part):.0%} of the gain" for part in parts]
    head += ["× the original's speed", "× less time a trial"]
    return (
        "## How soon good programs are found\n\n"
        f"`python -m benchmarks.convergence`, each run from an empty database, medians over seeds. "
        f"{origin(found)}\n\n{table(head, rows)}\n"
        "The original is tvm.auto_scheduler on a machine of the same kind, given as many trials.\n"
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
    reached = found["summary"]
    verdict = (
        f"In the geometric mean profiles reach {reached['speed']:.3f} of the search's speed in "
        f"{reached['less_time']:.1f} times less time; the least is {reached['worst']:.3f}.\n\n"
        if reached
        else ""
    )
    return (
        "## Profiles\n\n"
        "`python -m benchmarks.profiler`: at most 24 programs a task by guidelines, all measured "
        "and nothing trained (`tune --profile`, Bolt's section 3.2.2), against ten minutes of "
        "search for ResNet-50, for others by their number of tasks. Seconds of tuning are wall "
        f"time; networks take turns in processes of their own. {origin(found['provenance'])}\n\n"
        f"{verdict}{table(PROFILER_HEAD, profiler_rows(found))}"
    )


def repvgg(found: Content) -> str:
    """Variants of RepVGG."""
    return (
        "## RepVGG with other activations and 1x1 convolutions\n\n"
        "`python -m benchmarks.repvgg`: the variants of Bolt's tables 4 to 6 as they are deployed, "
        "batch 1, float32, each tuned by its profile; every network takes turns with RepVGG-A0 "
        "(ReLU). The paper's are speeds on a T4 with FP16 and batch 32. "
        f"{origin(found['provenance'])}\n\n{table(REPVGG_HEAD, repvgg_rows(found))}"
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


def onnx_conformance(found: Content) -> str:
    """How much of ONNX's own test-suite passes, and which operators keep the rest from it."""
    goals = [
        [
            name,
            str(goal["of"]),
            str(goal["passed"]),
            f"{goal['share']:.1%}",
            f"{goal['goal']:.0%}",
            str(goal["given_constants"]),
            str(goal["folded"]),
        ]
        for name, goal in found["goals"].items()
    ]
    statuses = list(next(iter(found["kinds"].values())))
    kinds = [[name, *(str(kind[s]) for s in statuses)] for name, kind in found["kinds"].items()]
    counted = [e for e in found["not_passed"] if e["kind"] == "node" and not e["excluded"]]
    short = Counter(e["operator"] for e in counted)
    listed = ", ".join(f"{name} ({number})" for name, number in sorted(short.items()))
    head = ["cases", "counted", "passed", "share", "goal", "constants given", "evaluated"]
    return (
        "## ONNX's test-suite\n\n"
        "`python -m benchmarks.onnx_conformance`: ONNX's backend tests on untuned programs "
        f"(onnx {found['onnx']}). Node cases count where inputs and outputs are floats, integers "
        "or bools and the operator is not random, of training, sequences, optional values, "
        "strings, images or control flow. Where an operator must know an input when a model is "
        "loaded (a shape, axes), the case gives it as a constant; a case with no other inputs is "
        f"evaluated then. {origin(found)}\n\n"
        f"{table(head, goals)}\n"
        f"All cases, whether they count or not:\n\n{table(['kind', *statuses], kinds)}\n"
        f"Counted node cases that do not pass: {listed or 'none'}.\n"
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
    "edges": edges,
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
    print(f"wrote {PAGE}")

"""The sections of docs/performance.md on networks and parts of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from benchmarks.chains import BARS
from benchmarks.chains import HEAD as CHAINS_HEAD
from benchmarks.chains import RATIOS as CHAINS_RATIOS
from benchmarks.chains import row as chain_row
from benchmarks.edges import HEAD as EDGES_HEAD
from benchmarks.edges import row as edge_row
from benchmarks.native import HEAD as NATIVE_HEAD
from benchmarks.native import row as native_row
from benchmarks.page_words import Content, budgets, origin, ratio, table
from benchmarks.peers.sides import PEERS
from benchmarks.repvgg import HEAD as REPVGG_HEAD
from benchmarks.repvgg import rows as repvgg_rows
from benchmarks.shapes import HEAD as SHAPES_HEAD
from benchmarks.shapes import row as shapes_row
from tilewright.ground.text import duration


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
        ratio(entry["ratio_best_peer"]),
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
        {
            "Sharing in the geometric mean of all": "geomean_unchained",
            "Sharing in the worst case": "worst_unchained",
            "The best peer in the geometric mean": "geomean_best_peer",
        },
    )


def native(found: Content) -> str:
    """Fewer bits."""
    kinds = [
        [
            part,
            str(row["cases"]),
            *(ratio(row[f"geomean_{key}"]) for key in ("best_peer", "untuned")),
            _named(row["worst"]),
        ]
        for part, row in found["summary"]["kinds"].items()
    ]
    head = ["kind", "cases", "best peer / ours", "best peer / untuned", "worst"]
    cases = [[*native_row(e), ", ".join(e["instructions"]["tilewright"])] for e in found["cases"]]
    untuned = "" if any(e["trials"] for e in found["cases"]) else "Nothing is tuned here. "
    return (
        "## Fewer bits\n\n"
        "`python -m benchmarks.native`: bfloat16, MatMulInteger, QLinear operators, networks in "
        "bfloat16, in QDQ, or quantised as they run. Outputs are compared first; a peer that is "
        "further from float32 than allowed stands in brackets and does not count. "
        f"{budgets(found['cases'])}{untuned}{origin(found['provenance'])}\n\n"
        f"{table(head, kinds)}\n{table([*NATIVE_HEAD, 'multiplies by'], cases)}"
    )


def shapes(found: Content) -> str:
    """One network for a range."""
    rows = [
        [
            name,
            str(row["cases"]),
            *(ratio(row[f"geomean_{key}"]) for key in ("static", "peer")),
            *(_named(row[f"worst_{key}"]) for key in ("static", "peer")),
        ]
        for name, row in found["summary"]["networks"].items()
    ]
    head = ["network", "cases", *SHAPES_HEAD[-3:-1], "worst of static", "worst of peers"]
    untuned = "" if any(e["trials"] for e in found["cases"]) else "Nothing is tuned here. "
    return (
        "## Shapes that vary\n\n"
        "`python -m benchmarks.shapes`: one network for a range (a text of 1 to 512 tokens, images "
        "of 96 to 640 each side) beside networks of each shape alone, and libraries with dynamic "
        f"axes. {budgets(found['cases'])}{untuned}{origin(found['provenance'])}\n\n"
        f"{table(head, rows)}\n{table(SHAPES_HEAD, map(shapes_row, found['cases']))}"
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


def _in_one_kernel(
    found: Content,
    title: str,
    name: str,
    cases: str,
    share: str,
    bars: Mapping[str, str] | None = None,
) -> str:
    """Cases in one kernel and in several; `bars` says what is asked of which figure."""
    summary = found["summary"]
    told = [
        f"Of {summary['cases']} cases {summary['chained']} are cut so that {share}. "
        f"Sharing it is {summary['geomean_unchained']:.2f} as fast as kernels of their own "
        "in the geometric mean of all"
    ]
    if summary["chained"]:
        told.append(f", {summary['geomean_where_chained']:.2f} of these")
    told.append(f" (worst {_named(summary['worst_unchained'])}), untuned ")
    told.append(f"{summary['geomean_untuned']:.2f} (worst {_named(summary['worst_untuned'])}). ")
    if summary["same_program"]:
        least, most = summary["same_program"]
        told.append(
            "Where nothing is shared both ways are one program, and ratios from "
            f"{least:.2f} to {most:.2f} are noise. "
        )
    if summary["geomean_best_peer"] is not None:
        told.append(
            f"The best peer takes {summary['geomean_best_peer']:.2f} times as long (worst "
            f"{_named(summary['worst_best_peer'])})."
        )
    asked = [f"- {what}: {_bar(summary[key], BARS[key])}\n" for what, key in (bars or {}).items()]
    return (
        f"## {title}\n\n"
        f"`python -m benchmarks.{name} --json benchmarks/results/{name}.json`: {cases}; float32, "
        "two threads, as many trials for either way, sides in turns. *unchained / ours* is of the "
        "better of the tuned and the untuned program of either way. "
        f"{budgets(found['cases'])}{origin(found['provenance'])}\n\n"
        f"{table((*CHAINS_HEAD, *CHAINS_RATIOS), map(chain_row, found['cases']))}\n"
        f"{''.join(told)}\n" + "".join(["\n", *asked] if asked else [])
    )


def _bar(reached: float | Content | None, bar: float) -> str:
    """Whether what is asked for is reached."""
    value = reached["ratio"] if isinstance(reached, Mapping) else reached
    if value is None:
        return f"{bar} is asked for; nothing to compare with"
    return f"{bar} is asked for, {'met' if value >= bar else 'missed'} ({value:.2f})"


def _named(worst: Content) -> str:
    return f"{worst['ratio']:.2f}, {worst['case']}"


def edges(found: Content) -> str:
    """What moves data rather than multiplies."""
    summary = found["summary"]
    told = [f"{summary['cases']} cases. {budgets(found['cases'])}"]
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
        "`python -m benchmarks.edges --json FILE`: transposes, layouts, "
        "long rows, functions, strided reads and orders as small ONNX graphs, arrays as ONNX has "
        "them (channels first); float32, two threads, sides in turns, called on the same arrays. "
        "The copy takes turns with them, called from Python, too. "
        f"{origin(found['provenance'])}\n\n"
        f"{table(('geometric mean', 'best peer / ours'), ((k, ratio(r)) for k, r in kinds))}\n"
        f"{table(EDGES_HEAD, map(edge_row, found['cases']))}\n"
        f"{''.join(told).rstrip()}\n"
    )


def start(found: Content) -> str:
    """How long until a network runs."""
    rows = [
        (name, what, *(f"{one[key]:.2f}" for key in ("wall_s", "cpu_s")), _megabytes(one))
        for name, figures in {**found["networks"], "tilewright": found["commands"]}.items()
        for what, one in figures.items()
    ]
    return (
        "## Starting\n\n"
        "`python -m benchmarks.start --json benchmarks/results/start.json`: processes that import, "
        "compile and (where they *run*) call a network once, with an empty cache (*cold*) and with "
        "one that has it (*warm*, the median of turns with onnxruntime's session), and commands "
        f"that help or refuse. {origin(found)}\n\n"
        f"{table(('of', '', 's', 'CPU s', 'peak MB'), rows)}"
    )


def _megabytes(one: Content) -> str:
    return f"{one['peak_bytes'] / 1e6:.0f}"


def orders(found: Content) -> str:
    """What is of the right order: prefixes, selections, sorts, scatters, spectra."""
    return edges(found).replace("## What moves data", "## Prefixes, selections, places", 1)


def repvgg(found: Content) -> str:
    """Variants of RepVGG."""
    return (
        "## RepVGG with other activations and 1x1 convolutions\n\n"
        "`python -m benchmarks.repvgg`: the variants of Bolt's tables 4 to 6 as they are deployed, "
        "batch 1, float32, each tuned by its profile; every network takes turns with RepVGG-A0 "
        "(ReLU). The paper's are speeds on a T4 with FP16 and batch 32. "
        f"{origin(found['provenance'])}\n\n{table(REPVGG_HEAD, repvgg_rows(found))}"
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

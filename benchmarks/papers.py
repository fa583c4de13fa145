"""What the papers claim beside what was measured here: docs/results/papers.md.

    papers.page({"ablation": {...}})          of the files in benchmarks/results by their names

A row is a figure or table of a paper: its claim and the paper's figure, the script that shows the
same here, and what the newest result file that has it says. Nothing but the papers' own figures is
written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any

from benchmarks import ablation, reuse_pairs, reuse_sets
from benchmarks.cases import SUBGRAPHS
from benchmarks.comparison import Entry, having, mean, worst
from benchmarks.operator_sets import SETS
from benchmarks.operators import operator_of
from benchmarks.report import Content, markdown, state, table

GPU = "needs a GPU that was not lent"
DRAWN = "a drawing or a definition: nothing to measure"
NOWHERE = "not measured"
Files = Mapping[str, Content]
Ours = Callable[[Content], str | None]


@dataclass(frozen=True)
class Claim:
    """A figure or table: what the paper says and by which figure; `files` are those that may have
    ours, the first that does counts; `lacking` is said where none does.
    """

    where: str
    says: str
    figure: str
    script: str = ""
    files: tuple[str, ...] = ()
    ours: Ours = lambda found: None
    lacking: str = NOWHERE


# ---- reading ------------------------------------------------------------------------------------


def cases(found: Content, part: str) -> list[Entry]:
    """The cases of a script's file, or of its part of the scoreboard."""
    of = found.get("parts", {}).get(part, {}) if "parts" in found else found
    return list(of.get("cases", ()))


def peers_of(part: str, wanted: Callable[[Entry], bool] = lambda e: True) -> Ours:
    """How cases compare with the best library."""

    def ours(found: Content) -> str | None:
        some = [e for e in having(cases(found, part), "ratio_best_peer") if wanted(e)]
        average, least = mean(e["ratio_best_peer"] for e in some), worst(some, "ratio_best_peer")
        if average is None or least is None:
            return None
        return (
            f"{average:.2f} of the best library in the geometric mean of {len(some)}, at least "
            f"{least['ratio']:.2f} ({least['case']})"
        )

    return ours


def searches(figure: str) -> Ours:
    """Where each variant of a search ends, relative to the full one."""

    def ours(found: Content) -> str | None:
        one = ablation.figures_of(found).get(figure)
        if one is None:
            return None
        ends = {name: of["median"][-1] for name, of in one["variants"].items()}
        first, *others = ends.items()
        return "; ".join(f"{name} ends at {end / first[1]:.2f}" for name, end in others)

    return ours


def met(found: Content) -> str | None:
    """Trials until networks were as fast as onnxruntime."""
    matches = {e["case"]: e["match"].get("onnxruntime") for e in cases(found, "networks")}
    told = [f"{name} {m['trials']}, {m['seconds']:.0f} s" for name, m in matches.items() if m]
    return f"as fast as onnxruntime after {'; '.join(told)}" if told else None


def accuracy(found: Content) -> str:
    """Figure 11."""
    one = found["figure_11"]["random 20 %, all"]
    told = ", ".join(f"{name} {one[name]:.3f}" for name in ("rmse", "r2", "pairwise", "recall"))
    return f"{told}; {one['top']:.3f} of each task's best 30" if "top" in one else told


def partial(found: Content) -> str:
    """Figure 3."""
    first, last = found["figure_3"][0], found["figure_3"][-1]
    names = ("pairwise", "recall@10")
    return "; ".join(f"{name} from {first[name]:.2f} to {last[name]:.2f}" for name in names)


def estimated(found: Content) -> str | None:
    """ETO's figure 5."""
    shares = reuse_pairs.estimates(dict(found))
    if not shares:
        return None
    average = sum(shares) / len(shares)
    return f"{average:.2f} ({shares[0]:.2f} to {shares[-1]:.2f}) in {len(shares)} pairs"


def pairs(key: str) -> Ours:
    """Figures 7 and 8 over the types of operators."""

    def ours(found: Content) -> str:
        by_type = {k: v for k, v in reuse_pairs.means(dict(found)).items() if k != "all pairs"}
        if key == "trials":
            spent = [128 / row["trials"] for row in by_type.values()]
            return f"{min(spent):.1f} times fewer trials than a search, at least"
        rates = [row["reuse"] for row in by_type.values()]
        count = len(found["pairs"])
        return f"{min(rates):.1%} to {max(rates):.1%} by type, {count} pairs"

    return ours


def sets(key: str) -> Ours:
    """Figures 9 and 10 over the sets."""

    def ours(found: Content) -> str | None:
        some = [one for one in found["sets"].values() if "needed" in one["sides"].get("reuse", ())]
        if not some:
            return None
        reuse = [(one["sides"]["reuse"], one["sides"]["own"]) for one in some]
        if key == "throughput":
            values = [one["throughput"] for one, _ in reuse]
            return f"{min(values):.1%} to {max(values):.1%} in {len(values)} sets"
        values = [own["seconds"] / one["seconds"] for one, own in reuse]
        return f"{min(values):.1f} to {max(values):.1f} times less time in {len(values)} sets"

    return ours


def bridges(found: Content) -> str | None:
    """Figures 6 and 11: how plans with more hops compare, by trials: on a simulated device these
    are what takes time on a real one.
    """
    means = reuse_sets.summary(dict(found))["sides"]
    told = [
        f"{side}: {one['throughput']:.3f} by {one['fewer_trials']:.2f} times fewer trials"
        for side, one in means.items()
        if side.startswith("bridges")
    ]
    return "; ".join(told) or None


def operators_of_sets() -> str:
    """ETO's table 2."""
    counts = {name: len(members) for name, members in SETS.items()}
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def bolt(part: str, words: str) -> Ours:
    """A part of Bolt's microbenchmarks."""

    def ours(found: Content) -> str | None:
        figures = found["summary"].get(part, {})
        if f"{words}, geometric mean" not in figures:
            return None
        average, least = (figures[f"{words}, {what}"] for what in ("geometric mean", "worst"))
        count = len(found["rows"][part])
        return f"{average:.2f} {words} in the geometric mean of {count}, at least {least:.2f}"

    return ours


def repvgg(number: str) -> Ours:
    """Speeds relative to RepVGG-A0."""

    def ours(found: Content) -> str | None:
        rows = found["summary"].get(f"table_{number}", {})
        return "; ".join(f"{n} {r['here']:.2f} ({r['paper']:.2f})" for n, r in rows.items()) or None

    return ours


def hidet(number: str, say: Callable[[Sequence[Entry]], str]) -> Ours:
    """A figure of Hidet's."""

    def ours(found: Content) -> str | None:
        some = [e for e in found["cases"] if e["case"].startswith(f"{number}:")]
        return say(some) if some else None

    return ours


def costs(some: Sequence[Entry]) -> str:
    """How much less a profile costs than a search."""
    less = [e["ways"]["search"]["seconds"] / e["ways"]["profile"]["seconds"] for e in some]
    return f"a profile takes {geometric_mean(less):.1f} times less than a search"


def near(some: Sequence[Entry]) -> str:
    """How many programs of each space are within 1.1 of the best of all."""
    spaces = some[0]["spaces"]
    best = min(s for of in spaces.values() for s in of["latencies_s"])
    shares = {n: [s <= 1.1 * best for s in of["latencies_s"]] for n, of in spaces.items()}
    told = (f"{sum(each) / max(len(each), 1):.0%} of {name}" for name, each in shares.items())
    return f"within 1.1 of the best: {', '.join(told)}"


def rates(some: Sequence[Entry]) -> str:
    """The least rate over the largest, by our tiles and by those that divide."""
    told = []
    for side in ("tilewright", "divisors"):
        found = [e["flops"] / e["seconds"][side] for e in some if side in e["seconds"]]
        told.append(f"{side} {min(found) / max(found):.2f}")
    return f"slowest over fastest size: {', '.join(told)}"


def beside(some: Sequence[Entry]) -> str:
    """The best peer over ours."""
    own = ("tilewright", "untuned", "apart", "untuned, apart")
    ratios = [
        min(peers) / e["seconds"]["tilewright"]
        for e in some
        if (peers := [s for n, s in e["seconds"].items() if n not in own])
    ]
    average = mean(ratios)
    return "no library" if average is None else f"{average:.2f} of the best library's speed"


def is_subgraph(entry: Entry) -> bool:
    """Whether a case is one of Ansor's two subgraphs."""
    return operator_of(entry) in SUBGRAPHS


# ---- the claims ---------------------------------------------------------------------------------


NETWORKS = ("scoreboard", "networks")
OPERATORS = ("scoreboard", "operators")
PAPERS: dict[str, Sequence[Claim]] = {
    "Ansor (Zheng et al., OSDI 2020)": (
        Claim("figure 3", "incomplete programs are predicted badly", "pairwise from 0.50, "
              "recall@10 from 0", "cost_model", ("cost_model",), partial),
        Claim("figures 4 and 5, tables 1 and 2", "overview, sketches, rules, objectives", "",
              lacking=DRAWN),
        Claim("figure 6", "the best or equally the best on ten operators", "1.1 to 22.5 times "
              "other searches", "operators", OPERATORS,
              peers_of("operators", lambda e: not is_subgraph(e))),
        Claim("figure 7", "dropping the space or fine-tuning costs most", "full is best",
              "ablation", ("ablation",), searches("C2D-3-b16")),
        Claim("figure 8, CPU", "subgraphs", "1.1 to 14.2 times others", "operators", OPERATORS,
              peers_of("operators", is_subgraph)),
        Claim("figure 8, GPU", "subgraphs", "1.1 to 14.2 times others",
              "operators --device cuda", lacking=GPU),
        Claim("figure 9, CPU", "whole networks", "up to 3.8 times the best alternative",
              "networks", NETWORKS, peers_of("networks")),
        Claim("figure 9, GPU", "whole networks", "up to 1.7 times the best alternative",
              "networks --device cuda", lacking=GPU),
        Claim("figure 9, ARM", "whole networks", "up to 2.6 times the best alternative",
              "networks", lacking="needs an ARM machine"),
        Claim("figure 10, left", "MobileNet-V2: each part of the search counts", "full is best",
              "ablation", ("ablation", "network_ablation"), searches("mobilenet-v2")),
        Claim("figure 10, right", "two networks together", "full is best", "ablation",
              ("ablation", "network_ablation"), searches("mobilenet-v2-resnet50")),
        Claim("figure 11", "complete programs are predicted well", "RMSE 0.079, R² 0.958, "
              "pairwise 0.851, recall@30 0.624", "cost_model", ("cost_model",), accuracy),
        Claim("table 3", "trials until AutoTVM is met", "298 to 6,403 trials, 266 to 4,540 s",
              "networks", NETWORKS, met),
    ),
    "ETO (VLDB 2022)": (
        Claim("figure 1", "similarity of spaces does not tell who profits", ""),
        Claim("figure 5", "estimated over actual trials", "1.04 (0.54 to 1.62) in 40 pairs",
              "reuse_pairs", ("reuse_pairs",), estimated),
        Claim("figures 6 and 11", "bridges save search time", "2.2 to 3.3 times less time",
              "reuse_sets --bridges 0,1,all", ("reuse_sets", "reuse_sets_simulated"), bridges),
        Claim("figure 7", "throughput of reuse, by type", "94.7 % to 257.1 %", "reuse_pairs",
              ("reuse_pairs",), pairs("reuse")),
        Claim("figure 7, a simulated H100", "throughput of reuse, by type", "94.7 % to 257.1 %",
              "reuse_pairs --simulated", ("reuse_pairs_simulated",), pairs("reuse")),
        Claim("figure 8", "search time of reuse", "1.1 to 12.1 times less", "reuse_pairs",
              ("reuse_pairs",), pairs("trials")),
        Claim("figure 9", "throughput of sets", "91.4 % to 101.3 %", "reuse_sets",
              ("reuse_sets",), sets("throughput")),
        Claim("figure 9, a simulated H100", "throughput of sets", "91.4 % to 101.3 %",
              "reuse_sets --simulated", ("reuse_sets_simulated",), sets("throughput")),
        Claim("figure 10", "search time of sets", "3.1 to 16.1 times less", "reuse_sets",
              ("reuse_sets",), sets("seconds")),
        Claim("table 2", "operators of the nine sets", "20, 31, 33, 35, 25, 5, 5, 40, 36",
              "operator_sets", lacking=operators_of_sets()),
    ),
    "Bolt (MLSys 2022)": (
        Claim("figure 8a", "products beside Ansor", "6.1 to 9.5 times, 1.9 once", "bolt_gpu",
              ("bolt_gpu",), bolt("8a", "of SIMT"), GPU),
        Claim("figure 8a", "products beside cuBLAS", "", "bolt_gpu", ("bolt_gpu",),
              bolt("8a", "of PyTorch"), GPU),
        Claim("figure 8b", "convolutions beside Ansor", "2.7 to 3.5 times", "bolt_gpu",
              ("bolt_gpu",), bolt("8b", "of SIMT"), GPU),
        Claim("figure 9", "fused epilogues", "1.45 times (products), 1.38 (convolutions)",
              "bolt_gpu", ("bolt_gpu",), bolt("9", "of apart"), GPU),
        Claim("figure 10", "six networks beside Ansor, tuned in 20 minutes", "2.8 times",
              "bolt_gpu", ("bolt_gpu",), bolt("10", "of untuned"), GPU),
        Claim("table 1", "two products in one kernel", "1.24 to 1.46 times", "bolt_gpu",
              ("bolt_gpu",), bolt("table1", "of apart"), GPU),
        Claim("table 2", "two convolutions in one kernel", "1.10 to 2.02 times", "bolt_gpu",
              ("bolt_gpu",), bolt("table2", "of apart"), GPU),
        Claim("table 3", "padded channels", "1.60 to 1.99 times", "bolt_gpu", ("bolt_gpu",),
              bolt("table3", "of apart"), GPU),
        *(
            Claim(f"table {number}", f"RepVGG: {what} (ours, the paper's)", f"{speeds} of A0",
                  "repvgg", ("repvgg",), repvgg(number))
            for number, what, speeds in (
                ("4", "activations", "0.92 to 0.97"), ("5", "1x1 convolutions", "0.53 to 0.85"),
                ("6", "both", "0.49 to 0.93"),
            )
        ),
    ),
    "Hidet (ASPLOS 2023), on a CPU": (
        Claim("figure 16", "networks of one image", "1.22 times the best, at most 1.48",
              "networks", NETWORKS, peers_of("networks", lambda e: e["case"].endswith("-b1"))),
        Claim("figure 17", "tuning cost", "20 and 11 times less than AutoTVM and Ansor", "hidet",
              ("hidet",), hidet("17", costs)),
        Claim("figure 18", "most programs of a small space are good", "most of 180 within 73 µs",
              "hidet", ("hidet",), hidet("18", near)),
        Claim("figure 19", "consecutive sizes are equally fast, primes too", "consistent",
              "hidet", ("hidet",), hidet("19", rates)),
        Claim("figure 20", "batch 1, 4, 8", "faster than all at each", "hidet", ("hidet",),
              hidet("20", beside)),
        Claim("figure 21", "convolution, normalisation, ReLU", "faster than others on most",
              "hidet", ("hidet",), hidet("21", beside)),
        Claim("figure 22", "beside TensorRT", "faster on three CNNs, slower on two", "",
              lacking=GPU),
    ),
}  # fmt: skip
HEAD = ("figure", "claim", "the paper's", "script", "ours", "machine", "commit")


def row(claim: Claim, files: Files) -> list[str]:
    """A line of the table."""
    told = [claim.where, claim.says, claim.figure, f"`{claim.script}`" if claim.script else ""]
    for name in claim.files:
        if name in files and (ours := claim.ours(files[name])):
            head: Any = files[name].get("provenance", files[name])
            if "commit" not in head:  # every figure of the file has its own
                head = next(iter(files[name]["figures"].values()))
            return [*told, ours, head["machine"], state(head["commit"])]
    return [*told, claim.lacking, "", ""]


def page(files: Files) -> str:
    """The whole page."""
    head = (__doc__ or "").partition("\n\n")[2].partition("\n\n")[2].strip()
    parts = ["# The papers' evidence", f"{head} Ratios above 1 mean that ours is faster."]
    for paper, claims in PAPERS.items():
        rows = [row(claim, files) for claim in claims]
        parts += [f"## {paper}", table(HEAD, rows, "---").rstrip()]
    return markdown(parts)

"""The section of docs/performance.md on Hidet's figures."""

from __future__ import annotations

from benchmarks.hidet_report import TITLES, picture_of, table_of
from benchmarks.page_words import Content, origin, table
from benchmarks.provenance import RESULTS

TOLD = {
    "17": "Wall seconds of tuning an operator by the search and by its profile, and by TVM's "
    "MetaSchedule where apache-tvm was installed (its releases no longer have Ansor's or "
    "AutoTVM's). *Its best* is what the tuner itself measured.",
    "18": "All rows of the CPU's template that time allowed, and the programs that a search of the "
    "sketches chose to measure; latencies as the searches measured them.",
    "19": "Tiles may run over the end of an axis; *divisors* is the same search where they divide "
    "it, which leaves none for a prime.",
    "20": "Tuned by the profile.",
    "21": "*After*: normalisation and ReLU in the convolution's kernel, or apart in a second one. "
    "*Before*: normalisation and ReLU of its input, where the model is cut so. *apart / ours* is "
    "of the better of the tuned and the untuned program of either way.",
}


def hidet(found: Content) -> str:
    """Every figure that was measured."""
    setting = found["setting"]
    parts = [
        "## Hidet's figures on a CPU\n",
        f"`python -m benchmarks.hidet`: float32, {setting['threads']} threads, {setting['trials']} "
        "trials of every search; sides in turns, each in a process of its own. "
        f"{origin(found['provenance'])}\n",
    ]
    for number, rows in sorted(found["figures"].items()):
        if rows:
            parts += [f"### Figure {number}: {TITLES[number].lower()}\n", f"{TOLD[number]}\n"]
            parts.append(table(*table_of(number, rows)))
            picture = picture_of(number, RESULTS / "hidet.json")
            if picture.is_file():
                link = f"../benchmarks/results/{picture.name}"
                parts.append(f"![{TITLES[number]}]({link})\n")
    return "\n".join(parts)

"""The pages of results: docs/performance.md of the scoreboard, docs/results of everything else.

    python -m benchmarks.page             write them anew after a benchmark's --json went to results

A page says what its script's docstring says of the measuring, then what the script itself prints.
Every figure is read from the files in benchmarks/results; a script without a file has no page. The
README's first number stands between two comments, and is the scoreboard's.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import papers, scoreboard_page
from benchmarks.commit import REPOSITORY, number_of, origins
from benchmarks.provenance import RESULTS
from benchmarks.report import Content, Part, Table, budgets, markdown, mixture, origin, state, told

PAGE, FOLDER = REPOSITORY / "docs" / "performance.md", REPOSITORY / "docs" / "results"
README = REPOSITORY / "README.md"
BEGIN, END = "<!-- The first number: written by benchmarks.page. -->\n", "<!-- End of it. -->"
SCOREBOARD = "scoreboard"

# What the pages are about, in their order, and the results beside the one of the script's name.
SCRIPTS: Mapping[str, tuple[str, ...]] = {
    SCOREBOARD: (), "networks": (), "operators": (),
    "native": ("native_amx", "native_avx2"), "chains": (), "edges": ("orders",),
    "shapes": ("shapes_tuned",), "load": (), "start": (), "search_speed": (), "cluster": (),
    "ablation": ("network_ablation",), "cost_model": (), "reuse_pairs": ("reuse_pairs_simulated",),
    "reuse_sets": ("reuse_sets_simulated",), "hidet": (), "repvgg": (),
    "bolt_gpu": (), "gpu_suite": (),
}  # fmt: skip


def pages(folder: Path = RESULTS) -> dict[Path, str]:
    """All pages by their files, and the README as it must be."""
    found = {file.stem: json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))}
    made = {
        FOLDER / f"{name}.md": page(name, {stem: found[stem] for stem in stems if stem in found})
        for name, more in SCRIPTS.items()
        if not found.keys().isdisjoint(stems := (name, *more))
    }
    made[FOLDER / "papers.md"] = papers.page(found)
    board = found.get(SCOREBOARD)
    links = {file.stem: f"results/{file.name}" for file in made}
    readme = README.read_text(encoding="utf-8")
    before, _, rest = readme.partition(BEGIN)
    told_there = scoreboard_page.first_number(board)
    made[README] = before + BEGIN + told_there + END + rest.partition(END)[2]
    return {PAGE: scoreboard_page.page(board, links), **made}


def page(name: str, found: Mapping[str, Content]) -> str:
    """The page of a script: how it measures, and each of its files."""
    module = importlib.import_module(f"benchmarks.{name}")
    title, _, rest = (module.__doc__ or "").partition("\n")
    texts = [f"# {title.rstrip('.')}\n", rest.strip("\n") + "\n"]
    for stem, content in found.items():
        if len(found) > 1 or stem != name:
            texts.append(f"## {stem}\n")
        head = content.get("provenance", content)
        where = origin(head) if "commit" in head else ""
        said = " ".join(filter(None, (where, budgets(content.get("cases", ())))))
        texts += [f"{line}\n" for line in (said, mixture(content)) if line]
        texts.append(markdown(parts(module, content)))
    return "\n".join(texts)


def parts(module: Any, content: Content) -> list[Part]:
    """What a script says of a file of its own; of a board, what each part's script does."""
    if "parts" in content:
        return [
            part
            for name, one in content["parts"].items()
            for part in (f"## {name}", *parts(importlib.import_module(f"benchmarks.{name}"), one))
        ]
    if hasattr(module, "parts"):
        found: list[Part] = module.parts(content)
        return found
    if not hasattr(module, "SUITE"):
        return told(content["summary"])
    results = type(module.SUITE.results(None)).of(dict(content))
    failed = [f"Failed: {case}: {message}" for case, message in results.failed.items()]
    table = Table(module.HEAD, map(module.row, results.sorted()))
    return [*told(results.summary()), *failed, table]


def ages(folder: Path = RESULTS) -> list[str]:
    """How many commits ago each file was made."""
    now = number_of("HEAD")
    lines = []
    for file in sorted(folder.glob("*.json")):
        for commit in sorted({one.commit for one in origins(json.loads(file.read_text()))}):
            then = number_of(commit)
            ago = "" if then is None or now is None else f", {now - then} commits ago"
            lines.append(f"{file.stem}: {state(commit)}{ago}")
    return lines


def main() -> None:
    """Write everything; pages of results that are gone go, too."""
    written = pages()
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.md"):
        if file not in written:
            file.unlink()
    for file, text in written.items():
        file.write_text(text, encoding="utf-8")
    board = RESULTS / f"{SCOREBOARD}.json"
    if board.exists():
        scoreboard_page.draw(json.loads(board.read_text()), FOLDER)
    print("\n".join(ages()))


if __name__ == "__main__":
    main()

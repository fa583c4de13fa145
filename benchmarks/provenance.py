"""Where figures come from: the machine, the commit and the date that every JSON file carries.

    line.add_argument("--json", type=result_file)    a file that is written anew
    line.add_argument("--json", type=kept_file)      one that a later run goes on with
    {**provenance(target), ...}                      what goes into it

What lies in benchmarks/results is a claim: it is written from a commit that others can check out,
and by one commit only.
"""

from __future__ import annotations

import argparse
import datetime
import json
from pathlib import Path
from typing import Any

from benchmarks.commit import UNKNOWN, changed, commit, origins
from tilewright.front.machine import host_target, machine_of
from tilewright.target import Target

RESULTS = Path(__file__).parent / "results"


def provenance(target: Target | None = None) -> dict[str, str]:
    """Machine (None: this one's CPU), commit (with "-dirty" where files differ from it) and UTC
    date, for a JSON file.
    """
    target = target or host_target()
    units = "threads" if target.kind == "cpu" else "cores"
    return {
        "machine": f"{target.name}, {target.cores} {units}",
        "fingerprint": machine_of(target).fingerprint,
        "compiler": machine_of(target).compiler,
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


# ---- files --------------------------------------------------------------------------------------


def result_file(word: str) -> Path:
    """The file that a command line names for results. Raises ArgumentTypeError where it would be a
    committed one and the code is not that of a commit.
    """
    file = Path(word)
    if file.resolve().is_relative_to(RESULTS.resolve()):
        if commit() == UNKNOWN:
            raise argparse.ArgumentTypeError(
                f"{file} is for results of a commit, and there is no git here: write elsewhere"
            )
        if differing := changed():
            raise argparse.ArgumentTypeError(
                f"{file} is for results of a commit, and {', '.join(differing)} differ from it: "
                "commit them first, or write elsewhere"
            )
    return file


def kept_file(word: str) -> Path:
    """The same of a file to which results are added. Raises ArgumentTypeError also where it holds
    some of another commit.
    """
    file = result_file(word)
    held = {one.commit for one in origins(_content(file))} - {commit()}
    if held:
        raise argparse.ArgumentTypeError(
            f"{file} holds results of commit {', '.join(sorted(held))} and this is {commit()}: go "
            "on in a worktree of that commit, or remove the file to measure all of it anew"
        )
    return file


def _content(file: Path) -> Any:
    try:
        return json.loads(file.read_text()) if file.exists() else {}
    except ValueError:
        return {}  # whoever reads it on says what is wrong with it

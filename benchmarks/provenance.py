"""Where figures come from: the machine, the commit and the date that every JSON file carries."""

from __future__ import annotations

import datetime

from benchmarks.commit import commit
from tilewright.machine import host_target, machine_of
from tilewright.target import Target


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

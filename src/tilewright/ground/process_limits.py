"""What others let a process have (`ulimit`, a container): kept, and named where it is too little.

lower_limit(resource.RLIMIT_AS, 8 << 30)      what is lower already stays
shortage("[Errno 24] Too many open files")
-> "; this process may have 24 open files: raise that limit (ulimit -n)"
"""

from __future__ import annotations

import re
import resource
from dataclasses import dataclass

from tilewright.ground.text import size


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit by what it is of, its number, and the option of `ulimit` that shows and sets it."""

    of: str
    number: int
    option: str
    is_size: bool = False

    def __str__(self) -> str:
        soft, _ = resource.getrlimit(self.number)
        return f"{size(soft) if self.is_size else soft} {self.of}"


MEMORY = (
    Limit("of address space", resource.RLIMIT_AS, "-v", is_size=True),
    Limit("of data", resource.RLIMIT_DATA, "-d", is_size=True),
)
FILES = (Limit("open files", resource.RLIMIT_NOFILE, "-n"),)
PROCESSES = (Limit("processes and threads", resource.RLIMIT_NPROC, "-u"),)
FILE_SIZE = (Limit("in one file", resource.RLIMIT_FSIZE, "-f", is_size=True),)
CPU_TIME = (Limit("seconds of CPU time", resource.RLIMIT_CPU, "-t"),)

SYMPTOMS: tuple[tuple[re.Pattern[str], tuple[Limit, ...]], ...] = (
    (re.compile("too many open files", re.IGNORECASE), FILES),
    (re.compile("file too large|SIGXFSZ", re.IGNORECASE), FILE_SIZE),
    (re.compile("SIGXCPU|SIGKILL"), CPU_TIME),
    (
        re.compile(
            "start new thread|thread_create|Resource temporarily unavailable", re.IGNORECASE
        ),
        (*PROCESSES, *MEMORY),
    ),
    (
        re.compile(
            "MemoryError|out of memory|cannot allocate|allocate memory|map segment"
            "|load shared object|SIGABRT",
            re.IGNORECASE,
        ),
        MEMORY,
    ),
)
"""What is said, by the system, by libraries and by Python, where a limit is reached."""


def lower_limit(number: int, wanted: int) -> None:
    """Limit this process for good, unless it is limited to less: nobody may raise a hard limit."""
    given = (n for n in resource.getrlimit(number) if n != resource.RLIM_INFINITY)
    least = min((wanted, *given))
    resource.setrlimit(number, (least, least))


def shortage(said: object) -> str:
    """What to add to an error that may come of a limit; "" where none is set, or none explains it.

    `said` is an exception or a text.
    """
    text = f"{type(said).__name__}: {said}" if isinstance(said, BaseException) else str(said)
    for symptom, limits in SYMPTOMS:
        if symptom.search(text):
            found = [limit for limit in limits if _is_set(limit)]
            if found:
                listed = " and ".join(map(str, found))
                options = ", ".join(f"ulimit {limit.option}" for limit in found)
                word = "that limit" if len(found) == 1 else "these limits"
                return f"; this process may have {listed}: raise {word} ({options})"
    return ""


def _is_set(limit: Limit) -> bool:
    return resource.getrlimit(limit.number)[0] != resource.RLIM_INFINITY

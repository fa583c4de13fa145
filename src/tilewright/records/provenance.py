"""With what something was recorded: the command, and the versions of what it ran.

provenance()  ->  {"command": "tilewright tune m.onnx --minutes 3", "tilewright": "0.1.0", …}
"""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version

from tilewright.ground import __version__

PACKAGES = ("llvmlite", "lightgbm", "numpy")  # what compiles, what predicts, what searches
PASSWORD = re.compile(r"(?<=://)([^/@\s:]*):[^/@\s]*@")


def provenance() -> dict[str, str]:
    """Of this process, by name. A password in a database's URL is left out."""
    return {
        "command": _command(sys.argv),
        "tilewright": __version__,
        "python": python_version(),
        **{name: found for name in PACKAGES if (found := _version(name))},
    }


def network_key(tasks: Sequence[tuple[str, int]]) -> str:
    """What is the same for equal networks: their tasks' hashes and how often each is run."""
    text = ",".join(f"{hash_}*{weight}" for hash_, weight in sorted(tasks))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _command(arguments: Sequence[str]) -> str:
    """`python` and an inline program are not worth repeating."""
    if not arguments or arguments[0] in ("", "-c"):
        return "Python"
    program, *rest = arguments
    words = [Path(program).name, *rest]
    if words[0] == "__main__.py":  # of `python -m tilewright.cli`
        words[0] = Path(program).parent.name
    return PASSWORD.sub(r"\1:…@", shlex.join(words))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""

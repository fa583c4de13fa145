"""The command line, one file a command: `tilewright tune|compile|run|bench|show|report|…`.

`app.py` puts them together and turns errors into messages.
"""

from __future__ import annotations

import sys

from tilewright.cli.console import FAILED, complain
from tilewright.errors import TilewrightError


def main() -> None:
    """The entry point of the command `tilewright`."""
    try:
        # Not at the top: the import fails where no OpenMP runtime is installed.
        from tilewright.cli.app import app
    except TilewrightError as error:
        complain(str(error))
        sys.exit(FAILED)
    app()

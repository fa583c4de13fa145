"""The command line, one file a command: `tilewright tune|compile|run|bench|show|report|…`.

`app.py` puts them together and turns errors into messages.
"""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """The entry point of the command `tilewright`."""
    # While modules are loaded nothing is there to be cleaned up.
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(128 + signal.SIGINT))
    from tilewright.cli.console import FAILED, complain
    from tilewright.errors import TilewrightError

    try:
        # Fails where no OpenMP runtime is installed.
        from tilewright.cli.app import app
    except TilewrightError as error:
        complain(str(error))
        sys.exit(FAILED)
    signal.signal(signal.SIGINT, before)
    app()

"""The command line, one file a command: `tilewright tune|compile|run|bench|show|report|…`.

`app.py` puts them together and turns errors into messages.
"""

from __future__ import annotations

import os
import signal
import time


def main() -> None:
    """The entry point of the command `tilewright`. Commands find when it began in their context."""
    begun = time.monotonic()
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if usual:  # while modules are loaded nothing is there to be cleaned up
        signal.signal(signal.SIGINT, lambda *_: os._exit(128 + signal.SIGINT))
    from tilewright.cli.app import app

    if usual:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    app(obj=begun)

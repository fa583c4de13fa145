"""What every room stands on: errors, settings, words, files, limits of the process.

    logging.basicConfig()
    logging.getLogger("tilewright").setLevel("INFO")

INFO tells every round of a tuning run, DEBUG every trial; WARNING what is not as it should be: a
program recorded on another machine, a graph that runs in eager PyTorch.
"""

from __future__ import annotations

import logging

__version__ = "0.1.0"

log = logging.getLogger("tilewright")
log.addHandler(logging.NullHandler())  # silent until its user wants to hear it

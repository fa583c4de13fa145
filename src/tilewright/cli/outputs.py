"""What an output of a command must not replace.

protect([Path("net.so"), Path("net.h")], Path("net.onnx"), "tuning.db")
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tilewright.cli.parts import inspection
from tilewright.ground.files import database_files, refuse_output


def protect(
    outputs: Sequence[Path], model: Path, db: str | None = None, inputs: Sequence[Path] = ()
) -> None:
    """Raise InputError when an output is a file that the command reads: the model, one of its
    weights, the records or an input.

    Raises UnsupportedModel for a model that cannot be read.
    """
    replaced = [file for file in outputs if file.exists()]
    if not replaced:
        return
    needed = {
        "the model": [model],
        "weights of the model": inspection.weight_files(model),
        "the database": [] if db is None else database_files(db),
        "an input": list(inputs),
    }
    for file in replaced:
        refuse_output(file, (), needed)

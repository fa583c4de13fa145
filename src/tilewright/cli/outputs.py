"""What an output of a command must not replace.

needed_files(Path("net.onnx"), "tuning.db")     {"the model": […], "the database": […]}
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tilewright.files import database_files
from tilewright.inspection import weight_files


def needed_files(
    model: Path, db: str | None = None, inputs: Sequence[Path] = ()
) -> dict[str, list[Path]]:
    """The files that a command reads, by what they are; see `refuse_output`.

    Raises UnsupportedModel for a model that cannot be read.
    """
    return {
        "the model": [model],
        "weights of the model": weight_files(model),
        "the database": [] if db is None else database_files(db),
        "an input": list(inputs),
    }

"""What only some commands need of the package, imported when one of them does: help and refusals do
not wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.ground.lazy import Lazy

if TYPE_CHECKING:
    import onnx

    from tilewright import progress
    from tilewright.front import advice, compilation, inspection
    from tilewright.records import database
    from tilewright.report import words
else:
    onnx, advice, compilation, inspection, progress, database, words = map(
        Lazy,
        (
            *(
                "onnx",
                "tilewright.front.advice",
                "tilewright.front.compilation",
                "tilewright.front.inspection",
            ),
            *("tilewright.progress", "tilewright.records.database", "tilewright.report.words"),
        ),
    )

__all__ = ["advice", "compilation", "database", "inspection", "onnx", "progress", "words"]

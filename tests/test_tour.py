"""The tour's code runs, and prints what stands below it."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.cpu

TOUR = Path(__file__).parent.parent / "docs" / "tour.md"
BLOCKS = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


def test_the_tour_is_what_happens(request: pytest.FixtureRequest) -> None:
    text, names = TOUR.read_text("utf-8"), dict[str, Any]()

    def run(block: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block[1], str(TOUR), "exec"), names)
        shown = "\n".join(line.rstrip() for line in printed.getvalue().rstrip().splitlines())
        told = f"\n```text\n{shown}\n```\n" if shown else ""
        return f"```python\n{block[1]}```\n{told}"

    found = BLOCKS.sub(run, text)
    if request.config.getoption("--update-golden"):
        TOUR.write_text(found, "utf-8")
        return
    assert text.count("```python") > 8
    assert found == text, "if that is right, run --update-golden"

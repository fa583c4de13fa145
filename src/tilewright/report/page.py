"""From a history to one HTML file that needs nothing else.

    text = render(history)          the whole page, Plotly's program inlined once
    write(text, Path("report.html"))

Everything that comes from records is escaped: names and messages are text, never markup. The
page's policy forbids it to load anything.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from tilewright.errors import InputError
from tilewright.files import replacing
from tilewright.report import figures
from tilewright.report.history import History
from tilewright.text import NONE, clock, count, duration, factor, rate

try:
    import plotly.offline
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape
except ModuleNotFoundError as error:
    raise InputError(
        f"a report needs {error.name}, which is not installed: pip install 'tilewright[report]'"
    ) from error

SOURCE_BYTES = 5_000_000  # of LLVM IR in a page; a fair share of it for each task
WORDS = "for|in|range|alloc|at|if|hoist|program|input|constant|table|output"
LIGHT = re.compile(rf"(?P<note>(?<=\s)# .*$)|\b(?P<word>{WORDS})\b", re.MULTILINE)


def render(history: History) -> str:
    """The page's text."""
    environment = Environment(
        loader=PackageLoader("tilewright.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "duration": duration,
        "clock": clock,
        "percent": percent,
        "light": light,
    }
    environment.globals |= {"count": count, "factor": factor, "rate": rate, "NONE": NONE}
    overview = figures.overview(history)
    plots = overview | {k: v for task in history.tasks for k, v in figures.of_task(task).items()}
    return environment.get_template("page.html").render(
        history=history,
        plots=plots,
        plots_json=Markup(embedded(plots)),
        plotly=Markup(plotly.offline.get_plotlyjs()),
        style=Markup(_part("page.css")),
        script=Markup(_part("page.js")),
        source_limit=SOURCE_BYTES // max(len(history.tasks), 1),
        made=f"{datetime.now():%Y-%m-%d %H:%M}",
    )


def write(text: str, file: Path) -> None:
    """Write a file that appears whole or not at all. Raises InputError if that fails."""
    try:
        with replacing(file) as part:
            part.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(
            f"cannot write {file}: {error.strerror or error}: name a file that can be written"
        ) from error


def embedded(value: Any) -> str:
    """JSON that may stand inside a script element: no text of it can end the element."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c")


def percent(share: float | None) -> str:
    """A share as a percentage; a dash for None."""
    return NONE if share is None else f"{100 * share:.0f} %"


def light(code: str) -> Markup:
    """A loop nest with its keywords and comments marked."""
    parts, end = [], 0
    for found in LIGHT.finditer(code):
        parts.append(escape(code[end : found.start()]))
        parts.append(Markup(f"<i class={found.lastgroup}>{escape(found.group())}</i>"))
        end = found.end()
    return Markup("").join([*parts, escape(code[end:])])


def _part(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")

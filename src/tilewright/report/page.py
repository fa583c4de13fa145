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

from tilewright.ground.errors import InputError
from tilewright.ground.files import replacing
from tilewright.ground.text import NONE, clock, count, duration, rate
from tilewright.report import bars, figures
from tilewright.report.history import History
from tilewright.report.words import origin_words, sketch_words

try:
    import plotly.offline
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape
except ModuleNotFoundError as error:
    raise InputError(
        f"a report needs {error.name}, which is not installed: pip install 'tilewright[report]'"
    ) from error

SOURCE_BYTES = 5_000_000  # of LLVM IR in a page; a fair share of it for each task
MINUTE = "%Y-%m-%d %H:%M"
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
        "fine_percent": fine_percent,
        "times": times,
        "origin": origin_words,
        "sketch": sketch_words,
        "light": light,
        "breakable": breakable,
    }
    environment.globals |= {"count": count, "rate": rate, "NONE": NONE}
    environment.globals |= {
        "latencies": bars.latencies,
        "gains": bars.gains,
        "given": bars.given,
    }
    overview = figures.overview(history)
    plots = overview | {k: v for task in history.tasks for k, v in figures.of_task(task).items()}
    return environment.get_template("page.html").render(
        history=history,
        runs=run_rows(history),
        plots=plots,
        plots_json=Markup(embedded(plots)),
        plotly=Markup(plotly.offline.get_plotlyjs()),
        style=Markup(_part("page.css")),
        script=Markup(_part("page.js")),
        source_limit=SOURCE_BYTES // max(len(history.tasks), 1),
        made=f"{datetime.now():{MINUTE}}",
    )


def run_rows(history: History) -> list[dict[str, Any]]:
    """What the page says of each run; a dash for what earlier versions did not record."""
    rows = []
    for number, run in enumerate(history.runs, 1):
        facts = dict(history.facts_of(run))
        command = facts.pop("command", NONE)
        facts.pop("tasks", None)
        limits = {name: facts.pop(name, "") for name in ("minutes", "trials")}
        known = [f"{n:g} {name}" for name, n in limits.items() if not isinstance(n, str)]
        rows.append(
            {
                "number": number,
                "started": _minute(run.started_at),
                "seconds": run.seconds,
                "seed": run.seed,
                "strategy": run.strategy,
                "budget": ", ".join(known) or NONE,
                "command": command,
                "versions": ", ".join(f"{k} {v}" for k, v in facts.items()) or NONE,
                "load": history.load_of(run),
            }
        )
    return rows


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


def fine_percent(share: float | None) -> str:
    """The same of small shares, with a digit more."""
    return NONE if share is None else f"{100 * share:.{1 if share < 0.1 else 0}f} %"


def times(gain: float | None) -> str:
    """How many times as fast; a dash for None."""
    return NONE if gain is None else f"{gain:.2f}×"


def breakable(name: str) -> Markup:
    """A name that may go on in the next line after each of its parts."""
    return escape(name).replace("_", Markup("_<wbr>"))


def light(code: str) -> Markup:
    """A loop nest with its keywords and comments marked."""
    parts, end = [], 0
    for found in LIGHT.finditer(code):
        parts.append(escape(code[end : found.start()]))
        parts.append(Markup(f"<i class={found.lastgroup}>{escape(found.group())}</i>"))
        end = found.end()
    return Markup("").join([*parts, escape(code[end:])])


def _minute(at: float) -> str:
    """A Unix time; a dash for one that no calendar has."""
    try:
        return f"{datetime.fromtimestamp(at):{MINUTE}}"
    except (OverflowError, ValueError, OSError):
        return NONE


def _part(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")

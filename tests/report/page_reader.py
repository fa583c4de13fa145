"""Reads a report back: its tables, its plots, its sections.

page = read_page(text)
page.tables[0][1][3].text, page.plots["roofline"]["data"], page.tasks["gemm"]
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any


@dataclass
class Cell:
    text: str = ""
    value: str | None = None  # the exact number behind it


@dataclass
class Page(HTMLParser):
    tables: list[list[list[Cell]]] = field(default_factory=list)
    plots: dict[str, Any] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    _inside: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.elements.append((tag, named))
        if tag in ("script", "style"):
            self._inside = str(named.get("id") or tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            if tag == "th" and not self.tables[-1]:
                self.tables[-1].append([])
            self.tables[-1][-1].append(Cell(value=named.get("data-value")))
            self._inside = "cell"
        elif tag == "pre" and "code" in str(named.get("class")):
            self.codes.append("")
            self._inside = "code"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style", "table", "pre"):
            self._inside = ""

    def handle_data(self, data: str) -> None:
        match self._inside:
            case "plots":
                self.plots = json.loads(data)
            case "script" | "style":
                return
            case "cell":
                self.tables[-1][-1][-1].text += data.strip()
            case "code":
                self.codes[-1] += data
        if self._inside not in ("plots", "script", "style"):
            self.texts.append(data)

    @property
    def text(self) -> str:
        """Everything that is read, not drawn."""
        return "".join(self.texts)

    def table(self, heading: str) -> dict[str, list[Cell]]:
        """The rows of the table whose first heading is `heading`, by their first cell."""
        (found,) = [t for t in self.tables if t[0][0].text == heading]
        return {row[0].text: row for row in found[1:]}


def read_page(text: str) -> Page:
    page = Page()
    page.feed(text)
    return page

"""Several sources as one: what they include once at the start, each in a namespace of its own,
since helpers and tables may have equal names.

    includes, spaces = separated([text, other])       namespaces p0, p1, …
"""

from __future__ import annotations

from collections.abc import Iterable

INCLUDE = "#include"


def separated(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """The lines that include, without repetitions, and the rest of each source."""
    lines = [text.splitlines() for text in texts]
    includes = dict.fromkeys(x for text in lines for x in text if x.startswith(INCLUDE))
    spaces = [
        "\n".join([f"namespace p{i} {{", *(x for x in text if x not in includes), "}"])
        for i, text in enumerate(lines)
    ]
    return list(includes), spaces

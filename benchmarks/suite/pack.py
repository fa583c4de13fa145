"""A folder of programs that were built beforehand: one file a case, and what is in them.

    pack = Pack.read(folder)
    pack.target, pack.cases["square-…"]        what they are for, how many there are of each
    pack.cases["ladder"], pack.cases["peaks"]  small programs that are named by their templates
    pack.programs("square-…")                  [Program(template, numbers, estimate_s, artifact), …]

A file is one compressed stream: the length of a JSON header, the header, then the code of all
programs, each different one once. Programs of a case resemble each other, and take a third of what
they would in files of their own.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tilewright.contract.artifact import Artifact
from tilewright.ground.errors import RunError
from tilewright.ground.files import replacing

CONTENTS = "contents.json"
PEAKS = "peaks"  # the name of the kernels that tell what a device can do
FORMAT = lzma.FORMAT_XZ
FILTERS = ({"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 26},)


@dataclass(frozen=True)
class Program:
    """A program of a case: of a template with its `numbers`, or the default one of the ordinary
    sketches, whose template is "". `key` is a hash of what it is made of, its source and how that
    is compiled; `features` are the instructions that it has.
    """

    template: str
    numbers: Mapping[str, int]
    estimate_s: float
    artifact: Artifact
    key: str = ""
    features: frozenset[str] = frozenset()

    @property
    def row(self) -> str:
        """Its numbers in words."""
        return ", ".join(f"{name} {n}" for name, n in self.numbers.items())

    def __str__(self) -> str:
        return f"{self.template}: {self.row}" if self.template else "sketches"


@dataclass(frozen=True)
class Pack:
    """See the module. `facts` say where it comes from; of each case `cases` has the numbers of
    programs, rows of templates and refused programs, and the bytes of its file.
    """

    folder: Path
    target: str
    small: bool
    facts: Mapping[str, str]
    cases: dict[str, dict[str, Any]] = field(default_factory=dict)

    @staticmethod
    def read(folder: Path) -> Pack:
        """Raises RunError where nothing is packed."""
        file = folder / CONTENTS
        if not file.exists():
            raise RunError(f"{folder} holds no programs: pack them, gpu_suite --pack {folder}")
        found = json.loads(file.read_text())
        return Pack(folder, found["target"], found["small"], found["facts"], found["cases"])

    def save(self) -> None:
        """Write what is in it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        found = {
            "target": self.target,
            "small": self.small,
            "facts": self.facts,
            "cases": self.cases,
        }
        with replacing(self.folder / CONTENTS) as part:
            part.write_text(json.dumps(found, indent=1))

    @property
    def keys(self) -> frozenset[str]:
        """Of all programs."""
        return frozenset(key for case in self.cases.values() for key in case["keys"])

    @property
    def bytes(self) -> int:
        """Of all files."""
        return sum(case["bytes"] for case in self.cases.values())

    def file(self, case: str) -> Path:
        return self.folder / f"{case}.xz"

    def programs(self, case: str) -> list[Program]:
        """All programs of a case. Raises RunError for a file that is damaged."""
        try:
            return unpacked(self.file(case).read_bytes())
        except (OSError, lzma.LZMAError, ValueError, KeyError) as error:
            raise RunError(f"{self.file(case)} is damaged ({error}); pack it again") from error

    def put(self, case: str, programs: Sequence[Program], /, **figures: Any) -> None:
        """Write the programs of a case, with figures of it."""
        data = packed(programs)
        with replacing(self.file(case)) as part:
            part.write_bytes(data)
        count, keys = len(programs), [p.key for p in programs]
        self.cases[case] = {**figures, "programs": count, "keys": keys, "bytes": len(data)}
        self.save()


def packed(programs: Sequence[Program]) -> bytes:
    """Programs as one stream."""
    codes = list(dict.fromkeys(p.artifact.object_code for p in programs))
    number = {code: i for i, code in enumerate(codes)}
    header = {
        "codes": [len(code) for code in codes],
        "programs": [
            {
                "template": p.template,
                "numbers": p.numbers,
                "estimate_s": p.estimate_s,
                "key": p.key,
                "features": sorted(p.features),
                "code": number[p.artifact.object_code],
                "artifact": p.artifact.header(),
            }
            for p in programs
        ],
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    data = b"".join([len(text).to_bytes(4, "little"), text, *codes])
    return lzma.compress(data, FORMAT, filters=list(FILTERS))


def unpacked(data: bytes) -> list[Program]:
    """The same back."""
    found = memoryview(lzma.decompress(data))
    end = 4 + int.from_bytes(found[:4], "little")
    header = json.loads(bytes(found[4:end]))
    codes = []
    for size in header["codes"]:
        codes.append(bytes(found[end : end + size]))
        end += size
    return [
        Program(
            p["template"],
            p["numbers"],
            p["estimate_s"],
            Artifact.of_header(p["artifact"], codes[p["code"]]),
            p["key"],
            frozenset(p["features"]),
        )
        for p in header["programs"]
    ]

"""The benchmark of short lists compiles every program once, and says which ones fail."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from benchmarks.cutlass_offline import main, programs
from benchmarks.cutlass_page import cutlass_offline as section

from benchmarks import cutlass_offline
from tilewright.build.native import NativeBuild
from tilewright.contract.artifact import CodeReport
from tilewright.cutlass import Program
from tilewright.ground.errors import BuildError


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of kernels in the order in which they are compiled. A kernel with a 7 at the end of its
    name is rejected, and whatever is compiled with it.
    """
    names: list[str] = []

    def prebuild(unit: Sequence[Program], architecture: str) -> list[NativeBuild]:
        mine = [program.calls[-1].kernel for program in unit]
        if any(name.endswith("7") for name in mine):
            raise BuildError(f"NVRTC rejects the kernel for {architecture}: error: seven")
        names.extend(mine)
        return [NativeBuild(tuple(CodeReport(100, 0, 1024) for _ in unit), 1.0 * len(unit))]

    monkeypatch.setattr(cutlass_offline, "prebuild", prebuild)
    return names


def test_every_program_is_compiled_once(compiled: list[str], tmp_path: Path) -> None:
    file = tmp_path / "offline.json"
    listed = programs("sm_75")
    main(["--architectures", "sm_75", "--json", str(file)])
    good = [name for name in listed if not name.endswith("7")]
    assert sorted(compiled) == sorted(good) and 0 < len(good) < len(listed)
    found = json.loads(file.read_text())
    assert found["summary"]["programs"] == len(listed)
    assert found["summary"]["errors"] == len(listed) - len(good)
    assert found["summary"]["cpu_s_of_a_program"] == 1.0
    errors = [row["error"] for row in found["rows"].values() if "error" in row]
    assert set(errors) == {"NVRTC rejects the kernel for sm_75: error: seven"}
    assert f"| sm_75 | {len(listed)} | {len(errors)} | 0 | 100 | 1.0 |" in section(found)
    compiled.clear()
    main(["--architectures", "sm_75", "--json", str(file)])
    assert compiled == [] and json.loads(file.read_text())["rows"] == found["rows"]


def test_a_slice_ends_in_time(compiled: list[str], tmp_path: Path) -> None:
    main(["--architectures", "sm_75", "--json", str(tmp_path / "some.json"), "--minutes", "0"])
    assert compiled == []

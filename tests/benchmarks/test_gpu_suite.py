"""The suite of a GPU without one: both parts under the emulation of CUDA, by a process that has
nothing of what makes programs, and what is left out after a crash.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.bolt_problems import product
from benchmarks.deadline import Deadline
from benchmarks.gpu_suite import main
from benchmarks.suite.bench import Bench
from benchmarks.suite.build import fit
from benchmarks.suite.cases import QUICK, SPEED, VERIFY
from benchmarks.suite.pack import Pack, Program, packed, unpacked
from benchmarks.suite.state import OutOfTime, State
from benchmarks.suite.table import cells, lines, section
from benchmarks.suite.verify import left
from benchmarks.suite.watch import watch

from prepared import run_blocked
from tilewright.artifact import Artifact
from tilewright.build.compile import compile_request, make_request
from tilewright.errors import RunError, WrongAnswer
from tilewright.runtime.emulated import EmulatedDevice
from tilewright.target import Target

ROOT = Path(__file__).parents[2]
SANITIZER = """#!/bin/sh
# what is told of a program is how it ended
shift 2
"$@" && echo "========= RACECHECK SUMMARY: 0 hazards displayed"
"""
WORKER = """
import sys
from benchmarks.gpu_suite import main
sys.exit(main(sys.argv[1:]))
"""


def artifact(target: str = "emulated") -> Artifact:
    dag = product(5, 6, 7).dag
    return Artifact.from_bytes(
        compile_request(make_request(dag, None, Target.parse(target), "program"))
    )


@pytest.mark.torch
def test_both_parts_under_the_emulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    folder, file = tmp_path / "pack", tmp_path / "found.json"
    assert main(["--pack", str(folder), "--device", "emulated", "--quick"]) == 0
    pack = Pack.read(folder)
    assert set(pack.cases) == set(QUICK)
    templates = {p.template for name in pack.cases for p in pack.programs(name)} - {""}
    assert len(templates) >= 3

    tool = tmp_path / "bin" / "compute-sanitizer"
    tool.parent.mkdir()
    tool.write_text(SANITIZER)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=":")
    words = [str(folder), "--device", "emulated", "--json", str(file)]
    run_blocked(WORKER, [*words, "--worker"], ROOT)
    found = json.loads(file.read_text())
    assert found["clock"]["clock"]["is_plausible"] and found["facts"]["facts"]["target"]
    verified = [name for name in QUICK if name in VERIFY]
    assert list(found["verify"]) == verified and list(found["loads"]) == list(pack.cases)
    assert all(row["programs"] and not row["wrong"] for row in found["verify"].values())
    assert all(row["status"] == 0 for row in found["races"].values())
    assert {row["said"] for row in found["races"].values()} == {SANITIZER.split('"')[-2][:48]}
    for name in (name for name in QUICK if name in SPEED):
        row = found["cases"][name]
        assert row["programs"] == len(pack.programs(name)) and row["sketches_s"] > 0
        assert not row["wrong"] and not row["failed"] and row["peer_s"] > 0

    capsys.readouterr()
    assert main(words) == 0  # nothing is left to do
    shown = capsys.readouterr().out
    assert json.loads(file.read_text())["cases"] == found["cases"]
    count = sum(len(pack.programs(name)) for name in verified)
    assert f"verified {count} programs in {len(verified)} cases: 0 wrong, 0 failed" in shown


def test_programs_are_packed_once(tmp_path: Path) -> None:
    one = Program("", {}, 1e-3, artifact())
    other = replace(one, template="a.1", numbers={"block": 8})
    assert unpacked(packed([one, other, other])) == [one, other, other]
    assert len(packed([one] * 50)) < 2 * len(packed([one]))
    assert str(other) == "a.1: block 8"
    pack = Pack(tmp_path / "pack", "emulated", False, {"commit": "c"})
    name = next(iter(SPEED))
    pack.save()
    pack.put(name, [one, *[other] * 9], rows=9, refused=2)
    fit(pack, pack.bytes - 1)
    left = Pack.read(pack.folder)
    assert left.cases[name]["refused"] == 2 and left.cases[name]["programs"] < 10
    assert {p.template for p in left.programs(name)} == {"", "a.1"}
    pack.file(name).write_bytes(b"nothing")
    with pytest.raises(RunError, match="pack it again"):
        pack.programs(name)
    with pytest.raises(RunError, match="--pack"):
        Pack.read(tmp_path)


def test_a_wrong_program_is_found() -> None:
    bench = Bench(EmulatedDevice(), product(5, 6, 7).dag)
    right = artifact()
    bench.load(right).check()
    with pytest.raises(WrongAnswer, match="30 of 30 elements were not written"):
        bench.load(replace(right, launches=())).check()
    bench.expected.values[7] += 0.1
    with pytest.raises(WrongAnswer, match="1 of 30 elements are wrong; at 7"):
        bench.load(right).check()


def test_what_crashed_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "found.json"
    child = tmp_path / "python"
    child.write_text(
        f"#!/bin/sh\ntest -e {tmp_path}/again && exit 0\ntouch {tmp_path}/again\n"
        f"""echo '["case", "4"]' >{file.with_suffix(".at")}\nexit 3\n"""
    )
    child.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(child))
    assert watch([], State.open(file, Deadline.after(1))) == 0
    state = State.open(file, Deadline.after(1))
    assert state.faults("case") == {"4": "the process ended with status 3"}
    programs = [Program("a.1", {"block": n}, 0.0, artifact()) for n in range(6)]
    found: dict[str, Any] = {"failed": []}
    assert [n for n, _ in left(state, programs, "case", found)] == [0, 1, 2, 3, 5]
    assert found["failed"] == ["a.1: block 4: the process ended with status 3"]
    (tmp_path / "again").unlink()
    child.write_text("#!/bin/sh\nexit 2\n")
    assert watch([], state) == 2  # nothing began


def test_a_run_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    state = State.open(file, Deadline.after(1))
    state.begin({"code": "one"}, commit="a")
    state.once("cases", "a", lambda: {"x": 1})
    again = State.open(file, Deadline.after(0))
    again.begin({"code": "one"}, commit="b")
    again.once("cases", "a", lambda: pytest.fail("done again"))
    with pytest.raises(OutOfTime):
        again.once("cases", "b", dict)
    again.begin({"code": "two"})
    assert "cases" not in again.found


def test_the_table_has_ratios() -> None:
    row: dict[str, Any] = {
        "flops": 2e9, "dtype": "bfloat16", "programs": 3, "wrong": ["w"], "failed": [],
        "finalists": [["t: block 8", 1e-3]], "templates_s": 1e-3, "sketches_s": 8e-3,
        "peer_s": 5e-4,
    }  # fmt: skip
    found = {"cases": {"case": row}, "peaks": {"peaks": {"fma_flops": 1e12, "traffic_s": {}}}}
    _, cell = cells(found)
    assert cell == [
        "case", "t: block 8", "1 ms", "2.0", "0.50", "8.00", "0.50", "3", "1", "0",
    ]  # fmt: skip
    assert any(line.startswith("verified 0 programs") for line in lines(found))
    told = section({**found, "machine": "a GPU", "commit": "c", "date": "2026-11-26T00:00"})
    assert "| case | t: block 8 | 1 ms | 2.0 | 0.50 | 8.00 | 0.50 | 3 | 1 | 0 |" in told


@pytest.mark.parametrize("name", [*SPEED, *VERIFY])
def test_every_case_has_a_small_form(name: str) -> None:
    problem = {**SPEED, **VERIFY}[name].problem(small=True)
    assert problem.dag.useful_flops < 1e7
    assert all(np.prod(t.shape) < 1e6 for t in problem.dag.inputs)


def test_there_are_as_many_cases_as_said() -> None:
    kinds = [case.kind for case in SPEED.values() if case.dtype != "float32"]
    assert len(kinds) + 3 == len(SPEED)
    assert kinds.count("square") == 12 and kinds.count("conv") == 10
    assert sum(map(kinds.count, ("decode", "prefill", "skinny", "odd"))) == 20

"""The suite of a GPU without one: all of it under the emulation of CUDA, by processes that have
nothing of what makes programs, with a template that hangs and one that is wrong.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benchmarks.bolt_problems import product
from benchmarks.deadline import Deadline
from benchmarks.gpu_peaks import Peaks, kernels
from benchmarks.gpu_suite import FILE, main
from benchmarks.report import markdown
from benchmarks.suite import build as building
from benchmarks.suite import drill, ladder
from benchmarks.suite.bench import Bench, arrays_of, spec_of
from benchmarks.suite.build import Amount, build, fit, open_pack, spread
from benchmarks.suite.cases import FIRST, QUICK, SPEED, VERIFY
from benchmarks.suite.journal import FAULT, RIGHT, WRONG, Journal, OutOfTime, append, read
from benchmarks.suite.ladder import LADDER, RUNGS, blocks, is_out
from benchmarks.suite.made import audited, features_of, make
from benchmarks.suite.pack import PEAKS, Pack, Program, packed, unpacked
from benchmarks.suite.peers import Peers
from benchmarks.suite.rungs import program_of
from benchmarks.suite.speed import Visit, turned
from benchmarks.suite.table import cells, found, kept, lines, parts
from benchmarks.suite.verify import Work, verify
from benchmarks.suite.watch import watch

from prepared import run_blocked
from tilewright.build.compile import compile_request, make_request
from tilewright.contract.artifact import Artifact, CodeReport
from tilewright.ground.errors import RunError, ScheduleError, WrongAnswer
from tilewright.measure.ceilings import Traffic
from tilewright.runtime.emulated import EmulatedDevice
from tilewright.space.default import default_gene
from tilewright.space.space import Space
from tilewright.target import GpuTarget, Target

ROOT = Path(__file__).parents[2]
EMULATED = Target.parse("emulated")
SQUARE, _, CHECKED = QUICK
CARD, KEYS = "a card, 2 cores", ("k", "one", "two", "red")
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


def journal(folder: Path, card: str = CARD, minutes: float = 1) -> Journal:
    return Journal.open(folder / FILE, (), card, Deadline.after(minutes), KEYS)


def program(template: str = "a.1", key: str = "k", *features: str) -> Program:
    nothing = building.NOTHING
    return Program(template, {"block": 8}, 0.0, nothing, key, frozenset(features))


# ---- all of it ------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_drill_measures_all_but_what_hangs_and_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
    monkeypatch.setenv("OUT", str(tmp_path / "out"))
    threads = ThreadPoolExecutor(2)
    monkeypatch.setattr(building, "ProcessPoolExecutor", lambda *_: nullcontext(threads))
    folder, file = tmp_path / "pack", tmp_path / "out" / FILE
    words = [str(folder), "--device", "emulated"]
    assert main([*words, "--pack", "--quick", "--drill", "--cases", CHECKED]) == 0
    pack = Pack.read(folder)
    assert set(pack.cases) == {LADDER, PEAKS, CHECKED}
    first = dict(list(ladder.programs(pack).items())[:1])
    pack.put(LADDER, list(first.values()), names=list(first), code="")
    foreign = {"step": "quick", "card": "another", "case": CHECKED, "key": "k"}
    append(file, foreign)

    run_blocked(WORKER, [*words, "--limit", "3", "--minutes", "3"], ROOT)
    (kept_line, *told) = read(file)
    assert kept_line == foreign, "nothing of another card is touched"
    of = {(x["step"], x["case"], x.get("template")): x for x in told}
    assert {x["verdict"] for x in told if x["step"] == LADDER} == {RIGHT}
    assert of["clock", "clock", None]["is_plausible"] and of["facts", "facts", None]["target"]
    for one in pack.programs(CHECKED):
        line = of["verify", CHECKED, one.template]
        expected = {drill.HANGING: FAULT, drill.WRONG: WRONG}.get(one.template, RIGHT)
        assert line["verdict"] == expected and line["card"] != "another"
    assert not list(file.parent.glob("*.at"))

    capsys.readouterr()
    assert main(["--table", str(file), "--json", str(tmp_path / "found.json")]) == 0
    shown = capsys.readouterr().out
    count = len(pack.programs(CHECKED))
    assert f"verified {count} programs in 1 cases: 1 wrong, 0 failed, 1 did not end" in shown
    content = json.loads((tmp_path / "found.json").read_text())
    assert content["commit"] and f"{count} programs in 1 cases" in markdown(parts(content))


@pytest.mark.torch
@pytest.mark.parametrize("is_wrong", [False, True])
def test_a_peer_that_is_wrong_keeps_its_time_with_a_mark(is_wrong: bool, tmp_path: Path) -> None:
    work = faked(SQUARE, tmp_path, {"": ["right 1e-3"]})
    visit = Visit(work, Peers(work), SQUARE)
    visit.bench.expected.values[3] += is_wrong
    peers = visit.peers.of(SQUARE, visit.problem, visit.bench)
    assert list(peers) == ["peer"] and peers["peer"].is_wrong is is_wrong
    assert peers["peer"].seconds(2).min() > 0
    (line,) = work.journal.lines
    assert line["case"] == "peer" and "PyTorch" in line["version"]


class Faked:
    """A device on which programs do at once what their code says."""

    target = EMULATED

    def __init__(self, right: np.ndarray[Any, Any]) -> None:
        self.right, self.loaded = right, list[str]()

    def allocate(self, size: int) -> Any:
        return np.zeros(size, np.uint8)

    def upload(self, array: Any, buffer: Any) -> None:
        buffer[: array.nbytes] = array.reshape(-1).view(np.uint8)

    def download(self, buffer: Any, array: Any) -> None:
        array.reshape(-1).view(np.uint8)[:] = buffer

    def load(self, artifact: Artifact, parts: Any = ()) -> Any:
        words = artifact.object_code.decode().split()
        self.loaded.append(words[0])

        def run(buffers: Any, scratch: Any) -> None:
            if words[0] == "fails":
                raise RunError("it fails")
            found = self.right + (words[0] == "wrong")
            self.upload(found.astype(self.right.dtype), buffers[-1])

        def time(buffers: Any, scratch: Any, count: int, other: Any = None) -> Any:
            run(buffers, scratch)
            return np.full(count, float(words[1]))

        return SimpleNamespace(run=run, time=time)


def faked(name: str, folder: Path, codes: dict[str, list[str]]) -> Work:
    """A pack of one case, by template the code of its programs, on such a device."""
    dag = VERIFY[name].problem().dag if name in VERIFY else SPEED[name].problem(True).dag
    inputs = tuple(spec_of(t) for t in dag.inputs)
    outputs = tuple(spec_of(t) for t in dag.outputs)
    programs = []
    for template, those in codes.items():
        for i, code in enumerate(those):
            made = Artifact("program", "emulated", code.encode(), inputs, (), outputs, (), 0)
            programs.append(Program(template, {"row": i}, 0.0, made, f"{template}{i}"))
    pack = Pack(folder / "pack", "emulated", True, {"commit": "c"})
    pack.save()
    pack.put(name, programs)
    (right,) = dag.evaluate(arrays_of(dag)).values()
    device: Any = Faked(np.asarray(right))
    book = Journal.open(folder / FILE, (), CARD, Deadline.after(1), pack.keys)
    return Work(book, pack, device)


def test_the_quickest_right_programs_take_turns(tmp_path: Path) -> None:
    """Of each kind; two faults end a template, and nothing is done twice."""
    codes = {
        "": ["right 4e-3"],
        "matmul.warpgroups.1": [f"right {t}e-3" for t in range(20, 1, -1)],
        "matmul.tensor_cores.1": ["wrong 1e-9", "right 7e-3", "fails 1e-9", *["right 1e-9"] * 3],
        "cutlass.gemm": ["right 3e-3", "right 9e-3"],
    }
    work = faked(SQUARE, tmp_path, codes)
    peers: Any = SimpleNamespace(of=lambda *_: {})
    Visit(work, peers, SQUARE).go(slice(16))
    quick = work.journal.find("quick")
    verdicts = [quick[f"matmul.tensor_cores.1{i}"]["verdict"] for i in range(3)]
    assert verdicts == [WRONG, RIGHT, "failed"] and "matmul.tensor_cores.13" not in quick
    assert work.journal.is_out("matmul.tensor_cores.1")
    assert len(quick) == 1 + 16 + 3 + 2 and next(iter(quick)) == "0", "sketches come first"
    (turn,) = (x for x in work.journal.lines if x["step"] == "turns")
    assert turn["keys"] == {
        "templates": "matmul.warpgroups.115", "cutlass": "cutlass.gemm0", "sketches": "0",
    }  # fmt: skip
    assert turn["quantiles"]["templates"] == [5e-3] * 5 and turn["best"].endswith("row 15")
    count = len(work.journal.lines)
    Visit(work, peers, SQUARE).go(slice(16))
    assert len(work.journal.lines) == count, "nothing is left of it"
    Visit(work, peers, SQUARE).go(slice(32))
    again = [x for x in work.journal.lines if x["step"] == "turns"]
    assert [x["keys"]["templates"] for x in again] == [
        "matmul.warpgroups.115", "matmul.warpgroups.118",
    ]  # fmt: skip


def test_plain_templates_are_verified_first_and_a_few_of_each(tmp_path: Path) -> None:
    names = [
        "matmul.warp_specialized.1", "matmul.warpgroups.1", "cutlass.gemm",
        "matmul.tensor_cores_split.1", "matmul.threads.1",
    ]  # fmt: skip
    work = faked(CHECKED, tmp_path, {name: ["right 1e-3"] * 3 for name in names})
    verify(work, 2)
    told = [(x["template"], x["row"]) for x in work.journal.lines]
    assert told[::2] == [(name, "row 0") for name in reversed(names[1:])] + [(names[0], "row 0")]
    assert told[1::2] == [(name, "row 1") for name, _ in told[::2]]
    verify(work, 8)
    assert len(work.journal.lines) == 15


# ---- packs ----------------------------------------------------------------------------------


def test_programs_are_packed_once(tmp_path: Path) -> None:
    one = Program("", {}, 1e-3, artifact(), "3f", frozenset({"mma"}))
    other = replace(one, template="a.1", numbers={"block": 8})
    assert unpacked(packed([one, other, other])) == [one, other, other]
    assert len(packed([one] * 50)) < 2 * len(packed([one]))
    assert str(other) == "a.1: block 8"
    pack = Pack(tmp_path / "pack", "emulated", False, {"commit": "c"})
    name = next(iter(SPEED))
    pack.save()
    pack.put(name, [one, *[other] * 9], rows=9, refused={"a": "b"})
    fit(pack, pack.bytes - 1)
    left = Pack.read(pack.folder)
    assert left.cases[name]["refused"] == {"a": "b"} and left.cases[name]["programs"] < 10
    assert {p.template for p in left.programs(name)} == {"", "a.1"}
    pack.file(name).write_bytes(b"nothing")
    with pytest.raises(RunError, match="pack it again"):
        pack.programs(name)
    with pytest.raises(RunError, match="--pack"):
        Pack.read(tmp_path)


def test_a_commit_elsewhere_compiles_nothing_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sources are compared where the compiler is another one; what is another is compiled."""
    monkeypatch.setattr(building, "_small_kernels", lambda pack: None)
    threads = ThreadPoolExecutor(2)
    monkeypatch.setattr(building, "ProcessPoolExecutor", lambda *_: nullcontext(threads))
    amount = Amount(1, 1)
    build(open_pack(tmp_path, EMULATED, True), [CHECKED], amount)
    before = Pack.read(tmp_path).programs(CHECKED)
    assert len({p.key for p in before}) == len(before) > 2 and all(p.key for p in before)
    assert "0 as they were" in capsys.readouterr().out
    build(open_pack(tmp_path, EMULATED, True), [CHECKED], amount)
    assert "programs of" not in capsys.readouterr().out, "it is there"
    monkeypatch.setattr(building, "_code", lambda: "another")
    build(open_pack(tmp_path, EMULATED, True), [CHECKED], amount)
    assert f"{len(before)} as they were" in capsys.readouterr().out
    pack = Pack.read(tmp_path)
    assert pack.programs(CHECKED) == before and pack.cases[CHECKED]["code"] == "another"
    changed = [replace(before[0], key="older"), *before[1:]]
    pack.put(CHECKED, changed, **{**pack.cases[CHECKED], "code": ""})
    build(open_pack(tmp_path, EMULATED, True), [CHECKED], amount)
    assert f"{len(before) - 1} as they were" in capsys.readouterr().out
    assert Pack.read(tmp_path).programs(CHECKED) == before


def test_what_the_audit_refuses_is_left_out() -> None:
    """A program of warpgroups that has not as many products in a step as it should."""
    target, dag = Target.parse("cuda:h100"), product(128, 128, 512, dtype="bfloat16").dag
    space = Space(dag, target)
    rows = building.rows_of_templates(space)["matmul.warp_specialized.1"]
    (want,) = building.best_or_some(space, rows, 1, True)
    request = make_request(dag, want.gene, target, "program")
    good = make(request, (), want.products)
    assert good.artifact and not good.refused
    assert {"mbarrier_arrive", "wgmma_m64n128k16 0 1"} <= good.features
    bad = make(request, (), want.products + 1)  # of which there are no multiples
    assert bad.artifact is None and "products in" in bad.refused
    assert make(request, {good.key}, want.products).artifact == b""


@pytest.mark.parametrize(
    ("frame", "spills", "is_template", "count"),
    [(0, 0, True, 0), (8, 8, True, 1), (84, 84, False, 0), (1024, 8, False, 1), (1024, 0, True, 1)],
)
def test_templates_spill_nothing_and_others_little(
    frame: int, spills: int, is_template: bool, count: int
) -> None:
    report = CodeReport(255, spills, 0, frame)
    assert len(audited(replace(building.NOTHING, report=report), 0, is_template)) == count
    assert not audited(building.NOTHING, 0, is_template), "an emulated one"


def test_the_keys_tell_sources_and_compilers_apart() -> None:
    requests = [
        make_request(dag, default_gene(Space(dag, EMULATED)), EMULATED, "program")
        for dag in (product(5, 6, 7).dag, product(5, 6, 8).dag)
    ]
    keys = [make(request, ()).key for request in [*requests, *requests]]
    assert keys[:2] == keys[2:] and keys[0] != keys[1]


@pytest.mark.parametrize("best", [0, 1, 3, 8])
def test_rows_are_the_best_and_then_those_that_differ_most(best: int) -> None:
    rng = np.random.default_rng(best)
    numbers = np.stack(np.meshgrid([64, 128, 256], [1, 2], [3, 4, 5, 6])).reshape(3, -1).T
    latency = rng.permutation(len(numbers)) * 1e-3
    order = spread(numbers.tolist(), latency, best)
    assert sorted(order) == list(range(len(numbers)))
    assert order[:best] == np.argsort(latency)[:best].tolist()
    taken = numbers[order[: best + 6]]
    assert all(len(set(column)) > 1 for column in taken.T), "every option is tried early"
    if best == 1:
        first, second = numbers[order[:2]]
        assert (first != second).all(), "the other corner"


# ---- the ladder -----------------------------------------------------------------------------


def test_a_rung_has_what_it_is_for() -> None:
    programs = {name: program_of(rung, EMULATED) for name, rung in RUNGS.items()}
    assert len(programs) == 13
    forms = {f for p in programs.values() for f in p.features if f.startswith("wgmma_m64")}
    assert forms == {f"wgmma_m64n128k16 {a} {b}" for a in "01" for b in "01"}
    assert programs["mma"].features and not programs["threads"].features
    assert programs["box"].features < programs["ring of boxes"].features
    assert all(rung.dag().outputs[0].shape == (64, 64) for rung in RUNGS.values())
    with pytest.raises(ScheduleError, match="has no program of"):
        wrong = replace(RUNGS["threads"], numbers={**ladder.ORDINARY, "block_m": 64})
        program_of(wrong, EMULATED)


@pytest.mark.parametrize(
    ("red", "features", "is_left_out"),
    [
        ({"b"}, {"a", "b"}, True),  # no green rung has b
        ({"a", "c"}, {"a", "c", "d"}, True),  # both work alone, not together
        ({"a", "c"}, {"a", "d"}, False),
        ({"a"}, {"d"}, False),
        (set(), {"a"}, True),  # of the same template
    ],
)
def test_what_did_not_work_decides_what_goes_on(
    red: set[str], features: set[str], is_left_out: bool, tmp_path: Path
) -> None:
    book = journal(tmp_path)
    for name, has, verdict in (("one", {"a"}, RIGHT), ("two", {"c"}, RIGHT), ("red", red, WRONG)):
        book.add(LADDER, name, program("a.1", name), verdict=verdict, features=sorted(has))
    assert is_out(program("a.1", "k", *features), book) is is_left_out
    assert not is_out(program("b.1", "k"), book)


def test_wrong_blocks_are_shown() -> None:
    expected = np.arange(64.0 * 64)
    got, limits = expected.reshape(64, 64).copy(), np.full(64 * 64, 0.5)
    assert blocks(got, expected, limits) == ["........"] * 8
    got[8:16, :8] += 1
    got[63, 63] = np.nan
    got[0, 8:16] -= 1
    assert blocks(got, expected, limits) == [".1......", "8.......", *["........"] * 5, ".......1"]


def test_instructions_are_read_off_sources() -> None:
    text = (
        "static void tw_mma_m16n8k16(float* c) {}\n"
        'extern "C" __global__ void k() { tw_wgmma_m64n128k16<0, 1, 16, 8192>(c, a, b);\n'
        "tw_wgmma_wait_group<1>(); tw_mbarrier_arrive(x); tw_dynamic_shared(shared); }"
    )
    expected = {"wgmma_m64n128k16 0 1", "wgmma_wait_group", "mbarrier_arrive"}
    assert features_of(text) == expected


# ---- what is found --------------------------------------------------------------------------


def test_a_wrong_program_is_found() -> None:
    bench = Bench(EmulatedDevice(), product(5, 6, 7).dag)
    right = artifact()
    bench.load(right).check()
    with pytest.raises(WrongAnswer, match="30 of 30 elements were not written"):
        bench.load(replace(right, launches=())).check()
    bench.expected.values[7] += 0.1
    with pytest.raises(WrongAnswer, match="1 of 30 elements are wrong; at 7"):
        bench.load(right).check()


def test_peaks_take_packed_kernels() -> None:
    device = EmulatedDevice()
    assert isinstance(device.target, GpuTarget)
    peaks = Peaks(device, kernels(device.target))
    assert peaks.fma_s(64) > 0 and peaks.warm(1e-4) > 0
    flops, call_s, seconds = peaks.measured([Traffic(1024, 64)])
    assert flops > 0 and call_s > 0 and list(seconds) == [Traffic(1024, 64)]


def test_lines_are_only_added_and_cards_are_not_mixed(tmp_path: Path) -> None:
    mine, other = journal(tmp_path), journal(tmp_path, "another")
    mine.add("quick", "case", program(key="k"), verdict=RIGHT, seconds=[1e-3])
    with mine.file.open("a") as file:
        file.write('{"step": "quick", "ca')  # a process ended as it wrote
    other.add("quick", "case", program(key="k"), verdict=WRONG)
    assert [line["card"] for line in read(mine.file)] == [CARD, "another"]
    assert journal(tmp_path).find("quick", "case")["k"]["verdict"] == RIGHT
    assert journal(tmp_path, "another").find("quick")["k"]["verdict"] == WRONG
    later = Deadline.after(1)
    carried = Journal.open(tmp_path / "new", [mine.file], CARD, later, ("k",))
    assert list(carried.find("quick")) == ["k"] and not carried.file.exists()
    mended = Journal.open(tmp_path / "new", [mine.file], CARD, later, ("other",))
    assert not mended.find("quick"), "a program that is another one now is tried again"


def test_two_faults_of_a_template_are_enough(tmp_path: Path) -> None:
    book = journal(tmp_path)
    for case, verdict in (("a", WRONG), ("a", WRONG), ("b", RIGHT)):
        book.add("quick", case, program(), verdict=verdict)
    assert book.faults("a.1") == 1 and not book.is_out("a.1"), "the same program twice"
    book.add("quick", "c", program(), verdict=FAULT)
    assert book.is_out("a.1") and not book.is_out("b.1") and not book.is_out("")


SLOW = """
import sys, time
from pathlib import Path
from benchmarks.deadline import Deadline
from benchmarks.suite.journal import Journal
from benchmarks.suite.pack import Program
from benchmarks.suite.build import NOTHING
book = Journal.open(Path(sys.argv[1]), (), "card", Deadline.after(1), ())
one = Program("a.1", {}, 0.0, NOTHING, "k")
with book.at("outer", "case", None, 50):
    with book.at("inner", "case", None, 5):
        pass
    with book.at("quick", "case", one, 0.2):
        time.sleep(20)
"""


def test_who_takes_too_long_is_ended_and_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a clock that the process sets itself; the next process does the rest."""
    file, script = tmp_path / FILE, tmp_path / "python"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
    (tmp_path / "slow.py").write_text(SLOW)
    script.write_text(
        f"#!/bin/sh\ntest -e {tmp_path}/again && exit 0\ntouch {tmp_path}/again\n"
        f"exec {sys.executable} {tmp_path}/slow.py {file}\n"
    )
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    assert watch([], file, Deadline.after(1)) == 0
    (line,) = read(file)
    assert (line["case"], line["key"], line["verdict"]) == ("case", "k", FAULT)
    assert line["why"] == "nothing in 0 s" and "going on" in capsys.readouterr().out
    (tmp_path / "again").unlink()
    script.write_text("#!/bin/sh\nexit 2\n")
    assert watch([], file, Deadline.after(1)) == 2  # nothing began
    assert watch([], file, Deadline.after(0)) == 0


def test_what_begins_late_does_not(tmp_path: Path) -> None:
    book = journal(tmp_path, minutes=0)
    with pytest.raises(OutOfTime), book.at("quick", "case", None, 1):
        pytest.fail("it began")


def test_every_kind_is_covered_wherever_it_stops() -> None:
    order = turned(list(SPEED))
    assert sorted(order) == sorted(SPEED)
    kinds = {case.kind for case in SPEED.values()}
    assert {SPEED[name].kind for name in order[: len(kinds)]} == kinds
    assert {SPEED[name].kind for name in FIRST} == {
        "square", "bert", "decode", "conv", "softmax", "norm",
    }  # fmt: skip


def test_the_table_has_ratios() -> None:
    head: dict[str, Any] = {"card": "a GPU", "case": "case", "at": 0.0}
    one = {**head, "key": "k", "template": "t", "row": "block 8"}
    book = [
        {**head, "case": "facts", "step": "facts", "commit": "c"},
        {**one, "step": "quick", "verdict": RIGHT, "seconds": [1e-3]},
        {**one, "step": "quick", "key": "w", "verdict": WRONG, "why": "w", "seconds": []},
        {**one, "step": "verify", "verdict": FAULT, "why": "nothing in 8 s"},
        {**head, "step": "turns", "verdict": RIGHT, "flops": 2e9, "dtype": "bfloat16",
         "best": "t: block 8", "wrong": ["peer"],
         "quantiles": {"templates": [0, 0, 1e-3], "sketches": [0, 0, 8e-3], "peer": [0, 0, 5e-4]}},
        {**head, "case": "peaks", "step": "peaks", "fma_flops": 1e12, "traffic_s": {}},
        {**head, "card": "another", "step": "quick", "verdict": RIGHT, "key": "z"},
    ]  # fmt: skip
    known = found(book)
    _, cell = cells(known)
    assert cell == [
        "case", "t: block 8", "1 ms", "2.0", "(0.50)", "–", "–", "8.00", "0.50", "2", "1", "0",
    ]  # fmt: skip
    shown = lines(known)
    assert "verified 1 programs in 1 cases: 0 wrong, 0 failed, 1 did not end" in shown
    assert "left out: figures of another" in shown
    assert "| case | t: block 8 | 1 ms | 2.0 | (0.50) |" in markdown(parts(kept(book)))


@pytest.mark.parametrize("name", [*SPEED, *VERIFY])
def test_every_case_has_a_small_form(name: str) -> None:
    problem = {**SPEED, **VERIFY}[name].problem(small=True)
    assert problem.dag.useful_flops < 1e7
    assert all(np.prod(t.shape) < 1e6 for t in problem.dag.inputs)


def test_there_are_as_many_cases_as_said() -> None:
    kinds = [case.kind for case in SPEED.values() if case.dtype != "float32"]
    assert len(kinds) + 3 == len(SPEED) == 46
    assert kinds.count("square") == 6 and kinds.count("conv") == 10 and kinds.count("bert") == 3
    assert sum(map(kinds.count, ("decode", "prefill", "skinny", "odd"))) == 20


def test_the_words_say_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 1 and "a folder of programs is missing" in capsys.readouterr().err
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu_suite", "nowhere"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1 and "--pack" in done.stderr


BROKEN = """
import sys
from pathlib import Path
from types import SimpleNamespace
from benchmarks import gpu_suite
from benchmarks.deadline import Deadline
from benchmarks.suite import verify
from benchmarks.suite.journal import Journal

def begin(work):
    with work.journal.at("setup", "outer", None, 9):
        try:
            with work.journal.at("setup", "another", None, 9):
                raise ValueError("of which this is no trouble")
        except ValueError:
            pass
        with work.journal.at("setup", "a case", None, 9):
            raise KeyError("nobody thought of this")

verify.begin = begin
book = Journal.open(Path(sys.argv[1]), (), "card", Deadline.after(1), ())
sys.exit(gpu_suite._work(SimpleNamespace(journal=book)))
"""


def test_an_error_of_ours_costs_what_it_came_out_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, script = tmp_path / FILE, tmp_path / "python"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
    (tmp_path / "broken.py").write_text(BROKEN)
    script.write_text(
        f"#!/bin/sh\ntest -e {tmp_path}/again && exit 0\ntouch {tmp_path}/again\n"
        f"exec {sys.executable} {tmp_path}/broken.py {file}\n"
    )
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    assert watch([], file, Deadline.after(1)) == 0
    (line,) = read(file)
    assert (line["case"], line["verdict"]) == ("a case", FAULT)
    book = Journal.open(file, (), "card", Deadline.after(1), ())
    assert book.is_broken("a case") and not book.is_broken("outer")

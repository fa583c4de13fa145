"""Templates that were right on a GPU are kept beside a CPU's speeds, and serve unmeasured then."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import tilewright as tw
from tilewright.contract.gene import Gene
from tilewright.expr import operators as ops
from tilewright.expr.tensors import placeholder
from tilewright.front.compilation import tell
from tilewright.front.kernels import build_recorded, remarks
from tilewright.front.machine import PROOFS_FILE, as_target, keep_proofs, machine_of, with_kept
from tilewright.front.task_measurer import TaskMeasurer
from tilewright.front.tuning_tasks import tasks_of
from tilewright.ground.errors import TilewrightError
from tilewright.measure.measurer import BatchFailedError, LocalMeasurer, MeasureResult
from tilewright.runtime.headers import missing
from tilewright.schedule.producers import template_gene
from tilewright.schedule.trace import template_of
from tilewright.target import GpuTarget, Target

H100, EMULATED = Target.parse("cuda:h100"), Target.parse("emulated")
WARPGROUPS, CORES = "matmul.warpgroups.1", "matmul.tensor_cores.1"
NATIVE = Gene('{"native":"cutlass.gemm"}')


def kept(target: Target, folder: Path) -> set[str]:
    found = with_kept(target, folder)
    assert isinstance(found, GpuTarget)
    return set(found.proved)


def task() -> tw.Task:
    a, b = (placeholder((16, 16), "float16", name=name) for name in "ab")
    return tw.Task([a, b, ops.matmul(a, b)], name="product")


def test_the_text_of_a_target_carries_its_proofs() -> None:
    assert isinstance(H100, GpuTarget)
    proved = replace(H100, proved=frozenset({WARPGROUPS, "cutlass.gemm"}))
    again = Target.parse(str(proved))
    assert isinstance(again, GpuTarget)
    assert again == H100 and again.proved == proved.proved and "proved" not in str(H100)
    assert again.facts == H100.facts and machine_of(again) == machine_of(H100)
    short = Target.parse("cuda:h100 proved=a.1")
    assert isinstance(short, GpuTarget) and short.proved == {"a.1"}


def test_what_passed_is_kept_until_something_fails(tmp_path: Path) -> None:
    assert isinstance(H100, GpuTarget)
    assert with_kept(H100, tmp_path) == H100 and not kept(H100, tmp_path)
    keep_proofs(H100, {WARPGROUPS, CORES}, {CORES}, tmp_path)
    assert kept(H100, tmp_path) == {WARPGROUPS}
    keep_proofs(replace(H100, proved=frozenset({WARPGROUPS})), {CORES}, (), tmp_path)
    assert kept(H100, tmp_path) == {WARPGROUPS, CORES}
    assert not kept(Target.parse("cuda:h200"), tmp_path), "of another device"
    keep_proofs(H100, (), {WARPGROUPS}, tmp_path)
    assert kept(H100, tmp_path) == {CORES}


@pytest.mark.parametrize("content", ["", "[1]", '{"a": 7}', "\0", '{"a": '])
def test_a_file_of_something_else_is_no_proof(content: str, tmp_path: Path) -> None:
    assert isinstance(H100, GpuTarget)
    (tmp_path / PROOFS_FILE).write_text(content)
    assert not kept(H100, tmp_path)
    keep_proofs(H100, {CORES}, (), tmp_path)
    assert kept(H100, tmp_path) == {CORES}


OK, WRONG = MeasureResult("ok", latencies_s=(1e-3,)), MeasureResult("check", "WrongAnswer")
HANGS, REFUSED = MeasureResult("timeout", "Timeout"), MeasureResult("build", "BuildError")


@pytest.mark.parametrize(
    ("results", "all_failed", "expected"),
    [
        ([OK, OK, OK], False, {WARPGROUPS, CORES, "cutlass.gemm"}),
        ([OK, WRONG, REFUSED], False, {WARPGROUPS}),
        ([HANGS, OK, OK], False, {CORES, "cutlass.gemm"}),
        ([HANGS, WRONG, WRONG], True, set()),
    ],
)
def test_measuring_keeps_what_passed_the_gate(
    results: Sequence[MeasureResult],
    all_failed: bool,
    expected: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def measure(*_: object) -> list[MeasureResult]:
        if all_failed:
            raise BatchFailedError("all failed", list(results))
        return list(results)

    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path))
    monkeypatch.setattr(LocalMeasurer, "measure", measure)
    genes = [template_gene(name, (1,) * 5) for name in (WARPGROUPS, CORES)] + [NATIVE]
    assert [template_of(gene) for gene in genes] == [WARPGROUPS, CORES, "cutlass.gemm"]
    (one,) = tasks_of(task())
    measurer = TaskMeasurer(EMULATED)
    with contextlib.closing(measurer), contextlib.suppress(TilewrightError):
        measurer.measure(one, genes[0], genes, None)
    assert kept(EMULATED, tmp_path) == expected


@pytest.mark.parametrize("proved", [(), (CORES,), ("cutlass.gemm",), (WARPGROUPS, "a.1")])
def test_compiling_says_in_one_note_what_it_leaves_out(
    proved: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path))
    assert isinstance(EMULATED, GpuTarget)
    keep_proofs(EMULATED, proved, (), tmp_path)
    matches, kernels = build_recorded(tasks_of(task()) * 2, None, as_target("emulated"))
    for match in matches:
        assert {WARPGROUPS, CORES} - set(match.unproved) == {WARPGROUPS, CORES} & set(proved)
        assert (match.gene == match.offered) and (match.gene is None) == (
            "cutlass.gemm" not in proved or missing() is not None
        )
    told: list[str] = []
    tell(*remarks(tasks_of(task()) * 2, matches), told.append)
    sentences = [note for note in told if "ever measured to be right on this device" in note]
    assert len(sentences) == (matches[0].gene is None)
    for note in sentences:
        assert "2 of 2 programs are of no template" in note
        assert (CORES in note) == (CORES not in proved)
    assert len(kernels) == 1

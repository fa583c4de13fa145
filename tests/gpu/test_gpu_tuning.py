"""Tuning for a device: the same calls and commands as for the CPU, its records, clear errors."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tilewright as tw
from cli_models import cli, save_classifier
from tilewright.build.compile import build_nest
from tilewright.expr import operators as ops
from tilewright.front.inspection import find_program, write_report
from tilewright.front.machine import machine_of
from tilewright.ground.errors import BuildError, TargetError
from tilewright.measure.measurer import LocalMeasurer
from tilewright.measure.trial import RunOptions
from tilewright.records.database import Database
from tilewright.runtime import nvrtc
from tilewright.runtime.cuda import CudaDevice
from tilewright.runtime.opencl import OpenclDevice
from tilewright.search.confirmation import Confirmation
from tilewright.target import Target
from workloads import given

TRIALS = 6
TILEWRIGHT = (sys.executable, "-c", "from tilewright.cli import main; main()")
QUICK = RunOptions(repeats=1, min_repeat_ms=1, timeout_s=60)


def product() -> tw.Task:
    a, b = given(24, 32, name="a"), given(32, 40, name="b")
    return tw.Task([a, b, ops.matmul(a, b, name="c")], name="product")


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory, opencl: OpenclDevice) -> tuple[Path, Any]:
    """A database made by tuning for the OpenCL device, and what came out."""
    db = tmp_path_factory.mktemp("gpu") / "tuning.db"
    return db, tw.tune(product(), target="opencl", trials=TRIALS, db=db, options=QUICK)


def test_tuning_measures_and_records(tuned: tuple[Path, Any], opencl: OpenclDevice) -> None:
    db, result = tuned
    assert result.trials == TRIALS and result.tasks[0].errors == 0
    assert 0 < result.latency_s < 1
    with Database.open(db, readonly=True) as database:
        (machine,) = database.machines()
        assert machine == machine_of(opencl.target)
        assert (machine.kind, machine.cpu) == ("opencl", opencl.target.name)
        assert any(f.startswith("driver=") and len(f) > 20 for f in machine.features)


def test_compile_uses_the_records(tuned: tuple[Path, Any]) -> None:
    notes: list[str] = []
    fn = tw.compile(product(), tuned[0], target="opencl", notes=notes.append)
    assert notes == []
    with Database.open(tuned[0], readonly=True) as database:
        best = find_program(database)
    assert "__kernel" in best.layers.ir
    gene, target = best.trial.gene, Target.parse(fn.artifact.target)
    expected = build_nest(product().dag, gene, target, fn.artifact.entry)
    assert fn.artifact.object_code == expected.object_code
    rng = np.random.default_rng(0)
    a, b = rng.random((24, 32), np.float32), rng.random((32, 40), np.float32)
    np.testing.assert_allclose(fn(a, b)[0], a @ b, 1e-4)


def test_nothing_is_measured_twice(
    tuned: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(*_: object, **__: object) -> None:
        raise AssertionError("a recorded trial was measured again")

    monkeypatch.setattr(LocalMeasurer, "measure", measured)
    monkeypatch.setattr(Confirmation, "run", lambda *_: None)
    result = tw.tune(product(), target="opencl", trials=TRIALS, db=tuned[0])
    assert result.trials == TRIALS


def test_records_of_another_device_are_named(
    tuned: tuple[Path, Any], opencl: OpenclDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One whose driver differs uses them with a note; one that has too little does not."""
    notes: list[str] = []
    other = replace(opencl.target, driver="other-1.0")
    tw.compile(product(), tuned[0], target=other, notes=notes.append)
    (note,) = notes
    assert "no record of this machine; using one of another" in note
    assert "driver=other-1.0" in note
    notes.clear()
    small = replace(opencl.target, threads=8)
    tw.compile(product(), tuned[0], target=small, notes=notes.append)
    assert notes == ["product: programs recorded on other machines need more than this one has"]


def test_records_are_printed_for_their_device(tuned: tuple[Path, Any], tmp_path: Path) -> None:
    write_report(tuned[0], tmp_path / "report.html")
    assert "__kernel" in (tmp_path / "report.html").read_text()


def test_the_command_line_tunes_for_a_device(tmp_path: Path, opencl: OpenclDevice) -> None:
    model, db = save_classifier(tmp_path / "classifier.onnx"), tmp_path / "tuning.db"
    result = cli("tune", model, "--target", "opencl", "--trials", "3", "--db", db)
    assert result.exit_code == 0, result.output
    assert "4 trials (3 searched, 1 default) in" in result.output
    result = cli("compile", model, "--target", "opencl", "--db", db)
    assert result.exit_code == 0, result.output
    assert re.search(r"1 kernel: 1 (tuned|measured)", result.output), result.output
    assert "note:" not in result.output
    assert "Compiled and loaded." in result.output
    result = cli("run", model, "--target", "opencl", "--db", db, "--check")
    assert result.exit_code == 0, result.output
    assert "Largest difference from onnxruntime" in result.output
    result = cli("bench", model, "--target", "opencl", "--seconds", "0.1", "--no-peer")
    assert result.exit_code == 0, result.output


def test_a_range_of_shapes_is_tuned_at_its_points(tmp_path: Path, opencl: OpenclDevice) -> None:
    rng, node = np.random.default_rng(0), onnx.helper.make_node
    weights = {n: rng.standard_normal(s).astype("f4") for n, s in (("a", (16, 24)), ("b", (24, 9)))}
    nodes = [
        node("MatMul", ["x", "a"], ["t"]), node("Softmax", ["t"], ["s"]),
        node("MatMul", ["s", "b"], ["y"]),
    ]  # fmt: skip
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes, "rows", [info("x", onnx.TensorProto.FLOAT, ["rows", 16])],
        [info("y", onnx.TensorProto.FLOAT, ["rows", 9])],
        [onnx.numpy_helper.from_array(w, n) for n, w in weights.items()],
    )  # fmt: skip
    file, db = tmp_path / "rows.onnx", tmp_path / "tuning.db"
    opset = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), file)
    model = tw.load(file, shapes={"rows": (1, 40, {32: 1, 5: 2})})
    result = tw.tune(model, target="opencl", trials=TRIALS, db=db, options=QUICK)
    assert result.trials == TRIALS and not sum(t.errors for t in result.tasks)
    with Database.open(db, readonly=True) as database:
        trials = [t for t in database.trials() if t.error is None]
    assert {len(t.points_s) for t in trials} == {2}
    assert not any("by_size" in t.gene.text for t in trials)
    notes: list[str] = []
    net = tw.compile(model, db, target="opencl", notes=notes.append)
    assert not any("no record" in note for note in notes), notes
    for rows in (1, 5, 33, 40):
        x = rng.standard_normal((rows, 16)).astype("f4")
        t = np.exp(x @ weights["a"])
        wanted = t / t.sum(1, keepdims=True) @ weights["b"]
        np.testing.assert_allclose(net(x)[0], wanted, 1e-3, 1e-4)


# ---- bad input ----------------------------------------------------------------------------------


def test_without_a_driver_the_error_says_what_to_install(tmp_path: Path) -> None:
    model = save_classifier(tmp_path / "classifier.onnx")
    command = [*TILEWRIGHT, "tune", str(model), "--target", "opencl"]
    env = {**os.environ, "OCL_ICD_VENDORS": str(tmp_path), "OPENCL_VENDOR_PATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path)
    said = " ".join(done.stderr.split())
    assert done.returncode == 1 and "Traceback" not in said
    assert "apt-get install pocl-opencl-icd" in said
    assert "tilewright compile MODEL --target opencl:mali" in said
    assert not (tmp_path / "tuning.db").exists()
    command = [*TILEWRIGHT, "compile", str(model), "--target", "opencl:mali"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Compiled for mali (opencl); not loaded here." in done.stdout


def test_without_a_gpu_cuda_programs_are_built_but_not_tuned(tmp_path: Path) -> None:
    try:
        CudaDevice()
    except TargetError as error:
        assert "tilewright compile MODEL --target cuda:a100" in str(error)
    else:
        pytest.skip("a CUDA device is here")
    with pytest.raises(TargetError, match="CUDA needs NVIDIA's driver"):
        tw.tune(product(), target="cuda:a100", trials=1, db=tmp_path / "x.db")
    model = save_classifier(tmp_path / "classifier.onnx")
    result = cli("compile", model, "--target", "cuda:a100")
    assert "Compiled for a100 (sm_80); not loaded here." in result.output


def test_without_nvrtc_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    nvrtc._library.cache_clear()
    with pytest.raises(BuildError, match=r"no GPU: pip install 'tilewright\[cuda\]'"):
        machine_of(Target.parse("cuda:a100"))
    nvrtc._library.cache_clear()

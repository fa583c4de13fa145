"""What a user did wrong is one message on standard error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from typer.testing import Result

import tilewright as tw
from cli_models import check_error, cli, save_classifier, save_reshaped


def test_a_missing_model(tmp_path: Path) -> None:
    check_error(cli("run", tmp_path / "none.onnx"), "none.onnx", "No such file")


def test_a_broken_model(tmp_path: Path) -> None:
    (tmp_path / "bad.onnx").write_bytes(b"not a model" * 9)
    check_error(cli("compile", tmp_path / "bad.onnx"), "bad.onnx", "ONNX")


def test_a_symbolic_shape_without_a_value(tmp_path: Path) -> None:
    model = save_classifier(tmp_path / "free.onnx", batch="n")
    np.save(tmp_path / "x.npy", np.ones((37, 24), np.float32))
    given = cli("run", model, "--input", f"x={tmp_path / 'x.npy'}")
    assert given.exit_code == 0, given.output
    assert "dimension N varies in 1..512" in given.stderr
    assert "float32[37, 40]" in given.output
    check_error(cli("run", model, "--shape", "m=2"), "no dimension is called m", "x [n, 24]")


def test_a_symbolic_shape_that_no_range_fits(tmp_path: Path) -> None:
    """The reason is the missing value, whatever refuses the usual range."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 24])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    node = helper.make_node("Hardmax", ["x"], ["y"], axis=0)
    proto = helper.make_model(helper.make_graph([node], "g", [x], [y]))
    onnx.save(proto, tmp_path / "hard.onnx")
    check_error(cli("run", tmp_path / "hard.onnx"), "dimension 0 (n)", "no value; give --shape n=N")


def test_a_value_that_has_to_be_known(tmp_path: Path) -> None:
    """The same for every command: `tune` takes constants, too."""
    model = save_reshaped(tmp_path / "reshaped.onnx")
    for command in ("run", "compile", "bench", "tune"):
        check_error(cli(command, model), "must be known", "--constant s=VALUE")
    assert cli("compile", model, "--constant", "s=3,2").exit_code == 0


def test_what_data_decide_has_a_limit(tmp_path: Path) -> None:
    ends = [helper.make_tensor_value_info(n, TensorProto.INT64, []) for n in "abc"]
    y = helper.make_tensor_value_info("y", TensorProto.INT64, None)
    node = helper.make_node("Range", ["a", "b", "c"], ["y"])
    model = tmp_path / "range.onnx"
    imports = [helper.make_opsetid("", 17)]
    graph = helper.make_graph([node], "g", ends, [y])
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), model)
    check_error(cli("compile", model), "depends on data", "give --limit y=N, --constant")
    assert cli("compile", model, "--limit", "y=9").exit_code == 0
    check_error(cli("compile", model, "--limit", "y"), "--limit 'y' is not NAME=N")
    for name, array in (("a", 3), ("b", 8), ("c", 2)):
        np.save(tmp_path / f"{name}.npy", np.array(array))
    inputs = [word for n in "abc" for word in ("--input", f"{n}={tmp_path / n}.npy")]
    given = cli("run", model, "--limit", "y=9", "--check", *inputs)
    assert given.exit_code == 0 and "int64[3]" in given.output, given.output


@pytest.mark.parametrize(
    ("option", "value", "part"),
    [
        ("--shape", "x=", "24"),
        ("--shape", "x=two,3", "NAME=N,N"),
        ("--shape", "other:x=2,24", "names no model; given: classifier"),
        ("--target", "cpu:pentium9", "pentium9"),
        ("--objective", "fastest", "known: sum"),
        ("--objective", "requirement:0.1,0.2", "for each model, 1 here"),
        ("--objective", "geomean:quick", "not a list of numbers"),
    ],
)
def test_bad_option_values(model: Path, tmp_path: Path, option: str, value: str, part: str) -> None:
    db = tmp_path / "new.db"
    check_error(cli("tune", model, "--trials", 1, "--db", db, option, value), part)


def test_a_missing_database(model: Path, tmp_path: Path) -> None:
    for command in (("compile", model, "--db"), ("records",), ("show",)):
        check_error(cli(*command, tmp_path / "none.db"), "none.db", "does not exist")


def test_a_corrupt_database(model: Path, tmp_path: Path) -> None:
    db = tmp_path / "bad.db"
    db.write_bytes(b"\x07" * 9000)
    check_error(cli("tune", model, "--trials", 1, "--db", db), "bad.db", "not a SQLite database")


@pytest.mark.cpu
def test_an_input_of_the_wrong_shape_or_dtype(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    np.save(file, np.zeros((3, 24), np.float32))
    check_error(cli("run", model, "--input", f"x={file}"), "x", "(2, 24)")
    np.save(file, np.zeros((2, 24)))
    check_error(cli("run", model, "--input", f"x={file}"), "float32", "float64")


@pytest.mark.cpu
def test_an_unknown_task_lists_the_known_ones(tuned: tuple[Path, Result]) -> None:
    check_error(cli("show", tuned[0], "lstm"), "no task fits 'lstm'", "1 t0_")
    check_error(cli("show", tuned[0], "--trial", 999), "no trial 999")


def test_traceback_is_shown_on_request(tmp_path: Path) -> None:
    result = cli("--traceback", "run", tmp_path / "none.onnx")
    assert isinstance(result.exception, tw.UnsupportedModel)


def test_a_missing_openmp_runtime(tmp_path: Path) -> None:
    """A library that cannot be loaded stands in for LightGBM's without libgomp: tuning needs it."""
    (tmp_path / "lightgbm.py").write_text("raise OSError('libgomp.so.1: cannot open')")
    words = ["tune", str(save_classifier(tmp_path / "net.onnx")), "--db", str(tmp_path / "t.db")]
    done = subprocess.run(
        [sys.executable, "-c", "from tilewright.cli import main; main()", *words],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: LightGBM does not load")
    assert "apt-get install libgomp1" in done.stderr

"""What the public functions are given wrongly is named, with what it may be, before any work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from cli_models import cli, save_classifier
from tilewright.search.tuner import Tuner


def task() -> tw.Task:
    a, b = tw.placeholder((8, 8), name="a"), tw.placeholder((8, 8), name="b")
    return tw.Task([a, b, tw.operators.matmul(a, b)], "gemm")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_classifier(tmp_path_factory.mktemp("models") / "classifier.onnx")


@pytest.fixture
def nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    yield
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("nothing_is_written")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"models": []}, "models is an empty sequence: give at least one"),
        ({"models": [3]}, "the path of an ONNX file, what load.. gives, or a Task, not int"),
        ({"models": None}, "or a Task, not None"),
        ({"db": None}, r"db is the path of a SQLite file or a postgresql:// URL, not None"),
        ({"db": ""}, "db is the path of a SQLite file"),
        ({"db": "cuda"}, "db is a file or URL of records, not 'cuda'; target='cuda'"),
        ({"minutes": -1}, "minutes is a finite number, 0 or more, such as 10; got -1"),
        ({"minutes": float("inf")}, "minutes is a finite number.*; got inf"),
        ({"minutes": float("nan")}, "minutes is a finite number.*; got nan"),
        ({"minutes": "10"}, "minutes is a finite number.*; got '10'"),
        ({"trials": 0}, "trials is a whole number, 1 or more; got 0"),
        ({"trials": 1.5}, "trials is a whole number, 1 or more; got 1.5"),
        ({"trials": True}, "trials is a whole number, 1 or more; got True"),
        ({"patience": 0}, "patience is a whole number, 1 or more; got 0"),
        ({"seed": -1}, "seed is a whole number, 0 or more; got -1"),
        ({"strategy": None}, "unknown strategy None; known: evolution"),
        ({"strategy": ["reuse"]}, r"unknown strategy \['reuse'\]; known: evolution"),
        ({"objective": "sum"}, "an objective is an instance such as TotalLatency"),
        ({"callbacks": print}, r"callbacks is a sequence of functions: callbacks=\["),
        ({"callbacks": [3]}, "a callback is a function, not int"),
    ],
    ids=str,
)
def test_tune(given: dict[str, Any], message: str) -> None:
    with pytest.raises(tw.InputError, match=message):
        tw.tune(**{"models": task(), "trials": 1, **given})


@pytest.mark.usefixtures("nothing_is_written")
@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("n_trials", "say trials=100"),
        ("timeout", "say minutes=10"),
        ("storage", "say db='tuning.db'"),
        ("direction", "say objective="),
        ("n_jobs", "say nothing: kernels are built on all cores"),
        ("trails", "say trials="),
        ("minute", "say minutes="),
        ("flavour", "it has models, minutes, trials, "),
    ],
)
def test_words_of_other_tuners_get_a_hint(word: str, hint: str) -> None:
    with pytest.raises(TypeError, match=rf"tune\(\) has no argument '{word}': {hint}"):
        tw.tune(task(), **{word: 3})  # type: ignore[arg-type]


@pytest.mark.usefixtures("nothing_is_written")
def test_a_target_is_a_name_or_a_target() -> None:
    call: Callable[..., Any]
    for call in (tw.tune, tw.compile):
        with pytest.raises(tw.TargetError, match="a Target or its name such as 'opencl', not int"):
            call(task(), target=3)


def test_compile(model: Path) -> None:
    with pytest.raises(tw.InputError, match="not 'cuda'; target='cuda'"):
        tw.compile(task(), "cuda")
    with pytest.raises(TypeError, match="positional"):
        tw.compile(task(), None, "cuda")  # type: ignore[call-overload]
    with pytest.raises(tw.InputError, match="notes is a function, not str"):
        tw.compile(task(), notes="all")  # type: ignore[call-overload]
    with pytest.raises(tw.InputError, match="not list"):
        tw.compile([model])  # type: ignore[call-overload]
    with pytest.raises(tw.InputError, match=r"not tilewright\.Tensor: make a task of it"):
        tw.compile(tw.placeholder((3,)))  # type: ignore[call-overload]
    with pytest.raises(tw.RecordsError, match=r"none\.db does not exist"):
        tw.compile(task(), db="none.db")


@pytest.mark.parametrize(
    "shape", [(1.7, 24), "1,24", 2.0, True, -1, (True, 24), (-1, 24), (None, 24)]
)
def test_shapes_are_whole_numbers(model: Path, shape: Any) -> None:
    for shapes in ({"x": shape}, [{"x": shape}]):
        with pytest.raises(tw.InputError, match="the shape of input x is a sequence of whole"):
            tw.load(model, shapes=shapes)  # type: ignore[call-overload]


def test_load(model: Path) -> None:
    for shapes in ("x=2,24", 3, [(2, 24)]):
        with pytest.raises(tw.InputError, match="shapes is a mapping such as"):
            tw.load(model, shapes=shapes)  # type: ignore[call-overload]
    with pytest.raises(tw.InputError, match="one at a time, not list"):
        tw.load([model])
    with pytest.raises(tw.InputError, match="not None"):
        tw.load(None)
    with pytest.raises(tw.InputError, match=r"constants is a mapping such as .*, not list"):
        tw.load(model, constants=[3])  # type: ignore[call-overload]
    with pytest.raises(tw.InputError, match="path is the path of a file, not int"):
        tw.load_library(3)  # type: ignore[arg-type]
    with pytest.raises(tw.InputError, match="a task is made of tensors, not of float"):
        tw.Task([3.0])  # type: ignore[list-item]


def test_shapes_may_be_any_sequence_of_integers(model: Path) -> None:
    for shape in ([2, 24], np.array([2, 24]), (np.int64(2), 24)):
        loaded = tw.load(model, shapes={"x": shape})  # type: ignore[dict-item]
        assert loaded.partition.graph.inputs[0].shape == (2, 24)


def test_a_dimension_may_have_a_range(tmp_path: Path) -> None:
    free = save_classifier(tmp_path / "free.onnx", batch="n")
    for shapes in ({"n": (1, 8)}, {"n": [(1, 8)]}, {"x": ((1, 8), 24)}, {"x": [[1, 8], 24]}):
        graph = tw.load(free, shapes=shapes).graph  # type: ignore[arg-type]
        assert [(s.name, s.least, s.most) for s in graph.sizes] == [("N", 1, 8)]
        assert str(graph.inputs[0]) == "x: float32[N, 24]"
    for wrong in (((1, 2, 3), 24), ((1, "8"), 24), ((1.0, 8), 24)):
        with pytest.raises(tw.InputError, match="or of ranges"):
            tw.load(free, shapes={"x": wrong})  # type: ignore[dict-item]
    with pytest.raises(tw.UnsupportedModel, match=r"dimension n: size N cannot be in 8\.\.1"):
        tw.load(free, shapes={"n": (8, 1)})


def test_the_size_of_a_dimension_is_a_number(tmp_path: Path) -> None:
    free = save_classifier(tmp_path / "free.onnx", batch="n")
    for size in (3, np.int64(3), (3,), [3]):
        loaded = tw.load(free, shapes={"n": size})  # type: ignore[dict-item]
        assert loaded.partition.graph.inputs[0].shape == (3, 24)
    ranges = [(1, 40), [(1, 40)], ((1, 40, {40: 1, 8: 2.5}),), (1, 40, {40: 1, 8: 2.5})]
    of_points = [tw.load(free, shapes={"n": given}).partition.graph.sizes for given in ranges]
    points = ((40, 1.0), (8, 2.5))
    assert [s.points for (s,) in of_points] == [(), (), points, points]
    for wrong in ((1, 40, {"8": 1}), (1, 40, {8: "1"}), (1, None, {8: 1})):
        with pytest.raises(tw.InputError, match="or of ranges"):
            tw.load(free, shapes={"n": wrong})
    with pytest.raises(tw.UnsupportedModel, match=r"N in 1\.\.40 is not measured at 64"):
        tw.load(free, shapes={"n": (1, 40, {64: 1})})
    several = tw.load(free, shapes=[{"n": n} for n in (1, 4)])
    assert [m.partition.graph.inputs[0].shape[0] for m in several.models] == [1, 4]
    with pytest.warns(UserWarning, match=r"dimension N varies in 1\.\.512"):
        usual = tw.load(free)
    assert [str(s) for s in usual.partition.graph.sizes] == ["N in 1..512"]


@pytest.mark.cpu
def test_paths_stand_for_models(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tuner, "run", lambda tuner, *_: tuner.searches)
    twin, db = save_classifier(tmp_path / "twin.onnx"), tmp_path / "t.db"
    assert [t.weight for t in tw.tune(str(model), db=db).tasks] == [1.0]
    several = [str(model), twin, tw.load(twin, shapes={"x": (2, 24)})]
    assert [t.weight for t in tw.tune(several, db=str(db)).tasks] == [3.0]
    for path in (model, str(model)):
        (y,) = tw.compile(path)(np.ones((2, 24), np.float32))
        assert y.shape == (2, 40)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--minutes", "-1"), "minutes is a finite number, 0 or more, such as 10; got -1.0"),
        (("--minutes", "inf"), "minutes is a finite number, 0 or more, such as 10; got inf"),
        (("--trials", "0"), "trials is a whole number, 1 or more; got 0"),
        (("--patience", "0"), "patience is a whole number, 1 or more; got 0"),
        (("--strategy", "whole"), "unknown strategy 'whole'; known: evolution, templates"),
    ],
    ids=str,
)
def test_the_command_line_says_the_same(
    model: Path, options: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    result = cli("tune", model, *options)
    assert result.exit_code == 2
    assert words in " ".join(result.output.replace("│", " ").split())

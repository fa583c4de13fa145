"""The second compile of a model is a load, and only of what is the same."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import tilewright as tw
from cli_models import cli, save_classifier, save_products, save_reshaped
from simulated_tuning import record_search
from tilewright.contract.cache import BLOCK_SUFFIX, SUFFIX, ArtifactCache
from tilewright.front import kernels
from tilewright.front.machine import host_target, keep_speeds, machine_of
from tilewright.front.tuning_tasks import tasks_of
from tilewright.ground.errors import UnsupportedModel
from tilewright.records.database import Database
from tilewright.records.rows import MEASURED, FactsRow

pytestmark = pytest.mark.cpu

HEAVY = (
    *("onnx", "google.protobuf", "sqlalchemy", "lightgbm", "scipy", "torch"),
    *("tilewright.expr", "tilewright.graph", "tilewright.search", "tilewright.records"),
    *("tilewright.build", "tilewright.codegen", "tilewright.report"),
)
"""What a load and a refusal need nothing of."""
LIGHT = (*HEAVY, "llvmlite.binding")
"""And what help needs nothing of, either."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new cache, for files whose clocks have moved on."""
    monkeypatch.setattr("tilewright.contract.cache.SETTLED_S", -1.0)
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return save_classifier(tmp_path / "net.onnx")


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models that were built rather than loaded."""
    found: list[str] = []
    plain = kernels.build_networks

    def build(model: Any, *given: Any) -> Any:
        found.append(model.name)
        return plain(model, *given)

    monkeypatch.setattr(kernels, "build_networks", build)
    return found


def result(model: Any, **options: Any) -> list[Any]:
    net = tw.compile(model, **options)
    return net.run({s.name: np.ones(s.shape, s.dtype) for s in net.artifact.inputs})


def imported(words: str, *, names: tuple[str, ...] = HEAVY, code: int = 0) -> str:
    """What a process that runs `words` has imported of `names`."""
    tail = f"\nimport sys\nprint([m for m in {names} if m in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", words + tail], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stderr.splitlines()[-1]


# ---- a load -----------------------------------------------------------------------------------


def test_a_load_computes_the_same_and_imports_nothing_that_compiles(file: Path) -> None:
    first = tw.compile(file)
    x = np.linspace(-1, 1, 48, dtype=np.float32).reshape(2, 24)
    wanted = first(x)[0]
    again = tw.compile(file)
    np.testing.assert_array_equal(again(x)[0], wanted)
    assert str(again) == str(first) and again.artifact == first.artifact
    assert again.kernels == first.kernels and again.memory == first.memory
    words = f"import tilewright as tw\nnet = tw.compile({str(file)!r})\nnet.function"
    assert imported(words) == "[]"


def test_a_load_with_records_reads_no_database(file: Path, tmp_path: Path) -> None:
    with Database.open(tmp_path / "t.db") as database:
        database.add_machine(machine_of(host_target()))
    words = (
        f"import tilewright as tw, tilewright.contract.cache as c\nc.SETTLED_S = -1.0\n"
        f"tw.compile({str(file)!r}, {str(tmp_path / 't.db')!r}, notes=print)"
    )
    tw.compile(file, tmp_path / "t.db", notes=lambda _: None)
    assert imported(words) == "[]"


def test_a_network_of_a_device_is_loaded_too(file: Path, built: list[str]) -> None:
    first, again = (result(file, target="emulated cores=2") for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert built == ["net"]


def test_what_is_loaded_can_do_what_is_compiled(file: Path, tmp_path: Path) -> None:
    tw.compile(file)
    net = tw.compile(tw.load(file))
    x = np.ones((2, 24), np.float32)
    profile = net.profile([x], runs=2)
    assert [k.kernel for k in profile.kernels] == [s.kernel for s in net.artifact.steps]
    net.threads = 1
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(net))(x)[0], net(x)[0])
    net.save(tmp_path / "net.so")
    np.testing.assert_array_equal(tw.load_library(tmp_path / "net.so")(x)[0], net(x)[0])
    assert "1 kernel call" in repr(tw.load(file)), "a known model is imported when it is asked for"


def test_one_network_for_several_shapes_shares_constants(tmp_path: Path, built: list[str]) -> None:
    file = save_classifier(tmp_path / "net.onnx", batch="n")
    shapes = [{"n": (1,)}, {"n": (4,)}]
    first, again = (tw.compile(tw.load(file, shapes=shapes)) for _ in range(2))
    assert built == ["net"]
    assert str(again) == str(first) and repr(again) == repr(first)
    one, other = ({a.ctypes.data for a in n.constants.arrays} for n in again.networks)
    assert len(one & other) == len(
        set.intersection(*({a.ctypes.data for a in n.constants.arrays} for n in first.networks))
    )
    for rows in (1, 4):
        x = np.ones((rows, 24), np.float32)
        np.testing.assert_array_equal(again(x)[0], first(x)[0])


@pytest.mark.parametrize("form", ["path", "text", "bytes", "message"])
def test_a_model_is_known_in_every_form(file: Path, built: list[str], form: str) -> None:
    def given() -> Any:
        match form:
            case "path":
                return file
            case "text":
                return str(file)
            case "bytes":
                return file.read_bytes()
            case _:
                return onnx.load(file)

    wanted = result(tw.load(given()))
    message = given()
    known = tw.load(message)
    if form == "message":
        message.graph.ClearField("node")
    np.testing.assert_array_equal(result(known), wanted)
    assert len(built) == 1
    assert known.partition.tasks, "its graph is there where it is asked for"


def test_warnings_of_the_import_are_given_again(tmp_path: Path) -> None:
    model = onnx.load(save_classifier(tmp_path / "net.onnx"))
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 7
    onnx.save(model, tmp_path / "net.onnx")
    told = []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tw.compile(tmp_path / "net.onnx")
        told.append([(str(w.message), w.category) for w in caught])
    assert told[0] and told[0] == told[1]


def test_the_commands_print_the_same(file: Path, tmp_path: Path, built: list[str]) -> None:
    save_products(tmp_path / "other.onnx")
    with Database.open(tmp_path / "t.db") as database:
        database.add_machine(machine_of(host_target()))
    for words in (["compile"], ["compile", "--db", tmp_path / "t.db"], ["run"]):
        command, *options = words
        first, again = (cli(command, file, *options) for _ in range(2))
        assert first.exit_code == again.exit_code == 0, first.output
        assert first.output == again.output and "kernel" in (first.output + command + "kernel")
    assert len(built) == 2, "run and compile are one network, with and without records"


# ---- what is another one ------------------------------------------------------------------------


def _weights(file: Path, tmp_path: Path) -> Any:
    model = onnx.load(file)
    (bias,) = (t for t in model.graph.initializer if t.name == "b")
    bias.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(bias) + 1.0, "b"))
    onnx.save(model, file)
    return file


def _renamed(file: Path, tmp_path: Path) -> Any:
    return file.rename(tmp_path / "other.onnx")


def _cores(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TILEWRIGHT_THREADS", "2" if host_target().cores == 1 else "1")
    return file


def _compiler(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("tilewright.front.compilation.compiler_fingerprint", lambda _: "another")
    return file


def _speeds(file: Path, tmp_path: Path) -> Any:
    target = host_target()
    keep_speeds(target, target.speeds.scaled(3.0), tmp_path / "cache")
    return file


OTHERS: dict[str, Callable[..., Any]] = {
    "weights": _weights,
    "name": _renamed,
    "threads": _cores,
    "compiler": _compiler,
    "chains": lambda file, _: tw.load(file, chains=False),
}


@pytest.mark.parametrize("what", OTHERS)
def test_another_network_is_made_anew(
    file: Path, tmp_path: Path, built: list[str], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    result(file)
    change = OTHERS[what]
    wants = change.__code__.co_argcount
    changed = change(*(file, tmp_path, monkeypatch)[:wants])
    found = result(changed)
    assert len(built) == 2
    np.testing.assert_array_equal(result(changed), found)
    assert len(built) == 2


def test_shapes_and_constants_are_part_of_a_name(tmp_path: Path, built: list[str]) -> None:
    file = save_classifier(tmp_path / "net.onnx", batch="n")
    for rows in (1, 2, 1, 2):
        assert result(tw.load(file, shapes={"n": (rows,)}))[0].shape == (rows, 40)
    reshaped = save_reshaped(tmp_path / "reshaped.onnx")
    for shape in ((3, 2), (6, 1), (3, 2), (6, 1)):
        assert result(tw.load(reshaped, constants={"s": shape}))[0].shape == shape
    assert len(built) == 4


def test_weights_beside_a_model_are_part_of_it(tmp_path: Path, built: list[str]) -> None:
    plain = onnx.load(save_classifier(tmp_path / "net.onnx"))
    file = tmp_path / "split.onnx"
    onnx.save(plain, file, save_as_external_data=True, location="w.bin", size_threshold=0)
    wanted = result(file)
    np.testing.assert_array_equal(result(file), wanted)
    assert len(built) == 1
    data = np.fromfile(tmp_path / "w.bin", np.float32)
    (data + 1).tofile(tmp_path / "w.bin")
    assert not np.array_equal(result(file), wanted) and len(built) == 2
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("split.onnx", "w.bin"):
        shutil.copy(tmp_path / name, moved)
    result(moved / "split.onnx")
    assert len(built) == 2, "the same content elsewhere is the same model"
    known = tw.load(file, chains=False)
    data.tofile(tmp_path / "w.bin")
    with pytest.raises(UnsupportedModel, match="were changed since it was loaded"):
        result(known)
    (tmp_path / "w.bin").unlink()
    with pytest.raises(UnsupportedModel, match=r"w\.bin"):
        tw.load(file)


def test_new_records_are_not_overlooked(file: Path, tmp_path: Path, built: list[str]) -> None:
    target, db = host_target(), tmp_path / "t.db"
    with Database.open(db) as database:
        database.add_machine(machine_of(target))
    (task,) = tasks_of(tw.load(file).for_target(target))
    result(file, db=db, notes=lambda _: None)
    with Database.open(db) as database:
        machine = machine_of(target).fingerprint
        database.keep(FactsRow(machine, MEASURED, 1.0, {"network": "x", "tuned": 1.0}))
    result(file, db=db, notes=lambda _: None)
    assert len(built) == 1, "what bench measured chooses no program"
    with Database.open(db) as database:
        record_search(database, machine_of(target), target, task, 4.0)
        best = database.best(task.hash)
    assert best is not None
    told: list[str] = []
    result(file, db=db, notes=told.append)
    assert len(built) == 2
    tw.compile(file, db)
    assert len(built) == 2
    (plan,) = tw_plans(file, db)
    assert [k.program for k in plan.kernels] == ["tuned"]


def tw_plans(file: Path, db: Path) -> Any:
    from tilewright.front.compilation import compiled

    model = tw.load(file)
    assert isinstance(model, tw.Model)
    return compiled(model, db, host_target()).plans


# ---- what is not whole --------------------------------------------------------------------------


def parts_of_network(folder: Path) -> tuple[Path, Path]:
    """The entry of the only network, and its block."""
    (block,) = folder.rglob(f"*{BLOCK_SUFFIX}")
    return block.with_suffix(SUFFIX), block


def _flip(file: Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)


DAMAGES: dict[str, Callable[[Path, Path], None]] = {
    "entry": lambda entry, block: _flip(entry, 100),
    "digest": lambda entry, block: _flip(entry, 0),
    "cut entry": lambda entry, block: os.truncate(entry, 50),
    "block": lambda entry, block: _flip(block, 0),
    "cut block": lambda entry, block: os.truncate(block, 64),
    "no block": lambda entry, block: block.unlink(),
    "no entry": lambda entry, block: entry.unlink(),
    "another's block": lambda entry, block: block.write_bytes(block.read_bytes()),
    "writable block": lambda entry, block: block.chmod(0o666),
    "link": lambda entry, block: block.rename(f"{block}2") and block.symlink_to(f"{block}2"),
    "pipe": lambda entry, block: (block.unlink(), os.mkfifo(block))[0],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_not_whole_is_made_anew(
    file: Path, folder: Path, built: list[str], damage: str
) -> None:
    wanted = result(file)
    DAMAGES[damage](*parts_of_network(folder))
    np.testing.assert_array_equal(result(file), wanted)
    assert len(built) == 2
    np.testing.assert_array_equal(result(file), wanted)
    assert len(built) == 2


def test_a_file_that_goes_or_changes_after_it_was_loaded(file: Path, folder: Path) -> None:
    content = file.read_bytes()
    wanted = result(file)
    gone, changed = tw.load(file), tw.load(file)
    shutil.rmtree(folder)
    file.unlink()
    np.testing.assert_array_equal(result(gone), wanted)
    file.write_bytes(content)
    tw.compile(file)
    known = tw.load(file)
    shutil.rmtree(folder)
    with file.open("r+b") as opened:
        opened.write(b"\0\0")
    with pytest.raises(UnsupportedModel, match="was changed while it was used"):
        result(known)
    del changed


def test_what_is_too_large_for_the_cache_is_not_kept(
    file: Path, folder: Path, built: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE_LIMIT", "5 kB")
    for _ in range(2):
        result(file)
    assert len(built) == 2 and not list(folder.rglob(f"*{BLOCK_SUFFIX}"))
    monkeypatch.setenv("TILEWRIGHT_CACHE_LIMIT", "1 MB")
    result(file)
    whole = ArtifactCache(folder).usage()
    gone = ArtifactCache(folder).trim(0)
    assert gone == whole and not [f for f in folder.rglob("*") if f.is_file()]


def test_a_folder_that_cannot_be_written_costs_only_the_loading(
    file: Path, built: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", "/dev/null/x")
    first, again = result(file), result(tw.load(file))
    np.testing.assert_array_equal(first, again)
    assert len(built) == 2


def test_the_weights_of_an_own_model_are_let_go_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At no moment are the weights as they were and the packed ones in memory."""
    weights = [
        numpy_helper.from_array(np.zeros((512, 2048), np.float32), f"w{i}") for i in range(8)
    ]
    nodes = [onnx.helper.make_node("MatMul", ["x", w.name], [f"y{w.name}"]) for w in weights]
    nodes.append(onnx.helper.make_node("Sum", [n.output[0] for n in nodes], ["y"]))
    shapes = {"x": (2, 512), "y": (2, 2048)}
    x, y = (onnx.helper.make_tensor_value_info(n, 1, shape) for n, shape in shapes.items())
    graph = onnx.helper.make_graph(nodes, "g", [x], [y], weights)
    onnx.save(onnx.helper.make_model(graph), tmp_path / "net.onnx")
    tw.compile(save_classifier(tmp_path / "other.onnx"))  # imports what takes memory
    tracemalloc.start()
    tw.compile(tmp_path / "net.onnx")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    total = 8 * 4 << 20
    assert total < peak < 1.5 * total


def test_layers_that_are_asked_for_are_printed(
    file: Path, built: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result(file)
    monkeypatch.setenv("TILEWRIGHT_SHOW", "nest")
    result(file)
    assert len(built) == 2


def test_a_model_is_cut_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tilewright.graph import partition as module

    cuts = []
    plain = module.partition

    def cut(*given: Any) -> Any:
        cuts.append(given)
        return plain(*given)

    monkeypatch.setattr(module, "partition", cut)
    model = tw.load(file)
    tw.compile(model)
    tw.compile(model, target="cpu:znver4")
    tw.compile(model, target="cpu:znver4 cores=2")
    assert len(cuts) == 3
    model.for_target(host_target())
    assert len(cuts) == 3


# ---- what is shown ------------------------------------------------------------------------------


def test_kernels_are_counted_where_somebody_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tilewright.progress.compiling.LINE_S", 0.0)

    def told(batch: int, progress: bool | None) -> str:
        tw.compile(save_classifier(tmp_path / "net.onnx", batch), progress=progress)
        return capsys.readouterr().err

    assert told(1, None) == told(2, False) == ""
    assert "compiling: 1 of 1 kernel\n" in told(3, True)
    assert told(3, True) == "", "what is loaded is not compiled"
    monkeypatch.setenv("FORCE_COLOR", "1")  # what Rich takes for a terminal
    assert "compiling" in told(4, None)
    assert told(5, False) == ""


def test_commands_tell_it_in_a_log_every_few_seconds(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "compiling" not in cli("compile", file).output
    monkeypatch.setattr("tilewright.progress.compiling.LINE_S", 0.0)
    assert "compiling: 1 of 1 kernel" in cli("run", save_classifier(file, 3)).stderr
    shown = cli("compile", save_classifier(file, 4), "--quiet")
    assert shown.output == ""


# ---- commands -------------------------------------------------------------------------------


def command(*words: object) -> str:
    argv = ["tilewright", *map(str, words)]
    return (
        f"import sys\nsys.argv = {argv}\nfrom tilewright.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass"
    )


HELP = [
    [],
    *([name] for name in ("tune", "plan", "compile", "run", "bench", "advise", "show", "report")),
    *([name] for name in ("records", "export", "ops", "cache")),
]


@pytest.mark.parametrize("words", [[["--version"]], [[*words, "--help"] for words in HELP]])
def test_help_imports_nothing_heavy(words: list[list[str]]) -> None:
    code = "\n".join(command(*one) for one in words)
    assert imported(code, names=LIGHT) == "[]"


REFUSED = [
    ["compile", "missing.onnx"],
    ["compile", "{file}", "--target", "cpu:i8008"],
    ["compile", "{file}", "--shape", "x=many"],
    ["compile", "{file}", "-o", "net.txt"],
    ["run", "{file}", "--target", "gpu"],
    ["run", "{file}", "--output", "out.txt"],
    ["bench", "{file}", "--target", "cpu:i8008"],
    ["bench", "{file}", "--threads", "100000"],
    ["bench", "{file}", "--constant", "s=many"],
    ["tune", "{file}", "--strategy", "guess"],
    ["tune", "{file}", "--target", "gpu"],
    ["tune", "{file}", "--minutes", "-1"],
    ["tune", "missing.onnx"],
    ["plan", "{file}", "--strategy", "random"],
    ["plan", "missing.onnx"],
    ["advise", "missing.onnx"],
    ["cache", "--limit", "much"],
    ["records", "--prune", "0"],
]


def test_refusals_import_nothing_heavy(file: Path) -> None:
    """All in one process, which has imported nothing of it at the end."""
    lines = [command(*(w.format(file=file) for w in words)) for words in REFUSED]
    assert imported("\n".join(lines)) == "[]"


def test_every_one_of_them_is_refused(file: Path) -> None:
    for words in REFUSED:
        assert cli(*(w.format(file=file) for w in words)).exit_code in (1, 2), words

"""Every snippet of README and guide runs, in order, on a small model under the demo's names.

Budgets are made smaller as SMALLER says; NOT_RUN installs or takes hours, and is tested elsewhere.
"""

from __future__ import annotations

import logging
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilewright as tw
from cli_models import cli
from devices import at_hand, tools
from made_up_latencies import simulate
from tilewright.front.machine import as_target
from tilewright.ground import log

ROOT = Path(__file__).parent.parent
README, GUIDE = (
    (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/guide.md")
)
PAGES = README + GUIDE
SMALLER = {
    "--minutes 10": "--trials 4",
    "minutes=10, patience=500": "trials=8, patience=4",
    "minutes=10": "trials=4",
    "trials=200": "trials=4",
    "trials=16": "trials=4",
    "tune resnet50.onnx --target opencl": "tune resnet50.onnx --target opencl --trials 1",
    "bench resnet50.onnx": "bench resnet50.onnx --seconds 0",
}
NOT_RUN = ("make ", "pip install ", "python -m benchmarks.", ". .venv/bin/activate", "cd demo")
FOR_C = ("gcc ", "./main")  # what compiles examples/c/main.c, and runs it
C_MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "resnet50.h"
int main(void) {
    float *x = aligned_alloc(64, 3 * 224 * 224 * 4), *y = aligned_alloc(64, 4096);
    for (int i = 0; i < 3 * 224 * 224; i++) x[i] = 0;
    %s
    return status;
}
"""


def snippets(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGES, re.DOTALL | re.MULTILINE)


def smaller(text: str) -> str:
    for long, short in SMALLER.items():
        text = text.replace(long, short)
    return text


def commands() -> list[str]:
    """The command lines, each once, without comments."""
    lines = "".join(snippets("sh")).splitlines()
    return list(dict.fromkeys(line.partition(" #")[0].strip() for line in lines if line.strip()))


def save_images(file: Path, batch: int | str) -> None:
    """A convolution, pooling and a linear layer, with the interface of the demo's model."""
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((8, 3, 7, 7)), "v": rng.standard_normal((8, 1000))}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], strides=[8, 8]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("ReduceMean", ["p"], ["m"], axes=[2, 3], keepdims=0),
        helper.make_node("MatMul", ["m", "v"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "resnet50",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, 224, 224])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 1000])],
        [numpy_helper.from_array(w.astype(np.float32), n) for n, w in weights.items()],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make demo` leaves, but for the size."""
    made = tmp_path_factory.mktemp("demo")
    save_images(made / "resnet50.onnx", 1)
    save_images(made / "resnet50-any-batch.onnx", "n")
    with pytest.MonkeyPatch.context() as patch:
        simulate(patch)
        tw.tune(str(made / "resnet50.onnx"), trials=2, db=made / "tuning.db")
    return made


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


def test_every_snippet_is_known_here() -> None:
    languages = set(re.findall(r"^```(\w+)$", PAGES, re.MULTILINE))
    assert languages == {"sh", "python", "c"}
    for line in commands():
        assert line.startswith(("tilewright ", *NOT_RUN, *FOR_C)), line
    for long in SMALLER:
        assert long in PAGES, f"{long!r} is on neither page any more"


@pytest.mark.cpu
@tools("gcc")
@pytest.mark.parametrize(
    "line", [c for c in commands() if c.startswith("tilewright") and "--target" not in c]
)
def test_commands(here: Path, line: str) -> None:
    result = cli(*shlex.split(smaller(line))[1:])
    assert result.exit_code == 0, result.output


@pytest.mark.cpu
@pytest.mark.parametrize("line", [c for c in commands() if "--target" in c])
def test_commands_for_gpus(here: Path, line: str) -> None:
    words = shlex.split(smaller(line))
    at_hand(lambda: as_target(words[words.index("--target") + 1]))
    result = cli(*words[1:])
    assert result.exit_code == 0, result.output


@pytest.mark.cpu
@pytest.mark.torch
@tools("gcc")
def test_python_and_c(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Blocks build on those before them; a library saved before is what C and Python load.

    Nothing is measured, to take less time: the command line above tunes in earnest.
    """
    simulate(monkeypatch)
    tw.compile("resnet50.onnx").save("resnet50.so")
    names: dict[str, Any] = {}
    try:
        for code in snippets("python"):
            exec(compile(smaller(code), "README.md", "exec"), names)
    finally:
        log.setLevel(logging.NOTSET)
    assert "µs untuned" in capsys.readouterr().out
    assert [p.phase for p in names["seen"]][-1] == "confirming"
    (snippet,) = snippets("c")
    Path("main.c").write_text(C_MAIN % snippet)
    command = ["gcc", "-Wall", "-Werror", "main.c", "./resnet50.so", "-Wl,-rpath,.", "-o", "main"]
    subprocess.run(command, check=True)
    subprocess.run(["./main"], check=True)


@pytest.mark.cpu
@tools("gcc")
def test_the_way_to_c(here: Path) -> None:
    """As it is printed, from the folder that `make demo` leaves inside of the repository."""
    tw.compile("resnet50.onnx").save("model.so")
    lines = [line for line in commands() if line.startswith(FOR_C)]
    assert len(lines) == 2
    examples = str(ROOT / "examples")
    for line in lines:
        words = shlex.split(line.replace("../examples", examples))
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1].startswith("input x: float32[1, 3, 224, 224]")


def test_the_example_has_twenty_lines() -> None:
    (code,) = (c for c in snippets("python") if "reduce_axis" in c)
    assert len([line for line in code.splitlines() if line.strip()]) <= 20


def test_the_first_number_is_the_scoreboards() -> None:
    """What stands between the README's comments is what the scoreboard's file says."""
    from benchmarks.page import BEGIN, END, pages

    written = (ROOT / "README.md").read_text(encoding="utf-8")
    assert written.count(BEGIN) == written.count(END) == 1
    assert pages()[ROOT / "README.md"] == written, "run python -m benchmarks.page"

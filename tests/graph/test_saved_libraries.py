"""Saved networks: run from C without Python, loaded back, refused where they do not fit."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from graph_reference import Array, random_inputs, run_graph
from hypothesis import given
from hypothesis import strategies as st

import tilewright as tw
from devices import tools
from tilewright.build import default_gene
from tilewright.build.compile import build_nest
from tilewright.build.library.source import GCC_FEATURES, LEAF_7, LEAF_7_C
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Graph
from tilewright.graph.partition import partition
from tilewright.ground.errors import BuildError, InputError, RunError
from tilewright.network.executor import Network
from tilewright.network.link import linked
from tilewright.runtime.host import ARM_HWCAPS, host_architecture
from tilewright.runtime.library import _description
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.target.cpu import host_features
from tilewright.target.dots import DOTS, TILED

CHECKS = Path(__file__).with_name("library_checks.c")
EXAMPLE = Path(__file__).parents[2] / "examples" / "c" / "main.c"
GCC = ("gcc", "-std=c99", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
ARM_GCC = ("aarch64-linux-gnu-gcc", *GCC[1:])
FIXED = np.array([5, 6, -7], np.int64)
ARM_SYSTEM = "/usr/aarch64-linux-gnu"

pytestmark = [pytest.mark.cpu, tools("gcc")]


def graph() -> Graph:
    """A parallel product, vector math, a copy, a constant, and a name that C cannot have."""
    b = GraphBuilder('test "net"')
    x = b.input('x/0 "ä"*/', (37, 24), "float32")
    weights = np.random.default_rng(0).standard_normal((24, 50)).astype(np.float32)
    w = b.constant("w", weights)
    y = b.emit("softmax", b.emit("matmul", x, w), axis=1)
    fixed = b.constant("fixed", FIXED)
    return b.build([y, b.emit("add", x, x), fixed], ["y", "double-x", "fixed"])


def network(target: str = "cpu cores=2") -> Network:
    parsed = Target.parse(target)
    p = partition(graph())
    kernels = {
        t.key: build_nest(t.dag, default_gene(Space(t.dag, parsed)), parsed, t.name)
        for t in p.tasks
    }
    return linked(p, kernels, parsed)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Network, Path]:
    net = network()
    path = tmp_path_factory.mktemp("saved") / "model.so"
    assert net.save(path) == path.with_name("model.h")
    return net, path


def compiled(command: tuple[str, ...], source: Path, library: Path) -> Path:
    program = library.with_name(source.stem)
    rpath = ("-Wl,-rpath,$ORIGIN", "-pthread")
    words = (*command, source, f"-I{library.parent}", library, *rpath, "-o", program)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


def run_example(words: list[str], program: Path, inputs: list[Array], net: Network) -> list[Array]:
    """The outputs that the example writes, with nothing of this process's environment."""
    files = [program.with_name(f"{i}.bin") for i in range(len(inputs) + len(net.artifact.outputs))]
    for file, array in zip(files, inputs, strict=False):
        file.write_bytes(array.tobytes())
    command = [*words, program, "2", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={})
    assert done.returncode == 0, done.stderr
    outputs = zip(files[len(inputs) :], net.artifact.outputs, strict=True)
    return [np.fromfile(f, s.dtype).reshape(s.shape) for f, s in outputs]


def test_the_c_example_computes_what_python_does(saved: tuple[Network, Path]) -> None:
    net, path = saved
    program = compiled(GCC, EXAMPLE, path)
    (x,) = random_inputs(graph(), 0).values()
    for ours, theirs in zip(run_example([], program, [x], net), net(x), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    shown = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert 'test "net", compiled by Tilewright' in shown
    assert "output y: float32[37, 50], 7400 bytes" in shown
    wrong = subprocess.run([program, "9", *"abcd"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert "needs a file of" in wrong.stderr


def test_what_a_c_program_may_rely_on(saved: tuple[Network, Path]) -> None:
    done = subprocess.run([compiled(GCC, CHECKS, saved[1])], check=False)
    assert done.returncode == 0, f"line {done.returncode - 1} of {CHECKS.name} (modulo 250)"


@tools("g++")
def test_the_header_is_also_c_plus_plus(saved: tuple[Network, Path], tmp_path: Path) -> None:
    source = tmp_path / "main.cpp"
    source.write_text('#include "model.h"\nint main() { return model_model()->format - 8; }\n')
    program = compiled(("g++", "-Wall", "-Werror", "-Wpedantic"), source, saved[1])
    assert subprocess.run([program], check=False).returncode == 0


def test_a_loaded_library_is_the_same_network(saved: tuple[Network, Path], tmp_path: Path) -> None:
    net, path = saved
    copy = shutil.copy(path, tmp_path / "elsewhere.so")
    library = tw.load_library(copy)
    inputs = random_inputs(graph(), 1)
    for form in (inputs, list(inputs.values())):
        for ours, theirs in zip(library.run(form), net.run(form), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    library.threads = 1
    np.testing.assert_array_equal(library.run(inputs)[0], net.run(inputs)[0])
    assert {k.kernel for k in library.profile(inputs, 2).kernels} == {
        s.kernel for s in net.artifact.steps
    }
    with pytest.raises(InputError, match=r"must be float32 of shape \(37, 24\)"):
        library(np.zeros((3, 24), np.float32))
    assert library.artifact == replace(net.artifact, object_code=b"")


def test_a_library_may_be_saved_over_one_that_is_loaded(tmp_path: Path) -> None:
    net = network()
    path = tmp_path / "libagain.so"
    inputs = random_inputs(graph(), 2)
    loaded = []
    for _ in range(2):
        net.save(path)
        loaded.append(tw.load_library(path))
        gc.collect()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.h", "libagain.so"]
    for library in loaded:
        np.testing.assert_array_equal(library.run(inputs)[0], net.run(inputs)[0])


@tools("aarch64-linux-gnu-gcc", "qemu-aarch64")
@pytest.mark.parametrize("cpu", ["cortex-a72", "cortex-a76"])
def test_cross_compiled_for_aarch64(cpu: str, tmp_path: Path) -> None:
    net = network(f"cpu:{cpu} cores=2")
    path = tmp_path / "model.so"
    net.save(path)
    with pytest.raises(RunError, match="compiled for aarch64"):
        tw.load_library(path)
    program = compiled(ARM_GCC, EXAMPLE, path)
    inputs = random_inputs(graph(), 3)
    emulator = ["qemu-aarch64", "-L", ARM_SYSTEM, "-cpu"]
    found = run_example([*emulator, cpu], program, list(inputs.values()), net)
    for ours, theirs in zip(found, run_graph(graph(), inputs), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
    if cpu == "cortex-a76":
        command = [
            *emulator,
            "cortex-a72",
            program,
            "1",
            *(tmp_path / f"{i}.bin" for i in range(4)),
        ]
        older = subprocess.run(command, capture_output=True, text=True, check=False)
        assert older.returncode == 1
        assert "this CPU lacks instructions of cortex-a76" in older.stderr


@tools("qemu-x86_64")
def test_an_older_x86_refuses_in_c(tmp_path: Path) -> None:
    path = tmp_path / "model.so"
    network("cpu:x86-64-v3 cores=1").save(path)
    program = compiled(GCC, EXAMPLE, path)
    (x,) = random_inputs(graph(), 0).values()
    (tmp_path / "x").write_bytes(x.tobytes())
    command = ["qemu-x86_64", "-cpu", "Nehalem", program, "1", *(tmp_path / n for n in "xabc")]
    older = subprocess.run(command, capture_output=True, text=True, check=False)
    assert older.returncode == 1
    assert "lacks instructions of x86-64-v3" in older.stderr


@pytest.mark.skipif(host_architecture() != "x86_64", reason="asks an x86 CPU")
def test_words_of_narrow_numbers_are_what_the_cpu_says(tmp_path: Path) -> None:
    words = {"amx-tile", *(word for word, *_ in TILED.values())}
    words |= {word for dot in DOTS for word in dot.features} - ARM_HWCAPS.keys()
    assert words <= GCC_FEATURES | LEAF_7.keys()
    bits = "".join(f"leaf7({p}, {word}) >> {bit} & 1, " for p, word, bit in LEAF_7.values())
    printed = (
        f"unsigned x[] = {{{bits}}}; for (int i = 0; i < {len(LEAF_7)}; i++) putchar(48 + x[i]);"
    )
    source = tmp_path / "leaf.c"
    source.write_text(f"#include <stdio.h>\n{LEAF_7_C}int main(void) {{ {printed} return 0; }}\n")
    subprocess.run([*GCC, source, "-o", tmp_path / "leaf"], check=True)
    found = subprocess.run([tmp_path / "leaf"], capture_output=True, text=True, check=True).stdout
    usable = host_features()  # less what the kernel keeps from processes
    assert all(said == "1" for said, word in zip(found, LEAF_7, strict=True) if usable.get(word))


# ---- what is refused ------------------------------------------------------------------------


def changed(path: Path, to: Path, old: bytes, new: bytes) -> Path:
    data = path.read_bytes()
    assert len(old) == len(new) and old in data
    to.write_bytes(data.replace(old, new))
    return to


def written(to: Path, data: bytes) -> Path:
    to.write_bytes(data)
    return to


def flipped(path: Path, to: Path, where: bytes) -> Path:
    """One bit less right in the middle of some bytes."""
    data = bytearray(path.read_bytes())
    data[data.index(where) + len(where) // 2] ^= 1
    return written(to, bytes(data))


Damage = Callable[[Path, Path], Path]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda _, to: to, "No such file"),
        (lambda _, to: to.parent, "it is no regular file"),
        (lambda _, to: written(to, b""), "no shared library: it starts with b''"),
        (lambda _, to: written(to, b"MZ" * 99), "no shared library"),
        (lambda p, to: written(to, p.read_bytes()[:9000]), "cut off: it has 9000 bytes"),
        (lambda p, to: written(to, p.read_bytes()[:-64]), "cut off"),
        (lambda p, to: changed(p, to, b'"format": 8', b'"format": 9'), "has format 9.*reads 8"),
        (lambda p, to: changed(p, to, b'{"format"', b'["format"'), "description is damaged"),
        (lambda p, to: changed(p, to, b'"artifacts', b'"artifactz'), "lists no networks"),
        (
            lambda p, to: changed(p, to, b'"constants": [[0, ', b'"constants": [[   '),
            "places other",
        ),
        (lambda p, to: changed(p, to, b'"scratch_b', b'"scratch_x'), "is damaged"),
        (lambda p, to: changed(p, to, b".tilewright", b".tilewrong!"), "none that Tilewright"),
        (lambda p, to: changed(p, to, b'"ssse3"', b'"ssse9"'), "this CPU .* lacks ssse9"),
        (lambda p, to: changed(p, to, b'"sha256"', b'"sha255"'), "has no sha256"),
        (lambda p, to: changed(p, to, b"GCC: ", b"gcc: "), "is damaged: its bytes are not those"),
        (lambda p, to: flipped(p, to, FIXED.tobytes()), "is damaged: its bytes are not those"),
    ],
)
def test_other_files_are_refused(
    saved: tuple[Network, Path], tmp_path: Path, damage: Damage, message: str
) -> None:
    with pytest.raises(RunError, match=message):
        tw.load_library(damage(saved[1], tmp_path / "bad.so"))


@given(at=st.integers(0, 63), byte=st.integers(0, 255), cut=st.integers(0, 1 << 16))
def test_any_damage_of_the_file_header_is_a_message(
    saved: tuple[Network, Path], at: int, byte: int, cut: int
) -> None:
    data = bytearray(saved[1].read_bytes())
    data[at] = byte
    file = saved[1].with_name("damaged.so")
    file.write_bytes(bytes(data[: len(data) - cut]))
    try:
        assert _description(file)["name"] == 'test "net"'
    except RunError as error:
        assert "damaged.so" in str(error)


def test_a_path_that_cannot_be_written(saved: tuple[Network, Path], tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"cannot write .*nowhere does not exist"):
        saved[0].save(tmp_path / "nowhere" / "model.so")
    (tmp_path / "model.so").mkdir()
    with pytest.raises(BuildError, match=r"cannot write .*directory"):
        saved[0].save(tmp_path / "model.so")
    with pytest.raises(BuildError, match=r"cannot write .*name a file that ends in \.so"):
        saved[0].save(tmp_path / "net.onnx")
    (tmp_path / "main.h").write_text("int mine;")
    with pytest.raises(BuildError, match=r"would replace .*main\.h, which Tilewright did not"):
        saved[0].save(tmp_path / "main.so")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["main.h", "model.so"]


def test_a_compiler_that_is_missing_or_fails(saved: tuple[Network, Path], tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"not found: no-such-cc.*apt-get install gcc"):
        saved[0].save(tmp_path / "model.so", compiler="no-such-cc")
    with pytest.raises(BuildError, match="false cannot link"):
        saved[0].save(tmp_path / "model.so", compiler="false")
    with pytest.raises(BuildError, match="for Linux on x86_64 or aarch64, not arm64-apple"):
        network("cpu:apple-m1").save(tmp_path / "model.so")
    assert not list(tmp_path.iterdir())


def test_the_compiler_that_the_environment_names(
    saved: tuple[Network, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "false")
    with pytest.raises(BuildError, match="false cannot link"):
        saved[0].save(tmp_path / "model.so")
    monkeypatch.setenv("CC", "gcc -fno-plt")
    saved[0].save(tmp_path / "model.so")
    assert tw.load_library(tmp_path / "model.so").artifact.entry == saved[0].artifact.entry


@pytest.mark.parametrize(
    ("kind", "says"),
    [("fifo", "no regular file"), ("/dev/zero", "no regular file"), ("/dev/null", "no regular"),
     (".", "no regular file"), ("r.so", "cannot read"), ("nowhere", "cannot read")],
)  # fmt: skip
def test_what_is_no_regular_file_is_no_library(tmp_path: Path, kind: str, says: str) -> None:
    file = tmp_path / "r.so"
    if kind == "fifo":
        os.mkfifo(file)
    else:
        file.symlink_to(kind)
    with pytest.raises(RunError, match=says):
        tw.load_library(file)

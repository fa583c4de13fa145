"""Inputs from files and seeds, outputs to files, and how they differ."""

from __future__ import annotations

import os
import pickle
import resource
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tilewright.cli import arrays as arrays_module
from tilewright.cli.arrays import random_words, read_inputs, write_outputs
from tilewright.contract.artifact import BufferSpec
from tilewright.ground.errors import InputError

SPECS = (BufferSpec("x", (2, 3), "float32"), BufferSpec("ids", (4,), "int64"))


def test_inputs_come_from_archives_or_a_seed(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=np.ones((2, 3), np.float32))
    arrays, random = read_inputs([str(tmp_path / "in.npz")], SPECS, seed=0, limits={})
    assert random == ["ids"]
    assert arrays["x"].sum() == 6
    assert set(np.unique(arrays["ids"])) <= {0, 1}
    again, _ = read_inputs([str(tmp_path / "in.npz")], SPECS, seed=0, limits={})
    np.testing.assert_array_equal(arrays["ids"], again["ids"])


def test_random_inputs_have_the_extents_of_those_given(tmp_path: Path) -> None:
    ids = BufferSpec("ids", (2, 64), "int64", ("", "seq"))
    mask = BufferSpec("mask", (64, 9), "float32", ("seq", "other"))
    np.save(tmp_path / "ids.npy", np.zeros((2, 5), np.int64))
    found, _ = read_inputs([f"ids={tmp_path}/ids.npy"], (ids, mask), seed=0, limits={})
    assert found["mask"].shape == (5, 9)
    most, _ = read_inputs([], (ids, mask), seed=0, limits={})
    assert (most["ids"].shape, most["mask"].shape) == ((2, 64), (64, 9))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("none.npy", "there is no file"),
        ("z={}/in.npz", "no input called z"),
        ("{}/one.npy", "name the input"),
        ("x={}/two.npz", "give it without a name"),
        ("x={}/text.npy", "no .npy or .npz file"),
    ],
)
def test_bad_input_files(tmp_path: Path, text: str, part: str) -> None:
    np.savez(tmp_path / "in.npz", x=np.ones(1))
    np.savez(tmp_path / "two.npz", a=np.ones(1), b=np.ones(1))
    np.save(tmp_path / "one.npy", np.ones(1))
    (tmp_path / "text.npy").write_text("hello")
    with pytest.raises(tw.InputError, match=part):
        read_inputs([text.format(tmp_path)], SPECS, seed=0, limits={})


def test_random_integers_reach_as_far_as_they_may() -> None:
    specs = (
        BufferSpec("x", (2,), "float32"),
        BufferSpec("ids", (1000,), "int64"),
        BufferSpec("byte", (10000,), "uint8"),
        BufferSpec("flag", (1000,), "bool"),
        BufferSpec("mask", (1000,), "int32"),
    )
    limits = {"ids": 30, "byte": 5000, "flag": 9}
    arrays, random = read_inputs([], specs, seed=0, limits=limits)
    largest = {name: int(arrays[name].max()) for name in random if name != "x"}
    assert largest == {"ids": 29, "byte": 254, "flag": 1, "mask": 1}
    assert random_words(specs, ["x", "ids", "mask"], limits) == (
        "x (normal), ids (0 to 29), mask (0 to 1)"
    )


def test_outputs_keep_any_name(tmp_path: Path) -> None:
    arrays = [np.arange(3.0), np.arange(2)]
    write_outputs(tmp_path / "out.npz", ["file", "b"], arrays)
    with np.load(tmp_path / "out.npz") as saved:
        np.testing.assert_array_equal(saved["file"], arrays[0])
        np.testing.assert_array_equal(saved["b"], arrays[1])
    write_outputs(tmp_path / "one.npy", ["a"], arrays[:1])
    np.testing.assert_array_equal(np.load(tmp_path / "one.npy"), arrays[0])


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    one, two = [np.ones(1)], [np.ones(1), np.ones(1)]
    for file, arrays, part in (
        (tmp_path / "y.txt", one, "name a .npz file"),
        (tmp_path / "y.npy", two, "2 outputs"),
        (tmp_path / "nowhere" / "y.npz", one, "cannot write"),
    ):
        with pytest.raises(tw.InputError, match=part):
            write_outputs(file, ["a", "b"][: len(arrays)], arrays)


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_a_random_input_larger_than_memory_is_named(dtype: str) -> None:
    """Nothing is allocated: the system refuses so much at once."""
    spec = BufferSpec("x", (1 << 24, 1 << 24), dtype)
    with pytest.raises(InputError, match=r"input x: \w+\[16777216, 16777216\] does not fit"):
        read_inputs((), [spec], 0, {})


def archive(file: Path, names: Sequence[str], part: bytes, times: int, method: int = 8) -> Path:
    with zipfile.ZipFile(file, "w", method, compresslevel=1) as made:
        for name in names:
            with made.open(f"{name}.npy", "w") as stream:
                for _ in range(times):
                    stream.write(part)
    return file


def header(shape: str, dtype: str = "'<f4'") -> bytes:
    text = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


HEADERS = {
    "2**60": header(f"({2**60},)"),
    "2**34": header(f"({2**34},)"),
    "product": header(f"({2**40}, {2**40})"),
    "negative": header("(-4,)"),
    "fraction": header("(1.5,)"),
    "nested": header("(" * 400 + ")" * 400),
    "objects": header("(4,)", "'|O'") + bytes(64),
    "words": header("(4,)", "'<U1000000000'"),
    "no dtype": header("(4,)", "'what'"),
    "short": header("(4,)") + bytes(8),
    "cut": header("(4,)")[:20],
    "magic": b"\x93NUMPY\x09\x00",
    "pickle": pickle.dumps(Path("/")),
    "nothing": b"",
    "zip": b"PK\x03\x04" + bytes(100),
}


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize("is_archive", [False, True])
def test_files_that_announce_what_they_have_not(
    tmp_path: Path, name: str, is_archive: bool
) -> None:
    file = tmp_path / "x.np"
    file.write_bytes(HEADERS[name])
    if is_archive:
        archive(file, ["x"], HEADERS[name], 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(tw.InputError, match=r"x\.np") as caught:
        read_inputs([f"x={file}"], SPECS, seed=0, limits={})
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 1 << 18 and "\n" not in str(caught.value)


@pytest.mark.parametrize("names", [["x"], ["x", "ids"], [f"n{i}" for i in range(64)]])
def test_an_archive_may_not_grow_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str]
) -> None:
    monkeypatch.setattr(arrays_module, "LEAST_ROOM", (1 << 24) - 1)
    file = archive(tmp_path / "x.npz", names, bytes(1 << 18), 64 // len(names))
    with pytest.raises(tw.InputError, match=r"x\.npz holds 16\.8 MB, far more than"):
        read_inputs([str(file)], SPECS, seed=0, limits={})


def test_inputs_are_regular_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.npy")
    (tmp_path / "zero.npy").symlink_to("/dev/zero")
    (tmp_path / "folder.npy").mkdir()
    (tmp_path / "loop.npy").symlink_to("loop.npy")
    for name in ("fifo", "zero", "folder", "loop"):
        with pytest.raises(tw.InputError, match=f"{name}.npy"):
            read_inputs([f"x={tmp_path / name}.npy"], SPECS, seed=0, limits={})

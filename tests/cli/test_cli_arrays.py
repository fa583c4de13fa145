"""Inputs from files and seeds, outputs to files, and how they differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tilewright.artifact import BufferSpec
from tilewright.cli.arrays import random_words, read_inputs, write_outputs
from tilewright.errors import InputError

SPECS = (BufferSpec("x", (2, 3), "float32"), BufferSpec("ids", (4,), "int64"))


def test_inputs_come_from_archives_or_a_seed(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=np.ones((2, 3), np.float32))
    arrays, random = read_inputs([str(tmp_path / "in.npz")], SPECS, seed=0, limits={})
    assert random == ["ids"]
    assert arrays["x"].sum() == 6
    assert set(np.unique(arrays["ids"])) <= {0, 1}
    again, _ = read_inputs([str(tmp_path / "in.npz")], SPECS, seed=0, limits={})
    np.testing.assert_array_equal(arrays["ids"], again["ids"])


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

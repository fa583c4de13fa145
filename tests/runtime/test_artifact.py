"""Artifacts as bytes, and packings against what they say they do."""

from __future__ import annotations

import json
import math
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.contract.artifact import Launch
from tilewright.ground.errors import InputError, RunError
from tilewright.runtime import Artifact, BufferSpec, Packing


def example() -> Artifact:
    x = BufferSpec("x", (2, 3), "float32")
    w = BufferSpec("weight", (5, 8), "bfloat16")
    packed = BufferSpec("weight", (3, 8, 2), "bfloat16")
    y = BufferSpec("y", (), "int8")
    packing = Packing(w, ((3, 2), (8,)), (0, 2, 1))
    return Artifact("fn", "cpu:x", b"\x7fELF\x00\xff", (x,), (packed,), (y,), (packing,), 4096)


def test_bytes_round_trip() -> None:
    artifact = example()
    again = Artifact.from_bytes(artifact.to_bytes())
    assert again == artifact
    assert again.buffers == artifact.inputs + artifact.constants + artifact.outputs


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04rest", b"TWA1\x05\x00\x00\x00{..."])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(RunError, match="artifact"):
        Artifact.from_bytes(data)


def test_header_that_lacks_fields_is_refused() -> None:
    with pytest.raises(RunError, match="damaged"):
        Artifact.from_bytes(b"TWA1\x02\x00\x00\x00{}")


def test_launches_keep_their_grid_and_values() -> None:
    """Those of templates have more to say; what was written before they came is read, too."""
    plain = Launch("map", 4, (64, 1), (0, -1), 128)
    native = Launch("tw_0", 6, (128, 1), (0, 1), 50_000, 49_152, (2, 3), (100, -7, 64))
    assert plain.grid == (4, 1, 1) and native.grid == (6, 2, 3)
    artifact = replace(example(), launches=(plain, native))
    assert Artifact.from_bytes(artifact.to_bytes()) == artifact
    header = artifact.header()
    header["launches"] = [["map", 4, [64, 1], [0, -1], 128]]
    assert Artifact.of_header(json.loads(json.dumps(header)), b"").launches == (plain,)


def test_launches_follow_the_values_of_a_call() -> None:
    """Of a third and a first one: blocks of 32 rows, and two of columns."""
    count = ("mul", ("floordiv", ("add", ("size", 1), 31), 32), 2)
    launch = Launch("rows_0", 8, (64, 1), (0, 1), sizes=(2, 0), count=count)
    assert launch.at((33, 5, 7)) == (4, [7, 33]) and launch.at((0, 5, 7)) == (0, [7, 0])
    assert Launch("rows_1", 8, (64, 1), (0, 1), sizes=(2,)).at((33, 5, 7)) == (8, [7])
    artifact = replace(example(), launches=(launch,), formulas=(count, ("size", 0), 3))
    assert Artifact.from_bytes(artifact.to_bytes()) == artifact


def test_sizes() -> None:
    assert BufferSpec("y", (), "int8").bytes == 1
    assert BufferSpec("w", (5, 8), "bfloat16").bytes == 80
    with pytest.raises(InputError, match="float7"):
        _ = BufferSpec("w", (5,), "float7").bytes


def test_packing_pads_splits_and_permutes() -> None:
    (packing,) = example().packings
    array = np.arange(40).reshape(5, 8).astype(packing.source.dtype)
    packed = packing.apply(array)
    assert packed.shape == packing.shape == (3, 8, 2)
    for i in range(6):
        for j in range(8):
            expected = array[i, j] if i < 5 else 0
            assert packed[i // 2, j, i % 2] == expected


def test_what_is_packed_may_be_read_in_another_shape() -> None:
    (packing,) = example().packings
    array = np.arange(40).reshape(5, 8).astype(packing.source.dtype)
    out = np.empty((1, 24, 2), array.dtype)
    assert packing.apply(array, out) is out
    np.testing.assert_array_equal(out.reshape(packing.shape), packing.apply(array))


def test_a_scalar_is_packed_in_place() -> None:
    packing, out = Packing.identity(BufferSpec("w", (), "float32")), np.zeros((), np.float32)
    assert packing.apply(np.array(3, np.float32), out) is out and out == 3


def test_identity_packing_copies_nothing() -> None:
    array = np.ones((3, 4), np.float32)
    packing = Packing.identity(BufferSpec("w", (3, 4), "float32"))
    assert np.shares_memory(packing.apply(array), array)
    out = np.empty((3, 4), np.float32)
    assert packing.apply(array, out) is out
    assert (out == 1).all()


@given(st.data())
def test_packed_elements_are_where_the_splits_say(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=3))
    inners = [tuple(data.draw(st.lists(st.integers(1, 3), max_size=2))) for _ in shape]
    splits = tuple(
        (-(-n // math.prod(inner)) + data.draw(st.integers(0, 1)), *inner)
        for n, inner in zip(shape, inners, strict=True)
    )
    order = tuple(data.draw(st.permutations(range(sum(map(len, splits))))))
    packing = Packing(BufferSpec("w", tuple(shape), "int64"), splits, order)
    array = np.arange(1, np.prod(shape) + 1).reshape(shape)
    packed = packing.apply(array)
    for index in np.ndindex(*shape):
        places = zip(index, splits, strict=True)
        parts = [p for i, split in places for p in np.unravel_index(i, split)]
        assert packed[tuple(parts[p] for p in order)] == array[index]
    assert np.count_nonzero(packed) == array.size


def test_a_padded_weight_is_packed_without_a_copy_of_it() -> None:
    packing = Packing(BufferSpec("w", (100, 4096), "float32"), ((7, 16), (4096,)), (0, 2, 1))
    array = np.ones((100, 4096), np.float32)
    out = np.full(packing.shape, np.nan, np.float32)
    tracemalloc.start()
    packing.apply(array, out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < array.nbytes / 10
    assert out.sum() == array.size


def test_packing_refuses_what_does_not_fit() -> None:
    w = BufferSpec("w", (5, 8), "float32")
    with pytest.raises(InputError, match=r"w must have shape \(5, 8\)"):
        Packing.identity(w).apply(np.zeros((8, 5), np.float32))
    with pytest.raises(InputError, match="do not cover"):
        Packing(w, ((2, 2), (8,)), (0, 1, 2)).apply(np.zeros((5, 8), np.float32))
    with pytest.raises(InputError, match="do not cover"):
        Packing(w, ((5,), (8,)), (0, 2)).apply(np.zeros((5, 8), np.float32))

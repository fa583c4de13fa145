"""What a call checks and keeps apart: shapes, layouts, memory given for outputs, threads."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from native_kernels import SCALE, fill_in, map_artifact, object_code, scale_artifact

from tilewright.contract.artifact import Array
from tilewright.ground.errors import InputError
from tilewright.runtime import Artifact, CompiledFunction, aligned_empty
from tilewright.runtime.results import KEPT_BYTES

pytestmark = pytest.mark.cpu

FLOAT = np.dtype(np.float32)


def difference_artifact(n: int) -> Artifact:
    """y = x - w, both of them inputs; two threads."""
    made = scale_artifact(n)
    code = object_code(fill_in(SCALE.replace("fmul", "fsub"), n=n))
    inputs = made.inputs + made.constants
    return replace(made, object_code=code, inputs=inputs, constants=(), packings=())


def increment(n: int) -> CompiledFunction:
    """y = x + 1."""
    return CompiledFunction(map_artifact("%v = fadd float %xv, 1.0", n))


def test_arguments_have_their_own_order() -> None:
    fn = CompiledFunction(difference_artifact(100), arguments=["w", "x"])
    x, w = np.arange(100, dtype=np.float32), np.full(100, 7, np.float32)
    for (y,) in (fn(w, x), fn.run([w, x]), fn.run({"x": x, "w": w})):
        np.testing.assert_array_equal(y, x - w)
    with pytest.raises(InputError, match=r"1 inputs given, 2 needed: w: float32\[100\], x: "):
        fn(w)
    with pytest.raises(InputError, match="missing w; wanted: x, w"):
        fn.run({"x": x})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.zeros((4, 1), np.float32), r"got float32 of shape \(4, 1\)"),
        (np.zeros(5, np.float32), r"got float32 of shape \(5,\)"),
        (np.zeros(4, np.int32), "got int32"),
        (np.zeros(4, ">f4"), "got >f4"),
        (np.float32(1), r"got float32 of shape \(\)"),
    ],
)
def test_a_call_that_was_right_before_does_not_spare_the_checks(
    wrong: object, message: str
) -> None:
    fn = increment(4)
    fn(np.zeros(4, np.float32))
    with pytest.raises(InputError, match=message):
        fn(wrong)
    with pytest.raises(InputError, match=message):
        fn.run({"x": wrong})


def test_every_layout_gives_the_same() -> None:
    fn = increment(16)
    x = np.arange(16, dtype=np.float32)
    wide, shifted = np.repeat(x, 3), aligned_empty((17,), FLOAT)[1:]
    shifted[:] = x
    unaligned = np.frombuffer(b"_" + x.tobytes(), np.float32, offset=1)
    for given in (x, wide[::3], x[::-1][::-1], shifted, unaligned, x.view(np.matrix).A1):
        np.testing.assert_array_equal(fn(given)[0], x + 1)
    np.testing.assert_array_equal(fn(x[::-1])[0], x[::-1] + 1)
    np.testing.assert_array_equal(fn(np.broadcast_to(np.float32(2), 16))[0], np.full(16, 3))


def test_only_inputs_that_kernels_cannot_read_are_copied() -> None:
    fn = increment(16)
    room = np.arange(40, dtype=np.float32)
    for x in (room[1:17], room[:16]):
        fn(x)
        assert not fn._frames[0].staged
    fn(room[:32:2])
    assert set(fn._frames[0].staged) == {"x"}


def test_a_read_only_input_is_taken_and_a_read_only_output_is_not() -> None:
    fn = increment(4)
    x, y = aligned_empty((4,), FLOAT), aligned_empty((4,), FLOAT)
    x.fill(1)
    x.flags.writeable = False
    assert (fn(x, out=[y])[0] == 2).all()
    y.flags.writeable = False
    with pytest.raises(InputError, match="output y must be writable"):
        fn(x, out=[y])
    assert (y == 2).all()


def test_arrays_without_elements() -> None:
    fn = increment(0)
    (y,) = fn(np.empty(0, np.float32))
    assert y.shape == (0,)
    assert y.dtype == FLOAT
    with pytest.raises(InputError, match=r"got float32 of shape \(1,\)"):
        fn(np.empty(1, np.float32))


def test_results_of_several_calls_are_apart() -> None:
    fn = increment(4)
    (first,), (second,) = fn(np.full(4, 1, np.float32)), fn(np.full(4, 5, np.float32))
    assert (first == 2).all()
    assert (second == 6).all()


def aligned(values: object) -> Array:
    """A copy that kernels read in place."""
    given = np.asarray(values, np.float32)
    copy = aligned_empty(given.shape, FLOAT)
    np.copyto(copy, given)
    return copy


def test_memory_of_dropped_results_is_used_again() -> None:
    elements = KEPT_BYTES // FLOAT.itemsize
    fn, x = increment(elements), aligned(np.ones(elements))
    places = {fn(x)[0].ctypes.data for _ in range(5)}
    assert len(places) == 1
    kept = [fn(x)[0] for _ in range(5)]
    assert len({y.ctypes.data for y in kept}) == 5
    del kept
    assert len({fn(x)[0].ctypes.data for _ in range(5)}) == 1


@pytest.mark.parametrize(
    "hold",
    [
        lambda y: y,
        lambda y: y[1:],
        lambda y: y[1:][::2],
        lambda y: y.reshape(2, 2).T,
        memoryview,
        lambda y: [y],
        np.from_dlpack,
    ],
    ids=["array", "view", "view of a view", "transpose", "memory", "list", "DLPack"],
)
def test_memory_of_results_in_use_is_not(hold: Callable[[Array], object]) -> None:
    fn = increment(4)
    held = hold(fn(aligned([1, 2, 3, 4]))[0])
    (second,) = fn(aligned([5, 6, 7, 8]))
    assert set(np.asarray(held).ravel()) <= {2, 3, 4, 5}
    assert second.tolist() == [6, 7, 8, 9]


def test_a_weak_reference_never_sees_another_result() -> None:
    fn = increment(4)
    seen = weakref.ref(fn(aligned([1, 2, 3, 4]))[0])
    fn(aligned([5, 6, 7, 8]))
    assert seen() is None


@pytest.mark.parametrize("change", ["shape", "dtype", "writeable"])
def test_results_changed_in_place_are_not_handed_out_again(change: str) -> None:
    fn, x = increment(4), aligned([1, 2, 3, 4])
    (y,) = fn(x)
    if change == "shape":
        y.shape = (2, 2)
    elif change == "dtype":
        y.dtype = np.dtype(np.int32)
    else:
        y.flags.writeable = False
    del y
    (y,) = fn(x)
    assert (y.shape, y.dtype, y.flags.writeable) == ((4,), FLOAT, True)
    assert y.tolist() == [2, 3, 4, 5]


def test_outputs_given_are_filled_and_checked() -> None:
    x, w = (np.full(64, v, np.float32) for v in (5, 3))
    y = aligned_empty((64,), FLOAT)
    fn = CompiledFunction(difference_artifact(64))
    assert fn(x, w, out=[y])[0] is y
    assert (y == 2).all()
    for wrong, message in [
        (aligned_empty((65,), FLOAT), r"y must be float32 of shape \(64,\)"),
        (aligned_empty((64,), np.dtype(np.float64)), "got float64"),
        (aligned_empty((128,), FLOAT)[::2], "must be writable, contiguous"),
        ([0.0] * 64, "output y must be a NumPy array, got list"),
    ]:
        with pytest.raises(InputError, match=message):
            fn(x, w, out=[wrong])  # type: ignore[list-item]
    with pytest.raises(InputError, match="2 output arrays given, 1 needed"):
        fn(x, w, out=[y, y])
    with pytest.raises(InputError, match="must not share memory with an input"):
        fn(x, y, out=[y])
    assert (y == 2).all()


def test_two_outputs_are_not_one_array() -> None:
    made = difference_artifact(64)
    (x, w), (y,) = made.inputs, made.outputs
    # The kernel writes its third buffer only; the second stands for another output here.
    fn = CompiledFunction(replace(made, inputs=(x,), outputs=(w, y)))
    out = aligned_empty((64,), FLOAT)
    with pytest.raises(InputError, match=r"output y must not share memory with .* another output"):
        fn(np.zeros(64, np.float32), out=[out, out])


def test_narrow_floats_are_checked_like_others() -> None:
    made = map_artifact("%v = add i32 %xv, 0", 8, dtype="int32")
    (x,), (y,) = made.inputs, made.outputs
    pairs = {s.name: replace(s, shape=(16,), dtype="bfloat16") for s in (x, y)}
    fn = CompiledFunction(replace(made, inputs=(pairs["x"],), outputs=(pairs["y"],)))
    values = np.arange(16).astype(ml_dtypes.bfloat16)
    (copied,) = fn(values)
    assert copied.dtype == values.dtype
    np.testing.assert_array_equal(copied, values)
    with pytest.raises(InputError, match=r"x must be bfloat16 .* got float16"):
        fn(values.astype(np.float16))


@pytest.mark.parametrize("stride", [1, 2], ids=["in place", "copied"])
def test_threads_share_a_function(stride: int) -> None:
    n = 1 << 14  # long enough for the other thread to come in between
    fn = increment(n)

    def calls(value: int) -> int:
        x = np.full(n * stride, value, np.float32)[::stride]
        y = [aligned_empty((n,), FLOAT)]
        wrong = 0
        for _ in range(300):
            wrong += not (fn(x)[0] == value + 1).all()
            wrong += not (fn(x, out=y)[0] == value + 1).all()
        return wrong

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(calls, [10, 20])) == [0, 0]

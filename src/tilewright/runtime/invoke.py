"""A whole call in native code: arrays are checked, their addresses written, the entry called.

    call = NativeCall(method, entry, pointers_address, scratch_address, inputs, outputs, threads)
    call.outputs                                  arrays that the next call writes
    call.run(x)                                   DONE, or why nothing was run

What Python does for a call of a compiled function takes longer than many kernels. So the common
call is one native function, which the interpreter calls as it calls its own: it gets the inputs as
they are and reads from each array what its `Parameter` promises. Whatever is not quite so (another
type, dtype object, shape or layout, an address that kernels cannot read at) is `DIFFERENT`, and
Python looks at it.

Outputs are written again that nobody but their call holds: an array and what owns its memory then
have one reference each (views refer to the owner), and no weak one. Otherwise they are `HELD`, and
the call needs new ones. So the caller of a function who drops its results pays for no memory. With
sizes, such arrays are as large as they may ever be, and a call gives them their extents.

An interpreter whose layout is not the expected one (see `interpreter`) is not given this: calls go
through ctypes there.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from tilewright.contract.artifact import Array
from tilewright.runtime import interpreter as layout
from tilewright.runtime.parameters import Parameter
from tilewright.runtime.sizes import CallShapes

DONE, DIFFERENT, HELD = range(3)
"""What `tw_invoke` answers; but for the first, nothing was run."""

QUICK = layout.IS_KNOWN
SOURCE = Path(__file__).parent / "c" / "invoke.ll"

HEADER, RECORD = 10, 5  # words
WORDS = {
    # of an array, in bytes
    "type": layout.TYPE,
    "data": layout.DATA, "rank": layout.RANK, "extents": layout.EXTENTS, "base": layout.BASE,
    "strides": layout.STRIDES, "columns": layout.COLUMNS, "no_columns": ~layout.COLUMNS,
    "dtype": layout.DTYPE, "flags": layout.FLAGS, "weak": layout.WEAK,
    "readable": layout.CONTIGUOUS | layout.ALIGNED,
    "writeable": layout.CONTIGUOUS | layout.ALIGNED | layout.WRITEABLE,
    "header": HEADER, "record": RECORD,
    "done": DONE, "different": DIFFERENT, "held": HELD,
}  # fmt: skip
"""What the names in braces in the source stand for."""


def invoke_ir() -> str:
    """`tw_invoke`, which needs `tw_call` beside it."""
    text = SOURCE.read_text(encoding="utf-8")
    for name, value in WORDS.items():
        text = text.replace("{" + name + "}", str(value))
    return text


class _Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


FASTCALL = 0x80  # METH_FASTCALL: the arguments come as an array
PYTHON = ("PyEval_SaveThread", "PyEval_RestoreThread", "PyLong_FromLong")
"""What `tw_invoke` calls of the interpreter."""

if QUICK:
    _new_function = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.POINTER(_Method), ctypes.py_object, ctypes.c_void_p
    )(("PyCFunction_NewEx", ctypes.pythonapi))


def python_symbol(name: str) -> int:
    """The address of one of `PYTHON`."""
    found = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    assert found is not None
    return found


def method(address: int) -> ctypes.Structure:
    """What a `NativeCall` makes its function of; must outlive it. `address` is `tw_invoke`'s."""
    return _Method(b"invoke", address, FASTCALL, None)


class NativeCall:
    """What `tw_invoke` has to know of a function's calls; one call at a time.

    run: takes the inputs in the order in which a caller gives them; `DONE`, `DIFFERENT` or `HELD`.
    """

    __slots__ = ("_extents", "_first_output", "_shapes", "_words", "outputs", "run")

    run: Callable[..., int]

    def __init__(
        self,
        method: ctypes.Structure,
        entry: int,
        pointers: int,
        scratch: int,
        inputs: Sequence[Parameter],
        outputs: Sequence[Parameter],
        threads: int,
        shapes: CallShapes | None = None,
    ) -> None:
        """`shapes` are those of a call with sizes."""
        self.outputs: list[Array] = []
        arrays = (*inputs, *outputs)
        self._shapes, sizes = shapes, (0, 0, 0)
        self._extents = [np.array(p.shape, np.int64) for p in arrays]
        if shapes is not None:
            first, last = shapes.extents[: len(inputs)], shapes.extents[len(shapes.about.inputs) :]
            self._extents = [*first, *last]  # without those of inputs that no call gives
            sizes = shapes.words
        header = (entry, pointers, scratch, id(np.ndarray), len(inputs), len(outputs), threads)
        words = [*header, *sizes]
        for p, extents in zip(arrays, self._extents, strict=True):
            words += (0, id(p.dtype), len(p.shape), extents.ctypes.data, p.slot)
        self._first_output = HEADER + RECORD * len(inputs)
        self._words = np.array(words, np.int64)
        self.run = _new_function(ctypes.byref(method), self._words, None)

    def write_to(self, outputs: list[Array]) -> None:
        """Let the next calls write these arrays; the list is kept, and its arrays with it."""
        self.outputs = outputs
        self._words[self._first_output :: RECORD] = [id(y) for y in outputs]

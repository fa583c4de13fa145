"""The sizes of a call of a network, found in the shapes of its inputs.

    about = SizesTable(artifact, inputs, outputs, …)          for `tw_find_sizes` (runtime/c/call.h)
    shapes = CallShapes(about)                                of one call in flight
    shapes.find(arrays, scratch)                              raises InputError for a wrong size
    shapes.outputs                                            with the shapes of this call
    shapes.after(outputs, scratch)                            where the run found some of these

The native call does the same without Python. What follows from sizes is computed by `derive`, code
of the network, and stays at the beginning of its scratch. Calls of a network on a GPU are made by
Python, which computes it of the artifact's formulas (`DeviceSizes`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from tilewright.contract.artifact import Array, Artifact, BufferSpec
from tilewright.contract.formulas import computed
from tilewright.contract.sizes import Size
from tilewright.ground.errors import InputError
from tilewright.runtime.buffers import address
from tilewright.runtime.parameters import Parameter

Table: TypeAlias = list[tuple[int, ...]]
NOWHERE = (-1, 0)
"""The place of a size that the run itself computes."""


def size_tables(
    artifact: Artifact,
    inputs: Sequence[Parameter | BufferSpec],
    outputs: Sequence[Parameter | BufferSpec],
    held: int = 0,
) -> tuple[Table, Table]:
    """C's `tw_size` of each size, and a `tw_extent` for each extent that varies. A size is that of
    one of the last `held` inputs, if they have it: what a caller gives is compared with them.
    """
    values = (*artifact.sizes, *artifact.derived)
    numbers = {v.name: i for i, v in reversed(list(enumerate(values)))}
    extents: Table = [
        (a, d, numbers[name])
        for a, p in enumerate((*inputs, *outputs))
        for d, name in enumerate(p.varying)
        if name
    ]
    first = {n: (a, d) for a, d, n in reversed(extents) if a < len(inputs)}
    first |= {n: (a, d) for a, d, n in extents if len(inputs) - held <= a < len(inputs)}
    found = [NOWHERE if s.computed else first[numbers[s.dimension]] for s in artifact.sizes]
    rows = zip(artifact.sizes, found, strict=True)
    return [(s.least, s.most, *at, s.step) for s, at in rows], extents


def outside(size: Size, parameter: Parameter, dimension: int, extent: int) -> InputError:
    """What is wrong with the extent that gives a size its value."""
    multiple = f"a multiple of {size.step} " if size.step > 1 else ""
    return InputError(
        f"{parameter.name}: dimension {dimension}, {size.dimension}, is {extent}; it must be "
        f"{multiple}in {size.least * size.step}..{size.most * size.step}"
    )


def differing(parameter: Parameter, dimension: int, extent: int, wanted: int) -> InputError:
    """What is wrong with an extent that follows from the sizes."""
    return InputError(
        f"{parameter.name}: dimension {dimension} is {extent}, where "
        f"{parameter.varying[dimension]} is {wanted}, as other inputs say"
    )


class DeviceSizes:
    """The values of a call of a network on a device, and its arrays as they are then."""

    def __init__(
        self, artifact: Artifact, inputs: Sequence[Parameter], outputs: Sequence[Parameter]
    ) -> None:
        self.sizes, self.formulas = artifact.sizes, artifact.formulas
        self.arrays, self.inputs = (*inputs, *outputs), tuple(inputs)
        self.places, self.extents = size_tables(artifact, inputs, outputs)

    def find(
        self, shapes: Sequence[tuple[int, ...]]
    ) -> tuple[tuple[int, ...], tuple[Parameter, ...]]:
        """The values, and all arrays, inputs first, for inputs whose fixed extents are right.
        Raises InputError for a size out of its range, or inputs that differ in one.
        """
        values = []
        for size, (least, most, a, d, step) in zip(self.sizes, self.places, strict=True):
            value, rest = divmod(shapes[a][d], step)
            if rest or not least <= value <= most:
                raise outside(size, self.inputs[a], d, shapes[a][d])
            values.append(value)
        values += [computed(f, values) for f in self.formulas]
        found = [list(p.shape) for p in self.arrays]
        for a, d, number in self.extents:
            found[a][d] = values[number]
            if a < len(shapes) and shapes[a][d] != values[number]:
                raise differing(self.inputs[a], d, shapes[a][d], values[number])
        pairs = zip(self.arrays, found, strict=True)
        return tuple(values), tuple(replace(p, shape=tuple(e), varying=()) for p, e in pairs)


class SizesTable:
    """C's `tw_sizes` of an artifact, for arrays in the order in which a caller gives and gets
    them.
    """

    def __init__(
        self,
        artifact: Artifact,
        inputs: Sequence[Parameter],
        outputs: Sequence[Parameter],
        derive: int,
        find: Callable[..., int],
        write: Callable[..., None],
        held: int = 0,
    ) -> None:
        """`derive` is the address of the network's own function, `find` C's `tw_find_sizes`,
        `write` its `tw_write_shapes`. No call gives the last `held` inputs.
        """
        self.find, self.write = find, write
        self.sizes, self.computes = artifact.sizes, bool(artifact.computed)
        self.inputs, self.arrays = tuple(inputs), (*inputs, *outputs)
        tables = size_tables(artifact, self.inputs, outputs, held)
        self.places = [row[2:4] for row in tables[0]]
        self._tables = [np.array(table, np.int64) for table in tables]
        counts = map(len, tables)
        self._words = np.array((derive, *counts, *map(address, self._tables)), np.int64)

    @property
    def address(self) -> int:
        """Of the structure."""
        return address(self._words)


class CallShapes:
    """The shapes of all arrays of a call: int64 arrays, which the native function writes."""

    def __init__(self, about: SizesTable) -> None:
        self.about = about
        self.extents = [np.array(p.shape, np.int64) for p in about.arrays]
        self.written = np.array([address(e) for e in self.extents], np.int64)
        self.given = np.zeros(len(about.inputs), np.int64)  # addresses of the shapes of inputs

    def hold(self, shapes: Sequence[Array]) -> None:
        """Let the last inputs have these shapes, int64 arrays that stay where they are."""
        self.given[len(self.given) - len(shapes) :] = [address(s) for s in shapes]

    def find(self, arrays: Sequence[Array], values: Array) -> None:
        """Fill in the shapes of a call with these inputs, whose fixed extents are right; `values`
        are the beginning of its scratch. Raises InputError for a size out of its range, or inputs
        that differ in one.
        """
        about = self.about
        given = [np.array(a.shape, np.int64) for a in arrays]
        self.given[: len(given)] = [address(g) for g in given]
        sizes, inputs, written = self.words
        found = about.find(sizes, inputs, address(values), written)
        if found:
            wrong = values[8 * found - 8 : 8 * found].view(np.int64).item()
            argument, dimension = about.places[found - 1]
            raise outside(about.sizes[found - 1], about.inputs[argument], dimension, wrong)
        for parameter, array, extents in zip(about.inputs, arrays, self.extents, strict=False):
            for d, (extent, wanted) in enumerate(zip(array.shape, extents.tolist(), strict=True)):
                if extent != wanted:
                    raise differing(parameter, d, extent, wanted)

    def after(self, outputs: Sequence[Array], values: Array) -> list[Array]:
        """The beginnings of `outputs`, which are as large as they might have been, that a run
        wrote: `values` are at the beginning of its scratch then.
        """
        if not self.about.computes:
            return list(outputs)
        self.about.write(self.about.address, address(values), address(self.written))
        return [np.ndarray(p.shape, y.dtype, y) for p, y in zip(self.outputs, outputs, strict=True)]

    @property
    def words(self) -> tuple[int, int, int]:
        """What a native call has to know: addresses of the table, of `given` and of `written`."""
        return self.about.address, address(self.given), address(self.written)

    @property
    def outputs(self) -> tuple[Parameter, ...]:
        """The outputs as they are in this call, or may be at most as long as it runs."""
        count = len(self.about.inputs)
        given = zip(self.about.arrays[count:], self.extents[count:], strict=True)
        return tuple(replace(p, shape=tuple(e.tolist()), varying=()) for p, e in given)

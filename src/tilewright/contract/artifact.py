"""A compiled function as plain data: object code, its interface, its packings.

    (codegen) Kernel + interface ─► Artifact ─► bytes ─► another process or machine ─► Artifact

    artifact = Artifact("matmul", "cpu:znver4", code, (a, b), (), (c,), (), 0)
    assert Artifact.from_bytes(artifact.to_bytes()) == artifact

The native entry point is `void entry(ptr buffers, ptr params, ptr scratch)`: `buffers` points at
inputs, constants, outputs in this order; `params` at the int64 values of `sizes`; `scratch` at
`scratch_bytes` bytes aligned to 64. A network has a second one, which takes the time after each of
its `steps`. The bytes form is `TWA1`, the length of a JSON header as 4 little-endian bytes, the
header, the object code; nothing in it can run code when it is read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np

from tilewright.contract.formulas import Formula, computed
from tilewright.contract.sizes import Size, Sizes
from tilewright.ground.errors import InputError, RunError

MAGIC = b"TWA1"
ALIGNMENT = 64  # bytes, of arrays that kernels read and write: a cache line, the widest vector
DEVICE_ALIGNMENT = 512  # bytes, of arrays in a device's memory: the most a driver asks for


def aligned(size: int, alignment: int = ALIGNMENT) -> int:
    """`size` rounded up to a multiple of `alignment`."""
    return -(-size // alignment) * alignment


NARROW_FLOATS: dict[str, np.dtype[Any]] = {"bfloat16": np.dtype(ml_dtypes.bfloat16)}

Array = np.ndarray[Any, np.dtype[Any]]
Matrix = tuple[tuple[float, ...], ...]


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy dtype called `name` (`bfloat16` is ml_dtypes'). Raises InputError if unknown."""
    if name in NARROW_FLOATS:
        return NARROW_FLOATS[name]
    try:
        found: np.dtype[Any] = np.dtype(name)
    except TypeError:
        raise InputError(f"unknown dtype {name!r} of a buffer") from None
    return found


@dataclass(frozen=True, slots=True)
class BufferSpec:
    """One array of an interface: contiguous, row-major. `varying` names the extents that a call
    gives ("" for a number); the shape has the most of these.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    varying: tuple[str, ...] = ()

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * numpy_dtype(self.dtype).itemsize

    @property
    def dims(self) -> tuple[str, ...]:
        """The extents as a person reads them."""
        names = self.varying or ("",) * len(self.shape)
        return tuple(name or str(n) for name, n in zip(names, self.shape, strict=True))

    @property
    def is_float(self) -> bool:
        return self.dtype.startswith(("float", "bfloat"))

    def random(self, rng: np.random.Generator, values: int) -> Array:
        """Standard normal floats; integers from 0 to `values` - 1, as far as the dtype reaches.
        Raises InputError for more than memory holds.
        """
        dtype = numpy_dtype(self.dtype)
        try:
            if self.is_float:
                return rng.standard_normal(self.shape).astype(dtype)
            most = values if self.dtype == "bool" else int(np.iinfo(dtype).max)
            return rng.integers(0, min(values, most), self.shape).astype(dtype)
        except (MemoryError, ValueError) as error:
            shape = ", ".join(map(str, self.shape))
            raise InputError(
                f"input {self.name}: {self.dtype}[{shape}] does not fit into memory; a model with "
                "symbolic dimensions takes smaller ones with --shape"
            ) from error

    def takes(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of that shape may be given, as far as one can tell by itself."""
        if not self.varying or len(shape) != len(self.shape):
            return shape == self.shape
        extents = zip(shape, self.shape, self.varying, strict=True)
        return all(n == m or name for n, m, name in extents)

    def at(self, known: Mapping[str, int]) -> BufferSpec:
        """The same where these extents are known."""
        pairs = zip(self.shape, self.varying, strict=False)
        shape = tuple(known.get(name, n) for n, name in pairs)
        return replace(self, shape=shape) if self.varying else self

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(self.dims)}]"


@dataclass(frozen=True, slots=True)
class StateSpec:
    """What a network keeps from one call to the next: one of its last inputs, whose extent along
    `axis` is how many rows it has. A call makes these `grown` (the name of an extent), and writes
    the new ones in place: to memory of that `shape`, which has room for `capacity` rows. A model
    calls it `result` afterwards.
    """

    result: str
    axis: int
    grown: str
    capacity: int
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Packing:
    """How a constant in its logical layout becomes the layout that the kernel reads.

    Dimension d is padded with zeros to prod(splits[d]) and split, outermost factor first; the
    split dimensions are numbered through and permuted:

        source [5, 8], splits ((3, 2), (8,)), permutation (0, 2, 1)  →  [3, 8, 2]

    The identity has one split per dimension and permutation 0, 1, ….

    `maps` come before all that: (d, matrix [new, old]) applies the matrix along dimension d.
    """

    source: BufferSpec
    splits: tuple[tuple[int, ...], ...]
    permutation: tuple[int, ...]
    maps: tuple[tuple[int, Matrix], ...] = ()

    @staticmethod
    def identity(source: BufferSpec) -> Packing:
        """The packing that leaves the layout alone."""
        return Packing(source, tuple((n,) for n in source.shape), tuple(range(len(source.shape))))

    @property
    def shape(self) -> tuple[int, ...]:
        """The packed shape."""
        parts = [n for split in self.splits for n in split]
        return tuple(parts[p] for p in self.permutation)

    def apply(self, array: Array, out: Array | None = None) -> Array:
        """`array` in the packed layout, written to `out` when it is given (contiguous, of as many
        elements).

        Without `out` the result is contiguous, and shares `array`'s memory when nothing changes.
        Raises InputError when `array` has another shape than `source`, or when the splits or the
        permutation do not fit that shape.
        """
        array = self._mapped(array)
        parts = tuple(n for split in self.splits for n in split)
        whole = math.prod(parts) == array.size
        if out is None and whole:
            return np.ascontiguousarray(array.reshape(parts).transpose(self.permutation))
        packed = np.empty(self.shape, array.dtype) if out is None else out.reshape(self.shape)
        if not whole:
            packed.fill(0)
        unpermuted = packed.transpose(np.argsort(self.permutation))
        # Weights may take most of the memory there is: a padded copy of them is not made.
        for boxes in product(*map(_boxes, array.shape, self.splits)):
            # With "..." it is a view even where there are no dimensions.
            place: tuple[Any, ...] = (*(s for _, split in boxes for s in split), ...)
            part = unpermuted[place]
            part[...] = array[tuple(s for s, _ in boxes)].reshape(part.shape)
        return packed if out is None else out

    def _mapped(self, array: Array) -> Array:
        """`array` with all maps applied; checked to be what the splits are for."""
        if array.shape != self.source.shape:
            raise InputError(
                f"constant {self.source.name} must have shape {self.source.shape}, "
                f"got {array.shape}"
            )
        for dimension, matrix in self.maps:
            mapped = np.tensordot(np.array(matrix, array.dtype), array, (1, dimension))
            array = np.moveaxis(mapped, 0, dimension)
        covered = len(self.splits) == array.ndim and all(
            math.prod(split) >= n for split, n in zip(self.splits, array.shape, strict=True)
        )
        count = sum(len(split) for split in self.splits)
        if not covered or sorted(self.permutation) != list(range(count)):
            raise InputError(
                f"packing of {self.source}: splits {self.splits} with permutation "
                f"{self.permutation} do not cover it"
            )
        return array


def _boxes(extent: int, split: tuple[int, ...]) -> Iterator[tuple[slice, tuple[slice, ...]]]:
    """Ranges that make up [0, extent), each with its place in the dimensions of `split`.

    7 in (3, 3)  →  [0, 6) at [0:2, 0:3] and [6, 7) at [2:3, 0:1]
    """
    inner = math.prod(split[1:])
    count, rest = divmod(extent, inner)
    if count:
        yield slice(0, count * inner), (slice(0, count), *(slice(0, n) for n in split[1:]))
    if rest:
        for source, place in _boxes(rest, split[1:]):
            start = count * inner
            moved = slice(start + source.start, start + source.stop)
            yield moved, (slice(count, count + 1), *place)


@dataclass(frozen=True, slots=True)
class TensorMap:
    """How a kernel copies boxes of `rows` by `columns` out of the array that is its argument of a
    number: elements of `dtype`, `[batch, row, column]`, whose element `x` is `offset + Σ x·strides`
    elements from the array's start. Beyond `shape` are zeros.
    """

    argument: int
    dtype: str
    offset: int
    shape: tuple[int, int, int]
    strides: tuple[int, int, int]
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel call of a device function: `blocks` blocks of `threads` (x, y).

    `arguments` are positions among the artifact's buffers, or `-1 - offset` for an array at that
    byte offset of the scratch memory. `shared_bytes` is what a block takes of its shared memory, of
    which `dynamic_bytes` are given to it by the launch. With `beyond` the grid has more than one
    dimension: these are the others. `maps` are an argument each, `values` are the last one, a
    structure of int32.

    A kernel with sizes takes them last, int32 each: the values of these numbers among those of the
    call. `count` is the number of its blocks where that follows from them (0: it does not), of
    which `blocks` are the most.
    """

    kernel: str
    blocks: int
    threads: tuple[int, int]
    arguments: tuple[int, ...]
    shared_bytes: int = 0
    dynamic_bytes: int = field(default=0, repr=False)
    beyond: tuple[int, int] = field(default=(1, 1), repr=False)
    values: tuple[int, ...] = field(default=(), repr=False)
    maps: tuple[TensorMap, ...] = field(default=(), repr=False)
    sizes: tuple[int, ...] = field(default=(), repr=False)
    count: Formula = field(default=0, repr=False)

    @property
    def grid(self) -> tuple[int, int, int]:
        """Blocks in each dimension, with sizes the most."""
        return (self.blocks, *self.beyond)

    def at(self, values: Sequence[int]) -> tuple[int, list[int]]:
        """Blocks, and the arguments after all others, of a call with these values."""
        sizes = [values[n] for n in self.sizes]
        return (computed(self.count, sizes) if self.count else self.blocks), sizes


@dataclass(frozen=True, slots=True)
class CodeReport:
    """What an assembler said of a GPU program, the most that any of its kernels takes: registers of
    a thread and the bytes that it spills for want of them, shared bytes of a block. `frame_bytes`
    are all that a thread keeps in memory: what it spills, and private arrays. What a launch gives a
    block is not known to an assembler, but to `with_launches`. `warnings` are what it says of code
    that is right and slow: "C7510: Potential Performance Loss: wgmma … are serialized …".
    """

    registers: int
    spill_bytes: int
    shared_bytes: int
    frame_bytes: int = 0
    warnings: tuple[str, ...] = ()

    @staticmethod
    def of_header(fields: Sequence[Any]) -> CodeReport:
        """From a JSON list of the fields; an older one is shorter."""
        *figures, warnings = fields if len(fields) > FIGURES else (*fields, ())
        return replace(CodeReport(*figures), warnings=tuple(warnings))

    def with_launches(self, launches: Iterable[Launch]) -> CodeReport:
        """The report of a program that is launched so."""
        taken = max((launch.shared_bytes for launch in launches), default=0)
        return replace(self, shared_bytes=max(self.shared_bytes, taken))


FIGURES = 4  # of a report, before its warnings


@dataclass(frozen=True, slots=True)
class NetworkStep:
    """What a network does at one point of its run: a call of `kernel`, or a copy."""

    kernel: str
    flops: int


def timed_entry(entry: str) -> str:
    """The symbol of a network's second entry point."""
    return f"{entry}_timed"


def derive_entry(entry: str) -> str:
    """The symbol of what computes, in a network with sizes, all that follows from them: values
    behind them in memory.
    """
    return f"{entry}_derive"


@dataclass(frozen=True, slots=True)
class Artifact:
    """A compiled function and everything needed to load and call it.

    `target` is the text form of the Target it was compiled for. `constants` are in the layouts the
    kernel reads; `packings[i]` makes `constants[i]` from what the user gives. `steps` are a
    network's, in order; a kernel has none.

    For a GPU, `object_code` is what its driver loads (OpenCL C source, a CUDA binary) and
    `launches` are the kernel calls in order; a CPU's function has none. A network's code is that of
    its kernels, and each of its launches is a step.

    `refusals` are the reasons for which a network may end a run early, with an error; the last
    `ALIGNMENT` bytes of its scratch begin with the number of the one that did (int64, from 1 on).

    `rounding` is by how much a kernel's rounding errors exceed those of its task's own sums, in
    whatever order they are added.

    With `sizes`, shapes of a kernel are those of memory at their most, in which a call's rows
    follow each other (`expr.sizes.stored_extents`). A network takes and gives contiguous arrays;
    `derived` is what `derive_entry` computes of the sizes, extents of its interface among them. All
    are int64 values at the beginning of its scratch, sizes first. On a GPU `formulas` say how they
    follow, and launches take them as arguments.

    `states` are its last inputs, one for one: a caller gives memory for them, which stays.
    """

    entry: str
    target: str
    object_code: bytes
    inputs: tuple[BufferSpec, ...]
    constants: tuple[BufferSpec, ...]
    outputs: tuple[BufferSpec, ...]
    packings: tuple[Packing, ...]
    scratch_bytes: int
    steps: tuple[NetworkStep, ...] = ()
    launches: tuple[Launch, ...] = ()
    report: CodeReport | None = None
    rounding: float = 1.0
    refusals: tuple[str, ...] = ()
    sizes: Sizes = ()
    derived: Sizes = ()
    states: tuple[StateSpec, ...] = ()
    formulas: tuple[Formula, ...] = ()

    @property
    def given(self) -> tuple[BufferSpec, ...]:
        """The inputs that a caller gives with each call."""
        return self.inputs[: len(self.inputs) - len(self.states)]

    @property
    def sources(self) -> dict[str, BufferSpec]:
        """The constants as the user gives them, by name in their order: a kernel that has a program
        for each range of a size may read one in two layouts.
        """
        return {p.source.name: p.source for p in self.packings}

    @property
    def computed(self) -> Sizes:
        """The sizes that a run of a network finds itself."""
        return tuple(s for s in self.sizes if s.computed)

    @property
    def multiples(self) -> dict[str, int]:
        """The steps of sizes of which inputs' extents are multiples."""
        return {s.name: s.step for s in self.sizes if s.step > 1}

    @property
    def status_offset(self) -> int:
        """Where in the scratch the number of a refusal is."""
        return self.scratch_bytes - ALIGNMENT

    @property
    def buffers(self) -> tuple[BufferSpec, ...]:
        """All buffers in the order of the native interface."""
        return self.inputs + self.constants + self.outputs

    def header(self) -> dict[str, Any]:
        """Everything but the object code, as JSON has it."""
        return {
            "entry": self.entry,
            "target": self.target,
            "inputs": [spec_json(s) for s in self.inputs],
            "constants": [spec_json(s) for s in self.constants],
            "outputs": [spec_json(s) for s in self.outputs],
            "packings": [
                [spec_json(p.source), p.splits, p.permutation, p.maps] for p in self.packings
            ],
            "scratch_bytes": self.scratch_bytes,
            "steps": [[s.kernel, s.flops] for s in self.steps],
            "launches": [
                astuple(launch)[: None if launch.sizes else -2] for launch in self.launches
            ],
            "report": None if self.report is None else astuple(self.report),
            "rounding": self.rounding,
            **({"refusals": self.refusals} if self.refusals else {}),
            **({"sizes": [[s.name, *s.range] for s in self.sizes]} if self.sizes else {}),
            **({"computed": [s.name for s in self.computed]} if self.computed else {}),
            **({"multiples": found} if (found := self.multiples) else {}),
            **({"derived": [[s.name, *s.range] for s in self.derived]} if self.derived else {}),
            **({"states": [astuple(s) for s in self.states]} if self.states else {}),
            **({"formulas": self.formulas} if self.formulas else {}),
        }

    @staticmethod
    def of_header(header: Any, object_code: bytes) -> Artifact:
        """The artifact that `header` describes. Raises RunError when it describes none."""
        try:
            return Artifact(
                entry=header["entry"],
                target=header["target"],
                object_code=object_code,
                inputs=tuple(spec_of(s) for s in header["inputs"]),
                constants=tuple(spec_of(s) for s in header["constants"]),
                outputs=tuple(spec_of(s) for s in header["outputs"]),
                packings=tuple(
                    Packing(spec_of(spec), *map(_tuples, rest))
                    for spec, *rest in header["packings"]
                ),
                scratch_bytes=header["scratch_bytes"],
                steps=tuple(NetworkStep(kernel, flops) for kernel, flops in header["steps"]),
                launches=tuple(_launch(fields) for fields in header["launches"]),
                report=CodeReport.of_header(header["report"]) if header.get("report") else None,
                rounding=header.get("rounding", 1.0),
                refusals=tuple(header.get("refusals", ())),
                sizes=tuple(
                    replace(
                        Size.of(*fields),
                        computed=fields[0] in header.get("computed", ()),
                        step=header.get("multiples", {}).get(fields[0], 1),
                    )
                    for fields in header.get("sizes", ())
                ),
                derived=tuple(Size.of(*fields) for fields in header.get("derived", ())),
                states=tuple(StateSpec(*map(_tuples, s)) for s in header.get("states", ())),
                formulas=tuple(map(_tuples, header.get("formulas", ()))),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise RunError(f"a compiled artifact is damaged: {error!r}") from error

    def to_bytes(self) -> bytes:
        """The self-contained form that `from_bytes` reads."""
        header = json.dumps(self.header(), separators=(",", ":")).encode()
        return MAGIC + len(header).to_bytes(4, "little") + header + self.object_code

    @staticmethod
    def from_bytes(data: bytes) -> Artifact:
        """Read what `to_bytes` wrote. Raises RunError when `data` is something else."""
        if data[:4] != MAGIC:
            raise RunError(f"not a compiled artifact: it starts with {data[:4]!r}, not {MAGIC!r}")
        end = 8 + int.from_bytes(data[4:8], "little")
        try:
            header = json.loads(data[8:end])
        except (ValueError, RecursionError) as error:
            raise RunError(f"a compiled artifact is damaged: {error!r:.200}") from error
        return Artifact.of_header(header, bytes(data[end:]))


def _launch(data: list[Any]) -> Launch:
    kernel, blocks, (x, y), arguments, shared_bytes, *rest = data
    dynamic_bytes, (rows, layers), values, *others = rest or (0, (1, 1), ())
    maps = tuple(TensorMap(*map(_tuples, m)) for m in (others[0] if others else ()))
    return Launch(
        kernel, blocks, (x, y), tuple(arguments), shared_bytes, dynamic_bytes, (rows, layers),
        tuple(values), maps, *map(_tuples, others[1:]),
    )  # fmt: skip


def _tuples(value: Any) -> Any:
    """JSON's lists as tuples, all the way down."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def spec_json(spec: BufferSpec) -> list[Any]:
    """What JSON has of a buffer."""
    return [spec.name, list(spec.shape), spec.dtype, *([spec.varying] if spec.varying else ())]


def spec_of(data: Sequence[Any]) -> BufferSpec:
    """The buffer from it. Raises ValueError, TypeError."""
    name, shape, dtype, *varying = data
    return BufferSpec(name, tuple(shape), dtype, *map(tuple, varying))

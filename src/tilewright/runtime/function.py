"""A compiled function as users call it: arrays in, arrays out, everything checked.

    fn = CompiledFunction(artifact)
    fn.prepare({"weight": w})             packs the constants, once
    (y,) = fn(x)                          NumPy arrays or anything with DLPack
    fn(x, out=[y])                        into an array that is there already
    (y,) = fn(x=x)                        the same by name
    (y,) = fn.run({"x": x})               for names that Python does not have

Inputs must have exactly the named shapes and dtypes (`fn.inputs`); nothing is converted silently.
Where an input is a tensor of PyTorch's, the outputs are tensors. An input that is not contiguous,
or not aligned for its elements, is copied into a buffer kept for it; more is not asked, since
copying takes longer than loads across cache lines do. Outputs are 64-byte-aligned arrays, new ones
unless the caller gives some or has dropped those of an earlier call, whose memory is then used
again (that of large ones also where a call begins before they are dropped: `ResultMemory`). Threads
may call at once: each call in flight has a `CallFrame` of its own, with the scratch memory and the
last outputs; frames are kept, so there come to be as many as calls were ever made at once. Such
calls compete for the cores: `fn.threads = 1` gives each one.

`runtime.invoke` checks natively the arrays of a call that are as they should be. For others, what
is known of the arrays beforehand is in `Parameter`, and a call only writes the addresses of its
inputs and outputs to a pointer array that is kept.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tilewright.contract.artifact import ALIGNMENT, Array, Artifact, NetworkStep
from tilewright.ground.errors import InputError, RunError
from tilewright.ground.lazy import Lazy
from tilewright.ground.text import size
from tilewright.runtime.buffers import BYTE, address, aligned_empty, is_aligned
from tilewright.runtime.constants import ConstantPool, Constants, pack, pack_given
from tilewright.runtime.cpu import LoadedKernel, NativeCode, pointer_array
from tilewright.runtime.invoke import DONE, HELD, QUICK, NativeCall
from tilewright.runtime.parameters import (
    ArrayFunction,
    Parameter,
    check_callable,
    checked,
    held_inputs,
    positional,
    with_named,
)
from tilewright.runtime.profile import Profile, profile
from tilewright.runtime.results import ResultMemory
from tilewright.runtime.sizes import CallShapes, SizesTable
from tilewright.runtime.tensors import alike
from tilewright.target import Target

if TYPE_CHECKING:
    from tilewright.runtime import stream
    from tilewright.runtime.stream import Stream
else:
    stream = Lazy("tilewright.runtime.stream")


class CallFrame:
    """What one call in flight has to itself: the native pointer array, scratch memory, the native
    call with its outputs, `shapes` if it has sizes, and copies of inputs that kernels cannot read
    where they are, by name. It keeps the constants alive.
    """

    __slots__ = (
        *("call", "constants", "pointers", "pointers_address"),
        *("scratch", "scratch_address", "shapes", "staged"),
    )

    call: NativeCall

    def __init__(
        self,
        pointers: Sequence[int],
        scratch_bytes: int,
        constants: Constants,
        shapes: CallShapes | None,
    ) -> None:
        self.shapes = shapes
        self.constants = constants
        self.pointers = pointer_array(pointers)
        self.pointers_address = ctypes.addressof(self.pointers)
        scratch = (max(scratch_bytes, ALIGNMENT),)
        self.scratch = aligned_empty(scratch, BYTE, len(pointers))
        self.scratch_address = address(self.scratch)
        self.staged: dict[str, Array] = {}

    def refusal(self, artifact: Artifact) -> str:
        """Why the last run ended early; "" if it did not."""
        if not artifact.refusals:
            return ""
        number = self.scratch[artifact.status_offset :][:8].view(np.int64).item()
        return artifact.refusals[number - 1] if number else ""

    def stage(self, parameter: Parameter, array: Array) -> Array:
        """A copy where kernels may read it, in memory that is kept for this input."""
        if parameter.name not in self.staged:
            room = aligned_empty(parameter.shape, parameter.dtype, parameter.slot)
            self.staged[parameter.name] = room
        staged = np.ndarray(array.shape, parameter.dtype, self.staged[parameter.name])
        np.copyto(staged, array)
        return staged


class CompiledFunction(ArrayFunction):
    """A loaded artifact with its constants and scratch memory."""

    def __init__(
        self,
        artifact: Artifact,
        parts: Sequence[Artifact] = (),
        arguments: Sequence[str] | None = None,
        *,
        constants: Constants | None = None,
        code: NativeCode | None = None,
        name: str | None = None,
        held: Collection[str] = (),
    ) -> None:
        """Load `artifact`, linked with `parts`, unless its `code` is loaded already; a function
        without constants is ready at once.

        `arguments` are the names of the inputs in the order in which a caller gives them (None:
        the artifact's), but for those that are `held` (see `Stream`). Raises RunError when this
        machine cannot run it.
        """
        check_callable(artifact)
        super().__init__(artifact, arguments, name, held)
        self._parts = tuple(parts)
        self._held = held_inputs(artifact, held)
        self._code = LoadedKernel(artifact, parts) if code is None else code
        self._sizes: SizesTable | None = None
        if self._code.derive is not None:
            found = self._code.derive, self._code.find_sizes, self._code.write_shapes
            inputs = (*self._inputs, *self._held)
            self._sizes = SizesTable(artifact, inputs, self._outputs, *found, len(self._held))
        self._results = tuple(ResultMemory(p.shape, p.dtype, p.slot) for p in self._outputs)
        self._quick = QUICK and not artifact.refusals and not artifact.computed
        self._cores = Target.parse(artifact.target).cores
        self._threads = self._cores
        self._constants = constants if artifact.constants else pack(artifact, {})
        # Frames that no call is using. Calls take and return them without a lock: `pop` and
        # `append` of a list are atomic.
        self._frames: list[CallFrame] = []

    def __reduce__(self) -> tuple[Any, ...]:
        """Its code and packed constants, or the library it is from: another process on a machine
        like this one loads them anew.
        """
        names = tuple(p.name for p in self._inputs)
        own = partial(
            CompiledFunction,
            *(self.artifact, self._parts, names),
            constants=self._constants,
            name=self.name,
        )
        return _with_threads, (self._code.source or own, self._threads)

    @property
    def code(self) -> NativeCode:
        """What is called."""
        return self._code

    @property
    def constants(self) -> Constants | None:
        """The packed constants; None until they are given."""
        return self._constants

    @property
    def threads(self) -> int:
        """The most threads a call uses; at first, all it was compiled for. None sets that again."""
        return self._threads

    @threads.setter
    def threads(self, count: int | None) -> None:
        """Raises InputError for a count that is not from 1 to the target's cores."""
        self._threads = self._cores if count is None else checked_threads(count, self._cores)
        self._frames = []  # which know the count

    def prepare(self, constants: Mapping[str, Any], pool: ConstantPool | None = None) -> None:
        """Take the constants (in their logical layouts, by name) and pack them as the code wants.

        Packed constants that `pool` has already are not stored again. Raises InputError for a
        missing or unknown name, a wrong shape or dtype.
        """
        self._constants = pack_given(self.artifact, constants, pool)
        self._frames = []  # those of calls in flight go with the constants they point at

    def __call__(
        self, /, *inputs: Any, out: Sequence[Array] | None = None, **named: Any
    ) -> list[Any]:
        """Compute the outputs, in the order of `outputs`, for inputs by position or by name.

        They are arrays of their own; once the caller has dropped them (and views of them), a later
        call may use their memory. If an input is a tensor of PyTorch's, they are tensors of such
        memory. `out`, if given, holds one contiguous 64-byte-aligned array for each output; they
        are filled and returned, or where data decide how much there is, given with the most, their
        beginnings. Raises InputError for a wrong number of arrays, a name that is
        missing or unknown, a wrong shape or dtype, RunError where a model takes a branch that could
        not be compiled, or data ask for more than there may be.
        """
        if named:
            inputs = tuple(with_named(self._inputs, inputs, named))
        frames = self._frames
        if out is None and self._quick:
            frame = self._frame(frames)
            call = frame.call
            answer = call.run(*inputs)
            if answer == HELD:
                call.write_to([memory.array() for memory in self._results])
                answer = call.run(*inputs)
            written = call.outputs.copy()
            frames.append(frame)
            if answer == DONE:
                return written
        arrays = checked(self._inputs, inputs)
        frame = self._frame(frames)
        results = self._results_of(frame, arrays)
        if out is None:
            outputs = self._new_outputs(results)
        else:
            outputs = self._given_outputs(results, out, arrays)
        self._bind(frame, arrays, outputs)
        self._code(frame.pointers_address, frame.scratch_address, self._threads)
        self._check(frame)
        if frame.shapes is not None:
            outputs = frame.shapes.after(outputs, frame.scratch)
        frames.append(frame)
        return alike(inputs, outputs) if out is None else outputs

    def _frame(self, frames: list[CallFrame]) -> CallFrame:
        """One that no call uses."""
        try:
            return frames.pop()
        except IndexError:
            return self._new_frame()

    def touch(self) -> None:
        """Write once to all the memory of one call, as much as the greatest sizes need: the system
        gives pages at the first write, for which no later call waits then.

        Raises InputError for a network that keeps a state, whose memory is its streams'.
        """
        frame = self._new_frame()
        for array in (frame.scratch, *(memory.array() for memory in self._results)):
            array.fill(0)
        self._frames.append(frame)

    def bench(
        self, inputs: Mapping[str, Any] | Sequence[Any], count: int
    ) -> npt.NDArray[np.float64]:
        """Run `count` times on the same arrays; the seconds of each call, timed natively
        (validation, copies of inputs and the Python call are not in them).
        """
        frame, kept = self._bound(inputs)
        addresses = (frame.pointers_address, frame.scratch_address)
        seconds = self._code.bench(*addresses, count, threads=self._threads)
        del kept  # in use until here
        self._check(frame)
        return seconds

    def _check(self, frame: CallFrame) -> None:
        """Raise RunError when the last run refused to go on."""
        refusal = frame.refusal(self.artifact)
        if refusal:
            raise RunError(refusal)

    def profile(self, inputs: Mapping[str, Any] | Sequence[Any], runs: int = 20) -> Profile:
        """Run `runs` times on the same arrays, timing every kernel natively within the run; see
        `runtime.profile`. Raises InputError for fewer than one run, or for wrong inputs.
        """
        frame, kept = self._bound(inputs)
        addresses = (frame.pointers_address, frame.scratch_address)

        def plain() -> float:
            return float(self._code.bench(*addresses, 1, threads=self._threads)[0])

        def timed() -> npt.NDArray[np.float64]:
            if not self.artifact.steps:
                return np.array([plain()])
            return self._code.steps(*addresses, threads=self._threads)

        plain()
        self._check(frame)
        steps = self.artifact.steps or (NetworkStep(self.artifact.entry, 0),)
        found = profile(steps, timed, plain, runs)
        del kept  # in use until here
        return found

    def _bound(self, inputs: Mapping[str, Any] | Sequence[Any]) -> tuple[CallFrame, list[Array]]:
        """A new frame that points at `inputs` (or copies of them) and at new outputs, and all the
        arrays that must live as long as it is used.
        """
        frame = self._new_frame()
        arrays = checked(self._inputs, positional(self._inputs, inputs))
        outputs = self._new_outputs(self._results_of(frame, arrays))
        self._bind(frame, arrays, outputs)
        return frame, [*arrays, *outputs]

    def stream(self, inputs: Mapping[str, Any] | None = None, /, **named: Any) -> Stream:
        """A new stream of a network that keeps a state, which is empty. `inputs` are those that all
        of its calls have, by name. Streams share code and constants; each has memory for its state.

        Raises InputError for a network without a state, or inputs that do not fit.
        """
        return stream.Stream(self, {**(inputs or {}), **named})

    def _new_frame(self) -> CallFrame:
        """A frame for a call that keeps nothing."""
        if self.artifact.states:
            raise InputError(
                f"{self.name} keeps {self._held[0].name} from one call to the next: call a stream "
                f"of it, s = net.stream(), s(...)"
            )
        return self._made_frame()

    def _made_frame(self) -> CallFrame:
        """A frame that points at the constants."""
        if self._constants is None:
            raise self._not_prepared()
        first = [0] * len(self.artifact.inputs)
        last = [0] * len(self.artifact.outputs)
        pointers = [*first, *self._constants.addresses, *last]
        shapes = None if self._sizes is None else CallShapes(self._sizes)
        needed = self.artifact.scratch_bytes
        try:
            frame = CallFrame(pointers, needed, self._constants, shapes)
        except (MemoryError, ValueError) as error:
            less = "; smaller ranges of its sizes need less" if self._sizes else ""
            raise RunError(f"{self.name} needs {size(needed)} of memory a call{less}") from error
        if self._code.invoke is not None:
            addresses = (self._code.entry, frame.pointers_address, frame.scratch_address)
            arrays = (self._inputs, self._outputs)
            frame.call = NativeCall(self._code.invoke, *addresses, *arrays, self._threads, shapes)
        return frame

    def _results_of(self, frame: CallFrame, inputs: Sequence[Array]) -> Sequence[Parameter]:
        """The outputs as they are for inputs of these shapes. Raises InputError for wrong ones."""
        if frame.shapes is None:
            return self._outputs
        frame.shapes.find(inputs, frame.scratch)
        return frame.shapes.outputs

    def _new_outputs(self, results: Sequence[Parameter]) -> list[Array]:
        return [m.array(p.shape) for m, p in zip(self._results, results, strict=True)]

    def _given_outputs(
        self, results: Sequence[Parameter], out: Sequence[Array], inputs: Sequence[Array]
    ) -> list[Array]:
        self._check_outputs(results, out)
        taken = list(inputs)
        for parameter in self._outputs:
            name, array = parameter.name, out[parameter.position]
            if not is_aligned(array) or not array.flags.writeable:
                raise InputError(
                    f"output {name} must be writable, contiguous and start at a multiple of "
                    f"{ALIGNMENT} bytes: make it with tilewright.runtime.aligned_empty"
                )
            for other in taken:
                if np.may_share_memory(array, other):
                    raise InputError(
                        f"output {name} must not share memory with an input or another output"
                    )
            taken.append(array)
        return list(out)

    def _bind(self, frame: CallFrame, arrays: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Write the addresses of a call's arrays to the frame's pointer array."""
        pointers = frame.pointers
        for parameter in self._inputs:
            array = arrays[parameter.position]
            if not (array.flags.c_contiguous and array.flags.aligned):
                array = frame.stage(parameter, array)
            pointers[parameter.slot] = address(array)
        for parameter in self._outputs:
            pointers[parameter.slot] = address(outputs[parameter.position])


def _with_threads(make: Callable[[], CompiledFunction], threads: int) -> CompiledFunction:
    """The function that `make` makes, with a limit of threads."""
    function = make()
    function.threads = threads
    return function


def checked_threads(count: int, cores: int) -> int:
    """`count`, which may be from 1 to `cores`. Raises InputError when it is not."""
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= cores:
        raise InputError(
            f"threads must be from 1 to {cores}, which this was compiled for, not {count!r}; "
            f"for more, compile for a target with cores=..."
        )
    return count

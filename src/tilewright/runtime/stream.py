"""A stream: what a network keeps from one call to the next, for one text, one recording.

    s = net.stream()                      empty; net was loaded with state="cache"
    (logits,) = s(ids=prompt, mask=m)     writes the state's new rows where they belong
    (logits,) = s(ids=token, mask=m)      reads all that are there
    s.length                              rows that the state has
    s.rewind(2); s.reset()                without the last two; empty again
    s.fill({"past.key": k, …})            rows from elsewhere
    s = net.stream(encoded=e)             an input that all calls of this stream have

A state's input and result are one buffer, of the most rows there may be. A call appends to it in
native code and tells its length; nothing is copied or compiled, whatever the length. Streams of one
network share code and weights. Calls of one stream wait for each other, those of several do not.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from tilewright.contract import arguments
from tilewright.contract.artifact import Array
from tilewright.ground.errors import InputError, RunError
from tilewright.runtime.buffers import address, aligned_empty
from tilewright.runtime.function import CallFrame, CompiledFunction
from tilewright.runtime.parameters import Parameter, check_names, checked_one


class Stream(CompiledFunction):
    """A network and its state; see the module. It is called as the network would be, but for the
    state, and gives all other outputs.
    """

    def __init__(self, function: CompiledFunction, held: Mapping[str, Any]) -> None:
        """Raises InputError where `function` keeps no state, or its inputs are not as `held`."""
        self._lock = threading.Lock()
        if not function.artifact.states:
            raise InputError(
                f"{function.name} keeps no state: load the model with state='cache', or with the "
                f"names of an input and what it becomes, state={{'past.key': 'present.key'}}"
            )
        known = [p.name for p in function.inputs]
        if any(name not in known for name in held):
            check_names("input", dict.fromkeys([*known, *held]), known)
        super().__init__(
            function.artifact,
            arguments=known,
            constants=function.constants,
            code=function.code,
            name=function.name,
            held=held,
        )
        self.threads = function.threads
        self._states = self.artifact.states
        self._arrays = [self._taken(p, held[p.name]) for p in self._held[: len(held)]]
        self._arrays += [
            aligned_empty(s.shape, p.dtype, p.slot)
            for s, p in zip(self._states, self._held[len(held) :], strict=True)
        ]
        self._shapes = [np.array(a.shape, np.int64) for a in self._arrays[: len(held)]]
        self._shapes += [np.array(p.shape, np.int64) for p in self._held[len(held) :]]
        self._check_alike(len(held))
        first = self._held[len(held)]
        self._most = first.shape[self._states[0].axis]
        values = [v.name for v in (*self.artifact.sizes, *self.artifact.derived)]
        self._grown = values.index(self._states[0].grown)
        self._length = 0
        self._set_length(0)

    @property
    def length(self) -> int:
        """Rows that the state has: tokens that were seen."""
        return self._length

    @property
    def capacity(self) -> int:
        """Rows that it has memory for."""
        return self._states[0].capacity

    def reset(self) -> None:
        """Empty the state."""
        with self._lock:
            self._set_length(0)

    def rewind(self, rows: int) -> None:
        """Take back the last rows: of tokens that turned out not to be wanted.

        Raises InputError for more than there are.
        """
        count = arguments.count("rows", rows, least=0)
        with self._lock:
            if count > self._length:
                raise InputError(
                    f"{self.name}: cannot take back {count} rows of a stream of {self._length}"
                )
            self._set_length(self._length - count)

    def fill(self, states: Mapping[str, Any]) -> None:
        """Let the state be copies of these arrays, which have as many rows each.

        Raises InputError for a name that is missing or unknown, or an array that does not fit.
        """
        kept = self._held[len(self._held) - len(self._states) :]
        check_names("state", states, [p.name for p in kept])
        arrays = [checked_one(p, states[p.name]) for p in kept]
        lengths = {a.shape[s.axis] for a, s in zip(arrays, self._states, strict=True)}
        if len(lengths) > 1 or max(lengths) > self.capacity:
            listed = ", ".join(map(str, sorted(lengths)))
            raise InputError(
                f"{self.name}: states have {listed} rows; all have as many, at most {self.capacity}"
            )
        memory = self._arrays[len(self._arrays) - len(kept) :]
        with self._lock:
            for array, room in zip(arrays, memory, strict=True):
                np.copyto(room[tuple(map(slice, array.shape))], array)
            self._set_length(lengths.pop())

    def __call__(
        self, /, *inputs: Any, out: Sequence[Array] | None = None, **named: Any
    ) -> list[Any]:
        """The outputs but for the state, which grows; see `CompiledFunction.__call__`. Raises
        InputError where the stream is full, too.
        """
        with self._lock:
            if self._length > self._most:
                raise InputError(self._full())
            results = super().__call__(*inputs, out=out, **named)
            values = self._frames[-1].scratch
            self._set_length(values[8 * self._grown :][:8].view(np.int64).item())
        return results

    def __reduce__(self) -> NoReturn:
        raise RunError(f"a stream of {self.name} stays in its process: make one there")

    def _full(self) -> str:
        name, size = self._held[-len(self._states)].name, self._states[0]
        return (
            f"{self.name}: the stream is full: {name} has {self._length} rows, and a call takes at "
            f"most {self._most} of {size.capacity}; reset or rewind it, or load the model for more"
        )

    def _set_length(self, length: int) -> None:
        self._length = length
        states = self._shapes[len(self._shapes) - len(self._states) :]
        for shape, state in zip(states, self._states, strict=True):
            shape[state.axis] = length

    def _new_frame(self) -> CallFrame:
        """A frame that points at the state, too."""
        frame = self._made_frame()
        for parameter, array in zip(self._held, self._arrays, strict=True):
            frame.pointers[parameter.slot] = address(array)
        assert frame.shapes is not None, "a state grows along a size"
        frame.shapes.hold(self._shapes)
        return frame

    def _taken(self, parameter: Parameter, value: Any) -> Array:
        """A copy of an input that all calls have, where kernels may read it."""
        array = checked_one(parameter, value)
        kept = aligned_empty(array.shape, array.dtype, parameter.slot)
        np.copyto(kept, array)
        return kept

    def _check_alike(self, count: int) -> None:
        """Raise InputError unless the inputs that all calls have agree about sizes."""
        ranges = {s.name: s for s in self.artifact.sizes}
        found: dict[str, int] = {}
        for parameter, array in zip(self._held[:count], self._arrays, strict=False):
            for name, extent in zip(parameter.varying, array.shape, strict=False):
                size = ranges.get(name)
                if name and (size is None or not size.least <= extent <= size.most):
                    wanted = f"in {size.least}..{size.most}" if size else "another in each call"
                    raise InputError(f"{parameter.name}: {name} is {extent}; it must be {wanted}")
                if name and found.setdefault(name, extent) != extent:
                    raise InputError(
                        f"{parameter.name}: {name} is {extent}, and {found[name]} in other inputs"
                    )

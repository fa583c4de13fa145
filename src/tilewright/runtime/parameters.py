"""The arrays of a function's interface, and whether what a caller gives fits them.

    parameters = inputs_of(artifact, ("b", "a"))       in the order in which a caller gives them
    arrays = checked(parameters, (b, a))               raises InputError; nothing is converted

Anything with DLPack is taken like a NumPy array.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilewright.contract.arguments import described
from tilewright.contract.artifact import Array, Artifact, BufferSpec, numpy_dtype
from tilewright.ground.errors import InputError, RunError, TargetError
from tilewright.runtime.profile import Profile
from tilewright.runtime.tensors import BFLOAT16, array_of, is_tensor


@dataclass(frozen=True, slots=True)
class Parameter:
    """One array of the interface: number `position` of those that a caller gives or gets, number
    `slot` in the native pointer array. A `loaded` one is a network's, which may be loaded for other
    shapes. `varying` names extents that a call gives, as in `BufferSpec`.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    position: int
    slot: int
    loaded: bool = False
    varying: tuple[str, ...] = ()

    @staticmethod
    def of(
        spec: BufferSpec, position: int = 0, slot: int = 0, *, loaded: bool = False
    ) -> Parameter:
        dtype = numpy_dtype(spec.dtype)
        return Parameter(spec.name, spec.shape, dtype, position, slot, loaded, spec.varying)

    def __str__(self) -> str:
        return str(self.spec)

    @property
    def spec(self) -> BufferSpec:
        """The array as an artifact has it."""
        return BufferSpec(self.name, self.shape, str(self.dtype), self.varying)

    def takes(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of that shape may be given, as far as one can tell by itself."""
        return shape == self.shape or (bool(self.varying) and self.spec.takes(shape))


def inputs_of(
    artifact: Artifact, arguments: Iterable[str] | None, held: Collection[str] = ()
) -> tuple[Parameter, ...]:
    """The inputs in the order of the names `arguments`, but for those that are `held`."""
    slots = {s.name: i for i, s in enumerate(artifact.given) if s.name not in held}
    names = list(slots) if arguments is None else [n for n in arguments if n not in held]
    check_names("argument", dict.fromkeys(names), slots)
    loaded = bool(artifact.steps)  # which kernels by themselves have not
    return tuple(
        Parameter.of(artifact.inputs[slots[n]], i, slots[n], loaded=loaded)
        for i, n in enumerate(names)
    )


def held_inputs(artifact: Artifact, held: Collection[str]) -> tuple[Parameter, ...]:
    """Those that are not given with each call: the `held` ones, then states."""
    slots = [i for i, s in enumerate(artifact.given) if s.name in held]
    slots += range(len(artifact.given), len(artifact.inputs))
    return tuple(Parameter.of(artifact.inputs[i], n, i, loaded=True) for n, i in enumerate(slots))


def check_callable(artifact: Artifact) -> None:
    """Raise RunError for a kernel with sizes, which no function calls by itself."""
    if artifact.sizes and not artifact.steps:
        listed = ", ".join(map(str, artifact.sizes))
        taker = "a device's program" if artifact.launches else "a LoadedKernel"
        raise RunError(f"{artifact.entry} has sizes ({listed}), which {taker} takes with each call")


class ArrayFunction(ABC):
    """What a loaded artifact takes and gives, whatever it runs on."""

    def __init__(
        self,
        artifact: Artifact,
        arguments: Iterable[str] | None,
        name: str | None = None,
        held: Collection[str] = (),
    ) -> None:
        """`arguments` are the names of the inputs in the order in which a caller gives them (None:
        the artifact's), `name` is what it is called (None: as its entry). No call gives inputs that
        are `held`.
        """
        self.artifact = artifact
        self.name = artifact.entry if name is None else name
        self._inputs = inputs_of(artifact, arguments, held)
        first = len(artifact.inputs) + len(artifact.constants)
        self._outputs = tuple(Parameter.of(s, i, first + i) for i, s in enumerate(artifact.outputs))

    @property
    def inputs(self) -> tuple[BufferSpec, ...]:
        """Name, shape and dtype of each input, in the order in which a caller gives them."""
        return tuple(self.artifact.inputs[p.slot] for p in self._inputs)

    @property
    def outputs(self) -> tuple[BufferSpec, ...]:
        """Name, shape and dtype of each output."""
        return self.artifact.outputs

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.interface})"

    @property
    def interface(self) -> str:
        """`matmul: a: float32[2, 3], b: float32[3, 4] -> c: float32[2, 4] on cpu:znver4`."""
        taken, given = (", ".join(map(str, s)) or "nothing" for s in (self.inputs, self.outputs))
        return f"{self.name}: {taken} -> {given} on {self.artifact.target.split()[0]}"

    @abstractmethod
    def __call__(
        self, /, *inputs: Any, out: Sequence[Any] | None = None, **named: Any
    ) -> list[Any]: ...

    def stream(self, inputs: Mapping[str, Any] | None = None, /, **named: Any) -> Any:
        """A new stream of what keeps a state. Raises TargetError for a function that has none."""
        raise TargetError(
            f"{self.name} runs on {self.artifact.target.split()[0]}: it has no streams"
        )

    @property
    def threads(self) -> int:
        """The most threads a call uses. Raises TargetError for a function that has none."""
        raise TargetError(
            f"{self.name} runs on {self.artifact.target.split()[0]}: it has no CPU threads"
        )

    @threads.setter
    def threads(self, count: int | None) -> None:
        _ = self.threads

    @abstractmethod
    def profile(self, inputs: Mapping[str, Any] | Sequence[Any], runs: int = 20) -> Profile:
        """Time every kernel within `runs` runs."""

    def run(
        self, inputs: Mapping[str, Any] | Sequence[Any], out: Sequence[Any] | None = None
    ) -> list[Any]:
        """The outputs for inputs by name, or a sequence of them by position.

        Raises InputError for a missing or unknown name.
        """
        check_run(inputs, out)
        return self(*positional(self._inputs, inputs), out=out)

    def _check_outputs(self, results: Sequence[Parameter], out: Sequence[Any]) -> None:
        """Raise InputError unless there is an array of the right kind for each of `results`."""
        if len(out) != len(results):
            raise InputError(f"{len(out)} output arrays given, {len(results)} needed")
        for parameter, array in zip(results, out, strict=True):
            self._check_output(parameter, array)

    def _check_output(self, parameter: Parameter, array: Any) -> None:
        if not isinstance(array, np.ndarray):
            raise InputError(
                f"output {parameter.name} must be a NumPy array, got {type(array).__name__}"
            )
        check_array(parameter, array)

    def _not_prepared(self) -> InputError:
        names = ", ".join(self.artifact.sources)
        return InputError(f"call prepare() with the constants first: {names}")


def check_run(inputs: Any, out: Any) -> None:
    """Raise InputError unless inputs come first, by name or in a sequence, then arrays for outputs:
    not names of outputs before the inputs, as onnxruntime has it, and not one array.
    """
    is_swapped = out is not None and isinstance(out, Mapping)
    if is_swapped or not isinstance(inputs, (dict, list, tuple, Iterable)):
        raise InputError(
            f"run takes the inputs first, run({{'x': x}}) or run([x]), and gives all outputs: it "
            f"needs no names of them; got {described(inputs)}"
        )
    if hasattr(inputs, "shape"):
        raise InputError(
            "run takes inputs by name or in a sequence, run({'x': x}) or run([x]), not an array: "
            "call the network itself with arrays, net(x)"
        )


def positional(
    parameters: Sequence[Parameter], inputs: Mapping[str, Any] | Sequence[Any]
) -> Sequence[Any]:
    """Inputs by position, from those by name. Raises InputError for a missing or unknown name."""
    if not isinstance(inputs, (dict, Mapping)):  # a dict is known sooner than a Mapping
        return inputs
    if len(inputs) != len(parameters) or any(p.name not in inputs for p in parameters):
        check_names("input", inputs, [p.name for p in sorted(parameters, key=lambda p: p.slot)])
    return [inputs[p.name] for p in parameters]


def with_named(
    parameters: Sequence[Parameter], inputs: Sequence[Any], named: Mapping[str, Any]
) -> list[Any]:
    """All inputs by position, of which the last were given by name. Raises InputError."""
    twice = [p.name for p in parameters[: len(inputs)] if p.name in named]
    if twice:
        raise InputError(f"given by position and by name: {', '.join(twice)}")
    return [*inputs, *positional(parameters[len(inputs) :], named)]


def checked(parameters: Sequence[Parameter], inputs: Sequence[Any]) -> list[Array]:
    """The inputs as arrays of the right shapes and dtypes. Raises InputError."""
    check_count(parameters, inputs)
    return [checked_one(p, inputs[p.position]) for p in parameters]


def checked_one(parameter: Parameter, value: Any) -> Array:
    """One input as an array of the right shape and dtype. Raises InputError."""
    # A plain array that fits needs no conversion, and no message.
    plain = type(value) is np.ndarray
    if not plain or not parameter.takes(value.shape) or value.dtype != parameter.dtype:
        value = as_array(parameter, value)
    array: Array = value
    return array


def check_count(parameters: Sequence[Parameter], inputs: Sequence[Any]) -> None:
    """Raise InputError unless there is an input for each parameter."""
    if len(inputs) != len(parameters):
        listed = ", ".join(map(str, parameters)) or "none"
        raise InputError(f"{len(inputs)} inputs given, {len(parameters)} needed: {listed}")


def check_names(what: str, given: Mapping[str, Any], wanted: Collection[str]) -> None:
    missing = [n for n in wanted if n not in given]
    unknown = [n for n in given if n not in wanted]
    if missing or unknown:
        parts = [f"missing {', '.join(missing)}"] * bool(missing)
        parts += [f"unknown {', '.join(map(str, unknown))}"] * bool(unknown)
        raise InputError(f"{what}s: {'; '.join(parts)}; wanted: {', '.join(wanted) or 'none'}")


def as_array(parameter: Parameter, value: Any) -> Array:
    """`value` as an array that shares its memory. Raises InputError when it does not fit."""
    if not isinstance(value, (np.ndarray, np.generic)):
        if not hasattr(value, "__dlpack__"):
            raise InputError(
                f"{parameter.name} must be a NumPy array or offer DLPack, "
                f"got {type(value).__name__}"
            )
        try:
            is_narrow = parameter.dtype == BFLOAT16 and is_tensor(value)
            value = array_of(value) if is_narrow else np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise InputError(
                f"{parameter.name}: NumPy cannot take this {type(value).__name__} through DLPack "
                f"({error}); give it as a NumPy array on the CPU"
            ) from error
    array: Array = np.asarray(value)
    check_array(parameter, array)
    return array


def check_array(parameter: Parameter, array: Array) -> None:
    if not parameter.takes(array.shape) or array.dtype != parameter.dtype:
        way_out, wanted = "", str(parameter.shape)
        if parameter.varying:
            wanted = f"({', '.join(parameter.spec.dims)})"
        elif parameter.loaded and array.ndim == len(parameter.shape):
            both = ", ".join(f"{{{parameter.name!r}: {s}}}" for s in (parameter.shape, array.shape))
            way_out = (
                f"; a network takes several shapes when it is loaded for them, shapes=[{both}]"
            )
        raise InputError(
            f"{parameter.name} must be {parameter.dtype} of shape {wanted}, "
            f"got {array.dtype} of shape {array.shape}{way_out}"
        )

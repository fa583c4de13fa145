"""Functions for several input shapes, called as one.

nets = FunctionSet([for_one_image, for_eight])
(y,) = nets(x)                  runs the function whose inputs have the shapes of these

One with sizes takes what no other has exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from tilewright.contract.artifact import BufferSpec
from tilewright.ground.errors import InputError
from tilewright.runtime.parameters import ArrayFunction, check_run
from tilewright.runtime.profile import Profile

ShapeKey: TypeAlias = tuple[tuple[int, ...] | None, ...]
Dims: TypeAlias = tuple[int, ...] | tuple[str, ...] | None


Function = TypeVar("Function", bound=ArrayFunction)


class FunctionSet(Generic[Function]):
    """Networks with the same inputs in different shapes, called as one."""

    def __init__(self, networks: Sequence[Function], name: str) -> None:
        """Raises InputError for none, for two with equal shapes, or for different inputs."""
        if not networks:
            raise InputError("a set of networks needs at least one")
        self.networks = tuple(networks)
        self.name = name
        self.input_names = tuple(s.name for s in networks[0].artifact.inputs)
        self._by_shapes: dict[tuple[Dims, ...], Function] = {}
        for network in self.networks:
            names = tuple(s.name for s in network.artifact.inputs)
            key = tuple(s.dims if s.varying else s.shape for s in network.artifact.inputs)
            if names != self.input_names or key in self._by_shapes:
                raise InputError(
                    f"the networks of a set take the same inputs in different shapes, not "
                    f"{_text(self.input_names, key)} twice or beside other names"
                )
            self._by_shapes[key] = network

    def __call__(
        self, /, *inputs: Any, out: Sequence[Any] | None = None, **named: Any
    ) -> list[Any]:
        """The outputs of the network for inputs of these shapes, given by position or by name.

        Raises InputError when there is none, and what `Network.__call__` raises.
        """
        if named:
            rest = [named.get(n) for n in self.input_names[len(inputs) :]]
            return self.network_for([*inputs, *rest])(*inputs, out=out, **named)
        return self.network_for(inputs)(*inputs, out=out)

    def run(
        self, inputs: Mapping[str, Any] | Sequence[Any], out: Sequence[Any] | None = None
    ) -> list[Any]:
        """The same for inputs by name, or a sequence of them by position."""
        check_run(inputs, out)
        return self._chosen(inputs).run(inputs, out)

    @property
    def inputs(self) -> tuple[BufferSpec, ...]:
        """Name, shape and dtype of each input of the first network; the others differ in shapes."""
        return self.networks[0].inputs

    @property
    def outputs(self) -> tuple[BufferSpec, ...]:
        """Name, shape and dtype of each output of the first network."""
        return self.networks[0].outputs

    @property
    def threads(self) -> int:
        """The most threads a run uses; see `CompiledFunction.threads`."""
        return self.networks[0].threads

    @threads.setter
    def threads(self, count: int | None) -> None:
        for network in self.networks:
            network.threads = count

    def profile(self, inputs: Mapping[str, Any] | Sequence[Any], runs: int = 20) -> Profile:
        """Time every kernel of the network for inputs of these shapes, within `runs` runs; see
        `CompiledFunction.profile`.
        """
        check_run(inputs, None)
        return self._chosen(inputs).profile(inputs, runs)

    def _chosen(self, inputs: Mapping[str, Any] | Sequence[Any]) -> Function:
        """The network for inputs by name, or by position."""
        if isinstance(inputs, Mapping):
            inputs = [inputs.get(n) for n in self.input_names]
        return self.network_for(inputs)

    def network_for(self, inputs: Sequence[Any]) -> Function:
        """The network that takes inputs of these shapes; raises InputError."""
        key = tuple(_shape(x) for x in inputs)
        found = self._by_shapes.get(key)
        if found is None:
            found = next((n for n in self.networks if _takes(n, key)), None)
        if found is None:
            known = "; ".join(_text(self.input_names, k) for k in self._by_shapes)
            raise InputError(
                f"no network for {_text(self.input_names, key)}; there are: {known}. To add one, "
                f"give its shapes to load: shapes=[{{{self.input_names[0]!r}: (...)}}, ...]"
            )
        return found

    def __str__(self) -> str:
        return "\n".join(map(str, self.networks))

    def __repr__(self) -> str:
        shapes = "; ".join(_text(self.input_names, key) for key in self._by_shapes)
        return f"{type(self).__name__}({self.name}: {shapes})"


def _shape(value: Any) -> tuple[int, ...] | None:
    """The shape of anything that has one, as NumPy and torch have it."""
    shape = getattr(value, "shape", None)
    return None if shape is None else tuple(shape)


def _takes(network: ArrayFunction, key: ShapeKey) -> bool:
    """Whether inputs of these shapes fit a network with sizes, which then says what does not."""
    specs = network.artifact.inputs
    return len(key) == len(specs) and all(
        shape is not None and s.takes(shape) for s, shape in zip(specs, key, strict=True)
    )


def _text(names: Sequence[str], key: Sequence[Dims]) -> str:
    """`x [1, 3, 224, 224], mask [1]`; inputs beyond the known names are shown by position."""
    listed = [*names, *(f"input {i}" for i in range(len(names), len(key)))]
    parts = [
        f"{name} {'(no array)' if shape is None else '[' + ', '.join(map(str, shape)) + ']'}"
        for name, shape in zip(listed, key, strict=False)
    ]
    return ", ".join(parts) or "no inputs"

"""A compiled network: kernels, memory plan and one native entry point (of a GPU, one list of
launches).

    net = linked(partition(graph), kernels, target)       `network.link`, or `network.kept`
    (y,) = net(x)                                         by position
    (y,) = net(x=x)                                       by name; NumPy arrays or DLPack
    net.save("net.so")                                    for C, or another process or machine

A network is an `Artifact` like a kernel's: the same native interface, its constants with the
packings that the kernels want, its scratch the arena of intermediate values followed by the
largest kernel scratch. Its object code calls the kernels, which are linked in when it is loaded.
That is at the first use: a network for another CPU is compiled, packed and saved all the same.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.contract.artifact import Artifact
from tilewright.ground.lazy import Lazy
from tilewright.ground.text import preformatted
from tilewright.network.memory_use import Arena, MemoryUse
from tilewright.runtime.constants import Constants
from tilewright.runtime.device import DeviceFunction
from tilewright.runtime.devices import loaded
from tilewright.runtime.function import CompiledFunction
from tilewright.runtime.parameters import ArrayFunction
from tilewright.runtime.profile import Profile
from tilewright.target import Target

if TYPE_CHECKING:
    from tilewright.build import library
    from tilewright.build.library import LibraryNetwork
    from tilewright.runtime.stream import Stream
else:
    library = Lazy("tilewright.build.library")


class Network(ArrayFunction):
    """A compiled network with its constants packed; see the module. Threads may call at once.

    It keeps the packed constants only: without the model, the weights it had are free.
    """

    def __init__(
        self,
        name: str,
        artifact: Artifact,
        kernels: Sequence[Artifact],
        constants: Constants,
        arena: Arena,
        calls: int,
        target: Target,
    ) -> None:
        """`kernels` are what the artifact's code, or its launches, call: `calls` times in a run."""
        super().__init__(artifact, None, name)
        self.kernels = tuple(kernels)
        self.constants = constants
        self.arena = arena
        self.calls = calls
        self._target = target
        self._threads: int | None = None
        self._loaded: CompiledFunction | DeviceFunction | None = None
        self._loading = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Everything but what is loaded, which another process (on a machine like this one) does
        anew.
        """
        return {**vars(self), "_loaded": None, "_loading": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _loading=threading.Lock())

    @property
    def function(self) -> CompiledFunction | DeviceFunction:
        """The network in this process (of a GPU, on its device), loaded when first asked for.

        Raises RunError when this machine cannot run the code, TargetError when it has no such
        device.
        """
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    made = loaded(
                        *(self.artifact, self._target, self.kernels),
                        constants=self.constants,
                        name=self.name,
                    )
                    if isinstance(made, CompiledFunction):
                        made.threads = self._threads
                    self._loaded = made
        return self._loaded

    def __call__(
        self, /, *inputs: Any, out: Sequence[Any] | None = None, **named: Any
    ) -> list[Any]:
        """The outputs for inputs given by position or by name; see `CompiledFunction.__call__`, on
        a GPU `DeviceFunction.__call__`.
        """
        return self.function(*inputs, out=out, **named)

    def stream(self, inputs: Mapping[str, Any] | None = None, /, **named: Any) -> Stream:
        """A new stream of a network that was loaded with `state=`; see `CompiledFunction.stream`.

        Raises InputError where there is no state, TargetError on a GPU.
        """
        found: Stream = self.function.stream(inputs, **named)
        return found

    @property
    def threads(self) -> int:
        """The most threads a run uses; see `CompiledFunction.threads`.

        Raises TargetError for a network on a GPU.
        """
        return self.function.threads

    @threads.setter
    def threads(self, count: int | None) -> None:
        self.function.threads = count
        self._threads = count

    def touch(self) -> None:
        """Have all the memory of one call at once; see `CompiledFunction.touch`."""
        self.function.touch()

    def profile(self, inputs: Mapping[str, Any] | Sequence[Any], runs: int = 20) -> Profile:
        """Time every kernel within `runs` runs; see `CompiledFunction.profile`."""
        return self.function.profile(inputs, runs)

    def save(
        self, path: str | Path, compiler: str | None = None, fallbacks: Sequence[Network] = ()
    ) -> Path:
        """Write one shared library with the weights, and a C header beside it (its path is
        returned): `net.h` for `net.so` or `libnet.so`, names in it begin with `net_`.

        `tilewright.load_library` reads it back. `compiler` is the C compiler to link with (None:
        `cc`, or the GNU cross compiler for another architecture). It needs a CPU with the
        instruction sets that its code uses; where they are missing, the first of `fallbacks` runs
        whose are not: the same model, compiled for older CPUs of that architecture. Raises
        BuildError for another fallback, when there is no compiler or the path cannot be written.
        """
        others = [f.programs for f in fallbacks]
        return library.save(Path(path), self.name, self.programs, compiler, others)

    @property
    def programs(self) -> tuple[LibraryNetwork, ...]:
        """What a library is saved from."""
        return (library.LibraryNetwork(self.artifact, self.kernels, self.constants),)

    @property
    def memory(self) -> MemoryUse:
        """What a run needs, in bytes."""
        return MemoryUse.of(self.artifact, self.arena.bytes)

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def __str__(self) -> str:
        calls = f"{self.calls} kernel calls of {len(self.kernels)} kernels"
        return f"{self.interface}\n{calls}, {self.arena}; {self.memory}"

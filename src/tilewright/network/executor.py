"""A compiled network: kernels, memory plan and one native entry point (of a GPU, one list of
launches).

    net = Network(partition(graph), kernels, target)      kernels: task key → Artifact
    (y,) = net(x)                                         by position
    (y,) = net(x=x)                                       by name; NumPy arrays or DLPack
    net.save("net.so")                                    for C, or another process or machine

A network is an `Artifact` like a kernel's: the same native interface, its constants with the
packings that the kernels want, its scratch the arena of intermediate values followed by the
largest kernel scratch. Its object code calls the kernels, which are linked in when it is loaded.
That is at the first use: a network for another CPU is compiled, packed and saved all the same.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tilewright.artifact import ALIGNMENT, Artifact, BufferSpec, Launch, aligned
from tilewright.build import compile_ir
from tilewright.build.library import LibraryNetwork, save
from tilewright.graph.partition import Partition
from tilewright.network.entry import entry_ir
from tilewright.network.launches import launches_of
from tilewright.network.linker import Linker
from tilewright.network.memory import MemoryPlan, MemoryUse
from tilewright.runtime.buffers import return_freed
from tilewright.runtime.constants import ConstantPool, pack
from tilewright.runtime.device import DeviceFunction
from tilewright.runtime.devices import loaded
from tilewright.runtime.function import CompiledFunction
from tilewright.runtime.parameters import ArrayFunction
from tilewright.runtime.profile import Profile
from tilewright.target import CpuTarget, Target
from tilewright.text import preformatted


class Network(ArrayFunction):
    """A compiled network with its constants packed; see the module. Threads may call at once.

    It keeps the packed constants only: without the model, the weights it had are free.
    """

    def __init__(
        self,
        partition: Partition,
        kernels: Mapping[str, Artifact],
        target: Target,
        pool: ConstantPool | None = None,
    ) -> None:
        """Link, and pack the constants. `kernels` has an artifact for every task, with different
        entry names.

        Networks made with one `pool` share the packed constants that are equal. Raises BuildError
        when a kernel is missing or does not fit.
        """
        linker = Linker(partition, kernels, target)
        self.plan: MemoryPlan = linker.plan
        self.calls = len(partition.subgraphs)
        self.kernels = linker.parts
        super().__init__(link(linker), None, partition.graph.name)
        return_freed()  # by import and compilation, whose peaks shall not add to the packed weights
        weights = {c.spec.name: c.value.constant for c in linker.constants}
        self.constants = pack(self.artifact, weights, pool)
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

    def profile(self, inputs: Mapping[str, Any] | Sequence[Any], runs: int = 20) -> Profile:
        """Time every kernel within `runs` runs; see `CompiledFunction.profile`."""
        return self.function.profile(inputs, runs)

    def save(self, path: str | Path, compiler: str | None = None) -> Path:
        """Write one shared library with the weights, and a C header beside it (its path is
        returned): `net.h` for `net.so` or `libnet.so`, names in it begin with `net_`.

        `tilewright.load_library` reads it back. `compiler` is the C compiler to link with (None:
        `cc`, or the GNU cross compiler for another architecture). Raises BuildError when there is
        none or the path cannot be written.
        """
        return save(Path(path), self.name, [self.program], compiler)

    @property
    def program(self) -> LibraryNetwork:
        """What a library is saved from."""
        return LibraryNetwork(self.artifact, self.kernels, self.constants)

    @property
    def memory(self) -> MemoryUse:
        """What a run needs, in bytes."""
        return MemoryUse.of(self.artifact, self.plan.arena_bytes)

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def __str__(self) -> str:
        calls = f"{self.calls} kernel calls of {len(self.kernels)} kernels"
        return f"{self.interface}\n{calls}, {self.plan}; {self.memory}"


def link(linker: Linker) -> Artifact:
    """The artifact whose object code, or whose launches, call the kernels."""
    graph = linker.partition.graph
    name = "net_" + re.sub(r"\W", "_", graph.name)
    workspace = linker.plan.arena_bytes
    steps, code = linker.steps(), b""
    own = max((k.scratch_bytes for k in linker.parts), default=0)
    status = aligned(workspace + own, ALIGNMENT) if linker.refusals else None
    launches: tuple[Launch, ...] = ()
    if isinstance(linker.target, CpuTarget):
        ir = entry_ir(name, linker.buffer_count, linker.actions, workspace, status)
        code = compile_ir(ir, linker.target)
    else:
        launches, steps = launches_of(linker.actions, steps, linker.parts, workspace)
    outputs = zip(graph.output_names, graph.outputs, strict=True)
    return Artifact(
        entry=name,
        target=str(linker.target),
        object_code=code,
        inputs=tuple(BufferSpec(v.name, v.shape, v.dtype) for v in graph.inputs),
        constants=tuple(c.spec for c in linker.constants),
        outputs=tuple(BufferSpec(n, v.shape, v.dtype) for n, v in outputs),
        packings=tuple(c.packing for c in linker.constants),
        scratch_bytes=workspace + own if status is None else status + ALIGNMENT,
        steps=steps,
        launches=launches,
        refusals=tuple(linker.refusals),
    )

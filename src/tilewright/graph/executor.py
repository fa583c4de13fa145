"""A compiled network: kernels, memory plan and one native entry point (of a GPU, one list of
launches).

    net = Network(partition(graph), kernels, target)      kernels: task key → Artifact
    (y,) = net(x)                                         by position
    (y,) = net.run({"x": x})                              by name; NumPy arrays or DLPack
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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tilewright.build import compile_ir
from tilewright.build.library import Program, save
from tilewright.errors import BuildError, TargetError
from tilewright.graph.entry import Action, Buffer, Copy, KernelCall, Place, Slot, entry_ir
from tilewright.graph.ir import Array, Value
from tilewright.graph.launches import copy_kernels, launches_of
from tilewright.graph.memory import Memory, MemoryPlan, plan_memory
from tilewright.graph.partition import Partition, Subgraph
from tilewright.runtime.artifact import (
    ALIGNMENT,
    DEVICE_ALIGNMENT,
    Artifact,
    BufferSpec,
    Launch,
    Packing,
    Step,
)
from tilewright.runtime.buffers import return_freed
from tilewright.runtime.constants import pack
from tilewright.runtime.device import DeviceFunction
from tilewright.runtime.devices import loaded
from tilewright.runtime.function import CompiledFunction
from tilewright.runtime.pool import ConstantPool
from tilewright.runtime.profile import Profile
from tilewright.target import CpuTarget, GpuTarget, Target


@dataclass(frozen=True, slots=True)
class PackedConstant:
    """A constant in the layout that some kernel reads: one buffer of the network."""

    value: Value
    spec: BufferSpec
    packing: Packing


class Linker:
    """Gives every value of a partition its place and writes down the calls.

    `constants` are the packed constants, each once however many kernels share it; `actions` what
    the entry point does; `parts` the code that it calls.
    """

    def __init__(
        self, partition: Partition, kernels: Mapping[str, Artifact], target: Target
    ) -> None:
        """Raises BuildError when a kernel is missing or does not fit its task."""
        self.partition = partition
        self.kernels = kernels
        self.target = target
        is_gpu = isinstance(target, GpuTarget)
        self.plan = plan_memory(partition, DEVICE_ALIGNMENT if is_gpu else ALIGNMENT)
        self.constants: list[PackedConstant] = []
        self._packed: dict[tuple[Any, ...], int] = {}
        for call in partition.subgraphs:
            _check(partition, call, kernels)
        # All constants are numbered before any place is given, since outputs come after them.
        self._operands = [self._constants_of(c) for c in partition.subgraphs]
        self._returned = {v: self._as_it_is(v) for v in partition.graph.outputs if v.is_constant}
        self._direct = self._direct_outputs()
        self.actions = self._actions()
        self.parts = tuple(kernels[t.key] for t in partition.tasks)
        if isinstance(target, GpuTarget):
            self.parts += copy_kernels(self.actions, target)

    @property
    def inputs(self) -> tuple[Value, ...]:
        return self.partition.graph.inputs

    @property
    def buffer_count(self) -> int:
        return len(self.inputs) + len(self.constants) + len(self.partition.graph.outputs)

    def _constants_of(self, call: Subgraph) -> list[int]:
        """Numbers of the packed constants that a call reads."""
        artifact = self.kernels[call.key]
        found = []
        rows = zip(call.constants, artifact.packings, artifact.constants, strict=True)
        for value, packing, spec in rows:
            found.append(self._add(value, packing, spec))
        return found

    def _add(self, value: Value, packing: Packing, spec: BufferSpec) -> int:
        key = (value, packing.splits, packing.permutation, packing.maps)
        if key not in self._packed:
            self._packed[key] = number = len(self.constants)
            name = f"w{number}_{value.name}"
            source = BufferSpec(name, value.shape, value.dtype)
            packed = BufferSpec(name, spec.shape, spec.dtype)
            self.constants.append(PackedConstant(value, packed, replace(packing, source=source)))
        return self._packed[key]

    def _as_it_is(self, value: Value) -> int:
        """The number of a constant in its own layout."""
        spec = BufferSpec(value.name, value.shape, value.dtype)
        return self._add(value, Packing.identity(spec), spec)

    def _direct_outputs(self) -> dict[Value, int]:
        """Computed values that live in an output buffer: value → the first output it is."""
        computed = {c.output for c in self.partition.subgraphs}
        direct: dict[Value, int] = {}
        for i, value in enumerate(self.partition.graph.outputs):
            root = self.partition.root(value)
            if root in computed:
                direct.setdefault(root, i)
        return direct

    def _actions(self) -> list[Action]:
        actions: list[Action] = []
        for call, constants in zip(self.partition.subgraphs, self._operands, strict=True):
            places = [
                *(self.place(v) for v in call.inputs),
                *(Buffer(len(self.inputs) + c) for c in constants),
                self.place(call.output),
            ]
            actions.append(KernelCall(self.kernels[call.key].entry, tuple(places)))
        copies = []
        for i, value in enumerate(self.partition.graph.outputs):
            if self._direct.get(self.partition.root(value)) != i:
                copies.append(Copy(self.place(value), self._output(i), value.bytes))
        return actions + copies

    def steps(self) -> tuple[Step, ...]:
        """What each action is, for a profile."""
        tasks = {t.key: t for t in self.partition.tasks}
        calls = [tasks[c.key] for c in self.partition.subgraphs]
        copies = len(self.actions) - len(calls)
        return (*(Step(t.name, t.dag.useful_flops) for t in calls), *([Step("copy", 0)] * copies))

    def _output(self, i: int) -> Buffer:
        return Buffer(len(self.inputs) + len(self.constants) + i)

    def place(self, value: Value) -> Place:
        """Where `value` is: an input, an output, a constant or a slot of the arena."""
        root = self.partition.root(value)
        if root in self.inputs:
            return Buffer(self.inputs.index(root))
        if root in self._direct:
            return self._output(self._direct[root])
        if root in self._returned:
            return Buffer(len(self.inputs) + self._returned[root])
        return Slot(self.plan.offsets[root])


def _check(partition: Partition, call: Subgraph, kernels: Mapping[str, Artifact]) -> None:
    if call.key not in kernels:
        raise BuildError(f"{partition.graph.name}: no kernel for task {call.key} ({call.name})")
    artifact = kernels[call.key]
    wanted = [v.shape for v in (*call.inputs, call.output)]
    given = [s.shape for s in (*artifact.inputs, *artifact.outputs)]
    sources = [p.source.shape for p in artifact.packings]
    if wanted != given or sources != [v.shape for v in call.constants]:
        raise BuildError(
            f"{partition.graph.name}: kernel {artifact.entry} takes {given} and constants "
            f"{sources}; {call.name} has {wanted} and {[v.shape for v in call.constants]}"
        )


class Network:
    """A compiled network with its constants packed; see the module.

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
        self.name = partition.graph.name
        self.plan: MemoryPlan = linker.plan
        self.calls = len(partition.subgraphs)
        self.kernels = linker.parts
        self.artifact = link(linker)
        return_freed()  # by import and compilation, whose peaks shall not add to the packed weights
        weights = {c.spec.name: c.value.constant for c in linker.constants}
        self.constants = pack(self.artifact, weights, pool)
        self._target = target
        self._loaded: CompiledFunction | DeviceFunction | None = None
        self._loading = threading.Lock()

    @property
    def function(self) -> CompiledFunction | DeviceFunction:
        """The network in this process (of a GPU, on its device), loaded when first asked for.

        Raises RunError when this machine cannot run the code, TargetError when it has no such
        device.
        """
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = loaded(
                        self.artifact, self._target, self.kernels, constants=self.constants
                    )
        return self._loaded

    def __call__(self, *inputs: Any, out: Sequence[Array] | None = None) -> list[Array]:
        """The outputs for inputs given by position; see `CompiledFunction.__call__`."""
        return self.function(*inputs, out=out)

    def run(
        self, inputs: Mapping[str, Any] | Sequence[Any], out: Sequence[Array] | None = None
    ) -> list[Array]:
        """The outputs, in the model's order, for inputs by name or position. Threads may call at
        once.

        Raises InputError for an input that is missing, unknown, or of a wrong shape or dtype.
        """
        return self.function.run(inputs, out)

    @property
    def threads(self) -> int:
        """The most threads a run uses; see `CompiledFunction.threads`.

        Raises TargetError for a network on a GPU.
        """
        return self._on_cpu.threads

    @threads.setter
    def threads(self, count: int) -> None:
        self._on_cpu.threads = count

    @property
    def _on_cpu(self) -> CompiledFunction:
        if not isinstance(self.function, CompiledFunction):
            raise TargetError(f"{self.name} runs on {self._target.kind}: it has no CPU threads")
        return self.function

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
    def program(self) -> Program:
        """What a library is saved from."""
        return Program(self.artifact, self.kernels, self.constants)

    @property
    def memory(self) -> Memory:
        """What a run needs, in bytes."""
        return Memory.of(self.artifact, self.plan.arena_bytes)

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.calls} kernel calls of {len(self.kernels)} kernels, "
            f"{self.plan}; {self.memory}"
        )


def link(linker: Linker) -> Artifact:
    """The artifact whose object code, or whose launches, call the kernels."""
    graph = linker.partition.graph
    name = "net_" + re.sub(r"\W", "_", graph.name)
    workspace = linker.plan.arena_bytes
    steps, code = linker.steps(), b""
    launches: tuple[Launch, ...] = ()
    if isinstance(linker.target, CpuTarget):
        ir = entry_ir(name, linker.buffer_count, linker.actions, workspace)
        code = compile_ir(ir, linker.target)
    else:
        launches, steps = launches_of(linker.actions, steps, linker.parts, workspace)
    own = max((k.scratch_bytes for k in linker.parts), default=0)
    outputs = zip(graph.output_names, graph.outputs, strict=True)
    return Artifact(
        entry=name,
        target=str(linker.target),
        object_code=code,
        inputs=tuple(BufferSpec(v.name, v.shape, v.dtype) for v in graph.inputs),
        constants=tuple(c.spec for c in linker.constants),
        outputs=tuple(BufferSpec(n, v.shape, v.dtype) for n, v in outputs),
        packings=tuple(c.packing for c in linker.constants),
        scratch_bytes=workspace + own,
        steps=steps,
        launches=launches,
    )

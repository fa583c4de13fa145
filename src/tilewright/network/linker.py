"""From a partition to actions: every value gets its place, every call its arguments.

    linker = Linker(partition, kernels, target)
    linker.constants    packed constants, each once however many kernels share it
    linker.actions      KernelCall("t0_conv", (InterfaceBuffer(0), Slot(512))), Repeat(…), …
    linker.parts        the kernels that the actions call
    linker.refusals     why a run may end in an error
    linker.own          scratch of the kernels and functions, a call at a time, in bytes

Results lie where they are wanted: in the caller's buffer, in a row of the array that a loop stacks,
in the result that two branches share. What is wanted in several places is copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from tilewright.contract.artifact import (
    ALIGNMENT,
    DEVICE_ALIGNMENT,
    Artifact,
    BufferSpec,
    NetworkStep,
    Packing,
)
from tilewright.contract.sizes import Size
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.index.extents import mul, product, sub
from tilewright.expr.nodes import Extent, Shape, Var
from tilewright.expr.sizes import (
    is_contiguous,
    is_pitched,
    least,
    most,
    stored_extents,
    stored_strides,
)
from tilewright.expr.tensors import canonical
from tilewright.graph.ir import Growth, Value
from tilewright.graph.partition import (
    AppendCall,
    Call,
    ChoiceCall,
    LoopCall,
    Partition,
    RefusalCall,
    Region,
    SelectionCall,
    Subgraph,
    control_calls,
)
from tilewright.ground.errors import BuildError, UnsupportedModel
from tilewright.network.entry import (
    Action,
    Behind,
    Branch,
    CallValue,
    Copy,
    CopyRows,
    InterfaceBuffer,
    KernelCall,
    Limit,
    Place,
    Refuse,
    RepeatedCalls,
    Resize,
    Row,
    Select,
    Slot,
)
from tilewright.network.launches import copy_kernels
from tilewright.network.memory import (
    direct_results,
    plan_memory,
    stored_shape_of,
    tensor_of,
)
from tilewright.network.selections import selection_entry, selection_scratch
from tilewright.network.values import CallValues
from tilewright.target import Target


@dataclass(frozen=True, slots=True)
class PackedConstant:
    """A constant in the layout that some kernel reads: one buffer of the network."""

    value: Value
    spec: BufferSpec
    packing: Packing


class Linker:
    """Gives every value of a partition its place and writes down the calls (see the module)."""

    def __init__(
        self, partition: Partition, kernels: Mapping[str, Artifact], target: Target
    ) -> None:
        """Raises BuildError when a kernel is missing or does not fit its task, UnsupportedModel for
        control flow on a GPU.
        """
        self.partition = partition
        self.kernels = kernels
        self.target = target
        self.on_device = target.backend.device is not None
        if self.on_device:
            _refuse_control(partition, target)
        self.plan = plan_memory(partition, DEVICE_ALIGNMENT if self.on_device else ALIGNMENT)
        self.values = CallValues(partition.graph)
        self.constants: list[PackedConstant] = []
        self._packed: dict[tuple[Any, ...], int] = {}
        self.refusals: list[str] = []
        self.own = 0
        self._loops = 0
        for call in partition.subgraphs:
            _check(partition, call, kernels)
        # All constants are numbered before any place is given, since outputs come after them.
        self._operands = {c: self._constants_of(c) for c in partition.subgraphs}
        self._plain = {v: self._as_it_is(v) for v in _read_as_they_are(partition)}
        self._places: dict[Value, Place] = self._outermost()
        self.actions = self._network()
        self.parts = tuple(kernels[t.key] for t in partition.tasks)
        if self.on_device:
            self.parts += copy_kernels(self.actions, target)
        self.own = max((self.own, *(k.scratch_bytes for k in self.parts)))

    @property
    def inputs(self) -> tuple[Value, ...]:
        return self.partition.graph.inputs

    @property
    def buffer_count(self) -> int:
        return len(self.inputs) + len(self.constants) + len(self.partition.graph.outputs)

    # ---- constants ----------------------------------------------------------------------------

    def _constants_of(self, call: Subgraph) -> list[int]:
        """Numbers of the packed constants that a call reads."""
        artifact = self.kernels[call.key]
        values = dict(zip(artifact.sources, call.constants, strict=True))
        rows = zip(artifact.packings, artifact.constants, strict=True)
        return [self._add(values[packing.source.name], packing, spec) for packing, spec in rows]

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

    # ---- places -------------------------------------------------------------------------------

    def _outermost(self) -> dict[Value, Place]:
        """Where inputs, outputs and constants that are read as they are lie."""
        first = len(self.inputs)
        found: dict[Value, Place] = {v: InterfaceBuffer(first + n) for v, n in self._plain.items()}
        states = [s.value for s in self.partition.graph.states]
        found |= {
            v: InterfaceBuffer(i)
            for i, v in enumerate(self.inputs)
            if v in states or is_contiguous(tensor_of(v), self.values.sizes)
        }
        direct = direct_results(self.partition, self.partition.whole)
        return found | {v: self._output(i) for v, i in direct.items()}

    def _stored(self, value: Value) -> Shape:
        """The extents by which a value lies in memory."""
        return stored_extents(tensor_of(value), self.values.sizes)

    def _output(self, i: int) -> InterfaceBuffer:
        return InterfaceBuffer(len(self.inputs) + len(self.constants) + i)

    def place(self, value: Value) -> Place:
        """Where `value` is: the caller's or a constant's buffer, a row of it, or the arena."""
        root = self.partition.root(value)
        return self._places[root] if root in self._places else Slot(self.plan.offsets[root])

    # ---- actions ------------------------------------------------------------------------------

    def _network(self) -> tuple[Action, ...]:
        outputs = self.partition.graph.outputs
        given = (
            self._copied(v, InterfaceBuffer(i), self.place(v), taken=True)
            for i, v in enumerate(self.partition.graph.given)
            if not is_contiguous(tensor_of(v), self.values.sizes)
        )
        calls = self._calls(self.partition.whole)
        results = (
            self._copied(v, self.place(v), self._output(i), given=True)
            for i, v in enumerate(outputs)
            if self.place(v) != self._output(i)
        )
        return (*given, *calls, *results)

    def _calls(self, region: Region) -> tuple[Action, ...]:
        """What `region` does, besides handing on its results."""
        return tuple(action for call in region.calls for action in self._call(call))

    def _call(self, call: Call) -> tuple[Action, ...]:
        match call:
            case Subgraph():
                places = [
                    *(self.place(v) for v in call.inputs),
                    *(InterfaceBuffer(len(self.inputs) + c) for c in self._operands[call]),
                    self.place(call.output),
                ]
                entry, params = self.kernels[call.key].entry, self.values.params(call.sizes)
                return (KernelCall(entry, tuple(places), params),)
            case ChoiceCall():
                results = [self.place(v) for v in call.node.outputs]
                then, otherwise = (self._branch(call, r, results) for r in call.regions)
                return (Branch(self.place(call.node.inputs[0]), then, otherwise),)
            case LoopCall():
                return self._loop(call)
            case AppendCall():
                return (self._appended(call),)
            case RefusalCall():
                return (Refuse(self._refusal(call.reason)),)
            case SelectionCall():
                return (self._select(call),)

    def _refusal(self, reason: str) -> int:
        """The number of a reason for which a run may end."""
        self.refusals.append(reason)
        return len(self.refusals)

    def _select(self, call: SelectionCall) -> Action:
        """Arrays are told by their extents, and strides in elements."""
        what, number = call.selection, self.values.number
        arrays = (*call.node.inputs, *call.node.outputs)
        numbers: list[Extent] = []
        for value in arrays:
            strides = stored_strides(tensor_of(value), self.values.sizes)
            numbers += (value.rank, *value.extents, *strides)
        shapes = [stored_shape_of(v, self.values.sizes) for v in arrays]
        cores = self.target.cores
        self.own = max(self.own, selection_scratch(what.kind, shapes, cores))
        return Select(
            selection_entry(what.kind),
            tuple(map(self.place, arrays)),
            tuple(map(number, (*numbers, *what.numbers, cores))),
            None if what.size is None else self._size(what.size),
            number(what.limit),
            self._refusal(what.reason) if what.reason else None,
        )

    def _size(self, size: Size) -> CallValue:
        value = self.values.number(Var(size.name))
        assert isinstance(value, CallValue), "a size is none"
        return value

    def _appended(self, call: AppendCall) -> Action:
        """A copy of new rows behind those that a state has, in memory that lies as its result."""
        (state, new), result = call.node.inputs, call.node.output
        rows = self._stored(result)[call.axis + 1 :]
        row = product((DTYPES[result.dtype].bytes, *rows))
        start = self.values.number(mul(state.extents[call.axis], row))
        behind = Behind(self.place(state), start)
        return self._copied(new, self.place(new), behind, within=result)

    def _branch(
        self, call: ChoiceCall, region: Region, results: Sequence[Place]
    ) -> tuple[Action, ...]:
        for value, i in direct_results(self.partition, region, call).items():
            self._places[value] = results[i]
        return self._calls(region) + self._results(region.graph.outputs, results)

    def _loop(self, call: LoopCall) -> tuple[Action, ...]:
        loop, body, number = call.loop, call.body.graph, self._loops
        self._loops += 1
        inputs, kept = call.node.inputs[loop.counted :], call.node.outputs[: loop.carried]
        carried = [self.place(v) for v in kept]
        starts = self._resized(
            [(g, g.start) for g in loop.growth],
            self._results(inputs[: loop.carried], carried, kept),
        )
        arrays = (*inputs[loop.carried :][: loop.scanned], *call.node.outputs[loop.carried :])
        rows = [
            self._row(array, number, backwards)
            for array, backwards in zip(arrays, loop.backwards, strict=True)
        ]
        scanned = body.inputs[1 + loop.carried :][: loop.scanned]
        self._places.update(zip(scanned, rows, strict=False))
        stacked = rows[loop.scanned :]
        for value, i in direct_results(self.partition, call.body, call).items():
            self._places[value] = stacked[i - loop.carried]
        actions = (
            *self._calls(call.body),
            *self._results(body.outputs[loop.carried :], stacked),
            *self._resized([(g, g.after) for g in loop.growth], self._hand_on(call, carried)),
        )
        trips = None if loop.trips is None else self.values.number(loop.trips)
        repeat = RepeatedCalls(
            number,
            self.place(call.node.inputs[0]) if loop.counted else trips,
            carried[0] if loop.conditional else None,
            self.place(body.inputs[0]),
            actions,
        )
        return (*starts, repeat)

    def _row(self, array: Value, loop: int, backwards: bool) -> Row:
        """The row of `array` that a step reads or writes."""
        stride = product((DTYPES[array.dtype].bytes, *self._stored(array)[1:]))
        number = self.values.number
        if backwards:
            last = number(mul(sub(array.extents[0], 1), stride))
            return Row(self.place(array), last, number(mul(stride, -1)), loop)
        return Row(self.place(array), 0, number(stride), loop)

    def _hand_on(self, call: LoopCall, carried: Sequence[Place]) -> tuple[Action, ...]:
        """Copies from what a step computed to what the next one reads."""
        spares = {i: self.place(v) for i, v in call.spares.items()}
        results, kept = call.body.graph.outputs, call.node.outputs
        first = self._results([results[i] for i in spares], list(spares.values()))
        rest = [i for i in range(len(carried)) if i not in spares]
        second = self._results(
            [results[i] for i in rest], [carried[i] for i in rest], [kept[i] for i in rest]
        )
        last = (
            self._copied(results[i], place, carried[i], within=kept[i])
            for i, place in spares.items()
        )
        return (*first, *second, *last)

    def _resized(
        self, growth: Sequence[tuple[Growth, Extent]], copies: Sequence[Action]
    ) -> tuple[Action, ...]:
        """`copies` of what a loop carries, whose sizes become these extents then, where memory has
        room for them.
        """
        if not growth:
            return tuple(copies)
        numbers = [(g, self.values.number(end)) for g, end in growth]
        limits = (
            Limit(n, g.size.most, self._refusal(g.reason))
            for g, n in numbers
            if g.reason and isinstance(n, CallValue)
        )
        sizes = tuple((self._size(g.size), n) for g, n in numbers)
        return (*limits, *copies, Resize(sizes))

    def _results(
        self,
        values: Sequence[Value],
        wanted: Sequence[Place],
        within: Sequence[Value] | None = None,
    ) -> tuple[Action, ...]:
        """Copies of those of `values` that are not yet where they are wanted, `within` memory that
        lies as other values do.
        """
        rows = zip(values, map(self.place, values), wanted, within or values, strict=True)
        return tuple(self._copied(v, p, w, within=m) for v, p, w, m in rows if p != w)

    def _copied(
        self,
        value: Value,
        source: Place,
        destination: Place,
        taken: bool = False,
        given: bool = False,
        within: Value | None = None,
    ) -> Action:
        """A copy of `value`: of one block, or of rows where these lie apart. It is `taken` from, or
        `given` to, a caller's contiguous array, or becomes a part of what lies as `within` does.
        """
        if self.on_device and not all(isinstance(e, int) for e in value.extents):
            return self._rows_copied(value, source, destination, taken)
        item, number = DTYPES[value.dtype].bytes, self.values.number

        def strides_of(extents: Shape) -> list[Extent]:
            return [canonical(product((item, *extents[d + 1 :]))) for d in range(value.rank)]

        sides = (
            strides_of(value.extents if taken else self._stored(value)),
            strides_of(value.extents if given else self._stored(within or value)),
        )
        block: Extent = item
        left = value.rank
        while left and (value.extents[left - 1] == 1 or all(s[left - 1] == block for s in sides)):
            left -= 1
            block = canonical(mul(block, value.extents[left]))
        first, self._loops = self._loops, self._loops + left
        for loop, *strides in zip(range(first, first + left), *sides, strict=False):
            a, b = map(number, strides)
            source, destination = Row(source, 0, a, loop), Row(destination, 0, b, loop)
        action: Action = Copy(source, destination, number(block))
        for d in reversed(range(left)):
            action = RepeatedCalls(first + d, number(value.extents[d]), None, None, (action,))
        return action

    def _rows_copied(
        self, value: Value, source: Place, destination: Place, taken: bool
    ) -> CopyRows:
        """What a GPU, which has no loops around copies, does for a caller. To its kernel every
        extent is a size: so it is proved, and serves, whatever they follow from.
        """
        varying = [e for e in dict.fromkeys(value.extents) if not isinstance(e, int)]
        found = self.values.sizes
        sizes = tuple(
            Size(
                f"n{i}",
                max(0, least(e, found)),
                max(1, most(e, found)),
                pitched=is_pitched(e, found),
            )
            for i, e in enumerate(varying)
        )
        named = {e: Var(s.name) for e, s in zip(varying, sizes, strict=True)}
        extents = tuple(e if isinstance(e, int) else named[e] for e in value.extents)
        numbers = map(self.values.number, varying)
        values = tuple(n for n in numbers if isinstance(n, CallValue))
        return CopyRows(source, destination, extents, value.dtype, taken, sizes, values)

    # ---- profiles -----------------------------------------------------------------------------

    def steps(self) -> tuple[NetworkStep, ...]:
        """What each action is, for a profile."""
        tasks = {self.kernels[t.key].entry: t for t in self.partition.tasks}

        def step(action: Action) -> NetworkStep:
            match action:
                case KernelCall(entry=entry):
                    task = tasks[entry]
                    flops = 0 if task.dag.sizes else task.dag.useful_flops  # it varies
                    return NetworkStep(task.name, flops)
                case Copy() | CopyRows() | RepeatedCalls(counter=None):
                    return NetworkStep("append" if _appends(action) else "copy", 0)
                case Refuse():
                    return NetworkStep("error", 0)
                case Limit() | Resize():
                    return NetworkStep("sizes", 0)
                case Select(entry=entry):
                    return NetworkStep(entry.removeprefix("tw_"), 0)
                case Branch(then=then, otherwise=otherwise):
                    sides = [[step(a) for a in side] for side in (then, otherwise)]
                    names = (_listed(side) or "nothing" for side in sides)
                    most = max(sum(s.flops for s in side) for side in sides)
                    return NetworkStep(f"if: {' else: '.join(names)}", most)
                case RepeatedCalls(trips=trips, actions=actions):
                    inner = [step(a) for a in actions]
                    often = trips if isinstance(trips, int) else 1
                    times = f" x{trips}" if isinstance(trips, int) else ""
                    total = often * sum(s.flops for s in inner)
                    return NetworkStep(f"loop{times}: {_listed(inner)}", total)

        return tuple(map(step, self.actions))


def _appends(action: Action) -> bool:
    """Whether a copy, perhaps row by row, writes behind what is there."""
    while isinstance(action, RepeatedCalls):
        (action,) = action.actions
    place = action.destination if isinstance(action, Copy) else None
    while isinstance(place, Row):
        place = place.base
    return isinstance(place, Behind)


def _listed(steps: Sequence[NetworkStep]) -> str:
    """The kernels among `steps`."""
    return ", ".join(s.kernel for s in steps if s.kernel not in ("copy", "sizes"))


def _read_as_they_are(partition: Partition) -> Iterator[Value]:
    """Constants that are no kernel's packed ones: returned, carried, scanned or captured."""
    named = [*partition.graph.outputs, *(v for c in partition.subgraphs for v in c.inputs)]
    for call in control_calls(partition.calls):
        named += call.node.inputs
        named += (v for r in call.regions for v in r.graph.outputs)
    return (r for r in dict.fromkeys(map(partition.root, named)) if r.is_constant)


def _refuse_control(partition: Partition, target: Target) -> None:
    """A GPU runs a list of launches, which knows neither loops nor branches."""
    found = [f"{c.node.op} {c.node.output.name}" for c in control_calls(partition.calls)]
    if found:
        raise UnsupportedModel(
            f"{partition.graph.name}: {target.kind} runs no loops and branches, and nothing whose "
            f"size data decide, which the model has: {', '.join(found)}; compile it for a CPU, or "
            f"give the inputs that decide as constants={{...}}"
        )


def _lies_as(value: Sequence[int], given: Sequence[int]) -> bool:
    """Whether an array of a kernel is a value, of which it may have several dimensions as one."""
    return given == value or (len(given) < len(value) and prod(given) == prod(value))


def _check(partition: Partition, call: Subgraph, kernels: Mapping[str, Artifact]) -> None:
    if call.key not in kernels:
        raise BuildError(f"{partition.graph.name}: no kernel for task {call.key} ({call.name})")
    artifact = kernels[call.key]
    values = (*call.inputs, call.output)
    wanted = [stored_shape_of(v, partition.graph.sizes) for v in values]
    given = [s.shape for s in (*artifact.inputs, *artifact.outputs)]
    sources = [s.shape for s in artifact.sources.values()]
    if not all(map(_lies_as, wanted, given)) or sources != [v.shape for v in call.constants]:
        raise BuildError(
            f"{partition.graph.name}: kernel {artifact.entry} takes {given} and constants "
            f"{sources}; {call.name} has {wanted} and {[v.shape for v in call.constants]}"
        )

"""From a simplified graph to kernels and tasks.

    p = partition(graph)
    p.calls          kernel calls (subgraphs), loops and choices, in the order of execution
    p.subgraphs      the kernel calls of all of them
    p.tasks          the different ones among them; weight = how many calls are this one
    p.views          values that share the memory of another

A subgraph is a `ComputeDAG` of one fusion group. Placeholders are numbered in the order the DAG
meets them (`x0`, `x1`, … inputs, `w0`, … constants), stages are named after operators; so equal
subgraphs have equal DAGs, and one compiled kernel serves all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tilewright.contract.sizes import Sizes
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Shape
from tilewright.expr.rewrites.joined_rows import with_joined_rows
from tilewright.expr.serialize import workload_hash
from tilewright.expr.sizes import mean
from tilewright.graph.chaining import Link
from tilewright.graph.dags import dag_of
from tilewright.graph.fusion import FusionGroup, fuse
from tilewright.graph.ir import (
    Append,
    Branches,
    Control,
    Graph,
    Loop,
    Node,
    Refusal,
    Selection,
    Value,
)
from tilewright.graph.ops import short_name
from tilewright.target import Target


@dataclass(frozen=True, slots=True, eq=False)
class KernelTask:
    """A kernel to be tuned. `weight` calls of the network use it."""

    name: str
    key: str
    dag: ComputeDAG
    weight: int

    def __str__(self) -> str:
        return f"{self.name} x{self.weight} ({self.dag.heaviest.useful_flops / 1e6:.1f} MFLOP)"


@dataclass(frozen=True, slots=True, eq=False)
class Subgraph:
    """One kernel call: `inputs`, `constants` and what is given for `sizes` in the order of the
    task's DAG, which may call them otherwise.
    """

    name: str
    key: str
    inputs: tuple[Value, ...]
    constants: tuple[Value, ...]
    output: Value
    sizes: Shape = ()


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """A graph within another one: its calls, and what it returns."""

    graph: Graph
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LoopCall:
    """A loop. The carried values are the node's outputs: a step's inputs are views of them, and
    its results are copied there when it is over.

    `spares` are memory for such results as lie in another carried value (an exchange of two), by
    their position: they are copied there first.
    """

    node: Node
    loop: Loop
    body: Region
    spares: Mapping[int, Value]

    @property
    def regions(self) -> tuple[Region, ...]:
        return (self.body,)


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceCall:
    """One of two regions, which leaves its results in the node's outputs."""

    node: Node
    then: Region
    otherwise: Region

    @property
    def regions(self) -> tuple[Region, ...]:
        return (self.then, self.otherwise)


class SingleCall:
    """A call that has no others within it."""

    __slots__ = ()

    @property
    def regions(self) -> tuple[Region, ...]:
        return ()


@dataclass(frozen=True, slots=True, eq=False)
class RefusalCall(SingleCall):
    """The end of the run, with a reason."""

    node: Node
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class SelectionCall(SingleCall):
    """A call of a library function, which leaves what it finds in the node's outputs."""

    node: Node
    selection: Selection


@dataclass(frozen=True, slots=True, eq=False)
class AppendCall(SingleCall):
    """Rows that are written behind those of a state, whose view the result is."""

    node: Node
    axis: int


ControlCall: TypeAlias = LoopCall | ChoiceCall | RefusalCall | SelectionCall | AppendCall
Call: TypeAlias = Subgraph | ControlCall


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """A graph cut into kernel calls. `views` maps an output to the value whose memory it is; what
    a graph within the graph captures is a view of what is captured. `links` says what was decided
    about contractions and what they follow.
    """

    graph: Graph
    calls: tuple[Call, ...]
    tasks: tuple[KernelTask, ...]
    views: dict[Value, Value]
    links: tuple[Link, ...] = ()

    @property
    def subgraphs(self) -> tuple[Subgraph, ...]:
        """The kernel calls, also those within loops and branches, in order."""
        return tuple(c for c in all_calls(self.calls) if isinstance(c, Subgraph))

    @property
    def is_one_kernel(self) -> bool:
        """Whether a run is one call of one kernel, on a caller's arrays."""
        return len(self.calls) == 1 and isinstance(self.calls[0], Subgraph)

    @property
    def keys(self) -> tuple[str, ...]:
        """The tasks of the kernel calls, in order."""
        return tuple(c.key for c in self.subgraphs)

    @property
    def whole(self) -> Region:
        """The outermost region."""
        return Region(self.graph, self.calls)

    def task(self, key: str) -> KernelTask:
        """The task with this key."""
        return next(t for t in self.tasks if t.key == key)

    def root(self, value: Value) -> Value:
        """The value whose memory `value` uses: itself unless it is a view."""
        while value in self.views:
            value = self.views[value]
        return value

    def __str__(self) -> str:
        head = (
            f"{self.graph.name}: {len(self.graph.nodes)} operators, {len(self.subgraphs)} kernel "
            f"calls of {len(self.tasks)} tasks, {len(self.views)} views"
        )
        return "\n  ".join([head, *map(str, self.tasks)])


def all_calls(calls: Sequence[Call]) -> Iterator[Call]:
    """`calls` and those within them, in order."""
    for call in calls:
        yield call
        if not isinstance(call, Subgraph):
            for region in call.regions:
                yield from all_calls(region.calls)


def control_calls(calls: Sequence[Call]) -> Iterator[ControlCall]:
    """The calls that are of no kernel among `calls` and within them, in order."""
    return (call for call in all_calls(calls) if not isinstance(call, Subgraph))


def partition(graph: Graph, target: Target | None = None, chains: bool = True) -> Partition:
    """Cut `graph` into kernels; a graph that only reshapes or returns constants needs none.

    With `target`, as that runs the kernels; with `chains`, contractions share one where it gains by
    that.
    """
    cutter = _Cutter(target, chains)
    calls = cutter.calls(graph, 1)
    tasks = tuple(
        KernelTask(name, key, dag, cutter.weights[key]) for key, (name, dag) in cutter.dags.items()
    )
    return Partition(graph, calls, tasks, cutter.views, tuple(cutter.links))


class _Cutter:
    """Cuts a graph and those within it; equal subgraphs have one DAG wherever they are."""

    def __init__(self, target: Target | None, chains: bool) -> None:
        self.target, self.chains = target, chains
        self.links: list[Link] = []
        self.dags: dict[str, tuple[str, ComputeDAG]] = {}
        self.weights: Counter[str] = Counter()
        self.views: dict[Value, Value] = {}

    def calls(self, graph: Graph, times: int) -> tuple[Call, ...]:
        """The calls of `graph`, which runs `times` times, as far as that is known."""
        fusion = fuse(graph, self.target, self.chains)
        self.links += fusion.links
        self.views.update(fusion.views)
        order = {v: i for i, node in enumerate(graph.nodes) for v in node.outputs}
        found: list[tuple[int, Call]] = [
            (order[g.exit], self.subgraph(g, times, graph.sizes)) for g in fusion.groups
        ]
        for node in graph.nodes:
            if node.control is not None:
                call = self.control(node, node.control, times, graph.sizes)
                found.append((order[node.output], call))
        return tuple(call for _, call in sorted(found, key=lambda f: f[0]))

    def subgraph(self, group: FusionGroup, times: int, sizes: Sizes) -> Subgraph:
        dag, values = dag_of(group.nodes, group.turned, sizes)
        dag, given = with_joined_rows(dag)
        key = workload_hash(dag)
        if key not in self.dags:
            self.dags[key] = (_task_name(group, len(self.dags)), dag)
        self.weights[key] += times
        inputs = tuple(values[t.name] for t in dag.inputs)
        constants = tuple(values[t.name] for t in dag.constants)
        return Subgraph(group.exit.name, key, inputs, constants, group.exit, given)

    def control(self, node: Node, what: Control, times: int, sizes: Sizes) -> ControlCall:
        match what:
            case Selection():
                return SelectionCall(node, what)
            case Append(axis=axis):
                self.views[node.output] = node.inputs[0]
                return AppendCall(node, axis)
            case Refusal(reason=reason):
                return RefusalCall(node, reason)
            case Branches():
                then, otherwise = (self.branch(g, node, times) for g in what.bodies)
                return ChoiceCall(node, then, otherwise)
            case Loop(body=body):
                end = 1 + what.carried
                self.views.update(zip(body.inputs[1:end], node.outputs, strict=False))
                captured = body.inputs[end + what.scanned :]
                outside = node.inputs[what.counted + end - 1 + what.scanned :]
                self.views.update(zip(captured, outside, strict=True))
                often = 1 if what.trips is None else mean(what.trips, sizes)
                region = Region(body, self.calls(body, times * often))
                return LoopCall(node, what, region, self.spares(node, what))

    def branch(self, graph: Graph, node: Node, times: int) -> Region:
        self.views.update(zip(graph.inputs, node.inputs[1:], strict=True))
        return Region(graph, self.calls(graph, times))

    def spares(self, node: Node, loop: Loop) -> dict[int, Value]:
        carried = node.outputs[: loop.carried]
        found = {}
        for i, value in enumerate(loop.body.outputs[: loop.carried]):
            root = value
            while root in self.views and root not in carried:
                root = self.views[root]
            if root in carried and root is not carried[i]:
                found[i] = Value(f"{node.output.name}.spare{i}", value.extents, value.dtype)
        return found


def _task_name(group: FusionGroup, number: int) -> str:
    """Operators and output shape: `t3_conv_add_relu_1x56x56x64`, with `s` for what varies."""
    ops: Sequence[str] = [short_name(n.op) for n in group.nodes]
    shown = "_".join(ops if len(ops) <= 5 else (*ops[:3], f"{len(ops) - 4}more", ops[-1]))
    extents = (str(e) if isinstance(e, int) else "s" for e in group.exit.extents)
    shape = "x".join(extents) or "scalar"
    return f"t{number}_{shown}_{shape}"

"""From a simplified graph to kernels and tasks.

    p = partition(graph)
    p.subgraphs      one kernel call each, in the order of execution
    p.tasks          the different ones among them; weight = how many calls are this one
    p.views          values that share the memory of another

A subgraph is a `ComputeDAG` of one fusion group. Placeholders are numbered in the order the DAG
meets them (`x0`, `x1`, … inputs, `w0`, … constants), stages are named after operators; so equal
subgraphs have equal DAGs, and one compiled kernel serves all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.nodes import Tensor
from tilewright.expr.operators.elementwise import Value as Operand
from tilewright.expr.serialize import workload_hash
from tilewright.expr.tensors import placeholder
from tilewright.graph.fusion import Group, fuse
from tilewright.graph.ir import Graph, Value
from tilewright.graph.ops import literals, lower


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A kernel to be tuned. `weight` calls of the network use it."""

    name: str
    key: str
    dag: ComputeDAG
    weight: int

    def __str__(self) -> str:
        return f"{self.name} x{self.weight} ({self.dag.useful_flops / 1e6:.1f} MFLOP)"


@dataclass(frozen=True, slots=True, eq=False)
class Subgraph:
    """One kernel call: `inputs` and `constants` in the order of the task's DAG."""

    name: str
    key: str
    inputs: tuple[Value, ...]
    constants: tuple[Value, ...]
    output: Value


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """A graph cut into kernel calls. `views` maps an output to the value whose memory it is."""

    graph: Graph
    subgraphs: tuple[Subgraph, ...]
    tasks: tuple[Task, ...]
    views: dict[Value, Value]

    def task(self, key: str) -> Task:
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


def partition(graph: Graph) -> Partition:
    """Cut `graph` into kernels; a graph that only reshapes or returns constants needs none."""
    fusion = fuse(graph)
    subgraphs: list[Subgraph] = []
    dags: dict[str, tuple[str, ComputeDAG]] = {}
    for group in fusion.groups:
        dag, values = group_dag(group)
        key = workload_hash(dag)
        if key not in dags:
            dags[key] = (_task_name(group, len(dags)), dag)
        inputs = tuple(values[t.name] for t in dag.inputs)
        constants = tuple(values[t.name] for t in dag.constants)
        subgraphs.append(Subgraph(group.exit.name, key, inputs, constants, group.exit))
    weights = Counter(s.key for s in subgraphs)
    tasks = tuple(Task(name, key, dag, weights[key]) for key, (name, dag) in dags.items())
    return Partition(graph, tuple(subgraphs), tasks, fusion.views)


def group_dag(group: Group) -> tuple[ComputeDAG, dict[str, Value]]:
    """The DAG of a group, and the value behind each of its placeholders by name."""
    first, order = _build(group, {})
    renamed = {}
    for prefix, tensors in (("x", first.inputs), ("w", first.constants)):
        for i, tensor in enumerate(tensors):
            renamed[order[tensor.name]] = f"{prefix}{i}"
    dag, values = _build(group, renamed)
    return dag, values


def _build(group: Group, names: dict[Value, str]) -> tuple[ComputeDAG, dict[str, Value]]:
    """Lower the nodes of `group` one onto the other; `names` are those of placeholders."""
    tensors: dict[Value, Tensor] = {}
    values: dict[str, Value] = {}
    stages: Counter[str] = Counter()
    for node in group.nodes:
        numbers = literals(node.op, node.inputs)
        operands: list[Operand] = []
        for i, value in enumerate(node.inputs):
            if i in numbers:
                operands.append(numbers[i])
                continue
            if value not in tensors:
                name = names.get(value, f"p{len(values)}")
                values[name] = value
                tensors[value] = placeholder(
                    value.shape, DTYPES[value.dtype], name=name, constant=value.is_constant
                )
            operands.append(tensors[value])
        stages[node.op] += 1
        name = node.op if stages[node.op] == 1 else f"{node.op}{stages[node.op]}"
        tensors[node.output] = lower(node.op, operands, node.attributes, name)
    return ComputeDAG([tensors[group.exit]]), values


def _task_name(group: Group, number: int) -> str:
    """Operators and output shape: `t3_conv_add_relu_1x56x56x64`."""
    ops: Sequence[str] = [n.op for n in group.nodes]
    shown = "_".join(ops if len(ops) <= 5 else (*ops[:3], f"{len(ops) - 4}more", ops[-1]))
    shape = "x".join(map(str, group.exit.shape)) or "scalar"
    return f"t{number}_{shown}_{shape}"

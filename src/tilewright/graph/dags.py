"""The mathematics of a few nodes of a graph as one DAG.

    dag, values = dag_of(nodes)            the last node's output; `values` are its placeholders'

Equal nodes have equal DAGs wherever they are: tensors are called by their positions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.nodes import Tensor
from tilewright.expr.rewrites.memory_order import in_memory_order
from tilewright.expr.tensors import placeholder
from tilewright.graph.ir import Node, Value
from tilewright.graph.ops import lower, operands, short_name


def dag_of(nodes: Sequence[Node], turned: bool = False) -> tuple[ComputeDAG, dict[str, Value]]:
    """The DAG of nodes in an order they can run in, and the value behind each of its placeholders
    by name. If it is `turned`, its stages are in the order of the memory around them.
    """
    first, order = _lowered(nodes, {})
    renamed = {}
    for prefix, tensors in (("x", first.inputs), ("w", first.constants)):
        for i, tensor in enumerate(tensors):
            renamed[order[tensor.name]] = f"{prefix}{i}"
    dag, values = _lowered(nodes, renamed)
    return (in_memory_order(dag) if turned else dag), values


def _lowered(
    nodes: Sequence[Node], names: Mapping[Value, str]
) -> tuple[ComputeDAG, dict[str, Value]]:
    """Lower the nodes one onto the other; `names` are those of placeholders."""
    tensors: dict[Value, Tensor] = {}
    values: dict[str, Value] = {}
    stages: Counter[str] = Counter()

    def tensor(_: int, value: Value) -> Tensor:
        if value not in tensors:
            name = names.get(value, f"p{len(values)}")
            values[name] = value
            tensors[value] = placeholder(
                value.shape, DTYPES[value.dtype], name=name, constant=value.is_constant
            )
        return tensors[value]

    for node in nodes:
        name = short_name(node.op)
        stages[name] += 1
        name = name if stages[name] == 1 else f"{name}{stages[name]}"
        given = operands(node.op, node.inputs, tensor)
        tensors[node.output] = lower(node.op, given, node.attributes, name)
    return ComputeDAG([tensors[nodes[-1].output]]), values

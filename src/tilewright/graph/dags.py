"""The mathematics of a few nodes of a graph as one DAG.

    dag, values = dag_of(nodes)            the last node's output; `values` are its placeholders'

Equal nodes have equal DAGs wherever they are: tensors are called by their positions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tilewright.contract.sizes import Sizes
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.nodes import Tensor, as_expr
from tilewright.expr.rewrites.memory_order import in_memory_order
from tilewright.expr.tensors import placeholder
from tilewright.expr.traversal import free_vars
from tilewright.graph.ir import Node, Value
from tilewright.graph.ops import lower, operands, short_name


def dag_of(
    nodes: Sequence[Node], turned: bool = False, sizes: Sizes = ()
) -> tuple[ComputeDAG, dict[str, Value]]:
    """The DAG of nodes in an order they can run in, and the value behind each of its placeholders
    by name. If it is `turned`, its stages are in the order of the memory around them. Of `sizes` it
    has those that extents are over.
    """
    used = {n for v in _values(nodes) for e in v.extents for n in free_vars(as_expr(e))}
    sizes = tuple(s for s in sizes if s.name in used)
    first, order = _lowered(nodes, {}, sizes)
    renamed = {}
    for prefix, tensors in (("x", first.inputs), ("w", first.constants)):
        for i, tensor in enumerate(tensors):
            renamed[order[tensor.name]] = f"{prefix}{i}"
    dag, values = _lowered(nodes, renamed, sizes)
    return (in_memory_order(dag) if turned else dag), values


def _values(nodes: Sequence[Node]) -> Iterator[Value]:
    return (v for node in nodes for v in (*node.inputs, node.output))


def _lowered(
    nodes: Sequence[Node], names: Mapping[Value, str], sizes: Sizes
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
                value.extents, DTYPES[value.dtype], name=name, constant=value.is_constant
            )
        return tensors[value]

    for node in nodes:
        name = short_name(node.op)
        stages[name] += 1
        name = name if stages[name] == 1 else f"{name}{stages[name]}"
        given = operands(node.op, node.inputs, tensor)
        tensors[node.output] = lower(node.op, given, node.attributes, name)
    return ComputeDAG([tensors[nodes[-1].output]], sizes), values

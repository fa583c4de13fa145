"""Evaluate nodes whose operands are all constants, by the reference semantics of their math.

    add($a, $b)   →   $c

Importers fold what their format calls constant; this pass does the rest (arithmetic that
translators emitted on constants).
"""

from __future__ import annotations

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.graph.access import NodeMath
from tilewright.graph.builder import Rewriter
from tilewright.graph.ir import Array, Graph, Node


def fold_constants(graph: Graph) -> Graph:
    """`graph` without nodes that depend on constants only."""
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        operands = rewriter.operands(node)
        if node.control is None and all(v.is_constant for v in operands):
            array = evaluate(Node(node.op, operands, node.attributes, node.output))
            constant = rewriter.builder.constant(node.output.name, array)
            rewriter.replace(node.output, constant)
        else:
            rewriter.keep(node)
    return rewriter.finish()


def evaluate(node: Node) -> Array:
    """The output of a node on constants."""
    math = NodeMath.of(node)
    known = {
        t.name: v.constant
        for t, v in zip(math.operands, node.inputs, strict=True)
        if isinstance(t, Tensor) and v.constant is not None
    }
    dag = ComputeDAG([math.output])
    return dag.evaluate(known)[dag.outputs[0].name]

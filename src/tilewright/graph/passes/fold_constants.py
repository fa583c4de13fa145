"""Evaluate nodes whose operands are all constants, by the reference semantics of their math.

    add($a, $b)   →   $c

Importers fold what their format calls constant; this pass does the rest (arithmetic that
translators emitted on constants).
"""

from __future__ import annotations

from math import prod

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.reference import compute_of, sizes
from tilewright.graph.access import NodeMath
from tilewright.graph.builder import Rewriter
from tilewright.graph.ir import Array, Graph, Node
from tilewright.graph.onnx.limits import Allowance
from tilewright.ground.errors import UnsupportedModel

MOST_TERMS = 1 << 33
"""Terms of all sums of a node: a minute or two of NumPy."""


def fold_constants(graph: Graph, allowance: Allowance | None = None) -> Graph:
    """`graph` without nodes that depend on constants only; their values take of the `allowance`.

    Raises UnsupportedModel where their values take too much memory, or too long to compute.
    """
    rewriter, allowance = Rewriter(graph), allowance or Allowance()
    for node in graph.nodes:
        operands = rewriter.operands(node)
        known = node.control is None and all(v.is_constant for v in operands)
        if known and not node.output.varies:
            given = sum(v.bytes for v in operands)
            refusal = allowance.refusal("it", node.output.bytes, given)
            if refusal:
                raise UnsupportedModel(f"{graph.name}: {node.op} ({node.output.name}): {refusal}")
            array = evaluate(Node(node.op, operands, node.attributes, node.output))
            allowance.used += array.nbytes
            constant = rewriter.builder.constant(node.output.name, array)
            rewriter.replace(node.output, constant)
        else:
            rewriter.keep(node)
    return rewriter.finish()


def evaluate(node: Node) -> Array:
    """The output of a node on constants."""
    math = NodeMath.of(node)
    dag = ComputeDAG([math.output])
    terms = sum(_terms(stage) for stage in dag.stages)
    if terms > MOST_TERMS:
        raise UnsupportedModel(
            f"{node.op} ({node.output.name}) has {terms:.3g} terms, all known when the model is "
            f"imported, where at most {MOST_TERMS:.3g} are evaluated; store its result in the model"
        )
    known = {
        t.name: v.constant
        for t, v in zip(math.operands, node.inputs, strict=True)
        if isinstance(t, Tensor) and v.constant is not None
    }
    return dag.evaluate(known)[dag.outputs[0].name]


def _terms(stage: Tensor) -> int:
    """How often the body of a stage is evaluated."""
    compute = compute_of(stage)
    return prod(sizes((*compute.axes, *compute.reduce_axes)))

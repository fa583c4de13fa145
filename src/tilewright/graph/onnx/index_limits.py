"""Which values a model's inputs of integers may have, read off what they index.

index_limits(graph)        {"ids": 30522, "token_types": 2}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tilewright.graph.ir import Graph, Node, Value

KEEPING = (
    "broadcast_to", "cast_to", "concat", "reshape", "strided_slice", "tile", "transpose", "where",
)  # fmt: skip
"""Graph operators whose result holds values of their inputs."""
INDEXING = ("gather", "gather_elements", "scatter_elements")
"""Those whose second input holds positions along `axis` of the first."""


def index_limits(graph: Graph) -> dict[str, int]:
    """How many values an input of integers may have, by what reads it: 0 to the limit - 1.

    Indices of an embedding may have as many as that has rows; what is compared with numbers, as
    where it becomes a one-hot vector, as many as these reach. Other inputs are missing.
    """
    users = graph.consumers()
    found: dict[str, int] = {}
    for value in graph.inputs:
        indexed, compared = [], []
        for node, read in _readers(value, users) if "int" in value.dtype else ():
            if node.op in INDEXING and node.inputs[1] is read:
                axis = node.attributes["axis"]
                assert isinstance(axis, int)
                extent = node.inputs[0].extents[axis]
                indexed += [extent] if isinstance(extent, int) else []
            elif node.op == "equal":
                known = [v.constant for v in node.inputs if v.constant is not None]
                compared += [int(c.max()) + 1 for c in known if c.size]
        if indexed or max(compared, default=0) > 1:
            found[value.name] = min(indexed, default=max(compared, default=0))
    return found


def _readers(value: Value, users: Mapping[Value, Sequence[Node]]) -> Iterator[tuple[Node, Value]]:
    """The nodes that read numbers of `value`, wherever these were moved to, and where they are."""
    waiting, seen = [value], {value}
    while waiting:
        here = waiting.pop()
        for node in users.get(here, ()):
            yield node, here
            if node.op in KEEPING and node.output not in seen:
                seen.add(node.output)
                waiting.append(node.output)

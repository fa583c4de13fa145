"""A model's names, and the order and number of its nodes, before anything walks through them.

    check_names(model, where)       names are text: protobuf gives bytes where they are none
    check_attributes(nodes, where)  what ends the process where ONNX reads it
    sort_nodes(model, where)        y = relu(t); t = neg(x)   →   t = neg(x); y = relu(t)
    check_expansion(model, where)   functions that call each other may not stand for 2⁴⁰ nodes

Exporters that rewrite graphs leave nodes in any order; ONNX's checker refuses those.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

import onnx
from google.protobuf.descriptor import FieldDescriptor  # type: ignore[import-untyped]
from google.protobuf.message import Message  # type: ignore[import-untyped]

from tilewright.graph.onnx.scope import Nodes, names_read, node_label, subgraphs
from tilewright.ground.errors import UnsupportedModel

MOST_WRITTEN_OUT = 1 << 15
"""Nodes that definitions, loops and branches may become, beside those in the file."""

MOST_NESTED = 100  # calls of functions inside one another, as ONNX's own checks allow

FunctionKey = tuple[str, str]

AXES, LARGEST_AXIS = ("axis", "axes"), 2**31 - 1
FREE_TEXT = frozenset(("doc_string", "metadata_props"))


def check_names(model: onnx.ModelProto, where: str) -> None:
    """Refuse names of values, nodes, operators and attributes that are no UTF-8 text."""
    for part in (model.graph, *model.functions, *model.opset_import):
        for name in _strings(part):
            if not isinstance(name, str):
                raise UnsupportedModel(f"{where}: the name {name!r} in it is no UTF-8 text")


def _strings(message: Message) -> Iterator[object]:
    """All strings of a message, those within its parts included, but for remarks."""
    for field, value in message.ListFields():
        if field.name in FREE_TEXT:
            continue
        if field.type == FieldDescriptor.TYPE_STRING:
            yield from (value,) if isinstance(value, str | bytes) else value
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            for part in (value,) if isinstance(value, Message) else value:
                yield from _strings(part)


def check_attributes(nodes: Nodes, where: str) -> None:
    """Refuse what ONNX's shape inference takes for granted, so that it would end the process."""
    for node in nodes:
        for attribute in node.attribute:
            problem = _attribute_problem(node, attribute)
            if problem:
                raise UnsupportedModel(f"{where}: {node_label(node)}: {problem}")
        for graph in subgraphs(node):
            check_attributes(graph.node, where)


def _attribute_problem(node: onnx.NodeProto, attribute: onnx.AttributeProto) -> str:
    """Axes that are no 32-bit numbers, to which they are cut; a false number of outputs."""
    if attribute.name.endswith(AXES):
        for axis in (attribute.i, *attribute.ints):
            if not -LARGEST_AXIS <= axis <= LARGEST_AXIS:
                return f"{attribute.name} is {axis}"
    if attribute.name == "num_outputs" and attribute.i != len(node.output):
        return f"num_outputs is {attribute.i}, but it has {len(node.output)}"
    return ""


def sort_nodes(model: onnx.ModelProto, where: str) -> None:
    """Put the nodes of every graph in an order in which they can be computed.

    Nodes that are in order stay where they are. Raises UnsupportedModel for a cycle.
    """
    _sort_graph(model.graph, where)
    for function in model.functions:
        _sort(function, where)


def _sort_graph(graph: onnx.GraphProto, where: str) -> None:
    _sort(graph, where)
    for node in graph.node:
        for inner in subgraphs(node):
            _sort_graph(inner, where)


def _sort(graph: onnx.GraphProto | onnx.FunctionProto, where: str) -> None:
    nodes = list(graph.node)
    made = {n: i for i, node in enumerate(nodes) for n in node.output if n}
    before = [{made[n] for n in names_read(node) if n in made} for node in nodes]
    if all(max(b, default=-1) < i for i, b in enumerate(before)):
        return
    order = _order(before)
    if len(order) < len(nodes):
        stuck = _cycle(before, sorted({*range(len(nodes))} - {*order}))
        names = " → ".join(node_label(nodes[i]) for i in stuck[:4])
        more = " → …" if len(stuck) > 4 else ""
        raise UnsupportedModel(f"{where}: its nodes depend on each other in a cycle: {names}{more}")
    sorted_nodes = [onnx.NodeProto.FromString(nodes[i].SerializeToString()) for i in order]
    del graph.node[:]
    graph.node.extend(sorted_nodes)


def _order(before: Sequence[set[int]]) -> list[int]:
    """Positions, each after those `before` it, the smallest first; without those on cycles."""
    after: list[list[int]] = [[] for _ in before]
    for i, needed in enumerate(before):
        for j in needed:
            after[j].append(i)
    waiting = [len(needed) for needed in before]
    ready = [i for i, count in enumerate(waiting) if not count]
    found = []
    while ready:
        i = heapq.heappop(ready)
        found.append(i)
        for j in after[i]:
            waiting[j] -= 1
            if not waiting[j]:
                heapq.heappush(ready, j)
    return found


def _cycle(before: Sequence[set[int]], stuck: Sequence[int]) -> list[int]:
    """Positions of `stuck` nodes that wait for each other, each read by the next."""
    left, path = set(stuck), [stuck[0]]
    while path.count(path[-1]) == 1:
        path.append(min(before[path[-1]] & left))
    return path[path.index(path[-1]) : -1][::-1]


def check_expansion(model: onnx.ModelProto, where: str) -> None:
    """Refuse functions that call themselves, or that stand for more nodes than can be written out.

    Inference and import write calls out, again for each call.
    """
    functions = {(f.domain, f.name): f for f in model.functions}
    sizes: dict[FunctionKey, int] = {}

    def size(which: FunctionKey, callers: tuple[FunctionKey, ...]) -> int:
        """The nodes that a call of `which` stands for."""
        if which in callers:
            raise UnsupportedModel(f"{where}: function {which[1]} calls itself")
        if len(callers) == MOST_NESTED:
            raise UnsupportedModel(f"{where}: its functions nest more than {MOST_NESTED} deep")
        if which not in sizes:
            sizes[which] = total(functions[which].node, (*callers, which))
        return sizes[which]

    def total(nodes: Nodes, callers: tuple[FunctionKey, ...]) -> int:
        """The nodes that `nodes` stand for, those of their subgraphs included."""
        found = 0
        for node in nodes:
            which = (node.domain, node.op_type)
            found += 1 + (size(which, callers) if which in functions else 0)
            found += sum(total(graph.node, callers) for graph in subgraphs(node))
        return found

    for which in functions:
        size(which, ())
    whole = total(model.graph.node, ())
    if whole > MOST_WRITTEN_OUT + len(model.graph.node):
        raise UnsupportedModel(
            f"{where}: the calls of its functions stand for {whole} nodes; at most "
            f"{MOST_WRITTEN_OUT} are written out"
        )

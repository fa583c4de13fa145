"""States: inputs that a model gives back longer, kept in place from one call to the next.

    graph = with_states(graph, {"past.key": "present.key"})
    graph = with_states(graph, "cache")                  pairs by the names that exporters use

    before   %present = concat(%past, %rows; axis=2), returned
    after    %present = append in place (%past, %rows), no result; %past is a state

Both lie in one memory, whose rows are a fixed pitch apart (`Size.pitched`): that of `present` at
its most. So what lies there already is where it belongs, and only new rows are written. It is right
since nothing else reads `past`, what reads `present` comes after the node that makes it, and rows
are written behind all that were there. What is not so is refused, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from tilewright.expr.nodes import Var
from tilewright.expr.sizes import least
from tilewright.expr.text import extent_text
from tilewright.graph.ir import Append, Graph, Node, State, Value, sizes_of, verify
from tilewright.ground.errors import InputError, UnsupportedModel

Pairs: TypeAlias = Mapping[str, str]

EXPORTERS = (
    ("past_key_values", "present_key_values"),
    ("past_key_values", "present"),
    ("past", "present"),
    ("cached", "new_cached"),
)
"""How names of inputs that are caches begin, and what their results have instead."""


def with_states(graph: Graph, states: Pairs | str) -> Graph:
    """The graph without these inputs and outputs, which it keeps. Raises InputError for names that
    it lacks, UnsupportedModel for what cannot be kept in place.
    """
    pairs = _cache(graph) if isinstance(states, str) else _known(graph, states)
    readers, made = graph.consumers(), graph.producers()
    results = dict(zip(graph.output_names, graph.outputs, strict=True))
    found: dict[Node, State] = {}
    for value in graph.inputs:
        if value.name in pairs:
            result = pairs[value.name]
            node = made.get(results[result])
            reason = _refusal(graph, value, node, readers.get(value, []))
            if node is None or reason:
                raise UnsupportedModel(f"{graph.name}: state {value.name} {reason}")
            found[node] = State(value, result, _axis(node), node.output)
    _check_alike(graph, list(found.values()))
    kept = [s.value for s in found.values()]
    given = [(n, v) for n, v in results.items() if n not in pairs.values()]
    changed = replace(
        graph,
        inputs=(*(v for v in graph.inputs if v not in kept), *kept),
        outputs=tuple(v for _, v in given),
        output_names=tuple(n for n, _ in given),
        nodes=tuple(_appended(n) if n in found else n for n in graph.nodes),
        states=tuple(found.values()),
    )
    verify(changed)
    return _pitched(changed, sizes_of(tuple(v.extents for v in kept)))


def _pitched(graph: Graph, names: Collection[str]) -> Graph:
    """The graph, and those within it, whose sizes of these names are pitched."""

    def inside(node: Node) -> Node:
        if node.control is None:
            return node
        bodies = [_pitched(body, names) for body in node.control.bodies]
        return replace(node, control=node.control.with_bodies(bodies))

    sizes = tuple(replace(s, pitched=s.pitched or s.name in names) for s in graph.sizes)
    return replace(graph, sizes=sizes, nodes=tuple(map(inside, graph.nodes)))


def _appended(node: Node) -> Node:
    """The concatenation in place."""
    return replace(node, op="append", attributes={}, control=Append(_axis(node), node.outputs))


def _axis(node: Node) -> int:
    """Along which a concatenation joins."""
    axis = node.attributes["axis"]
    assert isinstance(axis, int), "the importer gives a number"
    return axis


def _refusal(graph: Graph, value: Value, node: Node | None, readers: Sequence[Node]) -> str:
    """Why a value cannot be kept in place; "" if it can."""
    if node is None or node.op != "concat" or node.inputs[0] is not value:
        return "is kept if its result is a concatenation of it with new rows; this one is not"
    if len(node.inputs) != 2 or node.inputs[1] is value:
        return f"is joined with {len(node.inputs) - 1} values; one is appended in place"
    others = [n for n in readers if n is not node]
    if others:
        return f"is read by {others[0].op} {others[0].output.name}, besides being appended to"
    return _refused_shape(graph, value, _axis(node))


def _refused_shape(graph: Graph, value: Value, axis: int) -> str:
    """Why a stream has no memory for a value that grows along `axis`; "" if it has."""
    for d, extent in enumerate(value.extents):
        text = extent_text(extent)
        if d != axis and not isinstance(extent, int):
            return f"has {text} for dimension {d}, which is one number in a stream: give it a value"
        if d == axis and not isinstance(extent, Var):
            return f"grows along dimension {d}, which is {text}: give it a range from 0 on"
        if d == axis and least(extent, graph.sizes):
            return f"is empty at first, and {text} is never 0: give it a range from 0 on"
    return ""


def _check_alike(graph: Graph, states: Sequence[State]) -> None:
    """All states have as many rows, and get as many."""
    first = states[0]
    for other in states[1:]:
        lengths = [(s.value.extents[s.axis], s.grown.extents[s.axis]) for s in (first, other)]
        if lengths[0] != lengths[1]:
            raise UnsupportedModel(
                f"{graph.name}: states {first.value.name} and {other.value.name} do not grow "
                f"alike, and a stream has one length"
            )


def _known(graph: Graph, states: Pairs) -> Pairs:
    """The pairs, if they are of names that the graph has."""
    inputs = [v.name for v in graph.inputs]
    for given, known, what in (
        (list(states), inputs, "input"),
        (list(states.values()), list(graph.output_names), "output"),
    ):
        unknown = [n for n in given if n not in known]
        if unknown or not given or len(set(given)) < len(given):
            wrong = ", ".join(map(str, unknown)) or "one twice, or none"
            raise InputError(
                f"state says which {what}s of {graph.name} are kept, and names {wrong}; it has "
                f"{', '.join(known)}"
            )
    return states


def _cache(graph: Graph) -> Pairs:
    """The pairs whose names exporters use."""
    found = {}
    for value in graph.inputs:
        for begin, instead in EXPORTERS:
            result = value.name.replace(begin, instead, 1)
            if value.name.startswith(begin) and result in graph.output_names:
                found[value.name] = result
    if not found:
        inputs = ", ".join(v.name for v in graph.inputs)
        raise InputError(
            f"no input of {graph.name} has the name of a cache; name the pairs, "
            f"state={{'past.key': 'present.key'}}, of {inputs} and {', '.join(graph.output_names)}"
        )
    return found

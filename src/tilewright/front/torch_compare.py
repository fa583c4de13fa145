"""What a captured graph computes here against eager PyTorch, and which of its operators differ.

    found = deviations(ours, theirs)                outputs that are not eager's
    watch = watched(graph, args)                    the graph with every value as an output
    faulty(graph, watch, args, outputs)             {"avg_pool2d": "differs from eager PyTorch ..."}

Where outputs differ, one network computes all values of the graph. Each operator then runs in eager
mode on the operands that it had there, so that what differs is its own doing, not that of an
operator before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import fx

from tilewright.contract.deviation import Deviation, GivenTolerance, compare
from tilewright.graph.torch.capture import tuple_of
from tilewright.runtime.tensors import array_of

Key: TypeAlias = tuple[str, str]  # (node, "") its value; (reader, node) its value as it was read


def deviations(
    ours: Sequence[Any], theirs: Sequence[Any], is_narrow: bool = False
) -> list[Deviation]:
    """Those of the outputs that are not eager's, named by their positions; with `is_narrow` floats
    were computed from some of 16 bits. What both share is not looked at.
    """
    found = []
    for name, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a is b:
            continue
        if not isinstance(b, torch.Tensor):
            agrees = a == b or (a != a and b != b)
            found += [] if agrees else [Deviation(str(name), math.inf, math.inf, 0.0)]
        elif a.dtype != b.dtype:
            found.append(Deviation(str(name), math.inf, math.inf, 0.0))
        elif not (a.data_ptr() == b.data_ptr() and a.stride() == b.stride()):
            reference = array_of(b)
            tolerance = GivenTolerance.of(reference, is_narrow)
            found += compare([str(name)], [array_of(a)], [reference], tolerance)
    return [d for d in found if not d.is_allowed]


def in_words(found: Deviation) -> str:
    """A deviation as the reason of a fallback."""
    if found.worst == math.inf:
        return "differs from eager PyTorch"
    return f"differs from eager PyTorch {found.words}"


@dataclass(frozen=True)
class Watch:
    """A graph whose outputs are copies of the values of another, in the order of `keys`.

    A value that something wrote to in place, before a node read it, is copied again for that node.
    """

    graph: Any
    keys: tuple[Key, ...]


def watched(graph: Any, args: Sequence[Any]) -> Watch:
    """A captured graph, which writes to none of its arguments, as one that gives all its values."""
    run = _interpreter(graph, args)
    versions: dict[Any, int] = {}  # of every tensor that a network can give, when it was made
    new = fx.Graph()
    values: dict[Any, Any] = {}
    copies: dict[Key, Any] = {}
    for node in graph.graph.nodes:
        if node.op == "output":
            break
        for source in node.all_input_nodes:
            if source in versions and _version(run.env[source]) != versions[source]:
                copies[node.name, source.name] = new.call_function(torch.clone, (values[source],))
        run.env[node] = run.run_node(node)
        values[node] = new.node_copy(node, values.__getitem__)
        if node.op.startswith("call_") and _is_plain(run.env[node]):
            versions[node] = _version(run.env[node])
            copies[node.name, ""] = new.call_function(torch.clone, (values[node],))
    new.output(tuple(copies.values()))
    return Watch(fx.GraphModule(graph, new), tuple(copies))


def _interpreter(graph: Any, args: Sequence[Any]) -> Any:
    run = fx.Interpreter(graph, garbage_collect_values=False)
    run.args_iter = iter(args)
    return run


def _is_plain(value: Any) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and value.layout == torch.strided
        and not value.is_complex()
        and not value.is_quantized
    )


def _version(tensor: Any) -> int:
    """How often a tensor was written to; unknown of inference tensors."""
    return 0 if tensor.is_inference() else int(tensor._version)


def faulty(
    graph: Any, watch: Watch, args: Sequence[Any], outputs: Sequence[Any], is_narrow: bool = False
) -> dict[str, str]:
    """The operators of a graph that differ from eager mode on the same operands, by their nodes,
    and by how much; `outputs` are what a network gives for `watch`.
    """
    given = dict(zip(watch.keys, outputs, strict=True))
    run = _interpreter(graph, args)
    found: dict[str, str] = {}
    for node in list(graph.graph.nodes)[:-1]:
        made = {s: run.env[s] for s in node.all_input_nodes}
        run.env |= {s: _operand(node, s, given, value) for s, value in made.items()}
        expected = run.run_node(node)
        ours = given.get((node.name, ""), expected)
        run.env |= {**made, node: ours}
        for deviation in deviations([ours], [expected], is_narrow):
            found.setdefault((tuple_of(node) or node).name, in_words(deviation))
    return found


def _operand(reader: Any, node: Any, given: Mapping[Key, Any], value: Any) -> Any:
    """What `reader` is to read of `node`: a copy where it may write to it."""
    read = given.get((reader.name, node.name), value)
    is_own = node.op.startswith("call_") and isinstance(read, torch.Tensor)
    return read.clone() if is_own else read


def returned(graph: Any, watch: Watch, outputs: Sequence[Any]) -> Iterator[Any]:
    """The graph's own outputs among those of `watch`; None for what is not there."""
    values = dict(zip(watch.keys, outputs, strict=True))
    for node in list(graph.graph.nodes)[-1].args[0]:
        yield values.get((node.name, "")) if isinstance(node, fx.Node) else None

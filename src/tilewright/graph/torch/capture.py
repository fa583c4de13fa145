"""Graphs that torch.compile captured: made concrete for export, and cut around operators.

    concrete = specialise(graph, args, constants={0, 1}, orders={2: (0, 2, 3, 1)})
    concrete.module        the same computation: parameters built in, integers written out
    concrete.results       how the captured graph's outputs are made from the module's
    pieces, results = cut(graph, {"sort"})

A captured graph's outputs may be its inputs, or views of them or of each other. What is computed
anew is left to the exported module; the rest is put together again from memory that is there
already, with the strides that PyTorch gives it, so that writing to one is seen in the other.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.amp.autocast_mode import _enter_autocast, _exit_autocast

from tilewright.graph.torch.decompositions import FUSED
from tilewright.graph.torch.importing import headline
from tilewright.graph.torch.sizes import TracedRanges
from tilewright.ground.errors import UnsupportedModel

Order: TypeAlias = tuple[int, ...]  # dimensions from the slowest to the fastest in memory


# ---- results: where an output of the captured graph comes from ------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or None."""

    value: Any

    def take(self, args: Sequence[Any], made: Sequence[Any]) -> Any:
        """The output, from the arguments of the call and the tensors that were computed."""
        return self.value


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument, as it is."""

    position: int

    def take(self, args: Sequence[Any], made: Sequence[Any]) -> Any:
        """See Literal."""
        return args[self.position]


@dataclass(frozen=True, slots=True)
class Made:
    """A computed tensor."""

    number: int

    def take(self, args: Sequence[Any], made: Sequence[Any]) -> Any:
        """See Literal."""
        return made[self.number]


@dataclass(frozen=True, slots=True)
class View:
    """A view of an argument or a computed tensor; `offset` counts elements from its first."""

    base: Argument | Made
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int

    def take(self, args: Sequence[Any], made: Sequence[Any]) -> Any:
        """See Literal."""
        base = self.base.take(args, made)
        return base.as_strided(self.size, self.stride, base.storage_offset() + self.offset)


Result: TypeAlias = Literal | Argument | Made | View


@dataclass(frozen=True)
class Output:
    """What the exported module computes: a contiguous array that holds a tensor in `order`."""

    shape: tuple[int, ...]
    dtype: Any
    order: Order | None


@dataclass(frozen=True)
class Concrete:
    """A captured graph for arguments of certain shapes; `inputs` are positions of arguments, and
    `computed` those of the captured graph's outputs that the module's outputs are.
    """

    module: Any
    inputs: tuple[int, ...]
    outputs: tuple[Output, ...]
    results: tuple[Result, ...]
    computed: tuple[int, ...]

    @property
    def is_fixed(self) -> bool:
        """Whether the results are the same for arguments of other extents: no views, no numbers."""
        return all(
            isinstance(r, Argument | Made) or (isinstance(r, Literal) and r.value is None)
            for r in self.results
        )


# ---- memory layouts -------------------------------------------------------------------------


def memory_order(tensor: Any) -> Order | None:
    """The order in which a tensor that is dense but not contiguous lies in memory; else None."""
    if tensor.is_contiguous():
        return None
    order = tuple(sorted(range(tensor.dim()), key=lambda d: (-tensor.stride(d), -tensor.size(d))))
    return order if tensor.permute(order).is_contiguous() else None


def inverse(order: Order) -> Order:
    """The permutation that undoes `order`."""
    return tuple(order.index(d) for d in range(len(order)))


# ---- making a graph concrete ----------------------------------------------------------------


def specialise(
    graph: Any,
    args: Sequence[Any],
    constants: Collection[int],
    orders: Mapping[int, Order],
    ranges: TracedRanges | None = None,
) -> Concrete:
    """The graph for arguments of these shapes; with `ranges`, the numbers that are extents of
    arguments are read there, and the module is one for all of their values.

    Arguments at `constants` become buffers of the module; those in `orders` are taken as contiguous
    tensors with permuted dimensions; integers, floats and None are written into the graph, and so
    are the numbers that it reads out of arguments. Raises UnsupportedModel for what a compiled
    network cannot return.
    """
    graph = _written_out(graph, args)
    nodes = list(graph.graph.nodes)
    returned = list(nodes[-1].args[0])
    results, chosen = _plan(returned, *_fake_run(graph, args))
    new = fx.Graph()
    values: dict[Any, Any] = {}
    attributes: dict[str, Any] = {}
    inputs: list[int] = []
    arguments = list(zip([n for n in nodes if n.op == "placeholder"], args, strict=True))
    numbers = ranges.numbers if ranges is not None else frozenset()
    read = {i for i in numbers if arguments[i][0].users}
    measured = ranges.measured if ranges is not None and read else frozenset()
    for position, (node, value) in enumerate(arguments):
        is_used = bool(node.users) or position in measured
        if isinstance(value, torch.Tensor) and position not in constants and is_used:
            values[node] = new.placeholder(node.name)
            inputs.append(position)
    for position, (node, value) in enumerate(arguments):
        if not isinstance(value, torch.Tensor):
            values[node] = value
        elif position in constants:
            attributes[f"constant_{position}"] = value.detach()
            values[node] = new.get_attr(f"constant_{position}")
        elif position in orders and node in values:
            back = inverse(orders[position])
            values[node] = new.call_method("permute", (values[node], back))
    if ranges is not None:
        tensors = {i: values[arguments[i][0]] for i in measured}
        values |= {arguments[i][0]: ranges.number(i, tensors) for i in read}
    attributes |= _copy_nodes(graph, nodes[len(arguments) : -1], new, values)
    outputs, made = [], []
    for i, fake in chosen:
        value, order = values[returned[i]], memory_order(fake)
        shape = tuple(fake.shape) if order is None else tuple(fake.shape[d] for d in order)
        outputs.append(Output(shape, fake.dtype, order))
        made.append(value if order is None else new.call_method("permute", (value, order)))
    new.output(tuple(made))
    module = fx.GraphModule(attributes, new)
    computed = tuple(i for i, _ in chosen)
    return Concrete(module, tuple(inputs), tuple(outputs), tuple(results), computed)


def results_for(graph: Any, args: Sequence[Any], concrete: Concrete) -> tuple[Result, ...] | None:
    """The results for arguments of other extents; None where the module computes other outputs
    than these need.
    """
    written = _written_out(graph, args)
    returned = list(written.graph.output_node().args[0])
    results, chosen = _plan(returned, *_fake_run(written, args))
    return tuple(results) if tuple(i for i, _ in chosen) == concrete.computed else None


def read_numbers(graph: Any) -> dict[Any, int]:
    """The nodes that read a number out of an argument, which Dynamo passes as a tensor, and the
    position of the argument.
    """
    placeholders = graph.graph.find_nodes(op="placeholder")
    positions = {node: i for i, node in enumerate(placeholders)}
    reads = graph.graph.find_nodes(op="call_method", target="item")
    return {n: positions[n.args[0]] for n in reads if n.args[0] in positions}


def _written_out(graph: Any, args: Sequence[Any]) -> Any:
    """The graph with the numbers that it reads out of its arguments, and fused operators in their
    parts.
    """
    numbers = read_numbers(graph)
    new = fx.Graph()
    values: dict[Any, Any] = {n: args[i].item() for n, i in numbers.items()}
    *kept, output = (n for n in graph.graph.nodes if n not in numbers)
    attributes = _copy_nodes(graph, kept, new, values)
    for node in new.nodes:
        node.target = FUSED.get(node.target, node.target)
    new.output(fx.node.map_arg(output.args[0], values.__getitem__))
    return fx.GraphModule(attributes, new)


def _copy_nodes(
    graph: Any, nodes: Sequence[Any], new: fx.Graph, values: dict[Any, Any]
) -> dict[str, Any]:
    """Copy `nodes` of `graph`, whose operands are `values`; returns what they use of its module."""
    used = {}
    for node in nodes:
        if node.op in ("get_attr", "call_module"):
            used[node.target] = operator.attrgetter(node.target)(graph)
        values[node] = new.node_copy(node, values.__getitem__)
    return used


def _fake_run(graph: Any, args: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Arguments and outputs of the graph as tensors without values, each argument in memory of its
    own.
    """

    def fake(a: Any) -> Any:
        if not isinstance(a, torch.Tensor):
            return a
        plain = type(a) in (torch.Tensor, torch.nn.Parameter) and a.layout == torch.strided
        if not plain or a.device.type != "cpu":
            kind = f"{type(a).__name__} with layout {a.layout}"
            raise UnsupportedModel(f"it takes a {kind} on {a.device}, not a plain one on the CPU")
        empty = torch.empty_strided(a.size(), a.stride(), dtype=a.dtype)
        return empty.requires_grad_(a.requires_grad)

    with FakeTensorMode(allow_non_fake_inputs=True):
        fakes = [fake(a) for a in args]
        try:
            return fakes, list(graph(*fakes))
        except Exception as error:  # an operator without a rule for shapes, one that reads values
            raise UnsupportedModel(f"its shapes cannot be told: {headline(error)}") from error


def _plan(
    returned: Sequence[Any], fakes: Sequence[Any], outputs: Sequence[Any]
) -> tuple[list[Result], list[tuple[int, Any]]]:
    """A result for each output, and the outputs (number, fake tensor) that are to be computed."""
    owners: dict[int, tuple[Argument | Made, Any]] = {}  # storage → who has it whole
    for i, fake in enumerate(fakes):
        if isinstance(fake, torch.Tensor):
            owners.setdefault(_storage(fake), (Argument(i), fake))
    positions = {id(fake): i for i, fake in enumerate(fakes)}
    chosen: list[tuple[int, Any]] = []
    tensors = [
        (i, o)
        for i, o in enumerate(outputs)
        if isinstance(o, torch.Tensor) and id(o) not in positions
    ]
    # Whole tensors first: they own the memory that the others are views of.
    for i, fake in sorted(tensors, key=lambda pair: not _is_whole(pair[1])):
        _check_output(fake)
        if _storage(fake) not in owners:
            owners[_storage(fake)] = (Made(len(chosen)), fake)
            chosen.append((i, fake))
    results: list[Result] = []
    for i, (node, value) in enumerate(zip(returned, outputs, strict=True)):
        if value is None or isinstance(value, (bool, int, float, torch.Size)):
            results.append(Literal(value))
        elif not isinstance(value, torch.Tensor):
            raise UnsupportedModel(f"it returns a {type(value).__name__} ({node})")
        elif id(value) in positions:
            results.append(Argument(positions[id(value)]))
        else:
            results.append(_result(i, value, owners[_storage(value)], chosen, node))
    return results, chosen


def _result(
    number: int,
    value: Any,
    owner: tuple[Argument | Made, Any],
    chosen: Sequence[tuple[int, Any]],
    node: Any,
) -> Result:
    base, fake = owner
    if isinstance(base, Made):
        if chosen[base.number][0] == number or value is fake:
            return base
        if not _is_whole(fake):
            raise UnsupportedModel(f"it returns parts of one tensor, among them {node}")
    if value.dtype != fake.dtype:
        raise UnsupportedModel(f"{node} is the memory of another tensor, read as {value.dtype}")
    offset = value.storage_offset() - fake.storage_offset()
    return View(base, tuple(value.shape), tuple(value.stride()), offset)


def _storage(tensor: Any) -> int:
    return int(tensor.untyped_storage()._cdata)


def _is_whole(tensor: Any) -> bool:
    """Whether a tensor is all of its storage, in some order of its dimensions."""
    dense = tensor.is_contiguous() or memory_order(tensor) is not None
    size = tensor.numel() * tensor.element_size()
    return dense and tensor.storage_offset() == 0 and tensor.untyped_storage().nbytes() == size


def _check_output(fake: Any) -> None:
    if fake.requires_grad:
        raise UnsupportedModel("its outputs need gradients")
    if fake.device.type != "cpu" or fake.layout != torch.strided:
        raise UnsupportedModel(f"it returns a tensor of {fake.device} and layout {fake.layout}")


# ---- cutting --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Piece:
    """A run of nodes as a graph of its own, from values by name to values by name.

    `refused` says that it holds the operators that the graph was cut around; `autocast` are the
    arguments of the contexts of torch.autocast that it runs in, from the outermost.
    """

    graph: Any
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    refused: bool
    autocast: tuple[tuple[Any, ...], ...]


def has_contexts(graph: Any) -> bool:
    """Whether a graph enters contexts of torch.autocast."""
    return any(n.target is _enter_autocast for n in graph.graph.nodes)


def cut(graph: Any, refused: Collection[str]) -> list[Piece]:
    """Pieces to be run one after another: `refused` nodes, what lies between them, and what lies in
    different contexts.

    The order of the nodes stays, hence writes in place happen when they did.
    """
    runs: list[tuple[tuple[Any, ...], list[Any]]] = []
    run_of: dict[Any, list[Any]] = {}
    entered: dict[Any, tuple[Any, ...]] = {}
    for node in graph.graph.nodes:
        if node.op in ("placeholder", "get_attr", "output"):
            continue
        if node.target is _enter_autocast:
            entered[node] = node.args
            continue
        if node.target is _exit_autocast:
            del entered[node.args[0]]
            continue
        source = tuple_of(node)
        if source in run_of:  # only tensors and numbers leave a run
            run_of[source].append(node)
            run_of[node] = run_of[source]
            continue
        kind = (node.name in refused, tuple(entered.values()))
        if not runs or runs[-1][0] != kind:
            runs.append((kind, []))
        runs[-1][1].append(node)
        run_of[node] = runs[-1][1]
    return [_piece(graph, nodes, *kind) for kind, nodes in runs]


def tuple_of(node: Any) -> Any:
    """The node of the tuple that `node` is an item of; None for any other node."""
    source: Any = node.args[0] if node.target is operator.getitem else None
    if not isinstance(source, fx.Node):
        return None
    return None if isinstance(source.meta.get("example_value"), torch.Tensor) else source


def _piece(
    graph: Any, nodes: Sequence[Any], refused: bool, autocast: tuple[tuple[Any, ...], ...]
) -> Piece:
    inside = set(nodes)
    new = fx.Graph()
    values: dict[Any, Any] = {}
    used = dict.fromkeys(n for node in nodes for n in node.all_input_nodes if n not in inside)
    inputs = [n for n in used if n.op != "get_attr"]
    for node in inputs:
        values[node] = new.placeholder(node.name)
        values[node].meta = dict(node.meta)
    copied = [*(n for n in used if n.op == "get_attr"), *nodes]
    attributes = _copy_nodes(graph, copied, new, values)
    outputs = [n for n in nodes if any(user not in inside for user in n.users)]
    new.output(tuple(values[n] for n in outputs))
    names = tuple(n.name for n in inputs), tuple(n.name for n in outputs)
    return Piece(fx.GraphModule(attributes, new), *names, refused, autocast)

"""The operator graph: what importers make, passes rewrite and the partitioner cuts.

    graph g(x: float32[1, 56, 56, 64]) -> (y)
      %t = conv(%x, $w: float32[1, 1, 64, 64]; stride=(1, 1))    : float32[1, 56, 56, 64]
      %y = relu(%t)                                              : float32[1, 56, 56, 64]

A `Value` is a constant, a graph input or the output of one `Node`. Operators
are functions of the operator library, which have exactly one output (an operator with several
becomes several nodes); images are channels-last there. Four operators are none of these: `loop`
and `if` hold graphs of their own, which see nothing of the graph around them but their inputs, and
have an output for each result (`Loop`, `Branches`); `refuse` ends the run (`Refusal`); `append`
writes rows behind those that a state has (`Append`). And what `select` finds may have an extent
that is known once it ran (`Selection`).

Values and nodes compare by identity; a graph is never changed: a pass returns a new one. `verify`
checks the invariants, `str(graph)` prints it.

A graph may have *sizes*: then extents of values are numbers or expressions over these.
`graph.at({"S": 128})` is the same graph, node for node, with numbers: what depends on numbers (what
is fused, which contractions share a kernel) is decided there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import numpy as np

from tilewright.contract.sizes import Size, Sizes, checked_sizes
from tilewright.expr.dtypes import dtype as as_dtype
from tilewright.expr.nodes import Expr, Extent, Shape, Var
from tilewright.expr.operators.shapes import numbers
from tilewright.expr.sizes import extent_at
from tilewright.expr.text import extent_text
from tilewright.expr.traversal import free_vars
from tilewright.ground.errors import VerifyError

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Attribute: TypeAlias = (
    Extent | float | str | bool | tuple[Extent, ...] | tuple[tuple[Extent, Extent], ...]
)
Attributes: TypeAlias = Mapping[str, Attribute]


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One array of the graph. `constant` holds its values when they are known."""

    name: str
    extents: Shape
    dtype: str
    constant: Array | None = field(default=None, repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents as numbers. Raises ExprError for one over sizes."""
        return numbers(self.extents, self.name)

    @property
    def rank(self) -> int:
        return len(self.extents)

    @property
    def varies(self) -> bool:
        """Whether an extent is over sizes."""
        return not all(isinstance(e, int) for e in self.extents)

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * as_dtype(self.dtype).bytes

    @property
    def is_constant(self) -> bool:
        return self.constant is not None

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(extent_text, self.extents))}]"


@dataclass(frozen=True, slots=True)
class Growth:
    """A size of what a loop carries: it is `start` when the loop begins, and after a step what
    `after` was in it. More than its most, and the run ends with the `reason`; "" where that cannot
    be.
    """

    size: Size
    start: Extent
    after: Extent
    reason: str = ""

    def __str__(self) -> str:
        ends = map(extent_text, (self.start, self.after))
        return f"{self.size.name} = {', then '.join(ends)}"


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """What a `loop` node does: `body` again and again, `trips` times at most.

    node inputs     [trips], start of every carried value, scanned arrays, captured values
    body inputs     number of the step (int64), carried values, one row of each scanned array,
                    captured values
    body outputs    carried values after the step, one row of each stacked array
    node outputs    carried values after the last step, stacked arrays

    `trips` may be over sizes. Where the loop is `counted`, the first input of the node says how
    often, no more than `trips` if this is no None; else None means that only the condition ends it.
    With `conditional` the first carried value is a
    bool: a step runs while it is true. Rows are those of the leading dimension; `backwards` names,
    for each scanned and then each stacked array, whether the first step has the last row.

    Extents of carried values may change from step to step: they are sizes then, and `growth` says
    how these do.
    """

    body: Graph
    trips: Extent | None
    carried: int
    scanned: int
    backwards: tuple[bool, ...]
    counted: bool = False
    conditional: bool = False
    growth: tuple[Growth, ...] = ()

    @property
    def bodies(self) -> tuple[Graph, ...]:
        return (self.body,)

    @property
    def stacked(self) -> int:
        """How many arrays are made of a row a step."""
        return len(self.body.outputs) - self.carried

    def with_bodies(self, bodies: Sequence[Graph]) -> Loop:
        """The same loop of another body."""
        return replace(self, body=bodies[0])

    def __str__(self) -> str:
        often = "" if self.trips is None else f"x{extent_text(self.trips)}"
        often = "xtrips" if self.counted else often
        return " ".join(filter(None, (often, "while" * self.conditional, *map(str, self.growth))))


@dataclass(frozen=True, slots=True, eq=False)
class Branches:
    """What an `if` node does: one of two graphs whose inputs are the captured values.

    The node's inputs are a bool and the captured values; its outputs are the graph's.
    """

    then: Graph
    otherwise: Graph

    @property
    def bodies(self) -> tuple[Graph, ...]:
        return (self.then, self.otherwise)

    def with_bodies(self, bodies: Sequence[Graph]) -> Branches:
        """The same choice between other graphs."""
        return Branches(*bodies)

    def __str__(self) -> str:
        return "then, else"


class Bodiless:
    """What a node does that holds no graphs."""

    __slots__ = ()

    @property
    def bodies(self) -> tuple[Graph, ...]:
        return ()

    def with_bodies(self, bodies: Sequence[Graph]) -> Self:
        """Itself."""
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Refusal(Bodiless):
    """Instead of what a branch would compute: whoever takes it gets a RunError with the `reason`.

    The node has the outputs that the other branch has, and no inputs.
    """

    reason: str
    results: tuple[Value, ...]

    def __str__(self) -> str:
        return repr(self.reason)


@dataclass(frozen=True, slots=True, eq=False)
class Selection(Bodiless):
    """What a `select` node does: the library function `kind` (`graph/selections.py`) on its inputs
    and `numbers`, as many `results` as the node has outputs.

    The number that it answers is the value of `size`, if there is one, over which results and all
    that follows may have extents. More than `limit`, which is no more than the size's most, and
    the run ends with the `reason`; "" where that cannot be.
    """

    kind: str
    results: tuple[Value, ...]
    numbers: tuple[Extent, ...] = ()
    size: Size | None = None
    limit: Extent = 0
    reason: str = ""

    def __str__(self) -> str:
        listed = ", ".join(map(extent_text, self.numbers))
        return f"{self.kind}{f'({listed})' if listed else ''}{f' {self.size}' if self.size else ''}"


@dataclass(frozen=True, slots=True, eq=False)
class Append(Bodiless):
    """The output of the node is its first input, a state of the graph, with the second one's rows
    behind it along dimension `axis`: written there, in memory that has room for them, and whether
    anybody reads it or not. Nothing else reads that input.
    """

    axis: int
    results: tuple[Value, ...]

    def __str__(self) -> str:
        return f"in place, axis {self.axis}"


Control: TypeAlias = Loop | Branches | Refusal | Selection | Append


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """`output = op(inputs; attributes)`; with `control`, `output` and `more` are its results."""

    op: str
    inputs: tuple[Value, ...]
    attributes: Attributes
    output: Value
    control: Control | None = None
    more: tuple[Value, ...] = ()

    @property
    def outputs(self) -> tuple[Value, ...]:
        return (self.output, *self.more)

    def __str__(self) -> str:
        operands = ", ".join(f"${v}" if v.is_constant else f"%{v.name}" for v in self.inputs)
        listed = ", ".join(f"{k}={_text(v)}" for k, v in self.attributes.items())
        if self.control is None:
            text = f"{self.op}({operands}{'; ' + listed if listed else ''})"
            return f"%{self.output.name} = {text} : {str(self.output).partition(': ')[2]}"
        results = ", ".join(f"%{v}" for v in self.outputs)
        inner = [line for g in self.control.bodies for line in str(g).splitlines()]
        head = f"{results} = {self.op} {self.control} ({operands})"
        return "\n".join([head, *(f"    {line}" for line in inner)])


def _text(attribute: Any) -> str:
    if isinstance(attribute, tuple):
        listed = ", ".join(map(_text, attribute))
        return f"({listed},)" if len(attribute) == 1 else f"({listed})"
    return extent_text(attribute) if isinstance(attribute, Expr) else repr(attribute)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What a graph keeps from one call to the next: an input `value` and what it has `grown`
    to along `axis`, the result that a model calls `result`, in the same memory.
    """

    value: Value
    result: str
    axis: int
    grown: Value


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Nodes in topological order between `inputs` and `outputs`.

    `output_names` are what a caller knows the outputs by (a value may be returned twice). Graphs
    within it have its `sizes`. The last inputs are the values of its `states`, which no caller
    gives.
    """

    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    output_names: tuple[str, ...]
    nodes: tuple[Node, ...]
    sizes: Sizes = ()
    states: tuple[State, ...] = ()

    @property
    def given(self) -> tuple[Value, ...]:
        """The inputs that a caller gives."""
        return self.inputs[: len(self.inputs) - len(self.states)]

    def at(self, values: Mapping[str, int]) -> Graph:
        """The graph of these values of the sizes. Raises InputError for wrong ones."""
        return _AtValues(checked_sizes(self.sizes, values)).graph(self)

    @property
    def is_narrow(self) -> bool:
        """Whether values of 16 bits are computed or read."""
        types = {v.dtype for node in self.nodes for v in (*node.inputs, *node.outputs)}
        return not types.isdisjoint(("float16", "bfloat16"))

    def consumers(self) -> dict[Value, list[Node]]:
        """Value → the nodes that read it, in order, one entry a node."""
        users: dict[Value, list[Node]] = {}
        for node in self.nodes:
            for value in dict.fromkeys(node.inputs):
                users.setdefault(value, []).append(node)
        return users

    def producers(self) -> dict[Value, Node]:
        """Value → the node that computes it; inputs and constants have none."""
        return {value: node for node in self.nodes for value in node.outputs}

    def __str__(self) -> str:
        head = f"graph {self.name}({', '.join(map(str, self.inputs))})"
        returned = ", ".join(
            n if n == v.name else f"{n}={v.name}"
            for n, v in zip(self.output_names, self.outputs, strict=True)
        )
        return "\n".join([f"{head} -> ({returned})", *(f"  {node}" for node in self.nodes)])


class _AtValues:
    """Writes graphs again with numbers for sizes; values that have none of these stay."""

    def __init__(self, values: Mapping[str, int]) -> None:
        self.sizes = values
        self.values: dict[Value, Value] = {}

    def graph(self, graph: Graph) -> Graph:
        inputs = tuple(map(self.value, graph.inputs))
        nodes = tuple(map(self.node, graph.nodes))
        outputs = tuple(map(self.value, graph.outputs))
        return replace(graph, inputs=inputs, nodes=nodes, outputs=outputs, sizes=(), states=())

    def node(self, node: Node) -> Node:
        control = node.control
        if isinstance(control, Refusal | Selection | Append):
            control = replace(control, results=tuple(map(self.value, control.results)))
        if isinstance(control, Selection):
            given = self.attribute((control.limit, *control.numbers))
            control = replace(control, limit=given[0], numbers=given[1:])
        if control is not None:
            control = control.with_bodies([self.graph(g) for g in control.bodies])
        if isinstance(control, Loop):
            control = replace(control, trips=self.attribute(control.trips), growth=())
        return Node(
            node.op,
            tuple(map(self.value, node.inputs)),
            {k: self.attribute(a) for k, a in node.attributes.items()},
            self.value(node.output),
            control,
            tuple(map(self.value, node.more)),
        )

    def value(self, value: Value) -> Value:
        if not value.varies:
            return value
        if value not in self.values:
            self.values[value] = replace(value, extents=self.attribute(value.extents))
        return self.values[value]

    def attribute(self, a: Any) -> Any:
        if isinstance(a, tuple):
            return tuple(map(self.attribute, a))
        return extent_at(a, self.sizes) if isinstance(a, Expr) else a


def verify(graph: Graph) -> None:
    """Check topological order, unique names, constants that match their types, and that extents are
    over the graph's sizes.

    Raises VerifyError naming the node or value that breaks the rule.
    """
    _check_sizes(graph)
    known: set[Value] = set()
    names: dict[str, Value] = {}
    for value in graph.inputs:
        _define(value, known, names)
        if value.is_constant:
            raise VerifyError(f"{graph.name}: input {value} is a constant")
    for node in graph.nodes:
        for value in node.inputs:
            if value not in known and not value.is_constant:
                raise VerifyError(f"{graph.name}: {node} reads {value}, which is not defined yet")
            _check_constant(value)
        for output in node.outputs:
            if output.is_constant:
                raise VerifyError(f"{graph.name}: the output of {node} is a constant")
            _define(output, known, names)
        _check_control(node)
    if len(graph.outputs) != len(graph.output_names):
        raise VerifyError(f"{graph.name}: {len(graph.outputs)} outputs, {graph.output_names=}")
    for value in graph.outputs:
        if value not in known and not value.is_constant:
            raise VerifyError(f"{graph.name}: output {value} is never computed")


def _check_sizes(graph: Graph) -> None:
    names = {s.name for s in graph.sizes}
    for value in (*graph.inputs, *(v for node in graph.nodes for v in node.outputs)):
        unknown = sizes_of(value.extents) - names
        if unknown:
            raise VerifyError(f"{graph.name}: {value} has extents over {sorted(unknown)}")


def _define(value: Value, known: set[Value], names: dict[str, Value]) -> None:
    if value.name in names:
        raise VerifyError(f"two values are called {value.name!r}: {value} and {names[value.name]}")
    as_dtype(value.dtype)
    known.add(value)
    names[value.name] = value


def _check_control(node: Node) -> None:
    """The graphs of a control-flow node are valid, and agree with its inputs and outputs."""
    match node.control:
        case None | Refusal() | Selection() | Append():
            return
        case Loop(body=body) as loop:
            given = [_type(v) for v in node.inputs[loop.counted :]]
            results = [_type(v) for v in node.outputs]
            kept, stacked = results[: loop.carried], results[loop.carried :]
            begins = _at_ends(kept, {g.size.name: g.start for g in loop.growth})
            if given[: loop.carried] != begins:
                raise VerifyError(f"{node}: it begins with {given} where {begins} is meant")
            rows = [(s[1:], d) for s, d in given[loop.carried :][: loop.scanned]]
            inputs = [((), "int64"), *kept, *rows, *given[loop.carried + loop.scanned :]]
            after = _at_ends(kept, {g.size.name: g.after for g in loop.growth})
            pairs = [(body, inputs, [*after, *((s[1:], d) for s, d in stacked)])]
        case Branches() as choice:
            given = [_type(v) for v in node.inputs[1:]]
            pairs = [(g, given, [_type(v) for v in node.outputs]) for g in choice.bodies]
    for graph, inputs, outputs in pairs:
        verify(graph)
        found = [[_type(v) for v in values] for values in (graph.inputs, graph.outputs)]
        if found != [inputs, outputs]:
            raise VerifyError(f"{node}: its graph has {found} where {[inputs, outputs]} is meant")


def _at_ends(
    types: Sequence[tuple[Shape, str]], ends: Mapping[str, Extent]
) -> list[tuple[Shape, str]]:
    """Those of carried values before or after a step."""
    return [
        (tuple(ends.get(e.name, e) if isinstance(e, Var) else e for e in shape), kind)
        for shape, kind in types
    ]


def _type(value: Value) -> tuple[Shape, str]:
    return value.extents, value.dtype


def _check_constant(value: Value) -> None:
    array = value.constant
    if array is not None and (array.shape, as_dtype(array.dtype).name) != (
        value.extents,
        value.dtype,
    ):
        raise VerifyError(f"constant {value} holds {array.dtype}{list(array.shape)}")


def live_nodes(nodes: Iterable[Node], outputs: Iterable[Value]) -> tuple[Node, ...]:
    """The nodes that some output, or an extent of it, depends on, in their order."""
    listed = list(nodes)
    needed, sizes = set(outputs), set[str]()
    if computes := any(computed_sizes(node) for node in listed):
        sizes = {n for v in needed for n in sizes_of(v.extents)}
    kept: list[Node] = []
    for node in reversed(listed):
        made = {s.name for s in computed_sizes(node)} if computes else set()
        is_idle = needed.isdisjoint(node.outputs) and sizes.isdisjoint(made)
        if is_idle and not isinstance(node.control, Append):
            continue
        kept.append(node)
        needed.update(node.inputs)
        if computes:
            sizes.update(sizes_read(node))
    return tuple(reversed(kept))


def sizes_of(what: Any) -> set[str]:
    """The names of the sizes that an attribute, or extents, are over."""
    if isinstance(what, tuple):
        return {name for each in what for name in sizes_of(each)}
    return set(free_vars(what)) if isinstance(what, Expr) else set()


def computed_sizes(node: Node) -> Sizes:
    """The sizes that a node, or one of a graph within it, finds."""
    match node.control:
        case None:
            return ()
        case Selection(size=size):
            return () if size is None else (size,)
        case control:
            grown = [g.size for g in control.growth] if isinstance(control, Loop) else []
            inner = (s for g in control.bodies for n in g.nodes for s in computed_sizes(n))
            return (*grown, *inner)


def sizes_read(node: Node) -> set[str]:
    """The sizes that a node, or one of a graph within it, asks for."""
    values = (*node.inputs, *node.outputs)
    found = sizes_of((*(v.extents for v in values), *node.attributes.values()))
    if isinstance(node.control, Selection):
        found |= sizes_of((node.control.limit, *node.control.numbers))
    elif node.control is not None:
        found |= {s for g in node.control.bodies for n in g.nodes for s in sizes_read(n)}
    if isinstance(node.control, Loop):
        ends = (end for g in node.control.growth for end in (g.start, g.after))
        found |= sizes_of((node.control.trips, *ends))
    return found

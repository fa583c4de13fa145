"""Building graphs: unique names, shape inference from the math, folding of constant movement.

    b = GraphBuilder("g")
    x = b.input("x", (1, 3, 8, 8), "float32")
    y = b.emit("relu", b.transpose(x, (0, 2, 3, 1)))
    graph = b.build([y], ["y"])

Importers and passes build with it. An output's shape and dtype are those of the operator's math,
so nothing is said twice. Transposes and reshapes of constants are done at once; those that change
nothing are not emitted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from tilewright.contract.sizes import Size, Sizes
from tilewright.expr.dtypes import dtype as as_dtype
from tilewright.expr.index.extents import add
from tilewright.expr.nodes import Expr, Extent, Shape, Var
from tilewright.expr.operators.movement import taken_of
from tilewright.expr.operators.shapes import numbers
from tilewright.expr.sizes import least, most, simplified
from tilewright.expr.tensors import canonical
from tilewright.expr.text import extent_text, shape_text
from tilewright.graph.ir import (
    Append,
    Array,
    Attribute,
    Branches,
    Control,
    Graph,
    Loop,
    Node,
    Refusal,
    Selection,
    Value,
    computed_sizes,
    live_nodes,
    sizes_of,
    verify,
)
from tilewright.graph.ops import infer
from tilewright.ground.errors import ExprError

LONGEST_TABLE = 1 << 20
"""Elements of a constant 0, 1, 2, … that sizes are read off."""


class GraphBuilder:
    """Collects nodes; `build` drops dead ones and verifies the result."""

    def __init__(self, name: str, sizes: Sizes = ()) -> None:
        self.name = name
        self.sizes = sizes
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []
        self._names: dict[str, int] = {}
        self.vectors: dict[Value, Array] = {}
        self._computed: dict[Value, Value] = {}
        self._selected: dict[Hashable, tuple[Expr, tuple[Value, ...]]] = {}
        self._checked: dict[Hashable, Value] = {}

    def unique(self, wish: str) -> str:
        """`wish`, or `wish_2`, `wish_3`, … when it is taken."""
        name, number = wish, self._names.get(wish, 1)
        while name in self._names:
            number += 1
            name = f"{wish}_{number}"
        self._names[wish] = number
        self._names.setdefault(name, 1)
        return name

    def input(self, name: str, shape: Sequence[Extent], dtype: str) -> Value:
        """A new graph input."""
        value = Value(self.unique(name), tuple(map(canonical, shape)), as_dtype(dtype).name)
        self.inputs.append(value)
        return value

    def constant(self, name: str, array: Array) -> Value:
        """A value known now. `array` must not be changed afterwards."""
        return Value(self.unique(name), tuple(array.shape), as_dtype(array.dtype).name, array)

    def vector(self, name: str, extents: Array, dtype: str) -> Value:
        """A scalar or vector of whole numbers, some over sizes. Where a node reads it, each is the
        end of as much of a constant 0, 1, 2, …
        """
        value = Value(self.unique(name), extents.shape, as_dtype(dtype).name)
        self.vectors[value] = extents
        return value

    def number(self, name: str, extent: Extent, dtype: str) -> Value:
        """A whole number, which may be over sizes, as a scalar."""
        scalar = np.empty((), object)
        scalar[()] = extent
        if isinstance(extent, int):
            return self.constant(name, scalar.astype(dtype))
        return self.vector(name, scalar, dtype)

    def tensor(self, value: Value) -> Value:
        """`value`, computed where it is a vector."""
        if value not in self.vectors or value in self._computed:
            return self._computed.get(value, value)
        extents, name = self.vectors[value], value.name
        longest = max(most(e, self.sizes) for e in extents.flat)
        if longest > LONGEST_TABLE or min(least(e, self.sizes) for e in extents.flat) < 0:
            listed = shape_text(tuple(extents.flat))
            raise ExprError(f"{name} {listed} may be below 0 or above {LONGEST_TABLE} as a tensor")
        steps = self.constant(f"{name}.steps", np.arange(longest + 1))
        parts = [self.cut(self.cut(steps, 0, 0, add(e, 1)), 0, e, add(e, 1)) for e in extents.flat]
        whole = self.reshape(self.joined(parts, 0), value.extents)
        if whole.dtype != value.dtype:
            whole = self.emit("cast_to", whole, dtype=value.dtype)
        self._computed[value] = whole
        return whole

    def emit(
        self,
        op: str,
        *inputs: Value,
        name: str | None = None,
        **attributes: Attribute,
    ) -> Value:
        """Append `op(inputs; attributes)` and return its output.

        Raises ExprError when the operands do not fit the operator.
        """
        inputs = tuple(map(self.tensor, inputs))
        shape, dtype = infer(op, inputs, attributes)
        output = Value(self.unique(name or op), shape, dtype)
        self.nodes.append(Node(op, inputs, attributes, output))
        return output

    def control(
        self, what: Control, inputs: Sequence[Value], name: str | None = None
    ) -> tuple[Value, ...]:
        """Append a control-flow node, whose outputs are returned."""
        match what:
            case Loop():
                op, trips, end = "loop", what.trips, what.carried
                results = (*what.body.inputs[1 : 1 + end], *what.body.outputs[end:])
                self._check_rows(what)
                rows = (0 if trips is None else trips,)
                leading: list[Shape] = [()] * what.carried + [rows] * what.stacked
            case Branches():
                op, results = "if", what.then.outputs
                leading = [()] * len(results)
            case Refusal() | Append():
                op = "refuse" if isinstance(what, Refusal) else "append"
                results = what.results
                leading = [()] * len(results)
            case Selection():
                op, results = "select", what.results
                leading = [()] * len(results)
        outputs = [
            Value(self.unique(name or op), (*rows, *v.extents), v.dtype)
            for v, rows in zip(results, leading, strict=True)
        ]
        given = tuple(map(self.tensor, inputs))
        self.nodes.append(Node(op, given, {}, outputs[0], what, tuple(outputs[1:])))
        self._know(computed_sizes(self.nodes[-1]))
        return tuple(outputs)

    def select(
        self,
        kind: str,
        inputs: Sequence[Value],
        shapes: Callable[[Expr], Sequence[Shape]],
        most: int,
        name: str,
        numbers: Sequence[Extent] = (),
        limit: Extent | None = None,
        reason: str = "",
    ) -> tuple[Expr, tuple[Value, ...]]:
        """A size from 0 to `most`, as many as a library function finds (see `Selection`), and that:
        int64 arrays of the `shapes` for this size; the same for the same question. `limit` is what
        it may be in this call.
        """
        key = (kind, tuple(inputs), tuple(numbers), most, limit)
        if key not in self._selected:
            size = self.new_size(name, most)
            given = [Value(name, tuple(s), "int64") for s in shapes(Var(size.name))]
            end = size.most if limit is None else limit
            what = Selection(kind, tuple(given), tuple(numbers), size, end, reason)
            self._selected[key] = Var(size.name), self.control(what, inputs, name)
        return self._selected[key]

    def checked(self, value: Value, wanted: Extent, reason: str) -> Value:
        """Whole numbers that are all `wanted`: else the run ends with the `reason`. The same for
        the same question.
        """
        key = value, wanted, reason
        if key not in self._checked:
            number = self.number(f"{value.name}.n", wanted, value.dtype)
            gap = self.emit("absolute", self.emit("subtract", value, number))
            gap = self.emit("reduce_max", gap, axes=tuple(range(gap.rank)), keepdims=False)
            fits = self.emit("equal", gap, self.constant("zero", np.zeros((), gap.dtype)))
            then, refused = (BodyBuilder(f"{value.name}.{n}", self.sizes) for n in ("then", "else"))
            then.share([value])
            refused.share([value])
            others = refused.control(Refusal(reason, (value,)), (), "refused")
            choice = Branches(then.finish(then.inputs), refused.finish(others))
            (self._checked[key],) = self.control(choice, [fits, value], value.name)
        return self._checked[key]

    def renamed(self, value: Value, axis: int, extent: Extent, size: Size) -> Value:
        """`value` with `size`, which becomes its `extent` along `axis`, in place of that."""
        length = self.number(f"{value.name}.n", extent, "int64")
        what = Selection("number", (Value("n", (), "int64"),), size=size, limit=size.most)
        self.control(what, [length], f"{value.name}.n")
        steps = self.constant(f"{value.name}.steps", np.arange(size.most))
        return self.emit("gather", value, self.cut(steps, 0, 0, Var(size.name)), axis=axis)

    def new_size(self, name: str, most: int) -> Size:
        """A size that a run computes, from 0 to `most`, called after a value. It is pitched: memory
        may be in use by then.
        """
        return Size(self._size_name(name), 0, max(1, most), computed=True, pitched=True)

    def _know(self, computed: Sizes) -> None:
        """Have these sizes, too. Raises ExprError where another one is called so."""
        known = {s.name: s for s in self.sizes}
        if any(known.get(s.name, s) != s for s in computed):
            listed = ", ".join(map(str, computed))
            raise ExprError(f"graphs within it compute other sizes of the same names: {listed}")
        self.sizes += tuple(s for s in dict.fromkeys(computed) if s.name not in known)

    def _check_rows(self, loop: Loop) -> None:
        """Raise ExprError for rows whose extents are another step's own."""
        own = {s.name for node in loop.body.nodes for s in computed_sizes(node)}
        own |= {g.size.name for g in loop.growth}
        for value in loop.body.outputs[loop.carried :]:
            if own & sizes_of(value.extents):
                raise ExprError(f"each step gives {value}, as many as it finds")

    def _size_name(self, wish: str) -> str:
        """A size's name that no other has, nor an axis of an operator, which are short."""
        plain = re.sub(r"\W", "_", f"{wish}_count").lstrip("_")
        plain = f"v{plain}" if plain[0].isdigit() else plain
        known = {s.name for s in self.sizes}
        name = plain
        number = 1
        while name in known:
            number += 1
            name = f"{plain}_{number}"
        return name

    def copy(self, node: Node, inputs: Sequence[Value], **changes: Attribute) -> Value:
        """`node` again on other inputs, with `changes` to its attributes, under its name."""
        attributes = {**node.attributes, **changes}
        return self.emit(node.op, *inputs, name=node.output.name, **attributes)

    def again(self, node: Node, inputs: Sequence[Value]) -> tuple[Value, ...]:
        """The outputs of `node`, control flow or not, on other inputs."""
        if node.control is None:
            return (self.copy(node, inputs),)
        return self.control(node.control, inputs, node.output.name)

    def transpose(self, x: Value, permutation: Sequence[int], name: str | None = None) -> Value:
        """`x` with dimension `permutation[d]` as its dimension d."""
        perm = tuple(int(p) for p in permutation)
        if sorted(perm) != list(range(x.rank)):
            raise ExprError(f"transpose of {x}: {perm} is no permutation of its dimensions")
        if perm == tuple(range(x.rank)):
            return x
        if x.constant is not None:
            array = np.ascontiguousarray(x.constant.transpose(perm))
            return self.constant(name or f"{x.name}.t", array)
        return self.emit("transpose", x, name=name or f"{x.name}.t", permutation=perm)

    def reshape(self, x: Value, shape: Sequence[Extent], name: str | None = None) -> Value:
        """`x` row by row in another `shape`."""
        dims = tuple(map(canonical, shape))
        if dims == x.extents:
            return x
        if x.constant is not None:
            return self.constant(name or f"{x.name}.r", x.constant.reshape(numbers(dims, x.name)))
        return self.emit("reshape", x, name=name or f"{x.name}.r", shape=dims)

    def cut(self, x: Value, axis: int, low: Extent, high: Extent, name: str | None = None) -> Value:
        """`x[low:high]` along `axis`."""
        if (low, high) == (0, x.extents[axis]):
            return x
        if x.constant is not None and isinstance(low, int) and isinstance(high, int):
            part = x.constant[(slice(None),) * axis + (slice(low, high),)]
            return self.constant(f"{name or x.name}.c", part)
        return self.sliced(x, (low,), (high,), (1,), (axis,), name or f"{x.name}.at")

    def sliced(
        self,
        x: Value,
        starts: Sequence[Extent],
        stops: Sequence[Extent],
        steps: Sequence[int],
        axes: Sequence[int],
        name: str,
    ) -> Value:
        """`x[start:stop:step]` along `axes`, as NumPy slices. Raises ExprError for ends of which it
        depends on sizes whether they count from the end.
        """
        ends: dict[str, Attribute] = {
            "starts": tuple(starts), "stops": tuple(stops), "steps": tuple(steps),
            "axes": tuple(axes),
        }  # fmt: skip
        if x.varies or not all(isinstance(e, int) for e in (*starts, *stops)):
            rows = zip(axes, starts, stops, steps, strict=True)
            taken = [self._taken(x.extents[a], low, high, step) for a, low, high, step in rows]
            ends["starts"], ends["lengths"] = (tuple(t[i] for t in taken) for i in (0, 2))
        return self.emit("strided_slice", x, name=name, **ends)

    def _taken(self, extent: Extent, low: Extent, high: Extent, step: int) -> Sequence[Extent]:
        for end in (low, high):
            if least(end, self.sizes) < 0 and not isinstance(end, int):
                raise ExprError(f"the end {extent_text(end)} of a slice may be negative or not")
        found = taken_of(extent, low, high, step, "slice")
        return [simplified(e, self.sizes) for e in found]

    def take(self, x: Value, at: int, axis: int = 0, name: str | None = None) -> Value:
        """`x[.., at, ..]` without dimension `axis`."""
        part = self.cut(x, axis, at, at + 1, name)
        return self.reshape(part, (*x.extents[:axis], *x.extents[axis + 1 :]))

    def joined(self, parts: Sequence[Value], axis: int, name: str | None = None) -> Value:
        """`parts` one after the other along `axis`."""
        return parts[0] if len(parts) == 1 else self.emit("concat", *parts, name=name, axis=axis)

    def stacked(self, parts: Sequence[Value], axis: int, name: str | None = None) -> Value:
        """Equal shapes joined along a new dimension `axis`."""
        wide = [self.reshape(p, (*p.extents[:axis], 1, *p.extents[axis:])) for p in parts]
        return self.joined(wide, axis, name)

    def maker(self, value: Value) -> Node | None:
        """The node that computes `value`; None for an input or a constant."""
        return next((n for n in reversed(self.nodes) if value in n.outputs), None)

    def build(self, outputs: Sequence[Value], output_names: Sequence[str]) -> Graph:
        """The verified graph of the nodes that `outputs` depend on."""
        outputs = [self.tensor(v) for v in outputs]
        nodes = live_nodes(self.nodes, outputs)
        made, kept = ({s for n in each for s in computed_sizes(n)} for each in (self.nodes, nodes))
        graph = Graph(
            self.name,
            tuple(self.inputs),
            tuple(outputs),
            tuple(output_names),
            nodes,
            tuple(s for s in self.sizes if s not in made - kept),
        )
        verify(graph)
        return graph


class BodyBuilder(GraphBuilder):
    """A builder of a graph within another one: what it reads of that becomes an input.

    body = BodyBuilder("step")
    t = body.input("t", (), "int64")          of a loop; a branch has captured inputs only
    h, row = body.carry(h0), body.row(x)      before anything is captured
    w = body.capture(weights)
    loop = Loop(body.finish([body.emit("multiply", h, w)]), …)
    outer.control(loop, [h0, x, *body.captured])
    """

    def __init__(self, name: str, sizes: Sizes = ()) -> None:
        super().__init__(name, sizes)
        self._inner: dict[Value, Value] = {}

    @property
    def captured(self) -> tuple[Value, ...]:
        """The values of the graph around, in the order of the inputs."""
        return tuple(self._inner)

    def carry(self, start: Value, extents: Shape | None = None) -> Value:
        """What a loop carries, `start` at first; of other `extents` where these change."""
        return self.input(start.name, start.extents if extents is None else extents, start.dtype)

    def row(self, array: Value) -> Value:
        """The row of `array` that belongs to a step."""
        return self.input(f"{array.name}.row", array.extents[1:], array.dtype)

    def capture(self, value: Value) -> Value:
        """What `value` of the graph around is in this one; constants are themselves."""
        if value.is_constant:
            return value
        if value not in self._inner:
            self._inner[value] = self.input(value.name, value.extents, value.dtype)
        return self._inner[value]

    def share(self, others: Sequence[Value]) -> None:
        """Capture `others` and nothing else: the inputs of both branches of a choice."""
        self.inputs = [self.capture(v) for v in others]
        self._inner = {v: self._inner[v] for v in others}

    def finish(self, outputs: Sequence[Value]) -> Graph:
        """The graph."""
        return self.build(outputs, [f"{v.name}" for v in outputs])


class Rewriter:
    """A pass over `graph` in order: maps each old value to its replacement in a new graph.

    r = Rewriter(graph)
    for node in graph.nodes:
        r.replace(node.output, r.builder.copy(node, r.operands(node)))
    return r.finish()
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.builder = GraphBuilder(graph.name, graph.sizes)
        self.values: dict[Value, Value] = {
            v: self.builder.input(v.name, v.extents, v.dtype) for v in graph.inputs
        }

    def value(self, old: Value) -> Value:
        """The replacement of `old`; constants replace themselves."""
        return old if old.is_constant and old not in self.values else self.values[old]

    def operands(self, node: Node) -> tuple[Value, ...]:
        """The replacements of `node`'s inputs."""
        return tuple(self.value(v) for v in node.inputs)

    def replace(self, old: Value, new: Value) -> None:
        """Uses of `old` become uses of `new`."""
        self.values[old] = new

    def keep(self, node: Node) -> None:
        """`node` as it is, on the replacements of its inputs."""
        outputs = self.builder.again(node, self.operands(node))
        self.values.update(zip(node.outputs, outputs, strict=True))

    def finish(self) -> Graph:
        """The new graph."""
        outputs = [self.value(v) for v in self.graph.outputs]
        return self.builder.build(outputs, self.graph.output_names)

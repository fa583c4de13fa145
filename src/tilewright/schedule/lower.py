"""Lowering: a schedule state becomes a loop nest.

    lower(state, "gemm") -> Lowered(program, layouts)

Every root stage becomes a loop nest in topological order; attached stages stand inside the loops
of their targets, wrapped in the `Alloc` of their window. A reduction is initialised just before
its outermost reduction loop. Indices stay logical. A tile that may run past its extent is guarded
by an `If` around the store, so padded iterations neither read, write nor accumulate. Storage that
threads share is used again where its lives allow (`nest.lifetimes`), and between conflicting
accesses of it stands a `Barrier`.

The same code lowers concrete states (ints; loops of extent 1 vanish) and sketches (decision
variables; a position decision gives a `Hoist`, a parallel-prefix decision a `For.when`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import reduce

from tilewright.expr.index.intervals import Interval, interval
from tilewright.expr.index.simplify import affine, simplify
from tilewright.expr.nodes import (
    Axis,
    Const,
    Expr,
    Extent,
    Read,
    Reduce,
    Tensor,
    Var,
    as_expr,
    binary,
    select,
)
from tilewright.expr.traversal import reads, substitute, with_reads
from tilewright.ground.errors import ScheduleError
from tilewright.nest.gpu.barriers import with_barriers
from tilewright.nest.gpu.lifetimes import with_slots
from tilewright.nest.marks import MARKS, Marks, marks
from tilewright.nest.nodes import (
    EMPTY,
    Alloc,
    For,
    Hoist,
    If,
    Kind,
    Node,
    Program,
    Scope,
    Store,
    seq,
)
from tilewright.nest.operations import operations
from tilewright.schedule.bounds import Bounds, in_fused, infer_bounds, loop_ranges, loop_var
from tilewright.schedule.forms import FORMS, Place
from tilewright.schedule.stage_steps import neutral
from tilewright.schedule.state import (
    FuseRelation,
    InForm,
    Mapped,
    SplitRelation,
    Stage,
    State,
    extent_int,
)


@dataclass(frozen=True, slots=True)
class Layout:
    """How a packed constant is made: dimension d of `source` is split into `splits[d]`, the
    parts (of all dimensions, in order) are then permuted by `permutation`. The program reads that
    as a tensor of `shape` (None: of one dimension a part).
    """

    source: Tensor
    splits: tuple[tuple[Extent, ...], ...]
    permutation: tuple[int, ...]
    shape: tuple[Extent, ...] | None = None

    @property
    def packed_shape(self) -> tuple[Extent, ...]:
        if self.shape is not None:
            return self.shape
        parts = [p for split in self.splits for p in split]
        return tuple(parts[i] for i in self.permutation)


@dataclass(frozen=True, slots=True)
class Lowered:
    """A program and the layouts of its constants (those not listed are as given).

    `mapped` says which constants are computed from others; a layout is that of the result.
    `rounding` is the state's.
    """

    program: Program
    layouts: dict[str, Layout]
    mapped: dict[str, Mapped] = field(default_factory=dict)
    rounding: float = 1.0


def lower(state: State, name: str, bounds: Bounds | None = None) -> Lowered:
    """Lower a state to a program; see the module's docstring. `bounds` are the state's, where they
    are known.
    """
    if bounds is None:
        state = with_grid(state) if state.dag.sizes else state
        bounds = infer_bounds(state)
    return _Lowering(state, bounds).run(name)


def with_grid(state: State) -> State:
    """The state with fused block loops as their parts, a dimension of the grid each: a launch
    multiplies extents, and no block is told apart from others by a division by a size.
    """
    found = state.copy()
    for stage in found.stages.values():
        for relation in [*stage.relations[::-1]]:
            if not isinstance(relation, FuseRelation) or relation.fused not in stage.leaves:
                continue
            if stage.kinds.get(relation.fused) is Kind.BLOCK:
                stage.replace_leaves((relation.fused,), relation.parts)
                stage.relations.remove(relation)
                stage.kinds |= dict.fromkeys(relation.parts, Kind.BLOCK)
    return found


@dataclass(slots=True)
class _StageLoop:
    """One loop of a stage, ready to be built."""

    stage: str
    leaf: str
    extent: Extent
    level: int
    reduce: bool

    @property
    def var(self) -> Var:
        return loop_var(self.stage, self.leaf)


class _Lowering:
    def __init__(self, state: State, bounds: Bounds) -> None:
        self.state = state
        self.bounds = bounds
        self.ranges: dict[str, Interval] = loop_ranges(state, bounds)
        self.layouts: dict[str, Layout] = {}
        self.packed: dict[str, Tensor] = {}

    def run(self, name: str) -> Lowered:
        dag = self.state.dag
        stages = list(self.state.stages.values())
        self._plan_layouts()
        roots = [s for s in stages if s.attach is None]
        body: Node | None = None
        for stage in reversed(roots):
            nest = self.nest(stage)
            body = nest if body is None else seq(nest, body)
            if not self.state.is_output(stage.name):
                body = self.alloc(stage, body)
        assert body is not None
        constants = tuple(self.packed.get(t.name, t) for t in self.state.constants)
        body = with_barriers(with_slots(body))
        interface = (dag.inputs, constants, self.state.tables, dag.outputs)
        program = Program(name, *interface, body, dag.sizes)
        return Lowered(program, self.layouts, self.state.mapped, self.state.rounding)

    # ---- one stage --------------------------------------------------------------------------

    def alloc(self, stage: Stage, body: Node) -> Node:
        b = self.bounds[stage.name]
        if stage.attach is None and stage.scope is Scope.SHARED:
            raise ScheduleError(f"{stage.name} is shared by a block, but computed outside of all")
        return Alloc(self.storage(stage.tensor), b.base, body, stage.scope)

    def storage(self, tensor: Tensor) -> Tensor:
        """The tensor that a nest names: its storage shape, without its definition."""
        if tensor.name in self.packed:
            return self.packed[tensor.name]
        if tensor.name not in self.state.stages or self.state.is_output(tensor.name):
            return tensor
        return replace(tensor, shape=self.bounds[tensor.name].shape, source=None)

    def loops(self, stage: Stage) -> list[_StageLoop]:
        extents = self.bounds[stage.name].extents
        return [
            _StageLoop(stage.name, leaf, extents[leaf], level, stage.is_reduction(leaf))
            for level, group in enumerate(stage.groups)
            for leaf in group
        ]

    def nest(self, stage: Stage) -> Node:
        """The loops of a stage with everything attached inside."""
        loops = self.loops(stage)
        if stage.form is not None:
            return self.formed(stage, stage.form, loops)
        moving = [i for i, loop in enumerate(loops) if loop.reduce and loop.extent != 1]
        first_reduce = moving[0] if moving else None
        body = self.store(stage, accumulate=first_reduce is not None)
        for i in reversed(range(len(loops))):
            if i + 1 == len(loops) or loops[i + 1].level != loops[i].level:
                body = self.with_attached(stage, loops[i].level, body)
            body = self.loop(stage, loops, i, body)
            if i == first_reduce:
                body = seq(self.init(stage, loops, i), body)
        return body

    def formed(self, stage: Stage, form: InForm, loops: list[_StageLoop]) -> Node:
        """A stage in its form, inside of the loops that stand around it."""
        found = FORMS[form.name].match(stage.compute)
        if found is None:
            raise ScheduleError(f"{stage.name} is {form.name} no more after what was inlined")
        place = Place(
            self.storage(stage.tensor),
            stage.compute.axes,
            lambda e, at: self.lowered(stage, substitute(e, dict(at))),
            form.lanes,
        )
        body = found.nest(place)
        for i in reversed(range(form.around)):
            body = self.loop(stage, loops, i, body)
        return body

    def loop(self, stage: Stage, loops: list[_StageLoop], i: int, body: Node) -> Node:
        loop = loops[i]
        if loop.extent == 1 or body == EMPTY:
            return body
        is_outermost = all(outer.extent == 1 for outer in loops[:i])
        said = marks_of(stage, For) if is_outermost else ()
        kind = stage.kinds.get(loop.leaf, Kind.SERIAL)
        if isinstance(stage.parallel, int):
            if i < stage.parallel:
                kind = Kind.PARALLEL
            return For(loop.var, loop.extent, body, kind, None, said)
        if kind is Kind.SERIAL and not loop.reduce:
            when = as_expr(stage.parallel) > i
            return For(loop.var, loop.extent, body, Kind.PARALLEL, when, said)
        return For(loop.var, loop.extent, body, kind, None, said)

    def with_attached(self, stage: Stage, level: int, body: Node) -> Node:
        """`body` preceded by the stages attached at this tile level of `stage`, in the storage that
        stands there.
        """
        last = len(stage.groups) - 1
        for child in reversed(self.state.attached(stage.name)):
            assert child.attach is not None
            at = child.attach.level
            if at == level if isinstance(at, int) else level == last:
                nest = self.nest(child)
                if not isinstance(at, int):
                    nest = self.hoisted(stage, at, nest)
                body = seq(nest, body)
                if child.store is None:
                    body = self.alloc(child, body)
        for child in reversed(self.state.stored(stage.name)):
            assert child.store is not None
            at = child.store.level
            if at == level if isinstance(at, int) else level == last:
                body = self.alloc(child, body)
        return body

    def hoisted(self, target: Stage, position: Expr, body: Node) -> Node:
        loops = self.loops(target)
        live = tuple(position >= loop.level for loop in loops)
        return Hoist(tuple(loop.var for loop in loops), live, body)

    def init(self, stage: Stage, loops: list[_StageLoop], at: int) -> Node:
        """Fill the accumulators that the loops from the outermost reduction (`at`) on update."""
        assert isinstance(stage.compute.body, Reduce)
        value = neutral(stage.compute.body.op, stage.tensor)
        first = Store(
            self.storage(stage.tensor), self.indices(stage), value, operations=(), initial=True,
            marks=marks_of(stage, Store),
        )  # fmt: skip
        body = self.guarded(stage, stage.compute.axes, first)
        moving = [loop for loop in loops[at:] if not loop.reduce and loop.extent != 1]
        is_outermost = all(outer.extent == 1 for outer in loops[:at])
        for loop in reversed(moving):
            if body != EMPTY:
                kind = stage.kinds.get(loop.leaf, Kind.SERIAL)
                said = marks_of(stage, For) if is_outermost and loop is moving[0] else ()
                body = For(loop.var, loop.extent, body, kind, None, said)
        return body

    def indices(self, stage: Stage) -> tuple[Expr, ...]:
        values = self.bounds[stage.name].values
        return tuple(values[a.name] for a in stage.compute.axes)

    def store(self, stage: Stage, accumulate: bool) -> Node:
        """The innermost statement. `accumulate` is False where the reduction has one iteration."""
        source = stage.compute
        body = source.term
        op = source.body.op if isinstance(source.body, Reduce) and accumulate else None
        value = self.lowered(stage, body)
        axes = frozenset(a.name for a in stage.axes)
        node = Store(
            self.storage(stage.tensor), self.indices(stage), value, op,
            operations=operations(body, op, stage.tensor.dtype, axes),
            marks=marks_of(stage, Store),
        )  # fmt: skip
        return self.guarded(stage, stage.axes, node)

    def lowered(self, stage: Stage, e: Expr) -> Expr:
        """A body with axes replaced by loops, reads redirected to their storage."""
        values = self.bounds[stage.name].values

        def access(tensor: Tensor, indices: tuple[Expr, ...]) -> Expr:
            if tensor.name in stage.packed:
                return self.packed_read(stage, Read(tensor, indices))
            return Read(self.storage(tensor), indices)

        return simplify(substitute(with_reads(e, access), values), self.ranges)

    def guarded(self, stage: Stage, axes: tuple[Axis, ...], node: Node) -> Node:
        """`node` under the conditions that keep every axis inside its extent and its window, and
        every loop that was split inside its own (else an iteration would run twice).

        A sketch has no guards: they depend on the tile sizes.
        """
        if any(r.hi is None for r in self.ranges.values()):
            return node
        tests: dict[Expr, None] = {}
        for value, extent in self.limits(stage, axes):
            reach = interval(value, self.ranges)
            if not isinstance(extent, int) or reach.hi is None or reach.hi >= extent:
                tests[simplify(value < extent, self.ranges)] = None
            if reach.lo is None or reach.lo < 0:
                tests[simplify(value >= 0, self.ranges)] = None
        if any(isinstance(t, Const) and not t.value for t in tests):
            return EMPTY  # a window that lies wholly outside its tensor is never computed
        open_tests: list[Expr] = [t for t in tests if not isinstance(t, Const)]
        if not open_tests:
            return node
        return If(reduce(lambda x, y: binary("and", x, y), open_tests), node)

    def limits(self, stage: Stage, axes: tuple[Axis, ...]) -> Iterator[tuple[Expr, Extent]]:
        """Expressions with the extents that they must stay below."""
        b = self.bounds[stage.name]
        for relation in stage.relations:
            match relation:
                case SplitRelation(parent) if stage.root_axis(parent) in axes:
                    yield b.positions[parent], b.extents[parent]
                case FuseRelation((_, *inner), fused) if stage.root_axis(fused) in axes:
                    varying = (
                        p
                        for p in inner
                        if in_fused(b.extents[p], self.bounds.sizes) != b.extents[p]
                    )
                    yield from ((b.positions[p], b.extents[p]) for p in varying)
        for axis in axes:
            if stage.attach is not None and not axis.reduce:
                yield b.values[axis.name], axis.extent
        if stage.store is not None:
            for axis, base, extent in zip(stage.compute.axes, b.base, b.shape, strict=True):
                yield b.values[axis.name] - base, extent

    # ---- packed constants -------------------------------------------------------------------

    def _plan_layouts(self) -> None:
        for stage in self.state.stages.values():
            for name in stage.packed:
                read = next(r for r in reads(stage.compute.body) if r.tensor.name == name)
                layout, _ = self._layout(stage, read)
                self.layouts[name] = layout
                self.packed[name] = replace(read.tensor, shape=layout.packed_shape)

    def packed_read(self, stage: Stage, read: Read) -> Read:
        _, order = self._layout(stage, read)
        return Read(self.packed[read.tensor.name], tuple(order))

    def _layout(self, stage: Stage, read: Read) -> tuple[Layout, list[Expr]]:
        """Split every dimension by the loops that index it; order the parts as the loops nest.

        A dimension that its loops do not make up exactly (a window of it, overlapping tiles) stays
        whole and comes first.
        """
        chain = self._chain(stage)
        place = {loop.var.name: i for i, loop in enumerate(chain)}
        splits: list[tuple[Extent, ...]] = []
        parts: list[tuple[int, Expr]] = []
        for d, index in enumerate(read.indices):
            value = simplify(substitute(index, self.bounds[stage.name].values), self.ranges)
            loops = self._radix(read, d, value, chain) if isinstance(index, Var) else []
            if not loops:
                splits.append((read.tensor.shape[d],))
                parts.append((-1, as_expr(0) if read.tensor.shape[d] == 1 else value))
                continue
            splits.append(tuple(loop.extent for loop in loops))
            parts.extend((place[loop.var.name], loop.var) for loop in loops)
        permutation = tuple(sorted(range(len(parts)), key=lambda i: parts[i][0]))
        layout = Layout(read.tensor, tuple(splits), permutation)
        return layout, [parts[i][1] for i in permutation]

    def _chain(self, stage: Stage) -> list[_StageLoop]:
        """All loops around the stage's statement, outermost first."""
        own = self.loops(stage)
        if stage.attach is None:
            return own
        target, level = stage.attach.target, stage.attach.level
        around = self._chain(self.state[target])
        if isinstance(level, int):
            around = [loop for loop in around if loop.stage != target or loop.level <= level]
        else:
            around = [_masked(loop, level) if loop.stage == target else loop for loop in around]
        return around + own

    def _radix(self, read: Read, d: int, value: Expr, chain: list[_StageLoop]) -> list[_StageLoop]:
        """The loops that make up an index, outermost first; none where the dimension stays whole.

        They must be a mixed radix that starts at 0 and covers the dimension. In a sketch the
        tiles nest in loop order by construction.
        """
        split = affine(value, [loop.var.name for loop in chain])
        if split is None or split[1] != as_expr(0):
            return []
        sizes, _ = split
        loops = [loop for loop in chain if loop.var.name in sizes and loop.extent != 1]
        if not all(isinstance(sizes[loop.var.name], Const) for loop in loops):
            return loops
        strides = {loop.var.name: extent_int(sizes[loop.var.name]) for loop in loops}
        loops.sort(key=lambda loop: -strides[loop.var.name])
        covered = 1
        for loop in reversed(loops):
            if strides[loop.var.name] != covered:
                return []
            covered *= extent_int(loop.extent)
        return loops if covered >= extent_int(read.tensor.shape[d]) else []


def marks_of(stage: Stage, node: type[For | Store]) -> Marks:
    """A stage's marks for such nodes."""
    return marks(**{n: v for n, v in stage.marks.items() if MARKS[n].node == node.__name__})


def _masked(loop: _StageLoop, position: Expr) -> _StageLoop:
    """The loop where a position decision puts it outside; elsewhere it has extent 1."""
    extent = select(position >= loop.level, as_expr(loop.extent), as_expr(1))
    return loop if loop.extent == 1 else replace(loop, extent=extent)

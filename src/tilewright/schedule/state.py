"""The schedule state: what every transform step edits.

    state = State(ComputeDAG([C]))
    state.apply(SplitRelation("C", "i", (4, 8)))          # i -> i.0, i.1 (4), i.2 (8)
    state.apply(Reorder("C", (("i.0", "j"), ("k",), ("i.1", "i.2"))))
    print_program(lower(state, "gemm"))

A `Stage` is one tensor being computed: its loops (*leaves*) in order, grouped in *tile levels*,
the relations that made them from the stage's axes, annotations, and where it is attached. Tile
sizes are extents: ints in a concrete schedule, expressions over decision variables in a sketch.
`state.apply(step)` records the step in `state.trace`; `tilewright.schedule.steps` has one class a
step, and replaying the trace on the same DAG gives the same state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import ClassVar, TypeAlias

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Axis, Extent, Tensor
from tilewright.expr.rewrites.winograd import LinearMap
from tilewright.expr.tensors import Compute
from tilewright.expr.text import extent_text
from tilewright.expr.traversal import reads
from tilewright.ground.errors import ScheduleError
from tilewright.nest.nodes import Kind, Scope


@dataclass(frozen=True, slots=True)
class SplitRelation:
    """`parent` became `children`, outermost first; `lengths` are those of all but the first."""

    parent: str
    children: tuple[str, ...]
    lengths: tuple[Extent, ...]


@dataclass(frozen=True, slots=True)
class FuseRelation:
    """Adjacent `parts`, outermost first, became the one loop `fused`."""

    parts: tuple[str, ...]
    fused: str


@dataclass(frozen=True, slots=True)
class At:
    """Computed inside the loops of stage `target` up to and including tile level `level`."""

    target: str
    level: Extent


Relation: TypeAlias = SplitRelation | FuseRelation


@dataclass(frozen=True, slots=True)
class Mapped:
    """How a constant that a step made is computed from `source`, once, before anything runs."""

    source: Tensor
    maps: tuple[LinearMap, ...]


@dataclass(frozen=True, slots=True)
class InForm:
    """A form (`schedule/forms`) by its name, the lanes of its vectors, and how many of the stage's
    leading loops stand around it.
    """

    name: str
    lanes: int
    around: int


class Role(Enum):
    """What a stage is for."""

    RESULT = "results"
    CACHE = "results, before they are copied"
    PARTIAL = "sums of a part of the terms"
    TOTAL = "sums of those"
    PACKED = "a factor in the order of dots"


@dataclass(slots=True)
class Stage:
    """One computed tensor under transformation.

    `node` is what it is in the DAG, or is made of; `work` the stage whose work it does: of a write
    cache, the one that copies it.
    `groups` are the tile levels, outermost first, each a list of leaves. `attach` None means at
    the root. `parallel` is how many of the outermost leaves run as one parallel region.
    `packed` names constants stored in the order of this stage's loops. `scope` says which threads
    of a GPU see the tensor where it is attached. `marks` are those of `nest.marks`. One in a `form`
    has no loops to change but the leading ones that stand around it.
    """

    tensor: Tensor
    groups: list[list[str]]
    node: str
    work: str
    role: Role = Role.RESULT
    relations: list[Relation] = field(default_factory=list)
    kinds: dict[str, Kind] = field(default_factory=dict)
    parallel: Extent = 0
    attach: At | None = None
    store: At | None = None
    packed: tuple[str, ...] = ()
    scope: Scope = Scope.LOCAL
    marks: dict[str, Extent] = field(default_factory=dict)
    form: InForm | None = None

    @property
    def name(self) -> str:
        return self.tensor.name

    @property
    def compute(self) -> Compute:
        assert isinstance(self.tensor.source, Compute)
        return self.tensor.source

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Spatial axes, then reduction axes."""
        return self.compute.axes + self.compute.reduce_axes

    @property
    def leaves(self) -> list[str]:
        """All loops, outermost first."""
        return [leaf for group in self.groups for leaf in group]

    def is_reduction(self, leaf: str) -> bool:
        """Whether a leaf comes from a reduction axis (fusing both kinds is not allowed)."""
        return self.root_axis(leaf).reduce

    def root_axis(self, leaf: str) -> Axis:
        """An axis that `leaf` descends from (the first one, for a fused loop)."""
        name = leaf
        for relation in reversed(self.relations):
            if isinstance(relation, SplitRelation) and name in relation.children:
                name = relation.parent
            elif isinstance(relation, FuseRelation) and name == relation.fused:
                name = relation.parts[0]
        for axis in self.axes:
            if axis.name == name:
                return axis
        raise ScheduleError(f"stage {self.name} has no loop {leaf!r}; it has {self.leaves}")

    def require(self, leaf: str) -> None:
        """Raise ScheduleError unless `leaf` is a loop of this stage."""
        if leaf not in self.leaves:
            raise ScheduleError(f"stage {self.name} has no loop {leaf!r}; it has {self.leaves}")

    def replace_leaves(self, old: Sequence[str], new: Sequence[str]) -> None:
        """Put `new` where the adjacent leaves `old` stand (in the group of the first)."""
        for group in self.groups:
            if old[0] in group:
                at = group.index(old[0])
                if group[at : at + len(old)] != list(old):
                    raise ScheduleError(f"{self.name}: loops {list(old)} are not adjacent")
                group[at : at + len(old)] = list(new)
                return
        self.require(old[0])

    def copy(self) -> Stage:
        """An independent copy (relations and tensors are immutable and shared)."""
        return replace(
            self,
            groups=[list(g) for g in self.groups],
            relations=list(self.relations),
            kinds=dict(self.kinds),
            marks=dict(self.marks),
        )


def new_stage(tensor: Tensor) -> Stage:
    """A stage with its axes as loops, each a tile level of its own."""
    stage = Stage(tensor, [], tensor.name, tensor.name)
    stage.groups = [[axis.name] for axis in stage.axes]
    return stage


@dataclass(frozen=True, slots=True)
class Step:
    """Base of all steps, frozen values with a JSON form (`trace`). Extents may be ints or
    expressions over decision variables. `suits_forms`: it may be applied to a stage that has a
    form.
    """

    name: ClassVar[str]
    suits_forms: ClassVar[bool] = False

    def apply(self, state: State) -> None:
        """Rewrite `state`; raises ScheduleError when the step is illegal there."""
        raise ScheduleError(f"{type(self).__name__} cannot be applied")


def extent_int(e: Extent) -> int:
    """The int behind an extent; ScheduleError where a decision is unbound, and for a size."""
    value = getattr(e, "value", e)
    if not isinstance(value, int):
        raise ScheduleError(f"the extent {extent_text(e)} is no number")
    return value


class State:
    """A schedule under construction: stages in topological order and the trace so far.

    `constants` and `tables` are the DAG's until a step puts others in their place; `mapped` says
    what became of which constant. `rounding` is by how much rounding errors exceed those of the
    DAG's own sums.
    """

    def __init__(self, dag: ComputeDAG) -> None:
        self.dag = dag
        self.stages: dict[str, Stage] = {t.name: new_stage(t) for t in dag.stages}
        self.constants = dag.constants
        self.tables = dag.tables
        self.mapped: dict[str, Mapped] = {}
        self.rounding = 1.0
        self.trace: list[Step] = []

    def copy(self) -> State:
        """An independent copy, for derivations that branch."""
        other = State.__new__(State)
        other.dag = self.dag
        other.stages = {name: stage.copy() for name, stage in self.stages.items()}
        other.constants, other.tables = self.constants, self.tables
        other.mapped = dict(self.mapped)
        other.rounding = self.rounding
        other.trace = list(self.trace)
        return other

    def apply(self, step: Step) -> State:
        """Apply one step and record it. Raises ScheduleError when it is illegal."""
        for name in (getattr(step, "stage", None), getattr(step, "target", None)):
            stage = self.stages.get(name) if name is not None else None
            if stage is not None and stage.form is not None and not step.suits_forms:
                raise ScheduleError(
                    f"{step.name}: {name} is computed as {stage.form.name}; it has no loops to "
                    "change"
                )
        step.apply(self)
        self.trace.append(step)
        return self

    def replay(self, trace: Iterable[Step]) -> State:
        """Apply all steps of a trace."""
        for step in trace:
            self.apply(step)
        return self

    def __getitem__(self, name: str) -> Stage:
        if name not in self.stages:
            raise ScheduleError(f"no stage {name!r}; stages: {', '.join(self.stages)}")
        return self.stages[name]

    def consumers(self, name: str) -> list[Stage]:
        """Stages that read tensor `name`, in topological order."""
        return [
            s
            for s in self.stages.values()
            if any(r.tensor.name == name for r in reads(s.compute.body))
        ]

    def producers(self, name: str) -> list[Stage]:
        """Stages whose tensors stage `name` reads, in topological order."""
        wanted = {r.tensor.name for r in reads(self[name].compute.body)}
        return [s for s in self.stages.values() if s.name in wanted]

    def attached(self, name: str) -> list[Stage]:
        """Stages attached directly inside stage `name`, in topological order."""
        return [s for s in self.stages.values() if s.attach is not None and s.attach.target == name]

    def stored(self, name: str) -> list[Stage]:
        """Stages computed deeper inside whose storage is in the loops of stage `name`."""
        return [s for s in self.stages.values() if s.store is not None and s.store.target == name]

    def is_output(self, name: str) -> bool:
        """Whether the stage computes one of the program's results."""
        return any(t.name == name for t in self.dag.outputs)

    def is_untouched(self, stage: Stage) -> bool:
        """Whether no step has said how the stage is computed, or what is computed inside."""
        said = stage.form or stage.relations or stage.attach
        return not (said or self.attached(stage.name))

    def insert_before(self, anchor: str, tensor: Tensor, role: Role = Role.RESULT) -> None:
        """Add a stage, made of `anchor`, just before that in topological order."""
        self._check_new(tensor.name)
        stage, whole = new_stage(tensor), self[anchor]
        stage.node, stage.role = whole.node, role
        if role is Role.CACHE:
            stage.work = whole.work
        items = list(self.stages.items())
        at = [n for n, _ in items].index(anchor)
        self.stages = dict([*items[:at], (tensor.name, stage), *items[at:]])

    def redefine(self, name: str, source: Compute, role: Role = Role.RESULT) -> None:
        """Let a stage compute the same by other means, in plain loops where it is attached."""
        old = self[name]
        new = self.stages[name] = new_stage(replace(old.tensor, source=source))
        new.node, new.role, new.work = old.node, role, old.work
        new.attach, new.store = old.attach, old.store

    def _check_new(self, name: str) -> None:
        given = (*self.dag.inputs, *self.constants, *self.tables)
        taken = set(self.stages) | {t.name for t in given}
        if name in taken:
            raise ScheduleError(f"a tensor named {name!r} exists already")

"""Transform steps that say how a stage's loops run: tiles, order, place, workers, storage.

The stages and what they compute stay as they are; `stage_steps` changes those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilewright.expr.index.extents import mul
from tilewright.expr.nodes import Extent
from tilewright.expr.tensors import Placeholder
from tilewright.expr.traversal import reads
from tilewright.ground.errors import ScheduleError
from tilewright.nest.marks import MARKS
from tilewright.nest.nodes import THREADS, WORKERS, Kind, Scope
from tilewright.schedule.kept import nest_in
from tilewright.schedule.state import At, FuseRelation, SplitRelation, Stage, State, Step


@dataclass(frozen=True, slots=True)
class Split(Step):
    """Split a loop in `len(lengths) + 1`; the outermost length is inferred (rounded up)."""

    name: ClassVar[str] = "split"
    stage: str
    leaf: str
    lengths: tuple[Extent, ...]

    def apply(self, state: State) -> None:
        split_leaf(state[self.stage], self.leaf, self.lengths)


def split_leaf(stage: Stage, leaf: str, lengths: tuple[Extent, ...]) -> tuple[str, ...]:
    """Replace `leaf` by its tiles; returns their names, outermost first."""
    stage.require(leaf)
    if any(isinstance(n, int) and n < 1 for n in lengths):
        raise ScheduleError(f"{stage.name}: split lengths of {leaf} must be positive: {lengths}")
    children = tuple(f"{leaf}.{i}" for i in range(len(lengths) + 1))
    stage.replace_leaves([leaf], children)
    stage.relations.append(SplitRelation(leaf, children, lengths))
    return children


def _split_of(state: State, stage: str, leaf: str) -> SplitRelation:
    for relation in state[stage].relations:
        if isinstance(relation, SplitRelation) and relation.parent == leaf:
            return relation
    raise ScheduleError(f"{stage}.{leaf} was not split, so nothing can follow it")


@dataclass(frozen=True, slots=True)
class FollowSplit(Step):
    """Split like another stage's loop, in `parts`; the last part is the product of the rest."""

    name: ClassVar[str] = "follow_split"
    stage: str
    leaf: str
    source: str
    source_leaf: str
    parts: int

    def apply(self, state: State) -> None:
        lengths = _split_of(state, self.source, self.source_leaf).lengths
        split_leaf(state[self.stage], self.leaf, follow(lengths, self.parts))


def follow(lengths: tuple[Extent, ...], parts: int) -> tuple[Extent, ...]:
    """The lengths of a split in `parts` whose inner parts multiply to those of `lengths`."""
    if not 1 < parts <= len(lengths) + 1:
        raise ScheduleError(f"cannot follow a split in {len(lengths) + 1} with {parts} parts")
    rest: Extent = 1
    for n in lengths[parts - 2 :]:
        rest = mul(rest, n)
    return (*lengths[: parts - 2], rest)


@dataclass(frozen=True, slots=True)
class FollowFusedSplit(Step):
    """Split a loop by the product of one level of several loops of another stage."""

    name: ClassVar[str] = "follow_fused_split"
    stage: str
    leaf: str
    source: str
    source_leaves: tuple[str, ...]
    level: int

    def apply(self, state: State) -> None:
        product: Extent = 1
        for leaf in self.source_leaves:
            lengths = _split_of(state, self.source, leaf).lengths
            if not 1 <= self.level <= len(lengths):
                raise ScheduleError(f"{self.source}.{leaf} has no inner tile level {self.level}")
            product = mul(product, lengths[self.level - 1])
        split_leaf(state[self.stage], self.leaf, (product,))


@dataclass(frozen=True, slots=True)
class Fuse(Step):
    """Fuse adjacent loops of one tile level into one."""

    name: ClassVar[str] = "fuse"
    stage: str
    leaves: tuple[str, ...]

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        if len({stage.is_reduction(leaf) for leaf in self.leaves}) != 1:
            raise ScheduleError(f"{self.stage}: cannot fuse spatial with reduction loops")
        if any(s.attach is not None for s in state.attached(self.stage)):
            raise ScheduleError(f"{self.stage}: fuse before attaching stages to it")
        if stage.parallel != 0:
            raise ScheduleError(f"{self.stage}: fuse before making its loops parallel")
        fused = "@".join(self.leaves)
        groups = [[leaf] for leaf in self.leaves]
        if [g for g in stage.groups if g[0] in self.leaves] == groups:
            _merge_groups(stage, self.leaves)
        stage.replace_leaves(self.leaves, [fused])
        stage.relations.append(FuseRelation(self.leaves, fused))


def _merge_groups(stage: Stage, leaves: tuple[str, ...]) -> None:
    """Make one tile level of consecutive single-loop levels."""
    at = stage.groups.index([leaves[0]])
    if [leaf for g in stage.groups[at : at + len(leaves)] for leaf in g] == list(leaves):
        stage.groups[at : at + len(leaves)] = [list(leaves)]


@dataclass(frozen=True, slots=True)
class Reorder(Step):
    """Set the loop order; every inner tuple becomes one tile level."""

    name: ClassVar[str] = "reorder"
    stage: str
    levels: tuple[tuple[str, ...], ...]

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        order = [leaf for level in self.levels for leaf in level]
        if sorted(order) != sorted(stage.leaves):
            raise ScheduleError(f"{self.stage}: the order {order} is not of {stage.leaves}")
        _require_spatial(stage, order, stage.parallel)
        groups = [list(level) for level in self.levels if level]
        for child in state.attached(self.stage):
            level = child.attach.level if child.attach is not None else 0
            if isinstance(level, int) and level >= len(groups):
                raise ScheduleError(
                    f"{self.stage}: {child.name} is computed at tile level {level}, "
                    f"{len(groups)} levels would be left"
                )
        stage.groups = groups


@dataclass(frozen=True, slots=True)
class ComputeAt(Step):
    """Compute a stage inside another's loops, up to and including tile level `level`.

    Every consumer must be `target` or run inside it, at that level or deeper.
    """

    name: ClassVar[str] = "compute_at"
    stage: str
    target: str
    level: Extent

    def apply(self, state: State) -> None:
        target = state[self.target]
        if state.is_output(self.stage):
            raise ScheduleError(f"{self.stage} is an output; it cannot be attached to a consumer")
        if isinstance(self.level, int) and not 0 <= self.level < len(target.groups):
            raise ScheduleError(
                f"{self.target} has tile levels 0..{len(target.groups) - 1}, not {self.level}"
            )
        attach(state, self.stage, At(self.target, self.level))


def attach(state: State, name: str, at: At | None) -> None:
    """Move a stage; ScheduleError (and no change) where some stage would come too late."""
    if at is not None and state[name].parallel != 0:
        raise ScheduleError(f"{name} runs in parallel; it cannot be computed inside another stage")
    around = at
    while around is not None:
        if around.target == name:
            raise ScheduleError(f"{name} cannot be computed inside itself")
        around = state[around.target].attach
    before, state[name].attach = state[name].attach, at
    try:
        for stage in state.stages.values():
            if stage.attach is not None:
                _require_before_consumers(state, stage, stage.attach)
    except ScheduleError:
        state[name].attach = before
        raise


def _require_before_consumers(state: State, stage: Stage, at: At) -> None:
    """Every consumer must be the target, or run inside it at this tile level or deeper; where the
    stage is stored further out, it may run there, in a later nest.
    """
    if stage.store is not None:
        _require_stored(state, stage, at, stage.store)
    for consumer in state.consumers(stage.name):
        inner = nest_in(state, consumer, at.target)
        if inner is None:
            if stage.store is not None and _runs_later(state, stage, consumer, stage.store):
                continue
            raise ScheduleError(
                f"{stage.name} cannot be computed at {at.target}: its consumer "
                f"{consumer.name} is outside"
            )
        if inner.name == at.target or inner.attach is None:
            continue
        if _is_before(inner.attach.level, at.level):
            raise ScheduleError(
                f"{stage.name} cannot be computed at tile level {at.level} of {at.target}: "
                f"its consumer {consumer.name} runs at level {inner.attach.level} already"
            )


def _require_stored(state: State, stage: Stage, at: At, store: At) -> None:
    """A stage must be computed inside the loops that its storage is in."""
    nest = at if at.target == store.target else None
    if nest is None:
        around = nest_in(state, state[at.target], store.target)
        nest = None if around is None else around.attach
    if nest is None or _is_before(nest.level, store.level):
        raise ScheduleError(
            f"{stage.name} is stored in {store.target}, tile level {store.level}; it cannot be "
            f"computed at level {at.level} of {at.target}"
        )


def _runs_later(state: State, stage: Stage, consumer: Stage, store: At) -> bool:
    """Whether a consumer runs after the nest that a stage is computed in, in the loops around."""
    mine, theirs = (nest_in(state, s, store.target) for s in (stage, consumer))
    if mine is None or theirs is None or mine is theirs or mine.attach is None:
        return False
    if theirs.name == store.target or theirs.attach is None:
        return True
    if _is_before(mine.attach.level, theirs.attach.level):
        return True
    order = list(state.stages)
    follows = order.index(mine.name) < order.index(theirs.name)
    return follows and not _is_before(theirs.attach.level, mine.attach.level)


def _is_before(level: Extent, other: Extent) -> bool:
    """Whether a tile level is further out, of two numbers; of decisions that is not known."""
    return isinstance(level, int) and isinstance(other, int) and level < other


@dataclass(frozen=True, slots=True)
class StoreAt(Step):
    """Keep a stage in another's loops, at tile level `level`, and compute it there until
    `ComputeAt` says where deeper inside: what several iterations made can then be read together.
    """

    name: ClassVar[str] = "store_at"
    stage: str
    target: str
    level: Extent

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        before, stage.store = stage.store, None
        try:
            ComputeAt(self.stage, self.target, self.level).apply(state)
        except ScheduleError:
            stage.store = before
            raise
        stage.store = At(self.target, self.level)


@dataclass(frozen=True, slots=True)
class ComputeRoot(Step):
    """Detach a stage: it is computed completely before its consumers."""

    name: ClassVar[str] = "compute_root"
    stage: str

    def apply(self, state: State) -> None:
        attach(state, self.stage, None)
        state[self.stage].store = None


@dataclass(frozen=True, slots=True)
class Annotate(Step):
    """Say how a loop runs: vector, unrolled, serial again, or by the workers of a GPU.

    A reduction may be bound to threads: they combine their results.
    """

    name: ClassVar[str] = "annotate"
    stage: str
    leaf: str
    kind: str

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        stage.require(self.leaf)
        known = [kind.value for kind in Kind if kind is not Kind.PARALLEL]
        if self.kind not in known:
            raise ScheduleError(
                f"cannot annotate a loop {self.kind!r}; known: {', '.join(known)} (see Parallel "
                "for the threads of a CPU)"
            )
        kind = Kind(self.kind)
        if kind in WORKERS and kind not in THREADS and stage.is_reduction(self.leaf):
            raise ScheduleError(
                f"{self.stage}: the reduction {self.leaf} can be bound to threads, not to a "
                f"{self.kind}"
            )
        if kind is Kind.BLOCK and stage.attach is not None:
            raise ScheduleError(
                f"{self.stage} is computed in {stage.attach.target}, inside its blocks"
            )
        stage.kinds[self.leaf] = kind


@dataclass(frozen=True, slots=True)
class SetScope(Step):
    """Which threads of a GPU see a stage that is computed inside another: "local" or "shared"."""

    name: ClassVar[str] = "scope"
    stage: str
    scope: str

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        if self.scope not in [s.value for s in Scope]:
            raise ScheduleError(f"no scope is called {self.scope!r}; known: local, shared")
        scope = Scope(self.scope)
        if scope is Scope.SHARED and stage.attach is None:
            raise ScheduleError(
                f"{self.stage} is computed at the root, where all blocks see it; attach it first"
            )
        stage.scope = scope


@dataclass(frozen=True, slots=True)
class Parallel(Step):
    """Run the `count` outermost loops of a root stage as one parallel region (0: none)."""

    name: ClassVar[str] = "parallel"
    suits_forms: ClassVar[bool] = True
    stage: str
    count: Extent

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        if stage.attach is not None and self.count != 0:
            raise ScheduleError(
                f"{self.stage} is computed in {stage.attach.target}, not at the root"
            )
        _require_spatial(stage, stage.leaves, self.count)
        stage.parallel = self.count


def _require_spatial(stage: Stage, leaves: list[str], parallel: Extent) -> None:
    """The outermost `parallel` leaves must not be reductions."""
    if isinstance(parallel, int):
        for leaf in leaves[:parallel]:
            if stage.is_reduction(leaf):
                raise ScheduleError(f"{stage.name}: the reduction {leaf} cannot be parallel")


@dataclass(frozen=True, slots=True)
class Mark(Step):
    """Say something of what the stage becomes: see `nest.marks.MARKS`."""

    name: ClassVar[str] = "mark"
    stage: str
    key: str
    value: Extent

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        if self.key not in MARKS:
            raise ScheduleError(f"no mark is called {self.key!r}; known: {', '.join(MARKS)}")
        is_output = state.is_output(self.stage)
        problem = MARKS[self.key].refusal(stage.tensor, is_output, self.value)
        if problem:
            raise ScheduleError(f"{self.stage} cannot be marked {self.key}: {problem}")
        stage.marks[self.key] = self.value


@dataclass(frozen=True, slots=True)
class LayoutRewrite(Step):
    """Store a constant in the order in which the stage's loops read it (Ansor §4.2).

    A dimension that is not indexed by a plain axis stays whole and comes first. The compiled task
    takes the constant packed; `Layout` says how to make it.
    """

    name: ClassVar[str] = "layout_rewrite"
    stage: str
    tensor: str

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        found = [r for r in reads(stage.compute.body) if r.tensor.name == self.tensor]
        source = found[0].tensor.source if found else None
        if not (isinstance(source, Placeholder) and source.constant):
            raise ScheduleError(f"{self.stage} reads no constant {self.tensor!r} to rewrite")
        if len(found) != 1 or len(state.consumers(self.tensor)) != 1:
            raise ScheduleError(f"{self.tensor} is read in several places; its layout stays")
        if any(reads(i) for i in found[0].indices):
            raise ScheduleError(f"{self.tensor} is indexed by data; its layout stays")
        stage.packed = (*stage.packed, self.tensor)

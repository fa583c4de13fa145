"""Sketch derivation: the state σ = (S, i) of paper §4.1 and the loop over rules.

    derive(dag, target, rules) -> [Derivation, …]     complete sketches, without annotations

`i` is the name of the working stage; it moves from the outputs towards the inputs. A rule looks
at (S, i) and says `NO`, `APPLY` (and try the next rules too) or `ONLY`; its `apply` returns the
successor states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum

from tilewright.contract.arguments import described
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Expr, Extent
from tilewright.ground.errors import InputError, ScheduleError, TilewrightError, VerifyError
from tilewright.ground.text import one_line
from tilewright.schedule.state import At, Stage, State
from tilewright.schedule.steps import ComputeAt, Fuse, Split, Step, extent_int
from tilewright.space.decisions import Choice, Decision, Level, TileFactors, slack, variables
from tilewright.target import Target

UNTOLD = ("skip", "always_inline", "linked", "chained", "row_reduction")
"""Rules that only move on, inline, or do what another one said."""


class Verdict(Enum):
    """What a rule says of a state."""

    NO = "no"
    APPLY = "apply"
    ONLY = "only"


@dataclass(frozen=True, slots=True)
class Chunks:
    """How a stage is tiled in whose outer spatial loops, of so many `levels`, others are computed:
    the `still` axes do not move these, and have one iteration there. The loop of `axis`, if there
    is one, the chunks, is one of the outermost and is not split.
    """

    still: frozenset[str]
    levels: int
    axis: str | None = None


@dataclass
class Derivation:
    """A partial sketch: the schedule so far, the working stage, the decisions made free.

    `constraints` are bool expressions over decision variables that a row must satisfy. `tiled`
    maps a multi-level tiled stage to its levels. `periods` says for a DAG node the axes
    along which its terms repeat, and after how many steps. `within` says where some stages are to
    be computed, None is at the root, and `stored` where one's values are kept, if that is further
    out. `chunks` says how a DAG node is to be tiled around others. `factors` are what dots read as
    it is: a padded image, values made narrow, or in another order. `variant` names structural
    choices. `sized` is the DAG with sizes that the schedule is for, if this one is a point of it.
    """

    state: State
    stage: str | None
    target: Target
    decisions: dict[str, Decision] = field(default_factory=dict)
    constraints: list[Expr] = field(default_factory=list)
    tiled: dict[str, tuple[Level, ...]] = field(default_factory=dict)
    periods: dict[str, dict[str, int]] = field(default_factory=dict)
    within: dict[str, At | None] = field(default_factory=dict)
    stored: dict[str, At] = field(default_factory=dict)
    chunks: dict[str, Chunks] = field(default_factory=dict)
    factors: set[str] = field(default_factory=set)
    applied: tuple[str, ...] = ()
    variant: tuple[str, ...] = ()
    sized: ComputeDAG | None = None

    def fork(self) -> Derivation:
        """An independent copy."""
        return replace(
            self,
            state=self.state.copy(),
            decisions=dict(self.decisions),
            constraints=list(self.constraints),
            tiled=dict(self.tiled),
            periods=dict(self.periods),
            within=dict(self.within),
            stored=dict(self.stored),
            chunks=dict(self.chunks),
            factors=set(self.factors),
        )

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules that were applied, without `UNTOLD` ones."""
        return tuple(name for name in self.applied if name not in UNTOLD)

    @property
    def working(self) -> Stage:
        """The working stage."""
        assert self.stage is not None
        return self.state[self.stage]

    def apply(self, *steps: Step) -> None:
        """Apply transform steps."""
        for step in steps:
            self.state.apply(step)

    def fuse(self, stage: str, axes: tuple[str, ...]) -> str:
        """Make one loop of a stage's axes; returns its name."""
        if len(axes) > 1:
            self.apply(Fuse(stage, axes))
        return "@".join(axes)

    def bound(self, stage: str, axes: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
        """Axes for the blocks and threads of a GPU: those of the grid alone, and one loop of all
        others; its iterations are told apart by numbers, and none is beyond a size.
        """
        first = 0
        if self.sized is not None:
            of = {t.name: dict(zip(axes, t.shape, strict=False)) for t in self.sized.stages}
            extents = of.get(self.state[stage].node, {})
            first = max(
                (i for i, a in enumerate(axes) if isinstance(extents.get(a), Expr)), default=0
            )
        return axes[:first], self.fuse(stage, axes[first:])

    def decide(self, decision: Decision) -> Decision:
        """Add a decision (a name is declared once)."""
        if decision.name in self.decisions:
            raise ScheduleError(f"the decision {decision.name} exists already")
        self.decisions[decision.name] = decision
        return decision

    def choose(
        self, name: str, stage: str, role: str, options: tuple[int, ...], *, ordered: bool = True
    ) -> Expr:
        """Add a decision among `options`; returns its variable."""
        (chosen,) = variables(self.decide(Choice(name, stage, role, options, ordered)))
        return chosen

    def tile(
        self, stage: Stage, axis: str, levels: Sequence[Level], *, vector: bool = False,
        padded: bool = True, by_one: bool = False, period: int = 1, within: int = 0,
    ) -> TileFactors:  # fmt: skip
        """Split an axis into tiles whose lengths are to be decided; those of a `vector` axis fill
        vectors, `padded` ones may run over it by their `slack`. With a `period` they are of every
        so many elements, and a loop inside is over the positions in it.
        """
        extent = -(-extent_int(stage.root_axis(axis).extent) // period)
        lanes = self.target.lanes(stage.tensor.dtype) if vector else 0
        over = slack(extent, lanes, by_one) if padded else 0
        levels = (*levels[:-1], replace(levels[-1], lanes=lanes))
        tiles = TileFactors(f"{stage.work}.{axis}", stage.work, extent, levels, over, within)
        positions = (period,) if period > 1 else ()
        self.decide(tiles)
        self.apply(Split(stage.name, axis, (*variables(tiles), *positions)))
        return tiles

    def compute_next(self, target: str, level: Extent) -> Derivation:
        """Compute the stage before the working one inside of a target, and move on to its own."""
        self.advance()
        self.apply(ComputeAt(self.working.name, target, level))
        return self.advance()

    def advance(self) -> Derivation:
        """Move to the stage before the working one (i' = i - 1)."""
        self.stage = previous(self.state, self.stage)
        return self


def previous(state: State, stage: str | None) -> str | None:
    """The stage before `stage` in topological order."""
    names = list(state.stages)
    at = names.index(stage) if stage in state.stages else len(names)
    return names[at - 1] if at > 0 else None


@dataclass(frozen=True, slots=True)
class Rule:
    """One derivation rule. `condition` must not change the derivation."""

    name: str
    condition: Callable[[Derivation], Verdict]
    apply: Callable[[Derivation], list[Derivation]]

    def judge(self, d: Derivation) -> Verdict:
        """What it says of a state. Raises ScheduleError, as `follow` does, which names the rule and
        the stage.
        """
        with self._named(d.stage):
            verdict = self.condition(d)
        if not isinstance(verdict, Verdict):
            raise self._wrong(d.stage, "condition", "a Verdict", verdict)
        return verdict

    def follow(self, d: Derivation) -> list[Derivation]:
        """The successors of a state, which may be changed."""
        stage = d.stage
        with self._named(stage):
            found = self.apply(d)
        if not isinstance(found, (list, tuple)) or not all(
            isinstance(one, Derivation) for one in found
        ):
            raise self._wrong(stage, "apply", "a list of derivations", found)
        return [replace(one, applied=(*d.applied, self.name)) for one in found]

    @contextmanager
    def _named(self, stage: str | None) -> Iterator[None]:
        """What the rule fails with names it."""
        place = f"rule {self.name} at stage {stage}"
        try:
            yield
        except VerifyError:
            raise
        except TilewrightError as error:
            raise ScheduleError(f"{place}: {error}") from error
        except Exception as error:
            raise ScheduleError(f"{place} fails with {type(error).__name__}: {error}") from error

    def _wrong(self, stage: str | None, what: str, wanted: str, found: object) -> ScheduleError:
        shown = one_line(repr(found), 80)
        return ScheduleError(
            f"rule {self.name} at stage {stage}: its {what} gives {wanted}, not {shown}"
        )


def check_rules(rules: Sequence[Rule]) -> None:
    """Raise InputError for what is no rule."""
    if not isinstance(rules, Sequence) or isinstance(rules, str):
        raise InputError(f"rules is a sequence of rules, rules=[MY_RULE], not {described(rules)}")
    for rule in rules:
        if not isinstance(rule, Rule):
            raise InputError(
                f"a rule is a Rule(name, condition, apply) of tilewright.space.derivation, not "
                f"{described(rule)}"
            )


MOST_APPLIED = 64
"""Rules one after the other at one stage: more do not end."""


def derive(
    dag: ComputeDAG, target: Target, rules: Sequence[Rule], sized: ComputeDAG | None = None
) -> list[Derivation]:
    """All sketches of a DAG, in a fixed order; of the one with sizes, `sized`, if `dag` is a
    point of it.

    Raises ScheduleError for a rule that fails, or is applied without end, and when the rules give
    no sketch at all.
    """
    check_rules(rules)
    start = Derivation(State(dag), None, target, sized=sized).advance()
    queue, done, ended = [start], [], ""
    while queue:
        current = queue.pop(0)
        if current.stage is None:
            done.append(current)
            continue
        if len(current.applied) > MOST_APPLIED * len(current.state.stages):
            raise ScheduleError(
                f"rule {current.applied[-1]} is applied to stage {current.stage} without end: it "
                "goes on to the next stage by d.advance(), or marks what it has done"
            )
        ended = ended or f"no rule is for stage {current.stage}"
        for rule in rules:
            verdict = rule.judge(current)
            if verdict is Verdict.NO:
                continue
            successors = rule.follow(current.fork())
            queue += successors
            if not successors:
                ended = f"rule {rule.name} at stage {current.stage} gives an empty list"
            if verdict is Verdict.ONLY:
                break
    if not done:
        raise ScheduleError(f"the rules give no sketch: {ended}")
    return done
